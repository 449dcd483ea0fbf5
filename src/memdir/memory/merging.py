"""One change is taken out of a text that others have changed since. Pure: bytes or texts in, the same out.

    merged(base, ours, theirs)       lines of any text, three ways; None where both changed the same lines
    undone(text, made=, was=)        the index, entry by entry: nobody else's line is lost, always an answer
    fitted(text, ...)                the index when files go and come back

`base` is what the change left, `theirs` what it found, `ours` what is there now. Every byte that no side has
changed stays, whatever the encoding and the line ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import SequenceMatcher

from memdir.errors import UsageError
from memdir.memory import encoding, entrypoint
from memdir.memory.entrypoint import Pointer
from memdir.memory.frontmatter import LINE, line_end
from memdir.memory.pointer import entry, key

LIMIT = 5_000
"""Lines that are compared, beyond those at the beginning and the end that are the same in all three."""


# -- any text -----------------------------------------------------------------------------------------------


def merged(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """What `ours` is with the change from `base` to `theirs` in it as well.

    None where that is not clear: both sides changed the same lines, or lines with nothing between them; where
    one is no text that can be written back; and where too much has changed to be compared.
    """
    try:
        texts = [encoding.decode(data) for data in (base, ours, theirs)]
    except UsageError:
        return None
    lines = _three_ways(*(LINE.findall(text) for text in texts))
    kinds = [encoding.encoding(data) for data in (base, ours, theirs)]
    return None if lines is None else encoding.encode("".join(lines), like=_either(kinds, ours, theirs))


def _either(kinds: Sequence[str], ours: bytes, theirs: bytes) -> bytes:
    """Whose encoding the merged text gets: theirs only where they alone changed it."""
    return theirs if kinds[0] == kinds[1] else ours


def _three_ways(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """The lines of the merged text. Between lines that all three have, one side at most may differ."""
    head = _same(base, ours, theirs)
    tail = _same(*(lines[head:][::-1] for lines in (base, ours, theirs)))
    middles = [lines[head : len(lines) - tail] for lines in (base, ours, theirs)]
    if max(map(len, middles)) > LIMIT:
        return None
    was, mine, his = middles
    in_mine, in_his = _matches(was, mine), _matches(was, his)
    lines, at, at_mine, at_his = list(base[:head]), 0, 0, 0
    for number in sorted(in_mine.keys() & in_his.keys()):
        to_mine, to_his = in_mine[number], in_his[number]
        old, one, other = was[at:number], mine[at_mine:to_mine], his[at_his:to_his]
        if old not in (one, other) and one != other:
            return None
        lines += other if one == old else one
        lines += was[number : number + 1]
        at, at_mine, at_his = number + 1, to_mine + 1, to_his + 1
    return [*lines, *base[len(base) - tail :]] if tail else lines


def _same(*texts: Sequence[str]) -> int:
    """How many lines at the beginning are the same in all."""
    shortest = min(map(len, texts))
    return next((number for number in range(shortest) if len({text[number] for text in texts}) > 1), shortest)


def _matches(one: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Which line of the other text each line of the one is, in order; their ends are the last to match.

    What is the same at the beginning and at the end is so whatever stands in between: among lines that repeat
    themselves, the change is then where a person would see it.
    """
    head = _same(one, other)
    tail = _same(one[head:][::-1], other[head:][::-1])
    end, other_end = len(one) - tail, len(other) - tail
    compared = SequenceMatcher(None, one[head:end], other[head:other_end], autojunk=False)
    blocks = compared.get_matching_blocks()
    found = {number: number for number in range(head)}
    found |= {head + block.a + n: head + block.b + n for block in blocks for n in range(block.size)}
    return found | {end + n: other_end + n for n in range(tail + 1)}


def _differing(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[range, slice]]:
    """Where the texts differ: numbers of lines of the one, and the lines of the other in their place."""
    at = other_at = 0
    for number, other_number in _matches(one, other).items():
        if number > at or other_number > other_at:
            yield range(at, number), slice(other_at, other_number)
        at, other_at = number + 1, other_number + 1


# -- the index ----------------------------------------------------------------------------------------------


def undone(text: str, *, made: str, was: str) -> str:
    """An index that somebody has changed since, without one change, from `was` to `made`: each line in its
    place.

    What somebody has done with a line or an entry of the change holds, and a file gets no second entry.
    """
    now, left, found = LINE.findall(text), bare_lines(made), LINE.findall(was)
    where = _matches(left, bare_lines(text))
    del where[len(left)]
    gone, back = set[int](), dict[int, list[str]]()
    for numbers, lines in _differing(left, bare_lines(was)):
        places = [where[number] for number in numbers if number in where]
        before = (where[number] + 1 for number in reversed(range(numbers.start)) if number in where)
        gone.update(places)
        back.setdefault(places[0] if places else next(before, 0), []).extend(found[lines])
    # How many more entries each file may get: none where somebody has taken ours away.
    room = _count(found)
    room.subtract(_count(line for number, line in enumerate(now) if number not in gone))
    room.update(dict.fromkeys(_count(left).keys() - _count(left[line] for line in where).keys(), -len(found)))
    # Other lines that somebody has put back already.
    theirs = set(range(len(now))) - set(where.values())
    there = Counter(line for number, line in enumerate(bare_lines(text)) if number in theirs)
    put: list[str] = []
    for number in range(len(now) + 1):
        for line in back.get(number, ()):
            bare, pointer = line.rstrip("\r\n"), entry(line)
            room.subtract([key(pointer.file)] if pointer else [])
            if pointer is None and bare and there[bare]:
                there[bare] -= 1
            elif pointer is None or room[key(pointer.file)] >= 0:
                put.append(line)
        put += now[number : number + 1] if number not in gone else []
    eol = line_end(text or was)
    return "".join(line if line.endswith(("\n", "\r")) else line + eol for line in put)


@dataclass(frozen=True, slots=True, kw_only=True)
class Returning:
    """A topic that comes back: the lines of the index that were its, each with its place, and what is
    written where those don't fit."""

    lines: Sequence[tuple[int, str]]
    pointer: Pointer


def fitted(text: str, *, gone: Iterable[str], ours: AbstractSet[str], back: Iterable[Returning] = ()) -> str:
    """The index without entries for the files that are gone, and with one for each that is back.

    `ours`: lines, without their ends, that go with the entry above them. What somebody else has put there
    stays.
    """
    for file in gone:
        text = _without(text, file, ours)
    linked = entrypoint.linked(text)
    for one in back:
        if key(one.pointer.file) not in linked:
            text = entrypoint.put_back(text, one.lines, one.pointer)
    return text


def _without(text: str, file: str, ours: AbstractSet[str]) -> str:
    left, taken = entrypoint.take(text, file)
    theirs = {number for number, line in taken if line.rstrip("\r\n") not in ours and not entry(line)}
    if not any(line.strip() for number, line in taken if number in theirs):
        return left
    going = {number for number, _ in taken} - theirs
    return "".join(line for number, line in enumerate(LINE.findall(text)) if number not in going)


def _count(lines: Iterable[str]) -> Counter[str]:
    """How many entries there are for each file."""
    return Counter(key(pointer.file) for line in lines if (pointer := entry(line)))


def bare_lines(text: str) -> list[str]:
    """The lines without their ends."""
    return [line.rstrip("\r\n") for line in LINE.findall(text)]
