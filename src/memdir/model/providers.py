"""Who serves models, and what a model is called: `parse(text) -> Spec`, `endpoint(spec) -> where that is`.

    local                              the embedded default
    provider:model                     anthropic:claude-sonnet-5, ollama:qwen3:8b, openrouter:x/y:free
    http(s)://host[:port]/path:model   any server that speaks Chat Completions; a path that ends in
                                       /chat/completions, /responses or /v1/messages says what it speaks

A model's own name may hold colons and slashes, an address may not. Pure: nothing is asked or looked up, and
what stands where a key has no place (`user:password@`, a query, anything that looks like a secret) is refused
without being shown.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

from memdir import secrets
from memdir.errors import UsageError
from memdir.model.service import is_here

Dialect: TypeAlias = Literal["messages", "chat", "responses"]
"""What is spoken: Anthropic's Messages API, OpenAI's Chat Completions, OpenAI's Responses."""

LOCAL = "local"
EXAMPLE = "anthropic:claude-sonnet-5"

_OPENAI = "api.openai.com"
_PORTS = {"http": 80, "https": 443}
_OLLAMA = 11434
_INSIDE = (".localhost", ".local", ".lan", ".home", ".internal", ".home.arpa")
"""Names that only one's own network knows."""


# -- the table -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One who serves models. `url` is the base URL, unless the variable `moved_by` names another; `key` is
    the variable of its key, None where it needs none; `keys_at` is where a key is made; `extra` is what to
    install, as in `memdir[openai]`; `cache` says how it reuses a prompt; `example` is a model of it.
    """

    name: str
    title: str
    dialect: Dialect
    url: str
    moved_by: str
    key: str | None = None
    keys_at: str | None = None
    extra: str
    cache: str
    example: str


def _server(name: str, title: str, port: int, *, moved_by: str, example: str) -> Provider:
    """One that runs on this machine."""
    return Provider(
        name=name,
        title=title,
        dialect="chat",
        url=f"http://127.0.0.1:{port}/v1",
        moved_by=moved_by,
        extra="openai",
        cache="the server keeps the beginning of the last prompts in memory",
        example=example,
    )


PROVIDERS: Mapping[str, Provider] = {
    one.name: one
    for one in (
        Provider(
            name="anthropic",
            title="Anthropic",
            dialect="messages",
            url="https://api.anthropic.com",
            moved_by="ANTHROPIC_BASE_URL",
            key="ANTHROPIC_API_KEY",
            keys_at="https://platform.claude.com",
            extra="anthropic",
            cache="marked by memdir; kept for 5 minutes after each use",
            example="claude-sonnet-5",
        ),
        Provider(
            name="openai",
            title="OpenAI",
            dialect="responses",
            url=f"https://{_OPENAI}/v1",
            moved_by="OPENAI_BASE_URL",
            key="OPENAI_API_KEY",
            keys_at="https://platform.openai.com/api-keys",
            extra="openai",
            cache="automatic, for prompts from 1,024 tokens on",
            example="gpt-6.1-terra",
        ),
        Provider(
            name="openrouter",
            title="OpenRouter",
            dialect="chat",
            url="https://openrouter.ai/api/v1",
            moved_by="OPENROUTER_BASE_URL",
            key="OPENROUTER_API_KEY",
            keys_at="https://openrouter.ai/settings/keys",
            extra="openai",
            cache="that of whoever serves the model behind it, if any",
            example="anthropic/claude-sonnet-5",
        ),
        _server("ollama", "Ollama", _OLLAMA, moved_by="OLLAMA_HOST", example="qwen3:8b"),
        _server("lmstudio", "LM Studio", 1234, moved_by="LMSTUDIO_BASE_URL", example="qwen/qwen3-8b"),
        _server("vllm", "vLLM", 8000, moved_by="VLLM_BASE_URL", example="Qwen/Qwen3-8B"),
        _server("llamacpp", "llama.cpp", 8080, moved_by="LLAMACPP_BASE_URL", example="qwen3-8b"),
    )
}
"""Who is known by name. Any other server is named by its address."""

_ALIASES = {
    "claude": "anthropic",
    "gpt": "openai",
    "chatgpt": "openai",
    "lm-studio": "lmstudio",
    "llama.cpp": "llamacpp",
    "llama-cpp": "llamacpp",
}
_FAMILIES = (
    (r"claude-", "anthropic"),
    (r"(?:chat)?gpt-(?!oss)|o\d(?:-|$)|codex-", "openai"),
)
"""How the names of models begin, and whose they are."""

_OPEN = re.compile(
    r"(?:code)?llama-?\d|qw[eq]n?|gemma|(?:code|dev|magi)stral|mi[sx]tral|phi-?\d|deepseek|gpt-oss|smollm"
    r"|granite|glm-?\d|olmo|nemotron|command-r",
    re.IGNORECASE,
)
"""How the names of models begin that anybody may serve. With Ollama, mostly; it has no `/` in them."""

_TAG = re.compile(r"latest|\d+(?:\.\d+)?[bm]\b|\d+x\d+b\b|i?q\d", re.IGNORECASE)
"""How a name ends that Ollama gives: `qwen3:8b`."""


# -- a name ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A model as it was named. `provider` is None for `local` and for an address; `url` and `dialect` are
    there for an address only. `text` is the name as it stands in the setting.
    """

    text: str
    provider: Provider | None = None
    model: str = ""
    url: str | None = None
    dialect: Dialect | None = None

    @property
    def is_local(self) -> bool:
        """Whether it is the embedded default."""
        return self.provider is None and self.url is None

    @property
    def unencrypted(self) -> bool:
        """Whether the name itself sends the conversation over a public network in the clear."""
        return self.url is not None and is_unencrypted(self.url)


def parse(text: str) -> Spec:
    """The model that a setting or an option names.

    Raises:
        UsageError: it names none; the hint says what was probably meant, or what there is.
    """
    if len(text) > _LONGEST:
        raise UsageError(
            f"the name of a model is over {_LONGEST} characters long (not shown)", hint=_choices()
        )
    if found := secrets.scan(text):
        rules = ", ".join(dict.fromkeys(one.rule for one in found))
        raise UsageError(
            f"a model is named by what looks like a secret ({rules})",
            hint="name the model alone; a key belongs into the provider's variable or the system keyring",
        )
    text = text.strip()
    if not text:
        raise UsageError("the name of a model is empty", hint=_choices())
    if not text.isprintable():
        raise UsageError(f"the model {_told(text)} holds a character that nobody can see", hint=_choices())
    if "://" in text:
        return _address(text)
    name, _, model = (part.strip() for part in text.partition(":"))
    if name == LOCAL and not model:
        return Spec(text=LOCAL)
    provider = PROVIDERS.get(name)
    if provider is None:
        raise UsageError(f"unknown model {_told(text)}", hint=_guess(text, name, model))
    if not model:
        example = f"{provider.name}:{provider.example}"
        raise UsageError(f"{text!r} names a provider and no model", hint=f"for instance `{example}`")
    return Spec(text=f"{name}:{model}", provider=provider, model=model)


def shown(text: str) -> str:
    """The name as a report may show it: whole, or not at all if it could hold a secret."""
    try:
        return parse(text).text
    except UsageError:
        return _HIDDEN if _could_hide(text) else "".join(one if one.isprintable() else "?" for one in text)


_LONGEST = 300
"""Characters of a name that is looked at."""
_SHOWN = 100
"""Characters of a name that is shown though it means nothing."""
_HIDDEN = "(not shown)"

_MARKS = re.compile(r"[@\\?#=]|%40|//")
"""What stands beside a password or a key, in an address or what was meant to be one."""

_LIKE_A_TOKEN = re.compile(
    r"[0-9a-zA-Z+/]{24}|[0-9a-fA-F-]{24}|(?=[0-9+]*[A-Za-z])(?=[A-Za-z+]*\d)[0-9A-Za-z+]{16}"
)
"""Hex or base64 that no vendor gave a shape. Names of models are made of short words."""


def _could_hide(text: str) -> bool:
    """Whether a name that means nothing could hold a password or a key."""
    if len(text) > _SHOWN:
        return True
    plain = unicodedata.normalize("NFKC", text)  # as a full-width colon, a small @
    return (
        plain.count(":") > text.count(":")
        or any(_MARKS.search(one) or _LIKE_A_TOKEN.search(one) for one in (text, plain))
        or bool(secrets.scan(text))
    )


def _told(text: str) -> str:
    """A name that means nothing, as a sentence may tell it."""
    return "(not shown: it could hold a password)" if _could_hide(text) else repr(text)


_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|[^\s:/\\\[\]]+)(?::(?P<port>\d{1,5}))?"
    r"(?P<path>/[^:\s\\]*)?(?::(?P<model>.*))?",
    re.IGNORECASE | re.ASCII,
)
_SPOKEN: tuple[tuple[str, Dialect], ...] = (
    ("/chat/completions", "chat"),
    ("/responses", "responses"),
    ("/v1/messages", "messages"),
)
"""How a path ends that names one endpoint; what is before it is the base URL, as the SDKs want it."""


def _address(text: str) -> Spec:
    """An address and a model."""
    scheme, _, rest = text.partition("://")
    if "@" in rest.partition("/")[0] or re.search(r"[?#]", rest):
        raise UsageError(f"the address of a model {_MORE}", hint=_LEAVE_OUT)
    if scheme.lower() not in _PORTS:
        raise UsageError(
            "this is no address of a model (not shown)", hint="it begins with https:// or http://"
        )
    found = _ADDRESS.fullmatch(text)
    if found is None or _split(f"{found['scheme'].lower()}://{found['host']}:{found['port'] or ''}") is None:
        raise UsageError("this is no address of a model (not shown)", hint="as in `https://HOST/v1:MODEL`")
    port = f":{found['port']}" if found["port"] else ""
    server = f"{scheme.lower()}://{found['host'].lower()}{port}"
    path, model = found["path"], (found["model"] or "").strip()
    if re.search("[;=]", path or ""):
        raise UsageError(f"the address of a model {_MORE}", hint=_LEAVE_OUT)
    shown_at = f"{scheme.lower()}://HOST{port}" if _could_hide(found["host"]) else server
    if path is None:
        meant = model if port and model and not _could_hide(model) else "MODEL"
        hint = f"mostly it is `{shown_at}/v1:{meant}`"
        raise UsageError("the address of a model (not shown) names no path on the server", hint=hint)
    if not model:
        hint = f"as in `{shown_at}{'/v1' if _could_hide(path[1:]) else path}:MODEL`"
        raise UsageError("the address (not shown) names a server and no model", hint=hint)
    path = path.rstrip("/")
    for ending, dialect in _SPOKEN:
        if path.endswith(ending):
            return Spec(text=text, model=model, url=server + path.removesuffix(ending), dialect=dialect)
    return Spec(text=text, model=model, url=server + path, dialect="chat")


_MORE = "holds more than an address (not shown: it could be a key)"
_LEAVE_OUT = "leave out `user:password@` and all from `?` on; a key belongs into the system keyring"


def _guess(text: str, name: str, model: str) -> str:
    """What was probably meant by a name that means nothing, or else what there is."""
    if name.lower() in {"localhost", "http", "https"} or re.match(r"\d+/", model):
        return "an address begins with http:// or https://, as in `http://127.0.0.1:8000/v1:MODEL`"
    meant = None if _could_hide(text) else _meant(text, name, model)
    return f"did you mean `{meant}`?" if meant else _choices()


def _meant(text: str, name: str, model: str) -> str | None:
    """The name that was probably meant; it keeps what was given of the model's own."""
    before, slash, behind = text.partition("/")
    if slash and behind and before.lower() in PROVIDERS:  # as others write it
        is_open = before.lower() == "openai" and behind.lower().startswith("gpt-oss")
        return f"openrouter:{text}" if is_open else f"{before.lower()}:{behind}"
    close = difflib.get_close_matches(name.lower(), PROVIDERS, n=1, cutoff=0.7)
    provider = _ALIASES.get(name.lower()) or (close[0] if close else None)
    if provider and model and not (provider == "ollama" and re.search(r"\d", name)):
        return f"{provider}:{model}"
    for family, owner in _FAMILIES:
        if re.match(family, text, re.IGNORECASE):
            return f"{owner}:{text.rstrip(':')}"
    if _OPEN.match(text):
        return f"lmstudio:{text}` or `openrouter:{text}" if slash else f"ollama:{text.rstrip(':')}"
    if name and (_TAG.match(model) or (provider == "ollama" and re.search(r"\d", name))):
        return f"ollama:{text}"
    return f"{provider}:{PROVIDERS[provider].example}" if provider else None


def _choices() -> str:
    names = ", ".join(f"`{one}:MODEL`" for one in PROVIDERS)
    return f"there is `{LOCAL}`, {names}, `https://HOST/v1:MODEL`; for instance `{EXAMPLE}`"


# -- an endpoint -----------------------------------------------------------------------------------------


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
        return parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme]

    @property
    def host(self) -> str:
        """`host[:port]`, for reports; the port if it is not the usual one."""
        scheme, _, port = self.origin
        return self.entry.removesuffix(f":{port}") if port == _PORTS[scheme] else self.entry

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
        raise UsageError(f"{provider.moved_by} {_MORE}", hint=_LEAVE_OUT)
    url = _ollama(said) if provider.name == "ollama" else said
    parts = _split(url)
    if parts is None:
        raise UsageError(
            f"{provider.moved_by} names no address", hint=f"it should look like {provider.url}, or be unset"
        )
    dialect = provider.dialect
    if dialect == "responses" and not _is_below(parts.hostname or "", _OPENAI):
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


def is_unencrypted(url: str) -> bool:
    """Whether an address is plain http to a host that is neither this machine nor in one's own network."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not _is_private(parts.hostname or "")


def _split(url: str) -> SplitResult | None:
    """An http(s) address in its parts, or None."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in _PORTS and parts.port != 0 and parts.netloc.isascii()
    except ValueError:
        return None
    is_clean = url.isprintable() and not re.search(r"[\s\\]", url)
    return parts if is_one and is_clean and _is_host(parts.hostname or "") else None


_LABEL = re.compile(r"[a-z0-9_-]{1,63}", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE | re.ASCII)


def _is_host(host: str) -> bool:
    """Whether it is an address as it is written, or a name as DNS takes it (`xn--…` beyond ASCII). An address
    as one number is neither: who it is nobody sees.
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        labels = host.removesuffix(".").split(".")
        return len(host) < 254 and all(map(_LABEL.fullmatch, labels)) and not _NUMBER.fullmatch(labels[-1])
    return True


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
    usual = _PORTS.get(scheme, _OLLAMA) if found else _OLLAMA
    base = f"{scheme or 'http'}://{host}:{port or usual}/{path}".rstrip("/")
    return base if base.endswith("/v1") else f"{base}/v1"


def _is_below(host: str, domain: str) -> bool:
    """Whether a host is that one, or one of its regions: `eu.api.openai.com`."""
    return host == domain or host.endswith(f".{domain}")


def _is_private(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_INSIDE)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return not (mapped or address).is_global
