"""`MEMORY.md` on the disk: read, and changed by a function on its text. `entrypoint` has the functions."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from memdir import fs
from memdir.errors import Conflict, UnsafePath
from memdir.memory import encoding, entrypoint
from memdir.memory.entrypoint import NAME
from memdir.memory.journal import Journal, noting


class IndexFile:
    """The index of one memory directory. Who changes it holds the directory's lock."""

    def __init__(self, directory: Path, journal: Journal | None = None) -> None:
        self.directory = directory
        self.journal = journal

    @property
    def place(self) -> Path:
        """Where it really is: it may be a link to another file in there. UnsafePath, if that leaves."""
        return fs.contain(self.directory, NAME)

    def is_at(self, place: Path) -> bool:
        """Whether that real path is the index, whatever its name."""
        try:
            return place == self.place
        except UnsafePath:
            return False

    def readable(self) -> str:
        """The text for those who only read; empty where there is none."""
        return encoding.readable(self._bytes() or b"")

    def exact(self) -> str:
        """The text to work on. Raises UsageError for one that can't be written back as it was."""
        return encoding.decode(self._bytes() or b"", name=NAME)

    def change(self, change: Callable[[str], str]) -> str | None:
        """Change the text, again if a program that knows no lock came in between; a warning is for F7.

        Bytes that are no text, the encoding, and what `change` leaves stay as they are.
        """
        for tries_left in (2, 1, 0):
            data = self._bytes()
            old = encoding.decode(data or b"", name=NAME)
            new = change(old)
            known = None if data is None else fs.digest(data)
            try:
                if new != old:
                    fresh = encoding.encode(new, like=data or b"")
                    with noting(
                        self.journal,
                        NAME,
                        self.place,
                        directory=self.directory,
                        index=self.readable,
                        before=data,
                        after=fresh,
                    ):
                        fs.replace_if(self.place, fresh, expected=known, within=self._root)
                break
            except Conflict:
                if not tries_left:
                    raise
        return entrypoint.over_limit(new)

    @property
    def _root(self) -> Path:
        return Path(os.path.realpath(self.directory))

    def _bytes(self) -> bytes | None:
        try:
            return fs.read_file(self.place, within=self._root)
        except FileNotFoundError:
            return None
