"""Instructions and index -> the first message of a conversation, and those for what comes later (I3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memdir.agent.attachments import attached
from memdir.agent.events import Events
from memdir.agent.file_state import FileState
from memdir.agent.instructions.memory import Index, injected_index
from memdir.agent.instructions.sources import Instruction, Sources
from memdir.memory.fence import exact
from memdir.memory.store import MemoryDir
from memdir.model.messages import Message, Text
from memdir.prompts import render


def context_message(
    memory: MemoryDir | None,
    *,
    files: FileState,
    events: Events,
    now: datetime,
    inject_index: bool = True,
    sources: Sources | None = None,
) -> Message | None:
    """The first message of a conversation: the instructions, then the index of memory, or the remark that it
    is empty (I3), in a block of text each. None when there is nothing to say.

    `sources`: what `gather` found. With memory off, or with `inject_index` off, there is no index (I4, S4).
    An index that can't be read is told, and is not shown. What is shown whole may be edited without another
    Read (A2).
    """
    index = injected_index(memory, files=files, events=events) if inject_index else None
    if sources is None:
        return None if index is None else attached(index.text, _about_index(index), now=now)
    if index is not None:
        sources = sources.without(index.path)
    parts = [render("instructions", files=sections(sources.files))] if sources.files else []
    note(sources.files, files)
    if index is not None:
        parts.append(index.text)
    if not parts:
        return None
    blocks = tuple(Text(text=part) for part in parts)
    about: dict[str, Any] = {
        "kind": "context",
        "files": [one.note() for one in sources.files],
        "index": None if index is None else str(index.path),
    }
    if index is not None:
        shown = {"path": str(index.path), "what": "index", "bytes": index.bytes, "cut": index.truncated}
        about["files"].append(shown)
        about |= {key: value for key, value in _about_index(index).items() if key != "kind"}
    return replace(attached("", about, now=now), content=blocks)


def later_message(found: Sequence[Instruction], *, why: str, path: Path, now: datetime) -> Message:
    """What a file that was read or changed (`path`) brings; `why` is "nested" or "paths"."""
    text = render("instructions_later", path=str(path), files=sections(found))
    about = {"kind": "instructions", "why": why, "for": str(path), "files": [one.note() for one in found]}
    return attached(text, about, now=now)


def note(found: Sequence[Instruction], files: FileState) -> None:
    """Put what is shown into the table of the conversation."""
    for one in found:
        if one.shown:
            partial = one.cut or not one.whole
            files.saw(one.path, data=one.data, mtime_ns=one.mtime_ns, partial=partial, how="instructions")


def sections(found: Sequence[Instruction]) -> str:
    """Each file below its own heading; behind them the names of those that there is no room for."""
    parts = [_section(one) for one in found if one.shown]
    named = [f"- {exact(str(one.path))} ({one.words}, {one.size:,} bytes)" for one in found if not one.shown]
    if named:
        parts.append(render("instructions_named", list="\n".join(named)))
    return "\n\n".join(parts)


def _section(one: Instruction) -> str:
    more = ""
    if one.cut:
        more = "\n" + render(
            "instructions_cut", path=str(one.path), shown=f"{one.bytes:,}", size=f"{one.size:,}"
        )
    return render("instructions_file", path=str(one.path), what=one.words, text=one.shown, cut=more)


def _about_index(index: Index) -> dict[str, Any]:
    return {
        "kind": "index",
        "path": str(index.path),
        "bytes": index.bytes,
        "truncated": index.truncated,
    }
