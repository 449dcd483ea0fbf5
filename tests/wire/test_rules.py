"""What the services would refuse, the wire server refuses; and what they take it takes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wire.asking import Json, question, tool
from tests.wire.rules import chat, messages, responses

USER: Json = {"role": "user", "content": "hi"}
LOOSE = {"type": "object", "properties": {"a": {"type": "string"}}}
STRICT = {**LOOSE, "required": ["a"], "additionalProperties": False}


def text(words: str = "x", **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


# ── Messages ───────────────────────────────────────────────────────────────────────────────────────────

ONE = {"type": "tool_use", "id": "1", "name": "Read", "input": {}}
TWO = {**ONE, "id": "2"}
CALL = {"role": "assistant", "content": [ONE]}
RESULT = {"type": "tool_result", "tool_use_id": "1", "content": "text"}
FAILED = {"type": "tool_result", "tool_use_id": "1", "content": "", "is_error": True}
BAD_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "aaaa"}}


def body(*said: Json, **more: Any) -> Json:
    return {"model": "m", "max_tokens": 9, "messages": list(said), **more}


def results(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks)}


@pytest.mark.parametrize(
    ("wrong", "sent"),
    [
        ("max_tokens: field required", {"model": "m", "messages": [USER]}),
        ("messages: field required", body()),
        ("stop: extra inputs", body(USER, stop=["x"])),
        ("first message", body(CALL)),
        ("non-empty content", body(USER, {"role": "assistant", "content": []}, USER)),
        ("non-whitespace", body({"role": "user", "content": [text(" ")]})),
        ("maximum of 4", body({"role": "user", "content": [text(cache_control={})] * 5})),
        ("signature", body(USER, {"role": "assistant", "content": [{"type": "thinking", "signature": ""}]})),
        ("without tool_result", body(USER, CALL)),
        ("must have one tool_result", body(USER, CALL, USER)),
        ("must have one tool_result", body(results(RESULT))),
        ("must have one tool_result", body(USER, CALL, results(RESULT, RESULT))),
        ("before other content", body(USER, CALL, results(text(), RESULT))),
        ("before other content", body(USER, CALL, USER, results(RESULT))),
        ("cannot be empty", body(USER, CALL, results(FAILED))),
        ("not a picture", body(results(BAD_IMAGE))),
        ("not a picture", body(USER, CALL, results({**RESULT, "content": [BAD_IMAGE]}))),
    ],
)  # fmt: skip
def test_what_messages_refuses_is_refused(wrong: str, sent: Json) -> None:
    assert wrong in (messages.objection(sent) or "nothing wrong")


def test_results_may_come_in_several_messages_of_one_turn() -> None:
    two = {"role": "assistant", "content": [ONE, TWO]}
    answers = [results({**RESULT, "tool_use_id": id_}) for id_ in ("1", "2")]
    assert messages.objection(body(USER, two, *answers, USER)) is None


# ── Chat Completions ───────────────────────────────────────────────────────────────────────────────────

CALLED = {"id": "1", "type": "function", "function": {"name": "Read", "arguments": "{}"}}
ALSO = {**CALLED, "id": "2"}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALLED]}
DONE = {"role": "tool", "tool_call_id": "1", "content": "text"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}}


def chatted(*said: Json, **more: Any) -> Json:
    return {"model": "m", "messages": list(said), **more}


def holding(schema: Json) -> Json:
    return {**STRICT, "properties": {"a": schema}}


def structured(schema: Json | None, **more: Any) -> Json:
    format_ = {"name": "answer", "schema": schema, "strict": True, **more}
    return chatted(USER, response_format={"type": "json_schema", "json_schema": format_})


def calling(**changed: Any) -> Json:
    return {**CALLS, "tool_calls": [{**CALLED, **changed}]}


def given(arguments: Any) -> Json:
    return calling(function={"name": "Read", "arguments": arguments})


def answered(words: str | None, **more: Any) -> Json:
    return {"role": "assistant", "content": words, **more}


@pytest.mark.parametrize(
    ("wrong", "sent"),
    [
        ("argument supplied: system", chatted(USER, system="x")),
        ("argument supplied: thinking", chatted(USER, thinking={})),
        ("parameter: 'messages'", chatted()),
        ("parameter: 'model'", {"messages": [USER]}),
        ("at the same time", chatted(USER, max_tokens=9, max_completion_tokens=9)),
        ("'stream' is enabled", chatted(USER, stream_options={"include_usage": True})),
        ("'tools' are specified", chatted(USER, parallel_tool_calls=True)),
        ("'tools' are specified", chatted(USER, tool_choice="auto")),
        ("tools: [] is too short", chatted(USER, tools=[])),
        ("of type function", chatted(USER, tools=[tool("responses", "Read")])),
        ("name: must match", chatted(USER, tools=[tool("chat", "Read it")])),
        ("Schema of type object", chatted(USER, tools=[{"type": "function", "function": {"name": "a"}}])),
        ("longer than 64", chatted(USER, prompt_cache_key="x" * 65)),
        ("unexpected role", chatted({"role": "model", "content": "x"})),
        ("unexpected field 'origin'", chatted({**USER, "origin": "person"})),
        ("unexpected field 'reasoning'", chatted(USER, answered("x", reasoning="y"))),
        ("got null", chatted({"role": "user", "content": None})),
        ("got null", chatted(USER, answered(None), USER)),
        ("[] is too short", chatted({"role": "user", "content": []})),
        ("'input_text' may not", chatted({"role": "user", "content": [{"type": "input_text", "text": "x"}]})),
        ("'image_url' may not", chatted(USER, CALLS, {**DONE, "content": [PICTURE]})),
        ("'image_url' may not", chatted({"role": "system", "content": [PICTURE]}, USER)),
        ("neither an address", chatted(results({**PICTURE, "image_url": {"url": "a.png"}}))),
        ("tool_calls: [] is too short", chatted(USER, {**CALLS, "content": "x", "tool_calls": []}, USER)),
        ("a call needs an id", chatted(USER, calling(id=""), DONE)),
        ("a call needs an id", chatted(USER, calling(type="tool_use"), DONE)),
        ("text of a JSON object", chatted(USER, given({}), DONE)),
        ("text of a JSON object", chatted(USER, given('{"a'), DONE)),
        ("text of a JSON object", chatted(USER, given("[]"), DONE)),
        ("must be followed by tool messages", chatted(USER, CALLS)),
        ("must be followed by tool messages", chatted(USER, CALLS, USER, DONE)),
        ("must respond to a preceding", chatted(USER, DONE)),
        ("must respond to a preceding", chatted(USER, CALLS, DONE, DONE)),
        ("two calls with one id", chatted(USER, {**CALLS, "tool_calls": [CALLED, CALLED]}, DONE, DONE)),
        ("'tool_call_id'", chatted(USER, CALLS, {"role": "tool", "content": "x"})),
        ("response_format.type", chatted(USER, response_format={"type": "json"})),
        ("the word 'json'", chatted(USER, response_format={"type": "json_object"})),
        ("schema: missing", structured(None)),
        ("name: must match", structured(STRICT, name="")),
        ("'additionalProperties' is required", structured({**STRICT, "additionalProperties": True})),
        ("'required' is required", structured({**STRICT, "required": []})),
        ("schema.a: 'additionalProperties'", structured(holding(LOOSE))),
        ("schema.a[]: 'additional", structured(holding({"type": "array", "items": LOOSE}))),
        ("'default' is not permitted", structured(holding({"type": "null", "default": 1}))),
        ("the root must be an object", structured({"type": "array", "items": STRICT})),
    ],
)  # fmt: skip
def test_what_chat_refuses_is_refused(wrong: str, sent: Json) -> None:
    assert wrong in (chat.objection(sent) or "nothing wrong")


@pytest.mark.parametrize(
    "sent",
    [
        chatted({"role": "system", "content": "x"}, USER, CALLS, DONE, USER, USER),
        chatted({"role": "developer", "content": [text()]}, {"role": "user", "content": [text(), PICTURE]}),
        chatted(USER, answered(None, tool_calls=[CALLED, ALSO]), {**DONE, "tool_call_id": "2"}, DONE),
        chatted(USER, answered(""), USER),
        structured(STRICT),
        structured(LOOSE, strict=False),
        question("chat", tools=[tool("chat", "Read")], stream=True, prompt_cache_key="x" * 64),
    ],
)  # fmt: skip
def test_what_chat_takes_is_taken(sent: Json) -> None:
    assert chat.objection(sent) is None


# ── Responses ──────────────────────────────────────────────────────────────────────────────────────────

CALL_ITEM = {"type": "function_call", "call_id": "1", "name": "Read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "1", "output": "text"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
TYPED = {"type": "input_text", "text": "x"}
SHOWN = {"type": "input_image", "image_url": "data:image/png;base64,aaaa"}


def responded(*items: Json, **more: Any) -> Json:
    return {"model": "m", "input": list(items), "store": False, **more}


def formatted(schema: Json, **more: Any) -> Json:
    format_ = {"type": "json_schema", "name": "answer", "schema": schema, "strict": True, **more}
    return responded(USER, text={"format": format_})


@pytest.mark.parametrize(
    ("wrong", "sent"),
    [
        ("moved to 'input'", {**responded(USER), "messages": [USER]}),
        ("moved to 'text.format'", responded(USER, response_format={"type": "text"})),
        ("moved to 'max_output_tokens'", responded(USER, max_tokens=99)),
        ("parameter: 'input'", responded()),
        ("store: must be false", {"model": "m", "input": "hi"}),
        ("store: must be false", responded(USER, store=True)),
        ("nothing is kept here", responded(USER, previous_response_id="resp_1")),
        ("include: unknown value", responded(USER, include=["reasoning"])),
        (">= 16", responded(USER, max_output_tokens=15)),
        ("stream_options: unknown", responded(USER, stream=True, stream_options={"include_usage": True})),
        ("'stream' is enabled", responded(USER, stream_options={})),
        ("reasoning: unknown", responded(USER, reasoning={"budget": 9})),
        ("'tools' are specified", responded(USER, parallel_tool_calls=True)),
        ("without a 'function' around", responded(USER, tools=[{**tool("chat", "Read"), "strict": False}])),
        ("strict: missing", responded(USER, tools=[{"type": "function", "name": "a", "parameters": LOOSE}])),
        ("'required' is", responded(USER, tools=[{**tool("responses", "a"), "strict": True,
                                                  "parameters": {**STRICT, "required": []}}])),
        ("unexpected item 'item_reference'", responded({"type": "item_reference", "id": "msg_1"})),
        ("unexpected role", responded({"role": "tool", "content": "x"})),
        ("invalid value 'text'", responded({"role": "user", "content": [text()]})),
        ("invalid value 'output_text'", responded({"role": "user", "content": SAID["content"]})),
        ("invalid value 'input_text'", responded(USER, {**SAID, "content": [TYPED]})),
        ("begins with 'msg'", responded(USER, {**SAID, "id": "1"})),
        ("begins with 'fc'", responded(USER, {**CALL_ITEM, "id": "call_1"}, OUTPUT)),
        ("unknown parameter 'origin'", responded({**USER, "origin": "person"})),
        ("neither an address", responded({"role": "user", "content": [{**SHOWN, "image_url": "a.png"}]})),
        ("text of a JSON object", responded(USER, {**CALL_ITEM, "arguments": ""}, OUTPUT)),
        ("a call needs its call_id", responded(USER, {**CALL_ITEM, "name": ""}, OUTPUT)),
        ("no tool output found", responded(USER, CALL_ITEM, USER)),
        ("no tool call found", responded(USER, OUTPUT)),
        ("no tool call found", responded(USER, OUTPUT, CALL_ITEM)),
        ("no tool call found", responded(USER, CALL_ITEM, OUTPUT, OUTPUT)),
        ("two calls with", responded(USER, CALL_ITEM, CALL_ITEM, OUTPUT)),
        ("needs its id", responded(USER, {**REASONING, "id": None}, SAID)),
        ("nothing is persisted", responded(USER, {**REASONING, "encrypted_content": None}, SAID)),
        ("required following item", responded(USER, REASONING)),
        ("required following item", responded(USER, REASONING, USER)),
        ("text.format.type", responded(USER, text={"format": {"type": "json"}})),
        ("'additionalProperties' is required", formatted(LOOSE)),
    ],
)  # fmt: skip
def test_what_responses_refuses_is_refused(wrong: str, sent: Json) -> None:
    assert wrong in (responses.objection(sent) or "nothing wrong")


@pytest.mark.parametrize(
    "sent",
    [
        responded(USER, REASONING, CALL_ITEM, OUTPUT, REASONING, SAID, USER, instructions="x"),
        responded(USER, REASONING, {**REASONING, "id": "rs_2"}, {**SAID, "id": "msg_1"}, USER),
        responded({"role": "developer", "content": "x"}, {"role": "user", "content": [SHOWN]}),
        responded(USER, CALL_ITEM, {**OUTPUT, "output": [TYPED, SHOWN]}),
        responded(USER, answered("x"), USER),
        formatted(STRICT),
        formatted(LOOSE, strict=False),
        {"model": "m", "input": "hi", "store": False, "include": ["reasoning.encrypted_content"]},
    ],
)  # fmt: skip
def test_what_responses_takes_is_taken(sent: Json) -> None:
    assert responses.objection(sent) is None
