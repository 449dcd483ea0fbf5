"""The order in which memories are looked at (recall/order.py): pure, so tables and laws."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.recall.order import COMPANIONS, FEW, HALF_LIFE, MEANING, RECENCY, SITTING, in_order

HOUR = 3600 * 10**9
DAY = 24 * HOUR
START = 1_700_000_000 * 10**9


def apart(*files: str) -> list[tuple[str, int]]:
    """The files, each changed a day before the last: no two of one sitting."""
    return [(file, START - at * DAY) for at, file in enumerate(files)]


def names(ordered: list[tuple[str, float]]) -> list[str]:
    return [file for file, _ in ordered]


# -- words ---------------------------------------------------------------------------------------------------


def test_what_shares_more_words_comes_first_equals_by_path_M6() -> None:
    scores = {"b.md": 2.0, "a.md": 2.0, "c.md": 5.0, "d.md": 0.5}
    assert names(in_order(scores, apart("a.md", "b.md", "c.md", "d.md"), recency=0)) == [
        "c.md",
        "a.md",
        "b.md",
        "d.md",
    ]


def test_what_shares_nothing_has_no_place_in_the_order_M6() -> None:
    moments = apart("new.md", "a.md")
    assert names(in_order({"a.md": 1.0, "new.md": 0.0}, moments)) == ["a.md"]
    assert in_order({}, moments) == []
    assert in_order({}, []) == []


def test_a_file_that_went_away_meanwhile_has_none_either_M6() -> None:
    ordered = in_order({"gone.md": 9.0, "a.md": 1.0}, apart("a.md"), near={"gone.md": 0.9, "a.md": 0.1})
    assert names(ordered) == ["a.md"]


# -- companions ----------------------------------------------------------------------------------------------


def test_a_memory_of_the_same_sitting_as_a_good_one_gains_by_it_M6() -> None:
    moments = [("best.md", START), ("friend.md", START - HOUR // 2), ("stranger.md", START - DAY)]
    scores = {"best.md": 4.0, "friend.md": 1.0, "stranger.md": 1.2}
    assert names(in_order(scores, moments, recency=0)) == ["best.md", "friend.md", "stranger.md"]
    assert dict(in_order(scores, moments, recency=0))["friend.md"] == pytest.approx(0.25 + COMPANIONS)


def test_a_sitting_goes_on_as_long_as_no_pause_is_longer_than_an_hour_M6() -> None:
    moments = [(f"{at}.md", START - at * SITTING) for at in range(4)]
    scores = {"0.md": 4.0, "3.md": 1.0}
    assert dict(in_order(scores, moments, recency=0))["3.md"] == pytest.approx(0.25 + COMPANIONS)
    broken = [*moments[:3], ("3.md", START - 3 * SITTING - 1)]
    assert dict(in_order(scores, broken, recency=0))["3.md"] == pytest.approx(0.25 + COMPANIONS * 0.25)


def test_a_companion_that_shares_no_word_with_the_prompt_gains_nothing_M6() -> None:
    moments = [("best.md", START), ("friend.md", START - 1)]
    assert names(in_order({"best.md": 4.0}, moments, recency=0)) == ["best.md"]
    near = {"friend.md": 0.5, "best.md": 0.5}
    assert dict(in_order({"best.md": 4.0}, moments, near=near, recency=0))["friend.md"] == 0


# -- age -----------------------------------------------------------------------------------------------------


def test_of_two_that_share_the_same_the_newer_comes_first_M6() -> None:
    scores = {"old.md": 1.0, "new.md": 1.0}
    assert names(in_order(scores, apart("new.md", "old.md"))) == ["new.md", "old.md"]
    assert names(in_order(scores, apart("old.md", "new.md"))) == ["old.md", "new.md"]


def test_age_adds_little_in_a_small_directory_and_never_more_than_its_weight_M6() -> None:
    few, many = apart("new.md", *map(str, range(8))), apart("new.md", *map(str, range(5000)))
    gained = [
        dict(in_order({"new.md": 1.0}, moments))["new.md"] - (1 + COMPANIONS) for moments in (few, many)
    ]
    assert gained[0] == pytest.approx(RECENCY * 9 / (9 + FEW))
    assert gained[0] < gained[1] < RECENCY


def test_so_many_newer_ones_halve_what_age_adds_M6() -> None:
    moments = apart(*map(str, range(HALF_LIFE + 1)))
    scores = {"0": 1.0, str(HALF_LIFE): 1.0}
    values = dict(in_order(scores, moments))
    plain = 1 + COMPANIONS
    assert values["0"] - plain == pytest.approx(2 * (values[str(HALF_LIFE)] - plain))


def test_files_of_one_moment_are_of_one_age_M6() -> None:
    """A checkout gives all files one time: their names say nothing about how new they are."""
    moments = [(f"{at:03}.md", START) for at in range(200)]
    values = dict(in_order({"000.md": 1.0, "199.md": 1.0}, moments))
    assert values["000.md"] == values["199.md"]


def test_with_weight_0_age_says_nothing_M6() -> None:
    scores = {"a.md": 1.0, "b.md": 1.0}
    assert in_order(scores, apart("b.md", "a.md"), recency=0) == in_order(
        scores, apart("a.md", "b.md"), recency=0
    )


# -- meaning and use -----------------------------------------------------------------------------------------


def test_nearness_counts_by_standard_deviations_M6() -> None:
    moments = apart("a.md", "b.md")
    values = dict(in_order({}, moments, near={"a.md": 0.31, "b.md": 0.29}, recency=0))
    assert values == pytest.approx({"a.md": MEANING, "b.md": -MEANING})


def test_a_memory_without_a_word_in_common_comes_in_by_its_meaning_M6() -> None:
    moments = apart(*map(str, range(10)))
    near = {str(at): 0.9 if at == 7 else 0.1 for at in range(10)}
    assert names(in_order({"3": 2.0}, moments, near=near, recency=0))[:2] == ["3", "7"]


@pytest.mark.parametrize("near", [{"a.md": 0.4}, {"a.md": 0.4, "b.md": 0.4}], ids=["one", "all alike"])
def test_nearness_that_tells_nothing_apart_adds_nothing_M6(near: dict[str, float]) -> None:
    scores = {"a.md": 1.0, "b.md": 0.5}
    moments = apart("a.md", "b.md")
    assert in_order(scores, moments, near=near) == in_order(scores, moments)


def test_past_use_adds_and_takes_M6() -> None:
    scores = {"a.md": 1.0, "b.md": 1.0, "c.md": 1.0}
    use = {"b.md": 0.05, "a.md": -0.05, "never.md": 1.0}
    assert names(in_order(scores, apart("a.md", "b.md", "c.md"), use=use, recency=0)) == [
        "b.md",
        "c.md",
        "a.md",
    ]


# -- laws ----------------------------------------------------------------------------------------------------

files = st.integers(0, 30).map(lambda at: f"{at}.md")
weights = st.floats(0, 50, allow_nan=False)
cosines = st.floats(-1, 1, allow_nan=False)


@st.composite
def directories(draw: st.DrawFn) -> list[tuple[str, int]]:
    """The files and moments of a directory, as the index gives them."""
    found = draw(st.dictionaries(files, st.integers(0, 60).map(lambda at: at * SITTING // 2), max_size=30))
    return sorted(found.items(), key=lambda one: (-one[1], one[0]))


@given(directories(), st.dictionaries(files, weights), st.dictionaries(files, cosines), st.floats(0, 1))
def test_no_file_with_a_word_in_common_is_ever_lost_and_none_comes_twice_M6(
    moments: list[tuple[str, int]], scores: dict[str, float], near: dict[str, float], recency: float
) -> None:
    ordered = names(in_order(scores, moments, near=near, recency=recency))
    there = {file for file, _ in moments}
    assert len(ordered) == len(set(ordered))
    assert set(ordered) == {file for file in there if scores.get(file, 0) > 0 or file in near}


@given(
    directories(),
    st.dictionaries(files, weights),
    st.dictionaries(files, cosines),
    st.dictionaries(files, st.floats(-0.1, 0.1)),
    st.randoms(use_true_random=False),
)
def test_the_order_depends_on_what_is_known_and_on_nothing_else_M6(
    moments: list[tuple[str, int]],
    scores: dict[str, float],
    near: dict[str, float],
    use: dict[str, float],
    chance: random.Random,
) -> None:
    def shuffled(known: dict[str, float]) -> dict[str, float]:
        return dict(chance.sample(sorted(known.items()), len(known)))

    again = in_order(shuffled(scores), moments, near=shuffled(near), use=shuffled(use))
    assert again == in_order(scores, moments, near=near, use=use)


@given(directories(), st.dictionaries(files, st.integers(1, 20)))
def test_without_age_and_meaning_words_and_companions_make_the_order_M6(
    moments: list[tuple[str, int]], scores: dict[str, int]
) -> None:
    there = {file: scores[file] for file, _ in moments if file in scores}
    best = max(there.values(), default=1)
    expected = {
        file: (score + COMPANIONS * max(there[other] for other in _sitting(moments, file) & there.keys()))
        / best
        for file, score in there.items()
    }
    assert dict(in_order(scores, moments, recency=0)) == pytest.approx(expected)


def _sitting(moments: list[tuple[str, int]], file: str) -> set[str]:
    """All files from which one comes to this one without a pause of more than an hour."""
    times = dict(moments)
    found = {file}
    while (
        more := {other for other in times if any(abs(times[other] - times[one]) <= SITTING for one in found)}
        - found
    ):
        found |= more
    return found


@given(directories(), st.dictionaries(files, weights), st.floats(0, 1))
def test_age_moves_no_file_by_more_than_its_weight_M6(
    moments: list[tuple[str, int]], scores: dict[str, float], recency: float
) -> None:
    plain = dict(in_order(scores, moments, recency=0))
    aged = dict(in_order(scores, moments, recency=recency))
    assert aged.keys() == plain.keys()
    assert all(-1e-9 <= aged[file] - plain[file] <= recency + 1e-9 for file in plain)
