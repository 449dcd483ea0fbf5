"""A pattern -> the paths that bash would put in its place, found with bounded work."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import translate
from pathlib import Path

from memdir.errors import ToolError

MOST_PATTERNS = 8
"""In one line."""
MOST_PARTS = 3
"""Parts of a path that have wildcards."""
MOST_ENTRIES = 10_000
"""Entries of folders that are looked at for one line."""

_MAGIC = re.compile(r"[*?\[]")
_ESCAPED = re.compile(r"\[([*?\[])\]")


class Walk:
    """The work that may be done for one line, and what is left of it."""

    def __init__(self) -> None:
        self._entries = MOST_ENTRIES
        self._patterns = MOST_PATTERNS

    def named(self, pattern: str, cwd: Path) -> Iterator[str]:
        """First the folder that the pattern is about, then what it stands for in `cwd` now.

        Wildcards are as bash has them: they stand for no slash, and for no name that begins with a dot.

        Raises:
            ToolError: it is too much to look at.
        """
        self._patterns -= 1
        parts = pattern.split("/")
        wild = [bool(_MAGIC.search(_ESCAPED.sub("", part))) for part in parts]
        if self._patterns < 0 or sum(wild) > MOST_PARTS:
            raise ToolError("too many wildcards in one line; use Glob or find")
        first = wild.index(True)
        start = "/".join(_ESCAPED.sub(r"\1", part) for part in parts[:first])
        folder = start or ("/" if pattern.startswith("/") else ".")
        yield folder
        home = str(Path.home())
        base = cwd / (home + folder[1:] if folder == "~" or folder.startswith("~/") else folder)
        yield from self._below(base, folder, parts[first:], wild[first:])

    def _below(self, place: Path, shown: str, parts: list[str], wild: list[bool]) -> Iterator[str]:
        if not parts:
            yield shown
            return
        if not wild[0]:
            part = _ESCAPED.sub(r"\1", parts[0])
            self._spend(1)
            if place.is_dir() if not part else os.path.lexists(place / part):
                yield from self._below(place / part, f"{shown.rstrip('/')}/{part}", parts[1:], wild[1:])
            return
        fits = re.compile(translate(parts[0].replace("[^", "[!"))).match
        for name in self._names(place):
            if fits(name) and not name.startswith("."):
                yield from self._below(place / name, f"{shown.rstrip('/')}/{name}", parts[1:], wild[1:])

    def _names(self, folder: Path) -> list[str]:
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208 - names alone
        except OSError:
            names = []
        self._spend(1 + len(names))
        return names

    def _spend(self, entries: int) -> None:
        self._entries -= entries
        if self._entries < 0:
            raise ToolError("a pattern stands for too many files; use Glob or find")
