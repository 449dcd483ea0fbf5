"""A home, a project in git and files of instructions: what the tests of instructions share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memdir import paths
from memdir.agent.events import Event, Events
from memdir.agent.file_state import FileState
from memdir.agent.instructions import Consents, OnDemand, Sources, context_message, gather
from memdir.model.messages import Message, ToolResult, ToolUse, assistant
from memdir.paths import Places, forget_roots
from memdir.settings import Settings
from memdir.settings.keys import InstructionSettings
from tests.agent.world import NOW


@dataclass(kw_only=True)
class House:
    """`home` with `.memdir`, and `project`, a checkout in it. `cwd` is where the person works."""

    home: Path
    project: Path
    cwd: Path
    managed: tuple[Path, ...]
    layout: str = "memdir"
    settings: Settings = field(default_factory=Settings)
    files: FileState = field(default_factory=FileState)
    told: list[Event] = field(default_factory=list)
    calls: int = 0

    @property
    def places(self) -> Places:
        forget_roots()
        return paths.resolve(self.cwd, environment={"HOME": str(self.home)}, layout=self.layout)

    @property
    def base(self) -> Path:
        return self.places.base

    @property
    def consents(self) -> Consents:
        return Consents(self.places.state / "consents.json")

    def set(self, **values: Any) -> None:
        """Settings of the section `instructions`."""
        self.settings = Settings(instructions=InstructionSettings(**values))

    def file(self, name: str | Path, content: str | bytes = "") -> Path:
        """A file: below the project, or with `~/` below the home."""
        name = str(name)
        path = self.home / name[2:] if name.startswith("~/") else self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def link(self, name: str, target: Path | str) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
        return path

    def gather(self) -> Sources:
        return gather(self.places, self.settings, home=self.home, managed=self.managed)

    def names(self) -> list[str]:
        """The files that are loaded, in order, as they are shown to a person of this house."""
        return [self.short(one.path) for one in self.gather().files]

    def short(self, path: Path) -> str:
        for top, mark in ((self.project, ""), (self.home, "~/")):
            if path.is_relative_to(top):
                return f"{mark}{path.relative_to(top)}"
        return str(path)

    def message(self, *, sources: Sources | None = None) -> Message | None:
        """The first message, memory off."""
        return context_message(
            None,
            files=self.files,
            events=Events(self.told.append),
            now=NOW,
            sources=self.gather() if sources is None else sources,
        )

    def text(self) -> str:
        message = self.message()
        return message.text if message else ""

    def on_demand(self) -> OnDemand:
        return OnDemand(self.places, self.settings, home=self.home)

    def call(
        self, path: Path | str, *, tool: str = "Read", is_error: bool = False
    ) -> tuple[Message, Message]:
        """A tool call and its result."""
        self.calls += 1
        use = ToolUse(id=f"call-{self.calls}", name=tool, input={"file_path": str(path)})
        result = ToolResult(tool_use_id=use.id, content="done", is_error=is_error)
        return assistant(use), Message(role="user", content=(result,), origin="tool")

    def collect(self, demand: OnDemand, messages: Sequence[Message]) -> list[Message]:
        return demand.collect(messages, files=self.files, now=NOW)


def shown(messages: Sequence[Message]) -> list[tuple[str, list[str]]]:
    """What was added: why, and the names of the files."""
    return [
        (about["why"], [Path(one["path"]).name for one in about["files"]])
        for message in messages
        if (about := message.attachment)
    ]


def house_in(folder: Path) -> House:
    top = Path(os.path.realpath(folder))
    home, project = top / "home", top / "home" / "shop"
    for name in ("objects", "refs"):
        (project / ".git" / name).mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    managed = (top / "etc" / "CLAUDE.md", top / "etc" / "AGENTS.md")
    return House(home=home, project=project, cwd=project, managed=managed)
