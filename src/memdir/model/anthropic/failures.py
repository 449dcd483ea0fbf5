"""The Anthropic SDK's errors -> ours, with a sentence for the person and a cure.

Asking again is `streaming`'s business, the SDK does not. Its classes are looked up when an error is there, so
that this module loads without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memdir.errors import (
    BadReply,
    KeyMissing,
    KeyRefused,
    ModelError,
    ModelOverloaded,
    NoSuchModel,
)
from memdir.model import ignored_tools, refusals
from memdir.model.openai.said import said as heard
from memdir.model.pauses import when_again
from memdir.model.service import ODD, Endless, Service, bare, broke_off, late

if TYPE_CHECKING:
    from anthropic import APIStatusError

KEY = "ANTHROPIC_API_KEY"
GET_A_KEY = f"put a key from https://platform.claude.com into the environment as {KEY}"

_STATUS: Mapping[str | None, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status of an error that came inside a stream, which had begun well, with 200."""


@contextmanager
def explained(service: Service) -> Iterator[None]:
    """Raise the SDK's errors as ours.

    Raises:
        ModelError: or the child that fits; the SDK's error is its cause.
    """
    import anthropic
    import httpx2

    try:
        yield
    except (
        anthropic.AnthropicError,
        httpx2.HTTPError,
        httpx2.StreamError,
        httpx2.InvalidURL,
        Endless,
        *ODD,
    ) as error:
        raise explain(error, service=service) from error


def explain(error: Exception, *, service: Service) -> ModelError:
    """Our error for one of the SDK's, or of its HTTP client's."""
    import anthropic
    import httpx2
    from anthropic.lib.credentials import WorkloadIdentityError

    model = service.name
    if (endless := service.endless(error)) is not None:
        return endless
    match error:
        case anthropic.APIStatusError() if 300 <= error.status_code < 400:
            return service.elsewhere(error.response.headers.get("location", ""))
        case anthropic.APIStatusError():
            return _answered(error, service)
        case (
            anthropic.APIResponseValidationError()
            | ValueError()
            | OverflowError()
            | LookupError()
            | AttributeError()
            | TypeError()
            | RecursionError()
        ):
            return BadReply(f"what came back for {model} is no answer of the Messages API")
        case RuntimeError():
            return broke_off(model)
        case anthropic.CredentialsError():
            hint = service.key_cure or GET_A_KEY
            return KeyMissing(f"the credentials for {model} can't be loaded: {error}", hint=hint)
        case WorkloadIdentityError():
            hint = service.key_cure or GET_A_KEY
            return KeyRefused(f"the identity token for {model} was refused", hint=hint)
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return late(model)
        case anthropic.APIConnectionError() | httpx2.TransportError() | httpx2.InvalidURL():
            return service.away(error, moved_by="ANTHROPIC_BASE_URL")
        case _:
            return ModelError(f"{model} could not be asked ({type(error).__name__})")


def _answered(error: APIStatusError, service: Service) -> ModelError:
    """For an error that the service itself answered with."""
    model = service.name
    status = error.status_code if error.status_code >= 400 else _STATUS.get(error.type, 500)
    said = heard(error).text
    match status:
        case 401:
            return service.key_refused()
        case 403:
            return KeyRefused(
                f"the key for {model} was refused (403): {service.shown(said)}", hint=service.check_key()
            )
        case 402:
            return KeyRefused(
                f"the account behind the key for {model} can't pay for it", hint="see its billing page"
            )
        case 400 | 404 | 500 if refusals.is_about_tools(said):
            return ignored_tools.refused(model, said)
        case 404:
            return _not_found(said, service)
        case 413:
            return service.too_long()
        case 400 | 500 if refusals.is_too_long(said):
            return service.too_long()
        case 400 if refusals.is_about_the_model(said):
            return _not_found(said, service)
        case 408 | 504:
            return late(model, status)
        case 429 if (error.error_code or "").endswith("spend_limit_reached"):
            return ModelOverloaded(f"the spending limit for {model} is reached", hint="raise it, or wait")
        case 429:
            return ModelOverloaded(
                f"the rate limit for {model} is reached",
                hint=when_again(error, "wait a minute, then try again"),
            )
        case 503 if "loading model" in said.lower():
            return ModelOverloaded(f"{model} is still loading", hint="try again in a minute")
        case _ if status >= 500:
            return ModelOverloaded(
                f"{model} is overloaded or in trouble ({status})", hint=when_again(error, "try again later")
            )
        case _:
            return ModelError(f"{model} did not take the request ({status}): {service.shown(said)}")


def _not_found(said: str, service: Service) -> NoSuchModel:
    """For a name that is unknown, or an address where nobody speaks this."""
    if service.url is None:
        return NoSuchModel(
            f"there is no model {service.name}, or {KEY} may not use it", hint=service.name_cure()
        )
    if refusals.is_about_the_path(said):
        return NoSuchModel(
            f"there is no Messages API at {bare(service.url)}",
            hint="is the address right? What is before /v1/messages belongs there",
        )
    return NoSuchModel(f"{service.place} has no model {service.model}", hint=service.name_cure())
