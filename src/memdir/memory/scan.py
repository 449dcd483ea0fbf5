"""A memory directory becomes headers, newest first (M1-M3). Reads only, follows no link, never waits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from memdir.memory import encoding, topic
from memdir.memory.frontmatter import LINE
from memdir.memory.reading import beginning
from memdir.names import INDEX, is_topic

HEAD_LINES = 30
HEAD_BYTES = 64 * 1024
LIMIT = 200

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a scan keeps of a topic file. `path` is relative to the directory, with `/`; `size` in bytes."""

    path: str
    name: str
    description: str | None
    type: str | None
    mtime: datetime
    mtime_ns: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    path: str
    head: bytes
    status: os.stat_result


def scan(directory: Path | str, *, team: bool = False, limit: int | None = LIMIT) -> list[Header]:
    """The headers of all topic files below `directory`, newest first, ties by path (M3).

    Left out (M1): what is no topic (P8), and `team/` unless it is asked for. A link is left out too: where it
    leads to a topic of the directory, that is there under its own name. What vanishes or can't be read
    meanwhile is skipped (M2); so a file that is missing here need not be gone. No directory: no headers.
    """
    found = [one for path, real in _files(Path(directory), team) if (one := _open(path, real))]
    found.sort(key=lambda one: (-one.status.st_mtime_ns, one.path))
    return [_header(one) for one in found[:limit]]


def _files(directory: Path, team: bool) -> Iterator[tuple[str, str]]:
    """(relative path, real path) of the topic files."""
    root = os.path.realpath(directory)
    index = os.path.realpath(Path(root, INDEX))  # it may be a link to a file of another name
    waiting = [(root, "")]
    while waiting:
        folder, prefix = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            path = prefix + entry.name
            if _says(entry.is_dir):
                if is_topic(f"{path}/any.md", team=team):
                    waiting.append((entry.path, f"{path}/"))
            elif entry.path != index and is_topic(path, team=team) and _says(entry.is_file):
                yield path, entry.path


def _says(question: Callable[..., bool]) -> bool:
    try:
        return question(follow_symlinks=False)
    except OSError:
        return False


def _open(path: str, real: str) -> _Found | None:
    """The beginning of a file and its status, from one opening (M2)."""
    read = beginning(real, HEAD_BYTES)
    if read is None:
        return None
    head, status = read
    return _Found(path=path, head=head, status=status)


def _header(found: _Found) -> Header:
    text = encoding.readable(found.head)
    lines = list(islice(LINE.finditer(text), HEAD_LINES))
    first = text[: lines[-1].end()] if lines else ""
    whole = len(found.head) >= found.status.st_size and first == text
    read = topic.parse(first, filename=found.path, cut=not whole)
    return Header(
        path=found.path,
        name=read.name,
        description=read.description,
        type=read.type,
        mtime=moment(found.status.st_mtime_ns),
        mtime_ns=found.status.st_mtime_ns,
        size=found.status.st_size,
    )


def moment(nanoseconds: int) -> datetime:
    """An mtime as an aware datetime in UTC; one outside the calendar as its first or last moment."""
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return _LAST if nanoseconds > 0 else _FIRST
