"""What is read where a text, a list or a number is meant: servers are not strict, so readers aren't. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ABSURD = 10**12
"""Tokens; no count is as high."""


def words(value: object) -> str:
    """What is read where a text is meant: a number will do, and nothing is the empty text.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if value:
        raise ValueError("no text where one is meant")
    return ""


def fields(value: object) -> Mapping[str, Any]:
    """What is read where an object is meant; nothing is an empty one.

    Raises:
        ValueError: it is no object.
    """
    if isinstance(value, Mapping):
        return value
    if value:
        raise ValueError("no object where one is meant")
    return {}


def entries(value: object) -> list[Mapping[str, Any]]:
    """What is read where a list of objects is meant: empty ones are left out, a single one is a list, too.

    Raises:
        ValueError: it is something else, or holds something else.
    """
    listed = value if isinstance(value, list) else [value]
    return [entry for entry in map(fields, listed) if entry]


def place(index: object) -> int | None:
    """The number of a part, if it has one."""
    if isinstance(index, str) and index.isdecimal() and len(index) < 10:
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def count(value: object) -> int:
    """A count of tokens; 0 for what is none. No answer is to fail for it."""
    if isinstance(value, str):
        value = place(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0
    return int(value) if 0 <= value < _ABSURD else 0
