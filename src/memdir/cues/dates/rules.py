"""The table: a phrase, and what resolves it. The most specific phrases come first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memdir.cues.dates import resolve as to
from memdir.cues.dates.names import COUNTS, MONTHS, SEASONS, WEEKDAYS, any_of
from memdir.cues.dates.resolve import Resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A pattern with the named groups its resolver reads. `beside`: the words stay in the text."""

    pattern: re.Pattern[str]
    resolve: Resolve
    beside: bool = False


def _words(pattern: str, resolve: Resolve, *, beside: bool = False) -> Rule:
    """A phrase of whole words."""
    compiled = re.compile(rf"(?<![\w-]){pattern.replace(' ', _SPACE)}(?![\w-])", re.IGNORECASE)
    return Rule(pattern=compiled, resolve=resolve, beside=beside)


def _signs(pattern: str, resolve: Resolve, *, beside: bool = False) -> Rule:
    """A phrase of Chinese or Japanese characters."""
    return Rule(pattern=re.compile(pattern, re.IGNORECASE), resolve=resolve, beside=beside)


_SPACE = r"\s+"
_ABOUT = "(?:(?:about|exactly|roughly|around|genau|etwa|unos) )?"
_N = rf"(?P<n>\d{{1,3}}|{any_of((word for word in COUNTS if word.isascii() or 'ü' in word), longer_than=0)})"
_WD = rf"(?P<weekday>{any_of(WEEKDAYS)})"
_MONTH = rf"(?P<month>{any_of(MONTHS)})\.?"
_D = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_TH = r"(?:st|nd|rd|th)"
_YEAR = r"(?:,?\s+(?:de\s+)?(?P<year>20\d\d))?"
_ON = rf"(?:{any_of(WEEKDAYS)},? )?(?:(?:the|den|el) )?"
_WEEK_SIGN, _WEEKDAY_SIGN = "(?:周|星期|礼拜)", "(?P<weekday>[一二三四五六日天])"
_KANJI_DAY = "(?P<weekday>[月火水木金土日])曜日?"
_CN = r"(?P<n>\d{1,3}|[一二三四五六七八九十两])"
_DAY_SIGN = r"\s?(?:日|号)"

_WRITTEN_OUT = (
    _signs(
        rf"(?:\b{any_of(WEEKDAYS)},?\s+)?(?<!\d)(?P<year>20\d\d)-(?P<month>\d\d)-{_D}(?!\d)(?:\s?\(\w+\))?",
        to.explicit,
    ),
    _signs(rf"(?P<year>20\d\d)年(?P<month>\d{{1,2}})月{_D}(?:日|号)?", to.explicit),
    _signs(
        rf"(?<!\d)(?P<month>1[0-2]|0?[1-9])\s?月\s?{_D}{_DAY_SIGN}(?:\s?[（(](?:周|星期)?[一二三四五六日天月火水木金土](?:曜日?)?[）)])?",
        to.explicit,
    ),
    _words(rf"{_ON}(?:mid-?\s?)?{_MONTH},?\s+(?:the )?{_D}{_TH}?{_YEAR}", to.explicit),
    _words(rf"{_ON}{_D}(?:{_TH}|\.)? (?:(?:of|de) )?{_MONTH}{_YEAR}", to.explicit),
    _signs(rf"(?<![\d.]){_D}\.(?P<month>0?[1-9]|1[0-2])\.(?P<year>20\d\d)?(?!\d)", to.explicit),
)

_MONTHS = (
    _words(
        r"(?P<lead>(?:in|by|until|till|from|since|during|bis|seit|ab|im|en|hasta|desde)\s)"
        rf"(?:early |late |mid-?)?{_MONTH}{_YEAR}",
        to.month,
    ),
)

_ENGLISH = (
    _words(rf"{_N} weeks? from tomorrow", to.counted("week", after=1)),
    _words(rf"tomorrow in {_N} weeks?", to.counted("week", after=1)),
    _words(rf"{_N} weeks? from (?:on )?{_WD}", to.weeks_after_weekday),
    _words(rf"{_WD} in {_N} weeks?", to.weeks_after_weekday),
    _words("(?:black|good|casual) friday", to.as_said),
    _words("(?:the )?day after tomorrow", to.days(2)),
    _words("(?:the )?day before yesterday", to.days(-2)),
    _words(rf"(?:last night|yesterday (?:evening|night))(?: \(?the {_D}{_TH}\)?)?", to.days(-1)),
    _words("(?:tomorrow(?: (?:morning|noon|night|evening))?|tmrw)", to.days(1)),
    _words("yesterday", to.days(-1)),
    _words("(?:today|tonight|this (?:morning|afternoon|evening))", to.days(0)),
    _words(rf"(?:on )?{_WD} after next", to.weekday_after_next),
    _words(rf"(?:on )?{_WD} (?:of )?(?:the )?week after next", to.weekday_of_week(2)),
    _words(rf"(?:the )?week after next,? (?:on )?{_WD}", to.weekday_of_week(2)),
    _words(rf"in {_ABOUT}{_N} weeks?(?:' time)?,? (?:on |that )?(?:a )?{_WD}", to.weekday_in_weeks),
    _words(rf"{_WD} week(?! )", to.weekday_after_next),
    _words(
        rf"(?:the )?(?:first|second|third|fourth|last) {_WD}(?= of (?:each|every|the|any|{any_of(MONTHS)}))",
        to.as_said,
    ),
    _words(rf"since (?:last )?{_WD}", to.since_weekday),
    _words(rf"{_WD} (?:of )?next week", to.weekday_of_week(1)),
    _words(rf"next week(?:'s)?,? (?:on )?{_WD}", to.weekday_of_week(1)),
    _words(rf"next {_WD}", to.weekday_of_week(1)),
    _words(rf"(?:this coming|this|coming) {_WD}", to.coming_weekday),
    _words(rf"last {_WD}", to.last_weekday),
    _words(rf"(?:every|each|second) {_WD}", to.as_said),
    _words(rf"{_WD} (?:the )?{_D}{_TH}?(?!\s*(?::|uhr|am|pm|h\b))", to.day_of_month),
    _words("(?:in )?a fortnight", to.days(14)),
    _words(rf"in {_ABOUT}{_N} days?", to.counted("day")),
    _words(rf"in {_ABOUT}{_N} weeks?", to.counted("week")),
    _words(rf"{_N} days? from (?:now|today)", to.counted("day")),
    _words(rf"{_N} weeks? from (?:now|today)", to.counted("week")),
    _words(rf"{_N} days? ago", to.counted("day", back=True)),
    _words(rf"{_N} weeks? ago", to.counted("week", back=True)),
    _words("(?:at )?(?:the )?(?:end|last day) of next month", to.month_end(1)),
    _words("(?:(?:at )?(?:the )?(?:end|last day) of (?:(?:the|this) )?month|month end)", to.month_end(0)),
    _words("(?:the )?end of next week", to.friday(1)),
    _words("(?:the )?end of (?:(?:the|this) )?week", to.friday(0)),
    _words("(?:the )?end of (?:(?:the|this) )?year", to.year_end),
    _words(rf"(?:on )?the {_D}{_TH}", to.day_of_month),
)

_GERMAN = (
    _words(rf"morgen in {_N} wochen?", to.counted("week", after=1)),
    _words("übermorgen", to.days(2)),
    _words("vorgestern", to.days(-2)),
    _words("gestern(?: abend)?", to.days(-1)),
    _words(r"(?<!guten\s)(?<!jeden\s)morgen(?: (?:früh|abend|mittag))?", to.days(1)),
    _words("heute(?: (?:früh|abend|mittag))?", to.days(0)),
    _words(rf"{_WD} in {_N} wochen?", to.weeks_after_weekday),
    _words(rf"(?:am )?übernächsten {_WD}", to.weekday_after_next),
    _words(rf"übernächste woche (?:am )?{_WD}", to.weekday_of_week(2)),
    _words(rf"in {_ABOUT}{_N} wochen?,? (?:am )?{_WD}", to.weekday_in_weeks),
    _words(rf"seit (?:letztem )?{_WD}", to.since_weekday),
    _words(rf"nächste woche (?:am )?{_WD}", to.weekday_of_week(1)),
    _words(rf"(?:nächsten|kommende woche) {_WD}", to.weekday_of_week(1)),
    _words(rf"(?:diesen|kommenden) {_WD}", to.coming_weekday),
    _words(rf"(?:letzten|vergangenen) {_WD}", to.last_weekday),
    _words(rf"jeden {_WD}", to.as_said),
    _words(rf"in {_ABOUT}{_N} tagen?", to.counted("day")),
    _words(rf"in {_ABOUT}{_N} wochen?", to.counted("week")),
    _words(rf"vor {_N} tagen?", to.counted("day", back=True)),
    _words(rf"vor {_N} wochen?", to.counted("week", back=True)),
    _words("(?:ende des monats|monatsende)", to.month_end(0)),
    _words("(?:ende der woche)", to.friday(0)),
    _words("(?:ende nächster woche)", to.friday(1)),
    _words("(?:jahresende|ende des jahres)", to.year_end),
    _words(rf"am {_D}\.", to.day_of_month),
)

_SPANISH = (
    _words("pasado mañana", to.days(2)),
    _words("(?:anteayer|antes de ayer)", to.days(-2)),
    _words("(?:ayer|anoche)", to.days(-1)),
    _words("(?:hoy|esta noche)", to.days(0)),
    _words(rf"(?:(?:el|del|al) )?próximo {_WD}", to.coming_weekday),
    _words(rf"(?:(?:el|del|al) )?{_WD} que viene", to.coming_weekday),
    _words(rf"este {_WD}", to.coming_weekday),
    _words(rf"(?:el )?{_WD} pasado", to.last_weekday),
    _words(rf"desde el {_WD}", to.since_weekday),
    _words(rf"(?:cada|todos los) {_WD}", to.as_said),
    _words(rf"(?:dentro de|en) {_ABOUT}{_N} días?", to.counted("day")),
    _words(rf"(?:dentro de|en) {_ABOUT}{_N} semanas?", to.counted("week")),
    _words(rf"hace {_N} días?", to.counted("day", back=True)),
    _words("(?:a )?fin(?:ales)? de mes", to.month_end(0)),
    _words("fin de año", to.year_end),
    _words(rf"el día {_D}", to.day_of_month),
)

_PERIODS = (
    _words("Q(?P<q>[1-4]) (?:of )?next year", to.quarter(1)),
    _words("Q(?P<q>[1-4]) (?:of )?this year", to.quarter(0)),
    _words("(?:next quarter|nächstes quartal|(?:el )?próximo trimestre)", to.next_quarter),
    _words("(?:next month|nächsten monat|(?:el )?próximo mes|(?:el )?mes que viene)", to.month_away(1)),
    _words("(?:last month|letzten monat|(?:el )?mes pasado)", to.month_away(-1)),
    _words("(?:next year|nächstes jahr|(?:el )?año que viene|(?:el )?próximo año)", to.year(1)),
    _words("(?:last year|letztes jahr|(?:el )?año pasado)", to.year(-1)),
    _words(
        r"(?P<lead>(?:in|by|until|from|im|bis|ab|en|hasta)\s)(?:the )?(?:(?:early|late) )?"
        rf"(?P<season>{any_of(SEASONS)})",
        to.season,
    ),
    _words("(?:in |the whole of )?(?:calendar )?(?:week|KW) (?P<week>[1-5]?[0-9])", to.calendar_week),
    _words("(?:during |in )?this week", to.this_week("in the week {} to {}")),
    _words("(?:in )?dieser woche|diese woche", to.this_week("in der Woche {} bis {}")),
    _words("(?:durante )?esta semana", to.this_week("en la semana del {} al {}")),
    _words(rf"(?:on )?{_WD}", to.weekday, beside=True),
)

_CHINESE_AND_JAPANESE = (
    _signs("大后天", to.days(3)),
    _signs("后天|明後日|あさって", to.days(2)),
    _signs("明天|明日|明早|明晚", to.days(1)),
    _signs("大前天", to.days(-3)),
    _signs("前天|一昨日", to.days(-2)),
    _signs("昨天|昨晚|昨夜|昨日|昨儿", to.days(-1)),
    _signs("今天|今晚|今早|今日|今儿", to.days(0)),
    _signs(f"下下个?{_WEEK_SIGN}{_WEEKDAY_SIGN}", to.weekday_of_week(2)),
    _signs(f"下个?{_WEEK_SIGN}{_WEEKDAY_SIGN}", to.weekday_of_week(1)),
    _signs(f"上上个?{_WEEK_SIGN}{_WEEKDAY_SIGN}", to.weekday_of_week(-2)),
    _signs(f"上个?{_WEEK_SIGN}{_WEEKDAY_SIGN}", to.weekday_of_week(-1)),
    _signs(f"(?:这|本)个?{_WEEK_SIGN}{_WEEKDAY_SIGN}", to.weekday_of_week(0)),
    _signs(f"来週の?{_KANJI_DAY}", to.weekday_of_week(1)),
    _signs(f"今週の?{_KANJI_DAY}", to.weekday_of_week(0)),
    _signs(f"先週の?{_KANJI_DAY}", to.weekday_of_week(-1)),
    _signs(f"(?:这一?个?|本){_WEEK_SIGN}(?![一二三四五六日天末])", to.this_week("{} 至 {} 这周")),
    _signs("今週(?!末)", to.this_week("{} から {} の週")),
    _signs(f"每个?{_WEEK_SIGN}[一二三四五六日天]|毎週の?[月火水木金土日]曜日?", to.as_said),
    _signs(
        f"(?<![每下上本这个到至和、]){_WEEK_SIGN}{_WEEKDAY_SIGN}(?!至|到|和|、|期|次)",
        to.weekday,
        beside=True,
    ),
    _signs(f"(?<!毎週){_KANJI_DAY}", to.weekday, beside=True),
    _signs(rf"下下个?月\s?{_D}{_DAY_SIGN}", to.day_in_month(2)),
    _signs(rf"(?:下个?月|来月の?)\s?{_D}{_DAY_SIGN}", to.day_in_month(1)),
    _signs(rf"(?:上个?月|先月の?)\s?{_D}{_DAY_SIGN}", to.day_in_month(-1)),
    _signs(rf"(?:这个?月|本月|今月の?)\s?{_D}{_DAY_SIGN}", to.day_in_month(0)),
    _signs(r"(?<!\d)(?P<month>1[0-2]|[1-9])\s?月(?:底|末)", to.end_of_named_month),
    _signs("下个?月底|下月末|来月末", to.month_end(1)),
    _signs("(?:这个?|本)?月底|今月末|月末", to.month_end(0)),
    _signs("年底|年末", to.year_end),
    _signs(f"{_CN}个?(?:天|日)(?:之后|以后|后|後)", to.counted("day")),
    _signs(f"{_CN}个?(?:周|星期|礼拜|週間)(?:之后|以后|后|後)", to.counted("week")),
    _signs(f"{_CN}个月(?:之后|以后|后)", to.counted_months),
    _signs(f"{_CN}天(?:之前|以前|前)", to.counted("day", back=True)),
    _signs("下个?月初", to.month_away(1, "初")),
    _signs("下个?月|来月", to.month_away(1)),
    _signs("上个?月|先月", to.month_away(-1)),
    _signs(r"明年\s?Q(?P<q>[1-4])", to.quarter(1)),
    _signs("下个?季度", to.next_quarter),
    _signs("明年|来年", to.year(1, "年")),
    _signs("去年|昨年", to.year(-1, "年")),
    _signs(rf"(?<![\d.年月第]){_D}\s?号(?!线|楼|机|库|文件|店|仓)", to.day_of_month),
    _signs(r"(?<!\d)(?P<month>1[0-2]|[1-9])\s?月份?(?![\d底末初])", to.past_month),
)

RULES: tuple[Rule, ...] = (
    *_WRITTEN_OUT,
    *_MONTHS,
    *_ENGLISH,
    *_GERMAN,
    *_SPANISH,
    *_PERIODS,
    *_CHINESE_AND_JAPANESE,
)
