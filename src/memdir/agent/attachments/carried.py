"""A file that was read before a compaction -> the attachment that shows it again (C4).

It stands there as Read would show it, with its lines numbered, so that work on it goes on without a new Read.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

from memdir.agent.attachments.base import attached
from memdir.agent.tools.read import numbered
from memdir.agent.tools.text import lines_of
from memdir.memory.fence import fenced
from memdir.model.messages import Message
from memdir.model.tokens import estimate
from memdir.prompts import render

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def shortened(text: str, *, room: int) -> tuple[str, bool]:
    """The first lines of a text that take at most about `room` tokens with their numbers; whether it is cut.

    A first line that is longer than that is cut itself.
    """
    end, left = 0, room
    for number, line in enumerate(_LINE.findall(text), 1):
        left -= estimate(f"{number:>6}\t{line}")
        if left < 0:
            return (text[:end] or text[: max(0, room)]), True
        end += len(line)
    return text, False


def carried_file(path: Path, text: str, *, size: int, cut: bool, now: datetime) -> Message:
    """A file as it is on the disk now. `text` is what is shown of it, from its beginning; `size` is the whole
    file's, in bytes; `cut` says that it is longer than that.

    The `cut` of the attachment is true as well where something in it could not be shown word for word: then
    it was seen in part (A2).
    """
    lines = lines_of(text)
    listed, whole = numbered(lines, 1, len(lines))
    shown = fenced(listed)
    partial = cut or not whole or shown != listed
    note = ""
    if cut or not whole:
        count = listed.count("\n") + 1
        note = render("carried_file_cut", lines=f"{count:,}", size=f"{size:,}")
    elif partial:
        note = render("carried_file_altered")
    body = shown if lines else "[the file is empty]"
    text = render("carried_file", path=str(path), text=body, note=f"\n{note}" if note else "")
    about = {"kind": "file", "path": str(path), "bytes": len(shown.encode()), "cut": partial}
    return attached(text, about, now=now)
