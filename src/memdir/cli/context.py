"""`/context` and `/compact` in words: what the next request holds, and what a compaction did (C4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memdir import app
from memdir.agent.loop import Agent
from memdir.cli.output import columns, line
from memdir.model import tokens
from memdir.model.messages import Request
from memdir.paths import summary_path
from memdir.session.compact import CUT, Compacted
from memdir.session.plan import Limits, is_due

_PARTS = {
    "context": "instructions, index",
    "index": "instructions, index",
    "instructions": "instructions, index",
    "index_changed": "instructions, index",
    "memory": "memories",
    "compaction": "summary",
    "file": "files shown again",
}
"""Where a message that memdir added is counted, by its kind; all others are the conversation."""

_BY = {
    "notes": "the running summary",
    "model": "a summary that the model wrote",
    "rules": "a summary put together by rules",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the next request: about how many tokens, and messages (None: it is not made of any). What
    memdir adds to the conversation, such as which day it is, counts there as tokens only.
    """

    name: str
    tokens: int
    messages: int | None = None


def parts(agent: Agent) -> list[Part]:
    """What the next request is made of. The tokens are shares of the whole, so they add up to it."""
    system = tokens.estimate_request(Request(prefix=replace(agent.prefix, tools=()), messages=()))
    whole = tokens.estimate_request(Request(prefix=agent.prefix, messages=()))
    found = {name: [0, 0] for name in ("conversation", *dict.fromkeys(_PARTS.values()))}
    for message in agent.messages:
        kind = (message.attachment or {}).get("kind") if message.origin == "attachment" else None
        name = _PARTS.get(str(kind), "conversation")
        counted = found[name]
        counted[0] += agent.size_of(message)
        counted[1] += name != "conversation" or message.origin != "attachment"
    size = agent.size()
    estimated = whole + sum(taken for taken, _ in found.values())
    scale = size / estimated if estimated else 1.0
    shown = [
        Part(name="system prompt", tokens=round(system * scale)),
        Part(name="tools", tokens=round((whole - system) * scale)),
        *(
            Part(name=name, tokens=round(taken * scale), messages=count)
            for name, (taken, count) in found.items()
            if name != "conversation" and count
        ),
    ]
    left = size - sum(part.tokens for part in shown)
    return [*shown, Part(name="conversation", tokens=max(left, 0), messages=found["conversation"][1])]


def in_words(project: app.Project, conversation: app.Conversation) -> str:
    """One screen: what the next request holds, when it would be condensed, how far the summary reaches."""
    agent = conversation.agent
    size, window = agent.size(), agent.window
    share = f" ({size * 100 // window} %)" if window else ""
    rows = [(f"  {part.name}", f"{part.tokens:>9,}", _messages(part.messages)) for part in parts(agent)]
    return "\n".join(
        (
            f"the next request: about {size:,} of {window:,} tokens{share}",
            columns(rows),
            *_when(project, agent, size),
            line(f"running summary: {_summary(project, conversation)}"),
        )
    )


def _messages(count: int | None) -> str:
    return "" if count is None else counted(count)


def counted(count: int) -> str:
    """`1 message`, `1,200 messages`."""
    return "1 message" if count == 1 else f"{count:,} messages"


def _when(project: app.Project, agent: Agent, size: int) -> Iterator[str]:
    """When the conversation would be condensed."""
    settings = project.settings.compact
    limits = Limits(window=agent.window, answer=agent.prefix.max_tokens, reserve=settings.reserve_tokens)
    if not settings.automatic:
        at = limits.window - limits.one_answer()
        yield f"it is condensed only above {at:,} tokens, where no answer fits; /compact does it now"
    elif is_due(size, limits):
        yield "it is condensed before the next request, if that helps; /compact does it now"
    else:
        yield f"it is condensed by itself above {limits.room():,} tokens; /compact does it now"


def _summary(project: app.Project, conversation: app.Conversation) -> str:
    """Where the running summary is, and how far it reaches."""
    notes, record = conversation.notes, conversation.agent.record
    if notes is None:
        if not project.settings.features.session_memory:
            return "off: the setting features.sessionMemory is off"
        return "off: this conversation has no transcript, beside which it would be"
    writing = "; it is being written right now" if notes.is_running else ""
    if notes.summary() is None:
        first = project.settings.session.first_tokens
        return f"none yet, it begins at about {first:,} tokens of conversation{writing}"
    path = summary_path(project.places, conversation.agent.id)
    at = next((at for at, message in enumerate(record, 1) if message.id == notes.upto), 0)
    reach = f"up to message {at:,} of {len(record):,}" if at else "nobody knows how far it reaches"
    return f"{reach}, in {path}{writing}"


def done(compacted: Compacted) -> str:
    """What a compaction did, in one line."""
    return f"condensed: {change(compacted.before, compacted.after, compacted.gone, compacted.how)}"


def change(before: int, after: int, gone: int, how: str) -> str:
    """`47,012 -> 18,300 tokens; the running summary stands for 212 messages`."""
    if how == CUT:
        return f"{before:,} -> {after:,} tokens; all messages are kept, long ones cut in the middle"
    return f"{before:,} -> {after:,} tokens; {_BY.get(how, how)} stands for {counted(gone)}"
