"""The adapter on the official SDK, talking real HTTP to the wire server."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import anyio
import pytest

from memdir.errors import (
    BadReply,
    ContextTooLong,
    KeyMissing,
    KeyRefused,
    ModelError,
    ModelOverloaded,
    ModelUnreachable,
    NoSuchModel,
)
from memdir.model.anthropic import Anthropic
from memdir.model.messages import Request, Text, Thinking, ToolUse, assistant, person
from memdir.testing import call, say, think
from tests.model.conversations import PREFIX, ask, results
from tests.wire.answers import (
    breaks,
    cut_off,
    garbled_call,
    key_refused,
    overloaded,
    rate_limited,
    stopped,
    too_long,
    unknown_model,
)
from tests.wire.server import Seen, WireServer

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}


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


async def test_an_answer_streams_piece_by_piece_and_comes_back_whole_A3(
    server: WireServer, model: Anthropic
) -> None:
    server.add([say("I read the file 文件 and it is fine."), call("Read", file_path="a.py", limit=3)])
    pieces: list[str] = []
    reply = await model.complete(ask("look"), on_text=pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces) == reply.text == "I read the file 文件 and it is fine."
    assert [(use.name, use.input) for use in reply.message.tool_uses] == [
        ("Read", {"file_path": "a.py", "limit": 3})
    ]
    assert (reply.stop, reply.model, reply.message.origin) == ("tool_use", "claude-sonnet-5", "assistant")
    assert server.seen[0].body["stream"] is True


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


@pytest.mark.parametrize("text", ['{"file_path": ', "[1]", '{"n": NaN}', '{"s": "\\ud800"}', "[" * 100_000])
async def test_a_tool_call_that_is_no_json_object_is_kept_as_it_came(
    server: WireServer, model: Anthropic, text: str
) -> None:
    server.add(garbled_call("Read", text), say("ok"))
    reply = await model.complete(ask("look"))
    (use,) = reply.message.tool_uses
    assert (use.input, use.malformed) == ({}, text)
    await model.complete(ask("look", reply.message, results(use.id)))
    assert server.seen[1].body["messages"][1]["content"][0]["input"] == {}


async def test_a_tool_call_without_arguments_is_well_formed(server: WireServer, model: Anthropic) -> None:
    server.add(call("Status"))
    (use,) = (await model.complete(ask("look"))).message.tool_uses
    assert use == ToolUse(id=use.id, name="Status", input={})


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("refusal", "refusal"),
        ("pause_turn", "other"),
        ("stop_sequence", "end_turn"),
    ],
)
async def test_each_stop_reason_is_told(server: WireServer, model: Anthropic, theirs: str, ours: str) -> None:
    server.add(stopped(theirs, say("So far")))
    assert (await model.complete(ask("hi"))).stop == ours


# ── structured output ──────────────────────────────────────────────────────────────────────────────────


def which() -> Request:
    return Request(prefix=PREFIX, messages=(person("which?"),), schema=SCHEMA, cache=False)


async def test_a_structured_answer_is_json_and_pays_for_no_cache(
    server: WireServer, model: Anthropic
) -> None:
    server.add(say('{"names": ["a.md"]}'))
    reply = await model.complete(which())
    assert reply.text == '{"names": ["a.md"]}'
    assert server.seen[0].body["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA}
    assert (reply.usage.cache_read, reply.usage.cache_write) == (0, 0)


@pytest.mark.parametrize(
    ("answer", "times", "sentence"),
    [
        (say("I would take a.md"), 2, "did not answer with the JSON object"),
        (say('["a.md"]'), 2, "did not answer with the JSON object"),
        (say('{"names": "a.md"}'), 2, "did not answer with the JSON object"),
        (stopped("end_turn"), 2, "did not answer with the JSON object"),
        (stopped("max_tokens", say('{"names": [')), 1, "cut off at its token limit"),
        (stopped("refusal"), 1, "refused to answer"),
    ],
)
async def test_an_answer_that_is_not_the_json_asked_for_is_a_bad_reply(
    server: WireServer, model: Anthropic, answer: Text, times: int, sentence: str
) -> None:
    """It is asked for once more, where that can help, and no more than that."""
    server.add(*[answer] * times)
    with pytest.raises(BadReply, match=sentence) as told:
        await model.complete(which())
    assert "a.md" not in str(told.value)
    server.assert_exhausted()


async def test_a_server_that_ignores_the_schema_is_asked_once_more_with_what_was_wrong(
    server: WireServer, model: Anthropic
) -> None:
    server.add(say("I would take a.md"), say('Sure:\n```json\n{"names": ["a.md"]}\n```'))
    reply = await model.complete(which())
    assert reply.text == '{"names": ["a.md"]}'
    first, second = server.seen
    assert second.body["messages"][0] == first.body["messages"][0]
    assert "no JSON object" in second.body["messages"][-1]["content"][0]["text"]
    assert first.usage is not None
    assert second.usage is not None
    assert reply.usage == first.usage + second.usage


async def test_an_object_among_other_words_is_found_without_asking_again(
    server: WireServer, model: Anthropic
) -> None:
    server.add(say('Maybe {"names": 3}? No: {"names": ["b.md"]}. That is it.'))
    assert (await model.complete(which())).text == '{"names": ["b.md"]}'
    server.assert_exhausted()


# ── trouble ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "fault", [overloaded(), rate_limited(), breaks(overloaded())], ids=["529", "429", "in the stream"]
)
async def test_overload_is_tried_again_A3(server: WireServer, model: Anthropic, fault: Text) -> None:
    server.add(fault, fault, say("at last"))
    assert (await model.complete(ask("hi"))).text == "at last"
    assert len({seen.raw for seen in server.seen}) == 1
    server.assert_exhausted()


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (overloaded(), "overloaded"),
        (breaks(overloaded()), "overloaded"),
        (rate_limited(), "rate limit"),
        (rate_limited(code="enforced_spend_limit_reached"), "spending limit"),
    ],
)
async def test_overload_that_lasts_is_told_A3(
    server: WireServer, model: Anthropic, fault: Text, sentence: str
) -> None:
    server.add(fault, fault, fault)
    with pytest.raises(ModelOverloaded, match=sentence):
        await model.complete(ask("hi"))
    server.assert_exhausted()


async def test_the_pause_that_the_service_asks_for_is_kept(server: WireServer) -> None:
    server.add(rate_limited(pause="0.3"), say("ok"))
    async with Anthropic("claude-sonnet-5", base_url=server.url, api_key=server.key) as model:
        begun = anyio.current_time()
        await model.complete(ask("hi"))
        assert anyio.current_time() - begun >= 0.3


async def test_a_pause_of_more_than_two_minutes_is_told_instead(server: WireServer, model: Anthropic) -> None:
    server.add(rate_limited(pause="3600"))
    with pytest.raises(ModelOverloaded, match="rate limit"):
        await model.complete(ask("hi"))
    server.assert_exhausted()


@pytest.mark.parametrize("fault", [cut_off, lambda *blocks: breaks(overloaded(), *blocks)])
async def test_an_answer_that_was_seen_in_part_is_not_asked_for_twice(
    server: WireServer, model: Anthropic, fault: type
) -> None:
    server.add(fault(say("I will write a long file now, so wait."), call("Write", content="x" * 500)))
    pieces: list[str] = []
    with pytest.raises((ModelUnreachable, ModelOverloaded)):
        await model.complete(ask("hi"), on_text=pieces.append)
    assert "".join(pieces) == "I will write a long file now, so wait."
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "block",
    [think("Let me see what is there, step by step.", signature="c2ln"), call("Write", content="x" * 500)],
    ids=["thinking", "a call"],
)
@pytest.mark.parametrize("fault", [cut_off, lambda *blocks: breaks(overloaded(), *blocks)])
async def test_an_answer_that_broke_off_before_its_text_is_asked_for_again_A3(
    server: WireServer, model: Anthropic, fault: type, block: Text
) -> None:
    server.add(fault(block), say("whole"))
    pieces: list[str] = []
    assert (await model.complete(ask("hi"), on_text=pieces.append)).text == "".join(pieces) == "whole"
    server.assert_exhausted()


async def test_an_answer_that_nobody_watches_is_asked_for_again_A3(
    server: WireServer, model: Anthropic
) -> None:
    server.add(cut_off(say("I will write a long file now, so wait.")), say("whole"))
    assert (await model.complete(ask("hi"))).text == "whole"
    server.assert_exhausted()


async def test_what_is_asked_again_for_different_reasons_is_counted_together_A3(
    server: WireServer, model: Anthropic
) -> None:
    server.add(overloaded(), breaks(overloaded()), overloaded(), say("too late"))
    with pytest.raises(ModelOverloaded):
        await model.complete(ask("hi"))
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("fault", "error", "sentence", "cure"),
    [
        (key_refused(401), KeyRefused, "key for anthropic:claude-sonnet-5 was refused", "ANTHROPIC_API_KEY"),
        (key_refused(403), KeyRefused, "was refused", "ANTHROPIC_API_KEY"),
        (unknown_model(), NoSuchModel, "no model anthropic:claude-sonnet-5", "--model"),
        (too_long(), ContextTooLong, "too long", "start a new one"),
    ],
)
async def test_what_the_service_refuses_is_told_with_a_cure(
    server: WireServer, model: Anthropic, fault: Text, error: type[ModelError], sentence: str, cure: str
) -> None:
    server.add(fault)
    with pytest.raises(error, match=sentence) as told:
        await model.complete(ask("hi"))
    assert cure in (told.value.hint or "")
    assert len(server.seen) == 1
    assert server.key not in f"{told.value} {told.value.hint} {model!r} {vars(model).get('name')}"


async def test_a_request_that_the_service_does_not_take_is_told_with_its_reason(
    server: WireServer, model: Anthropic
) -> None:
    with pytest.raises(ModelError, match="the first message must use the user role"):
        await model.complete(ask(assistant("me first")))


@pytest.mark.parametrize("given", [None, ""])
async def test_a_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch, given: str | None) -> None:
    if given is not None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", given)
    with pytest.raises(KeyMissing, match="ANTHROPIC_API_KEY is not set") as told:
        await Anthropic("claude-sonnet-5").complete(ask("hi"))
    assert "https://platform.claude.com" in (told.value.hint or "")


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


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    with socket.socket() as taken:  # bound and not listening: nobody answers, and nobody else gets the port
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with Anthropic("claude-sonnet-5", base_url=url, api_key="k", max_retries=0) as model:
            with pytest.raises(ModelUnreachable, match="no connection") as told:
                await model.complete(ask("hi"))
    assert "ANTHROPIC_BASE_URL" in (told.value.hint or "")


async def test_a_base_url_that_is_none_is_told() -> None:
    async with Anthropic("claude-sonnet-5", base_url="http://[", api_key="k", max_retries=0) as model:
        with pytest.raises(ModelUnreachable):
            await model.complete(ask("hi"))


async def test_without_the_library_the_cure_is_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(ModelError, match="is not installed") as told:
        await Anthropic("claude-sonnet-5").complete(ask("hi"))
    assert told.value.hint == "pip install 'memdir[anthropic]'"


async def test_in_tests_a_real_model_is_out_of_reach() -> None:
    with pytest.raises(ModelUnreachable, match="MEMDIR_TEST_NO_NETWORK"):
        await Anthropic("claude-sonnet-5", api_key="k").complete(ask("hi"))


async def test_an_error_of_the_one_who_listens_is_not_the_models(
    server: WireServer, model: Anthropic
) -> None:
    def broken(text: str) -> None:
        raise ValueError("terminal gone")

    server.add(say("hello"), say("hello"))
    with pytest.raises(ValueError, match="terminal gone"):
        await model.complete(ask("hi"), on_text=broken)
    assert (await model.complete(ask("hi"))).text == "hello"


# ── lifetime ───────────────────────────────────────────────────────────────────────────────────────────


async def test_an_aborted_question_leaves_the_client_usable(server: WireServer, model: Anthropic) -> None:
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


async def test_questions_at_once_share_one_client(server: WireServer, model: Anthropic) -> None:
    server.add(*(say("ok") for _ in range(5)))
    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(model.complete, ask(f"question {number}"))
    server.assert_exhausted()


async def test_a_closed_client_opens_again_when_asked(server: WireServer, model: Anthropic) -> None:
    server.add(say("one"), say("two"))
    await model.complete(ask("hi"))
    await model.aclose()
    await model.aclose()
    assert (await model.complete(ask("hi"))).text == "two"


STORY = """
import sys, anyio
from memdir.model.anthropic import Anthropic
from memdir.model.messages import Prefix, Request, person

async def main():
    async with Anthropic("claude-sonnet-5", base_url=sys.argv[1], api_key="k") as model:
        await model.complete(Request(prefix=Prefix(system=(), tools=()), messages=(person("hi"),)))

anyio.run(main)
"""


def test_a_closed_client_leaves_no_warning_at_shutdown(server: WireServer) -> None:
    server.add(say("ok"))
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", STORY, server.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    warned = [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]
    assert (done.returncode, warned) == (0, [])  # but for asyncio's notes about a busy machine
    server.assert_exhausted()
