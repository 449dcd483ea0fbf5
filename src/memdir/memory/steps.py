"""One step of a run: what was changed in a memory directory, with all it takes to put it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from memdir.memory import encoding, entrypoint
from memdir.memory.pointer import key
from memdir.memory.trash import Trashed


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrote:
    """A file, maybe the index, that was made or replaced. `before` is None where there was none.

    `dangling`: which files the index named just before that were not there; looked at where it matters, for
    the index and for files that are new.
    """

    file: str
    before: bytes | None
    mtime_ns: int
    after: bytes
    dangling: frozenset[str] = frozenset()

    @property
    def named(self) -> set[str]:
        """The files that the index names by it, and did not before."""
        if self.file != entrypoint.NAME:
            return set()
        return _named(encoding.readable(self.after)) - _named(encoding.readable(self.before or b""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """A topic that went to the trash."""

    entry: Trashed
    data: bytes

    @property
    def file(self) -> str:
        """Its name in the directory."""
        return self.entry.file


Step: TypeAlias = Wrote | Deleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a file is to be when its changes are taken back: a digest (None: no file), an mtime (if known)."""

    digest: str | None
    mtime_ns: int | None


def _named(index: str) -> set[str]:
    return {key(entry.file) for entry in entrypoint.pointers(index)}
