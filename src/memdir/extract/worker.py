"""The end of a turn -> an extraction in the background, at most one at a time (E0-E9).

One `Extractor` belongs to one session and holds all its state. `turn_ended` is the conversation's stop
hook: it decides, starts what is to be done in the task group it was given, and returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from memdir.agent.attachments import memory_files_written
from memdir.agent.events import EXTRACTED, FAILED, SKIPPED, Events
from memdir.agent.loop import Agent
from memdir.errors import MemdirError
from memdir.extract import cursor, gates
from memdir.extract.cursor import Cursor
from memdir.extract.gates import Run, Situation, Skip
from memdir.extract.run import MAX_TURNS, extract
from memdir.extract.saved import LABEL, Saved
from memdir.memory.store import MemoryDir
from memdir.model.client import ModelClient
from memdir.model.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the settings say (S3, S5). `model`: another one than the conversation's, None for the same."""

    extract: bool = True
    remote: bool = False
    every: int = 1
    max_turns: int = MAX_TURNS
    model: ModelClient | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """A conversation as it stood when a turn had ended; the agent goes on meanwhile."""

    agent: Agent
    messages: tuple[Message, ...]


class Extractor:
    """Follows one session.

    `memory` is None when memory is off. `resumed`: the messages that were there when this process took the
    session up; without a cursor on disk they count as dealt with (E7). `on_saved` hears of every run that
    changed a file.
    """

    def __init__(
        self,
        *,
        session: str,
        memory: MemoryDir | None,
        cursors: Path,
        tasks: TaskGroup,
        policy: Policy | None = None,
        resumed: Sequence[Message] = (),
        on_saved: Callable[[Saved], None] = lambda _: None,
        events: Events | None = None,
    ) -> None:
        self._session = session
        self._memory = memory
        self._cursors = cursors
        self._tasks = tasks
        self._policy = policy or Policy()
        self._on_saved = on_saved
        self._events = events or Events()
        kept = cursor.load(cursors, session)
        self._cursor = kept or (Cursor.behind(resumed[-1]) if resumed else cursor.BEGINNING)
        self._is_kept = kept is not None
        self._turns = 0
        self._pending: _Context | None = None
        self._running: anyio.CancelScope | None = None
        self._idle = anyio.Event()
        self._idle.set()

    async def turn_ended(self, agent: Agent) -> None:
        """A turn ended in a final answer. Starts a run if it is time for one, and waits for nothing (E1)."""
        context = _Context(agent=agent, messages=tuple(agent.messages))
        if self._is_due(context, trailing=False):
            self._running, self._idle = anyio.CancelScope(), anyio.Event()
            self._tasks.start_soon(self._work, context)

    @property
    def is_running(self) -> bool:
        """Whether a run is under way."""
        return self._running is not None

    async def drain(self, seconds: float) -> bool:
        """Give what is running this long to finish, then break it off cleanly. Whether it finished (E9)."""
        with anyio.move_on_after(seconds):
            await self._idle.wait()
            return True
        if self._running is not None:
            self._running.cancel()
        await self._idle.wait()
        return False

    # -- one run after the other --

    async def _work(self, context: _Context) -> None:
        """Run, then run once more on the newest context that came meanwhile, until there is none (E5)."""
        assert self._running is not None, "turn_ended made it"  # noqa: S101
        todo: _Context | None = context
        try:
            with self._running:
                while todo is not None:
                    await self._run(todo)
                    todo = self._next()
        except Exception as error:  # noqa: BLE001 - a failure in memory never breaks the person's session
            self._failed(error)
        finally:
            self._running = self._pending = None
            self._idle.set()

    def _next(self) -> _Context | None:
        todo, self._pending = self._pending, None
        return todo if todo is not None and self._is_due(todo, trailing=True) else None

    async def _run(self, context: _Context) -> None:
        """One extraction: on success the cursor moves, on failure it stays (E7)."""
        began = anyio.current_time()
        try:
            async with cursor.alone(self._cursors, self._session):
                self._catch_up(context)
                saved = await self._extract(context)
                self._keep(Cursor.behind(context.messages[-1]))
            self._tell(saved, seconds=round(anyio.current_time() - began, 3))
        except Exception as error:  # noqa: BLE001 - the next turn's run looks at the same messages again
            self._failed(error)

    async def _extract(self, context: _Context) -> Saved:
        assert self._memory is not None, "the gates let nothing through without memory"  # noqa: S101
        agent, model, new = context.agent, self._policy.model, self._new(context)
        if not gates.has_words(new):  # somebody else has dealt with them while we waited
            return Saved()
        host = replace(agent, model=model) if model is not None else agent
        return await extract(
            host, context.messages, new, memory=self._memory, max_turns=self._policy.max_turns
        )

    # -- deciding --

    def _is_due(self, context: _Context, *, trailing: bool) -> bool:
        self._catch_up(context)
        new = self._new(context)
        verdict = gates.decide(
            Situation(
                is_main=context.agent.label == "main",
                extract=self._policy.extract,
                memory=self._memory is not None,
                remote=self._policy.remote,
                running=self._running is not None and not trailing,
                turns=self._turns,
                every=self._policy.every,
                trailing=trailing,
                wrote_memory=bool(memory_files_written(new)),
                has_words=gates.has_words(new),
            )
        )
        self._turns = verdict.turns
        if not self._is_kept and (isinstance(verdict, Run) or verdict.reason == "throttled"):
            self._keep(self._cursor)  # so that a session that ends before the run is done takes it up again
        match verdict:
            case Run():
                return True
            case Skip(reason=reason, move_cursor=move_cursor, keep=keep):
                self._pending = context if keep else self._pending
                if move_cursor:
                    self._keep(Cursor.behind(context.messages[-1]))
                self._events.emit(SKIPPED, job=LABEL, why=reason)
                return False

    def _new(self, context: _Context) -> tuple[Message, ...]:
        return gates.since(context.messages, self._cursor.message)

    def _catch_up(self, context: _Context) -> None:
        """Take the cursor on disk where it is further on: another program has learned from this session."""
        kept = cursor.load(self._cursors, self._session)
        if kept is not None and any(message.id == kept.message for message in self._new(context)):
            self._cursor, self._is_kept = kept, True

    def _keep(self, moved: Cursor) -> None:
        self._cursor, self._is_kept = moved, True
        try:
            cursor.save(self._cursors, self._session, moved)
        except (OSError, MemdirError) as error:  # it costs a repeated look after a resume, never a memory
            self._failed(error, where="cursor")

    def _failed(self, error: Exception, *, where: str = LABEL) -> None:
        self._events.emit(FAILED, where=where, error=type(error).__name__)

    def _tell(self, saved: Saved, *, seconds: float) -> None:
        self._events.emit(EXTRACTED, files=len(saved.changes), refused=len(saved.refused), seconds=seconds)
        if saved.changes or saved.refused:
            self._on_saved(saved)
