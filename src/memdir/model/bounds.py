"""How both SDKs' HTTP clients are made: nothing is followed elsewhere, and no answer is read without end.

A server decides how much it sends, and into how much that unpacks; so what is read is counted where it comes
out of the HTTP client, before an SDK collects or decodes it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import Any

from memdir.model.service import Endless, is_here

LONGEST = 8 * 1024 * 1024
"""Bytes, unpacked, of what a service says of itself or of an error."""

LONGEST_STREAM = 64 * 1024 * 1024
"""Bytes of an answer, all its events together."""

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of one line of a stream: the SDKs' decoders keep it whole."""

_PACKED = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
"""How an answer may be packed. Others, and several at once, unpack into far more than one can count."""


_IS_ANSWER: ContextVar[bool] = ContextVar("is_answer", default=False)


@contextmanager
def answering() -> Iterator[None]:
    """What is asked here is a question to the model: its answer may be long."""
    before = _IS_ANSWER.set(True)
    try:
        yield
    finally:
        _IS_ANSWER.reset(before)


def options(url: str | None) -> dict[str, Any]:
    """What an SDK's own HTTP client is made with, beside the SDK's defaults, for that address (None: the
    provider's).

    To a server on this machine no proxy is in between, and a connection is not kept: llama.cpp closes one
    after each stream without a word, and a question that followed at once would meet its end.
    """
    import httpx2

    how: dict[str, Any] = {
        "follow_redirects": False,
        "event_hooks": {"response": [_bound]},
        "headers": {"accept-encoding": "gzip, deflate"},
    }
    try:
        is_ours = url is not None and is_here(httpx2.URL(url.strip()).host)
    except httpx2.InvalidURL:  # it is told when it is asked
        is_ours = False
    if is_ours:
        how |= {"trust_env": False, "limits": httpx2.Limits(max_keepalive_connections=0)}
    return how


async def _bound(response: Any) -> None:
    """Have an answer counted while it is read."""
    of_stream = _IS_ANSWER.get() and response.status_code < 300
    if response.headers.get("content-encoding", "").strip().lower() not in _PACKED:
        raise Endless(of_stream=of_stream)
    unbounded, most = response.aiter_bytes, LONGEST_STREAM if of_stream else LONGEST

    async def counted(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        total = line = 0
        async with aclosing(unbounded(chunk_size)) as parts:
            async for part in parts:
                total += len(part)
                at = max(part.rfind(b"\n"), part.rfind(b"\r"))
                line = len(part) - at - 1 if at >= 0 else line + len(part)
                if total > most or line > LONGEST_LINE:
                    raise Endless(of_stream=of_stream)
                yield part

    response.aiter_bytes = counted
