"""A search through folders -> options that leave the places of credentials out of it (A5).

What a search tool skips, a search by a command skips too.
"""

from __future__ import annotations

from collections.abc import Collection

from memdir.agent.credentials import ANYWHERE

_RECURSIVE = frozenset({"-r", "-R", "--recursive"})
_GREP = frozenset({"grep", "egrep", "fgrep"})


def searches(command: str, seen: Collection[str]) -> bool:
    """Whether a command that was given these options shows what is in the files of a folder."""
    return command == "rg" or (command in _GREP and not _RECURSIVE.isdisjoint(seen))


def left_out(command: str) -> list[str]:
    """The options for a command that searches, to stand behind all others: the last one counts.

    grep can leave out names of one part alone; `reach` sees to the others.
    """
    if command == "rg":
        hidden = (f"!**/{name}" for name in ANYWHERE.split())
        return [option for glob in (*hidden, "!**/.git/**") for option in ("--iglob", glob)]
    names = [name for name in (*ANYWHERE.split(), ".git") if "/" not in name]
    return [option for name in names for option in (f"--exclude={name}", f"--exclude-dir={name}")]
