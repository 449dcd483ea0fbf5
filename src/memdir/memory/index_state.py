"""An index beside the topics that it should lead to: what `index_mending` decides by. Pure (F6, F7)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from memdir.memory import entrypoint
from memdir.memory.entrypoint import MAX_BYTES, MAX_LINES, Loaded
from memdir.memory.frontmatter import LINE
from memdir.memory.index_lines import counting
from memdir.memory.pointer import Pointer, entry, key, links, written
from memdir.memory.words import weight, words
from memdir.names import is_topic
from memdir.secrets import scan as find_secrets

NEWEST, FULL, AIM = 0.5, 0.9, 0.7
"""Shares of the limits: the newest topics have an entry in any case up to the first, older ones up to the
second. Where shorter hooks make room, they do so down to the third."""

GIST = 0.6
"""An entry says nothing of its own if its topic has that share of what it speaks of, and all its figures."""

MANY = 5
"""More dead entries than that, and than twice the living: files are missing, not entries left over."""

FIGURES = re.compile(r"\d+(?:[.,:/-]\d+)*")


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A topic as the index should know it. `hook`: what an entry of ours says of it.

    `text`: all that the topic says; empty where that is not known: then its entry may say more.
    """

    file: str
    title: str
    hook: str
    mtime_ns: int
    text: str = ""

    @property
    def pointer(self) -> Pointer:
        """The entry that it gets."""
        return Pointer(title=self.title, file=self.file, hook=self.hook)

    @cached_property
    def line(self) -> str:
        """That entry as a line."""
        return written(self.pointer)

    @cached_property
    def is_secret(self) -> bool:
        """Whether its entry would hold what looks like a secret: it gets none (E10)."""
        return bool(find_secrets(self.line))

    @cached_property
    def terms(self) -> AbstractSet[str]:
        """The words of all that it says, its title and its name."""
        return frozenset(words(self._told))

    @cached_property
    def figures(self) -> AbstractSet[str]:
        return frozenset(FIGURES.findall(self._told))

    @property
    def _told(self) -> str:
        return f"{self.text}\n{self.title}\n{self.file}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry on line `number`, from 0. `bare`: that line without its end; `below`: text belongs to it."""

    number: int
    pointer: Pointer
    bare: str
    below: bool

    @property
    def key(self) -> str:
        return key(self.pointer.file)

    @property
    def words(self) -> str:
        return f"{self.pointer.title} {self.pointer.hook}"

    @property
    def links(self) -> int:
        return len(set(links(self.bare)))


class Index:
    """An index and the topics it should lead to."""

    def __init__(self, text: str, topics: Sequence[Listed], besides: Collection[str] = ()) -> None:
        self.text = text
        self.bom = "\ufeff" if text.startswith("\ufeff") else ""
        self.lines: list[str] = LINE.findall(text[len(self.bom) :])
        self.topics: Mapping[str, Listed] = {key(one.file): one for one in topics}
        self.besides = frozenset(map(key, besides))

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        counted = [line for line in counting(self.text) if line.plain]
        found = {line.number: pointer for line in counted if (pointer := entry(line.text))}
        return tuple(
            Entry(
                number=number,
                pointer=pointer,
                bare=self.lines[number].rstrip("\r\n"),
                below=self._has_below(number, found.keys()),
            )
            for number, pointer in found.items()
        )

    def _has_below(self, number: int, entries: AbstractSet[int]) -> bool:
        """Whether something is indented below line `number`, perhaps behind blank lines, and is no entry."""
        for at in range(number + 1, len(self.lines)):
            if self.lines[at].strip():
                return at not in entries and _indent(self.lines[at]) > _indent(self.lines[number])
        return False

    @cached_property
    def loaded(self) -> Loaded:
        return entrypoint.load(self.text)

    @cached_property
    def linked(self) -> AbstractSet[str]:
        return entrypoint.linked(self.text)

    @cached_property
    def missing(self) -> tuple[Listed, ...]:
        """The topics that it does not link to and could, newest first."""
        gone = [one for name, one in self.topics.items() if name not in self.linked and not one.is_secret]
        return tuple(sorted(gone, key=newest_first))

    @cached_property
    def dead(self) -> tuple[Entry, ...]:
        """The entries that lead to nothing. Of what is no topic it is not known."""
        there = self.topics.keys() | self.besides
        return tuple(one for one in self.entries if one.key not in there and is_topic(one.pointer.file))

    @cached_property
    def is_robbed(self) -> bool:
        """Whether files are missing, rather than entries left over."""
        alive = len({one.key for one in self.entries} & self.topics.keys())
        return len(self.dead) > max(MANY, 2 * alive)

    @cached_property
    def twice(self) -> tuple[tuple[Entry, ...], ...]:
        """The entries of each file that has several."""
        found = defaultdict[str, list[Entry]](list)
        for one in self.entries:
            found[one.key].append(one)
        return tuple(tuple(group) for group in found.values() if len(group) > 1)

    @cached_property
    def wanting(self) -> tuple[Listed, ...]:
        """The topics that should get an entry, oldest first."""
        if self.fits(self.missing):
            return self.missing[::-1]
        newest, chosen = self.newest(), list[Listed]()
        size = Size.of(self.loaded)
        for one in self.missing:
            size += Size.of_line(one.line)
            if not size.within(1 if one.file in newest else FULL):
                break
            chosen.append(one)
        return tuple(chosen[::-1])

    @cached_property
    def crowded_out(self) -> tuple[Listed, ...]:
        """The topics among the newest for which there is no room: what stands there is not ours to take out,
        and more would push out of sight what is seen now.
        """
        newest = self.newest() - {one.file for one in self.wanting}
        return tuple(one for one in self.missing[::-1] if one.file in newest)

    def fits(self, more: Iterable[Listed], share: float = 1) -> bool:
        """Whether it is within its limits with entries for those topics."""
        size = sum((Size.of_line(one.line) for one in more), Size.of(self.loaded))
        return size.within(share)

    def newest(self) -> AbstractSet[str]:
        """The files of the newest topics, as many as half the limits hold."""
        there = {one.key: one.bare for one in self.entries}
        size, found = Size(0, 0), set[str]()
        for name, one in sorted(self.topics.items(), key=lambda item: newest_first(item[1])):
            size += Size.of_line(there.get(name) or one.line)
            if not size.within(NEWEST):
                break
            found.add(one.file)
        return found

    def says_more(self, said: str, name: str, *, least: float = GIST) -> bool:
        """Whether words say more than the topic they are about. `least`: what share of them it must have."""
        one = self.topics.get(name)
        if one is None or not one.text:
            return True
        if not set(FIGURES.findall(said)) <= one.figures:
            return True
        terms = set(words(said))
        own = terms - one.terms
        return sum(map(weight, own)) > (1 - least) * sum(map(weight, terms))

    def with_lines(self, changes: Mapping[int, str | None]) -> str:
        """The text with other words on some lines, their ends kept; None: without that line."""
        kept = []
        for number, line in enumerate(self.lines):
            new = changes.get(number, line)
            if new is not None:
                kept.append(new if new is line else new + line[len(line.rstrip("\r\n")) :])
        return self.bom + "".join(kept)

    def changed(self, changes: Mapping[int, str | None]) -> tuple[str, AbstractSet[int]]:
        """`with_lines`, as far as nothing else changes its meaning by it; and which lines those are."""
        if self._is_sound(new := self.with_lines(changes), changes):
            return new, changes.keys()
        done = dict[int, str | None]()
        for number, line in changes.items():
            if self._is_sound(self.with_lines(done | {number: line}), done | {number: line}):
                done[number] = line
        return self.with_lines(done), done.keys()

    def _is_sound(self, new: str, changes: Mapping[int, str | None]) -> bool:
        """Whether the text that is left means what it meant: the same lines, of which the same count."""
        kept = [number for number in range(len(self.lines)) if changes.get(number, "") is not None]
        lines = LINE.findall(new.removeprefix("\ufeff"))
        if len(lines) != len(kept) or new.startswith("\ufeff") != bool(self.bom):
            return False
        was = {line.number: line.plain for line in counting(self.text) if line.text.strip()}
        now = {kept[line.number]: line.plain for line in counting(new) if line.text.strip()}
        return now == {number: plain for number, plain in was.items() if changes.get(number, "") is not None}


@dataclass(frozen=True, slots=True)
class Size:
    """Lines and UTF-8 bytes of the index."""

    lines: int
    bytes: int

    @classmethod
    def of(cls, loaded: Loaded) -> Size:
        return cls(loaded.lines, loaded.bytes)

    @classmethod
    def of_text(cls, text: str) -> Size:
        return cls.of(entrypoint.load(text))

    @classmethod
    def of_line(cls, line: str) -> Size:
        return cls(1, len(line.encode(errors="replace")) + 1)

    def __add__(self, other: Size) -> Size:
        return Size(self.lines + other.lines, self.bytes + other.bytes)

    def within(self, share: float) -> bool:
        return self.lines <= MAX_LINES * share and self.bytes <= MAX_BYTES * share


def newest_first(one: Listed) -> tuple[int, str]:
    return -one.mtime_ns, one.file


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
