"""Messages as they were recorded -> messages that a model accepts: each tool call has one result (A1).

A killed process, a full disk or a lost line leaves calls without results, or results without their calls,
anywhere in a conversation; a provider then refuses all of it. What is whole stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memdir.model.messages import Block, Message, ToolResult, ToolUse
from memdir.prompts import render

INTERRUPTED = render("note_interrupted")


def closed(messages: Iterable[Message], *, at_end: bool = True) -> list[Message]:
    """The conversation with the results of each call right behind it, and with no others. Not `at_end`: calls
    of the last message may be open.
    """
    whole: list[Message] = []
    calls: tuple[ToolUse, ...] = ()
    for message in messages:
        content = tuple(_with_results_of(calls, message.content))
        if calls and not any(isinstance(block, ToolResult) for block in content):
            whole.append(_all_interrupted(calls))
        if content or not message.content:
            whole.append(message if content == message.content else replace(message, content=content))
        calls = message.tool_uses
    return [*whole, _all_interrupted(calls)] if calls and at_end else whole


def interrupted(call: ToolUse) -> ToolResult:
    """The result of a call of which nothing is known."""
    return ToolResult(tool_use_id=call.id, content=INTERRUPTED, is_error=True)


def _all_interrupted(calls: Sequence[ToolUse]) -> Message:
    return Message(role="user", content=tuple(map(interrupted, calls)), origin="tool")


def _with_results_of(calls: Sequence[ToolUse], content: Sequence[Block]) -> Iterator[Block]:
    """The blocks, less the results of other calls, and with one for each call if there is one for any."""
    found = {block.tool_use_id: block for block in content if isinstance(block, ToolResult)}
    if any(call.id in found for call in calls):
        yield from (found.get(call.id) or interrupted(call) for call in calls)
    yield from (block for block in content if not isinstance(block, ToolResult))
