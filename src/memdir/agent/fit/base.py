"""A conversation and a question about it -> as much of its end as the window has room for (C3, C4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memdir.agent.fit.places import front
from memdir.agent.fit.shorten import shorten
from memdir.agent.loop import Agent
from memdir.errors import ContextTooLong
from memdir.model import tokens
from memdir.model.messages import Message, Request, Text

FRAME = 300
"""Tokens that a request may have besides."""

OFF = 3
"""Percent of a window by which an estimate may be off that has learned from other requests."""

_LEAST = 200
"""Tokens below which a piece of conversation says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The messages to ask about, and how many of the oldest were left out: with none, they are the same."""

    messages: tuple[Message, ...]
    dropped: int = 0


def base_for(
    agent: Agent,
    instruction: str,
    messages: Sequence[Message],
    *,
    answer: int | None = None,
    at_most: int | None = None,
    share: float = 1.0,
) -> Base:
    """The messages, if they fit with the instruction and an answer; else as much of them as does.

    Long results are cut in the middle first, and then the oldest messages go; a note stands for these.
    `answer`: tokens kept free for it, the prefix's bound if None, but never over half of the window.
    `at_most`: the oldest go first, until no more than so many estimated tokens are left. `share` of the room:
    less than 1 for a service that has refused what should have fitted.

    Raises:
        ContextTooLong: there is no room even without any of them.
    """
    window, scale = agent.window, agent.model.scale
    asked = Message(role="user", content=(Text(text=instruction),), origin="system")
    fixed = tokens.estimate_request(Request(prefix=agent.prefix, messages=(asked,))) + FRAME
    wanted = agent.prefix.max_tokens if answer is None else answer
    free = window - min(wanted, window // 2) - window * OFF // 100
    room = int((free / scale - fixed) * share)
    if sum(map(tokens.estimate_message, messages)) <= room:
        return Base(messages=tuple(messages))
    if room < _LEAST:
        raise ContextTooLong(
            f"a question about the conversation does not fit the window of {agent.model.name}"
        )
    count = tokens.estimate_message
    if at_most is not None:
        room = min(room, max(at_most, _LEAST))
        at = front(messages, room=room, count=count)
        kept = shorten(messages[at:], room=room, count=count)
    else:
        kept = shorten(messages, room=room, count=count)
        at = front(kept, room=room, count=count)
        kept = kept[at:]
    gone = "message of the conversation is" if at == 1 else f"{at:,} messages of the conversation are"
    note = f"[The first {gone} left out here, for there is no room.]"
    told = (Message(role="user", content=(Text(text=note),), origin="system"),) if at else ()
    return Base(messages=(*told, *kept), dropped=at)
