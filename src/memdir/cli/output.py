"""How the command line speaks: data on stdout, talk on stderr, one versioned JSON object on request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click

from memdir.errors import MemdirError
from memdir.extract.saved import Change

VERSION = 1
"""Version of the JSON that `--json` prints. It grows by new keys; a changed meaning raises it."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


def emit_json(**fields: Any) -> None:
    """Print one versioned JSON object on stdout."""
    click.echo(json.dumps({"version": VERSION, **fields}, ensure_ascii=False, indent=2))


def talk(text: str) -> None:
    """Say something to the person, on stderr."""
    click.echo(text, err=True)


def fail(error: MemdirError, *, as_json: bool) -> int:
    """Report an error and return the exit code. With `--json` the error is an object on stdout as well."""
    if as_json:
        emit_json(error={"kind": type(error).__name__, "message": str(error), "hint": error.hint})
    complain(error)
    return error.exit_code


def complain(error: BaseException) -> None:
    """An error, and what to do about it, on stderr."""
    talk(f"error: {error}")
    if isinstance(error, MemdirError) and error.hint:
        talk(f"hint: {error.hint}")


def change_as_json(change: Change) -> dict[str, str | None]:
    """A memory file that was written, as `--json` prints it."""
    return {"path": change.file, "action": change.action, "type": change.type}


def columns(rows: Iterable[Sequence[str]]) -> str:
    """Rows as aligned columns; the last one runs free. Wide characters count as two."""
    from rich.cells import cell_len

    table = [tuple(row) for row in rows]
    if not table:
        return ""
    widths = [max(cell_len(row[column]) for row in table) for column in range(len(table[0]) - 1)]

    def line(row: Sequence[str]) -> str:
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=False)]
        return "  ".join([*cells, row[-1]]).rstrip()

    return "\n".join(line(row) for row in table)
