"""What is still to be done: open checkboxes, and sentences that say so."""

from __future__ import annotations

from collections.abc import Sequence

from memdir.memory.fence import harmless
from memdir.memory.words import words
from memdir.session.checkboxes import items, still_open
from memdir.session.extractive.lines import Line
from memdir.session.extractive.signs import Sign, size
from memdir.session.extractive.talk import SECRET, Sentence, Talk

REPEATED = 0.7
"""A later sentence that says "done" and has so many of its words closes a point."""

LAST, TELLING, PLAIN = 9.0, 3.0, 1.0


def open_points(talk: Talk) -> list[Line]:
    """What is open, in order; the last request too, if nothing was answered."""
    found = [*_boxes(talk), *_said(talk)]
    if talk.turns and not talk.turns[-1].answered and (request := talk.turns[-1].request):
        found.append(
            Line(who="person, not answered yet", text=request[0].text, at=request[0].at, weight=LAST)
        )
    return sorted(found, key=lambda line: line.at)


def _boxes(talk: Talk) -> list[Line]:
    persons = {turn.at for turn in talk.turns}
    lists = {at: found for at, text in talk.texts.items() if (found := items(text))}
    where = {item.text: at for at, found in lists.items() for item in found}
    return [
        Line(
            who=f"{'person' if where[item.text] in persons else 'assistant'}, not ticked",
            text=harmless(item.text),
            at=where[item.text],
            weight=TELLING,
        )
        for item in still_open(lists.values())
        if SECRET not in item.text
    ]


def _said(talk: Talk) -> list[Line]:
    done: list[tuple[int, set[str]]] = []
    open_ones: list[Sentence] = []
    for sentence in talk.said:
        if _is_open(sentence):
            open_ones.append(sentence)
        elif Sign.DONE in sentence.signs and not sentence.signs & {Sign.QUESTION, Sign.UNSURE}:
            done.append((sentence.at, set(words(sentence.text))))
    closing = done[-200:]
    return [_line(one) for one in open_ones[-200:] if not _is_closed(one, closing)]


def _is_open(sentence: Sentence) -> bool:
    if Sign.OPEN not in sentence.signs or size(sentence.text) < (4 if sentence.text[-1] in ":：" else 2):
        return False
    if sentence.who == "assistant":
        return Sign.QUESTION not in sentence.signs and not sentence.signs >= {Sign.DONE, Sign.FIXED}
    return True


def _is_closed(sentence: Sentence, done: Sequence[tuple[int, set[str]]]) -> bool:
    own = set(words(sentence.text))
    return any(at > sentence.at and own and len(own & said) >= REPEATED * len(own) for at, said in done)


def _line(sentence: Sentence) -> Line:
    return Line(who=sentence.who, text=sentence.text, at=sentence.at, weight=PLAIN)
