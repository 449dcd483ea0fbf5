"""What of OpenAI's answers streams in pieces that are put together: reasoning, and tool calls. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memdir.model import json_text, lenient
from memdir.model.json_text import Json, sendable, tool_input
from memdir.model.lenient import words
from memdir.model.messages import ToolUse
from memdir.model.pieces import Joined, arguments, called

_OPEN, _CLOSE = "<think>", "</think>"
_QUOTES = ("`", "'", '"')
_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""The kinds of reasoning detail that stream in pieces, and where their text is."""


class Inline:
    """The text of an answer, without the reasoning that stands between tags at its very beginning: so it
    comes from servers that don't know a model's template. A tag may be cut anywhere.

    Some templates open the reasoning themselves, and only the end of it comes. That is known too late in a
    stream, where it has been shown as text by then and stays text: what is shown is what was said. It is
    taken for reasoning where the end comes before anything was shown, as in an answer that comes whole.
    """

    def __init__(self) -> None:
        self.text = ""
        self.hidden = ""
        self.seen = False
        self._held = ""
        self._state = "start"
        self._joined = Joined()

    def take(self, piece: str) -> str:
        """Take in a piece; gives what of it, and of what was held back, is to be shown."""
        self.seen = self.seen or bool(piece)
        return self._read(self._joined.take(piece))

    def end(self) -> str:
        """The text is over; gives what was held back and is no reasoning after all."""
        shown = self._read(self._joined.end())
        held, self._held = self._held, ""
        if self._state == "hidden":
            self.hidden, self._state = held.strip(), "between"
        return shown + (self._show(held) if self._state == "start" and held else "")

    def _read(self, piece: str) -> str:
        if not piece:
            return ""
        if self._state == "text":
            self.text += piece
            return piece
        self._held += piece
        if self._state == "start":
            begun = self._held.lstrip()
            if begun.startswith(_OPEN):
                self._state, self._held = "hidden", begun[len(_OPEN) :]
            elif _ends(begun):
                self._state = "hidden"
            elif _may_be_cut(begun):
                return ""
            else:
                return self._show(self._held)
        if self._state == "hidden":
            at = self._held.find(_CLOSE, max(0, len(self._held) - len(piece) - len(_CLOSE)))
            if at < 0:
                return ""
            self.hidden, self._held = self._held[:at].strip(), self._held[at + len(_CLOSE) :]
            self._state = "between"
        rest = self._held.lstrip()
        return self._show(rest) if rest else ""

    def _show(self, text: str) -> str:
        self._state, self._held = "text", ""
        self.text += text
        return text


def _ends(begun: str) -> bool:
    """Whether reasoning ends here that was not seen to begin. A tag in quotes is spoken of."""
    before, tag, _ = begun.partition(_CLOSE)
    return bool(tag) and not before.endswith(_QUOTES) and _OPEN[:-1] not in before


def _may_be_cut(begun: str) -> bool:
    """Whether a tag may be in the middle of coming."""
    ends = any(begun.endswith(_CLOSE[:length]) for length in range(1, len(_CLOSE)))
    return _OPEN.startswith(begun) or ends


class Details:
    """The fields of reasoning, put together so that they can go back as they came."""

    def __init__(self) -> None:
        self._text = ""
        self._name: str | None = None
        self._details: list[Json] = []

    @property
    def seen(self) -> bool:
        """Whether anything has come."""
        return bool(self._details or self._name)

    @property
    def text(self) -> str:
        """The reasoning in words, as far as it is told."""
        told = (words(detail.get(_growing(detail) or "")) for detail in self._details)
        return sendable(self._text or "".join(told))

    def take(self, delta: Mapping[str, object]) -> None:
        """Take in a delta. Some servers send the same words under two names: the first one met counts."""
        name = self._name or next(
            (name for name in ("reasoning_content", "reasoning") if isinstance(delta.get(name), str)), None
        )
        if name is not None and isinstance(piece := delta.get(name), str):
            self._name = name
            self._text += piece
        for detail in lenient.entries(delta.get("reasoning_details")):
            self._merge(dict(detail))

    def fields(self) -> Json:
        """What to put on the message when it goes back; empty if there was no reasoning. A detail that is
        signed, or sealed, goes back unchanged or not at all."""
        if kept := [fit for detail in self._details if (fit := _fit(detail)) is not None]:
            return {"reasoning_details": kept}
        return {self._name: sendable(self._text)} if self._name else {}

    def _merge(self, detail: Json) -> None:
        """Put a piece to the one that it continues: the last one of its kind, index and id; without an index
        or an id only the last one of all can be it. A signature ends it."""
        key = _growing(detail)
        piece = words(detail.get(key or ""))
        last = next((known for known in reversed(self._details) if _same(known, detail)), None)
        if key is None or last is None or not self._goes_on(last, detail, piece):
            self._details.append(detail)
            return
        text = words(last.get(key)) + piece
        last.update({name: value for name, value in detail.items() if value is not None})
        last[key] = text

    def _goes_on(self, last: Json, detail: Json, piece: str) -> bool:
        signed, signature = last.get("signature"), detail.get("signature")
        if signed and signature != signed and (signature or piece):
            return False
        is_known = detail.get("index") is not None or detail.get("id") is not None
        return is_known or last is self._details[-1]


def _growing(detail: Json) -> str | None:
    kind = detail.get("type")
    return _GROWING.get(kind) if isinstance(kind, str) else None


def _same(known: Json, detail: Json) -> bool:
    """Whether two pieces are of one kind and place; one that tells no id goes by its index."""
    ids = {words(piece.get("id")) for piece in (known, detail)} - {""}
    told = known.get("index") is not None or not detail.get("id") or known.get("id") is not None
    return len(ids) < 2 and told and all(known.get(key) == detail.get(key) for key in ("type", "index"))


def _fit(detail: Json) -> Json | None:
    if (detail.get("signature") or detail.get("data")) and not json_text.sealed(detail):
        return None
    try:
        fit: Json = json_text.clean(detail)
    except ValueError:
        return None
    return fit


@dataclass(slots=True)
class _Call:
    """A tool call that is coming in."""

    id: str = ""
    name: str = ""
    arguments: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether nothing can be added to its arguments."""
        told = sendable(self.arguments).strip()
        return bool(told) and tool_input(told)[1] is None


@dataclass(slots=True)
class Calls:
    """The calls of an answer, in the order in which they began."""

    all: list[_Call] = field(default_factory=list)
    _at: dict[int, _Call] = field(default_factory=dict)

    def take(self, delta: Mapping[str, Any]) -> None:
        """Take in a piece of one. It goes by its index; where there is none by its id, or to the last call.
        A piece with a name begins a call, whatever its index, if it has another id, or none and the arguments
        so far are complete."""
        function = lenient.fields(delta.get("function"))
        id_, name = words(delta.get("id")), words(function.get("name"))
        call = self._find(lenient.place(delta.get("index")), id_, name)
        call.id = call.id or id_
        if name != call.name:
            call.name += name
        call.arguments += arguments(function.get("arguments"))

    def _find(self, index: int | None, id_: str, name: str) -> _Call:
        if index is None:
            same = [call for call in self.all if id_ and call.id == id_] or ([] if name else self.all[-1:])
            return same[-1] if same else self._begin(None)
        call = self._at.get(index)
        if call is None or not name:
            return call or self._begin(index)
        is_another = call.id != id_ if call.id and id_ else call.is_complete
        return self._begin(index) if is_another else call

    def _begin(self, index: int | None) -> _Call:
        call = _Call()
        self.all.append(call)
        if index is not None:
            self._at[index] = call
        return call

    def blocks(self) -> Iterator[ToolUse]:
        """The calls as blocks. Each has an id that no other call of the answer has; one that came without
        arguments has an empty input, one whose arguments are no JSON object has them as `malformed`."""
        used: set[str] = set()
        for call in self.all:
            yield called(call.id, call.name, call.arguments, used)
