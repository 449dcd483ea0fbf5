"""A conversation that gets too long -> a shorter one that goes on where it was (C4).

    make_room     the conversation's hook before each request: whether it is time, and then `compact`
    compact       wait for the notes, plan, have a summary written if the notes do not do, put it in place

What goes stays in the transcript and in the conversation's record. What takes its place: the instructions and
the index as they are on the disk now, the day, a boundary with the summary, the person's first and latest
request, what is still to be done, the files that were worked with last; then the tail, word for word.

A summary comes from the notes if they cover what goes; else the model writes one; if it can't, the
conversation stays as it is as long as there is room for an answer, and then rules put one together. So the
person can always go on.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Protocol

import anyio
import anyio.to_thread

from memdir.agent.attachments.compaction import How, Trigger
from memdir.agent.events import COMPACTED, FAILED, Events
from memdir.agent.loop import Agent
from memdir.errors import ModelError, UsageError
from memdir.model.messages import Message
from memdir.session.draft import Draft, Fresh
from memdir.session.extractive import summarise
from memdir.session.notes import Summary
from memdir.session.plan import Limits, Plan, is_due, must
from memdir.session.sections import TOTAL, Template, fit
from memdir.session.summary import written

WAIT = 15.0
"""Seconds that a compaction waits for the notes to be brought up to date."""

RESERVE = 13_000
"""Tokens of the window that a request is to leave."""

AIR = 2_000
"""Tokens by which a conversation has to grow before what did not help is tried again; less in a small window
(an eighth of it).
"""

FULL = 94
"""Percent of the window from which on it is tried at each request, whether it helps or not."""

SHORT = 5
"""Percent of what a refused request came to, by which the window is smaller at the least."""

BELIEVED = 4
"""A request that is refused as too long tells how large the window is, unless it is so many times smaller
than the window is said to be: that is another fault."""


CUT: Literal["cut"] = "cut"
"""In place of who wrote a summary: there is none, for nothing went."""

_log = logging.getLogger("memdir")


class Keeper(Protocol):
    """What a compaction needs of the running notes."""

    async def settle(self, seconds: float) -> bool: ...

    def summary(self) -> Summary | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What a compaction did: tokens of the next request before and after, messages that went and stayed.

    `how`: who wrote the summary, or `CUT` where nothing could go, and long results were cut.
    """

    trigger: Trigger
    how: How | Literal["cut"]
    before: int
    after: int
    gone: int
    kept: int


class Compactor:
    """Keeps one conversation within its model's window.

    `fresh` gives the instructions and the index anew. `automatic`: whether it acts by itself when there is
    little room; where no answer fits, or the model has refused a request, it does in any case. `reserve`:
    tokens that a request is to leave. `wait`: seconds for the notes.
    """

    def __init__(
        self,
        *,
        notes: Keeper | None,
        fresh: Fresh,
        template: Template,
        events: Events,
        automatic: bool = True,
        reserve: int = RESERVE,
        wait: float = WAIT,
    ) -> None:
        self._notes = notes
        self._fresh = fresh
        self._template = template
        self._events = events
        self._automatic = automatic
        self._reserve = reserve
        self._wait = wait
        self._not_before = 0  # tokens
        self._in_vain_before = 0  # the same where no answer of full length fits, and it can't be helped
        self._alone = anyio.Lock()  # a turn may begin while the person's own wish is being done

    # -- when --

    async def make_room(self, agent: Agent, overflow: bool) -> bool:
        """The hook before each request. `overflow`: the model has just refused one as too long. Whether the
        conversation is shorter now.
        """
        async with self._alone:
            return await self._make_room(agent, overflow)

    async def _make_room(self, agent: Agent, overflow: bool) -> bool:
        size, limits = agent.size(), self._limits(agent)
        if overflow:
            if size * BELIEVED >= limits.window:
                came_to = size + limits.one_answer()  # some services count what may be answered, too
                agent.most = min(limits.window, came_to * (100 - SHORT) // 100)
            limits = replace(limits, window=min(limits.window, size))
        elif not self._is_time(size, limits):
            return False
        trigger: Trigger = "overflow" if overflow else "auto"
        last = overflow or must(size, limits)
        done = await self._compact(agent, limits, trigger=trigger, last=last)
        after, window = agent.size(), self._limits(agent).window
        grown = after + min(AIR, window // 8)
        self._not_before = grown if done is None or is_due(after, limits) else 0
        in_vain = last and must(after, limits)
        self._in_vain_before = min(grown, window * FULL // 100) if in_vain else 0
        return done is not None

    def _is_time(self, size: int, limits: Limits) -> bool:
        if not is_due(size, limits) or (not self._automatic and not must(size, limits)):
            return False
        return size >= (self._in_vain_before if must(size, limits) else self._not_before)

    async def compact(self, agent: Agent, *, instructions: str | None = None) -> Compacted:
        """Make the conversation shorter because the person wants it, between two turns. `instructions`: what
        the summary is to look after; then it is written anew.

        Raises:
            UsageError: there is nothing that could go.
            ModelError: a summary was asked for in the person's own way, and the model can't write one.
        """
        if agent.is_running:
            raise UsageError("an answer is under way", hint="break it off with Ctrl-C first, or wait for it")
        agent.close_calls()
        async with self._alone:
            limits, last = self._limits(agent), not instructions
            done = await self._compact(agent, limits, trigger="manual", last=last, instructions=instructions)
        if done is None:
            raise UsageError(
                "there is nothing to condense yet: what is there would stay word for word",
                hint="it goes by itself when the conversation gets too long",
            )
        return done

    def _limits(self, agent: Agent) -> Limits:
        return Limits(window=agent.window, answer=agent.prefix.max_tokens, reserve=self._reserve)

    # -- how --

    async def _compact(
        self,
        agent: Agent,
        limits: Limits,
        *,
        trigger: Trigger,
        last: bool,
        instructions: str | None = None,
    ) -> Compacted | None:
        """`last`: if the model can't write a summary, rules do. None: nothing was changed."""
        began, before = anyio.current_time(), agent.size()
        if self._notes is not None and not instructions:
            await self._notes.settle(self._wait)
        draft = await anyio.to_thread.run_sync(partial(Draft, agent, self._fresh, limits))
        summary = self._notes.summary() if self._notes is not None and not instructions else None
        first = draft.plan(summary)
        if trigger == "manual" and first.gone == 0:
            first = draft.plan(summary, everything=True)
        if first.gone == 0 and not first.is_over:
            return None
        how: How | Literal["cut"] = CUT
        if first.gone == 0:
            make = draft.shortened
        else:
            try:
                by, text = await self._summary(
                    agent, draft, first, summary, last=last, instructions=instructions
                )
            except ModelError as error:
                if instructions:
                    raise
                self._events.emit(FAILED, where="compaction", error=type(error).__name__, why=str(error))
                return None
            text = fit(text, self._template, draft.summary_limit)
            make, how = partial(draft.made, text, trigger=trigger, how=by, at=first.at), by
        head, kept = await anyio.to_thread.run_sync(make)
        if draft.size(head, kept) >= before:
            return None
        kept = (*kept, *draft.said_since())
        gone = len(agent.messages) - len(kept)
        agent.recompose(head, kept, files=draft.files)
        done = Compacted(
            trigger=trigger, how=how, before=before, after=agent.size(), gone=gone, kept=len(kept)
        )
        self._events.emit(
            COMPACTED,
            trigger=trigger,
            how=how,
            before=before,
            after=done.after,
            gone=gone,
            kept=len(kept),
            seconds=round(anyio.current_time() - began, 3),
        )
        return done

    async def _summary(
        self,
        agent: Agent,
        draft: Draft,
        first: Plan,
        notes: Summary | None,
        *,
        last: bool,
        instructions: str | None,
    ) -> tuple[How, str]:
        """A summary of what goes, and who wrote it.

        Raises:
            ModelError: the model can't, and there is no need yet for rules to do it.
        """
        if notes is not None and first.covered:
            return "notes", notes.text
        record = draft.said_before(first.at)
        if not agent.model.is_local:
            try:
                made = await written(
                    agent,
                    instructions=instructions,
                    template=self._template,
                    messages=draft.going(first.at),
                    limit=draft.summary_limit,
                )
            except ModelError as error:
                if not last:
                    raise
                self._events.emit(FAILED, where="compaction", error=type(error).__name__, why=str(error))
            else:
                agent.usage += made.usage
                if not made.dropped:
                    return "model", made.text
                earlier = await anyio.to_thread.run_sync(partial(_by_rules, record))
                return "model", f"{made.text}\n\n{EARLIER}\n\n{earlier}"
        return "rules", await anyio.to_thread.run_sync(partial(_without_fail, record))


EARLIER = "# What the summary above does not reach back to"
"""Where the model had no room for the beginning of what it was to summarise."""


def _without_fail(record: Sequence[Message]) -> str:
    """The summary that rules put together: the last resort, so that a fault in it must not end all."""
    try:
        return summarise(record)
    except Exception as error:  # noqa: BLE001 - without it the person could not go on
        _log.error("a summary by rules failed: %s", type(error).__name__)
        return ""


def _by_rules(record: Sequence[Message]) -> str:
    """A small one, to stand below another."""
    said = summarise(record, section_tokens=TOTAL // 15, total_tokens=TOTAL // 3)
    return re.sub(r"(?m)^#(?=#* )", "##", said)
