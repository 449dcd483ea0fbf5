"""A search through folders -> options that leave the places of credentials out of it (A5).

What a search tool skips, a search by a command skips too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from memdir.agent.credentials import ANYWHERE

_RECURSIVE = frozenset({"-r", "-R", "--recursive"})


def left_out(command: str, seen: Collection[str]) -> list[str]:
    """The options for a command that was given these options, to stand behind them: the last one counts.

    Only names of one part can be left out; of what has more, what is found is masked (E10).
    """
    if command == "rg":
        hidden = (f"!**/{name}" for name in ANYWHERE.split())
        return [option for glob in (*hidden, "!**/.git/**") for option in ("--iglob", glob)]
    if _RECURSIVE.isdisjoint(seen):
        return []
    match command:
        case "grep" | "egrep" | "fgrep":
            return [option for name in _names() for option in (f"--exclude={name}", f"--exclude-dir={name}")]
        case "diff":
            return [f"--exclude={name}" for name in _names()]
    return []


def _names() -> Iterator[str]:
    return (name for name in (*ANYWHERE.split(), ".git") if "/" not in name)
