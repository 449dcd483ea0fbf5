"""A turn becomes the person's own sentences, each with what its words and its look tell.

A very long message is a paste: only its beginning and its end are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from memdir.cues import Cue, Table, found, tables_for
from memdir.cues.dates import absolute
from memdir.extract.local.shapes import with_shapes
from memdir.extract.local.values import Turn
from memdir.trust.pasted import own_words

LONGEST_SENTENCE = 1_200
"""Nobody says a longer one; it is pasted text."""
NARROWEST = 45
"""Columns; no editor breaks lines earlier, so that a shorter line was ended by hand."""
MOST_SENTENCES, ENDS = 120, 20
"""Of a message with more sentences only so many at its beginning and at its end are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a person, with its place in the talk."""

    turn: int
    block: int  # paragraph, or one item of a list
    said: str  # as the person wrote it
    text: str  # with absolute dates
    days: tuple[date, ...]
    item: bool
    cues: frozenset[Cue]
    head_cues: frozenset[Cue]  # of the line that introduces a list, for its items


def sentences(turn: Turn, index: int, *, today: date) -> list[Sentence]:
    """The person's own sentences of one turn; nothing for an assistant's or a tool's."""
    if turn.role != "person":
        return []
    text = own_words(turn.text)
    tables = tables_for(text)
    pieces = list(_pieces(text))
    if len(pieces) > MOST_SENTENCES:
        pieces = pieces[:ENDS] + pieces[-ENDS:]
    return [_read(piece, index, tables, today) for piece in pieces]


def _read(piece: _Piece, turn: int, tables: tuple[Table, ...], today: date) -> Sentence:
    cues = found(_ADDRESS.sub("https", piece.text), tables)
    if _is_reported(piece.text, tables):
        cues |= {Cue.REPORTED}
    dated = absolute(piece.text, today=today, past=_tells_the_past(piece.text, tables))
    return Sentence(
        turn=turn,
        block=piece.block,
        said=piece.text,
        text=dated.text,
        days=dated.days,
        item=piece.item,
        cues=with_shapes(cues, piece.text, dated, today=today),
        head_cues=found(piece.head, tables) if piece.head else frozenset(),
    )


def _is_reported(text: str, tables: tuple[Table, ...]) -> bool:
    """ "The customer writes: from now on …": whose rule it is stands before the colon."""
    before, colon, after = text.replace("：", ": ").partition(": ")
    if not colon or Cue.QUOTED not in found(before, tables):
        return False
    return bool(found(after, tables) & _ORDERS)


_ORDERS = frozenset({Cue.STANDING, Cue.DIRECTIVE, Cue.PROHIBIT, Cue.REMEMBER, Cue.DURABLE})


def _tells_the_past(text: str, tables: tuple[Table, ...]) -> bool:
    """Does it tell what happened? A reason does not count: "it moves because they were ill"."""
    for table in tables:
        reason = table.patterns[Cue.CONNECTIVE].search(text)
        if table.patterns[Cue.PAST].search(text[: reason.start()] if reason and reason.start() else text):
            return True
    return False


# ---------------------------------------------------------------------------------- cutting


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    text: str
    block: int
    head: str
    item: bool


def _pieces(text: str) -> Iterator[_Piece]:
    """Sentences with their paragraph; an item of a list is a paragraph and knows the line above the list."""
    head, block = "", 0
    for line in _unwrapped(_INLINE_ITEM.sub("\n", text).splitlines()):
        item = _ITEM.match(line)
        block += bool(item) or not line.strip()
        pieces = list(_cut(line[item.end() :] if item else line))
        if pieces and not item:
            head = ""
        for number, piece in enumerate(pieces):
            block += bool(number or not item) and bool(_SHIFT.match(piece))
            yield _Piece(text=piece, block=block, head=head if item else "", item=bool(item))
        if item:
            block += 1
        elif pieces:
            head = pieces[-1]


def _unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """Lines that an editor broke at its margin are one again; a line that ends a sentence stays one."""
    parts: list[str] = []
    for line in lines:
        if parts and not (_is_wrapped(parts[-1]) and line.strip() and not _ITEM.match(line)):
            yield " ".join(parts)
            parts = []
        parts.append(line.rstrip())
    if parts:
        yield " ".join(parts)


def _is_wrapped(line: str) -> bool:
    """Does a line break off in mid-sentence, near a margin?"""
    return len(line) >= NARROWEST and bool(_OPEN_END.search(line)) and not _HEADING.match(line)


def _cut(line: str) -> Iterator[str]:
    start = 0
    for cut in _SENTENCE_END.finditer(line):
        if cut.end() > start:
            yield from _tidy(line[start : cut.end()])
            start = cut.end()
    yield from _tidy(line[start:])


def _tidy(piece: str) -> Iterator[str]:
    text = " ".join(piece.split())
    if 0 < len(text) <= LONGEST_SENTENCE and re.search(r"\w", text):
        yield text


_SHIFT = re.compile(
    r"(?:oh |ah |ok |and |哦|啊|对了|嗯)?[,，]?\s?"
    r"(?:btw|by the way|also[,:]|another thing|one more thing|unrelated|on another note|separately"
    r"|另外|还有|顺便|顺嘴|顺带|übrigens|außerdem[,:]|por cierto|además,|ちなみに|あと、|それと)",
    re.IGNORECASE,
)
"""Here a person goes over to something else."""
_OPEN_END = re.compile(r"[a-zà-ÿA-Z0-9,)'\"’—–-]$")
_HEADING = re.compile(r"\s*#{1,6}\s")
_ADDRESS = re.compile(r"https?://[^\s，。；、）」]+")
_ITEM = re.compile(r"\s*(?:[-*•·]\s(?!\s)|\(?\d{1,2}[.)、]\s?(?!\d)|\(?[a-h]\)\s|[一二三四五六七八九]、)\s*")
_INLINE_ITEM = re.compile(r"\s(?=\([1-9]\)\s)")
_SHORT = "e.g. i.e. vs. etc. z.B. Dr. Mr. Mrs. ca. Nr. Sr. Sra."
_ABBREVIATIONS = "".join(rf"(?<!\b{re.escape(word)})" for word in _SHORT.split())
_SENTENCE_END = re.compile(
    r"(?<=[。！？])[”」』）)\"]*\s*|(?<=；)\s*|"
    rf"(?<![.\s]\w\.){_ABBREVIATIONS}(?<=[.!?…])(?<!“…)(?:(?<!\d\.)|(?!\s+[a-zà-ÿ]))[\"')\]”»]{{0,2}}\s+"
)
