"""How the command line speaks: data on stdout, talk on stderr, one versioned JSON object on request."""

from __future__ import annotations

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import click

from memdir.errors import MemdirError

VERSION = 1
"""Version of the JSON that `--json` prints. It grows by new keys; a changed meaning raises it."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


def emit_json(**fields: Any) -> None:
    """Print one versioned JSON object on stdout."""
    text = json.dumps({"version": VERSION, **fields}, ensure_ascii=not _is_utf8(), indent=2)
    click.echo(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _is_utf8() -> bool:
    """Whether standard output takes every letter as it is."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON may hold as it is, and a terminal or an editor may obey."""


def talk(text: str, *, end: str = "\n") -> None:
    """Say something to the person, on stderr. Whose words there are in it, nothing steers the terminal."""
    click.echo(visible(text) + end, err=True, nl=False)


def fail(error: MemdirError, *, as_json: bool) -> int:
    """Report an error and return the exit code. With `--json` the error is an object on stdout as well."""
    complain(error)
    if as_json:
        emit_json(error=error_as_json(error))
    return error.exit_code


def complain(error: MemdirError | str) -> None:
    """An error, and what to do about it, on stderr."""
    if isinstance(error, str):
        talk(line(error))
        return
    talk(line(f"error: {error}"))
    if error.hint:
        talk(line(f"hint: {error.hint}"))


def error_as_json(error: MemdirError) -> dict[str, str | None]:
    """An error, as `--json` prints it."""
    return {"kind": type(error).__name__, "message": str(error), "hint": error.hint}


_NARROWEST = 24
"""Columns that are left for the last column at least; with fewer it begins below the others."""


def columns(rows: Iterable[Sequence[str]], *, wrap: bool = False) -> str:
    """Rows as aligned columns; the last one runs free, but for the edge of a terminal: there it is cut, or
    with `wrap` goes on below its beginning.
    """
    table = [tuple(row) for row in rows]
    if not table:
        return ""
    widths = [max(cells(row[column]) for row in table) for column in range(len(table[0]) - 1)]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else None

    def line(row: Sequence[str]) -> str:
        padded = [cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=False)]
        whole = "  ".join([*padded, row[-1]]).rstrip()
        if edge is None or cells(whole) <= edge:
            return whole
        return _folded("  ".join(padded), row[-1], edge) if wrap else cut(whole, edge)

    return "\n".join(line(row) for row in table)


def _folded(before: str, text: str, edge: int) -> str:
    """A row whose last column goes on below its beginning. A word that is too long, such as a path, is left
    whole: so it can be copied.
    """
    indent = " " * (cells(before) + 2)
    below = edge - len(indent) < _NARROWEST
    if below:
        indent = " " * 4
    first, *more = text.split(" ")
    lines = [first]
    for word in more:
        if len(indent) + cells(lines[-1]) + 1 + cells(word) > edge:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    whole = f"\n{indent}".join(lines)
    return f"{before.rstrip()}\n{indent}{whole}" if below else f"{before}  {whole}"


def cells(text: str) -> int:
    """How many columns of a terminal the text takes: wide characters count as two, marks as none."""
    return sum(map(_cell, text))


def cut(text: str, width: int) -> str:
    """The text, cut to so many columns of a terminal."""
    if cells(text) <= width:
        return text
    kept, taken = [], 1  # the mark of the cut takes one
    for letter in text:
        taken += _cell(letter)
        if taken > width:
            break
        kept.append(letter)
    return "".join(kept).rstrip() + "…"


def visible(text: str) -> str:
    """The text without what could steer a terminal: control characters as their codes, but for line ends."""
    return "".join(
        letter if letter in "\n\t" or not _steers(letter) else f"\\x{ord(letter):02x}" for letter in text
    )


def line(text: str) -> str:
    """The text as one line, whose words there are in it: also line ends and tabs as their codes."""
    return "".join(f"\\x{ord(letter):02x}" if letter in "\n\t" else letter for letter in visible(text))


def _steers(letter: str) -> bool:
    return (
        unicodedata.category(letter) == "Cc"
        or letter in "\u061c\u200e\u200f"
        or "\u2028" <= letter <= "\u202e"
        or "\u2066" <= letter <= "\u2069"
    )


def _cell(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1
