"""The memories of a directory, kept read and counted between turns: a turn pays only for what changed (R1).

A file is read again when its mtime or its size is another. One shelf belongs to one session and is shared by
the threads that work for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from threading import Lock

from memdir.memory import manifest
from memdir.memory.rank import Corpus, count
from memdir.memory.scan import Header, scan
from memdir.recall.candidates import Memory, read
from memdir.recall.local import document


@dataclass(frozen=True, slots=True)
class _Kept:
    """A memory, the file as it was when it was read, and its words."""

    state: tuple[int, int]
    memory: Memory
    words: Mapping[str, float]


class Shelf:
    """What one session has read of one memory directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._kept: dict[str, _Kept] = {}
        self._corpus = Corpus([])
        self._lock = Lock()

    def warm(self, *, now: datetime) -> None:
        """Read everything now, so that the first turn need not."""
        self.read(scan(self._directory, limit=None), now=now)

    def read(self, headers: Sequence[Header], *, now: datetime) -> tuple[list[Memory], Corpus]:
        """The memories behind the headers, and their words. What can't be read is left out (M2)."""
        with self._lock:
            kept = {header.path: one for header in headers if (one := self._look(header, now))}
            if kept.keys() != self._kept.keys() or any(self._kept[file] is not kept[file] for file in kept):
                self._corpus = Corpus.counted({file: one.words for file, one in kept.items()})
            self._kept = kept
            ages = {header.path: manifest.age_in_days(header.mtime, now) for header in headers}
            return [replace(one.memory, age=ages[file]) for file, one in kept.items()], self._corpus

    def _look(self, header: Header, now: datetime) -> _Kept | None:
        kept, state = self._kept.get(header.path), (header.mtime_ns, header.size)
        if kept is not None and kept.state == state:
            return kept
        memory = read(self._directory, header, now=now)
        return _Kept(state, memory, count(document(memory))) if memory else None
