"""OpenAI's Responses API, without state at the service."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from memdir.model.messages import Block, Text, Thinking, ToolUse, Usage
from tests.wire.answers import Refused, Streamed
from tests.wire.dialects import CREATED, Exchange, Json, cut, openai_errors, reasoned, unsayable
from tests.wire.rules.responses import objection

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

NAME = "responses"
CALL_ID = "call_"
REQUEST_ID = "x-request-id"

_PLACES = {"output_index", "content_index", "summary_index", "logprobs"}
_INCOMPLETE = {
    "max_tokens": "max_output_tokens",
    "model_context_window_exceeded": "max_output_tokens",
    "refusal": "content_filter",
}


def whole(answer: Streamed, exchange: Exchange) -> Json:
    """The answer as one JSON object, for requests that don't stream."""
    return _ended(answer, exchange, _items(answer, exchange))


def events(answer: Streamed, exchange: Exchange) -> Iterator[Json | str]:
    """The answer as the events of a stream, numbered; without numbers and places from a lean server."""
    for number, event in enumerate(_events(answer, exchange)):
        if exchange.lean:
            yield {key: value for key, value in event.items() if key not in _PLACES}
        else:
            yield {"type": event["type"], "sequence_number": number, **event}


def refused(fault: Refused, model: str) -> tuple[int, Json]:
    """The status and the JSON of an error."""
    return openai_errors.responses(fault, model)


def counted(size: int) -> Json:
    """The answer to `input_tokens`."""
    return {"object": "response.input_tokens", "input_tokens": size}


def parts(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """What all formats have: the instructions, with messages that come first and are the system's, and all
    other items."""
    given = body.get("input") or []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    head = list(takewhile(lambda item: item.get("role") in ("system", "developer"), items))
    instructions = [body["instructions"]] if body.get("instructions") else []
    return {"tools": body.get("tools"), "system": [*instructions, *head], "messages": items[len(head) :]}


def is_structured(body: Mapping[str, Any]) -> bool:
    """Whether a JSON object is asked for."""
    return str(body.get("text", {}).get("format", {}).get("type")).startswith("json")


# ── the stream ─────────────────────────────────────────────────────────────────────────────────────────


def _events(answer: Streamed, exchange: Exchange) -> Iterator[Json]:
    begun = _response(exchange, status="in_progress")
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    items = _items(answer, exchange)
    for index, item in enumerate(items):
        is_cut = answer.end == "cut" and index == len(items) - 1
        place = {"item_id": item["id"], "output_index": index}
        yield {"type": "response.output_item.added", "output_index": index, "item": _opening(item)}
        inner = list(_inner(item))
        for event in inner[: len(inner) // 2] if is_cut else inner:
            yield {"type": event["type"], **place, **event}
        if not is_cut:
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
    if isinstance(answer.end, Refused):
        yield _broken(answer.end, answer, exchange, items)
    elif answer.end not in ("cut", "early"):
        ended = _ended(answer, exchange, items)
        yield {"type": f"response.{ended['status']}", "response": ended}


def _inner(item: Json) -> Iterator[Json]:
    """The events within one item, but for where they stand."""
    match item["type"]:
        case "message":
            yield from _message_events(item["content"][0])
        case "function_call":
            for piece in cut(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", "delta": piece}
            yield {"type": "response.function_call_arguments.done", "arguments": item["arguments"]}
        case "reasoning":
            for index, part in enumerate(item["summary"]):
                yield from _summary_events(part, {"summary_index": index})


def _message_events(part: Json) -> Iterator[Json]:
    place = {"content_index": 0}
    kind = "output_text" if part["type"] == "output_text" else "refusal"
    field = "text" if kind == "output_text" else "refusal"
    more: Json = {"logprobs": []} if kind == "output_text" else {}
    yield {"type": "response.content_part.added", **place, "part": {**part, field: ""}}
    for piece in cut(part[field]):
        yield {"type": f"response.{kind}.delta", **place, "delta": piece, **more}
    yield {"type": f"response.{kind}.done", **place, field: part[field], **more}
    yield {"type": "response.content_part.done", **place, "part": part}


def _summary_events(part: Json, place: Json) -> Iterator[Json]:
    name = "response.reasoning_summary"
    yield {"type": f"{name}_part.added", **place, "part": {**part, "text": ""}}
    for piece in cut(part["text"]):
        yield {"type": f"{name}_text.delta", **place, "delta": piece}
    yield {"type": f"{name}_text.done", **place, "text": part["text"]}
    yield {"type": f"{name}_part.done", **place, "part": part}


def _broken(fault: Refused, answer: Streamed, exchange: Exchange, items: Sequence[Json]) -> Json:
    """The error in a stream. Its schema is flat; what comes over the wire has it within `error`."""
    error: Json = refused(fault, exchange.model)[1]["error"]
    if answer.told == "event":
        return {"type": "error", "error": error}
    if answer.told == "flat":
        return {"type": "error", **{key: error[key] for key in ("code", "message", "param")}}
    told = {key: error[key] for key in ("code", "message")}
    return {
        "type": "response.failed",
        "response": _response(exchange, status="failed", output=items) | {"error": told},
    }


# ── the objects ────────────────────────────────────────────────────────────────────────────────────────


def _items(answer: Streamed, exchange: Exchange) -> list[Json]:
    """The output items. Of an answer that was stopped the last one is incomplete."""
    items = [_item(block, exchange, index) for index, block in enumerate(answer.blocks)]
    if answer.declined is not None:
        items.append(_message(exchange, len(items), {"type": "refusal", "refusal": answer.declined}))
    if items and answer.stop in _INCOMPLETE and items[-1]["type"] != "reasoning":
        items[-1]["status"] = "incomplete"
    return items


def _item(block: Block, exchange: Exchange, index: int) -> Json:
    match block:
        case Text():
            part = {"type": "output_text", "annotations": [], "logprobs": [], "text": block.text}
            return _message(exchange, index, part)
        case Thinking():
            return _reasoning(block, exchange, index)
        case ToolUse():
            given = json.dumps(dict(block.input), ensure_ascii=False)
            return {
                "id": _id("fc", exchange, index),
                "type": "function_call",
                "status": "completed",
                "call_id": block.id,
                "name": block.name,
                "arguments": given if block.malformed is None else block.malformed,
            }
    raise unsayable(block)


def _message(exchange: Exchange, index: int, part: Json) -> Json:
    return {
        "id": _id("msg", exchange, index),
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }


def _reasoning(block: Thinking, exchange: Exchange, index: int) -> Json:
    """Only who asks for it gets the summary, and the encrypted content, which is the block's signature."""
    asked = exchange.body.get("reasoning") or {}
    is_told = bool(asked.get("summary")) and not block.redacted
    item: Json = {
        "id": _id("rs", exchange, index),
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": block.thinking}] if is_told else [],
    }
    if "reasoning.encrypted_content" in (exchange.body.get("include") or ()):
        item["encrypted_content"] = block.thinking if block.redacted else block.signature
    return item


def _opening(item: Json) -> Json:
    """An item as it is announced. Its encrypted content may not be all there yet."""
    empty = {"content": [], "summary": [], "arguments": "", "status": "in_progress"}
    opened = {key: empty.get(key, value) for key, value in item.items()}
    if "encrypted_content" in item:
        opened["encrypted_content"] = item["encrypted_content"][:-1]
    return opened


def _id(kind: str, exchange: Exchange, index: int) -> str:
    return f"{kind}_{exchange.number:06}{index:02}"


def _ended(answer: Streamed, exchange: Exchange, items: Sequence[Json]) -> Json:
    reason = _INCOMPLETE.get(answer.stop or "")
    usage = None if exchange.usage is None else _usage(answer, exchange.usage)
    ended = _response(exchange, status="incomplete" if reason else "completed", output=items)
    return ended | {"incomplete_details": {"reason": reason} if reason else None, "usage": usage}


def _response(exchange: Exchange, *, status: str, output: Sequence[Json] = ()) -> Json:
    """A response object, which repeats what was asked for."""
    body = exchange.body
    reasoning = body.get("reasoning") or {}
    return {
        "id": f"resp_{exchange.number:06}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": False,
        "completed_at": CREATED if status == "completed" else None,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "max_tool_calls": None,
        "metadata": {},
        "model": exchange.model,
        "output": list(output),
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": None,
        "prompt_cache_key": body.get("prompt_cache_key"),
        "reasoning": {"effort": reasoning.get("effort"), "summary": reasoning.get("summary")},
        "safety_identifier": None,
        "service_tier": "default",
        "store": body.get("store", True),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium", **body.get("text", {})},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "user": None,
    }


def _usage(answer: Streamed, usage: Usage) -> Json:
    return {
        "input_tokens": usage.total_input,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": reasoned(answer)},
        "total_tokens": usage.total_input + usage.output,
    }
