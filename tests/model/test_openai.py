"""What the adapter on OpenAI's SDK alone does, over real HTTP; the rest is in `test_streaming`."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

import anyio
import httpx2
import openai
import pytest

from memdir.errors import ContextTooLong, KeyRefused, ModelError, ModelOverloaded, ModelUnreachable
from memdir.model.choose import client as chosen
from memdir.model.messages import Block, Image, Message, Text, Thinking, Usage
from memdir.model.openai import OpenAI, manners, survey, whole
from memdir.model.openai.failures import Service, explained
from memdir.model.openai.manners import Manners
from memdir.testing import call, say, think
from tests.model.conversations import ask, results
from tests.model.test_streaming import SOL, nobody, which
from tests.wire.answers import Streamed, declines, ends_early, key_refused, quota, refused, refuses_field
from tests.wire.dialects import Exchange, chat, responses
from tests.wire.server import Seen, WireServer

pytestmark = pytest.mark.anyio

Dialect = Literal["chat", "responses"]


@pytest.fixture(autouse=True)
def _no_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)


@pytest.fixture(params=["chat", "responses"])
def dialect(request: pytest.FixtureRequest) -> Dialect:
    found: Dialect = request.param
    return found


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as running:
        yield running


def client(server: WireServer, dialect: Dialect = "chat", how: Manners | None = None, **more: Any) -> OpenAI:
    """A client of that server, with short pauses before it tries again."""
    given = {"api_key": server.key, "max_retries": 2, "pause": 0.001, **more}
    return OpenAI(SOL, dialect=dialect, base_url=server.v1, manners=how, **given)


def at_openai(reasoning: bool = True) -> Manners:
    return manners.of(None, SOL if reasoning else "gpt-4o")


@pytest.fixture
async def model(server: WireServer, dialect: Dialect) -> AsyncIterator[OpenAI]:
    """A model on that server, as if it were OpenAI."""
    with anyio.fail_after(30):
        async with client(server, dialect, at_openai()) as made:
            yield made


# ── answers ────────────────────────────────────────────────────────────────────────────────────────────


async def test_usage_tells_what_the_cache_had_A7(server: WireServer, model: OpenAI) -> None:
    server.add([say("Hello."), call("Read", file_path="a")], say("Kept."))
    first = await model.complete(ask("hi"))
    done = results(first.message.tool_uses[0].id)
    fork = await model.complete(ask("hi", first.message, done, "what is worth keeping?"))
    assert first.usage.cache_read == 0
    assert fork.usage.hit_percent > 70
    assert server.seen[1].usage == fork.usage
    assert server.seen[1].continues(server.seen[0])


async def test_a_plain_server_gets_the_same_bytes_again_A4(server: WireServer, dialect: Dialect) -> None:
    server.add([say("Hello."), call("Read", file_path="a")], say("Kept."))
    async with client(server, dialect) as model:
        first = await model.complete(ask("hi"))
        await model.complete(ask("hi", first.message, results(first.message.tool_uses[0].id), "keep?"))
    assert server.seen[1].continues(server.seen[0])
    server.assert_exhausted()


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_details"])
async def test_reasoning_travels_back_unchanged_in_chat(field: Any) -> None:
    server = WireServer(
        [think("Let me see, 看看.", signature="c2ln/+=="), call("Read", file_path="a")],
        say("ok"),
        reasoning=field,
    )
    with server:
        async with client(server) as model:
            reply = await model.complete(ask("look"))
            await model.complete(ask("look", reply.message, results(reply.message.tool_uses[0].id)))
        thought = reply.message.content[0]
        assert isinstance(thought, Thinking)
        assert (thought.thinking, thought.source) == ("Let me see, 看看.", f"openai:{SOL}")
        back = server.seen[1].body["messages"][2][field]
        assert back == "Let me see, 看看." or [(one["text"], one["signature"]) for one in back] == [
            ("Let me see, 看看.", "c2ln/+==")
        ]


async def test_reasoning_travels_back_unchanged_in_responses(server: WireServer) -> None:
    server.add([think("hidden", signature="c2ln/+=="), call("Read", file_path="a")], say("ok"))
    async with client(server, "responses", at_openai()) as model:
        reply = await model.complete(ask("look"))
        await model.complete(ask("look", reply.message, results(reply.message.tool_uses[0].id)))
    kinds = [item["type"] for item in server.seen[1].body["input"]]
    assert kinds == ["message", "reasoning", "function_call", "function_call_output"]
    assert server.seen[1].body["input"][1]["encrypted_content"] == "c2ln/+=="


async def test_a_refusal_is_shown_and_told(server: WireServer, model: OpenAI) -> None:
    server.add(declines("I can't help with that."))
    pieces: list[str] = []
    reply = await model.complete(ask("hi"), on_text=pieces.append)
    assert "".join(pieces) == reply.text == "I can't help with that."
    assert reply.stop == "refusal"


async def test_a_picture_is_sent_once_and_then_left_out_for_a_model_that_sees_none(
    server: WireServer, dialect: Dialect
) -> None:
    blind = {"error": {"code": 500, "message": "image input is not supported - hint: mmproj"}}
    shown = Message(
        role="user", content=(Text(text="this:"), Image(media_type="image/png", data="aGk=")), origin="person"
    )
    server.add(refused(500, blind), say("I see nothing"), say("still"))
    async with client(server, dialect) as model:
        assert (await model.complete(ask(shown))).text == "I see nothing"
        await model.complete(ask(shown))
    assert ["aGk=" in seen.raw.decode() for seen in server.seen] == [True, False, False]


# ── what a server does not take ────────────────────────────────────────────────────────────────────────


async def test_a_side_query_is_asked_to_think_little_R5(server: WireServer, model: OpenAI) -> None:
    server.add(say('{"names": []}'))
    assert (await model.complete(which())).text == '{"names": []}'
    body = server.seen[0].body
    assert "low" in (body.get("reasoning_effort"), body.get("reasoning", {}).get("effort"))


async def test_a_schema_that_the_server_does_not_take_is_done_without_R5(
    server: WireServer, dialect: Dialect
) -> None:
    no = refused(400, {"error": {"message": "This response_format type is unavailable now"}})
    server.when(lambda seen: seen.is_structured, no, no)
    server.add(say('Sure: {"names": ["a.md"]}'), say('{"names": []}'))
    async with client(server, dialect) as model:
        assert (await model.complete(which())).text == '{"names": ["a.md"]}'
        await model.complete(which())
    assert [seen.is_structured for seen in server.seen] == [True, True, False, False]


@pytest.mark.parametrize("field", ["stream_options", "max_tokens"])
async def test_a_field_that_is_refused_is_given_up_for_good(server: WireServer, field: str) -> None:
    server.add(refuses_field(field), say("one"), say("two"))
    async with client(server) as model:
        assert (await model.complete(ask("hi"))).text == "one"
        assert (await model.complete(ask("hi"))).text == "two"
    assert [field in seen.body for seen in server.seen] == [True, False, False]
    assert server.seen[1].part("messages") == server.seen[0].part("messages")


async def test_questions_at_once_learn_from_one_another(server: WireServer) -> None:
    both = threading.Barrier(2, timeout=10)

    def refuse_both(seen: Seen) -> Any:
        both.wait()
        return refuses_field("stream_options")

    server.when(lambda seen: "stream_options" in seen.body, refuse_both, refuse_both)
    server.add(say("ok"), say("ok"))
    async with client(server) as model, anyio.create_task_group() as tasks:
        for number in range(2):
            tasks.start_soon(model.complete, ask(f"question {number}"))
    server.assert_exhausted()


async def test_the_same_thing_refused_for_ever_is_told(server: WireServer, model: OpenAI) -> None:
    server.add(*(refuses_field("tool_choice") for _ in range(3)))
    with pytest.raises(ModelError, match="tool_choice"):
        await model.complete(ask("hi"))
    assert len(server.seen) == 1


async def test_a_router_that_can_be_paid_for_less_is_asked_for_less(server: WireServer) -> None:
    server.add(quota("openrouter"), say("ok"))
    async with client(server, "chat", manners.of("https://openrouter.ai/api/v1", "m")) as model:
        assert (await model.complete(ask("hi"))).text == "ok"
    assert [seen.body["max_tokens"] for seen in server.seen] == [8192, 3395]


async def test_ollama_that_is_away_is_to_be_started_A3() -> None:
    with nobody() as url:
        async with OpenAI("m", base_url=f"{url}/v1", name="ollama:m", max_retries=0) as model:
            with pytest.raises(ModelUnreachable, match=f"nothing listens at {url}") as told:
                await model.complete(ask("hi"))
    assert "ollama serve" in (told.value.hint or "")


# ── keys, and whom they go to ──────────────────────────────────────────────────────────────────────────

OF_OPENAI = {
    "OPENAI_API_KEY": "key-of-the-environment",
    "OPENAI_ADMIN_KEY": "admin-of-the-environment",
    "OPENAI_ORG_ID": "organisation-of-the-environment",
    "OPENAI_PROJECT_ID": "project-of-the-environment",
    "OPENAI_WEBHOOK_SECRET": "hook-of-the-environment",
    "OPENAI_CUSTOM_HEADERS": "X-Custom: header-of-the-environment\nAuthorization: mine-of-the-environment",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/of-the-environment",
}


@pytest.mark.parametrize("given", [{"api_key": "k"}, {"api_key": None, "key": lambda: "k"}])
async def test_a_named_address_gets_nothing_of_the_environment(
    server: WireServer, dialect: Dialect, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]
) -> None:
    for name, value in OF_OPENAI.items():
        monkeypatch.setenv(name, value)
    server.add(say("ok"))
    async with client(server, dialect, **given) as model:
        await model.complete(ask("hi"))
        await model.survey()
        await model.count(ask("hi"))
    for seen in (*server.seen, *server.looked):
        assert "of-the-environment" not in f"{seen.headers} {seen.raw!r} {seen.query}"
        assert seen.headers["authorization"] == "Bearer k"
        assert not [name for name in seen.headers if name.startswith("openai-") or name == "x-custom"]


async def test_a_server_without_a_key_gets_a_placeholder(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    server.add(say("ok"))
    async with client(server, api_key=None) as model:
        await model.complete(ask("hi"))
    assert server.seen[0].headers["authorization"] == "Bearer no-key"


async def test_no_proxy_stands_between_here_and_here(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    server.add(say("ok"))
    async with client(server) as model:
        assert (await model.complete(ask("hi"))).text == "ok"


async def test_key_and_address_may_come_from_the_environment(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", server.v1)
    server.add(say("ok"))
    async with OpenAI(SOL, dialect="chat", key=lambda: "of the keyring") as model:
        assert (await model.complete(ask("hi"))).text == "ok"
    assert server.seen[0].headers["authorization"] == "Bearer key-of-the-environment"


async def test_a_key_of_the_environment_that_is_refused_is_to_be_checked_there(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", server.v1)
    server.add(key_refused())
    async with OpenAI(SOL, dialect="chat", key_cure="put it into the system keyring") as model:
        with pytest.raises(KeyRefused) as told:
            await model.complete(ask("hi"))
    assert (told.value.hint or "").startswith("check OPENAI_API_KEY: ")
    assert "keyring" not in (told.value.hint or "")


# ── the window, and what a server tells ────────────────────────────────────────────────────────────────


def listed(server: WireServer, *rows: dict[str, Any]) -> None:
    server.route("/v1/models", {"object": "list", "data": list(rows)})


def row(**fields: Any) -> dict[str, Any]:
    return {"id": SOL, "object": "model", **fields}


TELLING: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "vllm": (row(owned_by="vllm", max_model_len=20_000), {}),
    "openrouter": (row(context_length=20_000, supported_parameters=["tools"]), {}),
    "llamacpp": (
        row(owned_by="llamacpp", meta={"n_ctx": 9, "n_ctx_train": 99}),
        {"/props": {"default_generation_settings": {"n_ctx": 20_000}}},
    ),
    "llamacpp, newer": (row(owned_by="llamacpp", meta={"n_ctx": 20_000, "n_ctx_train": 99}), {}),
    "ollama": (
        row(id=f"{SOL}:latest", owned_by="library"),
        {
            "/api/ps": {"models": [{"name": f"{SOL}:latest", "context_length": 20_000}]},
            "/api/show": {"capabilities": ["completion", "tools"], "model_info": {"x.context_length": 99}},
        },
    ),
    "lmstudio": (
        row(owned_by="organization_owner"),
        {
            "/api/v0/models": {
                "data": [row(loaded_context_length=20_000, max_context_length=99, capabilities=["tool_use"])]
            }
        },
    ),
}


@pytest.mark.parametrize("kind", TELLING)
async def test_a_server_tells_its_window_in_its_own_way(server: WireServer, kind: str) -> None:
    told, routes = TELLING[kind]
    listed(server, told)
    for path, answer in routes.items():
        server.route(path, answer)
    server.add(say("ok"), say("ok"))
    async with client(server, window=1_000_000) as model:
        found = await model.survey()
        assert (found.problem, found.window, model.window) == (None, 20_000, 20_000)
    async with client(server) as model:
        await model.complete(ask("hi"))
        assert model.window == 20_000
        looked = len(server.looked)
        await model.complete(ask("hi"))
        assert len(server.looked) == looked


async def test_a_model_that_is_not_loaded_has_its_window_after_the_first_answer(server: WireServer) -> None:
    loaded: list[dict[str, Any]] = []
    listed(server, row(owned_by="library"))
    server.route("/api/ps", lambda seen: {"models": list(loaded)})
    server.route("/api/show", {"model_info": {"x.context_length": 99}})

    def load(seen: Seen) -> Text:
        loaded.append({"name": SOL, "context_length": 8192})
        return say("ok")

    server.add(load)
    async with client(server) as model:
        assert (await model.survey()).window is None
        assert model.window == 4096, "what Ollama gives as a rule"
        await model.complete(ask("hi"))
        assert model.window == 8192


@pytest.mark.parametrize(
    ("name", "window"),
    [("ollama:m", 4096), ("ollama:gpt-oss:120b-cloud", 32_768), ("lmstudio:m", 32_768), ("vllm:m", 32_768)],
)
def test_before_anybody_was_asked_ollama_is_taken_to_give_little(name: str, window: int) -> None:
    assert chosen(name, environment={}).window == window


async def test_a_model_in_ollamas_cloud_has_its_largest_window(server: WireServer) -> None:
    listed(server, row(id="m:cloud", owned_by="library"))
    server.route("/api/ps", {"models": []})
    server.route("/api/show", {"capabilities": ["tools"], "model_info": {"x.context_length": 131_072}})
    async with OpenAI("m:cloud", dialect="chat", base_url=server.v1, api_key="k") as model:
        assert (await model.survey()).window == model.window == 131_072


async def test_a_server_that_cuts_in_silence_is_not_asked_what_does_not_fit(server: WireServer) -> None:
    listed(server, row(owned_by="library"))
    server.route("/api/ps", {"models": [{"name": SOL, "context_length": 4096}]})
    server.route("/api/show", {"capabilities": ["tools"]})
    async with client(server) as model:
        with pytest.raises(ContextTooLong, match="too long") as told:
            await model.complete(ask("word " * 9000))
    assert "OLLAMA_CONTEXT_LENGTH" in (told.value.hint or "")
    assert server.seen == []


async def test_a_first_guess_and_pictures_keep_no_question_from_ollama(server: WireServer) -> None:
    listed(server, row(owned_by="library"))
    server.route("/api/ps", {"models": [{"name": SOL, "context_length": 4096}]})
    server.route("/api/show", {"capabilities": ["tools"]})
    pictures = [Image(media_type="image/png", data="aGk=")] * 4
    shown = Message(role="user", content=(Text(text="these:"), *pictures), origin="person")
    server.add(say("ok"), say("ok"), say("ok"))
    async with client(server) as model:
        await model.complete(ask(shown))
        await model.complete(ask("hi"))
        assert model.scale != 1.0
        await model.complete(ask(shown))
    async with client(server) as model:
        server.add(say("ok"))
        await model.complete(ask(". , " * 4200))  # by the guess too long


async def test_what_a_window_has_no_room_for_today_it_may_have_tomorrow(server: WireServer) -> None:
    words = (
        "This model's maximum context length is 16384 tokens. However, you requested 22192 tokens (14000 in "
        "the messages, 8192 in the completion)."
    )
    server.add(refused(400, {"error": {"message": words, "param": "max_tokens"}}), say("ok"), say("ok"))
    async with client(server) as model:
        await model.complete(ask("word " * 11_000))
        assert model.window == 16_384
        await model.complete(ask("hi"))
    assert [seen.body["max_tokens"] for seen in server.seen] == [8192, 2383, 8192]


async def test_a_window_without_room_for_an_answer_is_a_long_conversation(server: WireServer) -> None:
    words = (
        "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is "
        "4096 tokens and your request has 3900 input tokens (8192 > 4096 - 3900)."
    )
    server.add(refused(400, {"error": {"message": words, "param": "max_tokens"}}))
    async with client(server) as model:
        with pytest.raises(ContextTooLong):
            await model.complete(ask("hi"))
    assert len(server.seen) == 1


async def test_a_bound_that_responses_does_not_take_is_left_out(server: WireServer) -> None:
    server.add(refuses_field("max_output_tokens"), say("ok"))
    async with client(server, "responses") as model:
        assert (await model.complete(ask("hi"))).text == "ok"
    assert ["max_output_tokens" in seen.body for seen in server.seen] == [True, False]


async def test_an_event_that_is_null_ends_nothing_and_one_without_end_is_a_bad_reply() -> None:
    def events(*data: str) -> httpx2.Response:
        text = "".join(f"data: {one}\n\n" for one in data)
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text=text)

    def piece(text: str, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
        return json.dumps({"choices": [choice]})

    answers = [events(piece("a"), "null", piece("b", "stop"), "[DONE]"), events("[" * 100_000)]
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda _: answers.pop(0)))
    async with OpenAI("m", dialect="chat", base_url="http://127.0.0.1:9/v1", max_retries=0) as model:
        sdk = await model._open()
        model._to_ask = 0
        sdk._client = http
        assert (await model.complete(ask("hi"))).text == "ab"
        with pytest.raises(ModelError):
            await model.complete(ask("hi"))


async def test_an_answer_gets_no_more_room_than_the_window_leaves(server: WireServer) -> None:
    listed(server, row(owned_by="vllm", max_model_len=6000))
    server.add(say("ok"))
    async with client(server) as model:
        await model.complete(ask("hi"))
    assert 3000 < server.seen[0].body["max_tokens"] < 5500


async def test_an_empty_stream_near_the_window_is_a_long_conversation(
    server: WireServer, dialect: Dialect
) -> None:
    server.add(ends_early())
    async with client(server, dialect, Manners(server="lmstudio"), window=1200) as model:
        with pytest.raises(ContextTooLong) as told:
            await model.complete(ask("hi"))
    assert "LM Studio" in (told.value.hint or "")
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("rows", "routes", "problem", "cure"),
    [
        ([row(id="a"), row(id="b")], {}, f"has no model {SOL}; it has: a, b", "memdir models"),
        (
            [row(id="a:latest", owned_by="library")],
            {"/api/ps": {"models": []}, "/api/show": refused(404, {"error": "not found"})},
            "it has: a:latest",
            f"ollama pull {SOL}",
        ),
        (
            [row(id=f"{SOL}:latest", owned_by="library")],
            {"/api/ps": {"models": []}, "/api/show": {"capabilities": ["completion"]}},
            "can't call tools",
            "choose a model",
        ),
        ([row(id="x.gguf", owned_by="llamacpp")], {"/props": {}}, None, None),
        (
            [row(id="x.gguf", owned_by="llamacpp")],
            {"/props": {"chat_template_caps": {"supports_tools": False, "supports_tool_calls": False}}},
            "its chat template knows no tools, so it will hardly call any",
            "choose a model",
        ),
        (
            [row(id=f"{SOL}:8b", owned_by="library")],
            {"/api/ps": {"models": []}, "/api/show": refused(404, {"error": "not found"})},
            f"it has: {SOL}:8b",
            f"did you mean `openai:{SOL}:8b`? Or fetch it: `ollama pull {SOL}`",
        ),
    ],
)
async def test_a_survey_says_what_is_wrong(
    server: WireServer, rows: list[Any], routes: dict[str, Any], problem: str | None, cure: str | None
) -> None:
    listed(server, *rows)
    for path, answer in routes.items():
        server.route(path, answer)
    async with client(server) as model:
        found = await model.survey()
    assert found.reachable
    assert (problem or "") in (found.problem or "")
    assert (found.problem is None) == (problem is None)
    assert (cure or "") in (found.cure or "")
    assert server.seen == []


@pytest.mark.parametrize(
    ("caps", "calls_tools"),
    [
        ({"supports_tools": True, "supports_tool_calls": True}, True),
        ({"supports_tools": False, "supports_tool_calls": True}, False),
        ({"supports_system_role": True}, None),
        (None, None),
    ],
)
async def test_a_template_that_knows_no_tools_is_known_after_a_question_and_is_asked_all_the_same(
    server: WireServer, caps: Any, calls_tools: bool | None
) -> None:
    listed(server, row(owned_by="llamacpp"))
    props = {"default_generation_settings": {"n_ctx": 20_000}, "chat_template_caps": caps}
    server.route("/props", props)
    server.add(say("I can do that."))
    async with client(server) as model:
        assert model.calls_tools is None
        assert (await model.complete(ask("hi"))).text == "I can do that."
        assert model.calls_tools is calls_tools


async def test_a_server_that_is_started_later_still_tells_its_window(server: WireServer) -> None:
    """That nobody was there does not count as an answer."""
    with nobody() as url:
        async with OpenAI(SOL, dialect="chat", base_url=f"{url}/v1", api_key="k", max_retries=0) as model:
            for _ in range(3):
                with pytest.raises(ModelUnreachable):
                    await model.complete(ask("hi"))
            assert model._to_ask == 2


# ── servers that do not stream as others do ────────────────────────────────────────────────────────────


@pytest.mark.parametrize("told", ["text", "call", "error"])
async def test_a_whole_answer_in_place_of_a_stream_is_read(
    server: WireServer, dialect: Dialect, told: str
) -> None:
    block: Block = call("Read", file_path="a") if told == "call" else say("all at once")
    body: Any = {"error": {"message": "out of memory", "type": "server_error"}}
    if told != "error":
        seen = Exchange(body={"model": SOL}, number=1, usage=Usage(input=2000, output=3))
        body = {"chat": chat, "responses": responses}[dialect].whole(Streamed(blocks=[block]), seen)
    server.route(f"/v1/{'chat/completions' if dialect == 'chat' else 'responses'}", body)
    pieces: list[str] = []
    async with client(server, dialect, max_retries=0) as model:
        if told == "error":
            with pytest.raises(ModelOverloaded, match="in trouble"):
                await model.complete(ask("hi"))
            return
        reply = await model.complete(ask("hi"), on_text=pieces.append)
    assert "".join(pieces) == reply.text == ("all at once" if told == "text" else "")
    assert [use.input for use in reply.message.tool_uses] == [{"file_path": "a"}] * (told == "call")
    assert (reply.stop, reply.usage.output) == ("tool_use" if told == "call" else "end_turn", 3)


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_an_error_in_a_field_of_its_own_is_heard(kind: str) -> None:
    """llama.cpp told errors so; and some servers call a stream JSON."""
    text = (
        'data: {"choices":[{"index":0,"delta":{"content":"So"}}]}\n\n'
        'error: {"code":400,"message":"the request exceeds the available context size","type":"x"}\n\n'
    )
    answer = httpx2.Response(200, headers={"content-type": kind}, content=text.encode())
    transport = httpx2.MockTransport(lambda _: answer)
    async with openai.AsyncOpenAI(
        base_url="http://127.0.0.1/v1", api_key="k", http_client=httpx2.AsyncClient(transport=transport)
    ) as sdk:
        stream = await sdk.post("/x", cast_to=object, stream=True, stream_cls=openai.AsyncStream[object])
        async with await whole.or_in_pieces(stream) as events:
            assert "choices" in await anext(aiter(events))
            with pytest.raises(ContextTooLong), explained(Service(name="m", model="m")):
                await anext(events)


async def test_openai_itself_is_asked_for_the_one_model(server: WireServer) -> None:
    async with openai.AsyncOpenAI(base_url=server.v1, api_key="k") as sdk:
        told = await survey.ask_openai(sdk, model=SOL)
    assert survey.survey(told, Service(name=f"openai:{SOL}", model=SOL)).models == (SOL,)
    assert [seen.path for seen in server.looked] == [f"/v1/models/{SOL}"]


async def test_a_router_with_a_long_list_is_asked_for_the_window_alone(server: WireServer) -> None:
    served = [{"context_length": 20_000}, {"context_length": 90_000}, {"context_length": None}]
    server.route(f"/v1/models/{SOL}/endpoints", {"data": {"id": SOL, "endpoints": served}})
    server.add(say("ok"))
    async with client(server, "chat", manners.of("https://openrouter.ai/api/v1", SOL)) as model:
        await model.complete(ask("hi"))
        assert model.window == 90_000
    assert len(server.looked) == 1


async def test_a_survey_of_a_wrong_address_says_so(server: WireServer) -> None:
    async with OpenAI(SOL, dialect="chat", base_url=server.url, api_key="k") as model:
        found = await model.survey()
    assert "there is no API of this kind" in (found.problem or "")
    assert "/v1" in (found.cure or "")


@pytest.mark.parametrize(
    ("dialect", "how", "exact"),
    [
        ("responses", at_openai(), True),
        ("responses", Manners(server="llamacpp"), True),
        ("chat", Manners(server="llamacpp"), True),
        ("chat", Manners(server="ollama"), False),
        ("chat", at_openai(), False),
    ],
)
async def test_a_count_is_exact_where_the_service_counts(
    server: WireServer, dialect: Dialect, how: Manners, exact: bool
) -> None:
    async with client(server, dialect, how) as model:
        count = await model.count(ask("hi"))
    assert count.exact is exact
    assert count.tokens > 500
    assert server.seen == []


async def test_a_service_that_does_not_count_is_asked_once(server: WireServer) -> None:
    server.route("/v1/chat/completions/input_tokens", refused(404, {"error": {"message": "File Not Found"}}))
    async with client(server, "chat", Manners(server="llamacpp")) as model:
        assert not (await model.count(ask("hi"))).exact
        await model.count(ask("hi"))
    assert len(server.looked) == 1


async def test_no_proxy_stands_before_an_address_here_that_the_environment_names(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", "gateway-plum-seven")
    monkeypatch.setenv("OPENAI_BASE_URL", server.v1)
    server.add(say("ok"), refused(403, {"error": {"message": "no gateway-plum-seven here"}}))
    async with OpenAI(SOL, dialect="chat") as model:
        assert (await model.complete(ask("hi"))).text == "ok"
        with pytest.raises(ModelError, match="not shown"):
            await model.complete(ask("hi"))
