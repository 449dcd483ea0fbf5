"""The words that tell what a sentence is: one text file a language, and the choice of the files to ask.

Chinese and Japanese are told apart by kana; of the languages in Latin letters the one with most small words
in the turn counts, English when nothing tells. A text that mixes scripts is read in both languages. A file
is compiled when its language is first met.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

from memdir.cues.table import Cue, Table, table

__all__ = ["LANGUAGES", "Cue", "Table", "found", "language", "tables_for", "union"]

LANGUAGES = {"english": True, "german": True, "spanish": True, "chinese": False, "japanese": False}
"""The files, and whether the language puts spaces between words."""

_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_LATIN = re.compile(r"[a-zà-ÿ']+")
_ENGLISH = "the to is of and a it we you this that for in i be on not with are have at by from they but my"
_GERMAN = (
    "der die das und ist nicht ein eine wir ich du dir mit für auf den dem von bei wenn bitte zur zum im am "
    "immer diese diesen dieser dieses"
)
_SPANISH = (
    "el la los las que de y es en por para con una un se lo está nos del al como sobre si siempre "
    "ese esa este esta"
)
_SMALL_WORDS = {
    "english": frozenset(_ENGLISH.split()),
    "german": frozenset(_GERMAN.split()),
    "spanish": frozenset(_SPANISH.split()),
}
_SAMPLE = 4_000
"""So many characters of a turn decide its language."""


@cache
def language(name: str) -> Table:
    """The compiled cues of a language."""
    text = resources.files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return table(name, text, spaced=LANGUAGES[name])


def tables_for(text: str) -> tuple[Table, ...]:
    """The languages in which to read a turn or a sentence."""
    names = []
    if _HAN.search(text) or _KANA.search(text):
        names.append("japanese" if _KANA.search(text) else "chinese")
    words = _LATIN.findall(text[:_SAMPLE].lower())
    counts = {name: sum(word in small for word in words) for name, small in _SMALL_WORDS.items()}
    if words or not names:
        names.append(max(counts, key=lambda name: counts[name]))
    return tuple(language(name) for name in names)


def found(text: str, tables: Iterable[Table]) -> frozenset[Cue]:
    """The cues of a sentence in these languages."""
    return union(table.found(text) for table in tables)


def union(cues: Iterable[frozenset[Cue]]) -> frozenset[Cue]:
    """All of these cues."""
    return frozenset().union(*cues)
