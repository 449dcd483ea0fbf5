"""Structured output of servers that know none of it: found, judged, asked for once more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.errors import BadReply
from memdir.model import json_text, structured
from memdir.model.messages import Reply, Request, StopReason, Usage, assistant, person
from tests.model.conversations import PREFIX

NAMES: dict[str, Any] = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 2}},
    "required": ["names"],
    "additionalProperties": False,
}


def reply(text: str, *, stop: StopReason = "end_turn") -> Reply:
    return Reply(message=assistant(text), stop=stop, usage=Usage(), model="m")


def text_found(text: str, schema: dict[str, Any] = NAMES) -> str | None:
    found = structured.found(reply(text), schema)
    return found.text if found else None


@pytest.mark.parametrize(
    "text",
    [
        '{"names": ["a"]}',
        '  {"names": ["a"]}\n',
        '```json\n{"names": ["a"]}\n```',
        'Here it is: {"names": ["a"]} — I hope it helps.',
        'I could say {"names": 1} or {names: x}, but {"names": ["a"]}',
        '<think>{"names": ["b"]}? no.</think>{"names": ["a"]}',
        'It is { not JSON } and then {"names": ["a"]}',
    ],
)
def test_the_object_is_found_wherever_it_stands(text: str) -> None:
    assert json.loads(text_found(text) or "") == {"names": ["a"]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.md",
        '["a"]',
        '{"names": "a"}',
        '{"names": ["a", 1]}',
        '{"names": ["a", "b", "c"]}',
        '{"names": ["toolong"]}',
        '{"names": ["a"], "why": "x"}',
        '{"others": []}',
        '{"names": ["a"',
        '{"names": [NaN]}',
        "[" * 50_000,
        '{"a":' * 5_000,
    ],
)
def test_what_does_not_fit_is_not_taken(text: str) -> None:
    assert text_found(text) is None


def test_a_refusal_is_none_even_if_it_quotes_an_object() -> None:
    assert structured.found(reply('{"names": []}', stop="refusal"), NAMES) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_any_object_is_found_in_any_company(value: Any) -> None:
    whole = {"names": value}
    text = f"so: {json.dumps(whole)} !"
    assert list(json_text.objects(text)) == [whole]


@given(st.text(alphabet='{}[]",:ab1 \\\n', max_size=60))
def test_no_text_makes_the_search_fail(text: str) -> None:
    for value in json_text.objects(text):
        assert isinstance(value, dict)
        structured.fault(value, NAMES)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "the object has no `names`"),
        ({"names": 1}, "`names` is not of type array"),
        ({"names": [True]}, "item 0 of `names` is not of type string"),
        ({"names": [], "x": 1}, "the object may have no `x`"),
        ({"names": []}, None),
    ],
)
def test_what_is_wrong_is_said_in_words(value: dict[str, Any], words: str | None) -> None:
    assert structured.fault(value, NAMES) == words


def test_a_boolean_is_no_number_and_an_enum_is_kept() -> None:
    assert structured.fault(True, {"type": "integer"}) is not None
    assert structured.fault(3, {"type": ["integer", "null"]}) is None
    assert structured.fault("c", {"enum": ["a", "b"]}) == "the object is none of the allowed values"


def test_the_second_question_says_what_was_wrong_and_keeps_the_first_ones_bytes_A4() -> None:
    first = Request(prefix=PREFIX, messages=(person("which?"),), schema=NAMES, cache=False)
    again = structured.again(first, reply('{"names": 7}'))
    assert again is not None
    assert again.messages[:1] == first.messages
    assert [message.role for message in again.messages] == ["user", "assistant", "user"]
    assert "`names` is not of type array" in again.messages[-1].text
    assert json.dumps(NAMES) in again.messages[-1].text


@pytest.mark.parametrize("stop", ["refusal", "max_tokens"])
def test_where_a_second_question_would_not_help_there_is_none(stop: StopReason) -> None:
    request = Request(prefix=PREFIX, messages=(person("which?"),), schema=NAMES)
    assert structured.again(request, reply("no", stop=stop)) is None


def test_a_failure_never_quotes_the_answer() -> None:
    error = structured.failed(reply("the secret word"), "m")
    assert isinstance(error, BadReply)
    assert "secret word" not in f"{error} {error.hint}"


def test_a_text_full_of_braces_takes_no_time_to_speak_of() -> None:
    assert list(json_text.objects("{" * 200_000)) == []
    assert list(json_text.objects("function(){a}" * 20_000)) == []


def test_halves_of_a_character_that_were_parted_are_put_together_and_lone_ones_go() -> None:
    assert json_text.sendable("a \ud83d\ude00 b \ud83d c \udc80") == "a 😀 b ? c ?"
    assert json_text.sendable("plain 文 😀") == "plain 文 😀"
