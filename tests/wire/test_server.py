"""The wire server answers in three formats, is strict where the services are, and says what it saw."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memdir.model.messages import Block
from memdir.testing import call, say, think
from tests.wire.answers import (
    declines,
    garbled_call,
    no_usage,
    stopped,
    written_call,
)
from tests.wire.asking import (
    DIALECTS,
    PATHS,
    Heard,
    Json,
    heard_stream,
    heard_whole,
    post,
    question,
    send,
    stream,
    tool,
)
from tests.wire.seen import dump
from tests.wire.server import WireServer

LONG = "All work and no play makes a long prefix of it. " * 120
"""Some 1,400 tokens: more than the least that is cached."""
ASKING = {"messages": {}, "chat": {}, "responses": {"reasoning": {"summary": "auto"}}}
each_dialect = pytest.mark.parametrize("dialect", DIALECTS)


# ── answers ────────────────────────────────────────────────────────────────────────────────────────────


@each_dialect
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_reasoning_text_and_parallel_calls_arrive_whole(dialect: str, streams: bool) -> None:
    answer: list[Block] = [
        think("Let me see what is there."),
        say("I'll look at both of them."),
        call("Read", file_path="a"),
        call("Read", file_path="é 记"),
    ]
    with WireServer(answer) as server:
        sent = question(dialect, stream=streams, tools=[tool(dialect, "Read")], **ASKING[dialect])
        if streams:
            heard = heard_stream(dialect, stream(server, dialect, sent))
        else:
            heard = heard_whole(dialect, post(server, dialect, sent)[1])
    assert heard.text == "I'll look at both of them."
    assert heard.reasoning == "Let me see what is there."
    assert [(name, json.loads(given)) for name, given in heard.calls] == [
        ("Read", {"file_path": "a"}),
        ("Read", {"file_path": "é 记"}),
    ]
    assert heard.stop == {"messages": "tool_use", "chat": "tool_calls", "responses": "completed"}[dialect]
    assert heard.input is not None
    assert heard.input > 0
    server.assert_exhausted()


@each_dialect
@pytest.mark.parametrize(
    ("reason", "theirs"),
    [
        ("max_tokens", {"messages": "max_tokens", "chat": "length", "responses": "max_output_tokens"}),
        ("refusal", {"messages": "refusal", "chat": "content_filter", "responses": "content_filter"}),
        ("end_turn", {"messages": "end_turn", "chat": "stop", "responses": "completed"}),
    ],
)
def test_an_answer_ends_for_the_reason_it_was_given(
    dialect: str, reason: str, theirs: dict[str, str]
) -> None:
    with WireServer(stopped(reason, say("So far")), stopped(reason, say("So far"))) as server:
        sent = question(dialect)
        assert heard_whole(dialect, post(server, dialect, sent)[1]).stop == theirs[dialect]
        heard = heard_stream(dialect, stream(server, dialect, sent))
    assert (heard.text, heard.stop) == ("So far", theirs[dialect])


@each_dialect
def test_a_garbled_call_and_a_written_one_are_what_they_are(dialect: str) -> None:
    with WireServer(
        garbled_call("Read", '{"file_path": "a'), written_call(call("Read", a=1), style="tagged")
    ) as server:
        garbled = heard_stream(
            dialect, stream(server, dialect, question(dialect, tools=[tool(dialect, "Read")]))
        )
        written = heard_stream(dialect, stream(server, dialect, question(dialect)))
    assert garbled.calls[0][1] in ('{"file_path": "a', dump('{"file_path": "a'))
    assert (written.calls, written.text) == (
        [],
        '<tool_call>\n{"name": "Read", "arguments": {"a": 1}}\n</tool_call>',
    )


@each_dialect
def test_a_refusal_stands_where_the_format_has_a_place_for_it(dialect: str) -> None:
    with WireServer(declines("I can't help with that.")) as server:
        events = stream(server, dialect, question(dialect))
    assert heard_stream(dialect, events).text == "I can't help with that."
    marks = {"messages": '"refusal"', "chat": '"refusal":"I can', "responses": "response.refusal.done"}
    assert marks[dialect] in dump(events)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_details"])
def test_chat_tells_reasoning_in_the_field_of_its_server_and_takes_it_back(field: Any) -> None:
    with WireServer([think("Hm.", signature="sig"), say("a")], say("b"), reasoning=field) as server:
        events = stream(server, "chat", question("chat"))
        back = {"role": "assistant", "content": "a", field: "Hm." if field != "reasoning_details" else []}
        sent = question("chat")
        sent["messages"] = [*sent["messages"], back]
        assert post(server, "chat", sent)[0] == 200
    assert heard_stream("chat", events).reasoning == "Hm."
    assert f'"{field}"' in dump(events)
    assert ("sig" in dump(events)) is (field == "reasoning_details")


def test_chat_of_openai_itself_tells_no_reasoning_and_takes_none() -> None:
    with WireServer([think("Hm."), say("a")], reasoning=None) as server:
        assert "Hm." not in dump(stream(server, "chat", question("chat")))
        sent = question("chat")
        sent["messages"] = [*sent["messages"], {"role": "assistant", "content": "a", "reasoning": "Hm."}]
        assert post(server, "chat", sent)[0] == 400


def test_responses_tell_the_summary_and_the_encrypted_reasoning_only_to_who_asks() -> None:
    answer: list[Block] = [think("Hm.", signature="sealed"), say("a")]
    with WireServer(answer, answer) as server:
        quiet = post(server, "responses", question("responses"))[1]["output"][0]
        asked = {"include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"}}
        told = post(server, "responses", question("responses", **asked))[1]["output"][0]
    assert (quiet["summary"], quiet.get("encrypted_content")) == ([], None)
    assert (told["summary"][0]["text"], told["encrypted_content"]) == ("Hm.", "sealed")


def test_a_lean_server_streams_responses_without_numbers_and_places() -> None:
    with WireServer([say("a"), call("Read")], lean=True) as server:
        events = stream(server, "responses", question("responses"))
    assert not any(event.keys() & {"sequence_number", "output_index", "content_index"} for event in events)
    assert heard_stream("responses", events).calls == [("Read", "{}")]


# ── usage ──────────────────────────────────────────────────────────────────────────────────────────────


@each_dialect
def test_what_goes_on_reads_its_prefix_from_the_cache_and_all_of_it_is_reported(dialect: str) -> None:
    marked = {"cache_control": {"type": "ephemeral"}}
    head = [{"type": "text", "text": LONG, **marked}] if dialect == "messages" else LONG
    with WireServer(say("a"), say("b")) as server:
        sent = question(dialect, head)
        first = heard_stream(dialect, stream(server, dialect, {**sent, **_options(dialect)}))
        longer = question(dialect, head, "and more")
        second = heard_stream(dialect, stream(server, dialect, {**longer, **_options(dialect)}))
    assert first.cached == 0
    assert first.input is not None
    assert second.cached is not None
    assert second.cached > first.input - 128
    if dialect != "messages":
        assert second.cached % 128 == 0
    usage = server.seen[1].usage
    assert usage is not None
    assert (usage.total_input, usage.cache_read) == (second.input, second.cached)
    assert server.seen[1].continues(server.seen[0])


def _options(dialect: str) -> Json:
    return {"stream_options": {"include_usage": True}} if dialect == "chat" else {}


def test_chat_reports_usage_in_a_stream_only_to_who_asks() -> None:
    with WireServer(say("a"), say("b"), no_usage(say("c"))) as server:
        sent = question("chat")
        quiet = stream(server, "chat", sent)
        asked = stream(server, "chat", {**sent, **_options("chat")})
        never = stream(server, "chat", {**sent, **_options("chat")})
    assert "usage" not in dump(quiet)
    assert (asked[-2]["choices"], asked[-2]["usage"]["prompt_tokens"] > 0) == ([], True)
    assert all(event["usage"] is None for event in asked[:-2])
    assert heard_stream("chat", never) == Heard(text="c", stop="stop", calls=[])


def test_a_response_without_usage_says_so() -> None:
    with WireServer(no_usage(say("a"))) as server:
        assert heard_stream("responses", stream(server, "responses", question("responses"))).input is None


@each_dialect
def test_a_count_is_what_the_request_will_be_and_takes_no_answer(dialect: str) -> None:
    counts = {"messages": "/count_tokens", "chat": "/input_tokens", "responses": "/input_tokens"}
    with WireServer(say("a")) as server:
        sent = question(dialect, LONG)
        heard = heard_whole(dialect, post(server, dialect, sent)[1])
        asked = {key: value for key, value in sent.items() if key not in ("max_tokens", "store")}
        status, counted = send(server, PATHS[dialect] + counts[dialect], asked)
        server.assert_exhausted()
        if dialect != "chat":
            assert send(server, PATHS[dialect] + counts[dialect], sent)[0] == 400
    assert (status, json.loads(counted)["input_tokens"]) == (200, heard.input)
    assert [seen.status for seen in server.looked][:1] == [200]
    assert len(server.seen) == 1
