"""Whether the extraction runs: the order of the checks, and what is new."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memdir.errors import KeyRefused, ModelError, ModelOverloaded
from memdir.extract.gates import (
    Reason,
    Run,
    Situation,
    Skip,
    decide,
    first_stretch,
    has_words,
    is_before,
    rules_step_in,
    since,
)
from memdir.model.messages import Message, Text, ToolResult, ToolUse, assistant, person

READY = Situation(
    is_main=True,
    extract=True,
    memory=True,
    remote=False,
    running=False,
    turns=0,
    every=1,
    trailing=False,
    wrote_memory=False,
    has_words=True,
)
NOTHING_HOLDS = Situation(
    is_main=False,
    extract=False,
    memory=False,
    remote=True,
    running=True,
    turns=0,
    every=3,
    trailing=False,
    wrote_memory=True,
    has_words=False,
)
ORDER: list[tuple[Reason, dict[str, Any]]] = [
    ("not the main agent", {"is_main": True}),
    ("switched off", {"extract": True}),
    ("memory is off", {"memory": True}),
    ("remote", {"remote": False}),
    ("one is running", {"running": False}),
    ("throttled", {"every": 1}),
    ("the agent wrote memory itself", {"wrote_memory": False}),
    ("nothing new", {"has_words": True}),
]


def test_when_nothing_stands_against_it_it_runs_E0() -> None:
    assert decide(READY) == Run(turns=0)


def test_the_first_check_that_fails_decides_E0() -> None:
    now = NOTHING_HOLDS
    for reason, cure in ORDER:
        verdict = decide(now)
        assert isinstance(verdict, Skip)
        assert verdict.reason == reason
        now = replace(now, **cure)
    assert decide(now) == Run(turns=0)


def test_a_turn_is_counted_up_to_the_throttle_and_the_count_starts_over_E3() -> None:
    turns, verdicts = 0, []
    for _ in range(6):
        verdict = decide(replace(READY, turns=turns, every=3))
        turns = verdict.turns
        verdicts.append(isinstance(verdict, Run))
    assert verdicts == [False, False, True, False, False, True]


def test_a_throttled_turn_leaves_the_cursor_E3() -> None:
    assert decide(replace(READY, every=2)) == Skip(reason="throttled", turns=1)


def test_a_trailing_run_ignores_the_throttle_and_is_not_counted_E3() -> None:
    assert decide(replace(READY, every=5, trailing=True, turns=2)) == Run(turns=0)


def test_a_turn_that_ends_during_a_run_is_kept_for_later_and_not_counted_E5() -> None:
    verdict = decide(replace(READY, running=True, turns=1, every=3))
    assert verdict == Skip(reason="one is running", turns=1, keep=True)


@pytest.mark.parametrize("case", [{"wrote_memory": True}, {"has_words": False}])
def test_what_needs_no_run_is_dealt_with_E4(case: dict[str, Any]) -> None:
    verdict = decide(replace(READY, **case))
    assert isinstance(verdict, Skip)
    assert verdict.move_cursor


def test_new_is_what_follows_the_cursor_E7() -> None:
    first, second, third = person("a"), assistant("b"), person("c")
    talk = (first, second, third)
    assert since(talk, None) == talk
    assert since(talk, second.id) == (third,)
    assert since(talk, third.id) == ()
    assert since(talk, first.id, upto=second.id) == (second,)
    assert since(talk, third.id, upto=second.id) == ()


def test_a_cursor_that_compaction_removed_means_all_that_is_visible_E7() -> None:
    talk = (person("summary"), assistant("b"))
    assert since(talk, "gone") == talk
    assert is_before(talk, "gone", talk[0].id)
    assert not is_before(talk, talk[1].id, "gone")


def own(text: str = "done") -> list[Message]:
    """A turn in which the agent wrote memory."""
    wrote = {"kind": "memory_write", "wrote": ["a.md"], "deleted": []}
    result = ToolResult(tool_use_id="t", content="written")
    return [
        person("remember that"),
        assistant(ToolUse(id="t", name="Write", input={})),
        Message(role="user", content=(result,), origin="tool", attachment=wrote),
        assistant(text),
    ]


def plain() -> list[Message]:
    return [person("use tabs"), assistant("yes")]


@pytest.mark.parametrize(
    ("turns", "length"),
    [
        ([], 0),
        ([plain(), plain()], 4),
        ([plain(), plain(), own(), plain()], 4),
        ([own(), own(), plain()], 8),
        ([own()[1:], plain()], 3),
        ([[person("a turn that failed")], own(), plain()], 5),
        ([[person("a turn that failed")], plain(), own()], 3),
        (
            [
                [person("go on"), assistant("So far"), Message(role="user", content=(), origin="system")],
                own(),
            ],
            7,
        ),
    ],
)
def test_turns_in_which_the_agent_wrote_memory_are_apart_from_the_others_E4(
    turns: list[list[Message]], length: int
) -> None:
    new = [message for turn in turns for message in turn]
    assert list(first_stretch(new)) == new[:length]


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        (person("use tabs"), True),
        (person("  \n"), False),
        (assistant("I use tabs"), False),
        (Message(role="user", content=(Text(text="Contents of …"),), origin="attachment"), False),
        (Message(role="user", content=(Text(text="Look at …"),), origin="system"), False),
        (Message(role="user", content=(ToolResult(tool_use_id="t", content="x"),), origin="tool"), False),
    ],
)
def test_only_the_persons_words_are_words_E11(message: Message, counts: bool) -> None:
    assert has_words([message]) is counts


@pytest.mark.parametrize(
    ("error", "waiting", "expected"),
    [
        (ModelOverloaded("busy"), False, False),
        (ModelOverloaded("busy"), True, True),
        (KeyRefused("no"), False, True),
        (KeyRefused("no"), True, True),
    ],
)
def test_rules_step_in_for_what_lasts_and_for_what_fails_twice_E7(
    error: ModelError, waiting: bool, expected: bool
) -> None:
    assert rules_step_in(error, waiting=waiting) is expected


def test_a_compaction_between_two_turns_makes_no_one_of_them_E4() -> None:
    wrote = {"kind": "memory_write", "wrote": ["a.md"], "deleted": []}
    first = [
        person("remember tabs"),
        Message(role="user", content=(), origin="tool", attachment=wrote),
        assistant("Done."),
    ]
    summary = Message(role="user", content=(), origin="attachment", attachment={"kind": "compaction"})
    second = [person("and we deploy on Tuesdays"), assistant("Noted.")]
    assert first_stretch([*first, summary, *second]) == tuple(first)
