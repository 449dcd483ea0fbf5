"""What all models over a network share: asking again, streams, structured output, and counting (A3).

A provider's client says how its SDK is made and asked, and how its stream is read; everything else is here,
once. A request meets, in this order: the window (is it too long already?), the service (asked again while it
is busy or away), the stream (read to its end, its text shown as it comes), and the answer (was the schema
kept, were the tools passed on, was the whole prompt read?).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread

from memdir.errors import (
    ContextTooLong,
    KeyMissing,
    LibraryMissing,
    ModelError,
    ModelOverloaded,
    ModelUnreachable,
    NoSuchModel,
)
from memdir.model import bounds, ignored_tools, pauses, structured, tokens
from memdir.model.client import Answer, Count, OnText, Survey
from memdir.model.keys import Key
from memdir.model.messages import Reply, Request
from memdir.model.service import NO_KEY, Service, near

NO_NETWORK = "MEMDIR_TEST_NO_NETWORK"
"""Set in tests: then only a server on this machine is asked, and a real model call is an error."""

SURVEY_SECONDS = 5.0
"""How long a survey waits for a service."""

UNKNOWN_WINDOW = 32_768
"""Tokens that are planned with where nobody says how large the window is."""

NOTICED = 1.0
"""Seconds: a pause from so many on is told to whoever wants to know (`StreamingClient.on_wait`)."""

NEAR = 0.85
"""From this share of the window on a request is counted exactly before it is sent."""


class StreamingClient(ABC):
    """A model client over an SDK; use it within one event loop and `aclose` it at the end.

    Overload, rate limits and lost connections are tried `max_retries` times more, with growing pauses
    (`pause` seconds first) or as long as the service asks for. `window` is what is known of the model before
    its service was asked; None: nothing.
    """

    is_local = False
    calls_tools: bool | None = None

    on_wait: Callable[[float, ModelError], None] | None = None
    """Is told before a pause of a second or more: for how many seconds, and why. By each question to this
    client, those of background jobs included."""

    def __init__(
        self,
        service: Service,
        *,
        api_key: str | None,
        key: Callable[[], Key | str | None],
        window: int | None,
        max_retries: int,
        pause: float,
    ) -> None:
        self.name = service.name
        self._model = service.model
        self._service = service
        self._api_key = api_key or None
        self._key = key
        self._window = window
        self._max_retries = max_retries
        self._pause = pause
        self._calibration = tokens.Calibration()
        self._whole = 0
        """The estimate of the largest request that was read in full, as far as that was to be seen."""
        self._sdk: Any = None
        self._opening = anyio.Lock()

    # -- what a provider says --------------------------------------------------------------------------------

    @abstractmethod
    def _make(self) -> Any:
        """The SDK's client. Runs in a thread: loading an SDK takes a second or two.

        Raises:
            ModelError: the library is missing, or there is no key.
        """

    @abstractmethod
    async def _send(self, sdk: Any, request: Request) -> Any:
        """Post the request, once; gives the SDK's stream of events."""

    @abstractmethod
    def _answer(self) -> Answer:
        """What reads the stream."""

    @abstractmethod
    def _explained(self) -> AbstractContextManager[None]:
        """Raises the SDK's errors as ours."""

    @abstractmethod
    async def _counted(self, sdk: Any, request: Request) -> int | None:
        """How many tokens the request is, if the service counts without answering."""

    @abstractmethod
    async def _surveyed(self, sdk: Any) -> Survey:
        """What the service says of itself. Errors may pass through."""

    async def _listed(self, sdk: Any) -> Collection[str]:  # noqa: ARG002 - for those who can
        """The names of the models that the service has, where they are to be had at little cost."""
        return ()

    def _amended(self, request: Request, refusal: ModelError) -> bool:  # noqa: ARG002 - for those who can
        """Whether the request will look otherwise now, after a refusal that said what was wrong with it."""
        return False

    # -- the client ------------------------------------------------------------------------------------------

    @property
    def window(self) -> int:
        """The context window, in tokens; that of an unknown model is taken to be small."""
        return self._window or UNKNOWN_WINDOW

    @property
    def scale(self) -> float:
        """Tokens of this model for each estimated one."""
        return self._calibration.scale

    async def complete(self, request: Request, *, on_text: OnText | None = None) -> Reply:
        """Answer one request, streaming.

        With a schema the reply's text is the JSON object that was asked for, and usage adds up what it took.

        Raises:
            ModelError: see the tree in `memdir.errors`.
        """
        await self._open()
        await self._fits(request)
        reply = await self._ask(request, on_text)
        if request.schema is not None:
            return await self._structured(request, reply)
        if ignored_tools.written_out(reply, request):
            raise ignored_tools.failure(self.name)
        return reply

    async def count(self, request: Request) -> Count:
        """How many tokens the request is; exactly, where the service counts."""
        try:
            sdk = await self._open()
            with anyio.fail_after(SURVEY_SECONDS), self._explained():
                exact = await self._counted(sdk, request)
        except (ModelError, TimeoutError):
            exact = None
        if exact is not None:
            self._calibration.learn(estimated=tokens.estimate_request(request), counted=exact)
            return Count(tokens=exact, exact=True)
        return Count(tokens=self._calibration.of(tokens.estimate_request(request)), exact=False)

    async def survey(self) -> Survey:
        """Ask the service what it is."""
        try:
            sdk = await self._open()
            with anyio.fail_after(SURVEY_SECONDS), self._hushed():
                survey = await self._surveyed(sdk)
        except ModelError as error:
            await self._suggest(error)
            answered = not isinstance(error, ModelUnreachable | KeyMissing | LibraryMissing)
            self._service.hush(error)
            return Survey(reachable=answered, problem=str(error), cure=error.hint)
        except TimeoutError:
            return Survey(
                reachable=False, problem=f"{self.name} did not answer in time", cure="try again later"
            )
        self._window = survey.window or self._window
        return replace(survey, models=tuple(self._service.open_names(survey.models)))

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

    @contextmanager
    def _hushed(self) -> Iterator[None]:
        """Raises the SDK's errors as ours, and shows nothing of the key."""
        try:
            with self._explained():
                yield
        except ModelError as error:
            self._service.hush(error)
            raise

    # -- asking ----------------------------------------------------------------------------------------------

    async def _ask(self, request: Request, on_text: OnText | None) -> Reply:
        """One question, asked again while the service is busy or away and nobody has read of the answer."""
        seen, tried = _Seen(on_text), 0
        while True:
            try:
                sdk = await self._open()  # each time: somebody may have closed it
                with self._hushed(), bounds.answering():
                    stream = await self._send(sdk, request)
                reply = await self._listen(stream, seen)
            except (ModelOverloaded, ModelUnreachable) as error:
                is_last = seen.any or tried >= self._max_retries or self._service.is_closed(error.__cause__)
                pause = pauses.before_next(error.__cause__, tried=tried, first=self._pause)
                if is_last or pause is None:
                    raise
                if self.on_wait is not None and pause >= NOTICED:
                    self.on_wait(pause, error)
                await anyio.sleep(pause)
                tried += 1
            except ModelError as error:
                if seen.any or not self._amended(request, error):
                    await self._suggest(error)
                    raise
            else:
                self._took_in(request, reply)
                return reply

    async def _listen(self, stream: Any, show: OnText) -> Reply:
        """Read a stream to its end. What `show` raises is the caller's own, and passes as it is."""
        answer = self._answer()
        async with stream:
            events = aiter(stream)
            while True:
                with self._hushed():
                    event = await anext(events, _END)
                    if event is _END:
                        return answer.reply()
                    text = answer.take(event) if event is not None else ""  # `data: null`
                if text:
                    show(text)

    async def _structured(self, request: Request, reply: Reply) -> Reply:
        """The reply with the object that was asked for; it is asked for once more where that can help."""
        assert request.schema is not None, "only then is it called"  # noqa: S101
        found = structured.found(reply, request.schema)
        if found is None and (again := structured.again(request, reply)) is not None:
            second = await self._ask(again, None)
            reply = replace(second, usage=reply.usage + second.usage)
            found = structured.found(reply, request.schema)
        if found is None:
            raise structured.failed(reply, self.name)
        return found

    async def _suggest(self, error: ModelError) -> None:
        """Put the name that was probably meant into the cure, if it is the name that is wrong."""
        if not isinstance(error, NoSuchModel):
            return
        with suppress(ModelError), anyio.move_on_after(SURVEY_SECONDS):
            sdk = await self._open()
            with self._hushed():
                models = await self._listed(sdk)
            if near(self._model, models):
                error.hint = self._service.name_cure(models)

    # -- counting --------------------------------------------------------------------------------------------

    async def _fits(self, request: Request) -> None:
        """Refuse what is certainly too long before it is sent: some services bill it, some cut it."""
        about = self._calibration.of(tokens.estimate_request(request))
        if self._window is None or about < NEAR * self._window:
            return
        counted = await self.count(request)
        if counted.exact and counted.tokens >= self._window:
            raise ContextTooLong(
                f"the conversation is too long for {self.name}: {counted.tokens:,} tokens, and it takes "
                f"{self._window:,}",
                hint=self._service.length_cure,
            )

    def _took_in(self, request: Request, reply: Reply) -> None:
        """Learn from the usage; and see that the server has read all of it.

        Raises:
            ContextTooLong: it can't have. Which ends no more than this: it is a judgement, and no refusal.
        """
        read, least = reply.usage.total_input, tokens.least(request)
        estimated = tokens.estimate_request(request)
        if self._is_rest(estimated, reply):
            self._whole = max(self._whole, estimated)
            return
        if 0 < read < least:
            error = ContextTooLong(
                f"{self.name} has read {read:,} tokens of what must be {least:,} or more: its server cuts "
                "long requests, or keeps the tools from the model",
                hint=f"{self._service.roomier or 'give the server a larger window'}; or choose another model",
            )
            error.lasts = False
            raise error
        if 0 < least <= read:
            self._whole = max(self._whole, estimated)
        self._calibration.learn(estimated=estimated, counted=read)

    def _is_rest(self, estimated: int, reply: Reply) -> bool:
        """Whether a server counted only what it did not have in its cache, and does not say so (Ollama, for a
        while): it read about as many tokens as are new since an earlier request."""
        new, read = max(0, estimated - self._whole), reply.usage.total_input
        return bool(self._whole) and not reply.usage.cache_read and new / 2 <= read <= 2 * new + 300

    async def _open(self) -> Any:
        """The SDK's client, made at the first call and beside the event loop."""
        async with self._opening:
            if self._sdk is None:
                self._sdk = await anyio.to_thread.run_sync(self._make)
            return self._sdk

    def _found_key(self) -> str | None:
        """The key, looked for where `key` looks; and where it was is kept for what is said of it."""
        found = self._key() if self._api_key is None else self._api_key
        value, source = (found.value, found.source) if isinstance(found, Key) else (found or None, None)
        has_key = value not in (None, NO_KEY)
        keys = (value,) if has_key and value else ()
        self._service = replace(self._service, key_from=source, has_key=has_key, keys=keys)
        return value


_END = object()
"""What stands for the end of a stream."""


class _Seen:
    """Hands text on to whoever wants it, and knows whether any was handed on."""

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self.any = False

    def __call__(self, text: str) -> None:
        if self._on_text is not None:
            self.any = True
            self._on_text(text)
