"""Claude models over Anthropic's official SDK (A3).

The SDK loads slowly, so it loads at the first question and beside the event loop; this module itself needs
nothing of it. What goes over the wire is decided in `wire`, what an error means in `failures`.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio
import anyio.to_thread

from memdir.errors import KeyMissing, ModelError, ModelOverloaded, ModelUnreachable
from memdir.model import wire
from memdir.model.client import OnText
from memdir.model.failures import GET_A_KEY, KEY, explained
from memdir.model.messages import Reply, Request

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

NO_NETWORK = "MEMDIR_TEST_NO_NETWORK"
"""Set in tests: then only a server on this machine is asked, and a real model call is an error."""

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_AUTHORISING = frozenset({"authorization", "x-api-key"})


class Anthropic:
    """A model client for one Claude model; use it within one event loop and `aclose` it at the end.

    Credentials and address are found as the SDK finds them (ANTHROPIC_API_KEY first, ANTHROPIC_BASE_URL),
    unless given here. Overload, rate limits and lost connections are tried `max_retries` times more, with
    growing pauses (`pause` seconds first) or as long as the service asks for.
    """

    is_local = False

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        max_retries: int = 4,
        pause: float = 0.5,
    ) -> None:
        self.name = f"anthropic:{model}"
        self.window = wire.window(model)
        self._model = model
        self._base_url = base_url
        self._api_key = api_key or None
        self._max_retries = max_retries
        self._pause = pause
        self._sdk: AsyncAnthropic | None = None
        self._opening = anyio.Lock()

    async def complete(self, request: Request, *, on_text: OnText | None = None) -> Reply:
        """Answer one request, streaming.

        The SDK asks again when the service turns a request away. A stream that fails after it was taken on
        is asked for again here, as long as nobody has seen any of its text. Both count together.

        Raises:
            ModelError: see the tree in `memdir.errors`.
        """
        sdk = await self._open()
        body = wire.body(request, model=self._model)
        left, reply = self._max_retries, None
        while reply is None:
            with explained(self.name):
                asking = sdk.with_options(max_retries=left).messages.with_raw_response
                response = await asking.create(**body, stream=True)
                stream = await response.parse()
            left -= response.retries_taken
            seen = _Seen(on_text)
            try:
                reply = await self._listen(stream, seen)
            except (ModelOverloaded, ModelUnreachable):
                if seen.any or left <= 0:
                    raise
                await anyio.sleep(self._pause * 2 ** (self._max_retries - left))
                left -= 1
        if request.schema is not None:
            wire.require_object(reply)
        return reply

    async def aclose(self) -> None:
        """Close the connections. A later question opens new ones."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _listen(self, stream: Any, show: OnText) -> Reply:
        """Read a stream to its end. What `show` raises is the caller's own, and passes as it is."""
        answer = wire.Answer()
        async with stream:
            events = aiter(stream)
            while True:
                with explained(self.name):
                    event = await anext(events, None)
                    text = answer.take(event) if event is not None else ""
                if event is None:
                    return answer.reply()
                if text:
                    show(text)

    async def _open(self) -> AsyncAnthropic:
        """The SDK's client, made at the first call: loading it takes a second or two, in a thread."""
        async with self._opening:
            if self._sdk is None:
                self._sdk = await anyio.to_thread.run_sync(self._make)
            return self._sdk

    def _make(self) -> AsyncAnthropic:
        try:
            import anthropic
        except ImportError as missing:
            raise ModelError(
                f"the library for {self.name} is not installed", hint="pip install 'memdir[anthropic]'"
            ) from missing
        with explained(self.name):
            sdk = anthropic.AsyncAnthropic(
                api_key=self._api_key, base_url=self._base_url, max_retries=self._max_retries
            )
        if sdk.credentials is None and not _AUTHORISING & {name.lower() for name in sdk.default_headers}:
            raise KeyMissing(f"{self.name} needs a key, and {KEY} is not set", hint=GET_A_KEY)
        if os.environ.get(NO_NETWORK) and sdk.base_url.host not in _LOOPBACK:
            raise ModelUnreachable(f"{self.name} is out of reach: {NO_NETWORK} is set, this is a test")
        return sdk


class _Seen:
    """Hands text on to whoever wants it, and knows whether any was handed on."""

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self.any = False

    def __call__(self, text: str) -> None:
        if self._on_text is not None:
            self.any = True
            self._on_text(text)
