"""A search through folders -> options that leave the places of credentials out of it (A5).

What a search tool skips, a search by a command skips too. What can't be left out is for `reach` to see.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import translate
from pathlib import PurePath

from memdir.agent.credentials import ANYWHERE, holds_secrets
from memdir.agent.shell.names import Searched

_RECURSIVE = frozenset({"-r", "-R", "--recursive"})
_GREP = frozenset({"grep", "egrep", "fgrep"})
_NAMES = tuple(name for name in (*ANYWHERE.split(), ".git") if "/" not in name)
_HIDDEN = re.compile("|".join(map(translate, _NAMES)))
_ON_THE_WAY = frozenset(part for name in ANYWHERE.casefold().split() for part in name.split("/")[:-1])


def searches(command: str, seen: Collection[str]) -> Searched:
    """Which search a command with these options is: it shows what is in the files of a folder."""
    if command == "rg":
        return "rg"
    return "grep" if command in _GREP and not _RECURSIVE.isdisjoint(seen) else ""


def left_out(search: Searched) -> list[str]:
    """The options for the search, to stand behind all others: the last one counts."""
    if search == "rg":
        hidden = (f"!**/{name}" for name in ANYWHERE.split())
        return [option for glob in (*hidden, "!**/.git/**") for option in ("--iglob", glob)]
    return [option for name in _NAMES for option in (f"--exclude={name}", f"--exclude-dir={name}")]


def is_left_out(search: Searched, path: PurePath) -> bool:
    """Whether those options keep the search from this file or folder; `path` is relative to where it runs.

    grep knows single names, and minds their case.
    """
    if search == "rg":
        return path.name.casefold() == ".git" or holds_secrets(path.as_posix())
    return _HIDDEN.match(path.name) is not None


def hides_all(search: Searched, where: PurePath) -> bool:
    """Whether those options hide every place of credentials, if the search runs in this (real) folder.

    rg takes its patterns from there on: what is known by a folder above is not hidden.
    """
    return search == "rg" and _ON_THE_WAY.isdisjoint(part.casefold() for part in where.parts)
