"""A memory directory -> the memories that a prompt may bring back (R3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memdir import fs
from memdir.memory import manifest, topic
from memdir.memory.scan import Header

LARGEST = 64 * 1024
"""Bytes of a file that are looked at: far more than a memory should have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What the selector by words knows of a topic file. `file`: path in the directory. `age`: in days."""

    file: str
    name: str
    description: str = ""
    type: str | None = None
    body: str = ""
    age: int = 0

    @property
    def stem(self) -> str:
        """The file's path without its ending."""
        return self.file.removesuffix(".md")

    @property
    def title(self) -> str:
        """All that it is called by: file, name, description."""
        return f"{self.stem} {self.name} {self.description}".replace("_", " ")

    @property
    def headings(self) -> str:
        """The Markdown headings in its body."""
        return "\n".join(line for line in self.body.splitlines() if line.startswith("#"))


def load(directory: Path, headers: Iterable[Header], *, now: datetime) -> list[Memory]:
    """The memories behind the headers. A file that can't be read any more is left out (M2)."""
    return [memory for header in headers if (memory := read(directory, header, now=now))]


def read(directory: Path, header: Header, *, now: datetime) -> Memory | None:
    """The memory behind a header; None if it can't be read any more."""
    try:
        data = fs.read_file(fs.contain(directory, header.path), limit=LARGEST)
        parsed = topic.parse(data, filename=header.path)
    except Exception:  # noqa: BLE001 - whatever is odd about one file, the others are still there
        return None
    return Memory(
        file=header.path,
        name=parsed.name,
        description=parsed.description or "",
        type=parsed.type,
        body=parsed.body,
        age=manifest.age_in_days(header.mtime, now),
    )
