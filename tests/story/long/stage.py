"""A scripted session in the real runtime: against the wire server, which counts, or a model in this process.

with Stage(folder, turns=300, window=60_000) as stage:
    anyio.run(stage.play)
    stage.requests      each as the server saw it: what it was for, how large, what it read from the cache
    stage.standing()    what the last context holds besides its head: the summary, and the messages kept
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from memdir import app
from memdir.agent.events import COMPACTED, FAILED, Event, Events
from memdir.agent.permissions import Question
from memdir.model import tokens
from memdir.model.anthropic import Anthropic, wire
from memdir.model.client import ModelClient, OnText
from memdir.model.jobs import Models
from memdir.model.local import Local
from memdir.model.messages import Message, Reply, Request, Usage
from memdir.model.openai import OpenAI, manners
from memdir.session.draft import HEAD
from memdir.testing import PromptCache, ScriptedModel, _Piece
from tests.story.long import model, script
from tests.wire.answers import too_long
from tests.wire.server import MINIMUM, Answer, Seen, WireServer

BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
A_TURN = timedelta(minutes=7)
SERVICE = "claude-sonnet-5"
"""A model of the wire server's; its window is set by the stage."""


_estimated = cache(tokens.estimate)


class _Known(_Piece):
    """A piece of a request, whose tokens are counted once in a session."""

    @property
    def tokens(self) -> int:
        return _estimated(self.data)


class Counting(PromptCache):
    """The same cache, quicker in a long session."""

    def _pieces(self, body: Mapping[str, Any]) -> list[_Piece]:
        return [_Known(data=piece.data, marked=piece.marked) for piece in super()._pieces(body)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as the server saw it. `tokens`: its size by the server's count; `answer`: what it may
    answer besides. `body` without cache marks is in `seen`.
    """

    turn: int
    job: model.Job
    tokens: int
    answer: int
    seen: Seen

    @property
    def usage(self) -> Usage:
        """What it took; nothing if it was turned away."""
        return self.seen.usage or Usage()


class Scripted(ScriptedModel):
    """The same model without a network. `memory`: the directory of memories; `life`: see `script.steps`."""

    memory = ""
    life = ""

    async def complete(self, request: Request, *, on_text: OnText | None = None) -> Reply:
        self.add(model.answer(model.heard(request), memory=self.memory, life=self.life))
        return await super().complete(request, on_text=on_text)

    def bodies(self, job: model.Job) -> list[dict[str, Any]]:
        """The requests of one kind as they would be posted, without cache marks."""
        asked = [request for request in self.requests if model.heard(request).job == job]
        return [wire.body(replace(request, cache=False), model=self.name) for request in asked]


def scripted(window: int) -> Scripted:
    """A model of this window."""
    return Scripted(window=window, cache=Counting())


PROVIDERS: Mapping[str, Callable[[WireServer, int], ModelClient]] = {
    "anthropic": lambda to, window: Anthropic(
        SERVICE, base_url=to.url, api_key=to.key, window=window, pause=0.001
    ),
    "openai": lambda to, window: OpenAI(
        "gpt-6.2-sol",
        base_url=to.v1,
        api_key=to.key,
        manners=manners.of(None, "gpt-6.2-sol"),
        window=window,
        pause=0.001,
    ),
    "openai-compatible": lambda to, window: OpenAI(
        "qwen3.5:9b", dialect="chat", base_url=to.v1, api_key=to.key, window=window, pause=0.001
    ),
}
ANSWERS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""How services call the bound of an answer."""


async def allowed(question: Question) -> bool:
    """The person says yes to everything."""
    return True


@dataclass(kw_only=True)
class Stage:
    """One session and its place. `settings` are variables of the environment, without `MEMDIR_`. `before` is
    called ahead of each turn with its number, `after` behind it. Background work is waited for after a turn;
    every `hurry`th turn the person does not wait (0: they always do). `in_process`: a model that is asked in
    place of the server. `served`: the window that the service really has, if it is not `window`.
    """

    folder: Path
    turns: int
    window: int
    settings: Mapping[str, str] = field(default_factory=dict)
    by_rules: bool = False
    before: Callable[[int], None] = lambda _: None
    after: Callable[[app.Conversation, int], Awaitable[None]] | None = None
    hurry: int = 7
    in_process: Scripted | None = None
    provider: str = "anthropic"
    served: int | None = None
    told: list[Event] = field(default_factory=list)
    requests: list[Asked] = field(default_factory=list)
    lost: list[tuple[int, script.Fact]] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    conversation: app.Conversation | None = None
    turn: int = 0

    def __post_init__(self) -> None:
        self.place = self.folder / "shop"
        script.files(self.place, turns=self.turns)
        environment = {
            "HOME": str(self.folder),
            "MEMDIR_HOME": str(self.folder / "state"),
            "MEMDIR_RECALL_EMBEDDER": "none",
            "MEMDIR_BUDGET_INPUT_TOKENS_PER_DAY": str(10**9),
            **{f"MEMDIR_{name}": value for name, value in self.settings.items()},
        }
        self.project = app.open_project(self.place.resolve(), environment=environment, now=self.now)
        self._server: WireServer | None = None
        if self.in_process is not None:
            self.in_process.memory = str(self.memory)
        else:
            self._server = WireServer()
            self._server.cache = Counting(minimum=MINIMUM)
            self._server.add(*[self._answer] * (self.turns * 40))

    @property
    def server(self) -> WireServer:
        """The server, where there is one."""
        assert self._server is not None, "the model is in this process"
        return self._server

    def __enter__(self) -> Self:
        self.server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.__exit__(kind, error, trace)

    def now(self) -> datetime:
        """The time, which goes by the turns."""
        return BEGAN + self.turn * A_TURN

    @property
    def memory(self) -> Path:
        """The directory of memories."""
        return self.project.require_memory().directory

    # -- playing --

    def models(self) -> Models:
        """One client for all of it, and rules for what `by_rules` says."""
        chat = self.client()
        return Models(chat=chat, recall=Local(), notes=Local() if self.by_rules else None)

    def client(self) -> ModelClient:
        """A client of the wire server, or a model of this process."""
        if self.in_process is not None:
            return self.in_process
        return PROVIDERS[self.provider](self.server, self.window)

    async def play(self) -> None:
        """The session, from its first turn to its last."""
        events = Events(self.told.append)
        async with app.running(self.project, models=self.models(), events=events) as runtime:
            self.conversation = await runtime.start(ask=allowed)
            for turn in range(1, self.turns + 1):
                await self.take(runtime, self.conversation, turn)

    async def take(self, runtime: app.Runtime, conversation: app.Conversation, turn: int) -> None:
        """One turn."""
        self.turn = turn
        self.before(turn)
        compacted = len(self.of(COMPACTED))
        await conversation.say(script.prompt(turn))
        if not (self.hurry and turn % self.hurry == 0):
            await runtime.drain()
            if conversation.notes is not None:
                await conversation.notes.settle(30)
        if len(self.of(COMPACTED)) > compacted:
            text = self.standing()
            self.cuts.append(turn)
            self.lost += [(turn, one) for one in script.facts(turn) if not one.stands_in(text)]
        if self.after is not None:
            await self.after(conversation, turn)

    def _answer(self, seen: Seen) -> Answer:
        asked = model.heard_json(seen.body)
        room = next(int(seen.body[name]) for name in ANSWERS if name in seen.body)
        size = (self.server.cache if seen.dialect == "messages" else self.server.automatic).size(seen.body)
        self.requests.append(Asked(turn=self.turn, job=asked.job, tokens=size, answer=room, seen=seen))
        if size + room > (self.served or self.window):
            return too_long()
        return model.answer(asked, memory=str(self.memory))

    # -- looking --

    @property
    def seen(self) -> list[Seen]:
        """All that the server was sent, with what came of it."""
        return self.server.seen

    def of(self, name: str) -> list[Event]:
        """The events of this name."""
        return [event for event in self.told if event.name == name]

    @property
    def failed(self) -> list[Mapping[str, Any]]:
        """What went wrong."""
        return [event.fields for event in self.of(FAILED)]

    def standing(self) -> str:
        """The summary and what follows the head of the context, as one text."""
        assert self.conversation is not None
        return "\n".join(map(_said, _standing(self.conversation.agent.messages)))


def _standing(messages: list[Message]) -> list[Message]:
    """The boundary, and what is not of the head."""
    shown = HEAD - {"compaction"}
    return [one for one in messages if (one.attachment or {}).get("kind") not in shown]


def _said(message: Message) -> str:
    return "\n".join(part.text for part in model.parts_of(message))
