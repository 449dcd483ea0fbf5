"""Relative dates become absolute, counted from the day of the talk (a Thursday, 2026-03-05)."""

from __future__ import annotations

import pytest

from memdir.cues.dates import absolute
from tests.extract_local.talks import TODAY


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a week from tomorrow", "2026-03-13"),
        ("next Tuesday", "2026-03-10"),
        ("this Saturday", "2026-03-07"),
        ("on Friday", "on Friday (2026-03-06)"),
        ("the 30th", "2026-03-30"),
        ("the 2nd", "2026-04-02"),
        ("Monday 2026-03-16 (Monday)", "2026-03-16"),
        ("March 1st", "2027-03-01"),
        ("4 May 2027", "2027-05-04"),
        ("mid January, the 15th", "2027-01-15"),
        ("from December on, the 1st", "from 2026-12 on, 2026-12-01"),
        ("in exactly three weeks", "2026-03-26"),
        ("the end of next month", "2026-04-30"),
        ("Q2 next year", "Q2 2027"),
        ("until March", "until 2026-03"),
        ("in autumn", "in autumn 2026"),
        ("week 34", "week 34 (2026-08-17)"),
        ("this week", "in the week 2026-03-02 to 2026-03-08"),
        ("diese Woche", "in der Woche 2026-03-02 bis 2026-03-08"),
        ("esta semana", "en la semana del 2026-03-02 al 2026-03-08"),
        ("这周", "2026-03-02 至 2026-03-08 这周"),
        ("今週", "2026-03-02 から 2026-03-08 の週"),
        ("every second Tuesday", "every second Tuesday"),
        ("in April", "in April"),
        ("we may march on", "we may march on"),
        ("übermorgen", "2026-03-07"),
        ("Freitag in einer Woche", "2026-03-13"),
        ("am 14. September", "am 2026-09-14"),
        ("el próximo martes", "2026-03-10"),
        ("el 3 de abril", "2026-04-03"),
        ("下周五", "2026-03-13"),
        ("下下周一", "2026-03-16"),
        ("这周六", "2026-03-07"),
        ("周五下午", "周五 (2026-03-06)下午"),
        ("每周三", "每周三"),
        ("月底前", "2026-03-31前"),
        ("11月底", "2026-11-30"),
        ("下月5号", "2026-04-05"),
        ("两周后", "2026-03-19"),
        ("明年", "2027年"),
        ("来週の金曜日", "2026-03-13"),
    ],
)
def test_a_relative_date_is_made_absolute_F4(said: str, shown: str) -> None:
    assert absolute(said, today=TODAY).text == shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("last night (the 4th)", "2026-03-04"),
        ("on Monday", "on Monday (2026-03-02)"),
        ("in November", "in 2025-11"),
        ("the 30th", "2026-01-30"),
        ("3 月 2 号", "2026-03-02"),
        ("上周五", "2026-02-27"),
        ("12 月份", "2025年12月"),
    ],
)
def test_a_tale_of_the_past_counts_backwards_F4(said: str, shown: str) -> None:
    assert absolute(said, today=TODAY, past=True).text == shown


@pytest.mark.parametrize("said", ["by Friday", "before 1 June", "until the 30th", "月底前", "bis Montag"])
def test_a_limit_is_known_as_one(said: str) -> None:
    assert absolute(said, today=TODAY).due


def test_a_date_that_is_none_stays() -> None:
    assert absolute("2026-02-31 and February 31", today=TODAY).text == "2026-02-31 and February 31"
