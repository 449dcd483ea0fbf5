"""JSON as models write it: the input of a tool call, and an object among other words. Pure.

Also what goes the other way: text that can be sent at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Never

Json = dict[str, Any]


def sendable(text: str) -> str:
    """Without lone surrogates: a file name can hold them, UTF-8 can't."""
    return text.encode("utf-8", "replace").decode("utf-8")


def tool_input(text: str) -> tuple[Json, str | None]:
    """The JSON object in `text` and None, or an empty one and the text that is no such object.

    No text is the empty object: that is how a call without arguments streams.
    """
    if not text:
        return {}, None
    try:
        value = json.loads(text, parse_constant=_no_number)
        json.dumps(value, ensure_ascii=False).encode()  # what can't be sent back is of no use
    except (ValueError, RecursionError):
        return {}, text
    return (value, None) if isinstance(value, dict) else ({}, text)


def objects(text: str) -> Iterator[Json]:
    """The JSON objects that stand in a text, in order: alone, fenced, or among other words."""
    decoder = json.JSONDecoder(parse_constant=_no_number)
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _no_number(name: str) -> Never:
    """`NaN` and the infinities: Python reads them, JSON has no such thing."""
    raise ValueError(name)
