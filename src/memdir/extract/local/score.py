"""A sentence's cues become its worth as a memory and its likely kind; both are sums that can be read back.

Each cue has a weight for the worth and one for every kind, and so has each cue that stands around the
sentence in the same turn. The weights are in `weights.txt`, fitted by `bench/weigh.py` to talks with known
right answers. A sentence of `ENOUGH` or more is worth a memory. There is nothing else to it: to see why a
sentence was kept, look at `Verdict.because`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TypeAlias, get_args

from memdir.cues import Cue
from memdir.extract.local.values import Kind

ENOUGH = 1.2
"""Worth is in log odds: better than three to one that the sentence is worth a memory. Talks that nothing was
fitted to say what another value costs: 2.5 silences one wrong memory in four, and one right one as well."""
WISH = 4.0
"""Worth of an explicit wish to remember, beside what the other cues say."""
RULE = 1.0
"""Worth of a standing rule in so many words ("from now on …", "always …", "I prefer …"), beside the same:
short talks are full of them, and the talks of the fit are not short."""
FACT = 0.6
"""The same for a role, a day that is due or an incident, told in a few plain words."""
STATED = 4.0
"""Worth of what the person settles in so many words: who may do what, which output means nothing."""
KINDS: tuple[Kind, ...] = get_args(Kind)
BASE = "base"
"""The row of the table that every sentence has."""

Weights: TypeAlias = Mapping[str, tuple[float, ...]]
"""Feature -> its weights for the worth and for each of `KINDS`, in that order."""

AROUND = frozenset(
    {
        Cue.APPROVAL,
        Cue.CORRECTION,
        Cue.FORGET,
        Cue.HYPOTHETICAL,
        Cue.LIMITED,
        Cue.QUESTION,
        Cue.REASON,
        Cue.REMEMBER,
        Cue.RETRACT,
        Cue.SARCASM,
        Cue.STANDING,
        Cue.TASK,
    }
)
"""The cues that tell something of the other sentences of their turn."""

_PAIRS = (
    "standing directive, durable directive, durable prohibit, case directive, case statement, durable first, "
    "directive reason, prohibit reason, correction directive, correction reason, team directive, "
    "team durable, team practice, practice reason, approval continue, standing explicit, "
    "standing reason, standing statement, "
    "role first, preference first, prefers first, preference reason, "
    "dated commitment, ahead commitment, ahead statement, recurring statement, topic change, ahead change, "
    "topic decided, topic standing, "
    "decided reason, decision reason, decided statement, organisation reason, organisation statement, "
    "incident past, incident dated, incident statement, "
    "url place, url outside, place outside, place named, owner outside, owner named, outside named"
)
PAIRS = tuple(frozenset(map(Cue, pair.split())) for pair in _PAIRS.split(", "))
"""Cues that tell more together than each for itself: two kinds of evidence for one thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How likely a sentence is worth a memory, how likely it is of each kind, and what spoke for it most."""

    worth: float
    kinds: Mapping[Kind, float]
    because: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        return best_kind(self.kinds)

    @property
    def enough(self) -> bool:
        return self.worth >= ENOUGH

    @property
    def share(self) -> float:
        """The worth as a probability."""
        return likely(self.worth)


def best_kind(kinds: Mapping[Kind, float]) -> Kind:
    """The likeliest kind; among equals the first of `KINDS`."""
    return max(KINDS, key=lambda kind: kinds.get(kind, 0.0))


def likely(odds: float) -> float:
    """Log odds as a probability."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def features(cues: frozenset[Cue], around: frozenset[Cue]) -> frozenset[str]:
    """The rows of the table that hold for a sentence."""
    cues -= _SILENT
    # "Exactly. Keep doing that." is one approval, whether it is one sentence or two.
    heard = cues | (around & {Cue.APPROVAL}) if Cue.CONTINUE in cues else cues
    pairs = (" ".join(sorted(pair)) for pair in PAIRS if pair <= heard)
    beside = (f"around {cue.value}" for cue in around & AROUND)
    return frozenset([BASE, *(cue.value for cue in cues), *pairs, *beside])


_SILENT = frozenset(
    {Cue.FILLER, Cue.PASTE, Cue.INDEFINITE, Cue.ALL, Cue.CONNECTIVE, Cue.OLD, Cue.NEW, Cue.TAKES, Cue.EMITS}
    | {Cue.HARMLESS, Cue.IGNORE, Cue.MAY, Cue.GRANTS, Cue.YOU, Cue.REPORTED}
)
"""Cues that help to read a text, and alone say nothing of its worth."""


def judge(cues: frozenset[Cue], around: frozenset[Cue] = frozenset()) -> Verdict:
    """The verdict on a sentence with these cues, in a turn that has those `around` it."""
    table = weights()
    rows = {name: table[name] for name in sorted(features(cues, around)) if name in table}
    worth, *kinds = (sum(column) for column in zip(*rows.values(), strict=True))
    wish = WISH if is_wish(cues) else 0.0
    rule = RULE if is_rule(cues) else FACT if is_fact(cues) else 0.0
    stated = is_stated(cues, around)
    shares = {kind: likely(odds) for kind, odds in zip(KINDS, kinds, strict=True)}
    if wish and not cues & _TELLING_KIND:
        shares["project"] = 1.0
    if stated:
        shares |= {kind: float(kind == stated) for kind in KINDS}
    return Verdict(
        worth=worth + wish + rule + (STATED if stated else -STATED if is_hearsay(cues) else 0.0),
        kinds=shares,
        because=tuple(_telling((name, row[0]) for name, row in rows.items())),
    )


def is_wish(cues: frozenset[Cue]) -> bool:
    """Whether the person asks in so many words to remember this, or for good not to remember something."""
    asked = Cue.REMEMBER in cues or {Cue.STANDING, Cue.EXPLICIT, Cue.PROHIBIT} <= cues
    return asked and not cues & _NO_WISH


def is_rule(cues: frozenset[Cue]) -> bool:
    """Whether the sentence lays down, for good, how something is to be done."""
    lasting = Cue.STANDING in cues or bool(Cue.DURABLE in cues and cues & {Cue.DIRECTIVE, Cue.PROHIBIT})
    return (lasting or {Cue.FIRST, Cue.PREFERENCE} <= cues) and not cues & _NO_RULE


def is_fact(cues: frozenset[Cue]) -> bool:
    """Whether the sentence says who the person is, what is due on a day, or what went wrong on one."""
    told = (
        {Cue.FIRST, Cue.ROLE},
        {Cue.AHEAD, Cue.COMMITMENT, Cue.DATED},
        {Cue.INCIDENT, Cue.PAST, Cue.DATED},
    )
    return any(cues >= one for one in told) and not cues & _NO_RULE


def is_stated(cues: frozenset[Cue], around: frozenset[Cue] = frozenset()) -> Kind | None:
    """Whether the person settles something about others, and of which kind that is: somebody other than the
    agent has their permission, or a machine's output means nothing and is to be left out.
    """
    heard = cues | around
    if heard & _NO_RULE:
        return None
    granted = Cue.GRANTS in (heard if Cue.DATED in cues else cues)
    if granted and Cue.MAY in cues and Cue.YOU not in heard:
        return "project"
    return "feedback" if {Cue.HARMLESS, Cue.IGNORE} <= cues and Cue.EMITS in heard else None


def is_hearsay(cues: frozenset[Cue]) -> bool:
    """Whether somebody else lays down a rule or tells of a permission."""
    return Cue.REPORTED in cues or {Cue.MAY, Cue.GRANTS, Cue.QUOTED} <= cues


_NO_RULE = frozenset(
    {Cue.LIMITED, Cue.QUESTION, Cue.SARCASM, Cue.RETRACT, Cue.HYPOTHETICAL, Cue.KNOWN, Cue.QUOTED, Cue.UNREAL}
)
"""Not meant, not theirs, not for long, or no news."""


_NO_WISH = frozenset(
    {Cue.ELSEWHERE, Cue.LIMITED, Cue.QUESTION, Cue.SARCASM, Cue.RETRACT, Cue.HYPOTHETICAL, Cue.KNOWN}
    | {Cue.REPORTED}
)
"""To be written down in the repository, or kept for an hour, or not meant: no wish to memory."""


_TELLING_KIND = frozenset(
    {Cue.DIRECTIVE, Cue.PROHIBIT, Cue.STANDING, Cue.ROLE, Cue.PREFERENCE, Cue.URL, Cue.OUTSIDE, Cue.OWNER}
)
"""Without any of these what is to be remembered is a plain fact."""


def _telling(found: Iterable[tuple[str, float]]) -> list[str]:
    """The features that spoke for it, the strongest first."""
    return [name for name, weight in sorted(found, key=lambda one: -one[1]) if weight > 0]


@cache
def weights() -> Weights:
    """The table as it was fitted."""
    text = resources.files(__package__).joinpath("weights.txt").read_text(encoding="utf-8")
    return read_weights(text)


def read_weights(text: str) -> Weights:
    """A table: a line each with the feature's name and its weights; lines that start with `#` are notes."""
    rows = (line.rsplit(maxsplit=1 + len(KINDS)) for line in text.splitlines() if line[:1] not in ("", "#"))
    return {name: tuple(map(float, numbers)) for name, *numbers in rows}
