"""Which memories say the same? Pure, and in time about linear to their number (D8).

Exact: line for line the same, whatever marks, order or wrapping the lines have. Near: most of what the two
speak of is the same, or one holds nearly all of the other. In doubt they are not alike: files that were made
after one pattern ("host alpha: port 22", "host beta: port 22") differ in little, and in what matters. So two
are never alike if each has a figure, or a word that its title has too, that the other lacks. A contradiction
("never on Fridays") is alike: somebody should look at it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from math import log
from zlib import crc32

from memdir.memory import topic
from memdir.memory.words import stem, weight, words

__all__ = ["Alike", "duplicates"]

NEAR = 0.6
"""Of all that two files speak of, weighed, so much is in both: near duplicates."""
WITHIN, IN_ORDER = 0.85, 0.6
"""Or so much of one is in the other, and so many of its pairs of neighbouring words."""
FEWEST, FEWEST_WITHIN = 5, 8
"""Different words that a file must have to be nearly like another, and to be within another."""
NAMES_TELL = 40
"""With fewer different words the names of people and things tell what a file is about."""
SHORT, SHORT_NEAR = 12, 20
"""With fewer different words, of exact and of near ones, the title is a part of what a file says."""
RARE, RAREST = 25, 12
"""A word in more files than the first does not lead from one file to another, nor do more than so many."""
SALTS, WINDOW = 6, 3
"""For files of which all words are in many: so many samples of their words, so many neighbours in each."""
MOST_TOKENS = 4_000
"""Words of a file that are looked at."""

_MARKS = re.compile(r"^\s*(?:(?:[-*+>]|\d{1,9}[.)])\s+|\[[ xX]\]\s+)*")
_RULE = re.compile(r"\s*(?:#{1,6}\s|```|~~~|(?:[-*_]\s*){3,}$)")
_WORD = re.compile(r"[^\W\d_]+")
_STOP = re.compile(r"[.。](?=\s|$)|\s")
"""What may differ in the same sentences, wrapped otherwise."""
_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Files that say the same, by name; at least two. `exact`: every line; else nearly.

    `share`: how much of what they speak of they have in common, 0 to 1; of several the least.
    """

    files: tuple[str, ...]
    exact: bool
    share: float


def duplicates(files: Mapping[str, bytes]) -> tuple[Alike, ...]:
    """Groups of topic files (path -> bytes) that say the same, the exact ones first, each by its first file.

    Of exact duplicates only the first can be near to others. A file that is near to several is in the group
    of the nearest, and each group is around one file that all the others are near to.
    """
    all_files = [_File.of(file, data) for file, data in sorted(files.items())]
    exact = _grouped(all_files, _equal(all_files))
    copies = {one.file for group, _ in exact for one in group[1:]}
    left = [one for one in all_files if one.file not in copies]
    near = _around(left, _near(left))
    return tuple(
        Alike(files=tuple(one.file for one in group), exact=is_exact, share=share)
        for groups, is_exact in ((exact, True), (near, False))
        for group, share in groups
    )


@dataclass(frozen=True, kw_only=True)
class _File:
    """What a file says. `name`: its own, or that of the file without figures; `lines`: in their normal form;
    `tokens`: all its words, in order.
    """

    file: str
    name: str
    body: str
    lines: tuple[str, ...]
    tokens: tuple[str, ...]

    @classmethod
    def of(cls, file: str, data: bytes) -> _File:
        read = topic.parse(data, filename=file)
        lines = [said for line in read.body.splitlines() if (said := _normal(line))]
        about = _normal(read.description or "")
        if about and about not in " ".join(lines):
            lines.append(about)
        found = words(f"{read.name}\n" + "\n".join(lines))[:MOST_TOKENS]
        stem = re.sub(r"[\W_]+|\d+", " ", read.name)
        return cls(
            file=file,
            name=stem if read.fallback else read.name,
            body=f"{read.description or ''}\n{read.body}",
            lines=tuple(lines),
            tokens=tuple(found),
        )

    @cached_property
    def terms(self) -> AbstractSet[str]:
        return frozenset(self.tokens)

    @cached_property
    def figures(self) -> AbstractSet[str]:
        return frozenset(_FIGURE.findall(" ".join((self.name, *self.lines))))

    @cached_property
    def said(self) -> AbstractSet[str]:
        """The words of all but its title."""
        return frozenset(words(self.body))

    @cached_property
    def naming(self) -> AbstractSet[str]:
        """The words of its title."""
        return frozenset(words(re.sub("[_-]", " ", self.name)))

    @cached_property
    def capitals(self) -> AbstractSet[str]:
        """The stems of words that are never written small: names, and what only begins sentences."""
        found = set(_WORD.findall(self.body))
        names = {word.lower() for word in found if word[0].isupper() and word.lower() not in found}
        return frozenset(stem(name) for name in names if words(name))

    @cached_property
    def letters(self) -> AbstractSet[str]:
        """The stems of all runs of letters in it."""
        return frozenset(stem(word.lower()) for word in _WORD.findall(f"{self.name}\n{self.body}"))

    @cached_property
    def neighbours(self) -> AbstractSet[tuple[str, str]]:
        return frozenset(pairwise(self.tokens))


def _normal(line: str) -> str:
    """A line without its marks, or nothing for one that says nothing of its own (a heading, a rule)."""
    if _RULE.match(line):
        return ""
    text = unicodedata.normalize("NFKC", _MARKS.sub("", line)).casefold()
    text = " ".join(re.sub(r"[*_`]+", "", text).split()).rstrip(".。")
    return text if any(map(str.isalnum, text)) else ""


# -- the same --------------------------------------------------------------------------------------------


def _equal(files: Sequence[_File]) -> Iterator[tuple[int, int, float]]:
    """Pairs that say the same, line by line or in the same words."""
    seen = dict[object, list[int]]()
    for number, one in enumerate(files):
        if len(one.terms) < 2:
            continue
        for form in (frozenset(one.lines), _STOP.sub("", "\n".join(one.lines))):
            others = seen.setdefault(form, [])
            like = next((at for at in others if not _are_two(files[at], one, SHORT)), None)
            if like is not None:
                yield like, number, 1.0
            if len(others) < RARE:
                others.append(number)


def _are_two(one: _File, other: _File, short: int) -> bool:
    """Whether two files of the same words are about two things: each has words in its title that the other
    lacks, and they are too short for that to be chance, or their texts say those words too.
    """
    mine, yours = one.naming - other.naming - other.terms, other.naming - one.naming - one.terms
    if min(len(one.terms), len(other.terms)) < short:
        return bool(mine and yours)
    return bool(mine & one.said and yours & other.said)


# -- nearly the same -------------------------------------------------------------------------------------


def _near(files: Sequence[_File]) -> Iterator[tuple[int, int, float]]:
    """Pairs that say nearly the same."""
    known = [number for number, one in enumerate(files) if len(one.terms) >= FEWEST]
    found = Counter(term for number in known for term in files[number].terms)
    worth = {term: weight(term) * log(1 + len(known) / times) for term, times in found.items()}
    sums = {number: sum(map(worth.__getitem__, files[number].terms)) for number in known}
    for a, b in _candidates(files, known, found):
        one, other = files[a], files[b]
        both = sum(worth[term] for term in one.terms & other.terms)
        least, most = sorted((sums[a], sums[b]))
        share = both / (least + most - both) if least else 0.0
        if _contradict(one, other):
            continue
        if share >= NEAR:
            yield a, b, share
        elif least and both / least >= WITHIN:
            small, large = (one, other) if sums[a] <= sums[b] else (other, one)
            common = len(small.neighbours & large.neighbours)
            if len(small.terms) >= FEWEST_WITHIN and common >= IN_ORDER * len(small.neighbours):
                yield a, b, both / least


def _contradict(one: _File, other: _File) -> bool:
    """Whether two files like each other are about two things all the same."""
    if _are_two(one, other, SHORT_NEAR) or (one.figures - other.figures and other.figures - one.figures):
        return True
    if min(len(one.terms), len(other.terms)) >= NAMES_TELL:
        return False
    return bool(one.capitals - other.letters and other.capitals - one.letters)


def _candidates(
    files: Sequence[_File], known: Sequence[int], found: Mapping[str, int]
) -> Iterator[tuple[int, int]]:
    """Pairs that are worth comparing: with a few rare words in common, or side by side in a sample."""
    places = defaultdict[str, list[int]](list)
    for number in known:
        rare = [term for term in files[number].terms if 1 < found[term] <= RARE]
        for term in sorted(rare, key=lambda term: (found[term], term))[:RAREST]:
            places[term].append(number)
    shared = Counter(pair for numbers in places.values() for pair in combinations(numbers, 2))
    yielded = set[tuple[int, int]]()
    for pair, times in shared.items():
        fewest = min(len(files[number].terms) for number in pair)
        if times >= 2 or fewest < 2 * FEWEST:
            yielded.add(pair)
            yield pair
    for salt in range(SALTS):
        rank = {term: crc32(term.encode(errors="replace"), salt) for term in found}
        buckets = defaultdict[int, list[int]](list)
        for number in known:
            buckets[min(map(rank.__getitem__, files[number].terms))].append(number)
        for numbers in buckets.values():
            for at, first in enumerate(numbers):
                for second in numbers[at + 1 : at + 1 + WINDOW]:
                    if (first, second) not in yielded:
                        yielded.add((first, second))
                        yield first, second


def _grouped(
    files: Sequence[_File], pairs: Iterable[tuple[int, int, float]]
) -> list[tuple[tuple[_File, ...], float]]:
    """Pairs joined to groups, each with its least share."""
    leader, least = list(range(len(files))), dict[int, float]()

    def lead(at: int) -> int:
        while leader[at] != at:
            leader[at] = leader[leader[at]]
            at = leader[at]
        return at

    for a, b, share in pairs:
        first, second = sorted((lead(a), lead(b)))
        leader[second] = first
        least[first] = min(share, least.get(first, 1.0), least.get(second, 1.0))
    groups = defaultdict[int, list[_File]](list)
    for number, one in enumerate(files):
        groups[lead(number)].append(one)
    return [(tuple(group), least[first]) for first, group in groups.items() if len(group) > 1]


def _around(
    files: Sequence[_File], pairs: Iterable[tuple[int, int, float]]
) -> list[tuple[tuple[_File, ...], float]]:
    """Pairs joined to groups, the nearest first, each around the fuller file of its first pair."""
    middle, groups = dict[int, int](), dict[int, list[int]]()
    least = dict[int, float]()
    for a, b, share in sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1])):
        full, other = sorted((a, b), key=lambda at: (-len(files[at].terms), at))
        if full not in middle and other not in middle:
            middle[full], groups[full] = full, [full]
        elif full in middle or middle[other] == other:
            full, other = (full, other) if middle.get(full) == full else (other, full)
        if middle.get(full) == full and other not in middle:
            middle[other] = full
            groups[full].append(other)
            least[full] = share
    found = sorted((sorted(group), least[first]) for first, group in groups.items())
    return [(tuple(files[at] for at in group), share) for group, share in found]
