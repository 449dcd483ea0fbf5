"""What Chat Completions refuses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tests.wire.rules import openai

Json = Mapping[str, Any]

FIELDS = {
    "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
    "max_completion_tokens", "max_tokens", "messages", "metadata", "modalities", "model", "moderation", "n",
    "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options",
    "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed",
    "service_tier", "stop", "store", "stream", "stream_options", "temperature", "tool_choice", "tools",
    "top_logprobs", "top_p", "user", "verbosity", "web_search_options",
}  # fmt: skip
"""The fields of a request."""

_KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "refusal", "tool_calls", "audio", "function_call"},
    "tool": {"role", "content", "tool_call_id"},
}
_PARTS = {"user": {"text", "image_url", "input_audio", "file"}, "assistant": {"text", "refusal"}}


def objection(body: Json, *, counting: bool = False, takes: Collection[str] = ()) -> str | None:
    """The first thing wrong with a request, or None. `takes`: fields of a request or of an assistant's
    message that this server has beyond OpenAI's."""
    return next(_objections(body, takes), None)


def _objections(body: Json, takes: Collection[str]) -> Iterator[str]:
    for key in sorted(body.keys() - FIELDS - set(takes)):
        yield f"unrecognized request argument supplied: {key}"
    for key in ("model", "messages"):
        if not body.get(key):
            yield f"missing required parameter: '{key}'"
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        yield "setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported"
    yield from openai.common_objections(body)
    for number, tool in enumerate(body.get("tools") or ()):
        if tool.get("type") != "function" or not isinstance(tool.get("function"), dict):
            yield f"tools[{number}]: must be of type function, described in 'function'"
            continue
        yield from openai.function_objections(tool["function"], f"tools[{number}].function")
    yield from _format_objections(body)
    messages: Sequence[Json] = body.get("messages") or ()
    for number, message in enumerate(messages):
        yield from _message_objections(message, f"messages[{number}]", takes)
    yield from _pairing_objections(messages)


def _format_objections(body: Json) -> Iterator[str]:
    format_ = body.get("response_format", {"type": "text"})
    match format_.get("type"):
        case "text":
            return
        case "json_schema":
            yield from openai.format_objections(format_.get("json_schema", {}), "response_format.json_schema")
        case "json_object":
            if "json" not in str(body.get("messages")).lower():
                yield "'messages' must contain the word 'json' in some form, to use 'json_object'"
        case _:
            yield "response_format.type: must be one of text, json_schema, json_object"


def _message_objections(message: Json, where: str, takes: Collection[str]) -> Iterator[str]:
    role = str(message.get("role"))
    if role not in _KEYS:
        yield f"{where}.role: unexpected role"
        return
    for key in sorted(message.keys() - _KEYS[role] - (set(takes) if role == "assistant" else set())):
        yield f"{where}: unexpected field '{key}'"
    content = message.get("content")
    if content is None and not (
        role == "assistant" and (message.get("tool_calls") or message.get("refusal"))
    ):
        yield f"{where}.content: expected a string, got null"
    if isinstance(content, list):
        yield from _part_objections(content, _PARTS.get(role, {"text"}), f"{where}.content")
    elif not isinstance(content, str | None):
        yield f"{where}.content: must be a string or a list of parts"
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield f"{where}: missing required parameter 'tool_call_id'"
    if "tool_calls" in message:
        yield from _call_objections(message["tool_calls"], f"{where}.tool_calls")


def _part_objections(parts: Sequence[Json], allowed: Collection[str], where: str) -> Iterator[str]:
    if not parts:
        yield f"{where}: [] is too short"
    for part in parts:
        kind = part.get("type")
        if kind not in allowed:
            yield f"{where}: a part of type '{kind}' may not stand here"
        elif kind == "text" and not isinstance(part.get("text"), str):
            yield f"{where}: a text part needs its text"
        elif kind == "image_url":
            yield from openai.image_objections(part.get("image_url", {}).get("url"), where)


def _call_objections(calls: Any, where: str) -> Iterator[str]:
    if not isinstance(calls, list) or not calls:
        yield f"{where}: [] is too short"
        return
    for call in calls:
        function = call.get("function", {})
        if call.get("type") != "function" or not call.get("id") or not function.get("name"):
            yield f"{where}: a call needs an id, the type 'function' and the function's name"
        yield from openai.arguments_objections(function.get("arguments"), f"{where}.arguments")


def _pairing_objections(messages: Sequence[Json]) -> Iterator[str]:
    """Each call is answered by one message right after those that called, before anything else is said."""
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                yield f"messages[{number}]: role 'tool' must respond to a preceding message with 'tool_calls'"
            else:
                open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            break
        open_calls = [str(call.get("id")) for call in message.get("tool_calls") or ()]
        if len(set(open_calls)) < len(open_calls):
            yield f"messages[{number}]: two calls with one id"
    if open_calls:
        yield f"'tool_calls' must be followed by tool messages for each 'tool_call_id': {open_calls[0]}"
