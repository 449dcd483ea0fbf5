"""Which conversations a project has had: where their transcripts are, which were written to since (D1, P9).

A transcript lies by the folder in which the conversation was held, memory by the root of the repository. The
transcripts of one memory are in several folders, then, and whose one is can't be told by its name: `a/b` and
`a-b` may have the same. It is this project's if

- it is named for the root, or for the folder that this conversation is in; or
- it is named for a worktree that git's own files list, or for a folder in a checkout, and the transcripts in
  there say that they are of such a folder, which belongs to this root and to no other.

A worktree that was outside the root and is gone is nobody's: nothing says any more whose it was.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from memdir.agent.sessions import NAME, changed
from memdir.errors import UnsafePath
from memdir.fs import read_file
from memdir.paths import MAX_SLUG, Places, canonical_root, slug
from memdir.paths.git import is_repository, pointer

_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')

_ASKED = 20
"""Transcripts of a folder that are asked whose they are."""

_HEAD = 64 * 1024
"""Bytes of a transcript in which it says where it was held."""


def touched(folders: Sequence[Path], *, since_ns: int, but: str | None) -> tuple[Path, ...]:
    """The transcripts in these folders that were written to later than `since_ns` (nanoseconds since 1970),
    the newest first, one for each session. `but`: the session that is left out. Reads none of them.

    What is no regular file counts for nothing, and so does a folder that is not there or may not be read.
    """
    found = _found(folders, since_ns, but)
    return tuple(Path(path) for _, path in sorted(found.values(), reverse=True))


def count(folders: Sequence[Path], *, since_ns: int, but: str | None) -> int:
    """How many those of `touched` are: what the gate asks, at half the cost where there are thousands."""
    return len(_found(folders, since_ns, but))


def _found(folders: Sequence[Path], since_ns: int, but: str | None) -> dict[str, tuple[int, str]]:
    """Time and path of the newest transcript, by session."""
    found: dict[str, tuple[int, str]] = {}
    ours = but.lower() if but is not None else None
    for folder in folders:
        for session, at, path in _written(folder, since_ns):
            if session != ours and found.get(session, (-1, ""))[0] < at:
                found[session] = (at, path)
    return found


def _written(folder: Path, since_ns: int) -> Iterator[tuple[str, int, str]]:
    """The id, time and path of each transcript of a folder that is younger than that."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if (
                    (name := NAME.fullmatch(entry.name))
                    and (at := changed(entry)) is not None
                    and at > since_ns
                ):
                    yield name[1].lower(), at, entry.path
    except OSError:
        return


# -- folders -------------------------------------------------------------------------------------------------


def folders(places: Places) -> tuple[Path, ...]:
    """The folders of this project's transcripts that are there: the root's first, then by name."""
    projects = places.base / "projects"
    own = dict.fromkeys((places.slug, places.transcripts.name))
    names = _folders_in(projects)
    found = [name for name in own if name in names]
    if (repository := _repository(places.root)) is not None:
        checkouts = (places.root, *_worktrees(repository, places.root))
        named = _named_for(checkouts, names.difference(own))
        found += [name for name in sorted(named) if _is_ours(projects / name, places)]
    return tuple(projects / name for name in found)


def _folders_in(projects: Path) -> set[str]:
    try:
        with os.scandir(projects) as entries:
            return {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
    except OSError:
        return set()


def _repository(root: Path) -> Path | None:
    """Where the repository of a checkout is, or the checkout itself if it is bare; None without git: then a
    folder below is another project (P3).
    """
    for place in (root / ".git", pointer(root / ".git", prefix="gitdir:"), root):
        if place is not None and is_repository(place):
            return place
    return None


def _worktrees(repository: Path, root: Path) -> Iterator[Path]:
    """The other checkouts, as git's own files have them; one counts if it says the same."""
    try:
        names = sorted(os.listdir(repository / "worktrees"))  # noqa: PTH208 - names are all it takes
    except OSError:
        return
    for name in names:
        dot_git = pointer(repository / "worktrees" / name / "gitdir")
        if dot_git is not None and canonical_root(dot_git.parent) == root:
            yield dot_git.parent


def _named_for(checkouts: Iterable[Path], names: Iterable[str]) -> set[str]:
    """The names that a checkout, or a folder in it, may have."""
    plain = [slug(checkout, layout="claude")[:MAX_SLUG] for checkout in checkouts]
    starts = tuple(f"{name}-" for name in plain)
    return {name for name in names if name in plain or name.startswith(starts)}


def _is_ours(folder: Path, places: Places) -> bool:
    """Whether the transcripts in there are of this project, as far as they say whose they are. The first that
    is of another one settles it: in a repository that is somebody's home, all projects are asked.
    """
    roots = (canonical_root(Path(cwd)) for cwd in _held_in(folder, layout=places.layout))
    first = next(roots, None)
    return first == places.root and all(root == first for root in roots)


def _held_in(folder: Path, *, layout: str) -> Iterator[str]:
    """The folders that conversations were held in whose transcripts are here, each once: of all that a
    transcript names, those that would have it here.
    """
    try:
        names = sorted(filter(NAME.fullmatch, os.listdir(folder)))  # noqa: PTH208 - as above
    except OSError:
        return
    told = set[str]()
    for name in names[:_ASKED]:
        for cwd in _named_in(folder / name):
            if cwd not in told:
                told.add(cwd)
                if _fits(folder.name, Path(cwd), layout):
                    yield cwd


def _fits(name: str, cwd: Path, layout: str) -> bool:
    """Whether transcripts of a folder would be under that name. Of a long name in the claude layout only the
    program that made it knows the end.
    """
    wanted = slug(cwd, layout=layout)
    if layout == "claude" and len(wanted) > MAX_SLUG:
        return name.startswith(f"{wanted[:MAX_SLUG]}-")
    return name == wanted


def _named_in(transcript: Path) -> Iterator[str]:
    """The working folders that the beginning of a transcript names."""
    try:
        head = read_file(transcript, limit=_HEAD, within=transcript.parent)
    except (OSError, UnsafePath):
        return
    for line in head.split(b"\n"):
        if (told := _CWD.search(line)) is not None:
            try:
                cwd: Any = json.loads(told[1])
            except ValueError:
                continue
            if isinstance(cwd, str) and os.path.isabs(cwd) and "\0" not in cwd:  # noqa: PTH117
                yield cwd
