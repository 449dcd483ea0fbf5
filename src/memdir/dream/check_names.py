"""What memories are called, in the index and in their headers: does it fit what they say? (F6, D8) Pure.

Of an entry of the index, a name and a description more is read than of all else, and no line of a memory
accounts for them. One that a dream wrote has to be about its memory, and may not say of it that it is void.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memdir.dream.files import Snapshot
from memdir.dream.page import turning, turns
from memdir.dream.quoted import named, quoted
from memdir.memory import encoding, entrypoint
from memdir.memory.entrypoint import NAME
from memdir.memory.pointer import entry, key
from memdir.memory.topic import parse
from memdir.trust.judging import negations
from memdir.trust.terms import keys, loosened, terms

FITS = 0.5
"""So much of the weight of its words has to be known from the memory, or from what it was called before."""
SAME = 0.8
"""With so much of its words in one line, it says what that line says."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with what a file is called."""

    file: str
    reason: str


def faults(before: Snapshot, after: Snapshot, made: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    """What does not fit. `made`: each file that was written anew, and those it was made from."""
    was, now = encoding.readable(before.index), encoding.readable(after.index)
    old = {line.strip() for line in was.splitlines()}
    hooks: dict[str, str] = {}
    for one in entrypoint.pointers(was):
        hooks[key(one.file)] = f"{hooks.get(key(one.file), '')}\n{one.title}\n{one.hook}"
    files = {key(file): file for file in after.topics}
    for line in (line.strip() for line in now.splitlines()):
        if line in old:
            continue
        if line.startswith("#") and turns(line):
            yield Fault(NAME, f"the index would set memories below {quoted(line)}")
        pointer = entry(line)
        file = files.get(key(pointer.file)) if pointer else None
        if pointer is None or file is None:
            continue
        if "~~" in line:
            yield Fault(NAME, f"the index would strike out {named(file)}")
        text = encoding.readable(after.files[file])
        sources = "\n".join(hooks.get(key(one), "") for one in (file, *made.get(file, ())))
        if why := _misfit(f"{pointer.title}: {pointer.hook}", file, text, sources):
            yield Fault(NAME, f"the index would say of {named(file)} {quoted(pointer.hook)}, {why}")
    for file, origins in made.items():
        if file != NAME and file in before.files:
            yield from _called(file, before, after, origins)


def _called(file: str, before: Snapshot, after: Snapshot, origins: Sequence[str]) -> Iterator[Fault]:
    """What is wrong with the name and the description in a header."""
    then, topic = (parse(one.files[file], filename=file) for one in (before, after))
    known = "\n".join(encoding.readable(before.files[one]) for one in origins if one in before.files)
    for what, text, was in (
        ("name", topic.name, then.name),
        ("description", topic.description or "", then.description or ""),
    ):
        if text != was and (why := _misfit(text, file, topic.body, known)):
            yield Fault(file, f"its {what} would be {quoted(text)}, {why}")


def _misfit(said: str, file: str, text: str, known: str) -> str | None:
    """Why something does not fit a memory of that text. `known`: what it was called, and made of, before."""
    whole = f"{file.removesuffix('.md').replace('_', ' ')}\n{text}\n{known}"
    there = keys(whole)
    mine = [one for one in terms(said) if not one.figure]
    weight = sum(one.weight for one in mine)
    fit = sum(one.weight for one in mine if one.key in there or loosened(one.key) in there)
    if weight and fit < FITS * weight:
        return "which is not what it is about"
    if turning(said) - turning(whole) or (negations(said) and not negations(whole)):
        return "and nothing in it says so"
    if _turns_around(said, whole):
        return "and a line of it says the opposite"
    return None


def _turns_around(said: str, text: str) -> bool:
    """Whether it says what a line says, but for a "no"."""
    mine = {one.key for one in terms(said)}
    if len(mine) < 2:
        return False
    alike = [line for line in text.splitlines() if len(mine & keys(line)) >= SAME * len(mine)]
    return bool(alike) and all(negations(line) != negations(said) for line in alike)
