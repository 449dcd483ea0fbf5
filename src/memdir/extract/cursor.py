"""Which message of a session was the last to be dealt with, kept on disk beside the other bookkeeping (E7).

One small file a session: `<session-id>.json` with `{"version": 1, "message": id, "at": time of the message}`.
Losing it costs a repeated look, never a memory.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memdir import fs
from memdir.errors import UnsafePath
from memdir.model.messages import Message

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The last message dealt with: its id, and when it was said, if that is known."""

    message: str
    at: datetime | None = None

    @classmethod
    def behind(cls, message: Message) -> Cursor:
        """The cursor that says: all is dealt with up to this message."""
        return cls(message=message.id, at=message.at)


BEGINNING = Cursor(message="")
"""Nothing is dealt with yet."""


def path(directory: Path, session: str) -> Path:
    """The cursor file of a session. An id that is no plain name gets a digest for one."""
    plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", session)
    return directory / f"{session if plain else fs.digest(session.encode())}.json"


def load(directory: Path, session: str) -> Cursor | None:
    """The session's cursor, or None if there is none or it can't be made out."""
    try:
        stored = json.loads(fs.read_file(path(directory, session), limit=10_000))
        at = datetime.fromisoformat(stored["at"]) if stored.get("at") else None
        return Cursor(message=str(stored["message"]), at=at if at and at.tzinfo else None)
    except (OSError, UnsafePath, ValueError, KeyError, TypeError, AttributeError):
        return None


def save(directory: Path, session: str, cursor: Cursor) -> None:
    """Keep the cursor, atomically.

    Raises:
        OSError: the disk does not take it.
    """
    at = cursor.at.isoformat() if cursor.at else None
    record = {"version": VERSION, "message": cursor.message, "at": at}
    fs.write_atomic(path(directory, session), json.dumps(record).encode() + b"\n")
