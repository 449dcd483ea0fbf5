"""Claude models over Anthropic's official SDK, and other servers that speak the Messages API (A3).

The SDK loads slowly, so it loads at the first question and beside the event loop; this module itself needs
nothing of it. What goes over the wire is decided in `wire`, what an error means in `failures`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio

from memdir.errors import KeyMissing, LibraryMissing, ModelError, ModelUnreachable
from memdir.model import bounds, extras
from memdir.model.anthropic import wire
from memdir.model.anthropic.failures import GET_A_KEY, KEY, explained
from memdir.model.client import Survey
from memdir.model.keys import BEARER, Key
from memdir.model.messages import Request
from memdir.model.openai import survey
from memdir.model.openai.said import said
from memdir.model.service import NO_KEY, Service, is_here
from memdir.model.streaming import NO_NETWORK, SURVEY_SECONDS, StreamingClient

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_AUTHORISING = frozenset({"authorization", "x-api-key"})

_OPTIONAL: Mapping[str, str] = {
    "output_config": r"output_config|output_format",
    "cache_control": r"cache_control",
    "thinking": r"^ *thinking\b|\bbody\.thinking\b|['\"`]thinking['\"`](?! block)"
    r"|\bthinking\b.{0,30}(?:permitted|supported|unknown)|support (?:extended )?thinking",
}
"""The fields that a server may do without, and how a refusal names them."""

_SENT: ContextVar[frozenset[str]] = ContextVar("sent")
"""The optional fields that were left out of the question that this task asked last."""


class Anthropic(StreamingClient):
    """A model client for one Claude model; see `StreamingClient`.

    Credentials and address are found as the SDK finds them (ANTHROPIC_API_KEY first, ANTHROPIC_BASE_URL),
    unless given here; `key` is asked for a key when the first question comes, and `key_cure` says how to come
    by one. To an address that is given here goes nothing that the environment holds for another one: no key
    and no extra headers, unless it `is_its_own`: what the SDK would find, but for what a profile on the disk
    says. `name` is what the model is called in reports, `anthropic:model` if nothing else.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        is_its_own: bool = False,
        api_key: str | None = None,
        key: Callable[[], Key | str | None] = lambda: None,
        key_cure: str | None = None,
        name: str | None = None,
        window: int | None = None,
        max_retries: int = 4,
        pause: float = 0.5,
    ) -> None:
        is_own = is_its_own or base_url is None
        super().__init__(
            Service(
                name=name or f"anthropic:{model}",
                model=model,
                url=None if is_own else base_url,
                variable=KEY,
                key_cure=key_cure,
            ),
            api_key=api_key,
            key=key,
            window=window or (wire.window(model) if "claude" in model.lower() else None),
            max_retries=max_retries,
            pause=pause,
        )
        self._base_url = base_url
        self._is_own = is_own
        self._without: frozenset[str] = frozenset()
        self._to_ask = True
        """Whether a server that is not Anthropic's is still to be asked for the window."""

    def _make(self) -> AsyncAnthropic:
        try:
            import anthropic
        except ImportError as missing:
            raise LibraryMissing(
                f"the library for {self.name} is not installed", hint=extras.how_to_install("anthropic")
            ) from missing
        without: dict[str, Any] = dict.fromkeys(_meant_for_another(), anthropic.Omit())
        with self._explained():
            sdk = anthropic.AsyncAnthropic(
                api_key=self._found_key() or (None if self._is_own else NO_KEY),
                base_url=self._base_url,
                max_retries=0,
                default_headers=None if self._is_own else without,
                http_client=_http_client(self._base_url or os.environ.get("ANTHROPIC_BASE_URL")),
            )
        if sdk.credentials is None and not _AUTHORISING & {name.lower() for name in sdk.default_headers}:
            hint = self._service.key_cure or GET_A_KEY
            raise KeyMissing(f"{self.name} needs a key, and {KEY} is not set", hint=hint)
        if os.environ.get(NO_NETWORK) and not is_here(sdk.base_url.host):
            raise ModelUnreachable(f"{self.name} is out of reach: {NO_NETWORK} is set, this is a test")
        self._note(sdk)
        return sdk

    def _note(self, sdk: AsyncAnthropic) -> None:
        """Note whom the SDK asks, and whose key it has found where it looks itself."""
        host = sdk.base_url.host
        url = None if host.endswith(".anthropic.com") else str(sdk.base_url).rstrip("/")
        self._service = replace(self._service, url=url, is_here=is_here(host))
        if self._is_own:  # what the SDK has found itself
            keys = {*self._service.keys, sdk.api_key or "", sdk.auth_token or ""} - {"", NO_KEY}
            self._service = replace(self._service, keys=tuple(sorted(keys)))
        if not self._service.has_key and self._is_own:
            found = KEY if sdk.api_key else BEARER if sdk.auth_token else None
            self._service = replace(self._service, has_key=True, key_from=found)

    async def _send(self, sdk: AsyncAnthropic, request: Request) -> Any:
        _SENT.set(self._without)
        return await sdk.messages.create(**self._body(request), stream=True)

    def _body(self, request: Request) -> dict[str, Any]:
        if "cache_control" in self._without:
            request = replace(request, cache=False)
        body = wire.body(request, model=self._model, source=self.name)
        return {name: value for name, value in body.items() if name not in self._without}

    def _amended(self, request: Request, refusal: ModelError) -> bool:
        """Give up the optional field that the server does not take, for good."""
        heard = said(refusal.__cause__)
        if heard.status not in (400, 422, 500):
            return False
        if _SENT.get() != self._without:  # of questions asked at once one learns it for all
            return True
        body = json.dumps(self._body(request))
        for name, words in _OPTIONAL.items():
            named = re.search(words, f"{heard.param} {heard.text}", re.IGNORECASE)
            if named and name not in self._without and f'"{name}"' in body:
                self._without |= {name}
                return True
        return False

    def _answer(self) -> wire.Answer:
        return wire.Answer(source=self.name)

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self._service)

    async def _counted(self, sdk: AsyncAnthropic, request: Request) -> int | None:
        body = self._body(request)
        del body["max_tokens"]
        return (await sdk.messages.count_tokens(**body)).input_tokens

    async def _surveyed(self, sdk: AsyncAnthropic) -> Survey:
        """Whether the key is good and the model there; costs nothing. Of another's server, what it tells."""
        if self._service.url is not None:
            told = await survey.ask(sdk, model=self._model, server="unknown", api="/v1")
            self.calls_tools = told.tools if told.tools is not None else self.calls_tools
            return survey.survey(told, self._service)
        found = await sdk.models.retrieve(self._model)
        return Survey(reachable=True, models=(found.id,), window=survey.possible(found.max_input_tokens))

    async def _fits(self, request: Request) -> None:
        await self._learn_window()
        await super()._fits(request)

    async def _learn_window(self) -> None:
        """Ask a server that is not Anthropic's for the window of a model that nothing is known of, once."""
        if self._window is not None or self._service.url is None or not self._to_ask:
            return
        self._to_ask = False
        with suppress(ModelError), anyio.move_on_after(SURVEY_SECONDS):
            sdk = await self._open()
            with self._explained():
                self._window = (await self._surveyed(sdk)).window

    async def _listed(self, sdk: AsyncAnthropic) -> Collection[str]:
        if self._service.url is not None:
            return (await survey.ask(sdk, model=self._model, server="unknown", api="/v1")).models
        return [model.id for model in (await sdk.models.list(limit=1000)).data]


def _http_client(url: str | None) -> Any:
    """The SDK's HTTP client, within bounds."""
    import anthropic

    return anthropic.DefaultAsyncHttpxClient(**bounds.options(url))


def _meant_for_another() -> list[str]:
    """The names of the headers that ANTHROPIC_CUSTOM_HEADERS would add."""
    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    return [line.partition(":")[0].strip() for line in lines if ":" in line]
