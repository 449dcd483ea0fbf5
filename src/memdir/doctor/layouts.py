"""What another program, or an older layout, keeps in a memory directory or beside it (P1, P2, P3, P8)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from memdir import fs
from memdir.doctor.finding import Finding, finding
from memdir.doctor.survey import MOST_BYTES, Survey, Thing
from memdir.dream import sessions
from memdir.errors import UnsafePath
from memdir.memory import topic
from memdir.memory.scan import scan
from memdir.names import INDEX, what_is
from memdir.paths import Places

INSTRUCTIONS = frozenset({"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md"})
"""What programs take for orders; in these letters, since `agents.md` may well be a memory."""


def is_foreign(thing: Thing) -> bool:
    """Whether a file is another program's by its name, and no memory."""
    return not (thing.is_folder or thing.is_link) and (_is_instructions(thing) or _is_index(thing))


def _is_instructions(thing: Thing) -> bool:
    return thing.name in INSTRUCTIONS and "team" not in thing.path.casefold().split("/")[:1]


def _is_index(thing: Thing) -> bool:
    """An index in a folder of its own."""
    names = tuple(thing.path.split("/"))
    within = names[1:] if what_is(names) == "team" else names
    return names[-1] == INDEX and what_is(within) == "other"


def inside(survey: Survey) -> Iterator[Finding]:
    """Instructions and other indexes in the directory."""
    for thing in survey.things:
        if not is_foreign(thing):
            continue
        if _is_index(thing):
            reason = f"another index: only {INDEX} in the memory directory itself is read"
            cure = f"move what it says into {INDEX}, and then remove it"
        else:
            reason = "instructions for an agent, which are no memory, and are recalled as if they were one"
            cure = "move it to the project; where it is a memory, give it another name"
        yield finding(thing.path, "layout", reason, cure)


def beside(survey: Survey) -> Iterator[Finding]:
    """Memories of the same project that are kept elsewhere, and not here: in another layout, at the ordinary
    place, under the name of a worktree or of a folder in the project.
    """
    if survey.around is None:
        return
    known: set[str] | None = None
    for store in _stores((survey.around.places, *survey.around.others), survey.root):
        bodies = _bodies(store)
        if bodies and known is None:
            known = {_body(thing.path, thing.data or b"") for thing in survey.topics.values()}
        if missing := len(bodies - (known or set())):
            what = (
                "a memory of this project is" if missing == 1 else f"{missing} memories of this project are"
            )
            cure = "copy what you want to keep into the memory directory, or name the one directory for all"
            yield finding(
                str(store), "layout", f"{what} in there, and not here", f"{cure} (autoMemoryDirectory)"
            )


def shared(survey: Survey) -> Iterator[Finding]:
    """Other projects that have the same memory directory (P3)."""
    for warning in survey.around.places.warnings if survey.around else ():
        reason, _, cure = warning.rpartition("; ")
        yield finding(str(survey.memory.directory), "collision", reason, cure)


def _stores(everywhere: Iterable[Places], root: Path) -> Iterator[Path]:
    """The other directories in which memories of the project may be."""
    told = {str(root)}
    for places in everywhere:
        own = [places.memory] if places.memory else []
        for store in (*own, *(folder / "memory" for folder in sessions.folders(places))):
            real = os.path.realpath(store)
            if real not in told and os.path.isdir(real):  # noqa: PTH112 - a text path
                told.add(real)
                yield store


def _bodies(store: Path) -> set[str]:
    """What the memories in a directory say."""
    found = set[str]()
    for header in scan(store, limit=None):
        try:
            data = fs.read_file(store / header.path, limit=MOST_BYTES)
        except (OSError, UnsafePath):
            continue
        if body := _body(header.path, data):
            found.add(body)
    return found


def _body(file: str, data: bytes) -> str:
    return topic.parse(data, filename=file).body.strip()
