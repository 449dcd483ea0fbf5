"""What sessions that died have left is learned from, in the background of the next one (E7, E9).

A session that was killed, or ended before its last words were looked at, has a marker (`unfinished`). Its
transcript is read and learned from as any other (`learn`), from where its cursor is, so that nothing is
learned twice: oldest first, a few at a time, one after the other. Rules step in for a model only where no
day's budget has room for it: anything else that it fails with has another time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from memdir.agent.events import FAILED, PICKED_UP, WAITING, Degradation, Events
from memdir.errors import Conflict, MemdirError, ModelError, NotFound, OverBudget, UnsafePath
from memdir.extract import foreign, gates
from memdir.extract.foreign import Talk
from memdir.extract.learn import learn
from memdir.extract.run import MAX_TURNS
from memdir.extract.saved import LABEL, Saved
from memdir.extract.unfinished import Left, Unfinished
from memdir.memory.store import MemoryDir
from memdir.model.client import ModelClient
from memdir.model.local import Local

Given = TypeVarTuple("Given")
Found = TypeVar("Found")

AT_MOST = 3
"""Sessions that one process picks up: a start must not cost a day's work at once."""

WAIT = 1.0
"""Seconds to wait for somebody who is learning from the same session; the next start looks again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PickingUp:
    """What it takes to learn from a session of which something is left. `journals` as in `learn`."""

    unfinished: Unfinished
    memory: MemoryDir
    model: ModelClient
    cursors: Path
    now: Callable[[], datetime]
    journals: Path | None = None
    max_turns: int = MAX_TURNS
    events: Events
    on_saved: Callable[[Saved], None] = lambda _: None

    async def run(self, *, at_most: int = AT_MOST, is_over: Callable[[], bool] = lambda: False) -> int:
        """Pick up the sessions of the memory directory that are dead; how many were dealt with.

        A transcript that is gone or damaged, or that holds nothing new, drops its marker. What fails stays,
        and is told once: after a failure of the model nothing more is tried, else the next session comes.
        Once `is_over` says so, only what is under way is finished; one at least is.
        """
        await _aside(self.unfinished.sweep)
        done, told = 0, set[str]()
        for left in await _aside(self.unfinished.of, self.memory.directory):
            if done == at_most or (done and is_over()):
                break
            with self.unfinished.picking_up(left) as ours:
                if not ours:
                    continue
                try:
                    done += await self._pick_up(left)
                except Conflict:  # somebody is learning from it, or writing, right now
                    self.unfinished.postpone(left.session)
                except anyio.get_cancelled_exc_class():  # it takes long: others come first the next time
                    self.unfinished.postpone(left.session)
                    raise
                except Exception as error:  # noqa: BLE001 - a failure in memory never breaks the person's session
                    self.unfinished.postpone(left.session)
                    self._failed(error, told)
                    if isinstance(error, ModelError):
                        break
        return done

    async def _pick_up(self, left: Left) -> bool:
        """Learn from one session. False: there was nothing to be learned."""
        saved, parts = Saved(), list[int]()
        for talk in await self._talks(left):
            try:
                saved += await self._learn(talk, self.model, parts)
            except OverBudget as error:
                if not error.lasts:
                    raise
                saved += await self._learn(talk, Local(), parts)  # no day has room for it
                Degradation(LABEL, self.events).tell(self.model.name, error, lasts=True)
        self.unfinished.drop(left.session)
        if parts:
            self.events.emit(PICKED_UP, files=len(saved.changes), refused=len(saved.refused))
        return bool(parts)

    async def _learn(self, talk: Talk, model: ModelClient, parts: list[int]) -> Saved:
        return await learn(
            talk,
            memory=self.memory,
            model=model,
            cursors=self.cursors,
            journals=self.journals,
            now=self.now,
            max_turns=self.max_turns,
            events=self.events,
            on_part=lambda done, _: parts.append(done),
            on_saved=self.on_saved,
            wait=WAIT,
        )

    async def _talks(self, left: Left) -> list[Talk]:
        try:
            return await _aside(foreign.read, left.transcript)
        except (NotFound, UnsafePath, ValueError, KeyError, TypeError, AttributeError):
            return []  # gone, or not to be made out, now or ever

    def _failed(self, error: Exception, told: set[str]) -> None:
        if type(error).__name__ in told:
            return
        told.add(type(error).__name__)
        if isinstance(error, ModelError) and gates.waits(error):
            self.events.emit(WAITING, job=LABEL, why=str(error))
            return
        why = str(error) if isinstance(error, MemdirError) else None
        if isinstance(error, OSError):
            why = error.strerror
        self.events.emit(FAILED, where="earlier sessions", error=type(error).__name__, why=why)


class PickUp:
    """Picks up in the background, in the task group it was given, once a process."""

    def __init__(self, picking_up: PickingUp, *, tasks: TaskGroup) -> None:
        self._picking_up = picking_up
        self._tasks = tasks
        self._scope: anyio.CancelScope | None = None
        self._over = anyio.Event()
        self._is_last = False  # nothing more is begun

    def start(self) -> None:
        """Begin, unless it has begun. Waits for nothing."""
        if self._scope is None:
            self._scope = anyio.CancelScope()
            self._tasks.start_soon(self._work)

    @property
    def is_running(self) -> bool:
        """Whether it is at it."""
        return self._scope is not None and not self._over.is_set()

    async def drain(self, seconds: float) -> bool:
        """Give it this long to finish the session that it is at, then break it off cleanly; what is left
        keeps its marker. Whether it finished (E9).
        """
        self._is_last = True
        if self._scope is None:
            return True
        with anyio.move_on_after(seconds):
            await self._over.wait()
            return True
        self._scope.cancel()
        await self._over.wait()
        return False

    async def finish(self, seconds: float) -> bool:
        """As `drain`: rules do not step in here, for there is another time."""
        return await self.drain(seconds)

    async def give_up(self) -> None:
        """Break it off: nobody wants to wait."""
        await self.drain(0)

    async def _work(self) -> None:
        assert self._scope is not None, "start made it"  # noqa: S101
        try:
            with self._scope:
                await self._picking_up.run(is_over=lambda: self._is_last)
        finally:
            self._over.set()


async def _aside(work: Callable[[*Given], Found], *given: *Given) -> Found:
    """Do it in a thread. Nobody waits for it if this is broken off."""
    return await anyio.to_thread.run_sync(work, *given, abandon_on_cancel=True)
