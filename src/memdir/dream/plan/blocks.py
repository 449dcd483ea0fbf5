"""What a memory file is made of, as a reader sees it: blocks, and the statements in them. Pure.

block   what stands together: a paragraph, a list item, a row of a table, a line of code, the description
unit    one sentence of a block, or one line that is a statement of its own
place   how a reader gets it: `said`; as a `heading`, `code`, in the `header`; `hidden` (comments, struck
        out, HTML that shows nothing, definitions of links); `buried` so deep that nobody is shown it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Place = Literal["said", "heading", "code", "header", "hidden", "buried"]


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


def says_something(text: str) -> bool:
    """Whether there is a letter or a figure in it."""
    return _WORD.search(text) is not None


_WORD = re.compile(r"[^\W_]")
