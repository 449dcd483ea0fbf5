"""The index as it was shown, and as somebody else left it -> what is told of the difference (R8, E8, F7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from memdir.agent.attachments.base import attached
from memdir.memory import encoding, entrypoint
from memdir.memory.fence import fenced
from memdir.memory.frontmatter import without_halves
from memdir.memory.index_lines import counting
from memdir.model.messages import Message
from memdir.prompts import render

CHARACTERS = 4_000
"""How much of the lines that changed is shown."""

LINE = 400
"""Characters of one of them."""


def index_changed(path: Path, old: bytes | None, new: bytes | None, *, now: datetime) -> Message | None:
    """The lines that came into the index and went out of it since it was shown; None where none did.

    `old`: what it held then, empty where there was none, None where that is not at hand. `new` None: it is
    gone. Only lines that count are compared (F7), in whatever order they stand. Of an index that was shown
    cut no lines are told: some of them would be news, and others would seem to be.
    """
    if new is None:
        return _told("index_gone", path, how="gone", now=now)
    if old is None or entrypoint.load(encoding.readable(old)).truncated:
        return _told("index_changed_unseen", path, how="unseen", cut=True, now=now)
    before, after = _lines(old), _lines(new)
    changes = [f"+{line}" for line in _without(after, before)]
    changes += [f"-{line}" for line in _without(before, after)]
    if not changes:
        return None
    shown = list(_fitting(changes))
    left = len(changes) - len(shown)
    more = f"\n{left:,} more lines have changed. Read the file if they could matter." if left else ""
    return _told(
        "index_changed", path, how="lines", cut=bool(left), now=now, diff="\n".join(shown), more=more
    )


def is_shown_in_part(data: bytes) -> bool:
    """Whether a model that is shown the index does not see all of it, word for word (A2)."""
    raw = encoding.readable(data)
    loaded = entrypoint.load(raw)
    return loaded.truncated or fenced(loaded.text).strip() != raw.strip()


def _told(name: str, path: Path, *, how: str, now: datetime, cut: bool = False, **slots: str) -> Message:
    about = {"kind": "index_changed", "path": str(path), "how": how, "cut": cut}
    return attached(render(name, path=str(path), **slots), about, now=now)


def _lines(data: bytes) -> list[str]:
    """The lines that count, as a model would see them, without empty ones."""
    counted = "".join(line.text for line in counting(without_halves(encoding.readable(data))))
    return [line.rstrip() for line in fenced(counted).split("\n") if line.strip()]


def _without(lines: Iterable[str], others: Iterable[str]) -> Iterator[str]:
    """The lines that the others do not have, as often as they do not."""
    left = Counter(others)
    for line in lines:
        if left[line]:
            left[line] -= 1
        else:
            yield line


def _fitting(lines: Iterable[str]) -> Iterator[str]:
    """The first of the lines, as far as there is room."""
    room = CHARACTERS
    for line in lines:
        shown = line if len(line) <= LINE else f"{line[: LINE - 1]}…"
        room -= len(shown) + 1
        if room < 0:
            return
        yield shown
