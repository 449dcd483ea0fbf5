"""Files below a folder, by name pattern and by content, in plain Python; no other module of memdir is needed.

Glob uses the functions. Grep, where ripgrep is not installed, runs this file as a process of its own (request
as JSON on stdin, answer as JSON on stdout): a regular expression that never ends can then be killed.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache"}
)
"""Folders that a search never walks into: version control, installed packages, caches."""

LONGEST_LINE = 2000
MOST_FILES = 200_000
MOST_BYTES = 10 * 1024 * 1024
MOST_MATCHES = 20_000
TOO_MANY = "more matches than can be shown; use a narrower pattern, glob or folder"


def walk(root: str) -> Iterator[tuple[str, int]]:
    """Path and mtime of regular files below `root`, at most 200,000.

    Links to folders are not followed, and what can't be read is passed by.
    """
    left, stack = MOST_FILES, [root]
    while stack and left:
        try:
            with os.scandir(stack.pop()) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED:
                    stack.append(entry.path)
            elif left and (about := _stat(entry)) and stat.S_ISREG(about.st_mode):
                left -= 1
                yield entry.path, about.st_mtime_ns


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except OSError:
        return None


def matcher(pattern: str) -> Callable[[str], bool]:
    """A test of relative paths (with `/`): `*` `?` `[x]` within a name, `**` any folders, `{a,b}` either.

    A pattern without `/` is about the name alone, in any folder. Time is linear in the pattern for each name.
    """
    ways = [_segments(way) for way in _alternatives(pattern)]
    return lambda path: any(_fits(path.split("/"), way) for way in ways)


_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def _alternatives(pattern: str) -> list[str]:
    """Each pattern that the braces stand for; more than 64 are not told apart."""
    pieces = _BRACES.split(pattern)
    choices = [piece.split(",") if at % 2 else [piece] for at, piece in enumerate(pieces)]
    return ["".join(way) for way, _ in zip(product(*choices), range(64), strict=False)]


def _segments(pattern: str) -> list[Callable[[str], object] | None]:
    """One test for each part of the pattern; None stands for `**`."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if len(parts) == 1 and parts != ["**"]:
        parts = ["**", *parts]
    if parts and parts[-1] == "**":
        parts.append("*")
    return [None if part == "**" else re.compile(fnmatch.translate(part)).match for part in parts]


def _fits(names: list[str], way: list[Callable[[str], object] | None]) -> bool:
    reached = {0}
    for test in way:
        if test is None:
            reached = set(range(min(reached), len(names) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(names) and test(names[at])}
    return len(names) in reached


def search(request: dict[str, Any]) -> dict[str, Any]:
    """Search as asked.

    The request is `{"path", "pattern", "glob", "unwanted", "ignore_case", "before", "after", "first_only"}`;
    `unwanted` is null or a regular expression: files whose case-folded path it is found in are passed by.

    Answers `{"files": [[path, mtime_ns, lines], …]}`, where lines are `[number, text, is_match]`, with null
    between pieces that do not touch; or `{"error": text}`.
    """
    try:
        regex = re.compile(request["pattern"], re.IGNORECASE if request["ignore_case"] else 0)
    except (re.error, RecursionError, OverflowError) as error:
        return {"error": f"the pattern is not a regular expression: {error}"}
    files, matches = [], 0
    for path, mtime_ns in _candidates(request["path"], request["glob"], request["unwanted"]):
        lines = _lines(path)
        hits = [at for at, line in enumerate(lines) if regex.search(line[:LONGEST_LINE])]
        hits = hits[:1] if request["first_only"] else hits
        if not hits:
            continue
        matches += len(hits)
        files.append([path, mtime_ns, _with_context(lines, hits, request["before"], request["after"])])
        if matches > MOST_MATCHES:
            return {"error": TOO_MANY}
    return {"files": files}


def _candidates(path: str, glob: str | None, unwanted: str | None) -> Iterator[tuple[str, int]]:
    """Path and mtime of each file to look into. A file named outright is taken as it is."""
    if Path(path).is_file():
        yield path, Path(path).stat().st_mtime_ns
        return
    fits = matcher(glob.removeprefix("!")) if glob else None
    others = bool(glob and glob.startswith("!"))
    hidden = re.compile(unwanted).search if unwanted else None
    for found, mtime_ns in walk(path):
        inner = os.path.relpath(found, path).replace(os.sep, "/")
        passed_by = hidden and hidden(found.replace(os.sep, "/").casefold())
        if not passed_by and not Path(found).is_symlink() and (fits is None or fits(inner) != others):
            yield found, mtime_ns


def _lines(path: str) -> list[str]:
    """The lines of a text file; nothing for a binary, big or unreadable one. Never waits for a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            data = file.read() if stat.S_ISREG(about.st_mode) and about.st_size <= MOST_BYTES else b""
    except OSError:
        return []
    if b"\0" in data[:8192]:
        return []
    lines = data.decode("utf-8-sig", errors="replace").split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


def _with_context(lines: list[str], hits: list[int], before: int, after: int) -> list[list[Any] | None]:
    out: list[list[Any] | None] = []
    chosen, hit, last = set[int](), set(hits), -1
    for at in hits:
        chosen.update(range(max(0, at - before), min(len(lines), at + after + 1)))
    for at in sorted(chosen):
        if out and at > last + 1 and (before or after):
            out.append(None)
        out.append([at + 1, lines[at], at in hit])
        last = at
    return out


def main() -> None:
    """Answer one request from stdin on stdout."""
    json.dump(search(json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()
