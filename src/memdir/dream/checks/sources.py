"""Whose words there are when a dream rewrites memories: the memories as they were, and the transcripts (E11).

Transcripts of memdir and of Claude Code are read, line by line; what can't be made out has said nothing. So
much is read as fits the bounds, the newest first: what lies beyond them bears nothing out, and a plan that
says it waits for the person.
"""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, get_args

from memdir.dream.files import Snapshot
from memdir.memory import encoding
from memdir.model.messages import Block, Message, Origin, Text, ToolResult, ToolUse
from memdir.trust.evidence import Evidence

MEMORIES = 2_000_000
"""Bytes of memories, the newest first."""
TRANSCRIPT = 8_000_000
"""Bytes of one transcript: its end."""
TRANSCRIPTS = 64_000_000
"""Bytes of all of them."""
SECONDS = 20.0
"""For reading transcripts."""
RESULT = 2_000
"""Characters of what one tool gave back."""
MESSAGE = 20_000
"""Characters of one message."""
KEPT = 1_500_000
"""Characters of all that is kept of transcripts."""


@dataclass(frozen=True, kw_only=True)
class Told(Evidence):
    """The evidence, and `said_on`: what the person and the agent said on which day."""

    said_on: Mapping[date, str] = field(default_factory=dict)


def evidence(before: Snapshot, transcripts: Sequence[Path]) -> Told:
    """Who said what; memories are known, not said. Never raises: what can't be read has said nothing.

    `transcripts`, the newest first, are regular files; a link or a pipe is none.
    """
    talks, said_on = _talks(transcripts)
    return Told(
        person=tuple(text for one in talks for text in one.person),
        agreed=tuple(text for one in talks for text in one.agreed),
        agent=tuple(text for one in talks for text in one.agent),
        untrusted=tuple(text for one in talks for text in one.untrusted),
        injected=tuple(text for one in talks for text in one.injected),
        quoted=tuple(text for one in talks for text in one.quoted),
        known=tuple(_memories(before)),
        said_on={day: "\n".join(texts) for day, texts in said_on.items()},
    )


def _memories(before: Snapshot) -> Iterator[str]:
    room = MEMORIES
    for file in sorted(before.files, key=lambda file: (-before.mtimes.get(file, 0), file)):
        room -= len(before.files[file])
        if room < 0:
            return
        yield encoding.readable(before.files[file])


def _talks(transcripts: Iterable[Path]) -> tuple[list[Evidence], dict[date, list[str]]]:
    """The evidence of each conversation, and what was said by day."""
    found: list[Evidence] = []
    said_on: dict[date, list[str]] = {}
    until, size, kept = time.monotonic() + SECONDS, TRANSCRIPTS, KEPT
    for path in transcripts:
        if size <= 0 or kept <= 0 or time.monotonic() > until:
            break
        lines = _lines(path, min(size, TRANSCRIPT))
        size -= sum(map(len, lines))
        messages: list[Message] = []
        for message in reversed([one for line in lines if (one := _message(line))]):
            kept -= _length(message)
            if kept <= 0:
                break
            messages.append(message)
        messages.reverse()
        for one in messages:
            if one.at is not None and one.origin in ("person", "assistant"):
                said_on.setdefault(one.at.date(), []).append(one.text)
        with suppress(Exception):  # whatever is odd about one conversation, the others are still there
            found.append(Evidence.of(messages))
    return found, said_on


def _lines(path: Path, limit: int) -> list[bytes]:
    """The last lines of a regular file; none where there is no such file."""
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(number, "rb") as file:  # noqa: PTH123 (opened so that no link and no pipe is followed)
            told = os.fstat(number)
            if not stat.S_ISREG(told.st_mode):
                return []
            file.seek(start := max(0, told.st_size - limit))
            lines = file.read(limit).split(b"\n")
    except (OSError, ValueError):
        return []
    return lines[1:] if start else lines


# ---------------------------------------------------------------------------------- one line


def _message(line: bytes) -> Message | None:
    """The message in a line of either format; None where there is none, or one that is nobody's."""
    try:
        record = json.loads(line) if line.strip() else None
        return _read(record) if isinstance(record, dict) else None
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None


def _read(record: dict[str, Any]) -> Message | None:
    said = record.get("message")
    if record.get("type") not in ("user", "assistant", "attachment") or not isinstance(said, dict):
        return None
    if record.get("isSidechain") or record.get("teamName"):
        return None
    content = tuple(_blocks(said.get("content")))
    if not content:
        return None
    origin = record.get("origin")
    if isinstance(origin, str) and origin in _ORIGINS:  # ours
        mine: Origin = origin  # type: ignore[assignment]
    else:
        content, mine = _theirs(record, content)
    about = record.get("attachment")
    return Message(
        role="assistant" if mine == "assistant" else "user",
        content=content,
        origin=mine,
        at=_time(record.get("timestamp")),
        attachment=about if isinstance(about, dict) else None,
    )


_ORIGINS = frozenset(get_args(Origin))


def _theirs(record: Mapping[str, Any], content: tuple[Block, ...]) -> tuple[tuple[Block, ...], Origin]:
    """Whose a record of Claude Code is. What the program itself put into the person's role is nobody's."""
    if record["type"] == "assistant":
        return content, "assistant"
    if any(isinstance(block, ToolResult) for block in content):
        return content, "tool"
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    if any(record.get(flag) for flag in _NOT_THE_PERSON) or kind not in (None, "human", "user", "person"):
        return content, "attachment"
    typed = [_typed(block.text) for block in content if isinstance(block, Text)]
    words = "\n".join(filter(None, typed))
    return ((Text(text=words),), "person") if words else (content, "attachment")


_NOT_THE_PERSON = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "toolUseResult")


def _typed(text: str) -> str:
    """A text as far as its first mark of something that a program put there: what follows may be a page's."""
    text = text.strip()
    if text.startswith(_PROGRAM):
        return ""
    mark = _WRAPPER.search(text)
    return text[: mark.start()].strip() if mark else text


_PROGRAM = ("This session is being continued from", "Caveat: The messages below were", "Stop hook feedback:")
_WRAPPER = re.compile(
    r"</?(?:system[-_]|command-|local-command-|bash-|ide_|task-|teammate-|cross-session-|new-diagnostics"
    r"|persisted-output|tool_use_error|mcp-|channel|memory|memories|[a-z-]{1,30}-hook)[a-z_-]{0,30}[\s/>]"
)


def _blocks(content: object) -> Iterator[Block]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                yield Text(text=text[:MESSAGE])
            case {"type": "tool_use", "id": str(name), "name": str(tool), "input": dict(given)}:
                yield ToolUse(id=name, name=tool, input=given)
            case {"type": "tool_result", "tool_use_id": str(name)}:
                yield ToolResult(tool_use_id=name, content=_result(block.get("content")), is_error=False)


def _result(content: object) -> str:
    parts: Iterable[object] = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))[:RESULT]


def _length(message: Message) -> int:
    results = sum(len(one.content) for one in message.content if isinstance(one, ToolResult))
    return len(message.text) + results + 50


def _time(value: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at
