"""What is recorded of each file, and the state it had then: so that nothing is read that has not changed.

The file on the disk is derived: one that is missing, damaged or of another head is made anew from git.

    memdir stamps 1\\n, SHA-256 of what follows, MessagePack: [head, {path: [blob, mtime, stamp]}]
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from memdir import fs
from memdir.errors import UnsafePath
from memdir.memory.index.stamp import UNSETTLED, is_settled, stamp_of

__all__ = ["LIMIT", "UNSETTLED", "Entry", "Found", "Recorded", "blob_of", "load", "look", "save", "stamp"]

LIMIT = 5 * 1024 * 1024
"""Bytes; a larger file stays as it was recorded last."""

_MAGIC = b"memdir stamps 1\n"
_DIGEST = hashlib.sha256().digest_size


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is recorded of a file: its blob, and its modification time in ns (None: nobody knows).

    `stamp` is the state in which the file held this blob, or UNSETTLED: it has to be read again.
    """

    blob: str
    mtime_ns: int | None
    stamp: int


class Recorded(msgspec.Struct, array_like=True):
    """What is recorded of a directory: the newest commit (None: none yet) and its files."""

    head: str | None
    entries: dict[bytes, Entry]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Recorded)


def load(file: Path) -> Recorded | None:
    """What `save` wrote, or None."""
    try:
        data = fs.read_file(file)
    except (OSError, UnsafePath):
        return None
    start = len(_MAGIC) + _DIGEST
    if data[:start] != _MAGIC + hashlib.sha256(data[start:]).digest():
        return None
    try:
        return _DECODER.decode(data[start:])
    except msgspec.DecodeError:  # of another version that has the same name
        return None


def save(file: Path, recorded: Recorded) -> None:
    """Write it as a whole. Raises OSError."""
    data = _ENCODER.encode(recorded)
    fs.write_atomic(file, _MAGIC + hashlib.sha256(data).digest() + data)


@dataclass(frozen=True, slots=True)
class Found:
    """A directory compared with what is recorded of it.

    `changed`: files that are new or may have changed, with their state. `gone`: files that are recorded and
    not there. What can't be seen now is neither.
    """

    changed: dict[bytes, os.stat_result] = field(default_factory=dict)
    gone: Collection[bytes] = ()


def look(root: bytes, known: Mapping[bytes, Entry]) -> Found:
    """Compare each visible `.md` file below `root` with what is known, by one stat; read nothing (H2).

    Links are not followed, and dot names left out, at any level. No directory: all are gone. Raises OSError
    where `root` itself can't be looked into.
    """
    found, same = Found(), set[bytes]()
    closed: list[bytes] = []
    waiting = [(b"", root)]
    while waiting:
        prefix, folder = waiting.pop()
        try:
            waiting += _look_into(folder, prefix, known, same, found.changed)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            if not prefix:
                raise
            closed.append(prefix)
    there = len(same) + len(found.changed.keys() & known.keys())
    if there == len(known):
        return found
    gone = known.keys() - same - found.changed.keys()
    return Found(found.changed, sorted(path for path in gone if not path.startswith(tuple(closed))))


def _look_into(
    folder: bytes,
    prefix: bytes,
    known: Mapping[bytes, Entry],
    same: set[bytes],
    changed: dict[bytes, os.stat_result],
) -> list[tuple[bytes, bytes]]:
    """One folder; says which others are in it. This runs for every file at every look."""
    folders = []
    with os.scandir(folder) as entries:
        for one in entries:
            name = one.name
            if name.startswith(b"."):
                continue
            path = prefix + name
            entry = known.get(path)
            try:
                if entry is not None or name.endswith(b".md"):
                    status = one.stat(follow_symlinks=False)
                    if entry is not None and stamp_of(status) == entry.stamp:
                        same.add(path)
                    elif one.is_file(follow_symlinks=False):
                        if status.st_size <= LIMIT:
                            changed[path] = status
                        elif entry is not None:
                            same.add(path)
                    elif one.is_dir(follow_symlinks=False):
                        folders.append((path + b"/", one.path))
                elif one.is_dir(follow_symlinks=False):
                    folders.append((path + b"/", one.path))
            except FileNotFoundError:
                continue
            except OSError:
                if entry is not None:
                    same.add(path)
    return folders


def stamp(before: os.stat_result, path: Path, *, now_ns: int) -> int:
    """The stamp of a file that was read after the state `before`, if it can't have changed meanwhile."""
    try:
        after = stamp_of(path.lstat())
    except OSError:
        return UNSETTLED
    return after if after == stamp_of(before) and is_settled(before, now_ns) else UNSETTLED


def blob_of(data: bytes) -> str:
    """The name that git gives to these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
