"""Running summaries whose transcript is gone -> removed, as they go with it (C5)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from memdir import fs
from memdir.errors import MemdirError

FOLDER, NAME = "session-memory", "summary.md"

_LONG_AGO = 60 * 60
"""Seconds after which what is left of a write has no writer any more."""


def remove_orphans(transcripts: Path) -> int:
    """Remove the summaries in a folder of transcripts that belong to none of them; how many there were.

    What killed writers left of one goes with it, or after a while. What else stands beside is somebody's,
    and stays; a transcript that is a link is there, wherever that leads. Raises OSError if the folder can't
    be listed.
    """
    if not transcripts.is_dir():
        return 0
    transcripts, removed = transcripts.resolve(), 0
    for place in transcripts.iterdir():
        folder = place / FOLDER
        with suppress(OSError, MemdirError):
            if not _is_session(place.name) or place.is_symlink() or folder.is_symlink():
                continue
            is_kept = os.path.lexists(place.with_name(f"{place.name}.jsonl"))
            fs.sweep_temporaries(folder, older_than=_LONG_AGO if is_kept else float("-inf"))
            if is_kept:
                continue
            if (folder / NAME).is_file():
                fs.remove_durably(folder / NAME, within=transcripts)
                removed += 1
            folder.rmdir()
            place.rmdir()
    return removed


def _is_session(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
