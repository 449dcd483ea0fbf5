"""Which day it is, told when it is news (J3)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from memdir.agent.attachments import attached, date_change, date_news
from memdir.model.messages import Message, assistant, person

BERLIN = timezone(timedelta(hours=2))
EVENING = datetime(2026, 5, 7, 23, 59, tzinfo=BERLIN)


def days(clock: Iterable[datetime]) -> list[str]:
    """The days that a conversation is told of, when it asks at each of these moments."""
    messages: list[Message] = []
    for now in clock:
        if message := date_news(messages, now):
            messages.append(message)
    return [(message.attachment or {})["date"] for message in messages]


def test_a_conversation_is_told_at_the_beginning_which_day_it_is_J3() -> None:
    message = date_news([], EVENING)
    assert message is not None
    assert message.text.startswith("Today is Thursday, 2026-05-07 (UTC+02:00).")
    assert message.attachment == {"kind": "date", "date": "2026-05-07"}
    assert (message.role, message.origin, message.at) == ("user", "attachment", EVENING)


def test_at_midnight_the_new_date_is_told_once_J3() -> None:
    messages = [date_change(EVENING, first=True), person("go on"), assistant("ok")]
    assert date_news(messages, EVENING) is None
    message = date_news(messages, EVENING + timedelta(minutes=1))
    assert message is not None
    assert "The date has changed: today is Friday, 2026-05-08 (UTC+02:00)" in message.text
    assert date_news([*messages, message], EVENING + timedelta(hours=20)) is None


def test_midnight_is_that_of_the_zone_of_the_clock_J3() -> None:
    told = [date_change(EVENING, first=True)]
    assert date_news(told, EVENING.astimezone(ZoneInfo("UTC"))) is None
    later = date_news(told, EVENING.astimezone(ZoneInfo("Asia/Kolkata")))
    assert later is not None
    assert "Friday, 2026-05-08 (UTC+05:30)" in later.text
    west = date_change(EVENING.astimezone(ZoneInfo("America/St_Johns")), first=True)
    assert "(UTC-02:30)" in west.text


def test_after_days_one_note_is_enough_J3() -> None:
    week = EVENING + timedelta(days=6)
    assert days([EVENING, week, week + timedelta(seconds=30)]) == ["2026-05-07", "2026-05-13"]


def test_a_compaction_took_the_note_away_and_the_day_is_told_anew_J3() -> None:
    message = date_news([person("go on")], EVENING + timedelta(days=1))
    assert message is not None
    assert message.text.startswith("Today is Friday")


def test_who_travels_west_over_midnight_is_told_both_days_J3() -> None:
    night = datetime(2026, 5, 8, 0, 30, tzinfo=BERLIN)
    london = night.astimezone(ZoneInfo("Europe/London"))
    assert days([EVENING, night, london, london + timedelta(hours=1)]) == [
        "2026-05-07", "2026-05-08", "2026-05-07", "2026-05-08",
    ]  # fmt: skip


def test_a_clock_that_goes_to_and_fro_is_no_loop_and_ends_up_right_J3() -> None:
    seventh, eighth, ninth = (EVENING + timedelta(days=n) for n in range(3))
    assert days([seventh, eighth] * 50) == ["2026-05-07", "2026-05-08", "2026-05-07", "2026-05-08"]
    assert days([*[seventh, eighth] * 50, eighth, ninth])[-2:] == ["2026-05-08", "2026-05-09"]


def test_a_clock_that_was_far_ahead_and_is_put_right_is_told_J3() -> None:
    assert days([EVENING + timedelta(days=400), EVENING, EVENING]) == ["2027-06-11", "2026-05-07"]


def test_an_hour_more_or_less_in_the_night_is_no_other_day_J3() -> None:
    zone = ZoneInfo("Europe/Berlin")
    before = datetime(2026, 10, 25, 2, 30, tzinfo=zone)
    assert days([before, before.replace(fold=1), datetime(2026, 10, 25, 23, 0, tzinfo=zone)]) == [
        "2026-10-25"
    ]


@pytest.mark.parametrize("day", [None, 7, "", "yesterday", date(2026, 5, 7), ["2026-05-07"]])
def test_a_note_that_somebody_has_changed_says_no_day(day: object) -> None:
    odd = attached("?", {"kind": "date", "date": day}, now=EVENING)
    message = date_news([odd, attached("?", {"kind": "date"}, now=EVENING)], EVENING)
    assert message is not None
    assert message.text.startswith("Today is")
