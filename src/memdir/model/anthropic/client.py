"""Claude models over Anthropic's official SDK, and other servers that speak the Messages API (A3).

The SDK loads slowly, so it loads at the first question and beside the event loop; this module itself needs
nothing of it. What goes over the wire is decided in `wire`, what an error means in `failures`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from memdir.errors import KeyMissing, LibraryMissing, ModelUnreachable
from memdir.model.anthropic import wire
from memdir.model.anthropic.failures import GET_A_KEY, KEY, explained
from memdir.model.client import Survey
from memdir.model.messages import Request
from memdir.model.streaming import LOOPBACK, NO_NETWORK, StreamingClient

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

NO_KEY = "none"
"""What a server gets that was named by its address and for which no key is known."""

_AUTHORISING = frozenset({"authorization", "x-api-key"})


class Anthropic(StreamingClient):
    """A model client for one Claude model; see `StreamingClient`.

    Credentials and address are found as the SDK finds them (ANTHROPIC_API_KEY first, ANTHROPIC_BASE_URL),
    unless given here; `key` is asked for a key when the first question comes. To an address that is given
    here goes nothing that the environment holds for another one: no key and no extra headers. `name` is what
    the model is called in reports, `anthropic:model` if nothing else.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        key: Callable[[], str | None] = lambda: None,
        name: str | None = None,
        window: int | None = None,
        max_retries: int = 4,
        pause: float = 0.5,
    ) -> None:
        name = name or f"anthropic:{model}"
        window = window or wire.window(model)
        super().__init__(name=name, window=window, max_retries=max_retries, pause=pause)
        self._model = model
        self._base_url = base_url
        self._api_key = api_key or None
        self._key = key

    def _make(self) -> AsyncAnthropic:
        try:
            import anthropic
        except ImportError as missing:
            raise LibraryMissing(
                f"the library for {self.name} is not installed", hint="pip install 'memdir[anthropic]'"
            ) from missing
        without: dict[str, Any] = dict.fromkeys(_meant_for_another(), anthropic.Omit())
        with explained(self.name):
            sdk = anthropic.AsyncAnthropic(
                api_key=self._api_key or self._key() or (NO_KEY if self._base_url else None),
                base_url=self._base_url,
                max_retries=0,
                default_headers=without if self._base_url else None,
            )
        if sdk.credentials is None and not _AUTHORISING & {name.lower() for name in sdk.default_headers}:
            raise KeyMissing(f"{self.name} needs a key, and {KEY} is not set", hint=GET_A_KEY)
        if os.environ.get(NO_NETWORK) and sdk.base_url.host not in LOOPBACK:
            raise ModelUnreachable(f"{self.name} is out of reach: {NO_NETWORK} is set, this is a test")
        return sdk

    async def _send(self, sdk: AsyncAnthropic, request: Request) -> Any:
        body = wire.body(request, model=self._model, source=self.name)
        return await sdk.messages.create(**body, stream=True)

    def _answer(self) -> wire.Answer:
        return wire.Answer(source=self.name)

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.name)

    async def _counted(self, sdk: AsyncAnthropic, request: Request) -> int | None:
        body = wire.body(request, model=self._model, source=self.name)
        del body["max_tokens"]
        return (await sdk.messages.count_tokens(**body)).input_tokens

    async def _surveyed(self, sdk: AsyncAnthropic) -> Survey:
        """Whether the key is good and the model there; costs nothing."""
        found = await sdk.models.retrieve(self._model)
        return Survey(reachable=True, models=(found.id,), window=found.max_input_tokens)


def _meant_for_another() -> list[str]:
    """The names of the headers that ANTHROPIC_CUSTOM_HEADERS would add."""
    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    return [line.partition(":")[0].strip() for line in lines if ":" in line]
