"""What the person takes back later in the talk is no candidate any more."""

from __future__ import annotations

from collections.abc import Sequence

from memdir.cues import Cue
from memdir.extract.local.candidates import Candidate
from memdir.extract.local.speech import Sentence
from memdir.memory.words import words

JUST_NOW = 3
"""So many turns back (the assistant's included) a bare "scratch that" reaches."""


def standing(candidates: Sequence[Candidate], said: Sequence[Sentence]) -> list[Candidate]:
    """The candidates that no later sentence takes back."""
    retractions = [sentence for sentence in said if Cue.RETRACT in sentence.cues]
    return [one for one in candidates if not any(_takes_back(one_of, said, one) for one_of in retractions)]


def _takes_back(sentence: Sentence, said: Sequence[Sentence], candidate: Candidate) -> bool:
    if sentence.turn < candidate.turn:
        return False
    if sentence.turn == candidate.turn:
        return sentence.text not in candidate.text and sentence.block == candidate.sentences[-1].block
    if Cue.ALL in sentence.cues or sentence.turn - candidate.turn <= JUST_NOW:
        return True
    near = " ".join(other.said for other in said if other.turn == sentence.turn)
    if set(words(sentence.text)) & set(words(candidate.text)):
        return True
    return bool(_names(near) & _names(candidate.text))


def _names(text: str) -> set[str]:
    return {word for word in words(text) if len(word) > 1}
