"""Where the key for a model comes from: the variable that its provider's SDK reads, else the system keyring.

Nowhere else: not settings, not the command line. A key goes to the provider it belongs to, and to an address
only if that is where the provider is: `OPENAI_API_KEY` is sent to `https://example.org/v1` only if
`OPENAI_BASE_URL` says that OpenAI is there. In the keyring each server has its own entry, `host:port`; the
entry of a provider is for the provider at its own address.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memdir.errors import UsageError
from memdir.model import endpoints, extras
from memdir.model.endpoints import Endpoint
from memdir.model.providers import PROVIDERS, Provider
from memdir.model.specs import Spec

SERVICE = "memdir"
"""What the keyring files our entries under; the name there is the provider's, or `host:port`."""

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
    place = endpoints.endpoint(spec, environment)
    owner = spec.provider or _owner(place, environment)
    for variable in _variables(spec, owner):
        if value := environment.get(variable, "").strip():
            return Key(value=value, source=variable)
    stored = _from_keyring(_entries(place, owner))
    return Key(value=stored, source=KEYRING) if stored else None


def cure(spec: Spec, environment: Mapping[str, str]) -> str:
    """What to do when the key for a model is missing or was refused."""
    place = endpoints.endpoint(spec, environment)
    owner = spec.provider or _owner(place, environment)
    stored = in_keyring(_entries(place, owner)[0])
    if owner is None or owner.key is None:
        return f"put the key of that server into {stored}"
    if not endpoints.is_its_own(owner, place):
        return f"put the key of that server into the environment as {owner.key}, or into {stored}"
    return f"put a key from {owner.keys_at} into the environment as {owner.key}, or into {stored}"


def in_keyring(name: str) -> str:
    """The keyring, and how a key is put into it under a name; where its library is missing, how it comes."""
    if extras.is_there("keyring"):
        return f"{KEYRING} (`{extras.keyring_command()} set {SERVICE} {name}`)"
    first = extras.how_to_install("keyring")
    return f"{KEYRING} (first `{first}`, then `{extras.keyring_command()} set {SERVICE} {name}`)"


def _entries(place: Endpoint, owner: Provider | None) -> list[str]:
    """Under what the keyring is asked. A provider's entry is for no other server, whoever names that."""
    is_home = owner is not None and endpoints.is_its_own(owner, place)
    return [owner.name, place.entry] if owner is not None and is_home else [place.entry]


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
            at = endpoints.home(provider, environment)
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
                value = keyring.get_password(SERVICE, name)
                if isinstance(value, str) and value.strip():  # some backends give bytes
                    found.append(value.strip())
                    return
        except Exception:  # noqa: BLE001 - backends raise what they like; none of it is news to the person
            return

    asking = threading.Thread(target=ask, name="keyring", daemon=True)
    asking.start()
    asking.join(WAIT)
    return found[0] if found else None
