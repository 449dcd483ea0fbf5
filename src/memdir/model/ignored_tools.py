"""A server that passes tools over: how it shows, and what to say (A3).

Some servers take `tools` and keep them from the model, or do not turn the model's words into calls. The call
then comes as text. It is never run from there: text may have been copied out of a file or a page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from memdir.errors import ToolsIgnored
from memdir.model import json_text
from memdir.model.messages import Reply, Request

CHOOSE = "choose a model that can call tools"

_SWITCHES: Mapping[str, str] = {
    "--enable-auto-tool-choice": "start vLLM with `--enable-auto-tool-choice --tool-call-parser PARSER` "
    "(the parser depends on the model)",
    "--jinja": "start llama-server with `--jinja`",
}
"""What a server names that was started without tools, and how it is started with them."""

_FRAME = re.compile(
    r"```[a-z]*|</?\|?(?:tool_calls?|function_calls?|plugin|python_tag)\|?>|\[/?TOOL_CALLS?\]|[\[\],;\s]"
)
"""What stands around a call that was written out: fences, tags of the templates, a list's marks."""


def written_out(reply: Reply, request: Request) -> bool:
    """Whether the whole answer is tool calls in words: JSON that names our tools, and nothing beside it.

    Where a tool was called before, tools are not ignored: then the text is the answer.
    """
    if reply.message.tool_uses or not request.prefix.tools:
        return False
    if any(message.tool_uses for message in request.messages):
        return False
    names = {tool.name for tool in request.prefix.tools}
    text = reply.text.strip()
    calls = list(json_text.objects(text))
    if not calls or not all(_is_call(call, names) for call in calls):
        return False
    return not _FRAME.sub("", _without_objects(text))


def failure(model: str) -> ToolsIgnored:
    """What to raise then."""
    return ToolsIgnored(
        f"{model} wrote its tool call as text: its server does not pass tools on",
        hint=f"{CHOOSE}, or switch tool calling on in the server",
    )


def refused(model: str, words: str = "") -> ToolsIgnored:
    """What to raise when a server says so itself, in these words."""
    for flag, start in _SWITCHES.items():
        if flag in words:
            return ToolsIgnored(
                f"{model} can't call tools, its server was started without them: memdir needs that",
                hint=f"{start}, or choose another model",
            )
    return ToolsIgnored(f"{model} can't call tools, and memdir needs that", hint=CHOOSE)


def _is_call(value: json_text.Json, names: Collection[str]) -> bool:
    inner = value.get("function")
    call = inner if isinstance(inner, dict) else value
    name = call.get("name")
    return (
        isinstance(name, str)
        and name in names
        and any(key in call for key in ("arguments", "parameters", "input"))
    )


def _without_objects(text: str) -> str:
    """The text around the objects in it."""
    kept, depth, quoted, escaped = list[str](), 0, False, False
    for character in text:
        if quoted:
            quoted, escaped = (character != '"' or escaped), character == "\\" and not escaped
            continue
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        elif depth and character == '"':
            quoted = True
        elif not depth:
            kept.append(character)
    return "".join(kept)
