"""`MemoryDir`: the one way to change a memory directory. Topic and pointer go together, nothing is lost.

The order of writes makes every moment a good one to be killed at. Saving: topic first, pointer second (a
topic without a pointer is found by every scan, and `mend` points at it). Deleting: a copy in the trash,
then the pointer goes, then the topic; restoring is the same backwards. So the index never points at nothing
by our doing, and a topic that is in both places has its index lines in the trash, for `mend` to put back.

Each change holds the directory's lock and compares before it replaces (F9); each new text is looked
through for secrets first (E10). The clock is never read: `now` is an argument.
"""

from __future__ import annotations

import logging
import os
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Final, Literal

from memdir import fs
from memdir.errors import Conflict, NotFound, UnsafePath
from memdir.memory import encoding, entrypoint, leaks, mending, plan, topic, undoing
from memdir.memory.entrypoint import NAME, Pointer
from memdir.memory.history import By, Change, History
from memdir.memory.inbox import Inbox
from memdir.memory.index_file import IndexFile
from memdir.memory.journal import Deleted, Journal, noting
from memdir.memory.scan import Header, scan
from memdir.memory.topic import Origin, Topic
from memdir.memory.trash import Trash, Trashed
from memdir.names import is_topic, what_is

log = logging.getLogger(__name__)

NAME_LENGTH = 50
"""Characters of a new file name, without what makes it unique and `.md`."""

PATIENCE = 10.0
"""Seconds to wait for somebody else who is writing in the directory."""


class Anything(Enum):
    """The type of `ANY`."""

    ANY = "any"


ANY: Final = Anything.ANY
"""As `expected`: whatever is there now may be replaced."""

Expected = str | None | Literal[Anything.ANY]
Action = Literal["created", "updated", "unchanged"]

# Inside the class, `list` is its method.
Headers = list[Header]
Entries = list[Trashed]
Sentences = list[str]
Files = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A file as it was read. `digest` is what a later write expects (F9); `topic` is None for an index."""

    file: str
    data: bytes
    digest: str
    mtime_ns: int
    topic: Topic | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a write did. `data` is what is on the disk now, stamped; `warning` goes to who wrote (F7)."""

    file: str
    action: Action
    digest: str
    data: bytes
    type: str | None
    warning: str | None = None


class MemoryDir:
    """A memory directory, with the trash, the inbox and the history that belong to it. `file` is a path
    relative to it, with `/`. Each change is recorded in the history, if there is one (H2).

    Raised by all that take a file: UnsafePath for one that is no visible `.md` inside the directory.
    Conflict: the directory is busy, or a file is not what the caller expected.
    """

    def __init__(
        self, directory: Path, *, trash: Path, inbox: Path | None = None, history: History | None = None
    ) -> None:
        self.directory = directory
        self.trash = Trash(trash)
        self.inbox = Inbox(inbox or trash.with_name(f"{trash.name}-inbox"))
        self.history = history
        self.index_file = IndexFile(directory)
        self.journal: Journal | None = None
        self.by: By | None = None
        self.patience: float | fs.Patience = PATIENCE
        self._by_person = False

    def by_person(self) -> MemoryDir:
        """The same directory, written to by the person's own hand: lines they marked may hold secrets."""
        view = copy(self)
        view._by_person = True  # noqa: SLF001 - its own kind
        return view

    def on_behalf(self, by: By) -> MemoryDir:
        """The same directory, with what is done by it recorded as one change of that one."""
        view = copy(self)
        view.by = by
        return view

    def within(self, seconds: float) -> MemoryDir:
        """The same directory, for one who waits so long in all, from now on, for others who write there."""
        view = copy(self)
        view.patience = fs.Patience(seconds)
        return view

    def prepare(self) -> None:
        """Make the directory (P7). A refusal is logged, and shows again when something is written."""
        try:
            fs.make_private(self.directory)
        except (OSError, UnsafePath) as error:
            log.warning("the memory directory can't be made: %s", error)

    def path(self, file: str | Path) -> Path:
        """The real, absolute path of a file in the directory, whether or not it exists."""
        place = fs.contain(self.directory, file)
        if place.suffix != ".md":
            raise UnsafePath(str(file), reason="memory files end in .md")
        return place

    def name(self, place: Path) -> str:
        """The name in the directory of a file's real path. The index has one, also where it is a link."""
        return NAME if self.index_file.is_at(place) else place.relative_to(self._root).as_posix()

    def why_not(self, file: str | Path) -> str | None:
        """Why `path` refuses a file, or None if it does not."""
        try:
            self.path(file)
        except UnsafePath as error:
            return error.reason
        return None

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, file: str | Path) -> Stored:
        """A file with what a later write needs. Raises NotFound."""
        place = self.path(file)
        name = self.name(place)
        try:
            mtime_ns = place.stat().st_mtime_ns  # before the bytes: a change in between makes it look old
        except FileNotFoundError as error:
            raise _not_there(name) from error
        data = self._bytes(place)
        if data is None:
            raise _not_there(name)
        read = None if self._is_index(place) else topic.parse(data, filename=name)
        return Stored(file=name, data=data, digest=fs.digest(data), mtime_ns=mtime_ns, topic=read)

    def list(self) -> Headers:
        """All topic files, newest first."""
        return scan(self.directory, limit=None)

    def index(self) -> str:
        """The text of the index, all of it; empty where there is none."""
        return self.index_file.readable()

    def trashed(self) -> Entries:
        """What `restore` can bring back, newest first."""
        return self.trash.entries()

    def free_name(self, stem: str) -> str:
        """A file name that nobody has, from any text: its letters and digits, `_` between words, `.md`."""
        letters = unicodedata.normalize("NFKC", stem).lower()
        words = "".join(letter if _is_word(letter) else " " for letter in letters).split()
        base = "_".join(words)[:NAME_LENGTH].rstrip("_")
        if not base or self.why_not(f"{base}_0.md"):
            base = "memory_note"
        taken = {one.name.casefold() for one in self.directory.glob("*")} | {NAME.casefold()}
        tries = len(taken) + 2  # one of so many is free, and good unless the folder is closed to us
        names = (f"{base}_{number}.md" if number > 1 else f"{base}.md" for number in range(1, tries + 1))
        free = (name for name in names if name.casefold() not in taken and not self.why_not(name))
        if (name := next(free, None)) is None:
            raise UnsafePath(str(self.directory), reason="no file can be made in it")
        return name

    # -- writing ----------------------------------------------------------------------------------------

    def write(
        self, file: str | Path, data: bytes, *, expected: Expected, now: datetime, origin: Origin | None
    ) -> Written:
        """Write one file, also the index, if it still is as `expected`: a digest, None for no file, or ANY.

        A topic that has a header is stamped (F1). `warning` says so when the index is over a limit (F7).
        Raises SecretFound for a secret that the old bytes did not hold (E10); nothing is written then.
        """
        with self.changing(origin):
            return self._write(self._place(file), data, expected=expected, now=now, origin=origin)

    def save(
        self,
        file: str | Path,
        data: bytes,
        *,
        pointer: Pointer,
        expected: Expected,
        now: datetime,
        origin: Origin | None,
    ) -> Written:
        """Write a topic, then its pointer, as one change. `pointer.file` is taken from `file`."""
        with self.changing(origin):
            place = self._place(file)
            name = self.name(place)
            if not is_topic(name, team=True):
                raise UnsafePath(str(file), reason="the index, a log or the like, and no place for a memory")
            pointer = replace(pointer, file=name)
            leaks.refuse(entrypoint.written(pointer), self.index_file.exact(), name=NAME)
            written = self._write(place, data, expected=expected, now=now, origin=origin)
            return replace(written, warning=self.index_file.change(partial(entrypoint.add, pointer=pointer)))

    def delete(
        self, file: str | Path, *, now: datetime, expected: str | Literal[Anything.ANY] = ANY
    ) -> Trashed:
        """Take a memory and its pointer out, if it still is as `expected`; both can be restored.

        Raises NotFound. On a Conflict all is as it was, also if the file changed at the last moment.
        """
        with self.changing():
            place = self._memory_path(file)
            name, data = self.name(place), self._bytes(place)
            if data is None:
                raise _not_there(name)
            if expected not in (ANY, fs.digest(data)):
                raise _changed(name, "changed")
            _, lines = entrypoint.take(self.index_file.exact(), name)
            mtime_ns = place.stat().st_mtime_ns
            trashed = self.trash.put(name, data, mtime_ns=mtime_ns, pointers=lines, now=now)
            step = Deleted(entry=trashed, data=data)
            if self.journal is not None:
                self.journal.add(step)
            try:
                self.index_file.change(partial(_without, file=name, lines=lines))
                if self._bytes(place) not in (data, None):
                    raise _changed(name, "changed")
            except Conflict:  # a program that knows no lock came in between
                self._put_lines_back(trashed, data)
                self.trash.drop(trashed)
                if self.journal is not None:
                    self.journal.drop(step)
                raise
            with suppress(FileNotFoundError):
                fs.remove_durably(place, within=self._root)
            return trashed

    def unpoint(self, file: str | Path) -> None:
        """Take the index's lines for a file out, if there are any and the file is not there."""
        with self.changing():
            name = self.name(self._memory_path(file))
            if not (self.directory / name).exists():
                self.index_file.change(partial(entrypoint.remove, file=name))

    def restore(self, file: str | Path, *, id: str | None = None) -> Written:  # noqa: A002 (as in Trashed)
        """Bring a deleted topic back, bytes, mtime and pointer: the newest one of that name, or `id`.

        Raises NotFound, and Conflict where another file of that name is there already.
        """
        with self.changing():
            place = self._memory_path(file)
            name = self.name(place)
            entry, data = self.trash.get(name, id)
            try:
                if self._bytes(place) != data:  # equal: a restore that was killed is done again
                    fs.replace_if(place, data, expected=None, within=self._root)
            except Conflict as error:
                raise Conflict(f"{name} is there again", hint="move or delete that one first") from error
            warning = self.bring_back(entry, data)
            return Written(
                file=name,
                action="created",
                digest=fs.digest(data),
                data=data,
                type=topic.parse(data, filename=name).type,
                warning=warning,
            )

    def bring_back(self, entry: Trashed, data: bytes) -> str | None:
        """The file of an entry is in the directory: give it back its mtime and lines, and empty the trash.

        The caller holds the lock. A warning is for F7.
        """
        os.utime(self.path(entry.file), ns=(entry.mtime_ns, entry.mtime_ns))
        warning = self._put_lines_back(entry, data)
        self.trash.drop(entry)
        return warning

    def _put_lines_back(self, entry: Trashed, data: bytes) -> str | None:
        if not entry.pointers:
            return None
        read = topic.parse(data, filename=entry.file)
        pointer = Pointer(title=read.name, file=entry.file, hook=read.description or "")
        return self.index_file.change(partial(entrypoint.put_back, taken=entry.pointers, pointer=pointer))

    # -- all or nothing ---------------------------------------------------------------------------------

    def recording(self, journal: Journal) -> MemoryDir:
        """The same directory, with each `write`, `save` and `delete` noted in the journal as it is done."""
        view = copy(self)
        view.journal, view.index_file = journal, IndexFile(self.directory, journal)
        return view

    def take_back(self, journal: Journal) -> Files:
        """Undo what the journal holds, and empty it: earlier bytes and mtimes, topics out of the trash, new
        files gone for good (see `undoing`). What somebody has changed since is left as it is. Says which
        files were put back.
        """
        if not journal.steps:
            return ()
        with self.changing():
            return undoing.take_back(self, journal)

    # -- keeping order ----------------------------------------------------------------------------------

    def mend(self) -> Sentences:
        """Put right what a killed writer left; says what it did (see `mending`)."""
        if not self.directory.is_dir():
            return []
        with self.changing(By(worker="mend", reason="what a killed writer left was put right")):
            return mending.mend(self)

    def look(self) -> Change | None:
        """Record what was changed outside memdir since the last look (H2). None: nothing was, or there is no
        history.
        """
        if self.history is None or self.history.off:
            return None
        with self.alone():
            return self.history.look()

    def tidy(self) -> None:
        """Pack the history, if much has come together."""
        if self.history is not None and self.directory.is_dir():
            with self.alone():
                self.history.tidy()

    # -- inside the lock --------------------------------------------------------------------------------

    @property
    def _root(self) -> Path:
        return Path(os.path.realpath(self.directory))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the directory's lock; an undo that was killed half-way is finished first. Not re-entrant."""
        fs.make_private(self.directory)
        with fs.locked(self.directory, timeout=self.patience):
            plan.finish(self)
            yield

    @contextmanager
    def changing(self, who: Origin | By | None = None) -> Iterator[None]:
        """Hold the lock, and have what is done inside recorded: as `on_behalf` says, or else as `who`'s."""
        with self.alone():
            if self.history is None or self.history.off:
                yield
                return
            with self.history.recording(self.by or _by(who)):
                yield

    def _place(self, file: str | Path) -> Path:
        """`path`, for a file to be written: a new one may not be called by a secret (E10)."""
        if self.why_not(file) or not self.path(file).exists():
            leaks.refuse_name(file, below=(self.directory, self._root))
        return self.path(file)

    def _is_index(self, place: Path) -> bool:
        """Whether it is the index of the directory, or the one of the team's directory in it."""
        names = tuple(self.name(place).split("/"))
        return what_is(names) == "entrypoint" or (names[:1] == ("team",) and names[1:] == (NAME,))

    def _memory_path(self, file: str | Path) -> Path:
        place = self.path(file)
        if self._is_index(place):
            raise UnsafePath(str(file), reason=f"{NAME} is the index, not a memory")
        return place

    def _bytes(self, place: Path) -> bytes | None:
        try:
            return fs.read_file(place, within=self._root)
        except FileNotFoundError:
            return None

    def _write(
        self, place: Path, data: bytes, *, expected: Expected, now: datetime, origin: Origin | None
    ) -> Written:
        name, old = self.name(place), self._bytes(place)
        known = None if old is None else fs.digest(old)
        if expected is not ANY and known != expected:
            raise _changed(
                name, "is there already" if expected is None else "changed" if known else "was removed"
            )
        is_index, is_memory = self._is_index(place), is_topic(name, team=True)
        if old is None and place.name.casefold() == NAME.casefold() and not is_index:
            raise UnsafePath(name, reason=f"the index of the directory is {NAME}; give a memory another name")
        action: Action = "unchanged"
        fresh = data
        if data != old:
            before, after = encoding.readable(old or b""), encoding.readable(data)
            leaks.refuse(after, before, name=name, by_person=self._by_person)
            fresh = topic.stamp(data, now=now, origin=origin) if is_memory else data
            with noting(
                self.journal,
                name,
                place,
                directory=self.directory,
                index=self.index,
                before=old,
                after=fresh,
            ):
                fs.replace_if(place, fresh, expected=known, within=self._root)
            action = "created" if old is None else "updated"
        return Written(
            file=name,
            action=action,
            digest=fs.digest(fresh),
            data=fresh,
            type=topic.parse(data, filename=name).type if is_memory else None,
            warning=entrypoint.over_limit(encoding.readable(data)) if is_index else None,
        )


def _by(who: Origin | By | None) -> By:
    if isinstance(who, By):
        return who
    if who is None:
        return By(worker="memdir")
    return By(worker=who.worker or "memdir", session=who.session, message=who.message)


def _is_word(letter: str) -> bool:
    """Whether a file name may hold it: letters and digits of all scripts, with the marks on them."""
    return (letter.isalnum() or unicodedata.category(letter)[0] == "M") and not fs.hidden_character(letter)


def _not_there(name: str) -> NotFound:
    return NotFound(f"there is no memory file {name!r}", hint="list the memories to see their names")


def _without(text: str, *, file: str, lines: Sequence[tuple[int, str]]) -> str:
    """The index without a file's lines, if they still are those. Conflict, if not."""
    left, gone = entrypoint.take(text, file)
    if [line for _, line in gone] != [line for _, line in lines]:
        raise _changed(NAME, "changed")
    return left


def _changed(name: str, how: str) -> Conflict:
    return Conflict(f"{leaks.called(name)} {how} meanwhile", hint="read it again, then decide")
