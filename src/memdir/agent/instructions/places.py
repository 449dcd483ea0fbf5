"""A project -> the places where instructions for it may stand, in the order in which they are shown (I3).

    managed    /etc/memdir, and in the claude layout Claude Code's own place
    user       <base>/CLAUDE.md, <base>/AGENTS.md, <base>/rules/
    project    from the root of the working tree down to the working folder, in each folder: CLAUDE.md,
               .claude/CLAUDE.md, AGENTS.md, .claude/rules/, .memdir/rules/
    local      CLAUDE.local.md and AGENTS.local.md, right behind those of the same folder

A linked worktree is its own working tree; the folder that holds its bare repository counts as above it.
Without git there is only the working folder.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memdir.agent.instructions.sources import What
from memdir.errors import UnsafePath
from memdir.fs import read_file
from memdir.paths import Places, canonical_root
from memdir.paths.git import is_repository, pointer

Convention = Literal["both", "claude", "agents"]
"""Whose files are read: CLAUDE.md and its kin, AGENTS.md, or both."""

_MAX_CONFIG = 1024 * 1024  # bytes
_BARE = re.compile(rb"^\s*bare\s*=\s*true\s*$", re.MULTILINE | re.IGNORECASE)
_CLAUDE_CODE = {
    "darwin": "/Library/Application Support/ClaudeCode/CLAUDE.md",
    "win32": "C:\\Program Files\\ClaudeCode\\CLAUDE.md",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file that may hold instructions, or with `is_folder` a folder of rules.

    `within`: the folder that it must not lead out of without consent; None: whoever put it there is trusted.
    `root`: what the patterns of rules are relative to. `managed`: it is the administrator's, or their file
    imports it.
    """

    path: Path
    what: What
    within: Path | None = None
    root: Path | None = None
    is_folder: bool = False
    managed: bool = False


def working_tree(folder: Path) -> Path:
    """The real root of the checkout that `folder` is in; `folder` itself without git."""
    here = Path(os.path.realpath(folder))
    for place in (here, *here.parents):
        dot_git = place / ".git"
        try:
            if dot_git.is_file():
                if pointer(dot_git, prefix="gitdir:") is not None:
                    return place
            elif is_repository(dot_git):
                return place
        except OSError:  # what can't be looked at is no repository of ours
            continue
    return here


def managed_files(layout: str, platform: str = sys.platform) -> tuple[Path, ...]:
    """The administrator's files."""
    ours = (Path("/etc/memdir/CLAUDE.md"), Path("/etc/memdir/AGENTS.md"))
    theirs = Path(_CLAUDE_CODE.get(platform, "/etc/claude-code/CLAUDE.md"))
    return (*ours, theirs) if layout == "claude" else ours


def bounds(tree: Path, folder: Path, home: Path) -> Path:
    """What a file in a folder of the working tree must not lead out of: the tree. Where that holds all that
    the person has (a repository of their home), it is the folder: what was put there is not all theirs."""
    return folder if home.is_relative_to(tree) else tree


def at_start(
    places: Places, convention: Convention, *, managed: tuple[Path, ...], home: Path
) -> Iterator[Place]:
    """All places that count from the beginning."""
    yield from (Place(path=path, what="managed", managed=True) for path in managed)
    for name in _names(convention, local=False):
        yield Place(path=places.base / name, what="user")
    tree = working_tree(places.cwd)
    yield Place(path=places.base / "rules", what="rule", root=tree, is_folder=True)
    above = _above(tree, places.cwd)
    if above is not None:
        yield from in_folder(above, convention, within=above)
    for folder in between(tree, places.cwd):
        yield from in_folder(folder, convention, within=bounds(tree, folder, home))


def in_folder(folder: Path, convention: Convention, *, within: Path, rules: bool = True) -> Iterator[Place]:
    """The places in one folder of a project."""
    for name in _names(convention, local=False):
        yield Place(path=folder / name, what="project", within=within)
        if name == "CLAUDE.md":
            yield Place(path=folder / ".claude" / name, what="project", within=within)
    if rules:
        theirs = (".claude",) if convention != "agents" else ()
        for name in (*theirs, ".memdir"):
            path = folder / name / "rules"
            yield Place(path=path, what="rule", within=within, root=folder, is_folder=True)
    for name in _names(convention, local=True):
        yield Place(path=folder / name, what="local", within=within)


def between(top: Path, folder: Path) -> list[Path]:
    """The folders from `top` down to `folder`, both included; only `folder` if it is not below."""
    if not folder.is_relative_to(top):
        return [folder]
    above = [place for place in folder.parents if place.is_relative_to(top)]
    return [*reversed(above), folder]


def _names(convention: Convention, *, local: bool) -> list[str]:
    stems = {"both": ("CLAUDE", "AGENTS"), "claude": ("CLAUDE",), "agents": ("AGENTS",)}[convention]
    return [f"{stem}.local.md" if local else f"{stem}.md" for stem in stems]


def _above(tree: Path, cwd: Path) -> Path | None:
    """The folder that holds a bare repository and its worktrees, if this is one of those below it (P3)."""
    root = canonical_root(cwd)
    if root == tree or not tree.is_relative_to(root):
        return None
    dot_git = root / ".git"
    repository = pointer(dot_git, prefix="gitdir:") if dot_git.is_file() else dot_git
    return root if repository is not None and _is_bare(repository) else None


def _is_bare(repository: Path) -> bool:
    """Whether nothing is checked out from it in the folder around it."""
    try:
        config = read_file(repository / "config", limit=_MAX_CONFIG)
    except (OSError, UnsafePath):
        return False
    return is_repository(repository) and _BARE.search(config) is not None
