"""A sentence's cues become a kind of memory and a score that can be read back.

`WEIGHTS` says which cues together speak for which kind, `AGAINST` what speaks against. A sentence of
`ENOUGH` or more is worth a memory. There is nothing else to it: to see why a sentence was kept, look at
`Verdict.because`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from memdir.extract.local.cues import Cue
from memdir.extract.local.values import Kind

ENOUGH = 3.0

_Weights: TypeAlias = "tuple[tuple[frozenset[Cue], float], ...]"


def _weights(*rows: tuple[float, str]) -> _Weights:
    return tuple((frozenset(Cue(word) for word in cues.split()), weight) for weight, cues in rows)


WEIGHTS: Mapping[Kind, _Weights] = {
    "feedback": _weights(
        (2.0, "standing"),
        (1.0, "standing statement"),
        (1.5, "standing directive"),
        (1.0, "standing reason"),
        (2.5, "durable directive"),
        (0.5, "durable"),
        (0.5, "durable reason"),
        (2.0, "case directive statement"),
        (0.5, "case reason"),
        (0.5, "reason"),
        (0.5, "reason long"),
        (0.5, "reason first statement"),
        (1.0, "reason directive"),
        (1.0, "reason directive people"),
        (1.0, "prohibit organisation"),
        (1.0, "prohibit people statement"),
        (1.0, "prohibit reason"),
        (3.0, "continue"),
        (1.0, "continue approval"),
        (0.5, "correction"),
        (2.5, "correction directive reason"),
        (1.5, "correction prohibit statement"),
        (1.0, "team directive"),
        (1.5, "team durable"),
        (2.0, "team practice"),
        (1.0, "practice statement"),
        (0.5, "practice reason"),
        (0.5, "practice first"),
        (1.0, "preference directive"),
        (0.5, "named directive"),
        (2.5, "topic change"),
    ),
    "user": _weights(
        (3.0, "role first"),
        (1.0, "role"),
        (2.0, "role first directive"),
        (2.0, "preference"),
        (1.5, "prefers statement"),
        (1.0, "preference durable"),
        (1.0, "preference standing"),
        (1.0, "preference reason"),
        (1.0, "preference directive"),
        (2.5, "topic change"),
    ),
    "project": _weights(
        (0.5, "dated"),
        (1.5, "dated commitment"),
        (1.5, "ahead commitment"),
        (1.5, "ahead statement"),
        (0.5, "ahead first"),
        (0.5, "ahead reason"),
        (1.0, "ahead due statement"),
        (2.5, "ahead change"),
        (1.5, "ahead topic"),
        (2.5, "topic change"),
        (0.5, "named dated"),
        (1.5, "recurring statement"),
        (1.0, "recurring commitment"),
        (2.5, "decided"),
        (0.5, "decided statement"),
        (0.5, "decision"),
        (0.5, "decision statement"),
        (1.5, "decision reason"),
        (1.0, "decision first"),
        (1.0, "decision team"),
        (1.0, "decision durable"),
        (0.5, "decision long"),
        (0.5, "reason"),
        (0.5, "organisation"),
        (1.0, "organisation statement"),
        (0.5, "organisation reason"),
        (0.5, "organisation dated"),
        (1.0, "incident"),
        (1.5, "incident dated"),
        (1.5, "incident dated past"),
        (1.0, "incident long"),
        (0.5, "incident past"),
        (0.5, "incident reason"),
    ),
    "reference": _weights(
        (1.5, "url"),
        (1.0, "url statement"),
        (2.5, "url place"),
        (2.0, "url outside"),
        (1.5, "url place outside"),
        (1.0, "url owner"),
        (1.5, "place outside"),
        (1.5, "place outside named"),
        (0.5, "place"),
        (1.0, "place named"),
        (1.0, "outside named"),
        (1.0, "owner outside"),
        (2.5, "topic change"),
        (1.0, "owner named"),
        (0.5, "owner named outside"),
    ),
}
"""Points for a kind when all the named cues are there."""

AGAINST: Mapping[Cue, Mapping[Kind, float]] = {
    Cue.QUESTION: dict.fromkeys(WEIGHTS, 4.0),
    Cue.HYPOTHETICAL: dict.fromkeys(WEIGHTS, 4.0),
    Cue.SARCASM: dict.fromkeys(WEIGHTS, 4.0),
    Cue.RETRACT: dict.fromkeys(WEIGHTS, 4.0),
    Cue.KNOWN: dict.fromkeys(WEIGHTS, 4.0),
    Cue.HEDGE: dict.fromkeys(WEIGHTS, 1.5),
    Cue.ELSEWHERE: dict.fromkeys(WEIGHTS, 3.0),
    Cue.MACHINERY: {"feedback": 1.0, "user": 2.0, "project": 1.0, "reference": 1.0},
    Cue.LIMITED: {"feedback": 4.0, "user": 3.0, "project": 1.5, "reference": 1.5},
    Cue.QUOTED: {"feedback": 3.5, "user": 3.5, "project": 1.5, "reference": 1.0},
    Cue.TASK: {"feedback": 2.0, "user": 2.0, "project": 2.0, "reference": 1.0},
}
"""Points taken off."""

AROUND: Mapping[Cue, Mapping[Kind, float]] = {
    Cue.SARCASM: dict.fromkeys(WEIGHTS, 3.0),
    Cue.HYPOTHETICAL: dict.fromkeys(WEIGHTS, 2.0),
    Cue.RETRACT: dict.fromkeys(WEIGHTS, 2.0),
    Cue.LIMITED: {"feedback": 1.5, "user": 1.5, "project": 0.0, "reference": 0.0},
}
"""Points taken off when the cue stands elsewhere in the same turn."""

REMEMBER = 4.0
"""Points for an explicit wish, whatever the kind."""
PLAIN = 1.0
"""If nothing else decides, an order to be remembered is a rule, and anything else a fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Points of a sentence for every kind, and the cues the best ones came from."""

    points: Mapping[Kind, float]
    because: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        return best_kind(self.points)

    @property
    def score(self) -> float:
        return max(self.points.values())

    @property
    def enough(self) -> bool:
        return self.score >= ENOUGH


def best_kind(points: Mapping[Kind, float]) -> Kind:
    """The kind with most points; among equals the first in `WEIGHTS`."""
    return max(WEIGHTS, key=lambda kind: points.get(kind, 0.0))


def judge(cues: frozenset[Cue], around: frozenset[Cue] = frozenset()) -> Verdict:
    """The verdict on a sentence with these cues, in a turn that has those `around` it."""
    wish = REMEMBER if Cue.REMEMBER in cues and not cues & _NO_WISH else 0.0
    around = frozenset() if wish else around
    points = {kind: _points(kind, cues, around) + wish for kind in WEIGHTS}
    if wish:
        points["feedback" if Cue.DIRECTIVE in cues else "project"] += PLAIN
    because = [*_matched(best_kind(points), cues), *(["remember"] if wish else [])]
    return Verdict(points=points, because=tuple(because))


_NO_WISH = frozenset({Cue.ELSEWHERE, Cue.LIMITED})
"""To be written down in the repository, or kept for an hour: not a wish to memory."""


def _points(kind: Kind, cues: frozenset[Cue], around: frozenset[Cue]) -> float:
    score = sum(weight for needed, weight in WEIGHTS[kind] if needed <= cues)
    score -= sum(points[kind] for cue, points in AGAINST.items() if cue in cues)
    return score - sum(points[kind] for cue, points in AROUND.items() if cue in around and cue not in cues)


def _matched(kind: Kind, cues: frozenset[Cue]) -> list[str]:
    return ["+".join(sorted(needed)) for needed, _ in WEIGHTS[kind] if needed <= cues]
