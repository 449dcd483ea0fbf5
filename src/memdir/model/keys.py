"""Where the key for a model comes from: the variable that its provider's SDK reads, else the system keyring.

Nowhere else: not settings, not the command line. A key goes to the provider it belongs to, and to an address
only if that is where the provider is: `OPENAI_API_KEY` is sent to `https://example.org/v1` only if
`OPENAI_BASE_URL` says that OpenAI is there. A server named by its address has its own entry in the keyring.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memdir.errors import UsageError
from memdir.model import providers
from memdir.model.providers import PROVIDERS, Endpoint, Provider, Spec

SERVICE = "memdir"
"""What the keyring files our entries under; the name there is the provider's, or else `host[:port]`."""

KEYRING = "the system keyring"

BEARER = "ANTHROPIC_AUTH_TOKEN"
"""What Anthropic's SDK takes in place of a key. It sends it in another header, and so must find it."""

WAIT = 3.0
"""Seconds that the keyring gets. One that asks to be unlocked does not keep a conversation waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key, and where it was found: a variable's name, or `the system keyring`."""

    value: str = field(repr=False)
    source: str


def find(spec: Spec, environment: Mapping[str, str]) -> Key | None:
    """The key for a model; None if it has none. May wait for the keyring (at most `WAIT` seconds)."""
    if spec.is_local:
        return None
    place = providers.endpoint(spec, environment)
    owner = spec.provider or _owner(place, environment)
    for variable in _variables(spec, owner):
        if value := environment.get(variable, "").strip():
            return Key(value=value, source=variable)
    stored = _from_keyring([owner.name, place.host] if owner else [place.host])
    return Key(value=stored, source=KEYRING) if stored else None


def cure(spec: Spec, environment: Mapping[str, str]) -> str:
    """What to do when the key for a model is missing or was refused."""
    place = providers.endpoint(spec, environment)
    owner = spec.provider or _owner(place, environment)
    stored = f"the system keyring (`keyring set {SERVICE} {owner.name if owner else place.host}`)"
    if owner is None or owner.key is None:
        return f"if the server wants a key, put it into {stored}"
    return f"put a key from {owner.keys_at} into the environment as {owner.key}, or into {stored}"


def _variables(spec: Spec, owner: Provider | None) -> tuple[str, ...]:
    if owner is None or owner.key is None:
        return ()
    is_the_sdks = spec.provider is not None and owner.name == "anthropic"
    return (owner.key, BEARER) if is_the_sdks else (owner.key,)


def _owner(place: Endpoint, environment: Mapping[str, str]) -> Provider | None:
    """Whose keys an address may get: those of a provider that is at that very scheme, host and port."""
    spoken = "anthropic" if place.dialect == "messages" else "openai"
    candidates = sorted((one for one in PROVIDERS.values() if one.key), key=lambda one: one.name != spoken)
    for provider in candidates:
        try:
            at = providers.home(provider, environment)
        except UsageError:
            continue
        if at.origin == place.origin:
            return provider
    return None


def _from_keyring(names: Sequence[str]) -> str | None:
    """What the keyring holds under the first of the names that it knows. One that is missing, locked, broken
    or slow holds nothing.

    A thread of its own asks, and is left behind if nothing comes: backends wait for windows and buses.
    """
    found: list[str] = []

    def ask() -> None:
        try:
            import keyring

            for name in names:
                if value := (keyring.get_password(SERVICE, name) or "").strip():
                    found.append(value)
                    return
        except Exception:  # noqa: BLE001 - backends raise what they like; none of it is news to the person
            return

    asking = threading.Thread(target=ask, name="keyring", daemon=True)
    asking.start()
    asking.join(WAIT)
    return found[0] if found else None
