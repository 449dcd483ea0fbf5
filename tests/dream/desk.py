"""A memory directory with its history and a place for dreams, for the tests of what a dream changes."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memdir.dream.apply import Applied, apply
from memdir.dream.files import Snapshot
from memdir.dream.plan import Plan, derive
from memdir.dream.plan.reasons import Reasons
from memdir.dream.stage import snapshot
from memdir.memory import revising
from memdir.memory.history import By, Change, History
from memdir.memory.store import MemoryDir
from memdir.memory.topic import render

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
INDEX = "MEMORY.md"
Tree = dict[str, tuple[bytes, int]]


def topic(*lines: str, name: str = "a memory", description: str | None = None) -> bytes:
    return render(name=name, description=description, type="project", body="\n\n".join(lines) + "\n").encode()


def made(
    before: Snapshot, files: dict[str, bytes | None], *, mtimes: dict[str, int] | None = None
) -> Snapshot:
    """`before` with other files, or without them. A new one has no mtime of its own, unless it is given."""
    left = {file: data for file, data in before.files.items() if file not in files}
    there = {file: data for file, data in files.items() if data is not None}
    known = {file: moment for file, moment in before.mtimes.items() if file in left}
    return Snapshot(files={**left, **there}, mtimes={**known, **(mtimes or {})})


@dataclass
class Desk:
    """What the parts of a dream work on."""

    folder: Path
    now: datetime = NOW
    memory: MemoryDir = field(init=False)
    history: History = field(init=False)

    def __post_init__(self) -> None:
        self.history = History(
            self.folder / "history", directory=self.folder / "memory", now=lambda: self.now
        )
        self.memory = MemoryDir(
            self.folder / "memory",
            trash=self.folder / "trash",
            inbox=self.folder / "inbox",
            history=self.history,
        )
        self.memory.prepare()

    @property
    def dreams(self) -> Path:
        return self.folder / "dreams"

    def at(self, file: str) -> Path:
        return self.memory.directory / file

    def put(self, file: str, data: bytes, *, mtime_ns: int | None = None) -> None:
        """As any program does it."""
        self.at(file).parent.mkdir(parents=True, exist_ok=True)
        self.at(file).write_bytes(data)
        if mtime_ns is not None:
            os.utime(self.at(file), ns=(mtime_ns, mtime_ns))

    def begin(self, files: dict[str, bytes]) -> Snapshot:
        """These are the memories, and the history knows them."""
        for number, (file, data) in enumerate(files.items()):
            self.put(file, data, mtime_ns=10**18 + number)
        self.memory.look()
        return snapshot(self.memory)

    def plan(self, before: Snapshot, after: Snapshot, reasons: Reasons | None = None) -> Plan:
        return derive(before, after, reasons or Reasons())

    def dream(
        self,
        before: Snapshot,
        after: Snapshot,
        *,
        reasons: Reasons | None = None,
        plan: Plan | None = None,
        guard: AbstractContextManager[None] | None = None,
        real: Path | None = None,
    ) -> Applied:
        self.now += timedelta(minutes=1)
        return apply(
            self.memory,
            before,
            after,
            plan or self.plan(before, after, reasons),
            guard=lambda: guard or nullcontext(),
            by=By(worker="dream"),
            now=self.now,
            real=real,
        )

    def newest(self) -> Change:
        return self.history.log(limit=1)[0]

    def undo(self) -> revising.Undone:
        self.now += timedelta(minutes=1)
        return revising.undo(self.memory, revising.latest(self.history), now=self.now)

    def tree(self) -> Tree:
        """Bytes and mtime of every file, but for half-written ones, which `mend` sweeps away."""
        return {
            path.relative_to(self.memory.directory).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in self.memory.directory.rglob("*")
            if path.is_file() and not path.name.startswith(".memdir-")
        }

    def bytes(self) -> dict[str, bytes]:
        return {file: data for file, (data, _) in self.tree().items()}

    def text(self, file: str) -> str:
        return self.at(file).read_text("utf-8")
