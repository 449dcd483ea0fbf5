"""Running summaries whose transcript is gone -> removed, as they go with it (C5)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from uuid import UUID

from memdir import fs
from memdir.errors import MemdirError

FOLDER, NAME = "session-memory", "summary.md"


def remove_orphans(transcripts: Path) -> int:
    """Remove the summaries in a folder of transcripts that belong to none of them; how many there were.

    What else stands beside a summary is somebody's, and stays. Raises OSError if the folder can't be listed.
    """
    if not transcripts.is_dir():
        return 0
    removed = 0
    for place in transcripts.iterdir():
        folder = place / FOLDER
        if not _is_session(place.name) or place.with_name(f"{place.name}.jsonl").exists():
            continue
        if place.is_symlink() or folder.is_symlink() or not (folder / NAME).is_file():
            continue
        with suppress(OSError, MemdirError):
            fs.remove_durably(folder / NAME)
            removed += 1
            folder.rmdir()
            place.rmdir()
    return removed


def _is_session(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
