"""Text -> its sentences, each on one line as it was written, with the mark of the list item it is.

What is code, a quotation, a table, a heading or a checkbox (`session.checkboxes`) is no sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memdir.memory.fence import harmless
from memdir.session.checkboxes import items, own_lines

LONGEST = 1_200
"""Characters. Nobody says a longer sentence."""

NARROWEST = 45
"""Columns. No editor breaks a line earlier: a shorter one was ended by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One sentence. `item`: the mark of the list item that it begins (`2`, `b`, `-`), else ""."""

    text: str
    item: str


def pieces(text: str, *, whole: bool = True) -> Iterator[Piece]:
    """The sentences of a text, in order. `whole`: nothing was taken out of it between two lines."""
    for line in _unwrapped(own_lines(text)) if whole else own_lines(text):
        if _SKIPPED.match(line) or items(line):
            continue
        item = _ITEM.match(line)
        mark = item["mark"] if item else ""
        for part in _cut(line[item.end() :] if item else line):
            yield Piece(text=part, item=mark)
            mark = ""


def _unwrapped(lines: Iterator[str]) -> Iterator[str]:
    """Lines that an editor broke at its margin are one again."""
    parts: list[str] = []
    for line in lines:
        wrapped = parts and len(parts[-1]) >= NARROWEST and _OPEN_END.search(parts[-1])
        if parts and not (wrapped and line.strip() and not _ITEM.match(line) and not _SKIPPED.match(line)):
            yield " ".join(parts)
            parts = []
        parts.append(line.strip() if parts else line.rstrip())
    if parts:
        yield " ".join(parts)


def _cut(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        stop = end.start() + 1
        if line[end.start()] == "." and (_SHORT.search(line, max(0, stop - 8), stop) or not end["gap"]):
            continue
        if end["gap"] or line[end.start()] in "。！？；":
            yield from _tidy(line[start : end.end()])
            start = end.end()
    yield from _tidy(line[start:])


def _tidy(part: str) -> Iterator[str]:
    if 0 < len(part) <= LONGEST and (text := harmless(part)) and _WORD.search(text):
        yield text


_WORD = re.compile(r"\w")
_OPEN_END = re.compile(r"[^\W\d_]$|[,)\d'\"’—–-]$")
_SKIPPED = re.compile(r"\s*(?:\#{1,6}\s|\||[-=*_]{3,}\s*$)")
_ITEM = re.compile(
    r"\s*(?:(?P<mark>[-*+•·‣－・]|\(?(?:\d{1,2}|[a-hA-H])[.)）、．]|[一二三四五六七八九]、)[\s\u3000]{1,4}"
    r"|(?P<joined>[①-⑨]))"
)
_SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|etc|z\.B|d\.h|bzw|Dr|Mr|Nr|ca|Sr|p\.ej|(?<=\.)\w)|(?<=\s)\d{1,3}|^\d{1,3})\.\Z"
)
"""A full stop after it ends no sentence."""
_END = re.compile(r"[.!?…。！？；][\"')\]”」』）»*`]{0,3}(?P<gap>\s*)")
