"""What services say when they refuse: few meanings, in many wordings. Pure.

Most have no code for these cases, or each its own, so the words have to do; unknown ones are told as they
are.
"""

from __future__ import annotations

import re

from memdir import secrets

LONGEST = 200
"""Characters of a service's own words that a person is shown."""

_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context length is only"
    r"|exceeds the (?:available |model's )?(?:context|maximum model) (?:size|length|window)"
    r"|exceed context limit|longer than the (?:context length|maximum model length)"
    r"|context size has been exceeded|tokens to keep from the initial prompt|trying to keep the first"
    r"|prompt is too long|no user query found in messages",
    re.IGNORECASE,
)
_SHORTER_ANSWER = re.compile(
    r"max_tokens' or 'max_completion_tokens' is too large|fewer max_tokens|max_tokens is too large",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"does not support (?:tools|tool use|function calling)|support tool use|tool_choice' value"
    r"|'tools' is not supported|tool choice requires|tools param requires",
    re.IGNORECASE,
)


def is_too_long(words: str) -> bool:
    """Whether a request does not fit into the window; not, whether the answer might not."""
    return _TOO_LONG.search(words) is not None and _SHORTER_ANSWER.search(words) is None


def is_about_tools(words: str) -> bool:
    """Whether the server takes no tools."""
    return _NO_TOOLS.search(words) is not None


def shown(words: str) -> str:
    """What a service said, for a person: one line, and nothing of it if a secret could be in it."""
    if secrets.scan(words):
        return "its reason is not shown, there could be a secret in it"
    return " ".join(words.split())[:LONGEST] or "no reason given"
