"""What a value or an operand of a command may be: a kind of the table, and a word of that kind or a refusal.

Kinds that name files are `file`, `rev` (a git revision, or a path where git takes one) and what the little
languages say. The path is looked at as it is written; where it really leads is asked when it is run. Pure.
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase
from itertools import starmap

from memdir.agent.credentials import AT_ROOT, holds_secrets
from memdir.agent.shell.refused import Credentials, Refused

LANGUAGES = frozenset({"sed", "awk", "jq"})
"""Kinds that are a program of a little language; pieces given with several options make one program."""

FILES = frozenset({"file", "rev"})
"""Kinds that may name a file."""

_NUMBER = re.compile(r"[+-]?\d{1,8}(?:[.,:~+-]\d{1,8}){0,4}[A-Za-z%]{0,3}")
_PROGRAM = re.compile(r"[A-Za-z0-9_.+-]{1,64}")
_SIGNATURE = re.compile(r"%(?:[-+ ]|[<>|][^)]*\))*G|signature|%\(contents:sig|%\(\*?raw", re.IGNORECASE)
_DEVICE = re.compile(r"/(?:dev|proc|sys)(?:/|$)")
_BACK = re.compile(r"^/(?:.*/)?[^/]+/\.\.(?:/|$)", re.DOTALL)
_HIDDEN_WILDCARD = re.compile(r"(?:^|/)\.[^/*?\[]*[*?\[]")
_LINES = re.compile(r"(?:[^:]|:(?=\w))*:(?P<file>.+)", re.DOTALL)
"""`-L` of git: a range or `:function`, and a file behind the last colon."""


def check(kind: str, text: str) -> None:
    """Raise Refused unless the text is of the kind. Languages are judged by themselves.

    Some programs take `@file` for a list of options, or `+5` for a place in a file: that is no file here.
    """
    match kind:
        case "number" if not _NUMBER.fullmatch(text):
            raise Refused(f"{text!r} is no number, or one that is too large")
        case "file":
            if text.startswith(("@", "+")):
                raise Refused(f"write ./{text} if that is a file")
            check_path(text)
        case "rev":
            for part in {text, *text.split(":")}:
                check_path(part)
        case "lines" if found := _LINES.fullmatch(text):
            check_path(found["file"])
        case "plusformat" if not text.startswith("+"):
            raise Refused(f"{text!r} must begin with +")
        case "program" if not _PROGRAM.fullmatch(text):
            raise Refused(f"{text!r} is no name of a program")
        case "gitformat" if _SIGNATURE.search(text):
            raise Refused("signatures are not checked here: that runs a program")
        case _ if kind.startswith("word:"):
            words = kind.removeprefix("word:").split("|")
            if text not in words:
                raise Refused(f"{text!r} is not among {', '.join(words)}")
        case _ if kind.startswith("like:"):
            if not re.fullmatch(kind.removeprefix("like:"), text):
                raise Refused(f"{text!r} is not available here")
        case _:
            pass


def check_path(text: str, *, folder: str = "") -> None:
    """Raise Refused for a device, for what a process keeps, and for a place of credentials.

    `folder` is where the command runs, if a `cd` went there.
    """
    whole = posixpath.join(folder, text)
    plain = posixpath.normpath(whole) if whole else whole
    plain = "/" + plain.lstrip("/") if plain.startswith("/") else plain
    if _DEVICE.match(plain) and plain != "/dev/null":
        raise Refused(f"{text} is not a file of a project")
    if _BACK.match(whole):
        raise Refused(f"name {text} without `..`")
    if holds_secrets(text) or holds_secrets(plain):
        raise Credentials(f"{text} is a place where credentials are kept; a background job does not read it")


def check_pattern(pattern: str) -> None:
    """Raise Refused for wildcards that could bring hidden files, a device or what a machine keeps secret."""
    if _HIDDEN_WILDCARD.search(pattern.replace("[.]", ".")):
        raise Refused("names that begin with a dot must be written out, without wildcards")
    if pattern.startswith("/"):
        parts = posixpath.normpath(pattern).strip("/").split("/")
        for place in (*AT_ROOT.split(), "/dev", "/sys"):
            names = place.casefold().strip("/").split("/")
            if all(starmap(_could_be, zip(parts, names, strict=False))):
                raise Refused(f"name the files that {pattern} stands for")


def _could_be(part: str, name: str) -> bool:
    """Whether a part of a pattern can stand for a name of the list, which may end in a wildcard itself."""
    bare = name.rstrip("*")
    return fnmatchcase(bare, part.casefold()) or (bare != name and fnmatchcase(bare + "x", part.casefold()))
