"""`rules/**/*.md` -> the files; a rule's text -> its body, and the paths that it is for.

---
paths: src/**/*.{ts,tsx}, lib/**      or ["src/**", "lib/**"], or a list with a dash before each
---
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from memdir.memory import frontmatter

MOST_FILES = 500
MOST_ENTRIES = 10_000
DEEPEST = 32
"""Folders in each other that are looked into: where a path leads takes the longer the deeper it is."""

_REMARK = re.compile(r"(?<!\s)\s+#.*$")
_HERE = re.compile(r"\A(?:\./)+")


class Found:
    """The rules below one folder. `folders` are all that were looked into; `more`: there was too much."""

    def __init__(self, folder: Path, *, enter: Callable[[Path], bool]) -> None:
        self.files: list[Path] = []
        self.folders: list[Path] = []
        self.more = False
        self._enter = enter
        self._entries = MOST_ENTRIES
        self._seen: set[tuple[int, int]] = set()
        left = [(folder, 0)]
        while left:
            place, depth = left.pop()
            inner = self._look(place)
            if depth < DEEPEST:
                left += [(one, depth + 1) for one in reversed(inner)]
            elif inner:
                self.more = True

    def _look(self, folder: Path) -> list[Path]:
        """Take in the rules of one folder; the folders in it."""
        try:
            about = folder.stat()
            key = (about.st_dev, about.st_ino)
            if key in self._seen or not self._enter(folder):
                return []
            self._seen.add(key)
            with os.scandir(folder) as entries:  # one too many is enough to know
                found = sorted(islice(entries, self._entries + 1), key=lambda entry: entry.name)
        except OSError:
            return []
        self.folders.append(folder)
        self._entries -= len(found)
        inner = list[Path]()
        for entry in found:
            if self._entries < 0 or len(self.files) >= MOST_FILES:
                self.more = True
                return []
            if _is(entry.is_dir):
                inner.append(Path(entry.path))
            elif entry.name.lower().endswith(".md") and _is(entry.is_file):
                self.files.append(Path(entry.path))
        return inner


def _is(ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except OSError:
        return False


def parsed(text: str) -> tuple[str, tuple[str, ...]]:
    """The body of a rule, and the patterns that it is for; none: it is for everything."""
    header = frontmatter.read(text)
    if header is None:
        return text, ()
    entry = header.entry("paths")
    if entry is None:
        return header.body, ()
    lines = [line.strip() for line in header.lines[entry.start : entry.stop]]
    inline = _uncommented(lines[0].partition(":")[2].strip())
    below = [_uncommented(line) for line in lines[1:]]
    if not inline and any(line == "-" or line.startswith("- ") for line in below):
        items = [line[1:].strip() for line in below if line.startswith("-")]
        items = [one for item in items for one in (_split(item) if not _is_quoted(item) else [item])]
    else:
        whole = " ".join(line for line in (inline, *below) if line)
        if whole.startswith("[") and whole.count("[") > whole.count("]"):
            whole += "]"  # it stands alone on the next line
        is_list = whole.startswith("[") and whole.endswith("]")
        items = _split(whole[1:-1] if is_list or _is_quoted(whole) else whole)
    return header.body, tuple(pattern for item in items if (pattern := _pattern(item)))


def _uncommented(line: str) -> str:
    return "" if line.startswith("#") else _REMARK.sub("", line) if '"' not in line else line


def _is_quoted(item: str) -> bool:
    return len(item) > 1 and item[0] == item[-1] and item[0] in "'\"" and item[0] not in item[1:-1]


def _pattern(item: str) -> str:
    """A pattern without its quotes, relative to the project."""
    item = item.strip()
    if _is_quoted(item):
        item = item[1:-1].strip()
    item = _HERE.sub("", item).lstrip("/")
    return "" if item in frontmatter.NULLS else item


def _split(text: str) -> list[str]:
    """What commas keep apart, but not those in quotes, braces and brackets."""
    parts, start, depth, quote = list[str](), 0, 0, ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth = max(0, depth - 1)
        elif letter == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
