"""What recall must go on bringing, whatever becomes of the memories: `probes.yaml`, the person's own (D8).

    - ask: which package manager do we use?
      must: tools.md              # or a list
      must_not: [old_tools.md]

The file stands in the memory directory. It is read strictly, unlike a memory: a probe that is misread guards
nothing, and nobody would notice. A mistake is told with its line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memdir import fs
from memdir.errors import MemdirError, UsageError
from memdir.names import is_topic

NAME = "probes.yaml"
"""Its name, in the memory directory."""

LONGEST = 64 * 1024
"""Bytes of the file, at most."""

AT_ONCE = 5
"""Memories that recall brings for a prompt, at most (R5)."""

MOST = 500
"""Probes, at most: each is asked twice in every dream."""

EXAMPLE = """\
- ask: which package manager do we use?
  must: tools.md
  must_not: [old_tools.md]
"""


class BadProbes(UsageError):
    """The file of probes can't be read as it stands. The message names the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A prompt, the memories that recall must bring for it, and those that it must not."""

    ask: str
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What recall brought for a probe, best first."""

    probe: Probe
    brought: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """What it should have brought."""
        return tuple(file for file in self.probe.must if file not in self.brought)

    @property
    def unwanted(self) -> tuple[str, ...]:
        """What it should not have."""
        return tuple(file for file in self.probe.must_not if file in self.brought)

    @property
    def ok(self) -> bool:
        """Whether it brought what it should."""
        return not self.missing and not self.unwanted

    @property
    def sentence(self) -> str:
        """What is wrong, in one sentence for the person; how well it is, if nothing is."""
        return f"asked {_quoted(self.probe.ask)}, recall {_and(self._faults()) or 'brings what it must'}"

    def _faults(self) -> list[str]:
        faults = []
        if self.missing:
            faults.append(f"does not bring {_and(self.missing)}")
        if self.unwanted:
            faults.append(f"brings {_and(self.unwanted)}, which it must not")
        return faults


def run(probes: Sequence[Probe], ask: Callable[[str], Sequence[str]]) -> tuple[Result, ...]:
    """Ask all probes. `ask`: a prompt -> the files that recall would bring, best first."""
    return tuple(Result(probe=probe, brought=tuple(ask(probe.ask))) for probe in probes)


def newly_broken(before: Sequence[Result], after: Sequence[Result]) -> tuple[Result, ...]:
    """Of what was found after a change, the results with a fault that was not there before it.

    The same probes were run; a fault that was there already is no fault of the change.
    """
    known = {result.probe: result for result in before}
    return tuple(result for result in after if _is_worse(result, known.get(result.probe)))


def _is_worse(result: Result, before: Result | None) -> bool:
    if before is None:
        return not result.ok
    return bool(
        set(result.missing).difference(before.missing) or set(result.unwanted).difference(before.unwanted)
    )


def load(directory: Path) -> tuple[Probe, ...]:
    """The probes of a memory directory; none where there is no file.

    Raises:
        BadProbes: see `parse`.
        UnsafePath: a link, or no regular file. OSError: it may not be read.
    """
    root = Path(os.path.realpath(directory))
    try:
        data = fs.read_file(root / NAME, limit=LONGEST + 1, within=root)
    except FileNotFoundError:
        return ()
    return parse(data)


def absent(probes: Sequence[Probe], there: Collection[str]) -> tuple[str, ...]:
    """The files that probes name and that are not among the memories: forgotten, renamed, or misspelt."""
    files = {file for probe in probes for file in (*probe.must, *probe.must_not)}
    return tuple(sorted(files.difference(there)))


def named(directory: Path) -> tuple[str, ...]:
    """The files that probes name as what recall must bring, by name. None where the probes can't be read:
    whoever runs them is told.
    """
    try:
        probes = load(directory)
    except (OSError, MemdirError):
        return ()
    return tuple(sorted({file for probe in probes for file in probe.must}))


def parse(data: bytes) -> tuple[Probe, ...]:
    """The probes in a file.

    Raises:
        BadProbes: it is too long, no YAML, uses anchors or tags, or holds anything but probes.
    """
    text = _text(data)
    _refuse_what_we_do_not_read(text)
    items = _document(text)
    if len(items) > MOST:
        raise BadProbes(f"{NAME} holds {len(items):,} probes, and at most {MOST} are asked")
    return tuple(map(_probe, items, _places(text, len(items))))


# -- the shape of a probe ------------------------------------------------------------------------------------

_KEYS = ("ask", "must", "must_not")


def _probe(item: object, place: _Place) -> Probe:
    if not isinstance(item, dict):
        raise place.bad("a probe begins with `ask:`")
    for key in item:
        if key not in _KEYS:
            raise place.bad(f"{_shown(key)} is no part of a probe, which has {_and(_KEYS)}", key)
    if place.twice:
        key = place.twice
        raise place.bad(f"{_shown(key)} stands there twice: each probe begins with `- `", key)
    ask = item.get("ask")
    if not isinstance(ask, str) or not ask.strip():
        raise place.bad("`ask` is the prompt: text, in quotes if it does not look like one", "ask")
    must, must_not = (_files(item.get(key), place, key) for key in _KEYS[1:])
    if not must and not must_not:
        raise place.bad("there is neither `must` nor `must_not`, so nothing is probed")
    if both := set(must).intersection(must_not):
        raise place.bad(f"{_and(sorted(both))} can't be both brought and not brought", "must_not")
    if len(must) > AT_ONCE:
        raise place.bad(f"recall brings {AT_ONCE} memories at most, and `must` names {len(must)}", "must")
    return Probe(ask=" ".join(ask.split()), must=must, must_not=must_not)


def _files(value: object, place: _Place, key: str) -> tuple[str, ...]:
    if value is None:
        return ()
    files = value if isinstance(value, list) else [value]
    for file in files:
        if (
            not isinstance(file, str)
            or "" in file.split("/")
            or not is_topic(file)
            or _IN_NO_NAME.search(file)
        ):
            raise place.bad(
                f"{_shown(file)} in `{key}` names no memory: that is a path in the memory directory, "
                "such as tools.md",
                key,
            )
    return tuple(dict.fromkeys(files))


# -- what the file is made of --------------------------------------------------------------------------------

_ENDS = re.compile(r"\r\n?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_IN_NO_NAME = re.compile(r"[\x00-\x1f]")
_ANCHOR = re.compile(r"(?:^|[\s\[{,:])&[^\s&]", re.MULTILINE)
_NESTED = re.compile(r"^[ \t]*(?:[-?:](?:[ \t]+|$)){3}", re.MULTILINE)
_WHERE = re.compile(r"\s*at byte \d+ line (\d+) column \d+\s*\Z")
_SEPARATOR = re.compile(r"^(?:---|\.\.\.)(?=\s|$)", re.MULTILINE)
_FIRST = re.compile(r"^(?!---)[ \t]*[^\s#%]", re.MULTILINE)
_PLAINLY = {
    "unknown anchor": "`*` refers to an anchor, which is not read here; put the text in quotes",
    "mapping values are not allowed": "there is a `: ` within a text, which has to be in quotes then; or the "
    "line, or the one above, is indented otherwise than its like",
}
"""What the library says, and what it mostly means."""
_ITEM = re.compile(r"( *)-(?: +|$)")
_KEY = re.compile(r"""["']?([^\s"'#:][^:]*?)["']?\s*:(?:\s|$)""")


def _text(data: bytes) -> str:
    if len(data) > LONGEST:
        raise BadProbes(f"{NAME} is longer than {LONGEST // 1024} KiB, and is not read")
    try:
        text = _ENDS.sub("\n", data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise _bad(number, "this is not UTF-8") from None
    if (found := _CONTROL.search(text)) is not None:
        raise _bad(_line_of(text, found.start()), "there is a control character")
    return text


def _refuse_what_we_do_not_read(text: str) -> None:
    """Anchors, which can make a small file a huge value, and nesting, which the library does not bound."""
    if (found := _ANCHOR.search(text)) is not None:
        number = _line_of(text, found.end() - 2)
        raise _bad(
            number, "`&` begins an anchor, which is not read here; as a letter it has a blank behind it"
        )
    if (found := _NESTED.search(text)) is not None:
        raise _bad(_line_of(text, found.start()), "lists within lists are not read here")


def _document(text: str) -> list[Any]:
    """The items of the one list that it is."""
    import yaml12

    try:
        documents = yaml12.parse_yaml(text, multi=True)
    except ValueError as error:
        told = str(error).removeprefix("YAML parse error: ")
        where = _WHERE.search(told)
        what = told[: where.start()] if where else told
        for said, plainly in _PLAINLY.items():
            what = plainly if said in what else what
        raise _bad(int(where[1]) if where else None, what) from None
    found: list[object] = [document for document in documents if document is not None]
    if len(found) > 1:
        number: int | None = max(_line_of(text, mark.start()) for mark in _SEPARATOR.finditer(text))
        raise _bad(number, "there are several documents: leave out the lines `---` and `...`")
    items = found[0] if found else []
    if not isinstance(items, list):
        first = _FIRST.search(text)
        number = _line_of(text, first.start()) if first else None
        raise _bad(number, "this is no list: each probe begins with `- ask:`")
    return items


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where an item stands: its number, from 1, and its line and those of its keys, where they are known."""

    number: int
    line: int | None = None
    keys: Mapping[str, int] = field(default_factory=dict)
    twice: str | None = None

    def bad(self, what: str, key: object = None) -> BadProbes:
        number = self.keys.get(key, self.line) if isinstance(key, str) else self.line
        return _bad(number, what if number is not None else f"probe {self.number}: {what}")


def _places(text: str, count: int) -> list[_Place]:
    """Where the items of the list stand. The library does not tell, so it is found by looks: a line that is
    indented as the first item, and begins with a dash, is the next one. If that comes to another count, no
    lines are told.
    """
    lines = text.split("\n")
    dashes = [(at, found[1]) for at, line in enumerate(lines) if (found := _ITEM.match(line))]
    starts = [at for at, indent in dashes if indent == dashes[0][1]]
    if not starts or len(starts) != count:
        return [_Place(number=number) for number in range(1, count + 1)]
    ends = [*starts[1:], len(lines)]
    return [
        _place(lines, begin, end, number)
        for number, (begin, end) in enumerate(zip(starts, ends, strict=True), 1)
    ]


def _place(lines: Sequence[str], begin: int, end: int, number: int) -> _Place:
    """An item: of its lines, those that are indented as the first of its keys have the others."""
    keys: dict[str, int] = {}
    column, twice = None, None
    for at in range(begin, end):
        line = lines[at].replace("-", " ", 1) if at == begin else lines[at]
        rest = line.lstrip(" ")
        if not rest or rest.startswith("#"):
            continue
        indent = len(line) - len(rest)
        column = indent if column is None else column
        if indent == column and (found := _KEY.match(rest)):
            twice = found[1] if found[1] in keys else twice
            keys[found[1]] = at + 1
    return _Place(number=number, line=begin + 1, keys=keys, twice=twice)


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _bad(number: int | None, what: str) -> BadProbes:
    where = f"{NAME}, line {number}" if number is not None else NAME
    return BadProbes(f"{where}: {what}", hint="`memdir probe --help` shows how a probe is written")


# -- in words ------------------------------------------------------------------------------------------------

_QUOTED = 60  # characters


def _quoted(text: str) -> str:
    return f'"{text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"}"'


def _shown(value: object) -> str:
    """A part of the file, as it may stand in a sentence."""
    return _quoted(value) if isinstance(value, str) else type(value).__name__


def _and(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
