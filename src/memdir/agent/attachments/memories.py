"""A recalled memory -> the attachment that shows it; and which ones a conversation shows (R4, R6, R7)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from memdir.agent.attachments.base import attached
from memdir.memory import manifest
from memdir.memory.fence import fenced
from memdir.model.messages import Message
from memdir.prompts import render


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
