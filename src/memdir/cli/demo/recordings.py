"""The recorded conversations and their project, from the TOML files beside this module.

A recording holds what the person typed and what the model answered, tool calls included. Only these words
are recorded: the tools really run in a throw-away project, and what is saved and recalled is decided anew.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from memdir.model.messages import Block
from memdir.testing import call, say

NAMES = ("1-retry", "2-veloz", "3-next")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the person typed, and the model's replies up to its final answer."""

    person: str
    replies: tuple[Sequence[Block], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One conversation."""

    title: str
    turns: tuple[Turn, ...]


def recording(name: str, *, project: Path) -> Recording:
    """A recording, with the paths in its tool calls leading into `project`."""
    data = tomllib.loads(_text(f"{name}.toml").replace("$project", project.as_posix()))
    return Recording(title=data["title"], turns=tuple(_turn(turn) for turn in data["turn"]))


def make_project(folder: Path) -> None:
    """Write the files of the throw-away project."""
    for name, text in tomllib.loads(_text("project.toml"))["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), encoding="utf-8")


def _turn(data: dict[str, Any]) -> Turn:
    return Turn(person=data["person"].strip(), replies=tuple(_reply(reply) for reply in data["reply"]))


def _reply(data: dict[str, Any]) -> list[Block]:
    said: list[Block] = [say(data["say"].strip())] if "say" in data else []
    calls = [{**one} for one in data.get("call", [])]
    return said + [call(one.pop("tool"), **one) for one in calls]


def _text(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
