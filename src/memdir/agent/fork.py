"""A conversation and one instruction -> what a background agent made of them (A4, A5, A7).

A fork continues from a copy of its host's conversation: the same prefix and the same messages, byte for
byte, so that the provider's cache has most of the request already. It has its own table of seen files and
its own rights; no transcript, no hooks, no recall. To abort it, cancel the scope in which it runs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from memdir.agent.events import FORKED
from memdir.agent.fit.base import base_for
from memdir.agent.fit.shorten import original
from memdir.agent.loop import Agent, Hooks
from memdir.agent.permissions import Permission, for_fork
from memdir.agent.tools import ToolContext
from memdir.errors import ModelError, TurnLimit, UsageError
from memdir.memory import entrypoint
from memdir.memory.store import MemoryDir, Written
from memdir.memory.topic import Origin
from memdir.model.messages import Message, Text, Usage
from memdir.paths import canonical_root


@dataclass(frozen=True, slots=True, kw_only=True)
class OnCopy:
    """A fork whose memory is a copy, judged as a whole when it is done (D8): so nothing that it writes there
    is vetted, and nothing is said to come from this conversation.

    `notebook`: the one file that it may write besides memories, a real path. `beside`: what it may read
    besides the copy and the working folder. `hooks`: what goes on beside it.
    """

    notebook: Path
    beside: tuple[Path, ...]
    hooks: Hooks


@dataclass(frozen=True, slots=True, kw_only=True)
class Forked:
    """How a fork ended and what it did (A7).

    `messages` are those that it added, its instruction first. `turns` counts requests. `wrote` holds every
    write of a memory file, the index included; `deleted` the topic files removed. `denied` counts refused
    calls; `held` are the files of writes that wait for the person. Reaching the limit of turns is a success
    like any other end. `error`: what the model failed with, if it did; whether what was written by then stays
    is for the caller to say.
    """

    messages: tuple[Message, ...]
    usage: Usage
    turns: int
    wrote: tuple[Written, ...]
    deleted: tuple[str, ...]
    denied: int
    held: tuple[str, ...]
    stop: Literal["end", "turn limit", "failed"]
    seconds: float
    error: ModelError | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The topic files that it changed, each once and in order; the index does not count (E8)."""
        changed = [written.file for written in self.wrote if written.action != "unchanged"]
        names = [name for name in (*changed, *self.deleted) if PurePosixPath(name).name != entrypoint.NAME]
        return tuple(dict.fromkeys(names))


async def fork(
    agent: Agent,
    instruction: str,
    *,
    max_turns: int,
    label: str,
    memory: MemoryDir | None = None,
    permit: Permission | None = None,
    messages: Sequence[Message] | None = None,
    seen: Mapping[Path, bytes] | None = None,
    on_copy: OnCopy | None = None,
) -> Forked:
    """Run a background agent on a copy of the conversation.

    With `memory` it has the rights of a memory fork in that directory (A5); with `permit` those that this
    gives, and no memory unless `memory` is given too. `messages` is the conversation to continue from, if not
    all that it holds now: the host may be further on already. No tool call in it is unanswered; what the
    model's window has no room for is left out at its beginning. `seen`: files that the instruction shows
    whole, which counts as a Read (A2). `on_copy`: `memory` is a copy to work on.

    Raises:
        UsageError: a call is unanswered; or neither `memory` nor `permit` says what the fork may do.
        ContextTooLong: there is no room even for the instruction alone.
    """
    base = tuple(agent.messages if messages is None else messages)
    if base and base[-1].tool_uses:
        raise UsageError("a fork begins when each tool call has its result")
    base = base_for(agent, instruction, base).messages
    background = _background(agent, base, memory=memory, permit=permit, max_turns=max_turns, label=label)
    if on_copy is not None:
        background = _moved_onto(on_copy, background)
    for path, data in (seen or {}).items():
        background.files.saw(path, data=data, mtime_ns=0, partial=False, how="read")
    began, before = time.monotonic(), len(background.record)
    message = Message(role="user", content=(Text(text=instruction),), origin="system")
    stop: Literal["end", "turn limit", "failed"] = "end"
    failure: ModelError | None = None
    try:
        await background.turn(message)
    except TurnLimit:
        stop = "turn limit"
    except ModelError as error:
        stop, failure = "failed", error
    ended = Forked(
        messages=tuple(background.record[before:]),
        usage=background.usage,
        turns=background.steps,
        wrote=tuple(background.context.wrote),
        deleted=tuple(background.context.deleted),
        denied=background.denied,
        held=tuple(dict.fromkeys(background.context.held)),
        stop=stop,
        seconds=round(time.monotonic() - began, 3),
        error=failure,
    )
    _report(agent, label, ended)
    return ended


def _background(
    agent: Agent,
    base: tuple[Message, ...],
    *,
    memory: MemoryDir | None,
    permit: Permission | None,
    max_turns: int,
    label: str,
) -> Agent:
    said = next((message.id for message in reversed(base) if message.origin == "person"), None)
    context = replace(
        agent.context,
        files=agent.files.copy(),
        memory=memory,
        evidence=None,
        origin=Origin(session=agent.id, message=said, worker=label),
        memory_only=memory is not None,
        beside=(canonical_root(agent.context.cwd),),
        host=agent.files,
        wrote=[],
        deleted=[],
        held=[],
    )
    return Agent(
        id=agent.id,
        prefix=agent.prefix,
        model=agent.model,
        context=context,
        permit=permit or _rights(memory, context),
        tools=agent.tools,
        messages=list(base),
        record=_record_upto(agent, base),
        events=agent.events,
        label=label,
        max_steps=max_turns,
        watch_files=False,
    )


def _moved_onto(copy: OnCopy, background: Agent) -> Agent:
    """The same agent, which has not begun, at work on a copy."""
    context = replace(
        background.context,
        evidence=None,  # which the agent has made of its record by now
        origin=None,
        host=None,
        notebook=copy.notebook,
        beside=copy.beside,
    )
    return replace(background, context=context, hooks=copy.hooks, vets=False)


def _rights(memory: MemoryDir | None, context: ToolContext) -> Permission:
    if memory is None:
        raise UsageError("nobody has said what the fork may do")
    return for_fork(memory=memory.directory, cwd=context.cwd, also=context.beside)


def _record_upto(agent: Agent, base: Sequence[Message]) -> list[Message]:
    """All that was ever said up to the end of the fork's conversation: what a compaction took out of it is
    somebody's word, too.
    """
    for at in range(len(agent.record) - 1, -1, -1):
        if base and original(agent.record[at]) == original(base[-1]):
            return agent.record[: at + 1]
    return list(base)


def _report(agent: Agent, label: str, ended: Forked) -> None:
    usage = ended.usage
    agent.events.emit(
        FORKED,
        label=label,
        stop=ended.stop,
        turns=ended.turns,
        input_tokens=usage.input,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        output_tokens=usage.output,
        hit_percent=usage.hit_percent,
        files=len(ended.topics),
        denied=ended.denied,
        seconds=ended.seconds,
    )
