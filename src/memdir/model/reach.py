"""What could be used from here, besides what is chosen: providers whose key is set, servers on this machine.

Servers are asked for the names of their models, once each and for half a second: enough for one that runs on
this machine. That is plain HTTP over a socket, because it must work before any library is installed.
"""

from __future__ import annotations

import http.client
import io
import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from anyio.abc import ByteStream

from memdir import __version__
from memdir.errors import UsageError
from memdir.model import keys, providers
from memdir.model.providers import PROVIDERS, Endpoint, Provider, Spec
from memdir.model.streaming import NO_NETWORK

SECONDS = 0.5
"""How long a server gets to name its models."""

_LONGEST = 1024 * 1024  # bytes of an answer
_ALSO_AT = {"llamacpp": "http://127.0.0.1:9931/v1"}
"""Where newer releases of a server listen, if nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Something that could be chosen. `key` is where its key was found, None for a server that answered;
    `models` are the names it gave, and `choose` is a model of it as a setting names one.
    """

    provider: Provider
    where: str
    key: str | None
    models: tuple[str, ...]
    choose: str


async def within_reach(
    environment: Mapping[str, str], *, without: Collection[tuple[Spec, Endpoint]] = ()
) -> list[Reach]:
    """All that could be chosen, in the order of the table, `without` what is chosen already."""
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
            if provider.name in used or (provider.key is None and place.origin in taken):
                continue
            taken.add(place.origin)
            looking.start_soon(look, at, provider, place, prefix)
    return [found[at] for at in sorted(found)]


def _places(environment: Mapping[str, str]) -> Iterator[tuple[Provider, Endpoint, str]]:
    """Where to look, and what stands before the name of a model from there."""
    for provider in PROVIDERS.values():
        try:
            place = providers.home(provider, environment)
        except UsageError:
            continue  # told where that provider is chosen
        yield provider, place, provider.name
        if provider.name in _ALSO_AT and place.moved_by is None:
            url = _ALSO_AT[provider.name]
            yield provider, Endpoint(url=url, dialect=provider.dialect), url


def _with_key(provider: Provider, place: Endpoint, environment: Mapping[str, str]) -> Reach | None:
    choose = f"{provider.name}:{provider.example}"
    key = keys.find(providers.parse(choose), environment)
    if key is None:
        return None
    return Reach(provider=provider, where=place.host, key=key.source, models=(), choose=choose)


async def _answering(provider: Provider, place: Endpoint, prefix: str) -> Reach | None:
    if os.environ.get(NO_NETWORK) and not place.is_here:
        return None
    models = await listed(place)
    if models is None:
        return None
    first = next((name for name in models if "embed" not in name.lower()), provider.example)
    return Reach(provider=provider, where=place.host, key=None, models=models, choose=f"{prefix}:{first}")


async def listed(place: Endpoint) -> tuple[str, ...] | None:
    """The names of the models that are served at a place; None if nobody there answers as a model server."""
    scheme, host, port = place.origin
    path = urlsplit(place.url).path.rstrip("/")
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
        except (OSError, anyio.BrokenResourceError):
            return None
    return None if limit.cancelled_caught else _names(bytes(said))


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


def _names(said: bytes) -> tuple[str, ...] | None:
    """The names in an answer; none if the server wants a key first. Pure."""
    answer = http.client.HTTPResponse(cast(Any, _Said(said)))
    try:
        answer.begin()
        if answer.status in (401, 403):
            return ()
        listing = json.loads(answer.read())
        return tuple(model["id"] for model in listing["data"] if isinstance(model["id"], str))
    except (http.client.HTTPException, ValueError, LookupError, TypeError, RecursionError):
        return None
