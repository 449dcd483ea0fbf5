"""Structured output, also of servers that know none of it: find the object, check it, ask once more (R5).

A schema goes with the request, but many servers pass over it, and a model then answers with prose or with
JSON of another shape. What is meant is mostly there all the same; where it is not, one more question, which
says what was wrong, is cheaper than a failure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memdir.errors import BadReply
from memdir.model import json_text
from memdir.model.messages import Message, Reply, Request, Text, assistant

Schema = Mapping[str, Any]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def found(reply: Reply, schema: Schema) -> Reply | None:
    """The reply with nothing but the object that was asked for; None if it holds no such object.

    Of several the last counts: a model that reasons aloud comes to its answer at the end.
    """
    if reply.stop == "refusal":
        return None
    fitting = [value for value in json_text.objects(reply.text) if fault(value, schema) is None]
    if not fitting:
        return None
    text = json.dumps(fitting[-1], ensure_ascii=False)
    return replace(reply, message=replace(reply.message, content=(Text(text=text),)))


def again(request: Request, reply: Reply) -> Request | None:
    """The question once more, with the schema in words and what was wrong; None where it would not help: the
    model refused, or its answer did not fit into its tokens."""
    if request.schema is None or reply.stop in ("refusal", "max_tokens"):
        return None
    wrong = _wrong(reply, request.schema)
    words = (
        f"That is not what was asked for: {wrong}. Answer with one JSON object and nothing else, "
        f"no fence and no other words. It must fit this JSON Schema: {json.dumps(request.schema)}"
    )
    said = reply.text.strip() or "(nothing)"
    more = (assistant(said), Message(role="user", content=(Text(text=words),), origin="system"))
    return replace(request, messages=(*request.messages, *more))


def failed(reply: Reply, model: str) -> BadReply:
    """What to raise when there is no such object: says why (refused, cut off, or another shape), and never
    what it was."""
    if reply.stop == "refusal":
        return BadReply(f"{model} refused to answer")
    if reply.stop == "max_tokens":
        return BadReply(f"{model} did not answer with a JSON object, it was cut off at its token limit")
    return BadReply(f"{model} did not answer with the JSON object that was asked for")


def fault(value: object, schema: Schema, where: str = "the object") -> str | None:
    """The first thing in which a value is not what the schema says, in words for a model; None if nothing.

    Knows types, properties, required, items and their number, enum, the largest length of a text, and
    additionalProperties; what else a schema says is not looked at.
    """
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if kinds and not any(_is(value, kind) for kind in kinds):
        return f"{where} is not of type {' or '.join(kinds)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is none of the allowed values"
    if isinstance(value, dict):
        return _object_fault(value, schema, where)
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)) or len(value) < schema.get("minItems", 0):
            return f"{where} has a wrong number of items"
        items = schema.get("items", {})
        found = (fault(item, items, f"item {number} of {where}") for number, item in enumerate(value))
        return next((wrong for wrong in found if wrong), None)
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        return f"{where} is too long"
    return None


def _object_fault(value: Mapping[str, Any], schema: Schema, where: str) -> str | None:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{where} has no `{name}`"
    for name, inner in value.items():
        if name in properties:
            if wrong := fault(inner, properties[name], f"`{name}`"):
                return wrong
        elif schema.get("additionalProperties") is False:
            return f"{where} may have no `{name}`"
    return None


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES.get(kind, (object,)))


def _wrong(reply: Reply, schema: Schema) -> str:
    objects = list(json_text.objects(reply.text))
    return (fault(objects[-1], schema) if objects else None) or "there is no JSON object in it"
