"""Clients for background work: what each call takes is reserved before it, and noted after it (H3).

A call that ends without saying what it used counts as what it was likely to, if the question may have got
there: it was cancelled, or its answer broke off or was of no use. One that certainly did not get there, or
was refused, counts as nothing. What a client asks again by itself (a busy service, a schema that was not
kept) is one call, with the usage it reports.
"""

from __future__ import annotations

import math
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import TypeVar

import anyio
import anyio.to_thread

from memdir.errors import BadReply, ContextTooLong, ModelError, ModelUnreachable, ToolsIgnored, UsageError
from memdir.model import endpoints, json_text, specs, tokens
from memdir.model.client import Count, ModelClient, OnText, Survey
from memdir.model.embedding.embedder import Embedder
from memdir.model.known import Price, known
from memdir.model.ledger import FREE, Ledger, Reservation
from memdir.model.messages import Reply, Request, Usage

Answer = TypeVar("Answer")

MARGIN = 1.5
"""How many tokens an estimated one may be, of a model that has not said yet what requests to it were."""

LEARNED = 1.15
"""The same, of one whose scale is learned."""

FRAME = 250
"""Tokens that a request may have besides: what a service puts around it."""


def price_of(name: str, environment: Mapping[str, str] = os.environ) -> Price | None:
    """What a model costs, named as in settings: `FREE` where nobody sends a bill, None if it is not known."""
    try:
        spec = specs.parse(name)
        place = None if spec.is_local else endpoints.endpoint(spec, environment)
    except UsageError:
        return None
    if place is None or endpoints.is_free(spec, place):
        return FREE
    if spec.provider is None or not endpoints.has_list_prices(spec.provider, environment):
        return None
    about = known(spec.provider.name, spec.model)
    return about.price if about is not None else None


def likely(request: Request, scale: float) -> int:
    """About how many input tokens a request is; `scale` as in `ModelClient.scale`."""
    return math.ceil(tokens.estimate_request(request) * scale) + _schema(request)


def most(request: Request, scale: float) -> int:
    """How many input tokens a request may come to, nothing of it cached. Where a schema has to be kept, it
    may be asked twice."""
    once = math.ceil(likely(request, scale) * (MARGIN if scale == 1.0 else LEARNED)) + FRAME
    return once if request.schema is None else 2 * once + request.prefix.max_tokens


def _schema(request: Request) -> int:
    return 0 if request.schema is None else tokens.estimate(json_text.compact(request.schema))


class Metered:
    """A model client that does one background job, within the day's budget and with an entry for each call.

    The embedded default is neither metered nor limited. `price` is found by the client's name, unless it is
    given. Closing it closes the client.
    """

    def __init__(
        self,
        client: ModelClient,
        *,
        job: str,
        ledger: Ledger,
        session: str | None = None,
        project: str | None = None,
        price: Price | None = None,
    ) -> None:
        self._client = client
        self._meter = _Meter(
            ledger,
            job=job,
            model=specs.shown(client.name),
            project=project,
            session=session,
            price=price or price_of(client.name),
        )

    @property
    def name(self) -> str:
        """The client's."""
        return self._client.name

    @property
    def is_local(self) -> bool:
        """The client's."""
        return self._client.is_local

    @property
    def window(self) -> int:
        """The client's."""
        return self._client.window

    @property
    def scale(self) -> float:
        """The client's."""
        return self._client.scale

    @property
    def calls_tools(self) -> bool | None:
        """The client's."""
        return self._client.calls_tools

    async def complete(self, request: Request, *, on_text: OnText | None = None) -> Reply:
        """Answer one request, if there is room for it.

        Raises:
            OverBudget: there is none; nothing was asked.
            ModelError: see `ModelClient.complete`.
        """
        ask = partial(self._client.complete, request, on_text=on_text)
        if self.is_local:
            return await ask()
        scale = self._client.scale
        return await self._meter.metered(
            ask,
            most=most(request, scale),
            likely=likely(request, scale),
            used=lambda reply: reply.usage if reply.usage.total_input else None,
        )

    async def count(self, request: Request) -> Count:
        """The client's, which costs nothing."""
        return await self._client.count(request)

    async def survey(self) -> Survey:
        """The client's, which costs nothing."""
        return await self._client.survey()

    async def aclose(self) -> None:
        """Close the client."""
        await self._client.aclose()


class MeteredEmbedder:
    """An embedder within the day's budget. One in this process is neither metered nor limited; of any other
    the tokens are estimated."""

    def __init__(
        self, embedder: Embedder, *, ledger: Ledger, session: str | None = None, project: str | None = None
    ) -> None:
        self._embedder = embedder
        self._meter = _Meter(
            ledger,
            job="embedding",
            model=embedder.name,
            project=project,
            session=session,
            price=price_of(embedder.name),
        )

    @property
    def name(self) -> str:
        """The embedder's: its vectors are the same."""
        return self._embedder.name

    @property
    def is_local(self) -> bool:
        """The embedder's."""
        return self._embedder.is_local

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text, if there is room for it; see `Embedder.embed`.

        Raises:
            OverBudget: there is none; nothing was asked.
            ModelError: see `Embedder.embed`.
        """
        if self.is_local or not texts:
            return await self._embedder.embed(texts)
        about = sum(map(tokens.estimate, texts))
        return await self._meter.metered(
            partial(self._embedder.embed, texts),
            most=math.ceil(about * MARGIN),
            likely=about,
            used=lambda _: Usage(input=about),
        )

    async def aclose(self) -> None:
        """Close the embedder."""
        await self._embedder.aclose()


class _Meter:
    """Reserves and settles for one job of one model."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        job: str,
        model: str,
        project: str | None,
        session: str | None,
        price: Price | None,
    ) -> None:
        self._ledger = ledger
        self._job = job
        self._model = model
        self._project = project
        self._session = session
        self._price = price

    async def metered(
        self,
        ask: Callable[[], Awaitable[Answer]],
        *,
        most: int,
        likely: int,
        used: Callable[[Answer], Usage | None],
    ) -> Answer:
        """Ask, with room for `most` tokens; `used` says what an answer took, or None.

        Raises:
            OverBudget: there is no room.
        """
        reservation = await self._reserved(most, likely)
        usage: Usage | None = None
        try:
            answer = await ask()
            usage = used(answer)
        except ModelError as error:
            usage = None if _may_be_billed(error) else Usage()
            raise
        finally:  # also when it is cancelled: then nobody knows what was used
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._settle, reservation, usage)
        return answer

    async def _reserved(self, most: int, likely: int) -> Reservation:
        """Room for a call. Another process may hold the ledger for a while: who is broken off then does not
        wait for it, and nothing stays reserved.
        """
        made = list[Reservation]()
        first = Lock()  # taken once, by who comes first: the thread when it has done, or who breaks off

        def reserve() -> Reservation:
            made.append(
                self._ledger.reserve(
                    self._job,
                    self._model,
                    most,
                    likely=likely,
                    project=self._project,
                    session=self._session,
                )
            )
            if not first.acquire(blocking=False):
                self._settle(made[0], Usage())
            return made[0]

        try:
            return await anyio.to_thread.run_sync(reserve, abandon_on_cancel=True)
        except BaseException:
            if not first.acquire(blocking=False):
                self._settle(made[0], Usage())
            raise

    def _settle(self, reservation: Reservation, usage: Usage | None) -> None:
        self._ledger.settle(reservation, usage, self._price)


def _may_be_billed(error: ModelError) -> bool:
    """Whether the question may have got there and been read, though no answer came of it."""
    match error:
        case ModelUnreachable():
            return error.sent
        case ContextTooLong():
            return not error.lasts  # a server that refuses it has not read it; one that cuts it has
        case BadReply() | ToolsIgnored():
            return True
        case _:
            return False
