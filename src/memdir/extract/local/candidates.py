"""Sentences of a talk become candidates: what belongs together, of one kind, worth a memory on its own.

A sentence that scores enough is a *seed*. Within its paragraph (or list item) seeds of one kind are one
candidate, and the plain statements beside them come along: they hold the reason or the subject. Questions,
orders, jokes, things meant only for now, and sentences with a secret stay out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby

from memdir.cues import Cue, union
from memdir.extract.local.score import Verdict, best_kind, judge
from memdir.extract.local.secrecy import without_secrets
from memdir.extract.local.speech import Sentence
from memdir.extract.local.values import Kind
from memdir.memory.words import words

LEAST_WORDS = 2
"""With fewer words a passage says nothing that is understood later."""
INTRODUCTION = -1.0
"""And so much a statement about which the assistant asked, to be told with the answer."""
COMPANION = -1.5
"""So much a sentence beside a seed must be worth to come along."""
NEIGHBOURS = 2
"""How many plain statements on either side of a seed come along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What one passage would make a memory of. `seeds` are the places in `sentences` that scored."""

    kind: Kind
    score: float
    sentences: tuple[Sentence, ...]
    seeds: tuple[int, ...]
    wished: bool  # the person asked for it to be remembered
    about: tuple[str, ...] = ()  # subject words of the turn it answers, where it needs them
    because: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def seed(self) -> Sentence:
        """Among the sentences that scored the one that says most; of a rule, one that says what to do."""
        orders = self.kind == "feedback"

        def telling(sentence: Sentence) -> tuple[bool, int]:
            ordered = orders and Cue.DIRECTIVE in sentence.cues and Cue.BACK not in sentence.cues
            return ordered, min(len(set(words(sentence.text))), 8)

        return max((self.sentences[at] for at in self.seeds), key=telling)

    @property
    def seed_days(self) -> tuple[date, ...]:
        """The days named in the sentences that scored."""
        return tuple(dict.fromkeys(day for at in self.seeds for day in self.sentences[at].days))

    @property
    def cues(self) -> frozenset[Cue]:
        return union(sentence.cues for sentence in self.sentences)

    @property
    def points_back(self) -> bool:
        """Does it approve of something it does not name itself?"""
        return Cue.CONTINUE in self.cues or (Cue.POINTS in self.cues and self.own_words < LEAST_WORDS)

    @property
    def own_words(self) -> int:
        """How many different words it brings."""
        return len(set(words(self.text)))

    @property
    def turn(self) -> int:
        return self.sentences[0].turn


def candidates(sentences: Sequence[Sentence], *, announced: bool = False) -> list[Candidate]:
    """All candidates of one turn, in order.

    `announced`: the turn before ended in "remember something for me".
    """
    heard = spoken(sentences, announced=announced)
    told = [sentence for sentence, _ in heard]
    judged = [
        (sentence, judge(sentence.cues, around))
        for at, (sentence, around) in enumerate(heard)
        if not _heads_a_list(told, at)
    ]
    blocks = [list(block) for _, block in groupby(judged, key=lambda pair: pair[0].block)]
    return [candidate for block in blocks for candidate in _of_block(block)]


def spoken(
    sentences: Sequence[Sentence], *, announced: bool = False
) -> list[tuple[Sentence, frozenset[Cue]]]:
    """The sentences of one turn as they are judged, each with the cues around it."""
    told = _carried(without_secrets(sentences))
    if announced and told:
        told[0] = replace(told[0], cues=told[0].cues | {Cue.REMEMBER})
    cues = [sentence.cues for sentence in told]
    return [(sentence, union(cues[:at] + cues[at + 1 :])) for at, sentence in enumerate(told)]


def _heads_a_list(sentences: Sequence[Sentence], at: int) -> bool:
    """The line above a list says nothing that its items do not say better."""
    after = sentences[at + 1] if at + 1 < len(sentences) else None
    return after is not None and after.item and not sentences[at].item


# ---------------------------------------------------------------------------------- what carries over

_FROM_HEAD = frozenset(
    {Cue.STANDING, Cue.REMEMBER, Cue.TEAM, Cue.LIMITED, Cue.HYPOTHETICAL, Cue.QUOTED, Cue.DECISION}
)
_FROM_OPENING = frozenset({Cue.CORRECTION})
_TO_NEIGHBOURS = frozenset({Cue.REASON, Cue.CHANGE})


def _carried(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Cues reach further than their sentence.

    A list's introduction holds for its items, a turn's opening "no" for all of it, a reason for its
    neighbours.
    """
    opening = sentences[0].cues & _FROM_OPENING if sentences else frozenset()
    carried = []
    for at, sentence in enumerate(sentences):
        cues = sentence.cues | (sentence.head_cues & _FROM_HEAD) | opening
        after = sentences[at + 1] if at + 1 < len(sentences) else None
        before = sentences[at - 1] if at else None
        if after and after.block == sentence.block:
            cues |= after.cues & (
                _TO_NEIGHBOURS | ({Cue.REMEMBER, Cue.STANDING} if Cue.BACK in after.cues else set())
            )
        if before and before.block == sentence.block:
            cues |= before.cues & (_TO_NEIGHBOURS | ({Cue.REMEMBER} if _announces(before) else set()))
        if sentence.cues & {Cue.QUESTION, Cue.RETRACT} and Cue.REMEMBER not in sentence.cues:
            cues -= {Cue.REMEMBER}
        carried.append(replace(sentence, cues=frozenset(cues)))
    return carried


def _announces(sentence: Sentence) -> bool:
    """ "One thing to remember:" says nothing itself; what follows is meant."""
    if Cue.BACK in sentence.cues:
        return False
    if Cue.INDEFINITE in sentence.cues:
        return True
    empty = sentence.text.endswith((":", "：")) or len(set(words(sentence.text))) < 2
    return empty and Cue.REMEMBER in sentence.cues


def announces(sentences: Sequence[Sentence]) -> bool:
    """Does the turn end by saying that something to remember comes next?"""
    return bool(sentences) and _announces(sentences[-1])


def continued(candidate: Candidate, answer: Sequence[Sentence]) -> Candidate:
    """The candidate with what the person answered when the assistant asked about it."""
    added = tuple(s for s in _with_verdicts(answer) if s[0].block == answer[0].block and _comes_along(s))
    return replace(candidate, sentences=(*candidate.sentences, *(sentence for sentence, _ in added)))


def introduced(candidate: Candidate, before: Sequence[Sentence]) -> Candidate:
    """The candidate with what the person had said before the assistant asked about it."""
    worthy = [(s, v) for s, v in _with_verdicts(before) if v.worth >= INTRODUCTION and not s.cues & _LEFT_OUT]
    if not worthy:
        return candidate
    best, _ = max(worthy, key=lambda one: one[1].worth)
    seeds = tuple(at + 1 for at in candidate.seeds)
    return replace(candidate, sentences=(best, *candidate.sentences), seeds=(0, *seeds))


def _with_verdicts(sentences: Sequence[Sentence]) -> list[tuple[Sentence, Verdict]]:
    return [(sentence, judge(sentence.cues, around)) for sentence, around in spoken(sentences)]


def joined(earlier: Candidate, later: Candidate) -> Candidate:
    """Two candidates about one thing, as one."""
    shift = len(earlier.sentences)
    return replace(
        earlier,
        score=max(earlier.score, later.score),
        sentences=(*earlier.sentences, *later.sentences),
        seeds=(*earlier.seeds, *(at + shift for at in later.seeds)),
        wished=earlier.wished or later.wished,
    )


def part(candidate: Candidate, places: Sequence[int]) -> Candidate:
    """The candidate with only some of its sentences."""
    seeds = tuple(new for new, old in enumerate(places) if old in candidate.seeds)
    return replace(candidate, sentences=tuple(candidate.sentences[at] for at in places), seeds=seeds or (0,))


# ---------------------------------------------------------------------------------- grouping

_Judged = tuple[Sentence, Verdict]
_LEFT_OUT = frozenset({Cue.QUESTION, Cue.SARCASM, Cue.HYPOTHETICAL, Cue.RETRACT, Cue.LIMITED, Cue.FORGET})


def _of_block(block: Sequence[_Judged]) -> list[Candidate]:
    """A paragraph is about one thing, but for pointers to outside systems: they are memories of their own."""
    seeds = {at: _family(verdict) for at, (_, verdict) in enumerate(block) if verdict.enough}
    if any(Cue.LIMITED in sentence.cues for sentence, _ in block):
        seeds = {at: family for at, family in seeds.items() if _outlasts(block[at])}
    if not seeds:
        return []
    for at in seeds:
        if at - 1 in seeds and seeds[at - 1] == "reference" and _points_at(block[at], block[at - 1]):
            seeds[at] = "reference"
    groups: dict[str, list[int]] = {}
    for at in range(len(block)):
        if at in seeds and Cue.BACK in block[at][0].cues and at - 1 in seeds:
            groups[seeds[at - 1]].append(at)
        elif at in seeds:
            groups.setdefault(seeds[at], []).append(at)
        elif (nearest := _nearest(at, seeds)) is not None and (
            _comes_along(block[at]) or _is_called_harmless(block, at)
        ):
            groups.setdefault(seeds[nearest], []).append(at)
    return [_candidate([block[at] for at in places]) for places in groups.values()]


def _outlasts(judged: _Judged) -> bool:
    """Beside something meant only for now: a fact, an explicit wish, or a rule that calls itself one."""
    sentence, verdict = judged
    return verdict.kind in ("project", "reference") or bool(sentence.cues & {Cue.STANDING, Cue.REMEMBER})


def _points_at(judged: _Judged, before: _Judged) -> bool:
    """ "Look there first": a weaker sentence about the place just named."""
    sentence, verdict = judged
    return (
        Cue.POINTS in sentence.cues and Cue.REMEMBER not in sentence.cues and verdict.worth <= before[1].worth
    )


def _family(verdict: Verdict) -> str:
    return "reference" if verdict.kind == "reference" else "saying"


def _nearest(at: int, kinds: Mapping[int, str]) -> int | None:
    near = [seed for seed in kinds if abs(seed - at) <= NEIGHBOURS]
    return min(near, key=lambda seed: (abs(seed - at), seed < at)) if near else None


def _comes_along(judged: _Judged) -> bool:
    sentence, verdict = judged
    if sentence.cues & _LEFT_OUT or verdict.worth < COMPANION:
        return False
    if Cue.APPROVAL in sentence.cues and Cue.STATEMENT not in sentence.cues:
        return False  # "good catch"
    return len(set(words(sentence.text))) >= 2


def _is_called_harmless(block: Sequence[_Judged], at: int) -> bool:
    """Whether the next sentence is about what this one says of some output."""
    after = block[at + 1][0].cues if at + 1 < len(block) else frozenset()
    return Cue.EMITS in block[at][0].cues and {Cue.HARMLESS, Cue.IGNORE} <= after


def _candidate(judged: Sequence[_Judged]) -> Candidate:
    kind = _kind(judged)
    kept = [one for one in judged if kind in ("user", "feedback") or not _is_aside(one)]
    best = max((verdict for _, verdict in kept), key=lambda verdict: verdict.worth)
    return Candidate(
        kind=kind,
        score=best.worth,
        sentences=tuple(sentence for sentence, _ in kept),
        seeds=tuple(at for at, (_, verdict) in enumerate(kept) if verdict.enough),
        wished=any(Cue.REMEMBER in sentence.cues for sentence, _ in kept),
        because=best.because,
    )


def _kind(judged: Sequence[_Judged]) -> Kind:
    """The kind that its sentences together speak for; a bare "remember that" speaks for none."""
    telling = [verdict for sentence, verdict in judged if Cue.BACK not in sentence.cues]
    totals: dict[Kind, float] = {}
    for verdict in telling or [verdict for _, verdict in judged]:
        for kind, share in verdict.kinds.items():
            totals[kind] = totals.get(kind, 0.0) + share * verdict.share
    return best_kind(totals)


def _is_aside(judged: _Judged) -> bool:
    """ "Wait, don't merge" beside a fact."""
    sentence, verdict = judged
    return not verdict.enough and Cue.DIRECTIVE in sentence.cues and Cue.STATEMENT not in sentence.cues
