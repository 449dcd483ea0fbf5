"""What the Messages API refuses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

Json = Mapping[str, Any]

UNMARKABLE = {"thinking", "redacted_thinking"}
PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
COUNTED = {
    "cache_control", "messages", "model", "output_config", "speed", "system", "thinking", "tool_choice",
    "tools", "user_profile_id", "workspace_id",
}  # fmt: skip
"""The fields of a count."""
FIELDS = COUNTED | {
    "container", "diagnostics", "inference_geo", "max_tokens", "metadata", "service_tier", "stop_sequences",
    "stream",
}  # fmt: skip
"""The fields of a request."""


def objection(body: Json, *, counting: bool = False, takes: Collection[str] = ()) -> str | None:
    """The first thing wrong with a request, or None."""
    return next(_objections(body, counting=counting, takes=takes), None)


def _objections(body: Json, *, counting: bool, takes: Collection[str]) -> Iterator[str]:
    for key in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if not body.get(key):
            yield f"{key}: field required"
    for key in body.keys() - (COUNTED if counting else FIELDS) - set(takes):
        yield f"{key}: extra inputs are not permitted"
    messages = body.get("messages") or [{"role": "user", "content": []}]
    if messages[0]["role"] != "user":
        yield "messages: the first message must use the user role"
    for number, message in enumerate(messages):
        if message["role"] not in ("user", "assistant"):
            yield f"messages.{number}: unexpected role"
        if not message["content"]:
            yield f"messages.{number}: all messages must have non-empty content"
    system = [{"content": body["system"]}] if body.get("system") else []
    blocks = [*body.get("tools", []), *_content(system), *_content(messages)]
    yield from _block_objections(blocks)
    yield from _tool_objections(messages)


def _block_objections(blocks: Sequence[Json]) -> Iterator[str]:
    if sum("cache_control" in block for block in blocks) > 4:
        yield "a maximum of 4 blocks with cache_control may be provided"
    for block in blocks:
        kind = block.get("type")
        if kind == "text" and not block["text"].strip():
            yield "text content blocks must contain non-whitespace text"
        if kind == "thinking" and not block["signature"]:
            yield "thinking blocks must carry the signature they came with"
        if kind in UNMARKABLE and "cache_control" in block:
            yield f"cache_control cannot be set for {kind} blocks"
        if kind == "tool_result" and block.get("is_error") and not block.get("content"):
            yield "tool_result: content cannot be empty if is_error is true"
        if kind == "tool_result" and isinstance(block.get("content"), list):
            yield from _block_objections(block["content"])
        if kind == "tool_use" and not isinstance(block["input"], dict):
            yield "tool_use.input: input should be a valid dictionary"
        if kind == "image":
            yield from _image_objections(block["source"])


def _image_objections(source: Json) -> Iterator[str]:
    if source.get("type") == "base64" and (
        source.get("media_type") not in PICTURES or not source.get("data")
    ):
        yield "image.source: not a picture of a supported type"


def _tool_objections(messages: Sequence[Json]) -> Iterator[str]:
    """Calls and results must stand in neighbouring turns, results first."""
    open_calls: set[str] = set()
    for role, group in groupby(messages, key=lambda message: str(message["role"])):
        turn = list(_content(list(group)))
        if role == "assistant":
            open_calls = {block["id"] for block in turn if block["type"] == "tool_use"}
            continue
        results = [block["tool_use_id"] for block in turn if block["type"] == "tool_result"]
        if [block["type"] for block in turn[: len(results)]] != ["tool_result"] * len(results):
            yield "tool_result blocks must come before other content of their turn"
        if set(results) != open_calls or len(results) != len(open_calls):
            yield "each tool_use block must have one tool_result block in the next message, and the reverse"
        open_calls = set()
    if open_calls:
        yield "tool_use ids were found without tool_result blocks immediately after"


def _content(messages: Sequence[Json]) -> Iterator[Json]:
    for message in messages:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content
