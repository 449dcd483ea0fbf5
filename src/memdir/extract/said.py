"""New messages of a conversation -> the person's own words in them, as a fork is told them (E6, E11).

A tool's result and a recalled memory travel in the person's role, so a fork can't tell by itself who said
what. Its instruction lists what the person typed; what they only pasted stands there as how much it was.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from memdir.memory.fence import fenced, visible
from memdir.model.messages import Message
from memdir.trust.pasted import QUOTE, own_words

LONGEST = 1_500
"""Characters of one message: its beginning and its end."""

WHOLE = 12_000
"""Characters of all of them. Where there are too many, the long ones are cut more."""

SHORTEST = 80
"""So many are left of a message at least."""

NOTHING = "(no word of the person)"
GAP = "[…]"


def told(new: Sequence[Message]) -> str:
    """What the person said in these messages: each message in a tag with its number, the first one 1."""
    texts = [_own(message.text) for message in new if message.origin == "person"]
    said = [(number, text) for number, text in enumerate(texts, start=1) if text]
    most = WHOLE // SHORTEST
    left_out = len(said) - most
    if left_out > 0:
        said = said[: most // 2] + said[-(most - most // 2) :]
    limit = _limit([len(text) for _, text in said])
    shown = [f'<said number="{number}">\n{_cut(text, limit)}\n</said>' for number, text in said]
    if left_out > 0:
        shown.insert(most // 2, f"[{left_out} messages of the person are not repeated here]")
    return "\n".join(shown) or NOTHING


def _limit(lengths: Sequence[int]) -> int:
    """How long a message may be, so that all of them have room together."""
    room, left = WHOLE, len(lengths)
    for length in sorted(lengths):
        if length * left > room:
            return min(LONGEST, max(SHORTEST, room // left))
        room, left = room - length, left - 1
    return LONGEST


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = (limit - len(GAP)) // 2
    return f"{text[:half]}{GAP}{text[-half:]}"


# ---------------------------------------------------------------------------------- what was pasted


def _own(text: str) -> str:
    """The person's words in a message, harmless, with how much was pasted between them."""
    return fenced("\n".join(_parts(visible(text)))).strip()


def _parts(text: str) -> Iterator[str]:
    """The own lines in order, and for each run of other lines what stands for it."""
    lines = [_bare(line) for line in text.splitlines()]
    places = _Places(lines)
    at = 0
    for own in own_words(text).splitlines():
        if not own.strip():
            continue
        found = places.find(_bare(own), at)
        if found is not None:
            yield from _pasted(lines[at:found])
            at = found + 1
        yield own.rstrip()
    yield from _pasted(lines[at:])


def _pasted(lines: Sequence[str]) -> Iterator[str]:
    count = sum(1 for line in lines if line)
    if count:
        yield f"[pasted: {count} {'line' if count == 1 else 'lines'}]"


def _bare(line: str) -> str:
    """A line as it is compared: without what `own_words` may have taken out of it."""
    return line.replace("\u200c", "").strip()


class _Places:
    """Where the own lines stand in the message: whole lines first, else lines that something was cut from."""

    misses = 20
    """So often all lines are searched in vain, so that no message takes long."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._whole: dict[str, list[int]] = {}
        for at, line in enumerate(lines):
            self._whole.setdefault(line, []).append(at)

    def find(self, own: str, at: int) -> int | None:
        """The first place from `at` on, or None."""
        places = self._whole.get(own, [])
        if (nth := bisect_left(places, at)) < len(places):
            return places[nth]
        if self.misses <= 0:
            return None
        pieces = [piece for piece in own.split(QUOTE) if piece.strip()]
        for place in range(at, len(self._lines)):
            if pieces and all(piece in self._lines[place] for piece in pieces):
                return place
        self.misses -= 1
        return None
