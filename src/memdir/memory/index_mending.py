"""The index as it should be, by rules alone: pure, text -> text (F6, F7, D8).

    listed(file, ...)         a topic file, as the index should know it
    wanting(text, topics)     which topics should get an entry
    owed(text, topics)        those that get one at a start, whether or not there is room
    mended(text, topics)      the index put right; twice is the same as once
    faults(text, topics)      what is wrong with it; after `mended`: what only a person can decide

A hook is cut only where its topic says all that goes; at the limits, where it has the gist (`GIST`) and every
figure of that. Only an entry that leads to nothing goes with its words. Prose, headings, comments, code and
what is indented below an entry stay as they are.

Where the limits (F7) leave no room for all topics, the older ones have no entry; recall finds them without
one (M6). Which ones have one is the same for `mended` as for `wanting`, so what one takes out no other puts
back: the newest first, up to half the limits; what says something of its own, and is there; then the next
newest, up to nine tenths, so that new memories have room. Where prose and what says something of its own
leave no room for the newest, none is added: more would push out of sight what is seen now.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from memdir.memory import entrypoint, leaks, topic
from memdir.memory.entrypoint import MAX_BYTES, NAME
from memdir.memory.index_lines import counting
from memdir.memory.index_state import AIM, FIGURES, FULL, GIST, Entry, Index, Listed, Size, newest_first
from memdir.memory.pointer import LENGTH, TITLE_LENGTH, Pointer, entry, key, links, written
from memdir.memory.words import words
from memdir.secrets import scan as find_secrets

__all__ = ["Fault", "Kind", "Listed", "Mended", "beginning", "faults", "listed", "mended", "owed", "wanting"]

Kind = Literal["orphan", "dead", "twice", "long", "limit"]
"""What may be wrong with an index: a topic without an entry; an entry that leads to nothing; a second entry
for one file; an entry that is too long; more of it than is loaded."""

SHORTER = (160, 130, 100, 80, 60)
"""Characters of an entry where `LENGTH` for each is too much for the index as a whole."""

ABOUT = 0.5
"""An entry is about a topic in another folder that has that share of its words, and all its figures."""

_PASSES = 12
_LOOKED_THROUGH = 65_536
"""Characters of a text that are looked through before its beginning is made a hook."""
_MARKS = re.compile(r"\s*(?:[>#]+\s*|[-*+]\s+)*")
"""What stands before the words of a heading, a list item or a quotation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong with the index. `file`: the topic it is about; the index for the whole of it.

    `line` counts from 1; None: no line of it. `reason` and `cure`: sentences without an end.
    """

    kind: Kind
    file: str
    line: int | None
    reason: str
    cure: str


class Mended(NamedTuple):
    """The index put right, and what was done, a sentence each."""

    text: str
    did: tuple[str, ...]


def listed(file: str, data: bytes, mtime_ns: int) -> Listed:
    """A topic file as the index should know it."""
    read = topic.parse(data, filename=file)
    said = "\n".join((read.name, read.description or "", read.body))
    hook = read.description or beginning(read)
    return Listed(file=file, title=read.name, hook=hook, mtime_ns=mtime_ns, text=said)


def beginning(read: topic.Topic) -> str:
    """How a topic without a description begins, so that its entry says more than its name. Nothing of one
    that begins with a secret, of which half a line may be left (E10).
    """
    if find_secrets(read.body[:_LOOKED_THROUGH]):
        return ""
    lines = (_MARKS.sub("", line, count=1) for line in read.body.splitlines())
    return next((line for line in lines if any(map(str.isalnum, line)) and line.strip() != read.name), "")


def wanting(text: str, topics: Sequence[Listed]) -> tuple[Listed, ...]:
    """The topics without an entry or link that should get one, oldest first; all, where there is room."""
    return Index(text, topics).wanting


def owed(text: str, topics: Sequence[Listed]) -> tuple[Listed, ...]:
    """`wanting`, and the newest for which there is no room: what is new must not be what nobody sees (F7)."""
    index = Index(text, topics)
    return (*index.crowded_out, *index.wanting)


def mended(text: str, topics: Sequence[Listed], *, besides: Collection[str] = ()) -> Mended:
    """The index with an entry for each topic (see above for very many), none that leads to nothing, none
    twice, none too long, and under its limits as far as that costs no word that stands nowhere else.

    `topics`: all of the directory that can be read. `besides`: other files there that entries may lead to.
    """
    did = dict[str, None]()
    for _ in range(_PASSES):
        before = text
        for step in _STEPS:
            text, said = step(Index(text, topics, besides))
            did |= dict.fromkeys(said)
        if text == before:
            break
    return Mended(text, tuple(did))


def faults(text: str, topics: Sequence[Listed], *, besides: Collection[str] = ()) -> tuple[Fault, ...]:
    """What is wrong with an index, by line, what concerns no line last."""
    found = list(_faults(Index(text, topics, besides)))
    return tuple(sorted(found, key=lambda one: (one.line is None, one.line or 0, one.kind, one.file)))


# -- step by step ----------------------------------------------------------------------------------------


def _moved(index: Index) -> Mended:
    """Entries that lead to nothing lead to the one topic that has the name in another folder, or in other
    letters (`Tabs.md`), and no entry.
    """
    homeless = defaultdict[str, list[str]](list)
    for one in index.missing:
        homeless[_last(one.file)].append(one.file)
    seekers = defaultdict[str, list[Entry]](list)
    for dead in index.dead:
        seekers[_last(dead.pointer.file)].append(dead)
    changes, did = dict[int, str | None](), dict[int, str]()
    for name, entries in seekers.items():
        files = homeless.get(name, [])
        if len(files) == 1 == len(entries) and _is_about(index, entries[0], files[0]):
            new = _led_to(files[0], entries[0])
            if new is not None:
                changes[entries[0].number] = new
                did[entries[0].number] = (
                    f"led the entry for {_called(entries[0])} to {leaks.called(files[0])}"
                )
    return _told(index, changes, did)


def _told(index: Index, changes: Mapping[int, str | None], did: Mapping[int, str]) -> Mended:
    """The index with those changes, and a sentence for each line that did change."""
    if not changes:
        return Mended(index.text, ())
    new, done = index.changed(changes)
    return Mended(new, tuple(sentence for number, sentence in did.items() if number in done))


def _is_about(index: Index, one: Entry, file: str) -> bool:
    """Whether an entry can be meant for a file of the same name: two files in two folders may share one."""
    is_same = one.key.casefold() == key(file).casefold()
    return is_same or not index.says_more(one.words, key(file), least=ABOUT)


def _led_to(file: str, old: Entry) -> str | None:
    """The line of an entry, leading to another file; None where that would change more than the link."""
    ways = {
        re.escape(f"{lead}{name}")
        for name in (old.pointer.file, _target(old.pointer.file))
        for lead in ("", "./")
    }
    one = f"(?:{'|'.join(sorted(ways, key=len, reverse=True))})"
    link = rf"(\][*_]{{0,3}}\([ \t]*)(?:<{one}([#?][^<>]*)?>|{one}([#?][^\s()<>]*)?(?=[\s)]))"
    new = re.sub(
        link, lambda found: f"{found[1]}{_target(file)}{found[2] or found[3] or ''}", old.bare, count=1
    )
    return new if entry(new) == replace(old.pointer, file=file) else None


def _target(file: str) -> str:
    """A file as the target of a link."""
    return written(Pointer(title="x", file=file, hook="")).removeprefix("- [x](").removesuffix(")")


def _last(file: str) -> str:
    return key(file).rpartition("/")[2].casefold()


def _without_dead(index: Index) -> Mended:
    """No entry leads to nothing, but for those with text below them, and where very many do."""
    if index.is_robbed:
        return Mended(index.text, ())
    gone = {one.number: one for one in index.dead if not one.below and one.links == 1}
    did = {
        number: f"took out an entry for {_called(one)}, which is not there" for number, one in gone.items()
    }
    return _told(index, dict.fromkeys(gone), did)


def _once_each(index: Index) -> Mended:
    """One entry a file: the first that says something of its own, with the words of the others."""
    changes, did = dict[int, str | None](), dict[int, str]()
    for group in index.twice:
        first, *others = sorted(group, key=lambda one: (not one.below, not _own(index, one), one.number))
        line = first.bare
        for other in others:
            joined = _joined(line, other) if _own(index, other) else line
            if joined is not None and not other.below and other.links == 1:
                line, changes[other.number] = joined, None
                did[other.number] = f"made one entry for {_called(first)} of two"
        if line != first.bare:
            changes[first.number] = line
    if changes and len(index.changed(changes)[1]) < len(changes):  # not by halves: words go from line to line
        return Mended(index.text, ())
    return _told(index, changes, did)


def _joined(line: str, other: Entry) -> str | None:
    """The line of an entry with the words of another one; None where that can't be."""
    if _holds(line, other):
        return line
    there = entry(line)
    joined = f"{line.rstrip()}{'; ' if there and there.hook else ' — '}{other.pointer.hook}"
    return joined if len(joined) <= LENGTH and _holds(joined, other) else None


def _own(index: Index, one: Entry) -> bool:
    """Whether an entry says something that its topic does not."""
    return one.below or one.links > 1 or index.says_more(one.words, one.key)


def _holds(line: str, other: Entry) -> bool:
    """Whether a line has all words of an entry."""
    return set(words(other.words)) <= set(words(line)) and set(FIGURES.findall(other.words)) <= set(
        FIGURES.findall(line)
    )


def _short(index: Index) -> Mended:
    """No entry is too long, where what is cut off is said in its topic."""
    return _cut_to(LENGTH, index, least=1.0)


def _cut_to(length: int, index: Index, *, least: float) -> Mended:
    """Hooks cut so that each entry has so many characters at most; `least`: see `Index.says_more`."""
    changes, did = dict[int, str | None](), dict[int, str]()
    for one in index.entries:
        new = _cut(one, length) if len(one.bare) > length else None
        if new is None:
            continue
        gone = one.pointer.hook[len((entry(new) or one.pointer).hook.removesuffix("…")) :]
        if not index.says_more(gone, one.key, least=least):
            changes[one.number] = new
            did[one.number] = f"shortened the entry for {_called(one)}"
    return _told(index, changes, did)


def _cut(one: Entry, length: int) -> str | None:
    """The line of an entry with as much of its hook as there is room for; None where that is no hook."""
    hook, line = one.pointer.hook, one.bare.rstrip()
    head = line.removesuffix(hook)
    room = length - len(head) - 1
    if not hook or head == line or room < 0:
        return None
    kept = hook[:room]
    if " " in kept[room // 2 :]:
        kept = kept.rsplit(" ", 1)[0]
    new = (head + kept.rstrip(" \t,;:，、；：") + "…") if kept.strip() else head.rstrip(" \t—–:：-")
    found = entry(new)
    is_same = found is not None and (found.title, found.file) == (one.pointer.title, one.pointer.file)
    return new if is_same and set(links(new)) == set(links(one.bare)) and len(new) < len(line) else None


def _all(index: Index) -> Mended:
    """An entry for each topic that should have one, the index under its limits where that costs nothing."""
    did = dict[str, None]()
    if not index.fits(index.missing):
        for step in (_squeezed, _shorter, _fewer):
            text, said = step(index)
            did |= dict.fromkeys(said)
            index = Index(text, tuple(index.topics.values()), index.besides)
            if index.fits(index.missing):
                break
    new = index.wanting
    did |= {f"added an entry for {one.file}": None for one in new}
    return Mended(entrypoint.add_all(index.text, [one.pointer for one in new]), tuple(did))


def _squeezed(index: Index) -> Mended:
    """Without the blank lines that part nothing: a second one, one between two entries, those at the end."""
    plain = {line.number for line in counting(index.text) if line.plain}
    entries = {one.number for one in index.entries}
    blank = [number for number in sorted(plain) if not index.lines[number].strip()]
    changes = dict[int, str | None]()
    for number in blank:
        before = next((at for at in range(number - 1, -1, -1) if at not in changes), None)
        behind = next((at for at in range(number + 1, len(index.lines)) if index.lines[at].strip()), None)
        is_between = before in entries and behind in entries
        if behind is None or is_between or (before is not None and not index.lines[before].strip()):
            changes[number] = None
    new, _ = index.changed(changes)
    return Mended(new, (f"took blank lines out of {NAME}",) if new != index.text else ())


def _shorter(index: Index) -> Mended:
    """With shorter hooks, where it is its bytes that are too many."""
    size = sum((Size.of_line(one.line) for one in index.missing), Size.of(index.loaded))
    if size.bytes <= MAX_BYTES:
        return Mended(index.text, ())
    best, did = index.text, tuple[str, ...]()
    for length in (LENGTH, *SHORTER):
        best, did = _cut_to(length, index, least=GIST)
        size = sum((Size.of_line(one.line) for one in index.missing), Size.of_text(best))
        if size.bytes <= MAX_BYTES * AIM:
            break
    return Mended(best, did)


def _fewer(index: Index) -> Mended:
    """Without entries of older topics, as many as it takes; what says something of its own stays."""
    newest = index.newest()
    files = {name: one.file for name, one in index.topics.items()}
    old = [
        one
        for one in index.entries
        if one.key in files and files[one.key] not in newest and not _own(index, one)
    ]
    old.sort(key=lambda one: newest_first(index.topics[one.key]), reverse=True)
    size, changes = Size.of(index.loaded), dict[int, str | None]()
    size = sum((Size.of_line(one.line) for one in index.missing if one.file in newest), size)
    for one in old:
        if size.within(FULL):
            break
        changes[one.number] = None
        line = Size.of_line(one.bare)
        size = Size(size.lines - line.lines, size.bytes - line.bytes)
    new, done = index.changed(changes)
    count = len(done)
    few = f"took out the entries of the {count} oldest memories that say no more than those, for lack of room"
    return Mended(new, (few,) if count else ())


_STEPS = (_moved, _without_dead, _once_each, _short, _all)


# -- what is wrong ---------------------------------------------------------------------------------------


def _faults(index: Index) -> Iterator[Fault]:
    missing = "the file is there under another name, is to come from another machine, or was removed"
    for one in index.dead:
        cure = "take the line out, or bring the file back with `memdir restore`"
        if index.is_robbed:
            cure = f"look where the files are: {missing}"
        yield Fault(
            kind="dead",
            file=_called(one),
            line=one.number + 1,
            reason=f"it points to {_called(one)}, which is not there",
            cure=cure,
        )
    for group in index.twice:
        for other in group[1:]:
            yield Fault(
                kind="twice",
                file=_called(other),
                line=other.number + 1,
                reason=f"a second entry for {_called(other)}; the first is on line {group[0].number + 1}",
                cure="make one of them",
            )
    for one in index.entries:
        if _is_long(one):
            yield Fault(
                kind="long",
                file=_called(one),
                line=one.number + 1,
                reason=f"an entry of {len(one.bare)} characters, of {LENGTH} at most",
                cure="move what it says into the topic, and leave a short hook",
            )
    for topic_ in index.wanting:
        yield Fault(
            kind="orphan",
            file=leaks.called(topic_.file),
            line=None,
            reason=f"{NAME} has no entry for it",
            cure="add a line with a link to it",
        )
    for topic_ in index.crowded_out:
        yield Fault(
            kind="orphan",
            file=leaks.called(topic_.file),
            line=None,
            reason=f"{NAME} has no entry for it, and no room for one",
            cure="take out of the index what is no entry, or stale; then add a line with a link to it",
        )
    if index.loaded.truncated:
        yield Fault(
            kind="limit",
            file=NAME,
            line=None,
            reason=f"it is at {entrypoint.excess(index.loaded)}, and what is beyond that is not loaded; "
            f"entries that nobody sees: {len(index.loaded.invisible)}",
            cure="keep each entry to one short line, and take stale ones out",
        )


def _is_long(one: Entry) -> bool:
    """Whether an entry is too long, and that is not for the name of its file alone."""
    is_bare = not one.pointer.hook and one.links == 1 and len(one.pointer.title) <= TITLE_LENGTH
    return len(one.bare) > LENGTH and not is_bare


def _called(one: Entry) -> str:
    return leaks.called(one.pointer.file)
