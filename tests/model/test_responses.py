"""The Responses API: the laws that hold for what goes out, and what is made of what servers send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.errors import ModelUnreachable
from memdir.model.messages import (
    Message,
    Prefix,
    Reply,
    Request,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
    assistant,
    person,
)
from memdir.model.openai import manners, responses
from memdir.model.openai.manners import Manners
from memdir.model.openai.said import InStream
from tests.model.conversations import PREFIX, ask, calls, results
from tests.model.test_chat import PICTURE, STRICT, messages
from tests.wire.rules.responses import objection

ME = "openai:gpt-6.2-sol"
OPENAI = manners.of(None, "gpt-6.2-sol")
LOCAL = Manners()


def body(request: Request, how: Manners = OPENAI) -> dict[str, Any]:
    return responses.body(request, model="m", manners=how, source=ME, limit=8192)


def sent(request: Request, how: Manners = OPENAI) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = body(request, how)["input"]
    return items


# ── there ──────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(messages, max_size=6), st.lists(messages, max_size=3), st.sampled_from([OPENAI, LOCAL]))
def test_a_conversation_is_a_byte_prefix_of_its_continuation_A4(
    begin: list[Message], more: list[Message], how: Manners
) -> None:
    shorter = json.dumps(sent(ask(*begin), how), ensure_ascii=False).removesuffix("]")
    assert json.dumps(sent(ask(*begin, *more), how), ensure_ascii=False).startswith(shorter)


@given(st.lists(messages, max_size=6))
def test_the_same_request_gives_the_same_bytes_which_are_utf_8_A4(begin: list[Message]) -> None:
    whole = json.dumps(body(ask(*begin)), ensure_ascii=False)
    assert whole == json.dumps(body(ask(*begin)), ensure_ascii=False)
    whole.encode()


def test_what_stays_the_same_comes_first_and_nothing_is_stored_A4() -> None:
    whole = body(ask("hi"))
    assert list(whole)[:4] == ["model", "instructions", "tools", "input"]
    assert whole["instructions"] == "\n\n".join(PREFIX.system)
    assert (whole["store"], whole["include"]) == (False, ["reasoning.encrypted_content"])
    assert whole["max_output_tokens"] == 8192
    assert objection(whole) is None


def test_each_block_is_an_item() -> None:
    assert sent(ask("go", assistant("so", ToolUse(id="a", name="Read", input={"x": 1})), results("a"))) == [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]},
        {"type": "function_call", "call_id": "a", "name": "Read", "arguments": '{"x":1}'},
        {"type": "function_call_output", "call_id": "a", "output": "the text of a"},
    ]


def test_pictures_stand_where_they_were_shown() -> None:
    shown = Message(role="user", content=(Text(text="this:"), PICTURE), origin="person")
    come = Message(
        role="user", content=(ToolResult(tool_use_id="a", content="", images=(PICTURE,)),), origin="tool"
    )
    request = ask(shown, calls("a"), come)
    image = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="}
    items = sent(request)
    assert items[0]["content"] == [{"type": "input_text", "text": "this:"}, image]
    assert items[2]["output"] == [{"type": "input_text", "text": "(no output)"}, image]
    assert objection(body(request)) is None
    assert "input_image" not in json.dumps(sent(request, Manners(images=False)))


def thought(id_: str, source: str = ME) -> Thinking:
    kept = {"type": "reasoning", "id": id_, "summary": [], "encrypted_content": "c2Vh"}
    return Thinking(thinking="", signature=json.dumps(kept), source=source)


def test_reasoning_goes_back_before_what_it_led_to_and_to_whom_it_came_from_A4() -> None:
    talk = ask(
        "go",
        assistant(thought("rs_1"), ToolUse(id="a", name="Read", input={}), thought("rs_2")),
        results("a"),
        assistant(thought("rs_3", source="other:m"), "so"),
    )
    kinds = [item.get("id") or item["type"] for item in sent(talk)]
    assert kinds == ["message", "rs_1", "function_call", "function_call_output", "message"]
    assert objection(body(talk)) is None
    dropped = sent(talk, Manners(reasoning=False))
    assert "reasoning" not in [item["type"] for item in dropped]


def test_tools_are_strict_only_where_their_schema_allows_it() -> None:
    prefix = Prefix(system=(), tools=PREFIX.tools)
    (tool,) = body(ask("hi", prefix=prefix))["tools"]
    assert (tool["type"], tool["name"], tool["strict"]) == ("function", "Read", False)
    assert "instructions" not in body(ask("hi", prefix=prefix))


@pytest.mark.parametrize(
    ("how", "schema", "strict"),
    [(OPENAI, STRICT, True), (OPENAI, {"type": "object"}, False), (LOCAL, STRICT, False)],
)
def test_a_schema_is_asked_for_as_the_server_takes_it_R5(how: Manners, schema: Any, strict: bool) -> None:
    request = Request(prefix=PREFIX, messages=(person("which?"),), schema=schema, cache=False)
    assert body(request, how)["text"] == {
        "format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": strict}
    }
    assert body(request, how).get("reasoning") == ({"effort": "low"} if how is OPENAI else None)
    assert "text" not in body(request, Manners(schema=None))


def test_a_count_is_asked_for_with_the_input_alone() -> None:
    assert objection(responses.counted(body(ask("hi"))), counting=True) is None


# ── and back ───────────────────────────────────────────────────────────────────────────────────────────


def message(text: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
        **fields,
    }


def done(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": item}


def ended(kind: str = "completed", **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "response": {"model": "m-1", "status": kind, **fields}}


def heard(*events: Any, limit: int = 8192) -> tuple[str, Reply]:
    answer = responses.Answer(source=ME, limit=limit)
    shown = "".join(answer.take(event) for event in events)
    return shown, answer.reply()


def test_text_streams_and_items_are_whole_A7() -> None:
    usage = {
        "input_tokens": 100,
        "output_tokens": 7,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
    }
    call = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "Read", "arguments": '{"x":1}'}
    shown, reply = heard(
        {"type": "response.created", "response": {}},
        {"type": "response.output_text.delta", "delta": "Hel"},
        {"type": "response.output_text.delta", "delta": "lo"},
        done(message("Hello")),
        done(call),
        ended(usage=usage),
    )
    assert shown == reply.text == "Hello"
    assert reply.message.tool_uses == (ToolUse(id="a", name="Read", input={"x": 1}),)
    assert reply.usage == Usage(input=10, cache_read=60, cache_write=30, output=7)
    assert (reply.stop, reply.model) == ("tool_use", "m-1")


def test_items_that_come_at_the_end_only_are_taken_from_there() -> None:
    _, reply = heard(ended(output=[message("Hello")], usage=None))
    assert (reply.text, reply.stop, reply.usage) == ("Hello", "end_turn", Usage())


def test_reasoning_is_kept_as_it_came() -> None:
    item = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Let me see."}],
        "encrypted_content": "c2Vh",
    }
    _, reply = heard(done({**item, "status": "completed"}), done(message("Yes")), ended())
    kept = reply.message.content[0]
    assert isinstance(kept, Thinking)
    assert (kept.thinking, kept.source) == ("Let me see.", ME)
    assert sent(ask("go", reply.message))[1] == item


def test_reasoning_that_nothing_is_known_by_does_not_go_back() -> None:
    bare: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None}
    _, reply = heard(done(bare), done(message("Yes")), ended())
    assert [item["type"] for item in sent(ask("go", reply.message))] == ["message", "message"]


def test_the_phase_of_a_message_goes_back_with_it() -> None:
    _, reply = heard(done(message("First this.", phase="commentary")), done(message("So.")), ended())
    assert [item.get("phase") for item in sent(ask("go", reply.message))] == [None, "commentary", None]


@pytest.mark.parametrize(
    "odd",
    [{"summary": "told"}, {"summary": [None]}, {"encrypted_content": 7}, {"id": ["rs_1"]}, {"content": "c"}],
)
def test_reasoning_of_a_shape_that_would_be_refused_does_not_go_back(odd: dict[str, Any]) -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2Vh", **odd}
    _, reply = heard(done(item), done(message("Yes")), ended())
    assert [item["type"] for item in sent(ask("go", reply.message))] == ["message", "message"]


def test_what_is_no_reasoning_is_not_sent_as_reasoning() -> None:
    odd = [Thinking(thinking="hm", signature=words, source=ME) for words in ("no JSON", '{"type":"message"}')]
    assert [item["type"] for item in sent(ask("go", assistant(*odd, "so")))] == ["message", "message"]


@pytest.mark.parametrize("end", [ended(output=[]), ended(), {"type": "response.completed"}])
def test_text_that_is_in_no_item_is_what_was_shown(end: dict[str, Any]) -> None:
    pieces = [{"type": "response.output_text.delta", "delta": piece} for piece in ("Hel", "lo")]
    shown, reply = heard(*pieces, end)
    assert shown == reply.text == "Hello"
    call = {"type": "function_call", "call_id": "a", "name": "Read", "arguments": "{}"}
    _, reply = heard(*pieces, done(call), end)
    assert [type(block) for block in reply.message.content] == [Text, ToolUse]


def test_a_refusal_that_is_in_no_item_is_told() -> None:
    _, reply = heard({"type": "response.refusal.delta", "delta": "I can't."}, ended(output=[]))
    assert (reply.text, reply.stop) == ("I can't.", "refusal")


def test_calls_that_share_an_id_get_different_ones() -> None:
    call = {"type": "function_call", "call_id": "a", "name": "Read", "arguments": {"x": 1}}
    uses = heard(done(call), done(call), done({**call, "call_id": 5}), ended())[1].message.tool_uses
    assert (uses[0].id, uses[2].id) == ("a", "5")
    assert len({use.id for use in uses}) == 3
    assert all(use.input == {"x": 1} for use in uses)


@pytest.mark.parametrize(
    ("event", "is_empty"),
    [
        ({"type": "response.created", "response": {}}, True),
        ({"type": "response.in_progress", "response": {}}, True),
        ({"type": "keepalive"}, True),
        ({"type": "response.reasoning_summary_text.delta", "delta": "hm"}, False),
        ({"type": "response.function_call_arguments.delta", "delta": "{"}, False),
        ({"type": "response.output_text.delta", "delta": "So"}, False),
        (ended(), False),
    ],
)
def test_an_answer_is_empty_if_nothing_of_it_came(event: dict[str, Any], is_empty: bool) -> None:
    answer = responses.Answer(source=ME, limit=8192)
    answer.take(event)
    assert answer.is_empty is is_empty


def test_an_item_may_be_missing_and_its_content_a_string() -> None:
    empty: dict[str, Any] = {"type": "response.output_item.done", "item": None}
    shown, reply = heard(empty, ended(output=[None, {"type": "message", "content": "Hello"}]))
    assert shown == reply.text == "Hello"


def test_a_call_that_is_no_json_is_kept_as_it_came() -> None:
    call = {"type": "function_call", "call_id": "a", "name": "Read", "arguments": '{"x'}
    (use,) = heard(done(call), ended())[1].message.tool_uses
    assert (use.input, use.malformed) == ({}, '{"x')


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("max_output_tokens", "max_tokens"), ("content_filter", "refusal"), ("something new", "other")],
)
def test_an_answer_that_is_incomplete_says_why(reason: str, stop: str) -> None:
    _, reply = heard(done(message("So")), ended("incomplete", incomplete_details={"reason": reason}))
    assert (reply.text, reply.stop) == ("So", stop)


def test_an_answer_as_long_as_it_may_be_was_cut_though_the_server_calls_it_complete() -> None:
    _, reply = heard(done(message("So")), ended(usage={"input_tokens": 9, "output_tokens": 5}), limit=5)
    assert reply.stop == "max_tokens"


def test_a_refusal_is_text_and_told() -> None:
    item = {"type": "message", "content": [{"type": "refusal", "refusal": "I can't."}]}
    shown, reply = heard({"type": "response.refusal.delta", "delta": "I can't."}, done(item), ended())
    assert (shown, reply.text, reply.stop) == ("I can't.", "I can't.", "refusal")


@pytest.mark.parametrize("events", [(), (done(message("So")),)])
def test_a_stream_without_an_end_broke_off(events: tuple[Any, ...]) -> None:
    with pytest.raises(ModelUnreachable, match="broke off"):
        heard(*events)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "no", "param": None},
        {"type": "error", "error": {"code": "context_length_exceeded", "message": "no"}},
        {"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "no"}}},
        {"type": "response.failed", "response": {"error": None}},
        {"error": "no"},
    ],
)
def test_an_event_that_is_an_error_fails_the_answer(event: Any) -> None:
    with pytest.raises(InStream):
        heard(event)


def test_items_of_other_kinds_are_passed_over() -> None:
    assert heard(done({"type": "web_search_call", "id": "ws_1"}), ended())[1].message.content == ()
