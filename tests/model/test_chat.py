"""Chat Completions: the laws that hold for what goes out, and what is made of what servers send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.errors import ModelUnreachable
from memdir.model.messages import (
    Block,
    Image,
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
from memdir.model.openai import chat, manners
from memdir.model.openai.manners import Manners
from memdir.model.openai.said import InStream
from tests.model.conversations import PREFIX, ask, calls, results
from tests.wire.rules.chat import objection

ME = "openrouter:m"
OPENAI = manners.of(None, "gpt-6.2-sol")
LOCAL = Manners()
ROUTER = manners.of("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-5")
ALL = [OPENAI, LOCAL, ROUTER, Manners(images=False, reasoning=False, blank_reasoning=True, system=False)]
PICTURE = Image(media_type="image/png", data="aGk=")


def body(request: Request, how: Manners = LOCAL) -> dict[str, Any]:
    return chat.body(request, model="m", manners=how, source=ME, limit=8192)


def said(request: Request, how: Manners = LOCAL) -> list[dict[str, Any]]:
    """The messages after the system prompt."""
    return chat.messages(request, how, ME)[1:]


words = st.text(st.characters(codec="utf-8"), max_size=20)
texts = words | st.sampled_from(["", " \n", "记住", "a file name that is no UTF-8: \udc80"])
signatures = st.sampled_from(["", '{"reasoning_content":"hm"}', '{"reasoning_details":[]}', "no JSON"])
blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, text=texts),
    st.builds(Thinking, thinking=words, signature=signatures, source=st.sampled_from([ME, "other:m"])),
    st.builds(ToolUse, id=words, name=words, input=st.dictionaries(st.sampled_from("abc"), st.integers())),
    st.builds(
        ToolResult,
        tool_use_id=words,
        content=texts,
        is_error=st.booleans(),
        images=st.sampled_from([(), (PICTURE,)]),
    ),
    st.just(PICTURE),
)
messages: st.SearchStrategy[Message] = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant"]),
    content=st.lists(blocks, max_size=4).map(tuple),
    origin=st.just("person"),
)


# ── there ──────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(messages, max_size=6), st.lists(messages, max_size=3), st.sampled_from(ALL))
def test_a_conversation_is_a_byte_prefix_of_its_continuation_A4(
    begin: list[Message], more: list[Message], how: Manners
) -> None:
    shorter = json.dumps(said(ask(*begin, cache=False), how), ensure_ascii=False).removesuffix("]")
    longer = json.dumps(said(ask(*begin, *more, cache=False), how), ensure_ascii=False)
    assert longer.startswith(shorter)


@given(st.lists(messages, max_size=6), st.sampled_from(ALL))
def test_the_same_request_gives_the_same_bytes_which_are_utf_8_A4(begin: list[Message], how: Manners) -> None:
    sent = json.dumps(body(ask(*begin), how), ensure_ascii=False)
    assert sent == json.dumps(body(ask(*begin), how), ensure_ascii=False)
    sent.encode()


@given(st.lists(messages, max_size=6), st.sampled_from(ALL))
def test_nothing_blank_goes_out(begin: list[Message], how: Manners) -> None:
    for message in said(ask(*begin), how):
        content = message["content"]
        if isinstance(content, str | None):
            assert (content or "").strip() or message.get("tool_calls")
        else:
            assert content
            assert all(part["type"] != "text" or part["text"].strip() for part in content)


def test_what_stays_the_same_comes_first_A4() -> None:
    whole = body(ask("hi"), OPENAI)
    assert list(whole)[:3] == ["model", "tools", "messages"]
    assert whole["messages"][0]["role"] == "system"
    assert (whole["max_completion_tokens"], whole["stream_options"]) == (8192, {"include_usage": True})


def test_texts_are_strings_but_for_those_who_want_parts() -> None:
    talk = ask("look", assistant("at", "what?"))
    assert [message["content"] for message in said(talk)] == ["look", "at\n\nwhat?"]
    assert said(talk, OPENAI)[1]["content"] == [
        {"type": "text", "text": "at"},
        {"type": "text", "text": "what?"},
    ]


def test_a_picture_goes_as_a_part_or_as_a_remark_to_those_who_see_none() -> None:
    shown = Message(role="user", content=(Text(text="this:"), PICTURE), origin="person")
    assert said(ask(shown))[0]["content"] == [
        {"type": "text", "text": "this:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    ]
    assert (
        said(ask(shown), Manners(images=False))[0]["content"]
        == f"this:\n\n{'(a picture, which this model'} can't see)"
    )


def test_tool_results_follow_their_calls_and_all_else_comes_after_them() -> None:
    come = Message(
        role="user",
        content=(
            Text(text="a file changed"),
            ToolResult(tool_use_id="a", content="", is_error=True),
            ToolResult(tool_use_id="b", content="see", images=(PICTURE,)),
        ),
        origin="tool",
    )
    sent = said(ask("go", calls("a", "b"), come))
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "user"]
    assert [message["content"] for message in sent[2:4]] == ["Error: (no output)", "see"]
    assert [part.get("text") for part in sent[4]["content"]] == [
        "a file changed",
        "(what the call b shows:)",
        None,
    ]
    assert objection(body(ask("go", calls("a", "b"), come), OPENAI)) is None


def test_a_call_that_was_no_json_goes_back_empty() -> None:
    garbled = assistant(ToolUse(id="a", name="Read", input={}, malformed="{"))
    (call,) = said(ask("go", garbled, results("a")))[1]["tool_calls"]
    assert call == {"id": "a", "type": "function", "function": {"name": "Read", "arguments": "{}"}}


@pytest.mark.parametrize(("how", "nothing"), [(OPENAI, None), (LOCAL, "")])
def test_an_answer_without_words_has_calls_only(how: Manners, nothing: str | None) -> None:
    sent = said(ask("go", calls("a"), results("a")), how)
    assert sent[1]["content"] == nothing
    assert said(ask("go", assistant(Thinking(thinking="hm")), "go"), how)[1]["role"] == "user"


def test_reasoning_goes_back_to_whom_it_came_from_only() -> None:
    thought = '{"reasoning_content":"hm"}'
    ours = assistant(
        Thinking(thinking="hm", signature=thought, source=ME), ToolUse(id="a", name="Read", input={})
    )
    theirs = assistant(Thinking(thinking="hm", signature=thought, source="other:m"), "yes")
    sent = said(ask("go", ours, results("a"), theirs))
    assert (sent[1]["reasoning_content"], "reasoning_content" in sent[3]) == ("hm", False)
    dropped = said(ask("go", ours, results("a")), Manners(reasoning=False))
    assert "reasoning_content" not in dropped[1]


def test_where_the_field_must_be_there_it_is_there_empty() -> None:
    sent = said(ask("go", calls("a"), results("a"), assistant("so")), Manners(blank_reasoning=True))
    assert [message.get("reasoning_content") for message in sent] == [None, "", None, None]


def test_a_template_that_wants_turns_gets_them() -> None:
    talk = ask("index", "one", assistant("two"), "three", calls("a"), results("a", note="changed"), "four")
    sent = chat.messages(talk, Manners(alternate=True, system=False), ME)
    assert [message["role"] for message in sent] == ["user", "assistant", "user", "assistant", "tool"]
    assert sent[0]["content"].endswith("index\n\none")
    assert sent[4]["content"] == "the text of a\n\nchanged\n\nfour"


def test_a_key_for_the_cache_is_shared_by_parent_and_fork_and_by_nobody_else_A4() -> None:
    def key(request: Request) -> Any:
        return body(request, OPENAI).get("prompt_cache_key")

    parent = ask("one")
    assert (
        key(parent)
        == key(ask("one", assistant("two"), "three"))
        != key(ask("one", prefix=Prefix(system=("s",), tools=())))
    )
    assert len(key(parent)) <= 64
    assert key(ask("one", cache=False)) is None
    assert "prompt_cache_key" not in body(parent)


def test_a_side_query_that_nobody_continues_is_not_cached_where_that_costs() -> None:
    assert body(ask("one", cache=False), OPENAI)["prompt_cache_options"] == {"mode": "explicit"}
    assert "prompt_cache_options" not in body(ask("one"), OPENAI)
    assert "prompt_cache_options" not in body(ask("one", cache=False), manners.of(None, "gpt-5.4"))


def test_claude_behind_a_router_gets_its_cache_marks_A4() -> None:
    talk = [turn for number in range(4) for turn in (f"ask {number}", assistant(f"answer {number}"))]
    sent = chat.messages(ask(*talk, calls("a"), results("a")), ROUTER, ME)
    marked = [n for n, message in enumerate(sent) if "cache_control" in json.dumps(message)]
    assert marked == [0, 5, 7, 10]
    plain = chat.messages(ask(*talk, cache=False), ROUTER, ME)
    assert "cache_control" not in json.dumps(plain)


STRICT = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}}},
    "required": ["names"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("how", "schema", "asked"),
    [
        (OPENAI, STRICT, {"name": "answer", "schema": STRICT, "strict": True}),
        (OPENAI, {"type": "object"}, {"name": "answer", "schema": {"type": "object"}}),
        (LOCAL, STRICT, {"name": "answer", "schema": STRICT}),
    ],
)
def test_a_schema_is_asked_for_as_the_server_takes_it_R5(how: Manners, schema: Any, asked: Any) -> None:
    request = Request(prefix=PREFIX, messages=(person("which?"),), schema=schema, cache=False)
    assert body(request, how)["response_format"] == {"type": "json_schema", "json_schema": asked}
    lesser = Manners(schema="json_object")
    assert body(request, lesser)["response_format"] == {"type": "json_object"}
    assert "response_format" not in body(request, Manners(schema=None))


def test_reasoning_is_asked_for_in_each_ones_words() -> None:
    request = ask("hi", prefix=Prefix(system=(), tools=(), thinking=4096))
    assert body(request, OPENAI)["reasoning_effort"] == "medium"
    assert body(request, ROUTER)["reasoning"] == {"max_tokens": 4096}
    assert not {"reasoning", "reasoning_effort"} & body(request).keys()


# ── and back ───────────────────────────────────────────────────────────────────────────────────────────


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def heard(*events: Any) -> tuple[str, Reply]:
    """What was shown, and the reply."""
    answer = chat.Answer(source=ME)
    shown = "".join(answer.take(event) for event in events)
    return shown, answer.reply()


def call_pieces(*deltas: dict[str, Any], finish: str = "tool_calls") -> tuple[ToolUse, ...]:
    events = [chunk(tool_calls=[delta]) for delta in deltas]
    return heard(*events, chunk(finish))[1].message.tool_uses


def test_text_streams_and_usage_comes_at_the_end_A7() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
    }
    shown, reply = heard(
        chunk(role="assistant", content=""),
        chunk(content="Hel"),
        chunk(content="lo", tool_calls=None),
        chunk("stop"),
        {"choices": [], "usage": usage},
    )
    assert shown == reply.text == "Hello"
    assert reply.usage == Usage(input=10, cache_read=60, cache_write=30, output=7)
    assert (reply.stop, reply.model) == ("end_turn", "m-1")


def test_without_usage_all_counts_are_zero() -> None:
    assert heard(chunk("stop", content="Hi"), {"choices": None, "usage": None})[1].usage == Usage()


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal"), ("pause", "other")],
)
def test_each_finish_reason_is_told(theirs: str, ours: str) -> None:
    assert heard(chunk(theirs, content="Hi"))[1].stop == ours


def test_calls_are_put_together_by_index() -> None:
    first, second = call_pieces(
        {"index": 0, "id": "a", "type": "function", "function": {"name": "Read", "arguments": ""}},
        {"index": 1, "id": "b", "type": "function", "function": {"name": "Read", "arguments": '{"x"'}},
        {"index": 0, "function": {"arguments": '{"file_path":"a"}'}},
        {"index": 1, "function": {"arguments": ":1}"}},
    )
    assert (first.id, first.input) == ("a", {"file_path": "a"})
    assert (second.id, second.input) == ("b", {"x": 1})


def test_id_and_name_may_be_repeated() -> None:
    again = {"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{}"}}
    empty = {"index": 0, "id": "a", "function": {"name": "Read", "arguments": ""}}
    assert [(use.id, use.name, use.input) for use in call_pieces(again, empty)] == [("a", "Read", {})]


def test_whole_calls_without_index_or_id_get_ids_of_their_own() -> None:
    uses = call_pieces(
        {"function": {"name": "Read", "arguments": '{"x":1}'}},
        {"function": {"name": "Read", "arguments": {"x": 2}}},
        finish="stop",
    )
    assert [use.input for use in uses] == [{"x": 1}, {"x": 2}]
    assert all(use.id.startswith("call_") for use in uses)
    assert len({use.id for use in uses}) == 2


def test_calls_that_all_have_index_0_are_told_apart_by_their_ids() -> None:
    uses = call_pieces(
        {"index": 0, "id": "a", "function": {"name": "Read", "arguments": '{"x":1}'}},
        {"index": 0, "id": "b", "function": {"name": "Read", "arguments": '{"x":2}'}},
    )
    assert [(use.id, use.input) for use in uses] == [("a", {"x": 1}), ("b", {"x": 2})]


def test_calls_that_share_an_id_get_different_ones() -> None:
    uses = call_pieces(
        {"index": 0, "id": "a", "function": {"name": "Read", "arguments": ""}},
        {"index": 1, "id": "a", "function": {"name": "Read", "arguments": ""}},
    )
    assert len({use.id for use in uses}) == 2


@pytest.mark.parametrize("id_", [None, ""])
def test_whole_calls_that_all_have_index_0_and_no_id_are_told_apart(id_: str | None) -> None:
    uses = call_pieces(
        {"index": 0, "id": id_, "function": {"name": "Read", "arguments": '{"x":1}'}},
        {"index": 0, "id": id_, "function": {"name": "Read", "arguments": ""}},
        {"index": 0, "id": id_, "function": {"arguments": '{"x":'}},
        {"index": 0, "id": id_, "function": {"name": "Read", "arguments": "2}"}},
    )
    assert [(use.name, use.input) for use in uses] == [("Read", {"x": 1}), ("Read", {"x": 2})]


def test_ids_and_places_may_be_numbers_and_names_are_texts() -> None:
    (use,) = call_pieces(
        {"index": "0", "id": 5, "function": {"name": "Read", "arguments": '{"x"'}},
        {"index": 0, "function": {"arguments": ":1}"}},
    )
    assert (use.id, use.input) == ("5", {"x": 1})
    with pytest.raises(ValueError, match="no text"):
        call_pieces({"index": 0, "id": "a", "function": {"name": ["Read"]}})


@pytest.mark.parametrize("finish", [{"reason": "stop"}, ["stop"], 7])
def test_an_end_without_a_known_reason_is_an_end(finish: Any) -> None:
    assert heard(chunk(finish, content="Hi"))[1].stop == "other"


def test_a_call_counts_though_the_server_says_stop() -> None:
    piece = {"index": 0, "id": "a", "function": {"name": "Read", "arguments": ""}}
    assert heard(chunk(tool_calls=[piece]), chunk("stop"))[1].stop == "tool_use"
    assert heard(chunk(tool_calls=[piece]), chunk("length"))[1].stop == "max_tokens"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_in_the_field_it_came_in(name: str) -> None:
    shown, reply = heard(chunk(**{name: "Let me "}), chunk(**{name: "see."}), chunk("stop", content="Yes"))
    assert shown == "Yes"
    assert reply.message.content[0] == Thinking(
        thinking="Let me see.", signature=f'{{"{name}":"Let me see."}}', source=ME
    )
    assert said(ask("go", reply.message))[1][name] == "Let me see."


def test_reasoning_that_comes_under_two_names_is_kept_once() -> None:
    _, reply = heard(chunk(reasoning_content="hm", reasoning="hm"), chunk("stop", content="Yes"))
    assert [block.thinking for block in reply.message.content if isinstance(block, Thinking)] == ["hm"]


def test_empty_reasoning_counts_beside_calls_only() -> None:
    piece = {"index": 0, "id": "a", "function": {"name": "Read", "arguments": ""}}
    _, reply = heard(chunk(reasoning_content=""), chunk("tool_calls", tool_calls=[piece]))
    assert said(ask("go", reply.message, results("a")))[1]["reasoning_content"] == ""
    _, reply = heard(chunk(reasoning_content=""), chunk("stop", content="Yes"))
    assert reply.message.content == (Text(text="Yes"),)


def test_reasoning_details_go_back_as_they_came() -> None:
    def detail(**fields: Any) -> dict[str, Any]:
        return {"format": "f", "index": 0, **fields}

    sealed = detail(type="reasoning.encrypted", data="b3Bh", index=1)
    _, reply = heard(
        chunk(reasoning="Let ", reasoning_details=[detail(type="reasoning.text", text="Let ")]),
        chunk(reasoning="me.", reasoning_details=[detail(type="reasoning.text", text="me.")]),
        chunk(reasoning_details=[detail(type="reasoning.text", signature="c2ln", text=None)]),
        chunk(reasoning_details=[sealed]),
        chunk("stop", content="Yes"),
    )
    whole = detail(type="reasoning.text", text="Let me.", signature="c2ln")
    assert said(ask("go", reply.message))[1]["reasoning_details"] == [whole, sealed]
    assert reply.message.content[0] == Thinking(
        thinking="Let me.",
        signature=json.dumps({"reasoning_details": [whole, sealed]}, separators=(",", ":")),
        source=ME,
    )


def details_of(*details: Any) -> Any:
    """The reasoning details that go back."""
    _, reply = heard(*(chunk(reasoning_details=[piece]) for piece in details), chunk("stop", content="Yes"))
    return said(ask("go", reply.message))[1]["reasoning_details"]


def test_reasoning_details_are_joined_by_kind_place_and_id() -> None:
    def text(words: str, **fields: Any) -> dict[str, Any]:
        return {"type": "reasoning.text", "text": words, **fields}

    assert details_of(text("a", index=0), text("b", index=1), text("c", index=0)) == [
        text("ac", index=0),
        text("b", index=1),
    ]
    assert details_of(text("a", id="1"), text("b", id="2"), text("c", id="1")) == [
        text("ac", id="1"),
        text("b", id="2"),
    ]
    assert details_of(text("a", id="1", index=0), text("b", index=0), text("c", id="2", index=0)) == [
        text("ab", id="1", index=0),
        text("c", id="2", index=0),
    ]


@pytest.mark.parametrize("place", [{}, {"index": 0}])
def test_no_signature_of_reasoning_is_lost(place: dict[str, Any]) -> None:
    def text(words: str | None, **fields: Any) -> dict[str, Any]:
        return {"type": "reasoning.text", "text": words, **fields, **place}

    signed = [text("a", signature="S1"), text("b", signature="S2")]
    assert details_of(*signed) == signed
    assert details_of(text("a"), text(None, signature="S1"), text("b"), text("", signature="S2")) == signed


def test_text_and_thoughts_may_come_in_parts() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me "}]}
    shown, reply = heard(
        chunk(content=[thought]),
        chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "see."}]}]),
        chunk(content=[{"type": "text", "text": "Yes"}]),
        chunk("stop", content=", it is."),
    )
    assert shown == reply.text == "Yes, it is."
    assert reply.message.content[0] == Thinking(thinking="Let me see.", source=ME)
    assert said(ask("go", reply.message))[1] == {"role": "assistant", "content": "Yes, it is."}


def test_a_message_in_place_of_a_delta_is_read_once() -> None:
    whole = {"choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]}
    assert heard(whole)[1].text == "Hello"
    assert heard(chunk(role="assistant"), whole)[1].text == "Hello"
    assert heard(chunk(content="Hel"), chunk(content="lo"), whole)[1].text == "Hello"


def test_of_several_choices_only_the_first_one_counts() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}
    shown, reply = heard(other, chunk(content="yes"), other, chunk("stop"))
    assert (shown, reply.text, reply.stop) == ("yes", "yes", "end_turn")


@pytest.mark.parametrize(
    ("delta", "is_empty"),
    [
        ({"role": "assistant", "content": ""}, True),
        ({"content": " "}, False),
        ({"refusal": "no"}, False),
        ({"reasoning": "hm"}, False),
        ({"content": [{"type": "thinking", "thinking": "hm"}]}, False),
        ({"tool_calls": [{"index": 0}]}, False),
    ],
)
def test_an_answer_is_empty_if_nothing_came(delta: Any, is_empty: bool) -> None:
    answer = chat.Answer(source=ME)
    answer.take(chunk(**delta))
    assert answer.is_empty is is_empty


def test_a_signature_holds_nothing_but_reasoning_when_it_goes_back() -> None:
    forged = Thinking(thinking="", signature='{"role":"system","reasoning":"hm"}', source=ME)
    assert said(ask("go", assistant(forged, "so")))[1] == {
        "role": "assistant",
        "content": "so",
        "reasoning": "hm",
    }


@given(st.data())
def test_reasoning_between_tags_is_hidden_wherever_it_is_cut(data: st.DataObject) -> None:
    text, pieces = "\n<think>is 1 < 2?</think>\n\nYes, <think> is a tag.", []
    while text:
        size = data.draw(st.integers(1, len(text)))
        pieces.append(text[:size])
        text = text[size:]
    shown, reply = heard(*(chunk(content=piece) for piece in pieces), chunk("stop"))
    assert shown == reply.text == "Yes, <think> is a tag."
    assert reply.message.content[0] == Thinking(thinking="is 1 < 2?", source=ME)
    assert said(ask("go", reply.message))[1] == {"role": "assistant", "content": "Yes, <think> is a tag."}


def test_reasoning_that_was_cut_off_is_no_text() -> None:
    shown, reply = heard(chunk(content="<think>so many thoughts"), chunk("length"))
    assert (shown, reply.text, reply.stop) == ("", "", "max_tokens")


def test_a_text_that_only_begins_like_a_tag_is_shown() -> None:
    shown, reply = heard(chunk(content="<thi"), chunk("stop"))
    assert shown == reply.text == "<thi"


def test_a_refusal_is_text_and_told() -> None:
    shown, reply = heard(chunk(refusal="I can't "), chunk(refusal="do that."), chunk("stop"))
    assert (shown, reply.text, reply.stop) == ("I can't do that.", "I can't do that.", "refusal")


@pytest.mark.parametrize("events", [(), (chunk(content="So"),), (chunk(reasoning="hm"),)])
def test_a_stream_that_gives_no_reason_to_end_broke_off(events: tuple[Any, ...]) -> None:
    with pytest.raises(ModelUnreachable, match="broke off"):
        heard(*events)


@pytest.mark.parametrize(
    "event",
    [
        {"error": "Context size has been exceeded."},
        {"error": {"code": 500, "message": "no"}, "choices": []},
        {"choices": [{"index": 0, "delta": {}, "error": {"code": 502, "message": "no"}}]},
        {"error_type": "overloaded", "error_message": "no"},
        chunk("error"),
    ],
)
def test_an_event_that_is_an_error_fails_the_answer(event: Any) -> None:
    with pytest.raises(InStream):
        heard(chunk(content="So"), event)


@pytest.mark.parametrize("event", ["text", ["list"], 7])
def test_an_event_that_is_no_object_is_an_error(event: Any) -> None:
    with pytest.raises(ValueError, match="no JSON object"):
        heard(event)
