"""What of an answer streams in pieces that have to be put together: reasoning, and tool calls. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from uuid import uuid4

from memdir.model.json_text import Json, tool_input
from memdir.model.messages import ToolUse

_OPEN, _CLOSE = "<think>", "</think>"
_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""The kinds of reasoning detail that stream in pieces, and where their text is."""


class Inline:
    """The text of an answer, without the reasoning that stands between tags at its very beginning: so it
    comes from servers that don't know a model's template. A tag may be cut anywhere."""

    def __init__(self) -> None:
        self.text = ""
        self.hidden = ""
        self._held = ""
        self._state = "start"

    @property
    def seen(self) -> bool:
        """Whether anything has come."""
        return bool(self.text or self.hidden or self._held)

    def take(self, piece: str) -> str:
        """Take in a piece; gives what of it, and of what was held back, is to be shown."""
        if not piece:
            return ""
        if self._state == "text":
            self.text += piece
            return piece
        self._held += piece
        if self._state == "start":
            begun = self._held.lstrip()
            if _OPEN.startswith(begun[: len(_OPEN)]) and len(begun) < len(_OPEN):
                return ""
            if not begun.startswith(_OPEN):
                return self._show(self._held)
            self._state, self._held = "hidden", begun[len(_OPEN) :]
        if self._state == "hidden":
            at = self._held.find(_CLOSE, max(0, len(self._held) - len(piece) - len(_CLOSE)))
            if at < 0:
                return ""
            self.hidden, self._held = self._held[:at].strip(), self._held[at + len(_CLOSE) :]
            self._state = "between"
        rest = self._held.lstrip()
        return self._show(rest) if rest else ""

    def end(self) -> str:
        """The text is over; gives what was held back and is no reasoning after all."""
        held, self._held = self._held, ""
        if self._state == "hidden":
            self.hidden = held.strip()
        return self._show(held) if self._state == "start" and held else ""

    def _show(self, text: str) -> str:
        self._state, self._held = "text", ""
        self.text += text
        return text


class Details:
    """The fields of reasoning, put together so that they can go back as they came."""

    def __init__(self) -> None:
        self._text = ""
        self._name: str | None = None
        self._details: list[Json] = []

    @property
    def text(self) -> str:
        """The reasoning in words, as far as it is told."""
        return self._text or "".join(
            str(detail.get(_GROWING.get(detail.get("type", ""), "")) or "") for detail in self._details
        )

    def take(self, delta: Mapping[str, object]) -> None:
        """Take in a delta. Some servers send the same words under two names: the first one met counts."""
        name = self._name or next(
            (name for name in ("reasoning_content", "reasoning") if isinstance(delta.get(name), str)), None
        )
        if name is not None and isinstance(piece := delta.get(name), str):
            self._name = name
            self._text += piece
        details = delta.get("reasoning_details")
        for detail in details if isinstance(details, list) else ():
            self._merge(dict(detail))

    def fields(self) -> Json:
        """What to put on the message when it goes back; empty if there was no reasoning."""
        if self._details:
            return {"reasoning_details": self._details}
        return {self._name: self._text} if self._name else {}

    def _merge(self, detail: Json) -> None:
        """Put a piece to the one that it continues: the last one of its kind at its place."""
        words = _GROWING.get(detail.get("type", ""))
        last = self._details[-1] if self._details else {}
        if words is None or any(last.get(key) != detail.get(key) for key in ("type", "index")):
            self._details.append(detail)
            return
        text = (last.get(words) or "") + (detail.get(words) or "")
        last.update({key: value for key, value in detail.items() if value is not None})
        last[words] = text


@dataclass(slots=True)
class _Call:
    """A tool call that is coming in."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Calls:
    """The calls of an answer, in the order in which they began."""

    all: list[_Call] = field(default_factory=list)
    _at: dict[int, _Call] = field(default_factory=dict)

    def take(self, delta: Json) -> None:
        """Take in a piece of one. It goes by its index; where there is none by its id, or to the last call.
        A piece with another id and a name begins a call, whatever its index."""
        function = delta.get("function") or {}
        id_, name = delta.get("id") or "", function.get("name") or ""
        call = self._find(delta.get("index"), id_, name)
        call.id = call.id or id_
        if name != call.name:
            call.name += name
        arguments = function.get("arguments") or ""
        call.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments)

    def _find(self, index: int | None, id_: str, name: str) -> _Call:
        if index is None:
            same = [call for call in self.all if id_ and call.id == id_] or ([] if name else self.all[-1:])
            return same[-1] if same else self._begin(None)
        call = self._at.get(index)
        return self._begin(index) if call is None or (name and id_ and call.id and call.id != id_) else call

    def _begin(self, index: int | None) -> _Call:
        call = _Call()
        self.all.append(call)
        if index is not None:
            self._at[index] = call
        return call

    def blocks(self) -> Iterator[ToolUse]:
        """The calls, each with an id that no other has."""
        used: set[str] = set()
        for call in self.all:
            id_ = call.id if call.id and call.id not in used else f"call_{uuid4().hex[:24]}"
            used.add(id_)
            given, malformed = tool_input(call.arguments.strip())
            yield ToolUse(id=id_, name=call.name, input=given, malformed=malformed)
