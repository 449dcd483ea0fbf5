"""A memory directory becomes headers, newest first (M1-M3). Reads only, follows no link out, never waits."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memdir.memory import topic
from memdir.memory.entrypoint import NAME

HEAD_LINES = 30
HEAD_BYTES = 64 * 1024
LIMIT = 200

_READ = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)
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
    whole: bool
    status: os.stat_result


def scan(directory: Path | str, *, team: bool = False, limit: int | None = LIMIT) -> list[Header]:
    """The headers of all topic files below `directory`, newest first, ties by path (M3).

    Left out (M1): what is no `.md`, every `MEMORY.md`, dot-files, `logs/`, `sessions/`, links that leave the
    directory, and `team/` unless it is asked for. What vanishes or can't be read meanwhile is skipped (M2);
    so a file that is missing here need not be gone. No directory: no headers.
    """
    found = [one for path, real in _files(Path(directory), team) if (one := _open(path, real))]
    found.sort(key=lambda one: (-one.status.st_mtime_ns, one.path))
    return [_header(one) for one in found[:limit]]


def is_topic(path: str, *, team: bool = False) -> bool:
    """Whether a path relative to the memory directory, with `/`, names a topic file (M1)."""
    parts = path.split("/")
    return (
        parts[-1].endswith(".md") and parts[-1] != NAME and _entered(parts[:-1], team) and parts[-1][0] != "."
    )


def _entered(folders: list[str], team: bool) -> bool:
    closed = {"logs", "sessions"} if team else {"logs", "sessions", "team"}
    return not any(name.startswith(".") for name in folders) and (not folders or folders[0] not in closed)


def _files(directory: Path, team: bool) -> Iterator[tuple[str, str]]:
    """(relative path, real path) of the topic files, each folder entered once."""
    root = os.path.realpath(directory)
    waiting, entered = [(root, "")], set()
    while waiting:
        folder, prefix = waiting.pop()
        try:
            status = Path(folder).stat()
            entries = list(os.scandir(folder))
        except OSError:
            continue
        if (status.st_dev, status.st_ino) in entered:  # links in a circle
            continue
        entered.add((status.st_dev, status.st_ino))
        for entry in entries:
            path = prefix + entry.name
            real = _real(root, entry, team)
            if real is None:
                continue
            if _says(entry.is_dir) and _entered(path.split("/"), team):
                # Links come last, so that a file goes by the name of the folder it really is in.
                waiting.insert(0 if entry.is_symlink() else len(waiting), (real, path + "/"))
            elif is_topic(path, team=team) and _says(entry.is_file):
                yield path, real


def _real(root: str, entry: os.DirEntry[str], team: bool) -> str | None:
    """Where an entry really is; None for a link that leaves the directory, or leads to what is left out."""
    try:
        if not entry.is_symlink():
            return entry.path
        real = os.path.realpath(entry.path, strict=True)
    except OSError:
        return None
    if not Path(real).is_relative_to(root):
        return None
    inner = list(Path(real).relative_to(root).parts)
    return real if _entered(inner, team) and NAME not in inner[-1:] else None


def _says(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except OSError:
        return False


def _open(path: str, real: str) -> _Found | None:
    """The first lines of a file and its status, from one opening (M2)."""
    try:
        fd = os.open(real, _READ)
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return None
        head = os.read(fd, HEAD_BYTES)
    except OSError:
        return None
    finally:
        os.close(fd)
    lines = head.split(b"\n", HEAD_LINES)
    kept = b"\n".join(lines[:HEAD_LINES]) + (b"\n" if len(lines) > HEAD_LINES else b"")
    return _Found(path=path, head=kept, whole=len(kept) >= status.st_size, status=status)


def _header(found: _Found) -> Header:
    read = topic.parse(found.head, filename=found.path, cut=not found.whole)
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
