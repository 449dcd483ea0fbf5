"""A working folder, a memory directory and a clock: what the agent's tests share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memdir.agent.events import Event, Events
from memdir.agent.file_state import FileState
from memdir.agent.loop import Agent, Hooks
from memdir.agent.permissions import Allow, Permission, Verdict
from memdir.agent.tools import TOOLS, Tool, ToolContext
from memdir.agent.tools.base import Output, check_input
from memdir.errors import ToolError
from memdir.memory.store import MemoryDir
from memdir.model.messages import Prefix, ToolResult, ToolUse
from memdir.testing import Line, ScriptedModel

NOW = datetime(2026, 5, 7, 12, 0, tzinfo=UTC)

TOPIC = "---\nname: Tabs\ndescription: Indents with tabs\ntype: feedback\n---\n\nTabs, never spaces.\n"
INDEX = "- [Tabs](tabs.md) — indents with tabs\n"


async def allow_all(call: ToolUse) -> Verdict:
    return Allow()


@dataclass(kw_only=True)
class World:
    """A place for tools and conversations. `failed` tells whether the last tool call was an error result."""

    root: Path
    memory: MemoryDir
    context: ToolContext
    told: list[Event] = field(default_factory=list)

    async def use(self, name: str, **given: Any) -> str:
        """What the tool says to the model."""
        return (await self.output(name, **given)).text

    async def output(self, name: str, **given: Any) -> Output:
        """What the tool says and shows to the model."""
        tool = tool_named(name)
        check_input(tool.spec, given)
        said = await tool.run(given, self.context)
        return Output(text=said) if isinstance(said, str) else said

    async def fails(self, name: str, **given: Any) -> str:
        """What the tool says to the model when it can't."""
        try:
            answer = await self.use(name, **given)
        except ToolError as error:
            return str(error)
        raise AssertionError(f"{name} said: {answer}")

    def agent(
        self, replies: Sequence[Line] = (), *, permit: Permission = allow_all, **more: Any
    ) -> tuple[Agent, ScriptedModel]:
        """A conversation with a scripted model, and that model."""
        model = ScriptedModel(replies)
        prefix = Prefix(system=("Be brief.",), tools=tuple(tool.spec for tool in more.get("tools", TOOLS)))
        events = Events(self.told.append)
        agent = Agent(
            id="session-1",
            prefix=prefix,
            model=model,
            context=self.context,
            permit=permit,
            events=events,
            **more,
        )
        return agent, model

    def file(self, name: str, content: str | bytes = "") -> Path:
        """A file in the working folder."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def topic(self, name: str = "tabs.md", content: str = TOPIC, *, index: str | None = INDEX) -> Path:
        """A memory with its pointer, as another program would write them."""
        path: Path = self.memory.directory / name
        path.write_bytes(content.encode())
        if index is not None:
            (self.memory.directory / "MEMORY.md").write_bytes(index.encode())
        return path


def world_in(folder: Path) -> World:
    root, memory = folder / "project", MemoryDir(folder / "memory", trash=folder / "trash")
    root.mkdir()
    memory.prepare()
    environment = dict(os.environ)
    context = ToolContext(
        cwd=root, files=FileState(), memory=memory, now=lambda: NOW, environment=environment
    )
    return World(root=root, memory=memory, context=context)


def tool_named(name: str) -> Tool:
    return next(tool for tool in TOOLS if tool.spec.name == name)


def results(agent: Agent) -> list[ToolResult]:
    """All tool results of the conversation, in order."""
    return [block for message in agent.messages for block in message.content if isinstance(block, ToolResult)]


__all__ = ["INDEX", "NOW", "TOPIC", "Hooks", "World", "allow_all", "results", "tool_named", "world_in"]
