"""Estimates of tokens."""

from __future__ import annotations

import pytest

from memdir.model.messages import Prefix, Thinking, ToolUse, assistant, person
from memdir.model.tokens import estimate, estimate_message, estimate_request
from tests.model.conversations import READ, ask, results


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("", 0),
        ("a", 1),
        ("abcd" * 10, 10),
        ("é" * 10, 5),
        ("记住这个", 4),
        ("カタカナ", 4),
        ("한국어", 3),
        ("，。", 2),
        ("𠀀", 1),
        ("run 测试 now", 4),
        ("\udc80", 1),
    ],
)
def test_latin_counts_by_bytes_and_chinese_by_characters(text: str, about: int) -> None:
    assert estimate(text) == about


def test_a_message_counts_all_its_blocks() -> None:
    full = assistant(
        "x" * 40, Thinking(thinking="y" * 40), ToolUse(id="1", name="Read", input={"p": "z" * 40})
    )
    assert estimate_message(full) > 30
    assert estimate_message(results("a")) > estimate_message(person(""))


def test_a_request_counts_its_prefix_and_its_messages() -> None:
    bare = estimate_request(ask("hi", prefix=Prefix(system=(), tools=())))
    system = estimate_request(ask("hi", prefix=Prefix(system=("s" * 400,), tools=())))
    tools = estimate_request(ask("hi", prefix=Prefix(system=(), tools=(READ,))))
    longer = estimate_request(ask("hi", "again", prefix=Prefix(system=(), tools=())))
    assert system == bare + 100
    assert tools > bare + estimate(READ.description)
    assert longer > bare
