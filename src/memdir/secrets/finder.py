"""All rules over a text -> hits in order, overlapping ones merged."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from memdir.secrets import escapes
from memdir.secrets.blocks import BLOCKS
from memdir.secrets.places import PLACES
from memdir.secrets.rules import Place, Token
from memdir.secrets.shapes import shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A secret at `text[start:end]`; `shown` is the fixed beginning of the token's format, or nothing."""

    rule: str
    start: int
    end: int
    shown: str


_Found = tuple[int, int, int]
"""Rank of the rule (its place among all), start, end."""


def find(text: str) -> list[Hit]:
    """Every secret of the text; of overlapping ones the first rule gives the name."""
    found = [*_seen(text), *_escaped(text)]
    whole = _merged(found)
    return [_hit(text, *one) for one in _merged([*whole, *_broken(text, whole)])]


def _seen(text: str) -> Iterator[_Found]:
    """What stands in the text, openly or encoded."""
    yield from _found(text)
    yield from _hidden(text)


def _escaped(text: str) -> Iterator[_Found]:
    """What escapes hide."""
    if runs := list(escapes.unescaped(text)):
        clear, starts = _listed([plain for plain, _ in runs])
        for rank, start, end in _seen(clear):
            run = bisect_right(starts, start) - 1
            places = runs[run][1]
            yield rank, places[start - starts[run]], places[min(end - starts[run], len(places) - 1)]


def _hidden(text: str, through: Callable[[str], Iterator[_Found]] = _seen) -> Iterator[_Found]:
    """Base64 or hexadecimal that says a secret, or says what does."""
    if runs := list(escapes.encoded(text)):
        clear, starts = _listed([plain for _, _, plain in runs])
        for rank, start, _ in through(clear):
            run = runs[bisect_right(starts, start) - 1]
            yield rank, run[0], run[1]


def _broken(text: str, whole: list[_Found]) -> Iterator[_Found]:
    """Tokens that go on in the next line. One that is whole without goes no further."""
    if runs := list(escapes.wrapped(text, _begins())):
        clear, starts = _listed([plain for plain, _ in runs])
        tokens = [one for one in whole if one[0] < len(_rules()[0])]
        begins = [start for _, start, _ in tokens]
        for rank, start, end in (*_tokens(clear), *_hidden(clear, _tokens)):
            run = bisect_right(starts, start) - 1
            places = runs[run][1]
            first = places[start - starts[run]]
            last = places[min(end - starts[run], len(places)) - 1]
            before = bisect_right(begins, last)
            if not (before and tokens[before - 1][2] > first):
                yield rank, first, last + 1


_GAP = f"\n{'·' * 20}\n"
"""No pattern goes across it."""


def _listed(texts: list[str]) -> tuple[str, list[int]]:
    """Many short texts as one, which is quicker to look through; where each begins."""
    starts = [0]
    for text in texts[:-1]:
        starts.append(starts[-1] + len(text) + len(_GAP))
    return _GAP.join(texts), starts


@cache
def _rules() -> tuple[tuple[Token, ...], tuple[Place, ...]]:
    return BLOCKS + shapes(), PLACES


@cache
def _begins() -> tuple[str, ...]:
    return tuple(key for rule in _rules()[0] for key in rule.begins)


def _tokens(text: str) -> Iterator[_Found]:
    for rank, rule in enumerate(_rules()[0]):
        for start, end in rule.spans(text):
            yield rank, start, end


def _found(text: str) -> Iterator[_Found]:
    yield from _tokens(text)
    lowered = _lowered(text)
    for rank, rule in enumerate(_rules()[1], len(_rules()[0])):
        for start, end in rule.spans(text, lowered):
            yield rank, start, end


def _lowered(text: str) -> str:
    """The text in small letters, of the same length: a few capitals become two letters."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_ASCII)


_ASCII = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def _merged(found: list[_Found]) -> list[_Found]:
    merged: list[_Found] = []
    for rank, start, end in sorted(found, key=lambda one: (one[1], one[2])):
        if merged and start < merged[-1][2]:
            before = merged[-1]
            merged[-1] = (min(rank, before[0]), before[1], max(end, before[2]))
        else:
            merged.append((rank, start, end))
    return merged


def _hit(text: str, rank: int, start: int, end: int) -> Hit:
    tokens, places = _rules()
    if rank >= len(tokens):
        return Hit(rule=places[rank - len(tokens)].name, start=start, end=end, shown="")
    rule = tokens[rank]
    return Hit(rule=rule.name, start=start, end=end, shown=rule.shown(text[start:end]))
