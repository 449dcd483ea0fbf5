"""What the place of a sentence in the talk tells: alone or among others, new or an echo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memdir.cues import Cue
from memdir.extract.local.shapes import size
from memdir.extract.local.speech import Sentence
from memdir.extract.local.values import Turn
from memdir.memory.words import words

TERSE, AMPLE = 14, 34
"""Words: a turn of fewer is a word in passing, a turn of more explains something."""
ASKED = ("?", "？", "か。")
HEARD_TURNS, HEARD_LENGTH = 3, 2_000
"""What an echo repeats: so many turns before, so many characters of each."""


def placed(said: Sequence[Sentence], talk: Sequence[Turn], at: int) -> list[Sentence]:
    """The sentences of turn `at` with what their place tells."""
    if not said:
        return []
    of_all = frozenset(_of_turn(said, talk, at))
    heard = _heard(talk, at)
    return [
        replace(
            sentence, cues=sentence.cues | of_all | frozenset(_of_one(sentence, number, len(said), heard))
        )
        for number, sentence in enumerate(said)
    ]


def _of_turn(said: Sequence[Sentence], talk: Sequence[Turn], at: int) -> Iterator[Cue]:
    if all(turn.role == "tool" for turn in talk[:at]):
        yield Cue.OPENS
    if at and talk[at - 1].role == "assistant" and talk[at - 1].text.rstrip().endswith(ASKED):
        yield Cue.REPLIES
    length = sum(size(sentence.said) for sentence in said)
    if length < TERSE:
        yield Cue.TERSE
    elif length >= AMPLE:
        yield Cue.AMPLE


def _of_one(sentence: Sentence, number: int, count: int, heard: frozenset[str]) -> Iterator[Cue]:
    if sentence.item:
        pass  # each item of a list is for itself
    elif count == 1:
        yield Cue.ALONE
    elif number == 0:
        yield Cue.LEADS
    elif number == count - 1:
        yield Cue.CLOSES
    own = set(words(sentence.said))
    if len(own & heard) > 0.5 * len(own):
        yield Cue.ECHO


def _heard(talk: Sequence[Turn], at: int) -> frozenset[str]:
    before = talk[max(0, at - HEARD_TURNS) : at]
    return frozenset(words(" ".join(turn.text[:HEARD_LENGTH] for turn in before if turn.role != "person")))
