"""Files that the conversation has seen, and what they hold now -> what is told of the difference (R8, E8)."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from pathlib import Path

from memdir import fs
from memdir.agent.attachments.base import attached
from memdir.agent.attachments.index import index_changed, is_shown_in_part
from memdir.agent.credentials import leads_to_secrets
from memdir.agent.file_state import FileState, Seen
from memdir.agent.tools.text import decode, lines_of
from memdir.errors import MemdirError
from memdir.memory.fence import fenced
from memdir.model.messages import Message
from memdir.prompts import render

DIFF_CHARACTERS = 8_000
"""How much of a diff is shown."""

ALL_CHARACTERS = 40_000
"""How much of all diffs before one request: a checkout of another branch changes whatever was read."""

MAX_BYTES = 10 * 1024 * 1024
"""What has grown beyond this is not read: Read would not show it either."""

COMPARED = 1024 * 1024
"""What has grown beyond this is not compared: a diff of it would be cut."""

STEPS = 2_000_000
"""What a comparison may cost, about a second; texts of few lines many times cost more than any other."""

_NOTHING = fs.digest(b"")
"""Of an index that is not there."""


def changed_files(files: FileState, *, now: datetime) -> list[Message]:
    """A message for each file that was seen whole and has changed on disk since; the table moves on, so that
    a change is told once.

    A diff, or where there can be none that the file is to be read again (R8). So it is with a place of
    credentials: that it was read once does not let in what came since, and a Read of it asks (A9). A file
    seen in part, or gone, or a link by now, says nothing: an Edit of it will ask for another Read. The index
    is told of in its own way. Instructions are not: they hold as they were at the beginning, and are looked
    at again after a compaction (I6). What the model itself wrote of them is a file like any other. What a
    background job of this conversation wrote is no news (E8).
    """
    told, left = list[Message](), ALL_CHARACTERS
    for path, seen in files:
        message = _news(path, seen, files, now, room=min(DIFF_CHARACTERS, left))
        if message is not None:
            told.append(message)
            left -= len(message.text)
    return told


def changed_unseen(path: Path, *, now: datetime) -> Message:
    """A file has changed, and how is not known: its earlier content is not at hand, or is no text, or it is
    too big."""
    text = render("changed_unseen", path=str(path))
    return attached(text, {"kind": "changed_file", "path": str(path), "cut": True}, now=now)


# -- one file ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fresh:
    """What a file holds now that differs from what was seen. `data` None: it is gone."""

    data: bytes | None
    mtime_ns: int


def _news(path: Path, seen: Seen, files: FileState, now: datetime, *, room: int) -> Message | None:
    if seen.how == "instructions" or (seen.partial and seen.how != "index"):
        return None
    if (fresh := _fresh(path, seen, files)) is None:
        return None
    if seen.how == "index":
        return _of_index(path, seen, fresh, files, now)
    return _of_file(path, seen, fresh, files, now, room=room)


def _of_file(
    path: Path, seen: Seen, fresh: _Fresh, files: FileState, now: datetime, *, room: int
) -> Message | None:
    data = fresh.data
    if data is None:
        return None
    known = seen.data is not None and len(data) <= COMPARED and not leads_to_secrets(path)
    diff = _diff(seen.data, data) if known and seen.data is not None else None
    if diff is not None and len(diff) > room < DIFF_CHARACTERS:
        diff = None
    cut = diff is None or len(diff) > DIFF_CHARACTERS
    how = "surfaced" if cut else seen.how
    files.saw(path, data=data, mtime_ns=fresh.mtime_ns, partial=cut, how=how)
    if diff is None:
        return changed_unseen(path, now=now)
    if not diff:  # other line ends, or a byte-order mark
        return None
    shown = diff[:DIFF_CHARACTERS] + ("\n[the rest of the difference is left out]" if cut else "")
    text = render("changed_file", path=str(path), diff=fenced(shown))
    return attached(text, {"kind": "changed_file", "path": str(path), "cut": cut}, now=now)


def _of_index(path: Path, seen: Seen, fresh: _Fresh, files: FileState, now: datetime) -> Message | None:
    """The index may have been shown cut, or without comments: what counts of it is compared, if it is at
    hand."""
    data = fresh.data or b""
    message = index_changed(path, seen.data, fresh.data, now=now)
    cut = message is not None and message.attachment is not None and bool(message.attachment["cut"])
    partial = bool(data) and (cut or seen.partial or is_shown_in_part(data))
    files.saw(path, data=data, mtime_ns=fresh.mtime_ns, partial=partial, how="index")
    return message


def _fresh(path: Path, seen: Seen, files: FileState) -> _Fresh | None:
    """What the file holds now, where that is news; else None. One stat when nothing happened."""
    try:
        now = path.stat()
        same_size = seen.data is None or len(seen.data) == now.st_size
        if now.st_mtime_ns == seen.mtime_ns and same_size:
            return None
        data = fs.read_file(path, limit=MAX_BYTES + 1)
        if os.path.realpath(path) != str(path):  # a link by now: what it leads to was not seen
            return None
    except FileNotFoundError:
        return None if seen.digest == _NOTHING else _Fresh(data=None, mtime_ns=0)
    except (OSError, MemdirError):
        return None
    found = fs.digest(data)
    if found == seen.no_news:
        return None
    if found != seen.digest:
        return _Fresh(data=data, mtime_ns=now.st_mtime_ns)
    files.saw(path, data=data, mtime_ns=now.st_mtime_ns, partial=seen.partial, how=seen.how)
    return None


# -- the difference ------------------------------------------------------------------------------------------


def _diff(old: bytes, new: bytes) -> str | None:
    """A unified diff of two texts, or None if one of them is no text, or it would take too long."""
    before, after = decode(old), decode(new)
    if before is None or after is None:
        return None
    try:
        return "\n".join(_hunks(lines_of(before[0]), lines_of(after[0])))
    except _TooLong:
        return None


class _TooLong(Exception):
    """A comparison has cost all that it may."""


class _Bounded(difflib.SequenceMatcher[str]):
    """A comparison of lines that gives up instead of going on for minutes."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)
        counts, size = Counter(after), len(after)
        most = size // 100 + 1 if size >= 200 else size  # lines that are there more often start no match
        each = (1 + (counts[line] if counts[line] <= most else 0) for line in before)
        self._costs = list(accumulate(each, initial=0))
        self._left = STEPS

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        """The longest match within these lines. Raises _TooLong."""
        self._left -= self._costs[-1 if ahi is None else ahi] - self._costs[alo]
        if self._left < 0:
            raise _TooLong
        return super().find_longest_match(alo, ahi, blo, bhi)


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """The lines of a unified diff with two lines around each change, without names of files."""
    for group in _Bounded(before, after).get_grouped_opcodes(2):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for tag, start, stop, new_start, new_stop in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[start:stop])
                continue
            yield from (f"-{line}" for line in before[start:stop])
            yield from (f"+{line}" for line in after[new_start:new_stop])


def _range(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + 1}" if length == 1 else f"{start + (length > 0)},{length}"
