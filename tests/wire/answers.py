"""What a wire server can be told to answer, in words that hold for every dialect.

Blocks (`say`, `think`, `call` of `memdir.testing`) are a whole answer; `Refused` turns the request away with
a status; `Streamed` is an answer with something special about it, its end above all. How each of them looks
on the wire is the business of `tests.wire.dialects`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from memdir.model.messages import Block, Text, ToolUse
from tests.wire import wordings

Json = dict[str, Any]

Kind = Literal[
    "overloaded",
    "rate_limited",
    "key_refused",
    "forbidden",
    "unknown_model",
    "too_long",
    "quota",
    "tools_refused",
    "field_refused",
    "invalid",
    "no_such_path",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The request is turned away. What is None here, the dialect says in its own way.

    `body` is sent as it is in place of the dialect's own error object: servers that follow OpenAI's format do
    not follow it in their errors.
    """

    kind: Kind
    status: int | None = None
    type: str | None = None
    message: str | None = None
    code: str | int | None = None
    param: str | None = None
    body: Json | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """An answer of these blocks. `stop` is its stop reason in Anthropic's words, if not the natural one.

    `end`: `whole`; `cut` (the connection goes away in the middle of the last block); `early` (the stream
    ends in good order after the blocks, and nothing says why the answer did); `no_done` (only the last mark
    of the stream is missing); or an error that comes after the blocks, `told` as an event of its own, as a
    `flat` one (Responses: fields beside the type) or as the answer's own `ending` (`response.failed`; a
    `finish_reason` of `error`). `declined`: the model declines, with these words. `metered`: whether the
    usage is told.
    """

    blocks: Sequence[Block] = ()
    stop: str | None = None
    end: Literal["whole", "cut", "early", "no_done"] | Refused = "whole"
    told: Literal["event", "flat", "ending"] = "event"
    declined: str | None = None
    metered: bool = True


# ── turned away ────────────────────────────────────────────────────────────────────────────────────────


def overloaded(*, pause: str = "0.001", status: int | None = None) -> Refused:
    """529 or 503; `pause` is its retry-after, in seconds."""
    return Refused(kind="overloaded", status=status, headers={"retry-after": pause})


def rate_limited(*, pause: str = "0.001", code: str | None = None) -> Refused:
    """429, with a retry-after."""
    return Refused(kind="rate_limited", code=code, headers={"retry-after": pause})


def key_refused(status: int = 401) -> Refused:
    """401 (no such key) or 403 (may not do this)."""
    return Refused(kind="key_refused" if status == 401 else "forbidden")


def unknown_model() -> Refused:
    """404."""
    return Refused(kind="unknown_model")


def quota(server: wordings.Server | None = None) -> Refused:
    """The account can't pay: 402, or OpenAI's 429."""
    return Refused(kind="quota", **wordings.said(wordings.QUOTA, server))


def too_long(server: wordings.Server | None = None) -> Refused:
    """400 as a rule; in the words of `server`, if named. The Responses API tells it in the stream as well:
    `breaks(too_long())`."""
    return Refused(kind="too_long", **wordings.said(wordings.TOO_LONG, server))


def tools_refused(server: wordings.Server | None = "ollama") -> Refused:
    """The model or its server takes no tools, in the words of `server`."""
    return Refused(kind="tools_refused", **wordings.said(wordings.TOOLS_REFUSED, server))


def refuses_field(name: str) -> Refused:
    """400: this model does not take that field of the request."""
    message = f"Unsupported parameter: '{name}' is not supported with this model."
    return Refused(kind="field_refused", message=message, param=name)


def refused(status: int, body: Json) -> Refused:
    """Any status, with any JSON."""
    return Refused(kind="invalid", status=status, body=body)


# ── answered, but ──────────────────────────────────────────────────────────────────────────────────────


def cut_off(*blocks: Block) -> Streamed:
    """The connection goes away in the middle of the last of these blocks."""
    return Streamed(blocks=blocks, end="cut")


def breaks(fault: Refused, *blocks: Block, told: Literal["event", "flat", "ending"] = "event") -> Streamed:
    """An answer that begins well, and then ends with an error."""
    return Streamed(blocks=blocks, end=fault, told=told)


def stopped(reason: str, *blocks: Block) -> Streamed:
    """An answer that ends for this reason (`max_tokens`, `refusal`, …)."""
    return Streamed(blocks=blocks, stop=reason)


def declines(words: str) -> Streamed:
    """The model declines, with these words where the dialect has a place for them."""
    return Streamed(declined=words)


def ends_early(*blocks: Block) -> Streamed:
    """The stream ends in good order, with no word on why the answer does."""
    return Streamed(blocks=blocks, end="early")


def shows_no_done(*blocks: Block) -> Streamed:
    """A whole answer, but the stream lacks its last mark (`[DONE]`, `message_stop`)."""
    return Streamed(blocks=blocks, end="no_done")


def no_usage(*blocks: Block) -> Streamed:
    """A whole answer of a server that does not tell what it took."""
    return Streamed(blocks=blocks, metered=False)


def garbled_call(tool: str, text: str) -> ToolUse:
    """A tool call whose input is this text, which need not be JSON."""
    return ToolUse(id="", name=tool, input={}, malformed=text)


def written_call(made: ToolUse, *, style: Literal["plain", "fenced", "tagged"] = "plain") -> Text:
    """A tool call that the model's server does not recognise: it comes as text."""
    written = json.dumps({"name": made.name, "arguments": dict(made.input)}, ensure_ascii=False)
    frames = {"plain": "{}", "fenced": "```json\n{}\n```", "tagged": "<tool_call>\n{}\n</tool_call>"}
    return Text(text=frames[style].replace("{}", written, 1))
