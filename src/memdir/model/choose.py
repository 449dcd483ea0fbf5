"""The `model` setting -> a model client.

A model is named `local`, or `provider:model`. Naming one costs nothing: libraries load and keys are looked
at when it is first asked something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memdir.errors import UsageError
from memdir.model.anthropic import Anthropic
from memdir.model.client import ModelClient
from memdir.model.local import Local

PROVIDERS: Mapping[str, Callable[[str], ModelClient]] = {"anthropic": Anthropic}
"""Provider name -> what makes a client of a model name."""

EXAMPLE = "anthropic:claude-sonnet-5"


def client(spec: str) -> ModelClient:
    """The client that `spec` names.

    Raises:
        UsageError: no such provider, or no model named; the hint lists what there is.
    """
    provider, _, model = (part.strip() for part in spec.partition(":"))
    if provider == Local.name and not model:
        return Local()
    if provider not in PROVIDERS:
        raise UsageError(f"unknown model {spec!r}", hint=_choices())
    if not model:
        raise UsageError(f"{spec!r} names a provider and no model", hint=_choices())
    return PROVIDERS[provider](model)


def _choices() -> str:
    names = ", ".join(["`local`", *(f"`{provider}:MODEL`" for provider in sorted(PROVIDERS))])
    return f"there is {names}; for instance `{EXAMPLE}`"
