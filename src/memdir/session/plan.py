"""The messages of a conversation that got long -> those that stay (the tail), and those that go (C4). Pure.

    plan = plan(messages, summarised=notes.upto, fixed=…, limits=limits, count=estimate_message)
    tail = messages[plan.at:]

The tail holds all that the summary does not cover, and goes back from there until it has enough of the
conversation to go on with; it is cut at `places` only. Three bounds keep it short: 40,000 tokens; 60 % of
what a request may take, together with all else that stands in it, for what it goes back to; 80 % for what it
must hold. So the next compaction is a good while away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from memdir.agent.fit.places import last_step, places, sizes_from
from memdir.agent.fit.shorten import original
from memdir.model.messages import Message
from memdir.session.sections import TOTAL

Count = Callable[[Message], int]
"""A message -> its tokens."""

Why = Literal[
    "nothing goes",
    "the summary covers all that goes",
    "a summary of what goes is to be written",
    "there is no room for the last step",
]
"""What came out, for the log and the person."""

AIM = 60
"""Percent of a request's room that are taken after a compaction, if that can be chosen."""

MOST = 80
"""Percent up to which what the summary does not cover is kept nevertheless."""

WITHIN = 5
"""So many messages further back a person's message is looked for, to begin the tail with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All in tokens, but for `tail_messages`.

    `window`: of the model. `answer`: what one answer may take (the prefix's `max_tokens`). `reserve`: what a
    request leaves of the window. The tail has at least `tail_tokens` or `tail_messages` messages with text,
    and at most `tail_most` tokens.
    """

    window: int
    answer: int = 0
    reserve: int = 13_000
    tail_tokens: int = 10_000
    tail_messages: int = 5
    tail_most: int = 40_000

    def room(self) -> int:
        """What a request may take: the window less the reserve, which is smaller in a small window (a quarter
        of it), but not smaller than an answer (of at most half the window)."""
        return self.window - max(min(self.reserve, self.window // 4), self.one_answer())

    def summary(self) -> int:
        """What a summary of what goes may take: less in a small window."""
        return min(TOTAL, self.room() // 4)

    def one_answer(self) -> int:
        """What is left for an answer in any case."""
        return min(self.answer, self.window // 2)


def is_due(size: int, limits: Limits) -> bool:
    """Whether a request of `size` tokens would leave less than the reserve (C4)."""
    return size > limits.room()


def must(size: int, limits: Limits) -> bool:
    """Whether not even an answer fits behind a request of `size` tokens: it can't be made."""
    return size + limits.one_answer() > limits.window


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a compaction is to do. `messages[at:]` is the tail, of `tail_tokens`; `gone` messages go.

    `covered`: the summary covers all that goes; otherwise one of all messages before `at` has to be written.
    `room`: tokens that there are for the tail. If it `is_over`, it is one step, and to be shortened
    (`shorten.shorten`).
    """

    at: int
    covered: bool
    why: Why
    tail_tokens: int
    gone: int
    room: int

    @property
    def is_over(self) -> bool:
        """Whether the tail is larger than there is room for."""
        return self.tail_tokens > self.room


def plan(
    messages: Sequence[Message],
    *,
    summarised: str | None,
    fixed: int,
    limits: Limits,
    count: Count,
    afresh: bool = False,
) -> Plan:
    """What stays and what goes.

    `messages`: the conversation since the last compaction and the tail of that one, without what it put in
    front; every call in it has its result, but for those of the last message. `summarised`: the id of the
    last message that the summary covers; None, or one that is not there: it covers none of these. `fixed`:
    tokens of all else in the next request: prefix, fresh context, summary, what is carried over. `afresh`: a
    summary of what goes is written in any case, so that what the present one does not cover may go.

    If `covered` is not so, call it again when that summary is written, with the id of the last message before
    `at` and the true size: the tail gets shorter if it must, and never longer for the same size.
    """
    sizes, cuts = sizes_from(messages, count), places(messages)
    covered_to = _after(messages, summarised)
    end = last_step(messages)
    keep = max((at for at in cuts if at <= min(covered_to, end)), default=0)
    aim, most = (limits.room() * percent // 100 - fixed for percent in (AIM, MOST))
    if afresh or sizes[keep] > min(most, limits.tail_most):
        keep = end
    at = _start(messages, cuts, sizes, keep=keep, most=min(aim, limits.tail_most), limits=limits)
    tail, room = sizes[at], max(0, most)
    why: Why = "the summary covers all that goes" if at <= covered_to else _UNCOVERED
    if tail > room:
        why = "there is no room for the last step"
    elif at == 0:
        why = "nothing goes"
    return Plan(at=at, covered=at <= covered_to, why=why, tail_tokens=tail, gone=at, room=room)


_UNCOVERED: Why = "a summary of what goes is to be written"


def _after(messages: Sequence[Message], summarised: str | None) -> int:
    """How many messages are summarised."""
    if summarised is None:
        return 0
    numbers = range(len(messages), 0, -1)
    return next((number for number in numbers if original(messages[number - 1]) == summarised), 0)


def _start(
    messages: Sequence[Message],
    cuts: Sequence[int],
    sizes: Sequence[int],
    *,
    keep: int,
    most: int,
    limits: Limits,
) -> int:
    """The place at `keep` or before where the tail begins: with enough in it, but at most `most` tokens."""
    enough = _enough(messages, sizes, keep, limits)
    wanted = max((at for at in cuts if at <= enough), default=0)
    start = next((at for at in cuts if wanted <= at <= keep and sizes[at] <= most), keep)
    if start != wanted:
        return start
    legal = set(cuts)
    turns = (at for at in range(start, max(start - WITHIN, 0) - 1, -1) if messages[at].origin == "person")
    turn = next((at for at in turns if at in legal), start) if messages else start
    return turn if sizes[turn] <= most else start


def _enough(messages: Sequence[Message], sizes: Sequence[int], keep: int, limits: Limits) -> int:
    """The greatest number at `keep` or before from which on there is enough for a tail; 0 if nowhere."""
    said = 0
    for at in range(len(messages) - 1, -1, -1):
        said += messages[at].origin in ("person", "assistant") and bool(messages[at].text.strip())
        if at <= keep and (sizes[at] >= limits.tail_tokens or said >= limits.tail_messages):
            return at
    return 0
