"""Memory files for the tests of recall, and an index of them."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memdir.memory import topic
from memdir.memory.index import Index

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def put(
    directory: Path,
    file: str,
    body: str = "",
    *,
    name: str | None = None,
    description: str | None = None,
    type: str | None = "project",  # noqa: A002
    days_ago: float = 0,
) -> str:
    """Write a topic file that was changed so many days before `NOW`; its path relative to the directory."""
    path = directory / file
    path.parent.mkdir(parents=True, exist_ok=True)
    text = topic.render(name=name or path.stem, description=description, type=type, body=body)
    path.write_text(text, encoding="utf-8")
    moment = (NOW - timedelta(days=days_ago)).timestamp()
    os.utime(path, (moment, moment))
    return file


def index_of(directory: Path) -> Index:
    """The index of a directory as it is now, in memory."""
    index = Index(str(directory), cache=None, clock=time.time_ns)
    index.refresh()
    return index
