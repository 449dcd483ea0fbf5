"""What a compaction knows of the messages that it takes away -> the one that stands in their place (C4)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from memdir.agent.attachments.base import attached
from memdir.memory.fence import fenced, harmless
from memdir.model.messages import Message
from memdir.prompts import render

Trigger = Literal["auto", "manual", "overflow"]
"""Why: the next request had no room, the person asked for it, or the model refused one as too long."""

How = Literal["notes", "model", "rules"]
"""Where the summary comes from: the notes kept all along (C3), a model asked for it now, or rules."""

REQUEST = 4_000
"""Characters of one request of the person's: its beginning and its end."""

TODOS = 50
"""So many open points are named."""

TODO = 300
"""Characters of one of them."""


def compaction_boundary(
    *,
    trigger: Trigger,
    how: How,
    summary: str,
    gone: int,
    intent: str | None,
    latest: str | None,
    todos: Sequence[str],
    tail: int,
    now: datetime,
    transcript: Path | None = None,
) -> Message:
    """The message that a shortened conversation begins with: where it is cut, and what came before.

    `gone`: messages that it stands for; `tail`: messages that were kept behind it. `intent` and `latest`: the
    person's first and last request in their own words, None where they are among the kept ones or there is
    none. `transcript`: where all of it can be looked up. The summary is notes, and nobody's order; one made
    by rules says that it may lack things.
    """
    parts = [
        render("compaction", gone=_messages(gone), why=_WHY[trigger], how=render(f"compaction_by_{how}")),
        render("compaction_transcript", path=str(transcript)) if transcript else "",
        render("compaction_summary", summary=fenced(summary).strip() or "(there is no summary)"),
        *_requests(intent, latest),
        _open(todos),
        render("compaction_tail", tail=_messages(tail)) if tail else "",
        render("compaction_asked" if trigger == "manual" else "compaction_go_on"),
    ]
    about = {"kind": "compaction", "trigger": trigger, "how": how, "gone": gone, "tail": tail}
    return attached("\n\n".join(part for part in parts if part), about, now=now)


_WHY: dict[Trigger, str] = {
    "auto": "it had grown too long for one request",
    "manual": "the person asked for it",
    "overflow": "it had grown too long for one request",
}


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count:,} messages"


def _requests(intent: str | None, latest: str | None) -> list[str]:
    """What the person wants: one request where the first is the last."""
    first, last = (intent or "").strip(), (latest or "").strip()
    named = [("only", first)] if first == last else [("first", first), ("latest", last)]
    return [render("compaction_request", which=which, text=_shown(text)) for which, text in named if text]


def _shown(text: str) -> str:
    if len(text) > REQUEST:
        head, tail = text[: REQUEST * 3 // 4], text[-REQUEST // 4 :]
        text = f"{head}\n[… {len(text) - len(head) - len(tail):,} characters are left out …]\n{tail}"
    return fenced(text)


def _open(todos: Sequence[str]) -> str:
    points = [f"- [ ] {line[:TODO]}" for todo in todos if (line := harmless(todo))]
    if not points:
        return ""
    if len(points) > TODOS:
        points[TODOS:] = [f"(and {len(points) - TODOS:,} more)"]
    return render("compaction_todos", todos="\n".join(points))
