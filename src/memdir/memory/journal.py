"""A `Journal`: what one run changed in a memory directory, in order, with all it takes to put it back.

`MemoryDir.recording` fills it, under the directory's lock; `MemoryDir.take_back` reads it (see `undoing`).
A change that was begun counts if it can be seen, also where the disk failed on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from memdir import fs
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


class Journal:
    """The changes of one run, oldest first."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def of(self, file: str) -> list[Step]:
        """The changes of one file."""
        return [step for step in self.steps if step.file == file]

    @property
    def files(self) -> list[str]:
        """The files that were changed, the latest first; the index is not among them."""
        files = dict.fromkeys(step.file for step in reversed(self.steps))
        return [file for file in files if file != entrypoint.NAME]

    @property
    def named(self) -> set[str]:
        """The files that a change of ours made the index name, as `key` gives them."""
        named = set[str]()
        for step in self.steps:
            named |= step.named if isinstance(step, Wrote) else set()
        return named

    @property
    def dangling(self) -> set[str]:
        """The files that the index named and that were not there, not by our doing."""
        found, ours = set[str](), set[str]()
        for step in self.steps:
            if isinstance(step, Wrote):
                found |= step.dangling - ours
                ours |= step.named
        return found


@contextmanager
def noting(
    journal: Journal | None,
    file: str,
    place: Path,
    *,
    directory: Path,
    index: Callable[[], str],
    before: bytes | None,
    after: bytes,
) -> Iterator[None]:
    """Note the write that is done inside, in the journal if there is one. The caller holds the lock."""
    if journal is None:
        yield
        return
    mtime_ns, dangling = 0, frozenset[str]()
    with suppress(FileNotFoundError):  # then the write inside says so
        mtime_ns = 0 if before is None else place.stat().st_mtime_ns
    if before is None or file == entrypoint.NAME:
        dangling = dangling_in(index(), directory)
    try:
        yield
    finally:
        if _holds(place, after):
            journal.steps.append(
                Wrote(file=file, before=before, mtime_ns=mtime_ns, after=after, dangling=dangling)
            )


def dangling_in(index: str, directory: Path) -> frozenset[str]:
    """Which files an index names that are not there, as `key` gives them."""
    entries = entrypoint.pointers(index)
    return frozenset(key(entry.file) for entry in entries if not (directory / entry.file).is_file())


def _named(index: str) -> set[str]:
    return {key(entry.file) for entry in entrypoint.pointers(index)}


def _holds(place: Path, data: bytes) -> bool:
    try:
        return fs.read_file(place) == data
    except FileNotFoundError:
        return False
