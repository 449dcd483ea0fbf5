"""JSON as models write it: the input of a tool call, and an object among other words. Pure.

Also what goes the other way: text that can be sent at all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Never

Json = dict[str, Any]


MOST_TRIES = 1000
"""Braces at which an object is looked for, in one text: prose has few, and code without end is no answer."""


MOST_NESTED = 100
"""So deep may JSON be: what was read once has to be written ever after, from anywhere."""


def sendable(text: str) -> str:
    """Without lone surrogates: a file name can hold them, UTF-8 can't. Two halves that some gateway parted
    become the one character that they are."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\ufffd", "?")
    return text


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
    at, tries = text.find("{"), MOST_TRIES
    while at >= 0 and tries:
        tries -= 1
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


def compact(value: object) -> str:
    """JSON as it travels inside a string.

    Raises:
        ValueError: it is nested too deep.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("nested too deep") from None


def clean(value: Any, *, room: int = MOST_NESTED) -> Any:
    """JSON that can be sent: without halves of characters.

    Raises:
        ValueError: it is nested too deep, or holds what JSON has no word for.
    """
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("no number of JSON's")
    if not isinstance(value, Mapping | list | tuple):
        return value
    if not room:
        raise ValueError("nested too deep")
    if isinstance(value, Mapping):
        return {sendable(str(key)): clean(inner, room=room - 1) for key, inner in value.items()}
    return [clean(inner, room=room - 1) for inner in value]


def is_whole(text: str) -> bool:
    """Whether a text can be sent unchanged: two halves of a character are one, one half is none."""
    try:
        text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return False
    return True


def sealed(value: Json) -> str:
    """JSON that must go back as it came, as a string; empty if it can't."""
    try:
        return compact(clean(value)) if is_whole(compact(value)) else ""
    except ValueError:
        return ""
