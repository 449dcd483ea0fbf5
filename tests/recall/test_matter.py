"""Whether a prompt brings new matter into a session (recall/matter.py)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.recall.matter import is_new_matter, matter

FIRST = "why does the replica lag behind the primary?"


@pytest.mark.parametrize(
    "prompt",
    [
        "go on",
        "ok",
        "keep going",
        "the replica, again: why does it lag?",
        "再来一次",
        "続けて",
        "好，就这样",
        "",
        "???",
        "2",
    ],
)
def test_a_continuation_brings_no_new_matter_R1(prompt: str) -> None:
    assert not is_new_matter(prompt, matter(FIRST))


@pytest.mark.parametrize(
    "prompt",
    [
        "and the tests too?",
        "and the canary?",
        "does ZQ-4090 lag behind too?",
        "换一个话题：发布流程",
        "see src/orders/store.py",
    ],
)
def test_what_the_prompts_before_did_not_speak_of_is_new_matter_R1(prompt: str) -> None:
    assert is_new_matter(prompt, matter(FIRST))


def test_the_forms_of_a_word_are_one_matter_R1() -> None:
    assert not is_new_matter("are the replicas lagging?", matter(FIRST))


def test_words_of_any_work_and_lone_characters_are_no_matter_R1() -> None:
    assert matter("please fix the code in this file, 3 times") == frozenset()
    assert matter("修") == frozenset()


@given(st.text(max_size=200))
def test_the_same_again_is_never_new_R1(prompt: str) -> None:
    assert not is_new_matter(prompt, matter(prompt))


@given(st.text(max_size=100), st.text(max_size=100), st.text(max_size=100))
def test_what_was_no_news_stays_none_however_the_session_goes_on_R1(a: str, b: str, c: str) -> None:
    if not is_new_matter(a, matter(b)):
        assert not is_new_matter(a, matter(b) | matter(c))
