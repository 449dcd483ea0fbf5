"""What the tests of the extraction share: a scripted conversation, and a directory to remember in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from memdir.agent.events import Event, Events
from memdir.agent.file_state import FileState
from memdir.agent.loop import Agent, Hooks
from memdir.agent.permissions import for_main
from memdir.agent.tools import TOOLS, ToolContext
from memdir.extract.saved import Saved
from memdir.extract.unfinished import Marker
from memdir.extract.worker import Extractor, Policy
from memdir.memory.store import MemoryDir
from memdir.model.messages import Message, Prefix, Request
from memdir.testing import ScriptedModel, temporary_memory

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
PREFIX = Prefix(system=("You are a coding agent.",), tools=tuple(tool.spec for tool in TOOLS))

FRIDAYS = """\
---
name: No merges on Fridays
description: Nothing is merged on Fridays, because nobody is there on Saturday
type: feedback
---

Nothing is merged on Fridays.
"""
POINTER = "- [No merges on Fridays](no_fridays.md) — nobody is there on Saturday\n"


def is_fork(request: Request) -> bool:
    """Whether a request is a fork's: its instruction is somewhere in it."""
    return any(message.origin == "system" for message in request.messages)


def count_of(request: Request) -> int:
    """How many messages a fork was told to look at."""
    told = next(message.text for message in request.messages if message.origin == "system")
    found = re.search(r"Only the last (\d+) messages", told)
    assert found
    return int(found[1])


@dataclass(kw_only=True)
class Scene:
    """A conversation, its extractor, and what was told about it."""

    memory: MemoryDir
    model: ScriptedModel
    tasks: TaskGroup
    cursors: Path
    session: str = "session"
    journals: Path | None = None
    marker: Marker | None = None
    saved: list[Saved] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def begin(self, *, messages: Sequence[Message] = (), label: str = "main", **policy: Any) -> Agent:
        """A conversation whose turns end in the extractor; `messages` were there before."""
        events = Events(self.events.append)
        self.extractor = Extractor(
            session=self.session,
            memory=self.memory,
            cursors=self.cursors,
            journals=self.journals,
            marker=self.marker,
            tasks=self.tasks,
            policy=Policy(**policy),
            resumed=messages,
            on_saved=self.saved.append,
            events=events,
        )
        memory = self.memory.directory
        return Agent(
            id=self.session,
            prefix=PREFIX,
            model=self.model,
            context=ToolContext(cwd=memory.parent, files=FileState(), memory=self.memory, now=lambda: NOW),
            permit=for_main(memory=memory, cwd=memory.parent),
            messages=list(messages),
            events=events,
            hooks=Hooks(on_turn_end=self.extractor.turn_ended),
            label=label,
        )

    @property
    def forks(self) -> list[Request]:
        """The first request of each fork."""
        return [request for request in self.model.requests if request.messages[-1].origin == "system"]

    @property
    def skipped(self) -> list[object]:
        """Why runs were left out, in order."""
        return [event.fields["why"] for event in self.events if event.name == "skipped"]

    async def settle(self) -> None:
        """Wait until nothing runs."""
        with anyio.fail_after(5):
            assert await self.extractor.drain(5)


@contextmanager
def scene(tasks: TaskGroup, *, files: dict[str, str] | None = None) -> Iterator[Scene]:
    """A scene with these memory files, gone at the end."""
    with temporary_memory(files) as memory:
        yield Scene(
            memory=memory, model=ScriptedModel(), tasks=tasks, cursors=memory.directory.parent / "cursors"
        )
