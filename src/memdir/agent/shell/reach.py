"""What a line names -> may a background job look there? By where each path really leads (A5, A8).

Asked before the line is allowed, and again when it is run: by then its paths may lead elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memdir import fs
from memdir.agent.credentials import ANYWHERE, leads_to_secrets
from memdir.agent.place import place
from memdir.agent.shell.names import Name
from memdir.agent.shell.wildcards import Walk
from memdir.errors import ToolError

_ON_THE_WAY = frozenset(
    part.casefold() for name in ANYWHERE.split() for part in name.split("/")[:-1] if "*" not in part
)
"""Folders in which the name of a credential file is known by two parts: a search that starts in one of them
can't leave it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Why a path is not looked at. `log` is a fixed phrase (H4), `text` is for the model."""

    log: str
    text: str


def bar(target: Path, folders: Sequence[Path]) -> Bar | None:
    """Why a background job does not read this path; None: it may. The machine's root is nobody's folder."""
    if leads_to_secrets(target):
        return Bar(
            log="a place of credentials",
            text=f"{target} is a place where credentials are kept; a background job does not read it.",
        )
    if not any(fs.inside(folder, target) for folder in folders if folder != Path(folder.anchor)):
        return Bar(
            log="outside the project",
            text=f"{target} does not belong to this project; a background memory job reads only in it and in "
            "its memory.",
        )
    return None


def bar_of(names: Sequence[Name], *, cwd: Path, folders: Sequence[Path]) -> Bar | None:
    """Why a line that names these is not run in `cwd`; None: it may be. Takes bounded time, and a disk."""
    try:
        return next(_bars(names, cwd, folders), None)
    except ToolError as error:
        return Bar(log="the path is no path", text=str(error))


def _bars(names: Sequence[Name], cwd: Path, folders: Sequence[Path]) -> Iterator[Bar]:
    walk = Walk()
    for name in dict.fromkeys(names):
        for path in walk.named(name.path, cwd) if name.pattern else [name.path]:
            target = place(path, cwd)
            if found := bar(target, folders):
                yield found
            elif name.searched and _is_on_the_way(target, folders):
                yield Bar(
                    log="a place of credentials",
                    text=f"credentials are kept in {target}; search it with Grep, or name a file.",
                )
            elif name.one_file and target.is_dir():
                yield Bar(
                    log="a folder, where a file is shown",
                    text=f"{target} is a folder; compare folders with diff -rq, then two files.",
                )


def _is_on_the_way(target: Path, folders: Sequence[Path]) -> bool:
    """Whether it lies, seen from the job's folder, in one in which credentials are kept beside others."""
    real = Path(os.path.realpath(target))
    bases = [Path(os.path.realpath(folder)) for folder in folders]
    inner = [real.relative_to(base).parts for base in bases if real.is_relative_to(base)]
    parts = min(inner, key=len, default=real.parts)
    return not _ON_THE_WAY.isdisjoint(part.casefold() for part in parts)
