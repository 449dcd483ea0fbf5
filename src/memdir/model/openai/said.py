"""What a service says about an error, in one shape, whatever it wrapped it in. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from memdir.model import refusals

Server: TypeAlias = Literal["openai", "openrouter", "ollama", "lmstudio", "vllm", "llamacpp", "unknown"]
SERVERS: tuple[Server, ...] = get_args(Server)
"""Whose program answers; servers differ less by dialect than by who wrote them."""

_LONGEST = 2000
"""Characters of what a service says that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a service said about an error, in one line at most. `status` is None for an error in a stream."""

    status: int | None = None
    code: str = ""
    kind: str = ""
    param: str = ""
    text: str = ""

    @property
    def all(self) -> str:
        """Code, kind and text, to look for words in."""
        return f"{self.code} {self.kind} {self.text}"


class InStream(Exception):
    """An error that a service sent as an event of its answer. `body` is what it sent, and no message for
    anybody."""

    def __init__(self, body: object) -> None:
        super().__init__("the service sent an error")
        self.body = body


def said(error: BaseException | None) -> Said:
    """What a service said, unwrapped; empty for an error that is none of a service's."""
    body = getattr(error, "body", None)
    status = getattr(error, "status_code", None)
    return _read(body, status if isinstance(status, int) and status >= 400 else None)


def _read(body: object, status: int | None) -> Said:
    """An error in whatever it is wrapped: a text, JSON in a text, an object, an object in an object."""
    if isinstance(body, str):
        try:
            inner = json.loads(body) if body.lstrip().startswith("{") else None
        except (ValueError, RecursionError):
            inner = None
        return _read(inner, status) if isinstance(inner, dict) else Said(status=status, text=_kept(body))
    if not isinstance(body, Mapping):
        return Said(status=status)
    wrapped = body.get("error")
    if wrapped and not isinstance(body.get("message"), str):
        return _read(wrapped, status)
    text = _message(body) or _detail(body.get("detail")) or str(body.get("error_message") or "")
    metadata = body.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("raw"):  # what a provider behind a router said itself
        text = f"{text}: {_read(metadata['raw'], status).text}"
    elif text.lstrip().startswith("{"):
        text = _read(text, status).text or text
    return Said(
        status=status,
        code=str(body.get("code") or ""),
        kind=str(body.get("type") or body.get("error_type") or ""),
        param=str(body.get("param") or ""),
        text=_kept(text),
    )


def _kept(text: str) -> str:
    """What is kept of a service's words: nothing of what was sent, that some repeat."""
    return refusals.without_echo(text)[:_LONGEST]


def _message(body: Mapping[str, Any]) -> str:
    """The message: a text, or faults (Mistral)."""
    message = body.get("message")
    if isinstance(message, Mapping):
        return _detail(message.get("detail")) or str(message)
    return str(message or "")


def _detail(detail: object) -> str:
    """What FastAPI says: a text, or faults. Of those only place and fault: they repeat what was sent."""
    if not isinstance(detail, list):
        return str(detail or "")
    faults = [fault for fault in detail if isinstance(fault, Mapping)]
    return "; ".join(f"{_place(fault.get('loc'))}: {fault.get('msg')}" for fault in faults)


def _place(loc: object) -> str:
    return ".".join(str(part) for part in loc) if isinstance(loc, list) else "request"
