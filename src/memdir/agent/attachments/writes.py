"""The memory files that tool calls changed <-> the note on the message with their results (E4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memdir.model.messages import Message


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
