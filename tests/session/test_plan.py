"""What of a long conversation stays: tables with small numbers, and laws over random ones (C4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.agent.fit.places import is_place, last_step, places
from memdir.model.messages import Message, Origin, Role, Text, ToolResult, ToolUse
from memdir.model.tokens import estimate_message
from memdir.session.plan import AIM, MOST, Limits, Plan, is_due, must, plan
from tests.session.random_talk import histories

# ── a conversation in a line: each word one message, a letter for whose it is and its tokens ───────────

_WHOSE: dict[str, tuple[Origin, bool]] = {
    "p": ("person", True),
    "a": ("assistant", True),
    "t": ("assistant", False),  # an answer without text
    "m": ("attachment", True),
    "s": ("system", True),
    "c": ("assistant", False),  # a call, and r the result of the last one
    "r": ("tool", False),
}


def talk(line: str) -> list[Message]:
    """`p10 c1 r50 a10`: a person's message of 10 tokens, a call with its result, an answer."""
    messages: list[Message] = []
    for number, word in enumerate(line.split()):
        origin, has_text = _WHOSE[word[0]]
        content: tuple[Text | ToolUse | ToolResult, ...] = (Text(text="x"),) if has_text else ()
        if word[0] == "c":
            content = (ToolUse(id=f"c{number}", name="Read", input={}),)
        if word[0] == "r":
            content = (ToolResult(tool_use_id=f"c{number - 1}", content="x"),)
        role: Role = "assistant" if origin == "assistant" else "user"
        about = {"tokens": int(word[1:])}
        messages.append(
            Message(role=role, content=content, origin=origin, id=f"{word[0]}{number}", attachment=about)
        )
    return messages


def tokens(message: Message) -> int:
    assert message.attachment is not None
    return int(message.attachment["tokens"])


SMALL = Limits(window=1200, reserve=200, tail_tokens=100, tail_messages=5, tail_most=400)
"""Room for 1000; of these 600 are aimed at, and 800 taken at the most."""


def planned(
    line: str, upto: int = 0, *, fixed: int = 0, limits: Limits = SMALL, afresh: bool = False
) -> Plan:
    """The plan where the first `upto` messages are summarised."""
    messages = talk(line)
    summarised = messages[upto - 1].id if upto else None
    return plan(messages, summarised=summarised, fixed=fixed, limits=limits, count=tokens, afresh=afresh)


# ── when ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("window", "answer", "room"),
    [
        pytest.param(200_000, 8192, 187_000, id="13,000 in a usual window"),
        pytest.param(1_000_000, 8192, 987_000, id="and in a large one"),
        pytest.param(52_000, 8192, 39_000, id="a quarter is as much"),
        pytest.param(51_999, 8192, 51_999 - 12_999, id="a quarter is less"),
        pytest.param(32_000, 8192, 32_000 - 8192, id="an answer is more than a quarter"),
        pytest.param(8192, 8192, 4096, id="an answer may take half of the window"),
        pytest.param(200_000, 64_000, 136_000, id="an answer that may be long"),
        pytest.param(200_000, 13_000, 187_000, id="an answer that may be as long as the reserve"),
        pytest.param(200_000, 13_001, 186_999, id="an answer that may be longer"),
    ],
)
def test_a_request_leaves_the_reserve_or_what_an_answer_needs_C4(window: int, answer: int, room: int) -> None:
    limits = Limits(window=window, answer=answer)
    assert limits.room() == room
    assert not is_due(room, limits)
    assert is_due(room + 1, limits)


@pytest.mark.parametrize(("window", "answer", "most"), [(200_000, 8192, 191_808), (8000, 8192, 4000)])
def test_no_request_is_made_that_leaves_no_room_for_an_answer_C4(window: int, answer: int, most: int) -> None:
    limits = Limits(window=window, answer=answer)
    assert not must(most, limits)
    assert must(most + 1, limits)


# ── what stays ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("line", "upto", "at"),
    [
        pytest.param("t50 t50 t50 t50 t50", 5, 3, id="100 tokens are enough"),
        pytest.param("t50 t50 t50 t50 t49", 5, 2, id="99 are not"),
        pytest.param("t1 t1 a1 a1 a1 a1 a1", 7, 2, id="5 messages with text are enough"),
        pytest.param("t1 t1 a1 a1 t1 a1 a1", 7, 0, id="4 are not"),
        pytest.param(
            "t1 a1 a1 t1 m1 a1 s1 a1 c1 r1 a1", 11, 1, id="what memdir adds is no message with text"
        ),
        pytest.param("t60 t60 t60 t60", 1, 1, id="all that is not summarised"),
        pytest.param("t60 t60 t60 t60", 0, 0, id="nothing is summarised"),
        pytest.param("t9 t9 t200 t200", 2, 2, id="400 that are not summarised"),
    ],
)
def test_the_tail_is_what_is_not_summarised_and_enough_before_it_C4(line: str, upto: int, at: int) -> None:
    found = planned(line, upto)
    assert (found.at, found.covered, found.gone) == (at, True, at)
    assert found.why == ("nothing goes" if at == 0 else "the summary covers all that goes")
    assert not found.is_over


@pytest.mark.parametrize(
    ("line", "upto", "at"),
    [
        pytest.param("t50 c50 r90 t5", 4, 1, id="earlier, at the call"),
        pytest.param("t50 c310 r85 t5", 4, 1, id="earlier, as it just fits"),
        pytest.param("t50 c311 r85 t5", 4, 3, id="later, as it does not fit"),
        pytest.param("t50 c50 r90 t5", 2, 1, id="a call that is summarised, with a result that is not"),
        pytest.param("t50 c50 r90 c5", 4, 1, id="open calls are no end of a tail"),
    ],
)
def test_a_tail_begins_at_a_place_C4(line: str, upto: int, at: int) -> None:
    assert planned(line, upto).at == at


@pytest.mark.parametrize(
    ("line", "at"),
    [
        pytest.param("t50 p30 t30 t30 t30 t30 t100", 1, id="five messages back"),
        pytest.param("p30 t30 t30 t30 t30 t30 t100", 6, id="too far back, unless there is no more"),
        pytest.param("t50 p30 t30 p30 t30 t30 t100", 3, id="the nearest"),
        pytest.param("t50 p300 t100", 1, id="up to the most that a tail has"),
        pytest.param("t50 p301 t100", 2, id="not over it"),
        pytest.param("t50 p30 t100", 1, id="right before"),
        pytest.param("t50 p30 p100", 2, id="there already"),
    ],
)
def test_a_tail_begins_with_a_persons_message_if_one_is_near_C4(line: str, at: int) -> None:
    assert planned(line, len(line.split())).at == at


@pytest.mark.parametrize(
    ("fixed", "at", "tail_tokens"),
    [
        pytest.param(0, 3, 100, id="all the room"),
        pytest.param(500, 3, 100, id="60 percent of it in all"),
        pytest.param(501, 4, 50, id="over 60"),
        pytest.param(550, 4, 50, id="60 again"),
        pytest.param(551, 4, 50, id="the last step, up to 80"),
        pytest.param(5000, 4, 50, id="the last step, whatever there is room for"),
    ],
)
def test_a_compaction_leaves_air_for_the_next_one_C4(fixed: int, at: int, tail_tokens: int) -> None:
    found = planned("t50 t50 t50 t50 t50", 5, fixed=fixed)
    assert (found.at, found.tail_tokens, found.covered) == (at, tail_tokens, True)
    assert found.room == max(0, 800 - fixed)


@pytest.mark.parametrize(
    ("fixed", "at", "covered"),
    [
        pytest.param(0, 2, True, id="much room"),
        pytest.param(400, 2, True, id="80 percent of it are taken"),
        pytest.param(401, 5, False, id="over 80: they go, and the tail is what is aimed at"),
        pytest.param(499, 5, False, id="101 are aimed at"),
        pytest.param(500, 5, False, id="100 are"),
        pytest.param(501, 5, False, id="99 are; the last step has 100"),
    ],
)
def test_what_is_not_summarised_stays_up_to_80_percent_of_the_room_C4(
    fixed: int, at: int, covered: bool
) -> None:
    found = planned("t100 t100 t100 t100 t100 t100", 2, fixed=fixed)
    assert (found.at, found.covered) == (at, covered)
    assert found.why == (
        "the summary covers all that goes" if covered else "a summary of what goes is to be written"
    )


@pytest.mark.parametrize(("line", "at"), [("t100 t100 t100 t100 t1", 3), ("t100 t100 t100 t99 t1", 0)])
def test_more_than_40000_tokens_that_are_not_summarised_go_C4(line: str, at: int) -> None:
    found = planned(line)
    assert (found.at, found.covered) == (at, at == 0)


def test_a_summary_written_afresh_lets_go_what_is_not_summarised_C4() -> None:
    line = "t60 t60 t60 t60"
    assert planned(line).gone == 0
    afresh = planned(line, afresh=True)
    assert (afresh.at, afresh.covered, afresh.why) == (2, False, "a summary of what goes is to be written")


def test_a_summary_written_afresh_is_not_needed_where_the_present_one_covers_all_C4() -> None:
    assert planned("t60 t60 t60 t60", 2, afresh=True).covered


def test_an_id_that_is_not_there_summarises_nothing_C4() -> None:
    found = plan(talk("t300 t300 t60"), summarised="gone", fixed=0, limits=SMALL, count=tokens)
    assert (found.covered, found.at) == (False, 1)


@pytest.mark.parametrize("afresh", [False, True])
def test_there_is_nothing_to_do_for_no_messages_C4(afresh: bool) -> None:
    found = planned("", afresh=afresh)
    assert (found.at, found.gone, found.tail_tokens, found.covered) == (0, 0, 0, True)
    assert found.why == "nothing goes"


@pytest.mark.parametrize(
    ("line", "upto", "at"),
    [
        pytest.param("p5 c10 r900", 3, 1, id="a step"),
        pytest.param("p5 c10 r900 m20", 3, 1, id="and what came with it"),
        pytest.param("p5 c10 r900", 0, 1, id="nothing is summarised"),
        pytest.param("c10 r900", 0, 0, id="nothing else is there"),
        pytest.param("p5 a5 p900 m20", 2, 2, id="a paste"),
    ],
)
def test_a_last_step_for_which_there_is_no_room_is_over_C4(line: str, upto: int, at: int) -> None:
    found = planned(line, upto)
    assert (found.at, found.is_over, found.room) == (at, True, 800)
    assert found.why == "there is no room for the last step"


def test_a_last_step_of_more_than_40000_tokens_stays_whole_where_there_is_room_C4() -> None:
    found = planned("p5 c10 r700", 3)
    assert (found.at, found.tail_tokens, found.is_over) == (1, 710, False)


def test_a_conversation_that_can_be_cut_nowhere_stays_C4() -> None:
    found = planned("c100 a1 r900 a900")
    assert (found.at, found.is_over) == (0, True)


# ── laws ───────────────────────────────────────────────────────────────────────────────────────────────


@st.composite
def limits(draw: st.DrawFn) -> Limits:
    return Limits(
        window=draw(st.integers(10, 40_000) | st.integers(20_000, 200_000)),
        answer=draw(st.integers(0, 9000)),
        reserve=draw(st.integers(0, 13_000)),
        tail_tokens=draw(st.integers(0, 3000)),
        tail_messages=draw(st.integers(1, 8)),
        tail_most=draw(st.integers(0, 6000) | st.just(40_000)),
    )


@st.composite
def cases(draw: st.DrawFn) -> Callable[..., tuple[list[Message], Plan]]:
    """A conversation and limits; call it with what is to be different."""
    messages = draw(histories(turns=4, split=True, open_end=True))
    ids = [None, "gone", *[message.id for message in messages] * 2]
    given = {
        "summarised": draw(st.sampled_from(ids)),
        "fixed": draw(st.integers(0, 3000) | st.integers(0, 20_000)),
        "limits": draw(limits()),
        "count": estimate_message,
        "afresh": draw(st.integers(0, 3)) == 3,
    }

    def case(of: list[Message] | None = None, **other: object) -> tuple[list[Message], Plan]:
        chosen = messages if of is None else of
        return chosen, plan(chosen, **{**given, **other})  # type: ignore[arg-type]

    case.given = given  # type: ignore[attr-defined]
    return case


Case = Callable[..., tuple[list[Message], Plan]]


def _given(case: Case) -> tuple[str | None, int, Limits]:
    given = case.given  # type: ignore[attr-defined]
    return given["summarised"], given["fixed"], given["limits"]


@settings(max_examples=60)
@given(cases())
def test_a_plan_is_what_it_says_C4(case: Case) -> None:
    messages, found = case()
    summarised, fixed, limits_ = _given(case)
    tail = messages[found.at :]
    assert found.gone + len(tail) == len(messages)
    assert found.tail_tokens == sum(map(estimate_message, tail))
    assert is_place(messages, found.at)
    assert tail or not messages
    goes = [message.id for message in messages[: found.at]]
    ids = [message.id for message in messages]
    upto = ids.index(summarised) + 1 if summarised in ids else 0
    assert found.covered == (len(goes) <= upto)
    assert (found.why == "nothing goes") == (found.gone == 0 and not found.is_over)
    if found.at != last_step(messages):
        assert not found.is_over
        assert found.tail_tokens <= limits_.tail_most
        assert fixed + found.tail_tokens <= limits_.room() * MOST // 100
        if not found.covered:
            assert fixed + found.tail_tokens <= limits_.room() * AIM // 100


@settings(max_examples=60)
@given(cases())
def test_a_tail_has_enough_or_as_much_as_fits_C4(case: Case) -> None:
    messages, found = case()
    _, fixed, limits_ = _given(case)
    tail = messages[found.at :]
    said = sum(m.origin in ("person", "assistant") and bool(m.text.strip()) for m in tail)
    if found.at and found.tail_tokens < limits_.tail_tokens and said < limits_.tail_messages:
        before = max(at for at in places(messages) if at < found.at)
        larger = sum(map(estimate_message, messages[before:]))
        assert larger > limits_.tail_most or fixed + larger > limits_.room() * AIM // 100


@settings(max_examples=60)
@given(cases())
def test_a_plan_of_what_is_left_takes_nothing_more_C4(case: Case) -> None:
    messages, found = case()
    _, again = case(messages[found.at :], afresh=False)
    assert again.gone == 0
    assert again.tail_tokens == found.tail_tokens


@settings(max_examples=60)
@given(cases())
def test_a_plan_holds_when_the_summary_that_it_asked_for_is_written_C4(case: Case) -> None:
    messages, found = case()
    if found.covered:
        return
    _, again = case(summarised=messages[found.at - 1].id, afresh=False)
    assert (again.at, again.covered) == (found.at, True)


@settings(max_examples=60)
@given(cases(), st.integers(0, 5000))
def test_more_room_never_means_that_more_goes_C4(case: Case, more: int) -> None:
    _, found = case()
    _, fixed, limits_ = _given(case)
    _, wider = case(limits=replace(limits_, window=limits_.window + more))
    _, lighter = case(fixed=fixed - min(more, fixed))
    assert wider.gone <= found.gone
    assert lighter.gone <= found.gone
    assert wider.covered >= found.covered
