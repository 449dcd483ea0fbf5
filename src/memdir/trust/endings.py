"""A sentence of the person's -> what it ends: "forget the tabs", "no more tabs" (E11). Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Literal

from memdir.trust.terms import terms

Sort = Literal["memory", "forget", "goes", "over", "said", "work"]
"""`memory`: a memory is to go, in so many words. `forget`: something is to be forgotten. `goes`: something is
to go, whatever it is. `over`: it no longer holds. `said`: what was said just before is taken back. `work`: a
piece of the project, or only for a while.
"""


@dataclass(frozen=True, slots=True)
class Ending:
    """`about`: the words that tell what ends, without those for ending, remembering and pointing."""

    sort: Sort
    about: str


@lru_cache(maxsize=4096)
def ending(sentence: str, *, typed: bool = True) -> Ending | None:
    """What a sentence ends, or nothing. `typed`: by the person; not by the agent, and agreed to by them."""
    text = sentence[:LONGEST].replace("’", "'")
    if typed and _has("asks", text):
        return None
    clauses = [one for one in _CLAUSES.split(text) if one.strip()]
    over = [one for one in clauses if _has("over", one)]
    meant = _meant(clauses)
    forgets, goes = _has("forget", text), _has("take out", meant)
    if any(_takes_back(one) for one in clauses):
        return Ending("said", "")
    if _has("memory", meant) and (forgets or goes or over):
        return Ending("work" if goes and _is_of_the_work(text) else "memory", _about(meant))
    if _has("here", text) and (forgets or goes or over):
        return Ending("work", _about(meant))
    if forgets or goes:
        return Ending("forget" if forgets else "goes", _about(meant))
    return Ending("over", _about(over[0])) if over else None


def speaks_of_memory(sentence: str) -> bool:
    """Whether a sentence has a word for what is remembered."""
    text = sentence[:LONGEST]
    return _has("memory", text) or _REMEMBER.search(text) is not None


LONGEST = 400
"""Characters of a sentence that are looked at."""


def _takes_back(clause: str) -> bool:
    """Whether a clause takes back what was said before, and names nothing itself."""
    taken, count = _phrases()["taken back"].subn(" ", clause)
    return count > 0 and not terms(_about(taken))


def _meant(clauses: Sequence[str]) -> str:
    """The clauses that end something, if they name it; else all but what is to stay."""
    all_of_it = ", ".join(one for one in clauses if _ends(one) or not _has("keep", one))
    ends = ", ".join(filter(_ends, clauses))
    named = terms(_about(ends))
    return all_of_it if not named or any(one.cjk for one in named) else ends


def _ends(clause: str) -> bool:
    return _has("forget", clause) or _has("take out", clause) or _has("over", clause)


def _is_of_the_work(text: str) -> bool:
    """Whether what goes is a piece of the project: "remove the rule from the config"."""
    return _has("here", text) and not _IN_MEMORY.search(text)


def _about(text: str) -> str:
    for sort in ("memory", "forget", "take out", "over"):
        text = _phrases()[sort].sub(" ", text)
    text = _POINTING.sub(" ", text)
    return " ".join(text.split())


def _has(sort: str, text: str) -> bool:
    return _phrases()[sort].search(text) is not None


@cache
def _phrases() -> dict[str, re.Pattern[str]]:
    """The table, compiled: one pattern a section."""
    text = resources.files(__package__).joinpath("ends.txt").read_text(encoding="utf-8")
    lines: dict[str, list[str]] = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1].replace(" ", "").isalpha():
            section = line[1:-1]
        elif line and not line.startswith("#"):
            lines.setdefault(section, []).append(line)
    return {name: re.compile("|".join(found), re.IGNORECASE) for name, found in lines.items()}


_CLAUSES = re.compile(
    r"[,;:，、；：]\s*|\s[-–—]\s|\s(?:and|but|so|because|und|aber|sondern|weil|y|pero|porque|et|mais|car)\s",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:(?:the )?(?:first|second|third|last|latter|former|other) one|erste[ns]?|zweite[ns]?|letzte[ns]?"
    r"|primer[oa]|segund[oa]|últim[oa]|première?|deuxième|dernière?)\b|第[一二三]条|[一二三]つ目|最初の|关于|的事情?|のこと|について|の件",
    re.IGNORECASE,
)
_IN_MEMORY = re.compile(
    r"\bmemor(?:y|ies)\b|\byou(?:r| have|'ve)\b|gedächtnis|memoria|mémoire|记忆|記憶", re.IGNORECASE
)
_REMEMBER = re.compile(
    r"\b(?:remember|know about|erinner\w*|weißt|recuerdas|sabes|souviens|sais)\b|记得|记住|覚えて",
    re.IGNORECASE,
)
