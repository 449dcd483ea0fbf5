"""How much of a memory is shown when it is recalled, and is that all of it? (R6) Pure."""

from __future__ import annotations

from memdir.memory import encoding
from memdir.memory.fence import fenced

BODY_LINES, BODY_BYTES = 200, 4_096
"""What is shown of a memory, at most (R6)."""


def size(data: bytes) -> tuple[int, int]:
    """Lines and bytes of a memory as it would be shown, if nothing was cut."""
    text = fenced(encoding.readable(data).replace("\r\n", "\n")).strip("\n")
    return len(text.splitlines()), len(text.encode())


def is_whole(data: bytes) -> bool:
    """Whether all of a memory is shown."""
    lines, count = size(data)
    return lines <= BODY_LINES and count <= BODY_BYTES
