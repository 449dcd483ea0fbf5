"""Anthropic's Messages API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memdir.model.messages import Block, Text, Thinking, ToolUse, Usage
from tests.wire.answers import Kind, Refused, Streamed
from tests.wire.dialects import Exchange, Json, cut, filled, unsayable
from tests.wire.rules.messages import objection

__all__ = [
    "CALL_ID",
    "NAME",
    "REQUEST_ID",
    "counted",
    "events",
    "is_structured",
    "objection",
    "parts",
    "refused",
    "whole",
]

NAME = "messages"
CALL_ID = "toolu_"
REQUEST_ID = "request-id"

_WORDS: Sequence[tuple[Kind, int, str, str]] = (
    ("overloaded", 529, "overloaded_error", "Overloaded"),
    ("rate_limited", 429, "rate_limit_error", "This request would exceed your rate limit."),
    ("key_refused", 401, "authentication_error", "invalid x-api-key"),
    ("forbidden", 403, "permission_error", "Your API key may not use this resource."),
    ("unknown_model", 404, "not_found_error", "model: {model}"),
    ("too_long", 400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    ("quota", 402, "billing_error", "Your credit balance is too low to access the API."),
    ("tools_refused", 400, "invalid_request_error", "tools: this model does not support tools"),
    ("field_refused", 400, "invalid_request_error", "Extra inputs are not permitted"),
    ("invalid", 400, "invalid_request_error", "no"),
    ("no_such_path", 404, "not_found_error", "Not found"),
)
_USUAL: Mapping[Kind, Refused] = {
    kind: Refused(kind=kind, status=status, type=type_, message=message)
    for kind, status, type_, message in _WORDS
}


def whole(answer: Streamed, exchange: Exchange) -> Json:
    """The answer as one JSON object, for requests that don't stream."""
    usage = exchange.usage or Usage()
    return {
        **_head(exchange, output=usage.output),
        "content": [_block(block) for block in _said(answer)],
        "stop_reason": _stop(answer),
    }


def events(answer: Streamed, exchange: Exchange) -> Iterator[Json | str]:
    """The answer as the events of a stream."""
    usage = exchange.usage or Usage()
    yield {"type": "message_start", "message": _head(exchange, output=min(usage.output, 1))}
    yield {"type": "ping"}
    blocks = _said(answer)
    for index, block in enumerate(blocks):
        is_cut = answer.end == "cut" and index == len(blocks) - 1
        yield {"type": "content_block_start", "index": index, "content_block": _opening(block)}
        deltas = list(_deltas(block))
        for delta in deltas[: len(deltas) // 2] if is_cut else deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        if not is_cut:
            yield {"type": "content_block_stop", "index": index}
    if isinstance(answer.end, Refused):
        yield refused(answer.end, exchange.model)[1]
        return
    if answer.end in ("cut", "early"):
        return
    stop = {"stop_reason": _stop(answer), "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": usage.output}}
    if answer.end != "no_done":
        yield {"type": "message_stop"}


def refused(fault: Refused, model: str) -> tuple[int, Json]:
    """The status and the JSON of an error, in a response or in a stream."""
    said = filled(fault, _USUAL, model)
    details = {"error_code": said.code} if said.code else None
    error = {"type": said.type, "message": said.message, "details": details}
    return said.status or 400, said.body or {"type": "error", "error": error}


def counted(size: int) -> Json:
    """The answer to `count_tokens`."""
    return {"input_tokens": size}


def parts(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """What all formats have; it stands as it is here."""
    return {key: body.get(key) for key in ("tools", "system", "messages")}


def is_structured(body: Mapping[str, Any]) -> bool:
    """Whether a JSON object is asked for."""
    return "format" in body.get("output_config", {})


def _head(exchange: Exchange, *, output: int) -> Json:
    usage = exchange.usage or Usage()
    return {
        "id": f"msg_{exchange.number:06}",
        "type": "message",
        "role": "assistant",
        "model": exchange.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": output,
        },
    }


def _said(answer: Streamed) -> list[Block]:
    """The blocks; a refusal is told by the stop reason, its words are text like any other."""
    return [*answer.blocks, *([Text(text=answer.declined)] if answer.declined else [])]


def _stop(answer: Streamed) -> str:
    if answer.declined is not None:
        return "refusal"
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
    raise unsayable(block)


def _opening(block: Block) -> Json:
    empty = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: empty.get(key, value) for key, value in _block(block).items()}


def _deltas(block: Block) -> Iterator[Json]:
    match block:
        case Text():
            for piece in cut(block.text):
                yield {"type": "text_delta", "text": piece}
        case Thinking(redacted=False):
            for piece in cut(block.thinking):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block.signature}
        case ToolUse():
            given = json.dumps(dict(block.input), ensure_ascii=False) if block.input else ""
            for piece in cut(given if block.malformed is None else block.malformed):
                yield {"type": "input_json_delta", "partial_json": piece}
