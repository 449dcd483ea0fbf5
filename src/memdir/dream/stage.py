"""A copy of the memories to work on: the model's hands reach it, and never the memories themselves (D5, D8).

    <folder>/memory/             the topics and the index, bytes and mtimes as they are; logs and summaries of
                                 sessions beside them, for reading
    <folder>/memory/dream.json   what the model says about what it takes out (`reasons`)
    <folder>/trash, inbox        what the copy's `MemoryDir` puts there

Nothing here has to outlive a crash, so nothing waits for the disk: what a killed dream leaves is swept away.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memdir import fs
from memdir.dream.files import Snapshot
from memdir.dream.plan.reasons import MAX_BYTES
from memdir.dream.plan.reasons import NAME as NOTEBOOK
from memdir.errors import Conflict, MemdirError, UnsafePath
from memdir.fs.folder import PRIVATE_FILE
from memdir.memory.entrypoint import NAME
from memdir.memory.history.stamps import LIMIT
from memdir.memory.store import MemoryDir
from memdir.names import is_topic, what_is

_FOLDER = re.compile(r"stage-[0-9a-f]{16}")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def new_folder(dreams: Path) -> Path:
    """A folder for a stage that nobody has yet. It is not made."""
    return dreams / f"stage-{secrets.token_hex(8)}"


def sweep(dreams: Path) -> None:
    """Clear away what killed dreams left. The caller holds the dream's lock: no other one is under way."""
    for folder in folders(dreams):
        remove(folder)


def folders(dreams: Path) -> tuple[Path, ...]:
    """The folders of stages. If no dream is under way, they are what killed ones left. Raises OSError."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return tuple(sorted(dreams / name for name in os.listdir(dreams) if _FOLDER.fullmatch(name)))  # noqa: PTH208 - names alone
    return ()


def snapshot(memory: MemoryDir) -> Snapshot:
    """The topics and the index as they are on the disk now. The caller knows that nobody is writing.

    Left out is what a dream never touches: links, what can't be read, names that memdir would not write to,
    and files so large that the history does not bring them back (H2).

    Raises:
        UnsafePath, OSError: the index is there, and can't be read: nothing can be put in order around it.
    """
    root = Path(os.path.realpath(memory.directory))
    index = memory.index_file.place if os.path.lexists(root / NAME) else root / NAME
    files, mtimes = dict[str, bytes](), dict[str, int]()
    if index.exists():
        files[NAME], mtimes[NAME] = _read(index, root)
    for file in walk(root):
        if is_topic(file) and root / file != index and memory.why_not(file) is None:
            with suppress(OSError, UnsafePath):  # gone, closed to us, or too large
                files[file], mtimes[file] = _read(root / file, root)
    return Snapshot(files=files, mtimes=mtimes)


def below(root: Path) -> Snapshot:
    """The topics and the index in a folder that is only ours. A link is nothing."""
    files, mtimes = dict[str, bytes](), dict[str, int]()
    for file in walk(root):
        if is_topic(file) or file == NAME:
            with suppress(OSError, UnsafePath):
                files[file], mtimes[file] = _read(root / file, root)
    return Snapshot(files=files, mtimes=mtimes)


def walk(root: Path) -> Iterator[str]:
    """All visible regular files below a folder that end in `.md`, by name. No link is followed."""
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            entries = sorted(os.scandir(root / prefix), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{prefix}{entry.name}/")
                elif entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
                    yield prefix + entry.name


def _read(place: Path, root: Path) -> tuple[bytes, int]:
    """Bytes and mtime. Raises OSError, UnsafePath: also where it is too large."""
    mtime_ns = place.lstat().st_mtime_ns  # before the bytes: a change in between makes it look old
    data = fs.read_file(place, limit=LIMIT + 1, within=root)
    if len(data) > LIMIT:
        raise UnsafePath(place.name, reason="too large to be brought back")
    return data, mtime_ns


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A copy of a memory directory. `before`: what was copied of topics and index. `real`: where the
    directory really was then.
    """

    folder: Path
    memory: MemoryDir
    before: Snapshot
    real: Path

    @classmethod
    def make(cls, folder: Path, memory: MemoryDir) -> Stage:
        """Copy a memory directory, for its owner only, while nobody writes in it.

        Raises:
            Conflict: the folder is there already, or the directory is busy.
            UnsafePath, OSError: as `snapshot`; the disk said no. Nothing is left then.
        """
        if os.path.lexists(folder):
            raise Conflict(f"{folder.name} is there already")
        with memory.alone():
            real = Path(os.path.realpath(memory.directory))
            before = snapshot(memory)
            besides = {file: read for file in walk(real) if (read := _beside(file, real))}
        try:
            fs.make_private(folder / "memory")
            copy = MemoryDir(folder / "memory", trash=folder / "trash", inbox=folder / "inbox")
            stage = cls(folder=folder, memory=copy, before=before, real=real)
            for file, (data, mtime_ns) in besides.items():
                stage._put(file, data, mtime_ns)
            for file, data in before.files.items():
                stage._put(file, data, before.mtimes[file])
        except BaseException:
            remove(folder)
            raise
        return stage

    @property
    def notebook(self) -> Path:
        """Where the model writes its reasons."""
        return self.memory.directory / NOTEBOOK

    def after(self) -> Snapshot:
        """What the copy holds now."""
        return below(self.memory.directory)

    def reasons(self) -> bytes | None:
        """What the notebook holds; None: nothing that can be read. Of one that is too large, so much that
        `reasons.read` sees it.
        """
        with suppress(OSError, MemdirError):
            return fs.read_file(self.notebook, limit=MAX_BYTES + 1, within=self._root)
        return None

    def put(self, after: Snapshot) -> None:
        """Have the copy hold that, and no other topic. Raises OSError."""
        now = self.after()
        for file in now.files.keys() | after.files.keys():
            data = after.files.get(file)
            if data == now.files.get(file) and after.mtimes.get(file) == now.mtimes.get(file):
                continue
            with suppress(FileNotFoundError):
                (self._root / file).unlink()
            if data is not None:
                self._put(file, data, after.mtimes.get(file))

    def remove(self) -> None:
        """The copy, with all that belongs to it, is gone."""
        remove(self.folder)

    @property
    def _root(self) -> Path:
        return Path(os.path.realpath(self.memory.directory))

    def _put(self, file: str, data: bytes, mtime_ns: int | None) -> None:
        place = self._root / file
        if not place.parent.is_dir():
            fs.make_private(place.parent)
        fd = os.open(place, _NEW, PRIVATE_FILE)
        with os.fdopen(fd, "wb") as opened:
            opened.write(data)
        if mtime_ns is not None:
            os.utime(place, ns=(mtime_ns, mtime_ns), follow_symlinks=False)


def _beside(file: str, root: Path) -> tuple[bytes, int] | None:
    """A log or the summary of a session, which the model may read."""
    if what_is(tuple(file.split("/"))) not in ("log", "session"):
        return None
    with suppress(OSError, UnsafePath):
        return _read(root / file, root)
    return None


def remove(place: Path) -> None:
    """A folder with all that is in it is gone, or a link or file in its place."""
    with suppress(FileNotFoundError):
        if place.is_symlink() or not place.is_dir():
            place.unlink()
        else:
            shutil.rmtree(place)
