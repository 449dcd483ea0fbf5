"""The end of a turn -> a dream in the background, if it is time for one (D1).

One `Dreamer` belongs to one session and holds all its state. What fails is told as an event; the lock's time
is back then, and the next try waits longer each time, so that a model that is down is not asked at every
turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from memdir.agent.events import FAILED, SKIPPED, WAITING
from memdir.agent.loop import Agent
from memdir.dream import gates, lock, sessions
from memdir.dream.fork import LABEL
from memdir.dream.gates import Gate
from memdir.dream.progress import Progress
from memdir.dream.run import Dreamed, Dreaming, dream
from memdir.errors import Conflict, MemdirError, OverBudget
from memdir.model.client import ModelClient

MOST_DOUBLINGS = 7
"""How often the wait between two tries doubles while dreams fail: up to about a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the settings say (S3, D1). `model`: another one than the conversation's, None for the same."""

    dream: bool = True
    daily_log: bool = False
    min_hours: float = gates.HOURS
    min_sessions: int = gates.SESSIONS
    remote: bool = False
    model: ModelClient | None = None


def explain(
    dreaming: Dreaming, policy: Policy, *, session: str | None, scanned: datetime | None = None
) -> tuple[Gate, ...]:
    """All gates as they stand, in the order of D1, each with its reason."""
    return tuple(gate() for gate in _gates(dreaming, policy, session=session, scanned=scanned, failures=0))


def _gates(
    dreaming: Dreaming, policy: Policy, *, session: str | None, scanned: datetime | None, failures: int
) -> Iterator[Callable[[], Gate]]:
    """The gates, cheapest first; what one needs is looked up when it is asked."""
    directory, now = dreaming.memory.directory, dreaming.now()
    wait = gates.BETWEEN_SCANS * 2 ** min(failures, MOST_DOUBLINGS)
    yield partial(gates.switched_on, dream=policy.dream, daily_log=policy.daily_log, remote=policy.remote)
    yield lambda: gates.time(_last(directory, now), now=now, hours=policy.min_hours)
    yield partial(gates.throttle, scanned, now=now, between=wait)
    yield lambda: gates.sessions(_touched(dreaming, session, now), needed=policy.min_sessions)
    yield lambda: gates.lock(lock.look(directory, now=now))
    yield lambda: gates.review(next((one.id for one in dreaming.kept.items() if not one.dry), None))


def _touched(dreaming: Dreaming, session: str | None, now: datetime) -> int:
    since = gates.counts_since(_last(dreaming.memory.directory, now), now=now)
    return sessions.count(sessions.folders(dreaming.places), since_ns=since, but=session)


def _last(directory: Path, now: datetime) -> int | None:
    """When the last dream was: one stat, unless somebody's record is in the lock."""
    known = lock.last(directory)
    return lock.look(directory, now=now).last_ns if known is None else known


class Dreamer:
    """Follows one session. `on_dreamed` hears of each dream of the background that came to its end.

    `progress`: how far the one under way is, if the model has begun.
    """

    def __init__(
        self,
        dreaming: Dreaming,
        *,
        tasks: TaskGroup,
        policy: Policy | None = None,
        on_dreamed: Callable[[Dreamed], None] = lambda _: None,
    ) -> None:
        self._dreaming = dreaming
        self._policy = policy or Policy()
        self._tasks = tasks
        self._on_dreamed = on_dreamed
        self._scanned: datetime | None = None
        self._failures = 0
        self._told = set[str]()
        self._running: anyio.CancelScope | None = None
        self._idle = anyio.Event()
        self._idle.set()
        self.progress: Progress | None = None

    @property
    def is_running(self) -> bool:
        """Whether a dream of this session is under way in the background."""
        return self._running is not None

    def gates(self, session: str) -> tuple[Gate, ...]:
        """All gates as they stand for this session, each with its reason: `explain`."""
        found = _gates(
            self._dreaming, self._policy, session=session, scanned=self._scanned, failures=self._failures
        )
        return tuple(gate() for gate in found)

    async def turn_ended(self, agent: Agent) -> None:
        """A turn ended in a final answer. Starts a dream if all gates are open, and waits for nothing."""
        if self.is_running:
            return
        closed = await anyio.to_thread.run_sync(self._closed, agent.id)
        if closed is not None:
            self._dreaming.events.emit(SKIPPED, job=LABEL, why=closed.reason)
            return
        self._running, self._idle = anyio.CancelScope(), anyio.Event()
        self._tasks.start_soon(self._work, _as_it_is(agent))

    async def now(self, agent: Agent, *, on_progress: Callable[[Progress], None]) -> Dreamed:
        """Dream at the person's word: of the gates only the lock holds (D7). Raises as `dream`."""
        if self.is_running:
            raise Conflict("a dream is under way already", hint="`/dream stop` breaks it off")
        return await self._dream(_as_it_is(agent), on_progress)

    async def stop(self) -> bool:
        """Break off what is running; the memories stay as they are. Whether there was anything."""
        if self._running is None:
            return False
        self._running.cancel()
        await self._idle.wait()
        return True

    async def drain(self, seconds: float) -> bool:
        """Give what is running this long to finish, then break it off cleanly. Whether it finished."""
        with anyio.move_on_after(seconds):
            await self._idle.wait()
            return True
        return not await self.stop()

    async def finish(self, seconds: float) -> bool:
        """At the end of the session: `drain`."""
        return await self.drain(seconds)

    async def give_up(self) -> None:
        """Break off what is running: a later session dreams again."""
        await self.stop()

    def _closed(self, session: str) -> Gate | None:
        ways = _gates(
            self._dreaming,
            self._policy,
            session=session,
            scanned=self._scanned,
            failures=self._failures,
        )
        try:
            closed = gates.first_closed(ways)
        except (OSError, MemdirError) as error:
            return Gate(name="lock", passes=False, reason=type(error).__name__)
        if closed is None or closed.name in ("sessions", "lock", "review"):
            self._scanned = self._dreaming.now()
        return closed

    async def _work(self, agent: Agent) -> None:
        assert self._running is not None, "turn_ended made it"  # noqa: S101
        try:
            with self._running:
                dreamed = await self._dream(agent, lambda _: None)
                self._failures = 0
                self._on_dreamed(dreamed)
        except lock.Busy as error:
            if error.state is None:  # not because of who has it
                self._failed(error)
            else:  # somebody was a moment quicker
                self._dreaming.events.emit(SKIPPED, job=LABEL, why=str(error))
        except OverBudget as error:
            self._failures += 1
            if WAITING not in self._told:
                self._told.add(WAITING)
                self._dreaming.events.emit(WAITING, job=LABEL, why=str(error))
        except Exception as error:  # noqa: BLE001 - a failure in memory never breaks the person's session
            self._failed(error)
        finally:
            self._running = None
            self.progress = None
            self._idle.set()

    def _failed(self, error: Exception) -> None:
        self._failures += 1
        why = str(error) if isinstance(error, MemdirError) else None
        self._dreaming.events.emit(FAILED, where=LABEL, error=type(error).__name__, why=why)

    async def _dream(self, agent: Agent, on_progress: Callable[[Progress], None]) -> Dreamed:
        def seen(progress: Progress) -> None:
            self.progress = progress
            on_progress(progress)

        model = self._policy.model or agent.model
        try:
            return await dream(self._dreaming, replace(agent, model=model), on_progress=seen)
        finally:
            self.progress = None


def _as_it_is(agent: Agent) -> Agent:
    """The conversation as it stands now, whatever is said while the dream goes on."""
    return replace(agent, messages=list(agent.messages), record=list(agent.record))
