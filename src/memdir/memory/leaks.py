"""What is about to be written -> a refusal, if a secret is in it that was not there before (E10, T6).

Looked through is what a reader will see, not only the bytes: the text (of any encoding), the same without
invisible characters, and the values of the header and of index entries, escapes undone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from memdir.errors import SecretFound
from memdir.memory import entrypoint, frontmatter
from memdir.memory.frontmatter import Entry
from memdir.memory.manifest import visible
from memdir.secrets import scan

MASKED = "a file whose name looks like a secret"


def refuse(new: str, old: str, *, name: str) -> None:
    """Raise SecretFound for a secret in the new text; one that the old holds too is no leak by us (E10)."""
    found = _found(_views(new))
    if found:
        found -= _found(_views(old))
    if found:
        raise SecretFound(_rules(found), where=called(name))


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
