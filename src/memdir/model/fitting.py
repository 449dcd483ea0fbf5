"""How a conversation fits wherever it moves: ids, names and texts that every service takes. Pure."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from memdir.model.json_text import Json, clean, is_whole, sendable
from memdir.model.messages import Block, Image, Message, Text, Thinking, ToolResult, ToolUse

_FITS = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Ids of calls and names of tools that every service takes."""
_ODD = re.compile(r"[^a-zA-Z0-9_-]")


def fitted(messages: Iterable[Message]) -> list[Message]:
    """The conversation as every service takes it, whoever answered in it so far.

    No text holds half of a character, ids and names are made of what all allow, and no two calls share an id.
    What fits stays as it is. All depends on what stands before alone: so the laws of prompt caches hold (A4).
    """
    ids, fit = _Ids(), list[Message]()
    for message in messages:
        if message.role == "assistant":
            ids.begin_answer()
        fit.append(replace(message, content=tuple(_fitted(message.content, ids))))
    return fit


def _fitted(blocks: Iterable[Block], ids: _Ids) -> Iterator[Block]:
    for block in blocks:
        match block:
            case Text():
                yield replace(block, text=sendable(block.text))
            case Thinking():
                sealed = block.signature or block.redacted
                if not sealed or (is_whole(block.thinking) and is_whole(block.signature)):
                    told = sendable(block.thinking)
                    yield replace(block, thinking=told, signature=sendable(block.signature))
            case ToolUse():
                name = _ODD.sub("_", block.name)[:64] or "unknown"
                yield replace(block, id=ids.of_call(block.id), name=name, input=_given(block.input))
            case ToolResult():
                said = sendable(block.content)
                yield replace(block, tool_use_id=ids.of_result(block.tool_use_id), content=said)
            case Image():
                yield block


def _given(given: Mapping[str, Any]) -> Json:
    try:
        cleaned: Json = clean(given)
    except ValueError:
        return {}
    return cleaned


class _Ids:
    """The ids of calls as they are written: one that does not fit, or that another call has, gets a new one.
    A result has the id of its call, which is in the last answer."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._changed: Counter[str] = Counter()
        self._written: dict[str, str] = {}
        self._waiting: dict[str, list[str]] = {}

    def begin_answer(self) -> None:
        """Take in that an answer begins: results after it are of its calls."""
        self._waiting = {}

    def of_call(self, id_: str) -> str:
        """The id of a call."""
        written = id_
        while written in self._used or not _FITS.fullmatch(written):
            self._changed[id_] += 1
            written = _made_of(id_, self._changed[id_])
        self._used.add(written)
        self._written[id_] = written
        self._waiting.setdefault(id_, []).append(written)
        return written

    def of_result(self, id_: str) -> str:
        """The id of a result; where two calls share an id, the results are in the order of the calls."""
        if waiting := self._waiting.get(id_):
            return waiting.pop(0)
        return self._written.get(id_) or (id_ if _FITS.fullmatch(id_) else _made_of(id_, 1))


def _made_of(id_: str, number: int) -> str:
    told = f"{number} {id_}".encode("utf-8", "surrogatepass")
    return "call_" + hashlib.sha256(told).hexdigest()[:24]
