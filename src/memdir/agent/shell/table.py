"""commands.toml -> what each command may be given.

The format is described at the head of that file. Every entry is data; what a KIND accepts is in `kinds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
    options may stand behind operands. `adds`: options put in when it is run. `why`: of options that are
    left out, what to do instead.
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
    why: Mapping[str, str] = field(default_factory=dict)


_EXAMPLES = ("try", "refuse")
_LISTS = ("flags", "values")


@cache
def entries() -> Mapping[str, Entry]:
    """All commands by name; a subcommand of git as `git log`."""
    return {name: _entry(name, table) for name, table in tables().items()}


def advice(name: str) -> str | None:
    """What a model is told that asks for a command that is not in the table, if it is often asked for."""
    sentence = _sentences(_document()["unlisted"]).get(name)
    return sentence and f"{name} is not available here: {sentence}"


@cache
def tables() -> Mapping[str, Mapping[str, Any]]:
    """The entries as they are written, by name, each with what it has from the ones that it is `like`."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, table in _flat(_document(), prefix=""):
        found[name] = _shared(name, table, found)
    return found


@cache
def _document() -> Mapping[str, Any]:
    import tomllib

    return tomllib.loads(files("memdir.agent.shell").joinpath("commands.toml").read_text(encoding="utf-8"))


def _flat(document: Mapping[str, Any], *, prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, table in document.items():
        if not isinstance(table, Mapping):
            continue
        whole = f"{prefix}{name}"
        inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
        yield whole, {key: value for key, value in table.items() if key not in inner}
        yield from _flat(inner, prefix=f"{whole} ")


def _shared(name: str, table: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The table, on top of those that it is `like`: lists of options grow, what else it says is replaced.

    `without` takes options out of the lists again.
    """
    whole: dict[str, Any] = {}
    others = [one.strip() for one in table.get("like", "").split(",") if one.strip()]
    for other in others:
        if other not in known:
            raise ValueError(f"commands.toml: {name} is like {other}, which must stand before it")
    for part in (*(known[other] for other in others), table):
        for key, value in part.items():
            if key in _LISTS and key in whole:
                whole[key] = f"{whole[key]} {value}"
            elif key not in ("like", "without") and (part is table or key not in _EXAMPLES):
                whole[key] = value
    without = set(table.get("without", "").split())
    for key in _LISTS if without else ():
        kept = (one for one in whole.get(key, "").split() if one.partition("=")[0].rstrip("?") not in without)
        whole[key] = " ".join(kept)
    return whole


def _entry(name: str, table: Mapping[str, Any]) -> Entry:
    given = {key: value for key, value in table.items() if key not in _EXAMPLES}
    entry = Entry(
        name=name,
        flags=frozenset(given.pop("flags", "").split()),
        values=dict(map(_value, given.pop("values", "").split())),
        operands=tuple(map(_operand, given.pop("operands").split())),
        needs=frozenset(given.pop("needs", "").replace("|", " ").split()),
        unless=frozenset(given.pop("unless", "").split()),
        instead=frozenset(given.pop("instead", "").split()),
        adds=tuple(given.pop("adds", "").split()),
        why=_sentences(given.pop("why", ())),
        **{key: given.pop(key) for key in _SWITCHES if key in given},
    )
    if given:
        raise ValueError(f"commands.toml: {name} has unknown keys: {', '.join(given)}")
    return entry


_SWITCHES = ("stdin", "globs", "number", "option_end", "options_after")


def _value(text: str) -> tuple[str, Value]:
    name, _, kinds = text.partition("=")
    return name.removesuffix("?"), Value(tuple(kinds.split(",")), optional=name.endswith("?"))


def _sentences(lines: Iterable[str]) -> dict[str, str]:
    """`-f --follow: a sentence` -> the sentence, for each of the names."""
    parted = (line.partition(": ") for line in lines)
    return {name: sentence for names, _, sentence in parted for name in names.split()}


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
