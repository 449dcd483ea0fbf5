"""New messages of a conversation -> changed memory files: one run of the extraction (E5-E7, A4).

With a language model a fork of the conversation does the work, told by the prompt `extract`. With the
embedded default it is done by rules. Whether to run, and what is new, is decided elsewhere.

A run is all or nothing. What it changes is noted in a journal; if the model fails, or the run is broken off,
or anything else goes wrong, all of it is taken back, so that whoever looks at the same messages next finds
the memories as they were. What of a run that is killed is taken back by the next one (`killed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from pathlib import Path
from threading import Lock

import anyio
import anyio.to_thread

from memdir.agent.events import FAILED, HELD
from memdir.agent.file_state import FileState
from memdir.agent.fit.base import base_for
from memdir.agent.fit.shorten import original
from memdir.agent.fork import Forked, fork
from memdir.agent.loop import Agent
from memdir.errors import MemdirError
from memdir.extract.said import told
from memdir.extract.saved import LABEL, Saved
from memdir.memory import entrypoint, manifest
from memdir.memory.history import By
from memdir.memory.journal import Journal, dangling_in
from memdir.memory.pointer import key
from memdir.memory.store import MemoryDir
from memdir.model import ignored_tools
from memdir.model.messages import Message, ToolResult
from memdir.prompts import render

MAX_TURNS = 5


async def extract(
    agent: Agent,
    messages: Sequence[Message],
    new: Sequence[Message],
    *,
    memory: MemoryDir,
    max_turns: int = MAX_TURNS,
    journal: Journal | None = None,
) -> Saved:
    """Save what the new messages hold. `messages` is the conversation up to their end, a final answer.

    Using up the turns is a success, and so is a run of which only the closing words are missing. `journal`:
    that of a larger piece of work, which is taken back with this run if this run fails; who gives it says
    when it is done.

    Raises:
        ModelError: the model could not answer; the memories are as they were.
        OSError: the memory directory can't be read.
    """
    journal = Journal() if journal is None else journal
    if agent.model.is_local:
        return await _by_rules(agent, messages, new, memory=memory, journal=journal)
    seen = agent.files.copy()
    try:
        return await _by_model(agent, messages, new, memory=memory, journal=journal, max_turns=max_turns)
    except BaseException:
        await take_back(agent, memory, journal, seen=seen)
        raise


def begin(
    memory: MemoryDir,
    new: Sequence[Message],
    *,
    session: str,
    start: str,
    journals: Path | None,
    worker: str = LABEL,
) -> tuple[MemoryDir, Journal]:
    """The directory as one run changes it, which is one change in its history (H2), and the run's journal.

    `session` names the cursor that the run moves, from `start`, once it is done; the caller holds it.
    """
    said = next((message.id for message in reversed(new) if message.origin == "person"), None)
    by = By(worker=worker, reason="learned from a conversation", session=session, message=said)
    upto = new[-1].id
    journal = Journal.begin(journals, session=session, upto=upto, start=start, change=by.change)
    return memory.on_behalf(by), journal


async def _by_rules(
    agent: Agent, messages: Sequence[Message], new: Sequence[Message], *, memory: MemoryDir, journal: Journal
) -> Saved:
    from memdir.extract import rules  # its tables of phrases are not for those who have a model

    now, earlier = agent.context.now(), messages[: len(messages) - len(new)]
    first = Lock()  # taken once, by who comes first: the thread when it has done, or who breaks off (E9)

    def work() -> Saved:
        try:
            return rules.extract(
                new,
                before=earlier,
                memory=memory.recording(journal),
                session=agent.id,
                today=day_of(new, now),
                now=now,
                is_over=first.locked,
            )
        finally:
            if not first.acquire(blocking=False):  # nobody waits for this thread any more
                with suppress(OSError, MemdirError):
                    memory.take_back(journal)
                    journal.clear()

    seen = agent.files.copy()
    try:
        saved = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    except BaseException:
        if not first.acquire(blocking=False):
            await take_back(agent, memory, journal, seen=seen)
        raise
    _note(agent.files, saved, memory)
    if saved.held:
        agent.events.emit(HELD, agent=LABEL, why="by rules")
    return saved


async def _by_model(
    agent: Agent,
    messages: Sequence[Message],
    new: Sequence[Message],
    *,
    memory: MemoryDir,
    journal: Journal,
    max_turns: int,
) -> Saved:
    headers = await anyio.to_thread.run_sync(memory.list, abandon_on_cancel=True)
    asked = partial(
        instruction,
        new,
        today=day_of(new, agent.context.now()),
        memory=memory,
        known=manifest.render(headers),
    )
    fitting = base_for(agent, asked(count=len(new)), messages).messages
    ended = await fork(
        agent,
        asked(count=_in_sight(new, fitting)),
        memory=memory.recording(journal),
        max_turns=max_turns,
        label=LABEL,
        messages=fitting,
    )
    saved = Saved.of(ended.wrote, ended.deleted, held=ended.held)
    if agent.model.calls_tools is False and not any(message.tool_uses for message in ended.messages):
        raise ignored_tools.refused(agent.model.name)  # whatever it says that it has saved
    if ended.error is not None and not _is_done(agent, ended, saved, memory=memory, journal=journal):
        raise ended.error
    return saved


def _is_done(agent: Agent, ended: Forked, saved: Saved, *, memory: MemoryDir, journal: Journal) -> bool:
    """Whether only the closing words are missing of a fork that failed: its last calls wrote and went well,
    it wrote the index, and the index fits: a line for each topic, and none for one that is still to come.
    """
    if not saved.changes or ended.messages[-1].origin != "tool":
        return False
    said, answered = ended.messages[-2:]
    readers = {tool.spec.name for tool in agent.tools if tool.read_only}
    if any(isinstance(result, ToolResult) and result.is_error for result in answered.content):
        return False
    if any(call.name in readers for call in said.tool_uses):
        return False
    if not any(one.file == entrypoint.NAME and one.action != "unchanged" for one in ended.wrote):
        return False
    try:
        index = memory.index()
    except (OSError, MemdirError):
        return False
    kept = {key(change.file) for change in saved.changes if change.action != "deleted"}
    return kept <= entrypoint.linked(index) and dangling_in(index, memory.directory) <= journal.dangling


async def take_back(agent: Agent, memory: MemoryDir, journal: Journal, *, seen: FileState) -> None:
    """Put back what the run has changed. `seen`: what the host knew of files when the run began.

    What can't be put back is told, and stays in the journal's file for the next start.
    """
    with anyio.CancelScope(shield=True):
        try:
            files = await anyio.to_thread.run_sync(memory.take_back, journal)
        except (OSError, MemdirError) as error:
            agent.events.emit(FAILED, where="taking back", error=type(error).__name__)
            return
        journal.clear()
    for file in files:
        with suppress(OSError, MemdirError):  # it was new, and is gone
            path, digest = memory.directory / file, memory.read(file).digest
            before = seen.known(path)
            if before is None or digest in (before.digest, before.no_news):  # else somebody's news, as ever
                agent.files.overtaken(path, digest)


def _note(files: FileState, saved: Saved, memory: MemoryDir) -> None:
    """What was written is no news for the conversation, also where it has seen the file (E8)."""
    for file in (*(change.file for change in saved.changes), entrypoint.NAME):
        with suppress(OSError, MemdirError):  # gone again, or never there
            files.overtaken(memory.directory / file, memory.read(file).digest)


def _in_sight(new: Sequence[Message], messages: Sequence[Message]) -> int:
    """How many of the new messages the fork sees: a compaction may have taken some, or the window (E7)."""
    there = {original(message) for message in messages}
    return sum(message.id in there for message in new)


def instruction(
    new: Sequence[Message], *, today: date, memory: MemoryDir, known: str, count: int | None = None
) -> str:
    """The fork's message (E6). It tells which of the new words are the person's (E11). `count`: how many of
    the new messages the fork sees; None: all.
    """
    return render(
        "extract",
        count=str(len(new) if count is None else count),
        said=told(new),
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
