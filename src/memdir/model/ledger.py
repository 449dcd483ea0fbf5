"""What background work has cost, and how much more it may cost today (H3).

One file a day, of the person's time zone; only ever added to, one JSON object a line, never contents:

    {"kind":"reserved","id":"5f0c…","at":"2026-05-07T12:00:00+02:00","job":"extraction","model":"anthropic:…",
     "project":"-home-ada-shop","session":"3f0d…","tokens":41200}
    {"kind":"call","id":"5f0c…", … "input":900,"cacheRead":30000,"cacheWrite":400,"output":120,"usd":0.0123,
     "counted":4300,"told":true}
    {"kind":"refused","at":"…","job":"extraction","tokens":41200}

A call is reserved before it is made, at the most that it may come to, and what it came to takes the place of
that afterwards; so processes that ask at the same time can't pass the limit together. The reservation of a
process that died counts until its day is over. A line that can't be read is passed over: if it is torn, the
call was not made, or is counted by its reservation.

What is counted is input, with cache reads at a tenth (`weight`). Losing a file costs its figures and no more.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from memdir import fs
from memdir.errors import MemdirError, OverBudget
from memdir.model.known import Price
from memdir.model.messages import Usage

SETTING = "budget.inputTokensPerDay"
"""The setting that limits a day."""

READS = 10
"""So many tokens that are read from a cache count as one."""

By = Literal["job", "day", "model", "project"]
PARTS: tuple[By, ...] = ("day", "job", "model", "project")

_Tokens = Annotated[int, Meta(ge=0, le=10**12)]
_SUFFIX = ".jsonl"


def weight(usage: Usage) -> int:
    """The tokens that count against the limit: all input, cache reads at a tenth, rounded up."""
    return usage.input + usage.cache_write - (-usage.cache_read // READS)


# -- the lines ---------------------------------------------------------------------------------------------


class Reserved(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="reserved"):
    """A call that is about to be made. `tokens`: the most input that it may come to, at the full price."""

    id: str
    at: str
    job: str
    model: str
    project: str | None = None
    session: str | None = None
    tokens: _Tokens


class Call(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="call"):
    """A call that was made. `usd` is None where the price is not known, 0 where nobody sends a bill.

    `counted` is what it takes of the day's limit. `told`: whether the service said what it used; if not, the
    tokens are 0 and `counted` is an estimate.
    """

    id: str
    at: str
    job: str
    model: str
    project: str | None = None
    session: str | None = None
    input: _Tokens = 0
    cache_read: _Tokens = 0
    cache_write: _Tokens = 0
    output: _Tokens = 0
    usd: Annotated[float, Meta(ge=0)] | None = None
    counted: _Tokens = 0
    told: bool = True

    @property
    def usage(self) -> Usage:
        """Its tokens."""
        return Usage(
            input=self.input, cache_read=self.cache_read, cache_write=self.cache_write, output=self.output
        )


class Refused(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="refused"):
    """A call that was not made, because the limit had no room for this many tokens."""

    at: str
    job: str
    tokens: _Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What a day's file holds. `open`: reservations without a call, by id; `refused`: the fewest tokens for
    which a job found no room; `odd`: how many lines could not be read.
    """

    date: date
    calls: tuple[Call, ...] = ()
    open: Mapping[str, Reserved] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    odd: int = 0

    @property
    def used(self) -> int:
        """Tokens that count against the limit, of calls that were made."""
        return sum(call.counted for call in self.calls)

    @property
    def reserved(self) -> int:
        """The same, of calls that are under way, or whose process died."""
        return sum(one.tokens for one in self.open.values())

    def waiting(self, limit: int | None) -> tuple[str, ...]:
        """The jobs that found no room, and would find none now."""
        left = None if limit is None else limit - self.used - self.reserved
        return tuple(job for job, tokens in self.refused.items() if left is not None and tokens > left)


def parsed(data: bytes, *, day: date) -> Day:
    """The lines of a day's file. Pure; never fails."""
    calls: dict[str, Call] = {}
    reserved: dict[str, Reserved] = {}
    refused: dict[str, int] = {}
    odd = 0
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            entry = _LINE.decode(line)
        except (msgspec.DecodeError, RecursionError):  # a ValidationError is a DecodeError
            odd += 1
            continue
        match entry:
            case Call():
                calls[entry.id] = entry
            case Reserved():
                reserved[entry.id] = entry
            case Refused():
                refused[entry.job] = min(entry.tokens, refused.get(entry.job, entry.tokens))
    unsettled = {id_: one for id_, one in reserved.items() if id_ not in calls}
    return Day(date=day, calls=tuple(calls.values()), open=unsettled, refused=refused, odd=odd)


_LINE = msgspec.json.Decoder(Reserved | Call | Refused)


# -- the figures -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Some calls together. What they were not told apart by is None. `usd` is that of the calls whose price
    is known, and `unpriced` counts the others; `untold` counts calls whose service did not say what they
    used, for which `estimated` tokens are counted.
    """

    day: date | None = None
    job: str | None = None
    model: str | None = None
    project: str | None = None
    calls: int
    usage: Usage
    usd: float
    unpriced: int
    untold: int
    estimated: int


def rows(days: Iterable[Day], by: Sequence[By] = PARTS) -> list[Row]:
    """The calls of some days, put together by what is named; in the order of days, then of names."""
    groups: dict[tuple[date | str | None, ...], list[Call]] = {}
    for day in days:
        for call in day.calls:
            key = tuple(day.date if part == "day" else getattr(call, part) for part in by)
            groups.setdefault(key, []).append(call)
    ordered = sorted(groups.items(), key=lambda group: tuple(str(part or "") for part in group[0]))
    return [_row(dict(zip(by, key, strict=True)), calls) for key, calls in ordered]


def _row(parts: Mapping[By, date | str | None], calls: Sequence[Call]) -> Row:
    made = Row(
        calls=len(calls),
        usage=sum((call.usage for call in calls), Usage()),
        usd=sum(call.usd or 0.0 for call in calls),
        unpriced=sum(call.usd is None for call in calls),
        untold=sum(not call.told for call in calls),
        estimated=sum(call.counted for call in calls if not call.told),
    )
    return replace(made, **parts)  # type: ignore[arg-type] # each name has its own kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What is left of a day. `limit` None: there is none. `until` is the midnight at which it starts anew,
    `waiting` the jobs that found no room.
    """

    limit: int | None
    used: int
    reserved: int
    until: datetime
    waiting: tuple[str, ...] = ()

    @property
    def left(self) -> int | None:
        """Tokens that are left; None: as many as one likes."""
        return None if self.limit is None else max(0, self.limit - self.used - self.reserved)


# -- the ledger --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Room for one call. `tokens`: the most that it may come to; `likely`: what it will, about."""

    id: str
    day: date
    job: str
    model: str
    project: str | None
    session: str | None
    tokens: int
    likely: int


class Ledger:
    """The ledger in a folder. `limit`: tokens that background work of all projects may use in a day; None:
    any number, 0: none. `now` gives the time in the person's zone, which decides what day it is.

    Blocks its thread for a moment: event loops call it in another. `failure` is what went wrong with the disk
    last, a sentence.
    """

    def __init__(self, folder: Path, *, limit: int | None, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._now = now
        self.limit = limit
        self.failure: str | None = None

    def reserve(
        self,
        job: str,
        model: str,
        tokens: int,
        *,
        likely: int | None = None,
        project: str | None = None,
        session: str | None = None,
    ) -> Reservation:
        """Room for a call that may come to this many input tokens. Ends in `settle`.

        Without a limit it always succeeds, also where nothing can be written.

        Raises:
            OverBudget: there is no room, or no telling whether there is: the file can't be written.
        """
        now = self._now()
        reservation = Reservation(
            id=secrets.token_hex(8),
            day=now.date(),
            job=job,
            model=model,
            project=project,
            session=session,
            tokens=tokens,
            likely=tokens if likely is None else likely,
        )
        if self.limit == 0:
            self._refuse(reservation, None)
            raise _over(reservation, limit=0, taken=0, until=midnight(now))
        try:
            with fs.locked(self._folder):
                if self.limit is not None:
                    day = self.read(reservation.day)
                    taken = day.used + day.reserved
                    if taken + tokens > self.limit:
                        self._refuse(reservation, day)
                        raise _over(reservation, limit=self.limit, taken=taken, until=midnight(now))
                self._add(
                    reservation.day,
                    Reserved(
                        id=reservation.id,
                        at=_stamp(now),
                        job=job,
                        model=model,
                        project=project,
                        session=session,
                        tokens=tokens,
                    ),
                )
        except OverBudget:
            raise
        except (OSError, MemdirError) as error:
            self._fail(error)
            if self.limit is not None:
                raise _unwritable(self.failure or "") from error
        return reservation

    def settle(self, reservation: Reservation, usage: Usage | None, price: Price | None) -> None:
        """What a call came to takes the place of its reservation, on the day of that. `usage` None: nobody
        said; then it counts as what was likely. Never raises: what can't be written stays reserved.
        """
        cost = price.of(usage) if price is not None and usage is not None else None
        if price is not None and usage is None and price == FREE:
            cost = 0.0
        spent = usage or Usage()
        call = Call(
            id=reservation.id,
            at=_stamp(self._now()),
            job=reservation.job,
            model=reservation.model,
            project=reservation.project,
            session=reservation.session,
            input=spent.input,
            cache_read=spent.cache_read,
            cache_write=spent.cache_write,
            output=spent.output,
            usd=None if cost is None else round(cost, 8),
            counted=reservation.likely if usage is None else weight(usage),
            told=usage is not None,
        )
        try:
            self._add(reservation.day, call)
        except (OSError, MemdirError) as error:
            self._fail(error)

    def days(self) -> list[date]:
        """The days that have a file, the newest first.

        Raises:
            OSError: the folder can't be read.
        """
        try:
            names = [path.name for path in self._folder.iterdir()]
        except FileNotFoundError:
            return []
        found = (_day_of(name) for name in names)
        return sorted((day for day in found if day is not None), reverse=True)

    def read(self, day: date) -> Day:
        """What a day's file holds.

        Raises:
            OSError, UnsafePath: it is there and can't be read.
        """
        try:
            return parsed(fs.read_file(self._path(day)), day=day)
        except FileNotFoundError:
            return Day(date=day)

    def budget(self) -> Budget:
        """What is left of today.

        Raises:
            OSError, UnsafePath: see `read`.
        """
        now = self._now()
        day = self.read(now.date())
        return Budget(
            limit=self.limit,
            used=day.used,
            reserved=day.reserved,
            until=midnight(now),
            waiting=day.waiting(self.limit),
        )

    def _refuse(self, wanted: Reservation, day: Day | None) -> None:
        """Note that a job found no room, for who asks why it waits; once, unless for less."""
        try:
            day = day or self.read(wanted.day)
            if wanted.tokens >= day.refused.get(wanted.job, wanted.tokens + 1):
                return
            self._add(wanted.day, Refused(at=_stamp(self._now()), job=wanted.job, tokens=wanted.tokens))
        except (OSError, MemdirError) as error:
            self._fail(error)

    def _add(self, day: date, entry: Reserved | Call | Refused) -> None:
        fs.append_line(self._path(day), msgspec.json.encode(entry))

    def _path(self, day: date) -> Path:
        return self._folder / f"{day.isoformat()}{_SUFFIX}"

    def _fail(self, error: Exception) -> None:
        why = error.strerror if isinstance(error, OSError) else str(error)
        self.failure = f"{self._folder} can't be written ({why or type(error).__name__})"


FREE = Price(input=0.0, output=0.0, cache_read=0.0, cache_write=0.0)
"""The price where nobody sends a bill."""


def midnight(now: datetime) -> datetime:
    """When the day of `now` is over, there."""
    return datetime.combine(now.date() + timedelta(days=1), time.min, tzinfo=now.tzinfo)


def _over(wanted: Reservation, *, limit: int, taken: int, until: datetime) -> OverBudget:
    """What is said to who finds no room. Where no day would have room for it, that lasts."""
    if limit == 0:
        error = OverBudget(
            f"no background model calls: the setting {SETTING} is 0",
            hint=f"raise {SETTING} in your own settings.json; null is no limit",
        )
    elif wanted.tokens > limit:
        error = OverBudget(
            f"{wanted.job} may need {wanted.tokens:,} input tokens for one call, more than the daily budget "
            f"of {limit:,}",
            hint=f"raise {SETTING} in your own settings.json; null is no limit",
        )
    else:
        error = OverBudget(
            f"the daily budget of background work has no room for {wanted.job}: {taken:,} of {limit:,} input "
            f"tokens are used, and it may need {wanted.tokens:,} more; it goes on at midnight",
            hint=f"wait until then, or raise {SETTING} in your own settings.json; null is no limit",
        )
        error.until = until
    error.lasts = error.until is None
    return error


def _unwritable(why: str) -> OverBudget:
    return OverBudget(
        f"no background model calls: what they cost can't be noted, so the daily budget can't be kept; {why}",
        hint=f"make room, or see that the folder can be written; with {SETTING} null they go on without",
    )


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _day_of(name: str) -> date | None:
    try:
        return date.fromisoformat(name.removesuffix(_SUFFIX)) if name.endswith(_SUFFIX) else None
    except ValueError:
        return None
