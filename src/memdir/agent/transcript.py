"""A conversation <-> an append-only file of JSON lines, one record a message (A1, P9).

    {"type": "session", "version": 1, "uuid", "parentUuid": null, "sessionId", "timestamp", "cwd",
     "prefix": {"system": [text…], "tools": [{"name", "description", "schema"}…], "maxTokens", "thinking"}}
    {"type": "user" | "assistant" | "attachment", "uuid", "parentUuid", "sessionId", "timestamp", "cwd",
     "origin", "message": {"role", "content": [block…]}, "attachment"?: {…}}

The first record holds what every request begins with, so that a resumed conversation continues byte for byte.
Blocks have the shape of the Messages API, with a few fields more. What a person types stands there as typed,
secrets included: the file is the owner's alone (0600). An existing transcript is never overwritten. A torn or
odd line costs that line only, and a disk that was full for a while costs nothing: what could not be written
is written first the next time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, assert_never, get_args

from memdir import fs
from memdir.agent.closing import closed
from memdir.errors import Conflict, NotFound
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
    """What a transcript holds. `skipped` counts lines that were torn or unknown."""

    session_id: str
    cwd: Path
    prefix: Prefix
    messages: tuple[Message, ...]
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
        """Go on with a transcript: what it holds, as a model accepts it, and the end to append to.

        Raises:
            NotFound: there is none, or its first record is lost.
        """
        found, last = _read(path)
        end = cls(path, session_id=found.session_id, cwd=found.cwd, last=last)
        return end, replace(found, messages=tuple(closed(found.messages)))

    def append(self, message: Message) -> None:
        """Add one message; it is on the disk when this returns, and all before it.

        Raises:
            OSError: the disk said no. The message waits, and goes before the next one.
        """
        kind = "attachment" if message.origin == "attachment" else message.role
        record = {
            "type": kind,
            "uuid": message.id,
            "parentUuid": self._last,
            **self._common,
            "timestamp": _stamp(message.at),
            "origin": message.origin,
            "message": {"role": message.role, "content": [_block_out(block) for block in message.content]},
        }
        if message.attachment is not None:
            record["attachment"] = dict(message.attachment)
        self._waiting.append(_line(record))
        self._last = message.id
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
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[Recorded, str]:
    try:
        records = list(_records(fs.read_file(path)))
    except FileNotFoundError as error:
        raise NotFound(f"there is no transcript {path}") from error
    head = next((record for record in records if record and record.get("type") == "session"), None)
    if head is None:
        raise NotFound(f"{path} is not a transcript of memdir: its first record is missing")
    messages: dict[str, Message] = {}
    skipped = 0
    for record in records:
        if record is head:
            continue
        message = _message_in(record)
        skipped += message is None
        if message:
            messages.setdefault(message.id, message)  # a line may be there twice, if the disk was in doubt
    try:
        found = Recorded(
            session_id=_text(head, "sessionId"),
            cwd=Path(_text(head, "cwd")),
            prefix=_prefix_in(head["prefix"]),
            messages=tuple(messages.values()),
            skipped=skipped,
        )
        return found, next(reversed(messages), _text(head, "uuid"))
    except _ODD as error:
        raise NotFound(f"{path} is not a transcript of memdir: its first record is odd") from error


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
