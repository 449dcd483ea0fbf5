"""Models over OpenAI's official SDK: its own, and all the servers that speak one of its two dialects (A3).

The SDK loads slowly, so it loads at the first question and beside the event loop. What goes over the wire is
decided in `chat` and `responses`, for the `manners` of the server; what an error means in `failures`; what a
server says of itself is read in `survey`. Requests are posted as the JSON that was made here, and events are
read as the JSON that came: the SDK's types know OpenAI's fields only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import anyio

from memdir.errors import KeyMissing, LibraryMissing, ModelError, ModelUnreachable
from memdir.model import bounds, extras, tokens
from memdir.model.client import Answer, OnText, Survey
from memdir.model.keys import Key
from memdir.model.messages import Image, Reply, Request, ToolResult
from memdir.model.openai import chat, failures, responses, survey, whole
from memdir.model.openai.failures import GET_A_KEY, KEY, Service
from memdir.model.openai.manners import (
    SMALLEST_ANSWER,
    Manners,
    Room,
    longest_answer,
    room,
    server_at,
    without,
)
from memdir.model.openai.manners import of as manners_of
from memdir.model.openai.said import SERVERS, Server, said
from memdir.model.service import NO_KEY, is_here
from memdir.model.streaming import (
    NEAR,
    NO_NETWORK,
    SURVEY_SECONDS,
    UNKNOWN_WINDOW,
    StreamingClient,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OLLAMAS_WINDOW = 4096
"""Tokens that Ollama gives a model on most machines, if nobody has said otherwise."""

_SLACK = 1.1
"""By how much an estimate may be too small before a service would refuse the request for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """What went with the question that this task asked last: the manners it was written in, the bound on its
    answer, and whether it about fills the window."""

    manners: Manners
    limit: int
    full: bool


_SENT: ContextVar[_Sent] = ContextVar("sent")
_ROOM: ContextVar[tuple[Request, int] | None] = ContextVar("room", default=None)
"""A request that was refused since its answer might have become too long, and how long it may be."""


class OpenAI(StreamingClient):
    """A model client for one model; see `StreamingClient`.

    Without `base_url` it is as the SDK has it: OPENAI_API_KEY and OPENAI_BASE_URL. A `base_url` gets nothing
    of the environment, neither keys nor the names of organisations, but `api_key`, or what `key` gives when
    the first question comes, or a placeholder; `key_cure` says how to come by a key. `window` is what is
    known of the model; a server that tells is believed instead.
    """

    def __init__(
        self,
        model: str,
        *,
        dialect: Literal["chat", "responses"] = "responses",
        base_url: str | None = None,
        api_key: str | None = None,
        key: Callable[[], Key | str | None] = lambda: None,
        key_cure: str | None = None,
        name: str | None = None,
        window: int | None = None,
        manners: Manners | None = None,
        max_retries: int = 4,
        pause: float = 0.5,
    ) -> None:
        name = name or f"openai:{model}"
        self._manners = manners or manners_of(base_url, model, _named(name) if base_url else None)
        self._is_given = manners is not None or base_url is not None
        self._service: Service
        super().__init__(
            Service(name=name, model=model, server=self._manners.server, url=base_url, key_cure=key_cure),
            api_key=api_key,
            key=key,
            window=window,
            max_retries=max_retries,
            pause=pause,
        )
        self._dialect = dialect
        self._base_url = base_url
        self._told: int | None = None
        """The window, in the server's own words."""
        self._to_ask = 2
        """How often a server is still asked for the window: a model that is not loaded has none yet."""
        self._counts = True

    # -- the SDK -----------------------------------------------------------------------------------------

    def _make(self) -> AsyncOpenAI:
        try:
            import openai  # noqa: F401 - whether it is there
        except ImportError as missing:
            raise LibraryMissing(
                f"the library for {self.name} is not installed", hint=extras.how_to_install("openai")
            ) from missing
        with self._explained():
            sdk = self._elsewhere(self._base_url) if self._base_url else self._at_home()
        host = sdk.base_url.host
        if os.environ.get(NO_NETWORK) and not is_here(host):
            raise ModelUnreachable(f"{self.name} is out of reach: {NO_NETWORK} is set, this is a test")
        url = None if server_at(str(sdk.base_url)) == "openai" else str(sdk.base_url).rstrip("/")
        if not self._is_given:
            self._manners = manners_of(url, self._model)
        self._service = replace(self._service, url=url, server=self._manners.server, is_here=is_here(host))
        return sdk

    def _at_home(self) -> AsyncOpenAI:
        """By the SDK's own rules."""
        import openai

        api_key = self._api_key or os.environ.get(KEY)
        if api_key:
            self._service = replace(self._service, key_from=None if self._api_key else KEY, keys=(api_key,))
        elif not (api_key := self._found_key()):
            hint = self._service.key_cure or GET_A_KEY
            raise KeyMissing(f"{self.name} needs a key, and {KEY} is not set", hint=hint)
        moved_to = os.environ.get("OPENAI_BASE_URL")
        return openai.AsyncOpenAI(api_key=api_key, max_retries=0, http_client=_http_client(moved_to))

    def _elsewhere(self, url: str) -> AsyncOpenAI:
        """For an address that was named. The SDK would send it what the environment says about OpenAI."""
        import openai

        sdk = openai.AsyncOpenAI(
            base_url=url,
            api_key=self._found_key() or NO_KEY,
            max_retries=0,
            http_client=_http_client(url),
        )
        sdk.admin_api_key = sdk.organization = sdk.project = sdk.webhook_secret = None
        sdk._custom_headers = {}  # noqa: SLF001 - of OPENAI_CUSTOM_HEADERS, and there is no other way
        return sdk

    # -- asking ------------------------------------------------------------------------------------------

    async def complete(self, request: Request, *, on_text: OnText | None = None) -> Reply:
        """Answer one request; see `StreamingClient`."""
        reply = await super().complete(request, on_text=on_text)
        await self._learn_window()  # now the model is loaded
        return reply

    async def _send(self, sdk: AsyncOpenAI, request: Request) -> Any:
        import openai

        about = round(self._calibration.of(tokens.estimate_request(request)) * _SLACK)
        left, learned = self._told - about if self._told else None, _ROOM.get()
        if learned is not None and learned[0] is request:
            left = learned[1]
        limit = longest_answer(request, self._manners, room=left)
        _SENT.set(_Sent(manners=self._manners, limit=limit, full=about >= NEAR * self.window))
        path = "/chat/completions" if self._dialect == "chat" else "/responses"
        body = self._body(request, limit)
        stream = await sdk.post(
            path, cast_to=object, body=body, stream=True, stream_cls=openai.AsyncStream[object]
        )
        return await whole.or_in_pieces(stream)

    def _body(self, request: Request, limit: int) -> dict[str, Any]:
        write = chat.body if self._dialect == "chat" else responses.body
        body = write(request, model=self._model, manners=self._manners, source=self.name, limit=limit)
        if not self._manners.bound:
            body.pop("max_output_tokens", None)
        return body

    def _answer(self) -> Answer:
        sent = _SENT.get()
        if self._dialect == "chat":
            answer: chat.Answer | responses.Answer = chat.Answer(source=self.name)
        else:
            answer = responses.Answer(source=self.name, limit=sent.limit)
        return _NotEmpty(answer, self._service) if sent.full else answer

    def _explained(self) -> AbstractContextManager[None]:
        return failures.explained(self._service)

    def _amended(self, request: Request, refusal: ModelError) -> bool:
        """Give up what the server does not take. Of questions asked at once one learns it for all.

        Raises:
            ContextTooLong: the window has no room for an answer.
        """
        sent, heard = _SENT.get(), said(refusal.__cause__)
        found = room(heard, asked=sent.limit)
        if found is not None and found.window is not None and found.window <= survey.LARGEST_WINDOW:
            return self._has_room(request, found, sent, refusal)
        if sent.manners != self._manners:
            return True
        less = without(self._manners, heard, asked=sent.limit, pictures=_pictures(request) > 0)
        self._manners = less or self._manners
        return less is not None

    def _has_room(self, request: Request, found: Room, sent: _Sent, refusal: ModelError) -> bool:
        """Learn the window that a refusal names, and how long the answer to this one request may be."""
        self._told = self._window = found.window
        if found.used is not None:
            self._calibration.learn(estimated=tokens.estimate_request(request), counted=found.used)
        if found.most < SMALLEST_ANSWER:
            raise self._service.too_long() from refusal.__cause__
        _ROOM.set((request, found.most))
        return found.most < sent.limit

    # -- the window, and counting ------------------------------------------------------------------------

    @property
    def window(self) -> int:
        """The context window, in tokens. Ollama gives a model that it has not loaded the same small one as a
        rule, however large it could be."""
        is_usual = self._service.server == "ollama" and not self._model.endswith("cloud")
        return self._window or (OLLAMAS_WINDOW if is_usual else UNKNOWN_WINDOW)

    async def _fits(self, request: Request) -> None:
        await self._learn_window()
        await super()._fits(request)
        if self._service.server != "ollama" or self._told is None:
            return
        words = tokens.estimate_request(request) - tokens.IMAGE * _pictures(request)
        about = self._calibration.of(words) if self.scale != 1.0 else 0  # as long as nothing was learned
        if max(tokens.least(request), about) >= self._told:
            raise self._service.too_long()  # it would cut the conversation, and not say so

    async def _learn_window(self) -> None:
        """Ask a server that is not OpenAI's for its window, if that is open. Nothing comes of trouble."""
        if self._told is not None or not self._to_ask or self._manners.server == "openai":
            return
        self._to_ask -= 1
        try:
            with anyio.move_on_after(SURVEY_SECONDS):
                sdk = await self._open()
                with self._explained():
                    self._take(await survey.ask_window(sdk, model=self._model, server=self._service.server))
        except ModelError as error:
            self._to_ask += self._service.is_closed(error.__cause__)  # the server is still to be started

    def _take(self, told: survey.Told) -> None:
        self._service = replace(self._service, server=told.server)
        self._told = told.window or self._told
        self._window = self._told or self._window
        self.calls_tools = told.tools if told.tools is not None else self.calls_tools

    async def _counted(self, sdk: AsyncOpenAI, request: Request) -> int | None:
        """By OpenAI and by llama.cpp; others have nothing to count with."""
        import openai

        at_home = self._service.server == "openai" and self._dialect == "responses"
        if not self._counts or not (at_home or self._service.server == "llamacpp"):
            return None
        body = self._body(request, self._manners.most or request.prefix.max_tokens)
        path = "/chat/completions/input_tokens" if self._dialect == "chat" else "/responses/input_tokens"
        try:
            sent = body if self._dialect == "chat" else responses.counted(body)
            answer: Any = await sdk.post(path, cast_to=object, body=sent)
        except openai.NotFoundError:
            self._counts = False  # an older one
            return None
        return int(answer["input_tokens"])

    async def _surveyed(self, sdk: AsyncOpenAI) -> Survey:
        """Whether the key is good and the model there; and of a server, what window it has."""
        if self._service.url is None:
            return survey.survey(await survey.ask_openai(sdk, model=self._model), self._service)
        told = await survey.ask(sdk, model=self._model, server=self._service.server)
        self._take(told)
        return survey.survey(told, self._service)

    async def _listed(self, sdk: AsyncOpenAI) -> Collection[str]:
        """Not a router's: it is long."""
        return () if self._service.server == "openrouter" else await survey.names(sdk)


class _NotEmpty:
    """An answer to a question that about fills the window. LM Studio answers one that does not fit with
    nothing at all, not even an end."""

    def __init__(self, answer: chat.Answer | responses.Answer, service: Service) -> None:
        self._answer = answer
        self._service = service

    def take(self, event: Any) -> str:
        """See `Answer`."""
        return self._answer.take(event)

    def reply(self) -> Reply:
        """See `Answer`.

        Raises:
            ContextTooLong: nothing came.
        """
        if self._answer.is_empty:
            raise self._service.too_long()
        return self._answer.reply()


def _http_client(url: str | None) -> Any:
    """The SDK's HTTP client, within bounds."""
    import openai

    return openai.DefaultAsyncHttpxClient(**bounds.options(url))


def _pictures(request: Request) -> int:
    blocks = [block for message in request.messages for block in message.content]
    inner = sum(len(block.images) for block in blocks if isinstance(block, ToolResult))
    return inner + sum(isinstance(block, Image) for block in blocks)


def _named(name: str) -> Server | None:
    """The program that serves a model, if its name says so: `vllm:…`."""
    provider = name.partition(":")[0]
    return next((server for server in SERVERS if server == provider and server != "openai"), None)
