"""What people and memory say before a conversation begins, and again after a compaction (I3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import anyio.to_thread
from msgspec import structs

from memdir.agent.events import INSTRUCTIONS, Events
from memdir.agent.file_state import FileState, noted
from memdir.agent.instructions import Consents, Sources, Waiting, context_message, gather, working_tree
from memdir.errors import MemdirError
from memdir.memory.fence import exact
from memdir.model.messages import Message
from memdir.model.tokens import BYTES_PER_TOKEN
from memdir.project import Project
from memdir.settings import Settings

SHARE = 0.2
"""Of a model's window that the instructions of people may take."""


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
        self.tell([*self.sources.problems, *map(left_out, self.sources.waiting)])
        return noted([shown] if shown else [], files.take_shown())

    def tell(self, problems: Sequence[str]) -> None:
        """What is wrong with the instructions, each sentence once."""
        for problem in problems:
            if problem not in self._told:
                self._told.add(problem)
                self.events.emit(INSTRUCTIONS, why=problem)


def left_out(one: Waiting) -> str:
    """One sentence for the person, with the way to let it in."""
    return f"{one.words}: it is left out. `memdir instructions allow {exact(str(one.path))}` lets it in"
