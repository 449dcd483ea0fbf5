"""A memory directory as it stands -> what a person should look at, and what to do about each (E10, A8, F6).

`CHECKS` is the list of what is looked for; each check gives `Finding`s of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeAlias

from memdir.doctor.around import Around
from memdir.doctor.files import files
from memdir.doctor.finding import Finding
from memdir.doctor.headers import headers
from memdir.doctor.index import index, seen
from memdir.doctor.layouts import beside, inside, shared
from memdir.doctor.leaks import secrets, trash
from memdir.doctor.leftovers import dreams, leftovers
from memdir.doctor.names import names
from memdir.doctor.survey import Survey, survey
from memdir.doctor.twins import twins
from memdir.memory.store import MemoryDir
from memdir.names import INDEX

Check: TypeAlias = Callable[[Survey], Iterable[Finding]]

CHECKS: tuple[Check, ...] = (
    files,
    names,
    secrets,
    trash,
    index,
    headers,
    twins,
    leftovers,
    dreams,
    inside,
    beside,
    shared,
)
"""What is looked for."""


def checkup(memory: MemoryDir, *, now: datetime, around: Around | None = None) -> list[Finding]:
    """What needs a person, as `examine` finds it: all but the notes."""
    return [one for one in examine(memory, now=now, around=around) if one.kind != "marked"]


def examine(
    memory: MemoryDir, *, now: datetime, around: Around | None = None, checks: Sequence[Check] = CHECKS
) -> list[Finding]:
    """All findings and notes, by file and line. A directory that is not there has none.

    `around`: where else to look; None: nowhere.

    Raises:
        OSError: the directory itself can't be looked into.
    """
    if not memory.directory.exists():
        return []
    seen = survey(memory, around=around, now=now)
    found = {finding for check in checks for finding in check(seen)}
    return sorted(found, key=lambda one: (one.file, one.line or 0, one.kind, one.reason))


def problems(memory: MemoryDir, *, now: datetime) -> list[str]:
    """What keeps memories from being seen, a sentence each: for who asks how things are. The cheap checks.

    Raises:
        OSError: the directory can't be looked into.
    """
    return [
        f"{one.file}: {one.reason}"
        for one in examine(memory, now=now, checks=(files, names, seen))
        if one.kind in {"name", "collision", "dead pointer", "index"}
        or (one.kind in {"unreadable", "link"} and one.file == INDEX)
    ]
