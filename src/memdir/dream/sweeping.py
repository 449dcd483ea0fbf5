"""What killed dreams left is cleared away, where no dream is under way (D3, D4, H2)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from memdir.dream import stage
from memdir.dream.kept import Kept
from memdir.dream.lock import Lock
from memdir.errors import Conflict, UnsafePath


def left(dreams: Path) -> tuple[Path, ...]:
    """Copies of memories and halves of plans. If no dream is under way, they are what killed ones left.

    Raises OSError.
    """
    return (*stage.folders(dreams), *Kept(dreams).halves())


def sweep(directory: Path, dreams: Path | None, *, now: Callable[[], datetime]) -> bool:
    """Take the dream's lock of a memory directory, clear away what is left in `dreams` (None: nothing), and
    give it back as it was: that of a dead dream goes. False: a dream is under way, or it can't be told.

    Raises OSError: something can't be removed.
    """
    try:
        lock = Lock.take(directory, now=now)
    except (Conflict, UnsafePath, OSError):
        return False
    try:
        if dreams is not None:
            stage.sweep(dreams)
            Kept(dreams).sweep()
    finally:
        lock.fail()
    return True
