"""Patterns of paths, as people write them in settings and rules -> tests of paths; pure.

    *  ?  [a-z]  [!a]     within one name             **        any folders
    {ts,tsx}              either; may be nested       \\[        the character itself

A path is one with `/`, and the whole of it has to fit. Braces that stand for more than a thousand patterns,
or for too many characters, are taken as they are written; a `[` that is never closed fits nothing. Time for
each pattern is in proportion to the path, whatever the pattern is.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

MOST = 1_000
MOST_IN_ALL = 2_000
"""Patterns of one matcher, those without braces included; more fit nothing."""
MOST_CHARACTERS = 128 * 1024
"""Characters of all patterns of one matcher, braces expanded; those beyond fit nothing."""
LONGEST = 16 * 1024
"""Characters of a pattern; a longer one fits nothing."""
EACH = 64
"""Characters that a pattern counts for besides its own: it takes time and room, however short it is."""

Matcher = Callable[[str], bool]


def matcher(patterns: Iterable[str]) -> Matcher:
    """Whether a path fits one of these. The budget of a thousand is for all of them together."""
    return _matcher(tuple(patterns))


@lru_cache(maxsize=256)
def _matcher(patterns: tuple[str, ...]) -> Matcher:
    ways = [_parts(plain) for plain in _plain(patterns)]
    return lambda path: any(_fits(path.split("/"), way) for way in ways)


def cost(patterns: Iterable[str]) -> int:
    """What a matcher of these takes of time and room, in characters."""
    return sum(len(plain) + EACH for plain in _plain(patterns))


def _plain(patterns: Iterable[str]) -> list[str]:
    """The patterns without braces that count, as far as the budget goes."""
    found, left = list[str](), MOST_CHARACTERS
    for pattern in patterns:
        if len(pattern) > LONGEST or len(found) >= MOST_IN_ALL:
            continue
        more = expanded(pattern, most=max(MOST - len(found), 1), characters=left)
        size = sum(map(len, more))
        if size > left:
            break
        found += more
        left -= size
    return found


def escaped(path: str) -> str:
    """A pattern that this path fits, and no other."""
    return re.sub(r"([\\*?\[{},])", r"\\\1", path)


# -- braces --------------------------------------------------------------------------------------------------


def expanded(pattern: str, *, most: int = MOST, characters: int = MOST_CHARACTERS) -> list[str]:
    """The patterns that the braces stand for, in order; over the budget one, with its braces escaped."""
    groups = _groups(pattern)
    frames: list[tuple[list[str], list[str]]] = []  # what stands before, and the choices so far
    now, start = [""], 0
    for at, mark in groups:
        now = [one + pattern[start:at] for one in now]
        start = at + 1
        if mark == "{":
            frames.append((now, []))
            now = [""]
            continue
        before, choices = frames[-1]
        choices += now
        now = [""]
        if mark == "}":
            frames.pop()
            size = len(before) * len(choices)
            longest = max(map(len, before)) + max(map(len, choices)) + len(pattern) - start
            if size > most or size * longest > characters:
                return [_literal(pattern)]
            now = [one + choice for one in before for choice in choices]
        elif len(choices) > most:
            return [_literal(pattern)]
    return [one + pattern[start:] for one in now]


def _groups(pattern: str) -> list[tuple[int, str]]:
    """The marks that count: `{`, `,` and `}` of braces that are closed and hold a choice."""
    found: list[tuple[int, str]] = []
    opened: list[tuple[int, list[int]]] = []
    escaped = False
    for at, letter in enumerate(pattern):
        if escaped:
            escaped = False
        elif letter == "\\":
            escaped = True
        elif letter == "{":
            opened.append((at, []))
        elif letter == "," and opened:
            opened[-1][1].append(at)
        elif letter == "}" and opened:
            start, commas = opened.pop()
            if commas:
                found += [(start, "{"), *((comma, ",") for comma in commas), (at, "}")]
    return sorted(found)


def _literal(pattern: str) -> str:
    return re.sub(r"(?<!\\)([{}])", r"\\\1", pattern)


# -- names ---------------------------------------------------------------------------------------------------


def _parts(pattern: str) -> tuple[str, ...]:
    """The names of a pattern. `folder/` is all that is in the folder; `a/**` what is below it."""
    if pattern.endswith("/"):
        pattern += "**"
    if pattern.endswith("/**"):
        pattern += "/*"
    parts = ["**", "*"] if pattern == "**" else pattern.split("/")
    named = [part for part in parts if part not in ("", ".")]
    return tuple(part for at, part in enumerate(named) if part != "**" or named[at - 1 : at] != ["**"])


def _fits(names: list[str], way: tuple[str, ...]) -> bool:
    """Whether the names are those of the pattern. All ways are followed at once: nothing is tried twice."""
    names = [name for name in names if name not in ("", ".")]
    if len(way) - way.count("**") > len(names):
        return False
    reached = {0}
    for part in way:
        if not reached:
            return False
        if part == "**":
            reached = set(range(min(reached), len(names) + 1))
        else:
            test = _test(part)
            reached = {at + 1 for at in reached if at < len(names) and test(names[at])}
    return len(names) in reached


@lru_cache(maxsize=4096)
def _test(part: str) -> Callable[[str], object]:
    """The test of one name."""
    translated = _translated(part)
    if translated is None:
        return lambda _: False
    try:
        return re.compile(fnmatch.translate(translated)).match
    except (re.error, OverflowError):
        return lambda _: False


def _translated(part: str) -> str | None:
    """The pattern of a name as `fnmatch` has it; None: a `[` in it is never closed."""
    out, at = list[str](), 0
    while at < len(part):
        letter = part[at]
        if letter == "\\" and at + 1 < len(part):
            at += 1
            out.append(f"[{part[at]}]" if part[at] in "*?[" else part[at])
        elif letter == "[":
            first = at + 1 + (part[at + 1 : at + 2] in ("!", "^"))
            end = part.find("]", first + 1)
            if end < 0:
                return None
            inner = part[at + 1 : end]
            out.append(f"[!{inner[1:]}]" if inner[0] == "^" else f"[{inner}]")
            at = end
        else:
            out.append(letter)
        at += 1
    return "".join(out)
