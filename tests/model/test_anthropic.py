"""What the adapter on Anthropic's SDK alone does, over real HTTP; the rest is in `test_streaming`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import anyio
import pytest

from memdir.errors import ModelError, ModelOverloaded
from memdir.model.anthropic import Anthropic
from memdir.model.messages import Prefix, Request, Thinking, assistant, person
from memdir.model.streaming import UNKNOWN_WINDOW
from memdir.testing import call, say, think
from tests.model.conversations import ask, results
from tests.model.test_streaming import SCHEMA, which
from tests.wire.answers import rate_limited, refused, stopped
from tests.wire.server import WireServer

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as running:
        yield running


@pytest.fixture
async def model(server: WireServer) -> AsyncIterator[Anthropic]:
    """A model on that server, with short pauses before it tries again."""
    with anyio.fail_after(30):
        async with Anthropic(
            "claude-sonnet-5", base_url=server.url, api_key=server.key, max_retries=2, pause=0.001
        ) as client:
            yield client


async def test_usage_tells_cache_writes_and_reads_apart_A7(server: WireServer, model: Anthropic) -> None:
    server.add(say("Hello."), say("Kept."))
    first = await model.complete(ask("hi"))
    fork = await model.complete(ask("hi", first.message, "what is worth keeping?"))
    assert first.usage.cache_read == 0
    assert first.usage.cache_write > 1024
    assert fork.usage.cache_read == first.usage.total_input
    assert fork.usage.hit_percent > 95
    assert [seen.usage for seen in server.seen] == [first.usage, fork.usage]
    assert server.seen[1].continues(server.seen[0])


async def test_reasoning_travels_back_unchanged(server: WireServer, model: Anthropic) -> None:
    hidden = Thinking(thinking="b3BhcXVl", redacted=True)
    server.add(
        [think("Let me see, 看看.", signature="c2ln/+=="), hidden, call("Read", file_path="a")], say("ok")
    )
    reply = await model.complete(ask("look"))
    seen = Thinking(thinking="Let me see, 看看.", signature="c2ln/+==", source=model.name)
    assert reply.message.content[:2] == (seen, replace(hidden, source=model.name))
    await model.complete(ask("look", reply.message, results(reply.message.tool_uses[0].id)))
    assert server.seen[1].body["messages"][1]["content"][:2] == [
        {"type": "thinking", "thinking": "Let me see, 看看.", "signature": "c2ln/+=="},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
    ]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("model_context_window_exceeded", "max_tokens"), ("pause_turn", "other"), ("stop_sequence", "end_turn")],
)
async def test_each_stop_reason_of_its_own_is_told(
    server: WireServer, model: Anthropic, theirs: str, ours: str
) -> None:
    server.add(stopped(theirs, say("So far")))
    assert (await model.complete(ask("hi"))).stop == ours


async def test_a_structured_answer_is_json_and_pays_for_no_cache(
    server: WireServer, model: Anthropic
) -> None:
    server.add(say('{"names": ["a.md"]}'))
    reply = await model.complete(which())
    assert reply.text == '{"names": ["a.md"]}'
    assert server.seen[0].body["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA}
    assert (reply.usage.cache_read, reply.usage.cache_write) == (0, 0)


async def test_a_spending_limit_is_told_as_one_A3(server: WireServer, model: Anthropic) -> None:
    server.add(*[rate_limited(code="enforced_spend_limit_reached")] * 3)
    with pytest.raises(ModelOverloaded, match="spending limit"):
        await model.complete(ask("hi"))
    server.assert_exhausted()


async def test_a_request_that_the_service_does_not_take_is_told_with_its_reason(
    server: WireServer, model: Anthropic
) -> None:
    with pytest.raises(ModelError, match="the first message must use the user role"):
        await model.complete(ask(assistant("me first")))


def served(server: WireServer, name: str = "qwen3:8b") -> Anthropic:
    """A model on a server that is not Anthropic's."""
    address = f"{server.url}/v1/messages:{name}"
    return Anthropic(name, base_url=server.url, api_key=server.key, name=address, max_retries=0)


async def test_a_server_that_is_not_anthropics_tells_its_models_and_its_window(server: WireServer) -> None:
    row = {"id": "qwen3:8b", "object": "model", "owned_by": "llamacpp"}
    server.route("/v1/models", {"data": [row]})
    server.route("/props", {"default_generation_settings": {"n_ctx": 20_480}})
    server.add(say("ok"))
    async with served(server) as model:
        assert model.window == UNKNOWN_WINDOW
        found = await model.survey()
        assert (found.problem, found.models, found.window) == (None, ("qwen3:8b",), 20_480)
    async with served(server) as model:
        await model.complete(ask("hi"))
        assert model.window == 20_480


async def test_a_model_that_such_a_server_does_not_have_is_told_with_those_it_has(server: WireServer) -> None:
    server.route("/v1/models", {"data": [{"id": "gemma3:4b"}, {"id": "qwen3:14b"}]})
    async with served(server) as model:
        found = await model.survey()
    assert found.problem == f"the server at {server.url} has no model qwen3:8b; it has: gemma3:4b, qwen3:14b"
    assert "did you mean" in (found.cure or "")
    assert "ANTHROPIC" not in f"{found}"


@pytest.mark.parametrize("field", ["output_config", "cache_control", "thinking"])
async def test_a_field_that_such_a_server_does_not_take_is_given_up_for_good(
    server: WireServer, field: str
) -> None:
    words = f"{field}: Extra inputs are not permitted"
    server.add(
        refused(400, {"type": "error", "error": {"type": "invalid_request_error", "message": words}}),
        *[say('{"names": []}')] * 2,
    )
    prefix = Prefix(system=("You help.",), tools=(), thinking=2048)
    request = Request(prefix=prefix, messages=(person("which?"),), schema=SCHEMA)
    async with served(server) as model:
        assert (await model.complete(request)).text == (await model.complete(request)).text
    assert [field in json.dumps(seen.body) for seen in server.seen] == [True, False, False]


async def test_no_proxy_stands_between_here_and_here(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.add(say("ok"))
    async with served(server) as model:
        assert (await model.complete(ask("hi"))).text == "ok"


async def test_key_and_address_may_come_from_the_environment(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    server.add(say("ok"))
    async with Anthropic("claude-sonnet-5") as model:
        assert (await model.complete(ask("hi"))).text == "ok"
    assert server.seen[0].headers["authorization"] == "Bearer sk-of-the-environment"


async def test_an_address_that_is_given_gets_nothing_that_the_environment_holds_for_another(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-environment")
    monkeypatch.setenv(
        "ANTHROPIC_CUSTOM_HEADERS", "X-Gateway: header-of-the-environment\nX-Two: of-the-environment"
    )
    server.add(say("ok"))
    async with Anthropic("claude-sonnet-5", base_url=server.url) as model:
        await model.complete(ask("hi"))
    assert not [value for value in server.seen[0].headers.values() if "of-the-environment" in value]


async def test_no_proxy_stands_before_an_address_here_that_the_environment_names(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "gateway-plum-seven")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    server.add(say("ok"), refused(403, {"error": {"message": "no gateway-plum-seven here"}}))
    async with Anthropic("claude-sonnet-5") as model:
        assert (await model.complete(ask("hi"))).text == "ok"
        with pytest.raises(ModelError, match="not shown"):
            await model.complete(ask("hi"))
