"""What a server takes, and how a refusal changes that. Pure.

The dialects are the same in name only: one server wants `max_tokens` and the next refuses it, one caches by
a key, one knows no JSON schema. `of` says what is known of a server before it was asked; `without` reads a
refusal and gives up the one thing that it is about, so that the same question can be asked again. What was
given up stays so: for given manners a conversation's JSON is a prefix of its continuation's (A4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from memdir.model.messages import Request
from memdir.model.openai.said import Said, Server

Limit: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
Schema: TypeAlias = Literal["json_schema", "json_object"]

ROOM_TO_REASON = 2048
"""Tokens on top of what a structured answer needs: many models can't help reasoning, and it counts."""

SMALLEST_ANSWER = 512
"""Tokens; where a service leaves no more than that, the conversation is too long for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """What to send to a server, and how.

    `limit` names the bound on an answer, `most` is the largest that the model takes (None: any), `bound`:
    whether the Responses API takes one at all. `parts`: texts go as
    lists of parts, else as strings. `system`: it knows that role; `alternate`: its template wants user and
    assistant to take turns. `images`, `usage` (asked for while streaming), `cache_key`, `cache_marks`,
    `uncached` (caching can be declined), `parallel`, `schema`, `strict`, `effort`, `store` (said to be
    false), `encrypted`: what of the optional things it takes. `reasoning`: what the model thought goes back
    to it; `blank_reasoning`: the field must be there with each tool call, if only empty. `swapped`: the
    other `limit` was refused before.
    """

    server: Server = "unknown"
    limit: Limit = "max_tokens"
    most: int | None = None
    bound: bool = True
    parts: bool = False
    system: bool = True
    alternate: bool = False
    images: bool = True
    usage: bool = True
    cache_key: bool = False
    cache_marks: bool = False
    uncached: bool = False
    parallel: bool = False
    schema: Schema | None = "json_schema"
    strict: bool = False
    effort: bool = False
    store: bool = True
    encrypted: bool = True
    reasoning: bool = True
    blank_reasoning: bool = False
    swapped: bool = False


_MODEL = re.compile(r"gpt-(\d+)(?:\.(\d+))?")
_NOT_STRICT = frozenset(
    {
        "allOf",
        "default",
        "else",
        "if",
        "not",
        "oneOf",
        "patternProperties",
        "propertyNames",
        "then",
        "uniqueItems",
    }
)
"""Words of JSON Schema that strict mode refuses, the likely ones."""
_PORTS: Mapping[int | None, Server] = {11434: "ollama", 1234: "lmstudio"}
"""Ports that one program uses and hardly another one; 8000 and 8080 say nothing."""


# -- what is known beforehand ----------------------------------------------------------------------------


def of(url: str | None, model: str, server: Server | None = None) -> Manners:
    """The manners of whoever is at that address (None: OpenAI itself), for that model."""
    server = server or server_at(url)
    match server:
        case "openai":
            reasons = _reasons(model)
            return Manners(
                server=server,
                limit="max_completion_tokens",
                parts=True,
                cache_key=True,
                uncached=_version(model) >= (5, 6),
                strict=True,
                effort=reasons,
                encrypted=reasons,
            )
        case "openrouter":
            return Manners(server=server, parts=True, cache_marks=model.startswith("anthropic/"))
        case "llamacpp":
            return Manners(server=server, parallel=True)
        case _:
            return Manners(server=server)


def server_at(url: str | None) -> Server:
    """Who answers at an address, as far as it shows; on this machine the usual ports tell."""
    if url is None:
        return "openai"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # it is none
        return "unknown"
    if host == "api.openai.com" or host.endswith(".api.openai.com"):
        return "openai"
    if host == "openrouter.ai":
        return "openrouter"
    return _PORTS.get(port, "unknown")


def _version(model: str) -> tuple[int, int]:
    found = _MODEL.match(model)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def _reasons(model: str) -> bool:
    """Whether one of OpenAI's models reasons; an unknown one does, and says so if not."""
    return re.match(r"(?:ft:)?(?:gpt-[34]|chatgpt-|gpt-5[\w.-]*-chat)", model) is None


def effort(request: Request) -> str | None:
    """How hard to think, in OpenAI's words; None: as hard as it likes. Structured questions are small."""
    budget = request.prefix.thinking
    if request.schema is not None:
        return "low"
    if budget is None:
        return None
    return "low" if budget <= 2048 else "medium" if budget <= 16_384 else "high"


def longest_answer(request: Request, manners: Manners, *, room: int | None = None) -> int:
    """The bound on an answer, in tokens. `room` is what the window leaves, where that is known; a server that
    counts the bound as taken refuses otherwise."""
    wanted = request.prefix.max_tokens + (request.prefix.thinking or 0)
    wanted += ROOM_TO_REASON if request.schema is not None else 0
    bounds = [bound for bound in (manners.most, room) if bound is not None]
    return min([wanted, *(max(SMALLEST_ANSWER, bound) for bound in bounds)])


def takes_strictly(schema: object) -> bool:
    """Whether OpenAI's strict mode takes a schema: every object in it names all its properties as required,
    and allows no others."""
    if isinstance(schema, list):
        return all(takes_strictly(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if _NOT_STRICT & schema.keys():
        return False
    if schema.get("type") == "object" or "properties" in schema:
        named = set(schema.get("properties", {}))
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != named:
            return False
        return all(takes_strictly(inner) for inner in schema.get("properties", {}).values())
    return all(takes_strictly(inner) for inner in schema.values())


# -- what a refusal teaches ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How long an answer may be, by a refusal: `most` tokens; because of the `window`, if that is named, and
    then for this request only, of which `used` tokens are taken (None: nobody counted them)."""

    most: int
    window: int | None = None
    used: int | None = None


def room(refusal: Said, *, asked: int) -> Room | None:
    """After a refusal because the answer might become too long, which says how long it may be; None for any
    other. `asked` is the bound that was sent."""
    if refusal.status not in (400, 402, 404, 422, 500) or not _LONG_ANSWER.search(refusal.text):
        return None
    text = refusal.text.replace(",", "")
    for pattern, read in _BOUNDS:
        if found := re.search(pattern, text, re.IGNORECASE | re.DOTALL):
            return read(asked, *(int(number or 0) for number in found.groups()))
    return None


def without(manners: Manners, refusal: Said, *, asked: int, pictures: bool = False) -> Manners | None:
    """The manners after a refusal, with one thing given up; None if it is about nothing that can be.

    `asked` is the bound on the answer that was sent, `pictures` whether the request held any. Each change
    goes one way, so there is an end to them. What only one request has no room for is no matter of manners.
    """
    if refusal.status not in (400, 402, 404, 422, 500):
        return None
    if (bound := room(refusal, asked=asked)) is not None:
        is_less = bound.window is None and SMALLEST_ANSWER <= bound.most < asked
        return replace(manners, most=bound.most) if is_less else None
    if refusal.status == 402:
        return None
    words = f"{refusal.param} {refusal.code} {refusal.text}"
    if pictures and manners.images and _SEES_NOTHING.search(words):
        return replace(manners, images=False)
    for pattern, changed in _CHANGES:
        if re.search(pattern, words, re.IGNORECASE):
            after = changed(manners)
            if after is not None and after != manners:
                return after
    return None


_LONG_ANSWER = re.compile(
    r"max_tokens|max_output_tokens|max_completion_tokens|output tokens|in the (?:output|completion)"
)


def _most(_asked: int, most: int) -> Room:
    return Room(most=most)


def _left(_asked: int, window: int, *used: int) -> Room:
    return Room(most=window - sum(used) - 1, window=window, used=sum(used))


def _half(asked: int, window: int) -> Room:
    """vLLM stops counting an input that is too long, so how long it is remains open."""
    return Room(most=min(asked, window) // 2, window=window)


_BOUNDS: tuple[tuple[str, Callable[..., Room]], ...] = (
    (r"can only afford (\d+)", _most),
    (r"supports at most (\d+) (?:completion|output) tokens", _most),
    (r"too large: \d+.*?\(\d+ > (\d+) - (\d+)\)", _left),
    (r"context length is (\d+) tokens.*?requested \d+ output tokens.*?at least \d+ input tokens", _half),
    (
        r"passed (\d+) input tokens.*?context length is only (\d+)",
        lambda asked, used, window: _left(asked, window, used),
    ),
    (
        (
            r"context length is (\d+) tokens.*?\((\d+) (?:in the messages|of text input)"
            r"(?:\D*?(\d+) of tool input)?"
        ),
        _left,
    ),
    (r"cannot be greater than max_model_len\D*?(\d+)", _half),
    (r"max_tokens: \d+ > (\d+)", _most),
    (r"range of max_\w*tokens is \[\d+ (\d+)\]", _most),
    (
        r"max_\w*tokens\W* (?:must be|should be)? ?(?:less than or equal to|at most|<=) \W?(\d+)",
        _most,
    ),
    (r"max_\w*tokens.{0,20}exceeds (?:the )?model.{0,20}?limit\D{0,9}(\d+)", _most),
)
"""Wordings that tell how long an answer may be."""

_SEES_NOTHING = re.compile(
    r"(?:not|n't) support (?:image|vision|multimodal)|image input is not supported|mmproj"
    r"|not a multimodal model|no endpoints found that support image|unknown variant .?image_url",
    re.IGNORECASE,
)
"""Words for a model or a server that takes no pictures at all. What is wrong with one picture is told."""


def _swapped(manners: Manners) -> Manners | None:
    """The other name of the bound on an answer; once, or there might be no end to it."""
    if manners.swapped:
        return None
    other: Limit = "max_completion_tokens" if manners.limit == "max_tokens" else "max_tokens"
    return replace(manners, limit=other, swapped=True)


def _schemaless(manners: Manners) -> Manners:
    """One step down: strictly a schema, a schema, any JSON object, nothing."""
    if manners.strict:
        return replace(manners, strict=False)
    return replace(manners, schema="json_object" if manners.schema == "json_schema" else None)


def _giving_up(**changes: Any) -> Callable[[Manners], Manners]:
    return lambda manners: replace(manners, **changes)


def _field(name: str) -> str:
    """The ways in which a field of the request is named: as `param`, quoted, by its path, or as unwanted."""
    return (
        rf"^{name}\b|['\"`]{name}['\"`]|\bbody\.{name}\b"
        rf"|\b{name}\b.{{0,30}}(?:permitted|supported|unknown)|supplied: {name}\b"
    )


_CHANGES: tuple[tuple[str, Callable[[Manners], Manners | None]], ...] = (
    (r"must be passed back", _giving_up(blank_reasoning=True)),
    (_field("max_output_tokens"), _giving_up(bound=False)),
    (
        r"max_completion_tokens' instead|(?:parameter: |^)'?max_(?:completion_)?tokens|"
        + _field("max_(?:completion_)?tokens"),
        _swapped,
    ),
    (r"stream_options|include_usage", _giving_up(usage=False)),
    (r"prompt_cache_options", _giving_up(uncached=False)),
    (r"prompt_cache_key", _giving_up(cache_key=False)),
    (r"cache_control", _giving_up(cache_marks=False)),
    (r"parallel_tool_calls", _giving_up(parallel=False)),
    (
        (
            r"reasoning_(?:content|details)|of type 'reasoning'|invalid_encrypted_content|thinking block"
            r"|(?:thinking|reasoning)\W.{0,60}\bsignature\b|\bsignature\b.{0,60}\W(?:thinking|reasoning)"
            r"|could not be (?:verified|decrypted)"
        ),
        _giving_up(reasoning=False),
    ),
    (rf"{_field('include')}|encrypted content|encrypted_content", _giving_up(encrypted=False)),
    (rf"reasoning.?effort|{_field('reasoning')}", _giving_up(effort=False)),
    (_field("store"), _giving_up(store=False)),
    (r"invalid schema for function|\bstrict\b", _giving_up(strict=False)),
    (r"response_format|json_schema|text\.format|body\.text\b|json_object", _schemaless),
    (r"system (?:role|message).{0,40}not supported|system role", _giving_up(system=False)),
    (r"must alternate|roles? .{0,40}alternat", _giving_up(alternate=True)),
    (
        r"content.{0,80}(?:must be|should be|expected|valid).{0,20}str|invalid message (?:format|content)",
        _giving_up(parts=False),
    ),
)
"""What a refusal is about, by its words, and what is given up then. The first that changes anything counts.
"""
