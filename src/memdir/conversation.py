"""One conversation, and the places in its turns of what goes on beside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import anyio.to_thread

from memdir.agent.attachments import date_news
from memdir.agent.instructions import OnDemand
from memdir.agent.loop import Agent, Hooks
from memdir.dream.worker import Dreamer
from memdir.extract.worker import Extractor
from memdir.first_messages import FirstMessages, left_out
from memdir.model.messages import Message
from memdir.recall.prefetch import Recall
from memdir.session.compact import Compacted, Compactor
from memdir.session.notes import Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One session: an agent, and what works beside it (each None when it is off)."""

    agent: Agent
    recall: Recall | None
    extractor: Extractor | None
    dreamer: Dreamer | None
    notes: Notes | None
    compactor: Compactor

    @property
    def saving(self) -> Sequence[Extractor | Dreamer]:
        """What changes memory in the background."""
        return [job for job in (self.extractor, self.dreamer) if job is not None]

    async def say(self, text: str) -> Message:
        """One turn; see `Agent.run`."""
        return await self.agent.run(text)

    async def compact(self, instructions: str | None = None) -> Compacted:
        """Make the conversation shorter; see `Compactor.compact`."""
        return await self.compactor.compact(self.agent, instructions=instructions)


def hooks_of(
    *,
    first: FirstMessages,
    on_demand: OnDemand,
    recall: Recall | None,
    extractor: Extractor | None,
    dreamer: Dreamer | None,
    notes: Notes | None,
    compactor: Compactor,
) -> Callable[[Agent], Hooks]:
    """The features' places in the turns of an agent."""

    def made(agent: Agent) -> Hooks:
        hooks = Hooks(collect=_collect(agent, first, on_demand, recall), make_room=compactor.make_room)
        if recall is not None:
            hooks = replace(hooks, on_turn_start=recall.on_turn_start, on_turn_over=recall.on_turn_over)
        if notes is not None:
            hooks = replace(hooks, on_step=notes.step)
        jobs = [job for job in (extractor, dreamer) if job is not None]
        return replace(hooks, on_turn_end=_each(jobs))

    return made


def _each(jobs: Sequence[Extractor | Dreamer]) -> Callable[[Agent], Awaitable[None]]:
    """At the end of a turn each of them has a look; what one fails with keeps no other from it."""

    async def turn_ended(agent: Agent) -> None:
        failure: Exception | None = None
        for job in jobs:
            try:
                await job.turn_ended(agent)
            except Exception as error:  # noqa: BLE001 - raised again below, when all had their look
                failure = error
        if failure is not None:
            raise failure

    return turn_ended


def _collect(
    agent: Agent, first: FirstMessages, on_demand: OnDemand, recall: Recall | None
) -> Callable[[], Awaitable[Sequence[Message]]]:
    """What is to be added before a request: the day, instructions for files that were read, memories."""

    async def collect() -> Sequence[Message]:
        now = agent.context.now()
        day = date_news(agent.messages, now)
        look = partial(on_demand.collect, tuple(agent.messages), files=agent.files, now=now)
        brought = await anyio.to_thread.run_sync(look)
        first.tell([*on_demand.take_problems(), *map(left_out, on_demand.waiting)])
        recalled = await recall.collect() if recall is not None else ()
        return [*([day] if day else []), *brought, *recalled]

    return collect
