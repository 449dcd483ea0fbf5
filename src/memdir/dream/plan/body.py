"""The body of a memory -> its blocks, in one pass over the lines. Pure, linear.

Before and after a dream the same parser reads; where Markdown is unclear it need only be the same both times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memdir.dream.plan.blocks import Block, Place, says_something
from memdir.dream.plan.sentences import ADDRESS, CODE_SPAN, ITEM, QUOTE, form, sealed
from memdir.memory.frontmatter import LINE
from memdir.memory.shown import BODY_BYTES, BODY_LINES
from memdir.trust.judging import negations

REACH_LINES, REACH_CHARACTERS = 8 * BODY_LINES, 8 * BODY_BYTES
"""What stands deeper in a file is buried: eight times what recall shows of one (R5)."""


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


class Body:
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
        self.last_comment_end = _last_comment_end(text)
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
            same_line = re.compile(closer, re.IGNORECASE).search(line, opening.end())
            starts = not line[: opening.start()].strip()
            if not same_line and opening[0] == "<!--" and self.last_comment_end <= number and not starts:
                return shown + line[at:]
            shown += line[at : opening.start()]
            at, self.until = opening.end(), re.compile(closer, re.IGNORECASE)

    def _hide(self, text: str) -> None:
        if says_something(text):
            place: Place = "buried" if self.deep else "hidden"
            self.hidden.append(sealed(Block(place, [_bare(text.strip())], under=self._under())))

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
        while ">" in text and (quote := QUOTE.match(text)):
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
        elif item := ITEM.match(content):
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
        self._close()
        cells = " | ".join(cell.strip() for cell in content.strip("|").split("|"))
        self._start("row", depth, indent, cells)
        if head is not None and self.open is not None:
            self.open.leads = [*self.open.leads, head]

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
            block.within = tuple(form(" ".join(lead.lines)) for lead in done.leads)
            self._add(block, done.kind)

    def _add(self, block: Block, kind: str = "") -> None:
        self.blocks.append(sealed(block, kind))

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
            _Heading(level, form(text), turns(text)),
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
        self.title = self.title or form(text)

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
    text = ADDRESS.sub(" ", text) if "://" in text else text  # "old" in the name of a machine is none
    return bool(text) and (negations(text) > 0 or _TURNS.search(text) is not None)


def turning(text: str) -> frozenset[str]:
    """The words of a text by which it would say no to what it leads to, or that it was so once."""
    return frozenset(word.casefold() for word in _TURNS.findall(text))


def _leads(block: _Open) -> bool:
    """Whether a text leads to what follows it."""
    return block.lines[-1].rstrip("*_ ").endswith((":", "："))


def _bare(text: str) -> str:
    item = ITEM.match(text)
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
    return "`" in line and any(span.start() <= at < span.end() for span in CODE_SPAN.finditer(line))


def _closer(opening: re.Match[str]) -> str:
    """The pattern of what ends something hidden."""
    if opening[0].startswith("<!--"):
        return "-->"
    return rf"</\s*{opening['one'] or opening['other']}\s*>".lower()


def _last_comment_end(text: str) -> int:
    """The number of the last line that ends a comment, from 0; -1: none does."""
    at = text.rfind("-->")
    return len(LINE.findall(text[:at])) - 1 if at > 0 else -1


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
