"""A person's message becomes the sentences that are the person's own.

Left out are all things that somebody or something else wrote (E11): fenced code, quoted lines, logs, diffs, text
after "here is the mail:", text between arrows or in long quotation marks, hidden characters. A very long message is
a paste: only its beginning and its end are read. Time is linear in the length of the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from memdir.extract.local.cues import Cue, Table, found, tables_for
from memdir.extract.local.dates import absolute
from memdir.extract.local.values import Turn

LONGEST_SENTENCE = 1_200
"""Nobody says a longer one; it is pasted text."""
MOST_SENTENCES = 120
"""Of a longer message only the first and last twenty sentences are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a person, tidy, with its place in the talk."""

    turn: int
    block: int  # paragraph, or one item of a list
    said: str  # as the person wrote it
    text: str  # with absolute dates
    days: tuple[date, ...]
    head: str  # the line that introduces a list, for its items
    item: bool
    cues: frozenset[Cue]
    head_cues: frozenset[Cue]


def sentences(turn: Turn, index: int, *, today: date) -> list[Sentence]:
    """The person's own sentences of one turn; nothing for an assistant's or a tool's."""
    if turn.role != "person":
        return []
    text = own_words(turn.text)
    tables = tables_for(text)
    pieces = list(_pieces_of(text))
    if len(pieces) > MOST_SENTENCES:
        pieces = pieces[:20] + pieces[-20:]
    return [_read(piece, index, tables, today) for piece in pieces]


def _read(piece: _Piece, turn: int, tables: tuple[Table, ...], today: date) -> Sentence:
    cues = found(piece.text, tables)
    dated = absolute(piece.text, today=today, past=Cue.PAST in cues)
    if Cue.QUESTION in cues and len(_WIDE.findall(piece.text)) > _LONGEST_BARE_QUESTION:
        cues -= {Cue.QUESTION}
    shapes = {cue for cue, pattern in _SHAPES.items() if pattern.search(piece.text)}
    if Cue.URL in shapes and _size(piece.text) >= _LONG:
        cues -= {Cue.QUESTION}  # "where was it, ah, here: https://…"
    if dated.days or dated.periods:
        shapes |= {Cue.DATED, Cue.DUE} if dated.due else {Cue.DATED}
    far = any(day > today + timedelta(days=1) for day in dated.days)
    if far or (dated.periods and Cue.PAST not in cues):
        shapes.add(Cue.AHEAD)
    if _size(piece.text) >= _STATEMENT and not (cues | shapes) & {Cue.QUESTION, Cue.TASK}:
        shapes |= {Cue.STATEMENT, Cue.LONG} if _size(piece.text) >= _LONG else {Cue.STATEMENT}
    return Sentence(
        turn=turn,
        block=piece.block,
        said=piece.text,
        text=dated.text,
        days=dated.days,
        head=piece.head,
        item=piece.item,
        cues=cues | shapes,
        head_cues=found(piece.head, tables) if piece.head else frozenset(),
    )


def _size(text: str) -> float:
    """Length in words; fourteen Chinese or Japanese characters say as much as eight words."""
    return len(text.split()) + len(_WIDE.findall(text)) * 8 / 14


_STATEMENT, _LONG = 8, 18
_LONGEST_BARE_QUESTION = 28
"""In a longer Chinese sentence "whether" and "which" ask nothing, unless it ends in a question mark or particle."""
_WIDE = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
_SHAPES = {
    Cue.URL: re.compile(r"https?://[\w.-]+|[\w.+-]+@[\w-]+\.[\w.]+|\b[\w-]+\.(?:invalid|com|org|io|net|dev|cn|de|internal|local)/\w"),
    Cue.NAMED: re.compile(r"(?<=[a-z,;:(“\"] )[A-Z][\w-]+|「[^」]{1,12}」|\"[^\"\s]{2,30}\"|#[a-z][\w-]+|[\u4e00-\u9fff][A-Z][A-Za-z]{2,}"),
    Cue.RECURRING: re.compile(
        r"每(?:周|天|月|个月|季度|隔|晚|年)|毎(?:日|週|月|朝|晩)|\b(?:weekly|monthly|nightly|quarterly|fortnightly|biweekly)\b"
        r"|\b(?:every|each)\s(?:second\s|other\s|first\s|last\s)?(?:day|week|month|quarter|year|night|morning|evening|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b"
        r"|\b(?:on\s)?(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bjede[nr]?\s(?:zweiten\s)?(?:\w+tag|woche|monat|mittwoch|nacht)\b"
        r"|\bcada\s(?:día|semana|mes|noche|lunes|martes|miércoles|jueves|viernes)\b",
        re.IGNORECASE,
    ),
    Cue.CODE: re.compile(r"`|\b[\w-]+\.(?:py|ts|js|tsx|go|rs|kt|java|c|h|rb|md|json|yml|yaml|toml|sql|sh|css|html)\b|\w+\(\)|(?<!\w)/[a-z]+/"),
    Cue.QUESTION: re.compile(r"[?？][)）\"”」]?\s*$|[吗呢么]\s*$"),
}


# ---------------------------------------------------------------------------------- what is not theirs

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_ARROWS = re.compile(r">>>.*?(?:<<<|\Z)", re.DOTALL)
_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAGGED = re.compile(r"<([a-z][\w-]{1,30})\b[^<>]{0,200}>.*?</\1>", re.DOTALL | re.IGNORECASE)
_HIDDEN = re.compile("[\u00ad\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff\ud800-\udfff\U000e0000-\U000e007f]")
_LONG_QUOTES = re.compile(
    "|".join(
        rf"{opening}(?=(?:[^{closing}\n]{{0,40}}\s){{3}}|[^{closing}\n\x20-\x7e]{{12}})[^{closing}\n]{{12,1000}}[{closing}]"
        for opening, closing in (("“", "”"), ("„", "“”\""), ("«", "»"), ("「", "」"), ("『", "』"), ('(?<!\\w)"', '"'))
    )
)
_LINE_OF_A_LOG = re.compile(
    r"""\s*(?:
        > | \$\s | \#\s | at\s\S+\( | File\s" | @@ | [+-]{1,3}(?=\S) | [+-]\s{2,} | \|
      | (?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE|FAIL|PASS|Traceback|Exception)\b[\s:\[(] | (?:error|warning)(?::|\[)
      | (?:npm|psql|curl|git|pip|make|cargo|panic|fatal|bash)\s?: | \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[\d
      | \w+\.(?:py|ts|js|go|rs|kt|java|c|h|rb|tsx)\b:?\d* | [A-Z][A-Z0-9_]+= | [{}\[\]();]+\s*$ | \w+Error:
    )""",
    re.VERBOSE,
)
_CLOCK = re.compile(r"\s*\d\d:\d\d(?::\d\d)?\s")
_URL = re.compile(r"\bhttps?://[^\s<>，。；、）」]+|`[^`\n]{1,80}`")
_SYMBOLS = re.compile(r"[{}\[\]<>=|\\;$_*/~^&]")
_ITEM = re.compile(r"\s*(?:[-*•·]\s(?!\s)|\(?\d{1,2}[.)、]\s?(?!\d)|\(?[a-h]\)\s|[一二三四五六七八九]、)\s*")
_INLINE_ITEM = re.compile(r"\s+(?=\([1-9]\)\s)")
_SPLIT = re.compile(
    r"(?<=[。！？])[”」』）)\"]*\s*|(?<=；)\s*|"
    r"(?<![.\s]\w\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)(?<!\bz\.B\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bca\.)(?<=[.!?…])"
    r"[\"')\]”»]{0,2}\s+"
)


def own_words(text: str) -> str:
    """The message without what was pasted, quoted or hidden in it; line breaks kept."""
    text = _HIDDEN.sub("", text)
    for pattern in (_FENCE, _ARROWS, _MARKUP, _TAGGED):
        text = pattern.sub("\n", text)
    text = _LONG_QUOTES.sub("“…”", text)
    return "\n".join(_own_lines(text.splitlines()))


def _own_lines(lines: Sequence[str]) -> Iterator[str]:
    """Lines without logs, and without what follows an introduction such as "this is the output:"."""
    pasting: str | None = None  # "paragraph": until the next empty line after some text; "rest": to the end
    seen_text = False
    for number, line in enumerate(lines):
        if pasting == "rest":
            continue
        if pasting == "paragraph":
            seen_text = seen_text or bool(line.strip())
            if line.strip() or not seen_text:
                continue
            pasting = None
        if _looks_pasted(line, lines[max(0, number - 1)] if number else "", lines[number + 1 : number + 2]):
            continue
        yield line
        pasting, seen_text = _introduces(line), False


_WHOLE_TEXTS = re.compile(
    r"\b(?:mail|e-?mail|letter|article|page|wiki|post|thread|message|brief|nachricht|correo|mensaje)\b|邮件|文章|页面|消息|帖子|メール|記事",
    re.IGNORECASE,
)


def _introduces(line: str) -> str | None:
    """What a line that ends in a colon says of the lines below it."""
    end = line.rstrip()
    if not end.endswith((":", "：")) or _ITEM.match(line):
        return None
    clause = re.split(r"[.!?。！？]\s*", end)[-1]
    cues = found(clause, tables_for(clause))
    if Cue.PASTE not in cues or cues & {Cue.REMEMBER, Cue.STANDING}:
        return None
    return "rest" if _WHOLE_TEXTS.search(clause) else "paragraph"


def _looks_pasted(line: str, before: str, after: Iterable[str]) -> bool:
    if _LINE_OF_A_LOG.match(line):
        return True
    if _CLOCK.match(line):
        return bool(_CLOCK.match(before)) or any(_CLOCK.match(other) for other in after)
    plain = _URL.sub("", line[:2_000])
    stripped = plain.strip()
    if stripped[:1] in "\"“" and stripped[-1:] in "\"”" and len(stripped) > 40:
        return True
    return len(plain) > 12 and len(_SYMBOLS.findall(plain)) > 0.12 * len(plain)


# ---------------------------------------------------------------------------------- sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    text: str
    block: int
    head: str
    item: bool


def _pieces_of(text: str) -> Iterator[_Piece]:
    """Sentences with their paragraph; an item of a list is a paragraph and knows the line above the list."""
    head, block = "", 0
    for line in _INLINE_ITEM.sub("\n", text).splitlines():
        item = _ITEM.match(line)
        if item:
            block += 1
            line = line[item.end() :]
        elif line.strip():
            head = ""
        else:
            block += 1
        pieces = list(_pieces(line))
        for piece in pieces:
            yield _Piece(text=piece, block=block, head=head if item else "", item=bool(item))
        if item:
            block += 1
        elif pieces:
            head = pieces[-1]


def _pieces(line: str) -> Iterator[str]:
    start = 0
    for cut in _SPLIT.finditer(line):
        if cut.end() > start:
            yield from _tidy(line[start : cut.end()])
        start = cut.end()
    yield from _tidy(line[start:])


def _tidy(piece: str) -> Iterator[str]:
    text = " ".join(piece.split())
    if 0 < len(text) <= LONGEST_SENTENCE and re.search(r"\w", text):
        yield text
