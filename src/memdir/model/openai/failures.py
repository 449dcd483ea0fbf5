"""The errors of the OpenAI SDK, and of the many servers that it reaches -> ours, with a sentence and a cure.

Servers agree on little but the status, so their words count, too: the tables below are made of wordings that
real servers send. The SDK's classes are looked up when an error is there, so this module loads without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from memdir.errors import (
    BadReply,
    KeyRefused,
    ModelError,
    ModelOverloaded,
    NoSuchModel,
)
from memdir.model import ignored_tools, refusals
from memdir.model import service as services
from memdir.model.openai.said import InStream, Said, Server, said
from memdir.model.pauses import when_again
from memdir.model.service import ODD, Endless, bare, origin

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
class Service(services.Service):
    """Whom an error is about, and the program that serves the model."""

    server: Server = "openai"
    variable: str = KEY

    @property
    def place(self) -> str:
        """Who it is, in a sentence."""
        return f"the server at {origin(self.url)}" if self.url else "OpenAI"

    @property
    def roomier(self) -> str | None:
        """How the server is given a larger window."""
        usual = "give the server a larger context window" if self.is_here else None
        return LONGER_WINDOW.get(self.server, usual)

    @property
    def starts(self) -> str:
        """How a server on this machine is started."""
        return _START.get(self.server, "start the server, or check the address and its port")

    @property
    def fetches(self) -> str | None:
        """How the server gets a model."""
        how = _FETCH.get(self.server)
        return how.format(model=self.model) if how else None


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
        Endless,
        *ODD,
    ) as error:
        raise explain(error, service=service) from error


def explain(error: Exception, *, service: Service) -> ModelError:
    """Our error for one of the SDK's, of its HTTP client's, or for one that came in a stream."""
    import httpx2
    import openai

    name = service.name
    if (endless := service.endless(error)) is not None:
        return endless
    match error:
        case (
            openai.APIResponseValidationError()
            | ValueError()
            | OverflowError()
            | LookupError()
            | AttributeError()
            | TypeError()
            | RecursionError()
        ):
            return BadReply(f"what came back for {name} is no answer of this API")
        case RuntimeError():
            return services.broke_off(name)
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return services.late(name)
        case openai.APIConnectionError() | httpx2.TransportError() | httpx2.InvalidURL():
            return service.away(error, moved_by="OPENAI_BASE_URL")
        case openai.APIStatusError() if 300 <= error.status_code < 400:
            return service.elsewhere(error.response.headers.get("location", ""))
        case openai.APIError() | InStream():
            return _answered(said(error), error, service)
        case _:
            return ModelError(f"{name} could not be asked ({type(error).__name__})")


def _answered(heard: Said, error: Exception, service: Service) -> ModelError:
    """For an error that the service itself answered with."""
    name, words = service.name, heard.all
    status = heard.status or _STATUS.get(heard.code.lower()) or _STATUS.get(heard.kind.lower()) or 500
    if heard.status is None and re.fullmatch(r"[45]\d\d", heard.code):
        status = int(heard.code)
    if refusals.is_too_long(words) and status not in (402, 429):
        return service.too_long()
    if refusals.is_about_tools(words) and status in (400, 404, 500):
        return ignored_tools.refused(name, words)
    if _NO_MONEY.search(words) or status == 402:
        return KeyRefused(
            f"the account behind the key for {name} can't pay for it: {service.shown(heard.text)}",
            hint="see the billing page of the service",
        )
    if status == 404 or (status == 400 and refusals.is_about_the_model(words)):
        return _not_found(heard, service)
    if status == 413:
        return service.too_long()
    if status == 401:
        return service.key_refused()
    if status == 403 and not _MODERATED.search(words):
        return KeyRefused(f"{name} was refused (403): {service.shown(heard.text)}", hint=service.check_key())
    if status in (408, 504):
        return services.late(name, status)
    if status == 429:
        hint = when_again(error, "wait a minute, then try again")
        return ModelOverloaded(f"the rate limit for {name} is reached", hint=hint)
    if status == 503 and "loading model" in words.lower():
        return ModelOverloaded(f"{name} is still loading", hint="try again in a minute")
    if status >= 500 and not _LASTING.search(words):
        hint = when_again(error, "try again later")
        return ModelOverloaded(f"{name} is overloaded or in trouble ({status})", hint=hint)
    return ModelError(f"{name} did not take the request ({status}): {service.shown(heard.text)}")


def no_such_model(service: services.Service, models: tuple[str, ...] = ()) -> tuple[str, str]:
    """The sentence and the cure for a name that a service does not have; `models` are those it has."""
    cure = service.name_cure(models)
    models = tuple(map(services.clean, service.open_names(models)))
    shown = ", ".join(models[:8]) + (f" and {len(models) - 8} more" if len(models) > 8 else "")
    sentence = f"{service.place} has no model {service.model}" + (f"; it has: {shown}" if shown else "")
    if not service.url:
        sentence += f", or {KEY} may not use it"
    return sentence, cure


def _not_found(heard: Said, service: Service) -> NoSuchModel:
    """A 404 is about the model if it says so; with no words, or a page, it is about the address."""
    is_about_the_path = refusals.is_about_the_path(heard.text) and not refusals.is_about_the_model(heard.all)
    if service.url and is_about_the_path:
        return NoSuchModel(
            f"there is no API of this kind at {bare(service.url)}",
            hint="is the address right? It mostly ends in /v1",
        )
    sentence, cure = no_such_model(service)
    return NoSuchModel(sentence, hint=cure)
