"""A match of a date phrase becomes a day, a period, or None where it stays ambiguous."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeAlias

from memdir.cues.dates.names import COUNTS, MONTHS, SEASONS, WEEKDAYS, number

Value: TypeAlias = "date | str | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """From when one counts, and whether the sentence tells of something that happened."""

    today: date
    past: bool
    named: date | None = None  # the first day of the month that the sentence named

    def fits(self, day: date) -> bool:
        """Is the day on the right side of today?"""
        return day <= self.today if self.past else day >= self.today

    @property
    def monday(self) -> date:
        return self.today - timedelta(days=self.today.weekday())

    def month(self, away: int) -> date:
        """The first day of the month that is so many months away."""
        year, month = divmod(self.today.year * 12 + self.today.month - 1 + away, 12)
        return date(year, month + 1, 1)

    def coming(self, weekday: int) -> date:
        return self.today + timedelta(days=(weekday - self.today.weekday() - 1) % 7 + 1)

    def last(self, weekday: int) -> date:
        return self.today - timedelta(days=(self.today.weekday() - weekday - 1) % 7 + 1)


Resolve: TypeAlias = Callable[[re.Match[str], Frame], "date | str | None"]


def _make(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _weekday_in(match: re.Match[str]) -> int:
    return number(match.group("weekday"), WEEKDAYS)


def _month_in(match: re.Match[str]) -> int:
    return number(match.group("month"), MONTHS)


# ---------------------------------------------------------------------------------- days


def explicit(match: re.Match[str], frame: Frame) -> Value:
    """A day and a month, perhaps a year; without it the nearest one on the right side of today."""
    day, month, year = int(match.group("day")), _month_in(match), match.groupdict().get("year")
    if year:
        return _make(int(year), month, day)
    years = [frame.today.year + away for away in (0, 1, -1)]
    found = [made for made in (_make(one, month, day) for one in years) if made]
    return next((made for made in found if frame.fits(made)), None)


def day_of_month(match: re.Match[str], frame: Frame) -> Value:
    """ "The 30th": of the month named, or this month's, or the nearest month's that has such a day."""
    if frame.named:
        return _make(frame.named.year, frame.named.month, int(match.group("day")))
    for away in range(14):
        first = frame.month(-away if frame.past else away)
        found = _make(first.year, first.month, int(match.group("day")))
        if found and frame.fits(found):
            return found
    return None


def day_in_month(away: int) -> Resolve:
    """The day named, of the month so many months away."""
    return lambda match, frame: _make(
        frame.month(away).year, frame.month(away).month, int(match.group("day"))
    )


def days(count: int) -> Resolve:
    """So many days from today."""
    return lambda _, frame: frame.today + timedelta(days=count)


def counted(unit: str, *, back: bool = False, after: int = 0) -> Resolve:
    """`n` days or weeks away; `after`: from so many days after today."""

    def resolve(match: re.Match[str], frame: Frame) -> Value:
        count = number(match.group("n"), COUNTS) * (-1 if back else 1)
        return frame.today + timedelta(days=after + count * (7 if unit == "week" else 1))

    return resolve


def counted_months(match: re.Match[str], frame: Frame) -> Value:
    """`n` months away."""
    first = frame.month(number(match.group("n"), COUNTS))
    return first.replace(day=min(frame.today.day, calendar.monthrange(first.year, first.month)[1]))


def weekday(match: re.Match[str], frame: Frame) -> Value:
    """A bare weekday."""
    return frame.last(_weekday_in(match)) if frame.past else frame.coming(_weekday_in(match))


def coming_weekday(match: re.Match[str], frame: Frame) -> Value:
    """The next such day."""
    return frame.coming(_weekday_in(match))


def last_weekday(match: re.Match[str], frame: Frame) -> Value:
    """The last such day."""
    return frame.last(_weekday_in(match))


def weekday_after_next(match: re.Match[str], frame: Frame) -> Value:
    """ "Tuesday after next"."""
    return frame.coming(_weekday_in(match)) + timedelta(weeks=1)


def weekday_in_weeks(match: re.Match[str], frame: Frame) -> Value:
    """ "In two weeks, on Friday": the Friday of the week which is so many weeks away."""
    return frame.monday + timedelta(days=_weekday_in(match), weeks=number(match.group("n"), COUNTS))


def since_weekday(match: re.Match[str], frame: Frame) -> Value:
    """ "Since Monday": the last one; the word stays beside it."""
    return f"{match.group().rpartition(' ')[0].split()[0]} {frame.last(_weekday_in(match)).isoformat()}"


def weeks_after_weekday(match: re.Match[str], frame: Frame) -> Value:
    """ "A week from Friday"."""
    return frame.coming(_weekday_in(match)) + timedelta(weeks=number(match.group("n"), COUNTS))


def weekday_of_week(away: int) -> Resolve:
    """That day of the week which is so many weeks away."""
    return lambda match, frame: frame.monday + timedelta(days=_weekday_in(match), weeks=away)


def friday(away: int) -> Resolve:
    """The end of the week which is so many weeks away."""
    return lambda _, frame: frame.monday + timedelta(days=4, weeks=away)


def month_end(away: int) -> Resolve:
    """The last day of the month so many months away."""
    return lambda _, frame: frame.month(away + 1) - timedelta(days=1)


def end_of_named_month(match: re.Match[str], frame: Frame) -> Value:
    """The last day of that month, this year's or the next one's."""
    month = _month_in(match)
    year = frame.today.year + (0 if frame.past or month >= frame.today.month else 1)
    return date(year, month, calendar.monthrange(year, month)[1])


def year_end(_: re.Match[str], frame: Frame) -> Value:
    """The last day of this year."""
    return date(frame.today.year, 12, 31)


# ---------------------------------------------------------------------------------- periods


def as_said(_: re.Match[str], __: Frame) -> Value:
    """No date at all ("every Tuesday"): the words are kept, and no other rule looks at them."""
    return ""


def month(match: re.Match[str], frame: Frame) -> Value:
    """A month with the word before it; "in April" alone stays so, but in a tale of the past."""
    lead, named, year = match.group("lead"), _month_in(match), match.groupdict().get("year")
    if year:
        return f"{lead}{year}-{named:02}"
    if frame.past:
        return f"{lead}{frame.today.year - (named > frame.today.month)}-{named:02}"
    if lead.strip().lower() in _EITHER_WAY:
        return match.group()
    return f"{lead}{frame.today.year + (named < frame.today.month)}-{named:02}"


_EITHER_WAY = frozenset(["in", "im", "en", "since", "seit", "during"])


def past_month(match: re.Match[str], frame: Frame) -> Value:
    """A Chinese month in a tale of the past."""
    named = _month_in(match)
    return f"{frame.today.year - (named > frame.today.month)}年{named}月" if frame.past else None


def month_away(away: int, suffix: str = "") -> Resolve:
    """The month so many months away."""
    return lambda _, frame: f"{frame.month(away):%Y-%m}{suffix}"


def quarter(years: int) -> Resolve:
    """The quarter named, of the year so many years away."""
    return lambda match, frame: f"Q{match.group('q')} {frame.today.year + years}"


def next_quarter(_: re.Match[str], frame: Frame) -> Value:
    """The quarter after this one."""
    year, index = divmod(frame.today.year * 4 + (frame.today.month - 1) // 3 + 1, 4)
    return f"Q{index + 1} {year}"


def season(match: re.Match[str], frame: Frame) -> Value:
    """A season of this year or, when that is over, of the next; of a past one only the name is known."""
    if frame.past:
        return None
    begins = SEASONS[match.group("season").lower()]
    return (
        f"{match.group('lead')}{match.group('season')} {frame.today.year + (frame.today.month >= begins + 3)}"
    )


def calendar_week(match: re.Match[str], frame: Frame) -> Value:
    """A week by its number, with its Monday beside it."""
    week, this = int(match.group("week")), frame.today.isocalendar()
    if not 1 <= week <= 52:
        return None
    monday = date.fromisocalendar(this.year + (not frame.past and week < this.week), week, 1)
    return f"{match.group()} ({monday.isoformat()})"


def this_week(words: str) -> Resolve:
    """The week of today, Monday to Sunday, in words that hold both days."""

    def resolve(_: re.Match[str], frame: Frame) -> Value:
        return words.format(frame.monday.isoformat(), (frame.monday + timedelta(days=6)).isoformat())

    return resolve


def year(away: int, suffix: str = "") -> Resolve:
    """The year so many years away."""
    return lambda _, frame: f"{frame.today.year + away}{suffix}"
