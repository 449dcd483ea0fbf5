"""Changes of memory are taken back, and single files brought back, from what the history recorded (H2).

An undo is all or nothing. A file that still is as the change left it gets its earlier bytes and mtime; one
that was changed since is merged: topics by lines, three ways, the index by entries. Where that is not clear,
nothing is done, and the error says which files, which later changes, and what to do. An undo is a change like
any other: it can be undone.

No look for secrets is taken: what comes back was there before, at the person's word. What was erased has left
the history, so it can't come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from memdir import fs
from memdir.errors import Conflict, MemdirError, NotFound, UnsafePath, UsageError
from memdir.memory import encoding, entrypoint, leaks, merging, plan, topic
from memdir.memory.entrypoint import NAME, Pointer
from memdir.memory.frontmatter import LINE
from memdir.memory.history import BEGINNING, By, Change, FileChange, History, Run
from memdir.memory.merging import Returning
from memdir.memory.plan import Swap
from memdir.memory.store import MemoryDir, Written
from memdir.memory.topic import Origin
from memdir.names import is_topic

_KEEPING_ORDER = frozenset({"mend", "erase"})
"""Workers whose changes follow from others, or can't be taken back: an undo goes past them."""

_NAMED = 5
"""How many files and changes an error names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What an undo did. `change`: what it was recorded as, if it was; `of`: the change that it took back."""

    change: Change | None
    files: tuple[str, ...]
    of: Change


def latest(history: History) -> Change:
    """The change that an undo takes back if none is named: the newest that is neither an undo nor undone.

    Raises:
        NotFound: there is none.
    """
    undone = set[str]()
    for change in history.log():
        if change.id in undone:
            continue
        if change.undoes is not None:
            undone.add(change.undoes)
        elif change.worker not in _KEEPING_ORDER and change.reason != BEGINNING:
            return change
    raise NotFound("there is no change left to undo", hint="`memdir log` lists the changes")


def undo(memory: MemoryDir, change: Change, *, now: datetime) -> Undone:
    """Take a change back, all of it or nothing. Undoing an undo does the change again.

    Raises:
        Conflict: something has changed since in a way that can't be told from it, or nothing of it is left.
        UsageError: the change is what was there when the history began.
    """
    undoing = _undoing(memory, change, now)
    by = By(worker="undo", undoes=change.id)
    with memory.on_behalf(by).changing():
        swaps = undoing.swaps()
        plan.carry_out(memory, swaps, trash=_in_trash(memory, swaps))
    with suppress(NotFound):
        return Undone(change=undoing.history.find(by.change), files=_names(swaps), of=change)
    return Undone(change=None, files=_names(swaps), of=change)


def planned(memory: MemoryDir, change: Change, *, now: datetime) -> tuple[Swap, ...]:
    """What an undo would do to each file, as things stand; nothing is changed. Raises as `undo` does."""
    undoing = _undoing(memory, change, now)
    with memory.alone():
        return tuple(undoing.swaps())


def restore_at(memory: MemoryDir, file: str, point: str | datetime, *, now: datetime) -> Written:
    """Bring one file back as it was right after a change, or at a moment: its bytes, its mtime, and an entry
    in the index if that has none for it. `now` dates it where its mtime is not known.

    Raises:
        NotFound: it was not there then, or there is no such change. Conflict: it is being changed just now.
    """
    history = _history(memory)
    with memory.on_behalf(memory.by or By(worker="restore")).changing():
        if file == NAME:
            file = _index_name(memory)
        found = history.at(file, point)
        if found is None:
            raise NotFound(f"{leaks.called(file)} was not there then", hint="`memdir log` shows its changes")
        data, mtime_ns = found
        moment = int(now.timestamp()) * 10**9 if mtime_ns is None else mtime_ns
        swaps = [_swap(memory, file, data, moment)]
        read = topic.parse(data, filename=file)
        before = swaps[0].now
        if not _is_index(memory, file) and is_topic(file, team=True):
            index = _index_name(memory)
            then = history.at(index, point)
            text = "" if then is None else encoding.readable(then[0])
            pointer = Pointer(title=read.name, file=file, hook=read.description or "")
            returning = Returning(lines=entrypoint.take(text, file)[1], pointer=pointer)
            swaps += _with_index(memory, index, back=[returning])
        if swaps := [swap for swap in swaps if swap.now != swap.then]:
            plan.carry_out(memory, swaps, trash=_in_trash(memory, swaps))
    return Written(
        file=file,
        action="created" if before is None else "updated" if before != data else "unchanged",
        digest=fs.digest(data),
        data=data,
        type=read.type if is_topic(file, team=True) else None,
        warning=entrypoint.over_limit(memory.index()),
    )


# -- what an undo is to do ----------------------------------------------------------------------------------


def _undoing(memory: MemoryDir, change: Change, now: datetime) -> _Undoing:
    if change.reason == BEGINNING:
        raise UsageError("that is what was there when the history began, and no change")
    return _Undoing(memory=memory, history=_history(memory), change=change, now=now)


@dataclass(kw_only=True)
class _Undoing:
    """Decides, under the lock, what each file is to hold; changes nothing itself."""

    memory: MemoryDir
    history: History
    change: Change
    now: datetime
    stuck: list[str] = field(default_factory=list)
    """Files where that is not clear."""

    def swaps(self) -> list[Swap]:
        """What is to be done, in the order in which it does least harm to be killed: what comes back, the
        index, the rest. Raises Conflict.
        """
        try:
            index: str | None = _index_name(self.memory)
        except UnsafePath:  # it leads outside, or may not be made: nothing of ours reads or writes it
            index = None
        files = {one.file: self._swap(one, index or NAME) for one in self.change.files}
        if index is not None and not self.stuck:
            files |= {swap.file: swap for swap in self._index(index, files)}
        swaps = [swap for swap in files.values() if swap.now != swap.then]
        if self.stuck or not swaps:
            raise self._refused()
        return sorted(swaps, key=lambda swap: 1 if swap.file == index else 0 if swap.now is None else 2)

    def _swap(self, one: FileChange, index: str) -> Swap:
        try:
            swap = _swap(self.memory, one.file, None, None)
        except UnsafePath:  # a link or a folder by now
            self.stuck.append(one.file)
            return Swap(file=one.file, now=None, now_mtime_ns=None, then=None, then_mtime_ns=None)
        then, mtime_ns = swap.now, swap.now_mtime_ns
        runs: Sequence[Run | FileChange] = one.runs or (one,)
        for run in reversed(runs):
            before, after = self._bytes(run.before), self._bytes(run.after)
            if then == after:
                then, mtime_ns = before, run.before_mtime_ns
            elif then != before:
                is_index = one.file == index or one.file.endswith(f"/{NAME}")
                found = self._entries if is_index else self._lines
                try:
                    merged = found(after, then, before)
                    then, mtime_ns = merged, mtime_ns if merged == then else None
                except UsageError:
                    self.stuck.append(one.file)
                    break
        return Swap(
            file=one.file, now=swap.now, now_mtime_ns=swap.now_mtime_ns, then=then, then_mtime_ns=mtime_ns
        )

    def _bytes(self, blob: str | None) -> bytes | None:
        return None if blob is None else self.history.bytes(blob)

    def _lines(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
        """A topic that was changed since. Stamps don't count: each write sets them (F1).

        Raises UsageError where it is not clear.
        """
        if base is None or ours is None or theirs is None:
            raise UsageError("made or removed since")
        origin = topic.parse(ours, filename="x.md").origin
        base, mine, theirs = (stamped(data, now=self.now, origin=origin) for data in (base, ours, theirs))
        merged = merging.merged(base, mine, theirs)
        if merged is None:
            raise UsageError("the same lines were changed since")
        return ours if merged == mine else merged

    def _entries(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
        """An index that was changed since. Raises UsageError where it is no text that can be written back."""
        base_text, text, was = (encoding.decode(data or b"", name=NAME) for data in (base, ours, theirs))
        left = merging.undone(text, made=base_text, was=was)
        if not left and theirs is None:
            return None
        return ours if left == text else encoding.encode(left, like=ours or theirs or b"")

    def _index(self, index: str, files: dict[str, Swap]) -> Iterator[Swap]:
        """The index fits: no entry for what goes, one for what comes back. One that nobody has changed since
        needs no fitting: it was as it is to be."""
        then = self.history.at(index, self.change.id)
        left, swap = None if then is None else then[0], files.get(index)
        try:
            there = plan.bytes_of(self.memory, index)
        except UnsafePath:  # a folder or a pipe in its place: nobody reads it, and it needs no fitting
            return
        if left == (None if there is None else there[0]):
            return
        text = encoding.readable(left or b"")
        gone = [one.file for one in files.values() if one.file != index and one.now and one.then is None]
        back = [
            Returning(lines=entrypoint.take(self._before(index), one.file)[1], pointer=_pointer(one))
            for one in files.values()
            if one.file != index and one.now is None and one.then and is_topic(one.file, team=True)
        ]
        ours = {line.rstrip("\r\n") for line in LINE.findall(text)}
        try:
            yield from _with_index(self.memory, index, swap, gone=gone, back=back, ours=ours)
        except UsageError:
            self.stuck.append(index)

    def _before(self, index: str) -> str:
        """The index as the change found it, or as it left it if it did not touch it."""
        for one in self.change.files:
            if one.file == index:
                return encoding.readable(self._bytes(one.before) or b"")
        then = self.history.at(index, self.change.id)
        return "" if then is None else encoding.readable(then[0])

    def _refused(self) -> Conflict:
        if not self.stuck:
            return Conflict(
                "nothing of that change is left to undo", hint="`memdir log` shows what was done since"
            )
        later = {file: self._later(file) for file in self.stuck}
        ids = list(dict.fromkeys(one for changes in later.values() for one in changes))
        files = _some([leaks.called(file) for file in later])
        since = f" (by {_some(ids)})" if ids else ""
        first = f"undo {ids[0]} first, or " if ids else ""
        return Conflict(
            f"not undone: {files} changed since{since}",
            hint=f"{first}bring back one file alone with `memdir restore FILE --at CHANGE`",
        )

    def _later(self, file: str) -> list[str]:
        """The changes of a file since, newest first."""
        found = list[str]()
        for one in self.history.log(file=file):
            if one.id == self.change.id:
                return found
            found.append(one.id)
        return found


def stamped(data: bytes, *, now: datetime, origin: Origin | None) -> bytes:
    """The same with those stamps, if it has a header of ours."""
    stamped = topic.stamp(data, now=now, origin=None)
    if stamped == data:
        return data
    origin = origin or Origin()
    parts = {
        "origin.session": origin.session,
        "origin.message": origin.message,
        "origin.worker": origin.worker,
    }
    with suppress(UsageError):
        return topic.edit(stamped, parts)
    return stamped


def _pointer(swap: Swap) -> Pointer:
    read = topic.parse(swap.then or b"", filename=swap.file)
    return Pointer(title=read.name, file=swap.file, hook=read.description or "")


# -- the directory ------------------------------------------------------------------------------------------


def _history(memory: MemoryDir) -> History:
    history = memory.history
    if history is None or history.off:
        raise MemdirError("no history is kept of this directory, so nothing can be brought back from it")
    return history


def _swap(memory: MemoryDir, file: str, then: bytes | None, mtime_ns: int | None) -> Swap:
    found = plan.bytes_of(memory, file)
    now, now_mtime_ns = (None, None) if found is None else found
    return Swap(file=file, now=now, now_mtime_ns=now_mtime_ns, then=then, then_mtime_ns=mtime_ns)


def _with_index(
    memory: MemoryDir,
    index: str,
    swap: Swap | None = None,
    *,
    gone: Sequence[str] = (),
    back: Sequence[Returning] = (),
    ours: AbstractSet[str] = frozenset(),
) -> list[Swap]:
    """What becomes of the index where files go and come back. `swap`: what becomes of it anyway.

    Raises UsageError where it is no text that can be written back.
    """
    if swap is None:
        found = plan.bytes_of(memory, index)
        now, mtime_ns = (None, None) if found is None else found
        swap = Swap(file=index, now=now, now_mtime_ns=mtime_ns, then=now, then_mtime_ns=mtime_ns)
    text = encoding.decode(swap.then or b"", name=NAME)
    fit = merging.fitted(text, gone=gone, ours=ours, back=back)
    if fit == text:
        return [swap]
    data = encoding.encode(fit, like=swap.then or swap.now or b"")
    return [Swap(file=index, now=swap.now, now_mtime_ns=swap.now_mtime_ns, then=data, then_mtime_ns=None)]


def _index_name(memory: MemoryDir) -> str:
    """What the history calls the index: the file it really is, where it is a link."""
    place = memory.index_file.place
    return place.relative_to(memory.directory.resolve()).as_posix()


def _is_index(memory: MemoryDir, file: str) -> bool:
    return file == _index_name(memory)


def _in_trash(memory: MemoryDir, swaps: Sequence[Swap]) -> list[str]:
    """The entries of topics that come back, which are then as little deleted as before."""
    back = {swap.file: swap.then for swap in swaps if swap.then is not None}
    found = list[str]()
    for entry in memory.trash.entries():
        with suppress(OSError, MemdirError):
            if entry.file in back and memory.trash.data(entry) == back[entry.file]:
                found.append(entry.id)
    return found


def _names(swaps: Sequence[Swap]) -> tuple[str, ...]:
    return tuple(swap.file for swap in swaps)


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(words[:_NAMED]) + more
