"""What a section says: lines, each with who said it, and what they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memdir.model.tokens import estimate

LONGEST = 280
"""Characters of a line; Chinese and Japanese say as much in half of them."""

CUT = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a section: `- who: text`, with lines that belong to it below.

    `text` was said by `who`, word for word, but for its end, which may be cut. `at` is the number of the
    message that it is from, `weight` how telling it is among others of its section (1 the least).
    """

    who: str
    text: str
    at: int
    weight: float = 1.0
    below: tuple[Line, ...] = ()

    def __str__(self) -> str:
        """As Markdown."""
        return "\n".join((f"- {self.who}: {short(self.text)}", *(f"  {line}" for line in self.below)))

    @property
    def tokens(self) -> int:
        """What it takes, its line end included."""
        return estimate(f"{self}\n")


def short(text: str, longest: int = LONGEST) -> str:
    """The beginning of a text, ended at a word where there is one near."""
    wide = sum(1 for one in text[:longest] if one >= "\u2e80")
    limit = longest - wide // 2
    if len(text) <= limit:
        return text
    kept = text[:limit]
    word = kept.rfind(" ", limit - 40)
    return f"{(kept[:word] if word > 0 else kept).rstrip()}{CUT}"


def beginning(text: str, most: int) -> str:
    """So many characters at most, and no half of a word: half of a secret looks like none."""
    return text if len(text) <= most else text[:most].rstrip(_PLAIN)


def end(text: str, most: int) -> str:
    """The same of the end."""
    return text if len(text) <= most else text[-most:].lstrip(_PLAIN)


_PLAIN = "".join(map(chr, range(33, 127)))
"""What words and secrets are spelled with, other scripts aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what stands below it, in order."""

    title: str
    lines: tuple[Line, ...]
    by_weight: bool = False  # in order of weight, not as it was said


def fitted(section: Section, limit: int) -> list[str]:
    """The lines of a section that `limit` tokens hold, as Markdown; the last one says what is left out.

    The newest and the most telling stay.
    """
    sizes = [line.tokens for line in section.lines]
    if sum(sizes) <= limit:
        return [str(line) for line in section.lines]
    room = limit - estimate(f"{left_out(len(sizes))}\n")
    if room < 0:
        return []
    kept: set[int] = set()
    for place in _by_worth(section):
        if sizes[place] <= room:
            room -= sizes[place]
            kept.add(place)
    shown = [str(section.lines[place]) for place in sorted(kept)]
    return [*shown, left_out(len(sizes) - len(kept))]


def left_out(count: int) -> str:
    """The line that stands for lines without room."""
    return f"({count} more left out)"


def limits(sizes: Sequence[int], each: int, total: int) -> int:
    """How large a section may be so that all of them have room together: the small ones are not cut."""
    limit, left = each, len(sizes)
    if sum(min(size, each) for size in sizes) <= total:
        return each
    for size in sorted(min(size, each) for size in sizes):
        limit = max(0, total // left)
        if size > limit:
            return limit
        total, left = total - size, left - 1
    return limit


NEW = 2.0
"""What being the newest adds to a weight."""


def _by_worth(section: Section) -> list[int]:
    places = range(len(section.lines))
    if section.by_weight:
        return list(places)
    last = max((line.at for line in section.lines), default=0) or 1

    def worth(place: int) -> tuple[float, int]:
        line = section.lines[place]
        return -(line.weight + NEW * line.at / last), -place

    return sorted(places, key=worth)
