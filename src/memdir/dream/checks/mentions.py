"""Text -> the dates that stand in it, however they are written (D8). Pure.

2026-03-01   2026/3/1   20260301   1.3.2026   01.03.26   3/1/2026   1. März 2026   March 1st, 2026
1 de marzo de 2026   2026年3月1日   3月1日   令和8年3月1日   2026년 3월 1일   2026-03   March 2026   Q2 2026
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from memdir.cues.dates import absolute
from memdir.cues.dates.names import MONTHS


@dataclass(frozen=True, slots=True)
class Day:
    """A day, or as much of one as is said: a month without a day, a day of no year."""

    year: int | None
    month: int | None = None
    day: int | None = None

    @classmethod
    def of(cls, day: date) -> Day:
        return cls(day.year, day.month, day.day)

    @property
    def is_whole(self) -> bool:
        """Whether it says year, month and day."""
        return None not in (self.year, self.month, self.day)

    def fits(self, known: Day) -> bool:
        """Whether it says nothing that a known one does not say."""
        return all(
            mine is None or mine == theirs
            for mine, theirs in zip(
                (self.year, self.month, self.day), (known.year, known.month, known.day), strict=True
            )
        )

    def __str__(self) -> str:
        parts = (
            f"{self.year:04}" if self.year else "",
            f"{self.month:02}" if self.month else "",
            f"{self.day:02}" if self.day else "",
        )
        return "-".join(filter(None, parts))


Mention = frozenset[Day]
"""One date of a text: what it can mean, for 3/1/2026 is of March or of January."""


def mentions(text: str) -> list[Mention]:
    """The dates of a text, each once, in no order."""
    if not text.isascii():
        text = _kanji_out(unicodedata.normalize("NFKC", text))
    found: list[Mention] = []
    for pattern, read in _FORMS:

        def out(match: re.Match[str], read: Callable[[re.Match[str]], Iterable[Day]] = read) -> str:
            meant = frozenset(filter(_exists, read(match)))
            if not meant:
                return match[0]
            found.append(meant)
            return " ; "

        text = pattern.sub(out, text)
    return list(dict.fromkeys(found))


def days(text: str) -> set[Day]:
    """All that the dates of a text can mean."""
    return {day for mention in mentions(text) for day in mention}


def meant(text: str, written: Collection[date]) -> set[Day]:
    """The dates of a text that was written on one of these days, what is relative counted from there.

    A day more or less is the same: nobody knows in which time zone it was written. A day without a year is in
    one of the years around.
    """
    found = days(text)
    for day in {near for one in written for near in around(one)}:
        for past in (True, False):
            found |= days(absolute(text, today=day, past=past).text)
        found |= _weeks(text, day) | _months(text, day)
    years = {one.year + more for one in written for more in (-1, 0, 1)}
    found |= {Day(year, one.month, one.day) for one in found if one.year is None for year in years}
    return found


def _weeks(text: str, day: date) -> set[Day]:
    """The days of the last week, or the next, if a text speaks of one. Which day of it, nobody said."""
    monday = day.toordinal() - day.weekday()
    starts = [monday + 7 * more for more, words in _WEEKS.items() if words.search(text)]
    ordinals = [start + more for start in starts for more in range(7)]
    return {Day.of(date.fromordinal(one)) for one in ordinals if 0 < one <= date.max.toordinal()}


def _months(text: str, day: date) -> set[Day]:
    """The months that a text names without a year: the last of that name, and the next; and how they end."""
    found: set[Day] = set()
    for match in _BARE_MONTH.finditer(text):
        month = _MONTHS[match["month"].lower()]
        for year in (day.year - (month > day.month), day.year + (month < day.month)):
            found.add(Day(year, month))
            if match["end"]:
                first = date(year + month // 12, month % 12 + 1, 1)
                found.add(Day.of(date.fromordinal(first.toordinal() - 1)))
    return found


def around(day: date) -> tuple[date, ...]:
    """A day and its neighbours."""
    return tuple(
        date.fromordinal(day.toordinal() + more)
        for more in (-1, 0, 1)
        if date.min.toordinal() <= day.toordinal() + more <= date.max.toordinal()
    )


def near(day: Day, written: Iterable[date], *, within: timedelta) -> bool:
    """Whether a whole day is so near to one of these."""
    if day.year is None or day.month is None or day.day is None:
        return False
    return any(abs(date(day.year, day.month, day.day) - one) <= within for one in written)


def is_relative(text: str) -> bool:
    """Whether a text speaks of a time by its distance, also in languages that `cues.dates` does not know."""
    return bool(_RELATIVE.search(text))


# ---------------------------------------------------------------------------------- forms


def _exists(day: Day) -> bool:
    try:
        date(day.year or 2024, day.month or 1, day.day or 1)
    except ValueError:
        return False
    return day.year is None or 1900 <= day.year <= 2199


def _year(digits: str) -> int:
    return int(digits) + (2000 if len(digits) == 2 else 0)


def _ymd(match: re.Match[str]) -> list[Day]:
    return [Day(int(match[1]), int(match[2]), int(match[3]))]


def _dmy(match: re.Match[str]) -> list[Day]:
    return [Day(_year(match[3]), int(match[2]), int(match[1]))]


def _either(match: re.Match[str]) -> list[Day]:
    one, two, year = int(match[1]), int(match[2]), _year(match[3])
    return [Day(year, one, two), Day(year, two, one)]


def _named(match: re.Match[str]) -> list[Day]:
    """A month by its name; the groups say what stands beside it."""
    groups = match.groupdict()
    year, day = groups.get("year"), groups.get("day")
    return [Day(int(year) if year else None, _MONTHS[match["month"].lower()], int(day) if day else None)]


def _reiwa(match: re.Match[str]) -> list[Day]:
    return [Day(2018 + int(match[1]), int(match[2]), int(match[3]))]


_MORE_MONTHS = {
    1: "janvier gennaio janeiro января janv",
    2: "février fevrier febbraio fevereiro февраля févr",
    3: "mars marzo março марта mär mrz maart",
    4: "avril aprile abril апреля avr",
    5: "mai maggio maio мая mei",
    6: "juin giugno junho июня",
    7: "juillet luglio julho июля juil",
    8: "août aout agosto августа augustus",
    9: "septembre settembre setembro сентября",
    10: "octobre ottobre outubro октября okt",
    11: "novembre novembro ноября",
    12: "décembre decembre dicembre dezembro декабря dez déc dic",
}
_MONTHS = {
    **MONTHS,
    **{name: number for number, names in _MORE_MONTHS.items() for name in names.split()},
    "ene": 1,
    "abr": 4,
    "ago": 8,
}
_LONG_MONTHS = sorted(_MONTHS.keys() - {"may", "mar", "ago", "set", "mai"}, key=len, reverse=True)
_NAME = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_FULL_YEAR = r"(?P<year>(?:19|20|21)\d\d)"

_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Iterable[Day]]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (r"(?<!\d)(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日号일]?(?!\d)", _ymd),
        (r"令和\s?(\d{1,2})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日?", _reiwa),
        (r"(?<!\d)(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]", lambda m: [Day(int(m[1]), int(m[2]))]),
        (
            r"(?<![\d年월])(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日号일]",
            lambda m: [Day(None, int(m[1]), int(m[2]))],
        ),
        (r"(?<!\d)((?:19|20|21)\d\d)\s?[年년]", lambda m: [Day(int(m[1]))]),
        (r"(?<![\d.-])((?:19|20|21)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?!\d|[-.]\d)", _ymd),
        (r"(?<![\w.-])(20\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])(?![\d.-])(?=T\d|\b)", _ymd),
        (r"(?<![\w.])(\d{1,2})\.\s?(\d{1,2})\.\s?((?:19|20|21)\d\d|\d\d(?!\d*\.))(?!\d)", _dmy),
        (
            r"(?<=\b(?:am|ab)\s)(\d{1,2})\.\s?(\d{1,2})\.(?!\d)|(?<=\b(?:vom|zum|bis|den|dem)\s)(\d{1,2})\.\s?(\d{1,2})\.(?!\d)",
            lambda m: [Day(None, int(m[2] or m[4]), int(m[1] or m[3]))],
        ),
        (r"(?<![\w/.-])(\d{1,2})/(\d{1,2})/((?:19|20|21)\d\d|\d\d)(?![\d/])", _either),
        (r"(?<![\w.-])(\d{1,2})-(\d{1,2})-((?:19|20|21)\d\d)(?![\d-])", _either),
        (
            (
                rf"(?<![\w.]){_DAY}(?:st|nd|rd|th|er|\.|º)?[\s-](?:(?:of|de|di|d['’])\s?)?{_NAME}"
                rf"(?:,?[\s-](?:(?:de|del|of)\s)?{_FULL_YEAR})?"
            ),
            _named,
        ),
        (rf"\b{_NAME},?\s(?:the\s)?{_DAY}(?:st|nd|rd|th)?\b(?!:)(?:,?\s{_FULL_YEAR})?", _named),
        (rf"\b{_NAME},?\s(?:(?:de|del|of)\s)?{_FULL_YEAR}\b", _named),
        (
            r"(?<![\w.-])((?:19|20|21)\d\d)[-/](0[1-9]|1[0-2])(?![-/\d])",
            lambda m: [Day(int(m[1]), int(m[2]))],
        ),
        (r"\bQ[1-4][\s/-]?((?:19|20|21)\d\d)\b", lambda m: [Day(int(m[1]))]),
        (r"\b((?:19|20|21)\d\d)[\s/-]?Q[1-4]\b", lambda m: [Day(int(m[1]))]),
        (r"(?<![\w.,:/#$€-])((?:19|20)\d\d)(?![\w%:/-]|[.,]\d)", lambda m: [Day(int(m[1]))]),
    )
)

_BARE_MONTH = re.compile(
    rf"\b(?P<end>(?:the )?end of |ende |fin(?:ales)? de )?(?P<month>{'|'.join(_LONG_MONTHS)})\b",
    re.IGNORECASE,
)

_KANJI = "〇一二三四五六七八九"
_KANJI_YEAR = re.compile(r"(?<![一-九〇])[一二][〇一二三四五六七八九]{3}(?=年)")
_KANJI_PART = re.compile(r"(?<=[年月])(?:[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])(?=[月日号])")


def _kanji_out(text: str) -> str:
    """二〇二六年三月十一日 in figures."""
    if "年" not in text:
        return text
    text = _KANJI_YEAR.sub(lambda match: "".join(str(_KANJI.index(one)) for one in match[0]), text)
    return _KANJI_PART.sub(lambda match: str(_kanji_number(match[0])), text)


def _kanji_number(word: str) -> int:
    if "十" not in word:
        return _KANJI.index(word)
    tens, _, ones = word.partition("十")
    return (_KANJI.index(tens) if tens else 1) * 10 + (_KANJI.index(ones) if ones else 0)


_WEEKS = {
    -1: re.compile(
        r"\b(?:(?:last|past|previous) week|(?:letzte|vorige|vergangene)[nr]? woche|semana pasada)\b"
        r"|上个?(?:周|星期)|先週",
        re.IGNORECASE,
    ),
    1: re.compile(
        r"\b(?:next week|(?:nächste|kommende)[nr]? woche|próxima semana|semana que viene)\b"
        r"|下个?(?:周|星期)|来週",
        re.IGNORECASE,
    ),
}
_RELATIVE = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|ago|last|next|this (?:week|month|morning|year|quarter)"
    r"|recently|just now|heute|gestern|vorgestern|morgen|übermorgen|letzte\w*|vorige\w*|nächste\w*"
    r"|vor \w+ (?:tag|woche|monat)\w*"
    r"|hoy|ayer|anteayer|mañana|hace \w+|pasad[oa]|próxim[oa]|que viene"
    r"|hier|avant-hier|aujourd['’]hui|demain|il y a|derni[eè]re?|prochaine?"
    r"|ieri|oggi|domani|scors[oa]|prossim[oa]|fa|ontem|hoje|amanhã|há \w+"
    r"|gisteren|vandaag|vorige|igår|idag|вчера|сегодня|завтра|назад|прошл\w+)\b"
    r"|今天|今日|昨天|昨日|明天|明日|前天|后天|上周|下周|上个?月|下个?月|去年|明年|刚才|先週|来週|先月|来月|一昨日"
    r"|어제|오늘|내일|지난|다음",
    re.IGNORECASE,
)
