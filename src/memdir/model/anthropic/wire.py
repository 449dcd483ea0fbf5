"""Requests -> the JSON of the Anthropic Messages API, and its stream of events -> replies. Pure.

Three laws hold here, and the prompt cache lives on them (A4):

- The JSON of a conversation is a prefix of the JSON of its continuation, but for the cache marks. So each
  message stands for itself: none is ever merged with, moved behind or changed by another one.
- The same request gives the same bytes: keys have one order, nothing depends on the time or on chance.
- A request with one more answer and one more message finds in the cache all that its parent wrote
  (see `_mark`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from memdir.model import fitting, json_text, lenient
from memdir.model.json_text import Json, sendable
from memdir.model.messages import (
    Block,
    Image,
    Message,
    Reply,
    Request,
    StopReason,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
    Usage,
    assistant,
)
from memdir.model.pieces import Joined, arguments, called
from memdir.model.service import broke_off

MAX_MARKS = 4
"""So many cache marks (breakpoints) may a request have."""

_STOPS: Mapping[str, StopReason] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",  # the answer was cut, by the window this time
    "refusal": "refusal",
}
_NOTHING = "(no output)"
_LEAST_BUDGET = 1024
"""Tokens of reasoning, fewer than which the API does not take."""
_VERSION = re.compile(r"claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?!\d)")


# ── there ──────────────────────────────────────────────────────────────────────────────────────────────


def body(request: Request, *, model: str, source: str = "") -> Json:
    """The request as the JSON object to post; `stream` is left to the caller.

    `source` is the client's name: of reasoning, only what came from it or from nobody known is sent.
    """
    prefix = request.prefix
    tools = [_tool(tool) for tool in prefix.tools]
    system = [_text(part) for part in prefix.system if part.strip()]
    talk = fitting.fitted(request.messages)
    messages = [said for message in talk if (said := _message(message, source)) is not None]
    if request.cache:
        _mark(system or tools, messages)
    sent: Json = {"model": model, "max_tokens": prefix.max_tokens}
    if tools:
        sent["tools"] = tools
    if system:
        sent["system"] = system
    sent["messages"] = messages
    if prefix.thinking is not None and (how := _thinking(prefix.thinking, model, prefix.max_tokens)):
        sent["thinking"] = how
    if request.schema is not None:
        sent["output_config"] = _structured(request.schema, model)
    return sent


def window(model: str) -> int:
    """The context window of a model, in tokens; that of an unknown one is taken to be the smaller size."""
    return 1_000_000 if _version(model) >= (5, 0) else 200_000


def _tool(tool: ToolSpec) -> Json:
    schema = json_text.clean(tool.schema)
    return {"name": tool.name, "description": sendable(tool.description), "input_schema": schema}


def _text(text: str) -> Json:
    return {"type": "text", "text": sendable(text)}


def _message(message: Message, source: str) -> Json | None:
    """One message, its tool results first as the API wants them; None if nothing of it may be sent."""
    blocks = [sent for block in message.content if (sent := _block(block, source)) is not None]
    blocks.sort(key=lambda block: block["type"] != "tool_result")
    return {"role": message.role, "content": blocks} if blocks else None


def _block(block: Block, source: str) -> Json | None:
    """One block; None for what the API refuses: blank text, and reasoning that is unsigned or another's."""
    match block:
        case Text():
            return _text(block.text) if block.text.strip() else None
        case Image():
            return _image(block)
        case Thinking(source=other) if other not in ("", source):
            return None
        case Thinking(redacted=True):
            return {"type": "redacted_thinking", "data": block.thinking}
        case Thinking():
            signed = {"type": "thinking", "thinking": block.thinking, "signature": block.signature}
            return signed if block.signature else None
        case ToolUse():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": dict(block.input)}
        case ToolResult():
            result: Json = {"type": "tool_result", "tool_use_id": block.tool_use_id}
            result["content"] = [_text(block.content if block.content.strip() else _NOTHING)]
            if block.is_error:  # may hold nothing but text
                return {**result, "is_error": True}
            result["content"] += map(_image, block.images)
            return result


def _image(image: Image) -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}}


def _mark(head: list[Json], messages: list[Json]) -> None:
    """Put the cache marks: after the head (system prompt, or tools), and where the last requests ended.

    An entry is written only at a mark, and looked for at a mark and the 19 blocks before it. One turn with
    many tool calls is longer than that; so the places where earlier requests of this conversation ended (a
    message of ours that the model answered) stay marked, and are met exactly.
    """
    ends = [
        message
        for message, following in zip_longest(messages, messages[1:])
        if message["role"] == "user" and (following is None or following["role"] == "assistant")
    ]
    marked = [head[-1]] if head else []
    marked += [message["content"][-1] for message in ends[-(MAX_MARKS - 1) :]]
    for block in marked:
        block["cache_control"] = {"type": "ephemeral"}


def _version(model: str) -> tuple[int, int]:
    found = _VERSION.search(model)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def _thinking(budget: int, model: str, limit: int) -> Json | None:
    """Since 4.6 the models measure their reasoning themselves; the newest refuse a budget. Older ones want
    one below the `limit` of the answer: one that is not gets half of it, and none where that is too little.
    """
    if _version(model) >= (4, 6):
        return {"type": "adaptive"}
    budget = max(_LEAST_BUDGET, budget if budget < limit else limit // 2)
    return {"type": "enabled", "budget_tokens": budget} if budget < limit else None


def _structured(schema: Mapping[str, Any], model: str) -> Json:
    """One JSON object, with little reasoning before it: such questions are small and have small budgets."""
    config: Json = {"effort": "low"} if _version(model) >= (4, 6) else {}
    return {**config, "format": {"type": "json_schema", "schema": json_text.clean(schema)}}


# ── and back ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Partial:
    """A block that is still coming in. `text` is its text, reasoning, opaque data or tool input; `given` a
    tool input that came at once."""

    kind: object
    text: str = ""
    signature: str = ""
    id: str = ""
    name: str = ""
    given: str = ""
    joined: Joined = field(default_factory=Joined)

    def add(self, text: str) -> str:
        """Take in a piece; gives what of it is to be shown."""
        if self.kind != "text":
            self.text += text
            return ""
        shown = self.joined.take(text)
        self.text += shown
        return shown

    def end(self) -> str:
        """The block is over; gives what is still to be shown."""
        shown = self.joined.end()
        self.text += shown
        return shown

    def whole(self, source: str, used: set[str]) -> Block | None:
        """The block. Reasoning that can't go back unchanged is kept unsigned, so it never does."""
        self.end()
        is_whole = json_text.is_whole(self.text) and json_text.is_whole(self.signature)
        match self.kind:
            case "text":
                return Text(text=self.text) if self.text else None
            case "thinking":
                signature = sendable(self.signature) if is_whole else ""
                return Thinking(thinking=sendable(self.text), signature=signature, source=source)
            case "redacted_thinking":
                return Thinking(thinking=self.text, redacted=True, source=source) if is_whole else None
            case "tool_use":
                return called(self.id, self.name, self.text.strip() or self.given, used)
            case _:  # of a tool that the provider runs; none is ever asked for
                return None


class Answer:
    """An answer that is coming in, event by event. `source`: the name of the client that it comes to."""

    def __init__(self, *, source: str = "") -> None:
        self._source = source
        self._model = ""
        self._blocks: list[_Partial] = []
        self._at: dict[int | None, _Partial] = {}
        self._stop: str | None = None
        self._usage: dict[str, int] = {}

    def take(self, event: Any) -> str:
        """Take in one event of the stream; gives the visible text in it, mostly none."""
        match event.type:
            case "message_start":
                message = event.message
                self._model = sendable(_said(message, "model"))
                self._count(getattr(message, "usage", None))
            case "content_block_start":
                return self._open(lenient.place(event.index), event.content_block)
            case "content_block_delta":
                return self._grow(self._at[lenient.place(event.index)], event.delta)
            case "content_block_stop":
                part = self._at.get(lenient.place(getattr(event, "index", None)))
                return part.end() if part is not None else ""
            case "message_delta":
                if stop := getattr(event.delta, "stop_reason", None):
                    self._stop = stop if isinstance(stop, str) else "other"
                self._count(getattr(event, "usage", None))
        return ""

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            ModelUnreachable: the stream ended before the answer did.
        """
        if self._stop is None:
            raise broke_off(self._source or "the model")
        used = set[str]()
        blocks = [whole for part in self._blocks if (whole := part.whole(self._source, used)) is not None]
        return Reply(
            message=assistant(*blocks),
            stop=_STOPS.get(self._stop, "other"),
            usage=Usage(**self._usage),
            model=self._model,
        )

    def _open(self, index: int | None, block: Any) -> str:
        """Begin a block; some gateways begin all at the same index, and one after the other."""
        part = self._at[index] = _Partial(kind=block.type)
        self._blocks.append(part)
        match block.type:
            case "text":
                return part.add(_said(block, "text"))
            case "thinking":
                part.text, part.signature = _said(block, "thinking"), _said(block, "signature")
            case "redacted_thinking":
                part.text = _said(block, "data")
            case "tool_use":  # the input comes in pieces, as a rule
                part.id, part.name = _said(block, "id"), _said(block, "name")
                part.given = arguments(getattr(block, "input", None))
        return ""

    def _grow(self, part: _Partial, delta: Any) -> str:
        match delta.type:
            case "text_delta":
                return part.add(_said(delta, "text"))
            case "thinking_delta":
                part.add(_said(delta, "thinking"))
            case "signature_delta":
                part.signature = _said(delta, "signature") or part.signature
            case "input_json_delta":
                part.add(_said(delta, "partial_json"))
        return ""

    def _count(self, usage: Any) -> None:
        """Counts are totals so far: a later one replaces an earlier one, an absent one says nothing."""
        for ours, theirs in (
            ("input", "input_tokens"),
            ("cache_write", "cache_creation_input_tokens"),
            ("cache_read", "cache_read_input_tokens"),
            ("output", "output_tokens"),
        ):
            if (count := getattr(usage, theirs, None)) is not None:
                self._usage[ours] = lenient.count(count)


def _said(part: Any, name: str) -> str:
    """The text in a field, empty where there is none."""
    return lenient.words(getattr(part, name, None))
