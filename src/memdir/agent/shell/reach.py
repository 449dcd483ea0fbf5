"""What a line names -> may a background job look there? By where each path really leads (A5, A8).

Asked before the line is allowed, and again when it is run: by then its paths may lead elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memdir import fs
from memdir.agent.credentials import holds_secrets, leads_to_secrets
from memdir.agent.place import place
from memdir.agent.shell.names import Name, Searched
from memdir.agent.shell.recursion import hides_all, is_left_out
from memdir.agent.shell.wildcards import Walk
from memdir.errors import ToolError

MOST_SEARCHED = 50_000
"""Files and folders below a place that is searched. Where there are more, one of the tools is for it."""


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
            found = bar(target, folders)
            if found is None and name.searched:
                found = _unhidden(name.searched, target, place(name.base or ".", cwd))
            if found is not None:
                yield found
            elif name.one_file and target.is_dir():
                yield Bar(
                    log="a folder, where a file is shown",
                    text=f"{target} is a folder; compare folders with diff -rq, then two files.",
                )


def _unhidden(search: Searched, start: Path, where: Path) -> Bar | None:
    """What a search in `start`, run in `where`, would show though credentials are kept there."""
    waiting, seen = [Path(os.path.realpath(start))], 0
    base = Path(os.path.realpath(where))
    if hides_all(search, base):
        return None
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        seen += len(entries)
        if seen > MOST_SEARCHED:
            return Bar(
                log="too much to search",
                text=f"there are more than {MOST_SEARCHED:,} files in {start}; use Grep, or search less.",
            )
        for entry in entries:
            path = folder / entry.name
            shown = path.relative_to(base) if path.is_relative_to(base) else path
            if is_left_out(search, shown):
                continue
            if holds_secrets(str(path)):
                return Bar(
                    log="a place of credentials",
                    text=f"credentials are kept in {path}, which is below {start}; search with Grep.",
                )
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
    return None
