"""One file at a time: a reader sees the old one or the new one, whatever happens to the writer (F8, F9).

The only thing a killed writer leaves behind is a file named `.memdir-<random>.tmp`, which
`sweep_temporaries` knows by its name and clears away.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from memdir.errors import Conflict, UnsafePath
from memdir.fs.folder import (
    NEVER_WAIT,
    PRIVATE_FILE,
    TEMPORARY,
    Folder,
    closing,
    flocked,
    naming,
    open_folder,
    read_descriptor,
    regular,
    to_disk,
)


def digest(data: bytes) -> str:
    """SHA-256 of the bytes, hex."""
    return hashlib.sha256(data).hexdigest()


def write_atomic(path: Path, data: bytes, *, mode: int | None = None, within: Path | None = None) -> None:
    """Put `data` at `path` as a whole, and on the disk for good (F8).

    Missing folders are made (0700). An existing file keeps its mode and owner, a new one is 0600; `mode`
    overrules both. A link is written through to its target. With `within` (what `contain` was asked about),
    no link below that folder is followed at all, not even one put there a moment ago.

    Raises:
        UnsafePath: no regular file stands there, or the link leads nowhere.
        OSError: the disk said no; the old file stands.
    """
    _write(path, data, mode=mode, within=within)


def replace_if(path: Path, data: bytes, *, expected: str | None, within: Path | None = None) -> None:
    """Write `data` only if the file still is what the caller saw (F9). Call it under `locked`.

    `expected` is the digest of the bytes seen, or None: there was no file. The look is taken right before
    the rename, so that also a program that knows nothing of our lock is hardly ever run over.

    Raises:
        Conflict: it changed, went away, or appeared since.
    """

    def unchanged(folder: Folder, name: str) -> None:
        try:
            now = digest(folder.read(name))
        except FileNotFoundError as error:
            raise _changed(path, "was removed") from error
        if now != expected:
            raise _changed(path, "changed")

    new = expected is None
    try:
        _write(path, data, within=within, check=None if new else unchanged, new=new)
    except FileExistsError as error:
        raise _changed(path, "was created") from error


def append_line(path: Path, line: bytes, *, sync: bool = False) -> None:
    """Append one line (its newline is added) to a file made 0600 with its folders if it is missing.

    A last line that a crash cut off is left as it is; the new one starts on a line of its own.

    Raises:
        ValueError: a newline in `line`. UnsafePath: no regular file. OSError: not, or only partly written.
    """
    if b"\n" in line:
        raise ValueError("a line holds no newline")
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | NEVER_WAIT
    target = _target(path)
    with naming(path), open_folder(target.parent, None) as folder:
        existed = folder.look(target.name) is not None
        with closing(folder.open(target.name, flags, PRIVATE_FILE)) as fd, flocked(fd):
            size = regular(os.fstat(fd), path).st_size
            whole = b"\n" * _torn(fd, size) + line + b"\n"
            if os.write(fd, whole) != len(whole):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if sync:
                to_disk(fd)
        if not existed:
            folder.sync()


def remove_durably(path: Path, *, within: Path | None = None) -> None:
    """Remove a file (or a link, not what it points to) for good."""
    with naming(path), open_folder(path.parent, within, create=False) as folder:
        folder.unlink(path.name)
        folder.sync()


def sweep_temporaries(directory: Path, *, older_than: float) -> list[Path]:
    """Remove what killed writers left in `directory` and below, if `older_than` seconds old; say what."""
    swept: list[Path] = []
    for folder, _, names in os.walk(directory):
        for name in filter(TEMPORARY.fullmatch, names):
            path = Path(folder, name)
            with suppress(OSError):  # gone by itself, or not ours to remove
                if time.time() - path.lstat().st_mtime >= older_than:
                    remove_durably(path)
                    swept.append(path)
    return swept


def _write(
    path: Path,
    data: bytes,
    *,
    mode: int | None = None,
    within: Path | None = None,
    check: Callable[[Folder, str], None] | None = None,
    new: bool = False,
) -> None:
    target = path if within else _target(path)
    with naming(path), open_folder(target.parent, within) as folder:
        old = folder.look(target.name)
        if old:
            regular(old, path)
        with folder.temporary(data, like=old, mode=mode) as temporary:
            if check:
                check(folder, target.name)
            if new:
                folder.put_new(temporary, target.name)
            else:
                folder.rename(temporary, target.name)
        folder.sync()


def _target(path: Path) -> Path:
    """Where a write to `path` lands: the file itself, or what its link points to."""
    if "\0" in str(path):
        raise UnsafePath(str(path), reason="a NUL byte")
    if not path.is_symlink():
        return Path(os.path.realpath(path.parent)) / path.name
    try:
        return Path(os.path.realpath(path, strict=True))
    except OSError as error:
        raise UnsafePath(str(path), reason="a link to nothing, or to itself") from error


def _torn(fd: int, size: int) -> bool:
    """Whether the file ends in the middle of a line."""
    if size == 0:
        return False
    os.lseek(fd, -1, os.SEEK_END)
    return os.read(fd, 1) != b"\n"


def _changed(path: Path, how: str) -> Conflict:
    return Conflict(f"{path} {how} meanwhile", hint="read it again, then decide")


def read_file(path: Path, *, limit: int | None = None, within: Path | None = None) -> bytes:
    """The bytes of a regular file, at most the first `limit`; never waits for a pipe's other end.

    Raises:
        UnsafePath: a folder, pipe, socket or device; with `within`, also any link below that folder.
        OSError: it is missing or may not be read.
    """
    if within:
        with naming(path), open_folder(path.parent, within, create=False) as folder:
            return folder.read(path.name, limit)
    with naming(path), closing(os.open(path, os.O_RDONLY | NEVER_WAIT)) as fd:
        return read_descriptor(fd, path, limit)
