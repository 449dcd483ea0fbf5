"""The `model` setting -> a model client.

A model is named `local`, `provider:model`, or by an address (`specs.parse`). Naming one costs nothing: no
library loads, no key is looked up and nothing is asked before the client is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from memdir.errors import KeyMissing
from memdir.model import endpoints, keys, specs
from memdir.model.client import ModelClient
from memdir.model.endpoints import Endpoint
from memdir.model.known import known
from memdir.model.local import Local
from memdir.model.providers import EXAMPLE, PROVIDERS
from memdir.model.service import NO_KEY
from memdir.model.specs import Spec

if TYPE_CHECKING:
    from memdir.model.openai.manners import Manners
    from memdir.model.openai.said import Server

__all__ = ["EXAMPLE", "NO_KEY", "PROVIDERS", "client"]


def client(spec: str | Spec, *, environment: Mapping[str, str] = os.environ) -> ModelClient:
    """The client for the model that `spec` names.

    Raises:
        UsageError: it names none, or a variable that moves the provider names no address.
    """
    spec = specs.parse(spec) if isinstance(spec, str) else spec
    if spec.is_local:
        return Local()
    place = endpoints.endpoint(spec, environment)
    about = known(spec.provider.name, spec.model) if spec.provider else None
    window = about.window if about else None
    key, key_cure = credential(spec, place, environment), keys.cure(spec, environment)
    if place.dialect == "messages":
        from memdir.model.anthropic import Anthropic

        return Anthropic(
            spec.model,
            base_url=place.url,
            is_its_own=spec.provider is not None,
            key=key,
            key_cure=key_cure,
            name=spec.text,
            window=window,
        )
    from memdir.model.openai import OpenAI

    return OpenAI(
        spec.model,
        dialect=place.dialect,
        base_url=None if is_the_sdks_own(spec, environment) else place.url,
        key=key,
        key_cure=key_cure,
        name=spec.text,
        window=window,
        manners=_manners(spec, place),
    )


def _manners(spec: Spec, place: Endpoint) -> Manners | None:
    """Those of the program that serves the model, where its name says so; None: the client finds out."""
    if spec.provider is None or spec.provider.name == "openai":
        return None
    from memdir.model.openai import manners

    return manners.of(place.url, spec.model, cast("Server", spec.provider.name))


def is_the_sdks_own(spec: Spec, environment: Mapping[str, str]) -> bool:
    """Whether OpenAI's SDK finds the server, and what goes with it, by itself. A variable that is set to
    nothing would lead it nowhere.
    """
    if spec.provider is None or spec.provider.name != "openai":
        return False
    said = environment.get(spec.provider.moved_by)
    return said is None or said.strip() != ""


def credential(
    spec: Spec, place: Endpoint, environment: Mapping[str, str]
) -> Callable[[], keys.Key | str | None]:
    """What finds the key when the client opens; None: the SDK is to look for credentials of another kind."""

    def look() -> keys.Key | str | None:
        found = keys.find(spec, environment)
        if found is not None:
            return None if found.source == keys.BEARER else found
        provider = spec.provider
        if provider is not None and provider.name == "anthropic":
            return None
        if provider is None or provider.key is None or place.moved_by is not None:
            return NO_KEY
        raise KeyMissing(
            f"{spec.text} needs a key, and {provider.key} is not set", hint=keys.cure(spec, environment)
        )

    return look
