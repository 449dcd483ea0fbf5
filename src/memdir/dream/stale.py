"""Words in a memory that were right on one day only: "tomorrow", "nächste Woche", 昨天 (F4, D8). Pure.

Looked for are phrases that mean another day with each day on which they are read, in the languages of
`cues.dates`. None is a bare weekday, a day without a year, or the end of a month, which may be any month's.
Nor is what stands in code, on a line that bears a whole date, or below a heading that does: one can count
from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from memdir.cues.dates.resolve import Frame, Value
from memdir.cues.dates.rules import RULES, Rule
from memdir.dream.checks.mentions import mentions
from memdir.memory import encoding, frontmatter
from memdir.memory.frontmatter import LINE

_DAYS = (date(2026, 3, 5), date(2027, 8, 20))
"""Two days that differ in weekday, day, month and year."""
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_NAME = re.compile(r"[.@/]\w")
"""Behind a word that is the beginning of a name: `tomorrow.io`."""
_ANY_END = re.compile(
    r"(?:\w+ ){0,2}end of (?:the )?(?:month|week|year)|(?:\w+ )?ende de[rs] (?:monats|jahres|woche)"
    r"|(?:monats|jahres)ende|(?:a )?fin(?:ales)? de (?:mes|año)|[月年][底末]",
    re.IGNORECASE,
)
_WEEKS = {
    1: re.compile(
        r"\bnext week\b|\bnächste(?:r|n)? woche\b|\bkommende(?:r|n)? woche\b"
        r"|\b(?:la )?(?:próxima semana|semana que viene)\b"
        r"|下(?:一?个?)?(?:周|星期|礼拜)(?![一二三四五六日天末])|来週(?!末)",
        re.IGNORECASE,
    ),
    -1: re.compile(
        r"\blast week\b|\bletzte(?:r|n)? woche\b|\bvergangene(?:r|n)? woche\b"
        r"|\b(?:la )?semana pasada\b|上(?:一?个?)?(?:周|星期|礼拜)(?![一二三四五六日天末])|先週(?!末)",
        re.IGNORECASE,
    ),
}
"""Weeks that `cues.dates` leaves as they were said, by how far away they are."""
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|\s*\*\*[^*]+\*\*:?\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A phrase on a line, from 1; `meant`: what it meant on the day that one asks for, as it is written."""

    line: int
    phrase: str
    meant: str


def stale(data: bytes, *, written: date) -> tuple[Stale, ...]:
    """The lines of a topic with such phrases, one each: the first. `written`: the day to count from."""
    text = encoding.readable(data)
    header = frontmatter.read(text)
    found = list[Stale]()
    if header and (entry := header.entry("description")):
        found += _first(entry.value or "", entry.start + 2, written)
    body = header.body if header else text
    at = len(LINE.findall(text)) - len(LINE.findall(body))
    fence, is_dated = "", False
    for number, line in enumerate(LINE.findall(body), at + 1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and _HEADING.match(line):
            is_dated = _bears_date(line)
        elif not fence and not is_dated:
            found += _first(line, number, written)
    return tuple(found)


def _first(line: str, number: int, written: date) -> Iterator[Stale]:
    """The first phrase of a line, if none of its words is a whole date."""
    line = _CODE.sub(lambda code: "\0" * len(code[0]), line)
    found = sorted([*_weeks(line, written), *_relative(line, written)], key=lambda one: (one[0], -one[1]))
    if found and not _bears_date(line):
        start, end, meant = found[0]
        yield Stale(line=number, phrase=line[start:end], meant=meant)


def _bears_date(line: str) -> bool:
    return any(day.is_whole for mention in mentions(line) for day in mention)


def _relative(line: str, written: date) -> Iterator[tuple[int, int, str]]:
    """Where such phrases stand, and what they mean. As in `cues.dates`, the earlier rule has the words."""
    taken = list[tuple[int, int]]()
    for rule in RULES:
        for match in rule.pattern.finditer(line):
            start, end = match.span()
            if any(start < stop and begin < end for begin, stop in taken) or _NAME.match(line, end):
                continue
            values = [_values(rule, match, day) for day in _DAYS]
            if None in values[0]:
                continue
            taken.append((start, end))
            is_sure = all(ahead and past == ahead for past, ahead in values) and values[0] != values[1]
            is_bare = rule.beside or any(str(value).startswith(match[0]) for value in values[0])
            if is_sure and not is_bare and not _ANY_END.fullmatch(match[0]):
                meant = _values(rule, match, written)[1]
                yield start, end, meant.isoformat() if isinstance(meant, date) else meant or ""


def _values(rule: Rule, match: re.Match[str], day: date) -> tuple[Value, Value]:
    """What a phrase means on that day, in a tale of the past and otherwise."""
    past, ahead = (rule.resolve(match, Frame(today=day, past=past)) for past in (True, False))
    return past, ahead


def _weeks(line: str, written: date) -> Iterator[tuple[int, int, str]]:
    """Weeks without a day in them."""
    for away, pattern in _WEEKS.items():
        for match in pattern.finditer(line):
            monday = Frame(today=written, past=False).monday + timedelta(weeks=away)
            yield *match.span(), f"the week of {monday.isoformat()}"
