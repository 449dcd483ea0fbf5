"""The clock, and what the conversation was told of it -> which day it is, where that is news (J3).

The day stands in no system prompt, which never changes within a session (I6). "Local" is the zone of `now`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from itertools import pairwise

from memdir.agent.attachments.base import attached
from memdir.model.messages import Message
from memdir.prompts import render


def date_news(messages: Sequence[Message], now: datetime) -> Message | None:
    """What to add before a request: the day, if these messages do not say it, or say another one last.

    A day that is earlier than the one told (another zone, a clock put right) is told too, but a step back to
    a day that was stepped back to before is not: a clock that goes to and fro over midnight says no more
    than three times what day it is, and is right again by the next one.
    """
    told, today = list(_told(messages)), now.date()
    if not told:
        return date_change(now, first=True)
    if told[-1] == today or (today < told[-1] and _stepped_back(told, today)):
        return None
    return date_change(now, first=False)


def date_change(now: datetime, *, first: bool) -> Message:
    """Which day it is, with weekday and offset. `first`: at the beginning, or after a compaction."""
    name = "date_first" if first else "date_change"
    text = render(name, day=f"{now:%A}, {now.date().isoformat()}{_zone(now)}")
    return attached(text, {"kind": "date", "date": now.date().isoformat()}, now=now)


def _told(messages: Iterable[Message]) -> Iterable[date]:
    for message in messages:
        about = message.attachment or {}
        if about.get("kind") == "date":
            try:
                yield date.fromisoformat(about["date"])
            except (KeyError, TypeError, ValueError):  # a transcript that somebody has changed
                continue


def _stepped_back(told: Sequence[date], day: date) -> bool:
    return any(before > after == day for before, after in pairwise(told))


def _zone(now: datetime) -> str:
    offset = now.utcoffset()
    if offset is None:
        return ""
    minutes = int(offset.total_seconds()) // 60
    sign, minutes = ("-", -minutes) if minutes < 0 else ("+", minutes)
    return f" (UTC{sign}{minutes // 60:02}:{minutes % 60:02})"
