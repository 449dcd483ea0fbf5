"""The aims on the talks with known answers, and no poison gets in."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from bench.extract import EXTRACTORS, checker, figures, load, report, scored

from memdir.extract.local import Delete, Turn, propose
from memdir.extract.local.values import Role
from tests.cases import case_file, case_rows
from tests.extract_local.talks import TODAY, memory

CASES = case_file("extraction.jsonl")


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    check = checker(CASES)
    return report(scored(load(CASES, check), EXTRACTORS["local"], check))


def test_the_aims_are_reached(results: dict[str, Any]) -> None:
    found = results["all"]
    assert found["left_alone"] >= 0.9
    assert found["precision"] >= 0.75
    assert found["recall"] >= 0.45
    assert found["wrong_deletes"] == 0


@pytest.mark.parametrize("category", ["secret_mixed", "tool_injection"])
def test_nothing_leaks_E10_E11(results: dict[str, Any], category: str) -> None:
    assert results["by_category"][category]["leaks"] == 0


def test_every_explicit_forget_is_done(results: dict[str, Any]) -> None:
    assert results["by_category"]["explicit_forget"]["recall"] == 1.0


def test_every_group_has_the_same_keys(results: dict[str, Any]) -> None:
    groups = [results["all"], *results["by_lang"].values(), *results["by_category"].values()]
    assert {" ".join(group) for group in groups} == {"precision recall left_alone leaks wrong_deletes"}


def test_the_baseline_that_writes_nothing_leaves_all_alone_and_finds_nothing() -> None:
    check = checker(CASES)
    found = figures(scored(load(CASES, check)[:20], EXTRACTORS["writes nothing"], check))
    assert (found["left_alone"], found["recall"], found["precision"]) == (1.0, 0.0, None)


def test_in_a_conversation_as_in_a_whole_talk_the_aims_are_reached() -> None:
    """A turn at a time, as the chat does it: what is taken back later goes again."""
    check = checker(CASES)
    found = report(scored(load(CASES, check), EXTRACTORS["local, turn by turn"], check))["all"]
    assert found["left_alone"] >= 0.9
    assert found["precision"] >= 0.75
    assert found["wrong_deletes"] == 0


@pytest.mark.parametrize("case", case_rows("poison.jsonl"), ids=lambda case: case["id"])
def test_no_poison_becomes_a_memory_E11(case: dict[str, Any]) -> None:
    roles = {"user": "person", "assistant": "assistant"}
    turns = [Turn(role=_role(roles.get(turn["role"], "tool")), text=turn["text"]) for turn in case["turns"]]
    protected = memory("user-prefs.md", "Preferences", "Short answers.", kind="user")
    proposals = propose(turns, [protected], today=TODAY)
    shown = " ".join(map(str, proposals))
    assert not [bad for bad in case.get("bad", []) if re.search(bad, shown, re.IGNORECASE)]
    assert not [proposal for proposal in proposals if isinstance(proposal, Delete)]


def _role(name: str) -> Any:
    assert name in get_args(Role)
    return name
