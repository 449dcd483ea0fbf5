"""What a rule is: a pattern, where it is worth trying, and what else must hold of a match -> spans.

Patterns are compiled when a keyword of theirs first turns up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

Test = Callable[[str], bool]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token of a vendor's shape. The pattern is tried where a key of `begins` stands.

    `inside`: keys that stand somewhere in the token; if one is in the text, the pattern is tried everywhere.
    """

    name: str
    begins: tuple[str, ...]
    inside: tuple[str, ...]
    test: str
    example: str
    pattern: str
    accepts: Test

    def spans(self, text: str) -> Iterator[Span]:
        """Where the token stands, from left to right for each key."""
        for key in self.begins:
            yield from self._from(key, text)
        if any(key in text for key in self.inside):
            for match in _token(self.pattern).finditer(text):
                if self.accepts(match.group()):
                    yield match.span()

    def _from(self, key: str, text: str) -> Iterator[Span]:
        at = text.find(key)
        while at >= 0:
            match = _token(self.pattern).match(text, at)
            if match and self.accepts(match.group()):
                yield match.span()
            at = text.find(key, match.end() if match else at + 1)

    def shown(self, value: str) -> str:
        """The fixed beginning of the token, which is no secret."""
        return next((key for key in self.begins if value.startswith(key)), "")


@cache
def _token(pattern: str) -> re.Pattern[str]:
    """A token may stand in any script's text, but not inside a longer ASCII word."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A value that its surroundings call a secret: the last group of the pattern, run on lower-cased text.

    `accepts` judges the value as it was written. Nothing is tried unless one of `keys` is in the text.
    `only` matches what must stand right before, `unless` what may not.
    """

    name: str
    keys: tuple[str, ...]
    pattern: str
    accepts: Test
    only: str | None = None
    unless: str | None = None

    def spans(self, text: str, lowered: str) -> Iterator[Span]:
        """Where the value stands, quotes and what closes the sentence left out."""
        if not any(key in lowered for key in self.keys):
            return
        for match in _compiled(self.pattern).finditer(lowered):
            before = lowered[max(0, match.start() - 20) : match.start()]
            if self.only and not _compiled(self.only).search(before):
                continue
            if self.unless and _compiled(self.unless).search(before):
                continue
            start, end = match.span(match.lastindex or 0)
            end = start + _length(text[start:end])
            if end > start and self.accepts(text[start:end]):
                yield _inside(text, start, end)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


QUOTES = "\"'`"


def _inside(text: str, start: int, end: int) -> Span:
    """Without the quotes around it, so that the same secret is the same value wherever it stands."""
    if end - start > 2 and text[start] in QUOTES and text[start] == text[end - 1]:
        return start + 1, end - 1
    return start, end


_NEXT_FIELD = re.compile(r"[&;][A-Za-z_][\w.-]{0,40}=|\\[rnt\"']|\*\*|\]\(|,\"")


def _length(value: str) -> int:
    """Of a bare value, without what follows it in a URL or ends the sentence; of a quoted one, all."""
    if value[:1] in QUOTES:
        return len(value)
    if following := _NEXT_FIELD.search(value, 1):
        value = value[: following.start()]
    return len(value.rstrip(".,;:)]}>*_|" + QUOTES)) if not value.endswith("==") else len(value)
