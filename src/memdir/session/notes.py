"""The running notes of one session, brought up to date in the background (C1-C3, C5).

`step` is the conversation's hook after each step: it decides, starts a run in the task group it was given,
and returns. A run is a fork of the conversation that may edit the one file; with the embedded default, and
from then on when a model fails for good, rules write it. At most one runs at a time.

A run is all or nothing: if it fails or is broken off, the file is put back as it was, and the notes reach as
far as before. Each single edit leaves a file of use, so also whoever is killed leaves one. What the person
changes in the file, the next run sees; what they change during a run is never overwritten, and fails it.

A model that may not be asked today is no failure: the notes wait, told once (H3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from memdir import fs
from memdir.agent.events import FAILED, NOTED, WAITING, Degradation, Events, Value
from memdir.agent.fit.base import base_for
from memdir.agent.fit.shorten import original
from memdir.agent.fork import Forked, fork
from memdir.agent.loop import Agent
from memdir.agent.tools.text import decode
from memdir.errors import (
    BadReply,
    Conflict,
    ContextTooLong,
    MemdirError,
    ModelError,
    OverBudget,
    UsageError,
)
from memdir.memory.fence import fenced
from memdir.model import ignored_tools
from memdir.model.client import ModelClient
from memdir.model.messages import Message
from memdir.model.tokens import estimate_message
from memdir.session.by_rules import ByRules
from memdir.session.due import Due, State, Tally, Thresholds, is_due
from memdir.session.extractive import FIRST_LINE
from memdir.session.plan import Limits
from memdir.session.rights import OnlyEdit
from memdir.session.sections import LIMIT, TOTAL, Template, fit, is_empty, oversize, sections

LABEL = "session memory"
MAX_TURNS = 3

LEAD = 10_000
"""Tokens of what the notes cover already that a run sees besides what is new, if it can't see all."""

EDITS = 3_000
"""Tokens that the edits and their results take in a run's second request, besides its answer."""

LAST_WORDS = 200
"""Characters in which a model says that there is nothing to add."""

OnNoted = Callable[[str, str], None]
"""Hears of each success: the id of the last message that the notes cover, and the digest of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the notes say, cut to its size, and the id of the last message they cover, as far as is known.

    The text is as somebody wrote it: `fence.fenced` it before a model sees it.
    """

    text: str
    upto: str | None


def _nobody(_upto: str, _digest: str) -> None:
    """Nobody listens."""


class Notes:
    """The notes of one session, in the file at `path`: `<transcripts>/<session>/session-memory/summary.md`.

    `model`: another client than the conversation's, None for the same. `summarised`: the id of the last
    message that the notes cover, and `digest` that of the file then, as a resumed session has them.
    """

    def __init__(
        self,
        path: Path,
        *,
        tasks: TaskGroup,
        template: Template | None = None,
        thresholds: Thresholds | None = None,
        model: ModelClient | None = None,
        max_turns: int = MAX_TURNS,
        events: Events | None = None,
        summarised: str | None = None,
        digest: str | None = None,
        on_noted: OnNoted = _nobody,
    ) -> None:
        transcripts, session, folder = path.parents[2], path.parents[1].name, path.parent.name
        self._root = transcripts.resolve()
        self._path = self._root / session / folder / path.name
        self._tasks = tasks
        self._template = template or Template.default()
        self._thresholds = thresholds or Thresholds()
        self._model = model
        self._max_turns = max_turns
        self._events = events or Events()
        self._degradation = Degradation(LABEL, self._events)
        self._upto = summarised
        self._rules = ByRules(self._template, digest=digest)
        self._on_noted = on_noted
        self._now = Tally()
        self._noted: Tally | None = None
        self._tried: Tally | None = None
        self._lost: ModelError | None = None  # an error that lasts: the model is not asked any more
        self._is_told = False  # that it waits
        self._running: anyio.CancelScope | None = None
        self._idle = anyio.Event()
        self._idle.set()

    # -- what others ask --

    @property
    def is_running(self) -> bool:
        """Whether a run is under way."""
        return self._running is not None

    @property
    def upto(self) -> str | None:
        """The id of the last message that the notes cover; None: as far as is known, none."""
        return self._upto

    async def step(self, agent: Agent) -> None:
        """The conversation has come a step further. Starts a run if it is time for one; waits for nothing."""
        self._count(agent)
        state = State(
            now=self._now,
            noted=self._noted,
            tried=self._tried,
            scale=agent.model.scale,
            is_main=agent.label == "main",
            is_running=self.is_running,
            has_open_call=not agent.messages or bool(agent.messages[-1].tool_uses),
        )
        if isinstance(is_due(state, self._thresholds), Due):
            self._running, self._idle = anyio.CancelScope(), anyio.Event()
            base, record = tuple(agent.messages), tuple(agent.record)
            self._tasks.start_soon(self._work, agent, base, record, self._now)

    async def settle(self, seconds: float) -> bool:
        """Wait so long at most for a run that is under way. Whether there is none any more (C4)."""
        with anyio.move_on_after(seconds):
            await self._idle.wait()
        return not self.is_running

    async def drain(self, seconds: float) -> bool:
        """The same, and then break it off: the file is as it was before. Whether there was nothing to."""
        if await self.settle(seconds):
            return True
        if self._running is not None:
            self._running.cancel()
        await self._idle.wait()
        return False

    def summary(self, limit: int = TOTAL) -> Summary | None:
        """What the notes say now, in at most `limit` tokens; None: there are none, they are the empty
        template, or can't be read.
        """
        try:
            text = self._text(self._read())
        except (OSError, MemdirError):
            return None
        if is_empty(text, self._template):
            return None
        return Summary(text=fit(text, self._template, limit), upto=self._upto)

    # -- a run --

    async def _work(
        self, agent: Agent, base: tuple[Message, ...], record: tuple[Message, ...], tally: Tally
    ) -> None:
        assert self._running is not None, "`step` made it"  # noqa: S101
        began = anyio.current_time()
        self._tried = tally  # until it is known to have succeeded
        try:
            with self._running:
                how, data = await self._update(agent, base, record)
                self._noted, self._tried, self._upto = tally, None, base[-1].id
                self._is_told = False
                self._tell_noted(data, how=how, seconds=anyio.current_time() - began)
                self._on_noted(base[-1].id, fs.digest(data))
        except OverBudget as error:
            if not self._is_told:
                self._is_told = True
                self._events.emit(WAITING, job=LABEL, why=str(error))
        except Exception as error:  # noqa: BLE001 - a failure here never breaks the person's session
            self._failed(error)
        finally:
            self._running = None
            self._idle.set()

    async def _update(
        self, agent: Agent, base: tuple[Message, ...], record: tuple[Message, ...]
    ) -> tuple[str, bytes]:
        """How it was done, "model" or "rules", and what is in the file then.

        Raises:
            ModelError: the model failed, and may not the next time, or may not be asked today.
            MemdirError, OSError: the file can't be used.
        """
        model = self._model or agent.model
        failure: ModelError | None = self._lost
        if not model.is_local and self._lost is None:
            try:
                return "model", await self._by_model(replace(agent, model=model), base, agent.window)
            except ModelError as error:
                if not error.lasts:
                    raise
                failure = error
                self._lost = None if isinstance(error, ContextTooLong) else error
        data = await anyio.to_thread.run_sync(self._by_rules, record)
        agent.files.overtaken(self._path, fs.digest(data))
        if failure is not None:
            self._degradation.tell(model.name, failure, lasts=self._lost is not None)
        return "rules", data

    async def _by_model(self, agent: Agent, base: tuple[Message, ...], window: int) -> bytes:
        """What the file holds after a run. `window`: that of the conversation, which the notes are to fit."""
        before = await anyio.to_thread.run_sync(self._prepared)
        agent.files.overtaken(self._path, fs.digest(before))
        cwd = agent.context.cwd
        rights = OnlyEdit(self._path, before, template=self._template, within=self._root, cwd=cwd)
        total = Limits(window=window, answer=agent.prefix.max_tokens).summary()
        instruction = self._template.instruction(path=self._path, notes=before.decode(), total=total)
        since = sum(map(estimate_message, base[self._place(base) :]))
        wanted = agent.prefix.max_tokens + EDITS
        asked = base_for(agent, instruction, base, answer=wanted, at_most=since + LEAD)
        try:
            ended = await fork(
                agent,
                instruction,
                permit=rights,
                max_turns=self._max_turns,
                label=LABEL,
                messages=asked.messages,
                seen={self._path: before},
            )
            data = await anyio.to_thread.run_sync(self._checked, agent, ended, before, rights)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._put_back, before, rights)
            agent.files.overtaken(self._path, fs.digest(before))
            raise
        agent.files.overtaken(self._path, fs.digest(data))  # it may be less than the last edit left
        return data

    def _checked(self, agent: Agent, ended: Forked, before: bytes, rights: OnlyEdit) -> bytes:
        """What the fork has left in the file, if it is of use and the fork did not fail."""
        only_closing = ended.turns > 0 and isinstance(ended.error, ContextTooLong)  # all edits are made
        if ended.error is not None and not only_closing:
            raise ended.error
        called = any(message.tool_uses for message in ended.messages)
        if not called and agent.model.calls_tools is False:
            raise ignored_tools.refused(agent.model.name)  # whatever it says that it has noted
        data = self._read()
        if fs.digest(data) not in rights.digests:
            raise Conflict(f"{self._path} was changed while the notes were brought up to date")
        if data == before and (called or not self._is_believed(ended.messages[-1].text)):
            raise BadReply(f"{agent.model.name} could not bring the notes of the session up to date")
        text = self._text(data)
        if data != before and text.startswith(FIRST_LINE):  # it isn't rules alone any more
            data = self._put(text.removeprefix(FIRST_LINE).lstrip("\n"), data)
        return data

    def _is_believed(self, said: str) -> bool:
        """Whether an answer without any call says that nothing is new, and only that."""
        asked_so = self._template.prompt is None
        return len(said) <= LAST_WORDS and (not asked_so or "nothing" in said.casefold())

    def _put_back(self, before: bytes, rights: OnlyEdit) -> None:
        """Undo the fork's edits; what anybody else has put there meanwhile stays."""
        try:
            digest = fs.digest(self._read())
            if digest != rights.digests[0] and digest in rights.digests:
                fs.replace_if(self._path, before, expected=digest, within=self._root)
        except FileNotFoundError:
            return  # somebody removed it
        except (OSError, MemdirError) as error:
            self._failed(error)

    def _by_rules(self, record: Sequence[Message]) -> bytes:
        try:
            old: bytes | None = self._read()
        except FileNotFoundError:
            old = None
        before = None if old is None else self._text(old)
        digest = None if old is None else fs.digest(old)
        data = self._put(self._rules.text(record, before, digest=digest, upto=self._upto), old)
        self._rules.wrote(data)
        return data

    # -- the file --

    def _prepared(self) -> bytes:
        """The file as the fork is shown it, and as it stands: what differed could not be edited. A new one
        is the template.
        """
        try:
            old: bytes | None = self._read()
        except FileNotFoundError:
            old = None
        text = fenced(self._text(old)) if old is not None else ""
        return self._put(text if text.strip() else self._template.text, old)

    def _put(self, text: str, old: bytes | None) -> bytes:
        """Write the text, if the file holds `old` still (None: there is none)."""
        data = text.encode()
        if len(data) > LIMIT:
            raise self._too_large()
        if data != old:
            fs.replace_if(
                self._path, data, expected=None if old is None else fs.digest(old), within=self._root
            )
        return data

    def _read(self) -> bytes:
        """The bytes of the file; no link is followed.

        Raises:
            OSError: it is missing, or can't be read.
            MemdirError: it is no file, or too large.
        """
        data = fs.read_file(self._path, limit=LIMIT + 1, within=self._root)
        if len(data) > LIMIT:
            raise self._too_large()
        return data

    def _too_large(self) -> UsageError:
        hint = "shorten it, or remove it, and it is written anew"
        return UsageError(f"{self._path} is over {LIMIT // 1024} KiB", hint=hint)

    def _text(self, data: bytes) -> str:
        decoded = decode(data)
        if decoded is None:
            raise UsageError(f"{self._path} is no text", hint="remove it, and it is written anew")
        return decoded[0]

    # -- counting and telling --

    def _count(self, agent: Agent) -> None:
        """Take in what is new; the first time also how far a resumed session's notes reach."""
        if self._now.messages == 0 and (at := self._place(agent.record)):
            self._noted = Tally().of(agent.record[:at])
        self._now = self._now.of(agent.record)

    def _place(self, messages: Sequence[Message]) -> int:
        """The number of the first message that the notes do not cover."""
        ids = [*map(original, messages)]
        return ids.index(self._upto) + 1 if self._upto in ids else 0

    def _tell_noted(self, data: bytes, *, how: str, seconds: float) -> None:
        text = self._text(data)
        self._events.emit(
            NOTED,
            how=how,
            tokens=sum(one.tokens for one in sections(text, self._template)),
            over=len(oversize(text, self._template)),
            seconds=round(seconds, 3),
        )

    def _failed(self, error: Exception) -> None:
        why: Value = error.strerror if isinstance(error, OSError) else None
        if isinstance(error, MemdirError):  # no other's text is known to hold nothing of the conversation
            why = str(error)
        self._events.emit(FAILED, where=LABEL, error=type(error).__name__, why=why)
