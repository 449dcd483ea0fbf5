"""How much each word of a prompt counts (recall/emphasis.py)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.memory.words import shares
from memdir.recall.emphasis import PASTE, PASTED, emphasis

LOG = [f"{at:02}:00 worker heartbeat queue" for at in range(9)]


def test_a_short_prompt_counts_in_full_R9() -> None:
    prompt = "\n".join(["why does the replica lag?", *LOG[: PASTE - 2]])
    assert emphasis(prompt) == shares(prompt)


def test_what_is_pasted_below_the_question_counts_half_R9() -> None:
    counted = emphasis("\n".join(["why does the replica lag?", *LOG]))
    assert counted["replica"] == 1.0
    assert counted["heartbeat"] == PASTED


def test_a_word_that_is_typed_and_pasted_counts_as_typed_R9() -> None:
    assert emphasis("\n".join(["which worker is that?", *LOG]))["worker"] == 1.0


@pytest.mark.parametrize(
    "lines",
    [
        ["look at this", "the replica lags", "", *LOG],
        ["", "  ", "the replica lags", *LOG],
        ["00:00 worker starts", *LOG, "", "the replica lags"],
        ["look", *LOG, "", "the replica lags"],
    ],
    ids=["an introduction", "blank lines first", "at the end", "at both ends"],
)
def test_what_stands_by_itself_above_or_below_a_paste_is_the_persons_own_R9(lines: list[str]) -> None:
    counted = emphasis("\n".join(lines))
    assert counted["replica"] == 1.0
    assert counted["heartbeat"] == PASTED


def test_a_last_line_that_belongs_to_the_paste_is_no_typing_R9() -> None:
    assert emphasis("\n".join(["look", *LOG, "the replica lags"]))["replica"] == PASTED


def test_a_long_text_above_no_blank_line_is_not_an_introduction_R9() -> None:
    lines = ["look at this", *LOG[:3], "the replica lags", "", *LOG]
    assert emphasis("\n".join(lines))["replica"] == PASTED


@given(st.lists(st.text(max_size=20), max_size=20).map("\n".join))
def test_every_word_of_a_prompt_counts_at_least_as_a_pasted_one_and_never_more_than_alone_R9(
    prompt: str,
) -> None:
    counted, alone = emphasis(prompt), shares(prompt)
    assert counted.keys() == alone.keys()
    assert all(PASTED * alone[word] <= counted[word] <= alone[word] for word in alone)
