"""Instructions in their order -> how much of each there is room for; pure (I3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memdir.agent.instructions.sources import Instruction
from memdir.memory.fence import exact


def fitted(files: Sequence[Instruction], room: int) -> tuple[Instruction, ...]:
    """The same files; what passes `room` bytes is cut at a line's end, and those after it are only named."""
    fits: list[Instruction] = []
    for one in files:
        if one.size <= room:
            fits.append(one)
            room -= one.size
        else:
            fits.append(replace(one, shown=_head(one.text, room)))
            room = 0
    return tuple(fits)


def told(files: Sequence[Instruction], max_bytes: int) -> str | None:
    """The sentence for the person about what is not shown; None: all of it is."""
    cut = [one for one in files if one.cut]
    if not cut:
        return None
    total = sum(one.size for one in files)
    names = ", ".join(exact(str(one.path)) for one in cut[:3]) + (" …" if len(cut) > 3 else "")
    return (
        f"the instructions are {total:,} bytes, over instructions.maxBytes ({max_bytes:,}): of "
        f"{len(cut)} file{'s' if len(cut) > 1 else ''} not all is shown ({names})"
    )


def _head(text: str, room: int) -> str:
    """The first lines that fit; nothing where not even one does."""
    if room <= 0:
        return ""
    data = text.encode()
    return data[: data.rfind(b"\n", 0, room + 1) + 1].decode().rstrip()
