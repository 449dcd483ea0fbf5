"""Is it time for a dream? Each gate with its answer and the reason for it; all pure (D1, D7).

    switched_on   dreams are on, and memory is not a daily log
    time          so many hours since the last one
    throttle      the transcripts were not looked through a moment ago
    sessions      enough other conversations since
    lock          nobody else is at it
    review        no plan of an earlier dream waits for the person

The order is that of what it costs to find out. `first_closed` asks no gate behind a closed one, so that the
common answer, "not yet", costs one stat of the lock: what a gate needs is looked up when it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from memdir.dream.lock import State

Name = Literal["on", "time", "throttle", "sessions", "lock", "review"]

HOURS = 24.0
"""Hours from one dream to the next, unless settings say otherwise."""

SESSIONS = 5
"""Other conversations that it takes, unless settings say otherwise."""

BETWEEN_SCANS = timedelta(minutes=10)
"""How long the transcripts are not looked through again."""

AHEAD = timedelta(minutes=5)
"""By how much the clock that stamps files may be ahead of ours, as that of a file server is. So near a future
is now; one that is further off says nothing."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A gate as it stands. `reason` is for the person, whether it passes or not."""

    name: Name
    passes: bool
    reason: str


def first_closed(gates: Iterable[Callable[[], Gate]]) -> Gate | None:
    """The first gate that is closed; None: all are open. Those behind it are not asked."""
    for ask in gates:
        if not (gate := ask()).passes:
            return gate
    return None


def switched_on(*, dream: bool, daily_log: bool, remote: bool = False) -> Gate:
    """Whether dreams happen by themselves at all: not in remote mode, and not where memory is a daily log,
    which a dream would tidy away (D1).
    """
    if not dream:
        return Gate(name="on", passes=False, reason="the setting features.dream is off")
    if remote:
        return Gate(name="on", passes=False, reason="none begins by itself in remote mode")
    if daily_log:
        return Gate(name="on", passes=False, reason="memory is kept as a daily log")
    return Gate(name="on", passes=True, reason="dreams are on")


def time(last_ns: int | None, *, now: datetime, hours: float = HOURS) -> Gate:
    """Whether the last dream is long enough ago; equality passes, and so does "never" (D1).

    `last_ns`: when it was, in nanoseconds since 1970; None: never. A time in the future is none that could be
    waited for: the clock was wrong when it was written, or is now.
    """
    if last_ns is None:
        return Gate(name="time", passes=True, reason="there was no dream yet")
    passed = _nanoseconds(now) - last_ns
    if passed < -_as_ns(AHEAD):
        return Gate(name="time", passes=True, reason="the last one lies in the future: a clock was wrong")
    passed = max(passed, 0)
    reason = f"{_duration(passed)} since the last, {_needed(hours, passed)}"
    return Gate(name="time", passes=passed >= hours * _HOUR, reason=reason)


def counts_since(last_ns: int | None, *, now: datetime) -> int:
    """From when on conversations count, in nanoseconds since 1970: since the last dream; all of them where
    there was none, or it lies in the future.
    """
    if last_ns is None or last_ns - _nanoseconds(now) > _as_ns(AHEAD):
        return 0
    return last_ns


def throttle(scanned: datetime | None, *, now: datetime, between: timedelta = BETWEEN_SCANS) -> Gate:
    """Whether the transcripts may be looked through again. `scanned`: when they were; None: not yet."""
    if scanned is None:
        return Gate(name="throttle", passes=True, reason="sessions were not looked through yet")
    passed = now - scanned
    if passed < timedelta(0):
        return Gate(name="throttle", passes=True, reason="sessions were looked through in the future")
    since = f"sessions were looked through {_duration(_as_ns(passed))} ago"
    return Gate(name="throttle", passes=passed >= between, reason=f"{since}, {_every(between)}")


def sessions(count: int, *, needed: int = SESSIONS) -> Gate:
    """Whether there was enough to dream of: other conversations touched since the last dream (D1)."""
    noun = "session" if needed == 1 else "sessions"
    return Gate(name="sessions", passes=count >= needed, reason=f"{count:,} of {needed:,} {noun}")


def lock(state: State) -> Gate:
    """Whether nobody else is dreaming (D3)."""
    return Gate(name="lock", passes=state.is_free, reason=state.why)


def review(waiting: str | None) -> Gate:
    """Whether no plan of an earlier dream waits for the person: another would be about the same memories.
    `waiting`: the name of the one that does.
    """
    if waiting is None:
        return Gate(name="review", passes=True, reason="no plan waits for you")
    reason = f"the plan {waiting} waits for you: `memdir dream show`"
    return Gate(name="review", passes=False, reason=reason)


# -- in words -----------------------------------------------------------------------------------------------

_MINUTE = 60 * 10**9
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


def _nanoseconds(moment: datetime) -> int:
    return _as_ns(moment - _EPOCH)


def _as_ns(span: timedelta) -> int:
    """Exact, as a float would not be."""
    return span // timedelta(microseconds=1) * 1000


def _duration(nanoseconds: int) -> str:
    """Rounded down, so that it never says more than there is: `40 min`, `23 h 59 min`, `3 days`."""
    if nanoseconds < _MINUTE:
        return "less than a minute"
    if nanoseconds < _HOUR:
        return f"{nanoseconds // _MINUTE} min"
    if nanoseconds >= 3 * _DAY:
        return f"{nanoseconds // _DAY:,} days"
    hours, minutes = nanoseconds // _HOUR, nanoseconds % _HOUR // _MINUTE
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def _needed(hours: float, passed: int) -> str:
    """`24 needed`, where the time that has passed is told in hours; else with the unit."""
    unit = "" if _HOUR <= passed < 3 * _DAY else " h"
    return f"{hours:,g}{unit} needed"


def _every(between: timedelta) -> str:
    return f"at most once in {_duration(_as_ns(between))}"
