"""A summary that a model writes at once, when a conversation has to get shorter and there are no notes (C4).

It is asked of a fork, which sends the conversation's own bytes first and may call no tool. A conversation
that does not fit the window with the question loses its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memdir.agent.fit.base import base_for
from memdir.agent.fork import Forked, fork
from memdir.agent.loop import Agent
from memdir.errors import BadReply, ContextTooLong
from memdir.memory.fence import fenced
from memdir.model.messages import Message, Usage
from memdir.prompts import render
from memdir.session.rights import none_at_all
from memdir.session.sections import TOTAL, Template, fit

LABEL = "compaction"

MAX_TURNS = 3
"""Requests: a model that calls a tool first, or whose answer is cut off, gets another word."""

SHARES = (1.0, 0.7, 0.45)
"""Of the room in the window, one attempt after the other, if the service finds it too much."""

_WRAPPED = re.compile(r"\A(`{3,})(?:markdown|md)?[ \t]*\n(.*)\n\1[ \t]*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The summary, which is a model's words: `fence.fenced` it before a model sees it. What it took, and how
    many of the oldest messages it does not cover.
    """

    text: str
    usage: Usage
    dropped: int


async def written(
    agent: Agent,
    *,
    template: Template | None = None,
    instructions: str | None = None,
    messages: Sequence[Message] | None = None,
    limit: int = TOTAL,
) -> Written:
    """Have the conversation summarised, in at most `limit` tokens.

    `instructions`: what the person wants of it. `messages`: those to summarise, if not all that the
    conversation holds now; no call in them is unanswered.

    Raises:
        ModelError: the model failed, or gave no text (`BadReply`).
    """
    template = template or Template.default()
    asked = instruction(template, instructions)
    base = tuple(agent.messages if messages is None else messages)
    usage = Usage()
    for share in SHARES:
        fitting = base_for(agent, asked, base, share=share)
        ended = await fork(
            agent, asked, permit=none_at_all(), max_turns=MAX_TURNS, label=LABEL, messages=fitting.messages
        )
        usage += ended.usage
        if not isinstance(ended.error, ContextTooLong):
            break
    if ended.error is not None:
        raise ended.error
    text = _said(ended)
    if not any(map(str.isalnum, text)):
        raise BadReply(f"{agent.model.name} gave no summary of the conversation")
    return Written(text=fit(text, template, limit, section=limit), usage=usage, dropped=fitting.dropped)


def instruction(template: Template, instructions: str | None) -> str:
    """The fork's message."""
    wanted = fenced(instructions or "").strip()
    return render("session_summary", template=template.text.strip("\n"), instructions=wanted or "Nothing.")


def _said(ended: Forked) -> str:
    """The text of the answer, which may have come in two parts; not what was said beside a tool call."""
    answers = [one for one in ended.messages if one.role == "assistant" and not one.tool_uses]
    text = "\n".join(one.text.strip("\n") for one in answers).strip()
    whole = _WRAPPED.match(text)
    text = whole[2].strip() if whole else text
    return "" if text == "(no answer)" else text
