"""The index, line by line: which lines count, for a model and for us, and which are no text (F7).

Frontmatter and comments that stand as a block do not count. In a code block a line counts and is not plain:
what looks like an entry there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memdir.memory import frontmatter
from memdir.memory.frontmatter import LINE

_FENCE = re.compile(r"[ ]{0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})")
_COMMENT = re.compile(r"[ ]{0,3}<!--")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that counts. `number`: its place in the text, from 0; `plain`: neither code nor half comment."""

    number: int
    text: str
    plain: bool


def counting(text: str) -> Iterator[Line]:
    """The lines that count: not those of the frontmatter, nor of comments that stand as a block (F7).

    A comment in a code block is text, and so is one that is never closed: the rest of the index is not lost.
    Blank lines before the first that counts go with what was taken out above them.
    """
    lines = LINE.findall(text.lstrip("\ufeff"))
    last_close = max((number for number, line in enumerate(lines) if "-->" in line), default=-1)
    first = front_lines(text)
    started, fence, inside = first == 0, "", False
    for number in range(first, len(lines)):
        line = lines[number]
        if fence:
            closed = re.fullmatch(rf"[ ]{{0,3}}{fence[0]}{{{len(fence)},}}\s*", line)
            fence = "" if closed else fence
            yield Line(number=number, text=line, plain=False)
            continue
        rest, inside = _without_comments(line, inside=inside, closes=number < last_close)
        if rest != line and not rest.strip():
            started = started and number > first
            continue
        if opened := _FENCE.match(rest.rstrip("\r\n")):
            fence = opened[1]
        if started or rest.strip():
            started = True
            yield Line(number=number, text=rest, plain=rest == line and not fence)


def _without_comments(line: str, *, inside: bool, closes: bool) -> tuple[str, bool]:
    """A line without the block comments in it, and whether one goes on. `closes`: a later line can end it."""
    start = 0
    while True:
        opened = _COMMENT.match(line, start)
        if not inside and not opened:
            return line[start:], False
        end = line.find("-->", start if inside or not opened else opened.end() - len("--"))
        if end < 0:
            return ("", True) if inside or closes else (line[start:], False)
        start, inside = end + len("-->"), False


def front_lines(text: str) -> int:
    """How many lines the frontmatter takes."""
    header = frontmatter.read(text)
    return len(LINE.findall(text[: len(text) - len(header.body)])) if header else 0
