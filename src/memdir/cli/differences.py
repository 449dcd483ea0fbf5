"""Two versions of a file -> what differs, as a unified diff. Pure.

Lines are compared as text, however they are encoded; line ends that all lines share are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import click

from memdir.cli.output import line as one_line
from memdir.cli.output import visible
from memdir.memory import encoding, manifest

AROUND = 3
"""Lines that are shown before and behind what differs."""

NO_END = "\\ No newline at end of file"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NOWHERE = "/dev/null"
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def difference(file: str, before: bytes | None, after: bytes | None) -> str | None:
    """The unified diff of a file, with headers and its lines as they are; None: it is no text.

    None as `before` or `after`: the file was not there, or is gone. Nothing differs: an empty text.
    """
    if not _is_text(before) or not _is_text(after):
        return None
    old, new = _lines(before), _lines(after)
    if all(line.endswith("\r\n") or "\n" not in line for line in (*old, *new)):
        old, new = ([line.replace("\r\n", "\n") for line in lines] for lines in (old, new))
    if before is not None and after is not None and old == new:
        return ""
    name = one_line(file)
    head = [f"--- {_NOWHERE if before is None else name}", f"+++ {_NOWHERE if after is None else name}"]
    return "".join(f"{line}\n" for line in (*head, *_hunks(old, new)))


def shown(text: str, *, coloured: bool) -> str:
    """A diff as a terminal may have it: nothing in it steers, and its marks are in colour if wanted."""
    lines = (_revealed(line) for line in text.removesuffix("\n").split("\n"))
    return "\n".join(map(_coloured, lines) if coloured else lines)


def _revealed(line: str) -> str:
    """A line with the codes of what steers a terminal, or can't be seen."""
    if manifest.visible(line) != line:
        line = "".join(c if manifest.visible(c) == c else f"\\x{ord(c):02x}" for c in line)
    return visible(line)


def _coloured(line: str) -> str:
    if line.startswith(("--- ", "+++ ")):
        return click.style(line, bold=True)
    colour = _COLOURS.get(line[:1])
    return click.style(line, fg=colour) if colour else line


def _is_text(data: bytes | None) -> bool:
    """Whether a person can read it: letters in the encoding that it seems to have, and no NUL."""
    if data is None:
        return True
    try:
        return "\0" not in data.decode(encoding.encoding(data))
    except UnicodeDecodeError:
        return False


def _lines(data: bytes | None) -> list[str]:
    """The lines of a text, each with its end."""
    return _LINE.findall(encoding.readable(data or b""))


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The places that differ, each with its lines around. What both begin and end with is not compared."""
    first = _shared(old, new)
    last = _shared(old[first:][::-1], new[first:][::-1])
    start, rest = max(0, first - AROUND), max(0, last - AROUND)
    matcher = SequenceMatcher(None, old[start : len(old) - rest], new[start : len(new) - rest])
    for group in matcher.get_grouped_opcodes(AROUND):
        ends = group[0], group[-1]
        where = _range(start + ends[0][1], start + ends[1][2]), _range(start + ends[0][3], start + ends[1][4])
        yield f"@@ -{where[0]} +{where[1]} @@"
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from _marked(" ", old[start + a : start + b])
                continue
            yield from _marked("-", old[start + a : start + b])
            yield from _marked("+", new[start + c : start + d])


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_END


def _range(start: int, stop: int) -> str:
    """A place in a file as unified diffs name it."""
    length = stop - start
    if length == 1:
        return f"{start + 1}"
    return f"{start if length == 0 else start + 1},{length}"
