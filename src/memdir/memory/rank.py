"""How well a text fits a query: BM25 over weighted fields, as plain functions on counted words.

The index (`memory.index`) asks them for memories, extraction for sentences. Nothing here knows of files.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from memdir.memory.words import counts, weight, words

FIELDS: Mapping[str, int] = {"name": 6, "description": 5, "headings": 3, "body": 2}
"""What one occurrence of a word counts, by field, in halves: whole numbers, so that sums are exact. A heading
is a part of the body too."""

SATURATION = 3.0
"""BM25's k1, in halves: how late more occurrences of a word stop mattering."""

LENGTH = 0.4
"""BM25's b: how much of its length is held against a long text, 0 to 1."""

SMALLEST = 60
"""A collection counts as at least this many texts: a word that stands in one of three files is then rare,
and a score means the same in a small directory as in a large one."""


def count(fields: Mapping[str, str]) -> dict[str, int]:
    """The words of a text, and how much each occurs in halves: by the weight of its fields, names out of
    `FIELDS`."""
    found: dict[str, int] = {}
    for name, text in fields.items():
        halves = FIELDS[name]
        for word, times in counts(text).items():
            found[word] = found.get(word, 0) + halves * times
    return found


def rarity(standing: int, size: int) -> float:
    """BM25's inverse document frequency of a word that stands in so many of `size` texts."""
    size = max(size, SMALLEST)
    return math.log(1 + (size - standing + 0.5) / (standing + 0.5))


def allowance(length: float, mean: float) -> float:
    """What the occurrences of a word are measured against in a text of that length, beside texts of `mean`
    length: `count` of them are worth count / (count + allowance), 0 to 1."""
    return SATURATION * (1 - LENGTH + LENGTH * length / mean)


def similarity(a: str, b: str) -> float:
    """How much two texts speak of the same, 0 to 1: the cosine of their words, weighed by what each says."""
    left, right = _vector(a), _vector(b)
    dot = sum(value * right.get(word, 0.0) for word, value in left.items())
    return min(1.0, dot / (math.hypot(*left.values()) * math.hypot(*right.values()))) if dot else 0.0


def _vector(text: str) -> dict[str, float]:
    return {word: count * weight(word) for word, count in Counter(words(text)).items()}
