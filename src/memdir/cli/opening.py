"""The options before a command -> the project that the command is about; and the option `--model`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from memdir import app
from memdir.cli.output import line, talk
from memdir.memory.entrypoint import NAME
from memdir.memory.store import MemoryDir
from memdir.settings import Switch

Command = TypeVar("Command", bound=Callable[..., Any])


def model_option(does: str) -> Callable[[Command], Command]:
    """The option `--model`; `does` says what the model is for. The command gets `model`, or None."""
    return click.option("--model", metavar="PROVIDER:NAME", help=f"The model that {does}.")


def open_project(
    opened: app.Opening,
    *,
    folder: Path | None = None,
    model: str | None = None,
    job: str | None = None,
    quiet: bool = False,
) -> app.Project:
    """The project of the folder that the command line names, or of another one.

    `model` is that of `--model`; `job` is the section of the settings that is about the command's own job
    ("recall", "extract"), whose model it is then, whatever is set. What was passed over on the way (settings,
    directories) is told on stderr, unless `quiet` (P5, S1).

    Raises:
        SettingsError, UnsafePath: see `app.open_project`.
    """
    start, overrides = opened
    bare = overrides.get("bare", False)
    settings = {key: value for key, value in overrides.items() if key != "bare"}
    if model is not None:
        settings["model"] = model
        if job is not None:
            settings[f"{job}.model"] = model
    environment = {**os.environ, "MEMDIR_SIMPLE": "1"} if bare else os.environ
    project = app.open_project(folder or start, settings, environment=environment)
    if not quiet:
        warn(project)
    if bare and not project.switch.on and project.switch.reason.startswith("MEMDIR_SIMPLE"):
        return replace(project, switch=Switch(on=False, reason="--bare"))
    return project


def memory_of(project: app.Project) -> MemoryDir:
    """The project's memory directory, which can be looked into if it is there.

    Raises:
        MemoryOff: memory is off, or has no safe place.
        OSError: the system does not let us look: no answer must sound as if there were no memories.
    """
    memory = project.require_memory()
    with suppress(FileNotFoundError):
        os.listdir(memory.directory)  # noqa: PTH208 - raises at once
        os.stat(memory.directory / NAME)  # noqa: PTH116 - needs the right to go in, not only to list
    return memory


def warn(project: app.Project) -> None:
    """Tell the person which settings were passed over, and which directories were refused."""
    for warning in project.warnings:
        talk(line(f"warning: {warning}"))
