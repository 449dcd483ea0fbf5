"""Which message of a session was the last to be dealt with, kept on disk beside the other bookkeeping (E7).

One small file a session: `<session-id>.json` with `{"version": 1, "message": id, "at": time of the message}`.
Losing it costs a repeated look, never a memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio

from memdir import fs
from memdir.errors import Conflict, UnsafePath
from memdir.model.messages import Message

VERSION = 1

WAIT = 30.0
"""Seconds to wait for another program that is learning from the same session."""

PAUSE = 0.05
"""Seconds between two looks whether it has done."""


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
    return directory / f"{session if plain else fs.digest(session.encode('utf-8', 'surrogatepass'))}.json"


@asynccontextmanager
async def alone(directory: Path, session: str, *, wait: float = WAIT) -> AsyncIterator[None]:
    """Hold a session's cursor from its reading to its keeping, so that nobody learns the same meanwhile.

    The lock is on a folder of its own in `locks`, beside the cursors. Where none can be made there is no
    lock: the cursor can't be kept there either. Not re-entrant.

    Raises:
        Conflict: somebody else held it for `wait` seconds.
    """
    with ExitStack() as held:
        with anyio.move_on_after(wait) as waiting:
            while not _take(held, directory.with_name("locks") / path(directory, session).stem):
                await anyio.sleep(PAUSE)
        if waiting.cancelled_caught:
            raise Conflict(
                "another program is learning from this conversation right now",
                hint="try again when it is done; what it has learned is not learned twice",
            )
        yield


def _take(held: ExitStack, folder: Path) -> bool:
    """Whether the wait is over: the lock is ours now, or there can be none."""
    try:
        held.enter_context(fs.locked(folder, timeout=0))
    except Conflict:
        return False
    except (OSError, UnsafePath):
        return True
    return True


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
        UnsafePath: something that is no file stands in its place.
    """
    at = cursor.at.isoformat() if cursor.at else None
    record = {"version": VERSION, "message": cursor.message, "at": at}
    fs.write_atomic(path(directory, session), json.dumps(record).encode() + b"\n")
