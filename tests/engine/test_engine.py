"""Both adapters against a real engine: they stream, structure is kept, a fork finds its cache.

The model is far too small to converse; what it says is of no interest, what the engine counts is.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from memdir import app
from memdir.agent.fork import fork
from memdir.agent.loop import Hooks
from memdir.extract.run import instruction
from memdir.model import tokens
from memdir.model.anthropic import Anthropic
from memdir.model.client import OnText
from memdir.model.jobs import Models
from memdir.model.messages import Prefix, Reply, Request, person
from memdir.model.openai import OpenAI
from memdir.model.streaming import StreamingClient
from tests.engine.serve import WINDOW

pytestmark = pytest.mark.anyio

ADAPTERS = ("chat", "responses", "messages")
SHORT = Prefix(system=("You are brief.",), tools=(), max_tokens=24)
FRUIT = {
    "type": "object",
    "properties": {
        "fruit": {"type": "string", "maxLength": 12},
        "colour": {"enum": ["red", "green", "yellow"]},
    },
    "required": ["fruit", "colour"],
    "additionalProperties": False,
}


def client(engine: str, dialect: str) -> StreamingClient:
    match dialect:
        case "messages":
            return Anthropic("smollm2", base_url=engine)
        case "chat":
            return OpenAI("smollm2", dialect="chat", base_url=f"{engine}/v1", name="llamacpp:smollm2")
        case _:
            return OpenAI("smollm2", dialect="responses", base_url=f"{engine}/v1", name="llamacpp:smollm2")


def question(text: str, *, prefix: Prefix = SHORT) -> Request:
    return Request(prefix=prefix, messages=(person(text),))


@pytest.mark.parametrize("dialect", ADAPTERS)
async def test_an_answer_streams_and_its_usage_is_told_A3(engine: str, dialect: str) -> None:
    pieces: list[str] = []
    async with client(engine, dialect) as model:
        reply = await model.complete(question("Name three fruits."), on_text=pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces) == reply.text
    assert reply.usage.total_input > 0
    assert reply.usage.output > 0


@pytest.mark.parametrize("dialect", ADAPTERS)
async def test_what_the_engine_counts_is_what_it_bills(engine: str, dialect: str) -> None:
    asked = question("How many tokens is this, all in all?")
    async with client(engine, dialect) as model:
        counted, reply = await model.count(asked), await model.complete(asked)
    assert counted.exact
    assert counted.tokens == reply.usage.total_input


async def test_the_window_is_learned_from_the_engine(engine: str) -> None:
    async with client(engine, "chat") as model:
        survey = await model.survey()
        assert model.window == WINDOW
        assert "its chat template knows no tools" in (survey.problem or "")


async def test_a_structured_answer_has_the_shape_that_was_asked_for_R5(engine: str) -> None:
    asked = replace(question("Name a fruit.", prefix=replace(SHORT, max_tokens=64)), schema=FRUIT)
    async with client(engine, "chat") as model:
        given = json.loads((await model.complete(asked)).text)
    assert set(given) == {"fruit", "colour"}
    assert given["colour"] in ("red", "green", "yellow")


SCRIPTS = (
    "The harbour master keeps the tide tables in a tin box by the door. ",
    "def fetch(url):\n        if not url:\n            return None\n",
    "Быстрая коричневая лиса перепрыгивает через ленивую собаку. ",
    "敏捷的棕色狐狸跳过了懒狗。",
    "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है। ",
)


@pytest.mark.parametrize("text", SCRIPTS, ids=["english", "code", "russian", "chinese", "hindi"])
async def test_no_request_has_fewer_tokens_than_the_least_that_is_assumed(engine: str, text: str) -> None:
    asked = question(text * (12_000 // len(text)), prefix=replace(SHORT, max_tokens=1))
    async with client(engine, "chat") as model:
        counted = await model.count(asked)
    assert counted.exact
    assert 0 < tokens.least(asked) < counted.tokens


# ── what the prompt cache is worth ─────────────────────────────────────────────────────────────────────


class Timed:
    """A client that notes what each answer came to, and when its first token was there (seconds)."""

    def __init__(self, client: StreamingClient) -> None:
        self.replies: list[Reply] = []
        self.first_token: list[float] = []
        self._ask = client.complete
        client.complete = self.complete  # type: ignore[method-assign]

    async def complete(self, request: Request, *, on_text: OnText | None = None) -> Reply:
        began, came = time.monotonic(), list[float]()

        def heard(text: str) -> None:
            came.append(time.monotonic() - began)
            if on_text is not None:
                on_text(text)

        self.replies.append(await self._ask(request, on_text=heard))
        self.first_token.append(came[0])
        return self.replies[-1]


@pytest.mark.parametrize("dialect", ADAPTERS)
async def test_a_fork_reads_its_hosts_prompt_from_the_engines_cache_A4(
    engine: str, dialect: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With memdir's own prompt and tools, and the extraction's own instruction."""
    environment = {"HOME": str(tmp_path), "MEMDIR_HOME": str(tmp_path / "state")}
    project = app.open_project(tmp_path, environment=environment)
    async with client(engine, dialect) as model:
        timed = Timed(model)
        async with app.running(project, models=Models(chat=model, recall=model)) as runtime:
            agent = (await runtime.start()).agent
            agent.prefix = replace(agent.prefix, max_tokens=16)
            agent.hooks = Hooks()
            asked = person(f"{dialect}: what is a harbour? " * 3)  # so that no cache knows it yet
            await agent.turn(asked)
            parent = timed.replies[-1].usage
            host, memory = len(timed.replies), project.require_memory()
            words = instruction([asked], today=project.now().date(), memory=memory, known="")
            ended = await fork(agent, words, memory=memory, max_turns=1, label="extract")
    first = timed.replies[host].usage
    share = first.cache_read / parent.total_input
    with capsys.disabled():
        print(
            f"\n{dialect:>9}: parent's last prompt {parent.total_input:,} tokens; its fork read "
            f"{first.cache_read:,} of them from the cache ({share:.1%}), of {first.total_input:,} in all; "
            f"first token cold {timed.first_token[0]:.2f} s, warm {timed.first_token[host]:.2f} s "
            f"({timed.first_token[0] / timed.first_token[host]:.1f} x)"
        )
    assert ended.turns == 1
    assert share >= 0.9
