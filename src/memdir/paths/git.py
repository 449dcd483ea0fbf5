"""A folder becomes the root of its repository, from git's own files and without running git (P3, P4).

    checkout/.git/            a folder: the main checkout               -> checkout
    worktree/.git             a file, "gitdir: …/.git/worktrees/NAME"   -> the main checkout
      …/worktrees/NAME/commondir    where the repository is
      …/worktrees/NAME/gitdir       back to worktree/.git: no claim counts without it
    repo.git/ (bare)          its worktrees share                       -> repo.git
    project/.git              a file that names project/.bare           -> project
    sub/.git                  a file, "gitdir: …/.git/modules/sub"      -> sub, a repository of its own
    no git                                                              -> the folder itself

A `.git` file can say anything. It counts only as far as the repository it names says the same, so a cloned
folder can't pass for a worktree of another repository and be given that one's memory.

A folder that has the shape of a bare repository is taken for one only where no `.git` is above it. Anything
of that shape can be a part of what is cloned; a `.git` can't.

A checkout made with `--separate-git-dir` keeps its memory, but its worktrees go by the repository folder:
that one does not say where its checkout is, and any folder can say that it is. Who wants one memory for all
of them sets it, `git config core.worktree CHECKOUT`, which git itself heeds for the checkout alone.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from memdir.errors import UnsafePath
from memdir.fs import read_file

_MAX_POINTER = 16 * 1024  # bytes; a path on a line
_MAX_CONFIG = 1024 * 1024
_CORE_WORKTREE = re.compile(
    r"^\[core\]$(?:\n(?!\[).*)*?\n\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE | re.IGNORECASE
)


def canonical_root(folder: Path) -> Path:
    """The real path of what `folder` belongs to: its repository's main checkout, or itself without git.

    Computed once per folder and remembered (P4); `forget_roots` clears that.
    """
    return _canonical_root(os.path.realpath(folder))


def forget_roots() -> None:
    """Forget what was remembered; for tests, and after a repository was moved."""
    _canonical_root.cache_clear()


@lru_cache(maxsize=512)
def _canonical_root(start: str) -> Path:
    folder = Path(start)
    with suppress(PermissionError):  # what can't be looked at is no repository of ours
        for place in (folder, *folder.parents):
            dot_git = place / ".git"
            if dot_git.is_file():
                return _from_pointer(place, dot_git)
            if is_repository(dot_git):
                return place
        for place in (folder, *folder.parents):
            if is_repository(place):
                return _root_of(place)
    return folder


def is_repository(folder: Path) -> bool:
    """Whether git would take the folder for a repository (and not, say, for an empty `.git`)."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _from_pointer(place: Path, dot_git: Path) -> Path:
    """What a `.git` file in `place` (a real path) leads to, if the other side agrees; `place` otherwise."""
    named = pointer(dot_git, prefix="gitdir:")
    if named is None:
        return place
    common = pointer(named / "commondir")
    if common is None:
        return place  # a submodule, or a repository kept elsewhere: this is its checkout
    ours = named.parent == common / "worktrees" and is_repository(common)
    back = pointer(named / "gitdir")
    return _root_of(common) if ours and back == dot_git else place


def _root_of(repository: Path) -> Path:
    """The main checkout of a repository folder, or that folder itself if it is bare."""
    parent = repository.parent
    if repository.name == ".git" or pointer(parent / ".git", prefix="gitdir:") == repository:
        return parent
    checkout = _configured_checkout(repository)
    if checkout and pointer(checkout / ".git", prefix="gitdir:") == repository:
        return checkout
    return repository


def _configured_checkout(repository: Path) -> Path | None:
    """`core.worktree`, which git sets in the repository of a submodule."""
    text = _text(repository / "config", _MAX_CONFIG)
    found = _CORE_WORKTREE.search(text or "")
    return Path(os.path.realpath(repository / found[1].strip('"'))) if found else None


def pointer(file: Path, *, prefix: str = "") -> Path | None:
    """The real path that a one-line file names, relative to where it stands; None if it names none."""
    text = _text(file, _MAX_POINTER)
    if text is None or not text.startswith(prefix):
        return None
    named = text.removeprefix(prefix).strip()
    return Path(os.path.realpath(file.parent / named)) if named and "\0" not in named else None


def _text(file: Path, limit: int) -> str | None:
    try:
        return os.fsdecode(read_file(file, limit=limit))
    except (OSError, UnsafePath):
        return None
