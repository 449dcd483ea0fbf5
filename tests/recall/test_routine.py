"""Prompts that no memory makes better (recall/routine.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from memdir.recall import local
from memdir.recall.routine import is_routine
from tests.recall.memories import NOW, index_of, put


@pytest.mark.parametrize(
    "prompt",
    [
        "rename the variable in the second function",
        "there is a typo in the heading",
        "sort these imports",
        "Extract this into a helper",
        "convert this to a list comprehension",
        "把这个函数重命名一下",
        "这里有个错别字",
        "変数をリネームして",
        "what does git rebase -i do?",
        "what is a monad for?",
        "the difference between a process and a thread",
        "进程和线程有什么区别",
        "モナドとは何ですか",
        "thanks, that works",
        "Perfect!",
        "谢谢",
        "ありがとう",
    ],
)
def test_small_edits_general_knowledge_and_thanks_are_routine_R9(prompt: str) -> None:
    assert is_routine(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "deploy the service to production",
        "why does the replica lag?",
        "goodness knows why the build is red",
        "we thank the customer by mail: where is the template?",
        "发布到生产",
        "レプリカが遅れています",
        "warum hinkt die Replik hinterher?",
    ],
)
def test_work_on_the_project_is_not_R9(prompt: str) -> None:
    assert not is_routine(prompt)


def test_a_phrase_far_below_the_beginning_makes_nothing_routine_R9() -> None:
    assert not is_routine("deploy the service\n" + "x " * 300 + "rename")


def test_a_routine_prompt_needs_more_in_common_with_a_memory_R9(tmp_path: Path) -> None:
    put(tmp_path, "lag.md", name="Replica lag", body="The replica lags behind by four seconds.")
    index = index_of(tmp_path)
    (plain,) = local.weigh("explain the lag of the replica", index, now=NOW)
    (routine,) = local.weigh("explain what the lag of the replica is", index, now=NOW)
    assert not is_routine("explain the lag of the replica")
    assert routine.score == pytest.approx(local.ROUTINE * plain.score)


@pytest.mark.parametrize("prompt", ["a " * 200_000, "what does " * 50_000, "`" * 400_000, "这个" * 100_000])
def test_only_the_beginning_of_a_huge_prompt_is_looked_at_R9(prompt: str) -> None:
    assert not is_routine(prompt + " rename the variable")
