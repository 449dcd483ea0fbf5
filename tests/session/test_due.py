"""When notes are brought up to date (C2)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memdir.model.messages import Message, Text, assistant, person
from memdir.model.tokens import estimate_message
from memdir.session.due import Due, NotDue, State, Tally, Thresholds, is_due
from memdir.testing import call

DEFAULT = Thresholds()


def tally(tokens: int, calls: int = 0) -> Tally:
    return Tally(messages=1, tokens=tokens, calls=calls)


def why(state: State, thresholds: Thresholds = DEFAULT) -> str:
    verdict = is_due(state, thresholds)
    return verdict.reason if isinstance(verdict, NotDue) else "due"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (State(now=tally(9_999)), "the conversation is short"),
        (State(now=tally(10_000)), "due"),
        (State(now=tally(9_999, calls=50)), "the conversation is short"),
        (State(now=tally(5_000), scale=2.0), "due"),
        (State(now=tally(10_000), scale=0.9), "the conversation is short"),
        (State(now=tally(14_999), noted=tally(10_000)), "little is new"),
        (State(now=tally(15_000), noted=tally(10_000)), "due"),
        (State(now=tally(10_100, calls=7), noted=tally(10_000, calls=5)), "little is new"),
        (State(now=tally(10_100, calls=8), noted=tally(10_000, calls=5)), "due"),
    ],
)
def test_first_at_10_000_then_by_5_000_or_3_calls_C2(state: State, expected: str) -> None:
    assert why(state) == expected


@pytest.mark.parametrize(
    ("barred", "expected"),
    [
        ({"has_open_call": True}, "a tool call is unanswered"),
        ({"is_running": True}, "one is running"),
        ({"is_main": False}, "a background job's own conversation"),
        ({"tried": tally(90_000)}, "due"),
        ({"tried": tally(95_001)}, "the last attempt failed a moment ago"),
    ],
)
def test_not_while_something_is_in_the_way_C2(barred: dict[str, object], expected: str) -> None:
    state = State(now=tally(100_000, calls=100), noted=tally(10_000))
    assert why(state) == "due"
    assert why(replace(state, **barred)) == expected  # type: ignore[arg-type]


def test_after_a_failure_calls_alone_do_not_make_it_due_C2() -> None:
    state = State(now=tally(20_000, calls=90), noted=tally(10_000), tried=tally(19_000))
    assert why(state) == "the last attempt failed a moment ago"
    assert why(replace(state, now=tally(24_000, calls=90))) == "due"
    assert why(State(now=tally(14_999), tried=tally(10_000))) == "the last attempt failed a moment ago"


def test_thresholds_are_settings_C2() -> None:
    soon = Thresholds(first=10, grown=5, tool_calls=1)
    assert isinstance(is_due(State(now=tally(10)), soon), Due)
    assert isinstance(is_due(State(now=tally(11, calls=1), noted=tally(10)), soon), Due)


def test_a_record_is_counted_as_it_grows_without_what_memdir_adds_C2() -> None:
    added = Message(role="user", content=(Text(text="a memory " * 900),), origin="attachment")
    record = [person("Hello"), added, assistant(call("Read", file_path="a"), call("Read", file_path="b"))]
    first = Tally().of(record[:2])
    assert first == Tally(messages=2, tokens=estimate_message(record[0]), calls=0)
    both = first.of(record)
    assert both == Tally().of(record)
    assert both.calls == 2
    assert both.of(record) == both
    assert both.of(record[:1]) == Tally().of(record[:1])
