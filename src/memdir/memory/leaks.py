"""What is about to be written -> a refusal, if a secret is in it that was not there before (E10, T6).

Looked through is what a reader will see, not only the bytes: the text (of any encoding), the same without
invisible characters, and the values of the header and of index entries, escapes undone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from memdir.errors import MarkAdded, SecretFound
from memdir.memory import entrypoint, frontmatter
from memdir.memory.frontmatter import Entry
from memdir.memory.manifest import visible
from memdir.secrets import allowed_lines, scan

MASKED = "a file whose name looks like a secret"


def refuse(new: str, old: str, *, name: str, by_person: bool = False) -> None:
    """Raise SecretFound for a secret in the new text; one that the old holds too is no leak by us (E10).

    The allow marker (`secrets.ALLOWED`) is the person's to set. A write by a tool, a fork or a model that
    adds one is refused, whether or not a secret stands beside it, or it would open the line to the
    next write; a marked line that stays as it was is no news. `by_person`: the person's own hand wrote the
    new text, so secrets on lines with the marker don't count; those on other lines do.
    """
    if not by_person and (added := _added_markers(new, old)):
        raise MarkAdded(where=called(name), lines=added)
    found = _found(_views(new))
    if found:
        known = {value for _, value in _found(_views(old))}
        if by_person:
            known |= _allowed(new)
        found = {(rule, value) for rule, value in found if value not in known}
    if found:
        raise SecretFound(_rules(found), where=called(name), lines=_lines(new, {value for _, value in found}))


def refuse_name(file: str | Path, *, below: Iterable[Path]) -> None:
    """Raise SecretFound where the name of a new file is one; the names of folders it is `below` may be."""
    name = os.fspath(file)
    for folder in below:
        name = name.removeprefix(f"{folder}/")
    if found := _found([name, visible(name)]):
        raise SecretFound(_rules(found), where="the name of the file")


def called(name: str) -> str:
    """A file's name, as it may stand in a sentence."""
    return MASKED if scan(name) else name


def _found(texts: Iterable[str]) -> set[tuple[str, str]]:
    """Rule and value of each secret."""
    return {(one.rule, text[one.start : one.end]) for text in texts for one in scan(text)}


def _rules(found: set[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(sorted({rule for rule, _ in found}))


def _added_markers(new: str, old: str) -> tuple[int, ...]:
    """The lines of the new text, from 1, that have the allow marker and did not stand so in the old."""
    marked = allowed_lines(new) | allowed_lines(visible(new))
    if not marked:
        return ()
    before, lines = set(_split(old)), _split(new)
    return tuple(sorted(number for number in marked if lines[number - 1] not in before))


def _split(text: str) -> list[str]:
    return [line.rstrip("\r") for line in text.split("\n")]


def _allowed(text: str) -> set[str]:
    """The values of the secrets on lines that the person marked."""
    values: set[str] = set()
    for view in {text, visible(text)}:
        counted = scan(view, honour_marker=True)
        values |= {view[one.start : one.end] for one in scan(view) if one not in counted}
    return values


def _lines(text: str, values: set[str]) -> tuple[int, ...]:
    """Where in the text as it stands the values are; nowhere, if escapes hide them."""
    return tuple(sorted({one.line(text) for one in scan(text) if text[one.start : one.end] in values}))


def _views(text: str) -> Iterator[str]:
    """The text as it stands, and as those see it who read it."""
    yield text
    if (seen := visible(text)) != text:
        yield seen
    if header := frontmatter.read(text):
        yield "\n".join(_values(header.entries))
    yield "\n".join(part for one in entrypoint.pointers(text) for part in (one.title, one.file, one.hook))


def _values(entries: Iterable[Entry]) -> Iterator[str]:
    for entry in entries:
        yield f"{entry.key}: {entry.value or ''}"
        yield from _values(entry.children)
