"""The folder of a history: ours alone, one writer at a time, and what lies in it.

repository/               the bare repository
stamps                    what is recorded of each file (`stamps`); derived
intent                    whose change has begun and not been recorded yet
lock                      held by who writes, and by the git that he started
repository.damaged-1/     one that could not be gone on with
rewriting/                a repository without what is erased, being made (`erasing`)
rewritten/                the same, whole: from here on it counts, and takes the place of the first
replaced/                 the first, on its way out
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memdir import fs
from memdir.errors import Conflict, UnsafePath

if sys.platform != "win32":
    import fcntl

_TRIES, _PAUSE = 200, 0.05
"""Ten seconds, for a git whose parent was killed to end."""


class Folder:
    """The places in a history's folder. Makes nothing by itself."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamps = path / "stamps"
        self.intent = path / "intent"
        self.rewriting = path / "rewriting"
        self._repository = path / "repository"
        self._rewritten = path / "rewritten"
        self._replaced = path / "replaced"

    @property
    def repository(self) -> Path:
        """The repository that counts."""
        return self._rewritten if self._rewritten.exists() else self._repository

    @property
    def damaged(self) -> list[Path]:
        """Repositories that were put aside, oldest first."""
        found = self.path.glob("repository.damaged-*")
        numbered = [(int(number), place) for place in found if (number := place.suffix[9:]).isdecimal()]
        return [place for _, place in sorted(numbered)]

    def refusal(self) -> str | None:
        """Why nothing is read or written here, or None: a link, or somebody else's folder."""
        try:
            found = self.path.lstat()
        except FileNotFoundError:
            return None
        if not stat.S_ISDIR(found.st_mode):
            return "a link or a file, where the folder of a history is needed"
        return "somebody else's folder" if os.name == "posix" and found.st_uid != os.geteuid() else None

    @contextmanager
    def held(self) -> Iterator[int]:
        """Hold the folder alone; a descriptor that a child can hold it with. Makes it if it is missing.

        Raises UnsafePath for a folder that is a link or somebody else's; Conflict: it is held by another.
        """
        if reason := self.refusal():
            raise UnsafePath(str(self.path), reason=reason)
        fs.make_private(self.path)
        if os.name == "posix" and stat.S_IMODE(self.path.lstat().st_mode) & 0o077:
            self.path.chmod(0o700)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        fd = os.open(self.path / "lock", flags, 0o600)
        try:
            _lock(fd)
            self._finish()
            yield fd
        finally:
            if sys.platform != "win32":
                fcntl.flock(fd, fcntl.LOCK_UN)
            os.close(fd)

    def put_aside(self) -> Path:
        """Give the repository another name, and forget what was known of it; says which name."""
        number = int(self.damaged[-1].suffix[9:]) + 1 if self.damaged else 1
        place = self.path / f"repository.damaged-{number}"
        self.stamps.unlink(missing_ok=True)
        self.repository.rename(place)
        self._sync()
        return place

    def replace(self) -> None:
        """What is in `rewriting` counts from now on; nothing of the earlier ones stays (durable)."""
        self._sync()
        self.rewriting.rename(self._rewritten)
        self._sync()
        self._finish()

    def _finish(self) -> None:
        """End an erasure that was broken off: back to the old repository, or on to the new one."""
        names = {place.name for place in self.path.iterdir()}
        if not names & {"rewriting", "rewritten", "replaced"}:
            return
        _remove(self.rewriting)
        if self._rewritten.exists():
            if self._repository.exists():
                _remove(self._replaced)
                self._repository.rename(self._replaced)
            self.stamps.unlink(missing_ok=True)
            for place in self.damaged:
                _remove(place)
            self._rewritten.rename(self._repository)
            self._sync()
        _remove(self._replaced)
        self._sync()

    def _sync(self) -> None:
        if os.name == "posix":
            fd = os.open(self.path, os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)


def _lock(fd: int) -> None:
    """Wait for the lock, for a while."""
    if sys.platform == "win32":
        return  # the lock of the memory directory, which the caller holds, has to do
    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_PAUSE)
    raise Conflict("the history is busy", hint="try again in a moment")


def _remove(place: Path) -> None:
    """Remove a folder with all that is in it, a file or a link, if there is one."""
    if place.is_symlink() or place.is_file():
        place.unlink(missing_ok=True)
    elif place.exists():
        shutil.rmtree(place)
