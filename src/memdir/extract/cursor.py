"""Which message of a session was the last to be dealt with, kept on disk beside the other bookkeeping (E7).

One small file a session: `<session-id>.json` with `{"version": 1, "message": id, "at": time of the message}`.
Losing it costs a repeated look, never a memory. That it is saved is what makes a run done (`judge`).
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio

from memdir import fs
from memdir.errors import Conflict, MemdirError, UnsafePath
from memdir.memory.journal import Head
from memdir.memory.recovery import Judge, Standing
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
            while not _take(held, _lock(directory, session)):
                await anyio.sleep(PAUSE)
        if waiting.cancelled_caught:
            raise Conflict(
                "another program is learning from this conversation right now",
                hint="try again when it is done; what it has learned is not learned twice",
            )
        yield


def judge(directory: Path, *, held: str | None = None) -> Judge:
    """How a run stands, by its session's lock and cursor: for `recovery.recover`.

    Whoever lives holds the lock; `held`: that session's is our own. A run of which the cursor has moved is
    done; without a session it is for the memory directory's lock to say that nobody is at it.
    """

    @contextmanager
    def stands(head: Head) -> Iterator[Standing]:
        if head.session is None:
            yield "open"
            return
        with ExitStack() as locks:
            try:
                if head.session != held:
                    locks.enter_context(fs.locked(_lock(directory, head.session), timeout=0))
            except (Conflict, OSError, UnsafePath):  # without a lock nobody can tell
                yield "alive"
                return
            kept = load(directory, head.session)
            yield "done" if kept is not None and kept.message not in ("", head.start) else "open"

    return stands


def _lock(directory: Path, session: str) -> Path:
    return directory.with_name("locks") / path(directory, session).stem


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
        Conflict: the folder is busy, and stays so.
    """
    at = cursor.at.isoformat() if cursor.at else None
    record = {"version": VERSION, "message": cursor.message, "at": at}
    with fs.locked(directory):
        fs.write_atomic(path(directory, session), json.dumps(record).encode() + b"\n")


def sweep(directory: Path) -> None:
    """Remove the temporary files that killed processes left beside the cursors."""
    if any(directory.glob(".memdir-*.tmp")):
        with suppress(OSError, MemdirError), fs.locked(directory):  # who holds it is the only writer
            fs.sweep_temporaries(directory, older_than=float("-inf"))
