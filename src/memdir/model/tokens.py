"""Text -> about how many tokens it is, without a tokenizer and without a network.

Latin text and code run at about four UTF-8 bytes a token, Chinese, Japanese and Korean at about one token a
character. The estimate serves budgets and thresholds; what a call did cost stands in `Reply.usage`.
"""

from __future__ import annotations

import json
import re

from memdir.model.messages import Block, Message, Request, Text, Thinking, ToolResult, ToolSpec, ToolUse

BYTES_PER_TOKEN = 4

_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u303f\u3040-\u30ff\u3100-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)
_FRAME = 4
"""What a role, a block type and their brackets take, a message."""


def estimate(text: str) -> int:
    """About how many tokens `text` is; 0 only for the empty text."""
    dense = sum(len(run) for run in _CJK.findall(text))
    rest = len(_CJK.sub("", text).encode("utf-8", "replace"))
    return dense + -(-rest // BYTES_PER_TOKEN)


def estimate_message(message: Message) -> int:
    """About how many tokens a message is, its frame included."""
    return _FRAME + sum(estimate(_words(block)) for block in message.content)


def estimate_request(request: Request) -> int:
    """About how many tokens a request is: system prompt, tools and messages."""
    prefix = sum(estimate(part) for part in request.prefix.system)
    tools = sum(estimate(_description(tool)) for tool in request.prefix.tools)
    return prefix + tools + sum(estimate_message(message) for message in request.messages)


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


def _description(tool: ToolSpec) -> str:
    return tool.name + tool.description + json.dumps(dict(tool.schema), ensure_ascii=False)
