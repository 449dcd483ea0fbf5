"""A memory file, taken apart into what it says and how a reader sees it. Pure, linear.

    block   what stands together: a paragraph, a list item, a row of a table, a line of code, the description
    unit    one sentence of a block, or one line that is a statement of its own
    place   how a reader gets it: `said`; as a `heading`, `code`, in the `header`; `hidden` (comments, struck
            out, HTML that shows nothing, definitions of links); `buried` so deep that nobody is shown it

Before and after a dream the same parser reads; where Markdown is unclear it need only be the same both times.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from memdir.errors import UsageError
from memdir.memory import encoding, frontmatter, topic
from memdir.memory.frontmatter import LINE, Entry, Header
from memdir.memory.pointer import entry
from memdir.names import INDEX
from memdir.trust.judging import negations

Place = Literal["said", "heading", "code", "header", "hidden", "buried"]

REACH_LINES, REACH_CHARACTERS = 8 * 200, 8 * 4_096
"""What stands deeper in a file is buried: eight times what recall shows of one (R5)."""
SHORT = 60
"""A line of fewer characters was not wrapped: what follows it can be a statement of its own. So can what
follows an address."""


@dataclass(frozen=True, slots=True)
class Unit:
    """`text` in normal form; `first` and `last`: the lines of its block that it touches; `soft`: it begins at
    a line's beginning, with no full stop before it."""

    text: str
    block: Block
    first: int
    last: int
    soft: bool = False


@dataclass(slots=True, eq=False)
class Block:
    """`lines` as they stand, stripped; `under`: the headings above it, the nearest last, but for the title;
    `turned`: a heading, or the words that lead to it, say no to it."""

    place: Place
    lines: list[str]
    under: tuple[str, ...] = ()
    turned: bool = False
    is_description: bool = False
    is_item: bool = False
    lead: str = ""  # what stands before the list that it is in
    within: tuple[str, ...] = ()  # what leads to it: items it stands in, words before it, a table's first row
    is_fact: bool = True
    fine: tuple[Unit, ...] = ()
    coarse: tuple[Unit, ...] = ()

    @property
    def facts(self) -> Iterator[int]:
        """The numbers of the lines that say something."""
        return (at for at, line in enumerate(self.lines) if self.is_fact and says_something(line))


@dataclass(eq=False)
class Page:
    """A file that was read. `fine`: all units in order; `coarse`: the same with sentences kept whole, where
    they go over lines that could stand for themselves."""

    file: str
    blocks: list[Block]
    name: str = ""
    description: str = ""
    fine: list[Unit] = field(init=False)
    coarse: list[Unit] = field(init=False)

    def __post_init__(self) -> None:
        self.fine = [unit for block in self.blocks for unit in block.fine]
        self.coarse = [unit for block in self.blocks for unit in block.coarse]

    @cached_property
    def facts(self) -> list[str]:
        """The fact-bearing lines."""
        return [block.lines[at] for block in self.blocks for at in block.facts]

    @cached_property
    def headings(self) -> frozenset[str]:
        """Its headings, the title too."""
        return frozenset(unit.text for unit in self.fine if unit.block.place == "heading")

    @cached_property
    def texts(self) -> frozenset[str]:
        """What its blocks say, each as a whole."""
        return frozenset(_form(" ".join(block.lines)) for block in self.blocks if block.place == "said")

    @cached_property
    def shown(self) -> str:
        """All that a reader sees of it, and what it is called by."""
        texts = [unit.text for unit in self.fine if unit.block.place in ("said", "heading", "code")]
        return "\n".join([self.name, self.file.removesuffix(".md").replace("_", " "), *texts])


def read(file: str, data: bytes) -> Page:
    """Take a topic file, or the index, apart. Never raises."""
    text = _text(data)
    if file == INDEX:
        header = frontmatter.read(text)
        body = header.body if header else text.lstrip(encoding.MARK)
        return Page(file=file, blocks=list(_prose(_Body(body).blocks)))
    blocks, name, description = [], "", ""
    header = frontmatter.read(text)
    if header is None:
        body = text.lstrip(encoding.MARK)
    else:
        parsed = topic.parse(text, filename=file)
        body, name, description = header.body, parsed.name, parsed.description or ""
        if says_something(description):
            blocks.append(_sealed(Block("said", [description.strip()], is_description=True), "description"))
        blocks += [_sealed(Block("header", [line])) for line in _other_lines(header)]
    blocks += _Body(body).blocks
    return Page(file=file, blocks=blocks, name=name, description=description)


def _prose(blocks: Iterable[Block]) -> Iterator[Block]:
    """What an index says beside its entries; lines that go on an entry count."""
    for block in blocks:
        if block.place == "hidden":
            continue
        block.is_fact = block.is_fact and block.place != "heading"
        if not (block.is_item and entry(f"- {block.lines[0]}")):
            yield block
        elif len(block.lines) > 1:
            block.lines = block.lines[1:]
            yield _sealed(block)


def quoted(text: str) -> tuple[tuple[str, ...], ...]:
    """The units of a text that somebody quotes from a memory: as it would be read in a body, and as a
    description.
    """
    body = tuple(unit.text for block in _Body(text).blocks for unit in block.coarse)
    line = _sealed(Block("said", [" ".join(text.split())], is_description=True), "description")
    return tuple(dict.fromkeys((body, tuple(unit.text for unit in line.coarse))))


def says_something(text: str) -> bool:
    """Whether there is a letter or a figure in it."""
    return _WORD.search(text) is not None


def _text(data: bytes) -> str:
    """The text, bytes that are none kept apart; of what can't be kept so what a reader gets."""
    try:
        return data.decode("utf-8", "surrogateescape") if _is_utf_8(data) else encoding.decode(data)
    except UsageError:
        return encoding.readable(data)


def _is_utf_8(data: bytes) -> bool:
    return encoding.encoding(data) == "utf-8"


# -- the normal form --------------------------------------------------------------------------------------


def normal(text: str) -> str:
    """A text without what Markdown puts around its words. Line ends stay; `squeezed` makes blanks of them."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_TYPOGRAPHY)
    if "`" in text or "*" in text or "_" in text:
        text = "".join(_plain(part) for part in _CODE_SPAN.split(text))
    return text


def squeezed(text: str) -> str:
    """One blank where there is white space, none beside Chinese and Japanese letters; no last full stop."""
    text = " ".join(text.split())
    if not text.isascii():
        text = _BESIDE_CJK.sub("", text)
    return text[:-1].rstrip() if text.endswith((".", "。")) and not text.endswith("..") else text


def line_words(text: str) -> str:
    """The normal form of one line, its list mark and quote marks gone."""
    line = text.strip()
    while mark := _QUOTE.match(line) or _ITEM.match(line):
        line = line[mark.end() :].strip()
    return squeezed(normal(line))


def _plain(part: str) -> str:
    """A part of a text: what is code loses its backticks and keeps the rest, other text its emphasis."""
    if part.startswith("`") and (code := _CODE_SPAN.fullmatch(part)):
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
_WORD = re.compile(r"[^\W_]")
_BACKTICKS = re.compile("`+")
_CODE_SPAN = re.compile(r"((?<!`)(?:`[^`\n]+`|``[^\n]{1,2000}?``)(?!`))")
_STARS = re.compile(
    r"(?<![A-Za-z0-9_*\\])(\*{1,3})(?=[\w\"'(\[@/<$-])([^*]+?)(?<=[\w.!?:;,)\"'\]%。！？：；，）>-])\1(?![A-Za-z0-9_*])"
)
_UNDERSCORES = re.compile(r"(?<![\w\\])(_{1,2})(?=\w)([^_\n]+)(?<=[\w.!?:;,])\1(?!\w)")


# -- sentences --------------------------------------------------------------------------------------------


def _sealed(block: Block, kind: str = "") -> Block:
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
_ADDRESS = re.compile(r"\b[a-z]{2,10}://\S+")
_LINK_LAST = re.compile(r"(?:\A|\s)[<(]?[a-z]{2,10}://\S+\Z")
_BEGINS = re.compile(r"[A-Z0-9À-ÖØ-ÞΑ-ΩА-Я\"'(\[]")


# -- the header -------------------------------------------------------------------------------------------


def _other_lines(header: Header) -> Iterator[str]:
    """The lines of a header that say something beside the values that are ours."""
    own: set[int] = set()
    for top in header.entries:
        if top.children and top.key in ("origin", "metadata"):
            own.update([] if says_something(top.comment) else [top.start])
            for child in top.children:
                if _is_ours(child, _BELOW):
                    own.update(range(child.start, child.stop))
        elif _is_ours(top, _ABOVE) and header.entry(top.key) is top:
            own.update(range(top.start, top.stop))
    for number, line in enumerate(header.lines):
        if number not in own and says_something(line):
            yield line.strip()


def _is_ours(entry: Entry, keys: Mapping[str, re.Pattern[str]]) -> bool:
    """Whether an entry holds one of our keys, with a value as we write it and no remark."""
    pattern = keys.get(entry.key)
    return (
        pattern is not None
        and not says_something(entry.comment)
        and bool(pattern.fullmatch(entry.value or ""))
    )


_ANY = re.compile(r".*", re.DOTALL)
_NAME = re.compile(r"\S*")
_TYPE = re.compile(r"(?:user|feedback|project|reference)?", re.IGNORECASE)
_MOMENT = re.compile(r"[-0-9T:.+Z ]*")
_NOTHING = re.compile("")
_ORIGINS = re.compile(r"(?:(?:,\s)?\"?(?:(?:session|message|worker)\s\S+\s?)+\"?)*")
_ABOVE: Mapping[str, re.Pattern[str]] = {
    "name": _ANY, "description": _ANY, "type": _TYPE, "modified": _MOMENT, "node_type": _NAME,
    "origin": _NOTHING, "metadata": _NOTHING, "origins": _ORIGINS,
}  # fmt: skip
_BELOW: Mapping[str, re.Pattern[str]] = {
    "type": _TYPE, "modified": _MOMENT, "node_type": _NAME, "session": _NAME, "message": _NAME,
    "worker": _NAME,
    "originsessionid": _NAME, "originmessageid": _NAME, "originworker": _NAME, "origins": _ORIGINS,
}  # fmt: skip


# -- the body ---------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Open:
    """A block while its lines are being collected."""

    kind: str  # "text", "item", "row"
    depth: int  # of quotes
    indent: int
    lines: list[str]
    leads: list[
        _Open
    ]  # what leads to it: the items it stands in, the words before the list, a table's first row
    deep: bool
    turned: bool = False
    said_no: bool | None = None

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def turns(self) -> bool:
        """Whether its words say no to what they lead to."""
        if self.said_no is None:
            self.said_no = turns(self.text)
        return self.said_no


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    text: str
    turns: bool


class _Body:
    """One pass over the lines of a text."""

    def __init__(self, text: str) -> None:
        self.blocks: list[Block] = []
        self.hidden: list[Block] = []
        self.above: tuple[_Heading, ...] = ()
        self.title, self.has_sections = "", False
        self.empty_heading: Block | None = None
        self.open: _Open | None = None
        self.last: _Open | None = None
        self.items: list[_Open] = []
        self.list_lead: _Open | None = None
        self.fence = ""
        self.until: re.Pattern[str] | None = None
        self.deep = False
        self._read(text)

    def _read(self, text: str) -> None:
        lines = LINE.findall(text)
        self.rest_has = _closers(text) if "<" in text else {}
        offset = 0
        for number, raw in enumerate(lines):
            offset += len(raw)
            self.deep = self.deep or number >= REACH_LINES or offset > REACH_CHARACTERS
            line = raw.rstrip("\r\n")
            if self.fence:
                self._code(line)
                continue
            if self.until is not None or "<" in line:
                line = self._shown(line, number)
            self._line(line)
        self._close()
        self._end_section(0)
        self.blocks += self.hidden

    # -- what a reader does not see

    def _shown(self, line: str, number: int) -> str:
        """The line without what is hidden in it."""
        shown, at = "", 0
        while True:
            if self.until is not None:
                end = self.until.search(line, at)
                self._hide(line[at : end.start() if end else len(line)])
                if not end:
                    return shown
                at, self.until = end.end(), None
            opening = _OPENS.search(line, at)
            while opening and _in_code(line, opening.start()):
                opening = _OPENS.search(line, opening.end())
            if not opening:
                return shown + line[at:]
            closer = _closer(opening)
            closes = self.rest_has.get(closer, -1)
            same_line = re.compile(closer, re.IGNORECASE).search(line, opening.end())
            starts = not line[: opening.start()].strip()
            if not same_line and closes <= number and opening[0] == "<!--" and not starts:
                return shown + line[at:]
            shown += line[at : opening.start()]
            at, self.until = opening.end(), re.compile(closer, re.IGNORECASE)

    def _hide(self, text: str) -> None:
        if says_something(text):
            place: Place = "buried" if self.deep else "hidden"
            self.hidden.append(_sealed(Block(place, [_bare(text.strip())], under=self._under())))

    # -- lines

    def _code(self, line: str) -> None:
        if re.fullmatch(rf"\s*{re.escape(self.fence[0])}{{{len(self.fence)},}}\s*", line):
            self.fence = ""
            return
        if says_something(line):
            self._has_content()
            turned = self._heading_turns() or self._led_astray()
            self._add(Block(self._place("code"), [line.strip()], under=self._under(), turned=turned))

    def _line(self, line: str) -> None:
        stripped = line.strip()
        if not stripped:
            self._close()
            return
        depth, text = 0, line
        while ">" in text and (quote := _QUOTE.match(text)):
            depth, text = depth + 1, text[quote.end() :]
        indent = len(text) - len(text.lstrip(" \t"))
        content = text.strip()
        if ("```" in text or "~~~" in text) and (fence := _FENCE.match(text)):
            self._close()
            self.fence = fence[1]
        elif content.startswith("#") and indent < 4 and (heading := _HEADING.match(content)):
            self._heading(len(heading[1]), heading[2])
        elif not says_something(content):
            if not (content.startswith("|") and self.open and self.open.kind == "row"):
                self._close()  # what is below a table's rule stands below its first row
        elif content.startswith("[") and indent < 4 and _DEFINITION.match(content):
            self._close()
            self._hide(content)
        elif content.startswith("|"):
            self._row(content, depth, indent)
        elif item := _ITEM.match(content):
            self._close()
            self._start("item", depth, indent, content[item.end() :])
        elif self.open and self.open.kind != "row" and self.open.depth == depth:
            self.open.lines.append(content)
        else:
            self._close()
            self._start("text", depth, indent, content)

    def _row(self, content: str, depth: int, indent: int) -> None:
        first = self.open if self.open and self.open.kind == "row" else None
        head = first.leads[-1] if first and first.leads and first.leads[-1].kind == "row" else first
        keep = head or None
        self._close()
        cells = " | ".join(cell.strip() for cell in content.strip("|").split("|"))
        self._start("row", depth, indent, cells)
        if keep is not None and self.open is not None:
            self.open.leads = [*self.open.leads, keep]

    def _start(self, kind: str, depth: int, indent: int, content: str) -> None:
        self._has_content()
        while self.items and self.items[-1].indent >= indent:
            self.items.pop()
        leads = list(self.items)
        if kind == "item":
            if self.last is None or self.last.kind != "item":
                self.list_lead = self.last
            if self.list_lead is not None and _leads(self.list_lead):
                leads.insert(0, self.list_lead)
        elif self.last is not None and _leads(self.last):
            leads.append(self.last)
        self.open = _Open(kind, depth, indent, [content], leads, self.deep)
        if kind == "item":
            self.items.append(self.open)

    def _close(self) -> None:
        done, self.open = self.open, None
        if done is None:
            return
        self.last = done
        text = "\n".join(done.lines)
        struck: list[str] = []
        if "~" in text:
            text = _without_struck(text, struck)
        for one in struck:
            self._hide(one)
        if struck:
            done.lines = text.split("\n")
        done.turned = self._heading_turns() or any(lead.turned or lead.turns for lead in done.leads)
        if says_something(text):
            is_hidden = not text.isascii() and _INVISIBLE.search(text) is not None
            place: Place = "hidden" if is_hidden else "said"
            if done.deep or self.deep:
                place = "buried"
            lines, is_item = text.split("\n"), done.kind == "item"
            block = Block(place, lines, under=self._under(), turned=done.turned, is_item=is_item)
            block.lead = self.list_lead.text if is_item and self.list_lead else ""
            block.within = tuple(_form(" ".join(lead.lines)) for lead in done.leads)
            self._add(block, done.kind)

    def _add(self, block: Block, kind: str = "") -> None:
        self.blocks.append(_sealed(block, kind))

    def _place(self, place: Place) -> Place:
        return "buried" if self.deep else place

    def _led_astray(self) -> bool:
        return self.last is not None and _leads(self.last) and (self.last.turned or self.last.turns)

    # -- headings

    def _heading(self, level: int, text: str) -> None:
        self._close()
        self._end_section(level)
        self.last, self.list_lead, self.items = None, None, []
        if not says_something(text) and not turns(text):
            return
        self._count_titles(level, text)
        block = Block(self._place("heading"), [text], under=self._under(), is_fact=False)
        block.turned = self._heading_turns()
        self._add(block)
        self.empty_heading = block
        self.above = (
            *(one for one in self.above if one.level < level),
            _Heading(level, _form(text), turns(text)),
        )

    def _count_titles(self, level: int, text: str) -> None:
        """One heading of the first level is the file's title, and says nothing more of a line. Two are
        headings like others.
        """
        if level != 1:
            return
        if self.title and not self.has_sections:
            self.has_sections = True
            for block in (*self.blocks, *self.hidden):
                if block.place != "heading":
                    block.under = (self.title, *block.under)
        self.title = self.title or _form(text)

    def _end_section(self, level: int) -> None:
        """A heading with nothing below it stands for itself."""
        if self.empty_heading is not None and (
            level == 0 or level <= (self.above[-1].level if self.above else 0)
        ):
            self.empty_heading.is_fact = True
        self.empty_heading = None

    def _has_content(self) -> None:
        self.empty_heading = None

    def _under(self) -> tuple[str, ...]:
        return tuple(one.text for one in self.above if one.level > 1 or self.has_sections)

    def _heading_turns(self) -> bool:
        return any(one.turns for one in self.above)


def turns(text: str) -> bool:
    """Whether a heading, or words that lead to something, say no to it, or that it was so once."""
    text = _ADDRESS.sub(" ", text) if "://" in text else text  # "old" in the name of a machine is none
    return bool(text) and (negations(text) > 0 or _TURNS.search(text) is not None)


def turning(text: str) -> frozenset[str]:
    """The words of a text by which it would say no to what it leads to, or that it was so once."""
    return frozenset(word.casefold() for word in _TURNS.findall(text))


def _form(text: str) -> str:
    return squeezed(normal(text))


def _leads(block: _Open) -> bool:
    """Whether a text leads to what follows it."""
    return block.lines[-1].rstrip("*_ ").endswith((":", "："))


def _bare(text: str) -> str:
    item = _ITEM.match(text)
    return text[item.end() :] if item else text


def _without_struck(text: str, struck: list[str]) -> str:
    """The text without what stands between tildes, which goes to `struck`; line ends stay."""
    kept, at, opened = "", 0, dict[int, int]()
    for run in _TILDES.finditer(text):
        width = len(run[0])
        before, after = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
        if before.strip() and width in opened and opened[width] >= at:
            start = opened.pop(width)
            inner = text[start + width : run.start()]
            struck.append(" ".join(inner.split()))
            kept += text[at:start] + "\n" * inner.count("\n")
            at = run.end()
        elif after.strip() and before != "\\":
            opened.setdefault(width, run.start())
            if opened[width] < at:
                opened[width] = run.start()
    return kept + text[at:]


def _in_code(line: str, at: int) -> bool:
    return "`" in line and any(span.start() <= at < span.end() for span in _CODE_SPAN.finditer(line))


def _closer(opening: re.Match[str]) -> str:
    """The pattern of what ends something hidden."""
    if opening[0].startswith("<!--"):
        return "-->"
    return rf"</\s*{opening['one'] or opening['other']}\s*>".lower()


def _closers(text: str) -> dict[str, int]:
    """The last line that ends a comment."""
    at = text.rfind("-->")
    return {"-->": len(LINE.findall(text[:at])) - 1 if at > 0 else -1}


_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_DEFINITION = re.compile(r"\[(?!\^)[^\]\n]{1,200}\]:\s*\S")
_TILDES = re.compile(r"(?<!~)~{1,2}(?!~)")
_OPENS = re.compile(
    r"<!--|<(?P<one>script|style|template|details|svg|noscript|textarea|iframe|object|del|s"
    r"|strike)\b[^<>]{0,400}(?<!/)>"
    r"|<(?P<other>[a-z][a-z0-9]{0,20})\b[^<>]{0,200}\s(?:style|hidden|aria-hidden)\b[^<>]{0,200}(?<!/)>",
    re.IGNORECASE,
)
_INVISIBLE = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_TURNS = re.compile(
    r"\b(?:obsolete|outdated|deprecated|supersed\w+|replaced|retired|withdrawn|revoked|reverted|rejected"
    r"|ruled out"
    r"|wrong\w*|false\w*|untrue|incorrect|invalid|mistak\w+|myths?|misconceptions?|bad|old|formerly"
    r"|former|previous(?:ly)?"
    r"|histor\w+|archived?|legacy|past|hypothe\w+|propos\w+|ideas?|maybe|alternatives|considered"
    r"|fiction\w*|jokes?"
    r"|against|declin\w*|abandon\w*|dismiss\w*|refus\w*|banned|forbid\w*|given up|ignore\w*|disregard\w*"
    r"|used to|instead of|anti-?patterns?|don.?ts"
    r"|until|before (?:19|20)\d\d|plan(?:s|ned)?|examples?|drafts?|stor(?:y|ies)|novels?|dream\w*"
    r"|rumou?rs?|doubt\w*|allegedly|supposed\w*|in theory|wish\w*|placeholders?|if|unless"
    r"|bis|falls|wenn|beispiele?|hasta|ejemplos?|si"
    r"|veraltet\w*|falsch\w*|früher\w*|ehemal\w*|alt|verworfen\w*|überholt\w*"
    r"|obsolet\w+|falso|antigu\w+|anterior\w*|descartad\w+|equivocad\w+)\b"
    r"|过时|過時|作废|作廢|废弃|廢棄|❌|🚫|⛔|✗|✘|👎|🗑|错误|錯誤|已弃|以前|旧|舊|历史|歷史|廃止|古い|間違|誤り|以前|如果|例如|示例|直到|草稿|计划|もし|例えば",
    re.IGNORECASE,
)
