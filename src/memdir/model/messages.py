"""What is said to a model and what it says back: frozen values, no wire format (A1, A3).

A conversation is a tuple of `Message`. Each message knows who it is from (`Origin`), which the wire
formats do not: a tool result and a recalled memory both travel in the user role, and neither is the
person's word (E11).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import uuid4

Origin = Literal["person", "assistant", "tool", "attachment", "system"]
"""Whose words these are. `person`: typed by the person. `attachment`: added by memdir (index, recalled
memories, notices). `system`: a background job's own instruction (a fork's message)."""

Role = Literal["user", "assistant"]
StopReason = Literal["end_turn", "tool_use", "max_tokens", "refusal", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A model's reasoning.

    `source`: the client that it came from (`provider:model`). It goes back to that one only: another one
    refuses it, or can't read it. `signature` is what must travel back unchanged, and a matter between that
    client and its service. `redacted`: `thinking` is opaque data.
    """

    thinking: str
    signature: str = ""
    redacted: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture. `media_type` such as `image/png`; `data` is its bytes in base64."""

    media_type: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """The model calls a tool. `input` is what it sent, parsed; `malformed` keeps JSON that did not parse."""

    id: str
    name: str
    input: Mapping[str, Any]
    malformed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of a tool call, as the model sees it; `images` stand after the text."""

    tool_use_id: str
    content: str
    is_error: bool = False
    images: tuple[Image, ...] = ()


Block = Text | Thinking | ToolUse | ToolResult | Image


def new_id() -> str:
    """A fresh message or session id (UUID 4, text)."""
    return str(uuid4())


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation.

    `attachment` holds what an `origin="attachment"` message is about (kind, paths, bytes), for memdir's own
    bookkeeping: it goes to the transcript and never to the model.
    """

    role: Role
    content: tuple[Block, ...]
    origin: Origin
    id: str = field(default_factory=new_id)
    at: datetime | None = None
    attachment: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """All text blocks, joined by newlines."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The tool calls in it, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolUse))


def person(text: str, *, at: datetime | None = None) -> Message:
    """What the person typed."""
    return Message(role="user", content=(Text(text=text),), origin="person", at=at)


def assistant(*content: Block | str, at: datetime | None = None) -> Message:
    """What the model said."""
    blocks = tuple(Text(text=block) if isinstance(block, str) else block for block in content)
    return Message(role="assistant", content=blocks, origin="assistant", at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model is told of it. `schema` is JSON Schema of the input (an object)."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What stays the same over a conversation, and is shared with its forks byte for byte (A4, I6).

    `system` is the system prompt in parts (each becomes a block); `max_tokens` bounds one answer.
    `thinking` is a token budget for reasoning, or None.
    """

    system: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    max_tokens: int = 8192
    thinking: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of a model.

    `schema`, if set, asks for one JSON object of that shape (structured output). `cache` asks for prompt
    caching of the whole request (off for one-shot side queries, which nobody continues).
    """

    prefix: Prefix
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    cache: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more calls. `input` is what was neither read from nor written to a cache."""

    input: int = 0
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0

    @property
    def total_input(self) -> int:
        """All input tokens, however they were paid for."""
        return self.input + self.cache_write + self.cache_read

    @property
    def hit_percent(self) -> float:
        """Cache reads x 100 / all input, one decimal, 0 when there is no input (A7)."""
        return round(self.cache_read * 100 / self.total_input, 1) if self.total_input else 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            cache_write=self.cache_write + other.cache_write,
            cache_read=self.cache_read + other.cache_read,
            output=self.output + other.output,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's answer to one request."""

    message: Message
    stop: StopReason
    usage: Usage
    model: str

    @property
    def text(self) -> str:
        """The text of the answer."""
        return self.message.text
