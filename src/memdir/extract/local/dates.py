"""Relative dates in a sentence become ISO dates, counted from the day of the talk.

`absolute("the freeze starts next Tuesday", today=date(2026, 3, 5))` gives the text with `2026-03-10` in place of
"next Tuesday", and that day. Months, quarters and years that name no day become `2026-04`, `Q2 2027`, `2027`.
What is ambiguous stays as it was said. One rule a line in `RULES`, the most specific first.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """A sentence with absolute dates, and the days among them in order of appearance."""

    text: str
    days: tuple[date, ...]
    periods: tuple[str, ...]  # months, quarters, years
    due: bool  # one of them is a limit: by, until, before


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    today: date
    past: bool  # the sentence tells of something that happened


_Value: TypeAlias = "date | str | None"
_Resolve: TypeAlias = Callable[[re.Match[str], _Frame], "date | str | None"]

_NUMBERS = {
    **dict(zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True)),
    **dict(zip("ein zwei drei vier fünf sechs sieben acht neun zehn".split(), range(1, 11), strict=True)),
    **dict(zip("un dos tres cuatro cinco seis siete ocho nueve diez".split(), range(1, 11), strict=True)),
    **dict(zip("一二三四五六七八九十", range(1, 11), strict=True)),
    **{"a": 1, "an": 1, "eine": 1, "einer": 1, "einem": 1, "una": 1, "couple": 2, "两": 2, "兩": 2, "半": 0},
}
_WEEKDAYS = {
    **dict(zip("monday tuesday wednesday thursday friday saturday sunday".split(), range(7), strict=True)),
    **{"mon": 0, "tue": 1, "tues": 1, "wed": 2, "weds": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4},
    **dict(zip("montag dienstag mittwoch donnerstag freitag samstag sonntag".split(), range(7), strict=True)),
    **dict(zip("lunes martes miércoles jueves viernes sábado domingo".split(), range(7), strict=True)),
    **dict(zip("一二三四五六日", range(7), strict=True)),
    **dict(zip("月火水木金土", range(6), strict=True)),
    "天": 6,
}
_MONTHS = {
    **{name.lower(): number for number, name in enumerate(calendar.month_name) if name},
    **{name.lower(): number for number, name in enumerate(calendar.month_abbr) if name},
    "sept": 9,
    **dict(
        zip(
            "januar februar märz april mai juni juli august september oktober november dezember".split(),
            range(1, 13),
            strict=True,
        )
    ),
    **dict(
        zip(
            "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
            range(1, 13),
            strict=True,
        )
    ),
}


def _any(names: dict[str, int], *, longer_than: int = 0) -> str:
    ordered = sorted((name for name in names if len(name) > longer_than), key=len, reverse=True)
    return "(?:" + "|".join(map(re.escape, ordered)) + ")"


_N = r"(?P<n>\d{1,3}|" + _any({k: v for k, v in _NUMBERS.items() if k.isascii() or "ü" in k}) + r")"
_CN = r"(?P<n>\d{1,3}|[一二三四五六七八九十两])"
_DAY_NAME = rf"(?P<weekday>{_any(_WEEKDAYS, longer_than=2)})"
_MONTH_NAME = rf"(?P<month>{_any(_MONTHS, longer_than=2)})\.?"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?:,?\s+(?:de\s+)?(?P<year>20\d\d))?"
_WITH_WEEKDAY = rf"(?:{_any(_WEEKDAYS, longer_than=2)},?\s+)?(?:the\s+|den\s+|el\s+)?"


def absolute(text: str, *, today: date, past: bool = False) -> Dated:
    """Replace what is relative. `past`: a bare weekday or month is the last one rather than the next."""
    frame = _Frame(today=today, past=past)
    taken: list[tuple[int, int, date | str]] = []
    named: set[int] = set()
    for pattern, resolve in RULES:
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end, _ in taken):
                continue
            value = resolve(match, frame)
            if value is not None:
                taken.append((match.start(), match.end(), value))
                if resolve is _weekday:
                    named.add(match.start())
    return _rewritten(text, sorted(taken, key=lambda span: span[0]), named)


def _rewritten(text: str, spans: list[tuple[int, int, date | str]], named: set[int]) -> Dated:
    pieces, at = [], 0
    for start, end, value in spans:
        shown = value.isoformat() if isinstance(value, date) else value
        if start in named:
            shown = f"{text[start:end]} ({shown})"
        pieces += [text[at:start], _spaced(text[at:start], shown)]
        at = end
    pieces.append(text[at:])
    days = tuple(value for _, _, value in spans if isinstance(value, date))
    periods = tuple(value for _, _, value in spans if isinstance(value, str))
    due = any(_BEFORE.search(text[:start]) or _AFTER.match(text[end:]) for start, end, _ in spans)
    return Dated(text="".join(pieces), days=days, periods=periods, due=due)


_BEFORE = re.compile(r"\b(?:by|until|till|before|no later than|bis|spätestens|vor|hasta|antes)\W{1,3}(?:(?:the|zum|del?|el|am)\s)?$|(?:最晚|最迟|到|截至)$", re.IGNORECASE)
_AFTER = re.compile(r"\s?(?:之前|以前|前|为止|まで|までに)")


def _spaced(before: str, shown: str) -> str:
    """Chinese has no space before a date; a digit or letter before it needs one."""
    return f" {shown}" if before and before[-1].isalnum() and before[-1].isascii() else shown


# ---------------------------------------------------------------------------------- resolvers


def _number(match: re.Match[str]) -> int:
    word = match.group("n").lower()
    return int(word) if word.isdigit() else _NUMBERS[word]


def _month_of(match: re.Match[str]) -> int:
    name = match.group("month").lower()
    return int(name) if name.isdigit() else _MONTHS[name]


def _make(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _nearest(frame: _Frame, month: int, day: int) -> date | None:
    """That day of the year: the coming one, or in a tale of the past the last one."""
    for year in (frame.today.year, frame.today.year + 1, frame.today.year - 1):
        found = _make(year, month, day)
        if found and (found <= frame.today if frame.past else found >= frame.today):
            return found
    return _make(frame.today.year, month, day)


def _explicit(match: re.Match[str], frame: _Frame) -> _Value:
    year = match.groupdict().get("year")
    day, month = int(match.group("day")), _month_of(match)
    return _make(int(year), month, day) if year else _nearest(frame, month, day)


def _day_of_month(match: re.Match[str], frame: _Frame) -> _Value:
    """"The 30th": this month's or the next one that has such a day."""
    day, first = int(match.group("day")), frame.today.replace(day=1)
    for _ in range(14):
        found = _make(first.year, first.month, day)
        if found and (found <= frame.today if frame.past else found >= frame.today):
            return found
        first = _shift_months(first, -1 if frame.past else 1)
    return None


def _shift_months(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _end_of_month(frame: _Frame, months: int = 0) -> date:
    moved = _shift_months(frame.today.replace(day=1), months)
    return moved.replace(day=calendar.monthrange(moved.year, moved.month)[1])


def _days(count: int) -> _Resolve:
    return lambda _, frame: frame.today + timedelta(days=count)


def _in(unit: str, sign: int = 1) -> _Resolve:
    def resolve(match: re.Match[str], frame: _Frame) -> _Value:
        count = sign * _number(match)
        if unit == "month":
            return _shift_months(frame.today, count)
        return frame.today + timedelta(days=count * (7 if unit == "week" else 1))

    return resolve


def _coming(frame: _Frame, weekday: int) -> date:
    return frame.today + timedelta(days=(weekday - frame.today.weekday() - 1) % 7 + 1)


def _last(frame: _Frame, weekday: int) -> date:
    return frame.today - timedelta(days=(frame.today.weekday() - weekday - 1) % 7 + 1)


def _of_week(weeks: int) -> _Resolve:
    """That weekday of the week which is so many weeks away."""

    def resolve(match: re.Match[str], frame: _Frame) -> _Value:
        monday = frame.today - timedelta(days=frame.today.weekday())
        return monday + timedelta(days=_WEEKDAYS[match.group("weekday").lower()], weeks=weeks)

    return resolve


def _weekday(match: re.Match[str], frame: _Frame) -> _Value:
    """A bare weekday may also be said of every week, so its name stays beside the date."""
    number = _WEEKDAYS[match.group("weekday").lower()]
    return _last(frame, number) if frame.past else _coming(frame, number)


def _coming_weekday(match: re.Match[str], frame: _Frame) -> _Value:
    return _coming(frame, _WEEKDAYS[match.group("weekday").lower()])


def _last_weekday(match: re.Match[str], frame: _Frame) -> _Value:
    return _last(frame, _WEEKDAYS[match.group("weekday").lower()])


def _weeks_from_weekday(match: re.Match[str], frame: _Frame) -> _Value:
    return _coming(frame, _WEEKDAYS[match.group("weekday").lower()]) + timedelta(weeks=_number(match))


def _weeks_from_tomorrow(match: re.Match[str], frame: _Frame) -> _Value:
    return frame.today + timedelta(days=1, weeks=_number(match))


_EITHER_WAY = frozenset("in im en since seit during".split())
"""Before a month's name these words tell neither the past nor the future."""


def _month(match: re.Match[str], frame: _Frame) -> _Value:
    number, said = _month_of(match), match.groupdict().get("year")
    if not said and not frame.past and match.group("lead").strip().lower() in _EITHER_WAY:
        return None
    year = int(said) if said else frame.today.year
    if not said and frame.past and number > frame.today.month:
        year -= 1
    if not said and not frame.past and number < frame.today.month:
        year += 1
    return f"{match.group('lead')}{year}-{number:02}"


def _month_away(months: int) -> _Resolve:
    return lambda _, frame: f"{_shift_months(frame.today.replace(day=1), months):%Y-%m}"


def _end(months: int) -> _Resolve:
    return lambda _, frame: _end_of_month(frame, months)


def _day_of_next_month(match: re.Match[str], frame: _Frame) -> _Value:
    moved = _shift_months(frame.today.replace(day=1), 1)
    return _make(moved.year, moved.month, int(match.group("day")))


def _day_of_this_month(match: re.Match[str], frame: _Frame) -> _Value:
    return _make(frame.today.year, frame.today.month, int(match.group("day")))


def _end_of_named_month(match: re.Match[str], frame: _Frame) -> _Value:
    number = int(match.group("month"))
    year = frame.today.year + (0 if frame.past or number >= frame.today.month else 1)
    return date(year, number, calendar.monthrange(year, number)[1])


def _chinese_month(match: re.Match[str], frame: _Frame) -> _Value:
    number = int(match.group("month"))
    if frame.past:
        return f"{frame.today.year - (number > frame.today.month)}年{number}月"
    return None


def _end_of_year(match: re.Match[str], frame: _Frame) -> _Value:
    return date(frame.today.year, 12, 31)


def _quarter(years: int) -> _Resolve:
    return lambda match, frame: f"Q{match.group('q')} {frame.today.year + years}"


def _quarter_away(quarters: int) -> _Resolve:
    def resolve(match: re.Match[str], frame: _Frame) -> _Value:
        year, quarter = divmod(frame.today.year * 4 + (frame.today.month - 1) // 3 + quarters, 4)
        return f"Q{quarter + 1} {year}"

    return resolve


def _year(years: int) -> _Resolve:
    return lambda _, frame: str(frame.today.year + years)


def _friday_of(weeks: int) -> _Resolve:
    def resolve(match: re.Match[str], frame: _Frame) -> _Value:
        monday = frame.today - timedelta(days=frame.today.weekday())
        return monday + timedelta(days=4, weeks=weeks)

    return resolve


def _iso(match: re.Match[str], frame: _Frame) -> _Value:
    return _make(int(match.group("year")), int(match.group("month")), int(match.group("day")))


def _w(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE)


def _c(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# ---------------------------------------------------------------------------------- rules

RULES: tuple[tuple[re.Pattern[str], _Resolve], ...] = (
    # written out
    (_c(r"(?<!\d)(?P<year>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)(?:\s?\(\w+\))?"), _iso),
    (_c(rf"(?P<year>20\d\d)年(?P<month>\d{{1,2}})月{_DAY}(?:日|号)?"), _explicit),
    (_c(rf"(?<!\d)(?P<month>1[0-2]|0?[1-9])\s?月\s?{_DAY}\s?(?:日|号)(?:\s?[（(](?:周|星期)?[一二三四五六日天月火水木金土](?:曜日?)?[）)])?"), _explicit),
    (_w(rf"{_WITH_WEEKDAY}(?:mid-?\s?)?{_MONTH_NAME},?\s+(?:the\s+)?{_DAY}(?:st|nd|rd|th)?{_YEAR}"), _explicit),
    (_w(rf"{_WITH_WEEKDAY}{_DAY}(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?{_MONTH_NAME}{_YEAR}"), _explicit),
    (_c(rf"(?<![\d.]){_DAY}\.(?P<month>0?[1-9]|1[0-2])\.(?P<year>20\d\d)?(?!\d)"), _explicit),
    # English, German, Spanish: days
    (_w(rf"{_N}\s+weeks?\s+from\s+tomorrow|(?:tomorrow|morgen)\s+in\s+{_N.replace('<n>', '<n2>')}\s+(?:weeks?|wochen?)"), lambda m, f: _weeks_from_tomorrow(m, f) if m.group("n") else None),
    (_w(rf"{_N}\s+weeks?\s+from\s+(?:on\s+)?{_DAY_NAME}"), _weeks_from_weekday),
    (_w(rf"{_DAY_NAME}\s+in\s+{_N}\s+(?:weeks?|wochen?)"), _weeks_from_weekday),
    (_w(r"(?:the\s+)?day\s+after\s+tomorrow|übermorgen|pasado\s+mañana"), _days(2)),
    (_w(r"(?:the\s+)?day\s+before\s+yesterday|vorgestern|anteayer|antes\s+de\s+ayer"), _days(-2)),
    (_w(rf"(?:last\s+night|yesterday\s+(?:evening|night)|gestern\s+abend|anoche)(?:\s+\(?the\s+{_DAY}(?:st|nd|rd|th)\)?)?"), _days(-1)),
    (_w(r"tomorrow(?:\s+(?:morning|noon|night|evening))?|tmrw|tmr"), _days(1)),
    (_w(r"(?<!guten )(?<!jeden )morgen(?:\s+(?:früh|abend|mittag))?"), _days(1)),
    (_w(r"yesterday|gestern|ayer"), _days(-1)),
    (_w(r"today|heute|hoy|tonight|this\s+(?:morning|afternoon|evening)"), _days(0)),
    (_w(rf"{_DAY_NAME}\s+(?:of\s+)?next\s+week|next\s+week(?:'s)?,?\s+(?:on\s+)?{_DAY_NAME.replace('<weekday>', '<w2>')}"), lambda m, f: _of_week(1)(m, f) if m.group("weekday") else _of_week(1)(_w(_DAY_NAME).search(m.group()) or m, f)),
    (_w(rf"nächste\s+woche\s+(?:am\s+)?{_DAY_NAME}"), _of_week(1)),
    (_w(rf"(?:next|nächsten|nächster|kommende\s+woche)\s+{_DAY_NAME}"), _of_week(1)),
    (_w(rf"(?:el\s+|del\s+)?(?:próximo\s+{_DAY_NAME}|{_DAY_NAME.replace('<weekday>', '<w2>')}\s+que\s+viene)"), lambda m, f: _coming_weekday(_w(_DAY_NAME).search(m.group()) or m, f)),
    (_w(rf"(?:this\s+coming|this|coming|diesen|kommenden|este)\s+{_DAY_NAME}"), _coming_weekday),
    (_w(rf"(?:last|letzten|vergangenen)\s+{_DAY_NAME}|(?:el\s+)?{_DAY_NAME.replace('<weekday>', '<w2>')}\s+pasado"), lambda m, f: _last_weekday(_w(_DAY_NAME).search(m.group()) or m, f)),
    (_w(rf"(?<=on )(?:a\s+)?{_DAY_NAME}s"), lambda m, f: None),
    (_w(rf"(?:every|each|jeden|cada|todos\s+los|second)\s+{_DAY_NAME}"), lambda m, f: m.group()),
    (_w(rf"{_DAY_NAME}\s+(?:the\s+|den\s+|el\s+)?{_DAY}(?:st|nd|rd|th|\.)?(?!\s*(?::|uhr|am|pm|h\b))"), _day_of_month),
    (_w(r"(?:in\s+)?a\s+fortnight"), _days(14)),
    (_w(rf"in\s+(?:about\s+|exactly\s+|roughly\s+|around\s+|genau\s+|etwa\s+)?{_N}\s+(?:days?|tagen?)|(?:dentro\s+de|en)\s+{_N.replace('<n>', '<n2>')}\s+días?"), lambda m, f: _in("day")(m, f) if m.group("n") else f.today + timedelta(days=_NUMBERS.get(m.group("n2").lower(), 0) or int(m.group("n2")))),
    (_w(rf"in\s+(?:about\s+|exactly\s+|roughly\s+|around\s+|genau\s+|etwa\s+)?{_N}\s+(?:weeks?|wochen?)"), _in("week")),
    (_w(rf"{_N}\s+weeks?\s+from\s+(?:now|today)"), _in("week")),
    (_w(rf"{_N}\s+days?\s+from\s+(?:now|today)"), _in("day")),
    (_w(rf"{_N}\s+days?\s+ago|vor\s+{_N.replace('<n>', '<n2>')}\s+tagen?"), lambda m, f: _in("day", -1)(m, f) if m.group("n") else None),
    (_w(rf"{_N}\s+weeks?\s+ago"), _in("week", -1)),
    (_w(r"(?:at\s+)?(?:the\s+)?end\s+of\s+next\s+month"), _end(1)),
    (_w(r"(?:the\s+)?end\s+of\s+(?:the\s+|this\s+)?month|month\s+end|ende\s+des\s+monats|monatsende|a?\s?fin(?:ales)?\s+de\s+mes"), _end(0)),
    (_w(r"(?:the\s+)?end\s+of\s+(?:the\s+|this\s+)?week|ende\s+der\s+woche"), _friday_of(0)),
    (_w(r"(?:the\s+)?end\s+of\s+next\s+week|ende\s+nächster\s+woche"), _friday_of(1)),
    (_w(r"(?:the\s+)?end\s+of\s+(?:the\s+|this\s+)?year|jahresende|ende\s+des\s+jahres|fin\s+de\s+año"), _end_of_year),
    (_w(rf"(?:the|el\s+día|el)\s+{_DAY}(?:st|nd|rd|th)?(?<=\d(?:st|nd|rd|th))"), _day_of_month) if False else (_w(rf"(?:on\s+)?the\s+{_DAY}(?:st|nd|rd|th)"), _day_of_month),
    (_w(rf"(?:am\s+{_DAY}\.|el\s+(?:día\s+)?{_DAY.replace('<day>', '<day2>')})(?!\s*(?:%|veces|años))"), lambda m, f: _day_of_month(m, f) if m.group("day") else None),
    # periods
    (_w(r"Q(?P<q>[1-4])\s+(?:of\s+)?next\s+year"), _quarter(1)),
    (_w(r"Q(?P<q>[1-4])(?:\s+(?:of\s+)?this\s+year)"), _quarter(0)),
    (_w(r"next\s+quarter|nächstes\s+quartal|(?:el\s+)?próximo\s+trimestre"), _quarter_away(1)),
    (_w(r"next\s+month|nächsten\s+monat|(?:el\s+)?próximo\s+mes|(?:el\s+)?mes\s+que\s+viene"), _month_away(1)),
    (_w(r"last\s+month|letzten\s+monat|(?:el\s+)?mes\s+pasado"), _month_away(-1)),
    (_w(r"next\s+year|nächstes\s+jahr|(?:el\s+)?año\s+que\s+viene|(?:el\s+)?próximo\s+año"), _year(1)),
    (_w(r"last\s+year|letztes\s+jahr|(?:el\s+)?año\s+pasado"), _year(-1)),
    (_w(rf"(?P<lead>(?:in|by|until|till|from|since|during|bis|seit|ab|im|en|hasta|desde)\s+)(?:early\s+|late\s+|mid-?)?{_MONTH_NAME}{_YEAR}"), _month),
    # bare weekdays
    (_w(rf"(?:on\s+)?{_DAY_NAME}(?!\s*s\b)"), _weekday),
    # Chinese and Japanese
    (_c(r"大后天"), _days(3)),
    (_c(r"后天|後天|明後日|あさって"), _days(2)),
    (_c(r"明天|明日|明早|明晚"), _days(1)),
    (_c(r"大前天"), _days(-3)),
    (_c(r"前天|一昨日"), _days(-2)),
    (_c(r"昨天|昨晚|昨夜|昨日|昨儿"), _days(-1)),
    (_c(r"今天|今晚|今早|今日|今儿"), _days(0)),
    (_c(r"下下个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"), _of_week(2)),
    (_c(r"下个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])|来週の?(?P<w2>[月火水木金土日])曜"), lambda m, f: _of_week(1)(m, f) if m.group("weekday") else _japanese_week(m.group("w2"), f, 1)),
    (_c(r"上上个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"), _of_week(-2)),
    (_c(r"上个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"), _of_week(-1)),
    (_c(r"(?:这|本)个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"), _of_week(0)),
    (_c(r"今週の?(?P<w2>[月火水木金土日])曜日?"), lambda m, f: _japanese_week(m.group("w2"), f, 0)),
    (_c(r"(?<![每下上本这个])(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])(?!至|到|和|、|期|次)"), _weekday),
    (_c(r"(?<![毎週])(?P<w2>[月火水木金土日])曜日?"), lambda m, f: None if m.string[max(0, m.start() - 1) : m.start()] in "毎" and m.start() else _japanese_week(m.group("w2"), f, None)),
    (_c(rf"下下个?月{_DAY}(?:号|日)"), lambda m, f: _make(_shift_months(f.today.replace(day=1), 2).year, _shift_months(f.today.replace(day=1), 2).month, int(m.group("day")))),
    (_c(rf"(?:下个?月|来月の?)\s?{_DAY}\s?(?:号|日)"), _day_of_next_month),
    (_c(rf"(?:这个?月|本月|今月の?)\s?{_DAY}\s?(?:号|日)"), _day_of_this_month),
    (_c(r"(?<!\d)(?P<month>1[0-2]|[1-9])\s?月(?:底|末)"), _end_of_named_month),
    (_c(r"下个?月底|下月末|来月末"), _end(1)),
    (_c(r"(?:这个?月|本月)?月底|这个?月底|本月底|今月末|月末"), _end(0)),
    (_c(r"年底|年末"), _end_of_year),
    (_c(rf"{_CN}个?(?:天|日)(?:之后|以后|后|後)"), _in("day")),
    (_c(rf"{_CN}个?(?:周|星期|礼拜|週間)(?:之后|以后|后|後)"), _in("week")),
    (_c(rf"{_CN}个(?:月)(?:之后|以后|后)"), _in("month")),
    (_c(rf"{_CN}天(?:之前|以前|前)"), _in("day", -1)),
    (_c(r"下个?月初"), lambda m, f: f"{_shift_months(f.today.replace(day=1), 1):%Y-%m}初"),
    (_c(r"下个?月|来月"), _month_away(1)),
    (_c(r"上个?月|先月"), _month_away(-1)),
    (_c(r"明年\s?Q(?P<q>[1-4])"), _quarter(1)),
    (_c(r"下个?季度"), _quarter_away(1)),
    (_c(r"明年|来年"), lambda m, f: f"{f.today.year + 1}年"),
    (_c(r"去年|昨年"), lambda m, f: f"{f.today.year - 1}年"),
    (_c(rf"(?<![\d.年月第]){_DAY}\s?号(?!线|楼|机|库|文件|店|仓)"), _day_of_month),
    (_c(r"(?<!\d)(?P<month>1[0-2]|[1-9])\s?月份?(?![\d底末初])"), _chinese_month),
)


def _japanese_week(name: str, frame: _Frame, weeks: int | None) -> date:
    number = "月火水木金土日".index(name)
    if weeks is None:
        return _last(frame, number) if frame.past else _coming(frame, number)
    monday = frame.today - timedelta(days=frame.today.weekday())
    return monday + timedelta(days=number, weeks=weeks)
