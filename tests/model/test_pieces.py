"""What holds for whatever a stream has in it, and wherever a conversation moves: for all three dialects."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.errors import ModelError
from memdir.model import fitting, lenient
from memdir.model.anthropic import wire
from memdir.model.messages import Message, Reply, Request, Text, Thinking, ToolResult, ToolUse, assistant
from memdir.model.openai import chat, manners, responses, shared
from memdir.model.openai.pieces import Inline
from memdir.model.openai.said import InStream
from tests.model.conversations import ask
from tests.model.test_chat import PICTURE, messages

Json: TypeAlias = dict[str, Any]
ME = "openai:gpt-6.2-sol"
OPENAI = manners.of(None, "gpt-6.2-sol")
FITS = re.compile(r"[a-zA-Z0-9_-]{1,64}")
HALF = "\ud83d"


def spoken(value: Any) -> Any:
    """JSON as Anthropic's SDK gives it: objects, but for the input of a call."""
    if isinstance(value, dict):
        return SimpleNamespace(
            **{key: inner if key == "input" else spoken(inner) for key, inner in value.items()}
        )
    return [spoken(inner) for inner in value] if isinstance(value, list) else value


def heard(dialect: str, events: list[Any]) -> tuple[str, Reply]:
    """What was shown of a stream, and the reply."""
    if dialect == "chat":
        answer: Any = chat.Answer(source=ME)
    elif dialect == "responses":
        answer = responses.Answer(source=ME, limit=8192)
    else:
        answer, events = wire.Answer(source=ME), [spoken(event) for event in events]
    shown = "".join([answer.take(event) for event in events])
    return shown, answer.reply()


def written(dialect: str, request: Request) -> list[Json]:
    """The conversation as it is sent, without the system prompt."""
    if dialect == "chat":
        return chat.messages(request, OPENAI, ME)[1:]
    if dialect == "responses":
        sent = responses.body(request, model="m", manners=OPENAI, source=ME, limit=8192)["input"]
    else:
        sent = wire.body(request, model="claude-sonnet-5", source=ME)["messages"]
    return list(sent)


def sendable(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    text.encode()
    return text


DIALECTS = ("chat", "responses", "messages")

STREAMS: dict[str, list[Any]] = {
    "chat": [
        {"model": "m", "choices": [{"index": 0, "delta": {"role": "assistant", "reasoning": "Let me"}}]},
        {
            "choices": [
                {"delta": {"reasoning_details": [{"type": "reasoning.text", "text": "see", "index": 0}]}}
            ]
        },
        {"choices": [{"index": 0, "delta": {"content": [{"type": "text", "text": "So"}]}}]},
        {"choices": [{"index": 0, "delta": {"content": " it is", "refusal": None}}]},
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [
                            {"index": 0, "id": "a", "function": {"name": "Read", "arguments": '{"x":'}}
                        ]
                    },
                }
            ]
        },
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [
                            {"index": 0, "function": {"arguments": "1}"}},
                            {"index": 1, "id": "b", "function": {"name": "Read", "arguments": {"y": [2]}}},
                        ]
                    },
                }
            ]
        },
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {
            "choices": [],
            "usage": {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
        },
    ],
    "responses": [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_text.delta", "delta": "Hel"},
        {
            "type": "response.output_item.done",
            "item": {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "hm"}],
                "encrypted_content": "c2Vh",
            },
        },
        {
            "type": "response.output_item.done",
            "item": {
                "type": "message",
                "phase": "commentary",
                "content": [{"type": "output_text", "text": "Hel"}],
            },
        },
        {
            "type": "response.output_item.done",
            "item": {"type": "function_call", "call_id": "a", "name": "Read", "arguments": '{"x":1}'},
        },
        {
            "type": "response.completed",
            "response": {
                "model": "m",
                "status": "completed",
                "output": [],
                "incomplete_details": {"reason": "x"},
                "usage": {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}},
            },
        },
    ],
    "messages": [
        {
            "type": "message_start",
            "message": {"model": "m", "usage": {"input_tokens": 9, "output_tokens": 1}},
        },
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "h", "signature": ""},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "m"},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "So"}},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "a", "name": "Read", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": '{"x":1}'},
        },
        {
            "type": "content_block_start",
            "index": 3,
            "content_block": {"type": "redacted_thinking", "data": "x"},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ],
}


# ── whatever a stream holds ────────────────────────────────────────────────────────────────────────────


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in JSON: what it is in, and its key there."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(
            None,
            0,
            -1,
            7,
            1.5,
            1e400,
            10**30,
            True,
            "",
            "x",
            "7",
            HALF,
            "\ude00",
            "{",
            [],
            [None],
            ["x"],
            [[]],
        ),
        *(
            {},
            {"a": 1},
            {"text": HALF},
            [{"type": "text", "text": "t"}],
            {"type": "thinking", "thinking": "t"},
        ),
    ]
)


@st.composite
def broken(draw: Callable[..., Any], stream: list[Any]) -> list[Any]:
    """A good stream in which some things are something else, or missing, or there twice."""
    events = copy.deepcopy(stream)
    for _ in range(draw(st.integers(1, 3))):
        inside, key = draw(st.sampled_from(list(places(events))))
        match draw(st.sampled_from(["else", "else", "missing", "twice"])):
            case "else":
                inside[key] = copy.deepcopy(draw(JUNK))
            case "missing" if len(inside) > 1:
                del inside[key]
            case "twice" if isinstance(inside, list):
                inside.insert(key, copy.deepcopy(inside[key]))
    return events


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=400)
@given(data=st.data())
def test_whatever_a_stream_holds_it_is_read_or_refused_and_what_is_read_can_be_sent(
    dialect: str, data: st.DataObject
) -> None:
    events = data.draw(broken(STREAMS[dialect]))
    try:
        shown, reply = heard(dialect, events)
    except (ValueError, LookupError, AttributeError, TypeError, InStream, ModelError):
        return
    shown.encode()
    sendable(asdict(reply))
    assert all(count >= 0 for count in asdict(reply.usage).values())
    results = [ToolResult(tool_use_id=use.id, content="ok") for use in reply.message.tool_uses]
    after = Message(role="user", content=(*results, Text(text="go on")), origin="tool")
    for other in DIALECTS:
        sendable(written(other, ask("go", reply.message, after)))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_good_stream_is_read(dialect: str) -> None:
    _, reply = heard(dialect, STREAMS[dialect])
    assert (reply.stop, reply.message.tool_uses[0].input) == ("tool_use", {"x": 1})
    assert any(isinstance(block, Thinking) for block in reply.message.content)
    assert reply.text


@pytest.mark.parametrize(
    ("given", "count"),
    [(7, 7), ("7", 7), (7.0, 7), (-3, 0), (None, 0), ("x", 0), ([1], 0), (True, 0), (float("nan"), 0)],
)
def test_a_count_that_is_none_is_zero(given: Any, count: int) -> None:
    assert lenient.count(given) == count
    assert shared.usage({"prompt_tokens": given}).input == count


# ── halves of characters ───────────────────────────────────────────────────────────────────────────────


def texts(dialect: str, *pieces: str) -> list[Any]:
    """A stream that says these pieces."""
    if dialect == "chat":
        said = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
        return [*said, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]
    if dialect == "responses":
        deltas = [{"type": "response.output_text.delta", "delta": piece} for piece in pieces]
        return [*deltas, {"type": "response.completed", "response": {"output": []}}]
    begun = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    grown = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        for piece in pieces
    ]
    ends = [{"type": "content_block_stop", "index": 0}]
    return [begun, *grown, *ends, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (("a \ud83d", "\ude00!"), "a 😀!"),
        (("a \ud83d", "b"), "a ?b"),
        (("a", "\ude00"), "a?"),
        (("a", HALF), "a?"),
    ],
)
def test_a_character_cut_in_two_is_one_again_and_half_of_one_is_none(
    dialect: str, pieces: tuple[str, ...], text: str
) -> None:
    shown, reply = heard(dialect, texts(dialect, *pieces))
    assert (shown, reply.text) == (text, text)
    sendable(written(dialect, ask("go", reply.message)))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_half_a_character_anywhere_never_poisons_a_conversation(dialect: str) -> None:
    called = ToolUse(id="a" + HALF, name="Re" + HALF, input={"x" + HALF: [HALF]})
    result = ToolResult(tool_use_id="a" + HALF, content=HALF)
    talk = ask(
        "go" + HALF,
        assistant(Thinking(thinking=HALF, signature="s", source=ME), HALF, called),
        Message(role="user", content=(result,), origin="tool"),
    )
    sent = sendable(written(dialect, talk))
    assert "Re_" in sent
    assert "thinking" not in sent


def test_a_signed_thought_with_half_a_character_is_kept_and_does_not_go_back() -> None:
    events = copy.deepcopy(STREAMS["messages"])
    events[2]["delta"]["thinking"] = HALF
    thought = heard("messages", events)[1].message.content[0]
    assert thought == Thinking(thinking="h?", signature="", source=ME)
    events.insert(3, {**events[2], "delta": {"type": "thinking_delta", "thinking": "\ude00"}})
    thought = heard("messages", events)[1].message.content[0]
    assert thought == Thinking(thinking="h😀", signature="s", source=ME)


def test_sealed_reasoning_that_can_not_go_back_unchanged_stays_away() -> None:
    events = copy.deepcopy(STREAMS["responses"])
    events[2]["item"]["encrypted_content"] = HALF
    reply = heard("responses", events)[1]
    assert "reasoning" not in [item["type"] for item in written("responses", ask("go", reply.message))]
    signed = {"type": "reasoning.text", "text": HALF, "signature": "s"}
    plain = {"type": "reasoning.summary", "summary": HALF}
    delta = {"reasoning_details": [signed, plain], "content": "So"}
    reply = heard("chat", [{"choices": [{"delta": delta, "finish_reason": "stop"}]}])[1]
    (sent,) = written("chat", ask("go", reply.message))[1:]
    assert sent["reasoning_details"] == [{"type": "reasoning.summary", "summary": "?"}]


# ── ids and names, wherever a conversation moves ───────────────────────────────────────────────────────


def ids(dialect: str, request: Request) -> tuple[list[str], list[str]]:
    """The ids of calls and those of results, as they are sent."""
    calls, results = list[str](), list[str]()
    for item in written(dialect, request):
        calls += [call["id"] for call in item.get("tool_calls", ())]
        calls += [item["call_id"]] if item.get("type") == "function_call" else []
        results += [item["tool_call_id"]] if item.get("role") == "tool" else []
        results += [item["call_id"]] if item.get("type") == "function_call_output" else []
        blocks = item.get("content") if dialect == "messages" else None
        calls += [block["id"] for block in blocks or () if block["type"] == "tool_use"]
        results += [block["tool_use_id"] for block in blocks or () if block["type"] == "tool_result"]
    return calls, results


def turn(*names: str) -> tuple[Message, Message]:
    """An answer that calls, and what came of it."""
    uses = [ToolUse(id=name, name="Read", input={}) for name in names]
    said = [ToolResult(tool_use_id=name, content=f"{number}") for number, name in enumerate(names)]
    return assistant(*uses), Message(role="user", content=tuple(said), origin="tool")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_ids_fit_every_service_and_are_those_of_their_calls(dialect: str) -> None:
    talk = (*turn("functions.Read:0", "b"), *turn("functions.Read:0", "b", "b"), *turn("c" * 65, ""))
    calls, results = ids(dialect, ask("go", *talk))
    assert calls == results
    assert calls[1] == "b"
    assert len(set(calls)) == len(calls) == 7
    assert all(FITS.fullmatch(id_) for id_ in calls)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_result_is_of_the_last_call_though_an_earlier_one_had_none(dialect: str) -> None:
    calls, results = ids(dialect, ask("go", turn("a")[0], "stop", *turn("a")))
    assert calls[0] == "a"
    assert results == calls[1:]


@pytest.mark.parametrize("dialect", DIALECTS)
@given(
    begin=st.lists(st.lists(st.sampled_from(["a", "b", "é.1", "c" * 300, ""]), max_size=3), max_size=4),
    more=st.lists(messages, max_size=2),
)
def test_ids_are_stable_for_a_given_beginning_A4(
    dialect: str, begin: list[list[str]], more: list[Message]
) -> None:
    talk = [message for names in begin for message in turn(*names)]
    shorter = written(dialect, ask("go", *talk, cache=False))
    assert shorter == written(dialect, ask("go", *talk, *more, cache=False))[: len(shorter)]
    calls, results = ids(dialect, ask("go", *talk))
    assert calls == results
    assert len(set(calls)) == len(calls)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_are_sent_as_every_service_takes_them(dialect: str) -> None:
    odd = [ToolUse(id=f"{at}", name=name, input={}) for at, name in enumerate(("Re ad.x", "", "n" * 70))]
    sent = sendable(written(dialect, ask("go", assistant(*odd))))
    assert re.findall(r'"name": "([^"]*)"', sent) == ["Re_ad_x", "unknown", "n" * 64]


def test_what_can_be_sent_is_left_as_it_is() -> None:
    talk = (assistant("So", Thinking(thinking="hm", signature="s")), *turn("a"))
    assert fitting.fitted([*talk, Message(role="user", content=(PICTURE,), origin="person")])[:-1] == [*talk]


def test_input_that_is_nested_too_deep_to_be_written_is_told_as_it_came() -> None:
    deep = '{"a":' * 150 + "1" + "}" * 150
    event = {"choices": [{"delta": {"tool_calls": [{"function": {"name": "Read", "arguments": deep}}]}}]}
    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    (use,) = heard("chat", [event, end])[1].message.tool_uses
    assert (use.input, use.malformed) == ({}, deep)


# ── reasoning that ends and did not begin ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("pieces", "hidden", "text"),
    [
        (("hm hm\n</think>\n\nYes",), "hm hm", "Yes"),
        (("hm hm</thi", "nk>Yes"), "hm hm", "Yes"),
        (("</think>", "Yes"), "", "Yes"),
        (("hm hm", "</think>Yes"), "", "hm hm</think>Yes"),
        (("The tag `</think>` ends it",), "", "The tag `</think>` ends it"),
        (("a <think>b</think> c",), "", "a <think>b</think> c"),
        (("a <", " b"), "", "a < b"),
    ],
)
def test_reasoning_without_an_opening_tag_is_known_only_before_text_was_shown(
    pieces: tuple[str, ...], hidden: str, text: str
) -> None:
    inline = Inline()
    shown = "".join([inline.take(piece) for piece in pieces]) + inline.end()
    assert (inline.hidden, inline.text, shown) == (hidden, text, text)


def test_a_second_end_changes_nothing() -> None:
    inline = Inline()
    inline.take("<think>hm")
    assert [inline.end(), inline.end(), inline.hidden] == ["", "", "hm"]
