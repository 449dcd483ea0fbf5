"""The map from the SDK's errors to ours is complete: each class of its tree has a sentence."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import replace

import anthropic
import httpx2
import pytest
from anthropic._error_classes import ERROR_CLASSES

from memdir import errors
from memdir.model.anthropic.failures import KEY, explain
from memdir.model.service import Service

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
ANTHROPIC = Service(name="anthropic:m", model="m", variable=KEY)
HERE = replace(
    ANTHROPIC, name="http://127.0.0.1:8080/v1/messages:m", url="http://127.0.0.1:8080", is_here=True
)

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
    told = explain(error, service=ANTHROPIC)
    assert isinstance(told, errors.ModelError)
    assert "anthropic:m" in str(told)
    by_name = f"({kind.__name__})" in str(told)
    assert by_name == (kind.__name__ in OUTSIDE)


@pytest.mark.parametrize(("status", "code"), sorted(ERROR_CLASSES, key=str), ids=str)
def test_each_code_of_the_service_is_told_in_a_sentence(status: int, code: str | None) -> None:
    told = explain(status_error(status, code, ERROR_CLASSES[status, code]), service=ANTHROPIC)
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
    assert type(explain(error, service=ANTHROPIC)) is expected


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
    assert isinstance(explain(error, service=ANTHROPIC), errors.ModelUnreachable)


def test_a_reason_is_told_in_one_short_line() -> None:
    body = {"error": {"type": "invalid_request_error", "message": "bad\nthing " * 100}}
    error = anthropic.BadRequestError("m", response=httpx2.Response(400, request=REQUEST), body=body)
    told = str(explain(error, service=ANTHROPIC))
    assert "\n" not in told
    assert len(told) < 300


@pytest.mark.parametrize(
    ("seconds", "words"), [("300", "wait 5 minutes"), ("20", "wait 20 seconds"), ("", "wait a minute")]
)
@pytest.mark.parametrize(("status", "sentence"), [(429, "the rate limit"), (529, "overloaded")])
def test_how_long_the_service_asks_to_wait_is_said(
    status: int, sentence: str, seconds: str, words: str
) -> None:
    response = httpx2.Response(status, request=REQUEST, headers={"retry-after": seconds} if seconds else {})
    told = explain(anthropic.APIStatusError("m", response=response, body=None), service=ANTHROPIC)
    assert type(told) is errors.ModelOverloaded
    assert sentence in str(told)
    assert (words if seconds or status == 429 else "later") in (told.hint or "")


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), TypeError("x"), RecursionError("x")])
def test_what_is_no_answer_is_a_bad_reply(error: Exception) -> None:
    assert type(explain(error, service=ANTHROPIC)) is errors.BadReply


def test_what_was_sent_is_not_told() -> None:
    words = "[{'loc': ('body', 'messages'), 'msg': 'no', 'input': 'Anna moved to Lisbon'}]"
    for body in ({"error": words}, {"error": {"message": words}}, {"message": words}):
        response = httpx2.Response(400, request=REQUEST)
        told = explain(anthropic.APIStatusError("m", response=response, body=body), service=HERE)
        assert "'msg': 'no'" in str(told) or "no reason" in str(told)
        assert "Anna" not in f"{told} {told.hint}"


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 429, 500, 529])
def test_a_server_at_an_address_is_told_of_as_that_and_in_its_own_words(status: int) -> None:
    response = httpx2.Response(status, request=REQUEST)
    told = explain(
        anthropic.APIStatusError("m", response=response, body={"error": "bad thing"}), service=HERE
    )
    assert "ANTHROPIC" not in f"{told} {told.hint}"
    assert "bad thing" in str(told) or status != 400


# ── other servers behind /v1/messages ──────────────────────────────────────────────────────────────────

LLAMACPP_LONG = {
    "error": {
        "code": 400,
        "message": "request (13392 tokens) exceeds the available context size (8192 tokens)",
        "type": "exceed_context_size_error",
    }
}


def error_object(kind: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}}


@pytest.mark.parametrize(
    ("status", "body", "expected", "sentence", "cure"),
    [
        (400, LLAMACPP_LONG, errors.ContextTooLong, "too long", "larger context window; or start a new"),
        (
            400,
            error_object("invalid_request_error", "the input length exceeds the context length"),
            errors.ContextTooLong,
            "too long",
            "larger context window",
        ),
        (
            400,
            error_object(
                "invalid_request_error", "prompt is longer than the context length currently available"
            ),
            errors.ContextTooLong,
            "too long",
            "larger context window",
        ),
        (
            500,
            {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}},
            errors.ContextTooLong,
            "too long",
            "start a new",
        ),
        (
            404,
            error_object("not_found_error", "model 'm' not found, try pulling it first"),
            errors.NoSuchModel,
            "the server at http://127.0.0.1:8080 has no model m",
            "memdir models",
        ),
        (
            400,
            error_object("invalid_request_error", "model 'm' not found"),
            errors.NoSuchModel,
            "has no model m",
            "memdir models",
        ),
        (
            400,
            error_object("invalid_request_error", "registry.ollama.ai/library/m does not support tools"),
            errors.ToolsIgnored,
            "can't call tools",
            "choose a model",
        ),
        (
            500,
            {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}},
            errors.ToolsIgnored,
            "started without them",
            "`--jinja`",
        ),
        (
            503,
            {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
            errors.ModelOverloaded,
            "still loading",
            "in a minute",
        ),
        (404, "<html>404</html>", errors.NoSuchModel, "no Messages API at http://127.0.0.1:8080", "address"),
        (404, {"detail": "Not Found"}, errors.NoSuchModel, "no Messages API at", "address"),
        (
            404,
            {"error": {"message": "File Not Found", "type": "not_found_error"}},
            errors.NoSuchModel,
            "no Messages API at",
            "address",
        ),
    ],
)
def test_other_servers_are_understood_in_their_own_words(
    status: int, body: object, expected: type[Exception], sentence: str, cure: str
) -> None:
    response = httpx2.Response(status, request=REQUEST)
    told = explain(anthropic.APIStatusError("m", response=response, body=body), service=HERE)
    assert type(told) is expected
    assert sentence in str(told)
    assert cure in (told.hint or "")
