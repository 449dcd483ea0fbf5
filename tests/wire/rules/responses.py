"""What the Responses API refuses, and one thing that we do: that the service keeps what was said."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tests.wire.rules import openai

Json = Mapping[str, Any]

COUNTED = {
    "conversation", "input", "instructions", "model", "parallel_tool_calls", "personality",
    "previous_response_id", "reasoning", "text", "tool_choice", "tools", "truncation",
}  # fmt: skip
"""The fields of a count."""
FIELDS = COUNTED - {"personality"} | {
    "access_programs", "background", "background_options", "context_management", "image", "include",
    "max_output_tokens", "max_tool_calls", "metadata", "moderation", "prompt", "prompt_cache_key",
    "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "service_tier", "store", "stream",
    "stream_options", "temperature", "top_logprobs", "top_p", "user",
}  # fmt: skip
"""The fields of a request."""
INCLUDABLE = {
    "code_interpreter_call.outputs", "computer_call_output.output.image_url", "file_search_call.results",
    "message.input_image.image_url", "message.output_text.logprobs", "reasoning.encrypted_content",
    "web_search_call.action.sources", "web_search_call.results",
}  # fmt: skip

LEAST_OUTPUT = 16
_MOVED = {"messages": "input", "response_format": "text.format", "max_tokens": "max_output_tokens",
          "max_completion_tokens": "max_output_tokens", "reasoning_effort": "reasoning.effort"}  # fmt: skip
_KEYS = {
    "message": {"type", "role", "content", "id", "status", "phase"},
    "function_call": {"type", "call_id", "name", "arguments", "id", "status"},
    "function_call_output": {"type", "call_id", "output", "id", "status"},
    "reasoning": {"type", "id", "summary", "content", "encrypted_content", "status"},
}
_IDS = {"message": "msg", "function_call": "fc", "function_call_output": "fc", "reasoning": "rs"}
_INPUT_PARTS = {"input_text", "input_image", "input_file"}
_OUTPUT_PARTS = {"output_text", "refusal"}


def objection(body: Json, *, counting: bool = False, takes: Collection[str] = ()) -> str | None:
    """The first thing wrong with a request, or None."""
    return next(_objections(body, counting=counting, takes=takes), None)


def _objections(body: Json, *, counting: bool, takes: Collection[str]) -> Iterator[str]:
    for key in sorted(body.keys() - (COUNTED if counting else FIELDS) - set(takes)):
        hint = f"; in the Responses API, this parameter has moved to '{_MOVED[key]}'" if key in _MOVED else ""
        yield f"unknown parameter: '{key}'{hint}"
    for key in ("model", "input"):
        if not body.get(key):
            yield f"missing required parameter: '{key}'"
    yield from openai.common_objections(body)
    if not counting:
        yield from _setting_objections(body)
    if body.get("previous_response_id") or body.get("conversation"):
        yield "previous_response_id: nothing is kept here that could be gone on with"
    for number, tool in enumerate(body.get("tools") or ()):
        if tool.get("type") != "function" or "function" in tool:
            yield f"tools[{number}]: must be of type function, and described without a 'function' around it"
        if "strict" not in tool:
            yield f"tools[{number}].strict: missing; the service may then change the schema to a strict one"
        yield from openai.function_objections(tool, f"tools[{number}]")
    format_ = body.get("text", {}).get("format", {"type": "text"})
    if format_.get("type") == "json_schema":
        yield from openai.format_objections(format_, "text.format")
    elif format_.get("type") not in ("text", "json_object"):
        yield "text.format.type: must be one of text, json_schema, json_object"
    yield from _input_objections(body.get("input") or ())


def _setting_objections(body: Json) -> Iterator[str]:
    if body.get("store") is not False:
        yield "store: must be false, the service is to keep nothing"
    for included in body.get("include") or ():
        if included not in INCLUDABLE:
            yield f"include: unknown value '{included}'"
    if (body.get("max_output_tokens") or LEAST_OUTPUT) < LEAST_OUTPUT:
        yield f"max_output_tokens: expected a value >= {LEAST_OUTPUT}"
    if (body.get("stream_options") or {}).keys() - {"include_obfuscation"}:
        yield "stream_options: unknown parameter"
    if (body.get("reasoning") or {}).keys() - {"effort", "summary", "generate_summary", "context", "mode"}:
        yield "reasoning: unknown parameter"


def _input_objections(items: str | Sequence[Json]) -> Iterator[str]:
    if isinstance(items, str):
        return
    for number, item in enumerate(items):
        where, kind = f"input[{number}]", _kind(item)
        if kind not in _KEYS:
            yield f"{where}.type: unexpected item '{kind}'"
            continue
        for key in sorted(item.keys() - _KEYS[kind]):
            yield f"{where}: unknown parameter '{key}'"
        if item.get("id") is not None and not str(item["id"]).startswith(f"{_IDS[kind]}_"):
            yield f"{where}.id: expected an ID that begins with '{_IDS[kind]}'"
        match kind:
            case "message":
                yield from _message_objections(item, where)
            case "reasoning":
                yield from _reasoning_objections(item, items[number + 1 : number + 2], where)
            case "function_call":
                if not item.get("call_id") or not item.get("name"):
                    yield f"{where}: a call needs its call_id and the function's name"
                yield from openai.arguments_objections(item.get("arguments"), f"{where}.arguments")
            case "function_call_output":
                yield from _content_objections(item.get("output"), _INPUT_PARTS, f"{where}.output")
    yield from _pairing_objections(items)


def _message_objections(item: Json, where: str) -> Iterator[str]:
    role = item.get("role")
    if role not in ("user", "assistant", "system", "developer"):
        yield f"{where}.role: unexpected role"
    if "id" in item and isinstance(item.get("content"), str):
        yield f"{where}.content: of an output message that has an id it must be a list"
    parts = _OUTPUT_PARTS if role == "assistant" else _INPUT_PARTS
    yield from _content_objections(item.get("content"), parts, f"{where}.content")


def _content_objections(content: Any, allowed: Collection[str], where: str) -> Iterator[str]:
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        yield f"{where}: must be a string or a list of parts"
        return
    for part in content:
        kind = part.get("type")
        if kind not in allowed:
            yield f"{where}: invalid value '{kind}', supported are {', '.join(sorted(allowed))}"
        elif kind in ("input_text", "output_text") and not isinstance(part.get("text"), str):
            yield f"{where}: a text part needs its text"
        elif kind == "input_image":
            yield from openai.image_objections(part.get("image_url"), where)


def _reasoning_objections(item: Json, following: Sequence[Json], where: str) -> Iterator[str]:
    """Reasoning goes back as it came, and before what it led to."""
    if not item.get("id") or not isinstance(item.get("summary"), list):
        yield f"{where}: reasoning needs its id and its summary"
    if not item.get("encrypted_content"):
        yield f"{where}: item '{item.get('id')}' not found, nothing is persisted when `store` is false"
    is_output = bool(following) and (
        _kind(following[0]) in ("function_call", "reasoning") or following[0].get("role") == "assistant"
    )
    if not is_output:
        yield f"{where}: 'reasoning' was provided without its required following item"


def _pairing_objections(items: Sequence[Json]) -> Iterator[str]:
    """Each call has one output, somewhere after it."""
    open_calls: set[str] = set()
    known: set[str] = set()
    for item in items:
        call = str(item.get("call_id"))
        if _kind(item) == "function_call":
            if call in known:
                yield f"two calls with the call_id {call}"
            open_calls.add(call)
            known.add(call)
        elif _kind(item) == "function_call_output":
            if call not in open_calls:
                yield f"no tool call found for function call output with call_id {call}"
            open_calls.discard(call)
    for call in sorted(open_calls):
        yield f"no tool output found for function call {call}"


def _kind(item: Json) -> str:
    return str(item.get("type") or ("message" if "role" in item else None))
