"""What can be put in order without a model: the index; all else is proposed (D5, D8). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from memdir.dream.files import Snapshot
from memdir.dream.stale import stale
from memdir.errors import UsageError
from memdir.memory import encoding, leaks, shown
from memdir.memory.duplicates import duplicates
from memdir.memory.entrypoint import NAME
from memdir.memory.index_mending import faults, mended
from memdir.memory.scan import moment

Kind = Literal["duplicate", "near duplicate", "stale date", "oversize", "index"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Something that only a person, or a model, can decide. `line` counts from 1; None: no line of it.

    `reason` and `cure` are sentences without an end, and hold no more of a memory than a date's few words.
    """

    kind: Kind
    files: tuple[str, ...]
    line: int | None = None
    reason: str
    cure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidied:
    """`after`: the memories with the index put right; `did`: what was done to it, a sentence each."""

    after: Snapshot
    proposals: tuple[Proposal, ...]
    did: tuple[str, ...]


def tidy(before: Snapshot, *, now: datetime, besides: Collection[str] = ()) -> Tidied:
    """Put the index right, and say what else should be looked at; no topic changes, none goes (D8).

    `besides`: files of the directory that are not in the snapshot, to which an entry may lead all the same.
    """
    after, did, left = _index(before, besides)
    return Tidied(
        after=after,
        proposals=(*_alike(before), *_stale_dates(before, now), *_oversize(before), *left),
        did=did,
    )


def with_index(memories: Snapshot, *, besides: Collection[str] = ()) -> Snapshot:
    """The memories with the index put right, and nothing else."""
    return _index(memories, besides)[0]


def _index(
    before: Snapshot, besides: Collection[str]
) -> tuple[Snapshot, tuple[str, ...], tuple[Proposal, ...]]:
    """The memories with the index put right, what was done, and what is left to do."""
    try:
        old = encoding.decode(before.index, name=NAME)
    except UsageError as error:
        broken = Proposal(
            kind="index", files=(NAME,), reason=str(error), cure=error.hint or "save it as UTF-8"
        )
        return before, (), (broken,)
    text, did = mended(old, before.listed, besides=besides)
    left = tuple(
        Proposal(kind="index", files=(NAME,), line=fault.line, reason=fault.reason, cure=fault.cure)
        for fault in faults(text, before.listed, besides=besides)
    )
    if text == old:
        return before, (), left
    files = {**before.files, NAME: encoding.encode(text, like=before.index)}
    mtimes = {file: mtime for file, mtime in before.mtimes.items() if file != NAME}
    return Snapshot(files=files, mtimes=mtimes), did, left


def _alike(before: Snapshot) -> Iterator[Proposal]:
    """Memories that say the same, a group each."""
    for alike in duplicates({file: before.files[file] for file in before.topics}):
        names = tuple(map(leaks.called, alike.files))
        if alike.exact:
            cure = "keep one, and `memdir forget` the others"
            yield Proposal(kind="duplicate", files=names, reason="they say the same, line by line", cure=cure)
        else:
            yield Proposal(
                kind="near duplicate",
                files=names,
                reason=f"they say nearly the same ({alike.share:.0%})",
                cure="put what they say into one of them, or tell what makes them differ",
            )


def _stale_dates(before: Snapshot, now: datetime) -> Iterator[Proposal]:
    """Lines with a date that was right only when they were written, which is past."""
    today = now.astimezone(UTC).date()
    for file in before.topics:
        if file not in before.mtimes:
            continue
        written = moment(before.mtimes[file]).date()
        for one in stale(before.files[file], written=written) if written < today else ():
            then = f"; if it was written on {written}, when the file last changed, that is {one.meant}"
            yield Proposal(
                kind="stale date",
                files=(leaks.called(file),),
                line=one.line,
                reason=f"“{one.phrase}” counts from the day when it was written",
                cure=f"write the date instead{then if one.meant else ''}",
            )


def _oversize(before: Snapshot) -> Iterator[Proposal]:
    """Memories that recall can't show whole (R6)."""
    for file in before.topics:
        if not shown.is_whole(before.files[file]):
            lines, size = shown.size(before.files[file])
            most = f"{shown.BODY_LINES} lines and {shown.BODY_BYTES:,} bytes at most"
            yield Proposal(
                kind="oversize",
                files=(leaks.called(file),),
                reason=f"{lines:,} lines and {size:,} bytes, of which recall shows {most}",
                cure="split it into memories of one subject each",
            )
