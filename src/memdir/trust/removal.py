"""What an edit takes out of a file, and did the person speak of it? (E11) Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memdir.trust.evidence import Evidence
from memdir.trust.forgetting import asked_to_forget, is_turning
from memdir.trust.sources import Spoken
from memdir.trust.statements import Statement
from memdir.trust.subject import Subject, Words
from memdir.trust.terms import keys, meanings, without_dates

MOST_PLACES = 64
"""A word that stands in more statements tells nothing more."""


def unspoken(gone: Sequence[Statement], kept: Sequence[Statement], evidence: Evidence) -> Iterator[Statement]:
    """What an edit takes out, and what neither lives on in another statement nor is spoken of."""
    left, told = _Left(kept), _Told(gone, evidence)
    parts = {one.part for one in kept}
    lines: dict[str, list[str]] = {}
    for out in gone:
        lines.setdefault(out.raw, []).append(out.text)
    subjects = {raw: Subject.of(texts) for raw, texts in lines.items()}
    claims = [subjects[out.raw] for out in gone if out.part == "body" and not out.is_reason]
    settled = any(told.speaks_of(claim, least=0.7 if left.has(claim) else 1) for claim in claims)
    for out in gone:
        subject = subjects[out.raw]
        if out.part in ("name", "description") and out.part in parts:
            continue  # it was put in other words, which are looked at as well
        if not subject.words or left.has(subject):
            continue
        if out.part != "index" and told.is_about(subject):
            continue  # without its line in the index, a memory would as good as go
        if settled and out.is_reason:
            continue  # of what the person has spoken of
        if not asked_to_forget(subject, evidence):
            yield out


class _Told:
    """What the person told, by turns, to ask what it is about."""

    def __init__(self, gone: Sequence[Statement], evidence: Evidence) -> None:
        turns: dict[int, list[Spoken]] = {}
        for one in evidence.said.spoken:
            if one.told:
                turns.setdefault(one.turn, []).append(one)
        whole = Subject.of(one.text for one in gone)
        self.turns = [Words.of(turn) for turn in turns.values()]
        ends = [Words.of([one]) for turn in turns.values() for one in turn if is_turning(one)]
        self.ends = [one for one in ends if whole.shared(one) >= 0.7]

    def is_about(self, subject: Subject) -> bool:
        """Whether a turn speaks of it, or a sentence that changes something names it."""
        enough = min(2, len(subject.words))
        return any(subject.shared(turn) >= enough for turn in self.turns) or any(
            subject.shared(end) >= 0.7 for end in self.ends
        )

    def speaks_of(self, subject: Subject, *, least: float) -> bool:
        """Whether a turn has so many words of it."""
        return any(subject.shared(turn) >= least for turn in self.turns)


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

    def has(self, subject: Subject) -> bool:
        """Whether one statement that is left says much of the same."""
        shared = Counter(at for key in subject.words for at in self.words.get(key, ())[:MOST_PLACES])
        enough = max(0.45 * len(subject.words), min(2, len(subject.words)))
        if max(shared.values(), default=0) >= enough:
            return True
        meant = Counter(at for meaning in subject.meant for at in self.meant.get(meaning, ())[:MOST_PLACES])
        return len(subject.meant) >= 2 and max(meant.values(), default=0) >= 0.6 * len(subject.meant)
