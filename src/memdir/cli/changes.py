"""A change of memory in a person's words, and as JSON (H2). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from memdir.memory import entrypoint, manifest
from memdir.memory.history.values import BEGINNING

if TYPE_CHECKING:
    from memdir.memory.history import Change, FileChange

SHORT = 7
"""Digits of a change's id that are shown; any beginning that only one change has will do."""

NAMED = 4
"""Files that are named of each kind; the rest are counted."""

DONE = {"created": "created", "updated": "changed", "deleted": "removed"}
"""What happened to a file, in a person's words."""

_WORKERS = {
    "extract": "extraction",
    "main": "the agent",
    "person": "you",
    "learn": "learning from a transcript",
    "external": "hand edit",
    "mend": "memdir, putting right",
}
_COMMANDS = frozenset({"remember", "forget", "edit", "restore", "erase", "inbox", "doctor"})
"""Workers that are the person, with that command."""


def short(change: str) -> str:
    """A change's id as it is shown."""
    return manifest.harmless(change[:SHORT])


def who(change: Change) -> str:
    """Who made the change. What was done outside memdir is called a hand edit, whoever did it."""
    if change.reason == BEGINNING:
        return "there before"
    if change.undoes is not None:
        return f"undo of {short(change.undoes)}"
    return worker(change.worker)


def worker(name: str) -> str:
    """A worker in plain words."""
    if name in _COMMANDS:
        return f"you ({name})"
    return _WORKERS.get(name) or manifest.harmless(name) or "somebody"


def did(change: Change, *, index: bool = False) -> str:
    """What a change did, as `what` says it. What the history began with, nobody made: it was found."""
    told = what(change.files, index=index)
    return told.replace("created", "found", 1) if change.reason == BEGINNING else told


def what(files: Sequence[FileChange], *, index: bool = False) -> str:
    """`created a.md, changed b.md and c.md`. The index is named if it is alone, or with `index`."""
    topics = [one for one in files if not is_index(one.file)]
    indexes = [one for one in files if is_index(one.file)] if index or not topics else []
    parts = []
    for told in (topics, indexes):
        for action, done in DONE.items():
            if names := [manifest.harmless(one.file) for one in told if one.action == action]:
                parts.append(f"{done} {_listed(names)}")
    return ", ".join(parts)


def is_index(file: str) -> bool:
    """Whether a file is an index, the directory's or a team's."""
    return PurePosixPath(file).name == entrypoint.NAME


def _listed(names: Sequence[str]) -> str:
    if (left := len(names) - NAMED) > 0:
        return f"{', '.join(names[:NAMED])} and {left} more"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def row(change: Change, undone: dict[str, str]) -> tuple[str, ...]:
    """Id, when, who, what: a line of the log. `undone` is from `taken_back`."""
    by = f"; undone by {short(undone[change.id])}" if change.id in undone else ""
    return (short(change.id), when(change.at), who(change), did(change) + by)


def headline(change: Change) -> str:
    """A change as a whole: `1a2b3c4, 2026-03-05 09:00, extraction`, and below where that was said."""
    head = f"{short(change.id)}, {when(change.at)}, {who(change)}"
    said = {"session": change.session, "message": change.message}
    below = (f"  {name} {manifest.harmless(told)}" for name, told in said.items() if told)
    return "\n".join((head, *below))


def named(change: Change, now: datetime) -> str:
    """A change within a sentence: `1a2b3c4 (extraction, 5 minutes ago)`."""
    by = f"you: {change.worker}" if change.worker in _COMMANDS else who(change)
    return f"{short(change.id)} ({by}, {ago(change.at, now)})"


def as_json(change: Change, undone: dict[str, str]) -> dict[str, object]:
    """A change as `log --json` prints it."""
    return {
        "id": change.id,
        "at": change.at.isoformat(),
        "worker": change.worker,
        "reason": change.reason,
        "session": change.session,
        "message": change.message,
        "undoes": change.undoes,
        "undoneBy": undone.get(change.id),
        "files": files_as_json(change.files),
    }


def files_as_json(files: Iterable[FileChange]) -> list[dict[str, str]]:
    """What happened to each file."""
    return [{"path": one.file, "action": one.action} for one in files]


def taken_back(newest_first: Iterable[Change]) -> dict[str, str]:
    """Which of these changes are undone, and by which. An undo that is itself undone counts no more."""
    undone: dict[str, str] = {}
    for change in newest_first:
        if change.undoes is not None and change.id not in undone:
            undone.setdefault(change.undoes, change.id)
    return undone


def when(at: datetime) -> str:
    """A moment to the minute, in the person's time zone."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def instant(stored: str) -> str:
    """A stored moment (ISO 8601), likewise; what is none as it stands there."""
    try:
        return when(datetime.fromisoformat(stored))
    except ValueError:
        return manifest.harmless(stored)


def ago(at: datetime, now: datetime) -> str:
    """`just now`, `5 minutes ago`, `yesterday`, `3 days ago`."""
    seconds = (now - at).total_seconds()
    if seconds < 60:
        return "just now"
    for unit, size in (("minute", 60), ("hour", 3600)):
        if (count := int(seconds // size)) < {"minute": 60, "hour": 24}[unit]:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return manifest.age_in_words(manifest.age_in_days(at, now))
