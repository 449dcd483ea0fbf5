"""A memory file, taken apart into what it says and how a reader sees it. Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from memdir.dream.plan.blocks import Block, Unit, says_something
from memdir.dream.plan.body import Body
from memdir.dream.plan.sentences import form, sealed
from memdir.errors import UsageError
from memdir.memory import encoding, frontmatter, topic
from memdir.memory.frontmatter import Entry, Header
from memdir.memory.pointer import entry
from memdir.names import INDEX


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
        return frozenset(form(" ".join(block.lines)) for block in self.blocks if block.place == "said")

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
        return Page(file=file, blocks=list(_prose(Body(body).blocks)))
    blocks, name, description = [], "", ""
    header = frontmatter.read(text)
    if header is None:
        body = text.lstrip(encoding.MARK)
    else:
        parsed = topic.parse(text, filename=file)
        body, name, description = header.body, parsed.name, parsed.description or ""
        if says_something(description):
            blocks.append(sealed(Block("said", [description.strip()], is_description=True), "description"))
        blocks += [sealed(Block("header", [line])) for line in _other_lines(header)]
    blocks += Body(body).blocks
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
            yield sealed(block)


def quoted(text: str) -> tuple[tuple[str, ...], ...]:
    """The units of a text that somebody quotes from a memory: as it would be read in a body, and as a
    description.
    """
    body = tuple(unit.text for block in Body(text).blocks for unit in block.coarse)
    line = sealed(Block("said", [" ".join(text.split())], is_description=True), "description")
    return tuple(dict.fromkeys((body, tuple(unit.text for unit in line.coarse))))


def _text(data: bytes) -> str:
    """The text, bytes that are none kept apart; of what can't be kept so what a reader gets."""
    try:
        return data.decode("utf-8", "surrogateescape") if _is_utf_8(data) else encoding.decode(data)
    except UsageError:
        return encoding.readable(data)


def _is_utf_8(data: bytes) -> bool:
    return encoding.encoding(data) == "utf-8"


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
