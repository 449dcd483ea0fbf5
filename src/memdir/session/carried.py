"""The whole record of a conversation -> what goes along when most of it is left behind (C4).

    first_request  last_request     what the person asked for, in their own words
    open_todos                      checkboxes that nobody ticked
    recent_files                    the files that were worked with last

Pure, but for a `..` in a path, which is followed as the tools do. What was pasted is not the person's word
(E11), a secret is left out, and what comes back can stand before a model (`memory.fence`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path

from memdir import secrets
from memdir.agent.place import place
from memdir.errors import ToolError
from memdir.memory.fence import fenced, harmless
from memdir.model.messages import Message, ToolResult
from memdir.model.tokens import estimate
from memdir.session.checkboxes import items, still_open
from memdir.trust.pasted import own_words

LONGEST_REQUEST = 500
"""Tokens of a request that are carried over."""

LONGEST_TODO = 60
"""Tokens of one thing to do."""

ALL_TODOS = 700
"""Tokens of all of them."""

MOST_TODOS = 30
MOST_FILES = 5
CUT = "…"
HIDDEN = "[secret left out]"
FILE_TOOLS = frozenset({"Read", "Edit", "Write", "MultiEdit", "NotebookEdit"})
"""The tools whose calls name one file; the last two are those of other programs."""


def first_request(messages: Sequence[Message], limit_tokens: int = LONGEST_REQUEST) -> str | None:
    """The first thing that the person asked for; None if they never did, in words of their own."""
    return next((cut(text, limit_tokens) for text in _requests(messages)), None)


def last_request(messages: Sequence[Message], limit_tokens: int = LONGEST_REQUEST) -> str | None:
    """The last thing that the person asked for; None if they never did, in words of their own."""
    return next((cut(text, limit_tokens) for text in _requests(messages[::-1])), None)


def open_todos(messages: Sequence[Message], *, limit: int = MOST_TODOS) -> tuple[str, ...]:
    """The texts of the checkboxes that are not ticked, those of the newest list first, `limit` at most, and
    not more than there is room for: in some scripts a few lines are thousands of tokens.

    Of the person and of the assistant. The last state of an item counts, and a newer list that repeats most
    of an earlier one replaces it.
    """
    lists = [items(message.text) for message in messages if message.origin in ("person", "assistant")]
    texts = (cut(harmless(_without_secrets(item.text)), LONGEST_TODO) for item in still_open(lists))
    found = tuple(islice(filter(None, texts), limit))
    taken = accumulate(map(estimate, found))
    return tuple(text for text, upto in zip(found, taken, strict=True) if upto <= ALL_TODOS)


def recent_files(
    messages: Sequence[Message], *, cwd: Path | None = None, limit: int = MOST_FILES
) -> tuple[Path, ...]:
    """The files that Read, Edit and Write calls with a successful result touched, the last one first.

    Absolute: a relative path is below `cwd`, and without one it is left out. Whether a file is still there is
    for the caller to see.
    """
    paths = (path for given in files_touched(messages) if (path := _absolute(given, cwd)))
    return tuple(dict.fromkeys(paths))[:limit]


def files_touched(messages: Sequence[Message]) -> Iterator[str]:
    """The paths of successful calls of file tools as they were given, the last one first."""
    good = {
        block.tool_use_id
        for message in messages
        for block in message.content
        if isinstance(block, ToolResult) and not block.is_error
    }
    for message in reversed(messages):
        if message.origin != "assistant":
            continue
        for call in reversed(message.tool_uses):
            given = call.input.get("file_path") or call.input.get("notebook_path")
            if call.name in FILE_TOOLS and call.id in good and isinstance(given, str):
                yield given


def cut(text: str, limit_tokens: int) -> str:
    """The beginning of a text, at most so many estimated tokens of it, ended at a word."""
    if estimate(text) <= limit_tokens:
        return text
    low, high = 0, len(text)
    while low < high:  # the longest beginning that fits, its mark included
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(text[:middle] + CUT) <= limit_tokens else (low, middle - 1)
    kept = text[:low]
    word = re.search(r"\s\S{0,40}\Z", kept) if low < len(text) and not text[low].isspace() else None
    return f"{(kept[: word.start()] if word and word.start() else kept).rstrip()}{CUT}" if kept else ""


# ---------------------------------------------------------------------------------- requests


def _requests(messages: Sequence[Message]) -> Iterator[str]:
    """What the person asked for, message by message, in the order given."""
    for message in messages:
        if message.origin == "person" and (text := request_of(message.text)):
            yield text


def request_of(text: str) -> str:
    """The person's own words in a message that asks something; "" for a greeting, a bare command, a paste."""
    own = fenced(_without_secrets(own_words(text))).strip()
    return re.sub(r"\n{3,}", "\n\n", own) if is_request(text, own) else ""


def is_request(text: str, own: str) -> bool:
    """Whether a message asks something, `own` being the person's words in it."""
    return (
        not _COMMAND.fullmatch(text.strip()) and not _GREETING.fullmatch(own) and bool(re.search(r"\w", own))
    )


def _without_secrets(text: str) -> str:
    for finding in reversed(secrets.scan(text)):
        text = f"{text[: finding.start]}{HIDDEN}{text[finding.end :]}"
    return text


def _absolute(given: str, cwd: Path | None) -> Path | None:
    if given.endswith("/") or (cwd is None and not given.startswith(("/", "~/"))):
        return None
    try:
        return place(given, cwd or Path("/"))
    except (ToolError, OSError, RuntimeError):  # no path, a loop of links, no home
        return None


_COMMAND = re.compile(r"/[\w:-]{1,40}")
_GREETING = re.compile(
    r"(?:\W*(?:hi|hello|hey|there|good|morning|afternoon|evening|thanks|thank you"
    r"|hallo|guten|tag|morgen|moin|servus|danke|hola|buenos|buenas|días|dias|tardes|gracias"
    r"|你好|您好|早上好|早|嗨|谢谢|大家好|こんにちは|おはよう|おはようございます|こんばんは"
    r"|ありがとう|ありがとうございます|よろしく|よろしくお願いします)(?!\w)){1,4}\W*",
    re.IGNORECASE,
)
