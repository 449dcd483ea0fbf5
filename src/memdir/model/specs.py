"""What a model is called -> a `Spec`: `parse(text)`.

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
import re
import unicodedata
from dataclasses import dataclass

from memdir import secrets
from memdir.errors import UsageError
from memdir.model.address import HOLDS_MORE, LEAVE_OUT, PORTS, is_unencrypted, parts_of
from memdir.model.providers import EXAMPLE, LOCAL, PROVIDERS, Dialect, Provider

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
        raise UsageError(f"the address of a model {HOLDS_MORE}", hint=LEAVE_OUT)
    if scheme.lower() not in PORTS:
        raise UsageError(
            "this is no address of a model (not shown)", hint="it begins with https:// or http://"
        )
    found = _ADDRESS.fullmatch(text)
    if (
        found is None
        or parts_of(f"{found['scheme'].lower()}://{found['host']}:{found['port'] or ''}") is None
    ):
        raise UsageError("this is no address of a model (not shown)", hint="as in `https://HOST/v1:MODEL`")
    port = f":{found['port']}" if found["port"] else ""
    server = f"{scheme.lower()}://{found['host'].lower()}{port}"
    path, model = found["path"], (found["model"] or "").strip()
    if re.search("[;=]", path or ""):
        raise UsageError(f"the address of a model {HOLDS_MORE}", hint=LEAVE_OUT)
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
