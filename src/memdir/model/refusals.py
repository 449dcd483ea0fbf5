"""What services say when they refuse: few meanings, in many wordings. Pure.

Most have no code for these cases, or each its own, so the words have to do; unknown ones are told as they
are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memdir import secrets

LONGEST = 200
"""Characters of a service's own words that a person is shown."""

PART_OF_KEY = 8
"""Characters of a key in a row that are too many to be shown."""

_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context length is only"
    r"|exceeds the (?:available |model's )?(?:context|maximum model) (?:size|length|window)"
    r"|exceed context limit|longer than the (?:context length|maximum model length)"
    r"|context size has been exceeded|tokens to keep from the initial prompt|trying to keep the first"
    r"|prompt is too long|no user query found in messages",
    re.IGNORECASE,
)
_SHORTER_ANSWER = re.compile(
    r"max_tokens=\d+ cannot be greater"
    r"|max_tokens' or 'max_completion_tokens' is too large|fewer max_tokens|max_tokens is too large",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"does not support (?:tools|tool use|function calling)|support tool use|tool_choice' value"
    r"|'tools' is not supported|tool choice requires|tools param requires",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|model .{0,200}(?:not found|does not exist)|not a valid model|no models loaded"
    r"|no endpoints found for|unknown model|invalid model",
    re.IGNORECASE,
)
_ECHO = re.compile(r"""[{,]\s*\\*["']input\\*["']\s*:""")
"""Where one of pydantic's faults, as an object in a text, repeats what was sent."""

_ECHOED_VALUE = re.compile(r"\binput_value=.*?(?=, input_type=\w+\]|\Z)", re.DOTALL)
"""The same, in one of pydantic's sentences."""

_NO_PATH = re.compile(
    r"\s*(?:(?:file |404 |page |path |url )*not found\W*|invalid url.*)?", re.IGNORECASE | re.DOTALL
)


def is_too_long(words: str) -> bool:
    """Whether a request does not fit into the window; not, whether the answer might not."""
    return _TOO_LONG.search(words) is not None and _SHORTER_ANSWER.search(words) is None


def is_about_tools(words: str) -> bool:
    """Whether the server takes no tools."""
    return _NO_TOOLS.search(words) is not None


def is_about_the_model(words: str) -> bool:
    """Whether the model's name is unknown."""
    return _NO_MODEL.search(words) is not None


def is_about_the_path(words: str) -> bool:
    """Whether a 404 is about the address and not about a model: it has no words, or is a page."""
    return words.lstrip().startswith("<") or _NO_PATH.fullmatch(words) is not None


def without_echo(words: str) -> str:
    """What a service said, without what it repeats of the request: nobody is to see that, and no words are to
    be looked for in it."""
    words = _ECHOED_VALUE.sub("", words)
    kept, at = "", 0
    while found := _ECHO.search(words, at):
        kept, at = kept + words[at : found.start() + 1], _end_of_object(words, found.end())
    return kept + words[at:]


def _end_of_object(text: str, at: int) -> int:
    """Where the object ends in whose midst one is; the end of the text if it does not."""
    depth, quote = 0, ""
    while at < len(text):
        character = text[at]
        if quote:
            at += character == "\\"
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "{[(":
            depth += 1
        elif character in "}])":
            depth -= 1
            if depth < 0:
                return at
        at += 1
    return len(text)


def holds_key(words: str, keys: Iterable[str]) -> bool:
    """Whether words hold one of the keys, or eight characters of it in a row. A short one, which is mostly a
    placeholder, counts where it stands alone."""
    words = words.casefold()
    for key in map(str.casefold, keys):
        if len(key) < PART_OF_KEY:
            if key and re.search(rf"(?<!\w){re.escape(key)}(?!\w)", words):
                return True
        elif any(key[at : at + PART_OF_KEY] in words for at in range(len(key) - PART_OF_KEY + 1)):
            return True
    return False


def shown(words: str, *, keys: Iterable[str] = ()) -> str:
    """What a service said, for a person: one line without what was sent, and nothing of it if a secret could
    be in it, or one of the keys that it was sent."""
    words = without_echo(words)
    if secrets.scan(words) or holds_key(words, keys):
        return "its reason is not shown, there could be a secret in it"
    return " ".join(words.split())[:LONGEST] or "no reason given"
