"""A query and documents -> the documents in order of how well they match, and why: BM25 over weighted fields.

Pure Python and no index: a directory of a few hundred memories is ranked in tens of milliseconds. Whoever
keeps an index of words beside the files can answer with the same values; nothing here knows of files.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memdir.memory.words import weight, words

FIELDS: Mapping[str, float] = {"name": 3.0, "description": 2.5, "headings": 1.5, "body": 1.0}
"""How often one occurrence of a word counts, by field."""

SATURATION = 1.5
"""BM25's k1: how late more occurrences of a word stop mattering."""

LENGTH = 0.4
"""BM25's b: how much of its length is held against a long document, 0 to 1."""

SMALLEST = 60
"""A collection counts as at least this many documents: a word that stands in one of three files is then rare,
and a score means the same in a small directory as in a large one."""

KIN = 0.7
"""What a word counts that only means about the same as the one in the query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Something to be found. `fields`: names out of `FIELDS`, and their texts."""

    key: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One word of a query, how much it weighs, and its `kin`: words that may stand for it at a discount."""

    word: str
    weight: float = 1.0
    kin: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A document that shares words with the query. `matched`: these words, and what each adds to it."""

    key: str
    score: float
    matched: Mapping[str, float] = field(default_factory=dict)


def rank(query: str, documents: Sequence[Document]) -> list[Scored]:
    """The documents that share words with the query, best first; equals in the order of their keys."""
    return Corpus(documents).rank([Term(word=word) for word in dict.fromkeys(words(query))])


class Corpus:
    """Documents whose words are counted once, for any number of queries."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._set({document.key: count(document) for document in documents})

    @classmethod
    def counted(cls, counts: Mapping[str, Mapping[str, float]]) -> Corpus:
        """A corpus of documents whose words were counted before, by `count`: key -> its words."""
        corpus = cls(())
        corpus._set(counts)
        return corpus

    def _set(self, counts: Mapping[str, Mapping[str, float]]) -> None:
        self._counts = counts
        self._lengths = {key: sum(counts.values()) for key, counts in self._counts.items()}
        self._mean = sum(self._lengths.values()) / max(1, len(self._lengths))
        self._standing = Counter(word for counts in self._counts.values() for word in counts)

    def __contains__(self, word: object) -> bool:
        """Whether the word stands in any document."""
        return word in self._standing

    def rarity(self, word: str) -> float:
        """BM25's inverse document frequency: greatest for a word that stands in no document."""
        size, standing = max(len(self._counts), SMALLEST), self._standing[word]
        return math.log(1 + (size - standing + 0.5) / (standing + 0.5))

    def rank(self, terms: Sequence[Term]) -> list[Scored]:
        """As the function `rank`, for words that are weighed already. Each adds at most weight × rarity."""
        found = []
        for key in self._counts:
            shares = {term.word: share for term in terms if (share := self._share(key, term))}
            if shares:
                matched = dict(sorted(shares.items(), key=lambda share: (-share[1], share[0])))
                found.append(Scored(key=key, score=sum(shares.values()), matched=matched))
        return sorted(found, key=lambda scored: (-scored.score, scored.key))

    def _share(self, key: str, term: Term) -> float:
        """What the term adds to the document's score: by itself, or by the best of its kin."""
        counts = self._counts[key]
        if term.word in counts:
            return term.weight * self._worth(key, term.word)
        kin = [self._worth(key, word) for word in term.kin if word in counts]
        return term.weight * KIN * max(kin, default=0.0)

    def _worth(self, key: str, word: str) -> float:
        count = self._counts[key][word]
        allowance = SATURATION * (1 - LENGTH + LENGTH * self._lengths[key] / self._mean)
        return self.rarity(word) * count / (count + allowance)


def count(document: Document) -> Mapping[str, float]:
    """The words of a document, and how much each occurs, by the weight of its fields."""
    counts: dict[str, float] = defaultdict(float)
    for name, text in document.fields.items():
        for word in words(text):
            counts[word] += FIELDS[name]
    return dict(counts)


def similarity(a: str, b: str) -> float:
    """How much two texts speak of the same, 0 to 1: the cosine of their words, weighed by what each says."""
    left, right = _vector(a), _vector(b)
    dot = sum(value * right.get(word, 0.0) for word, value in left.items())
    return min(1.0, dot / (math.hypot(*left.values()) * math.hypot(*right.values()))) if dot else 0.0


def _vector(text: str) -> dict[str, float]:
    return {word: count * weight(word) for word, count in Counter(words(text)).items()}
