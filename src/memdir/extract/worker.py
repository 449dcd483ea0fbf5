"""The end of a turn -> an extraction in the background, at most one at a time (E0-E9).

One `Extractor` belongs to one session and holds all its state. `turn_ended` is the conversation's stop
hook: it decides, starts what is to be done in the task group it was given, and returns.

A model that fails does not cost memories: after an error that may pass it is asked once more, at the next
run; if that fails too, if the error lasts, or if the session ends first, the rules do the run (E7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from memdir.agent.attachments import memory_files_written
from memdir.agent.events import EXTRACTED, FAILED, SKIPPED, Degradation, Events, Value
from memdir.agent.loop import Agent
from memdir.errors import MemdirError, ModelError
from memdir.extract import cursor, gates
from memdir.extract.cursor import Cursor
from memdir.extract.gates import Run, Situation, Skip
from memdir.extract.run import MAX_TURNS, extract
from memdir.extract.saved import LABEL, Saved
from memdir.memory.store import MemoryDir
from memdir.model.client import ModelClient
from memdir.model.local import Local
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A run that the model failed in: what it was about waits for the next one."""

    context: _Context
    error: ModelError


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
        self._degradation = Degradation(LABEL, self._events)
        kept = cursor.load(cursors, session)
        self._cursor = kept or (Cursor.behind(resumed[-1]) if resumed else cursor.BEGINNING)
        self._is_kept = kept is not None
        self._turns = 0
        self._pending: _Context | None = None
        self._waiting: _Failure | None = None
        self._lost: ModelError | None = None  # an error that lasts: the model is not asked any more
        self._is_behind = self._is_given_up = False
        self._running: anyio.CancelScope | None = None
        self._idle = anyio.Event()
        self._idle.set()

    async def turn_ended(self, agent: Agent) -> None:
        """A turn ended in a final answer. Starts a run if it is time for one, and waits for nothing (E1)."""
        context = _Context(agent=agent, messages=tuple(agent.messages))
        if (due := self._due(context, trailing=False)) is not None:
            self._start(due)

    @property
    def is_running(self) -> bool:
        """Whether a run is under way."""
        return self._running is not None

    @property
    def is_behind(self) -> bool:
        """Whether a run failed or was broken off, and nothing has made up for it since."""
        return self._is_behind

    async def drain(self, seconds: float) -> bool:
        """Give what is running this long to finish, then break it off cleanly. Whether it finished (E9)."""
        with anyio.move_on_after(seconds):
            await self._idle.wait()
            return True
        if self._running is None:
            return True
        self._is_given_up = True
        self._running.cancel()
        await self._idle.wait()
        return False

    async def finish(self, seconds: float) -> bool:
        """At the end of the session: `drain`, and within the same time let the rules do what the model failed
        to do (E7). Not after something was broken off. Whether all was finished.
        """
        end = anyio.current_time() + seconds
        finished = await self.drain(seconds)
        if self._waiting is None or self._is_given_up:
            return finished
        self._start(self._waiting.context, last=True)
        return await self.drain(max(0.0, end - anyio.current_time()))

    async def give_up(self) -> None:
        """Break off what is running, and leave the rest for another time: nobody wants to wait."""
        self._is_given_up = True
        await self.drain(0)

    # -- one run after the other --

    def _start(self, context: _Context, *, last: bool = False) -> None:
        self._is_given_up = False
        self._running, self._idle = anyio.CancelScope(), anyio.Event()
        self._tasks.start_soon(self._work, context, last)

    async def _work(self, context: _Context, last: bool) -> None:
        """Run, then run once more on the newest context that came meanwhile, until there is none (E5)."""
        assert self._running is not None, "turn_ended made it"  # noqa: S101
        todo: _Context | None = context
        try:
            with self._running:
                while todo is not None:
                    await self._run(todo, last=last)
                    todo = self._next()
        except Exception as error:  # noqa: BLE001 - a failure in memory never breaks the person's session
            self._failed(error)
        finally:
            self._running = self._pending = None
            self._idle.set()

    def _next(self) -> _Context | None:
        todo, self._pending = self._pending, None
        return self._due(todo, trailing=True) if todo is not None else None

    async def _run(self, context: _Context, *, last: bool) -> None:
        """One extraction: on success the cursor moves, on failure it stays (E7)."""
        began, self._is_behind = anyio.current_time(), True
        try:
            async with cursor.alone(self._cursors, self._session):
                self._catch_up(context)
                saved = await self._extract(context, last=last)
                self._dealt_with(context)
            self._tell(saved, seconds=round(anyio.current_time() - began, 3))
        except ModelError as error:
            self._waiting = _Failure(context=context, error=error)
            self._failed(error, again=True, model=self._model(context).name, why=str(error))
        except Exception as error:  # noqa: BLE001 - the next turn's run looks at the same messages again
            self._waiting = None
            self._failed(error)

    async def _extract(self, context: _Context, *, last: bool) -> Saved:
        """By the model, or by rules where it has failed; `last`: there will be no other run.

        Raises:
            ModelError: the next run tries the model once more.
        """
        new = self._new(context)
        if not gates.has_words(new):  # somebody else has dealt with them while we waited
            return Saved()
        model, waiting = self._model(context), self._waiting
        error = waiting.error if waiting is not None and last else self._lost
        if error is None:
            try:
                return await self._extract_by(model, context, new)
            except ModelError as failure:
                if not gates.rules_step_in(failure, waiting=waiting is not None):
                    raise
                error = failure
                self._lost = failure if failure.lasts else None
        saved = await self._extract_by(Local(), context, new)
        self._degradation.tell(model.name, error)
        return saved

    async def _extract_by(self, model: ModelClient, context: _Context, new: Sequence[Message]) -> Saved:
        assert self._memory is not None, "the gates let nothing through without memory"  # noqa: S101
        host = replace(context.agent, model=model)
        return await extract(
            host,
            context.messages,
            new,
            memory=self._memory,
            max_turns=self._policy.max_turns,
            on_unfinished=self._on_saved,
        )

    def _model(self, context: _Context) -> ModelClient:
        return self._policy.model or context.agent.model

    # -- deciding --

    def _due(self, context: _Context, *, trailing: bool) -> _Context | None:
        """What a run is due on: this, or what has been waiting since a failure; None if on nothing."""
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
                waiting=self._waiting is not None,
            )
        )
        self._turns = verdict.turns
        if not self._is_kept and (isinstance(verdict, Run) or verdict.reason == "throttled"):
            self._keep(self._cursor)  # so that a session that ends before the run is done takes it up again
        match verdict:
            case Run(only_waiting=True) if self._waiting is not None:
                self._pending = context
                return self._waiting.context
            case Run():
                return context
            case Skip(reason=reason, move_cursor=move_cursor, keep=keep):
                self._pending = context if keep else self._pending
                if move_cursor:
                    self._dealt_with(context)
                self._events.emit(SKIPPED, job=LABEL, why=reason)
                return None

    def _new(self, context: _Context) -> tuple[Message, ...]:
        return gates.since(context.messages, self._cursor.message)

    def _catch_up(self, context: _Context) -> None:
        """Take the cursor on disk where it is further on: another program has learned from this session."""
        kept = cursor.load(self._cursors, self._session)
        if kept is not None and any(message.id == kept.message for message in self._new(context)):
            self._cursor, self._is_kept = kept, True

    def _dealt_with(self, context: _Context) -> None:
        """Everything up to the end of this needs no other run."""
        self._keep(Cursor.behind(context.messages[-1]))
        self._is_behind, self._waiting = False, None

    def _keep(self, moved: Cursor) -> None:
        self._cursor, self._is_kept = moved, True
        try:
            cursor.save(self._cursors, self._session, moved)
        except (OSError, MemdirError) as error:  # it costs a repeated look after a resume, never a memory
            self._failed(error, where="cursor")

    def _failed(self, error: Exception, *, where: str = LABEL, **more: Value) -> None:
        self._events.emit(FAILED, where=where, error=type(error).__name__, **more)

    def _tell(self, saved: Saved, *, seconds: float) -> None:
        self._events.emit(EXTRACTED, files=len(saved.changes), refused=len(saved.refused), seconds=seconds)
        if saved.changes or saved.refused:
            self._on_saved(saved)
