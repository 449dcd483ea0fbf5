"""What a wire server can be told to answer, and how that looks on the wire.

Blocks (`say`, `think`, `call` of `memdir.testing`) are a whole answer; `refuse` and its children turn the
request away with a status; `Streamed` is an answer with something special about its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from memdir.model.messages import Block, Text, Thinking, ToolUse, Usage

Json = dict[str, Any]
PIECE = 12
"""Texts stream in pieces of so many characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The request is turned away with a status."""

    status: int
    type: str
    message: str = "no"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> Json:
        """The JSON of an error, in a response or in a stream."""
        details = {"error_code": self.code} if self.code else None
        return {"type": "error", "error": {"type": self.type, "message": self.message, "details": details}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """An answer of these blocks. `stop` is its stop reason, if not the natural one.

    `end`: `whole`; `cut` (the connection goes away in the middle of the last block); or an error that comes
    as an event after the blocks.
    """

    blocks: Sequence[Block]
    stop: str | None = None
    end: Literal["whole", "cut"] | Refused = "whole"


def overloaded(*, pause: str = "0.001") -> Refused:
    """529; `pause` is its retry-after, in seconds."""
    return Refused(status=529, type="overloaded_error", headers={"retry-after": pause})


def rate_limited(*, pause: str = "0.001", code: str | None = None) -> Refused:
    """429, with a retry-after."""
    return Refused(status=429, type="rate_limit_error", code=code, headers={"retry-after": pause})


def key_refused(status: int = 401) -> Refused:
    """401 (no such key) or 403 (may not do this)."""
    return Refused(status=status, type="authentication_error" if status == 401 else "permission_error")


def unknown_model() -> Refused:
    """404."""
    return Refused(status=404, type="not_found_error", message="model: no-such-model")


def too_long() -> Refused:
    """400, and only the wording says why."""
    return Refused(
        status=400, type="invalid_request_error", message="prompt is too long: 208310 tokens > 200000 maximum"
    )


def cut_off(*blocks: Block) -> Streamed:
    """The connection goes away in the middle of the last of these blocks."""
    return Streamed(blocks=blocks, end="cut")


def breaks(fault: Refused, *blocks: Block) -> Streamed:
    """An answer that begins well, and then ends with an error event."""
    return Streamed(blocks=blocks, end=fault)


def stopped(reason: str, *blocks: Block) -> Streamed:
    """An answer that ends for this reason (`max_tokens`, `refusal`, …)."""
    return Streamed(blocks=blocks, stop=reason)


def garbled_call(tool: str, text: str) -> ToolUse:
    """A tool call whose input is this text, which need not be JSON."""
    return ToolUse(id="", name=tool, input={}, malformed=text)


def whole(answer: Streamed, *, model: str, usage: Usage) -> Json:
    """The answer as one JSON object, for requests that don't stream."""
    return {
        **_head(model, usage),
        "content": [_block(b) for b in answer.blocks],
        "stop_reason": _stop(answer),
    }


def events(answer: Streamed, *, model: str, usage: Usage) -> Iterator[Json]:
    """The answer as the events of a stream. That of a cut one just ends."""
    yield {"type": "message_start", "message": _head(model, usage)}
    yield {"type": "ping"}
    for index, block in enumerate(answer.blocks):
        yield {"type": "content_block_start", "index": index, "content_block": _opening(block)}
        deltas = list(_deltas(block))
        if answer.end == "cut" and index == len(answer.blocks) - 1:
            deltas = deltas[: len(deltas) // 2]
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        if answer.end == "cut" and index == len(answer.blocks) - 1:
            return
        yield {"type": "content_block_stop", "index": index}
    if isinstance(answer.end, Refused):
        yield answer.end.body()
        return
    stop = {"stop_reason": _stop(answer), "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": usage.output}}
    yield {"type": "message_stop"}


def _head(model: str, usage: Usage) -> Json:
    return {
        "id": "msg_wire",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": min(usage.output, 1),
        },
    }


def _stop(answer: Streamed) -> str:
    natural = "tool_use" if any(isinstance(block, ToolUse) for block in answer.blocks) else "end_turn"
    return answer.stop or natural


def _block(block: Block) -> Json:
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Thinking(redacted=True):
            return {"type": "redacted_thinking", "data": block.thinking}
        case Thinking():
            return {"type": "thinking", "thinking": block.thinking, "signature": block.signature}
        case ToolUse():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": dict(block.input)}
    raise TypeError(f"a model does not say {type(block).__name__}")


def _opening(block: Block) -> Json:
    empty = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: empty.get(key, value) for key, value in _block(block).items()}


def _deltas(block: Block) -> Iterator[Json]:
    match block:
        case Text():
            for piece in _cut(block.text):
                yield {"type": "text_delta", "text": piece}
        case Thinking(redacted=False):
            for piece in _cut(block.thinking):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block.signature}
        case ToolUse():
            given = json.dumps(dict(block.input), ensure_ascii=False) if block.input else ""
            for piece in _cut(given if block.malformed is None else block.malformed):
                yield {"type": "input_json_delta", "partial_json": piece}


def _cut(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
