"""Two notes -> are they about the same thing? For `extract.remember`, which adds to a memory only if so.

What they are compared by is what they speak of: days and dates, and the words of any wish ("always", "I
prefer", 以后别), are in notes about everything. In doubt they are not about the same: two memories of one
thing are easily merged, two things in one memory are not easily told apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from memdir.cues.dates import absolute
from memdir.cues.dates.names import MONTHS, WEEKDAYS, any_of
from memdir.extract.local.topics import SAME_TOPIC, matches
from memdir.extract.local.values import Kind, Known
from memdir.memory.words import words

ALIKE = 0.5
"""So much of a line in the news: about the same. Of Chinese as well the other way around, since there each
word that differs makes two or three pairs that do."""
VERY_NEAR = 0.75
"""So near, a memory is about the same, of whatever kind it is."""

_WEEKDAY = any_of(WEEKDAYS)
_HAN_DAY = r"(?:(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?)"
_ISO = r"20\d\d-\d\d(?:-\d\d)?"
_DATE = re.compile(
    rf"\(?{_ISO}\)?|\bQ[1-4] 20\d\d\b|\b20\d\d\b|\b(?:{_WEEKDAY}|{any_of(MONTHS, longer_than=3)})s?\b"
    rf"|{_HAN_DAY}|\d{{1,2}}\s?[月日号]",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:prefer|avoid|remember|forget|lov|hat)(?:e?s|e?d|e|ing)?\b|\bmake sure\b"
    r"|喜欢|讨厌|以后|今后|总是|永远|一定|必须|记得|记住|每次|务必|不要|不用|别用|别再|千万|请用|请你|请|都用|要用|改用",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:[:.]\d+)*")

_PUT_BESIDE = re.compile(rf"(?P<day>\b{_WEEKDAY}|{_HAN_DAY})(?P<date> \({_ISO}\))", re.IGNORECASE)
_ONE_DAY = re.compile(
    r"(?:\b(?:by|until|till|before|no later than|from|starting|bis|ab|spätestens|hasta|antes)\W{1,3}"
    r"(?:(?:the|zum|del?|el|am|on)\s)?|最晚|最迟|截至)$",
    re.IGNORECASE,
)
_UP_TO_THEN = re.compile(r"\s?(?:之前|以前|前|为止|まで)")


def dated(text: str, *, today: date) -> str:
    """The words with dates instead of "tomorrow", which would be wrong tomorrow.

    A bare weekday stays as it is: "don't deploy on Friday" is said of every week.
    """
    shown = absolute(text, today=today).text
    for found in reversed(list(_PUT_BESIDE.finditer(shown))):
        own = shown.count(found["date"]) <= text.count(found["date"])
        one_day = _ONE_DAY.search(shown[: found.start()]) or _UP_TO_THEN.match(shown[found.end() :])
        if not own and not one_day:
            shown = shown[: found.end("day")] + shown[found.end() :]
    return shown


def about_the_same(said: str, existing: Sequence[Known], kind: Kind) -> Known | None:
    """The memory that the news belongs to, if one is surely about the same."""
    there = {known.file: known for known in existing}
    for match in matches(_bare(said), [_told_bare(known) for known in existing]):
        known = there[match.known.file]
        akin = known.type in (None, kind)
        if akin and _says_the_like(said, known.body):
            return known
        if len(_terms(said) & _terms(known.text)) < 2:
            continue
        if match.score >= VERY_NEAR or (akin and match.score >= SAME_TOPIC and _covers(said, known)):
            return known
    return None


def _covers(said: str, known: Known) -> bool:
    """Whether the memory has nearly all words of the news, or the news all words of a line of it."""
    news = _terms(said)
    enough = ALIKE if any(not word.isascii() for word in news) else VERY_NEAR
    lines = map(_terms, known.body.splitlines())
    return len(news & _terms(known.text)) >= enough * len(news) or any(
        len(line) > 1 and line <= news for line in lines
    )


def _says_the_like(said: str, body: str) -> bool:
    """Whether a line differs from the news in nothing but figures and dates: "we deploy on …"."""
    wanted = _but_for_figures(said)
    return bool(wanted) and wanted in map(_but_for_figures, body.splitlines())


def share(line: str, said: str) -> float:
    """How much of what a line speaks of is in the news as well, 0 to 1."""
    terms = _terms(line)
    return len(terms & _terms(said)) / len(terms) if terms else 0.0


def _bare(text: str) -> str:
    """The text without dates and words of wishes."""
    return _WISH.sub(" ", _DATE.sub(" ", text))


def _told_bare(known: Known) -> Known:
    return replace(
        known, name=_bare(known.name), description=_bare(known.description), body=_bare(known.body)
    )


def _terms(text: str) -> frozenset[str]:
    """What a text speaks of. Of Chinese only the pairs: a single character is in too many words."""
    return frozenset(word for word in words(_bare(text)) if len(word) > 1 or word.isascii())


def _but_for_figures(text: str) -> str:
    """The words of a text in order, without its dates and figures."""
    return " ".join(re.findall(r"\w+", _FIGURE.sub(" ", _DATE.sub(" ", text)).casefold()))
