"""Conversations for the tests of the model room."""

from __future__ import annotations

from collections.abc import Sequence

from memdir.model.messages import (
    Message,
    Prefix,
    Request,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
    assistant,
    person,
)

READ = ToolSpec(
    name="Read",
    description="Reads a file. " * 20,
    schema={"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]},
)
PREFIX = Prefix(system=("You help with code. " * 100, "Memory: " + "be brief. " * 200), tools=(READ,))


def ask(*messages: Message | str, prefix: Prefix = PREFIX, cache: bool = True) -> Request:
    """A request whose plain texts are the person's."""
    said = tuple(person(message) if isinstance(message, str) else message for message in messages)
    return Request(prefix=prefix, messages=said, cache=cache)


def calls(*ids: str) -> Message:
    """An answer that calls Read, once for each id."""
    return assistant(*(ToolUse(id=id_, name="Read", input={"file_path": f"{id_}.py"}) for id_ in ids))


def results(*ids: str, note: str = "") -> Message:
    """What came of those calls, with a note in front of it."""
    blocks = [ToolResult(tool_use_id=id_, content=f"the text of {id_}") for id_ in ids]
    notes: Sequence[Text] = [Text(text=note)] if note else []
    return Message(role="user", content=(*notes, *blocks), origin="tool")
