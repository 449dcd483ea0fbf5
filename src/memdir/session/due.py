"""Is it time to bring the notes of a session up to date? (C2). Pure.

What counts is what was said and done: what memdir adds itself (memories, summaries) makes no notes due.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memdir.model.messages import Message
from memdir.model.tokens import estimate_message


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Tokens of the conversation at which notes are `first` written, and by which it has `grown` since, or
    the number of `tool_calls` made since, until they are brought up to date.
    """

    first: int = 10_000
    grown: int = 5_000
    tool_calls: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What a conversation has come to: messages that were looked at, their estimated tokens, tool calls."""

    messages: int = 0
    tokens: int = 0
    calls: int = 0

    def of(self, record: Sequence[Message]) -> Tally:
        """That of a record which has grown, or of another one, if it is shorter."""
        start = self if self.messages <= len(record) else Tally()
        new = [message for message in record[start.messages :] if message.origin != "attachment"]
        return Tally(
            messages=len(record),
            tokens=start.tokens + sum(map(estimate_message, new)),
            calls=start.calls + sum(len(message.tool_uses) for message in new),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Where a session stands. `now`: what it has come to; `noted`: what it had when the notes were brought up
    to date last, None if they never were; `tried`: the same of the last attempt that failed since. `scale`:
    tokens of the model for each estimated one.
    """

    now: Tally
    noted: Tally | None = None
    tried: Tally | None = None
    scale: float = 1.0
    is_main: bool = True
    is_running: bool = False
    has_open_call: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """It is time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotDue:
    """It is not, and why."""

    reason: str


def is_due(state: State, thresholds: Thresholds) -> Due | NotDue:
    """Whether a run is to be started now.

    After a run that failed the conversation has to grow first: what went wrong is likely to go wrong again,
    and each attempt costs as much as a success.
    """
    if not state.is_main:
        return NotDue(reason="a background job's own conversation")
    if state.has_open_call:
        return NotDue(reason="a tool call is unanswered")
    if state.is_running:
        return NotDue(reason="one is running")
    if state.tried is not None and _grown(state, state.tried) < thresholds.grown:
        return NotDue(reason="the last attempt failed a moment ago")
    if state.noted is None:
        enough = state.now.tokens * state.scale >= thresholds.first
        return Due() if enough else NotDue(reason="the conversation is short")
    grown = _grown(state, state.noted) >= thresholds.grown
    called = state.now.calls - state.noted.calls >= thresholds.tool_calls
    return Due() if grown or called else NotDue(reason="little is new")


def _grown(state: State, since: Tally) -> float:
    return (state.now.tokens - since.tokens) * state.scale
