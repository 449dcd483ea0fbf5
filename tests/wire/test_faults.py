"""Each fault that the wire server can be told to have, in each of its three formats."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memdir.testing import call, say
from tests.wire.answers import (
    Refused,
    breaks,
    cut_off,
    ends_early,
    key_refused,
    overloaded,
    quota,
    rate_limited,
    refused,
    refuses_field,
    shows_no_done,
    too_long,
    tools_refused,
    unknown_model,
)
from tests.wire.asking import DIALECTS, post, question, stream
from tests.wire.seen import dump
from tests.wire.server import WireServer

each_dialect = pytest.mark.parametrize("dialect", DIALECTS)

FAULTS: list[tuple[Refused, int, str, int, str | None]] = [
    (overloaded(), 529, "overloaded_error", 503, "server_error"),
    (rate_limited(), 429, "rate_limit_error", 429, "rate_limit_exceeded"),
    (key_refused(401), 401, "authentication_error", 401, "invalid_api_key"),
    (key_refused(403), 403, "permission_error", 403, None),
    (unknown_model(), 404, "not_found_error", 404, "model_not_found"),
    (too_long(), 400, "invalid_request_error", 400, "context_length_exceeded"),
    (quota(), 402, "billing_error", 429, "insufficient_quota"),
    (tools_refused(None), 400, "invalid_request_error", 400, "unsupported_parameter"),
    (refuses_field("temperature"), 400, "invalid_request_error", 400, "unsupported_parameter"),
]


@pytest.mark.parametrize(
    ("fault", "status", "type_", "openai_status", "code"), FAULTS, ids=[fault[0].kind for fault in FAULTS]
)
@each_dialect
def test_each_fault_has_the_status_and_the_error_of_its_format(
    dialect: str, fault: Refused, status: int, type_: str, openai_status: int, code: str | None
) -> None:
    with WireServer(fault, breaks(fault)) as server:
        got, body = post(server, dialect, question(dialect))
        broken = stream(server, dialect, question(dialect))[-1]
    error = body["error"]
    assert error == broken["error"]
    assert error["message"]
    if dialect == "messages":
        assert (got, body["type"], error["type"]) == (status, "error", type_)
    else:
        assert (got, error["code"], set(error)) == (openai_status, code, {"message", "type", "param", "code"})


def test_a_rate_limit_says_how_long_to_wait() -> None:
    with WireServer(rate_limited(pause="7"), is_open=True) as server:
        status, _ = post(server, "chat", question("chat"), key="")
    assert status == 429
    assert [seen.status for seen in server.seen] == [429]


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        (tools_refused("ollama"), 400, "library/m does not support tools"),
        (tools_refused("vllm"), 400, "--enable-auto-tool-choice"),
        (tools_refused("llamacpp"), 500, "--jinja"),
        (tools_refused("openrouter"), 404, "No endpoints found"),
        (too_long("ollama"), 400, "exceeds the available context size"),
        (too_long("vllm"), 400, "maximum context length"),
        (too_long("llamacpp"), 400, "exceed_context_size_error"),
        (too_long("lmstudio"), 400, "tokens to keep from the initial prompt"),
        (too_long("openrouter"), 400, "maximum context length"),
        (quota("openrouter"), 402, "can only afford"),
        (refused(503, {"error": "Loading model"}), 503, "Loading model"),
    ],
)
def test_servers_word_their_refusals_in_their_own_way(fault: Refused, status: int, words: str) -> None:
    with WireServer(fault) as server:
        got, body = post(server, "chat", question("chat"))
    assert (got, words in json.dumps(body)) == (status, True)


@each_dialect
@pytest.mark.parametrize("block", [say("I will write a long file now."), call("Write", content="x" * 99)])
def test_a_connection_that_is_cut_ends_in_the_middle_of_the_last_block(dialect: str, block: Any) -> None:
    with WireServer(cut_off(say("First."), block)) as server:
        events = dump(stream(server, dialect, question(dialect)))
    assert "First." in events
    assert "now." not in events
    assert "x" * 12 in events or "I will" in events
    ends = {"messages": "message_delta", "chat": '"finish_reason":"', "responses": "response.completed"}
    assert ends[dialect] not in events


@each_dialect
def test_a_stream_may_lack_its_end_or_its_last_mark(dialect: str) -> None:
    with WireServer(ends_early(say("So")), shows_no_done(say("So"))) as server:
        early = stream(server, dialect, question(dialect))
        unmarked = stream(server, dialect, question(dialect))
    ends = {"messages": '"end_turn"', "chat": '"stop"', "responses": "response.completed"}
    marks = {"messages": "message_stop", "chat": "[DONE]", "responses": "no such mark"}
    assert ends[dialect] not in dump(early)
    assert ends[dialect] in dump(unmarked)
    assert marks[dialect] not in dump(unmarked)


@pytest.mark.parametrize(
    ("dialect", "told", "shape"),
    [
        ("chat", "ending", ("choices", "error")),
        ("responses", "flat", ("code", "message")),
        ("responses", "ending", ("response",)),
    ],
)
def test_an_error_in_a_stream_has_more_than_one_shape(
    dialect: str, told: Any, shape: tuple[str, ...]
) -> None:
    with WireServer(breaks(overloaded(), say("So"), told=told)) as server:
        last = stream(server, dialect, question(dialect))[-1]
    assert set(shape) <= set(last)
    assert "server_error" in dump(last)
