"""Headers become the lines a model chooses from, ages become words (M4, M5)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from memdir.memory.fence import harmless, visible
from memdir.memory.topic import instant

if TYPE_CHECKING:
    from memdir.memory.scan import Header

__all__ = ["age_in_days", "age_in_words", "harmless", "line", "render", "staleness_note", "visible"]


def render(headers: Iterable[Header]) -> str:
    """The manifest: one line a header, in the order given (M4)."""
    return "\n".join(line(header) for header in headers)


def line(header: Header) -> str:
    """`- [type] relative/path.md (2026-03-30T12:00:00.000Z): description`, without what is not there (M4)."""
    kind = f"[{header.type}] " if header.type else ""
    description = harmless(header.description or "")
    head = f"- {kind}{harmless(header.path)} ({instant(header.mtime)})"
    return f"{head}: {description}" if description else head


def age_in_days(then: datetime, now: datetime) -> int:
    """Whole days between two aware moments, rounded down, never below 0 (M5)."""
    return max(0, (now - then).days)


def age_in_words(days: int) -> str:
    """`today`, `yesterday`, `N days ago` (M5)."""
    return {0: "today", 1: "yesterday"}.get(days, f"{days} days ago")


def staleness_note(days: int) -> str | None:
    """What goes with a memory from 2 days on: how far to trust it (M5)."""
    if days < 2:
        return None
    return (
        f"This memory is {days} days old: an observation of its time, not live state. What it claims about "
        "code, or cites as file:line, may be outdated. Verify it before you state it as fact."
    )
