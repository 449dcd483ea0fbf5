"""What streams in pieces that have to be put together, in every dialect: texts, and calls. Pure."""

from __future__ import annotations

from uuid import uuid4

from memdir.model import json_text
from memdir.model.json_text import sendable, tool_input
from memdir.model.messages import ToolUse


class Joined:
    """Text that comes in pieces, any of which may end in the middle of a character: so some gateways cut."""

    def __init__(self) -> None:
        self._half = ""

    def take(self, piece: str) -> str:
        """Take in a piece; gives what of it, and of what was held back, can be shown."""
        piece = self._half + piece
        self._half = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
        return sendable(piece[:-1] if self._half else piece)

    def end(self) -> str:
        """The text is over; gives what stands for a half that was held back."""
        half, self._half = self._half, ""
        return sendable(half)


def arguments(sent: object) -> str:
    """A call's arguments as text; some servers send the object itself."""
    if isinstance(sent, str):
        return sent
    return json_text.compact(sent) if sent else ""


def called(id_: str, name: str, sent: str, used: set[str]) -> ToolUse:
    """A call of a tool with these arguments. Its id is one that is not `used` in its answer, and then is."""
    id_, told = sendable(id_), sendable(sent).strip()
    given, malformed = tool_input(told)
    try:
        given = json_text.clean(given)
    except ValueError:
        given, malformed = {}, told
    if not id_ or id_ in used:
        id_ = f"call_{uuid4().hex[:24]}"
    used.add(id_)
    return ToolUse(id=id_, name=sendable(name), input=given, malformed=malformed)
