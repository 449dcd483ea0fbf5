"""What both of OpenAI's formats refuse: loose schemas in strict mode, tool descriptions, arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONGEST_CACHE_KEY = 64
NOT_PERMITTED = {
    "allOf", "contains", "default", "dependentRequired", "dependentSchemas", "else", "if", "not", "oneOf",
    "patternProperties", "propertyNames", "then", "unevaluatedProperties", "uniqueItems",
}  # fmt: skip


def format_objections(format_: Json, where: str) -> Iterator[str]:
    """Of an output format: its name, and its schema where it is to be kept to strictly."""
    if not NAME.fullmatch(str(format_.get("name", ""))):
        yield f"{where}.name: must match {NAME.pattern}"
    if not isinstance(format_.get("schema"), dict):
        yield f"{where}.schema: missing"
    elif format_.get("strict"):
        if format_["schema"].get("type") != "object":
            yield f"{where}.schema: the root must be an object"
        yield from strict_objections(format_["schema"], f"{where}.schema")


def strict_objections(schema: Json, where: str) -> Iterator[str]:
    """Of a schema in strict mode: every object is closed, and all of its properties are required."""
    for keyword in sorted(schema.keys() & NOT_PERMITTED):
        yield f"{where}: '{keyword}' is not permitted"
    properties: Mapping[str, Json] = schema.get("properties", {})
    if "object" in _types(schema):
        if schema.get("additionalProperties") is not False:
            yield f"{where}: 'additionalProperties' is required to be supplied and to be false"
        if set(schema.get("required", ())) != set(properties):
            yield f"{where}: 'required' is required to be an array of every key in properties"
    for name, inner in properties.items():
        yield from strict_objections(inner, f"{where}.{name}")
    if isinstance(items := schema.get("items"), dict):
        yield from strict_objections(items, f"{where}[]")
    for inner in (*schema.get("anyOf", ()), *schema.get("$defs", {}).values()):
        yield from strict_objections(inner, where)


def function_objections(function: Json, where: str) -> Iterator[str]:
    """Of a function that the model may call."""
    if not NAME.fullmatch(str(function.get("name", ""))):
        yield f"{where}.name: must match {NAME.pattern}"
    parameters = function.get("parameters")
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        yield f"{where}.parameters: must be a JSON Schema of type object"
    elif function.get("strict"):
        yield from strict_objections(parameters, f"{where}.parameters")


def arguments_objections(arguments: Any, where: str) -> Iterator[str]:
    """Of the arguments of a call: a JSON object, as text. OpenAI takes any text; the servers that put them
    into a template do not."""
    try:
        given = json.loads(arguments)
    except (TypeError, ValueError):
        given = None
    if not isinstance(given, dict):
        yield f"{where}: must be the text of a JSON object"


def common_objections(body: Json) -> Iterator[str]:
    """Of settings that both formats have."""
    if len(str(body.get("prompt_cache_key") or "")) > LONGEST_CACHE_KEY:
        yield f"prompt_cache_key: longer than {LONGEST_CACHE_KEY} characters"
    if body.get("tools") == []:
        yield "tools: [] is too short"
    for key in ("tool_choice", "parallel_tool_calls"):
        if key in body and not body.get("tools"):
            yield f"'{key}' is only allowed when 'tools' are specified"
    if "stream_options" in body and not body.get("stream"):
        yield "the 'stream_options' parameter is only allowed when 'stream' is enabled"


def image_objections(url: Any, where: str) -> Iterator[str]:
    """Of a picture's address, which may hold the picture."""
    if not re.match(r"https?://|data:image/(png|jpeg|gif|webp);base64,.", str(url)):
        yield f"{where}: neither an address nor a picture of a supported type"


def _types(schema: Json) -> set[str]:
    kinds = schema.get("type", ())
    return {kinds} if isinstance(kinds, str) else set(kinds)
