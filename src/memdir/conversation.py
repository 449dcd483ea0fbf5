"""One conversation, what it begins with, and the places in its turns of what goes on beside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio.to_thread
from msgspec import structs

from memdir import prompts
from memdir.agent.attachments import date_news
from memdir.agent.events import INSTRUCTIONS, Events
from memdir.agent.file_state import FileState, noted
from memdir.agent.instructions import (
    Consents,
    OnDemand,
    Sources,
    Waiting,
    context_message,
    gather,
    load_memory_prompt,
    working_tree,
)
from memdir.agent.loop import Agent, Hooks
from memdir.agent.tools import TOOLS
from memdir.agent.transcript import Transcript
from memdir.errors import MemdirError
from memdir.extract.worker import Extractor
from memdir.memory.fence import exact
from memdir.model.messages import Message, Prefix
from memdir.model.tokens import BYTES_PER_TOKEN
from memdir.project import Project
from memdir.recall.prefetch import Recall
from memdir.session.compact import Compacted, Compactor
from memdir.session.notes import Notes
from memdir.settings import Settings

SHARE = 0.2
"""Of a model's window that the instructions of people may take."""


def prefix_of(project: Project, events: Events) -> Prefix:
    """What each request of a conversation begins with: who the agent is, then how its memory works; the same
    for a whole session (I6).
    """
    about = prompts.render("coding", cwd=str(project.places.cwd))
    remembering = load_memory_prompt(project.memory, events=events)
    system = (about, remembering) if remembering else (about,)
    return Prefix(system=system, tools=tuple(tool.spec for tool in TOOLS))


def without_memory(prefix: Prefix) -> Prefix:
    """The same for a conversation that began with memory, and goes on without (S4)."""
    return replace(prefix, system=prefix.system[:1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a conversation begins. A new one holds its first messages; one that is taken up, all that it did.

    `noted`: the id of the last message that its running summary covers, and the digest of that file then.
    """

    session: str
    prefix: Prefix
    files: FileState
    context: Sequence[Message]
    record: Sequence[Message]
    transcript: Transcript | None
    noted: tuple[str, str] | None = None
    is_resumed: bool = False


AskConsent: TypeAlias = Callable[[Waiting], Awaitable[bool | None]]
"""Asks the person whether a file outside the project may be loaded; None: they don't say now."""


@dataclass(kw_only=True)
class FirstMessages:
    """The first messages of a conversation, as the disk has them now: at its start, and after a compaction
    (I3). `window`: tokens of the model, of which instructions get a fifth at most. `sources` is what was
    found last.
    """

    project: Project
    events: Events
    consents: Consents
    window: int
    sources: Sources = field(default_factory=Sources)
    _told: set[str] = field(default_factory=set)

    def look(self) -> Sources:
        """Gather the instructions."""
        self.sources = gather(self.project.places, self.settings, consents=self.consents)
        return self.sources

    @property
    def settings(self) -> Settings:
        """The settings, with no more room for instructions than the window has for them."""
        settings = self.project.settings
        room = int(self.window * SHARE) * BYTES_PER_TOKEN
        said = structs.replace(settings.instructions, max_bytes=min(settings.instructions.max_bytes, room))
        return structs.replace(settings, instructions=said)

    async def ask(self, consent: AskConsent | None) -> None:
        """Ask the person about files outside the project that they were not asked about yet."""
        asked = set[Path]()
        while consent is not None:
            found = await anyio.to_thread.run_sync(self.look)
            waiting = [one for one in found.waiting if one.path not in asked]
            if not waiting:
                return
            for one in waiting:  # what is allowed may bring others
                asked.add(one.path)
                allowed = await consent(one)
                if allowed is not None:
                    self._keep(one, allowed=allowed)

    def _keep(self, one: Waiting, *, allowed: bool) -> None:
        try:
            self.consents.decide(working_tree(self.project.places.cwd), one.path, allowed=allowed)
        except (OSError, MemdirError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            self.tell([f"the decision on {exact(str(one.path))} can't be kept: {why}"])

    def messages(self, files: FileState) -> list[Message]:
        """The first messages; what they show of files enters the table."""
        shown = context_message(
            self.project.memory,
            sources=self.look(),
            files=files,
            events=self.events,
            now=self.project.now(),
            inject_index=self.project.settings.features.inject_index,
        )
        self.tell([*self.sources.problems, *map(_left_out, self.sources.waiting)])
        return noted([shown] if shown else [], files.take_shown())

    def tell(self, problems: Sequence[str]) -> None:
        """What is wrong with the instructions, each sentence once."""
        for problem in problems:
            if problem not in self._told:
                self._told.add(problem)
                self.events.emit(INSTRUCTIONS, why=problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One session: an agent, and what works beside it (each None when it is off)."""

    agent: Agent
    recall: Recall | None
    extractor: Extractor | None
    notes: Notes | None
    compactor: Compactor

    async def say(self, text: str) -> Message:
        """One turn; see `Agent.run`."""
        return await self.agent.run(text)

    async def compact(self, instructions: str | None = None) -> Compacted:
        """Make the conversation shorter; see `Compactor.compact`."""
        return await self.compactor.compact(self.agent, instructions=instructions)


def _left_out(one: Waiting) -> str:
    return f"{one.words}: it is left out. `memdir instructions allow {exact(str(one.path))}` lets it in"


def hooks_of(
    *,
    first: FirstMessages,
    on_demand: OnDemand,
    recall: Recall | None,
    extractor: Extractor | None,
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
        if extractor is not None:
            hooks = replace(hooks, on_turn_end=extractor.turn_ended)
        return hooks

    return made


def _collect(
    agent: Agent, first: FirstMessages, on_demand: OnDemand, recall: Recall | None
) -> Callable[[], Awaitable[Sequence[Message]]]:
    """What is to be added before a request: the day, instructions for files that were read, memories."""

    async def collect() -> Sequence[Message]:
        now = agent.context.now()
        day = date_news(agent.messages, now)
        look = partial(on_demand.collect, tuple(agent.messages), files=agent.files, now=now)
        brought = await anyio.to_thread.run_sync(look)
        first.tell([*on_demand.take_problems(), *map(_left_out, on_demand.waiting)])
        recalled = await recall.collect() if recall is not None else ()
        return [*([day] if day else []), *brought, *recalled]

    return collect
