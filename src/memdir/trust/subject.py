"""A memory, or a line of one -> what it is about, and how much of a text names it (E11). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memdir.trust.sources import Spoken, is_among
from memdir.trust.statements import file_name, statements
from memdir.trust.terms import Term, common, keys, meanings, terms, without_dates


@dataclass(frozen=True, slots=True)
class Words:
    """The words of some sentences, and what they mean."""

    keys: frozenset[str]
    meanings: frozenset[str]

    @classmethod
    def of(cls, spoken: Iterable[Spoken]) -> Words:
        spoken = list(spoken)
        return cls(
            frozenset().union(*(one.keys for one in spoken)),
            frozenset().union(*(one.meanings for one in spoken)),
        )


class Subject:
    """The words of a memory. Its head tells what it is about: names, description, first sentence."""

    def __init__(self, text: str, *, head: str) -> None:
        dateless = without_dates(text)
        self.words: dict[str, Term] = {term.key: term for term in terms(dateless)}
        self.keys = keys(dateless)
        self.meant = meanings(text)
        self.head = Words(frozenset(keys(head)), meanings(head))

    @classmethod
    def of(cls, texts: Iterable[str]) -> Subject:
        """Of statements, all of which are head."""
        text = "\n".join(texts)
        return cls(text, head=text)

    @classmethod
    def of_memory(cls, file: str, text: str) -> Subject:
        """Of a file."""
        said = statements(file, text)
        body = [one.text for one in said if one.part == "body"]
        head = [file_name(file).text, *(one.text for one in said if one.part != "body"), *body[:1]]
        return cls("\n".join([*head, *body]), head="\n".join(head))

    def shared(self, spoken: Words) -> float:
        """How many of its words somebody used; a common word counts little more than half."""
        exact = set(filter(is_exact, self.keys & spoken.keys))
        loose = (self.keys & spoken.keys) - exact
        covered = {key[:6] + "~" for key in exact}
        count = sum(1.0 if key not in common() else 0.7 for key in exact) + len(loose - covered) * 0.7
        return count + 0.7 * len((self.meant & spoken.meanings) - exact)

    def named(self, text: str) -> tuple[float, float]:
        """The weight of a text's words that stand in the head, and of all its words. Where words are not
        separated, of the clause that names it best: half of the pairs of letters are no words.
        """
        clauses = _CLAUSES.split(text) if any(one.cjk for one in terms(text)) else [text]
        weighed = [self._named(clause) for clause in clauses]
        return max(weighed, key=lambda one: one[0] / one[1] if one[1] else 0)

    def _named(self, text: str) -> tuple[float, float]:
        found = terms(text)
        named = sum(one.weight for one in found if is_among(one, self.head.keys, self.head.meanings))
        if any(one.cjk for one in found):
            named += 0.7 * len(meanings(text) & self.head.meanings)
        return named, sum(0.2 if one.cjk else one.weight for one in found)

    def is_in(self, text: str) -> bool:
        """Whether a text speaks of it."""
        theirs = keys(text)
        return len([key for key in self.words if key in theirs]) >= min(2, len(self.words))


_CLAUSES = re.compile(r"[,，、。；;：:\n]")


def is_exact(key: str) -> bool:
    """Whether a key is a word's own, not the beginning that its forms share."""
    return not key.endswith("~")
