"""A plan, and what is on the disk by now -> what each file is to hold (D8). Pure.

A file that still is as the dream found it becomes what the dream made of it. One that somebody has changed
since gets both changes, if they don't touch the same lines; else it is left alone. So is what rests on it: a
file whose lines were to stand there, a new name whose old one stays. What somebody has taken out meanwhile
does not come back in another place. The index follows what is really done.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache

from memdir.dream.files import Snapshot
from memdir.dream.plan import Gone, Plan
from memdir.dream.plan.facts import facts, same_words
from memdir.memory import encoding, entrypoint, merging, revising, topic
from memdir.memory.entrypoint import NAME, Pointer
from memdir.memory.merging import Returning, bare_lines
from memdir.memory.plan import Swap
from memdir.memory.pointer import key
from memdir.names import is_topic

_TAKEN_OUT = "a line that was to come into it was taken out meanwhile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A file with which nothing was done, and why: half a sentence for the person."""

    file: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Found:
    """What is on the disk. `files`: bytes and mtime of those that a plan is about, and of the index, by NAME.
    `missing`: those of them that are not there. `closed`: those that can't be touched, and why. `there`: all
    files that an entry of the index may lead to. `index`: what the index is really called.
    """

    files: Mapping[str, tuple[bytes, int]]
    there: Collection[str]
    missing: Collection[str] = ()
    closed: Mapping[str, str] = field(default_factory=dict)
    index: str = NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What is to be done, in the order in which it does least harm to be broken off, and what is left."""

    swaps: tuple[Swap, ...]
    left: tuple[Left, ...]


def changed(before: Snapshot, after: Snapshot, plan: Plan) -> tuple[str, ...]:
    """The topics that a plan changes, by name; never more than it says."""
    named = {*plan.files, *(change.into for change in plan.changes if change.into)}
    return tuple(
        sorted(file for file in named if is_topic(file) and before.files.get(file) != after.files.get(file))
    )


def rests_on(before: Snapshot, after: Snapshot, plan: Plan) -> frozenset[str]:
    """Further files that have to be looked at: those where lines are to stand, and those where lines stood
    that are to stand in another one too.
    """
    targets = {line.to for line in plan.lines if line.to}
    new = set[str]()
    for file in changed(before, after, plan):
        new |= _words(file, after.files.get(file, b"")) - _words(file, before.files.get(file, b""))
    sources = {file for file, data in before.files.items() if new and not new.isdisjoint(_words(file, data))}
    return frozenset(targets.union(sources, *plan.needs.values()) - {NAME})


def swaps_of(before: Snapshot, after: Snapshot, plan: Plan, found: Found, *, now: datetime) -> Decided:
    """What a plan comes to, as things stand. `now` dates what is merged.

    Raises:
        UsageError: the index is no text that can be written back.
    """
    deciding = _Deciding(before=before, after=after, plan=plan, found=found, now=now)
    deciding.decide()
    return Decided(swaps=tuple(deciding.swaps()), left=tuple(deciding.left.values()))


@dataclass(kw_only=True)
class _Deciding:
    before: Snapshot
    after: Snapshot
    plan: Plan
    found: Found
    now: datetime
    then: dict[str, tuple[bytes | None, int | None]] = field(default_factory=dict)
    """What each file is to hold that the plan changes, and with which mtime."""
    left: dict[str, Left] = field(default_factory=dict)

    def decide(self) -> None:
        for file in changed(self.before, self.after, self.plan):
            self._begin(file)
        for file in (*self.then, NAME):
            self._keep_out_what_was_taken_out(file)
        self._keep_out_copies()
        for change in self.plan.changes:
            if change.action == "renamed" and change.into and not self._is_as_before(change.file):
                self._leave(change.into, "the one that was to get this name changed meanwhile")
        size = -1
        while size != len(self.left):
            size = len(self.left)
            for file in (*self.then, NAME):
                if file not in self.left and (why := self._why_not(file)):
                    self._leave(file, why)

    def _begin(self, file: str) -> None:
        was, made, now = self.before.files.get(file), self.after.files.get(file), self._now(file)
        self.then[file] = (made, self.after.mtimes.get(file))
        if why := self.found.closed.get(file):
            self._leave(file, why)
        elif now == made:
            self.then[file] = self.found.files.get(file, (None, None))
        elif now == was:
            return
        elif was is None:
            self._leave(file, "somebody else has made a file of that name meanwhile")
        elif now is None:
            self._leave(file, "it was deleted meanwhile")
        elif made is None:
            self._leave(file, "it changed meanwhile")
        elif (merged := _merged(was, now, made, now_is=self.now)) is None:
            self._leave(file, "it changed meanwhile, in the same lines")
        else:
            mtime_ns = self.after.mtimes.get(file)
            newest = None if mtime_ns is None else max(mtime_ns, self.found.files[file][1])
            self.then[file] = (merged, newest)

    def _keep_out_what_was_taken_out(self, file: str) -> None:
        """A line that somebody has taken out of a file meanwhile is not carried into another one."""
        if self._is_as_before(file):
            return
        there = _words(file, self._now(file) or b"")
        for line in self._lines(file):
            if line.to in self.then and line.to != file and same_words(line.text) not in there:
                standing = _words(line.to, self._now(line.to) or b"")
                if same_words(line.now or line.text) not in standing:
                    self._leave(line.to, _TAKEN_OUT)

    def _keep_out_copies(self) -> None:
        """Nor is it brought in where the plan has it in two files."""
        taken = set[str]()
        for file in self.before.files.keys() & {*self.found.files, *self.found.missing}:
            if not self._is_as_before(file):
                taken |= _words(file, self.before.files[file]) - _words(file, self._now(file) or b"")
        for file in tuple(self.then) if taken else ():
            brought = _words(file, self._final(file) or b"") - _words(file, self._now(file) or b"")
            if not brought.isdisjoint(taken):
                self._leave(file, _TAKEN_OUT)

    def _why_not(self, file: str) -> str | None:
        """Why a file has to be left because others are, or None."""
        for other in sorted(self._needs(file)):
            if not self._stands(file, other):
                return f"its lines were to stand in {other}, and don't"
        for change in self.plan.changes:
            if change.action == "renamed" and change.into == file and change.file in self.left:
                return f"{change.file} keeps its name"
        if file != NAME and self._now(file) is None and self._final(file) is not None:
            twin = next((other for other in self._twins(file) if self._exists(other)), None)
            return None if twin is None else f"only case or Unicode form tell it from {twin}, which is there"
        return None

    def _stands(self, file: str, other: str) -> bool:
        """Whether another file becomes what the plan makes of it, or at least has what was to be there."""
        if other == NAME:
            return NAME not in self.left
        final = self._final(other)
        if final == self.after.files.get(other):
            return True
        lines = [line for line in self._lines(file) if line.to == other]
        if final is None or not lines:
            return False
        there = _words(other, final)
        return all(same_words(line.now or line.text) in there for line in lines)

    def _needs(self, file: str) -> set[str]:
        """What a file rests on: also what the plan leaves as it is, and where its lines have stood before."""
        return {*self.plan.needs.get(file, ()), *(line.to for line in self._lines(file) if line.to)} - {file}

    def _lines(self, file: str) -> Iterator[Gone]:
        """The lines of a file that are to stand elsewhere."""
        return (line for line in self.plan.lines if line.file == file and line.fate in ("moved", "reworded"))

    def _leave(self, file: str, why: str) -> None:
        """Leave a file alone, unless it is as it is to be already."""
        if file == NAME:
            self.left.setdefault(file, Left(file=file, why=why))
        elif file in self.then and (
            file in self.found.closed or self._now(file) != self.after.files.get(file)
        ):
            self.left.setdefault(file, Left(file=file, why=why))
            self.then[file] = self.found.files.get(file, (None, None))

    def _now(self, file: str) -> bytes | None:
        return self.found.files[file][0] if file in self.found.files else None

    def _is_as_before(self, file: str) -> bool:
        return file not in self.found.closed and self._now(file) == self.before.files.get(file)

    def _final(self, file: str) -> bytes | None:
        return self.then[file][0] if file in self.then else self._now(file)

    def _exists(self, file: str) -> bool:
        """Whether there will be such a file."""
        if file in self.found.closed or file not in self.then:
            return file in self.found.there
        return self.then[file][0] is not None

    def _twins(self, file: str) -> list[str]:
        others = {*self.found.there, *self.then} - {file}
        return sorted(other for other in others if _twin_key(other) == _twin_key(file))

    # -- what is to be done -----------------------------------------------------------------------------

    def swaps(self) -> list[Swap]:
        """What comes first, then what changes, the index, and what goes."""
        files = [self._swap(file, file, *then) for file, then in self.then.items() if file not in self.left]
        index, mtime_ns = self._index()
        swaps = [*files, self._swap(NAME, self.found.index, index, mtime_ns)]
        swaps = [swap for swap in swaps if swap.now != swap.then]
        return sorted(swaps, key=lambda swap: (_turn(swap, self.found.index), swap.file))

    def _swap(self, file: str, called: str, then: bytes | None, mtime_ns: int | None) -> Swap:
        now, now_mtime_ns = self.found.files.get(file, (None, None))
        needs = self._needs(file)
        needs |= {one.file for one in self.plan.changes if one.action == "renamed" and one.into == file}
        return Swap(
            file=called,
            now=now,
            now_mtime_ns=now_mtime_ns,
            then=then,
            then_mtime_ns=mtime_ns,
            needs=frozenset(self.found.index if other == NAME else other for other in needs - {file}),
        )

    def _index(self) -> tuple[bytes | None, int | None]:
        """The index as it is to be. Raises UsageError."""
        now, mtime_ns = self.found.files.get(NAME, (None, None))
        was, made = self.before.index, self.after.index
        data, moment = now, mtime_ns
        if NAME not in self.left and was != made and (now or b"") == was:
            data, moment = made, self.after.mtimes.get(NAME)
        text = encoding.decode(data or b"", name=NAME)
        if NAME not in self.left and was != made and (now or b"") not in (was, made):
            was_text, made_text = (encoding.decode(one, name=NAME) for one in (was, made))
            merged = merging.undone(text, made=was_text, was=made_text)
            if merged != text:
                data, moment, text = encoding.encode(merged, like=now or made), None, merged
        fit = self._fitted(text)
        if fit != text:
            data, moment = encoding.encode(fit, like=data or now or b""), None
        return data, moment

    def _fitted(self, text: str) -> str:
        """The index with an entry for each memory that had one or is new, and none that leads nowhere."""
        current = encoding.readable(self._now(NAME) or b"")
        entries = {key(one.file): one for one in reversed(entrypoint.pointers(current))}
        there = {file for file in {*self.found.there, *self.then} if self._exists(file)}
        there_keys = {key(file) for file in there}
        gone = {file for file in self.then if not self._exists(file)}
        gone |= {
            one.file
            for one in entrypoint.pointers(text)
            if key(one.file) not in there_keys and key(one.file) not in entries
        }
        linked = entrypoint.linked(text)
        gone = {file for file in gone if key(file) in linked}
        ours = {line for data in (self.before.index, self.after.index) for line in _bare(data)}
        fit = merging.fitted(text, gone=sorted(gone), ours=ours)
        had, has = entrypoint.linked(current), entrypoint.linked(fit)
        new = {file for file, (data, _) in self.then.items() if data is not None and self._now(file) is None}
        wanting = {
            file: self._pointer(file, entries)
            for file in sorted(there)
            if is_topic(file) and key(file) not in has and (key(file) in had or file in new)
        }
        if entrypoint.load("\n".join([fit, *map(entrypoint.written, wanting.values())])).truncated:
            without = self._without_entry()
            wanting = {file: one for file, one in wanting.items() if key(file) not in without}
        back = [
            Returning(lines=entrypoint.take(current, file)[1], pointer=pointer)
            for file, pointer in wanting.items()
        ]
        return merging.fitted(fit, gone=(), ours=ours, back=back)

    def _without_entry(self) -> set[str]:
        """The memories, by key, that the plan keeps or makes without an entry, for lack of room (F7)."""
        going = {key(file) for file in self.before.files.keys() - self.after.files.keys()}
        known = entrypoint.linked(encoding.readable(self.before.index)) | set(map(key, self.then))
        return known - entrypoint.linked(encoding.readable(self.after.index)) - going

    def _pointer(self, file: str, entries: Mapping[str, Pointer]) -> Pointer:
        """The entry that a memory had, or gets."""
        if (known := entries.get(key(file))) is not None:
            return Pointer(title=known.title, file=file, hook=known.hook)
        read = topic.parse(self._final(file) or self.before.files.get(file, b""), filename=file)
        return Pointer(title=read.name, file=file, hook=read.description or "")


def _turn(swap: Swap, index: str) -> int:
    if swap.file == index:
        return 2
    return 0 if swap.now is None else 3 if swap.then is None else 1


def _merged(was: bytes, now: bytes, made: bytes, *, now_is: datetime) -> bytes | None:
    """Both changes of a topic; None where that is not clear. Stamps don't count: writes set them (F1)."""
    origin = topic.parse(now, filename="x.md").origin
    base, mine, theirs = (revising.stamped(data, now=now_is, origin=origin) for data in (was, now, made))
    merged = merging.merged(base, mine, theirs)
    return now if merged == mine else merged


def _words(file: str, data: bytes) -> frozenset[str]:
    return frozenset(map(same_words, facts(file, data)))


def _bare(data: bytes) -> list[str]:
    return bare_lines(encoding.readable(data))


@cache
def _twin_key(file: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", file).casefold())
