"""A conversation <-> an append-only file of JSON lines, one record a message (A1, P9).

    {"type": "session", "version": 1, "uuid", "parentUuid": null, "sessionId", "timestamp", "cwd",
     "prefix": {"system": [text…], "tools": [{"name", "description", "schema"}…], "maxTokens", "thinking"}}
    {"type": "user" | "assistant" | "attachment", "uuid", "parentUuid", "sessionId", "timestamp", "cwd",
     "origin", "message": {"role", "content": [block…]}, "attachment"?: {…}}
    {"type": "compaction", "uuid", "parentUuid", …, "context": [uuid | {a message record}…]}
    {"type": "notes", "uuid", "parentUuid", …, "upto": uuid, "digest"}

The first record holds what every request begins with, so that a resumed conversation continues byte for byte.
A compaction says what the conversation consists of from there on: messages that stand above, by their ids,
and new ones, whole; one that was cut for it belongs to the context, and was not said again. It is one line,
so that it is there or not (C4). `notes`: the running summary covers all up to that message; `digest` is of
its file (C3). Blocks have the shape of the Messages API, with a few fields more. What a person types stands
there as typed, secrets included: the file is the owner's alone (0600). An existing transcript is never
overwritten. A torn or odd line costs that line only, and a disk that was full for a while costs nothing: what
could not be written is written first the next time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, assert_never, get_args

from memdir import fs
from memdir.agent.closing import closed
from memdir.agent.fit.shorten import original
from memdir.errors import Conflict, NotFound, UsageError
from memdir.model.messages import (
    Block,
    Image,
    Message,
    Origin,
    Prefix,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
    new_id,
)

VERSION = 1
_LINE_ENDS = ("\x85", "\u2028", "\u2029")
"""What JSON leaves as it is and some readers take for the end of a line."""
_LONG_AGO = 3600.0
"""Seconds after which nobody is still at a file that takes a moment."""
_TYPES = frozenset({"user", "assistant", "attachment"})
_ROLES = frozenset({"user", "assistant"})
_ORIGINS = frozenset(get_args(Origin))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a transcript holds.

    `messages` are all that were ever in the conversation, in order; `context` those that it consists of now.
    `noted`: the id of the last message that the running summary covers, and the digest of its file then.
    `skipped` counts lines that were torn or unknown.
    """

    session_id: str
    cwd: Path
    prefix: Prefix
    messages: tuple[Message, ...]
    context: tuple[Message, ...]
    noted: tuple[str, str] | None = None
    skipped: int = 0


class Transcript:
    """The transcript of one session, open for appending."""

    def __init__(self, path: Path, *, session_id: str, cwd: Path, last: str) -> None:
        self.path = path
        self._common = {"sessionId": session_id, "cwd": str(cwd)}
        self._last = last
        self._waiting: list[bytes] = []

    @classmethod
    def create(
        cls, path: Path, *, session_id: str, cwd: Path, prefix: Prefix, at: datetime | None = None
    ) -> Transcript:
        """Begin a transcript.

        Raises:
            Conflict: there is a file of that name already; it is left as it is.
        """
        new = cls(path, session_id=session_id, cwd=cwd, last=new_id())
        head = {"type": "session", "version": VERSION, "uuid": new._last, "parentUuid": None}
        line = _line({**head, **new._common, "timestamp": _stamp(at), "prefix": _prefix_out(prefix)})
        fs.make_private(path.parent)
        try:
            fs.replace_if(path, line + b"\n", expected=None)
        except Conflict as error:
            raise Conflict(
                f"there is a transcript {path} already",
                hint="resume that session, or begin one with a new id",
            ) from error
        return new

    @classmethod
    def reopen(cls, path: Path) -> tuple[Transcript, Recorded]:
        """Go on with a transcript: what it holds, and the end to append to.

        Where lines were lost the context is mended, so that a model accepts it; calls that are open at its
        end stay open.

        Raises:
            NotFound: there is none, or its first record is lost.
            UsageError: it is of a later version.
        """
        found, last = _read(path)
        end = cls(path, session_id=found.session_id, cwd=found.cwd, last=last)
        return end, replace(found, context=tuple(closed(found.context, at_end=False)))

    def append(self, message: Message) -> None:
        """Add one message; it is on the disk when this returns, and all before it.

        Raises:
            OSError: the disk said no. The message waits, and goes before the next one.
        """
        self._put({**self._head(_type_of(message), message.id, message.at), **_message_out(message)})

    def compact(self, context: Sequence[Message], *, known: Set[str], at: datetime | None = None) -> None:
        """From here on the conversation consists of these messages; `known` are the ids of those that were in
        it. Raises as `append`.
        """
        told = [one.id if one.id in known else _whole(one) for one in context]
        self._put({**self._head("compaction", new_id(), at), "context": told})

    def note(self, upto: str, digest: str, *, at: datetime | None = None) -> None:
        """The running summary, of this digest, covers all up to a message. Raises as `append`."""
        self._put({**self._head("notes", new_id(), at), "upto": upto, "digest": digest})

    def _head(self, kind: str, name: str, at: datetime | None) -> dict[str, Any]:
        stamp = _stamp(at)
        return {"type": kind, "uuid": name, "parentUuid": self._last, **self._common, "timestamp": stamp}

    def _put(self, record: Mapping[str, Any]) -> None:
        self._waiting.append(_line(record))
        self._last = record["uuid"]
        while self._waiting:
            fs.append_line(self.path, self._waiting[0], sync=True)
            del self._waiting[0]


def sweep(folder: Path) -> None:
    """Remove what killed processes left beside the transcripts. Nobody locks that folder, so age decides."""
    if any(folder.glob(".memdir-*.tmp")):
        fs.sweep_temporaries(folder, older_than=_LONG_AGO)


def read(path: Path) -> Recorded:
    """What the transcript holds: messages equal to those that were appended.

    Raises:
        NotFound: there is none, or its first record is lost.
        UsageError: it is of a later version.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[Recorded, str]:
    try:
        records = list(_records(fs.read_file(path)))
    except FileNotFoundError as error:
        raise NotFound(f"there is no transcript {path}") from error
    head = next((record for record in records if record and record.get("type") == "session"), None)
    if head is not None and isinstance(version := head.get("version"), int) and version > VERSION:
        raise UsageError(f"{path} is of a later version of memdir", hint="install that one, and try again")
    if head is None:
        raise NotFound(f"{path} is not a transcript of memdir: its first record is missing")
    said = _Said()
    for record in records:
        if record is not head:
            said.take(record)
    try:
        found = Recorded(
            session_id=_text(head, "sessionId"),
            cwd=Path(_text(head, "cwd")),
            prefix=_prefix_in(head["prefix"]),
            messages=tuple(said.messages.values()),
            context=tuple(said.context.values()),
            noted=said.noted,
            skipped=said.skipped,
        )
        return found, said.last or _text(head, "uuid")
    except _ODD as error:
        raise NotFound(f"{path} is not a transcript of memdir: its first record is odd") from error


class _Said:
    """What the records so far come to."""

    def __init__(self) -> None:
        self.messages: dict[str, Message] = {}
        self.context: dict[str, Message] = {}
        self.noted: tuple[str, str] | None = None
        self.last: str | None = None
        self.skipped = 0

    def take(self, record: dict[str, Any] | None) -> None:
        """Take in one line."""
        taken = record is not None and self._take(record)
        self.skipped += not taken
        if taken and record is not None:
            self.last = record["uuid"]

    def _take(self, record: dict[str, Any]) -> bool:
        try:
            match record.get("type"):
                case "compaction":
                    return bool(_text(record, "uuid")) and self._compacted(record["context"])
                case "notes":
                    self.noted = (_text(record, "upto"), _text(record, "digest"))
                    return bool(_text(record, "uuid"))
        except _ODD:
            return False
        if (message := _message_in(record)) is None:
            return False
        if message.id not in self.messages:  # a line may be there twice, if the disk was in doubt
            self._add(message)
        return True

    def _compacted(self, told: Sequence[object]) -> bool:
        """The context is what is told, less what was lost. A record that is odd changes nothing."""
        found: list[Message | None] = [
            self.messages.get(one, self.context.get(one))
            if isinstance(one, str)
            else _message_in(one)
            if isinstance(one, dict)
            else None
            for one in told
        ]
        if not any(found):
            return False
        self.context = {}
        for message in found:
            if message is not None:
                self._add(self.messages.get(message.id, message))
        return True

    def _add(self, message: Message) -> None:
        self.messages.setdefault(original(message), message)  # what was cut was not said again
        self.context[message.id] = message


def _records(data: bytes) -> Iterator[dict[str, Any] | None]:
    """Each line's record, or None for a line that holds none."""
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        yield record if isinstance(record, dict) else None


def _message_in(record: dict[str, Any] | None) -> Message | None:
    if record is None or record.get("type") not in _TYPES:
        return None
    try:
        said = record["message"]
        if said["role"] not in _ROLES or record["origin"] not in _ORIGINS:
            return None
        return Message(
            role=said["role"],
            content=tuple(_block_in(block) for block in said["content"]),
            origin=record["origin"],
            id=_text(record, "uuid"),
            at=_moment(record["timestamp"]),
            attachment=_object(record, "attachment") if "attachment" in record else None,
        )
    except _ODD:
        return None


_ODD = (KeyError, TypeError, ValueError, AttributeError)
"""What comes of reading a record that is not as we write them."""


def _text(record: Mapping[str, Any], key: str) -> str:
    if not isinstance(value := record[key], str):
        raise TypeError(key)
    return value


def _object(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(value := record[key], dict):
        raise TypeError(key)
    return value


def _type_of(message: Message) -> str:
    return "attachment" if message.origin == "attachment" else message.role


def _message_out(message: Message) -> dict[str, Any]:
    content = [_block_out(block) for block in message.content]
    about = {} if message.attachment is None else {"attachment": dict(message.attachment)}
    return {"origin": message.origin, "message": {"role": message.role, "content": content}, **about}


def _whole(message: Message) -> dict[str, Any]:
    """A message within another record."""
    head = {"type": _type_of(message), "uuid": message.id, "timestamp": _stamp(message.at)}
    return {**head, **_message_out(message)}


def _moment(stamp: str | None) -> datetime | None:
    """An aware datetime, or None; a stamp without a zone is taken for UTC."""
    at = datetime.fromisoformat(stamp) if stamp else None
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at


def _block_out(block: Block) -> dict[str, Any]:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Thinking(thinking=data, signature=signature, redacted=True):
            return {"type": "redacted_thinking", "data": data, "signature": signature, **_source(block)}
        case Thinking(thinking=thinking, signature=signature):
            return {"type": "thinking", "thinking": thinking, "signature": signature, **_source(block)}
        case ToolUse(id=name, name=tool, input=given, malformed=malformed):
            broken = {} if malformed is None else {"malformed": malformed}
            return {"type": "tool_use", "id": name, "name": tool, "input": dict(given), **broken}
        case ToolResult(tool_use_id=name, is_error=is_error):
            content = _result_out(block)
            return {"type": "tool_result", "tool_use_id": name, "content": content, "is_error": is_error}
        case Image(media_type=media_type, data=data):
            return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
        case _:
            assert_never(block)


def _source(block: Thinking) -> dict[str, str]:
    return {"source": block.source} if block.source else {}


def _result_out(result: ToolResult) -> str | list[dict[str, Any]]:
    """The text alone, or a list of it and the pictures behind it."""
    if not result.images:
        return result.content
    return [_block_out(Text(text=result.content)), *map(_block_out, result.images)]


def _block_in(block: dict[str, Any]) -> Block:
    match block["type"]:
        case "text":
            return Text(text=_text(block, "text"))
        case "thinking":
            return _thinking_in(block, "thinking")
        case "redacted_thinking":
            return _thinking_in(block, "data", redacted=True)
        case "tool_use":
            return ToolUse(
                id=_text(block, "id"),
                name=_text(block, "name"),
                input=_object(block, "input"),
                malformed=block.get("malformed"),
            )
        case "tool_result":
            return _result_in(block)
        case "image":
            return _image_in(block)
        case other:
            raise ValueError(other)


def _thinking_in(block: dict[str, Any], key: str, *, redacted: bool = False) -> Thinking:
    source = _text(block, "source") if "source" in block else ""
    signature = _text(block, "signature")
    return Thinking(thinking=_text(block, key), signature=signature, redacted=redacted, source=source)


def _result_in(block: dict[str, Any]) -> ToolResult:
    whole = ToolResult(tool_use_id=_text(block, "tool_use_id"), content="", is_error=block["is_error"])
    if isinstance(block["content"], str):
        return replace(whole, content=block["content"])
    text, *images = block["content"]
    return replace(whole, content=_text(text, "text"), images=tuple(map(_image_in, images)))


def _image_in(block: dict[str, Any]) -> Image:
    source = _object(block, "source")
    if (block["type"], source["type"]) != ("image", "base64"):
        raise ValueError(block["type"])
    return Image(media_type=_text(source, "media_type"), data=_text(source, "data"))


def _prefix_out(prefix: Prefix) -> dict[str, Any]:
    tools = [{"name": t.name, "description": t.description, "schema": dict(t.schema)} for t in prefix.tools]
    return {
        "system": list(prefix.system),
        "tools": tools,
        "maxTokens": prefix.max_tokens,
        "thinking": prefix.thinking,
    }


def _prefix_in(record: dict[str, Any]) -> Prefix:
    return Prefix(
        system=tuple(record["system"]),
        tools=tuple(ToolSpec(**tool) for tool in record["tools"]),
        max_tokens=record["maxTokens"],
        thinking=record["thinking"],
    )


def _stamp(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _line(record: Mapping[str, Any]) -> bytes:
    """One line, for whatever idea of lines a reader has. Half a surrogate pair goes as an ASCII escape."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    for end in _LINE_ENDS:
        text = text.replace(end, f"\\u{ord(end):04x}")
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":")).encode()
