"""A path -> one file's bytes and what tells it from others; nothing here waits or reads without end."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from memdir.errors import UnsafePath
from memdir.fs import read_file
from memdir.memory import encoding

MAX_FILE = 4 * 1024 * 1024
_HEAD = 8192
_TEXT_CONTROLS = frozenset("\t\n\r\f\v\x1b")

Key = tuple[int, int]


class Refused(Exception):
    """A file that is there, and is not taken; the sentence about it goes on with this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A regular file, links followed. `key` is the same for all names of one file."""

    real: Path
    key: Key
    size: int
    mtime_ns: int


def look(path: Path) -> Look | None:
    """What is at the path; None: nothing, or a folder.

    Raises:
        Refused: it is no regular file, or can't be looked at.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        if path.is_symlink():
            raise Refused("is a link to nothing") from error
        return None
    except (OSError, ValueError) as error:
        raise Refused(_why(error)) from error
    if stat.S_ISDIR(found.st_mode):
        return None
    if not stat.S_ISREG(found.st_mode):
        raise Refused("is no file, but a pipe, a socket or a device")
    return Look(
        real=Path(os.path.realpath(path)),
        key=(found.st_dev, found.st_ino),
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
    )


def take(found: Look, *, within: Path | None = None) -> tuple[bytes, str]:
    """The bytes of the file, and its text. A file that was `within` a folder when it was looked at is read
    there: no link is followed that was put in its way since.

    Raises:
        Refused: it is over 4 MiB, no text, or can't be read.
    """
    if within is not None and not found.real.is_relative_to(os.path.realpath(within)):
        within = None
    if found.size > MAX_FILE:
        raise Refused(f"is over {MAX_FILE // 1024 // 1024} MiB")
    try:
        data = read_file(found.real, limit=MAX_FILE + 1, within=within)
    except (OSError, UnsafePath, ValueError) as error:
        raise Refused(_why(error)) from error
    if len(data) > MAX_FILE:
        raise Refused(f"is over {MAX_FILE // 1024 // 1024} MiB")
    text = encoding.readable(data)
    if not _is_text(text):
        raise Refused("is no text")
    return data, text


def _is_text(text: str) -> bool:
    """Whether a person wrote it: no NUL, and hardly anything else that is no letter."""
    head = text[:_HEAD]
    odd = sum(letter == "\ufffd" or (letter < " " and letter not in _TEXT_CONTROLS) for letter in head)
    return "\0" not in head and odd * 5 <= len(head)


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"can't be read ({error.strerror or type(error).__name__})"
    return f"can't be read ({error.reason})" if isinstance(error, UnsafePath) else "can't be read"
