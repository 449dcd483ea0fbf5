"""Words -> numbers: weekdays, months, seasons, counts, in five languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


def _numbered(words: str, *, start: int) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), start)}


WEEKDAYS: Mapping[str, int] = {
    **_numbered("monday tuesday wednesday thursday friday saturday sunday", start=0),
    "tue": 1,
    "tues": 1,
    "weds": 2,
    "thu": 3,
    "thur": 3,
    "thurs": 3,
    "fri": 4,
    **_numbered("montag dienstag mittwoch donnerstag freitag samstag sonntag", start=0),
    **_numbered("lunes martes miércoles jueves viernes sábado domingo", start=0),
    **_numbered("一 二 三 四 五 六 日", start=0),
    **_numbered("月 火 水 木 金 土", start=0),
    "天": 6,
}
MONTHS: Mapping[str, int] = {
    **_numbered(
        "january february march april may june july august september october november december", start=1
    ),
    **_numbered("jan feb mar apr may jun jul aug sep oct nov dec", start=1),
    "sept": 9,
    **_numbered(
        "januar februar märz april mai juni juli august september oktober november dezember", start=1
    ),
    **_numbered(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre", start=1
    ),
}
SEASONS: Mapping[str, int] = {
    "spring": 3,
    "summer": 6,
    "autumn": 9,
    "winter": 12,
    "frühjahr": 3,
    "sommer": 6,
    "herbst": 9,
    "primavera": 3,
    "verano": 6,
    "otoño": 9,
}
COUNTS: Mapping[str, int] = {
    **_numbered("one two three four five six seven eight nine ten eleven twelve", start=1),
    **_numbered("ein zwei drei vier fünf sechs sieben acht neun zehn", start=1),
    **_numbered("un dos tres cuatro cinco seis siete ocho nueve diez", start=1),
    **_numbered("一 二 三 四 五 六 七 八 九 十", start=1),
    "a": 1,
    "an": 1,
    "eine": 1,
    "einer": 1,
    "einem": 1,
    "una": 1,
    "两": 2,
}


def number(word: str, names: Mapping[str, int]) -> int:
    """A numeral or a word as a number."""
    return int(word) if word.isdigit() else names[word.lower()]


def any_of(names: Iterable[str], *, longer_than: int = 1) -> str:
    """A pattern for one of the names that are longer than so many letters, the longest first."""
    ordered = sorted((name for name in names if len(name) > longer_than), key=len, reverse=True)
    return f"(?:{'|'.join(map(re.escape, ordered))})"
