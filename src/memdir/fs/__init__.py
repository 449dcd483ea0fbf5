"""Bytes to disk and back: whole, durable, and inside the folder they belong to (F8, F9, A8).

    files.py     read, write, append and remove one file, and compare before replacing it
    folder.py    an open folder: where those things happen
    lock.py      one writer at a time in a folder
    contain.py   a file name becomes a real path inside a root, or is refused

Knows nothing of memory. Missing files and refused permissions stay what they are (`FileNotFoundError`,
`PermissionError`), and name the file that was meant.
"""

from memdir.fs.contain import contain, hidden_character, inside
from memdir.fs.files import (
    append_line,
    digest,
    read_file,
    remove_durably,
    replace_if,
    sweep_temporaries,
    write_atomic,
)
from memdir.fs.folder import make_private
from memdir.fs.lock import Patience, locked

__all__ = [
    "Patience",
    "append_line",
    "contain",
    "digest",
    "hidden_character",
    "inside",
    "locked",
    "make_private",
    "read_file",
    "remove_durably",
    "replace_if",
    "sweep_temporaries",
    "write_atomic",
]
