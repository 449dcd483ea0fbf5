"""What was settled, and what the person corrected, in order.

The person settles something in so many words ("let's use X"), or by agreeing to what the assistant offered:
then the offer stands below. The assistant settles something by saying how it is going to do it. What a tool
gave settles nothing, even where the assistant says it after the tool (E11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memdir.memory.words import words
from memdir.session.extractive.lines import Line
from memdir.session.extractive.signs import Sign, size
from memdir.session.extractive.talk import Call, Sentence, Talk, Turn

BARE = 3.5
"""A sentence of fewer words says nothing without the one after it, or the one that it answers."""

PICK = 12
"""In so many words somebody picks from a list."""

ANSWER = 30
"""And in so many somebody answers a question."""

ASKED = 3
"""So near to its end a question of the assistant's waits for an answer."""

TELLING, PLAIN, RULE, WEAK = 3.0, 2.0, 1.5, 0.5
"""Weights: in so many words; likely; how things are to be; perhaps, which the line says, too."""

STATEMENT = 4
"""What the person says in so many words, and neither asks nor orders, may settle something."""

SAME = 2
"""Telling words in common by which two lines are about the same; one is enough for a correction."""

BEFORE = "the assistant had said"
"""Who said what a person answers; it stands below the answer."""

HEARD = 20_000
"""Characters of the results of one turn in which the assistant's sentences are looked for."""


def decisions(talk: Talk) -> list[Line]:
    """What was settled. Where it is about something settled before, it is marked as later."""
    settled = [*_by_person(talk), *_by_assistant(talk)]
    return list(_marked(sorted(settled, key=lambda one: (one.line.at, one.place))))


def corrections(talk: Talk) -> list[Line]:
    """What the person refused or put right, and what the assistant took back."""
    found: list[Line] = []
    for turn, before in _with_before(talk.turns):
        for sentence, after in _with_after(turn.request):
            if before and (firm := _firmness(sentence, before)):
                short = size(sentence.text) < PICK and sentence.place == 0
                below = (*(_answered(before) if short else ()), *_then(after))
                found.append(_line(sentence, weight=firm, below=below))
    found += (
        _line(sentence, weight=RULE)
        for sentence in talk.said
        if sentence.who == "assistant" and Sign.SLIP in sentence.signs and not sentence.signs & _OPEN_ENDED
    )
    return sorted(found, key=lambda line: line.at)


def is_correction(sentence: Sentence) -> bool:
    """Does the person say that something is to be otherwise?"""
    return Sign.CORRECTION in sentence.signs and not sentence.signs & {Sign.EMPTY, Sign.UNSURE}


_OPEN_ENDED = frozenset({Sign.QUESTION, Sign.UNSURE, Sign.EMPTY})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settled:
    """A line of the decisions, its place in its message, and whether it says that something is otherwise."""

    line: Line
    place: int
    turns: bool


# ---------------------------------------------------------------------------------- the person


def _by_person(talk: Talk) -> Iterator[_Settled]:
    for turn, before in _with_before(talk.turns):
        for sentence, after in _with_after(turn.request):
            if sentence.place == 0 and (offer := _accepted(turn, before)):
                below = (*offer, *(_then(after) if size(sentence.text) < BARE else ()))
                yield _settled(sentence, _line(sentence, weight=TELLING, below=below))
            elif settles := _settles(sentence):
                yield _settled(sentence, _line(sentence, weight=settles))


def _settled(sentence: Sentence, line: Line) -> _Settled:
    return _Settled(line=line, place=sentence.place, turns=is_correction(sentence))


def _settles(sentence: Sentence) -> float:
    """How clearly a sentence of the person settles something; 0 = it does not."""
    if sentence.signs & _OPEN_ENDED or size(sentence.text) < 2:
        return 0.0
    if Sign.DECISION in sentence.signs:
        return TELLING
    if Sign.CHOICE in sentence.signs and Sign.TASK not in sentence.signs:
        return PLAIN
    if sentence.turn == 1 or sentence.signs & _NO_STATEMENTS or is_correction(sentence):
        return 0.0
    return RULE if Sign.RULE in sentence.signs else WEAK if size(sentence.text) >= STATEMENT else 0.0


_NO_STATEMENTS = frozenset(
    {Sign.QUESTION, Sign.UNSURE, Sign.EMPTY, Sign.TASK, Sign.AGREES, Sign.OPEN, Sign.FAILED}
)


def _accepted(turn: Turn, before: Turn | None) -> tuple[Line, ...]:
    """The offer of the assistant to which a turn agrees, or from which it picks; the question it answers."""
    if not before or not before.answer or not turn.request:
        return ()
    opening, answer = turn.request[0], before.answer
    if opening.signs & {Sign.QUESTION, Sign.CORRECTION} and Sign.AGREES not in opening.signs:
        return ()
    offers = [one for one in answer if one.signs & {Sign.PROPOSES, Sign.QUESTION} and not _announces(one)]
    asked = any(Sign.QUESTION in one.signs for one in answer[-ASKED:])
    picked = _picked(opening, answer) if size(opening.text) <= PICK else None
    agrees = Sign.AGREES in opening.signs
    if not picked and not (offers and agrees) and not (asked and size(opening.text) <= ANSWER):
        return ()
    shown = {*offers[-2:], *((picked,) if picked else ()), *_alike(opening, answer)}
    return tuple(Line(who=BEFORE, text=one.text, at=one.at) for one in answer if one in shown)


def _announces(sentence: Sentence) -> bool:
    """ "Options:": what follows says it."""
    return sentence.text.endswith((":", "：")) and size(sentence.text) < BARE


def _alike(opening: Sentence, answer: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """What the assistant had said with most of the words of the reply."""
    own = set(words(opening.text))
    shared = [(len(own & set(words(one.text))), -place) for place, one in enumerate(answer)]
    best, place = max(shared)
    return (answer[-place],) if best else ()


def _picked(opening: Sentence, answer: Sequence[Sentence]) -> Sentence | None:
    """The item of the assistant's list that an answer such as "the second one" or "B" means."""
    found = _PICKS.search(opening.text.lower())
    if not found:
        return None
    named = next(group for group in found.groups() if group)
    number = _NUMBERS.get(named, named)
    options = [one for one in answer if one.item or _LETTERED.match(one.text)]
    for one in options:
        mark = one.item or (_LETTERED.match(one.text) or [""])[0]
        if re.sub(r"\W", "", mark).lower()[-1:] == number:
            return one
    nth = int(number) if number.isdigit() else 0
    return options[nth - 1] if 0 < nth <= len(options) else None


_PICKS = re.compile(
    r"(?:option|variante?|opción|方案|选项|案|no\.|number|nummer)\s?([a-d1-9一二三四])(?!\w)"
    r"|\b(first|second|third|fourth|ersten?s?|zweiten?s?|dritten?s?|primer[ao]?|segund[ao]|tercer[ao]?)\b"
    r"|第([一二三四1-4])|([一二三四1-4])(?:つ目|番)|^\W*([a-d1-9])(?:[.,)!，。]|\s*$)"
)
_NUMBERS = {
    **dict.fromkeys(("first", "erste", "ersten", "erstes", "primer", "primera", "primero", "一"), "1"),
    **dict.fromkeys(("second", "zweite", "zweiten", "zweites", "segunda", "segundo", "二"), "2"),
    **dict.fromkeys(("third", "dritte", "dritten", "drittes", "tercer", "tercera", "tercero", "三"), "3"),
    **dict.fromkeys(("fourth", "四"), "4"),
}
_LETTERED = re.compile(
    r"\W*(?:option |variante |opción |方案|选项|案)?([A-Da-d1-9一二三四])[:：)）.]\s?", re.IGNORECASE
)


# ---------------------------------------------------------------------------------- the assistant


def _by_assistant(talk: Talk) -> Iterator[_Settled]:
    heard: dict[int, str] = {}
    for event in talk.events:
        if isinstance(event, Call):
            heard[event.turn] = (heard.get(event.turn, "") + " " + event.result)[-HEARD:]
        elif event.who == "assistant" and not event.signs & _OPEN_ENDED:
            weight = PLAIN if Sign.DECISION in event.signs else RULE if Sign.INTENT in event.signs else 0.0
            if weight and size(event.text) >= 2 and not _repeats(event.text, heard.get(event.turn, "")):
                yield _settled(event, _line(event, weight=weight))


def _repeats(text: str, heard: str) -> bool:
    """Does the assistant only say what a tool gave?"""
    return " ".join(text.split()).rstrip(" .。!！") in " ".join(heard.split())


# ---------------------------------------------------------------------------------- together


def _marked(settled: Sequence[_Settled]) -> Iterator[Line]:
    """The lines, those marked that are about something settled by an earlier message."""
    before: dict[str, int] = {}
    for one in settled:
        about = _about(one.line)
        shared = sum(before.get(word, one.line.at) < one.line.at for word in about)
        later = shared >= (1 if one.turns else SAME)
        yield replace(one.line, who=f"{one.line.who}, later") if later else one.line
        for word in about:
            before.setdefault(word, one.line.at)


def _about(line: Line) -> set[str]:
    """The words that tell what a line is about."""
    return _about_text(" ".join((line.text, *(one.text for one in line.below))))


def _about_text(text: str) -> set[str]:
    return {word for word in words(text) if (len(word) > 1 or word.isdigit()) and word not in _SETTLING}


_SETTLING = frozenset(
    words("use using keep let's go with decided decide instead not choose should always never")
)


def _line(sentence: Sentence, *, weight: float, below: tuple[Line, ...] = ()) -> Line:
    who = f"{sentence.who}, perhaps" if weight == WEAK else sentence.who
    return Line(who=who, text=sentence.text, at=sentence.at, weight=weight, below=below)


def _answered(before: Turn | None) -> tuple[Line, ...]:
    """What a short refusal is an answer to."""
    if not before or not before.answer:
        return ()
    offers = [one for one in before.answer if one.signs & {Sign.PROPOSES, Sign.QUESTION}]
    one = offers[-1] if offers else before.answer[0]
    return (Line(who=BEFORE, text=one.text, at=one.at),)


def _then(after: Sentence | None) -> tuple[Line, ...]:
    """What the person says next: how it is to be, or why."""
    if after is None or is_correction(after) or Sign.QUESTION in after.signs:
        return ()
    return (Line(who="then the person", text=after.text, at=after.at),)


def _firmness(sentence: Sentence, before: Turn | None) -> float:
    """How clearly the person puts something right; 0 = they don't.

    Without a word for it they may where they say no, or less, or more, or come back to what the assistant
    just reported.
    """
    heard = {word for one in before.answer for word in words(one.text)} if before else set[str]()
    returns = bool(heard & _about_text(sentence.text))
    if is_correction(sentence) and (returns or Sign.QUESTION not in sentence.signs):
        return TELLING if sentence.place == 0 else PLAIN
    if not before or sentence.signs & _NO_STATEMENTS or size(sentence.text) < STATEMENT:
        return 0.0
    if any(Sign.QUESTION in one.signs for one in before.answer[-ASKED:]):  # an answer corrects nothing
        return 0.0
    return WEAK if Sign.CONTRAST in sentence.signs or returns else 0.0


def _with_before(turns: Sequence[Turn]) -> Iterator[tuple[Turn, Turn | None]]:
    return ((turn, turns[at - 1] if at else None) for at, turn in enumerate(turns))


def _with_after(sentences: Sequence[Sentence]) -> Iterator[tuple[Sentence, Sentence | None]]:
    return ((one, sentences[at] if at < len(sentences) else None) for at, one in enumerate(sentences, 1))
