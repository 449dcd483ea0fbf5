"""A small sample of the long run of `make stress` in which dreams go wrong in every way (D8)."""

from __future__ import annotations

from collections import Counter

from tests.dream.hostile import ACTS
from tests.stress.hostile_dreams import all_of, told


def test_of_hostile_dreams_nothing_is_lost_that_was_not_named_and_nothing_written_outside_D8() -> None:
    runs = all_of(1, range(len(ACTS)), jobs=1)
    assert [f"{run.name}: {wrong}" for run in runs for wrong in run.wrong] == [], told(runs)
    assert {(run.unnamed, run.outside, run.halves) for run in runs} == {(0, 0, 0)}
    count = Counter(run.outcome.split(",")[0].split(":")[0] for run in runs)
    assert count["applied"] >= 3, told(runs)
    assert count["held"] >= 10, told(runs)
