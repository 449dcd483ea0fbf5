"""What memdir adds to a conversation by itself -> messages with origin `attachment` (R6-R8).

Each message also says, in its `attachment` field, what it is about: that goes to the transcript and never
to the model, and it is what budgets and de-duplication count over. A tool-result message of a turn that
wrote memories carries a note of the same sort, so that what was written can be told from the messages alone
(E4).

    {"kind": "index", "path": …, "bytes": …, "truncated": …}     the index of memory, at the beginning (I3)
    {"kind": "memory", "path": …, "bytes": …, "cut": …}          one surfaced memory (R6, R7)
    {"kind": "changed_file", "path": …, "cut": …}                a known file changed on disk (R8)
    {"kind": "memory_write", "wrote": […], "deleted": […]}       on tool results: names of memory files (E4)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from memdir import fs
from memdir.agent.file_state import FileState, Seen
from memdir.agent.tools.text import decode, lines_of
from memdir.errors import MemdirError
from memdir.memory import manifest
from memdir.memory.fence import fenced
from memdir.model.messages import Message, Text
from memdir.prompts import render

DIFF_CHARACTERS = 8_000
"""How much of a diff is shown."""


def attached(text: str, about: Mapping[str, Any], *, now: datetime) -> Message:
    """A message that memdir adds; `about` is its `attachment` field."""
    return Message(role="user", content=(Text(text=text),), origin="attachment", at=now, attachment=about)


# -- surfaced memories ---------------------------------------------------------------------------------------


def relevant_memory(
    path: Path, body: str, *, size: int, cut: bool, modified: datetime, now: datetime
) -> Message:
    """A surfaced memory: what is shown of it, with its age, and a note if it is old or cut (R6, M5).

    `body` is cut already; `size` is the whole file's, in bytes. Bytes of the body, as it is sent, are what R7
    counts.
    """
    body = fenced(body)
    days, shown = manifest.age_in_days(modified, now), len(body.encode())
    note = manifest.staleness_note(days)
    more = render("recalled_cut", shown=str(shown), size=str(size), path=str(path)) if cut else ""
    text = render(
        "recalled",
        path=str(path),
        age=manifest.age_in_words(days),
        note=f"\n{note}" if note else "",
        body=body,
        cut=f"\n{more}" if more else "",
    )
    return attached(text, {"kind": "memory", "path": str(path), "bytes": shown, "cut": cut}, now=now)


def surfaced(messages: Iterable[Message]) -> dict[str, int]:
    """The memories that are in the conversation now: absolute path -> bytes shown (R4, R7)."""
    found: dict[str, int] = {}
    for message in messages:
        about = message.attachment
        if about and about.get("kind") == "memory":
            found[about["path"]] = found.get(about["path"], 0) + about["bytes"]
    return found


# -- what was written ----------------------------------------------------------------------------------------


def memory_write(wrote: Sequence[str], deleted: Sequence[str]) -> Mapping[str, Any] | None:
    """The note on a message of tool results: the memory files that the calls wrote and deleted, if any."""
    if not wrote and not deleted:
        return None
    return {"kind": "memory_write", "wrote": list(dict.fromkeys(wrote)), "deleted": list(deleted)}


def memory_files_written(messages: Iterable[Message]) -> tuple[str, ...]:
    """The memory files that tool calls in these messages wrote or deleted (E4).

    A call that failed does not count. One that wrote and left the index over a limit does (F7), although its
    result is an error.
    """
    names = [
        name
        for message in messages
        if (about := message.attachment) and about.get("kind") == "memory_write"
        for name in (*about["wrote"], *about["deleted"])
    ]
    return tuple(dict.fromkeys(names))


# -- changed files -------------------------------------------------------------------------------------------


def changed_files(files: FileState, *, now: datetime) -> list[Message]:
    """A diff for each file that was seen whole and has changed on disk since (R8); the table moves on.

    A file seen in part, or gone, says nothing: an Edit of it will ask for another Read. The index is left
    out, and so is what a background job of this conversation wrote (E8).
    """
    messages = []
    for path, seen in files:
        if seen.how == "index" or (fresh := _fresh(path, seen, files)) is None:
            continue
        data, mtime_ns = fresh
        diff = _diff(seen.data, data) if seen.data is not None else None
        if diff is None:
            continue
        cut = len(diff) > DIFF_CHARACTERS
        how = "surfaced" if cut else seen.how
        files.saw(path, data=data, mtime_ns=mtime_ns, partial=cut, how=how)
        shown = diff[:DIFF_CHARACTERS] + ("\n[the rest of the difference is left out]" if cut else "")
        text = render("changed_file", path=str(path), diff=fenced(shown))
        messages.append(attached(text, {"kind": "changed_file", "path": str(path), "cut": cut}, now=now))
    return messages


def _fresh(path: Path, seen: Seen, files: FileState) -> tuple[bytes, int] | None:
    """The new content of a file and its mtime, where it differs from what was seen; else None.

    One stat when nothing happened.
    """
    try:
        now = path.stat()
        same_size = seen.data is None or len(seen.data) == now.st_size
        if now.st_mtime_ns == seen.mtime_ns and same_size:
            return None
        data = fs.read_file(path)
    except (OSError, MemdirError):
        return None
    found = fs.digest(data)
    if found == seen.no_news:
        return None
    if found != seen.digest:
        return data, now.st_mtime_ns
    files.saw(path, data=data, mtime_ns=now.st_mtime_ns, partial=seen.partial, how=seen.how)
    return None


def _diff(old: bytes, new: bytes) -> str | None:
    """A unified diff of two texts, or None if one of them is no text."""
    before, after = decode(old), decode(new)
    if before is None or after is None:
        return None
    records = difflib.unified_diff(lines_of(before[0]), lines_of(after[0]), lineterm="", n=2)
    return "\n".join(islice(records, 2, None))  # the first two name the files
