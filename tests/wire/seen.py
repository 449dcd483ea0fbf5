"""One request that the wire server had, in words that hold for every dialect."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memdir.model.messages import Usage
from tests.wire.dialects import Dialect

_PLACES = frozenset({"tools", "system", "messages"})
_CARRYING = frozenset({"tools", "system", "messages", "instructions", "input"})
"""The fields that the three places are made of, in one dialect or another."""

_NO_TEXT = frozenset(
    {"type", "role", "id", "call_id", "tool_call_id", "tool_use_id", "status", "signature", "data",
     "encrypted_content", "image_url", "media_type", "cache_control", "name"}
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request, and what came of it. `usage` is None if it was turned away, or nothing but a look."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: dict[str, Any]
    speaks: Dialect
    method: str = "POST"
    query: str = ""
    status: int = 0
    usage: Usage | None = None

    @property
    def dialect(self) -> str:
        """`messages`, `chat` or `responses`."""
        return self.speaks.NAME

    @property
    def is_structured(self) -> bool:
        """Whether it asks for a JSON object."""
        return self.speaks.is_structured(self.body)

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that it offers."""
        return tuple(tool.get("function", tool)["name"] for tool in self.body.get("tools") or ())

    @property
    def text(self) -> str:
        """All text of its messages, one line for each: what was said, called and answered."""
        return "\n".join(_texts(self.speaks.parts(self.body)["messages"]))

    def part(self, name: str) -> str:
        """`tools`, `system` or `messages`, wherever the dialect has them, or a field of the request: the JSON
        that was sent, without cache marks."""
        value = self.speaks.parts(self.body)[name] if name in _PLACES else self.body.get(name)
        return dump(_unmarked(value))

    def continues(self, parent: Seen) -> bool:
        """Whether this request has that one's bytes as its prefix: all the same, and more messages."""
        fields = ({*self.body, *parent.body} - _CARRYING) | {"tools", "system"}
        same = self.path == parent.path and all(self.part(key) == parent.part(key) for key in fields)
        return same and self.part("messages").startswith(parent.part("messages").removesuffix("]"))


def dump(value: Any) -> str:
    """As the SDKs write JSON; so a parsed body written again has the bytes it came with."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, inner in value.items():
                if key not in _NO_TEXT:
                    yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)


def _unmarked(value: Any) -> Any:
    match value:
        case dict():
            return {key: _unmarked(inner) for key, inner in value.items() if key != "cache_control"}
        case list():
            return [_unmarked(inner) for inner in value]
        case _:
            return value
