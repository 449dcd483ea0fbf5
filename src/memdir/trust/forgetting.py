"""Did the person ask that a memory goes? (E11) Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memdir.cues import LANGUAGES, Cue, language
from memdir.trust.endings import Ending, ending, speaks_of_memory
from memdir.trust.evidence import Evidence
from memdir.trust.sources import Spoken, cues_of
from memdir.trust.subject import Subject, Words
from memdir.trust.terms import terms

_ORDERS = frozenset({Cue.EXPLICIT, Cue.NOTE})
_TURNS = frozenset({Cue.RETRACT, Cue.CHANGE, Cue.CORRECTION, Cue.FORGET})
_WISHES = frozenset({Cue.FORGET, Cue.EXPLICIT, Cue.NOTE, Cue.RETRACT, Cue.ALL})
SHORT = 120
"""Characters."""
LAST_TURNS = 2
"""So many turns back lies what "scratch that" can mean."""
_NOT_MEANT = frozenset({Cue.HYPOTHETICAL, Cue.SARCASM})


def asked_to_forget(subject: Subject, evidence: Evidence) -> bool:
    """Whether the person asked to forget a memory, took it back, or said that it no longer holds."""
    spoken = [_in_any_language(one) for one in evidence.said.spoken]
    for at, one in enumerate(spoken):
        if one.cues & _NOT_MEANT:
            continue
        if _all_of_it(one):
            return True
        found = ending(one.text, typed=one.turn < len(evidence.person))
        if found and _is_ended(subject, one, found, spoken, evidence):
            return True
        if (found is None or found.sort == "said") and _is_turned(subject, at, spoken, evidence):
            return True
    return False


def is_turning(spoken: Spoken) -> bool:
    """Whether a sentence takes back, changes or ends something."""
    return not spoken.cues.isdisjoint(_TURNS)


def _in_any_language(one: Spoken) -> Spoken:
    """A short sentence tells little of its language: what it wishes is looked for in all of them."""
    if is_turning(one) or len(one.text) > SHORT:
        return one
    return replace(one, cues=one.cues | cues_of(one.text, [language(name) for name in LANGUAGES], _WISHES))


# ---------------------------------------------------------------------------------- what a sentence ends


def _is_ended(
    subject: Subject, one: Spoken, found: Ending, spoken: Sequence[Spoken], evidence: Evidence
) -> bool:
    """Whether what a sentence ends is the memory: it is to go and is named, or is said to hold no longer."""
    if found.sort == "work":
        return False
    if found.sort == "said" and _was_said(subject, one, spoken):
        return True
    if not terms(found.about):
        return _is_pointed_at(subject, one, spoken, evidence)
    named, size = subject.named(found.about)
    if found.sort == "goes" and not _is_of_memory(one, spoken):
        return False
    if found.sort in ("memory", "goes"):
        return named >= 0.25 * size
    if found.sort == "forget":
        return named >= 0.34 * size and (named >= 1 or any(term.cjk for term in terms(found.about)))
    return named >= 0.6 * size and (named >= 1 or Cue.STANDING in one.cues)


def _is_pointed_at(subject: Subject, one: Spoken, spoken: Sequence[Spoken], evidence: Evidence) -> bool:
    """Whether "delete it" is said of the memory: beside a sentence that names it, or of the agent's."""
    turn = [other for other in spoken if other.turn == one.turn]
    named, size = subject.named("\n".join(other.text for other in turn if other is not one))
    if _is_of_memory(one, turn) and named >= 0.25 * size > 0:
        return True
    return _is_of_memory(one, spoken, back=1) and any(subject.is_in(said) for said in evidence.agent)


def _was_said(subject: Subject, one: Spoken, spoken: Sequence[Spoken]) -> bool:
    """Whether the memory was made of what the person said a moment ago."""
    near = [other for other in spoken if other.told and 0 <= one.turn - other.turn <= LAST_TURNS]
    return subject.shared(Words.of(near)) >= 0.5 * len(subject.words) > 0


def _is_of_memory(one: Spoken, spoken: Sequence[Spoken], *, back: int = 0) -> bool:
    """Whether a turn, or one of so many before it, has a word for what is remembered."""
    return any(speaks_of_memory(other.text) for other in spoken if 0 <= one.turn - other.turn <= back)


# ---------------------------------------------------------------------------------- cues


def _is_turned(subject: Subject, at: int, spoken: Sequence[Spoken], evidence: Evidence) -> bool:
    """Whether a sentence takes the memory back by the phrases that extraction goes by, too."""
    one = spoken[at]
    if not is_turning(one):
        return False
    near = [other for other in spoken[max(0, at - 2) : at + 3] if other.turn == one.turn]
    if subject.shared(Words.of([one])) >= 2:
        return True
    if not _asks(one, near):
        return False
    told = Cue.POINTS in one.cues and any(subject.is_in(said) for said in evidence.agent)
    return told or subject.shared(Words.of(near)) >= 1


def _asks(one: Spoken, near: Sequence[Spoken]) -> bool:
    """A wish to forget; most of its words may be about files, so a word for memories must be near."""
    if not one.cues & {Cue.FORGET, Cue.RETRACT}:
        return False
    return bool(one.cues & _ORDERS) or any(Cue.NOTE in other.cues for other in near)


def _all_of_it(one: Spoken) -> bool:
    return (
        Cue.FORGET in one.cues and Cue.ALL in one.cues and Cue.NOTE in one.cues and len(terms(one.text)) <= 4
    )
