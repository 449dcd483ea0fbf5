"""A line, and what a model says it put in its place: do both say the same? (D8) Pure.

A yes means: no figure, date, name, path, command or link lost, no "no", "always" or "only" lost or gained, no
word in the place of another, nothing turned into its opposite. What is less is a line that was given up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from memdir.cues.dates import absolute
from memdir.cues.dates.names import MONTHS
from memdir.trust.judging import negations
from memdir.trust.terms import Term, folded, loosened, runs, terms, without_dates

ENOUGH = 2 / 3
"""So much of the weight of a line's words has to be there again; and all that are no everyday words."""
ALIKE = 0.8
"""With so many of the words the same, their order counts."""


def says_the_same(was: str, now: str, why: str) -> bool:
    """Whether `now` says what `was` said. A figure or a name that `why` tells of may be gone."""
    if " ".join(was.split()) == " ".join(now.split()):
        return True
    return (
        keeps(was, now, why)
        and _is_in_order(was, now)
        and _denied(was) == _denied(now)
        and _figures(_undated(now)) <= _figures(was) | _figures(why)
        and all(_has(name, was) or _has(name, why) for name in _HARD.findall(_undated(now)))
    )


def keeps(was: str, now: str, why: str) -> bool:
    """Whether the words, figures and names of `was` are in `now`, which may name more, and as many a no."""
    return (
        _is_about_the_same(was, now)
        and tells_all(was, now, why)
        and negations(was) == negations(now)
        and _has_in_order(_small_words(was), _small_words(now))
        and _has_weekdays(was, now)
        and _forces(was) == _forces(now)
        and not _is_opposite(was, now)
    )


def tells_all(was: str, now: str, why: str = "") -> bool:
    """Whether each figure and each hard name of `was` stands in `now`, or is spoken of in `why`."""
    return _figures(was) <= _figures(now) | _figures(why) and all(
        _has(name, now) or _has(name, why) for name in _HARD.findall(was)
    )


def _denied(text: str) -> list[str]:
    """What a text says no to: the word behind each no."""
    words, found = _RUN.findall(folded(_undated(text))), list[str]()
    for number, word in enumerate(words):
        if negations(word):
            ends = next(end for end in range(1, len(word) + 1) if negations(word[:end]))
            rest = (
                [word[ends : ends + 2], *words[number + 1 :]] if not word.isascii() else words[number + 1 :]
            )
            found.append(next((one.key for one in terms(" ".join(rest))), ""))
    return sorted(found)


def _is_about_the_same(was: str, now: str) -> bool:
    """Whether the words are there again. Some everyday ones may go; none may come in the place of another."""
    mine, theirs = _terms(was), _terms(now)
    if not mine:
        return folded(was).split() == folded(now).split() or bool(_figures(was))
    there = _keys(theirs)
    missing = [
        one for one in mine if not _keys([one]) & there and not one.figure
    ]  # of figures see `tells_all`
    if not missing:
        return True
    known = _keys(mine)
    if any(one.weight == 1.0 for one in missing) or any(
        not _keys([one]) & known and not one.figure for one in theirs
    ):
        return False
    whole = sum(one.weight for one in mine)
    return whole - sum(one.weight for one in missing) >= ENOUGH * whole


def _keys(found: Iterable[Term]) -> set[str]:
    """The keys of terms, and the looser ones by which a word is known in another form."""
    return {key for one in found for key in (one.key, loosened(one.key)) if key}


def _small_words(text: str) -> list[str]:
    """The little words that say what stands how to what, in order."""
    return _SMALL.findall(folded(_undated(text)).replace("how to ", "how "))


def _has_in_order(mine: list[str], theirs: list[str]) -> bool:
    """Whether one row of words is in another, with others between them."""
    rest = iter(theirs)
    return all(word in rest for word in mine)


def _has_weekdays(was: str, now: str) -> bool:
    """Whether each weekday is still there. One that is said once may have become a date."""
    lost = _weekdays(was) - _weekdays(now)
    dates = len(_DAY.findall(now)) - len(_DAY.findall(was))
    return not lost or (dates > 0 and lost.isdisjoint(_EVERY.findall(folded(was))))


def _weekdays(text: str) -> set[str]:
    return set(_WEEKDAY.findall(folded(absolute(text, today=_SOME_DAY).text)))


def _is_in_order(was: str, now: str) -> bool:
    """Whether texts of nearly the same words have them in the same order: who does what to whom."""
    mine, theirs = _words(was), _words(now)
    shared = mine.keys() & theirs.keys()
    if len(shared) < ALIKE * max(len(mine), len(theirs)):
        return True
    return [word for word in mine if word in shared] == [word for word in theirs if word in shared]


def _words(text: str) -> dict[str, float]:
    """The words of a text without days, in order, with their weights."""
    return {term.key: term.weight for term in _terms(text)}


def _terms(text: str) -> list[Term]:
    """The words of a text without days, and without the hard names that `tells_all` sees to."""
    return terms(_HARD.sub(" ", _undated(text)))


def _undated(text: str) -> str:
    """A text without what says when it was, in whatever words."""
    undated = without_dates(absolute(_QUARTER.sub(" ", text), today=_SOME_DAY).text)
    return _RELATIVE.sub(" ", undated)


def _figures(text: str) -> frozenset[str]:
    """The numbers of a text; beside one, the names of months too."""
    found = {digits.lstrip("0") or "0" for digits in _DIGITS.findall(text)}
    if found:
        found |= {str(MONTHS[word]) for word in runs(folded(text)) if word in MONTHS and not word.isdigit()}
    return frozenset(found)


def _has(name: str, text: str) -> bool:
    bare = name.strip("`.,;:!?()\"'")
    if len(bare) == 1:
        return re.search(rf"\b{bare}\b", text) is not None  # "team B" is not "team a", nor "team b" in a word
    return re.search(rf"(?<!\w){re.escape(bare.casefold())}(?!\w)", text.casefold()) is not None


def _forces(text: str) -> frozenset[str]:
    """The kinds of words that say how far a statement goes."""
    low = folded(_FROM_TO.sub(" ", text))
    return frozenset(kind for kind, words in _FORCES.items() if words.search(low))


def _is_opposite(was: str, now: str) -> bool:
    mine, theirs = set(runs(folded(was))), set(runs(folded(now)))
    for one, other in _OPPOSITES:
        for here, there in ((one, other), (other, one)):
            if _any(here, mine) and not _any(there, mine) and _any(there, theirs) and not _any(here, theirs):
                return True
    return False


def _any(stem: str, words: set[str]) -> bool:
    return any(word.startswith(stem) for word in words)


_SOME_DAY = date(2026, 1, 1)
"""From which "yesterday" is counted where only the other words matter."""
_RUN = re.compile(r"[\w']+")
_DIGITS = re.compile(r"[0-9]+|[^\W\D]+")
_RELATIVE = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|now|recently|currently|last|next|this|ago|week|weeks|month"
    r"|months|days?|year"
    r"|gestern|heute|morgen|letzte\w*|nächste\w*|woche|monat|ayer|hoy|mañana|semana|mes|pasad[oa]"
    r"|próxim[oa])\b"
    r"|昨天|今天|明天|前天|后天|上周|下周|本周|上个月|下个月|去年|今年|明年|昨日|今日|明日|先週|来週|今週|先月|来月",
    re.IGNORECASE,
)
_QUARTER = re.compile(r"\b(?:this quarter|Q[1-4][ /-]?20\d\d)\b", re.IGNORECASE)
_FROM_TO = re.compile(
    r"\b(?:vom|von|from|del?)\s+\d{4}-\d\d-\d\d\s+(?:bis(?:\s+zum)?|until|hasta(?: el)?)\s+\d{4}-\d\d-\d\d\b",
    re.IGNORECASE,
)
"""Two days: this "until" is said of none but them."""
_SMALL = re.compile(
    r"\b(?:to|from|into|onto|out|off|in|on|at|over|under|above|below|with|without|by|for|against|than|least|most"
    r"|more|less|fewer|up|down|and|or|either|both|he|she|him|her|his|hers|you|your|they|them|their|von|zu|nach|aus|mit|ohne|über|unter|mehr|weniger|oder|und"
    r"|hacia|desde|con|sin|más|menos)\b|[€$£¥%<>=≤≥±+]"
)
"""What may come between them, and none may go or change places with another."""
_WEEKDAY = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|lunes|martes"
    r"|miércoles|jueves|viernes|sábado|domingo)|(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜"
)
_EVERY = re.compile(
    rf"(?:(?<=every )|(?<=each )|(?<=los )|(?<=cada ))(?:{_WEEKDAY.pattern})|(?:{_WEEKDAY.pattern})(?=e?s\b)"
)
_DAY = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")
_HARD = re.compile(
    r"\d+(?:[:.,]\d+)+|(?<=[\w,] )(?!I\b)[A-Z]\b(?!\.)|"
    r"`[^`\n]+`|[\w.+-]+@[\w.-]+|\b[a-z][a-z0-9+.-]*://[^\s)>\]]+|(?<![\w-])--?[A-Za-z][\w-]*"
    r"|[\w.~-]*/[\w./~-]+"
    r"|\b\w+(?:[._]\w+)+\b|\b[a-z]+[A-Z]\w*|\b[A-Z][A-Z0-9_]{2,}\b"
)
_FORCES = {
    "always": re.compile(r"\b(?:always|every ?time|immer|stets|siempre)\b|总是|始终|一律|必ず|常に"),
    "must": re.compile(
        r"\b(?:must|shall|required?|mandatory|has to|have to|muss|müssen|debe\w*)\b|必须|務必|务必|べき"
    ),
    "only": re.compile(
        r"\b(?:only|solely|exclusively|nur|ausschließlich|sólo|solo|solamente)\b|只|仅|だけ|のみ"
    ),
    "all": re.compile(
        r"\b(?:all|every|everyone|everything|alle\w*|jede\w*|todos?|todas?|cada)\b|所有|全部|每|すべて|全て"
    ),
    "except": re.compile(
        r"\b(?:except|unless|apart from|other than|außer|es sei denn|excepto|salvo)\b|除非|除了|以外"
    ),
    "if": re.compile(r"\b(?:if|when|whenever|once|wenn|falls|si|cuando)\b|如果|若|时候|場合|なら"),
    "maybe": re.compile(
        r"\b(?:may|might|maybe|perhaps|possibly|sometimes|usually|optional\w*|could|vielleicht|manchmal"
        r"|quizás?|thinks?|thought|believe[sd]?|claim(?:s|ed)?|says|said|rumou?rs?|heard|doubt\w*"
        r"|supposed\w*|allegedly|pretend\w*|dreamt|angeblich|presuntamente)\b"
        r"|可能|也许|有时|据说|听说|かもしれ|たまに|らしい"
    ),
    "before": re.compile(r"\b(?:before|until|vor|bis|antes|hasta)\b|之前|以前|まで"),
    "after": re.compile(r"\b(?:after|since|nach|seit|después|desde)\b|之后|以后|から"),
    "used to": re.compile(r"\b(?:used to|formerly|previously|früher)\b|曾经|かつて"),
}
_OPPOSITES = (
    ("enabl", "disabl"), ("allow", "den"), ("allow", "forb"), ("allow", "bann"), ("allow", "refus"),
    ("approv", "reject"), ("accept", "reject"), ("like", "dislike"), ("like", "hate"), ("love", "hate"),
    ("prefer", "avoid"), ("use", "avoid"), ("safe", "unsafe"), ("safe", "danger"), ("trust", "distrust"),
    ("public", "private"), ("open", "clos"), ("start", "stop"), ("increas", "decreas"), ("more", "less"),
    ("min", "max"), ("first", "last"), ("true", "false"), ("on", "off"), ("internal", "external"),
    ("include", "exclude"), ("required", "optional"), ("add", "remov"), ("create", "delet"),
    ("keep", "delet"),
    ("keep", "remov"), ("pass", "fail"), ("work", "fail"), ("manual", "automat"), ("up", "down"),
    ("stable", "unstable"), ("possible", "impossible"), ("valid", "invalid"), ("read", "writ"),
    ("fast", "slow"),
    ("good", "bad"), ("right", "wrong"), ("before", "after"), ("with", "without"), ("erlaubt", "verboten"),
)  # fmt: skip
