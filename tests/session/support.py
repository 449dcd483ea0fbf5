"""A session whose notes are kept: a world, a file, and the conversation that they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio.abc import TaskGroup

from memdir.agent.events import Event, Events
from memdir.agent.loop import Agent, Hooks
from memdir.model.messages import Message, Request, ToolUse
from memdir.session.due import Thresholds
from memdir.session.notes import Notes
from memdir.session.sections import Template
from memdir.testing import Line, ScriptedModel, call
from tests.agent.world import World

TOKEN = "ghp_" + "HAmvYDNZMPQ9qvBjv697Na02SXIXw72boFTV"


def is_fork(request: Request) -> bool:
    """Whether it is asked of a fork, at any of its turns."""
    return any(message.text.startswith("This message is not from") for message in request.messages)


def guidance(title: str) -> str:
    """The line in italics under a heading of our template."""
    lines = Template.default().text.split("\n")
    return lines[lines.index(f"# {title}") + 1]


def filled(**bodies: str) -> str:
    """Our template with something in its sections; `Where_it_stands` names one of several words."""
    text = Template.default().text
    for title, body in bodies.items():
        line = guidance(title.replace("_", " "))
        text = text.replace(line, f"{line}\n{body}")
    return text


@dataclass(kw_only=True)
class Stage:
    """One session. `noted` are the successes, as they were told."""

    world: World
    tasks: TaskGroup
    path: Path
    noted: list[tuple[str, str]] = field(default_factory=list)

    def notes(self, *, first: int = 100, grown: int = 100, calls: int = 3, **more: Any) -> Notes:
        """Notes that are due soon."""
        return Notes(
            self.path,
            tasks=self.tasks,
            thresholds=Thresholds(first=first, grown=grown, tool_calls=calls),
            events=Events(self.world.told.append),
            on_noted=lambda upto, digest: self.noted.append((upto, digest)),
            **more,
        )

    def host(self, notes: Notes, replies: Sequence[Line] = (), **more: Any) -> tuple[Agent, ScriptedModel]:
        """A conversation that keeps these notes."""
        return self.world.agent(replies, hooks=Hooks(on_step=notes.step), **more)

    def edit(self, title: str, body: str, *, before: str = "") -> ToolUse:
        """The call that puts something under a heading, in place of what stands `before`."""
        line = guidance(title)
        old = f"{line}\n{before}" if before else line
        return call("Edit", file_path=str(self.path), old_string=old, new_string=f"{line}\n{body}")

    def told(self, name: str) -> list[Event]:
        return [event for event in self.world.told if event.name == name]


def last(messages: Sequence[Message]) -> str:
    """The id of the last message."""
    return messages[-1].id


LONG = "We indent with tabs, always, and never merge on Fridays. " * 40
"""More than enough for notes to be due."""
