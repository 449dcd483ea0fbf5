"""A memory directory with a history beside it, for the tests of histories."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memdir import fs
from memdir.memory.history import By, Change, History

START = datetime(2026, 3, 30, 12, tzinfo=UTC)


@dataclass
class Clock:
    """A clock that goes on by a second each time it is asked."""

    moment: datetime = START

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


@dataclass
class Place:
    """`directory`, its history, and a clock. Files are written as any program does it."""

    base: Path
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.directory.mkdir(parents=True)

    @property
    def directory(self) -> Path:
        return self.base / "memory"

    @property
    def folder(self) -> Path:
        return self.base / "history" / "project"

    @property
    def repository(self) -> Path:
        return self.folder / "repository"

    def history(self, programs: Sequence[str] | None = None) -> History:
        """As a new process has it."""
        return History(self.folder, directory=self.directory, now=self.clock, programs=programs)

    def put(self, file: str, data: str | bytes, *, mtime_ns: int | None = None) -> None:
        place = self.directory / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data if isinstance(data, bytes) else data.encode())
        if mtime_ns is not None:
            os.utime(place, ns=(mtime_ns, mtime_ns))

    def remove(self, file: str) -> None:
        (self.directory / file).unlink()

    def change(self, history: History, by: By | None, **files: str | bytes | None) -> Change | None:
        """One look after these files were written or removed; `_md` stands for `.md`."""
        for name, data in files.items():
            file = name.replace("_md", ".md")
            if data is None:
                self.remove(file)
            else:
                self.put(file, data)
        with fs.locked(self.directory):
            return history.look(by)

    def on_disk(self) -> dict[str, bytes]:
        """What a history is to know: the visible files."""
        return {
            path.relative_to(self.directory).as_posix(): path.read_bytes()
            for path in self.directory.rglob("*.md")
            if path.is_file() and not path.is_symlink()
        }


def as_recorded(history: History, point: str | datetime, files: Sequence[str]) -> dict[str, bytes]:
    """The files as of a point."""
    found = {file: history.at(file, point) for file in files}
    return {file: version[0] for file, version in found.items() if version}


def everything_below(folder: Path) -> Iterator[Path]:
    """All files and folders below a folder, and itself."""
    yield folder
    yield from folder.rglob("*")
