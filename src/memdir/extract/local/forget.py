"""The person's "forget …" becomes deletions, of the right file only.

A target is named in the same turn (or, where the person only points at it, in the words of the turn
before). It must be clearly nearer to one memory than to all others; if two are equally near, old and new
decide ("the old CI"), else nothing is deleted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memdir.cues import Cue, found, tables_for, union
from memdir.extract.local.speech import Sentence
from memdir.extract.local.values import Delete, Evidence, Known
from memdir.memory.words import words

CLEAR = 0.5
"""A memory must share at least so much with what the person said; a word that only it has counts 1."""
LONGEST_BARE = 12
"""Characters of a clause that orders to forget and has no room to say what."""
MARGIN = 1.3
"""And more than the next one, by this factor."""


def forgotten(said: Sequence[Sentence], existing: Sequence[Known], *, before: str = "") -> list[Delete]:
    """Deletions the person asks for in one turn. `before`: the assistant's turn before it."""
    deletions: dict[str, Delete] = {}
    for at, sentence in enumerate(said):
        if not asks(said, at, before=before):
            continue
        near = " ".join(other.said for other in said[max(0, at - 1) : at + 2])
        if target := _target(sentence, near, existing, before):
            evidence = Evidence(turn=sentence.turn, sentence=sentence.said)
            reason = "the person asked to forget it"
            deletions.setdefault(target.file, Delete(file=target.file, reason=reason, evidence=evidence))
    return list(deletions.values())


def asks(said: Sequence[Sentence], at: int, *, before: str = "") -> bool:
    """Is this sentence of a turn a wish to forget?

    Alone, most forget words may be about files; beside a word for memories they are a wish.
    """
    sentence = said[at]
    if Cue.FORGET not in sentence.cues or sentence.cues & _NOT_MEANT:
        return False
    if sentence.cues & {Cue.NOTE, Cue.EXPLICIT}:
        return True
    if not _points_back(sentence):
        return False
    earlier = union(other.cues for other in said[:at]) if at else frozenset()
    return Cue.NOTE in earlier or (bool(before) and Cue.NOTE in found(before, tables_for(before)))


_NOT_MEANT = frozenset({Cue.HYPOTHETICAL, Cue.SARCASM, Cue.LIMITED})


def _points_back(sentence: Sentence) -> bool:
    """ "Delete it" names nothing itself."""
    if Cue.POINTS in sentence.cues and len(set(words(sentence.said))) <= 3:
        return True
    clause = _CLAUSE.split(sentence.said, maxsplit=1)[0]
    return len(clause) <= LONGEST_BARE and Cue.FORGET in found(clause, tables_for(sentence.said))


def _target(sentence: Sentence, near: str, existing: Sequence[Known], before: str) -> Known | None:
    for text in (sentence.said, near):
        if target := _clearly(text, existing, sentence.cues):
            return target
    return _clearly(before, existing, sentence.cues) if before and _points_back(sentence) else None


_CLAUSE = re.compile(r"[,;:.!?，；：。！？]|\s[-–—]\s")


def _clearly(text: str, existing: Sequence[Known], cues: frozenset[Cue]) -> Known | None:
    """The memory that the words name, if there is only one such."""
    near = sorted(_shares(text, existing).items(), key=lambda share: -share[1])
    if not near or near[0][1] < CLEAR:
        return None
    rivals = [file for file, share in near if share * MARGIN >= near[0][1]]
    named = {known.file: known for known in existing}
    if len(rivals) == 1:
        return named[rivals[0]]
    age = cues & {Cue.OLD, Cue.NEW}
    same_age = [named[file] for file in rivals if age and _age(named[file]) == age]
    return same_age[0] if len(same_age) == 1 else None


def _shares(text: str, existing: Sequence[Known]) -> dict[str, float]:
    """For each memory, how many of the words it has; a word that several have is shared between them."""
    vocabulary = {known.file: set(words(known.text)) for known in existing}
    shares = dict.fromkeys(vocabulary, 0.0)
    for word in {word for word in words(text) if len(word) > 1}:
        having = [file for file, known_words in vocabulary.items() if word in known_words]
        for file in having:
            shares[file] += 1 / len(having)
    return shares


def _age(known: Known) -> frozenset[Cue]:
    label = f"{known.name} {known.description}"
    return found(label, tables_for(label)) & {Cue.OLD, Cue.NEW}
