"""The last messages of a conversation -> the tools and programs that were just used with success (R5)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memdir.model.messages import Message, ToolResult, ToolUse

WINDOW = 12
"""Messages looked back upon; older calls say little about what is being done now."""

_SEPARATORS = re.compile(r"\|\|?|&&|;|\n|\$\(|`")
_LEADING = re.compile(r"^\s*(?:(?:sudo|env|time|nohup|exec|command|xargs)\s+|\w+=\S*\s+)*")


def recent_tools(messages: Sequence[Message], *, window: int = WINDOW) -> tuple[str, ...]:
    """Names of tools, and of programs run by Bash, in order of their first use. Failed calls don't count."""
    blocks = [block for message in messages[-window:] for block in message.content]
    failed = {block.tool_use_id for block in blocks if isinstance(block, ToolResult) and block.is_error}
    names: list[str] = []
    for block in blocks:
        if isinstance(block, ToolUse) and block.id not in failed:
            names.append(block.name)
            if block.name == "Bash":
                names.extend(programs(str(block.input.get("command", ""))))
    return tuple(dict.fromkeys(names))


def programs(command: str) -> list[str]:
    """The programs that a shell command names, without folders: a guess, good enough to recognise a tool."""
    found = []
    for part in _SEPARATORS.split(command):
        word = (_LEADING.sub("", part).split() or [""])[0].rsplit("/", 1)[-1]
        if re.fullmatch(r"[A-Za-z][\w.+-]*", word):
            found.append(word)
    return found
