"""Relative dates in a sentence become absolute ones, counted from the day of the talk.

    absolute("the freeze starts next Tuesday", today=date(2026, 3, 5)).text == "the freeze starts 2026-03-10"

Days become ISO dates; months, quarters and years that name no day become `2026-04`, `Q2 2027`, `2027`. A
bare weekday keeps its name beside the date, since it may be said of every week. What is ambiguous stays as
it was said.

    names      words         -> numbers
    resolve    a match       -> a day or a period
    rules      which phrase is resolved by what, in every language, the most specific first
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from memdir.cues.dates.resolve import Frame, Value
from memdir.cues.dates.rules import RULES

__all__ = ["Dated", "absolute"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """A sentence with absolute dates.

    `days` and `periods` stand in order of appearance; `due`: one of them is a limit.
    """

    text: str
    days: tuple[date, ...]
    periods: tuple[str, ...]
    due: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    start: int
    end: int
    value: date | str
    beside: bool  # the words stay, the date is put beside them


def absolute(text: str, *, today: date, past: bool = False) -> Dated:
    """Replace what is relative. `past`: a bare weekday or month is the last one rather than the next."""
    spans = _spans(text, Frame(today=today, past=past))
    pieces, at = [], 0
    for span in spans:
        pieces += [text[at : span.start], _shown(text, span)]
        at = span.end
    pieces.append(text[at:])
    return Dated(
        text="".join(pieces),
        days=tuple(span.value for span in spans if isinstance(span.value, date)),
        periods=tuple(span.value for span in spans if isinstance(span.value, str) and span.value),
        due=any(_is_limit(text, span) for span in spans if span.value),
    )


def _spans(text: str, frame: Frame) -> list[_Span]:
    """What the rules find, without overlaps: an earlier rule wins."""
    spans: list[_Span] = []
    for rule in RULES:
        for match in rule.pattern.finditer(text):
            if any(match.start() < span.end and span.start < match.end() for span in spans):
                continue
            ahead = replace(frame, past=False) if _BEFORE.search(text[: match.start()][-30:]) else frame
            value: Value = rule.resolve(match, ahead)
            if value is not None:
                spans.append(_Span(start=match.start(), end=match.end(), value=value, beside=rule.beside))
                frame = _within(frame, value)
    return sorted(spans, key=lambda span: span.start)


def _within(frame: Frame, value: date | str) -> Frame:
    """After "from December" a bare "the 1st" is the first of December."""
    named = _NAMED_MONTH.search(value) if isinstance(value, str) else None
    return replace(frame, named=date(int(named.group(1)), int(named.group(2)), 1)) if named else frame


def _is_limit(text: str, span: _Span) -> bool:
    return bool(_BEFORE.search(text[max(0, span.start - 30) : span.start]) or _AFTER.match(text[span.end :]))


def _shown(text: str, span: _Span) -> str:
    if not span.value:
        return text[span.start : span.end]
    shown = span.value.isoformat() if isinstance(span.value, date) else span.value
    if span.beside:
        return f"{text[span.start : span.end]} ({shown})"
    before = text[: span.start][-1:]
    return f" {shown}" if before.isalnum() and before.isascii() else shown


_NAMED_MONTH = re.compile(r"(20\d\d)-(\d\d)$")
_BEFORE = re.compile(
    r"\b(?:by|until|till|before|no later than|bis|spätestens|vor|hasta|antes)\W{1,3}"
    r"(?:(?:the|zum|del?|el|am)\s)?$"
    r"|(?:最晚|最迟|到|截至)$",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\s?(?:之前|以前|前|为止|まで|までに)")
