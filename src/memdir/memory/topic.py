"""A topic file: text <-> `Topic`. Reading gives a value and problems, never an exception (F1-F3).

Writing is strict for a new file (`render`) and timid for an existing one: `edit`, `stamp` and `replace_body`
work on bytes, change the lines they must and leave every other byte, whatever its encoding or line end.

Two shapes are known, and each file keeps its own. Flat: `name`, `description`, `type`, `modified` and an
`origin` mapping side by side. Nested: `name` and `description`, the rest below `metadata:`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Literal, get_args

from memdir.errors import UsageError
from memdir.memory import frontmatter
from memdir.memory.frontmatter import Entry, Header, Problem, one_line, scalar, without_halves

Kind = Literal["user", "feedback", "project", "reference"]
TYPES: tuple[str, ...] = get_args(Kind)
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
KEYS = ("name", "description", "type", "modified", "origin.session", "origin.message", "origin.worker")

# Where a key stands: in the flat shape, and in the nested one.
_FLAT = {key: tuple(key.split(".")) for key in KEYS}
_NESTED = {
    "name": ("name",),
    "description": ("description",),
    "type": ("metadata", "type"),
    "modified": ("metadata", "modified"),
    "origin.session": ("metadata", "originSessionId"),
    "origin.message": ("metadata", "originMessageId"),
    "origin.worker": ("metadata", "originWorker"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a memory came from (E11): the session, the message in it, and who wrote it down."""

    session: str | None = None
    message: str | None = None
    worker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What a topic file says. `fallback`: it has no header; the name is the file's, all of the text is body.

    `body` is exact but for one blank line behind the header, which separates them.
    """

    name: str
    description: str | None
    type: Kind | None
    body: str
    fallback: bool
    problems: tuple[Problem, ...] = ()
    modified: str | None = None
    origin: Origin | None = None


def parse(text: str | bytes, *, filename: str, cut: bool = False) -> Topic:
    """Read a topic file; always an answer (F2). `filename` gives the name where the file gives none.

    `cut`: the text is only the first lines of a file, so a header may still be open at its end (M2).
    """
    problems: list[Problem] = []
    if isinstance(text, bytes):
        text = _decode(text, problems)
    text = without_halves(text)
    stem = PurePosixPath(filename.replace("\\", "/")).stem
    header = frontmatter.read(text, cut=cut)
    if header is None:
        problems.extend(filter(None, [frontmatter.unread(text)]))
        return Topic(
            name=stem,
            description=None,
            type=None,
            body=text.lstrip("\ufeff"),
            fallback=True,
            problems=tuple(problems),
        )
    return _topic(header, stem, problems)


def _decode(data: bytes, problems: list[Problem]) -> str:
    if data.startswith(UTF_16):
        problems.append(Problem(message="this file is in UTF-16; save it as UTF-8", line=1))
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(Problem(message="some bytes are not UTF-8; they are shown as \ufffd", line=line))
        return data.decode("utf-8", "replace")


def _topic(header: Header, stem: str, problems: list[Problem]) -> Topic:
    name, description = _get(header, "name"), _get(header, "description")
    written = _get(header, "type")
    kind: Kind | None = next((kind for kind in get_args(Kind) if kind == (written or "").lower()), None)
    if written and kind is None:
        entry = _find(header, "type")
        sentence = f"the type is none of {', '.join(TYPES)}, so it counts as no type"
        problems.append(Problem(message=sentence, line=entry.start + 2 if entry else 1))
    origin = Origin(
        session=_get(header, "origin.session"),
        message=_get(header, "origin.message"),
        worker=_get(header, "origin.worker"),
    )
    return Topic(
        name=name if name and name.strip() else stem,
        description=description if description and description.strip() else None,
        type=kind,
        body=re.sub(r"\A(?:\r\n|\n|\r)", "", header.body),
        fallback=False,
        problems=tuple(sorted((*problems, *header.problems), key=lambda problem: problem.line)),
        modified=_get(header, "modified"),
        origin=origin if origin != Origin() else None,
    )


def _find(header: Header, key: str) -> Entry | None:
    """The entry that counts for a key: the flat one if it says something, else the nested one."""
    flat = header.entry(*_FLAT[key])
    nested = header.entry(*(part.lower() for part in _NESTED[key]))
    return flat if flat and flat.value else nested or flat


def _get(header: Header, key: str) -> str | None:
    entry = _find(header, key)
    return entry.value if entry else None


def render(*, name: str, description: str | None, type: str | None, body: str) -> str:  # noqa: A002 (the key's own name)
    """A new file (F3): YAML that any parser reads back equal, LF, one final newline at least."""
    if type is not None and type not in TYPES:
        raise UsageError(f"no such type of memory; it is one of {', '.join(TYPES)}")
    values = {"name": name, "description": description, "type": type}
    lines = [f"{key}: {scalar(value)}\n" for key, value in values.items() if value is not None]
    body = re.sub(r"\r\n|\r", "\n", without_halves(body))
    if body:
        body = "\n" + body + ("" if body.endswith("\n") else "\n")
    return f"---\n{''.join(lines)}---\n{body}"


def edit(data: bytes, changes: Mapping[str, str | None]) -> bytes:
    """Set (or with None, take out) some of `KEYS`; only the lines of those keys change (F1).

    A file without a header gets one. Raises UsageError for a key or type that does not exist, and for a
    file in UTF-16, which has to be saved as UTF-8 first.
    """
    for key, value in changes.items():
        if key not in KEYS:
            raise UsageError(f"no such key: {key!r}; there are {', '.join(KEYS)}")
        if key == "type" and value is not None and value not in TYPES:
            raise UsageError(f"no such type of memory; it is one of {', '.join(TYPES)}")
    if data.startswith(UTF_16):
        raise UsageError("this file is in UTF-16", hint="save it as UTF-8 first")
    text = data.decode("utf-8", "surrogateescape")
    for key, value in sorted(changes.items(), key=lambda change: change[1] is None):
        text = _set(text, key, one_line(value)) if value is not None else _take_out(text, key)
    return text.encode("utf-8", "surrogateescape")


def stamp(data: bytes, *, now: datetime, origin: Origin | None) -> bytes:
    """Write down when, and from where, a file was changed; without a header of ours it stays (F1)."""
    header = frontmatter.read(data.decode("utf-8", "surrogateescape"))
    if header is None or not any(entry.key in frontmatter.TOP_KEYS for entry in header.entries):
        return data
    changes: dict[str, str | None] = {"modified": instant(now)}
    held = header.entry("origin")
    if origin is not None and not (held and held.value and not held.children):  # not ours: leave it
        parts = {
            "origin.session": origin.session,
            "origin.message": origin.message,
            "origin.worker": origin.worker,
        }
        changes |= {key: part for key, part in parts.items() if part is not None}
    return edit(data, changes)


def replace_body(data: bytes, body: str) -> bytes:
    """The same file with another body; the header stays byte for byte, and so does its way to end a line."""
    text = data.decode("utf-8", "surrogateescape")
    header = frontmatter.read(text)
    eol = header.eol if header else _eol(text)
    if parse(data, filename="x").body == body:
        return data
    fresh = without_halves(body)
    if eol == "\r\n":
        fresh = re.sub(r"(?<!\r)\n", "\r\n", fresh)
    if fresh and not fresh.endswith(("\n", "\r")):
        fresh += eol
    if header is None:
        head = "\ufeff" if text.startswith("\ufeff") else ""
    else:
        gap = re.match(r"\r\n|\n|\r|", header.body)
        closing = header.closing if header.closing[-1:] in "\r\n" else header.closing + eol
        head = "".join((header.opening, *header.lines, closing, (gap[0] if gap else "") or eol))
    return (head + fresh).encode("utf-8", "surrogateescape")


def instant(moment: datetime) -> str:
    """A moment as memory files write it: ISO 8601, UTC, milliseconds. Naive datetimes are refused."""
    if moment.tzinfo is None:
        raise UsageError("a moment without a time zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _set(text: str, key: str, value: str) -> str:
    header = frontmatter.read(text) or _with_empty_header(text)
    entry = _find(header, key)
    if entry is not None:
        if entry.value == value:
            return text
        last = header.lines[entry.stop - 1]
        eol = last[len(last.rstrip("\r\n")) :]
        line = f"{entry.lead} {scalar(value)}{entry.comment}{eol}"
        return header.with_lines(entry.start, entry.stop, [line])
    return _add(header, key, value)


def _add(header: Header, key: str, value: str) -> str:
    """A key that is not there yet: beside its like in the file's own shape, else at the header's end."""
    metadata = header.entry("metadata")
    origin = header.entry("origin") if key.startswith("origin.") else None
    nested = metadata is not None and metadata.children and origin is None
    *outer, word = _NESTED[key] if nested else _FLAT[key]
    margin = _margin(header.entries[0]) if header.entries else ""
    line = f"{word}: {scalar(value)}{header.eol}"
    parent = header.entry(*outer)
    if parent and parent.children:
        return header.with_lines(parent.stop, parent.stop, [_margin(parent.children[0]) + line])
    end = len(header.lines)
    if not outer:
        return header.with_lines(end, end, [margin + line])
    if parent is None:
        return header.with_lines(end, end, [f"{margin}{outer[0]}:{header.eol}", f"{margin}  {line}"])
    if header.lines[parent.start].rstrip() == parent.lead.rstrip() and parent.value is None:
        return header.with_lines(parent.start + 1, parent.start + 1, [f"{_margin(parent)}  {line}"])
    raise UsageError("`origin` holds something else in this file", hint="rename that key first")


def _take_out(text: str, key: str) -> str:
    """Take out a key wherever it stands, until nothing is left that would count for it."""
    while (header := frontmatter.read(text)) and (entry := _find(header, key)):
        outer = next((one for one in header.entries if one.children == (entry,)), None)
        gone = outer if outer and outer.key == "origin" else entry
        if header.entries == (gone,):
            # The only key stays, empty: a header without keys would turn into text.
            return header.with_lines(gone.start, gone.stop, [gone.lead + header.eol])
        text = header.with_lines(gone.start, gone.stop, [])
    return text


def _with_empty_header(text: str) -> Header:
    bom, rest = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    eol = _eol(text)
    return Header(
        opening=f"{bom}---{eol}",
        lines=(),
        closing=f"---{eol}",
        body=f"{eol}{rest}" if rest else "",
        entries=(),
        problems=(),
    )


def _eol(text: str) -> str:
    found = re.search(r"\r\n|\n|\r", text)
    return found[0] if found else "\n"


def _margin(entry: Entry) -> str:
    return entry.lead[: len(entry.lead) - len(entry.lead.lstrip(" \t"))]
