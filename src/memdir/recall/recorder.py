"""Keeps the record of use beside one conversation: what was surfaced goes in, then what became of it (R10).

The shell around `aftermath` (pure) and `usage` (the table). Nothing waits for it: the work is done in a
thread, in the order it came, and a failure is one event and no more. At the end of the session what is under
way is finished, which takes as long as the table waits for other processes at most.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from anyio import CancelScope, Lock, to_thread
from anyio.abc import TaskGroup

from memdir.agent.events import FAILED, Events
from memdir.model.messages import Message
from memdir.recall.aftermath import Outcome, Surfacing, aftermath
from memdir.recall.request_kind import kind_of
from memdir.recall.usage import Usage


class Recorder:
    """The record of use of one session."""

    def __init__(
        self, usage: Usage, *, session: str, directory: Path, tasks: TaskGroup, events: Events
    ) -> None:
        self._usage = usage
        self._session = session
        self._roots = tuple(dict.fromkeys((str(directory), str(directory.resolve()))))
        self._tasks = tasks
        self._events = events
        self._jobs: deque[Callable[[], None]] = deque()
        self._one_at_a_time = Lock()
        self._shown: set[Surfacing] = set()
        self._known: dict[Surfacing, Outcome] = {}
        self._told = False

    def surfaced(self, files: Sequence[str], *, message: Message, how: str, at: datetime) -> None:
        """These memories go into the turn that this message of the person's began. `how`: who chose them."""
        self._shown.update((message.id, file) for file in files)

        def note() -> None:
            kind = kind_of(message.text)
            self._usage.surfaced(files, session=self._session, turn_id=message.id, kind=kind, at=at, how=how)

        if files:
            self._soon(note)

    def turn_over(self, messages: Sequence[Message]) -> None:
        """A turn has ended, or was broken off: look what became of what was surfaced in it and before.

        Looked at are the turn and the one before, since a person may say of an answer that it is wrong.
        """
        if not self._shown:
            return
        said = tuple(messages)
        turns = [at for at, message in enumerate(said) if message.origin == "person"]
        since = turns[-2] if len(turns) > 1 else 0
        self._soon(lambda: self._keep(aftermath(said, roots=self._roots, since=since)))

    def changed(self, files: Iterable[str]) -> None:
        """A background job of this session wrote or deleted these memories: that corrects those surfaced."""
        gone = set(files)
        corrected = {one: Outcome(corrected=True) for one in self._shown if one[1] in gone}
        if corrected:
            self._soon(lambda: self._keep(corrected))

    def _keep(self, found: Mapping[Surfacing, Outcome]) -> None:
        """Write down what is news."""
        turns: dict[str, dict[str, Outcome]] = {}
        for one, outcome in found.items():
            before = self._known.get(one, Outcome())
            if one in self._shown and (after := before | outcome) != before:
                self._known[one] = after
                turns.setdefault(one[0], {})[one[1]] = after
        for turn, outcomes in turns.items():
            self._usage.became(self._session, turn, outcomes)

    # -- beside the conversation --

    def _soon(self, job: Callable[[], None]) -> None:
        self._jobs.append(job)
        self._tasks.start_soon(self._work, name="usage")

    async def _work(self) -> None:
        """Do the job that has waited longest: tasks may start in any order, and jobs may not."""
        with CancelScope(shield=True):  # begun is finished: bounded, see `usage.PATIENCE`
            async with self._one_at_a_time:
                failure = None
                try:
                    await to_thread.run_sync(self._jobs.popleft())
                except Exception as error:  # noqa: BLE001 - the record of use never breaks a turn (R10)
                    failure = type(error).__name__
                self._tell(failure or self._usage.failure)

    def _tell(self, failure: str | None) -> None:
        if failure and not self._told:
            self._told = True
            self._events.emit(FAILED, where="usage", error=failure)
