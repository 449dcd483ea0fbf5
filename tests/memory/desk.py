"""A directory in which a run works with its tools, and somebody else beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memdir.agent.file_state import FileState
from memdir.agent.tools.base import ToolContext
from memdir.agent.tools.edit import edit
from memdir.agent.tools.read import read
from memdir.agent.tools.write import write
from memdir.errors import MemdirError, ToolError
from memdir.memory.journal import Head, Journal
from memdir.memory.pointer import Pointer
from memdir.memory.recovery import Standing, recover
from memdir.memory.store import ANY, MemoryDir
from memdir.memory.topic import render

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
FILES = ("a.md", "b.md", "sub/c.md")
INDEX = "MEMORY.md"

Snapshot = dict[str, tuple[bytes, int]]
Act = tuple[Any, ...]


def topic(body: str) -> str:
    return render(name="T", description=body, type="project", body=f"{body}\n")


def snapshot(store: MemoryDir) -> Snapshot:
    """Bytes and mtime of every file in the directory and the trash."""
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for folder in (store.directory, store.trash.folder)
        for path in folder.rglob("*")
        if path.is_file()
    }


@dataclass
class Desk:
    """A directory in which a run works with its tools, and somebody else beside it.

    With `journals`, a folder, the run is killed before it is taken back, by who finds its journal there.
    """

    store: MemoryDir
    journal: Journal = field(default_factory=Journal)
    journals: Path | None = None
    count: int = 0

    def __post_init__(self) -> None:
        self.context = ToolContext(
            cwd=self.store.directory,
            files=FileState(),
            memory=self.store.recording(self.journal),
            now=lambda: NOW,
            memory_only=True,
        )

    def fresh(self) -> str:
        """Words that stand nowhere else."""
        self.count += 1
        return f"fact {self.count}"

    def path(self, file: str) -> Path:
        return self.store.directory / file

    def age(self) -> None:
        """Give every file an mtime of its own, long ago."""
        for number, path in enumerate(sorted(self.store.directory.rglob("*.md"))):
            os.utime(path, ns=(10**18 + number, 10**18 + number))

    # -- the run --

    def writes(self, file: str, text: str | None = None) -> None:
        with suppress(ToolError):
            self.sees(file)
            content = topic(self.fresh()) if text is None else text
            write({"file_path": str(self.path(file)), "content": content}, self.context)

    def edits(self, file: str) -> None:
        with suppress(ToolError):
            self.sees(file)
            given = {"file_path": str(self.path(file)), "old_string": "fact ", "replace_all": True}
            edit({**given, "new_string": f"{self.fresh()} fact "}, self.context)

    def deletes(self, file: str) -> None:
        self.writes(file, "")

    def sees(self, file: str) -> None:
        with suppress(ToolError):
            read({"file_path": str(self.path(file))}, self.context)

    def take_back(self) -> tuple[str, ...]:
        if self.journals is None:
            return self.store.take_back(self.journal)
        recovered = recover(self.store, self.journals, judge=dead)
        assert recovered.failures == ()
        assert list(self.journals.glob("*")) == []
        return recovered.files

    # -- somebody else --

    def saves(self, file: str) -> None:
        pointer = Pointer(title="T", file=file, hook=self.fresh())
        data = topic(self.fresh()).encode()
        self.store.save(file, data, pointer=pointer, expected=ANY, now=NOW, origin=None)

    def removes(self, file: str) -> None:
        with suppress(MemdirError):
            self.store.delete(file, now=NOW)

    def adds_to_the_index(self) -> str:
        line = f"By hand: {self.fresh()}."
        text = self.store.index()
        text += "" if not text or text.endswith("\n") else "\n"
        self.store.write(INDEX, f"{text}{line}\n".encode(), expected=ANY, now=NOW, origin=None)
        return line


def made(folder: Path, *, on_disk: bool = False) -> Desk:
    store = MemoryDir(folder / "memory", trash=folder / "trash")
    store.prepare()
    journals = folder / "journals" if on_disk else None
    return Desk(store, Journal.begin(journals, session="one", upto="m2", start="m1"), journals)


@contextmanager
def dead(_: Head) -> Iterator[Standing]:
    """Whose journals these are is dead, and was not done."""
    yield "open"


def known(desk: Desk, *files: str) -> Snapshot:
    """Memories that were there before the run; their state."""
    for file in files:
        desk.saves(file)
    desk.age()
    return snapshot(desk.store)
