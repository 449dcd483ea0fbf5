"""All rules over a text -> hits in order, overlapping ones merged."""

from __future__ import annotations

from collections.abc import Iterator
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
    found = list(_found(text))
    if plain := escapes.unescaped(text):
        clear, places = plain
        found += [(rank, places[start], places[end]) for rank, start, end in _found(clear)]
    for start, end, clear in escapes.encoded(text):
        if hidden := min(_tokens(clear), default=None):
            found.append((hidden[0], start, end))
    return [_hit(text, *one) for one in _merged(found)]


@cache
def _rules() -> tuple[tuple[Token, ...], tuple[Place, ...]]:
    return BLOCKS + shapes(), PLACES


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
