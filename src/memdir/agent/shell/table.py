"""commands.toml -> what each command may be given.

The format is described at the head of that file. Every entry is data; what a KIND accepts is in `kinds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Value:
    """What an option is given: one kind a word. `optional`: at most one, attached (`--color=auto`)."""

    kinds: tuple[str, ...]
    optional: bool


@dataclass(frozen=True, slots=True)
class Operand:
    """What stands behind the options. `most` None: any number."""

    kind: str
    least: int
    most: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One command (of git: one subcommand) and the only words that it may be given.

    `stdin`: without a file it reads its standard input, unless one of `unless` is given. `globs`: a file
    name that looks like an option does no harm. `number`: it takes `-5`. `needs`: one of these must be given.
    `instead`: with one of these the first operand is not what it is otherwise (the pattern of grep).
    `option_end`: it knows `--`; one that doesn't takes what is no option of it as text. `options_after`:
    options may stand behind operands. `adds`: options put in when it is run.
    """

    name: str
    flags: frozenset[str]
    values: Mapping[str, Value]
    operands: tuple[Operand, ...]
    stdin: bool = False
    unless: frozenset[str] = frozenset()
    globs: bool = False
    number: bool = False
    needs: frozenset[str] = frozenset()
    instead: frozenset[str] = frozenset()
    option_end: bool = True
    options_after: bool = True
    adds: tuple[str, ...] = ()


_EXAMPLES = {"try", "refuse"}


@cache
def entries() -> Mapping[str, Entry]:
    """All commands by name; a subcommand of git as `git log`."""
    import tomllib

    text = files("memdir.agent.shell").joinpath("commands.toml").read_text(encoding="utf-8")
    return dict(_read(tomllib.loads(text), prefix=""))


def _read(tables: Mapping[str, Any], *, prefix: str) -> list[tuple[str, Entry]]:
    found: list[tuple[str, Entry]] = []
    for name, table in tables.items():
        whole = f"{prefix}{name}"
        inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
        own = {key: value for key, value in table.items() if key not in inner and key not in _EXAMPLES}
        found.append((whole, _entry(whole, own)))
        found.extend(_read(inner, prefix=f"{whole} "))
    return found


def _entry(name: str, table: Mapping[str, Any]) -> Entry:
    given = dict(table)
    entry = Entry(
        name=name,
        flags=frozenset(given.pop("flags", "").split()),
        values=dict(map(_value, given.pop("values", "").split())),
        operands=tuple(map(_operand, given.pop("operands").split())),
        needs=frozenset(given.pop("needs", "").replace("|", " ").split()),
        unless=frozenset(given.pop("unless", "").split()),
        instead=frozenset(given.pop("instead", "").split()),
        adds=tuple(given.pop("adds", "").split()),
        **{key: given.pop(key) for key in _SWITCHES if key in given},
    )
    if given:
        raise ValueError(f"commands.toml: {name} has unknown keys: {', '.join(given)}")
    return entry


_SWITCHES = ("stdin", "globs", "number", "option_end", "options_after")


def _value(text: str) -> tuple[str, Value]:
    name, _, kinds = text.partition("=")
    return name.removesuffix("?"), Value(tuple(kinds.split(",")), optional=name.endswith("?"))


def _operand(text: str) -> Operand:
    match text[-1]:
        case "*":
            return Operand(text[:-1], 0, None)
        case "+":
            return Operand(text[:-1], 1, None)
        case "?":
            return Operand(text[:-1], 0, 1)
        case _:
            return Operand(text, 1, 1)
