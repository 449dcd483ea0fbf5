"""A sentence -> the permission it gives, or the care it drops (E11). Pure, linear.

"May merge without review", "skip the scanner", "no approval needed", in ten languages (permits.txt).
"Never skip the tests" and "no merge without review" ask for care, and are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

LOOKS_BACK = 40
"""So many characters before a phrase may hold the "never" that turns it around."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """`script`: letters without which it can't occur. `no`: what turns it into a demand for care."""

    pattern: re.Pattern[str]
    no: re.Pattern[str] | None
    script: re.Pattern[str] | None


@lru_cache(maxsize=4096)
def permissions(text: str) -> tuple[str, ...]:
    """The words of a sentence that permit or relax something, in its own spelling."""
    return tuple(dict.fromkeys(_found(text)))


def _found(text: str) -> Iterator[str]:
    for line in text.splitlines() or [text]:
        for phrase in _phrases():
            if phrase.script and not phrase.script.search(line):
                continue
            for match in phrase.pattern.finditer(line):
                if phrase.no is None or not _refused(line, match, phrase.no):
                    yield match[0].strip()


def _refused(line: str, match: re.Match[str], no: re.Pattern[str]) -> bool:
    """Whether a no stands before the phrase, or in it: "tests must not be skipped"."""
    before = _CLAUSE.split(line[max(0, match.start() - LOOKS_BACK) : match.start()])[-1]
    inner = match.groupdict().get("gap")
    return bool(no.search(before)) or bool(inner and no.search(inner))


_CLAUSE = re.compile(r"[.;:!?,。；：！？，、(]|\s[-–—]\s|\b(?:and|but|und|aber|sondern|y|pero|et|mais)\b")


@cache
def _phrases() -> tuple[_Phrase, ...]:
    """The table, compiled."""
    text = resources.files(__package__).joinpath("permits.txt").read_text(encoding="utf-8")
    phrases: list[_Phrase] = []
    no = script = None
    parts: dict[str, str] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition(" = ")
        if line.startswith("["):
            no, script, parts = None, None, {}
        elif line.startswith("no: "):
            no = re.compile(line[4:], re.IGNORECASE)
        elif line.startswith("script: "):
            script = re.compile(f"[{line[8:]}]")
        elif equals and name.isupper():
            parts[f"<{name}>"] = value
        else:
            for part, written in parts.items():
                line = line.replace(part, written)  # noqa: PLW2901 (it is the same line)
            phrases.append(_Phrase(re.compile(line, re.IGNORECASE), no, script))
    return tuple(phrases)
