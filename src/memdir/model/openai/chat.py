"""Requests -> the JSON of Chat Completions, and its stream of chunks -> replies. Pure.

Two laws, and prompt caches live on them (A4): for given manners the JSON of a conversation is a prefix of
that of its continuation (but for cache marks), so each message stands for itself; and the same request gives
the same bytes. `Manners.alternate` is the exception: messages are joined for a template that wants it so.

The reader takes what servers really send: calls without an index or an id, whole calls in one chunk, a whole
answer in place of a stream or of a piece, text in parts, reasoning under three names, among the parts or
between tags in the text, errors in the middle, no usage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
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
from memdir.model.openai.pieces import Calls, Details, Inline
from memdir.model.openai.said import InStream
from memdir.model.service import broke_off

MAX_MARKS = 4
"""So many cache marks may a request have, where marks are needed."""

_REASONING = ("reasoning_content", "reasoning", "reasoning_details")
"""The fields in which reasoning comes, and goes back."""

_STOPS: Mapping[str, StopReason] = {
    "stop": "end_turn",
    "end_turn": "end_turn",
    "eos": "end_turn",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "refusal",
}


# -- there -----------------------------------------------------------------------------------------------


def body(request: Request, *, model: str, manners: Manners, source: str, limit: int) -> Json:
    """The request as the JSON object to post. `source` is the client whose reasoning may go back, `limit` the
    bound on the answer."""
    sent: Json = {"model": model}
    if request.prefix.tools:
        sent["tools"] = [_tool(tool, manners) for tool in request.prefix.tools]
    sent["messages"] = messages(request, manners, source)
    sent[manners.limit] = limit
    if request.prefix.tools and manners.parallel:
        sent["parallel_tool_calls"] = True
    if manners.effort and (hard := effort(request)) is not None:
        sent["reasoning_effort"] = hard
    if manners.server == "openrouter" and request.prefix.thinking is not None:
        sent["reasoning"] = {"max_tokens": request.prefix.thinking}
    if request.schema is not None and manners.schema is not None:
        sent["response_format"] = _format(request.schema, manners)
    sent |= shared.caching(request, manners)
    sent["stream"] = True
    if manners.usage:
        sent["stream_options"] = {"include_usage": True}
    return sent


def messages(request: Request, manners: Manners, source: str) -> list[Json]:
    """The conversation, the system prompt first."""
    sent = list(_system(request.prefix.system, manners))
    for message in fitting.fitted(request.messages):
        sent += (
            _assistant(message, manners, source) if message.role == "assistant" else _user(message, manners)
        )
    if manners.alternate:
        sent = _taking_turns(sent)
    if manners.cache_marks and request.cache:
        _mark(sent)
    return sent


def _system(parts: tuple[str, ...], manners: Manners) -> Iterator[Json]:
    texts = [part for part in parts if part.strip()]
    if texts:
        yield {"role": "system" if manners.system else "user", "content": _content(texts, manners)}


def _tool(tool: ToolSpec, manners: Manners) -> Json:
    function: Json = {
        "name": tool.name,
        "description": sendable(tool.description),
        "parameters": json_text.clean(tool.schema),
    }
    if manners.strict and takes_strictly(tool.schema):
        function["strict"] = True
    return {"type": "function", "function": function}


def _format(schema: Mapping[str, Any], manners: Manners) -> Json:
    if manners.schema == "json_object":
        return {"type": "json_object"}
    asked: Json = {"name": shared.ANSWER, "schema": json_text.clean(schema)}
    if manners.strict and takes_strictly(schema):
        asked["strict"] = True
    return {"type": "json_schema", "json_schema": asked}


def _user(message: Message, manners: Manners) -> Iterator[Json]:
    """Tool results, one message each, as the API wants them: right after the calls. Then all the rest, and
    with it the pictures of the results, which a tool's message can't hold."""
    rest: list[str | Image] = []
    for block in message.content:
        match block:
            case ToolResult():
                said = _content([shared.said_by_tool(block)], manners)
                yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": said}
                if block.images:
                    rest += [f"(what the call {block.tool_use_id} shows:)", *block.images]
            case Text(text=text) if text.strip():
                rest.append(text)
            case Image():
                rest.append(block)
    if rest:
        yield {"role": "user", "content": _content(rest, manners)}


def _assistant(message: Message, manners: Manners, source: str) -> Iterator[Json]:
    """An answer, with the reasoning that has to go back; nothing if there is nothing in it but that."""
    texts = [block.text for block in message.content if isinstance(block, Text) and block.text.strip()]
    calls = [_call(use) for use in message.tool_uses]
    if not texts and not calls:
        return
    nothing = None if manners.parts else ""  # some templates add to it, some services refuse a blank text
    sent: Json = {"role": "assistant", "content": _content(texts, manners) if texts else nothing}
    if manners.reasoning:
        sent.update(_reasoning(message, source))
    if calls and manners.blank_reasoning:
        sent.setdefault("reasoning_content", "")
    if calls:
        sent["tool_calls"] = calls
    yield sent


def _reasoning(message: Message, source: str) -> Json:
    """The fields in which it came."""
    fields: Json = {}
    for block in message.content:
        if isinstance(block, Thinking) and block.source == source and block.signature:
            kept = tool_input(block.signature)[0]
            fields.update({name: kept[name] for name in _REASONING if name in kept})
    return fields


def _call(use: ToolUse) -> Json:
    function = {"name": use.name, "arguments": json_text.compact(dict(use.input))}
    return {"id": use.id, "type": "function", "function": function}


def _content(parts: list[str] | list[str | Image], manners: Manners) -> str | list[Json]:
    """Texts and pictures; one string where that will do, and lists of parts are not everybody's."""
    shown = [shared.in_words(part, manners) for part in parts]
    if not manners.parts and all(isinstance(part, str) for part in shown):
        return "\n\n".join(sendable(part) for part in shown if isinstance(part, str))
    return [
        {"type": "text", "text": sendable(part)}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": shared.data_url(part)}}
        for part in shown
    ]


def _taking_turns(sent: list[Json]) -> list[Json]:
    """With messages of the user's joined, and put to a tool's where they follow one."""
    joined: list[Json] = []
    for message in sent:
        last = joined[-1] if joined else {}
        if message["role"] == "user" and last.get("role") in ("user", "tool"):
            joined[-1] = {**last, "content": _joined(last["content"], message["content"])}
        else:
            joined.append(message)
    return joined


def _joined(one: str | list[Json], other: str | list[Json]) -> str | list[Json]:
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return [*_as_parts(one), *_as_parts(other)]


def _as_parts(content: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _mark(sent: list[Json]) -> None:
    """Cache marks for a router that passes them to Claude: after the system prompt, and where the last
    requests ended, as in the Messages API."""
    ends = [
        message
        for message, following in zip_longest(sent, sent[1:])
        if message["role"] in ("user", "tool") and (following is None or following["role"] == "assistant")
    ]
    marked = [message for message in sent[:1] if message["role"] == "system"] + ends[-(MAX_MARKS - 1) :]
    for message in marked:
        if isinstance(message["content"], list):
            message["content"][-1]["cache_control"] = {"type": "ephemeral"}


# -- and back --------------------------------------------------------------------------------------------


class Answer:
    """An answer that is coming in, chunk by chunk. `source` is the client that asked."""

    def __init__(self, *, source: str) -> None:
        self._source = source
        self._model = ""
        self._text = Inline()
        self._thoughts = ""
        self._refusal = Inline()
        self._details = Details()
        self._calls = Calls()
        self._by_delta = False
        self._finish: str | None = None
        self._usage = Usage()

    @property
    def is_empty(self) -> bool:
        """Whether nothing has come, no end either."""
        return self._finish is None and not self._has_begun

    @property
    def _has_begun(self) -> bool:
        said = self._text.seen or self._refusal.seen or self._thoughts
        return bool(said or self._calls.all or self._details.seen)

    def take(self, event: Any) -> str:
        """Take in one chunk; gives the visible text in it, mostly a word.

        Raises:
            InStream: it is an error.
        """
        shared.fail_on_error(event)
        if isinstance(model := event.get("model"), str) and model:
            self._model = sendable(model)
        if event.get("usage"):
            self._usage = shared.usage(event["usage"])
        choices = lenient.entries(event.get("choices"))
        first = [choice for choice in choices if not lenient.place(choice.get("index"))][:1]
        return "".join(map(self._choose, first))

    def _choose(self, choice: Mapping[str, Any]) -> str:
        shared.fail_on_error(choice)
        delta = self._delta(choice)
        shown = "".join(self._say(kind, words) for kind, words in shared.parts(delta.get("content")))
        shown += self._say("refusal", lenient.words(delta.get("refusal")))
        self._details.take(delta)
        for piece in lenient.entries(delta.get("tool_calls")):
            self._calls.take(piece)
        if finish := choice.get("finish_reason"):
            if finish == "error":
                raise InStream({"message": "the provider broke off", "type": "server_error"})
            self._finish = finish if isinstance(finish, str) else "other"
            shown += self._text.end() + self._refusal.end()
        return shown

    def _delta(self, choice: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is new in a choice. A whole message stands for it, unless its text came in pieces before."""
        delta = lenient.fields(choice.get("delta"))
        if delta or (self._by_delta and self._has_begun):
            self._by_delta = True
            return delta
        return lenient.fields(choice.get("message"))

    def _say(self, kind: str, words: str) -> str:
        if kind == "thinking":
            self._thoughts += words
            return ""
        return (self._refusal if kind == "refusal" else self._text).take(words)

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            ModelUnreachable: the stream ended before the answer did.
        """
        if self._finish is None:
            raise broke_off(self._source)
        calls = tuple(self._calls.blocks())
        blocks = [*self._thinking(bool(calls)), *self._said(), *calls]
        return Reply(
            message=assistant(*blocks),
            stop=self._stop(bool(calls)),
            usage=self._usage,
            model=self._model or self._source,
        )

    def _thinking(self, calls: bool) -> Iterator[Block]:
        """The reasoning; an empty one counts beside calls, where it has to go back, too."""
        fields = self._details.fields()
        text = self._details.text
        if text or (fields and (calls or "reasoning_details" in fields)):
            yield Thinking(thinking=text, signature=json_text.compact(fields), source=self._source)
        for hidden in (sendable(self._thoughts), self._text.hidden):
            if hidden.strip():
                yield Thinking(thinking=hidden, source=self._source)

    def _said(self) -> Iterator[Block]:
        text = self._text.text + self._refusal.text
        if text.strip():
            yield Text(text=text)

    def _stop(self, calls: bool) -> StopReason:
        if self._refusal.seen:
            return "refusal"
        stop = _STOPS.get(self._finish or "", "other")
        return "tool_use" if calls and stop in ("end_turn", "other") else stop
