"""A server that keeps the tools from its model, and how that shows."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.model import ignored_tools
from memdir.model.messages import Block, Prefix, Reply, Request, Usage, assistant, person
from memdir.testing import call
from tests.model.conversations import PREFIX

CALL = '{"name": "Read", "arguments": {"file_path": "a {b}.py"}}'


def written_out(*said: Block | str, prefix: Prefix = PREFIX) -> bool:
    request = Request(prefix=prefix, messages=(person("look"),))
    answer = Reply(message=assistant(*said), stop="end_turn", usage=Usage(), model="m")
    return ignored_tools.written_out(answer, request)


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"```json\n{CALL}\n```",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}</tool_call><tool_call>{CALL}</tool_call>",
        f"[TOOL_CALLS] [{CALL}, {CALL}]",
        f"<|python_tag|>{CALL}",
        '{"name": "Read", "parameters": {"file_path": "a.py"}}',
        '{"type": "function", "function": {"name": "Read", "arguments": "{}"}}',
    ],
)
def test_a_call_that_was_written_out_is_seen_A3(text: str) -> None:
    assert written_out(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I'll read the file.",
        f"The file has this call in it: {CALL}",
        f"{CALL}\nThat is how a call looks.",
        '{"name": "Unknown", "arguments": {}}',
        '{"name": "Read"}',
        '{"file_path": "a.py"}',
        '```json\n{"version": 1}\n```',
    ],
)
def test_talk_about_calls_and_other_json_is_no_call_A3(text: str) -> None:
    assert not written_out(text)


def test_a_real_call_beside_it_shows_that_tools_work_A3() -> None:
    assert not written_out(CALL, call("Read", file_path="a.py"))


def test_a_model_that_has_called_a_tool_can_call_tools_A3() -> None:
    before = (person("look"), assistant(call("Read", file_path="a.py")))
    answer = Reply(message=assistant(CALL), stop="end_turn", usage=Usage(), model="m")
    assert not ignored_tools.written_out(answer, Request(prefix=PREFIX, messages=before))


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["Read", "name"])
KEYS = st.sampled_from(["name", "function", "arguments", "input", "x"])
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=9)


@given(st.dictionaries(KEYS, JSON))
def test_any_json_is_judged_A3(value: object) -> None:
    written_out(json.dumps(value))


def test_without_tools_nothing_is_ignored_A3() -> None:
    assert not written_out(CALL, prefix=Prefix(system=(), tools=()))
