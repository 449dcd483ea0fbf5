"""The end of a turn -> an extraction in the background, at most one at a time (E0-E9).

One `Extractor` belongs to one session and holds all its state: the cursor, behind what is dealt with, and
what is unfinished, up to which a run is due. `turn_ended` is the conversation's stop hook: it decides, starts
what is to be done in the task group it was given, and returns.

A model that fails does not cost memories: after an error that may pass it is asked once more, at the next
run; if that fails too, if the error lasts, or if the session ends first, the rules do the run (E7). A model
that may not be asked today is no failure: what was said waits, if need be for a later session (H3).

The session has a marker (`unfinished`), so that a later one learns from it if this one is killed, or ends
before all is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from memdir.agent.attachments import memory_files_written
from memdir.agent.events import (
    DISABLED,
    EXTRACTED,
    FAILED,
    SKIPPED,
    WAITING,
    Degradation,
    Events,
    Value,
)
from memdir.agent.loop import Agent
from memdir.errors import MemdirError, ModelError, ModelOverloaded
from memdir.extract import cursor, gates, killed
from memdir.extract.cursor import Cursor
from memdir.extract.gates import Run, Situation, Skip
from memdir.extract.run import MAX_TURNS, begin, extract
from memdir.extract.saved import LABEL, Saved
from memdir.extract.unfinished import Marker
from memdir.memory.journal import Journal
from memdir.memory.store import MemoryDir
from memdir.model.client import ModelClient
from memdir.model.local import Local
from memdir.model.messages import Message

RESERVE = 2.0
"""Seconds that the rules get at the end, if the model has used up the time there was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the settings say (S3, S5). `model`: another one than the conversation's, None for the same."""

    extract: bool = True
    remote: bool = False
    every: int = 1
    max_turns: int = MAX_TURNS
    model: ModelClient | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unfinished:
    """A run is due on all up to this message, and none has succeeded. `error`: what the model failed with, if
    it did.
    """

    upto: str
    error: ModelError | None = None


class Extractor:
    """Follows one session.

    `memory` is None when memory is off. `resumed`: the messages that were there when this process took the
    session up; without a cursor on disk they count as dealt with (E7). `journals`: the folder in which runs
    that are under way are kept track of; `marker`: what tells later sessions of this one; None of either: who
    is killed leaves what he leaves. `on_saved` hears of every run that changed a file.
    """

    def __init__(
        self,
        *,
        session: str,
        memory: MemoryDir | None,
        cursors: Path,
        tasks: TaskGroup,
        policy: Policy | None = None,
        journals: Path | None = None,
        marker: Marker | None = None,
        resumed: Sequence[Message] = (),
        on_saved: Callable[[Saved], None] = lambda _: None,
        events: Events | None = None,
    ) -> None:
        self._session = session
        self._memory = memory
        self._cursors = cursors
        self._journals = journals
        self._marker = marker
        self._tasks = tasks
        self._policy = policy or Policy()
        self._on_saved = on_saved
        self._events = events or Events()
        self._degradation = Degradation(LABEL, self._events)
        kept = cursor.load(cursors, session)
        self._cursor = kept or (Cursor.behind(resumed[-1]) if resumed else cursor.BEGINNING)
        self._is_kept = kept is not None
        self._turns = 0
        self._agent: Agent | None = None  # the conversation; its record only grows
        self._ended: str | None = None  # the final answer of the last turn
        self._unfinished: _Unfinished | None = None
        self._lost: ModelError | None = None  # an error that lasts: the model is not asked any more
        self._is_waiting = False  # the last run may not ask the model today
        self._told = set[str]()  # what is told once a session
        self._is_over = False  # nothing more is begun, unless another turn ends
        self._running: anyio.CancelScope | None = None
        self._idle = anyio.Event()
        self._idle.set()

    async def turn_ended(self, agent: Agent) -> None:
        """A turn ended in a final answer. Starts a run if it is time for one, and waits for nothing (E1)."""
        self._agent, self._ended, self._is_over = agent, agent.messages[-1].id, False
        self._tell_if_off()
        if self._next(self._ended):
            self._start()
        self._mark(agent.record)

    @property
    def is_running(self) -> bool:
        """Whether a run is under way."""
        return self._running is not None

    @property
    def is_left_to_others(self) -> bool:
        """Whether something may wait to be looked at, and a later session will."""
        return self._marker is not None and self._marker.is_left

    def end(self, messages: Sequence[Message]) -> None:
        """The session is over, with these messages: if all of them are looked at, it leaves no marker."""
        self._mark(messages)

    def is_behind(self, messages: Sequence[Message]) -> bool:
        """Whether a part of the session is not dealt with and nothing will make up for it: a run that did not
        succeed, or words of the person since the last turn that ended in an answer.
        """
        if not self._policy.extract or self._policy.remote or self._memory is None:
            return False
        self._catch_up(messages)
        seen = max(gates.place(messages, self._cursor.message), gates.place(messages, self._ended))
        return self._unfinished is not None or gates.has_words(messages[seen + 1 :])

    async def drain(self, seconds: float) -> bool:
        """Give what is running this long to finish, then break it off cleanly. Whether it finished (E9)."""
        with anyio.move_on_after(seconds):
            await self._idle.wait()
            return True
        if self._running is None:
            return True
        self._running.cancel()
        await self._idle.wait()
        return False

    async def finish(self, seconds: float) -> bool:
        """At the end of the session: `drain`, and then let the rules do what the model failed to do, or did
        not do in time (E7). They get what is left of the time, or a small reserve. Not after `give_up`, and
        not for what waits for another day's budget. Whether all was finished.
        """
        end = anyio.current_time() + seconds
        if self.is_running:
            self._tasks.start_soon(partial(anyio.to_thread.run_sync, _load_rules, abandon_on_cancel=True))
        finished = await self.drain(seconds)
        if self._unfinished is None or self._is_over or (self._is_waiting and finished):
            return finished or self._unfinished is None
        if not finished and (self._lost is not None or self._model.is_local):
            return False  # it is rules that take so long
        if not finished:
            late = ModelOverloaded(f"{self._model.name} did not finish in time")
            self._unfinished = replace(self._unfinished, error=late)
        self._start(last=True)
        self._is_over = True
        return await self.drain(max(end - anyio.current_time(), min(RESERVE, seconds)))

    async def give_up(self) -> None:
        """Break off what is running, and leave the rest for another time: nobody wants to wait."""
        self._is_over = True
        await self.drain(0)

    # -- one run after the other --

    def _start(self, *, last: bool = False) -> None:
        self._running, self._idle = anyio.CancelScope(), anyio.Event()
        self._tasks.start_soon(self._work, last)

    async def _work(self, last: bool) -> None:
        """Run on what is due, one stretch after the other. After a run that failed there is another only if a
        turn ended meanwhile (E5).
        """
        assert self._running is not None, "_start made it"  # noqa: S101
        try:
            with self._running:
                while (due := self._unfinished) and (stretch := self._next(due.upto, trailing=True)):
                    succeeded = await self._run(stretch, last=last)
                    if not succeeded and self._unfinished and self._unfinished.upto == due.upto:
                        return
        except Exception as error:  # noqa: BLE001 - a failure in memory never breaks the person's session
            self._failed(error)
        finally:
            self._running = None
            self._idle.set()

    async def _run(self, stretch: Sequence[Message], *, last: bool) -> bool:
        """One extraction: on success the cursor moves, on failure it stays (E7). Whether it succeeded."""
        began = anyio.current_time()
        try:
            async with cursor.alone(self._cursors, self._session):
                await self._clear_up()
                self._catch_up(self._messages)  # somebody else may have dealt with it while we waited
                new = self._new(stretch[-1].id)
                saved = await self._commit(new, last=last) if gates.has_words(new) else Saved()
                self._dealt_with(stretch[-1])
        except Exception as error:  # noqa: BLE001 - the next run looks at the same messages again
            failure = error if isinstance(error, ModelError) else None
            self._is_waiting = failure is not None and gates.waits(failure)
            if failure is not None and self._is_waiting:
                self._tell_once(WAITING, str(failure))
                return False
            if failure and self._unfinished:
                self._unfinished = replace(self._unfinished, error=failure)
            self._failed(error, again=not last, model=self._model.name if failure else None)
            return False
        self._is_waiting = False
        seconds = round(anyio.current_time() - began, 3)
        self._events.emit(EXTRACTED, files=len(saved.changes), refused=len(saved.refused), seconds=seconds)
        if saved.changes or saved.refused:
            self._on_saved(saved)
        return True

    async def _clear_up(self) -> None:
        """Take back what a run of this session left that was killed; its cursor is ours now."""
        assert self._memory is not None, "the gates let nothing through without memory"  # noqa: S101
        take_back = partial(
            killed.take_back, self._memory, self._journals, cursors=self._cursors, session=self._session
        )
        await anyio.to_thread.run_sync(take_back)

    async def _commit(self, new: Sequence[Message], *, last: bool) -> Saved:
        """One run, and the cursor behind it: from then on, and not before, what it has written stays."""
        assert self._memory is not None, "the gates let nothing through without memory"  # noqa: S101
        run = begin(
            self._memory, new, session=self._session, start=self._cursor.message, journals=self._journals
        )
        saved = await self._extract(new, run, last=last)
        self._dealt_with(new[-1])
        try:
            run[1].done()
        except (OSError, MemdirError) as error:  # the cursor says it as well
            self._failed(error, where="journal")
        if run[1].failure is not None and "journal" not in self._told:
            self._told.add("journal")
            self._failed(run[1].failure, where="journal")
        return saved

    async def _extract(self, new: Sequence[Message], run: tuple[MemoryDir, Journal], *, last: bool) -> Saved:
        """By the model, or by rules where it has failed; `last`: there will be no other run.

        Raises:
            ModelError: the next run tries the model once more.
        """
        error = self._failed_with if last else self._lost
        if not last and error is None:
            try:
                return await self._extract_by(self._model, new, run)
            except ModelError as failure:
                if not gates.rules_step_in(failure, waiting=self._failed_with is not None):
                    raise
                error = failure
                self._lost = failure if gates.ends_the_model(failure) else None
        saved = await self._extract_by(Local(), new, run)
        if error is not None:
            self._degradation.tell(self._model.name, error, lasts=gates.ends_the_model(error))
        return saved

    async def _extract_by(
        self, model: ModelClient, new: Sequence[Message], run: tuple[MemoryDir, Journal]
    ) -> Saved:
        assert self._agent is not None, "a turn has ended"  # noqa: S101
        memory, journal = run
        # a model goes on from what it had before it, compacted or not; rules look at all that was said
        before = (
            gates.since(self._messages, None, upto=new[-1].id)
            if model.is_local
            else self._agent.context_at(new[-1].id)
        )
        return await extract(
            replace(self._agent, model=model),
            before,
            new,
            memory=memory,
            max_turns=self._policy.max_turns,
            journal=journal,
        )

    @property
    def _model(self) -> ModelClient:
        assert self._agent is not None, "a turn has ended"  # noqa: S101
        return self._policy.model or self._agent.model

    @property
    def _failed_with(self) -> ModelError | None:
        return self._unfinished.error if self._unfinished is not None else None

    # -- deciding --

    def _next(self, upto: str, *, trailing: bool = False) -> tuple[Message, ...]:
        """What to run on now, of what is new up to a message; what needs no run is dealt with. If there is to
        be a run, now or after the one that is under way, all up to the message is unfinished from here on.
        """
        self._catch_up(self._messages)
        while stretch := gates.first_stretch(self._new(upto)):
            verdict = self._decide(stretch, trailing=trailing)
            self._turns = verdict.turns
            if not self._is_kept and (isinstance(verdict, Run) or verdict.reason == "throttled"):
                self._keep(self._cursor)  # for a session that ends before the run, and is taken up again
            if isinstance(verdict, Run) or verdict.keep:
                self._unfinished = _Unfinished(upto=upto, error=self._failed_with)
            if isinstance(verdict, Run):
                return stretch
            self._events.emit(SKIPPED, job=LABEL, why=verdict.reason)
            if not verdict.move_cursor:
                break
            self._dealt_with(stretch[-1])
            trailing = True
        return ()

    def _decide(self, stretch: Sequence[Message], *, trailing: bool) -> Run | Skip:
        return gates.decide(
            Situation(
                is_main=self._is_main,
                extract=self._policy.extract,
                memory=self._memory is not None,
                remote=self._policy.remote,
                running=self._running is not None and not trailing,
                turns=self._turns,
                every=self._policy.every,
                trailing=trailing,
                wrote_memory=bool(memory_files_written(stretch)),
                has_words=gates.has_words(stretch),
            )
        )

    @property
    def _messages(self) -> Sequence[Message]:
        return self._agent.record if self._agent is not None else ()

    def _new(self, upto: str) -> tuple[Message, ...]:
        return gates.since(self._messages, self._cursor.message, upto=upto)

    def _catch_up(self, messages: Sequence[Message]) -> None:
        """Take the cursor on disk where it is further on: another program has learned from this session."""
        kept = cursor.load(self._cursors, self._session)
        if kept is not None and gates.is_before(messages, self._cursor.message, kept.message):
            self._moved(kept)

    def _dealt_with(self, message: Message) -> None:
        """Everything up to this needs no other run."""
        self._catch_up(self._messages)
        if gates.is_before(self._messages, self._cursor.message, message.id):
            self._keep(Cursor.behind(message))
        if self._unfinished is not None:
            self._unfinished = replace(self._unfinished, error=None)

    def _moved(self, to: Cursor) -> None:
        self._cursor, self._is_kept = to, True
        due = self._unfinished
        if due is not None and not gates.is_before(self._messages, to.message, due.upto):
            self._unfinished = None

    def _keep(self, to: Cursor) -> None:
        self._moved(to)
        try:
            cursor.save(self._cursors, self._session, to)
        except (OSError, MemdirError) as error:  # it costs a repeated look after a resume, never a memory
            self._failed(error, where="cursor", path=str(self._cursors))

    # -- telling --

    def _mark(self, messages: Sequence[Message]) -> None:
        """Say whether words of the person wait. They do not for what was there at a resume (E7)."""
        if self._marker is None:
            return
        self._catch_up(messages)
        try:
            if gates.has_words(gates.since(messages, self._cursor.message)):
                if not self._is_kept and self._cursor.message:
                    self._keep(self._cursor)  # else what was there at the resume would be looked at, too
                self._marker.set()
            else:
                self._marker.clear()
        except (OSError, MemdirError) as error:  # who is killed now is not gone on with
            if "marker" not in self._told:
                self._told.add("marker")
                self._failed(error, where="marker")

    @property
    def _is_main(self) -> bool:
        return self._agent is not None and self._agent.label == "main"

    def _why_off(self) -> str | None:
        """Why nothing is extracted in this session, though memory is on; None: it is."""
        if not self._policy.extract:
            return "the setting features.extract is off"
        return "this is a remote session" if self._policy.remote else None

    def _tell_if_off(self) -> None:
        why = self._why_off()
        if why is not None and self._memory is not None and self._is_main:
            self._tell_once(DISABLED, why)

    def _tell_once(self, name: str, why: str) -> None:
        if name not in self._told:
            self._told.add(name)
            self._events.emit(name, job=LABEL, why=why)

    def _failed(self, error: Exception, *, where: str = LABEL, **more: Value) -> None:
        why = error.strerror if isinstance(error, OSError) else None
        if isinstance(error, MemdirError):  # no other's text is known to hold nothing of a memory
            why = str(error)
        self._events.emit(FAILED, where=where, error=type(error).__name__, why=why, **more)


def _load_rules() -> None:
    """What the rules need a while for the first time, so that it is not lost from their reserve."""
    from memdir.extract import local, rules  # noqa: F401 - its tables are not for those who have a model

    local.propose([local.Turn(role="person", text="hello")], [], today=date(2000, 1, 1))
