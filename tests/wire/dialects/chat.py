"""OpenAI's Chat Completions API, as it and the servers that follow it speak it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from memdir.model.messages import Block, Text, Thinking, ToolUse, Usage
from tests.wire.answers import Refused, Streamed
from tests.wire.dialects import CREATED, Exchange, Json, Reasoning, cut, openai_errors, reasoned, unsayable
from tests.wire.rules.chat import objection

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

NAME = "chat"
CALL_ID = "call_"
REQUEST_ID = "x-request-id"

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


def whole(answer: Streamed, exchange: Exchange) -> Json:
    """The answer as one JSON object, for requests that don't stream."""
    said: Json = {
        "role": "assistant",
        "content": _text(answer),
        "refusal": answer.declined,
        "annotations": [],
    }
    if calls := [block for block in answer.blocks if isinstance(block, ToolUse)]:
        said["tool_calls"] = [_call(block) for block in calls]
    for delta in _reasoning_deltas(answer.blocks, exchange.reasoning):
        for key in delta.keys() - {"content"}:
            said[key] = said[key] + delta[key] if key in said else delta[key]
    choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": _finish(answer)}
    return {
        **_head(exchange, "chat.completion"),
        "choices": [choice],
        **({"usage": _usage(answer, exchange.usage)} if exchange.usage is not None else {}),
    }


def events(answer: Streamed, exchange: Exchange) -> Iterator[Json | str]:
    """The answer as the chunks of a stream, and its last mark."""
    yield _chunk(exchange, {"role": "assistant", "content": "", "refusal": None})
    for number, block in enumerate(answer.blocks):
        deltas = list(_deltas(block, number=_place(answer, number), reasoning=exchange.reasoning))
        if answer.end == "cut" and number == len(answer.blocks) - 1:
            deltas = deltas[: len(deltas) // 2]
        for delta in deltas:
            yield _chunk(exchange, delta)
    if isinstance(answer.end, Refused):
        yield _broken(answer.end, answer, exchange)
        return
    if answer.end in ("cut", "early"):
        return
    for piece in cut(answer.declined or ""):
        yield _chunk(exchange, {"refusal": piece})
    yield _chunk(exchange, {}, finish=_finish(answer))
    if _asks_for_usage(exchange) and exchange.usage is not None:
        last = {"choices": [], "usage": _usage(answer, exchange.usage)}
        yield {**_head(exchange, "chat.completion.chunk"), **last}
    if answer.end != "no_done":
        yield "[DONE]"


def refused(fault: Refused, model: str) -> tuple[int, Json]:
    """The status and the JSON of an error."""
    return openai_errors.chat(fault, model)


def counted(size: int) -> Json:
    """The answer to a count, which llama.cpp gives for this format too."""
    return {"object": "response.input_tokens", "input_tokens": size}


def parts(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """What all formats have: the messages that come first and are the system's, and all others."""
    said = body.get("messages") or []
    head = list(takewhile(lambda message: message["role"] in ("system", "developer"), said))
    return {"tools": body.get("tools"), "system": head, "messages": said[len(head) :]}


def is_structured(body: Mapping[str, Any]) -> bool:
    """Whether a JSON object is asked for."""
    return str(body.get("response_format", {}).get("type")).startswith("json")


# ── pieces ─────────────────────────────────────────────────────────────────────────────────────────────


def _head(exchange: Exchange, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{exchange.number:06}",
        "object": kind,
        "created": CREATED,
        "model": exchange.model,
        "service_tier": "default",
        "system_fingerprint": "fp_wire",
    }


def _chunk(exchange: Exchange, delta: Json, *, finish: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    usage = {"usage": None} if _asks_for_usage(exchange) else {}
    return {**_head(exchange, "chat.completion.chunk"), "choices": [choice], **usage}


def _broken(fault: Refused, answer: Streamed, exchange: Exchange) -> Json:
    """The error in a stream: on its own, or as the last chunk, as OpenRouter has it."""
    error: Json = refused(fault, exchange.model)[1]
    if answer.told != "ending":
        return error
    return {**_chunk(exchange, {"content": ""}, finish="error"), "error": error["error"]}


def _asks_for_usage(exchange: Exchange) -> bool:
    return bool((exchange.body.get("stream_options") or {}).get("include_usage"))


def _usage(answer: Streamed, usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.total_input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total_input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reasoned(answer),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _finish(answer: Streamed) -> str:
    if answer.stop is not None:
        return _FINISH.get(answer.stop, answer.stop)
    return "tool_calls" if any(isinstance(block, ToolUse) for block in answer.blocks) else "stop"


def _text(answer: Streamed) -> str | None:
    texts = [block.text for block in answer.blocks if isinstance(block, Text)]
    return "".join(texts) if texts else None


def _place(answer: Streamed, number: int) -> int:
    """Which of the tool calls the block is."""
    return sum(isinstance(block, ToolUse) for block in answer.blocks[:number])


def _call(block: ToolUse) -> Json:
    given = json.dumps(dict(block.input), ensure_ascii=False) if block.malformed is None else block.malformed
    return {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": given}}


def _deltas(block: Block, *, number: int, reasoning: Reasoning | None) -> Iterator[Json]:
    match block:
        case Text():
            yield from ({"content": piece} for piece in cut(block.text))
        case Thinking():
            yield from _reasoning_deltas([block], reasoning)
        case ToolUse():
            call = _call(block)
            function = call["function"]
            opening = {"index": number, **call, "function": {"name": function["name"], "arguments": ""}}
            yield {"tool_calls": [opening]}
            for piece in cut(function["arguments"]):
                yield {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}
        case _:
            raise unsayable(block)


def _reasoning_deltas(blocks: Sequence[Block], field: Reasoning | None) -> Iterator[Json]:
    """Reasoning where this server tells it. Only `reasoning_details` has a place for what is opaque in it."""
    for index, block in enumerate(blocks):
        if not isinstance(block, Thinking):
            continue
        if field == "reasoning_details":
            yield from _details(block, index)
        elif field is not None and not block.redacted:
            for piece in cut(block.thinking):
                yield {field: piece}


def _details(block: Thinking, index: int) -> Iterator[Json]:
    format_ = {"format": "anthropic-claude-v1", "index": index}
    if block.redacted:
        detail = {"type": "reasoning.encrypted", "data": block.thinking, **format_}
        yield {"content": "", "reasoning": "", "reasoning_details": [detail]}
        return
    for piece in cut(block.thinking):
        detail = {"type": "reasoning.text", "text": piece, **format_}
        yield {"content": "", "reasoning": piece, "reasoning_details": [detail]}
    if block.signature:
        detail = {"type": "reasoning.text", "signature": block.signature, **format_}
        yield {"content": "", "reasoning": "", "reasoning_details": [detail]}
