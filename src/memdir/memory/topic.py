"""A topic file: text <-> `Topic`. Reading gives a value and problems, never an exception (F1-F3).

Writing is strict for a new file (`render`) and timid for an existing one: `edit`, `stamp` and `replace_body`
work on bytes, change the lines they must and leave every other byte, whatever its encoding or line end.

Two shapes are known, and each file keeps its own. Flat: `name`, `description`, `type`, `modified` and an
`origin` mapping side by side. Nested: `name` and `description`, the rest below `metadata:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Literal, get_args

from memdir.errors import UsageError
from memdir.memory import encoding, frontmatter
from memdir.memory.frontmatter import Entry, Header, Problem, line_end, one_line, scalar, without_halves

Kind = Literal["user", "feedback", "project", "reference"]
TYPES: tuple[str, ...] = get_args(Kind)
KEYS = ("name", "description", "type", "modified", "origin.session", "origin.message", "origin.worker")

_TANGLES = 8
"""How often taking out a key may bring another one to light, which was part of the text above it."""

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
        problems.extend(filter(None, [_not_utf_8(text)]))
        text = encoding.readable(text)
    text = without_halves(text)
    stem = PurePosixPath(filename.replace("\\", "/")).stem
    header = frontmatter.read(text, cut=cut)
    if header is None:
        problems.extend(filter(None, [frontmatter.unread(text)]))
        return Topic(
            name=stem,
            description=None,
            type=None,
            body=_body(None, text),
            fallback=True,
            problems=tuple(problems),
        )
    return _topic(header, stem, problems)


def _not_utf_8(data: bytes) -> Problem | None:
    kind = encoding.encoding(data)
    if kind != "utf-8":
        return Problem(message=f"this file is in {kind[:6].upper()}; save it as UTF-8", line=1)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Problem(message="some bytes are not UTF-8; they are shown as \ufffd", line=line)
    return None


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
        body=_body(header, ""),
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
    file that can't be changed without harm to something else in it.
    """
    for key, value in changes.items():
        if key not in KEYS:
            raise UsageError(f"no such key: {key!r}; there are {', '.join(KEYS)}")
        if key == "type" and value is not None and value not in TYPES:
            raise UsageError(f"no such type of memory; it is one of {', '.join(TYPES)}")
    text = encoding.decode(data)
    header = frontmatter.read(text)
    said, body = _values(header), _body(header, text).lstrip(encoding.MARK)
    for key, value in sorted(changes.items(), key=lambda change: change[1] is None):
        if value is not None:
            text = _set(header or _with_empty_header(text), key, one_line(value))
        elif header:
            text = _taken_out(header, key)
        header = frontmatter.read(text)
    wanted = said | {key: one_line(value or "") or None for key, value in changes.items()}
    if _values(header) != wanted or _body(header, text).lstrip(encoding.MARK) != body:
        raise UsageError("the header of this file is too tangled to be changed", hint="mend it by hand first")
    return encoding.encode(text, like=data)


def stamp(data: bytes, *, now: datetime, origin: Origin | None) -> bytes:
    """Write down when, and from where, a file was changed; never refused (F1).

    What has no header of ours stays as it is, and so does an `origin` that somebody else uses.
    """
    header = frontmatter.read(encoding.readable(data))
    if header is None or not any(entry.key in frontmatter.TOP_KEYS for entry in header.entries):
        return data
    changes: list[dict[str, str | None]] = [{"modified": instant(now)}]
    if origin is not None and not _is_foreign(header.entry("origin")):
        parts = {
            "origin.session": origin.session,
            "origin.message": origin.message,
            "origin.worker": origin.worker,
        }
        changes.append({key: part for key, part in parts.items() if part is not None})
    for change in changes:
        with suppress(UsageError):
            data = edit(data, change)
    return data


def _is_foreign(entry: Entry | None) -> bool:
    """Whether an `origin` holds something, and that is not ours."""
    if entry is None or (entry.value is None and not entry.children):
        return False
    return not any(f"origin.{child.key}" in KEYS for child in entry.children)


def replace_body(data: bytes, body: str) -> bytes:
    """The same file with another body; the header stays byte for byte, and so does its way to end a line."""
    text = encoding.decode(data)
    header = frontmatter.read(text)
    eol = header.eol if header else line_end(text)
    if parse(data, filename="x").body == body:
        return data
    fresh = without_halves(body)
    if eol == "\r\n":
        fresh = re.sub(r"(?<!\r)\n", "\r\n", fresh)
    if fresh and not fresh.endswith(("\n", "\r")):
        fresh += eol
    if header is None:
        head = encoding.MARK if text.startswith(encoding.MARK) else ""
    else:
        gap = re.match(r"\r\n|\n|\r|", header.body)
        closing = header.closing if header.closing[-1:] in "\r\n" else header.closing + eol
        head = "".join((header.opening, *header.lines, closing, (gap[0] if gap else "") or eol))
    return encoding.encode(head + fresh, like=data)


def instant(moment: datetime) -> str:
    """A moment as memory files write it: ISO 8601, UTC, milliseconds. Naive datetimes are refused."""
    if moment.tzinfo is None:
        raise UsageError("a moment without a time zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _values(header: Header | None) -> dict[str, str | None]:
    """What a header says for each of our keys."""
    return {key: _get(header, key) if header else None for key in KEYS}


def _body(header: Header | None, text: str) -> str:
    """What is no header, but for the blank line between the two."""
    return re.sub(r"\A(?:\r\n|\n|\r)", "", header.body) if header else text.lstrip(encoding.MARK)


def _set(header: Header, key: str, value: str) -> str:
    entry = _find(header, key)
    if entry is None:
        return _add(header, key, value)
    if entry.value == value:
        return header.text
    # Behind a plain name or description ` #` would be part of it.
    quoted = bool(entry.comment) and key in frontmatter.PROSE
    line = f"{entry.lead} {scalar(value, quoted=quoted)}{entry.comment}{_end(header, entry)}"
    return header.with_lines(entry.start, entry.stop, [line])


def _add(header: Header, key: str, value: str) -> str:
    """A key that is not there yet: beside its like in the file's own shape, else at the header's end."""
    metadata = header.entry("metadata")
    origin = header.entry("origin") if key.startswith("origin.") else None
    nested = metadata is not None and metadata.children and origin is None
    *outer, word = _NESTED[key] if nested else _FLAT[key]
    margin = min(map(_margin, header.entries), key=len, default="")
    line = f"{word}: {scalar(value)}{header.eol}"
    parent = header.entry(*outer)
    if parent and parent.children:
        return header.with_lines(parent.stop, parent.stop, [_margin(parent.children[0]) + line])
    end = len(header.lines)
    if not outer:
        return header.with_lines(end, end, [margin + line])
    if parent is None:
        return header.with_lines(end, end, [f"{margin}{outer[0]}:{header.eol}", f"{margin}  {line}"])
    if parent.value is not None:
        raise UsageError("`origin` holds something else in this file", hint="rename that key first")
    # Nothing, or some way to write nothing: `~`, `""`, an empty block. A mapping takes its place.
    bare = header.lines[parent.start].rstrip() == parent.lead.rstrip()
    first = header.lines[parent.start] if bare else f"{parent.lead}{parent.comment}{_end(header, parent)}"
    below = header.lines[parent.start + 1 : parent.stop] if bare else ()
    return header.with_lines(parent.start, parent.stop, [first, f"{_margin(parent)}  {line}", *below])


def _taken_out(header: Header, key: str) -> str:
    """The text without a key, wherever it stands, and without an `origin` that has nothing left."""
    text = header.text
    for _ in range(_TANGLES):
        gone = tuple(_standing(header, key))
        if not gone:
            break
        if header.entries == gone:
            return _emptied(header, gone[0])
        lost = {number for entry in gone for number in range(entry.start, entry.stop)}
        kept = [line for number, line in enumerate(header.lines) if number not in lost]
        text = header.with_lines(0, len(header.lines), kept)
        left = frontmatter.read(text)
        if left is None:
            break
        header = left
    return text


def _standing(header: Header, key: str) -> Iterator[Entry]:
    """All entries of the header that say something for a key, also those that count for nothing."""
    flat, nested = _FLAT[key], tuple(part.lower() for part in _NESTED[key])
    for top in header.entries:
        if (top.key,) == flat:
            yield top
        inner = tuple(entry for entry in top.children if (top.key, entry.key) in {flat, nested})
        yield from (top,) if inner and top.key == "origin" and top.children == inner else inner


def _emptied(header: Header, entry: Entry) -> str:
    """The header with that one key left, empty: without any key it would turn into text."""
    lost = {number for one in header.entries for number in range(one.start, one.stop)}
    for nothing in ("", ' ""'):  # the second where a list follows, which would be its value
        line = f"{entry.lead}{nothing}{_end(header, entry)}"
        left = [
            (line if number == entry.start else old)
            for number, old in enumerate(header.lines)
            if number == entry.start or number not in lost
        ]
        text = header.with_lines(0, len(header.lines), left)
        if not any(_values(frontmatter.read(text)).values()):
            break
    return text


def _with_empty_header(text: str) -> Header:
    rest, eol = text.lstrip(encoding.MARK), line_end(text)
    return Header(
        opening=f"{text[: len(text) - len(rest)]}---{eol}",
        lines=(),
        closing=f"---{eol}",
        body=f"{eol}{rest}" if rest else "",
        entries=(),
        problems=(),
    )


def _end(header: Header, entry: Entry) -> str:
    """How the last line of an entry ends."""
    return line_end(header.lines[entry.stop - 1])


def _margin(entry: Entry) -> str:
    return entry.lead[: len(entry.lead) - len(entry.lead.lstrip(" \t"))]
