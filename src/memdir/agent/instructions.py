"""A memory directory -> what the model is told of it at the start of a conversation (I1-I4, P7).

The text for the system prompt says how memory is used and never changes within a session (I6). The index
comes as the first message of the conversation, once.
"""

from __future__ import annotations

from datetime import datetime

from memdir.agent.attachments import attached
from memdir.agent.events import FAILED, LOADED, Events
from memdir.agent.file_state import FileState
from memdir.errors import MemdirError, NotFound
from memdir.memory import encoding, entrypoint
from memdir.memory.fence import fenced
from memdir.memory.store import MemoryDir, Stored
from memdir.model.messages import Message
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


def context_message(
    memory: MemoryDir | None,
    *,
    files: FileState,
    events: Events,
    now: datetime,
    inject_index: bool = True,
) -> Message | None:
    """The first message of a conversation: the index of memory, or the remark that it is empty (I3).

    None when memory is off, or with `inject_index` off (I4). An index shown whole may be edited without
    another Read (A2). An index that can't be read is logged, and is not shown.
    """
    if memory is None or not inject_index:
        return None
    try:
        stored = _index(memory)
    except (OSError, MemdirError) as error:
        events.emit(FAILED, where="index", error=type(error).__name__)
        return None
    path, data = memory.directory / entrypoint.NAME, stored.data if stored else b""
    raw = encoding.readable(data)
    loaded = entrypoint.load(raw)
    shown = fenced(loaded.text).strip()
    if stored:
        partial = loaded.truncated or shown != raw.strip()
        files.saw(path, data=data, mtime_ns=stored.mtime_ns, partial=partial, how="index")
    events.emit(LOADED, lines=loaded.lines, bytes=loaded.bytes, truncated=loaded.truncated)
    where = str(path)
    text = render("entrypoint", path=where, text=shown) if shown else render("memory_empty", path=where)
    about = {"kind": "index", "path": where, "bytes": loaded.bytes, "truncated": loaded.truncated}
    return attached(text, about, now=now)


def _index(memory: MemoryDir) -> Stored | None:
    try:
        return memory.read(entrypoint.NAME)
    except NotFound:
        return None
