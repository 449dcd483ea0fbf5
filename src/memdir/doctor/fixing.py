"""What has one right answer is mended; what was mended, and what is left, is told (F1, F6, F7, F8, D4, H2).

Files of memory change in one step, which is one change of the history, and can be undone: without a history
none does. A header gets what it lacks, the index what it lacks; what it has too much goes. No file is
deleted, renamed or made younger, and nothing that looks like a secret is touched or copied. Twice is the
same as once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from memdir import fs
from memdir.doctor import filling, leftovers
from memdir.doctor import index as indexes
from memdir.doctor.around import Around
from memdir.doctor.checkup import examine
from memdir.doctor.finding import Finding
from memdir.doctor.layouts import is_foreign
from memdir.doctor.survey import Survey, is_whole, survey
from memdir.dream import sweeping
from memdir.errors import Conflict, NotFound, SecretFound
from memdir.memory import encoding, index_mending, leaks, plan
from memdir.memory.entrypoint import NAME
from memdir.memory.history import By
from memdir.memory.history.stamps import LIMIT
from memdir.memory.plan import Swap
from memdir.memory.store import MemoryDir

LABEL = "doctor"
"""The worker of what is mended, as the history has it."""

REASON = "what has one right answer was put right"

_IN_MEMORY = frozenset({"orphan", "dead pointer", "index", "entry", "frontmatter"})
"""Kinds whose mending changes files of memory."""


_TRIES = 3
"""A person who saves a file in between is no reason to give up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """What was done. `change`: its id in the history; None: no file of memory changed. `left` is what is
    still found, notes as well. `why_not`: why files of memory were left alone; None: they were not.
    """

    change: str | None
    mended: tuple[Finding, ...]
    left: tuple[Finding, ...]
    why_not: str | None = None


def fix(memory: MemoryDir, *, now: datetime, around: Around | None = None) -> Fixed:
    """Mend what can be mended.

    Raises:
        Conflict: somebody else is writing all the time. OSError: the disk said no. All is as it was.
    """
    found = examine(memory, now=now, around=around)
    todo = [one for one in found if one.fix is not None]
    if not todo:
        return Fixed(change=None, mended=(), left=tuple(found))
    by, why_not = By(worker=LABEL, reason=REASON), _why_not(memory, todo)
    if why_not is None and any(one.kind in _IN_MEMORY for one in todo):
        why_not = _mend(memory, by, around=around, now=now)
    kinds = {one.kind for one in todo}
    if "leftover" in kinds:
        with memory.on_behalf(by).changing():
            fs.sweep_temporaries(memory.directory, older_than=leftovers.YOUNG)
    dreams = around.places.dreams if around else None
    if "lock" in kinds or ("leftover" in kinds and dreams is not None and sweeping.left(dreams)):
        sweeping.sweep(memory.directory, dreams, now=lambda: now)
    left = examine(memory, now=now, around=around)
    return Fixed(
        change=_change(memory, by),
        mended=tuple(_gone(found, left)),
        left=tuple(left),
        why_not=why_not,
    )


def _mend(memory: MemoryDir, by: By, *, around: Around | None, now: datetime) -> str | None:
    """Change the files of memory, in one step; and why not, if that could not be undone. Raises Conflict."""
    for tries_left in range(_TRIES)[::-1]:
        try:
            with memory.on_behalf(by).changing():
                swaps = list(_swaps(survey(memory, around=around, now=now)))
                why_not = plan.unrecorded(memory, swaps)
                if swaps and why_not is None:
                    plan.carry_out(memory, swaps)
            if why_not is None:
                return None
        except Conflict:
            if not tries_left:
                raise
    return why_not


def _gone(found: Sequence[Finding], left: Sequence[Finding]) -> Iterator[Finding]:
    """What could be mended and is not found any more. Two may be the same but for their lines, which move."""
    still = Counter(one.same for one in left)
    still.subtract(one.same for one in found if one.fix is None)
    for one in found:
        if one.fix is not None:
            if still[one.same] > 0:
                still[one.same] -= 1
            else:
                yield one


def _why_not(memory: MemoryDir, todo: list[Finding]) -> str | None:
    """Why files of memory are left alone, although something could be done about them."""
    if not any(one.kind in _IN_MEMORY for one in todo):
        return None
    if memory.history is None:
        return "no history is kept"
    return f"no history is kept: {memory.history.off}" if memory.history.off else None


def _change(memory: MemoryDir, by: By) -> str | None:
    """What was done, as the history has it."""
    if memory.history is not None and not memory.history.off:
        with suppress(NotFound):
            return memory.history.find(by.change).id
    return None


def _swaps(seen: Survey) -> Iterator[Swap]:
    """What becomes of which file: the headers, then the index, which goes by them."""
    topics = {one.file: one for one in indexes.listed(seen)}
    for file, thing in seen.topics.items():
        data = thing.data or b""
        new = data if is_foreign(thing) or len(data) > LIMIT else filling.filled(file, data)
        if new == data or len(new) > LIMIT or _leaks(new, data, file):
            continue
        mtime_ns = thing.status.st_mtime_ns
        topics[file] = index_mending.listed(file, new, mtime_ns)
        yield Swap(file=file, now=data, now_mtime_ns=mtime_ns, then=new, then_mtime_ns=mtime_ns)
    old = seen.index
    if old is None or seen.index_file is None or len(old) > LIMIT or not is_whole(old):
        return
    text = encoding.decode(old)
    fit = index_mending.mended(text, list(topics.values()), besides=indexes.beside(seen)).text
    mended = encoding.encode(fit, like=old)
    if mended != old and len(mended) <= LIMIT and not _leaks(mended, old, NAME):
        there = seen.by_path.get(seen.index_file)
        yield Swap(
            file=seen.index_file,
            now=None if there is None else old,
            now_mtime_ns=None if there is None else there.status.st_mtime_ns,
            then=mended,
            then_mtime_ns=None,
        )


def _leaks(new: bytes, old: bytes, name: str) -> bool:
    """Whether a secret would come into a file that it did not hold (E10)."""
    try:
        leaks.refuse(encoding.readable(new), encoding.readable(old), name=name)
    except SecretFound:
        return True
    return False
