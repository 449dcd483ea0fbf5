"""Text -> about how many tokens it is, without a tokenizer and without a network.

Latin text and code run at about four UTF-8 bytes a token, Chinese, Japanese and Korean at about one token a
character. The estimate serves budgets and thresholds; what a call did cost stands in `Reply.usage`, and from
that `Calibration` learns by how much the estimate is off for one model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

from memdir.model.messages import (
    Block,
    Image,
    Message,
    Request,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
)

BYTES_PER_TOKEN = 4

_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u303f\u3040-\u30ff\u3100-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)
_SPACED = re.compile(r"(\W)\1{4,}")
"""Indentation, rules and the dots of a table: tokenizers take such a run as about one token."""

_RUN = re.compile(r"(.)\1{2,}")
_FRAME = 4
"""What a role, a block type and their brackets take, a message."""

IMAGE = 1500
"""About what a picture takes: providers count its area, and shrink it above some such figure."""

_MOST = 8
"""Characters a token, more than which no natural text has on average, in any script."""

_MOST_OF_OURS = 5.5
"""The same for the system prompt, which is English, and ours."""

_LEAST_JUDGED = 1000
"""Tokens below which `least` says nothing: there the frame of a request counts for too much."""

_LEARNED_FROM = 200
"""Estimated tokens of the smallest request that says something about a model's tokenizer."""


@lru_cache(maxsize=2048)
def estimate(text: str) -> int:
    """About how many tokens `text` is; 0 only for the empty text.

    A conversation is looked at some times for each request, and most of it is what it was.
    """
    text = _SPACED.sub(r"\1\1\1\1", text)
    dense = sum(len(run) for run in _CJK.findall(text))
    rest = len(_CJK.sub("", text).encode("utf-8", "replace"))
    return dense + -(-rest // BYTES_PER_TOKEN)


def estimate_message(message: Message) -> int:
    """About how many tokens a message is, its frame included."""
    return _FRAME + sum(estimate(_words(block)) + IMAGE * _images(block) for block in message.content)


def estimate_request(request: Request) -> int:
    """About how many tokens a request is: system prompt, tools and messages."""
    prefix = sum(estimate(part) for part in request.prefix.system)
    tools = sum(estimate(_description(tool)) for tool in request.prefix.tools)
    return prefix + tools + sum(estimate_message(message) for message in request.messages)


def least(request: Request) -> int:
    """So many tokens a request has at the least, whatever the tokenizer; 0 for a small one.

    Reasoning is left out, since services drop it as they like, and so are pictures, and what stands many
    times over: a line of dashes may be one token.
    """
    ours = sum(_length(part) for part in request.prefix.system)
    rest = [
        *(_description(tool) for tool in request.prefix.tools),
        *(_words(block) for block in _blocks(request) if not isinstance(block, Thinking)),
    ]
    found = int(ours / _MOST_OF_OURS + sum(map(_length, rest)) / _MOST)
    return found if found >= _LEAST_JUDGED else 0


class Calibration:
    """How many tokens of one model an estimated one is, learned from usage as it comes back."""

    def __init__(self) -> None:
        self.scale = 1.0
        self._knows = False

    def of(self, estimated: int) -> int:
        """The estimate, corrected."""
        return round(estimated * self.scale)

    def learn(self, *, estimated: int, counted: int) -> None:
        """Take in what a request turned out to be. The newest counts as much as all before it: what a
        conversation is made of (code, prose, a language) changes slowly."""
        if estimated < _LEARNED_FROM or counted <= 0:
            return
        ratio = counted / estimated
        self.scale = (self.scale + ratio) / 2 if self._knows else ratio
        self._knows = True


def _length(text: str) -> int:
    """Characters, without what a tokenizer takes in long runs."""
    return len(_RUN.sub(r"\1\1", " ".join(text.split())))


def _blocks(request: Request) -> Iterator[Block]:
    for message in request.messages:
        yield from message.content


def _images(block: Block) -> int:
    return len(block.images) if isinstance(block, ToolResult) else int(isinstance(block, Image))


def _words(block: Block) -> str:
    match block:
        case Text():
            return block.text
        case Thinking():
            return block.thinking
        case ToolUse():
            return block.name + json.dumps(dict(block.input), ensure_ascii=False)
        case ToolResult():
            return block.content
        case Image():
            return ""


def _description(tool: ToolSpec) -> str:
    return tool.name + tool.description + json.dumps(dict(tool.schema), ensure_ascii=False)
