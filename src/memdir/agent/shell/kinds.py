"""What a value or an operand of a command may be: a kind of the table, and a word of that kind or a refusal.

Kinds that name files are `file`, `rev` (a git revision, or a path where git takes one) and what the little
languages say. The path is looked at as it is written; where it really leads is asked when it is run. Pure.
"""

from __future__ import annotations

import posixpath
import re

from memdir.agent.credentials import holds_secrets
from memdir.agent.shell.refused import Refused
from memdir.agent.shell.word import Word

LANGUAGES = frozenset({"sed", "awk", "jq"})
"""Kinds that are a program of a little language; pieces given with several options make one program."""

FILES = frozenset({"file", "rev"})
"""Kinds that may name a file."""

_NUMBER = re.compile(r"[+-]?\d{1,12}(?:[.,:~+-]?\d{1,12}){0,4}[A-Za-z%]{0,3}")
_PROGRAM = re.compile(r"[A-Za-z0-9_.+-]{1,64}")
_SIGNATURE = re.compile(r"%(?:[-+ ]|[<>|][^)]*\))*G|signature|%\(contents:sig", re.IGNORECASE)
_DEVICE = re.compile(r"/(?:dev|proc|sys)(?:/|$)")
_HIDDEN_WILDCARD = re.compile(r"(?:^|/)\.[^/]*$")


def check(kind: str, text: str) -> None:
    """Raise Refused unless the text is of the kind. Languages are judged by themselves."""
    match kind:
        case "number" if not _NUMBER.fullmatch(text):
            raise Refused(f"{text!r} is no number")
        case "file":
            check_path(text)
        case "rev":
            for part in {text, *text.split(":")}:
                check_path(part)
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


def check_path(text: str) -> None:
    """Raise Refused for a device, for what a process keeps, and for a place of credentials."""
    plain = posixpath.normpath(text) if text else text
    plain = "/" + plain.lstrip("/") if plain.startswith("/") else plain
    if _DEVICE.match(plain) and plain != "/dev/null":
        raise Refused(f"{text} is not a file of a project")
    if holds_secrets(text) or holds_secrets(plain):
        raise Refused(f"{text} is a place where credentials are kept; a background job does not read it")


def check_pattern(word: Word) -> None:
    """Raise Refused for wildcards that could bring hidden files, among which credentials are."""
    text = ""
    for piece in word.pieces:
        if piece.live and piece.text != "~" and _HIDDEN_WILDCARD.search(text):
            raise Refused("names that begin with a dot must be written out, without wildcards")
        text += piece.text
