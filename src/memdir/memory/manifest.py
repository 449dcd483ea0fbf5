"""Headers become the lines a model chooses from, ages become words, text is made harmless (M4, M5)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from memdir.memory.topic import instant

if TYPE_CHECKING:
    from memdir.memory.scan import Header

# What a person can't see: other controls than white space; joiners, fillers, direction marks, variation
# selectors that carry no look of their own, and the tag letters that spell hidden text.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_HALF = re.compile("[\ud800-\udfff]")
# `</anything`, however it is spelled, and the openings that programs use to speak to a model.
_TAG = re.compile(
    r"[<＜﹤](?=\s*[/／⁄∕⧸]|\s*(?:system|assistant|human|user|function|tool|invoke|antml))", re.IGNORECASE
)


def harmless(text: str) -> str:
    """Text to be shown to a model inside ours: one line, nothing unseen, no tag that could end ours."""
    return _TAG.sub("‹", " ".join(visible(text).split()))


def visible(text: str) -> str:
    """The text without what a person can't see in it; half characters as U+FFFD."""
    return _UNSEEN.sub("", _HALF.sub("\ufffd", text))


def harmless_lines(text: str) -> str:
    """Several lines to be shown to a model inside ours, each made `harmless`; indentation stays."""
    return "\n".join(line[: len(line) - len(line.lstrip())] + harmless(line) for line in text.splitlines())


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
