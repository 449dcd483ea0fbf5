"""The words after `find` -> why they may not run, and the places they name (A6).

`find` runs programs, deletes and writes with some of its primaries. Only primaries of a short list pass, each
with its argument; all else is refused. GNU, BusyBox and BSD find must understand the words alike, so an
argument that could be taken for a primary is refused too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from memdir.agent.shell.refused import Refused

_Kind: TypeAlias = Literal["text", "word", "file", "number", "mode"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALONE: Final = _words(
    "-a -and -o -or -not ! ( ) , -depth -mount -xdev -daystart -noleaf -warn -nowarn -ignore_readdir_race "
    "-noignore_readdir_race -empty -readable -writable -executable -nouser -nogroup -true -false -prune "
    "-quit -print -print0 -ls"
)

_WITH: Final[dict[str, _Kind]] = {
    **dict.fromkeys(
        _words("-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -printf"),
        "text",
    ),
    **dict.fromkeys(_words("-type -xtype -user -group -fstype -regextype"), "word"),
    **dict.fromkeys(
        _words(
            "-size -mtime -mmin -atime -amin -ctime -cmin -used -uid -gid -links -inum -maxdepth -mindepth"
        ),
        "number",
    ),
    **dict.fromkeys(_words("-newer -anewer -cnewer -samefile"), "file"),
    "-perm": "mode",
}

_WHY: Final[dict[str, str]] = {
    **dict.fromkeys(
        _words("-exec -execdir -ok -okdir"),
        "it runs a program; use grep -r or rg, or read what was found with a second command",
    ),
    "-delete": "nothing is changed from here",
    **dict.fromkeys(_words("-fprint -fprint0 -fprintf -fls"), "nothing is written; use -print or -printf"),
    **dict.fromkeys(_words("-L -follow"), "links lead out of the project; leave it out"),
    **dict.fromkeys(_words("-E -O1 -O2 -O3"), "leave it out; -regextype posix-extended sets the syntax"),
    **dict.fromkeys(_words("-files0-from -f"), "name the places"),
}
"""What to do instead of a word that is often asked for."""

_NEWER: Final = re.compile(r"-newer[aBcm]([aBcmt])")
_NUMBER: Final = re.compile(r"[-+]?[0-9]+[a-zA-Z]?")
_WORD: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,-]*")
"""BSD find takes a leading `-fstype x` for its option `-f`, and `x` for a place: it must not be a path."""
_CLAUSE: Final = r"[ugoa]*(?:[-+=][rwxXstugo]*)+"
_MODE: Final = re.compile(rf"[-/+]?(?:[0-7]+|{_CLAUSE}(?:,{_CLAUSE})*)")


def refusal(words: Sequence[str]) -> str | None:
    """Why `find` with these words may do more than read and print; None: it only does that."""
    try:
        _places(words)
    except Refused as reason:
        return str(reason)
    return None


def paths(words: Sequence[str]) -> tuple[str, ...]:
    """The starting points, and the files that are compared with. Without a starting point it is `.`.

    Empty for words that are refused.
    """
    try:
        return _places(words)
    except Refused:
        return ()


def _places(words: Sequence[str]) -> tuple[str, ...]:
    at = 0
    while at < len(words) and words[at] in {"-H", "-P"}:
        at += 1
    start = at
    while at < len(words) and not words[at].startswith(("-", "(", ")", "!", ",")):
        if not words[at]:
            raise Refused("find needs a name for each starting point")
        at += 1
    places = list(words[start:at]) or ["."]
    while at < len(words):
        word = words[at]
        at += 1
        if word in _ALONE:
            continue
        kind = _kind(word)
        if at == len(words):
            raise Refused(f"find needs a value after {word}")
        if not _fits(kind, words[at]):
            raise Refused(f"find may not be given this value of {word}")
        if kind == "file":
            places.append(words[at])
        at += 1
    return tuple(places)


def _kind(word: str) -> _Kind:
    """What the primary takes."""
    if newer := _NEWER.fullmatch(word):
        return "text" if newer[1] == "t" else "file"
    if word not in _WITH:
        if word in _WHY:
            raise Refused(f"find may not use {word}: {_WHY[word]}")
        if re.fullmatch(r"-[a-zA-Z0-9_]{1,30}", word):
            raise Refused(f"find may not use {word}")
        raise Refused("places stand before the first option of find, and a pattern behind -name or -path")
    return _WITH[word]


def _fits(kind: _Kind, value: str) -> bool:
    """Whether every find takes the word as the value of its primary, and none as a primary of its own."""
    if kind == "number":
        return _NUMBER.fullmatch(value) is not None
    if kind == "mode":
        return _MODE.fullmatch(value) is not None
    if kind == "word":
        return _WORD.fullmatch(value) is not None
    return bool(value) and not value.startswith("-") and value not in _ALONE
