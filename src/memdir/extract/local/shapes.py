"""What the look of a sentence tells in every language: addresses, names, dates, length."""

from __future__ import annotations

import re
from datetime import date, timedelta

from memdir.cues import Cue
from memdir.cues.dates import Dated

_TINY, _STATEMENT, _LONG, _LENGTHY = 5, 8, 18, 30
_LONGEST_BARE_QUESTION = 16
"""In a longer Chinese sentence "whether" and "which" ask nothing, unless it ends like a question."""


def with_shapes(cues: frozenset[Cue], text: str, dated: Dated, *, today: date) -> frozenset[Cue]:
    """The cues of a sentence, corrected and completed by its look."""
    shapes = {cue for cue, pattern in _SHAPES.items() if pattern.search(text)} | _of_dates(cues, dated, today)
    length = size(text)
    if Cue.QUESTION in cues and not _asks_nothing(text, length, shapes):
        shapes.add(Cue.QUESTION)
    if length < _TINY:
        shapes.add(Cue.TINY)
    elif length >= _LENGTHY:
        shapes.add(Cue.LENGTHY)
    rest = cues - {Cue.QUESTION}
    if length >= _STATEMENT and not (rest | shapes) & {Cue.QUESTION, Cue.TASK}:
        shapes |= {Cue.STATEMENT, Cue.LONG} if length >= _LONG else {Cue.STATEMENT}
    return rest | shapes


def size(text: str) -> float:
    """Length in words; fourteen Chinese or Japanese characters say as much as eight words."""
    return len(text.split()) + len(_WIDE.findall(text)) * 8 / 14


def _asks_nothing(text: str, length: float, shapes: set[Cue]) -> bool:
    """A question word in a long sentence: "where was it, ah, here: https://…"."""
    wide = len(_WIDE.findall(text)) * 8 / 14
    return wide > _LONGEST_BARE_QUESTION or (Cue.URL in shapes and length >= _LONG)


def _of_dates(cues: frozenset[Cue], dated: Dated, today: date) -> set[Cue]:
    if not (dated.days or dated.periods):
        return set()
    far = any(day > today + timedelta(days=1) for day in dated.days)
    ahead = far or (bool(dated.periods) and Cue.PAST not in cues)
    return {Cue.DATED} | ({Cue.DUE} if dated.due else set()) | ({Cue.AHEAD} if ahead else set())


_WIDE = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SHAPES = {
    Cue.CODE: re.compile(
        r"`|(?<!:/)(?<!\w)/\w+/\w|\w\(\)|\w_\w|\b\w+\.(?:py|ts|js|go|rs|sql|ya?ml|json|toml|md|csv)\b"
    ),
    Cue.FIGURE: re.compile(r"\d"),
    Cue.COMMAS: re.compile(r"[,，、;；](?:.{0,200})[,，、;；]", re.DOTALL),
    Cue.LOUD: re.compile(r"[!！]\W*\Z"),
    Cue.QUESTION: re.compile(r"[?？][)）\"”」]?\s*$|[吗呢么]\s*$"),
    Cue.URL: re.compile(
        r"https?://[\w.-]+|[\w.+-]{1,64}@[\w-]+\.[\w.]+"
        r"|\b[\w-]+\.(?:invalid|com|org|io|net|dev|cn|de|internal|local)/\w"
    ),
    Cue.NAMED: re.compile(
        r"(?<=[a-z,;:(“\"] )[A-Z][\w-]+|「[^」]{1,12}」|\"[^\"\s]{2,30}\"|#[a-z][\w-]+"
        r"|[\u4e00-\u9fff][A-Z][A-Za-z]{2,}"
    ),
    Cue.RECURRING: re.compile(
        r"每(?:周|天|月|个月|季度|隔|晚|年)|毎(?:日|週|月|朝|晩)"
        r"|\b(?:weekly|monthly|nightly|quarterly|fortnightly|biweekly)\b"
        rf"|\b(?:every|each)\s(?:second\s|other\s|first\s|last\s)?"
        rf"(?:day|week|month|quarter|year|night|morning|evening|{_WEEKDAY})s?\b|\b{_WEEKDAY}s\b"
        r"|\bjede[nrs]?\s(?:zweiten?\s)?(?:\w{2,12}tag|woche|monat|mittwoch|nacht)\b"
        r"|\bcada\s(?:día|semana|mes|noche|lunes|martes|miércoles|jueves|viernes)\b",
        re.IGNORECASE,
    ),
}
