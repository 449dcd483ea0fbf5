"""Who changes memory and why, and what a change did: the values that a history takes and gives (H2)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

Action: TypeAlias = Literal["created", "updated", "deleted"]

EXTERNAL = "external"
"""The worker of changes that memdir did not make itself."""

BEGINNING = "what was there when the history began"
"""The reason of the first change of a history that begins with files: nobody made it, nobody can undo it."""


def new_change() -> str:
    """A name for one change: 10 hex digits."""
    return secrets.token_hex(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class By:
    """Who changes memory and why; what a change is recorded with (H2).

    `worker` is one word ("extract", "main", "person", "undo", …). `reason` is a fixed phrase, never contents.
    `session` and `message` say where in which conversation. Several steps of one `change` share its name.
    `undoes` names the change that this one takes back.
    """

    worker: str
    reason: str = ""
    session: str | None = None
    message: str | None = None
    change: str = field(default_factory=new_change)
    undoes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a change did to a file without another change in between. Blob ids; None: no file."""

    before: str | None
    after: str | None
    before_mtime_ns: int | None
    after_mtime_ns: int | None


def action(run: Run) -> Action:
    """What became of the file."""
    if run.before is None:
        return "created"
    return "deleted" if run.after is None else "updated"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What a change did to one file, all in all. `before` and `after` are blob ids; None: no file.

    `runs` is empty unless other changes came in between the steps of this one: then it holds, oldest first,
    what each part of this change did, and what the others did lies between them.
    """

    file: str
    action: Action
    before: str | None
    after: str | None
    before_mtime_ns: int | None
    after_mtime_ns: int | None
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of memory, all its steps taken together; `at` is the (aware) moment of the last."""

    id: str
    at: datetime
    worker: str
    reason: str
    session: str | None
    message: str | None
    undoes: str | None
    files: tuple[FileChange, ...]
