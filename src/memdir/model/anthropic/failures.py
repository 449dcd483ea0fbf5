"""The Anthropic SDK's errors -> ours, with a sentence for the person and a cure.

The SDK has retried by then what is worth it. Its classes are looked up when an error is there, so that this
module loads without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memdir.errors import (
    BadReply,
    ContextTooLong,
    KeyMissing,
    KeyRefused,
    ModelError,
    ModelOverloaded,
    ModelUnreachable,
    NoSuchModel,
)
from memdir.model import ignored_tools, refusals

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
def explained(model: str) -> Iterator[None]:
    """Raise the SDK's errors as ours. `model` is the name to speak of, `provider:model`.

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
        ValueError,  # an event that is no JSON, or no UTF-8
        LookupError,  # an event for a block that was never begun
        AttributeError,  # an event without the fields of its kind
    ) as error:
        raise explain(error, model=model) from error


def explain(error: Exception, *, model: str) -> ModelError:
    """Our error for one of the SDK's, or of its HTTP client's."""
    import anthropic
    import httpx2
    from anthropic.lib.credentials import WorkloadIdentityError

    match error:
        case anthropic.APIStatusError():
            return _answered(error, model)
        case anthropic.APIResponseValidationError() | ValueError() | LookupError() | AttributeError():
            return BadReply(f"what came back for {model} is no answer of the Messages API")
        case anthropic.CredentialsError():
            return KeyMissing(f"the credentials for {model} can't be loaded: {error}", hint=GET_A_KEY)
        case WorkloadIdentityError():
            return KeyRefused(f"the identity token for {model} was refused", hint=GET_A_KEY)
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return ModelUnreachable(f"{model} did not answer in time", hint="try again later")
        case anthropic.APIConnectionError() | httpx2.TransportError() | httpx2.InvalidURL():
            return ModelUnreachable(
                f"no connection to {model}, or it broke off",
                hint="check the network, and ANTHROPIC_BASE_URL if it is set",
            )
        case _:
            return ModelError(f"{model} could not be asked ({type(error).__name__})")


def _answered(error: APIStatusError, model: str) -> ModelError:
    """For an error that the service itself answered with."""
    status = error.status_code if error.status_code >= 400 else _STATUS.get(error.type, 500)
    said = error.api_message or ""
    match status:
        case 401 | 403:
            return KeyRefused(
                f"the key for {model} was refused ({status})",
                hint=f"check {KEY}: is it whole, still valid, and allowed to use this model?",
            )
        case 402:
            return KeyRefused(f"the account behind {KEY} can't pay for {model}", hint="see its billing page")
        case 400 | 404 | 500 if refusals.is_about_tools(said):
            return ignored_tools.refused(model)
        case 404:
            return NoSuchModel(
                f"there is no model {model}, or {KEY} may not use it",
                hint="check the name in `--model` or in the `model` setting",
            )
        case 413:
            return _too_long(model)
        case 400 | 500 if refusals.is_too_long(said):
            return _too_long(model)
        case 408 | 504:
            return ModelUnreachable(f"{model} did not answer in time ({status})", hint="try again later")
        case 429 if (error.error_code or "").endswith("spend_limit_reached"):
            return ModelOverloaded(f"the spending limit for {model} is reached", hint="raise it, or wait")
        case 429:
            return ModelOverloaded(
                f"the rate limit for {model} is reached", hint="wait a minute, then try again"
            )
        case _ if status >= 500:
            return ModelOverloaded(f"{model} is overloaded or in trouble ({status})", hint="try again later")
        case _:
            return ModelError(f"{model} did not take the request ({status}): {refusals.shown(said)}")


def _too_long(model: str) -> ContextTooLong:
    return ContextTooLong(
        f"the conversation is too long for {model}", hint="start a new one; what was learned is kept"
    )
