"""Which conversations were had in a folder -> those that can be taken up again, newest first (A1, P9).

The age of a transcript is that of its file, so that a folder of thousands costs one stat each; only what is
asked for is read. A file that is a link, or no transcript of memdir's, is passed over, and so is a
conversation of another folder, or one in which nothing was said.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memdir import fs
from memdir.errors import Conflict, MemdirError, NotFound, UnsafePath, UsageError

SHORTEST = 4
"""Characters of the beginning of an id that will do."""

WORDS = 200
"""Characters of what a conversation began with, at most."""

LISTED = "`memdir sessions` lists them"

NAME = re.compile(r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.jsonl")
"""What the transcript of a session is called; the group is its id (P9)."""
_BEGINNING = re.compile(rf"[0-9a-fA-F][0-9a-fA-F-]{{{SHORTEST - 1},35}}")

# How `agent.transcript` begins its lines: the type comes first.
_HEAD = b'{"type":"session",'
_SAID = (b'{"type":"user",', b'{"type":"assistant",')
_PERSON = b'"origin":"person"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation that was had.

    `at`: when it was written to last. `messages`: those of the person, the model and tools. `first`: the
    beginning of what the person said first, in one line, as they typed it.
    """

    id: str
    path: Path
    at: datetime
    messages: int
    first: str


def sessions(folder: Path, *, cwd: Path) -> Iterator[Session]:
    """The conversations of the working folder `cwd` in a folder of transcripts, newest first. Each is read
    when it is asked for.
    """
    for path, at in _by_age(folder):
        if (found := _look(path, at, cwd=cwd)) is not None:
            yield found


def last(folder: Path, *, cwd: Path) -> Session:
    """The last one. Raises NotFound if there is none."""
    found = next(sessions(folder, cwd=cwd), None)
    if found is None:
        raise NotFound(
            f"there is no conversation in {cwd} that could be taken up", hint="`memdir chat` begins one"
        )
    return found


def is_beginning(word: str) -> bool:
    """Whether the word could be the id of a conversation, or the beginning of one."""
    return _BEGINNING.fullmatch(word) is not None


def find(folder: Path, beginning: str, *, cwd: Path) -> Session:
    """The one whose id begins like this.

    Raises:
        NotFound: there is none.
        UsageError: there are several, or it is no beginning of an id.
    """
    if not is_beginning(beginning):
        raise UsageError(
            f"{beginning[:40]!r} is no id of a conversation: that is at least {SHORTEST} digits", hint=LISTED
        )
    alike = [one for one in _by_age(folder) if one[0].name.lower().startswith(beginning.lower())]
    found = [one for path, at in alike if (one := _look(path, at, cwd=cwd)) is not None]
    if not found:
        raise NotFound(f"no conversation in {cwd} has an id that begins with {beginning}", hint=LISTED)
    if len(found) > 1:
        raise UsageError(f"{len(found)} conversations have ids that begin with {beginning}", hint=LISTED)
    return found[0]


def is_open(locks: Path, session: str) -> bool:
    """Whether some process has that conversation; it then holds a lock in this folder. Makes nothing there.

    Where that can't be told, it counts as open.
    """
    lock = locks / f"{session}.live"
    try:
        with fs.locked(lock, timeout=0) if lock.is_dir() else nullcontext():
            return False
    except (Conflict, OSError, UnsafePath):
        return True


def _by_age(folder: Path) -> list[tuple[Path, datetime]]:
    """What may be transcripts, the newest first."""
    found = list[tuple[int, str]]()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if NAME.fullmatch(entry.name) and (at := changed(entry)) is not None:
                    found.append((at, entry.name))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [(folder / name, _moment(at)) for at, name in sorted(found, reverse=True)]


def changed(entry: os.DirEntry[str]) -> int | None:
    """When a file was written to last, nanoseconds since 1970; None for what is no file, and what is gone."""
    try:
        if entry.is_file(follow_symlinks=False):
            return entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        pass
    return None


def _moment(mtime_ns: int) -> datetime:
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC)
    except (OverflowError, ValueError, OSError):  # a clock that was far off
        return datetime.fromtimestamp(0, UTC)


def _look(path: Path, at: datetime, *, cwd: Path) -> Session | None:
    """What a transcript holds. None: it is none of ours, or there is nothing to go on with."""
    try:
        if fs.read_file(path, limit=len(_HEAD), within=path.parent) != _HEAD:
            return None
        lines = fs.read_file(path, within=path.parent).split(b"\n")
    except (OSError, MemdirError):
        return None
    head = _record(lines[0])
    if head.get("sessionId") != path.stem or not _is_same(head.get("cwd"), cwd):
        return None
    first = next((words for line in lines if (words := _words(line))), None)
    if first is None:
        return None
    messages = sum(line.startswith(_SAID) for line in lines)
    return Session(id=path.stem, path=path, at=at, messages=messages, first=first)


def _is_same(told: object, cwd: Path) -> bool:
    """Whether that is the folder: in another program's layout two may have one name."""
    return isinstance(told, str) and "\0" not in told and os.path.realpath(told) == os.path.realpath(cwd)


def _words(line: bytes) -> str | None:
    """What the person said in a message, in one line; None if it is none of theirs."""
    if not line.startswith(_SAID[0]) or _PERSON not in line:
        return None
    record = _record(line)
    try:
        if record["origin"] != "person":
            return None
        texts = [block["text"] for block in record["message"]["content"] if block["type"] == "text"]
        return " ".join(" ".join(texts).split())[:WORDS]
    except (KeyError, TypeError):
        return None


def _record(line: bytes) -> dict[str, Any]:
    """The record in a line; an empty one where there is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
