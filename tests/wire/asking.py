"""Asking a wire server by hand, without an SDK: one small conversation in each format, and what came back."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import IncompleteRead
from typing import Any

from tests.wire.seen import dump
from tests.wire.server import WireServer

Json = dict[str, Any]

PATHS = {"messages": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}
DIALECTS = tuple(PATHS)
PARAMETERS = {"type": "object", "properties": {"file_path": {"type": "string"}}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """An answer, whichever format it came in. `calls`: name and arguments, as text. `cached`: input tokens
    that were read from a cache, of `input` in all."""

    text: str = ""
    reasoning: str = ""
    calls: Sequence[tuple[str, str]] = ()
    stop: str | None = None
    input: int | None = None
    cached: int | None = None


def question(dialect: str, *words: str | list[Json], **more: Any) -> Json:
    """A request in which the person said these words (or parts), one message each, with `more` fields."""
    said = [{"role": "user", "content": text} for text in words or ("hi",)]
    match dialect:
        case "messages":
            return {"model": "m", "max_tokens": 99, "messages": said, **more}
        case "chat":
            options = {"stream_options": {"include_usage": True}} if more.get("stream") else {}
            return {"model": "m", "messages": said, **options, **more}
        case _:
            return {"model": "m", "input": said, "store": False, **more}


def tool(dialect: str, name: str) -> Json:
    """A tool as the format describes it."""
    match dialect:
        case "messages":
            return {"name": name, "description": "", "input_schema": PARAMETERS}
        case "chat":
            return {"type": "function", "function": {"name": name, "parameters": PARAMETERS}}
        case _:
            return {"type": "function", "name": name, "parameters": PARAMETERS, "strict": False}


def send(
    server: WireServer, path: str, sent: Json | None = None, *, key: str = "k", **headers: str
) -> tuple[int, bytes]:
    """Status and bytes of an answer, as far as they came. Without a body it is a GET."""
    given = {"content-type": "application/json", **headers}
    if key:
        given["authorization"] = f"Bearer {key}"
    data = dump(sent).encode() if sent is not None else None
    asked = urllib.request.Request(server.url + path, data=data, headers=given)
    try:
        with urllib.request.urlopen(asked, timeout=10) as response:
            try:
                return response.status, response.read()
            except IncompleteRead as broken:
                return response.status, broken.partial
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def post(server: WireServer, dialect: str, sent: Json, *, key: str = "k") -> tuple[int, Any]:
    """Status and JSON of an answer that does not stream."""
    status, data = send(server, PATHS[dialect], sent, key=key)
    return status, json.loads(data)


def get(server: WireServer, path: str, *, key: str = "k", **headers: str) -> tuple[int, Any]:
    """Status and JSON of what is looked at."""
    status, data = send(server, path, None, key=key, **headers)
    return status, json.loads(data)


def stream(server: WireServer, dialect: str, sent: Json) -> list[Any]:
    """The events of a stream: JSON, or the word `[DONE]`."""
    status, data = send(server, PATHS[dialect], {**sent, "stream": True})
    assert status == 200, data
    lines = [line for line in data.decode().split("\n") if line.startswith("data: ")]
    return [line[6:] if line == "data: [DONE]" else json.loads(line[6:]) for line in lines]


# ── what came back ─────────────────────────────────────────────────────────────────────────────────────


def heard_whole(dialect: str, answer: Json) -> Heard:
    """What an answer in one object says."""
    match dialect:
        case "messages":
            return _of_message(answer)
        case "chat":
            choice = answer["choices"][0]
            return _of_choice(choice["message"], choice["finish_reason"], answer.get("usage"))
        case _:
            return _of_response(answer)


def heard_stream(dialect: str, events: Sequence[Any]) -> Heard:
    """What a stream says."""
    match dialect:
        case "messages":
            return _of_message(_joined_message(events))
        case "chat":
            return _joined_chunks(events)
        case _:
            ends = [e for e in events if e["type"] in ("response.completed", "response.incomplete")]
            return _of_response(ends[-1]["response"])


def _of_message(answer: Json) -> Heard:
    blocks, usage = answer["content"], answer["usage"]
    read = usage["cache_read_input_tokens"]
    return Heard(
        text="".join(block["text"] for block in blocks if block["type"] == "text"),
        reasoning="".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
        calls=[(block["name"], dump(block["input"])) for block in blocks if block["type"] == "tool_use"],
        stop=answer["stop_reason"],
        input=usage["input_tokens"] + read + usage["cache_creation_input_tokens"],
        cached=read,
    )


def _joined_message(events: Sequence[Json]) -> Json:
    message: Json = {**events[0]["message"], "content": []}
    for event in events:
        if event["type"] == "content_block_start":
            message["content"].append({**event["content_block"]})
        elif event["type"] == "content_block_delta":
            block, delta = message["content"][-1], event["delta"]
            for key in ("text", "thinking"):
                block[key] = block.get(key, "") + delta.get(key, "")
            if "partial_json" in delta:
                block["json"] = block.get("json", "") + delta["partial_json"]
                block["input"] = _parsed(block["json"])
        elif event["type"] == "message_delta":
            message["stop_reason"] = event["delta"]["stop_reason"]
    return message


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _of_choice(message: Json, finish: str | None, usage: Json | None) -> Heard:
    called = [call["function"] for call in message.get("tool_calls", ())]
    return Heard(
        text=message.get("content") or message.get("refusal") or "",
        reasoning=message.get("reasoning_content") or message.get("reasoning") or "",
        calls=[(function["name"], function["arguments"]) for function in called],
        stop=finish,
        input=usage["prompt_tokens"] if usage else None,
        cached=usage["prompt_tokens_details"]["cached_tokens"] if usage else None,
    )


def _joined_chunks(events: Sequence[Any]) -> Heard:
    message: Json = {"tool_calls": []}
    finish, usage = None, None
    for event in [e for e in events if e != "[DONE]"]:
        usage = event.get("usage") or usage
        for choice in event["choices"]:
            finish = choice["finish_reason"] or finish
            for key, value in choice["delta"].items():
                if key == "tool_calls":
                    _add_call(message["tool_calls"], value[0])
                elif isinstance(value, str):
                    message[key] = message.get(key, "") + value
    return _of_choice(message, finish, usage)


def _add_call(calls: list[Json], delta: Json) -> None:
    if "id" in delta:
        assert delta["index"] == len(calls)
        calls.append({"function": {**delta["function"]}})
    else:
        calls[delta["index"]]["function"]["arguments"] += delta["function"]["arguments"]


def _of_response(answer: Json) -> Heard:
    items, usage = answer["output"], answer["usage"]
    parts = [part for item in items if item["type"] == "message" for part in item["content"]]
    summaries = [part["text"] for item in items if item["type"] == "reasoning" for part in item["summary"]]
    called = [item for item in items if item["type"] == "function_call"]
    return Heard(
        text="".join(part.get("text") or part.get("refusal") or "" for part in parts),
        reasoning="".join(summaries),
        calls=[(item["name"], item["arguments"]) for item in called],
        stop=(answer["incomplete_details"] or {}).get("reason") or answer["status"],
        input=usage["input_tokens"] if usage else None,
        cached=usage["input_tokens_details"]["cached_tokens"] if usage else None,
    )
