"""Whether anything of an erased memory is left in the files that memdir keeps (H2).

Looked for is what tells a memory from others: the lines of all its versions, its names and descriptions. A
line counts as found wherever it stands within a file, in UTF-8, in UTF-16 if the memory was in that, or as
JSON writes it; in the pages of a database, and in each object of a history, packed or not.

What is found is named and never touched: another memory that says the same, a conversation in which it was
said.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memdir.errors import MemdirError
from memdir.memory import encoding, topic
from memdir.memory.frontmatter import LINE, read
from memdir.memory.pointer import entry

LENGTH = 12
"""Characters from which on a line tells one memory from others. A wide one (Chinese, say) counts as two."""

SHORTEST = 4
"""Of a memory that has no such line all of the text is looked for, if it is as long as this."""

_PIECE = 4 * 1024 * 1024
_MANY = 200
"""Patterns from which on a text is gone through once for all of them, and not once for each."""
_MARKS = re.compile(r"(?:[-*+>]|#{1,6}|\d{1,9}[.)]|\[[ xX]\])[ \t]+|[*_`]+")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_COMMON = frozenset({"how to apply"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What a search for an erased memory found. `searched`: how many files and objects of histories were
    looked through. `left`: where something of it still is: a file, or words for a place within a history.
    `telling`: whether it had any words that tell it from others; without, nothing could be looked for.
    """

    searched: int
    left: tuple[Path | str, ...]
    telling: bool = True


# -- what is looked for -------------------------------------------------------------------------------------


def telling(data: bytes, *, file: str, common: Collection[str] = ()) -> set[str]:
    """What tells this version of a memory from others; `common` are headings that others have too."""
    text = encoding.readable(data)
    header = read(text)
    said = topic.parse(data, filename=file)
    lines = LINE.findall(header.body if header else text)
    plain = [line.strip() for line in lines if not (_HEADING.match(line) and core(line) in common)]
    found = {one for line in plain if _tells(one := core(line))}
    if said.description and _tells(said.description):
        found.add(said.description)
    whole = " ".join(plain).strip()
    return found or ({whole} if len(whole) >= SHORTEST and len(plain) == 1 else set())


def called(data: bytes, *, file: str) -> set[str]:
    """The name that a version of a memory has in its header. Others may well speak of it."""
    said = topic.parse(data, filename=file)
    return {said.name} if not said.fallback and _tells(said.name) else set()


def headings(text: str) -> set[str]:
    """The headings of a memory, without their marks."""
    return {core(line) for line in LINE.findall(text) if _HEADING.match(line)}


def hooks(lines: Iterable[str]) -> set[str]:
    """What lines of the index say of a memory: the hooks of entries, and what stands below them."""
    said = ((pointer.hook if (pointer := entry(line)) else core(line)) for line in lines)
    return {one for one in said if _tells(one)}


def titles(lines: Iterable[str]) -> set[str]:
    """What lines of the index call it."""
    return {pointer.title for line in lines if (pointer := entry(line)) and _tells(pointer.title)}


def core(line: str) -> str:
    """A line without the marks of a list, a heading or a quotation, and without stars around it."""
    line = line.strip()
    while mark := _MARKS.match(line):
        line = line[mark.end() :]
    return line.rstrip("*_`: \t")


def _tells(line: str) -> bool:
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in line)
    words = sum(character.isalnum() for character in line)
    return len(line) + wide >= LENGTH and words + wide >= LENGTH // 2 and line.casefold() not in _COMMON


class Needles:
    """Lines to be found, as the bytes that they may be kept as."""

    def __init__(self, lines: Iterable[str], *, encodings: Collection[str] = ()) -> None:
        found = {pattern for line in lines for pattern in _spellings(line, encodings)}
        self._patterns = sorted(found, key=lambda pattern: (len(pattern), pattern))
        self._head = min((len(pattern) for pattern in self._patterns[:1]), default=0)
        self._beginning: dict[bytes, list[bytes]] = {}
        for pattern in self._patterns if len(self._patterns) > _MANY else ():
            self._beginning.setdefault(pattern[: self._head], []).append(pattern)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def are_in(self, data: bytes) -> bool:
        """Whether one of them is in there."""
        if not self._beginning:
            return any(pattern in data for pattern in self._patterns)
        head, beginning = self._head, self._beginning
        places = (at for at in range(len(data) - head + 1) if data[at : at + head] in beginning)
        return any(data.startswith(tuple(beginning[data[at : at + head]]), at) for at in places)

    def are_in_file(self, path: Path) -> bool:
        """Whether one of them is in a file. Raises OSError."""
        overlap = max(map(len, self._patterns), default=1) - 1
        with path.open("rb", buffering=0) as file:
            rest = b""
            while piece := file.read(_PIECE):
                if self.are_in(rest + piece):
                    return True
                rest = (rest + piece)[-overlap:] if overlap else b""
        return False

    def lines_in(self, data: bytes) -> Iterator[bytes]:
        """The lines that hold one of them, as a history splits and compares them."""
        if self.are_in(data):
            yield from filter(self.are_in, data.splitlines())


def _spellings(line: str, kinds: Iterable[str]) -> Iterator[bytes]:
    for escaped in (line, json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]):
        yield escaped.encode("utf-8", "surrogateescape")
    for kind in kinds:
        yield line.encode(kind, "surrogatepass" if kind != "utf-8" else "surrogateescape")


# -- where it is looked for ---------------------------------------------------------------------------------


def search(
    needles: Needles,
    folders: Sequence[Path],
    *,
    histories: Iterable[tuple[Path, Mapping[str, Path | str], Iterable[tuple[str, bytes]]]] = (),
) -> Proof:
    """Look through all files below the folders, and all objects of the histories.

    A history is its folder, what its objects are called, by id, and the objects, (id, bytes). One that has no
    name there, or can't be read, is called by the folder.
    """
    searched, left = 0, list[Path | str]()
    for path in _files(folders):
        searched += 1
        with suppress(OSError):  # gone, or closed to us as well
            if needles.are_in_file(path):
                left.append(path)
    for place, names, objects in histories:
        try:
            for number, data in objects:
                searched += 1
                if needles.are_in(data):
                    left.append(names.get(number, place))
        except MemdirError:  # what can't be read can't be vouched for
            left.append(place)
    return Proof(searched=searched, left=tuple(dict.fromkeys(left)), telling=bool(needles))


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    """All regular files below the folders, each once; no link is followed."""
    roots = sorted({Path(os.path.realpath(folder)) for folder in folders})
    for root in roots:
        if any(root != other and root.is_relative_to(other) for other in roots):
            continue
        for folder, _, names in os.walk(root):
            yield from (path for name in sorted(names) if (path := Path(folder, name)) and _is_file(path))


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
