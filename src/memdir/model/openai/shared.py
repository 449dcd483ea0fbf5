"""What both dialects of OpenAI's API have in common, there and back. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from memdir.model import lenient
from memdir.model.json_text import Json
from memdir.model.messages import Image, Request, ToolResult, Usage
from memdir.model.openai.manners import Manners
from memdir.model.openai.said import InStream

ANSWER = "answer"
"""What a schema is called; the API wants a name."""

NOTHING = "(no output)"
NO_PICTURE = "(a picture, which this model can't see)"

# -- there -----------------------------------------------------------------------------------------------


def caching(request: Request, manners: Manners) -> Json:
    """What tells the service about its prompt cache. The key brings parent and fork to the same machine, so
    it is made of what they share; a side query that nobody continues is not to be stored, where that costs.
    """
    if not request.cache:
        return {"prompt_cache_options": {"mode": "explicit"}} if manners.uncached else {}
    if not manners.cache_key:
        return {}
    prefix = request.prefix
    tools = [[tool.name, tool.description, dict(tool.schema)] for tool in prefix.tools]
    told = json.dumps([prefix.system, tools], sort_keys=True)
    return {"prompt_cache_key": "memdir-" + hashlib.sha256(told.encode()).hexdigest()[:24]}


def said_by_tool(result: ToolResult) -> str:
    """A tool's result in words; the API has no field for a failure."""
    said = result.content if result.content.strip() else NOTHING
    return f"Error: {said}" if result.is_error else said


def in_words(part: str | Image, manners: Manners) -> str | Image:
    """A picture, or what stands in its place for a model that sees none."""
    return NO_PICTURE if isinstance(part, Image) and not manners.images else part


def data_url(image: Image) -> str:
    """A picture as an address that holds it."""
    return f"data:{image.media_type};base64,{image.data}"


# -- and back --------------------------------------------------------------------------------------------


def fail_on_error(event: Any) -> None:
    """Raise what an event, or a part of it, says to have gone wrong.

    Raises:
        InStream: it says so.
    """
    if not isinstance(event, Mapping):
        raise ValueError("an event is no JSON object")
    if event.get("error"):
        raise InStream(event["error"])
    if event.get("error_message"):  # of some gateways
        raise InStream(event)


def parts(content: object) -> Iterator[tuple[str, str]]:
    """What a message is made of: `text`, `refusal` or `thinking`, and the words. A string is text.

    Raises:
        ValueError: it is no content.
    """
    for part in content if isinstance(content, list) else [content]:
        if not isinstance(part, Mapping):
            yield "text", lenient.words(part)
        elif part.get("type") == "thinking":
            told = part.get("thinking")
            inner = told if isinstance(told, list) else [told]
            yield "thinking", "".join(lenient.words(_text_of(piece)) for piece in inner)
        elif part.get("refusal"):
            yield "refusal", lenient.words(part["refusal"])
        else:
            yield "text", lenient.words(part.get("text"))


def _text_of(piece: object) -> object:
    return piece.get("text") if isinstance(piece, Mapping) else piece


def usage(told: object) -> Usage:
    """Tokens, under the names of either dialect. Input as it is told includes what the cache had or got."""
    if not isinstance(told, Mapping):
        return Usage()
    whole = _count(told, "prompt_tokens", "input_tokens")
    details = told.get("prompt_tokens_details") or told.get("input_tokens_details")
    read = min(_count(details, "cached_tokens"), whole)
    write = min(_count(details, "cache_write_tokens"), whole - read)
    return Usage(
        input=whole - read - write,
        cache_read=read,
        cache_write=write,
        output=_count(told, "completion_tokens", "output_tokens"),
    )


def _count(told: object, *names: str) -> int:
    counts = [lenient.count(told.get(name)) for name in names] if isinstance(told, Mapping) else []
    return next((found for found in counts if found), 0)
