"""Did the person ask that this goes? For deletions, and for what an edit takes out (E11). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from memdir.cues import LANGUAGES, Cue, language
from memdir.trust.evidence import Evidence
from memdir.trust.sources import Spoken, cues_of
from memdir.trust.statements import Statement, file_name, statements
from memdir.trust.terms import Term, common, keys, meanings, terms, without_dates

Heard: TypeAlias = tuple[set[str], set[str]]
"""Words and meanings."""
MOST_PLACES = 64
"""A word that stands in more statements tells nothing more."""

_ORDERS = frozenset({Cue.EXPLICIT, Cue.NOTE})
_ENDS = frozenset({Cue.FORGET, Cue.RETRACT, Cue.CHANGE, Cue.CORRECTION})
_WISHES = frozenset({Cue.FORGET, Cue.EXPLICIT, Cue.NOTE, Cue.RETRACT, Cue.ALL})
SHORT = 120
"""Characters."""
_NOT_MEANT = frozenset({Cue.HYPOTHETICAL, Cue.SARCASM})


def asked_to_forget(file: str, before: str, evidence: Evidence) -> bool:
    """Whether the person asked to forget a memory, took it back, or said what it says no longer holds."""
    texts = [file_name(file).text, *(one.text for one in statements(file, before))]
    own = _Own.of(texts)
    spoken = [_in_any_language(one) for one in evidence.said.spoken]
    for at, one in enumerate(spoken):
        if one.cues & _NOT_MEANT or not one.cues & _ENDS:
            continue
        near = [other for other in spoken[max(0, at - 2) : at + 3] if other.turn == one.turn]
        if _all_of_it(one):
            return True
        if _asks(one, near) and own.shares(heard_together(near)) >= 1:
            return True
        if (
            one.cues & {Cue.RETRACT, Cue.CHANGE, Cue.CORRECTION, Cue.FORGET}
            and own.shares(heard_together([one])) >= 2
        ):
            return True
        if _asks(one, near) and Cue.POINTS in one.cues and any(own.in_text(said) for said in evidence.agent):
            return True
    return False


def _in_any_language(one: Spoken) -> Spoken:
    """A short sentence tells little of its language: what it wishes is looked for in all of them."""
    if one.cues & _ENDS or len(one.text) > SHORT:
        return one
    return replace(one, cues=one.cues | cues_of(one.text, [language(name) for name in LANGUAGES], _WISHES))


def unspoken(gone: Sequence[Statement], kept: Sequence[Statement], evidence: Evidence) -> Iterator[Statement]:
    """What an edit takes out, and what neither lives on in another statement nor is spoken of."""
    left = _Left(kept)
    parts = {one.part for one in kept}
    whole = _Own.of(one.text for one in gone)
    told: dict[int, list[Spoken]] = {}
    for one in evidence.said.spoken:
        if one.told:
            told.setdefault(one.turn, []).append(one)
    lines: dict[str, list[str]] = {}
    for out in gone:
        lines.setdefault(out.raw, []).append(out.text)
    turns = [heard_together(turn) for turn in told.values()]
    ends = [heard_together([one]) for turn in told.values() for one in turn if one.cues & _ENDS]
    ends = [one for one in ends if whole.shares(one) >= 0.7]
    for out in gone:
        own = _Own.of(lines[out.raw])
        if out.part in ("name", "description") and out.part in parts:
            continue  # it was put in other words, which are looked at as well
        if not own.words or left.has(own):
            continue
        if any(own.shares(turn) >= min(2, len(own.words)) for turn in turns):
            continue
        if not any(own.shares(end) >= 0.7 for end in ends):
            yield out


def _asks(one: Spoken, near: Sequence[Spoken]) -> bool:
    """A wish to forget; most of its words may be about files, so a word for memories must be near."""
    if not one.cues & {Cue.FORGET, Cue.RETRACT}:
        return False
    return (
        bool(one.cues & _ORDERS) or any(Cue.NOTE in other.cues for other in near) or Cue.RETRACT in one.cues
    )


def _all_of_it(one: Spoken) -> bool:
    return (
        Cue.FORGET in one.cues and Cue.ALL in one.cues and Cue.NOTE in one.cues and len(terms(one.text)) <= 4
    )


def is_exact(key: str) -> bool:
    """Whether a key is a word's own, not the beginning that its forms share."""
    return not key.endswith("~")


class _Own:
    """The words of a memory."""

    def __init__(self, words: dict[str, Term], keys: set[str], meant: frozenset[str]) -> None:
        self.words = words
        self.keys = keys
        self.meant = meant

    @classmethod
    def of(cls, texts: Iterable[str]) -> _Own:
        whole = "\n".join(texts)
        text = without_dates(whole)
        return cls({term.key: term for term in terms(text)}, keys(text), meanings(whole))

    def shares(self, spoken: Heard) -> float:
        """How many of its words the person used; a common word counts little more than half."""
        theirs, meant = spoken
        exact = set(filter(is_exact, self.keys & theirs))
        loose = (self.keys & theirs) - exact
        covered = {key[:6] + "~" for key in exact}
        count = sum(1.0 if key not in common() else 0.7 for key in exact) + len(loose - covered) * 0.7
        return count + 0.7 * len((self.meant & meant) - exact)

    def in_text(self, text: str) -> bool:
        """Whether a text speaks of it."""
        theirs = keys(text)
        return len([key for key in self.words if key in theirs]) >= min(2, len(self.words))


class _Left:
    """What an edit leaves, by words."""

    def __init__(self, kept: Sequence[Statement]) -> None:
        self.words: dict[str, list[int]] = {}
        self.meant: dict[str, list[int]] = {}
        for at, one in enumerate(kept):
            for key in keys(without_dates(one.text)):
                self.words.setdefault(key, []).append(at)
            for meaning in meanings(one.text):
                self.meant.setdefault(meaning, []).append(at)

    def has(self, own: _Own) -> bool:
        """Whether one statement that is left says much of the same."""
        shared = Counter(at for key in own.words for at in self.words.get(key, ())[:MOST_PLACES])
        if max(shared.values(), default=0) >= 0.45 * len(own.words):
            return True
        meant = Counter(at for meaning in own.meant for at in self.meant.get(meaning, ())[:MOST_PLACES])
        return len(own.meant) >= 2 and max(meant.values(), default=0) >= 0.6 * len(own.meant)


def heard_together(spoken: Iterable[Spoken]) -> Heard:
    """The words of some sentences, and what they mean."""
    theirs: set[str] = set()
    meant: set[str] = set()
    for one in spoken:
        theirs |= one.keys
        meant |= one.meanings
    return theirs, meant
