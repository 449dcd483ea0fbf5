"""An index and a prompt -> the memories that a model chooses from, as the lines it is shown (M3, M4, M6)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from memdir import fs, secrets
from memdir.memory import manifest, topic
from memdir.memory.index import Hit, Known
from memdir.memory.scan import Header, moment
from memdir.memory.words import words
from memdir.recall.local import asked
from memdir.recall.objections import out_of_reach
from memdir.recall.order import in_order
from memdir.recall.shelf import Shelf
from memdir.recall.vocabulary import relatives

WIDE, NARROW = 200, 60
"""Memories that are offered: to the first prompt of a session, and to later ones."""

LINES = 60
"""So many of the best get their best line beside the description."""

LONGEST_LINE = 160
"""Characters of that line."""

LONGEST_DESCRIPTION = 500
"""Characters of a description that are shown."""

_LARGEST = 64 * 1024
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A memory to choose. `score`: what it shares with the prompt by words, 0 for those that are merely new.
    `line`: the line of its body that fits the prompt best, if that says more than its description."""

    memory: Known
    score: float = 0.0
    line: str | None = None


def offers(
    query: str,
    shelf: Shelf,
    *,
    known: Collection[str] = (),
    near: Mapping[str, float] | None = None,
    use: Mapping[str, float] | None = None,
    limit: int = WIDE,
) -> list[Offer]:
    """The best by the index first, then the newest, at most `limit`; without those that are `known` (R4).

    `near`, `use`: see `in_order`.
    """
    index = shelf.index
    terms, _ = asked(query, index)
    hits = {hit.file: hit for hit in index.rank(terms, depth=limit + len(known))}
    scores = {file: hit.score for file, hit in hits.items()}
    moments = index.moments()
    ranked = [file for file, _ in in_order(scores, moments, near=near, use=use, recency=shelf.recency)]
    newest = [file for file, _ in moments]
    files = [
        file for file in dict.fromkeys((*ranked, *newest)) if file not in known and not out_of_reach(file)
    ][:limit]
    found: list[Offer] = []
    for memory in index.files(files):
        hit = hits.get(memory.file)
        line = best_line(hit, shelf.directory) if hit and len(found) < LINES else None
        found.append(Offer(memory=memory, score=hit.score if hit else 0.0, line=line))
    return found


def render(offered: Sequence[Offer]) -> str:
    """The manifest: a line a memory, in this order; below it the best line of its body, if it has one."""
    return "\n".join(_lines(offer) for offer in offered)


def _lines(offer: Offer) -> str:
    line = manifest.line(_header(offer.memory))
    return f"{line}\n  > {manifest.harmless(offer.line)}" if offer.line else line


def _header(memory: Known) -> Header:
    return Header(
        path=memory.file,
        name=memory.name,
        description=memory.description[:LONGEST_DESCRIPTION] or None,
        type=memory.type,
        mtime=moment(memory.modified),
        mtime_ns=memory.modified,
        size=memory.size,
    )


def best_line(hit: Hit, directory: Path) -> str | None:
    """The line, or the part of a long one, that shares most with the prompt beside what the memory's title
    shares; None if there is nothing. A file that can't be read any more has none."""
    try:
        data = fs.read_file(fs.contain(directory, hit.file), limit=_LARGEST)
        body = topic.parse(data, filename=hit.file).body
    except Exception:  # noqa: BLE001 - whatever is odd about one file, the others are still there
        return None
    gains = _gains(hit.words)
    titled = set(words(hit.memory.title))
    news = {word: gain for word, gain in gains.items() if word not in titled}
    best = max(_pieces(body), key=lambda piece: (_shared(piece, news), _shared(piece, gains)), default="")
    return best if _shared(best, news) > 0 and not secrets.scan(best) else None


def _gains(shared: Mapping[str, float]) -> dict[str, float]:
    """What a word in a line adds: what it adds to the memory; kin as the word that it stands for."""
    kin = relatives()
    gains = {other: share for word, share in shared.items() for other in kin.get(word, ())}
    return gains | dict(shared)


def _shared(piece: str, gains: Mapping[str, float]) -> float:
    return sum(gains.get(word, 0.0) for word in set(words(piece)))


def _pieces(body: str) -> list[str]:
    """The lines of a text; of a long one the sentences, and of a long sentence the parts."""
    pieces: list[str] = []
    for line in filter(None, map(str.strip, body.splitlines())):
        for piece in [line] if len(line) <= LONGEST_LINE else filter(None, _SENTENCE.split(line)):
            pieces += [piece] if len(piece) <= LONGEST_LINE else _parts(piece)
    return pieces


def _parts(sentence: str) -> list[str]:
    """Parts of what is too long to be shown whole, with `…` where something is missing."""
    first, *others = wrap(sentence, LONGEST_LINE - 2)
    parts = [first, *(f"…{part}" for part in others)]
    return [*(f"{part}…" for part in parts[:-1]), parts[-1]]
