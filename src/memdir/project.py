"""A folder -> the project it belongs to: where everything is, what the settings say, whether memory is on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from memdir import settings as settings_files
from memdir.errors import MemoryOff, NotFound, UsageError
from memdir.extract.remember import LABEL as REMEMBER
from memdir.extract.remember import remember
from memdir.extract.saved import Saved
from memdir.memory import entrypoint
from memdir.memory.history import By, History
from memdir.memory.store import MemoryDir
from memdir.paths import Places, resolve
from memdir.settings import Settings, Switch

Opening: TypeAlias = tuple[Path, Mapping[str, Any]]
"""What a front end knows at first: the folder it works in, and settings from its command line."""

ASKED = "the person asked for it"
"""The reason of what the person has done by a command."""

Clock: TypeAlias = Callable[[], datetime]


def local_time() -> datetime:
    """The time now, in the person's time zone."""
    return datetime.now(UTC).astimezone()


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What is settled before a conversation starts. `memory` is None when it is off, or has no safe place.

    `warnings` are sentences for the person: settings that were passed over, directories that were refused.
    `said_at` is where the settings that are set stand.
    """

    places: Places
    settings: Settings
    switch: Switch
    warnings: tuple[str, ...]
    memory: MemoryDir | None
    said_at: Mapping[str, str] = field(default_factory=dict)
    remote: bool = False
    now: Clock = local_time

    def require_memory(self) -> MemoryDir:
        """The memory directory.

        Raises:
            MemoryOff: memory is off, or there is no safe place for it; says by what.
        """
        if self.memory is not None:
            return self.memory
        if not self.switch.on:
            raise MemoryOff(f"memory is off: {self.switch.reason}", hint="what is on disk stays as it is")
        raise MemoryOff("there is no safe place for memory", hint="`memdir status` says what was refused")

    def find(self, name: str) -> str:
        """The file that a person means by a file name, the same without `.md`, or a memory's name.

        Raises:
            NotFound: there is none.
            UsageError: several memories have that name.
        """
        memory = self.require_memory()
        headers = memory.list()
        if name == entrypoint.NAME or any(header.path == name for header in headers):
            return name
        wanted = name.casefold()
        found = [
            header.path
            for header in headers
            if wanted
            in {header.path.casefold(), header.path.removesuffix(".md").casefold(), header.name.casefold()}
        ]
        if len(found) > 1:
            raise UsageError(
                f"{len(found)} memories are called {name!r}", hint=f"say which: {', '.join(found)}"
            )
        if not found:
            raise NotFound(
                f"there is no memory {name!r}",
                hint="`memdir list` shows the names, `memdir restore` the trash",
            )
        return found[0]

    def remember(
        self, text: str, *, kind: str | None = None, session: str | None = None, allow_secret: bool = False
    ) -> Saved:
        """Save what the person says, by rules; see `extract.remember`."""
        return remember(
            text,
            memory=self.require_memory().on_behalf(By(worker=REMEMBER, session=session, reason=ASKED)),
            kind=kind,
            session=session,
            now=self.now(),
            allow_secret=allow_secret,
        )


def open_project(
    folder: Path,
    overrides: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    now: Clock = local_time,
) -> Project:
    """The project that a folder belongs to. Makes nothing on the disk.

    Raises:
        SettingsError: a settings file can't be read.
        UnsafePath: `MEMDIR_HOME` is refused.
    """
    environment = os.environ if environment is None else environment
    loaded = settings_files.load(cwd=folder, environment=environment, overrides=overrides)
    settings = loaded.settings
    places = resolve(
        folder,
        environment=environment,
        layout=settings.layout,
        base_directory=settings.base_directory,
        directories=loaded.memory_directories,
    )
    switch = settings_files.memory_switch(settings, environment, layout=settings.layout)
    on = switch.on and places.memory is not None
    return Project(
        places=places,
        settings=settings,
        switch=switch,
        warnings=(*loaded.warnings, *(str(one) for one in places.refused), *places.warnings),
        memory=_memory(places, places.memory, now) if on and places.memory else None,
        said_at=loaded.said_at,
        remote=settings_files.is_remote(environment),
        now=now,
    )


def _memory(places: Places, directory: Path, now: Clock) -> MemoryDir:
    history = History(places.history, directory=directory, now=now)
    return MemoryDir(directory, trash=places.trash, inbox=places.inbox, history=history)
