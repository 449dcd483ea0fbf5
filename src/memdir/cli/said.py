"""The message that a memory came from -> the person's words in it, from the transcript, if that is there."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from uuid import UUID

from memdir.errors import MemdirError
from memdir.extract import foreign
from memdir.memory.topic import Origin
from memdir.paths import Places
from memdir.trust.pasted import own_words


def said(origin: Origin, places: Places) -> str | None:
    """What the person said in that message; None if the transcript is gone, or the words are not theirs."""
    if origin.session is None or origin.message is None:
        return None
    for path in _transcripts(places, origin.session):
        with suppress(MemdirError, OSError, UnicodeError):
            for talk in foreign.read(path):
                for message in talk.messages:
                    if message.id == origin.message and message.origin == "person":
                        return own_words(message.text).strip() or None
    return None


def _transcripts(places: Places, session: str) -> list[Path]:
    """Where a session's transcript may be: it lies in the folder of where the session was started."""
    try:
        name = f"{UUID(session)}.jsonl"
    except ValueError:
        return []
    with suppress(OSError):
        return sorted((places.base / "projects").glob(f"*/{name}"))
    return []
