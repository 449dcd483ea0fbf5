"""One new statement, weighed: which of its words are the person's, which are nobody's yet (E11). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memdir.trust.evidence import Evidence
from memdir.trust.news import News
from memdir.trust.sources import Heard, Said
from memdir.trust.statements import Statement
from memdir.trust.terms import Term, meanings, squashed, terms, without_dates


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A statement and the evidence. Weights: `told` of the words that the person told, `asked` of those that
    stand only in their questions and orders, `size` of all; `loose` are the words that neither they nor the
    file used before.
    """

    statement: Statement
    text: str  # without dates
    terms: tuple[Term, ...]
    loose: tuple[Term, ...]
    told: float
    asked: float
    size: float
    said: Said
    heard: Heard
    news: News

    @classmethod
    def of(cls, statement: Statement, evidence: Evidence, news: News) -> Case:
        said = evidence.said
        text = without_dates(statement.text)
        found = tuple(terms(_unquoted(text, evidence.quoted)))
        told = sum(term.weight for term in found if said.tells(term))
        backed = sum(term.weight for term in found if said.states(term) or said.tells(term))
        if any(term.cjk for term in found):
            shared = 0.7 * len(meanings(statement.text) & said.told_meanings)
            told, backed = told + shared, backed + shared
        return cls(
            statement=statement,
            text=text,
            terms=found,
            loose=tuple(term for term in found if not said.states(term) and not news.said.states(term)),
            told=told,
            asked=backed - told,
            size=sum(term.weight for term in found),
            said=said,
            heard=evidence.heard,
            news=news,
        )

    @property
    def backed(self) -> float:
        """Weight of all that the person said, in whatever way."""
        return self.told + self.asked

    @property
    def mostly_theirs(self) -> bool:
        """Whether it says what the person said, with a name or two added."""
        return self.backed >= 1.5 and self.backed >= 0.4 * self.size


def _unquoted(text: str, quoted: Sequence[str]) -> str:
    """The text without what the person quoted in a sentence of their own: they spoke of it."""
    if not quoted:
        return text
    known = [squashed(one) for one in quoted]
    return _QUOTES.sub(lambda quote: " " if squashed(quote[0]) in known else quote[0], text)


_QUOTES = re.compile("[\"'“„«‘「『][^\"'“”„«»‘’「」『』\\n]{3,300}[\"'”“»’」』]")
