"""A person's message -> the final answer, by way of tool calls: run > turn > ask > act (A1).

Everything is append-only: a message that was sent once is sent the same way ever after (A4), and goes to the
transcript as it is appended. Only a compaction puts a shorter conversation in the place of a long one, as a
whole (C4). Features plug in through `Hooks`; the loop knows none of them. What fails beside the conversation,
a hook or the transcript, is told as an event and the turn goes on.
"""

from __future__ import annotations

import logging
import math
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from memdir.agent.attachments import changed_files, memory_write
from memdir.agent.closing import interrupted
from memdir.agent.events import ABORTED, CHANGED, DENIED, FAILED, HELD, TURN_ENDED, Events
from memdir.agent.file_state import FileState, Seen, noted
from memdir.agent.fit.shorten import original
from memdir.agent.permissions import Deny, Permission
from memdir.agent.tools import TOOLS, Tool, ToolContext
from memdir.agent.tools.base import Output, check_input
from memdir.agent.transcript import Transcript
from memdir.agent.vetting import evidence_of
from memdir.errors import Aborted, ContextTooLong, SecretStopped, ToolError, TurnLimit, UsageError, Withheld
from memdir.memory.history import By
from memdir.memory.topic import Origin
from memdir.model import tokens
from memdir.model.client import ModelClient, OnText
from memdir.model.messages import (
    Block,
    Message,
    Prefix,
    Reply,
    Request,
    Text,
    ToolResult,
    ToolUse,
    Usage,
    person,
)
from memdir.prompts import render
from memdir.trust.evidence import Evidence

BROKEN_OFF = render("note_broken_off")
GO_ON = render("note_go_on")

BY_A_TOOL = "a tool call of a conversation"
"""The reason of what an agent writes, as the history has it."""

_log = logging.getLogger("memdir")


async def _nothing(*_: object) -> None:
    """A hook that does nothing."""


async def _no_messages() -> Sequence[Message]:
    return ()


async def _no_room(_agent: Agent, _overflow: bool) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Where features plug into a conversation. What a hook raises is logged and never reaches the turn.

    `on_turn_start`: the person's message was appended. `collect`: before each request; what it gives is
    appended. `make_room`: before each request, and once more, with True, after the model has refused one as
    too long; whether the conversation is shorter now. `on_step`: results of tool calls, or a final answer,
    were appended: no call is unanswered. `on_turn_end`: a final answer was given. `on_turn_over`: the turn is
    over, however it ended; it can't wait.
    """

    on_turn_start: Callable[[Agent, Message], Awaitable[None]] = _nothing
    collect: Callable[[], Awaitable[Sequence[Message]]] = _no_messages
    make_room: Callable[[Agent, bool], Awaitable[bool]] = _no_room
    on_step: Callable[[Agent], Awaitable[None]] = _nothing
    on_turn_end: Callable[[Agent], Awaitable[None]] = _nothing
    on_turn_over: Callable[[Agent], None] = lambda _: None


@dataclass(kw_only=True, eq=False)
class Agent:
    """One conversation with a model that has tools.

    `messages` is what the model is sent; `record` is all that was ever in there, in order: whose words a
    memory is made of, and what is still to be learned, go by that. `most` is what the model takes, in tokens,
    where that turned out to be less than its window. `label` names it in events. `max_steps` bounds the
    requests of its life (None: no bound). `watch_files` says whether changes of known files on disk are shown
    (R8), `vets` whether what tools write into memory is judged by whose words it is (E11). `usage`, `steps`
    and `denied` add up over its life.
    """

    id: str
    prefix: Prefix
    model: ModelClient
    context: ToolContext
    permit: Permission
    tools: Sequence[Tool] = TOOLS
    messages: list[Message] = field(default_factory=list)
    record: list[Message] = field(default_factory=list)
    transcript: Transcript | None = None
    events: Events = field(default_factory=Events)
    hooks: Hooks = field(default_factory=Hooks)
    on_text: OnText | None = None
    label: str = "main"
    most: int | None = None
    max_steps: int | None = None
    watch_files: bool = True
    vets: bool = True
    usage: Usage = field(default_factory=Usage, init=False)
    steps: int = field(default=0, init=False)
    denied: int = field(default=0, init=False)
    _scope: anyio.CancelScope | None = field(default=None, init=False)
    _read: tuple[int, Evidence] | None = field(default=None, init=False)
    _longer: tuple[Message, ...] = field(default=(), init=False)
    _measured: tuple[int, int] = field(default=(0, 0), init=False)
    _sizes: dict[str, tuple[Sequence[Block], int]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """What a tool writes into memory is judged by the conversation as it stands at the call (E11)."""
        self.record = self.record or list(self.messages)
        if self.vets and self.context.memory is not None:
            self.context = replace(self.context, evidence=self._evidence)

    @property
    def is_running(self) -> bool:
        """Whether a turn is going on."""
        return self._scope is not None

    @property
    def files(self) -> FileState:
        """What this conversation has seen of files."""
        return self.context.files

    @property
    def window(self) -> int:
        """The model's context window, in tokens."""
        return self.model.window if self.most is None else min(self.most, self.model.window)

    def size(self) -> int:
        """About how many tokens the next request is: estimated, by what this model has counted so far, and
        never less than its last request and answer were.
        """
        prefix = tokens.estimate_request(Request(prefix=self.prefix, messages=()))
        estimated = prefix + sum(map(self.size_of, self.messages))
        upto, measured = self._measured
        since = sum(map(self.size_of, self.messages[upto:]))
        return max(math.ceil(estimated * self.model.scale), measured + math.ceil(since * self.model.scale))

    def size_of(self, message: Message) -> int:
        """About how many tokens a message is, as estimated and before any correction."""
        content, size = self._sizes.get(message.id, (None, 0))
        if content is not message.content:  # a copy that was cut on trial has its id
            size = tokens.estimate_message(message)
            self._sizes.setdefault(message.id, (message.content, size))
        return size

    def context_at(self, message: str) -> tuple[Message, ...]:
        """What the model had before it when the message with this id was the last one, as far as that is
        known: now, or before the last compaction; else what it has now, without calls that are open.
        """
        for context in (self.messages, self._longer):
            for at in range(len(context) - 1, -1, -1):
                if context[at].id == message:
                    return tuple(context[: at + 1])
        is_open = self.messages and self.messages[-1].tool_uses
        return tuple(self.messages[:-1] if is_open else self.messages)

    def recompose(self, head: Sequence[Message], kept: Sequence[Message], *, files: FileState) -> None:
        """Go on with a shorter conversation: `head`, which is new, and then `kept` (C4).

        `kept` are messages of this one, or shortened copies of them (which are nobody's new words, and not in
        the record), each call with its result. `files` is what `head` shows of files; what else the
        conversation knows of files is what `kept` shows.
        """
        head = [message if message.at else replace(message, at=self.context.now()) for message in head]
        context = [*head, *kept]
        if self.transcript is not None:
            try:
                known = {message.id for message in self.messages}
                self.transcript.compact(context, known=known, at=self.context.now())
            except Exception as error:  # noqa: BLE001 - as in `add`: what was not written is written later
                self._log_failure("transcript", error)
        recorded = set(map(original, self.record))
        self._longer = tuple(self.messages)
        self.record += [message for message in context if original(message) not in recorded]
        before = {**dict(self.files), **{path: self._shown_now(path, seen) for path, seen in files}}
        self.files.become(FileState.of(context, before=FileState(before)))
        self.messages[:] = context
        self._measured, self._read = (0, 0), None

    def _shown_now(self, path: Path, seen: Seen) -> Seen:
        """What is shown of a file, which a background job may have written since it was looked at (E8)."""
        known = self.files.known(path)
        return seen if known is None else replace(seen, no_news=known.no_news)

    def close_calls(self) -> None:
        """Answer the calls that a killed process left open: nobody knows what came of them."""
        if self.messages and (open_calls := self.messages[-1].tool_uses):
            self.add(_results(open_calls, {}, None))

    # -- run > turn > ask > act --

    async def run(self, prompt: str) -> Message:
        """One turn: what the person typed -> the model's final answer.

        Raises:
            Aborted: the turn was broken off by `abort`.
            TurnLimit: `max_steps` requests were made without a final answer.
            ModelError: the model could not answer; the person's message stays in the conversation.
        """
        return await self.turn(person(prompt, at=self.context.now()))

    async def turn(self, message: Message) -> Message:
        """One turn that begins with any message; see `run`."""
        if self._scope is not None:
            raise UsageError("a turn of this conversation is running already")
        answer: Message | None = None
        self._scope, began = anyio.CancelScope(), time.monotonic()
        try:
            with self._scope:
                self._begin(message)
                await self._beside("on_turn_start", self.hooks.on_turn_start, self, self.messages[-1])
                reply = await self._until_answered()
                await self._beside("on_step", self.hooks.on_step, self)
                answer, seconds = reply.message, round(time.monotonic() - began, 3)
                self._tell(TURN_ENDED, requests=self.steps, seconds=seconds, cut=reply.stop == "max_tokens")
                await self._beside("on_turn_end", self.hooks.on_turn_end, self)
        except anyio.get_cancelled_exc_class():
            self._broken_off(answer)
            raise
        finally:
            self._scope = None
            self._over()
        if answer is None:
            self._broken_off(answer)
            raise Aborted("the turn was broken off")
        return answer

    async def _until_answered(self) -> Reply:
        """Ask and act by turns, until the model answers without calling a tool.

        An answer that reached the length limit is continued once; what is there then is the answer.
        """
        continued = False
        while True:
            self.add(*await self._collect())
            await self._make_room(overflow=False)
            reply = await self._ask()
            if calls := reply.message.tool_uses:
                await self._act(calls)
                await self._beside("on_step", self.hooks.on_step, self)
            elif reply.stop == "max_tokens" and not continued:
                continued = True
                self.add(_note(GO_ON))
            else:
                return reply

    async def _ask(self) -> Reply:
        if self.steps == self.max_steps:
            raise TurnLimit(f"no final answer after {self.steps} requests")
        try:
            reply = await self._complete()
        except ContextTooLong:
            if not await self._make_room(overflow=True):
                raise
            reply = await self._complete()
        self.steps += 1
        self.usage += reply.usage
        said = reply.message if reply.message.content else replace(reply.message, content=(_NO_ANSWER,))
        self.add(said)
        self._measured = (len(self.messages), reply.usage.total_input + reply.usage.output)
        return replace(reply, message=self.messages[-1])

    async def _complete(self) -> Reply:
        request = Request(prefix=self.prefix, messages=tuple(self.messages))
        return await self.model.complete(request, on_text=self.on_text)

    async def _make_room(self, *, overflow: bool) -> bool:
        return bool(await self._beside("make_room", self.hooks.make_room, self, overflow))

    async def _act(self, calls: Sequence[ToolUse]) -> None:
        """Run the calls and append one message with a result for each, in their order, whatever happens."""
        results: dict[int, ToolResult] = {}
        wrote, deleted = len(self.context.wrote), len(self.context.deleted)
        readers = {tool.spec.name for tool in self.tools if tool.read_only}
        try:
            for batch in _batches(calls, readers):
                await self._run_batch(batch, results)
        finally:
            names = [written.file for written in self.context.wrote[wrote:]]
            wrote_memory = memory_write(names, self.context.deleted[deleted:])
            self.add(*noted([_results(calls, results, wrote_memory)], self.files.take_shown()))

    def abort(self) -> None:
        """Break off the running turn, if there is one. The conversation stays whole: `run` can go on."""
        if self._scope is not None:
            self._scope.cancel()

    # -- tool calls --

    async def _run_batch(self, batch: Sequence[tuple[int, ToolUse]], results: dict[int, ToolResult]) -> None:
        """Decide on each call, then run what is allowed, all at once: a batch of many only reads."""
        admitted = [(at, call) for at, call in batch if await self._guarded(at, call, self._admit, results)]
        async with anyio.create_task_group() as tasks:
            for at, call in admitted:
                tasks.start_soon(self._guarded, at, call, self._perform, results)

    async def _guarded(
        self,
        at: int,
        call: ToolUse,
        step: Callable[[ToolUse], Awaitable[str | Output | None]],
        results: dict[int, ToolResult],
    ) -> bool:
        """Whether `step` went well. What it says, or what went wrong, becomes the call's result."""
        try:
            if (output := await step(call)) is not None:
                results[at] = _result(call, output)
            return True
        except ToolError as error:
            said = str(error)
            if isinstance(error, SecretStopped):
                self._deny(call, "a secret in it")
            if isinstance(error, Withheld):
                self._tell(HELD, why=error.code)
        except Exception as error:  # noqa: BLE001 - a tool's fault is told to the model, and the turn goes on
            self._log_failure(call.name, error)
            said = f"{call.name} failed unexpectedly ({type(error).__name__}: {error}). Try another way."
        results[at] = ToolResult(tool_use_id=call.id, content=said, is_error=True)
        return False

    async def _admit(self, call: ToolUse) -> None:
        """Raise `ToolError` unless the call is well-formed and allowed (A5)."""
        tool = self._tool(call)
        if call.malformed is not None:
            raise ToolError(
                f"{call.name}: the input was not valid JSON, or was cut off; send it again, shorter"
            )
        check_input(tool.spec, call.input)
        verdict = await self.permit(call)
        if isinstance(verdict, Deny):
            self._deny(call, verdict.reason)
            raise ToolError(f"Not allowed: {verdict.text}")

    def _deny(self, call: ToolUse, reason: str) -> None:
        self.denied += 1
        self._tell(DENIED, tool=call.name, reason=reason)

    async def _perform(self, call: ToolUse) -> str | Output:
        return await self._tool(call).run(call.input, self.context)

    def _tool(self, call: ToolUse) -> Tool:
        for tool in self.tools:
            if tool.spec.name == call.name:
                return tool
        names = ", ".join(tool.spec.name for tool in self.tools)
        raise ToolError(f"there is no tool {call.name}; there are {names}")

    # -- beside the conversation --

    def _begin(self, message: Message) -> None:
        """Close calls that a killed session left open, and take the message in."""
        self.close_calls()
        self.add(message)
        if message.origin == "person":
            origin = Origin(session=self.id, message=message.id, worker=self.label)
            by = By(worker=self.label, session=self.id, message=message.id, reason=BY_A_TOOL)
            memory = self.context.memory.on_behalf(by) if self.context.memory else None
            self.context = replace(self.context, origin=origin, memory=memory)

    def _evidence(self) -> Evidence:
        """Who said what so far. Memories that were read are known, and what tools said of them is no news."""
        assert self.context.memory is not None, "only then it is asked for"  # noqa: S101
        if self._read is None or self._read[0] != len(self.record):  # a long conversation takes a while
            memory, cwd = self.context.memory.directory, self.context.cwd
            found = evidence_of(tuple(self.record), self.files, memory=memory, cwd=cwd)
            self._read = (len(self.record), found)
        return self._read[1]

    def add(self, *messages: Message) -> None:
        """Append to the conversation and its transcript; before the first turn, what comes first (I3)."""
        for message in messages:
            dated = message if message.at else replace(message, at=self.context.now())
            self.messages.append(dated)
            self.record.append(dated)
            if self.transcript is not None:
                try:
                    self.transcript.append(dated)
                except Exception as error:  # noqa: BLE001 - a full disk does not end the conversation
                    self._log_failure("transcript", error)

    async def _collect(self) -> Sequence[Message]:
        """What is to be added before the next request: changed files, and what the features have ready."""
        changed: list[Message] = []
        if self.watch_files and len(self.files):
            look = partial(changed_files, self.files, now=self.context.now())
            changed = await self._beside("changed_files", anyio.to_thread.run_sync, look) or []
        if changed:
            self._tell(CHANGED, files=len(changed))
        collected = [*changed, *(await self._beside("collect", self.hooks.collect) or ())]
        return noted(collected, self.files.take_shown())

    async def _beside(self, where: str, hook: Callable[..., Awaitable[Any]], *given: object) -> Any:
        """What the hook gives, or None if it fails."""
        try:
            return await hook(*given)
        except Exception as error:  # noqa: BLE001 - a feature's fault never breaks the person's turn
            self._log_failure(where, error)
            return None

    def _over(self) -> None:
        try:
            self.hooks.on_turn_over(self)
        except Exception as error:  # noqa: BLE001 - as above
            self._log_failure("on_turn_over", error)

    def _broken_off(self, answer: Message | None) -> None:
        if answer is None:
            self.add(_note(BROKEN_OFF))
            self._tell(ABORTED)

    def _tell(self, name: str, **fields: Any) -> None:
        self.events.emit(name, agent=self.label, **fields)

    def _log_failure(self, where: str, error: Exception) -> None:
        """The kind of error and where it arose; not its text, which may quote a memory."""
        trace = "".join(traceback.format_tb(error.__traceback__))
        _log.error("%s failed: %s\n%s", where, type(error).__name__, trace)
        self._tell(FAILED, where=where, error=type(error).__name__)


_NO_ANSWER = Text(text="(no answer)")


def _note(text: str) -> Message:
    return Message(role="user", content=(Text(text=text),), origin="system")


def _batches(calls: Sequence[ToolUse], readers: Set[str]) -> Iterator[list[tuple[int, ToolUse]]]:
    """The calls with their places: neighbours that only read together, every other call alone."""
    grouped = groupby(enumerate(calls), lambda numbered: -1 if numbered[1].name in readers else numbered[0])
    return (list(batch) for _, batch in grouped)


def _result(call: ToolUse, output: str | Output) -> ToolResult:
    if isinstance(output, str):
        return ToolResult(tool_use_id=call.id, content=output)
    return ToolResult(tool_use_id=call.id, content=output.text, images=output.images)


def _results(calls: Sequence[ToolUse], results: dict[int, ToolResult], about: Any) -> Message:
    """One message with a result for every call; a call without one was interrupted."""
    content = tuple(results.get(at) or interrupted(call) for at, call in enumerate(calls))
    return Message(role="user", content=content, origin="tool", attachment=about)
