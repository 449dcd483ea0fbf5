"""Text -> the terms by which words are traced to who said them (E11). Pure.

words        case folded, lightly stemmed; labels and the model's own glue ("the user prefers") left out
squashed     letters and figures of neighbouring runs without what stands between: `relay-01.invalid`,
             "relay 01 invalid" and `Relay_01Invalid` are the same
meanings     what a word means where a small table knows it, in five languages ("approve", Freigabe, 批准)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from memdir.cues import LANGUAGES
from memdir.memory.word_lists import EVERYDAY, STOP_WORDS
from memdir.memory.words import stem, words
from memdir.trust.hidden import visible

LONGEST = 60
"""Of a longer run only the first characters count."""
WIDEST = 6
"""So many neighbouring runs are squashed together at most."""

_CJK = r"\u3005\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003134f"
_RUN = re.compile(rf"[^\W_{_CJK}]+|[{_CJK}]+")
_HAS_CJK = re.compile(rf"[{_CJK}]")
_APOSTROPHES = re.compile(r"(?<=[^\W\d_])['’](?:s|t|ll|re|ve|d|m)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Term:
    """One word that says something. `key`: what it is compared by; `weight`: how much it says, 0 to 1."""

    key: str
    shown: str
    weight: float
    cjk: bool = False

    @property
    def figure(self) -> bool:
        return self.key[:1].isdigit()


def folded(text: str) -> str:
    """The text in one spelling: NFKC, nothing invisible, small letters."""
    return visible(text).casefold()


def runs(text: str) -> list[str]:
    """The runs of letters and figures of a text, as `folded` gives them."""
    return [run[:LONGEST] for run in _RUN.findall(text)]


def squashed(text: str) -> str:
    """All letters and figures of a text, nothing between them."""
    return "".join(_RUN.findall(folded(text)))


def windows(text: str) -> set[str]:
    """Every one to `WIDEST` neighbouring runs of each line, squashed."""
    found: set[str] = set()
    for line in folded(text).splitlines():
        pieces = runs(line)
        for at in range(len(pieces)):
            joined = ""
            for piece in pieces[at : at + WIDEST]:
                joined += piece
                found.add(joined)
    return found


def terms(text: str) -> list[Term]:
    """The words of a text that say something, in order."""
    found: list[Term] = []
    for run in _RUN.findall(_APOSTROPHES.sub("", visible(text))):
        found += _terms(run[:LONGEST])
    return found


def keys(text: str) -> set[str]:
    """The keys of a text's terms, and looser ones by which a word is known again in another form."""
    found: set[str] = set()
    for run in set(_RUN.findall(_APOSTROPHES.sub("", visible(text)))):
        for term in _terms(run[:LONGEST]):
            found.add(term.key)
            if loose := loosened(term.key):
                found.add(loose)
    return found


@lru_cache(maxsize=65536)
def loosened(key: str) -> str | None:
    """The beginning by which forms of a long word are alike: approve, approval."""
    return f"{key[:6]}~" if len(key) >= 6 and key.isalpha() and not _HAS_CJK.match(key) else None


@lru_cache(maxsize=65536)
def _terms(run: str) -> tuple[Term, ...]:
    if _HAS_CJK.match(run):
        pairs = dict.fromkeys(word for word in words(run) if len(word) > 1)
        return tuple(Term(word, word, 0.5, cjk=True) for word in pairs if word not in glue())
    low = run.casefold()
    if len(low) < 2 and not low.isdigit():
        return ()
    key = stem(low)
    if low in STOP_WORDS or low in glue() or key in glue():
        return ()
    if low.isdigit():
        return (Term(low.lstrip("0") or "0", run, 0.3),)
    return (Term(key, run, 0.6 if key in common() else 1.0),)


def without_dates(text: str) -> str:
    """The text without days and times: absolute dates are made of relative ones."""
    return _DATES.sub(" ", text)


_MONTHS = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli"
    r"|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?"
    r"|de[cz](?:ember)?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre"
    r"|diciembre)"
)
_DATES = re.compile(
    r"\b(?:19|20)\d\d[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?"
    r"|\b\d{1,2}[./]\d{1,2}[./](?:19|20)?\d\d\b|\b\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]m)?\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?{_MONTHS}\b\.?(?:,?\s(?:de\s)?(?:19|20)\d\d)?"
    rf"|\b{_MONTHS}\.?\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s(?:19|20)\d\d)?"
    rf"|\b{_MONTHS}\s(?:19|20)\d\d\b|\bQ[1-4]\s(?:19|20)\d\d\b|(?:(?:19"
    rf"|20)\d\d\s?年\s?)?\d{{1,2}}\s?月\s?(?:\d{{1,2}}\s?[日号])?|\b(?:19|20)\d\d\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:montag|dienstag|mittwoch|donnerstag|freitag"
    r"|samstag|sonntag)s?\b|(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?",
    re.IGNORECASE,
)


# ---------------------------------------------------------------------------------- tables


@cache
def glue() -> frozenset[str]:
    """Words in which memories are written, whatever they are about."""
    text = resources.files(__package__).joinpath("glue.txt").read_text(encoding="utf-8")
    found = {word for line in text.splitlines() if not line.startswith("#") for word in line.split()}
    return frozenset(found | {stem(word) for word in found})


@cache
def common() -> frozenset[str]:
    """Stems of words that anybody writes about work: those of the cues, of everyday, of the meanings."""
    found: set[str] = set(EVERYDAY) | set(STOP_WORDS)
    for language in LANGUAGES:
        text = resources.files("memdir.cues").joinpath(f"{language}.txt").read_text(encoding="utf-8")
        found |= set(_RUN.findall(text.casefold()))
    found |= set(_meanings()[0])
    text = resources.files(__package__).joinpath("common.txt").read_text(encoding="utf-8")
    found |= {word for line in text.splitlines() if not line.startswith("#") for word in line.split()}
    return frozenset(stem(word) for word in found)


def meanings(text: str) -> frozenset[str]:
    """What the words of a text mean, as far as the table knows."""
    phrases = _meanings()[2]
    found: set[str] = set()
    low = folded(text)
    for run in set(_RUN.findall(low)):
        if _HAS_CJK.match(run):
            found.update(phrases[match] for match in _phrase_pattern().findall(run))
        else:
            found |= _meaning(run)
    return frozenset(found)


@lru_cache(maxsize=65536)
def _meaning(run: str) -> frozenset[str]:
    exact, prefixes, _ = _meanings()
    found = set(exact.get(run, ())) | set(exact.get(stem(run), ()))
    for length in range(3, min(len(run), 14) + 1):
        found |= prefixes.get(run[:length], set())
    return frozenset(found)


def meaning_of(key: str, shown: str) -> frozenset[str]:
    """What one word means."""
    return _meaning(shown.casefold()) | _meaning(key)


@cache
def _meanings() -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, str]]:
    exact: dict[str, set[str]] = {}
    prefixes: dict[str, set[str]] = {}
    phrases: dict[str, str] = {}
    text = resources.files(__package__).joinpath("meanings.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        entries = line.split()
        name = entries[0]
        for entry in entries:
            if _HAS_CJK.match(entry):
                phrases[entry] = name
            elif entry.endswith("*"):
                prefixes.setdefault(entry[:-1], set()).add(name)
            else:
                exact.setdefault(entry, set()).add(name)
                exact.setdefault(stem(entry), set()).add(name)
    return exact, prefixes, phrases


@cache
def _phrase_pattern() -> re.Pattern[str]:
    return re.compile("|".join(sorted(map(re.escape, _meanings()[2]), key=len, reverse=True)))
