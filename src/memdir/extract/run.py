"""New messages of a conversation -> changed memory files: one run of the extraction (E5-E7, A4).

With a language model a fork of the conversation does the work, told by the prompt `extract`. With the
embedded default it is done by rules. Whether to run, and what is new, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from threading import Event

import anyio.to_thread

from memdir.agent.file_state import FileState
from memdir.agent.fork import fork
from memdir.agent.loop import Agent
from memdir.errors import MemdirError
from memdir.extract.saved import LABEL, Saved
from memdir.memory import entrypoint, manifest
from memdir.memory.store import MemoryDir
from memdir.model.messages import Message
from memdir.prompts import render

MAX_TURNS = 5


async def extract(
    agent: Agent,
    messages: Sequence[Message],
    new: Sequence[Message],
    *,
    memory: MemoryDir,
    max_turns: int = MAX_TURNS,
    on_unfinished: Callable[[Saved], None] = lambda _: None,
) -> Saved:
    """Save what the new messages hold. `messages` is the conversation up to their end, a final answer.

    Using up the turns is a success. `on_unfinished` hears what was written before the model failed, if
    anything was: it stays, and the index is put right.

    Raises:
        ModelError: the model could not answer.
        OSError: the memory directory can't be read.
    """
    now = agent.context.now()
    today = day_of(new, now)
    if agent.model.is_local:
        from memdir.extract import rules  # its tables of phrases are not for those who have a model

        earlier = messages[: len(messages) - len(new)]
        over = Event()
        work = partial(
            rules.extract,
            new,
            before=earlier,
            memory=memory,
            session=agent.id,
            today=today,
            now=now,
            is_over=over.is_set,
        )
        try:
            saved = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        finally:
            over.set()  # broken off (E9): nobody waits for the thread, and it writes nothing more
        _note(agent.files, saved, memory)
        return saved
    headers = await anyio.to_thread.run_sync(memory.list, abandon_on_cancel=True)
    ended = await fork(
        agent,
        instruction(count=len(new), today=today, memory=memory, known=manifest.render(headers)),
        memory=memory,
        max_turns=max_turns,
        label=LABEL,
        messages=messages,
    )
    saved = Saved.of(ended.wrote, ended.deleted)
    if ended.error is not None:
        if saved.changes:
            with suppress(OSError, MemdirError):  # the next start does it
                await anyio.to_thread.run_sync(memory.mend)
            on_unfinished(saved)
        raise ended.error
    return saved


def _note(files: FileState, saved: Saved, memory: MemoryDir) -> None:
    """What was written is no news for the conversation, also where it has seen the file (E8)."""
    for file in (*(change.file for change in saved.changes), entrypoint.NAME):
        with suppress(OSError, MemdirError):  # gone again, or never there
            files.overtaken(memory.directory / file, memory.read(file).digest)


def instruction(*, count: int, today: date, memory: MemoryDir, known: str) -> str:
    """The fork's message (E6)."""
    return render(
        "extract",
        count=str(count),
        directory=str(memory.directory),
        manifest=known.strip() or "(no memories yet)",
        today=f"{today:%A}, {today:%Y-%m-%d}",
    )


def day_of(messages: Sequence[Message], now: datetime) -> date:
    """The day, in the zone of `now`, on which the last of the messages was said; relative dates count from
    it.
    """
    said = next((message.at for message in reversed(messages) if message.at), now)
    return said.astimezone(now.tzinfo).date()
