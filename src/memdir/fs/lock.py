"""One writer at a time in a folder, among processes and threads (F9)."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memdir.errors import Conflict
from memdir.fs.folder import NOFOLLOW, OPEN_FOLDER, PRIVATE_FILE, closing, make_private

if sys.platform != "win32":
    import fcntl

LOCK_FILE = ".memdir-lock"
_TRIES = 100
"""How often to reach for a folder that others remove, as they do with locks that nobody holds."""


class Patience:
    """So many seconds to wait in all, from now on, however often."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """What is left of them."""
        return max(0.0, self._end - time.monotonic())


@contextmanager
def locked(directory: Path, *, timeout: float | Patience = 10.0) -> Iterator[None]:
    """Hold `directory` alone, against other processes and other threads, for one short change (F9).

    The lock is on the folder itself and goes with its holder, however that ends: no lock file stays. Where
    a folder can't be locked (Windows, some network disks), it is on a file `.memdir-lock` in it. Waits up to
    `timeout` seconds, blocking its thread. Not re-entrant: who asks again inside waits for himself.

    Raises:
        Conflict: somebody else held it all that time.
    """
    timeout = timeout.left if isinstance(timeout, Patience) else timeout
    busy = Conflict(f"{directory} is busy: somebody else is writing there", hint="try again in a moment")
    if sys.platform == "win32":
        from filelock import FileLock, Timeout

        make_private(directory)
        try:
            with FileLock(directory / LOCK_FILE, timeout=timeout):
                yield
        except Timeout as error:
            raise busy from error
    else:
        deadline = time.monotonic() + timeout
        while (fd := _take(directory, deadline)) is not None and not _is_still(fd, directory):
            os.close(fd)  # the folder was moved away, or removed by who held it, while we waited for it
        if fd is None:
            raise busy
        with closing(fd):
            try:
                yield
            finally:
                # Said, not left to the closing: a child forked meanwhile would go on holding it.
                fcntl.flock(fd, fcntl.LOCK_UN)


def _take(directory: Path, deadline: float) -> int | None:
    """A descriptor that holds the lock, or None when the time is up."""
    fd = _made(directory)
    pause = 0.001
    try:
        while not (taken := _try(fd)) and time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
    except BaseException:
        os.close(fd)
        raise
    if not taken:
        os.close(fd)
    return fd if taken else None


def _made(directory: Path) -> int:
    """As `_lockable`; the folder is made if it is missing, and anew if somebody removes it meanwhile."""
    for tries_left in reversed(range(_TRIES)):
        try:
            make_private(directory)
            return _lockable(directory)
        except FileNotFoundError:
            if not tries_left:
                raise
    raise AssertionError("the last try returns or raises")


def _lockable(directory: Path) -> int:
    """A descriptor of the folder, or of the lock file in it where folders can't be locked."""
    fd = os.open(directory, OPEN_FOLDER)
    try:
        _try(fd)
    except OSError:
        os.close(fd)
        return os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | NOFOLLOW, PRIVATE_FILE)
    return fd


def _try(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still(fd: int, directory: Path) -> bool:
    """Whether the locked folder (or the lock file in it) is what the path names now."""
    held = os.fstat(fd)
    place = directory if stat.S_ISDIR(held.st_mode) else directory / LOCK_FILE
    try:
        return os.path.samestat(held, place.stat())
    except FileNotFoundError:
        return False
