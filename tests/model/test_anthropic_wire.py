"""What goes over the wire for a request: the laws that prompt caching and the API's own rules ask for."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.model.anthropic import wire
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
    ToolSpec,
    ToolUse,
    Usage,
    assistant,
    person,
)
from memdir.testing import PromptCache
from tests.model.conversations import PREFIX, READ, ask, calls, results
from tests.model.test_pieces import spoken
from tests.wire.rules import objection

MODEL = "claude-sonnet-5"


def body(request: Request) -> dict[str, Any]:
    return wire.body(request, model=MODEL)


def sent(request: Request) -> str:
    """The messages' JSON, without cache marks."""
    return json.dumps(wire.body(request, model=MODEL)["messages"], ensure_ascii=False).removesuffix("]")


def marks(request: Request) -> list[tuple[str, int]]:
    """Where the cache marks are: (`tools`, `system` or `messages`, place)."""
    found: list[tuple[str, int]] = []
    whole = body(request)
    for key in ("tools", "system", "messages"):
        for place, item in enumerate(whole.get(key, [])):
            blocks = item["content"] if key == "messages" else [item]
            found += [(key, place) for block in blocks if "cache_control" in block]
    return found


words = st.text(st.characters(codec="utf-8"), max_size=20)
texts = words | st.sampled_from(["", " \n", "记住", "a file name that is no UTF-8: \udc80"])
images = st.builds(Image, media_type=st.just("image/png"), data=words)
sources = st.sampled_from(["", "anthropic:a", "openai:b"])
blocks: st.SearchStrategy[Block] = st.one_of(
    images,
    st.builds(Text, text=texts),
    st.builds(Thinking, thinking=words, signature=words, redacted=st.booleans(), source=sources),
    st.builds(ToolUse, id=words, name=words, input=st.dictionaries(st.sampled_from("abc"), st.integers())),
    st.builds(
        ToolResult,
        tool_use_id=words,
        content=texts,
        is_error=st.booleans(),
        images=st.lists(images, max_size=2).map(tuple),
    ),
)
messages: st.SearchStrategy[Message] = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant"]),
    content=st.lists(blocks, max_size=4).map(tuple),
    origin=st.just("person"),
)


@given(st.lists(messages, max_size=6), st.lists(messages, max_size=3))
def test_a_conversation_is_a_byte_prefix_of_its_continuation_A4(
    begin: list[Message], more: list[Message]
) -> None:
    shorter = sent(ask(*begin, cache=False))
    assert sent(ask(*begin, *more, cache=False)).startswith(shorter)


@given(st.lists(messages, max_size=6))
def test_the_same_request_gives_the_same_bytes_and_at_most_four_marks_A4(said: list[Message]) -> None:
    assert json.dumps(body(ask(*said))) == json.dumps(body(ask(*said)))
    assert len(marks(ask(*said))) <= wire.MAX_MARKS


@given(st.lists(messages, max_size=6))
def test_nothing_blank_goes_out_as_text(said: list[Message]) -> None:
    for message in body(ask(*said))["messages"]:
        assert message["content"]
        assert all(block["text"].strip() for block in message["content"] if block["type"] == "text")
    json.dumps(body(ask(*said)), ensure_ascii=False).encode()


def test_messages_are_never_merged() -> None:
    roles = [message["role"] for message in body(ask("one", "two", assistant("three"), "four"))["messages"]]
    assert roles == ["user", "user", "assistant", "user"]


def test_a_message_of_which_nothing_can_be_sent_stays_away() -> None:
    request = ask("hello", assistant(Thinking(thinking="unsigned"), ""), "hello?")
    assert [message["role"] for message in body(request)["messages"]] == ["user", "user"]


def test_tool_results_come_first_in_their_message() -> None:
    request = ask("go", calls("a", "b"), results("a", "b", note="a file changed meanwhile"))
    kinds = [block["type"] for block in body(request)["messages"][-1]["content"]]
    assert kinds == ["tool_result", "tool_result", "text"]
    assert objection(body(request)) is None


def test_a_tool_result_without_output_says_so() -> None:
    nothing = Message(
        role="user", content=(ToolResult(tool_use_id="a", content="", is_error=True),), origin="tool"
    )
    block = body(ask("go", calls("a"), nothing, cache=False))["messages"][-1]["content"][0]
    assert block == {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [{"type": "text", "text": "(no output)"}],
        "is_error": True,
    }


PICTURE = Image(media_type="image/png", data="iVBORw0KGgo=")
SENT = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def test_pictures_stand_where_they_are_and_behind_the_text_of_a_tool_result_A3() -> None:
    result = ToolResult(tool_use_id="a", content="a.png", images=(PICTURE, PICTURE))
    answered = Message(role="user", content=(result,), origin="tool")
    shown = Message(role="user", content=(Text(text="This one:"), PICTURE), origin="person")
    request = ask("go", calls("a"), answered, shown)
    *_, first, last = body(replace(request, cache=False))["messages"]
    assert first["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "a",
            "content": [{"type": "text", "text": "a.png"}, SENT, SENT],
        }
    ]
    assert last["content"] == [{"type": "text", "text": "This one:"}, SENT]
    assert body(request)["messages"][-1]["content"][-1] == {**SENT, "cache_control": {"type": "ephemeral"}}
    assert objection(body(request)) is None


def test_an_error_result_holds_nothing_but_text_A3() -> None:
    result = ToolResult(tool_use_id="a", content="no", images=(PICTURE,), is_error=True)
    request = ask("go", calls("a"), Message(role="user", content=(result,), origin="tool"), cache=False)
    (block,) = body(request)["messages"][-1]["content"]
    assert block["content"] == [{"type": "text", "text": "no"}]


def test_reasoning_goes_back_to_the_client_it_came_from_and_to_no_other_A3() -> None:
    said = [
        Thinking(thinking=name, signature="s", source=source, redacted=redacted)
        for name, source, redacted in (
            ("old", "", False),
            ("own", "anthropic:a", False),
            ("own, hidden", "anthropic:a", True),
            ("another's", "openai:b", False),
            ("another's, hidden", "openai:b", True),
        )
    ]
    request = ask("hello", assistant(*said, "Hello."), "and?", cache=False)

    def sent_back(source: str) -> list[str]:
        blocks = wire.body(request, model=MODEL, source=source)["messages"][1]["content"]
        return [block.get("thinking") or block.get("data") or block["text"] for block in blocks]

    assert sent_back("anthropic:a") == ["old", "own", "own, hidden", "Hello."]
    assert sent_back("") == ["old", "Hello."]


def test_reasoning_is_kept_with_the_client_it_came_from_A3() -> None:
    answer = wire.Answer(source="anthropic:a")
    started = {"type": "message_start", "message": {"model": MODEL, "usage": {}}}
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    hidden = {"type": "redacted_thinking", "data": "x"}
    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}
    for event in (
        started,
        {"type": "content_block_start", "index": 0, "content_block": thought},
        {"type": "content_block_start", "index": 1, "content_block": hidden},
        ended,
    ):
        answer.take(json.loads(json.dumps(event), object_hook=lambda fields: SimpleNamespace(**fields)))
    assert answer.reply().message.content == (
        Thinking(thinking="hm", signature="s", source="anthropic:a"),
        Thinking(thinking="x", redacted=True, source="anthropic:a"),
    )


def heard(*events: dict[str, Any], stop: str = "end_turn") -> tuple[str, Reply]:
    """What was shown of a stream, and the reply."""
    answer = wire.Answer(source="anthropic:a")
    ended = {"type": "message_delta", "delta": {"stop_reason": stop}}
    shown = [answer.take(spoken(event)) for event in (*events, ended)]
    return "".join(shown), answer.reply()


def begun(kind: str, index: Any = 0, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def grown(kind: str, index: Any = 0, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def test_an_input_that_is_given_whole_is_the_calls_unless_it_comes_in_pieces() -> None:
    call = begun("tool_use", id="a", name="Read", input={"x": {"y": 1}})
    assert heard(call)[1].message.tool_uses[0].input == {"x": {"y": 1}}
    pieces = grown("input_json_delta", partial_json='{"z":1}')
    assert heard(call, pieces)[1].message.tool_uses[0].input == {"z": 1}
    text = begun("tool_use", id="a", name="Read", input='{"x":1}')
    assert heard(text)[1].message.tool_uses[0].input == {"x": 1}


def test_calls_that_share_an_id_or_have_none_get_different_ones() -> None:
    uses = heard(
        *(begun("tool_use", index, id=id_, name="Read") for index, id_ in enumerate(("a", "a", None)))
    )[1].message.tool_uses
    assert uses[0].id == "a"
    assert len({use.id for use in uses if use.id}) == 3


def test_blocks_that_all_have_one_index_or_none_are_kept_apart() -> None:
    for index in (0, None):
        shown, reply = heard(
            begun("text", index, text="Hel"),
            grown("text_delta", index, text="lo"),
            begun("tool_use", index, id="a", name="Read", input={}),
            grown("input_json_delta", index, partial_json='{"x":1}'),
        )
        assert (shown, reply.text) == ("Hello", "Hello")
        assert reply.message.tool_uses[0].input == {"x": 1}


def test_what_is_missing_in_a_stream_is_nothing() -> None:
    shown, reply = heard(
        {"type": "message_start", "message": None},
        begun("text", text=None),
        grown("text_delta", text=None),
        grown("text_delta", text="Hi"),
        {"type": "message_delta", "delta": None, "usage": {"input_tokens": "7", "output_tokens": -1}},
        stop="something new",
    )
    assert shown == reply.text == "Hi"
    assert (reply.stop, reply.usage) == ("other", Usage(input=7))


def test_attachments_and_ids_never_reach_the_model() -> None:
    hidden = Message(
        role="user", content=(Text(text="shown"),), origin="attachment", attachment={"path": "hidden.md"}
    )
    assert "hidden" not in json.dumps(body(ask(hidden)))
    assert body(ask(hidden, cache=False))["messages"][0].keys() == {"role", "content"}


def test_system_prompt_parts_are_blocks_and_tools_keep_their_order() -> None:
    zeta = ToolSpec(name="Zeta", description="z", schema={"type": "object"})
    whole = body(ask("hi", prefix=Prefix(system=("one", "", "two"), tools=(zeta, READ)), cache=False))
    assert whole["system"] == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert [tool["name"] for tool in whole["tools"]] == ["Zeta", "Read"]
    assert list(whole) == ["model", "max_tokens", "tools", "system", "messages"]


# ── cache marks ────────────────────────────────────────────────────────────────────────────────────────


def test_marks_stand_after_the_system_prompt_and_where_each_request_ended_A4() -> None:
    request = ask("one", assistant("two"), "three", "an attachment", assistant("four"), "five")
    assert marks(request) == [("system", 1), ("messages", 0), ("messages", 3), ("messages", 5)]


def test_of_many_requests_the_last_three_stay_marked() -> None:
    talk = [turn for number in range(9) for turn in (f"ask {number}", assistant(f"answer {number}"))]
    assert marks(ask(*talk, "last")) == [("system", 1), ("messages", 14), ("messages", 16), ("messages", 18)]


def test_without_a_system_prompt_the_tools_are_marked() -> None:
    assert marks(ask("hi", prefix=Prefix(system=(), tools=(READ,)))) == [("tools", 0), ("messages", 0)]


def test_a_side_query_that_nobody_continues_has_no_marks() -> None:
    assert marks(ask("one", assistant("two"), "three", cache=False)) == []


@pytest.mark.parametrize("calls_made", [1, 30])
def test_a_fork_reads_all_that_its_parent_wrote_A4(calls_made: int) -> None:
    """A turn of thirty calls is far longer than the twenty blocks that the cache looks back."""
    cache = PromptCache()
    parent = [person("go")]
    wrote = cache.account(body(ask(*parent)))
    ids = [f"call{number}" for number in range(calls_made)]
    fork = [*parent, calls(*ids), results(*ids), person("what is worth keeping?")]
    read = cache.account(body(ask(*fork)))
    assert wrote.cache_write > cache.minimum
    assert read.cache_read == wrote.total_input
    assert objection(body(ask(*fork))) is None


# ── settings ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("model", "window", "thinking"),
    [
        ("claude-sonnet-5", 1_000_000, {"type": "adaptive"}),
        ("claude-haiku-5-5", 1_000_000, {"type": "adaptive"}),
        ("claude-opus-4-8", 200_000, {"type": "adaptive"}),
        ("claude-haiku-4-5-20251001", 200_000, {"type": "enabled", "budget_tokens": 2048}),
        ("claude-sonnet-4-20250514", 200_000, {"type": "enabled", "budget_tokens": 2048}),
        ("somebody-elses", 200_000, {"type": "enabled", "budget_tokens": 2048}),
    ],
)
def test_each_generation_is_asked_to_reason_in_its_own_way(
    model: str, window: int, thinking: dict[str, Any]
) -> None:
    prefix = Prefix(system=(), tools=(), thinking=2048)
    assert wire.window(model) == window
    assert wire.body(ask("hi", prefix=prefix), model=model)["thinking"] == thinking
    assert "thinking" not in wire.body(ask("hi"), model=model)


@pytest.mark.parametrize(
    ("budget", "limit", "asked"),
    [(8000, 8192, 8000), (8192, 8192, 4096), (500, 8192, 1024), (8000, 1500, 1024), (8000, 1024, None)],
)
def test_a_budget_for_reasoning_is_below_that_of_the_answer(
    budget: int, limit: int, asked: int | None
) -> None:
    prefix = Prefix(system=(), tools=(), thinking=budget, max_tokens=limit)
    thinking = wire.body(ask("hi", prefix=prefix), model="claude-sonnet-4-5").get("thinking")
    assert thinking == (asked and {"type": "enabled", "budget_tokens": asked})


def test_a_schema_asks_for_one_json_object() -> None:
    schema = {"type": "object", "properties": {"names": {"type": "array"}}}
    request = Request(prefix=PREFIX, messages=(person("which?"),), schema=schema, cache=False)
    assert body(request)["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": schema},
    }
    assert wire.body(request, model="claude-haiku-4-5")["output_config"].keys() == {"format"}
