"""What one run changed is put back as it was, newest change first, unless somebody has changed it since.

Every moment is a good one to be killed at, as in the store: topics that were deleted come back first, then
the index is as it was, then topics get their earlier bytes, or go if they were new, and the trash is
emptied. A kill leaves at worst topics without a line, and a topic with its index lines in the trash: `mend`
knows both.

Files that somebody has changed since are theirs, and stay. An index that somebody has changed keeps their
lines, and loses ours. Either way it then fits: no entry for what went, and none lost for what stays.

What each file is to be is noted in the journal before it is touched (`Journal.aim`): who comes after a kill
takes back the rest, and what is done already is not mistaken for somebody else's change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memdir import fs
from memdir.errors import Conflict, UnsafePath, UsageError
from memdir.memory import encoding, entrypoint
from memdir.memory.entrypoint import NAME, Pointer
from memdir.memory.journal import Aim, Deleted, Journal, Step, Wrote, dangling_in
from memdir.memory.merging import Returning, bare_lines, fitted, undone
from memdir.memory.pointer import key
from memdir.memory.trash import Trashed

if TYPE_CHECKING:
    from memdir.memory.store import MemoryDir


def take_back(memory: MemoryDir, journal: Journal) -> tuple[str, ...]:
    """Put back what the journal holds, and empty it; the caller holds the lock. Says which files."""

    def holds(file: str, data: bytes | None) -> bool:
        with suppress(UnsafePath, OSError):
            return _bytes(memory.path(file), Path(os.path.realpath(memory.directory))) == data
        return False

    if not journal.is_to_be_taken_back(holds):
        return ()
    _forget_half_deleted(memory, journal, holds)
    trashed = {one.id for one in memory.trash.entries()} | journal.trash
    files = [_File.of(memory, file, journal, trashed) for file in journal.files]
    ours = {one.entry.id for file in files for one in file.entries}
    journal.aim({file.name: file.aim for file in files if file.mtime_ns is not None}, trash=ours)
    for file in files:
        file.bring_back()
    index = _put_back_index(memory, journal, files)
    done = [file.name for file in files if file.finish(memory)]
    journal.clear()
    return (*done, *index)


def _forget_half_deleted(
    memory: MemoryDir, journal: Journal, holds: Callable[[str, bytes | None], bool]
) -> None:
    """Empty the trash of what the run was about to delete, and had not noted yet: it is still there."""
    noted = {step.entry.id for step in journal.steps if isinstance(step, Deleted)}
    for one in memory.trash.entries():
        if one.id not in noted and one.file in journal.files and holds(one.file, memory.trash.data(one)):
            memory.trash.drop(one)


@dataclass(kw_only=True)
class _File:
    """One file: what it holds `now`, and `then`, before the run (None: no file).

    `mtime_ns` is None if nothing of it can be put back. `entries`: what comes out of the trash, newest
    first. `left`: changes of ours that somebody's later one covers. `met`: a killed process got this far.
    """

    name: str
    place: Path
    root: Path
    now: bytes | None
    then: bytes | None
    mtime_ns: int | None = None
    entries: list[Deleted] = field(default_factory=list)
    left: Sequence[Step] = ()
    met: bool = False

    @classmethod
    def of(cls, memory: MemoryDir, name: str, journal: Journal, trashed: AbstractSet[str]) -> _File:
        """Follow the changes backwards, as far as each is what the run left."""
        root, steps = Path(os.path.realpath(memory.directory)), journal.of(name)
        try:
            place = memory.path(name)
            now = _bytes(place, root)
        except (UnsafePath, OSError):  # something else stands there now
            return cls(name=name, place=root / name, root=root, now=None, then=None, left=steps)
        file = cls(name=name, place=place, root=root, now=now, then=now)
        if (aim := journal.aims.get(name)) is not None and aim.digest == _digest(now):
            file.met, file.mtime_ns = True, aim.mtime_ns
            deleted = [step for step in reversed(steps) if isinstance(step, Deleted)]
            file.entries = [step for step in deleted if step.entry.id in trashed]
            return file
        for number in range(len(steps), 0, -1):
            if not file._undo(steps[number - 1], trashed):
                file.left = steps[:number]
                break
        return file

    def _undo(self, step: Step, trashed: AbstractSet[str]) -> bool:
        match step:
            case Wrote(before=before, mtime_ns=mtime_ns, after=after):
                if self.then != after:
                    return False
                self.then, self.mtime_ns = before, mtime_ns
            case Deleted(entry=Trashed(id=id, mtime_ns=mtime_ns), data=data):
                if self.then not in (None, data) or id not in trashed:
                    return False
                self.then, self.mtime_ns = data, mtime_ns
                self.entries.append(step)
        return True

    @property
    def aim(self) -> Aim:
        """What it is to be."""
        return Aim(digest=_digest(self.then), mtime_ns=self.mtime_ns)

    @property
    def goes(self) -> bool:
        """Whether it is there, and will not be."""
        return self.now is not None and self.then is None

    def bring_back(self) -> None:
        """A topic that was deleted is in the directory again, as it went to the trash."""
        if self.now is not None or self.then is None:
            return
        last = self.entries[0]
        try:
            fs.replace_if(self.place, last.data, expected=None, within=self.root)
        except Conflict:
            self.then, self.mtime_ns, self.entries = None, None, []
            return
        self.now = last.data
        _date(self.place, last.entry.mtime_ns)

    def finish(self, memory: MemoryDir) -> bool:
        """The file as it was, and nothing of it in the trash. Whether there was anything to do.

        What the trash alone holds of the earlier bytes goes last, all else first: a topic is in both places
        only as `mend` knows it, byte for byte.
        """
        if self.mtime_ns is None:
            return False
        self._empty(memory, [one for one in self.entries if one.data != self.then])
        try:
            _replace(self.place, self.now, self.then, within=self.root)
        except Conflict:  # a program that knows no lock came in between
            return False
        if self.then is not None:
            _date(self.place, self.mtime_ns)
        self._empty(memory, [one for one in self.entries if one.data == self.then])
        return True

    def _empty(self, memory: MemoryDir, entries: Sequence[Deleted]) -> None:
        for one in entries:
            with suppress(FileNotFoundError):
                memory.trash.drop(one.entry)


def _replace(place: Path, now: bytes | None, then: bytes | None, *, within: Path) -> None:
    """Make what is `now` into what was `then`. Raises Conflict if it is not `now` any more (F9)."""
    if now == then:
        return
    if then is not None:
        fs.replace_if(place, then, expected=None if now is None else fs.digest(now), within=within)
        return
    if _bytes(place, within) not in (now, None):
        raise Conflict(f"{place.name} changed meanwhile")
    with suppress(FileNotFoundError):
        fs.remove_durably(place, within=within)


def _date(place: Path, mtime_ns: int) -> None:
    with suppress(FileNotFoundError):
        os.utime(place, ns=(mtime_ns, mtime_ns))


def _digest(data: bytes | None) -> str | None:
    return None if data is None else fs.digest(data)


def _bytes(place: Path, root: Path) -> bytes | None:
    try:
        return fs.read_file(place, within=root)
    except FileNotFoundError:
        return None


# -- the index ----------------------------------------------------------------------------------------------


def _put_back_index(memory: MemoryDir, journal: Journal, files: Sequence[_File]) -> list[str]:
    """The index as it was, so far as that fits; again if a program that knows no lock came in between."""
    for tries_left in (2, 1, 0):
        index = _File.of(memory, NAME, journal, frozenset())
        as_it_was, mtime_ns = index.then, index.mtime_ns
        if not index.met:
            index.then = _fitting(memory, index, journal, files)
            mtime_ns = mtime_ns if index.then == as_it_was else None
            journal.aim({NAME: Aim(digest=_digest(index.then), mtime_ns=mtime_ns)})
        try:
            _replace(index.place, index.now, index.then, within=index.root)
            break
        except Conflict:
            if not tries_left:
                raise
    if mtime_ns is not None and index.then is not None:
        _date(index.place, mtime_ns)
    return [NAME] if index.mtime_ns is not None or index.now != index.then else []


def _fitting(memory: MemoryDir, index: _File, journal: Journal, files: Sequence[_File]) -> bytes | None:
    """What the index is to hold. Where bytes are no text that can be changed, all that was undone of it."""
    directory, going = memory.directory, {key(file.name) for file in files if file.goes}
    changes = [step for step in journal.of(NAME) if isinstance(step, Wrote)]
    ours = {line for step in changes for line in bare_lines(encoding.readable(step.after))}
    try:
        now = encoding.decode(index.now or b"", name=NAME)
        fit = then = encoding.decode(index.then or b"", name=NAME)
        for step in reversed(index.left):
            if isinstance(step, Wrote):
                made, was = (encoding.decode(data or b"", name=NAME) for data in (step.after, step.before))
                fit = undone(fit, made=made, was=was)
    except UsageError:
        return index.then
    led_nowhere = journal.dangling | (dangling_in(now, directory) - going - journal.named)
    gone, entries = sorted((dangling_in(fit, directory) | going) - led_nowhere), _entries(now)
    back = [
        Returning(lines=entrypoint.take(now, file.name)[1], pointer=entries[key(file.name)])
        for file in files
        if file.left and not file.goes and file.place.is_file() and key(file.name) in entries
    ]
    fit = fitted(fit, gone=gone, ours=ours, back=back)
    return index.then if fit == then else encoding.encode(fit, like=index.then or index.now or b"")


def _entries(text: str) -> dict[str, Pointer]:
    """The first entry for each file."""
    return {key(pointer.file): pointer for pointer in reversed(entrypoint.pointers(text))}
