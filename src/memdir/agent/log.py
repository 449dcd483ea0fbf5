"""Events -> a file of JSON lines, one an event: what happened and when, never contents (H4).

    {"at": "2026-05-07T12:00:00+00:00", "event": "recalled", "files": 1, "bytes": 812, …}

The file is the owner's alone (0600) and is made with the first event. When it is full it becomes
`<name>.1.jsonl` in place of the one before, so that the two together never take more than twice its limit.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from memdir import fs
from memdir.agent.events import DEGRADED, FAILED, Event, Sink
from memdir.errors import MemdirError

FULL = 1024 * 1024
"""Bytes after which a new file is begun."""

_SPOKEN = {DEGRADED: {"why", "cure"}, FAILED: {"why"}}
"""Fields with a sentence for the person. A service's own words may stand in it, and quote what was sent."""


def log_to(path: Path, *, now: Callable[[], datetime], full: int = FULL) -> Sink:
    """A subscriber that writes each event to `path`. Never raises: a log that can't be written is no log."""

    def write(event: Event) -> None:
        spoken = _SPOKEN.get(event.name, ())
        facts = {key: value for key, value in event.fields.items() if key not in spoken}
        record = {"at": now().isoformat(timespec="seconds"), "event": event.name, **facts}
        with suppress(OSError, MemdirError):
            _make_room(path, full)
            fs.append_line(path, json.dumps(record).encode())

    return write


def _make_room(path: Path, full: int) -> None:
    with suppress(FileNotFoundError):
        if path.stat().st_size >= full:
            path.replace(path.with_suffix(f".1{path.suffix}"))
