"""Which known memory is a sentence about? By the words they share (`memdir.memory.rank.similarity`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memdir.extract.local.values import Known
from memdir.memory.rank import similarity
from memdir.memory.words import words

SAME_TOPIC = 0.2
"""From here on a sentence and a memory are about one thing (measured on talks of both sorts)."""
CHANGED_TOPIC = 0.12
"""Enough when the sentence says that something changed."""
DIRECT, CHANGED_DIRECT = 0.18, 0.12
"""What the sentence itself must share with a memory; what was said around it only adds to that. Less is
enough when the sentence says that something changed."""
CONTEXT = 0.35
"""What the sentences around it count beside the sentence itself."""
SHARED = 2
"""So many telling words must stand in both: one in common makes no topic ("dashboard")."""
REPEATED = 0.65
"""So many of its words in the memory already: it says nothing new."""

_ADDRESS = re.compile(r"https?://\S+")
_DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_FIGURE = re.compile(r"\d[\d.,:/-]*|https?://\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A memory and how near it is, 0 to about 1.3."""

    known: Known
    score: float


def matches(text: str, existing: Sequence[Known], *, context: str = "") -> list[Match]:
    """Memories with something in common, the nearest first."""
    found = [Match(known=known, score=_score(text, known, context)) for known in existing]
    return sorted((m for m in found if m.score > 0), key=lambda m: (-m.score, m.known.file))


def nearest(
    text: str, existing: Sequence[Known], *, context: str = "", least: float = SAME_TOPIC
) -> Match | None:
    """The memory about the same thing, if there is one that is as near as `least`."""
    found = matches(text, existing, context=context)
    return found[0] if found and found[0].score >= least else None


def _score(text: str, known: Known, context: str) -> float:
    own, there = _plain(text), _plain(known.text)
    direct = max(similarity(own, there), similarity(own, known.name) * 0.8)
    if direct == 0.0:
        return 0.0
    return direct + (CONTEXT * similarity(context, there) if context else 0.0)


def _plain(text: str) -> str:
    """Without addresses and dates: two on one host are two places, two of one year two days."""
    return _DATE.sub(" ", _ADDRESS.sub(" ", text))


def speaks_of(text: str, known: Known, *, changed: bool = False) -> bool:
    """Is the memory's own subject named in the text, and not only in what was said around it?"""
    own, there = _plain(text), _plain(known.text)
    if changed:
        return similarity(own, there) >= CHANGED_DIRECT
    if (
        (news := set(_ADDRESS.findall(text)))
        and (held := set(_ADDRESS.findall(known.text)))
        and not news & held
    ):
        return False  # two addresses are two places, unless one took the other's
    shared = {word for word in set(words(own)) & set(words(there)) if len(word) > 1}
    return similarity(own, there) >= DIRECT and len(shared) >= SHARED


def repeats(text: str, known: Known) -> bool:
    """Does the memory hold all of this already? New figures or addresses are always news."""
    if {figure.strip(".,:") for figure in _FIGURE.findall(text)} - set(_figures(known.text)):
        return False
    said, there = set(words(text)), set(words(known.text))
    return bool(said) and len(said & there) >= REPEATED * len(said)


def _figures(text: str) -> list[str]:
    return [figure.strip(".,:") for figure in _FIGURE.findall(text)]
