"""Servers that do not stream, or not as others do: their answers as streams all the same."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Self

import anyio.to_thread

from memdir.model.json_text import Json


async def or_in_pieces(stream: Any) -> Any:
    """The SDK's stream of events; or a whole answer, if that is what came, as a stream of this one."""
    kind = stream.response.headers.get("content-type", "").partition(";")[0].strip()
    if kind.endswith("json"):
        async with stream:
            said = await stream.response.aread()
        if said.lstrip().startswith(b"{"):
            return _Whole(await anyio.to_thread.run_sync(json.loads, said))
    _hear_errors(stream)
    return stream


class _Whole:
    """A stream of one event."""

    def __init__(self, event: Json) -> None:
        self._event = event

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is open."""

    async def __aiter__(self) -> AsyncIterator[Json]:
        yield self._event


def _hear_errors(stream: Any) -> None:
    """Older llama.cpp tells an error in a field `error`, where the format has an event in `data`. The SDK's
    decoder passes unknown fields over; so it gets to see the one that it knows."""
    decoder = getattr(stream, "_decoder", None)
    decode = getattr(decoder, "decode", None)
    if decoder is None or decode is None:
        return

    def line_by_line(line: str) -> Any:
        field, _, value = line.partition(":")
        return decode(f'data: {{"error": {value}}}' if field == "error" else line)

    decoder.decode = line_by_line
