"""The words that tell what a sentence is: one readable module per language, and which of them to ask.

Chinese and Japanese are told apart by kana; of the languages in Latin letters the one with most small words in the
turn counts, English when nothing tells. A sentence that mixes scripts is asked in both languages.
"""

from __future__ import annotations

import re

from memdir.extract.local.cues.de import GERMAN
from memdir.extract.local.cues.en import ENGLISH
from memdir.extract.local.cues.es import SPANISH
from memdir.extract.local.cues.ja import JAPANESE
from memdir.extract.local.cues.table import Cue, Table
from memdir.extract.local.cues.zh import CHINESE

__all__ = ["TABLES", "Cue", "Table", "found", "tables_for"]

TABLES = (ENGLISH, CHINESE, GERMAN, SPANISH, JAPANESE)

_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_LATIN = re.compile(r"[a-zà-ÿ']+")
_SMALL_WORDS = {
    "en": frozenset("the to is of and a it we you this that for in i be on not with are have".split()),
    "de": frozenset("der die das und ist nicht ein eine wir ich du mit für auf den dem von bei wenn bitte so dir".split()),
    "es": frozenset("el la los las que de y es en no por para con una un se lo está nos del al como".split()),
}
_LATIN_TABLES = {"en": ENGLISH, "de": GERMAN, "es": SPANISH}


def tables_for(text: str) -> tuple[Table, ...]:
    """The languages in which to read a turn (or a sentence)."""
    tables: list[Table] = []
    if _HAN.search(text) or _KANA.search(text):
        tables.append(JAPANESE if _KANA.search(text) else CHINESE)
    words = _LATIN.findall(text[:4000].lower())
    if words:
        counts = {name: sum(word in small for word in words) for name, small in _SMALL_WORDS.items()}
        tables.append(_LATIN_TABLES[max(counts, key=lambda name: counts[name])])
    return tuple(tables) or (ENGLISH,)


def found(text: str, tables: tuple[Table, ...]) -> frozenset[Cue]:
    """The cues of a sentence in these languages."""
    return frozenset().union(*(table.found(text) for table in tables))
