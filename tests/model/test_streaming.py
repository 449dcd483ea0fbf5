"""What is true of every client over a network, in each dialect, talking real HTTP to the wire server (A3)."""

from __future__ import annotations

import email.utils
import gzip
import itertools
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import httpx2
import pytest

from memdir import errors
from memdir.model import bounds, extras, refusals, streaming, tokens
from memdir.model.anthropic import Anthropic
from memdir.model.client import ModelClient
from memdir.model.keys import Key
from memdir.model.messages import Block, Request, Text, ToolUse, Usage, person
from memdir.model.openai import OpenAI, manners
from memdir.model.service import Endless, Service, is_here
from memdir.model.streaming import NO_NETWORK, StreamingClient
from memdir.testing import call, say, think
from tests.cases import REPO
from tests.model.conversations import PREFIX, ask, results
from tests.wire import answers
from tests.wire.server import Seen, WireServer
from tests.wire.transport import Answered, Asked, Http

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}
SOL = "gpt-6.2-sol"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One row. `more`: what its client is made with; `counts`: whether the service counts tokens; `key_at`:
    where a key is that was refused; `site`: whose keys it takes."""

    kind: type[Anthropic | OpenAI]
    model: str
    root: str = "/v1"
    more: dict[str, Any] = field(default_factory=dict)
    counts: bool = True
    key_at: str = "keyring set memdir 127.0.0.1:"
    site: str = "openai.com"


DIALECTS = {
    "messages": Dialect(
        kind=Anthropic,
        model="claude-sonnet-5",
        root="",
        site="claude.com",
    ),
    "responses": Dialect(kind=OpenAI, model=SOL, more={"manners": manners.of(None, SOL)}),
    "chat": Dialect(kind=OpenAI, model="qwen3.5:9b", more={"dialect": "chat"}, counts=False),
}


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return DIALECTS[request.param]


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer(models=[row.model for row in DIALECTS.values()]) as running:
        yield running


def client(server: WireServer, dialect: Dialect, **given: Any) -> StreamingClient:
    """A client of that server, with short pauses before it tries again."""
    how = {"base_url": server.url + dialect.root, "api_key": server.key, "max_retries": 2, "pause": 0.001}
    return dialect.kind(**{"model": dialect.model, **how, **dialect.more, **given})


@pytest.fixture
async def model(server: WireServer, dialect: Dialect) -> AsyncIterator[StreamingClient]:
    with anyio.fail_after(30):
        async with client(server, dialect) as made:
            yield made


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client would have paused."""
    asked: list[float] = []

    async def note(seconds: float) -> None:
        asked.append(seconds)

    monkeypatch.setattr(anyio, "sleep", note)
    return asked


@contextmanager
def nobody() -> Iterator[str]:
    """An address that is bound and not listening: nobody answers, and nobody else gets the port."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


# ── answers ────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_answer_streams_piece_by_piece_and_comes_back_whole_A3(
    server: WireServer, dialect: Dialect, model: ModelClient
) -> None:
    server.add([say("I read the file 文件 and it is fine."), call("Read", file_path="a.py", limit=3)])
    pieces: list[str] = []
    reply = await model.complete(ask("look"), on_text=pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces) == reply.text == "I read the file 文件 and it is fine."
    assert [(use.name, use.input) for use in reply.message.tool_uses] == [
        ("Read", {"file_path": "a.py", "limit": 3})
    ]
    assert (reply.stop, reply.model, reply.message.origin) == ("tool_use", dialect.model, "assistant")
    assert server.seen[0].body["stream"] is True


@pytest.mark.parametrize("text", ['{"file_path":', "[1]", '{"n": NaN}', '{"s": "\\ud800"}', "[" * 100_000])
async def test_a_tool_call_that_is_no_json_object_is_kept_as_it_came_and_goes_back_empty(
    server: WireServer, model: ModelClient, text: str
) -> None:
    server.add(answers.garbled_call("Read", text), say("ok"))
    reply = await model.complete(ask("look"))
    (use,) = reply.message.tool_uses
    assert (use.input, use.malformed) == ({}, text)
    await model.complete(ask("look", reply.message, results(use.id)))
    assert json.dumps(text).strip('"') not in server.seen[1].raw.decode()


async def test_a_tool_call_without_arguments_is_well_formed(server: WireServer, model: ModelClient) -> None:
    server.add(call("Status"))
    (use,) = (await model.complete(ask("look"))).message.tool_uses
    assert use == ToolUse(id=use.id, name="Status", input={})


async def test_a_call_that_came_as_text_is_not_run_A3(server: WireServer, model: ModelClient) -> None:
    server.add(answers.written_call(call("Read", file_path="a")))
    with pytest.raises(errors.ToolsIgnored, match="as text"):
        await model.complete(ask("look"))


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
async def test_why_an_answer_stopped_is_told(server: WireServer, model: ModelClient, reason: str) -> None:
    server.add(answers.stopped(reason, say("So far")))
    assert (await model.complete(ask("hi"))).stop == reason


# ── structured output ──────────────────────────────────────────────────────────────────────────────────


def which() -> Request:
    return Request(prefix=PREFIX, messages=(person("which?"),), schema=SCHEMA, cache=False)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"names": ["a.md"]}', '{"names": ["a.md"]}'),
        ('Maybe {"names": 3}? No: {"names": ["b.md"]}. That is it.', '{"names": ["b.md"]}'),
    ],
)
async def test_a_structured_answer_is_json_found_among_other_words_R5(
    server: WireServer, model: ModelClient, answer: str, found: str
) -> None:
    server.add(say(answer))
    assert (await model.complete(which())).text == found
    assert [seen.is_structured for seen in server.seen] == [True]


@pytest.mark.parametrize(
    ("answer", "times", "sentence"),
    [
        (say("I would take a.md"), 2, "did not answer with the JSON object"),
        (say('["a.md"]'), 2, "did not answer with the JSON object"),
        (say('{"names": "a.md"}'), 2, "did not answer with the JSON object"),
        (answers.stopped("end_turn"), 2, "did not answer with the JSON object"),
        (answers.stopped("max_tokens", say('{"names": [')), 1, "cut off at its token limit"),
        (answers.stopped("refusal"), 1, "refused to answer"),
    ],
)
async def test_an_answer_that_is_not_the_json_asked_for_is_a_bad_reply_R5(
    server: WireServer, model: ModelClient, answer: Any, times: int, sentence: str
) -> None:
    """It is asked for once more, where that can help, and no more than that."""
    server.add(*[answer] * times)
    with pytest.raises(errors.BadReply, match=sentence) as told:
        await model.complete(which())
    assert "a.md" not in f"{told.value} {told.value.hint}"
    server.assert_exhausted()


async def test_a_server_that_ignores_the_schema_is_asked_once_more_with_what_was_wrong_R5(
    server: WireServer, model: ModelClient
) -> None:
    server.add(say("I would take a.md"), say('Sure:\n```json\n{"names": ["a.md"]}\n```'))
    reply = await model.complete(which())
    assert reply.text == '{"names": ["a.md"]}'
    first, second = server.seen
    assert second.continues(first)
    assert "no JSON object" in second.text.splitlines()[-1]
    assert reply.usage == (first.usage or Usage()) + (second.usage or Usage()) != second.usage


# ── asked again ────────────────────────────────────────────────────────────────────────────────────────

BUSY, LIMITED = answers.overloaded(), answers.rate_limited()
PASSING = {
    "busy": BUSY,
    "429": LIMITED,
    "in the stream": answers.breaks(BUSY),
    "as its end": answers.breaks(BUSY, told="ending"),
    "without an end": answers.ends_early(),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
async def test_overload_is_tried_again_A3(server: WireServer, model: ModelClient, fault: Any) -> None:
    server.add(fault, fault, say("at last"))
    assert (await model.complete(ask("hi"))).text == "at last"
    assert len({seen.raw for seen in server.seen}) == 1
    server.assert_exhausted()


@pytest.mark.parametrize(
    ("faults", "sentence"),
    [
        ([BUSY] * 3, "overloaded"),
        ([answers.breaks(BUSY)] * 3, "overloaded"),
        ([LIMITED] * 3, "rate limit"),
        ([BUSY, answers.breaks(BUSY), LIMITED], "rate limit"),  # counted together
    ],
)
async def test_overload_that_lasts_is_told_A3(
    server: WireServer, model: ModelClient, faults: list[Any], sentence: str
) -> None:
    server.add(*faults, say("too late"))
    with pytest.raises(errors.ModelOverloaded, match=sentence):
        await model.complete(ask("hi"))
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("header", "value", "seconds"),
    [("retry-after", "7", 7), ("retry-after-ms", "250", 0.25), ("retry-after", "a date", 60)],
)
async def test_the_pause_that_the_service_asks_for_is_kept_A3(
    server: WireServer, model: ModelClient, pauses: list[float], header: str, value: str, seconds: float
) -> None:
    if value == "a date":
        value = email.utils.formatdate(time.time() + seconds, usegmt=True)
    server.add(replace(LIMITED, headers={header: value}), say("ok"))
    await model.complete(ask("hi"))
    assert pauses == [pytest.approx(seconds, rel=0.1)]


@pytest.mark.parametrize("value", ["Fri, 31 Dec 99999 23:59:59 GMT", "Mon, 99 Foo 2020 99:99:99 GMT", "soon"])
async def test_a_time_that_there_is_not_is_no_pause_A3(
    server: WireServer, model: ModelClient, pauses: list[float], value: str
) -> None:
    server.add(replace(LIMITED, headers={"retry-after": value}), say("ok"))
    await model.complete(ask("hi"))
    assert pauses[0] < 1


async def test_pauses_of_our_own_grow_up_to_eight_seconds_A3(
    server: WireServer, dialect: Dialect, pauses: list[float]
) -> None:
    server.add(*[replace(BUSY, headers={})] * 3, say("ok"))
    async with client(server, dialect, pause=3, max_retries=3) as model:
        await model.complete(ask("hi"))
    for pause, longest in zip(pauses, (3, 6, 8), strict=True):
        assert 0.75 * longest <= pause <= longest


@pytest.mark.parametrize(
    "headers", [{"retry-after": "121"}, {"retry-after-ms": "121000"}, {"x-should-retry": "False"}], ids=str
)
async def test_a_pause_of_more_than_two_minutes_or_a_plain_no_is_told_instead_A3(
    server: WireServer, model: ModelClient, pauses: list[float], headers: dict[str, str]
) -> None:
    server.add(replace(LIMITED, headers=headers))
    with pytest.raises(errors.ModelOverloaded, match="rate limit"):
        await model.complete(ask("hi"))
    assert (len(server.seen), pauses) == (1, [])


@pytest.mark.parametrize(
    ("pause", "told"), [("7", [("the rate limit", 7.0)] * 2), ("0.9", [])], ids=["long", "hardly noticed"]
)
async def test_who_waits_is_told_for_how_long_and_why_before_the_pause_A3(
    server: WireServer,
    dialect: Dialect,
    model: StreamingClient,
    pauses: list[float],
    pause: str,
    told: list[tuple[str, float]],
) -> None:
    heard: list[tuple[str, float]] = []

    def hear(seconds: float, why: errors.ModelError) -> None:
        assert len(pauses) == len(heard), "it is said before the pause"
        assert dialect.model in str(why)
        heard.append((str(why)[:14], seconds))

    model.on_wait = hear
    server.add(*[answers.rate_limited(pause=pause)] * 2, say("ok"))
    assert (await model.complete(ask("hi"))).text == "ok"
    assert heard == told
    assert len(pauses) == 2


BREAKING = {
    "cut off": answers.cut_off,
    "without an end": answers.ends_early,
    "overloaded": lambda *blocks: answers.breaks(BUSY, *blocks),
}


@pytest.mark.parametrize("fault", BREAKING.values(), ids=BREAKING)
async def test_an_answer_that_was_seen_in_part_is_not_asked_for_twice_A3(
    server: WireServer, model: ModelClient, fault: Any
) -> None:
    server.add(fault(say("I will write a long file now, so wait."), call("Write", content="x" * 500)))
    pieces: list[str] = []
    with pytest.raises(
        (errors.ModelUnreachable, errors.ModelOverloaded),
        match=f"answer of {model.name} broke off|overloaded",
    ):
        await model.complete(ask("hi"), on_text=pieces.append)
    assert "".join(pieces) == "I will write a long file now, so wait."
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("block", "watched"),
    [
        (think("Let me see what is there, step by step.", signature="c2ln"), True),
        (call("Write", content="x" * 500), True),
        (say("I will write a long file now, so wait."), False),
    ],
    ids=["thinking", "a call", "text that nobody reads"],
)
@pytest.mark.parametrize("fault", BREAKING.values(), ids=BREAKING)
async def test_an_answer_that_broke_off_before_anybody_read_of_it_is_asked_for_again_A3(
    server: WireServer, model: ModelClient, fault: Any, block: Block, watched: bool
) -> None:
    server.add(fault(block), say("whole"))
    pieces: list[str] = []
    reply = await model.complete(ask("hi"), on_text=pieces.append if watched else None)
    assert (reply.text, "".join(pieces)) == ("whole", "whole" if watched else "")
    server.assert_exhausted()


# ── told ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("fault", "error", "sentence", "cure"),
    [
        (answers.key_refused(401), errors.KeyRefused, "was refused", "{key_at}"),
        (answers.key_refused(403), errors.KeyRefused, "was refused", "{key_at}"),
        (answers.unknown_model(), errors.NoSuchModel, "no model", "memdir models"),
        (answers.too_long(), errors.ContextTooLong, "too long", "start a new"),
        (answers.breaks(answers.too_long()), errors.ContextTooLong, "too long", "start a new"),
        (answers.quota(), errors.KeyRefused, "can't pay", "billing"),
        (answers.tools_refused(), errors.ToolsIgnored, "can't call tools", "choose a model"),
        (answers.tools_refused(None), errors.ToolsIgnored, "can't call tools", "choose a model"),
    ],
)
async def test_what_the_service_refuses_is_told_with_a_cure_and_not_asked_again_A3(
    server: WireServer, dialect: Dialect, model: ModelClient, fault: Any, error: Any, sentence: str, cure: str
) -> None:
    server.add(fault)
    with pytest.raises(error, match=sentence) as told:
        await model.complete(ask("hi"))
    assert dialect.model in str(told.value)
    assert cure.format(key_at=dialect.key_at) in (told.value.hint or "")
    assert len(server.seen) == 1
    assert server.key not in f"{told.value} {told.value.hint} {model!r} {model.name}"


async def test_where_nothing_listens_on_this_machine_is_told_at_once_A3(
    server: WireServer, dialect: Dialect, pauses: list[float]
) -> None:
    with nobody() as url:
        async with client(server, dialect, base_url=url + dialect.root, max_retries=4) as model:
            with pytest.raises(errors.ModelUnreachable, match=f"nothing listens at {url}") as told:
                await model.complete(ask("hi"))
            found, count = await model.survey(), await model.count(ask("hi"))
    assert "start the server" in (told.value.hint or "")
    assert (found.reachable, found.problem, found.cure) == (False, str(told.value), told.value.hint)
    assert (count.exact, count.tokens) == (False, tokens.estimate_request(ask("hi")))
    assert pauses == []


@pytest.mark.parametrize(
    ("url", "sentence"),
    [("http://:x", "no connection to"), (None, NO_NETWORK), ("https://models.example.org/v1", NO_NETWORK)],
)
async def test_no_address_and_in_tests_a_real_model_are_out_of_reach(
    server: WireServer, dialect: Dialect, url: str | None, sentence: str
) -> None:
    async with client(server, dialect, base_url=url, max_retries=0) as model:
        with pytest.raises(errors.ModelUnreachable, match=sentence):
            await model.complete(ask("hi"))


async def test_a_server_that_wants_a_key_and_got_none_is_told_as_that_A3(
    server: WireServer, dialect: Dialect
) -> None:
    server.add(answers.key_refused())
    cure = "put the key of that server into the system keyring"
    async with client(server, dialect, api_key=None, key_cure=cure) as model:
        with pytest.raises(errors.KeyRefused) as told:
            await model.complete(ask("hi"))
    assert str(told.value) == f"the server at {server.url} wants a key, and none is stored for it"
    assert told.value.hint == cure


@pytest.mark.parametrize("source", ["SOME_API_KEY", "the system keyring"])
async def test_a_key_that_is_refused_is_told_with_where_it_was_found_A3(
    server: WireServer, dialect: Dialect, source: str
) -> None:
    server.add(answers.key_refused())
    found = Key(value=server.key, source=source)
    async with client(server, dialect, api_key=None, key=lambda: found) as model:
        with pytest.raises(errors.KeyRefused, match="was refused") as told:
            await model.complete(ask("hi"))
    assert f"{source}: is it whole" in (told.value.hint or "")
    assert server.key not in f"{told.value} {told.value.hint}"
    assert server.key in f"{server.seen[0].headers}"


async def test_a_wrong_name_that_is_near_a_right_one_is_told_with_that_one_A3(
    server: WireServer, dialect: Dialect
) -> None:
    wrong = f"{dialect.model}x"
    async with client(server, dialect, model=wrong) as model:
        with pytest.raises(errors.NoSuchModel, match=f"no model .*{wrong}") as told:
            await model.complete(ask("hi"))
        found = await model.survey()
    meant = model.name.removesuffix("x")
    assert told.value.hint == found.cure == f"did you mean `{meant}`?"
    assert len(server.seen) == 1


@pytest.mark.parametrize("given", [None, ""])
async def test_a_missing_key_names_the_variable_A3(
    server: WireServer, dialect: Dialect, monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    model = client(server, dialect, base_url=None, api_key=None)
    variable = f"{model.name.partition(':')[0].upper()}_API_KEY"
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "k")
    if given is not None:
        monkeypatch.setenv(variable, given)
    with pytest.raises(errors.KeyMissing, match=f"{variable} is not set") as told:
        await model.complete(ask("hi"))
    assert f"put a key from https://platform.{dialect.site}" in (told.value.hint or "")


async def test_without_the_library_the_cure_is_one_command(
    model: ModelClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = model.name.partition(":")[0]
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(errors.LibraryMissing, match="is not installed") as told:
        await model.complete(ask("hi"))
    assert told.value.hint == extras.how_to_install(library)


async def test_an_error_of_the_one_who_listens_is_not_the_models(
    server: WireServer, model: ModelClient
) -> None:
    def broken(text: str) -> None:
        raise ValueError("terminal gone")

    server.add(say("hello"), say("hello"))
    with pytest.raises(ValueError, match="terminal gone"):
        await model.complete(ask("hi"), on_text=broken)
    assert (await model.complete(ask("hi"))).text == "hello"


# ── counting, and the window ───────────────────────────────────────────────────────────────────────────


async def test_what_a_token_is_is_learned_from_usage_and_from_nothing_else(
    server: WireServer, model: ModelClient
) -> None:
    server.add(answers.no_usage(say("hello")), say("hello"))
    reply = await model.complete(ask("hi"))
    assert (reply.text, reply.usage.total_input, model.scale) == ("hello", 0, 1.0)
    reply = await model.complete(ask("hi"))
    assert model.scale == reply.usage.total_input / tokens.estimate_request(ask("hi")) != 1.0


async def test_a_count_is_exact_where_the_service_counts_and_teaches_as_usage_does(
    dialect: Dialect, server: WireServer, model: ModelClient
) -> None:
    count = await model.count(ask("hi"))
    assert count.exact is dialect.counts
    assert count.tokens == round(tokens.estimate_request(ask("hi")) * model.scale) > 500
    assert (model.scale != 1.0) is dialect.counts
    assert server.seen == []


@pytest.mark.parametrize("spare", [0, 1])
async def test_near_the_window_a_request_is_counted_and_what_is_too_long_is_not_sent_A3(
    server: WireServer, dialect: Dialect, spare: int
) -> None:
    """And where nobody counts, the service decides."""
    server.add(say("ok"))
    async with client(server, dialect) as model:
        size = (await model.count(ask("hi"))).tokens
    sent = spare or not dialect.counts
    refusal: Any = nullcontext() if sent else pytest.raises(errors.ContextTooLong, match="too long")
    async with client(server, dialect, window=size + spare) as model:
        with refusal as told:
            await model.complete(ask("hi"))
    assert told is None or told.value.hint.endswith(
        "larger context window; or start a new conversation; what was learned is kept"
    )
    assert len(server.seen) == bool(sent)
    assert len([seen for seen in server.looked if seen.path.endswith("tokens")]) == 2 * dialect.counts


async def test_a_server_that_read_far_less_than_was_sent_cuts_it_A3(
    server: WireServer, model: ModelClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_account", lambda *_: Usage(input=1000, output=1))
    server.add(say("ok"), say("ok"))
    await model.complete(ask("hi"))
    with pytest.raises(
        errors.ContextTooLong, match=r"has read 1,000 tokens of what must be \d,\d{3}"
    ) as told:
        await model.complete(ask("word " * 4000))
    assert not told.value.lasts, "it may be wrong, and is said of this one request"


async def test_a_server_that_counts_only_what_is_new_is_not_taken_for_one_that_cuts_A3(
    server: WireServer, model: ModelClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "Here are notes about the project, its conventions and its people. " * 200
    counts = [4000, 25, 30, 300]
    monkeypatch.setattr(server, "_account", lambda *_: Usage(input=counts.pop(0), output=1))
    server.add(*[say("ok")] * 4)
    first = await model.complete(ask(long))
    scale = model.scale
    second = await model.complete(ask(long, first.message, "and now?"))
    await model.complete(ask(long, first.message, "and now?", second.message, "and then?"))
    assert model.scale == scale
    with pytest.raises(errors.ContextTooLong):
        await model.complete(ask(long, first.message, "word " * 4000))


# ── what a service says of itself ──────────────────────────────────────────────────────────────────────


def lists(server: WireServer, dialect: Dialect, answer: Any) -> None:
    """Whoever asks for the model, or for all models, gets this."""
    for path in ("/v1/models", f"/v1/models/{dialect.model}"):
        server.route(path, answer)


async def test_a_survey_of_what_is_well_tells_the_window_A3(
    server: WireServer, dialect: Dialect, model: ModelClient
) -> None:
    row = {"id": dialect.model, "max_input_tokens": 123_456, "context_length": 123_456}
    lists(server, dialect, {**row, "data": [row]})
    found = await model.survey()
    assert (found.reachable, found.problem, found.cure) == (True, None, None)
    assert (found.models, found.window, model.window) == ((dialect.model,), 123_456, 123_456)
    assert server.seen == []


async def test_a_survey_tells_a_key_that_is_refused_A3(
    server: WireServer, dialect: Dialect, model: ModelClient
) -> None:
    lists(server, dialect, answers.key_refused())
    found = await model.survey()
    assert found.reachable
    assert "was refused" in (found.problem or "")
    assert dialect.key_at in (found.cure or "")
    assert server.key not in f"{found}"


async def test_a_survey_tells_a_model_that_is_not_there_A3(server: WireServer, dialect: Dialect) -> None:
    async with client(server, dialect, model="nobody-1") as model:
        found = await model.survey()
    assert found.reachable
    assert "no model" in (found.problem or "")
    assert "nobody-1" in (found.problem or "")
    assert "memdir models" in (found.cure or "")


async def test_a_service_that_does_not_come_to_an_answer_is_not_waited_for_A3(
    server: WireServer, dialect: Dialect, model: ModelClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "SURVEY_SECONDS", 0.05)
    go_on = threading.Event()
    lists(server, dialect, lambda seen: {"waited": go_on.wait(10)})
    found = await model.survey()
    go_on.set()
    assert (found.reachable, found.cure) == (False, "try again later")
    assert "did not answer in time" in (found.problem or "")


# ── lifetime ───────────────────────────────────────────────────────────────────────────────────────────


async def test_an_aborted_question_leaves_the_client_usable(server: WireServer, model: ModelClient) -> None:
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


async def test_a_client_that_is_closed_during_a_question_asks_again(
    server: WireServer, model: StreamingClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def close(_: float) -> None:
        await model.aclose()

    monkeypatch.setattr(anyio, "sleep", close)
    server.add(BUSY, say("ok"))
    assert (await model.complete(ask("hi"))).text == "ok"


async def test_questions_at_once_share_one_client(server: WireServer, model: ModelClient) -> None:
    server.add(*(say("ok") for _ in range(5)))
    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(model.complete, ask(f"question {number}"))
    server.assert_exhausted()


async def test_a_closed_client_opens_again_when_asked(server: WireServer, model: ModelClient) -> None:
    server.add(say("one"), say("two"))
    await model.complete(ask("hi"))
    await model.aclose()
    await model.aclose()
    assert (await model.complete(ask("hi"))).text == "two"


STORY = """
import sys, anyio
from memdir.model.messages import Prefix, Request, person
from tests.model.test_streaming import DIALECTS

async def main():
    row = DIALECTS[sys.argv[1]]
    async with row.kind(row.model, base_url=sys.argv[2] + row.root, api_key="k", **row.more) as model:
        await model.complete(Request(prefix=Prefix(system=(), tools=()), messages=(person("hi"),)))

anyio.run(main)
"""


@pytest.mark.parametrize("row", DIALECTS)
def test_a_closed_client_leaves_no_warning_at_shutdown(server: WireServer, row: str) -> None:
    server.add(say("ok"))
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", STORY, row, server.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=REPO)
    warned = [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]
    assert (done.returncode, warned) == (0, [])  # but for asyncio's notes about a busy machine
    server.assert_exhausted()


# ── what a server may not do ───────────────────────────────────────────────────────────────────────────


@contextmanager
def answering(answer: Callable[[Asked], Answered]) -> Iterator[str]:
    """The address of a server that answers so, whatever it is asked."""
    http = Http(answer)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}"
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def at(url: str, dialect: Dialect, **given: Any) -> StreamingClient:
    how = {"base_url": url + dialect.root, "api_key": "gateway-plum-seven", "max_retries": 0, "pause": 0.001}
    return dialect.kind(**{"model": dialect.model, **how, **dialect.more, **given})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_told_and_never_followed(
    server: WireServer, dialect: Dialect, status: int
) -> None:
    def moved(asked: Asked) -> Answered:
        there = server.url.replace("127.0.0.1", "localhost")
        return Answered(status=status, headers={"location": f"{there}{asked.path}?words"}, body={})

    with answering(moved) as url:
        async with at(url, dialect, name="the-model", max_retries=2) as model:
            with pytest.raises(errors.ModelError) as raised:
                await model.complete(ask("hi"))
            found = await model.survey()
    assert str(raised.value) == found.problem == "the-model answers that it is elsewhere: localhost"
    assert raised.value.hint == found.cure == "name that address if it is right"
    assert (server.seen, server.looked) == ([], [])


def test_a_redirect_to_nowhere_names_no_host() -> None:
    asked = Service(name="x:m", model="m", keys=("gateway-plum-seven",))
    for there in ("", "/v2", "http://[", "//gateway-plum-seven.example/"):
        assert str(asked.elsewhere(there)) == "x:m answers that it is elsewhere"
    assert "\x1b" not in str(asked.elsewhere("http://a\x1b[2Jb/"))


async def test_an_answer_without_end_is_given_up(dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "LONGEST_STREAM", 100_000)
    with answering(lambda asked: Answered(events=itertools.repeat({"type": "ping"}))) as url:
        async with at(url, dialect, window=100_000) as model:
            with pytest.raises(errors.BadReply, match="has no end"):
                await model.complete(ask("hi"))


async def test_a_line_without_end_is_given_up(dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "LONGEST_LINE", 100_000)
    with answering(lambda asked: Answered(events=iter(["x" * 1_000_000]))) as url:
        async with at(url, dialect, window=100_000) as model:
            with pytest.raises(errors.BadReply, match="has no end"):
                await model.complete(ask("hi"))


async def test_a_survey_reads_no_more_than_a_bound(dialect: Dialect) -> None:
    body = {"data": [{"id": "n" * 9_000_000}]}
    with answering(lambda asked: Answered(body=body)) as url:
        async with at(url, dialect) as model:
            found = await model.survey()
    assert found.problem is not None
    assert found.problem.endswith("its answer is too long")
    assert found.models == ()


@pytest.mark.parametrize("packed", ["gzip", "gzip, gzip", "br"])
async def test_what_an_answer_unpacks_into_is_counted(packed: str) -> None:
    content = gzip.compress(b"a" * 9_000_000)

    def answer(request: httpx2.Request) -> httpx2.Response:
        headers = {"content-encoding": packed}
        return httpx2.Response(200, headers=headers, stream=httpx2.ByteStream(content))

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer), **bounds.options(None)) as http:
        with pytest.raises(Endless):
            await http.get("http://127.0.0.1/")


async def test_a_name_without_end_is_clipped_in_a_sentence(dialect: Dialect) -> None:
    with answering(lambda asked: Answered(body={"data": [{"id": "n\x1b" * 5000}]})) as url:
        async with at(url, dialect) as model:
            found = await model.survey()
    assert found.problem is not None
    assert len(found.problem) < 300
    assert "\x1b" not in found.problem


@pytest.mark.parametrize("window", [True, 0, -5, 100_000_001, 10**400])
async def test_a_window_that_nobody_has_is_none(dialect: Dialect, window: int) -> None:
    row = {"id": dialect.model, "max_model_len": window}
    with answering(lambda asked: Answered(body={"data": [row]})) as url:
        async with at(url, dialect) as model:
            found = await model.survey()
    assert (found.problem, found.window) == (None, None)


@pytest.mark.parametrize("part", ["gateway-plum-seven", "GATEWAY-PLUM-SEVEN", "way-plum"])
@pytest.mark.parametrize("status", [400, 403])
async def test_no_sentence_shows_the_key_that_a_server_repeats(
    dialect: Dialect, part: str, status: int
) -> None:
    body = {"type": "error", "error": {"message": f"the token {part} is not allowed", "type": "x"}}
    with answering(lambda asked: Answered(status=status, body=body)) as url:
        async with at(url, dialect) as model:
            with pytest.raises(errors.ModelError) as raised:
                await model.complete(ask("hi"))
            found = await model.survey()
    assert "not shown" in str(raised.value)
    assert part not in f"{raised.value} {raised.value.hint} {found}"


async def test_no_name_of_a_model_shows_the_key(dialect: Dialect) -> None:
    rows = [{"id": "gateway-plum-seven"}, {"id": "other"}]
    with answering(lambda asked: Answered(body={"data": rows})) as url:
        async with at(url, dialect, model="gateway-plum-seve") as model:
            found = await model.survey()
    assert found.models == ("other",)
    assert "plum-seven" not in f"{found.problem} {found.cure}"


def test_a_short_key_counts_where_it_stands_alone() -> None:
    assert refusals.holds_key("the key EMPTY is not known", ("EMPTY",))
    assert not refusals.holds_key("the list is emptying", ("empty",))
    assert not refusals.holds_key("anything", ("",))


def test_our_own_words_are_no_server_s() -> None:
    error = errors.ModelError(
        "lmstudio:qwen3.5 did not take the request (400): no", hint="see lmstudio:qwen3.5"
    )
    Service(name="lmstudio:qwen3.5", model="qwen3.5", keys=("lmstudio-key",)).hush(error)
    assert str(error).endswith("(400): no")
    assert error.hint is not None


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("127.1", True),
        ("2130706433", True),
        ("0x7f.1", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("a.localhost.", True),
        ("127.0.0.1.", True),
        ("127.0.0.1.example.com", False),
        ("localhost.example.com", False),
        ("notlocalhost", False),
        ("10.0.0.1", False),
        ("::2", False),
        ("", False),
    ],
)
def test_what_is_this_machine(host: str, here: bool) -> None:
    assert is_here(host) == here


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2", "127.1", "a.localhost"])
def test_no_proxy_stands_between_here_and_here_by_any_name(host: str) -> None:
    assert bounds.options(f"http://{host}:1/v1")["trust_env"] is False
    assert "trust_env" not in bounds.options("http://10.0.0.1/v1")
    assert not bounds.options("http://10.0.0.1/v1")["follow_redirects"]
