"""What all models over a network share: asking again, streams, structured output, and counting (A3).

A provider's client says how its SDK is made and asked, and how its stream is read; everything else is here,
once. A request meets, in this order: the window (is it too long already?), the service (asked again while it
is busy or away), the stream (read to its end, its text shown as it comes), and the answer (was the schema
kept, were the tools passed on, was the whole prompt read?).
"""

from __future__ import annotations

import email.utils
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol, Self

import anyio
import anyio.to_thread

from memdir.errors import (
    ContextTooLong,
    KeyMissing,
    LibraryMissing,
    ModelError,
    ModelOverloaded,
    ModelUnreachable,
)
from memdir.model import ignored_tools, structured, tokens
from memdir.model.client import Count, OnText, Survey
from memdir.model.messages import Reply, Request

NO_NETWORK = "MEMDIR_TEST_NO_NETWORK"
"""Set in tests: then only a server on this machine is asked, and a real model call is an error."""

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})

SURVEY_SECONDS = 5.0
"""How long a survey waits for a service."""

LONGEST_WAIT = 120.0
"""Seconds: a service that asks for a longer pause is not waited for, the person is told instead."""

LONGEST_PAUSE = 8.0
"""Seconds of a pause of our own choice, at most."""

UNKNOWN_WINDOW = 32_768
"""Tokens that are planned with where nobody says how large the window is."""

TOO_LONG = "start a new conversation; what was learned is kept"

NEAR = 0.85
"""From this share of the window on a request is counted exactly before it is sent."""


class Answer(Protocol):
    """An answer that is coming in."""

    def take(self, event: Any) -> str:
        """Take in one event of the stream; gives the visible text in it, mostly none."""
        ...

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            ModelUnreachable: the stream ended before the answer did.
        """
        ...


class StreamingClient(ABC):
    """A model client over an SDK; use it within one event loop and `aclose` it at the end.

    Overload, rate limits and lost connections are tried `max_retries` times more, with growing pauses
    (`pause` seconds first) or as long as the service asks for. `window` is what is known of the model before
    its service was asked; None: nothing.
    """

    is_local = False

    def __init__(self, *, name: str, window: int | None, max_retries: int, pause: float) -> None:
        self.name = name
        self._window = window
        self._max_retries = max_retries
        self._pause = pause
        self._calibration = tokens.Calibration()
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
            with anyio.fail_after(SURVEY_SECONDS), self._explained():
                survey = await self._surveyed(sdk)
        except ModelError as error:
            answered = not isinstance(error, ModelUnreachable | KeyMissing | LibraryMissing)
            return Survey(reachable=answered, problem=str(error), cure=error.hint)
        except TimeoutError:
            return Survey(
                reachable=False, problem=f"{self.name} did not answer in time", cure="try again later"
            )
        self._window = survey.window or self._window
        return survey

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

    # -- asking ----------------------------------------------------------------------------------------------

    async def _ask(self, request: Request, on_text: OnText | None) -> Reply:
        """One question, asked again while the service is busy or away and nobody has read of the answer."""
        sdk, seen, tried = await self._open(), _Seen(on_text), 0
        while True:
            try:
                with self._explained():
                    stream = await self._send(sdk, request)
                reply = await self._listen(stream, seen)
            except (ModelOverloaded, ModelUnreachable) as error:
                pause = self._pause_before(tried, error)
                if seen.any or pause is None:
                    raise
                await anyio.sleep(pause)
                tried += 1
            except ModelError as error:
                if seen.any or not self._amended(request, error):
                    raise
            else:
                self._took_in(request, reply)
                return reply

    def _pause_before(self, tried: int, error: ModelError) -> float | None:
        """Seconds before the next try, after so many that failed; None: there is to be no other."""
        headers = getattr(getattr(error.__cause__, "response", None), "headers", {})
        asked = _retry_after(headers)
        if tried >= self._max_retries or headers.get("x-should-retry") == "false" or asked > LONGEST_WAIT:
            return None
        own = min(self._pause * 2**tried, LONGEST_PAUSE)
        return asked or own * random.uniform(0.75, 1)  # noqa: S311 - so that many clients do not come at once

    async def _listen(self, stream: Any, show: OnText) -> Reply:
        """Read a stream to its end. What `show` raises is the caller's own, and passes as it is."""
        answer = self._answer()
        async with stream:
            events = aiter(stream)
            while True:
                with self._explained():
                    event = await anext(events, None)
                    text = answer.take(event) if event is not None else ""
                if event is None:
                    return answer.reply()
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
                hint=TOO_LONG,
            )

    def _took_in(self, request: Request, reply: Reply) -> None:
        """Learn from the usage; and see that the server has read all of it.

        Raises:
            ContextTooLong: it can't have.
        """
        read, least = reply.usage.total_input, tokens.least(request)
        if 0 < read < least:
            raise ContextTooLong(
                f"{self.name} has read {read:,} tokens of what must be {least:,} or more: its server cuts "
                "long requests, or keeps the tools from the model",
                hint="give the server a larger context window, or choose another model",
            )
        self._calibration.learn(estimated=tokens.estimate_request(request), counted=read)

    async def _open(self) -> Any:
        """The SDK's client, made at the first call and beside the event loop."""
        async with self._opening:
            if self._sdk is None:
                self._sdk = await anyio.to_thread.run_sync(self._make)
            return self._sdk


class _Seen:
    """Hands text on to whoever wants it, and knows whether any was handed on."""

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self.any = False

    def __call__(self, text: str) -> None:
        if self._on_text is not None:
            self.any = True
            self._on_text(text)


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that a service asks us to wait, as a number or as a time to come again; 0 if it doesn't."""
    for name, share in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        asked = headers.get(name, "")
        try:
            return max(0.0, float(asked) * share)
        except ValueError:
            if moment := email.utils.parsedate_tz(asked):
                return max(0.0, email.utils.mktime_tz(moment) - time.time())
    return 0.0
