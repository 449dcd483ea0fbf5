"""A project whose memory is dreamed of: folders, a scripted model, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import anyio

from memdir.agent.events import Event, Events
from memdir.agent.loop import Agent
from memdir.consolidation import beginning, dreaming_of
from memdir.dream.progress import Progress
from memdir.dream.run import Dreamed, Dreaming, dream
from memdir.memory import revising
from memdir.memory.store import MemoryDir
from memdir.model.client import ModelClient
from memdir.model.local import Local
from memdir.project import Project, open_project
from memdir.testing import Line, ScriptedModel
from tests.dream.untidy import NOW, Untidy, bytes_and_times


@dataclass
class Night:
    """`folder` holds the project's folder and memdir's own."""

    folder: Path
    now: datetime = NOW
    overrides: dict[str, object] = field(default_factory=dict)
    told: list[Event] = field(default_factory=list)
    seen: list[Progress] = field(default_factory=list)
    project: Project = field(init=False)

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        environment = {"MEMDIR_HOME": str(self.folder / "home"), "HOME": str(self.folder)}
        self.project = open_project(self.root, self.overrides, environment=environment, now=lambda: self.now)
        self.memory.prepare()

    @property
    def root(self) -> Path:
        return self.folder / "shop"

    @property
    def memory(self) -> MemoryDir:
        return self.project.require_memory()

    @property
    def directory(self) -> Path:
        return self.memory.directory

    @property
    def dreaming(self) -> Dreaming:
        return dreaming_of(self.project, self.memory, events=Events(self.told.append))

    def lay(self, made: Untidy) -> dict[str, tuple[bytes, int]]:
        """The directory is as untidy as that, and the history knows it."""
        made.lay(self.directory)
        self.memory.look()
        return self.tree()

    def tree(self) -> dict[str, tuple[bytes, int]]:
        """Everything visible in the memory directory."""
        return dict(bytes_and_times(self.directory))

    def agent(self, model: ModelClient) -> Agent:
        return beginning(self.project, self.memory, model=model, events=Events())

    async def dream(
        self, script: Iterable[Line] | None, *, dry: bool = False, dreaming: Dreaming | None = None
    ) -> Dreamed:
        """By a model with that script; None: by rules."""
        model = Local() if script is None else ScriptedModel(script)
        return await dream(
            dreaming or self.dreaming, self.agent(model), dry=dry, on_progress=self.seen.append
        )

    async def undo(self, change: str) -> None:
        assert self.memory.history is not None
        found = self.memory.history.find(change)
        undo = lambda: revising.undo(self.memory, found, now=self.now)  # noqa: E731
        await anyio.to_thread.run_sync(undo)

    @property
    def lock(self) -> Path:
        return self.directory / ".consolidate-lock"

    @property
    def stages(self) -> list[str]:
        """The working copies that are left."""
        dreams = self.project.places.dreams
        return (
            [one.name for one in dreams.iterdir() if one.name.startswith("stage-")] if dreams.exists() else []
        )
