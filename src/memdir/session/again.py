"""The files that were worked with last -> shown again after a compaction, as they are now (C4).

Only what the conversation was shown before: a file of the working folder, or elsewhere one that has not
changed since; no memory (recall brings those) and no instructions (they come by themselves).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from memdir import fs
from memdir.agent.attachments import carried_file, shortened
from memdir.agent.credentials import leads_to_secrets
from memdir.agent.file_state import FileState
from memdir.agent.loop import Agent
from memdir.agent.tools.text import decode
from memdir.errors import MemdirError
from memdir.model.messages import Message
from memdir.session.carried import recent_files

EACH = 5_000
"""Tokens of one file that are shown."""

ALL = 25_000
"""Tokens of all of them."""

LEAST = 200
"""Tokens below which a part of a file is not worth showing."""

LARGEST = 4 * 1024 * 1024
"""Bytes of a file from which on it is not looked at."""


def shown_again(
    agent: Agent, kept: Sequence[Message], *, files: FileState, room: int, scale: float, now: datetime
) -> list[Message]:
    """The files, the last one first, as far as there is `room` (tokens of the model); `kept` are the messages
    that stay, which show some already. Each enters the table `files`.
    """
    shown, made = FileState.of(kept, before=agent.files), list[Message]()
    left = min(ALL, int(room / scale))
    for path in recent_files(agent.record, cwd=agent.context.cwd):
        if left < LEAST or shown.known(path) or files.known(path) or not _may_be_shown(agent, path):
            continue
        message = _shown(agent, path, room=min(EACH, left), files=files, now=now)
        if message is not None:
            made.append(message)
            left -= agent.size_of(message)
    return made


def _may_be_shown(agent: Agent, path: Path) -> bool:
    memory = agent.context.memory
    if agent.files.known(path) is None or leads_to_secrets(path):
        return False
    return memory is None or not fs.inside(memory.directory, path)


def _shown(agent: Agent, path: Path, *, room: int, files: FileState, now: datetime) -> Message | None:
    real, seen = Path(os.path.realpath(path)), agent.files.known(path)
    try:
        data, status = fs.read_file(real, limit=LARGEST), real.stat()
    except (OSError, MemdirError):
        return None  # it is gone, or is none any more
    has_changed = seen is None or seen.digest != fs.digest(data)
    if len(data) == LARGEST or (has_changed and not fs.inside(agent.context.cwd, real)):
        return None
    if (decoded := decode(data)) is None:
        return None
    text, is_cut = shortened(decoded[0], room=room)
    message = carried_file(real, text, size=len(data), cut=is_cut, now=now)
    partial = bool((message.attachment or {}).get("cut"))
    files.saw(real, data=data, mtime_ns=status.st_mtime_ns, partial=partial, how="carried")
    return message
