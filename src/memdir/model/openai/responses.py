"""Requests -> the JSON of OpenAI's Responses API, and its stream of events -> replies. Pure.

Nothing is kept on the service's side (`store` is false), so each request brings the whole conversation as
items, reasoning included, in the order in which they came: reasoning is refused without what followed it. The
system prompt goes as `instructions`, which stand before the items. The laws of `chat` hold here too (A4).

The reader waits for whole items. It takes streams that number nothing, that bring the items at the end only,
or that call a cut answer complete; such are llama.cpp's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memdir.errors import ModelUnreachable
from memdir.model.json_text import Json, sendable, tool_input
from memdir.model.messages import (
    Block,
    Image,
    Message,
    Reply,
    Request,
    StopReason,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
    Usage,
    assistant,
    new_id,
)
from memdir.model.openai import shared
from memdir.model.openai.manners import Manners, effort, takes_strictly
from memdir.model.openai.said import InStream

_SENT_BACK = ("type", "id", "summary", "content", "encrypted_content")
"""What of a reasoning item goes back."""

_INCOMPLETE: Mapping[str, StopReason] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
_COUNTED = ("model", "instructions", "tools", "input", "reasoning", "text")
"""What of a request the service counts."""


# -- there -----------------------------------------------------------------------------------------------


def body(request: Request, *, model: str, manners: Manners, source: str, limit: int) -> Json:
    """The request as the JSON object to post. `source` is the client whose reasoning may go back, `limit` the
    bound on the answer."""
    sent: Json = {"model": model}
    system = [part for part in request.prefix.system if part.strip()]
    if system:
        sent["instructions"] = sendable("\n\n".join(system))
    if request.prefix.tools:
        sent["tools"] = [_tool(tool, manners) for tool in request.prefix.tools]
    sent["input"] = [item for message in request.messages for item in _items(message, manners, source)]
    sent["max_output_tokens"] = limit
    if request.prefix.tools and manners.parallel:
        sent["parallel_tool_calls"] = True
    if manners.effort and (hard := effort(request)) is not None:
        sent["reasoning"] = {"effort": hard}
    if request.schema is not None and manners.schema is not None:
        sent["text"] = {"format": _format(request.schema, manners)}
    if manners.store:
        sent["store"] = False
    if manners.encrypted:
        sent["include"] = ["reasoning.encrypted_content"]
    return {**sent, **shared.caching(request, manners), "stream": True}


def counted(sent: Json) -> Json:
    """What to post for a count of the input alone."""
    return {key: value for key, value in sent.items() if key in _COUNTED}


def _tool(tool: ToolSpec, manners: Manners) -> Json:
    """A tool; strictness is said either way where it is known, since without a word it is on."""
    sent: Json = {"type": "function", "name": tool.name, "description": sendable(tool.description)}
    sent["parameters"] = dict(tool.schema)
    sent["strict"] = manners.strict and takes_strictly(tool.schema)
    return sent


def _format(schema: Mapping[str, Any], manners: Manners) -> Json:
    if manners.schema == "json_object":
        return {"type": "json_object"}
    strict = manners.strict and takes_strictly(schema)
    return {"type": "json_schema", "name": shared.ANSWER, "schema": dict(schema), "strict": strict}


def _items(message: Message, manners: Manners, source: str) -> Iterator[Json]:
    if message.role == "assistant":
        yield from _answer_items(message, manners, source)
        return
    rest: list[Json] = []
    for block in message.content:
        match block:
            case ToolResult():
                yield _output(block, manners)
            case Text(text=text) if text.strip():
                rest.append(_input(text))
            case Image():
                rest.append(_input(shared.in_words(block, manners)))
    if rest:
        yield {"type": "message", "role": "user", "content": rest}


def _input(part: str | Image) -> Json:
    if isinstance(part, str):
        return {"type": "input_text", "text": sendable(part)}
    return {"type": "input_image", "detail": "auto", "image_url": shared.data_url(part)}


def _output(result: ToolResult, manners: Manners) -> Json:
    said = shared.said_by_tool(result)
    sent: Json = {"type": "function_call_output", "call_id": result.tool_use_id}
    if result.images:
        pictures = [shared.in_words(image, manners) for image in result.images]
        return {**sent, "output": [_input(part) for part in (said, *pictures)]}
    return {**sent, "output": sendable(said)}


def _answer_items(message: Message, manners: Manners, source: str) -> Iterator[Json]:
    """An answer's items, in their order. Reasoning goes back only before what it led to."""
    phase: Json = {}
    held: list[Json] = []
    for block in message.content:
        match block:
            case Thinking(signature=signature) if block.source == source and signature:
                kept = tool_input(signature)[0]
                if "phase" in kept:
                    phase = kept
                elif manners.reasoning:
                    held.append(kept)
            case Text(text=text) if text.strip():
                yield from held
                content = [{"type": "output_text", "text": sendable(text)}]
                yield {"type": "message", "role": "assistant", "content": content, **phase}
                held, phase = [], {}
            case ToolUse():
                yield from held
                given = shared.compact(dict(block.input))
                yield {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": given}
                held = []


# -- and back --------------------------------------------------------------------------------------------


class Answer:
    """An answer that is coming in, event by event. `source` is the client that asked, `limit` the bound on
    the answer that was sent."""

    def __init__(self, *, source: str, limit: int) -> None:
        self._source = source
        self._limit = limit
        self._items: list[Json] = []
        self._whole: Json | None = None
        self._seen = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing has come, no end either."""
        return not (self._seen or self._items or self._whole)

    def take(self, event: Any) -> str:
        """Take in one event; gives the visible text in it, mostly a word.

        Raises:
            InStream: it is an error.
        """
        shared.fail_on_error(event)
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                self._seen = True
                return str(event.get("delta") or "")
            case "response.output_item.done":
                self._items.append(event["item"])
            case "response.completed" | "response.incomplete" | "response.done":
                self._whole = event["response"]
            case "response.failed":
                failed = event.get("response") or {}
                raise InStream(failed.get("error") or {"type": "server_error", "message": "no reason given"})
            case "error":
                raise InStream({key: value for key, value in event.items() if key != "type"})
        return ""

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            ModelUnreachable: the stream ended before the answer did.
        """
        whole = self._whole
        if whole is None:
            raise ModelUnreachable("the model's answer broke off", hint="ask again")
        items: list[Json] = self._items or whole.get("output") or []
        usage = shared.usage(whole.get("usage") or {})
        return Reply(
            message=assistant(*(block for item in items for block in self._blocks(item))),
            stop=self._stop(whole, items, usage),
            usage=usage,
            model=whole.get("model") or self._source,
        )

    def _blocks(self, item: Json) -> Iterator[Block]:
        match item.get("type"):
            case "reasoning":
                yield self._reasoning(item)
            case "message":
                if phase := item.get("phase"):  # wanted back on the item that it came with
                    yield Thinking(
                        thinking="", signature=shared.compact({"phase": phase}), source=self._source
                    )
                if (text := _text(item)).strip():
                    yield Text(text=text)
            case "function_call":
                arguments = item.get("arguments") or ""
                words = arguments if isinstance(arguments, str) else shared.compact(arguments)
                given, malformed = tool_input(words.strip())
                id_ = item.get("call_id") or item.get("id") or f"call_{new_id()}"
                yield ToolUse(id=id_, name=item.get("name") or "", input=given, malformed=malformed)

    def _reasoning(self, item: Json) -> Thinking:
        """The reasoning, in words as far as it is told. Without its content it can't go back: the service
        keeps nothing to know it by."""
        parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
        kept = {key: item[key] for key in _SENT_BACK if item.get(key) is not None}
        goes_back = item.get("encrypted_content") or item.get("content")
        return Thinking(
            thinking="\n\n".join(part.get("text") or "" for part in parts),
            signature=shared.compact({**kept, "summary": item.get("summary") or []}) if goes_back else "",
            source=self._source,
        )

    def _stop(self, whole: Json, items: list[Json], usage: Usage) -> StopReason:
        if whole.get("status") == "incomplete":
            reason = (whole.get("incomplete_details") or {}).get("reason") or ""
            return _INCOMPLETE.get(reason, "other")
        if any(part.get("type") == "refusal" for item in items for part in item.get("content") or ()):
            return "refusal"
        if usage.output >= self._limit:
            return "max_tokens"
        calls = any(item.get("type") == "function_call" for item in items)
        return "tool_use" if calls else "end_turn"


def _text(item: Json) -> str:
    """The text of a message item, a refusal included."""
    return "".join(part.get("text") or part.get("refusal") or "" for part in item.get("content") or ())
