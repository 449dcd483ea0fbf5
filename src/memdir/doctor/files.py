"""Files and folders that memory can't use: links that lead outside, and what can't be read (A8)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from memdir.doctor.finding import Finding, finding
from memdir.doctor.survey import Survey, Thing
from memdir.errors import UnsafePath, UsageError
from memdir.memory import encoding
from memdir.names import INDEX


def files(survey: Survey) -> Iterator[Finding]:
    """Links that lead out of the directory or nowhere; what is no file, too big, closed to us, or no text."""
    for thing in survey.things:
        if thing.is_link:
            yield from _link(survey, thing)
        elif thing.is_folder and thing.path == INDEX:
            yield finding(INDEX, "unreadable", "a folder, where the index should be", "give it another name")
        elif thing.is_too_big:
            reason = f"too big to be looked through ({thing.status.st_size:,} bytes)"
            yield finding(thing.path, "unreadable", reason, "split it, or move it elsewhere")
        elif isinstance(thing.error, UnsafePath):
            yield finding(thing.path, "unreadable", thing.error.reason, "remove it, or move it elsewhere")
        elif thing.error is not None:
            command = "chmod u+rx" if thing.is_folder else "chmod u+r"
            reason = f"it can't be read: {thing.error.strerror or type(thing.error).__name__}"
            cure = f"let yourself read it ({command}), or remove it"
            yield finding(thing.path, "unreadable", reason, cure)
        elif thing.is_text and thing.data:
            yield from _encoding(thing, thing.data)


def _link(survey: Survey, thing: Thing) -> Iterator[Finding]:
    cure = "remove the link; where a memory is meant, put the file itself there"
    try:
        real = Path(os.path.realpath(survey.root / thing.path, strict=True))
    except OSError:
        yield finding(thing.path, "link", "a link to nothing, or to itself", cure)
        return
    if not real.is_relative_to(survey.root):
        reason = "a link that leads out of the memory directory; nothing behind it is read or written"
        yield finding(thing.path, "link", reason, cure)


def _encoding(thing: Thing, data: bytes) -> Iterator[Finding]:
    try:
        encoding.decode(data)
    except UsageError as error:
        reason = "it is in a broken encoding, so nothing of ours can change it"
        yield finding(thing.path, "unreadable", reason, error.hint or "save it as UTF-8")
