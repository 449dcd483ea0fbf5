"""How each wire format asks, answers, and refuses. One module a format, all of the shape of `Dialect`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from memdir.model import tokens
from memdir.model.messages import Block, Thinking, Usage
from tests.wire.answers import Kind, Refused, Streamed

Json = dict[str, Any]

Reasoning = Literal["reasoning_content", "reasoning", "reasoning_details"]
"""In which field of Chat Completions, which has none for it, a server tells reasoning. `reasoning_details`
brings the text in `reasoning` too."""

CREATED = 1_790_000_000
"""When all that the server says was made, in seconds of the epoch."""

PIECE = 12
"""Texts stream in pieces of so many characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What a dialect has to know of a request to render the answer to it.

    `number`: that of the request, for ids. `usage`: None if the server does not tell it. `lean`: the events
    have only what local servers send.
    """

    body: Mapping[str, Any]
    number: int
    usage: Usage | None
    reasoning: Reasoning | None = None
    lean: bool = False

    @property
    def model(self) -> str:
        return str(self.body["model"])


class Dialect(Protocol):
    """A wire format. Requests and events are JSON."""

    @property
    def NAME(self) -> str:
        """The name of it: `messages`, `chat` or `responses`."""

    @property
    def CALL_ID(self) -> str:
        """What the ids of its tool calls begin with."""

    @property
    def REQUEST_ID(self) -> str:
        """The header that names a request."""

    def objection(
        self, body: Mapping[str, Any], *, counting: bool = False, takes: Collection[str] = ()
    ) -> str | None:
        """What the real service would refuse in a request, or None. `counting`: one for a count of tokens.
        `takes`: fields that this server takes beyond the format."""

    def whole(self, answer: Streamed, exchange: Exchange) -> Json:
        """The answer as one object."""

    def events(self, answer: Streamed, exchange: Exchange) -> Iterator[Json | str]:
        """The answer as the events of a stream; that of a cut one just ends."""

    def refused(self, fault: Refused, model: str) -> tuple[int, Json]:
        """The status and the object of an error."""

    def counted(self, size: int) -> Json:
        """The answer to a request for a count."""

    def parts(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """`tools`, `system` and `messages`, wherever this format has them."""

    def is_structured(self, body: Mapping[str, Any]) -> bool:
        """Whether a JSON object is asked for."""


def filled(fault: Refused, usual: Mapping[Kind, Refused], model: str) -> Refused:
    """The fault with what the dialect says where it says nothing itself."""
    known = usual[fault.kind]
    given = {
        name: value
        for name in ("status", "type", "message", "code", "param")
        if (value := getattr(fault, name)) is not None
    }
    said = replace(known, **given, body=fault.body)
    return replace(said, message=(said.message or "no").replace("{model}", model))


def cut(text: str) -> list[str]:
    """A text in the pieces that it streams in."""
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def reasoned(answer: Streamed) -> int:
    """About how many tokens of the answer are reasoning."""
    return sum(tokens.estimate(block.thinking) for block in answer.blocks if isinstance(block, Thinking))


def unsayable(block: Block) -> TypeError:
    return TypeError(f"a model does not say {type(block).__name__}")
