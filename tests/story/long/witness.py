"""Who writes down what a conversation consists of, ahead of each record of its transcript.

    with Witness(path).watching(): …        in the process that lives, and may be killed
    Witness(path).of(uuid)                  what it consisted of when that record was written

It stands beside the transcript, and knows nothing of how that is read.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memdir.agent.transcript import Transcript
from memdir.model.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A digest for each message of the context, and how far the running summary reached."""

    messages: tuple[str, ...] = ()
    noted: tuple[str, ...] | None = None


def digest(message: Message) -> str:
    """All of a message."""
    at = message.at.isoformat() if message.at else None
    about = json.dumps(message.attachment, sort_keys=True)
    whole = repr((message.role, message.content, message.origin, message.id, at, about))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass
class Witness:
    """The notes are in the file at `path`, one line for each record. `dies_at`: the process is killed when it
    is to write so many records, `torn`: with half of the line on the disk.
    """

    path: Path
    dies_at: int = 0
    torn: bool = False
    _context: list[str] = field(default_factory=list)
    _noted: tuple[str, ...] | None = None

    def of(self, uuid: str) -> State:
        """What the conversation consisted of with this record; with the first one of all, of nothing."""
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        for said in map(json.loads, reversed(lines)):
            if said["uuid"] == uuid:
                return State(messages=tuple(said["context"]), noted=tuple(said["noted"] or ()) or None)
        return State()

    def _die(self, transcript: Path, record: Any) -> None:
        if self.torn:
            line = json.dumps(record).encode()
            with transcript.open("ab") as file:
                file.write(line[: len(line) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def watching(self, state: State | None = None) -> Iterator[None]:
        """Write down what is appended to any transcript of this process; it has come to `state` already."""
        state = state or State()
        self._context, self._noted = list(state.messages), state.noted
        append, compact, note, put = Transcript.append, Transcript.compact, Transcript.note, Transcript._put

        def appended(transcript: Transcript, message: Message) -> None:
            self._context.append(digest(message))
            append(transcript, message)

        def compacted(transcript: Transcript, context: Sequence[Message], **more: Any) -> None:
            self._context = list(map(digest, context))
            compact(transcript, context, **more)

        def said(transcript: Transcript, upto: str, found: str, **more: Any) -> None:
            self._noted = (upto, found)
            note(transcript, upto, found, **more)

        def written(transcript: Transcript, record: Any) -> None:
            line = json.dumps({"uuid": record["uuid"], "context": self._context, "noted": self._noted})
            with self.path.open("a") as file:
                file.write(f"{line}\n")
            self.dies_at -= 1
            if self.dies_at == 0:
                self._die(transcript.path, record)
            put(transcript, record)

        changed = {"append": appended, "compact": compacted, "note": said, "_put": written}
        for name, by in changed.items():
            setattr(Transcript, name, by)
        try:
            yield
        finally:
            for name, by in {"append": append, "compact": compact, "note": note, "_put": put}.items():
                setattr(Transcript, name, by)
