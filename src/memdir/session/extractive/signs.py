"""A sentence -> what its words say of it, by the phrases of five languages.

A language is a text file in `phrases/`, written like those of `memdir.cues` (`cues/table.py`): `[sign]`
opens a section, `|` or a new line separates phrases, `^` = at the start of a clause, `^^` = of the sentence
(fillers may stand before it), `$` = nothing follows, `…` = some words between. A few cues that a memory is
known by count as signs, too.

Phrases are looked up by their first two words, so that the time is that of reading the sentence once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources

from memdir import cues
from memdir.cues import Cue
from memdir.cues.table import sections

GAP = 10
"""So many words may stand for a `…`; in Chinese and Japanese twice as many characters."""

FILLERS = 3
"""So many opening words without meaning are passed over."""


class Sign(StrEnum):
    """What a sentence may be."""

    DECISION = "decision"  # something was settled
    CHOICE = "choice"  # of the person: how it is to be
    RULE = "rule"  # of the person: perhaps, how it is to be
    INTENT = "intent"  # of the assistant: how it is going to do it
    AGREES = "agrees"  # opens an answer that accepts
    PROPOSES = "proposes"  # of the assistant: it asks or offers
    CORRECTION = "correction"  # of the person: not like that
    SLIP = "slip"  # of the assistant: it was wrong
    CONTRAST = "contrast"  # it says no to something, or less, or more
    TASK = "task"  # of the person: one piece of work, or thanks
    OPEN = "open"  # still to be done
    DONE = "done"  # was done
    FIXED = "fixed"  # what was wrong, what helped
    FAILED = "failed"  # something does not work
    UNSURE = "unsure"  # it may not be so
    EMPTY = "empty"  # begins like a decision or a correction, and is none
    QUESTION = "question"  # it asks; by its end


_SHARED = {
    Cue.DECIDED: Sign.DECISION,
    Cue.CORRECTION: Sign.CORRECTION,
    Cue.RETRACT: Sign.CORRECTION,
}
"""The cues of memory that are taken over."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    sign: Sign
    parts: tuple[tuple[str, ...], ...]  # words, with some words between the parts
    start: str  # "", "^" or "^^"
    ends: bool  # nothing may follow


_Index = dict[tuple[str, str], list[_Phrase]]


def languages(text: str) -> tuple[str, ...]:
    """The languages in which a message is read; all with Latin letters where no word of English tells."""
    found = tuple(table.language for table in cues.tables_for(text))
    if found[-1] == "english" and not _ENGLISH.search(text):
        return (*found, "german", "spanish")
    return found


def signs(text: str, read_in: Iterable[str]) -> frozenset[Sign]:
    """The signs of one sentence."""
    words = _words(text)
    found = {sign for language in read_in for sign in _found(words, *_language(language))}
    if _ASKS.search(text) and not _REQUESTS.search(text):
        found.add(Sign.QUESTION)
    return frozenset(found)


def size(text: str) -> float:
    """Length in words; two Chinese or Japanese characters count as one."""
    wide = len(_WIDE.findall(text))
    return len(_WIDE.sub(" ", text).split()) + wide / 2


def _found(words: list[str], index: _Index, gap: int) -> Iterator[Sign]:
    opening = _opening(words)
    clause = True
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        for phrase in (*index.get((word, ""), ()), *index.get((word, after), ())):
            if at > opening and (phrase.start == "^^" or (phrase.start == "^" and not clause)):
                continue
            end = _end(words, at, phrase.parts, gap)
            if end and not (phrase.ends and any(word not in _BREAKS for word in words[end:])):
                yield phrase.sign
        clause = word in _BREAKS


def _end(words: list[str], at: int, parts: tuple[tuple[str, ...], ...], gap: int) -> int:
    """Where a phrase ends whose first part stands at `at`; 0 = not all of its parts stand there."""
    end = at
    for number, part in enumerate(parts):
        last = min(end + (gap if number else 0), len(words) - len(part))
        while end <= last and tuple(words[end : end + len(part)]) != part:
            end += 1
        if end > last:
            return 0
        end += len(part)
    return end


def _opening(words: list[str]) -> int:
    """Where the sentence begins, fillers passed over."""
    passed = 0
    for at, word in enumerate(words):
        if word in _BREAKS:
            continue
        if passed == FILLERS or word not in _FILLERS:
            return at
        passed += 1
    return 0


@cache
def _language(name: str) -> tuple[_Index, int]:
    """The phrases of a language by their first two words, and how long a gap is."""
    text = resources.files(__package__).joinpath(f"phrases/{name}.txt").read_text(encoding="utf-8")
    shared = sections(resources.files(cues.__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8"))
    index: _Index = {}
    for sign, phrase in [*_own(text), *((_SHARED[cue], p) for cue in _SHARED for p in shared.get(cue, ()))]:
        bare = phrase.lstrip("^").rstrip("$")
        parts = tuple(tuple(_words(part)) for part in bare.split("…"))
        if all(parts):
            start = "^" * (len(phrase) - len(phrase.lstrip("^")))
            first, second = (*parts[0], "")[:2]
            index.setdefault((first, second), []).append(_Phrase(sign, parts, start, phrase.endswith("$")))
    return index, GAP if cues.LANGUAGES[name] else 2 * GAP


def _own(text: str) -> Iterator[tuple[Sign, str]]:
    sign = Sign.EMPTY
    for line in text.splitlines():
        if line.startswith("["):
            sign = Sign(line.strip("[]"))
        elif line.strip() and not line.startswith("# "):
            yield from ((sign, part.strip()) for part in line.split("|") if part.strip())


def _words(text: str) -> list[str]:
    """Words in small letters, each Chinese or Japanese character as one, and marks."""
    return [word for word in _WORD.findall(text.lower().replace("’", "'")) if word not in _SILENT]


_CJK = "\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WIDE = re.compile(f"[{_CJK}]")
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:['_-][^\W_{_CJK}]+)*|[^\w\s]")
_SILENT = frozenset("*`\"“”„«»「」『』_#~'‘")
_BREAKS = frozenset(",;:.!?()，；：。！？（）、—–-…")
_ASKS = re.compile(r"[?？][)）\"”」]?\s*$|[吗呢么]\s*[。]?\s*$|(?:ます|です|しょう|ません)か[。]?\s*$")
_ENGLISH = re.compile(
    r"\b(?:the|to|is|it|we|you|this|that|for|i|of|and|with|my|not|on|be|are|have|let's|i'll|do|don't)\b", re.I
)
_REQUESTS = re.compile(r"(?:お願いできます|てもらえます|ていただけます|てくれます)か[。？?]?\s*$")
"""Asks in form only."""
_FILLERS = frozenset(
    """ok okay so well and but then hmm hm ah oh please also now hey right alright fine good yes yeah btw
    sorry bitte gut ja dann und aber nun naja ach achso übrigens bueno pues entonces y pero vale por favor
    oye bien sí perdón 嗯 啊 哦 那 好 对 あ""".split()  # noqa: SIM905
)
