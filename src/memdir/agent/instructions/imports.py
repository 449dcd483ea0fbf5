"""`@path` in a text -> the paths that it names; pure, but for `located`.

    See @docs/style.md, and @~/notes/git.md     two imports
    `@docs/style.md`, ```…```                   none: code
    ada@example.org, @ada, @scope/package       none, as long as there is no such file

A path ends at a blank; `\\ ` is a blank in it. What closes a sentence or a bracket is not part of it, unless
a file has just that name.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

MOST = 1_000
"""Paths that one text may name; more are not looked at."""

_IMPORT = re.compile(r"(?<![A-Za-z0-9_.%+\-/\\@=&:`])@((?:[^\s\\`]|\\[^\n`])+)")
_ENDS = ".,;:!?)]}>'\"*_’”»…。，、；：！？）】」』"
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_APART = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]|#|\|)|[ \t]*>")
"""What a line begins with that does not belong to the paragraph above it."""
_OTHER_MACHINE = re.compile(r"(?:~[/\\])?[/\\]{2}")
_TICKS = re.compile("`+")


def mentioned(text: str) -> list[str]:
    """What stands behind each `@` outside of code, in order, each once."""
    found: dict[str, None] = {}
    for part in _prose(text):
        for match in _IMPORT.finditer(part):
            found.setdefault(match[1])
            if len(found) >= MOST:
                return list(found)
    return list(found)


def spellings(token: str) -> list[str]:
    """The paths that a token may mean, the likeliest first."""
    whole = re.sub(r"\\(\s)", r"\1", token)
    kept = whole.rstrip(_ENDS)
    return [
        one for one in dict.fromkeys((whole, kept, kept.partition("#")[0].rstrip(_ENDS))) if one.strip("./ ")
    ]


def located(token: str, folders: Sequence[Path], home: Path) -> Path | None:
    """The file that a token means, from the folder of the file it stands in; None: there is none.

    Raises:
        OSError: there is something, and it can't be looked at.
    """
    for given in spellings(token):
        for folder in folders:
            if _OTHER_MACHINE.match(given):
                continue
            path = home / given[2:] if given.startswith("~/") else folder / given
            try:
                found = path.stat()
            except (FileNotFoundError, NotADirectoryError, ValueError):
                continue
            except OSError as error:
                if isinstance(error, PermissionError):
                    raise
                continue  # too long, a loop of links: no file
            if not stat.S_ISDIR(found.st_mode):
                return path if ".." not in path.parts else Path(os.path.realpath(path))
    return None


# -- what is no code -----------------------------------------------------------------------------------------


def _prose(text: str) -> Iterator[str]:
    """The pieces of the text that stand outside of code blocks and code spans."""
    for paragraph in _paragraphs(text):
        yield from _without_spans(paragraph)


def _paragraphs(text: str) -> Iterator[str]:
    """Lines that belong together, those of code blocks left out. A block that is never closed goes on."""
    fence, lines = "", list[str]()
    for line in re.split(r"\r\n?|\n", text):
        if fence:
            if re.fullmatch(rf"[ \t>]*{fence[0]}{{{len(fence)},}}[ \t]*", line):
                fence = ""
            continue
        opened = _FENCE.match(line)
        if opened or not line.strip() or _APART.match(line):
            yield "\n".join(lines)
            lines = []
        if opened:
            fence = opened[1]
        else:
            lines.append(line)
    yield "\n".join(lines)


def _without_spans(text: str) -> Iterator[str]:
    """What is between code spans: as many backticks again end what so many began."""
    runs = list(_TICKS.finditer(text))
    places: dict[int, list[int]] = {}
    for number, run in enumerate(runs):
        places.setdefault(len(run[0]), []).append(number)
    at, number = 0, 0
    while number < len(runs):
        run = runs[number]
        escaped = _is_escaped(text, run.start())
        length = len(run[0]) - escaped
        same = places.get(length, ())
        close = bisect_right(same, number)
        if length and close < len(same):
            yield text[at : run.start()] + "`"
            number = same[close]
            at = runs[number].end() - 1  # its last backtick: what follows is glued to code
        number += 1
    yield text[at:]


def _is_escaped(text: str, place: int) -> bool:
    """Whether an odd number of backslashes stands before the place."""
    start = place
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return (place - start) % 2 == 1
