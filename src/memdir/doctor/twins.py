"""Memories that say the same. Which of them goes, and what is worth keeping of it, a person decides (D8)."""

from __future__ import annotations

from collections.abc import Iterator

from memdir.doctor.finding import Finding, finding
from memdir.doctor.layouts import is_foreign
from memdir.doctor.survey import Survey
from memdir.memory import leaks
from memdir.memory.duplicates import duplicates


def twins(survey: Survey) -> Iterator[Finding]:
    """Each memory that says what another says, or nearly; the first by name is the one that is gone by."""
    files = {file: thing.data or b"" for file, thing in survey.topics.items() if not is_foreign(thing)}
    for alike in duplicates(files):
        first, *others = alike.files
        for file in others:
            name = leaks.called(first)
            reason = f"it says the same as {name}" if alike.exact else f"it says nearly the same as {name}"
            cure = "`memdir forget` one of them" if alike.exact else "put what both say in one of them"
            yield finding(file, "duplicate", reason, cure)
