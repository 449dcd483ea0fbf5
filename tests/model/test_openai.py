"""The adapter on OpenAI's SDK, in both dialects, talking real HTTP to the wire server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

import anyio
import openai
import pytest

from memdir.errors import (
    BadReply,
    ContextTooLong,
    KeyMissing,
    KeyRefused,
    LibraryMissing,
    ModelError,
    ModelOverloaded,
    ModelUnreachable,
    NoSuchModel,
    ToolsIgnored,
)
from memdir.model.messages import Image, Message, Request, Text, Thinking, ToolUse, person
from memdir.model.openai import OpenAI, manners, survey
from memdir.model.openai.failures import Service
from memdir.model.openai.manners import Manners
from memdir.testing import call, say, think
from tests.model.conversations import PREFIX, ask, results
from tests.wire.answers import (
    breaks,
    cut_off,
    declines,
    ends_early,
    garbled_call,
    key_refused,
    no_usage,
    overloaded,
    quota,
    rate_limited,
    refused,
    refuses_field,
    stopped,
    too_long,
    tools_refused,
    unknown_model,
    written_call,
)
from tests.wire.server import Seen, WireServer

pytestmark = pytest.mark.anyio

Dialect = Literal["chat", "responses"]
SOL = "gpt-6.2-sol"
SCHEMA = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}


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


async def test_an_answer_streams_piece_by_piece_and_comes_back_whole_A3(
    server: WireServer, model: OpenAI
) -> None:
    server.add([say("I read the file 文件 and it is fine."), call("Read", file_path="a.py", limit=3)])
    pieces: list[str] = []
    reply = await model.complete(ask("look"), on_text=pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces) == reply.text == "I read the file 文件 and it is fine."
    assert [(use.name, use.input) for use in reply.message.tool_uses] == [
        ("Read", {"file_path": "a.py", "limit": 3})
    ]
    assert (reply.stop, reply.model, reply.message.origin) == ("tool_use", SOL, "assistant")
    assert server.seen[0].body["stream"] is True


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


@pytest.mark.parametrize("text", ['{"file_path": ', "[1]", '{"n": NaN}', "[" * 100_000])
async def test_a_tool_call_that_is_no_json_object_is_kept_as_it_came(
    server: WireServer, model: OpenAI, text: str
) -> None:
    server.add(garbled_call("Read", text), say("ok"))
    reply = await model.complete(ask("look"))
    (use,) = reply.message.tool_uses
    assert (use.input, use.malformed) == ({}, text.strip())
    await model.complete(ask("look", reply.message, results(use.id)))


async def test_a_tool_call_without_arguments_is_well_formed(server: WireServer, model: OpenAI) -> None:
    server.add(call("Status"))
    (use,) = (await model.complete(ask("look"))).message.tool_uses
    assert use == ToolUse(id=use.id, name="Status", input={})


@pytest.mark.parametrize(("theirs", "ours"), [("max_tokens", "max_tokens"), ("refusal", "refusal")])
async def test_each_stop_reason_is_told(server: WireServer, model: OpenAI, theirs: str, ours: str) -> None:
    server.add(stopped(theirs, say("So far")))
    assert (await model.complete(ask("hi"))).stop == ours


async def test_a_refusal_is_shown_and_told(server: WireServer, model: OpenAI) -> None:
    server.add(declines("I can't help with that."))
    pieces: list[str] = []
    reply = await model.complete(ask("hi"), on_text=pieces.append)
    assert ("".join(pieces), reply.text, reply.stop) == (
        "I can't help with that.",
        "I can't help with that.",
        "refusal",
    )


async def test_without_usage_nothing_is_learned_and_nothing_breaks(server: WireServer, model: OpenAI) -> None:
    server.add(no_usage(say("hello")))
    reply = await model.complete(ask("hi"))
    assert (reply.text, reply.usage.total_input, model.scale) == ("hello", 0, 1.0)


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


# ── structured output, and tools ───────────────────────────────────────────────────────────────────────


def which() -> Request:
    return Request(prefix=PREFIX, messages=(person("which?"),), schema=SCHEMA, cache=False)


async def test_a_structured_answer_is_json_R5(server: WireServer, model: OpenAI) -> None:
    server.add(say('{"names": ["a.md"]}'))
    assert (await model.complete(which())).text == '{"names": ["a.md"]}'
    assert server.seen[0].is_structured


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


async def test_an_answer_that_is_no_json_twice_is_a_bad_reply(server: WireServer, model: OpenAI) -> None:
    server.add(say("I would take a.md"), say("a.md, I said"))
    with pytest.raises(BadReply, match="did not answer with the JSON object"):
        await model.complete(which())


async def test_a_call_that_came_as_text_is_not_run(server: WireServer, model: OpenAI) -> None:
    server.add(written_call(call("Read", file_path="a")))
    with pytest.raises(ToolsIgnored):
        await model.complete(ask("look"))


# ── manners ────────────────────────────────────────────────────────────────────────────────────────────


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


# ── trouble ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "fault",
    [overloaded(), rate_limited(), breaks(overloaded()), breaks(overloaded(), told="ending"), ends_early()],
    ids=["503", "429", "in the stream", "as its end", "without an end"],
)
async def test_overload_is_tried_again_A3(server: WireServer, model: OpenAI, fault: Any) -> None:
    server.add(fault, fault, say("at last"))
    assert (await model.complete(ask("hi"))).text == "at last"
    assert len({seen.raw for seen in server.seen}) == 1
    server.assert_exhausted()


async def test_overload_that_lasts_is_told_A3(server: WireServer, model: OpenAI) -> None:
    server.add(overloaded(), breaks(overloaded()), overloaded())
    with pytest.raises(ModelOverloaded, match="overloaded"):
        await model.complete(ask("hi"))
    server.assert_exhausted()


@pytest.mark.parametrize("fault", [cut_off, ends_early, lambda *blocks: breaks(overloaded(), *blocks)])
async def test_an_answer_that_was_seen_in_part_is_not_asked_for_twice(
    server: WireServer, model: OpenAI, fault: Any
) -> None:
    server.add(fault(say("I will write a long file now, so wait."), call("Write", content="x" * 500)))
    pieces: list[str] = []
    with pytest.raises((ModelUnreachable, ModelOverloaded)):
        await model.complete(ask("hi"), on_text=pieces.append)
    assert "".join(pieces) == "I will write a long file now, so wait."
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("fault", "error", "sentence", "cure"),
    [
        (key_refused(401), KeyRefused, "was refused", "keyring set memdir 127.0.0.1:"),
        (key_refused(403), KeyRefused, "was refused", "keyring set memdir 127.0.0.1:"),
        (unknown_model(), NoSuchModel, f"has no model {SOL}", "--model"),
        (too_long(), ContextTooLong, "too long", "start a new conversation"),
        (breaks(too_long()), ContextTooLong, "too long", "start a new conversation"),
        (quota(), KeyRefused, "can't pay", "billing"),
        (tools_refused(), ToolsIgnored, "can't call tools", "choose a model"),
        (tools_refused(None), ToolsIgnored, "can't call tools", "choose a model"),
    ],
)
async def test_what_the_service_refuses_is_told_with_a_cure_and_not_asked_again(
    server: WireServer, model: OpenAI, fault: Any, error: type[ModelError], sentence: str, cure: str
) -> None:
    server.add(fault)
    with pytest.raises(error, match=sentence) as told:
        await model.complete(ask("hi"))
    assert cure in (told.value.hint or "")
    assert len(server.seen) == 1
    assert server.key not in f"{told.value} {told.value.hint} {model!r}"


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    with socket.socket() as taken:  # bound and not listening: nobody answers, and nobody else gets the port
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with OpenAI("m", base_url=f"{url}/v1", name="ollama:m", max_retries=0) as model:
            with pytest.raises(ModelUnreachable, match=f"no server answers at {url}") as told:
                await model.complete(ask("hi"))
            found = await model.survey()
    assert "ollama serve" in (told.value.hint or "")
    assert (found.reachable, found.cure) == (False, told.value.hint)


async def test_a_base_url_that_is_none_is_told() -> None:
    async with OpenAI("m", base_url="http://[", max_retries=0) as model:
        with pytest.raises(ModelUnreachable):
            await model.complete(ask("hi"))


async def test_without_the_library_the_cure_is_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(LibraryMissing, match="is not installed") as told:
        await OpenAI(SOL).complete(ask("hi"))
    assert told.value.hint == "pip install 'memdir[openai]'"


@pytest.mark.parametrize("url", [None, "https://models.example.org/v1"])
async def test_in_tests_a_real_model_is_out_of_reach(url: str | None) -> None:
    with pytest.raises(ModelUnreachable, match="MEMDIR_TEST_NO_NETWORK"):
        await OpenAI(SOL, api_key="k", base_url=url).complete(ask("hi"))


async def test_an_error_of_the_one_who_listens_is_not_the_models(server: WireServer, model: OpenAI) -> None:
    def broken(text: str) -> None:
        raise ValueError("terminal gone")

    server.add(say("hello"), say("hello"))
    with pytest.raises(ValueError, match="terminal gone"):
        await model.complete(ask("hi"), on_text=broken)
    assert (await model.complete(ask("hi"))).text == "hello"


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
    assert server.seen[0].headers["authorization"] == "Bearer none"


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


@pytest.mark.parametrize("given", [None, ""])
async def test_a_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch, given: str | None) -> None:
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "k")
    if given is not None:
        monkeypatch.setenv("OPENAI_API_KEY", given)
    with pytest.raises(KeyMissing, match="OPENAI_API_KEY is not set") as told:
        await OpenAI(SOL).complete(ask("hi"))
    assert "https://platform.openai.com" in (told.value.hint or "")


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
        loaded.append({"name": SOL, "context_length": 4096})
        return say("ok")

    server.add(load)
    async with client(server) as model:
        assert (await model.survey()).window is None
        await model.complete(ask("hi"))
        assert model.window == 4096


async def test_a_server_that_cuts_in_silence_is_not_asked_what_does_not_fit(server: WireServer) -> None:
    listed(server, row(owned_by="library"))
    server.route("/api/ps", {"models": [{"name": SOL, "context_length": 4096}]})
    server.route("/api/show", {"capabilities": ["tools"]})
    async with client(server) as model:
        with pytest.raises(ContextTooLong, match="too long") as told:
            await model.complete(ask("word " * 5000))
    assert "OLLAMA_CONTEXT_LENGTH" in (told.value.hint or "")
    assert server.seen == []


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
        ([row(id="a"), row(id="b")], {}, f"has no model {SOL}; it has: a, b", "--model"),
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


async def test_a_survey_tells_a_key_that_is_refused(server: WireServer) -> None:
    server.route("/v1/models", key_refused())
    async with client(server) as model:
        found = await model.survey()
    assert found.reachable
    assert "was refused" in (found.problem or "")


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


# ── lifetime ───────────────────────────────────────────────────────────────────────────────────────────


async def test_an_aborted_question_leaves_the_client_usable(server: WireServer, model: OpenAI) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slowly(seen: Seen) -> Text:
        asked.set()
        go_on.wait(10)
        return say("too late")

    server.add(say("warm"), slowly, say("again"))
    await model.complete(ask("hi"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(model.complete, ask("hi"))
        await anyio.to_thread.run_sync(asked.wait, 10)
        tasks.cancel_scope.cancel()
    go_on.set()
    assert (await model.complete(ask("hi"))).text == "again"


async def test_a_closed_client_opens_again_when_asked(server: WireServer, model: OpenAI) -> None:
    server.add(say("one"), say("two"))
    await model.complete(ask("hi"))
    await model.aclose()
    await model.aclose()
    assert (await model.complete(ask("hi"))).text == "two"


STORY = """
import sys, anyio
from memdir.model.openai import OpenAI
from memdir.model.messages import Prefix, Request, person

async def main():
    async with OpenAI("m", dialect="chat", base_url=sys.argv[1]) as model:
        await model.complete(Request(prefix=Prefix(system=(), tools=()), messages=(person("hi"),)))

anyio.run(main)
"""


def test_a_closed_client_leaves_no_warning_at_shutdown(server: WireServer) -> None:
    server.add(say("ok"))
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", STORY, server.v1]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    server.assert_exhausted()
