"""Models over OpenAI's official SDK: its own, and all the servers that speak one of its two dialects (A3).

The SDK loads slowly, so it loads at the first question and beside the event loop. What goes over the wire is
decided in `chat` and `responses`, for the `manners` of the server; what an error means in `failures`; what a
server says of itself is read in `survey`. Requests are posted as the JSON that was made here, and events are
read as the JSON that came: the SDK's types know OpenAI's fields only.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import anyio

from memdir.errors import ContextTooLong, KeyMissing, LibraryMissing, ModelError, ModelUnreachable
from memdir.model import tokens
from memdir.model.client import OnText, Survey
from memdir.model.messages import Reply, Request
from memdir.model.openai import chat, failures, responses, survey
from memdir.model.openai.failures import GET_A_KEY, KEY, Service
from memdir.model.openai.manners import Manners, longest_answer, server_at, without
from memdir.model.openai.manners import of as manners_of
from memdir.model.openai.said import SERVERS, Server, said
from memdir.model.streaming import LOOPBACK, NEAR, NO_NETWORK, SURVEY_SECONDS, Answer, StreamingClient

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_NO_KEY = "none"
"""What goes as a key to a server that wants none: the SDK insists on one."""

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


class OpenAI(StreamingClient):
    """A model client for one model; see `StreamingClient`.

    Without `base_url` it is as the SDK has it: OPENAI_API_KEY and OPENAI_BASE_URL. A `base_url` gets nothing
    of the environment, neither keys nor the names of organisations, but `api_key`, or what `key` gives when
    the first question comes, or a placeholder. `window` is what is known of the model; a server that tells
    is believed instead.
    """

    def __init__(
        self,
        model: str,
        *,
        dialect: Literal["chat", "responses"] = "responses",
        base_url: str | None = None,
        api_key: str | None = None,
        key: Callable[[], str | None] = lambda: None,
        name: str | None = None,
        window: int | None = None,
        manners: Manners | None = None,
        max_retries: int = 4,
        pause: float = 0.5,
    ) -> None:
        super().__init__(name=name or f"openai:{model}", window=window, max_retries=max_retries, pause=pause)
        self._model = model
        self._dialect = dialect
        self._base_url = base_url
        self._api_key = api_key or None
        self._key = key
        self._manners = manners or manners_of(base_url, model, _named(self.name) if base_url else None)
        self._is_given = manners is not None or base_url is not None
        self._service = Service(name=self.name, model=model, server=self._manners.server, url=base_url)
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
                f"the library for {self.name} is not installed", hint="pip install 'memdir[openai]'"
            ) from missing
        with self._explained():
            sdk = self._elsewhere(self._base_url) if self._base_url else self._at_home()
        host = sdk.base_url.host
        if os.environ.get(NO_NETWORK) and host not in LOOPBACK:
            raise ModelUnreachable(f"{self.name} is out of reach: {NO_NETWORK} is set, this is a test")
        url = None if server_at(str(sdk.base_url)) == "openai" else str(sdk.base_url).rstrip("/")
        if not self._is_given:
            self._manners = manners_of(url, self._model)
        self._service = replace(self._service, url=url, server=self._manners.server, is_here=host in LOOPBACK)
        return sdk

    def _at_home(self) -> AsyncOpenAI:
        """By the SDK's own rules."""
        import openai

        api_key = self._api_key or os.environ.get(KEY) or self._key()
        if not api_key:
            raise KeyMissing(f"{self.name} needs a key, and {KEY} is not set", hint=GET_A_KEY)
        moved_to = os.environ.get("OPENAI_BASE_URL")
        return openai.AsyncOpenAI(api_key=api_key, max_retries=0, http_client=_http_client(moved_to))

    def _elsewhere(self, url: str) -> AsyncOpenAI:
        """For an address that was named. The SDK would send it what the environment says about OpenAI."""
        import openai

        sdk = openai.AsyncOpenAI(
            base_url=url,
            api_key=self._api_key or self._key() or _NO_KEY,
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
        room = self._told - about if self._told else None
        limit = longest_answer(request, self._manners, room=room)
        _SENT.set(_Sent(manners=self._manners, limit=limit, full=about >= NEAR * self.window))
        path = "/chat/completions" if self._dialect == "chat" else "/responses"
        body = self._body(request, limit)
        return await sdk.post(
            path, cast_to=object, body=body, stream=True, stream_cls=openai.AsyncStream[object]
        )

    def _body(self, request: Request, limit: int) -> dict[str, Any]:
        write = chat.body if self._dialect == "chat" else responses.body
        return write(request, model=self._model, manners=self._manners, source=self.name, limit=limit)

    def _answer(self) -> Answer:
        sent = _SENT.get()
        if self._dialect == "chat":
            answer: chat.Answer | responses.Answer = chat.Answer(source=self.name)
        else:
            answer = responses.Answer(source=self.name, limit=sent.limit)
        return _NotEmpty(answer, self._service) if sent.full else answer

    def _explained(self) -> AbstractContextManager[None]:
        return failures.explained(self._service)

    def _amended(self, request: Request, refusal: ModelError) -> bool:  # noqa: ARG002 - it goes by the answer
        """Give up what the server does not take. Of questions asked at once one learns it for all."""
        sent = _SENT.get()
        if sent.manners != self._manners:
            return True
        less = without(self._manners, said(refusal.__cause__), asked=sent.limit)
        self._manners = less or self._manners
        return less is not None

    # -- the window, and counting ------------------------------------------------------------------------

    async def _fits(self, request: Request) -> None:
        await self._learn_window()
        try:
            await super()._fits(request)
        except ContextTooLong as error:
            raise ContextTooLong(str(error), hint=failures.too_long(self._service).hint) from None
        about = self._calibration.of(tokens.estimate_request(request))
        if self._service.server == "ollama" and self._told is not None and about >= self._told:
            raise failures.too_long(self._service)  # it would cut the conversation, and not say so

    async def _learn_window(self) -> None:
        """Ask a server that is not OpenAI's for its window, if that is open. Nothing comes of trouble."""
        if self._told is not None or not self._to_ask or self._manners.server == "openai":
            return
        self._to_ask -= 1
        with suppress(ModelError), anyio.move_on_after(SURVEY_SECONDS):
            sdk = await self._open()
            with self._explained():
                self._take(await survey.ask_window(sdk, model=self._model, server=self._service.server))

    def _take(self, told: survey.Told) -> None:
        self._service = replace(self._service, server=told.server)
        self._told = told.window or self._told
        self._window = self._told or self._window

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
            raise failures.too_long(self._service)
        return self._answer.reply()


def _http_client(url: str | None) -> Any:
    """The HTTP client for a server on this machine, None (the SDK's own) for any other.

    No proxy is in between, and a connection costs nothing: llama.cpp closes one after each stream without a
    word, and a question that followed at once would meet its end.
    """
    import httpx2
    import openai

    if url is None or httpx2.URL(url).host not in LOOPBACK:
        return None
    limits = httpx2.Limits(max_keepalive_connections=0)
    return openai.DefaultAsyncHttpxClient(trust_env=False, limits=limits)


def _named(name: str) -> Server | None:
    """The program that serves a model, if its name says so: `vllm:…`."""
    provider = name.partition(":")[0]
    return next((server for server in SERVERS if server == provider and server != "openai"), None)
