"""What OpenAI's embeddings API refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memdir.model import tokens

Json = Mapping[str, Any]

FIELDS = {"dimensions", "encoding_format", "input", "model", "user"}
MOST_INPUTS = 2048
LONGEST_INPUT = 8192
"""Tokens."""
LONGEST_REQUEST = 300_000
"""Tokens of all inputs together."""


def objection(body: Json) -> str | None:
    """The first thing wrong with a request, or None; that an input is too long is not among it."""
    return next(_objections(body), None)


def inputs(body: Json) -> list[str | list[int]]:
    """What vectors are asked for, one each: texts, or tokens."""
    given = body["input"]
    is_one = isinstance(given, str) or isinstance(given[0], int)
    return [given] if is_one else given


def size(given: str | list[int]) -> int:
    """Tokens of an input."""
    return tokens.estimate(given) if isinstance(given, str) else len(given)


def _objections(body: Json) -> Iterator[str]:
    for key in sorted(body.keys() - FIELDS):
        yield f"unrecognized request argument supplied: {key}"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "you must provide a model parameter"
    if body.get("encoding_format", "float") not in ("float", "base64"):
        yield "encoding_format: must be one of float, base64"
    if "user" in body and not isinstance(body["user"], str):
        yield "user: expected a string"
    if "dimensions" in body and not (_is_whole(body["dimensions"]) and body["dimensions"] >= 1):
        yield "dimensions: expected a whole number, 1 or more"
    if "input" not in body:
        yield "missing required parameter: 'input'"
        return
    yield from _input_objections(body["input"])


def _input_objections(given: Any) -> Iterator[str]:
    if not isinstance(given, str | list):
        yield "'$.input' is invalid: expected a string or a list"
    elif not given:
        yield "'$.input' is invalid: it cannot be empty"
    elif isinstance(given, list):
        if len(given) > MOST_INPUTS:
            yield f"'$.input' is invalid: more than {MOST_INPUTS} entries"
        is_alike = all(isinstance(one, str) for one in given) or all(map(_is_whole, given))
        if not is_alike and not all(isinstance(one, list) and all(map(_is_whole, one)) for one in given):
            yield "'$.input' is invalid: expected strings, tokens, or lists of tokens"
        if any(one in ("", []) for one in given):
            yield "'$.input' is invalid: an entry cannot be empty"


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
