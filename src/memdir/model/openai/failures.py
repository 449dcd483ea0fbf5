"""The errors of the OpenAI SDK, and of the many servers that it reaches -> ours, with a sentence and a cure.

Servers agree on little but the status, so their words count, too: the tables below are made of wordings that
real servers send. The SDK's classes are looked up when an error is there, so this module loads without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memdir.errors import (
    BadReply,
    ContextTooLong,
    KeyRefused,
    ModelError,
    ModelOverloaded,
    ModelUnreachable,
    NoSuchModel,
)
from memdir.model import ignored_tools, refusals
from memdir.model.openai.said import InStream, Said, Server, said
from memdir.model.streaming import TOO_LONG

KEY = "OPENAI_API_KEY"
GET_A_KEY = f"put a key from https://platform.openai.com/api-keys into the environment as {KEY}"

LONGER_WINDOW: Mapping[str, str] = {
    "ollama": "set OLLAMA_CONTEXT_LENGTH for the Ollama server, or `PARAMETER num_ctx` in a Modelfile",
    "lmstudio": "load the model in LM Studio with a larger context length",
    "llamacpp": "start llama-server with a larger `--ctx-size`",
    "vllm": "start vLLM with a larger `--max-model-len`",
}
"""How a server is given a larger window."""

_START: Mapping[str, str] = {
    "ollama": "start Ollama: `ollama serve`",
    "lmstudio": "start LM Studio's server: `lms server start`",
    "vllm": "start vLLM: `vllm serve MODEL`",
    "llamacpp": "start llama.cpp: `llama-server -m MODEL.gguf`; newer ones listen on port 9931",
}
_FETCH: Mapping[str, str] = {
    "ollama": "fetch it: `ollama pull {model}`",
    "lmstudio": "load it: `lms load {model}`",
}

_NO_MODEL = re.compile(
    r"model_not_found|model .{0,200}(?:not found|does not exist)|not a valid model|no models loaded"
    r"|no endpoints found for|unknown model|invalid model",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient_quota|exceeded your current quota|billing_hard_limit|credit_limit", re.IGNORECASE
)
_MODERATED = re.compile(r"moderat|flagged|guardrail|content policy", re.IGNORECASE)
_LASTING = re.compile(
    r"jinja|chat template|unexpected message role|must be at the beginning|roles must alternate"
    r"|image input is not supported|mmproj|failed to parse|not supported",
    re.IGNORECASE,
)
"""Words of a 500 that is no trouble of the server's: the same request will meet it again."""

_STATUS: Mapping[str, int] = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "insufficient_quota": 429,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "exceed_context_size_error": 400,
    "context_length_exceeded": 400,
    "badrequesterror": 400,
    "notfounderror": 404,
}
"""The status of an error that came inside a stream, which had begun well, with 200."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Whom an error is about: the model's name in reports, its own name, the program that serves it, and its
    address (None: OpenAI's own)."""

    name: str
    model: str
    server: Server = "openai"
    url: str | None = None
    is_here: bool = False


@contextmanager
def explained(service: Service) -> Iterator[None]:
    """Raise the SDK's errors as ours.

    Raises:
        ModelError: or the child that fits; the SDK's error is its cause.
    """
    import httpx2
    import openai

    try:
        yield
    except (
        openai.OpenAIError,
        httpx2.HTTPError,
        httpx2.StreamError,
        httpx2.InvalidURL,
        InStream,
        ValueError,  # an event that is no JSON, or no UTF-8
        LookupError,
        AttributeError,  # an event without the fields of its kind
        TypeError,
    ) as error:
        raise explain(error, service=service) from error


def explain(error: Exception, *, service: Service) -> ModelError:
    """Our error for one of the SDK's, of its HTTP client's, or for one that came in a stream."""
    import httpx2
    import openai

    name = service.name
    match error:
        case (
            openai.APIResponseValidationError()
            | ValueError()
            | LookupError()
            | AttributeError()
            | TypeError()
        ):
            return BadReply(f"what came back for {name} is no answer of this API")
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return ModelUnreachable(f"{name} did not answer in time", hint="try again later")
        case openai.APIConnectionError() | httpx2.TransportError() | httpx2.InvalidURL():
            return _away(service)
        case openai.APIError() | InStream():
            return _answered(said(error), error, service)
        case openai.LengthFinishReasonError() | openai.ContentFilterFinishReasonError():
            return BadReply(f"{name} did not finish its answer")
        case _:
            return ModelError(f"{name} could not be asked ({type(error).__name__})")


def _away(service: Service) -> ModelUnreachable:
    """For a connection that did not come about, or broke."""
    if service.is_here:
        hint = _START.get(service.server, "start the server, or check the address and its port")
        return ModelUnreachable(f"no server answers at {_origin(service.url)}, or it broke off", hint=hint)
    place = f" at {_origin(service.url)}" if service.url else ""
    return ModelUnreachable(
        f"no connection to {service.name}{place}, or it broke off",
        hint="check the network, and the address"
        if service.url
        else "check the network, and OPENAI_BASE_URL if it is set",
    )


def _answered(heard: Said, error: Exception, service: Service) -> ModelError:
    """For an error that the service itself answered with."""
    name, words = service.name, heard.all
    status = heard.status or _STATUS.get(heard.code.lower()) or _STATUS.get(heard.kind.lower()) or 500
    if heard.status is None and re.fullmatch(r"[45]\d\d", heard.code):
        status = int(heard.code)
    if refusals.is_too_long(words) and status not in (402, 429):
        return too_long(service)
    if refusals.is_about_tools(words) and status in (400, 404, 500):
        return ignored_tools.refused(name)
    if _NO_MONEY.search(words) or status == 402:
        return KeyRefused(
            f"the account behind the key for {name} can't pay for it: {refusals.shown(heard.text)}",
            hint="see the billing page of the service",
        )
    if status == 404 or (status == 400 and _NO_MODEL.search(words)):
        return _not_found(heard, service)
    if status == 413:
        return too_long(service)
    if status == 401:
        return KeyRefused(f"the key for {name} was refused (401)", hint=_check_key(service))
    if status == 403 and not _MODERATED.search(words):
        return KeyRefused(f"{name} was refused (403): {refusals.shown(heard.text)}", hint=_check_key(service))
    if status in (408, 504):
        return ModelUnreachable(f"{name} did not answer in time ({status})", hint="try again later")
    if status == 429:
        return ModelOverloaded(f"the rate limit for {name} is reached", hint=_wait(error))
    if status == 503 and "loading model" in words.lower():
        return ModelOverloaded(f"{name} is still loading", hint="try again in a minute")
    if status >= 500 and not _LASTING.search(words):
        return ModelOverloaded(f"{name} is overloaded or in trouble ({status})", hint="try again later")
    return ModelError(f"{name} did not take the request ({status}): {refusals.shown(heard.text)}")


def too_long(service: Service) -> ContextTooLong:
    """What to raise when a request does not fit into the window."""
    cure = LONGER_WINDOW.get(service.server)
    return ContextTooLong(
        f"the conversation is too long for {service.name}",
        hint=f"{TOO_LONG}; or {cure}" if cure else TOO_LONG,
    )


def no_such_model(service: Service, models: tuple[str, ...] = ()) -> tuple[str, str]:
    """The sentence and the cure for a name that a service does not have; `models` are those it has."""
    place = f"the server at {_origin(service.url)}" if service.url else "OpenAI"
    shown = ", ".join(models[:8]) + (f" and {len(models) - 8} more" if len(models) > 8 else "")
    sentence = f"{place} has no model {service.model}" + (f"; it has: {shown}" if shown else "")
    if not service.url:
        sentence += f", or {KEY} may not use it"
    fetch = _FETCH.get(service.server, "check the name in `--model` or in the `model` setting")
    return sentence, fetch.format(model=service.model)


def _not_found(heard: Said, service: Service) -> NoSuchModel:
    """A 404 is about the model if it says so; with no words, or a page, it is about the address."""
    page = not heard.text or heard.text.lstrip().startswith("<")
    pathless = re.fullmatch(
        r"(?:file |404 |page |path |url )*not found\W*|invalid url.*", heard.text.strip(), re.IGNORECASE
    )
    if service.url and (page or pathless) and not _NO_MODEL.search(heard.all):
        return NoSuchModel(
            f"there is no API of this kind at {_bare(service.url)}",
            hint="is the address right? It mostly ends in /v1",
        )
    sentence, cure = no_such_model(service)
    return NoSuchModel(sentence, hint=cure)


def _check_key(service: Service) -> str:
    if not service.url:
        return f"check {KEY}: is it whole, still valid, and allowed to use this model?"
    if service.server == "openrouter":
        return "check OPENROUTER_API_KEY: is it whole, still valid, and allowed to use this model?"
    return f"store the key of that server: `keyring set memdir {_origin(service.url).split('://')[-1]}`"


def _wait(error: Exception) -> str:
    headers: Any = getattr(getattr(error, "response", None), "headers", {})
    asked = headers.get("retry-after", "")
    return f"it asks to wait {asked} seconds" if asked.isdigit() else "wait a minute, then try again"


def _bare(url: str) -> str:
    """An address without the user and password that it may hold."""
    return re.sub(r"//[^/@]*@", "//", url)


def _origin(url: str | None) -> str:
    """Scheme, host and port of an address."""
    found = re.match(r"[a-z]+://(?:[^/@]*@)?([^/?#]*)", url or "")
    return f"{(url or '').split('://')[0]}://{found[1]}" if found else "its address"
