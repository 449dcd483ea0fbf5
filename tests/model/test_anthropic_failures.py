"""The map from the SDK's errors to ours is complete: each class of its tree has a sentence."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import anthropic
import httpx2
import pytest
from anthropic._error_classes import ERROR_CLASSES

from memdir import errors
from memdir.model.anthropic.failures import explain

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/messages")

OUTSIDE = {
    "APIError",  # a base that is never raised itself
    "APIWebhookValidationError",  # of webhooks, which we don't receive
    "RetryableError",  # of middleware, which we don't have
    "StreamAlreadyConsumed",  # of reading a response twice
    "MissingDependencyError",  # of the SDK's extras, which we don't use
    "MutuallyExclusiveAuthError",  # of another cloud's client
}
"""Errors that a conversation can't meet; they are told by their names."""


def tree(root: type[Exception]) -> Iterator[type[Exception]]:
    for child in root.__subclasses__():
        yield child
        yield from tree(child)


def all_classes() -> list[type[Exception]]:
    for module in pkgutil.iter_modules(anthropic.__path__):
        importlib.import_module(f"anthropic.{module.name}")
    found = {child for child in tree(anthropic.AnthropicError) if _ours_to_meet(child)}
    return sorted(found, key=lambda child: child.__name__)


def _ours_to_meet(kind: type[Exception]) -> bool:
    """Of the SDK itself, and not of the tools it brings along."""
    return kind.__module__.startswith("anthropic.") and not kind.__module__.startswith("anthropic.lib.tools.")


def status_error(
    status: int, code: str | None = None, kind: type[anthropic.APIStatusError] = anthropic.APIStatusError
) -> anthropic.APIStatusError:
    body = {"type": "error", "error": {"type": "x", "message": "m", "details": {"error_code": code}}}
    return kind("m", response=httpx2.Response(status, request=REQUEST), body=body)


@pytest.mark.parametrize("kind", all_classes(), ids=lambda kind: kind.__name__)
def test_each_error_of_the_sdk_is_told_in_a_sentence(kind: type[Exception]) -> None:
    if issubclass(kind, anthropic.APIStatusError):
        error: Exception = status_error(getattr(kind, "status_code", 500), kind=kind)
    else:
        error = kind.__new__(kind, "m")
    told = explain(error, model="anthropic:m")
    assert isinstance(told, errors.ModelError)
    assert "anthropic:m" in str(told)
    by_name = f"({kind.__name__})" in str(told)
    assert by_name == (kind.__name__ in OUTSIDE)


@pytest.mark.parametrize(("status", "code"), sorted(ERROR_CLASSES, key=str), ids=str)
def test_each_code_of_the_service_is_told_in_a_sentence(status: int, code: str | None) -> None:
    told = explain(status_error(status, code, ERROR_CLASSES[status, code]), model="anthropic:m")
    assert type(told) in {
        errors.ModelError,
        errors.KeyRefused,
        errors.ModelOverloaded,
        errors.ModelUnreachable,
        errors.ContextTooLong,
        errors.NoSuchModel,
    }
    assert told.hint or "did not take the request" in str(told)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("authentication_error", errors.KeyRefused),
        ("permission_error", errors.KeyRefused),
        ("billing_error", errors.KeyRefused),
        ("rate_limit_error", errors.ModelOverloaded),
        ("overloaded_error", errors.ModelOverloaded),
        ("api_error", errors.ModelOverloaded),
        ("timeout_error", errors.ModelUnreachable),
        ("request_too_large", errors.ContextTooLong),
    ],
)
def test_an_error_inside_a_stream_is_told_by_its_type(kind: str, expected: type[Exception]) -> None:
    error = anthropic.APIStatusError(
        "m", response=httpx2.Response(200, request=REQUEST), body={"error": {"type": kind, "message": "m"}}
    )
    assert type(explain(error, model="anthropic:m")) is expected


@pytest.mark.parametrize(
    "error",
    [
        httpx2.ReadError("m"),
        httpx2.RemoteProtocolError("m"),
        httpx2.ReadTimeout("m"),
        httpx2.ConnectError("m"),
        httpx2.InvalidURL("m"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_connection_that_fails_is_unreachable(error: Exception) -> None:
    assert isinstance(explain(error, model="anthropic:m"), errors.ModelUnreachable)


def test_a_reason_is_told_in_one_short_line() -> None:
    body = {"error": {"type": "invalid_request_error", "message": "bad\nthing " * 100}}
    error = anthropic.BadRequestError("m", response=httpx2.Response(400, request=REQUEST), body=body)
    told = str(explain(error, model="anthropic:m"))
    assert "\n" not in told
    assert len(told) < 300
