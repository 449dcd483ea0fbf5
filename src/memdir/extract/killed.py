"""What extractions that were killed have left of themselves is put right (E7)."""

from __future__ import annotations

from pathlib import Path

from memdir.extract import cursor
from memdir.memory.recovery import Recovered, recover
from memdir.memory.store import MemoryDir


def take_back(
    memory: MemoryDir, journals: Path | None, *, cursors: Path, session: str | None = None
) -> Recovered:
    """Take back, at the start, each run that was killed before its cursor moved. Blocks its thread.

    `session`: whose cursor the caller holds. Before it learns from that session itself, nothing may be left
    of those who died over it; so for that one, what can't be taken back is raised.

    Raises:
        OSError, MemdirError: as above.
    """
    if journals is None:
        return Recovered()
    if session is None:
        cursor.sweep(cursors)
    recovered = recover(memory, journals, judge=cursor.judge(cursors, held=session), session=session)
    if session is not None and recovered.failures:
        raise recovered.failures[0]
    return recovered
