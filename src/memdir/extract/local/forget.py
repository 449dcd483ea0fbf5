"""The person's "forget …" becomes deletions, of the right file only.

A target is named in the same turn (or, where the person only points at it, in the words of the turn
before). It must be clearly nearer to one memory than to all others; if two are equally near, old and new
decide ("the old CI"), else nothing is deleted.
"""

from __future__ import annotations

from collections.abc import Sequence

from memdir.extract.local.cues import Cue, found, tables_for
from memdir.extract.local.speech import Sentence
from memdir.extract.local.topics import matches
from memdir.extract.local.values import Delete, Evidence, Known
from memdir.memory.words import words

CLEAR = 0.16
"""A memory must be at least this near to what the person said."""
MARGIN = 1.3
"""And nearer than the next one by this factor."""


def forgotten(said: Sequence[Sentence], existing: Sequence[Known], *, before: str = "") -> list[Delete]:
    """Deletions the person asks for in one turn. `before`: the turns before it, for "forget that one"."""
    deletions: list[Delete] = []
    for at, sentence in enumerate(said):
        if not _asks(sentence):
            continue
        near = " ".join(other.said for other in said[max(0, at - 1) : at + 2])
        target = _target(sentence, near, existing, before)
        if target and target.file not in {deletion.file for deletion in deletions}:
            evidence = Evidence(turn=sentence.turn, sentence=sentence.said)
            deletions.append(
                Delete(file=target.file, reason="the person asked to forget it", evidence=evidence)
            )
    return deletions


def _asks(sentence: Sentence) -> bool:
    """Alone, most forget words may be about files; beside a word for memories they are a wish."""
    if Cue.FORGET not in sentence.cues or sentence.cues & {Cue.HYPOTHETICAL, Cue.SARCASM}:
        return False
    return Cue.NOTE in sentence.cues or Cue.EXPLICIT in sentence.cues


def _target(sentence: Sentence, near: str, existing: Sequence[Known], before: str) -> Known | None:
    for text in (sentence.said, near):
        if target := _clearly(text, existing, sentence.cues):
            return target
    points_back = Cue.POINTS in sentence.cues or len(set(words(sentence.said))) <= 3
    return _clearly(before, existing, sentence.cues) if points_back and before else None


def _clearly(text: str, existing: Sequence[Known], cues: frozenset[Cue]) -> Known | None:
    near = [match for match in matches(text, existing) if match.score >= CLEAR]
    if not near:
        return None
    rivals = [match for match in near if match.score * MARGIN >= near[0].score]
    if len(rivals) == 1:
        return near[0].known
    age = cues & {Cue.OLD, Cue.NEW}
    same_age = [match.known for match in rivals if age and _age(match.known) == age]
    return same_age[0] if len(same_age) == 1 else None


def _age(known: Known) -> frozenset[Cue]:
    label = f"{known.name} {known.description}"
    return found(label, tables_for(label)) & {Cue.OLD, Cue.NEW}
