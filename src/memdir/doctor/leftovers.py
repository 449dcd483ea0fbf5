"""What killed processes left: halves of files, the lock of a dream, and its copy of memories (F8, D4)."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from memdir.doctor.finding import Finding, finding
from memdir.doctor.survey import Survey
from memdir.dream import stage
from memdir.dream.kept import Kept
from memdir.dream.lock import LOCK, look
from memdir.errors import MemdirError
from memdir.fs.folder import TEMPORARY

YOUNG = 60.0
"""Seconds in which a temporary file may belong to somebody who is writing just now."""


def leftovers(survey: Survey) -> Iterator[Finding]:
    """Temporary files of killed writers."""
    for thing in survey.things:
        age = survey.now.timestamp() - thing.status.st_mtime
        if TEMPORARY.fullmatch(thing.name) and stat.S_ISREG(thing.status.st_mode) and age >= YOUNG:
            reason = "half of a file, whose writer was killed; the file itself is as it was"
            yield finding(thing.path, "leftover", reason, "remove it", fix="removes it")


def dreams(survey: Survey) -> Iterator[Finding]:
    """A dream's lock, and its copy of the memories, where the dream is dead."""
    thing = survey.by_path.get(LOCK)
    if thing is not None and not stat.S_ISREG(thing.status.st_mode):  # told among the files
        return
    try:
        state = look(survey.memory.directory, now=survey.now)
    except (MemdirError, OSError):
        return
    if not state.is_free:
        return
    if state.is_left:
        reason = "the lock of a dream that ended without giving it back"
        cure = "run the next dream, which takes it over"
        yield finding(LOCK, "lock", reason, cure, fix="gives it back")
    for folder, reason in _of_dead(survey.around.places.dreams) if survey.around else ():
        yield finding(str(folder), "leftover", reason, "remove it", fix="removes it")


def _of_dead(dreams: Path) -> Iterator[tuple[Path, str]]:
    """What dreams have made, and did not finish; if none is under way, it is left over."""
    with suppress(OSError):
        for folder in stage.folders(dreams):
            yield folder, "the copy of the memories that a dream worked on, which was killed"
        for folder in Kept(dreams).halves():
            yield folder, "half of a plan of a dream, which was killed while it was kept or dropped"
