"""Where a conversation may be cut: pairs stay whole, by their ids (C4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.agent.fit.places import front, is_place, last_step, places
from memdir.model.messages import Message, ToolResult, ToolUse, assistant, person
from tests.session.random_talk import histories


def calls(*ids: str) -> Message:
    return assistant(*(ToolUse(id=id_, name="Read", input={}) for id_ in ids))


def results(*ids: str) -> Message:
    content = tuple(ToolResult(tool_use_id=id_, content="found") for id_ in ids)
    return Message(role="user", content=content, origin="tool")


def added(text: str = "<memory>") -> Message:
    return Message(role="user", content=assistant(text).content, origin="attachment")


def one(_: Message) -> int:
    return 1


P, A = person("go on"), assistant("done")


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param([], [0], id="nothing"),
        pytest.param([P, A], [0, 1, 2], id="no calls"),
        pytest.param([P, calls("a"), results("a"), A], [0, 1, 3, 4], id="a pair"),
        pytest.param(
            [calls("a", "b"), results("a"), added(), results("b"), A], [0, 4, 5], id="results apart"
        ),
        pytest.param([calls("a"), calls("b"), results("b"), results("a")], [0, 4], id="pairs in pairs"),
        pytest.param(
            [calls("0"), results("0"), calls("0"), results("0")], [0, 2, 4], id="the same id for another call"
        ),
        pytest.param([calls("0", "0"), results("0", "0"), A], [0, 2, 3], id="the same id twice at once"),
        pytest.param([P, calls("a")], [0, 1], id="open calls at the end"),
        pytest.param([P, calls("a", "b"), results("a"), A], [0, 1], id="one call of two was never answered"),
        pytest.param(
            [calls("0"), P, calls("0"), results("0")], [0], id="not answered, and its id used again"
        ),
        pytest.param([P, results("x"), A], [2, 3], id="a result of no call"),
        pytest.param([P, results("a"), calls("a"), A], [2], id="a result before its call"),
        pytest.param([calls("a"), results("b")], [], id="nowhere"),
    ],
)
def test_a_place_parts_no_call_from_its_result_C4(messages: list[Message], expected: list[int]) -> None:
    assert places(messages) == expected
    assert [at for at in range(-2, len(messages) + 3) if is_place(messages, at)] == expected


@given(histories(turns=4, split=True, open_end=True))
def test_places_are_what_their_definition_says_C4(messages: list[Message]) -> None:
    def ids(part: list[Message], kind: type[ToolUse | ToolResult]) -> set[str]:
        blocks = [block for message in part for block in message.content if isinstance(block, kind)]
        return {block.id if isinstance(block, ToolUse) else block.tool_use_id for block in blocks}

    for at in range(len(messages) + 1):
        before, later = messages[:at], messages[at:]
        no_result_lacks_its_call = ids(later, ToolResult) <= ids(later, ToolUse)
        no_call_lacks_its_result = ids(before, ToolUse) <= ids(before, ToolResult)
        assert is_place(messages, at) == (no_result_lacks_its_call and no_call_lacks_its_result)


@pytest.mark.parametrize(
    ("messages", "at"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([P, A], 1, id="an answer"),
        pytest.param([P, A, P, added(), added()], 2, id="what was added does not stand alone"),
        pytest.param([P, calls("a", "b"), results("a", "b"), added()], 1, id="a step, and what came with it"),
        pytest.param([P, A, calls("a")], 2, id="open calls"),
        pytest.param([added(), added()], 0, id="nothing but what was added"),
        pytest.param([calls("a"), results("b")], 0, id="nowhere"),
    ],
)
def test_the_last_step_holds_more_than_what_memdir_added_C4(messages: list[Message], at: int) -> None:
    assert last_step(messages) == at


@pytest.mark.parametrize(
    ("room", "at"), [(9, 0), (7, 0), (6, 1), (5, 3), (4, 3), (3, 4), (2, 5), (1, 6), (0, 6), (-5, 6)]
)
def test_front_keeps_the_newest_that_fit_C4(room: int, at: int) -> None:
    messages = [P, calls("a"), results("a"), A, P, A, A]
    assert front(messages, room=room, count=one) == at


@given(histories(turns=4, split=True), st.integers(0, 40))
def test_front_gives_the_most_that_fits_or_the_last_step_C4(messages: list[Message], room: int) -> None:
    at = front(messages, room=room, count=one)
    assert messages[at:] or not messages
    assert is_place(messages, at)
    assert len(messages) - at <= room or at == last_step(messages)
    assert all(len(messages) - earlier > room for earlier in places(messages) if earlier < at)
