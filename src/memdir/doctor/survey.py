"""A memory directory as it stands: its names, and each file read once. Reads only, follows no link (A8)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

from memdir import fs
from memdir.doctor.around import Around
from memdir.errors import UnsafePath, UsageError
from memdir.memory import encoding
from memdir.memory.history.stamps import LIMIT
from memdir.memory.store import MemoryDir
from memdir.names import is_topic
from memdir.secrets import scan

MOST_BYTES = LIMIT
"""A file that is larger, of which the history keeps nothing, is not looked through, and that is a finding."""

TEXT = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx", ".txt"})
"""Endings, in any case of letters, of what somebody may take for a memory."""

_NO_FOLDER = ".memdir-no-such-folder"
"""Where a name is judged as a new one, and beside no other."""

_LOOKS_BINARY = 8192
"""Bytes of a file of another program; a zero among them, and it is no text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Something in the directory.

    `path` is relative to it, with `/`. `reachable`: memory can follow the names of the folders above it.
    `suspect`: a name in its folder may be a secret. `data`: the bytes of a file that may be text; None: it is
    none, or it is too big, or `error` says why it can't be read.
    """

    path: str
    status: os.stat_result
    reachable: bool
    suspect: bool
    data: bytes | None = None
    error: OSError | UnsafePath | None = None

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_hidden(self) -> bool:
        return self.name.startswith(".")

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.status.st_mode)

    @property
    def is_text(self) -> bool:
        """Whether somebody may take it for a memory."""
        return not self.is_hidden and os.path.splitext(self.name)[1].casefold() in TEXT  # noqa: PTH122

    @property
    def is_too_big(self) -> bool:
        return stat.S_ISREG(self.status.st_mode) and self.status.st_size > MOST_BYTES


@dataclass(frozen=True, kw_only=True)
class Survey:
    """The directory at one moment, `now`. `things` are in the order of a walk."""

    memory: MemoryDir
    root: Path
    things: tuple[Thing, ...]
    around: Around | None
    now: datetime
    _refused: dict[str, str | None] = field(default_factory=dict)

    @cached_property
    def by_path(self) -> Mapping[str, Thing]:
        """Everything in the directory, by path."""
        return {thing.path: thing for thing in self.things}

    @cached_property
    def index_file(self) -> str | None:
        """What the index is really called: it may be a link to another file in there. None: it leads
        outside.
        """
        try:
            return self.memory.index_file.place.relative_to(self.root).as_posix()
        except (UnsafePath, ValueError):
            return None

    @cached_property
    def index(self) -> bytes | None:
        """The bytes of the index, empty where there is none; None: they can't be read."""
        if self.index_file is None:
            return None
        thing = self.by_path.get(self.index_file)
        return b"" if thing is None else thing.data

    @cached_property
    def topics(self) -> Mapping[str, Thing]:
        """The topic files that memory can read and write, by path (M1)."""
        return {
            thing.path: thing
            for thing in self.things
            if thing.data is not None
            and is_topic(thing.path)
            and thing.path != self.index_file
            and is_whole(thing.data)
            and self.why_not(thing.path) is None
        }

    def why_not(self, path: str) -> str | None:
        """Why memory refuses a file by its name, or None."""
        if path not in self._refused:
            self._refused[path] = self.memory.why_not(path)
        return self._refused[path]


def survey(memory: MemoryDir, *, around: Around | None, now: datetime) -> Survey:
    """Look at all that is there. Hidden folders belong to other programs, and are passed by.

    Raises:
        OSError: the directory itself can't be looked into.
    """
    root = Path(os.path.realpath(memory.directory))
    return Survey(memory=memory, root=root, things=tuple(_walk(root)), around=around, now=now)


def is_whole(data: bytes) -> bool:
    """Whether it is a text that can be written back as it was."""
    try:
        encoding.decode(data)
    except UsageError:
        return False
    return True


def why_no_name(root: Path, name: str) -> str | None:
    """Why not all systems can hold a file or folder of this name, or None."""
    try:
        fs.contain(root / _NO_FOLDER, name)
    except UnsafePath as error:
        return error.reason
    return None


def _walk(root: Path) -> Iterator[Thing]:
    waiting = [("", True)]
    while waiting:
        folder, reachable = waiting.pop()
        try:
            names = sorted(os.listdir(root / folder))  # noqa: PTH208 - names alone
        except OSError:
            if not folder:
                raise
            continue  # gone meanwhile, or closed
        suspect = scan("\n".join(names)) != []
        for name in names:
            path = f"{folder}/{name}" if folder else name
            try:
                status = os.lstat(root / path)
                data, refused = _read(root, path, status)
            except OSError:  # gone meanwhile
                continue
            thing = Thing(
                path=path, status=status, reachable=reachable, suspect=suspect, data=data, error=refused
            )
            if not thing.is_folder:
                yield thing
            elif not thing.is_hidden:
                yield thing
                if thing.error is not None:
                    continue
                odd = (suspect and scan(name) != []) or why_no_name(root, name) is not None
                waiting.append((path, reachable and not odd))


def _read(root: Path, path: str, status: os.stat_result) -> tuple[bytes | None, OSError | UnsafePath | None]:
    """The bytes of a file that may be text, or why they, or a folder, can't be read.

    Raises FileNotFoundError.
    """
    kind, text = status.st_mode, Path(path).suffix.casefold() in TEXT
    if stat.S_ISLNK(kind) or (stat.S_ISREG(kind) and status.st_size > MOST_BYTES):
        return None, None
    try:
        if stat.S_ISDIR(kind):
            with os.scandir(root / path) as entries:
                os.stat(os.path.join(root, path, "."))  # noqa: PTH116, PTH118 - whether it may be gone into
                next(entries, None)
            return None, None
        data = fs.read_file(root / path, within=root)
    except FileNotFoundError:
        raise
    except (OSError, UnsafePath) as error:
        return None, error
    return (data if text or b"\0" not in data[:_LOOKS_BINARY] else None), None
