"""A talk that took place elsewhere or earlier -> memories of it, each message once (E7, E11).

The cursor is kept by session, as for a conversation of our own: a second run does nothing, and of a
transcript that has grown only what is new counts. A talk over several days is taken a day at a time, so
that "tomorrow" is the day after it was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

import anyio.to_thread

from memdir.agent.attachments import memory_files_written
from memdir.agent.events import Events
from memdir.agent.file_state import FileState
from memdir.agent.instructions import load_memory_prompt
from memdir.agent.loop import Agent
from memdir.agent.permissions import for_fork
from memdir.agent.tools import TOOLS, ToolContext
from memdir.errors import MemdirError
from memdir.extract import cursor, foreign, gates, killed
from memdir.extract.cursor import Cursor
from memdir.extract.foreign import IMAGE, Talk
from memdir.extract.run import MAX_TURNS, begin, day_of, extract, take_back
from memdir.extract.saved import Saved
from memdir.fs import digest
from memdir.memory.fence import fenced, harmless
from memdir.memory.journal import Journal
from memdir.memory.store import MemoryDir
from memdir.model import tokens
from memdir.model.client import ModelClient
from memdir.model.messages import Block, Image, Message, Prefix, Request, Text, ToolResult, ToolUse, assistant

SHARE = 0.4
"""Of what a window has left for a talk, how much one part may take; as much again is context before it."""

LEAST_PART = 500
"""Estimated tokens of a part at the least: a window that has no room for this is told by the model."""

LONGEST_RESULT = 600
"""Characters of a tool result that a model is shown as context."""

SHORTEST = 120
"""Characters left of what the agent or a tool said, where a turn is too long: its beginning and its end."""


async def learn(
    talk: Talk,
    *,
    memory: MemoryDir,
    model: ModelClient,
    cursors: Path,
    journals: Path | None = None,
    now: Callable[[], datetime],
    max_turns: int = MAX_TURNS,
    events: Events | None = None,
    on_part: Callable[[int, int], None] = lambda _done, _of: None,
    on_saved: Callable[[Saved], None] = lambda _: None,
    wait: float = cursor.WAIT,
) -> Saved:
    """Save what the talk holds that no earlier run has seen. `on_part` hears how many parts are done, of
    how many; `on_saved` what was saved of each, before a later one can fail. A turn in which the agent itself
    wrote memory is left alone (E4). `journals`: where a part that is under way is kept track of.

    Raises:
        ModelError: the model could not answer; the parts before are done, and the next run goes on there.
        OSError: the disk failed, and the same holds.
        Conflict: somebody else has been learning from this talk for `wait` seconds.
    """
    noting = partial(foreign.noting_writes, talk.messages, memory.directory)
    told = await anyio.to_thread.run_sync(noting, abandon_on_cancel=True)
    talk = replace(talk, messages=told)
    key = f"{talk.session_id}-{digest(talk.part.encode())[:8]}" if talk.part else talk.session_id
    agent = _parent(talk, memory=memory, model=model, now=now, events=events)
    if not model.is_local:
        await model.survey()  # how large its window is; some servers have to be asked
    saved = Saved()
    async with cursor.alone(cursors, key, wait=wait):
        clear_up = partial(killed.take_back, memory, journals, cursors=cursors, session=key)
        await anyio.to_thread.run_sync(clear_up)
        seen = cursor.load(cursors, key)
        divide = partial(_parts, _new(talk, seen), now=now(), limit=_limit(agent))
        parts = await anyio.to_thread.run_sync(divide, abandon_on_cancel=True)
        places = {message.id: place for place, message in enumerate(talk.messages)}
        for done, part in enumerate(parts, start=1):
            if gates.has_words(part) and not memory_files_written(part):
                before = talk.messages[: places[part[0].id]]
                start = seen.message if seen else ""
                run = begin(memory, part, session=key, start=start, journals=journals, worker="learn")
                learned = await _learn_part(agent, before, part, run=run, max_turns=max_turns)
                seen = await _commit(agent, run, cursors, key, part[-1])
                on_saved(learned)
                saved += learned
            else:
                seen = Cursor.behind(part[-1])
                cursor.save(cursors, key, seen)
            on_part(done, len(parts))
    return saved


async def _commit(
    agent: Agent, run: tuple[MemoryDir, Journal], cursors: Path, key: str, last: Message
) -> Cursor:
    """The part is done: the cursor moves behind it. If it can't, nothing of the part stays."""
    memory, journal = run
    seen = Cursor.behind(last)
    try:
        cursor.save(cursors, key, seen)
    except (OSError, MemdirError):
        await take_back(agent, memory, journal, seen=agent.files.copy())
        raise
    with suppress(OSError, MemdirError):  # the cursor says it as well
        journal.done()
    return seen


async def _learn_part(
    agent: Agent,
    before: Sequence[Message],
    part: Sequence[Message],
    *,
    run: tuple[MemoryDir, Journal],
    max_turns: int,
) -> Saved:
    """One part by the way of every extraction. A model is shown it in plain words, as a talk that has
    ended; what it can't hold at once, it is shown in pieces, and if it fails in one nothing of the others
    stays either: the next run begins with the part.
    """
    memory, journal = run
    if agent.model.is_local:
        said = [*before, *part]
        return await extract(agent, said, part, memory=memory, max_turns=max_turns, journal=journal)
    saved, limit = Saved(), _limit(agent)
    earlier = _tail(_plain(reversed(before)), limit)
    for piece in await anyio.to_thread.run_sync(_to_be_shown, part, limit):
        if gates.has_words(piece):
            shown = [*piece, _ended(piece)]
            context = _tail(reversed(earlier), limit)
            saved += await extract(
                agent, [*context, *shown], shown, memory=memory, max_turns=max_turns, journal=journal
            )
        earlier += piece
    return saved


def _new(talk: Talk, seen: Cursor | None) -> tuple[Message, ...]:
    """What no earlier run has seen. If the talk was rewound behind the cursor, its time decides."""
    if seen is None or any(message.id == seen.message for message in talk.messages):
        return gates.since(talk.messages, seen.message if seen else None)
    at = seen.at
    return tuple(message for message in talk.messages if at is None or (message.at and message.at > at))


def _parts(new: Sequence[Message], *, now: datetime, limit: int) -> list[list[Message]]:
    """Whole turns, put together as long as they are of one day and not too long.

    A turn in which the agent itself wrote memory is a part of its own: it is left alone (E4).
    """
    parts: list[list[Message]] = []
    before: tuple[object, bool] | None = None
    size = 0
    for turn in _turns(new):
        kind = (day_of(turn, now), bool(memory_files_written(turn)))
        length = sum(tokens.estimate_message(message) for message in turn)
        if kind != before or size + length > limit:
            parts.append([])
            size = 0
        parts[-1] += turn
        before, size = kind, size + length
    return parts


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    """Messages by turns: each begins with the person's word."""
    turns: list[list[Message]] = []
    for message in messages:
        if message.origin == "person" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


# -- for a language model ------------------------------------------------------------------------------------


def _parent(
    talk: Talk,
    *,
    memory: MemoryDir,
    model: ModelClient,
    now: Callable[[], datetime],
    events: Events | None,
) -> Agent:
    """The conversation that is forked: it has the memory prompt and the tools, and is never run itself."""
    events, cwd = events or Events(), talk.cwd or memory.directory
    return Agent(
        id=talk.session_id,
        prefix=Prefix(
            system=(load_memory_prompt(memory, events=events) or "",),
            tools=tuple(tool.spec for tool in TOOLS),
        ),
        model=model,
        context=ToolContext(cwd=cwd, files=FileState(), memory=memory, now=now),
        permit=for_fork(memory=memory.directory, cwd=cwd),
        events=events,
        label="learn",
    )


def _to_be_shown(part: Sequence[Message], limit: int) -> list[list[Message]]:
    """What a model is shown of a part, in pieces that it can hold."""
    return _pieces(_shortened(list(_plain(part)), limit), limit)


def _plain(messages: Iterable[Message]) -> Iterator[Message]:
    """The talk as text: tool calls in a line each, results cut, what programs put in left out."""
    shown = (message for message in messages if message.origin in ("person", "assistant", "tool"))
    plain = (replace(m, content=tuple(Text(text=_words(block)) for block in m.content)) for m in shown)
    return (message for message in plain if message.text.strip())


def _words(block: Block) -> str:
    match block:
        case Text(text=text):
            return text
        case ToolUse(name=name, input=given):
            about = next((value for value in given.values() if isinstance(value, str)), "")
            return f"[used {harmless(name)}: {harmless(about[:200])}]"
        case ToolResult(content=content):
            return f"[a tool answered:]\n<answer>\n{fenced(content[:LONGEST_RESULT])}\n</answer>"
        case Image():
            return IMAGE
        case _:
            return ""


def _shortened(messages: Sequence[Message], limit: int) -> list[Message]:
    """Messages that take no more than `limit` tokens together, if it can be had without cutting the person's.

    What the agent and tools said loses its middle, the oldest first.
    """
    kept = list(messages)
    size = sum(map(tokens.estimate_message, kept))
    for place, message in enumerate(kept):
        if size <= limit:
            break
        if message.origin != "person" and len(message.text) > SHORTEST:
            half = SHORTEST // 2
            kept[place] = _saying(message, f"{message.text[:half]} […] {message.text[-half:]}")
            size += tokens.estimate_message(kept[place]) - tokens.estimate_message(message)
    return kept


def _pieces(messages: Sequence[Message], limit: int) -> list[list[Message]]:
    """Messages in runs of no more than `limit` tokens. One that is longer alone is divided."""
    pieces: list[list[Message]] = []
    left = 0
    for message in (part for whole in messages for part in _divided(whole, limit)):
        size = tokens.estimate_message(message)
        if size > left or not pieces:
            pieces.append([])
            left = limit
        pieces[-1].append(message)
        left -= size
    return pieces


def _divided(message: Message, limit: int) -> list[Message]:
    """A message in as many as it takes, parted at ends of lines or between words."""
    text = message.text
    if tokens.estimate_message(message) <= limit or len(text) < SHORTEST:
        return [message]
    half = len(text) // 2
    ends = (text.rfind(mark, half // 2, half) + 1 for mark in ("\n", " "))
    middle = next((end for end in ends if end), half)
    parts = (_saying(message, part) for part in (text[:middle], text[middle:]))
    return [one for part in parts for one in _divided(part, limit)]


def _saying(message: Message, text: str) -> Message:
    return replace(message, content=(Text(text=text),))


def _tail(latest: Iterable[Message], limit: int) -> list[Message]:
    """Of messages that come latest first: those that take no more than `limit` tokens together, as said."""
    kept: list[Message] = []
    for message in latest:
        limit -= tokens.estimate_message(message)
        if limit < 0:
            break
        kept.append(message)
    return kept[::-1]


def _ended(part: Sequence[Message]) -> Message:
    """What closes the talk, so that a fork may begin after it."""
    return replace(assistant("(The conversation was left here.)"), at=part[-1].at if part else None)


def _limit(agent: Agent) -> int:
    """Estimated tokens of one part, and of the context before it: a share of what the window has left beside
    the prompt, the tools and the answer."""
    window = agent.model.window
    prompt = tokens.estimate_request(Request(prefix=agent.prefix, messages=())) * agent.model.scale
    spare = window - prompt - min(agent.prefix.max_tokens, window // 4)
    return max(LEAST_PART, int(spare * SHARE / agent.model.scale))
