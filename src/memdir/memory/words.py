"""Text -> the words by which texts are compared.

One vocabulary for all that matches by words: recall (which memories bear on a prompt) and extraction (is this
known already). Pure and fast, and the same word comes out the same wherever it stands:

    plain words      NFKC, case folded, lightly stemmed; English stop words dropped
    identifiers      whole, and in parts: `OrderStore.save_all` -> orderstore.save_all, order, stor, sav
    Chinese          each character that says something, and each pair of neighbours
    Katakana         the whole run and its pairs; Hiragana: runs of three or more, whole
    Hangul           the whole run and its pairs
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from memdir.memory.word_lists import (
    EVERYDAY,
    EVERYDAY_PAIRS,
    STOP_HAN,
    STOP_KANA,
    STOP_PAIRS,
    STOP_WORDS,
)

_HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_KATAKANA = r"\u30a1-\u30fa\u30fc-\u30ff"
_HIRAGANA = r"\u3041-\u309f"
_HANGUL = r"\u1100-\u11ff\uac00-\ud7af"
_LETTER = rf"[^\W_{_HAN}{_KATAKANA}{_HIRAGANA}{_HANGUL}]"


def _latin_run(letter: str) -> str:
    return rf"{letter}+(?:[._/:@&'’\-]+{letter}+)*(?:\+\+|\#)?"


_ASCII_RUNS = re.compile(_latin_run("[A-Za-z0-9]"))
_RUNS = re.compile(
    rf"{_latin_run(_LETTER)}|[{_HAN}]+|[{_KATAKANA}]+|[{_HIRAGANA}]+|[{_HANGUL}]+",
)
_KINDS = re.compile(
    rf"(?P<han>[{_HAN}])|(?P<katakana>[{_KATAKANA}])|(?P<hiragana>[{_HIRAGANA}])|(?P<hangul>[{_HANGUL}])"
)
_JOINTS = re.compile(r"[._/:@&\-]+")
_LONGEST = 80
"""Of a longer run (base64, a list of hashes) only the first characters count: it is no word."""


def words(text: str) -> list[str]:
    """The tokens of a text, in order and with repetitions; an identifier comes before its parts."""
    found: list[str] = []
    for run in _runs(text):
        found += _tokens(run[:_LONGEST])
    return found


def counts(text: str) -> dict[str, int]:
    """How often each token of a text occurs."""
    found: dict[str, int] = {}
    for run, times in Counter(_runs(text)).items():
        for token in _tokens(run[:_LONGEST]):
            found[token] = found.get(token, 0) + times
    return found


def shares(text: str) -> dict[str, float]:
    """The tokens of a text, and how much each counts, 0 to 1: a name counts once, however many parts it has.

    The parts of an identifier, and the pairs of a run of Katakana or Hangul, divide among them what one word
    would count, beside the whole. A token that also stands alone counts in full.
    """
    found: dict[str, float] = {}
    for run in dict.fromkeys(_runs(text)):
        tokens = _tokens(run[:_LONGEST])
        divided = len(tokens) > 1 and not _is_han(run)
        for token in tokens:
            share = 1 / (len(tokens) - 1) if divided and token is not tokens[0] else 1.0
            found[token] = max(share, found.get(token, 0.0))
    return found


def _is_han(run: str) -> bool:
    kind = _KINDS.match(run)
    return kind is not None and kind.lastgroup == "han"


def _runs(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_RUNS.findall(text)
    return _RUNS.findall(unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=65536)
def _tokens(run: str) -> tuple[str, ...]:
    """The tokens of a run, which is all of one script."""
    kind = _KINDS.match(run)
    return _OF_SCRIPT[(kind and kind.lastgroup) or "latin"](run)


def _latin(run: str) -> tuple[str, ...]:
    """One word, or an identifier: whole, then its parts."""
    run = run.replace("’", "'")
    if run.casefold() in STOP_WORDS:
        return ()
    if run[-1] in "+#":
        return (run.casefold(),)
    run = run.removesuffix("'s")
    parts = [hump.casefold() for part in _JOINTS.split(run) for hump in _humps(part)]
    kept = [stem(part) for part in parts if len(part) > 1 and part not in STOP_WORDS]
    return tuple(kept) if len(parts) < 2 else (run.casefold(), *kept)


def _humps(name: str) -> list[str]:
    """`HTTPServerError2` -> HTTP, Server, Error2: cut before a capital that a small letter stands next to."""
    if name.islower():
        return [name]
    cuts = [
        at
        for at in range(1, len(name))
        if name[at].isupper() and (name[at - 1].islower() or name[at + 1 : at + 2].islower())
    ]
    return [name[start:end] for start, end in zip([0, *cuts], [*cuts, len(name)], strict=True)]


def _han(run: str) -> tuple[str, ...]:
    singles = [char for char in run if char not in STOP_HAN]
    pairs = [pair for pair in _pairs(run) if pair not in STOP_PAIRS and not set(pair) <= STOP_HAN]
    return (*singles, *pairs)


def _katakana(run: str) -> tuple[str, ...]:
    return (run, *_pairs(run)) if len(run) > 2 else (run,) * (len(run) == 2)


def _hiragana(run: str) -> tuple[str, ...]:
    return (run,) if len(run) > 2 and run not in STOP_KANA else ()


def _hangul(run: str) -> tuple[str, ...]:
    return (run, *_pairs(run)) if len(run) > 2 else (run,)


_OF_SCRIPT: dict[str, Callable[[str], tuple[str, ...]]] = {
    "latin": _latin,
    "han": _han,
    "katakana": _katakana,
    "hiragana": _hiragana,
    "hangul": _hangul,
}


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


_PLURALS = (
    ("sses", "ss", 1), ("ies", "y", 2), ("ches", "ch", 1), ("shes", "sh", 1), ("xes", "x", 1),
    ("us", "us", 0), ("ss", "ss", 0), ("is", "is", 0), ("s", "", 3),
)  # fmt: skip
_FORMS = (
    ("ingly", "", 3), ("ings", "", 3), ("ing", "", 3), ("ied", "y", 2), ("eed", "eed", 0), ("ed", "", 3),
    ("ly", "", 3), ("ion", "", 4),
)  # fmt: skip
"""(ending, what stands instead, letters that must stand before it); the first that fits counts."""


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A lower-case English word without its ending: the forms of one word alike, two words rarely.

    Lighter than Porter's: plurals, -ed, -ing, -ly, -ion, a doubled consonant, a last -e. What is not plain
    ASCII letters (codes, numbers, other languages) stays as it is.
    """
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    for endings in (_PLURALS, _FORMS):
        for ending, instead, least in endings:
            if word.endswith(ending) and len(word) - len(ending) >= least:
                word = word[: len(word) - len(ending)] + instead
                break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


@lru_cache(maxsize=8192)
def weight(word: str) -> float:
    """How much a token says, 0 to 1, before one knows in which texts it stands.

    Little: the words of any prompt about work on software, however rare they are in one directory; a single
    Chinese character beside its pairs; a short number.
    """
    if len(word) == 1:
        return 0.15
    if word.isdecimal() and len(word) < 4:
        return 0.25
    return 0.35 if word in _EVERYDAY else 1.0


_EVERYDAY = frozenset(stem(word) for word in EVERYDAY) | EVERYDAY_PAIRS
