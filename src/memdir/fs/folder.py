"""An open folder: files in it are made, named and removed by its descriptor, never by a path.

So nobody can swap the folder for a link between look and leap. All effects go through `os`, looked up
here by name: a test puts a failing disk in its place.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from memdir.errors import UnsafePath

if sys.platform != "win32":
    import fcntl

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
TEMPORARY = re.compile(r"\.memdir-[0-9a-f]{16}\.tmp")
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}

_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
NEVER_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | _CLOEXEC
OPEN_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | _CLOEXEC
_OTHER_KINDS = {
    stat.S_IFDIR: "a folder, where a file is needed",
    stat.S_IFIFO: "a pipe, where a file is needed",
    stat.S_IFSOCK: "a socket, where a file is needed",
    stat.S_IFLNK: "a link, put there meanwhile",
}


def make_private(directory: Path) -> None:
    """Make the folder and its missing parents, each new one for its owner only (0700); durable."""
    with naming(directory), open_folder(directory, None):
        pass


class Folder:
    """An open folder. Its files are reached by its descriptor (None on Windows: by path), never followed."""

    def __init__(self, path: Path, fd: int | None) -> None:
        self.path = path
        self.fd = fd

    def at(self, name: str) -> str:
        return name if self.fd is not None else str(self.path / name)

    def open(self, name: str, flags: int, mode: int = 0) -> int:
        return os.open(self.at(name), flags | NOFOLLOW, mode, dir_fd=self.fd)

    def look(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(self.at(name), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def read(self, name: str, limit: int | None = None) -> bytes:
        with closing(self.open(name, os.O_RDONLY | NEVER_WAIT)) as fd:
            return read_descriptor(fd, self.path / name, limit)

    def rename(self, old: str, new: str) -> None:
        os.replace(self.at(old), self.at(new), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def unlink(self, name: str) -> None:
        os.unlink(self.at(name), dir_fd=self.fd)

    def put_new(self, temporary: str, name: str) -> None:
        """Give the temporary file its name, if nobody has it (FileExistsError)."""
        try:
            names = self.at(temporary), self.at(name)
            os.link(*names, src_dir_fd=self.fd, dst_dir_fd=self.fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            if self.look(name):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
            self.rename(temporary, name)

    @contextmanager
    def temporary(
        self, data: bytes, *, like: os.stat_result | None, mode: int | None = None
    ) -> Iterator[str]:
        """A file of ours that is whole and on the disk; gone afterwards, unless it was renamed."""
        name = f".memdir-{secrets.token_hex(8)}.tmp"
        try:
            with closing(self.open(name, _CREATE, PRIVATE_FILE)) as fd:
                _write_all(fd, data)
                _dress(fd, like, mode)
                to_disk(fd)
            yield name
        finally:
            with suppress(OSError):
                self.unlink(name)

    def sync(self) -> None:
        """Names made, changed and removed here, to the disk."""
        if self.fd is not None:
            try:
                to_disk(self.fd)
            except OSError as error:
                if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # not offered for folders by this disk
                    raise


@contextmanager
def open_folder(path: Path, within: Path | None, *, create: bool = True) -> Iterator[Folder]:
    """The folder, opened; missing ones are made. Below `within`, or below the first that exists, no links."""
    base = Path(os.path.realpath(within or path))
    if within and (".." in path.parts or not path.is_relative_to(base)):
        raise UnsafePath(str(path), reason=f"outside {within}")
    path = path if within else base
    if sys.platform == "win32":
        if create:
            path.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        yield Folder(path, None)
        return
    start = next(place for place in (base, *base.parents) if place.exists())
    with closing(_descend(start, path.relative_to(start).parts, create=create)) as fd:
        yield Folder(path, fd)


def _descend(start: Path, names: Sequence[str], *, create: bool) -> int:
    fd = os.open(start, OPEN_FOLDER)
    try:
        for name in names:
            inner = _enter(fd, name, create=create)
            os.close(fd)
            fd = inner
    except BaseException:
        os.close(fd)
        raise
    return fd


def _enter(fd: int, name: str, *, create: bool) -> int:
    if create:
        with suppress(FileExistsError):
            os.mkdir(name, PRIVATE_FOLDER, dir_fd=fd)
            Folder(Path(), fd).sync()
    try:
        return os.open(name, OPEN_FOLDER | NOFOLLOW, dir_fd=fd)
    except NotADirectoryError as error:
        raise UnsafePath(name, reason="a file or a link, where a folder is needed") from error


def read_descriptor(fd: int, path: Path, limit: int | None) -> bytes:
    regular(os.fstat(fd), path)
    with os.fdopen(fd, "rb", closefd=False) as file:
        return file.read(limit)


def regular(found: os.stat_result, path: Path) -> os.stat_result:
    if not stat.S_ISREG(found.st_mode):
        raise UnsafePath(str(path), reason=_OTHER_KINDS.get(stat.S_IFMT(found.st_mode), "a device"))
    return found


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _dress(fd: int, like: os.stat_result | None, mode: int | None) -> None:
    """Give the new file owner and mode of the old one."""
    if sys.platform == "win32":
        return
    if like and (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(OSError):  # only an administrator can give files away
            os.fchown(fd, like.st_uid, like.st_gid)
    wanted = mode if mode is not None else stat.S_IMODE(like.st_mode) if like else PRIVATE_FILE
    if wanted != PRIVATE_FILE:
        os.fchmod(fd, wanted)


def to_disk(fd: int) -> None:
    """To the disk itself; macOS needs to be asked for that in its own way."""
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fsync(fd)


@contextmanager
def closing(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def flocked(fd: int) -> Iterator[None]:
    """Hold an open file alone; the lock goes when it is closed."""
    if sys.platform != "win32":
        with suppress(OSError):  # where files can't be locked, a single write has to do
            fcntl.flock(fd, fcntl.LOCK_EX)
    yield


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Make errors name the file that was meant, and call a special file or a loop of links unsafe."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENXIO, errno.ELOOP, errno.EISDIR}:
            raise UnsafePath(str(path), reason="a folder, link, socket or device, not a file") from error
        raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from error
