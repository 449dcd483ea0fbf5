"""What could be used from here, besides what is chosen: providers whose key is set, servers on this machine.

Servers are asked for the names of their models, once each and for half a second: enough for one that runs on
this machine. That is plain HTTP over a socket, because it must work before any library is installed.
"""

from __future__ import annotations

import http.client
import io
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlsplit

import anyio
import anyio.to_thread
from anyio.abc import ByteStream

from memdir import __version__
from memdir.errors import UsageError
from memdir.model import endpoints, keys, specs
from memdir.model.endpoints import Endpoint
from memdir.model.providers import PROVIDERS, Provider
from memdir.model.service import is_plain, is_sayable
from memdir.model.specs import Spec
from memdir.model.streaming import NO_NETWORK

SECONDS = 0.5
"""How long a server gets to name its models."""

_LONGEST = 1024 * 1024  # bytes of an answer
_ALSO_AT = {"llamacpp": "http://127.0.0.1:9931/v1"}
"""Where newer releases of a server listen, if nothing else is said."""

_CANT_CONVERSE = re.compile(r"embed|\b(?:bge|gte|e5)-|minilm|rerank|whisper", re.IGNORECASE)
"""What the names of models have in them that make numbers of texts, order them, or hear."""


def can_converse(model: str) -> bool:
    """Whether a model can, as far as its name says."""
    return _CANT_CONVERSE.search(model) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Something that could be chosen. `key` is where its key was found, None for a server that answered;
    `models` are the names it gave, those that converse first; `url` is its address; `choose` is a model of it
    as a setting names one, and no shell takes it for something else; `is_ready`: that this one can converse,
    as far as can be seen.
    """

    provider: Provider
    where: str
    url: str
    key: str | None
    models: tuple[str, ...]
    choose: str
    wants_key: bool = False
    is_ready: bool = True


async def within_reach(
    environment: Mapping[str, str], *, without: Collection[tuple[Spec, Endpoint]] = ()
) -> list[Reach]:
    """All that could be chosen, `without` what is chosen already: what is ready first, and else in the order
    of the table.
    """
    used = {spec.provider.name for spec, _ in without if spec.provider}
    taken = {place.origin for _, place in without}
    found: dict[int, Reach] = {}

    async def look(at: int, provider: Provider, place: Endpoint, prefix: str) -> None:
        if provider.key is not None:
            reach = await anyio.to_thread.run_sync(_with_key, provider, place, environment)
        else:
            reach = await _answering(provider, place, prefix)
        if reach is not None:
            found[at] = reach

    async with anyio.create_task_group() as looking:
        for at, (provider, place, prefix) in enumerate(_places(environment)):
            if place.origin in taken if provider.key is None else provider.name in used:
                continue
            taken.add(place.origin)
            looking.start_soon(look, at, provider, place, prefix)
    return sorted((found[at] for at in sorted(found)), key=lambda reach: not reach.is_ready)


def _places(environment: Mapping[str, str]) -> Iterator[tuple[Provider, Endpoint, str]]:
    """Where to look, and what stands before the name of a model from there."""
    for provider in PROVIDERS.values():
        try:
            place = endpoints.home(provider, environment)
        except UsageError:
            continue  # told where that provider is chosen
        yield provider, place, provider.name
        if provider.name in _ALSO_AT and place.moved_by is None:
            url = _ALSO_AT[provider.name]
            yield provider, Endpoint(url=url, dialect=provider.dialect), url


def unreadable(environment: Mapping[str, str]) -> Iterator[UsageError]:
    """The variables that should say where a provider is, and don't: it is not looked for."""
    for provider in PROVIDERS.values():
        try:
            endpoints.home(provider, environment)
        except UsageError as error:
            yield error


def _with_key(provider: Provider, place: Endpoint, environment: Mapping[str, str]) -> Reach | None:
    choose = f"{provider.name}:{provider.example}"
    key = keys.find(specs.parse(choose), environment)
    if key is None:
        return None
    return Reach(provider=provider, where=place.host, url=place.url, key=key.source, models=(), choose=choose)


async def _answering(provider: Provider, place: Endpoint, prefix: str) -> Reach | None:
    if os.environ.get(NO_NETWORK) and not place.is_here:
        return None
    listing = await listed(place)
    if listing is None:
        return None
    models = sorted(listing.models, key=can_converse, reverse=True)
    first = next((name for name in models if can_converse(name) and is_plain(name)), None)
    return Reach(
        provider=provider,
        where=place.host,
        url=place.url,
        key=None,
        models=tuple(models),
        choose=f"{prefix}:{first or provider.example}",
        wants_key=listing.wants_key,
        is_ready=first is not None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The names of the models that a server has; none, and `wants_key`, if it wants a key first."""

    models: tuple[str, ...] = ()
    wants_key: bool = False


async def listed(place: Endpoint) -> Listing | None:
    """The models that are served at a place; None if nobody there answers as a model server."""
    scheme, host, port = place.origin
    path = quote(urlsplit(place.url).path.rstrip("/"), safe="/%:@!$&'()*+,;=~", errors="replace")
    asked = (
        f"GET {path}/models HTTP/1.1\r\nHost: {place.host}\r\nAccept: application/json\r\n"
        f"User-Agent: memdir/{__version__}\r\nConnection: close\r\n\r\n"
    )
    said = bytearray()
    with anyio.move_on_after(SECONDS) as limit:
        try:
            async with await _connected(scheme, host, port) as stream:
                await stream.send(asked.encode())
                while len(said) < _LONGEST:
                    said += await stream.receive()
        except anyio.EndOfStream:
            pass
        except (OSError, ValueError, anyio.BrokenResourceError):  # a name that is none is a ValueError
            return None
    return None if limit.cancelled_caught else _listing(bytes(said))


async def _connected(scheme: str, host: str, port: int) -> ByteStream:
    if scheme == "https":
        return await anyio.connect_tcp(host, port, tls=True, tls_standard_compatible=False)
    return await anyio.connect_tcp(host, port)


class _Said:
    """What a server said, in the place of its socket."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def _listing(said: bytes) -> Listing | None:
    """What an answer lists. Pure."""
    answer = http.client.HTTPResponse(cast(Any, _Said(said)))
    try:
        answer.begin()
        if answer.status in (401, 403):
            return Listing(wants_key=True)
        rows = json.loads(answer.read())["data"]
        names = [model["id"] for model in rows if isinstance(model["id"], str)]
        return Listing(models=tuple(filter(is_sayable, names)))
    except (http.client.HTTPException, ValueError, LookupError, TypeError, RecursionError):
        return None
