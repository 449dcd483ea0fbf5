"""A `Spec` and the environment -> the `Endpoint` where its model is asked, and whose that is. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from memdir.errors import UsageError
from memdir.model.address import HOLDS_MORE, LEAVE_OUT, PORTS, is_unencrypted, parts_of
from memdir.model.providers import LOCAL, OLLAMA, OPENAI, Dialect, Provider
from memdir.model.service import is_here
from memdir.model.specs import Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is asked, and how. `moved_by` is the variable that names the place, if one does."""

    url: str
    dialect: Dialect
    moved_by: str | None = None

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: who it is that gets what is sent."""
        parts = urlsplit(self.url)
        return parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme]

    @property
    def host(self) -> str:
        """`host[:port]`, for reports; the port if it is not the usual one."""
        scheme, _, port = self.origin
        return self.entry.removesuffix(f":{port}") if port == PORTS[scheme] else self.entry

    @property
    def entry(self) -> str:
        """`host:port`, what the keyring files its key under. The port is always there: so no server has the
        name of a provider, and http is not https.
        """
        _, host, port = self.origin
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine."""
        return is_here(self.origin[1])

    @property
    def unencrypted(self) -> bool:
        """Whether what is sent there goes over a public network in the clear."""
        return is_unencrypted(self.url)


def endpoint(spec: Spec, environment: Mapping[str, str]) -> Endpoint:
    """Where the model of a spec (any but `local`) is asked, as far as the environment moves it.

    Raises:
        UsageError: a variable that should name an address names none; its value is not shown.
    """
    if spec.provider is None:
        assert spec.url is not None, "`local` is nowhere"  # noqa: S101
        return Endpoint(url=spec.url, dialect=spec.dialect or "chat")
    return home(spec.provider, environment)


def identity(spec: Spec, place: Endpoint | None) -> tuple[object, ...]:
    """Who answers by a name: equal for two names of the same model. `place` is its endpoint, None for
    `local`.
    """
    if place is None:
        return (LOCAL,)
    return (*place.origin, urlsplit(place.url).path.rstrip("/"), place.dialect, spec.model)


def is_free(spec: Spec, place: Endpoint) -> bool:
    """Whether nobody sends a bill: a server on this machine, and none in the place of a paid one. Ollama
    passes some models on to its cloud.
    """
    paid = spec.provider is not None and spec.provider.key is not None
    return place.is_here and not paid and not spec.model.endswith("cloud")


def home(provider: Provider, environment: Mapping[str, str]) -> Endpoint:
    """Where a provider is, as far as the environment moves it.

    Raises:
        UsageError: see `endpoint`.
    """
    said = environment.get(provider.moved_by, "").strip()
    if not said:
        return Endpoint(url=provider.url, dialect=provider.dialect)
    if re.search(r"[@?#;=]", said):
        raise UsageError(f"{provider.moved_by} {HOLDS_MORE}", hint=LEAVE_OUT)
    url = _ollama(said) if provider.name == "ollama" else said
    parts = parts_of(url)
    if parts is None:
        raise UsageError(
            f"{provider.moved_by} names no address", hint=f"it should look like {provider.url}, or be unset"
        )
    dialect = provider.dialect
    if dialect == "responses" and not _is_below(parts.hostname or "", OPENAI):
        dialect = "chat"  # what others than OpenAI speak, all of them
    return Endpoint(url=url, dialect=dialect, moved_by=provider.moved_by)


def is_at_home(provider: Provider, environment: Mapping[str, str]) -> bool:
    """Whether it is the provider that is asked, or a region of it, and no other server in its place."""
    try:
        host = home(provider, environment).origin[1]
    except UsageError:
        return False
    return _is_below(host, home(provider, {}).origin[1])


def has_list_prices(provider: Provider, environment: Mapping[str, str]) -> bool:
    """Whether the provider is asked at its very own address: regions and gateways have other prices."""
    try:
        return home(provider, environment).origin == home(provider, {}).origin
    except UsageError:
        return False


def is_its_own(provider: Provider, place: Endpoint) -> bool:
    """Whether a place is the provider's very own scheme, host and port."""
    return place.origin == home(provider, {}).origin


def _ollama(said: str) -> str:
    """The base URL for a value of OLLAMA_HOST. That is written for the server: `0.0.0.0` is where it listens,
    and nothing that can be asked.
    """
    scheme, found, rest = said.strip("\"' ").rpartition("://")
    authority, _, path = rest.partition("/")
    if authority.count(":") > 1 and not authority.startswith("["):
        authority = f"[{authority}]"
    host, port = authority, ""
    if ":" in authority.rpartition("]")[2]:
        host, _, port = authority.rpartition(":")
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104
    usual = PORTS.get(scheme, OLLAMA) if found else OLLAMA
    base = f"{scheme or 'http'}://{host}:{port or usual}/{path}".rstrip("/")
    return base if base.endswith("/v1") else f"{base}/v1"


def _is_below(host: str, domain: str) -> bool:
    """Whether a host is that one, or one of its regions: `eu.api.openai.com`."""
    return host == domain or host.endswith(f".{domain}")
