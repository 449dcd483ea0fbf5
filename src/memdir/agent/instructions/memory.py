"""A memory directory -> what the model is told of it at the start of a conversation (I1, I2, I4, P7)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memdir.agent.events import FAILED, LOADED, Events
from memdir.agent.file_state import FileState
from memdir.errors import MemdirError, NotFound
from memdir.memory import encoding, entrypoint
from memdir.memory.fence import fenced
from memdir.memory.store import MemoryDir, Stored
from memdir.prompts import render


def load_memory_prompt(memory: MemoryDir | None, *, events: Events | None = None) -> str | None:
    """The part of the system prompt that is about memory; None when memory is off (I1). Ask once a session.

    The directory is made on the way, so that no model step is spent on looking for it. A refusal is told
    and the session goes on: the Write tool will show the reason (P7).
    """
    if memory is None:
        return None
    memory.prepare()
    if events and not memory.directory.is_dir():
        events.emit(FAILED, where="memory directory")
    return render("memory", directory=str(memory.directory))


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The index as a conversation gets it: `text` is the finished section of the first message.

    `lines` and `bytes` are those of what counts in the file, before a cut (F7).
    """

    path: Path
    text: str
    lines: int
    bytes: int
    truncated: bool
    stored: Stored | None
    partial: bool

    def note(self, files: FileState) -> None:
        """Put it into the table. An index shown whole may be edited without another Read (A2)."""
        if self.stored:
            files.saw(
                self.path,
                data=self.stored.data,
                mtime_ns=self.stored.mtime_ns,
                partial=self.partial,
                how="index",
            )
        else:  # one that appears later is news
            files.saw(self.path, data=b"", mtime_ns=0, partial=False, how="index")


def index_of(memory: MemoryDir) -> Index:
    """The index, or the remark that it is empty. Nothing is written.

    Raises:
        OSError, MemdirError: it can't be read.
    """
    try:
        stored = memory.read(entrypoint.NAME)
    except NotFound:
        stored = None
    path = memory.directory / entrypoint.NAME
    raw = encoding.readable(stored.data if stored else b"")
    loaded = entrypoint.load(raw)
    shown = fenced(loaded.text).strip()
    where = str(path)
    return Index(
        path=path,
        text=render("entrypoint", path=where, text=shown) if shown else render("memory_empty", path=where),
        lines=loaded.lines,
        bytes=loaded.bytes,
        truncated=loaded.truncated,
        stored=stored,
        partial=loaded.truncated or shown != raw.strip(),
    )


def injected_index(memory: MemoryDir | None, *, files: FileState, events: Events) -> Index | None:
    """The index for the first message, noted and told; None when memory is off, or it can't be read: that
    is told, and the index is not shown.
    """
    if memory is None:
        return None
    try:
        index = index_of(memory)
    except (OSError, MemdirError) as error:
        events.emit(FAILED, where="index", error=type(error).__name__)
        return None
    index.note(files)
    events.emit(LOADED, lines=index.lines, bytes=index.bytes, truncated=index.truncated)
    return index
