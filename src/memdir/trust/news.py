"""Statements that are no news: the file, or another memory, says them already (E11). Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memdir.trust.sources import Said, sentences
from memdir.trust.statements import Statement, is_index, plain, statements
from memdir.trust.terms import keys, meanings, squashed, terms, windows

NEAREST = 8
"""So many statements of a file are compared with a new one."""
MOST_PLACES = 64
"""A word that stands in more statements of a file tells nothing more."""
SHORTEST_CUT = 24
"""A statement cut short is known again from so many letters on."""


@dataclass(frozen=True, slots=True)
class News:
    """What a file said before, and what known and injected memories say."""

    marks: frozenset[str]
    ordered: tuple[str, ...]  # those that may stand cut short: of a topic, beside the whole
    own: tuple[Statement, ...]  # of the file itself
    said: Said  # the words of the file itself
    places: Mapping[str, Sequence[int]]  # word -> the file's statements that have it

    @classmethod
    def of(
        cls, file: str, before: str | None, after: str, known: Iterable[str], injected: Iterable[str]
    ) -> News:
        own = tuple(statements(file, before)) if before else ()
        told = [one.mark for one in own]
        for text in known:
            told += [one.mark for one in statements("x.md", text)]
        if before is None:
            for text in injected:
                told += [squashed(plain(line)) for line in text.splitlines()]
                told += [squashed(plain(sentence)) for sentence in sentences(text)]
        marks = frozenset(mark for mark in told if len(mark) > 3)
        whole = marks if is_index(file) else marks & {one.mark for one in statements(file, after)}
        said = Said(spoken=[])
        if before:
            said.keys, said.meanings, said.windows = keys(before), set(meanings(before)), windows(before)
            said.text = before.casefold()
        places: dict[str, list[int]] = {}
        for at, one in enumerate(own):
            for key in {term.key for term in terms(one.text)}:
                places.setdefault(key, []).append(at)
        return cls(marks=marks, ordered=tuple(sorted(whole)), own=own, said=said, places=places)

    def alike(self, words: Collection[str]) -> list[Statement]:
        """The statements of the file that share most with these words, the nearest first."""
        shared = Counter(at for word in words for at in self.places.get(word, ())[:MOST_PLACES])
        return [self.own[at] for at, _ in shared.most_common(NEAREST)]

    def is_old(self, statement: Statement) -> bool:
        """Whether it was said before, whole or cut short."""
        mark = statement.mark
        if mark in self.marks:
            return True
        if len(mark) < SHORTEST_CUT or (statement.part == "index" and not _is_cut(statement.text)):
            return False
        at = bisect_left(self.ordered, mark)
        return at < len(self.ordered) and self.ordered[at].startswith(mark)


def _is_cut(text: str) -> bool:
    """Whether an entry shows that it says only the beginning."""
    return text.rstrip().endswith(("…", "..."))
