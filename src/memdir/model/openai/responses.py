"""Requests -> the JSON of OpenAI's Responses API, and its stream of events -> replies. Pure.

Nothing is kept on the service's side (`store` is false), so each request brings the whole conversation as
items, reasoning included, in the order in which they came: reasoning is refused without what followed it. The
system prompt goes as `instructions`, which stand before the items. The laws of `chat` hold here too (A4).

The reader waits for whole items. It takes streams that number nothing, that bring the items at the end only
or not at all, or that call a cut answer complete; such are llama.cpp's, and those of gateways.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memdir.model import fitting, json_text, lenient
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
)
from memdir.model.openai import shared
from memdir.model.openai.manners import Manners, effort, takes_strictly
from memdir.model.openai.said import InStream
from memdir.model.pieces import Joined, arguments, called
from memdir.model.service import broke_off

_SENT_BACK = ("type", "id", "summary", "content", "encrypted_content")
"""What of a reasoning item goes back."""

_ANNOUNCED = ("response.created", "response.queued", "response.in_progress")
"""Events with nothing of the answer in them."""

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
    sent["input"] = [
        item for message in fitting.fitted(request.messages) for item in _items(message, manners, source)
    ]
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
    sent["parameters"] = json_text.clean(tool.schema)
    sent["strict"] = manners.strict and takes_strictly(tool.schema)
    return sent


def _format(schema: Mapping[str, Any], manners: Manners) -> Json:
    if manners.schema == "json_object":
        return {"type": "json_object"}
    strict = manners.strict and takes_strictly(schema)
    asked: Json = json_text.clean(schema)
    return {"type": "json_schema", "name": shared.ANSWER, "schema": asked, "strict": strict}


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
                    phase = {"phase": kept["phase"]}
                elif manners.reasoning and kept.get("type") == "reasoning":
                    held.append(kept)
            case Text(text=text) if text.strip():
                yield from held
                content = [{"type": "output_text", "text": sendable(text)}]
                yield {"type": "message", "role": "assistant", "content": content, **phase}
                held, phase = [], {}
            case ToolUse():
                yield from held
                given = json_text.compact(dict(block.input))
                yield {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": given}
                held = []


# -- and back --------------------------------------------------------------------------------------------


class Answer:
    """An answer that is coming in, event by event. `source` is the client that asked, `limit` the bound on
    the answer that was sent."""

    def __init__(self, *, source: str, limit: int) -> None:
        self._source = source
        self._limit = limit
        self._items: list[Mapping[str, Any]] = []
        self._whole: Mapping[str, Any] | None = None
        self._blocks: tuple[Block, ...] = ()
        self._joined = Joined()
        self._shown = ""
        self._refused = False
        self._seen = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing has come, no end either."""
        return not self._seen and self._whole is None

    def take(self, event: Any) -> str:
        """Take in one event; gives the visible text in it, mostly a word.

        Raises:
            InStream: it is an error.
        """
        shared.fail_on_error(event)
        kind = event.get("type")
        if isinstance(kind, str) and kind.startswith("response.") and kind not in _ANNOUNCED:
            self._seen = True
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                self._refused = self._refused or kind == "response.refusal.delta"
                return self._show(self._joined.take(lenient.words(event.get("delta"))))
            case "response.output_item.done":
                self._items += lenient.entries(event.get("item"))
            case "response.completed" | "response.incomplete" | "response.done":
                return self._end(lenient.fields(event.get("response")))
            case None if event.get("object") == "response":  # in place of a stream
                return self._end(event)
            case "response.failed":
                failed = lenient.fields(event.get("response"))
                raise InStream(failed.get("error") or {"type": "server_error", "message": "no reason given"})
            case "error":
                raise InStream({key: value for key, value in event.items() if key != "type"})
        return ""

    def _show(self, text: str) -> str:
        self._shown += text
        return text

    def _end(self, whole: Mapping[str, Any]) -> str:
        """Take in the answer as it is at its end; gives its text, if none of it came before."""
        rest = self._show(self._joined.end())
        self._items = self._with_text(self._items or lenient.entries(whole.get("output")))
        used = set[str]()
        self._blocks = tuple(block for item in self._items for block in self._read(item, used))
        self._whole = whole
        return rest if self._shown else "".join(map(_text, self._items))

    def _with_text(self, items: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The items, with the text that was shown if it is in none of them."""
        if not self._shown.strip() or any(_text(item).strip() for item in items):
            return items
        calls = (at for at, item in enumerate(items) if item.get("type") == "function_call")
        at = next(calls, len(items))
        return [*items[:at], {"type": "message", "content": self._shown}, *items[at:]]

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            ModelUnreachable: the stream ended before the answer did.
        """
        whole = self._whole
        if whole is None:
            raise broke_off(self._source)
        usage, model = shared.usage(whole.get("usage")), whole.get("model")
        return Reply(
            message=assistant(*self._blocks),
            stop=self._stop(whole, usage),
            usage=usage,
            model=sendable(model) if isinstance(model, str) and model else self._source,
        )

    def _read(self, item: Mapping[str, Any], used: set[str]) -> Iterator[Block]:
        match item.get("type"):
            case "reasoning":
                yield self._reasoning(item)
            case "message":
                phase = item.get("phase")
                if isinstance(phase, str) and phase and (sealed := json_text.sealed({"phase": phase})):
                    yield Thinking(thinking="", signature=sealed, source=self._source)  # goes back with it
                if (text := _text(item)).strip():
                    yield Text(text=text)
            case "function_call":
                id_ = lenient.words(item.get("call_id")) or lenient.words(item.get("id"))
                yield called(id_, lenient.words(item.get("name")), arguments(item.get("arguments")), used)

    def _reasoning(self, item: Mapping[str, Any]) -> Thinking:
        """The reasoning, in words as far as it is told. Without its content it can't go back: the service
        keeps nothing to know it by."""
        parts = [*shared.parts(item.get("summary")), *shared.parts(item.get("content"))]
        kept = {key: item[key] for key in _SENT_BACK if item.get(key) is not None}
        goes_back = (item.get("encrypted_content") or item.get("content")) and _is_well_formed(item)
        return Thinking(
            thinking=sendable("\n\n".join(text for _, text in parts if text)),
            signature=json_text.sealed({**kept, "summary": item.get("summary") or []}) if goes_back else "",
            source=self._source,
        )

    def _stop(self, whole: Mapping[str, Any], usage: Usage) -> StopReason:
        if whole.get("status") == "incomplete":
            details = whole.get("incomplete_details")
            reason = details.get("reason") if isinstance(details, Mapping) else details
            return _INCOMPLETE.get(reason, "other") if isinstance(reason, str) else "other"
        if self._refused or any(kind == "refusal" for item in self._items for kind, _ in _said(item)):
            return "refusal"
        if usage.output >= self._limit:
            return "max_tokens"
        calls = any(isinstance(block, ToolUse) for block in self._blocks)
        return "tool_use" if calls else "end_turn"


def _said(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a message item is made of; nothing for another item."""
    return list(shared.parts(item.get("content"))) if item.get("type") == "message" else []


def _text(item: Mapping[str, Any]) -> str:
    """The text of a message item, a refusal included."""
    return sendable("".join(text for kind, text in _said(item) if kind != "thinking"))


def _is_well_formed(item: Mapping[str, Any]) -> bool:
    """Whether reasoning is what the service takes back."""
    lists = [item.get(key) or [] for key in ("summary", "content")]
    texts = [item.get(key) or "" for key in ("id", "encrypted_content")]
    listed = all(
        isinstance(parts, list) and all(isinstance(part, Mapping) for part in parts) for parts in lists
    )
    return listed and all(isinstance(text, str) for text in texts)
