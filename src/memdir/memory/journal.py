"""A `Journal`: what one run changed in a memory directory, in order, with all it takes to put it back.

`MemoryDir.recording` fills it, under the directory's lock; `MemoryDir.take_back` reads it (see `undoing`).
A change that was begun counts if it can be seen, also where the disk failed on the way.

With a folder, each step is on the disk before the change is made (see `journal_file`), so that a run that
is killed can be taken back by whoever comes next (see `recovery`). Whether a run counts as done is decided at
one moment: when its cursor is saved, or, for a run that has none, by `done`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from memdir import fs
from memdir.errors import UnsafePath
from memdir.memory import entrypoint, journal_file
from memdir.memory.journal_file import Head, JournalFile
from memdir.memory.pointer import key
from memdir.memory.steps import Aim, Deleted, Step, Wrote

__all__ = ["Aim", "Deleted", "Head", "Journal", "Step", "Wrote", "dangling_in", "noting"]


class Journal:
    """The changes of one run, oldest first. Without a file they are kept in memory only.

    `aims` and `trash` are there once it is being taken back: what the files are to be then, and which entries
    of the trash are its own. `failure`: why there is no file, though there should be one.
    """

    def __init__(self, file: JournalFile | None = None) -> None:
        self.steps: list[Step] = []
        self.aims: dict[str, Aim] = {}
        self.trash: set[str] = set()
        self.failure: Exception | None = None
        self._file = file
        self._head = file.head if file is not None else Head()
        self._is_dead = False

    @classmethod
    def begin(
        cls,
        folder: Path | None,
        *,
        session: str | None = None,
        upto: str = "",
        start: str = "",
        change: str | None = None,
    ) -> Journal:
        """A journal that is kept in a folder; None: in memory. Its file appears with the first step.

        See `Head` for what the rest says. Where the folder can't be written the run goes on without a file,
        and `failure` says why.
        """
        head = Head(session=session, upto=upto, start=start, change=change)
        return cls(JournalFile.new(folder, head) if folder is not None else None)

    @classmethod
    def left(cls, path: Path) -> Journal | None:
        """The journal that a dead run has left, to be taken back; None if it can't be made out.

        Raises:
            OSError: it can't be read, or is gone.
        """
        found = journal_file.read(path)
        if found is None:
            return None
        journal = cls(JournalFile(path, found.head, begun=True))
        journal.steps, journal._is_dead = found.steps, True
        return journal

    @property
    def head(self) -> Head:
        """What it is about."""
        return self._head

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

    # -- filling it; the caller holds the directory's lock --

    def add(self, step: Step) -> None:
        """Note a step that is about to be done.

        Raises:
            OSError: it could not be noted, and must not be done.
            Conflict: somebody has taken this run for dead and put all back.
        """
        if self._file is not None:
            try:
                self._file.add(len(self.steps), step)
            except (OSError, UnsafePath) as error:
                if self._file.begun:
                    raise
                self._file, self.failure = None, error
        self.steps.append(step)

    def drop(self, step: Step) -> None:
        """That step was undone, or never came about."""
        number = self.steps.index(step)
        del self.steps[number]
        if number < len(self.steps) or isinstance(step, Deleted):  # of a write, the disk tells by itself
            self._note(journal_file.drop_line(number))

    # -- the end of it --

    def done(self) -> None:
        """All of it stays. This is the moment that counts, unless a cursor was saved before.

        Raises:
            OSError: the disk takes neither the file away nor a last line.
        """
        self.steps.clear()
        if self._file is not None:
            try:
                self._file.remove()
            except OSError:
                self._file.append(journal_file.DONE)

    def clear(self) -> None:
        """Nothing of it is left to be taken back."""
        self.steps.clear()
        self.aims.clear()
        self.trash.clear()
        if self._file is not None:
            with suppress(OSError):  # whoever finds it finds nothing to do
                self._file.remove()

    # -- taking it back; the caller holds the directory's lock --

    def is_to_be_taken_back(self, holds: Callable[[str, bytes | None], bool]) -> bool:
        """Whether there is still something to take back. `holds`: whether a file has these bytes now.

        A dead run's journal is read again, under the lock, and its last step does not count if it had not
        come about.
        """
        if self._file is None:
            return True
        if self._file.is_gone:
            self.clear()
            return False
        if self._is_dead:
            found = journal_file.read(self._file.path)
            if found is None or found.done:
                self.clear()
                return False
            self.steps, self.aims, self.trash = found.steps, found.aims, found.trash
            last = self.steps[-1] if self.steps and not self.aims else None
            if isinstance(last, Wrote) and last.before != last.after and holds(last.file, last.before):
                self.steps.pop()
        return True

    def aim(self, aims: Mapping[str, Aim], trash: Collection[str] = ()) -> None:
        """Note what files are about to become again, so that who is killed on the way can be followed."""
        self.aims.update(aims)
        self.trash.update(trash)
        self._note(journal_file.aims_line(len(self.steps), self.aims, self.trash))

    def _note(self, record: Mapping[str, object]) -> None:
        """A line that helps who comes after a kill, and is not worth failing for: a disk may be full."""
        if self._file is not None and self._file.begun:
            with suppress(OSError):
                self._file.append(record)


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
    """Note the write that is done inside, in the journal if there is one. The caller holds the lock.

    Raises:
        OSError: it could not be noted, and is not done.
    """
    if journal is None:
        yield
        return
    mtime_ns, dangling = 0, frozenset[str]()
    with suppress(FileNotFoundError):  # then the write inside says so
        mtime_ns = 0 if before is None else place.stat().st_mtime_ns
    if before is None or file == entrypoint.NAME:
        dangling = dangling_in(index(), directory)
    step = Wrote(file=file, before=before, mtime_ns=mtime_ns, after=after, dangling=dangling)
    journal.add(step)
    try:
        yield
    finally:
        if not _holds(place, after):
            journal.drop(step)


def dangling_in(index: str, directory: Path) -> frozenset[str]:
    """Which files an index names that are not there, as `key` gives them."""
    entries = entrypoint.pointers(index)
    return frozenset(key(entry.file) for entry in entries if not (directory / entry.file).is_file())


def _holds(place: Path, data: bytes) -> bool:
    try:
        return fs.read_file(place) == data
    except FileNotFoundError:
        return False
