"""A plan becomes the memory directory: in one step, or not at all (D8).

Under the guard of the dream's lock and the directory's own: what is there now is read, what becomes of each
file is decided (`swaps`), secrets are looked for once more, and then all of it is carried out by the redo log
that undos have. Killed at any point, the directory is as before or as after when somebody next looks at it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memdir import fs
from memdir.dream.files import Snapshot
from memdir.dream.plan import Plan
from memdir.dream.stage import walk
from memdir.dream.swaps import Decided, Found, Left, changed, rests_on, swaps_of
from memdir.errors import Conflict, MemdirError, NotFound, UnsafePath
from memdir.memory import encoding, entrypoint, leaks
from memdir.memory import plan as redo
from memdir.memory.entrypoint import NAME
from memdir.memory.history import By, History
from memdir.memory.history.stamps import LIMIT
from memdir.memory.history.values import new_change
from memdir.memory.plan import Swap
from memdir.memory.store import MemoryDir

__all__ = ["Applied", "Left", "apply"]

_TRIES = 3
"""How often all is begun again where a program that knows no lock came in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What became of a plan. `change`: what the history calls it; None: nothing was to be done, or it could
    not be recorded. `topics`: the topic files that it changed (D6), `files`: the index too. `left`: what was
    left as it is.
    """

    change: str | None
    topics: tuple[str, ...]
    left: tuple[Left, ...]
    files: tuple[str, ...]


def apply(
    memory: MemoryDir,
    before: Snapshot,
    after: Snapshot,
    plan: Plan,
    *,
    guard: Callable[[], AbstractContextManager[None]],
    by: By,
    now: datetime,
    real: Path | None = None,
) -> Applied:
    """Carry a plan out, as far as what was changed since leaves room for it. `guard` is held all the time.
    `real`: where the directory really was when `before` was taken.

    Raises:
        MemdirError: there is no history, or it does not hold what is there, so that nothing could be undone.
        SecretFound: a secret would be written that was not there (E10).
        Conflict: somebody is writing all the time, or the directory is another one by now.
        UsageError: the index is no text. OSError: the disk said no. What `guard` raises. All is as it was.
    """
    history, real = _history(memory), real or Path(os.path.realpath(memory.directory))
    looked_at = rests_on(before, after, plan)
    for tries_left in reversed(range(_TRIES)):
        _check_place(memory, real)
        with guard(), memory.on_behalf(by).changing():
            _check_place(memory, real)
            decided = _decided(memory, before, after, plan, looked_at=looked_at, now=now)
            try:
                _carry_out(memory, decided, _Sources(before, after, plan))
                break
            except Conflict:
                if not tries_left:
                    raise
        by = replace(by, change=new_change())  # what was found there now is none of ours
    index = _index_name(memory)
    files = tuple(sorted(NAME if swap.file == index else swap.file for swap in decided.swaps))
    return Applied(
        change=_recorded(memory, history, by) if files else None,
        topics=tuple(file for file in files if file != NAME),
        left=decided.left,
        files=files,
    )


def _carry_out(memory: MemoryDir, decided: Decided, sources: _Sources) -> None:
    if decided.swaps:
        for swap in decided.swaps:
            _refuse_secrets(memory, swap, sources.of(swap))
        if why_not := redo.unrecorded(memory, decided.swaps):
            raise MemdirError(
                f"nothing was changed: {why_not}",
                hint="`memdir doctor` says more; without it, nothing could be undone",
            )
        redo.carry_out(memory, decided.swaps)


# -- what there is ----------------------------------------------------------------------------------------


def _decided(
    memory: MemoryDir,
    before: Snapshot,
    after: Snapshot,
    plan: Plan,
    *,
    looked_at: Collection[str],
    now: datetime,
) -> Decided:
    """What is to be done, as things stand. `looked_at`: what the plan rests on. Raises UsageError."""
    index = _index_name(memory)
    new = {file for file in after.files if file not in before.files}
    going = {file for file in before.files if file not in after.files}
    files, closed, missing = dict[str, tuple[bytes, int]](), dict[str, str](), set[str]()
    wanted = changed(before, after, plan)
    for file in {*wanted, *looked_at}:
        if file in new and file in wanted and (why := _bad_name(memory, file, going)):
            closed[file] = why
            continue
        try:
            if (one := redo.bytes_of(memory, file)) is None:
                missing.add(file)
            else:
                files[file] = one
                if len(one[0]) > LIMIT:
                    closed[file] = "it is too large for the history"
            if len(after.files.get(file, b"")) > LIMIT:
                closed[file] = "it would be too large for the history"
        except UnsafePath as error:
            closed[file] = error.reason
        except OSError as error:
            closed[file] = (error.strerror or "it can't be read").lower()
    if (one := redo.bytes_of(memory, index)) is not None:
        files[NAME] = one
    there = _there(memory, [files.get(NAME, (b"", 0))[0], before.index, after.index]) - {index, NAME}
    found = Found(files=files, there=there, missing=missing, closed=closed, index=index)
    return swaps_of(before, after, plan, found, now=now)


def _bad_name(memory: MemoryDir, file: str, going: set[str]) -> str | None:
    """Why no new file can have that name, or None. One that differs by case alone from what goes may."""
    if memory.why_not(file) is None:
        return None
    with suppress(UnsafePath):
        for other in going:
            if other.casefold() == file.casefold():
                fs.contain(memory.directory / ".none", file)
                return None
    return memory.why_not(file)


def _there(memory: MemoryDir, indexes: Sequence[bytes]) -> set[str]:
    """All files in the directory that an entry of these indexes may lead to."""
    root = Path(os.path.realpath(memory.directory))
    linked = {one.file for data in indexes for one in entrypoint.pointers(encoding.readable(data))}
    with suppress(ValueError):  # a NUL byte
        return {*walk(root), *(file for file in linked if os.path.lexists(root / file))}
    return set(walk(root))


def _index_name(memory: MemoryDir) -> str:
    """What the history calls the index: the file it really is, where it is a link. Raises UnsafePath."""
    return memory.index_file.place.relative_to(os.path.realpath(memory.directory)).as_posix()


# -- what has to hold -------------------------------------------------------------------------------------


def _history(memory: MemoryDir) -> History:
    history = memory.history
    off = "no history is kept" if history is None else history.off
    if history is None or off:
        raise MemdirError(
            f"nothing was changed: {off}, so that it could not be undone",
            hint="install git, or switch the history on; then try again",
        )
    return history


def _check_place(memory: MemoryDir, real: Path) -> None:
    if Path(os.path.realpath(memory.directory)) != real:
        raise Conflict("the memory directory is another one by now", hint="look at it, then dream again")


def _recorded(memory: MemoryDir, history: History, by: By) -> str | None:
    """What the history calls the change; None if it could not write it down, which it says itself."""
    for _ in range(2):
        with suppress(NotFound):
            return history.find(by.change).id
        with suppress(MemdirError, OSError):
            memory.look()
    return None


@dataclass(frozen=True)
class _Sources:
    """The texts that a file may be made of: a secret that stood there is none that is written now."""

    before: Snapshot
    after: Snapshot
    plan: Plan

    def of(self, swap: Swap) -> str:
        """What stood in the file, and in those that went into it."""
        files = {change.file for change in self.plan.changes if change.into == swap.file}
        files |= {line.file for line in self.plan.lines if line.to == swap.file}
        return "\n".join(self._texts(swap, files - {swap.file}))

    def _texts(self, swap: Swap, files: set[str]) -> Iterator[str]:
        yield encoding.readable(swap.now or b"")
        for file in sorted(files):
            yield encoding.readable(self.before.files.get(file, b""))


def _refuse_secrets(memory: MemoryDir, swap: Swap, old: str) -> None:
    """Raises SecretFound (E10)."""
    if swap.then is None:
        return
    if swap.now is None:
        below = (memory.directory, Path(os.path.realpath(memory.directory)))
        leaks.refuse_name(swap.file, below=below)
    leaks.refuse(encoding.readable(swap.then), old, name=swap.file)
