"""The start of a turn -> a selection that runs beside it, taken when it is ready (R1, R2).

- `warm`: before the first turn, the memories are read
- `on_turn_start`: a gate, then a task in the session's task group; nothing waits for it
- `collect`: before each call of the model: what is ready goes in, what is not is tried again next time
- `on_turn_over`: what was not taken is cancelled
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Protocol

from anyio import CancelScope, Event, move_on_after
from anyio.abc import TaskGroup

from memdir.agent.events import FAILED, RECALLED, SKIPPED, Degradation, Events
from memdir.agent.file_state import FileState
from memdir.errors import ContextTooLong, ModelError, ModelOverloaded
from memdir.model.client import ModelClient
from memdir.model.messages import Message
from memdir.recall.matter import matter
from memdir.recall.recent import recent_tools
from memdir.recall.recorder import Recorder
from memdir.recall.select import Selection, select
from memdir.recall.shelf import Shelf
from memdir.recall.surface import SESSION_BYTES, known_files, surface, surfaced_bytes

GRACE = 1.0
"""Seconds in which the selector by words may finish, from when it began: it takes a hundredth of that, or a
quarter with 50,000 files. A model is never waited for. Without this a turn of one single
answer would get no memories at all."""

MEANING, MEANING_FOR_A_MODEL = GRACE / 2, 5.0
"""Seconds that an embedder may take before words choose, or a model: one that loads its weights, or hangs,
costs a turn no memories."""

PATIENCE = 3
"""Turns in a row that a model may let go by without having chosen. Then words choose: what comes too late
each time is no memory at all."""

TAKEN_IN = 2_000
"""Memories that get vectors in the background of one session: some 15 seconds of one processor."""

_log = logging.getLogger("memdir")
_BARE_COMMAND = re.compile(r"/[\w:-]+")
_MENTION = re.compile(r"(?<![\w@])@agent-([A-Za-z0-9][\w-]*)")


def why_not(message: Message, *, surfaced: int) -> str | None:
    """Why this turn gets no prefetch, or None if it does (R2, R3). `surfaced`: body bytes in the messages."""
    text = message.text.strip()
    if message.origin != "person" or not text:
        return "no text from the person"
    if _BARE_COMMAND.fullmatch(text):
        return "a bare command"
    if mention := _MENTION.search(text):
        return f"it is for the agent {mention[1]}, which has no memory of its own"
    return "the session's budget is used up" if surfaced >= SESSION_BYTES else None


def _compaction_in(messages: Sequence[Message]) -> str | None:
    """The id of the message that stands for what a compaction took away, if there is one."""
    stands = (one.id for one in messages if (one.attachment or {}).get("kind") == "compaction")
    return next(stands, None)


class Prefetch:
    """One selection under way. Belongs to one turn."""

    def __init__(self) -> None:
        self._scope = CancelScope()
        self._ready: Selection | None = None
        self._done = Event()

    @property
    def is_done(self) -> bool:
        """Whether there is a selection, or will never be one."""
        return self._done.is_set()

    @classmethod
    def start(cls, tasks: TaskGroup, choose: Callable[[], Awaitable[Selection]]) -> Prefetch:
        """Begin to choose, in the task group, and return at once."""
        prefetch = cls()
        tasks.start_soon(prefetch._run, choose, name="recall")
        return prefetch

    async def _run(self, choose: Callable[[], Awaitable[Selection]]) -> None:
        """What `choose` raises is its own affair: to the turn it is a selection that never came."""
        try:
            with self._scope:
                self._ready = await choose()
        except Exception as error:  # noqa: BLE001 - recall never breaks the session (R5)
            _log.error("recall failed: %s", type(error).__name__)
        finally:
            self._done.set()

    async def take(self, *, within: float) -> Selection | None:
        """As `take_if_ready`, after at most so many seconds."""
        if within > 0:
            with move_on_after(within):
                await self._done.wait()
        return self.take_if_ready()

    def take_if_ready(self) -> Selection | None:
        """The selection, once; None while it is not ready, after it was taken, and after `cancel`."""
        ready, self._ready = self._ready, None
        return None if self._scope.cancel_called else ready

    def cancel(self) -> None:
        """The turn is over: stop choosing, and keep nothing."""
        self._scope.cancel()


class Conversation(Protocol):
    """What recall needs of an agent."""

    @property
    def messages(self) -> Sequence[Message]: ...

    @property
    def files(self) -> FileState: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What recall did in one turn, for those who show it: what was chosen, shown, and dropped and why."""

    selection: Selection
    shown: tuple[str, ...]
    dropped: dict[str, str]
    seconds: float


@dataclass(kw_only=True, eq=False)
class _Turn:
    """The turn that is going on. `words_since`: when words began to choose; None as long as a model does."""

    message: Message
    conversation: Conversation
    began: float
    words_since: float | None


class Recall:
    """Recall for one session: the hooks of its agent. `last` is what came of the last selection.

    Where the model fails, words choose for the same turn, and after an error that lasts for all others (R5);
    so they do where the model has been too slow for several turns in a row.
    """

    def __init__(
        self,
        shelf: Shelf,
        *,
        tasks: TaskGroup,
        model: ModelClient | None,
        recorder: Recorder | None = None,
        now: Callable[[], datetime],
        events: Events,
    ) -> None:
        self._shelf = shelf
        self._recorder = recorder
        self._matter: frozenset[str] = frozenset()
        self._compaction: str | None = None  # the message with which the conversation begins since the last
        self._tasks = tasks
        self._model = model
        self._now = now
        self._events = events
        self._degradation = Degradation("recall", events)
        self._lost = False
        self._late = 0
        self._prefetch: Prefetch | None = None
        self._turn: _Turn | None = None
        self.last: Recalled | None = None

    def warm(self) -> None:
        """Begin to take in the memories in the background, for the turns to come."""
        self._tasks.start_soon(self._warm, name="recall")

    async def _warm(self) -> None:
        try:
            await self._shelf.take_in(at_most=TAKEN_IN)
        except Exception as error:  # noqa: BLE001 - recall never breaks the session (R5)
            self._events.emit(FAILED, where="recall", error=type(error).__name__)

    @property
    def _by_words(self) -> bool:
        return self._lost or self._model is None or self._model.is_local

    def _words_step_in(self, turn: _Turn, model: ModelClient, error: ModelError) -> None:
        """The model failed: words choose for this turn, and for those to come if the error lasts. What is too
        long for it is one prompt, and not the next.
        """
        lasts = error.lasts and not isinstance(error, ContextTooLong)
        self._lost = self._lost or lasts
        turn.words_since = monotonic()
        self._degradation.tell(model.name, error, lasts=lasts)

    async def on_turn_start(self, conversation: Conversation, message: Message) -> None:
        """Begin to choose for this message, if there is a reason to (R1, R2)."""
        self.on_turn_over()
        messages = conversation.messages
        if (compaction := _compaction_in(messages)) != self._compaction:  # what was recalled is gone (R7)
            self._matter, self._compaction = frozenset(), compaction
        if reason := why_not(message, surfaced=surfaced_bytes(messages)):
            self._events.emit(SKIPPED, job="recall", why=reason)
            return
        known = known_files(self._shelf.directory, conversation.files, messages)
        tools, began = recent_tools(messages), monotonic()
        model = None if self._by_words else self._model
        turn = _Turn(
            message=message,
            conversation=conversation,
            began=began,
            words_since=began if model is None else None,
        )

        async def choose() -> Selection:
            return await select(
                self._shelf,
                message.text,
                known=known,
                recent_tools=tools,
                earlier=self._matter,
                model=model,
                now=self._now(),
                meaning_within=MEANING if model is None else MEANING_FOR_A_MODEL,
                events=self._events,
                on_failure=lambda error: self._words_step_in(turn, model, error) if model else None,
            )

        self._turn = turn
        self._prefetch = Prefetch.start(self._tasks, choose)

    async def collect(self) -> list[Message]:
        """The memories that are ready to go into the conversation, as attachments; mostly none (R1)."""
        if self._prefetch is None or (turn := self._turn) is None:
            return []
        left = turn.words_since + GRACE - monotonic() if turn.words_since is not None else 0.0
        if (selection := await self._prefetch.take(within=left)) is None:
            return []
        if selection.how != "none":
            self._matter |= matter(turn.message.text)
        surfaced = surface(
            selection.files,
            directory=self._shelf.directory,
            messages=turn.conversation.messages,
            files=turn.conversation.files,
            now=self._now(),
        )
        self.last = Recalled(
            selection=selection,
            shown=surfaced.shown,
            dropped=surfaced.dropped,
            seconds=monotonic() - turn.began,
        )
        if self._recorder is not None:
            self._recorder.surfaced(surfaced.shown, message=turn.message, how=selection.how, at=self._now())
        self._events.emit(
            RECALLED,
            files=len(surfaced.shown),
            bytes=surfaced_bytes(surfaced.messages),
            how=selection.how,
            seconds=round(self.last.seconds, 3),
        )
        return list(surfaced.messages)

    def on_turn_over(self, conversation: Conversation | None = None) -> None:
        """Cancel what this turn did not take (R1)."""
        if self._prefetch is not None and self._turn is not None:
            self._count(self._prefetch, self._turn)
            self._prefetch.cancel()
        if self._recorder is not None and conversation is not None:
            self._recorder.turn_over(conversation.messages)
        self._prefetch = self._turn = None

    def changed(self, files: Iterable[str]) -> None:
        """A background job of this session wrote or deleted these memories (R10)."""
        if self._recorder is not None:
            self._recorder.changed(files)

    def _count(self, prefetch: Prefetch, turn: _Turn) -> None:
        """Whether the model was too slow in a turn that ended in an answer. If it is so too often: words."""
        if self._by_words or self._model is None:
            return
        last = turn.conversation.messages[-1] if turn.conversation.messages else None
        if prefetch.is_done or turn.words_since is not None:
            self._late = 0
        elif last is not None and last.role == "assistant" and not last.tool_uses:
            self._late += 1
        if self._late == PATIENCE:
            self._lost = True
            late = ModelOverloaded(f"{self._model.name} has not chosen in time in {PATIENCE} turns")
            self._degradation.tell(self._model.name, late, lasts=True)
