"""A text in the form in which two texts are the same, and a block as the statements that it makes. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from memdir.dream.plan.blocks import Block, Unit, says_something

SHORT = 60
"""A line of fewer characters was not wrapped: what follows it can be a statement of its own. So can what
follows an address."""

ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])[ \t]+")
QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
"""What makes a line an item of a list, and one of a quotation."""


# -- the normal form --------------------------------------------------------------------------------------


def normal(text: str) -> str:
    """A text without what Markdown puts around its words. Line ends stay; `squeezed` makes blanks of them."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_TYPOGRAPHY)
    if "`" in text or "*" in text or "_" in text:
        text = "".join(_plain(part) for part in CODE_SPAN.split(text))
    return text


def squeezed(text: str) -> str:
    """One blank where there is white space, none beside Chinese and Japanese letters; no last full stop."""
    text = " ".join(text.split())
    if not text.isascii():
        text = _BESIDE_CJK.sub("", text)
    return text[:-1].rstrip() if text.endswith((".", "。")) and not text.endswith("..") else text


def form(text: str) -> str:
    """The normal form of a text, in one line."""
    return squeezed(normal(text))


def line_words(text: str) -> str:
    """The normal form of one line, its list mark and quote marks gone."""
    line = text.strip()
    while mark := QUOTE.match(line) or ITEM.match(line):
        line = line[mark.end() :].strip()
    return squeezed(normal(line))


def _plain(part: str) -> str:
    """A part of a text: what is code loses its backticks and keeps the rest, other text its emphasis."""
    if part.startswith("`") and (code := CODE_SPAN.fullmatch(part)):
        marks = _BACKTICKS.match(part)
        width = len(marks[0]) if marks else 0
        return code[0][width:-width]
    if "*" in part:
        part = _STARS.sub(_inner, part)
        part = _STARS.sub(_inner, part) if "*" in part else part  # bold within italics
    return _UNDERSCORES.sub(_inner_words, part) if "_" in part else part


def _inner(match: re.Match[str]) -> str:
    return match[2]


def _inner_words(match: re.Match[str]) -> str:
    return match[2] if " " in match[2] else match[0]  # `_private` and `__init__` are names


_HAN = r"\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003134f"
_BESIDE_CJK = re.compile(rf"(?<=[{_HAN}]) | (?=[{_HAN}])")
_TYPOGRAPHY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-"})
_BACKTICKS = re.compile("`+")
CODE_SPAN = re.compile(r"((?<!`)(?:`[^`\n]+`|``[^\n]{1,2000}?``)(?!`))")
_STARS = re.compile(
    r"(?<![A-Za-z0-9_*\\])(\*{1,3})(?=[\w\"'(\[@/<$-])([^*]+?)(?<=[\w.!?:;,)\"'\]%。！？：；，）>-])\1(?![A-Za-z0-9_*])"
)
_UNDERSCORES = re.compile(r"(?<![\w\\])(_{1,2})(?=\w)([^_\n]+)(?<=[\w.!?:;,])\1(?!\w)")


# -- sentences --------------------------------------------------------------------------------------------


def sealed(block: Block, kind: str = "") -> Block:
    """The block with its units."""
    text = normal("\n".join(block.lines))
    whole = block.place == "code" or block.place == "header" or kind == "row"
    cuts = [] if whole else list(_cuts(text, semicolons=kind == "description"))
    block.coarse = tuple(_units(block, text, [(at, False) for at in cuts]))
    soft = [] if whole or "\n" not in text else list(_soft_cuts(text))
    if not soft:
        block.fine = block.coarse
        return block
    every = dict([(at, True) for at in soft] + [(at, False) for at in cuts])
    block.fine = tuple(_units(block, text, sorted(every.items())))
    return block


def _units(block: Block, text: str, cuts: list[tuple[int, bool]]) -> Iterator[Unit]:
    if not cuts and "\n" not in text:
        words = squeezed(text)
        yield Unit(words.rstrip(";") if block.is_description else words, block, 0, 0)
        return
    start, soft, line = 0, False, 0
    for end, soft_end in [*cuts, (len(text), False)]:
        piece = text[start:end]
        lines = piece.strip("\n").count("\n")
        line += len(piece) - len(piece.lstrip("\n"))
        if says_something(piece):
            words = squeezed(piece)
            yield Unit(words.rstrip(";") if block.is_description else words, block, line, line + lines, soft)
        line += piece.lstrip("\n").count("\n")
        start, soft = end, soft_end


def _cuts(text: str, *, semicolons: bool) -> Iterator[int]:
    """Where a sentence ends and another begins: not within brackets or quotes, not behind an abbreviation."""
    counted, at = [0] * len(_BRACKETS), 0
    for match in (_END_OR_SEMICOLON if semicolons else _END).finditer(text):
        start, end = match.span()
        for number, bracket in enumerate(_BRACKETS):
            counted[number] += text.count(bracket, at, end)
        at = end
        if counted[0] % 2 or any(
            one > other for one, other in zip(counted[1::2], counted[2::2], strict=True)
        ):
            continue
        if match[0][0] in ".!?…" and "\n" not in match[0] and text[end : end + 1].islower():
            continue
        if match[0][0] == "." and _ABBREVIATION.search(text[max(0, start - 11) : start + 1]):
            continue
        yield end


def _soft_cuts(text: str) -> Iterator[int]:
    """Where a line begins that can be a statement of its own."""
    at = text.find("\n")
    while at != -1:
        line_start = text.rfind("\n", 0, at) + 1
        above, below = text[line_start:at].rstrip(), text[at + 1 : at + 40]
        if _LABEL.match(below) or (
            (len(above) < SHORT or _LINK_LAST.search(above))
            and not above.endswith((",", ";", ":", "-", "(", "&", "/", "，", "、", "；", "："))
            and _BEGINS.match(below)
        ):
            yield at + 1
        at = text.find("\n", at + 1)


_END = re.compile(r"(?<=[^\s.])[.!?…]+[\"')\]]*\s+(?=\S)|[。！？]+[」』\"')\]）]*\s*(?=\S)")
_END_OR_SEMICOLON = re.compile(rf"{_END.pattern}|;\s+(?=\S)")
_BRACKETS = '"()[]「」『』（）«»'
"""Quotes, which close what they open, then pairs."""
_ABBREVIATION = re.compile(
    r"(?:\A|[\s(\"'.])(?:e\.g|i\.e|cf|vs|approx|etc|incl|excl|no|nos|nr|z\.b|bzw|ca|usw|d\.h|u\.a|mr|mrs"
    r"|ms|dr|prof"
    r"|st|fig|ref|acc|esp|viz|sr|jr|ej|sra?|vgl|inkl|evtl|ggf|max|min|[a-z])\.\Z",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[A-Z][\w' ]{0,30}:\s|[^\W\d_]{1,8}：")
ADDRESS = re.compile(r"\b[a-z]{2,10}://\S+")
_LINK_LAST = re.compile(r"(?:\A|\s)[<(]?[a-z]{2,10}://\S+\Z")
_BEGINS = re.compile(r"[A-Z0-9À-ÖØ-ÞΑ-ΩА-Я\"'(\[]")
