"""The errors of OpenAI's two dialects, which differ in a few words only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.wire.answers import Kind, Refused
from tests.wire.dialects import Json, filled

_INVALID = "invalid_request_error"
_KEY = (
    "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."
)
_QUOTA = "You exceeded your current quota, please check your plan and billing details."
_MESSAGES = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 208310 tokens. "
    "Please reduce the length of the messages."
)
_INPUT = "Your input exceeds the context window of this model. Please adjust your input and try again."

_WORDS: Sequence[tuple[Kind, int, str, str | None, str]] = (
    ("overloaded", 503, "server_error", "server_error", "The engine is currently overloaded."),
    ("rate_limited", 429, "requests", "rate_limit_exceeded", "Rate limit reached for {model}."),
    ("key_refused", 401, _INVALID, "invalid_api_key", _KEY),
    ("forbidden", 403, _INVALID, None, "You have insufficient permissions for this operation."),
    ("unknown_model", 404, _INVALID, "model_not_found", "The model `{model}` does not exist."),
    ("too_long", 400, _INVALID, "context_length_exceeded", _MESSAGES),
    ("quota", 429, "insufficient_quota", "insufficient_quota", _QUOTA),
    (
        "tools_refused",
        400,
        _INVALID,
        "unsupported_parameter",
        "'tools' is not supported with this model.",
    ),
    ("field_refused", 400, _INVALID, "unsupported_parameter", "no"),
    ("invalid", 400, _INVALID, None, "no"),
    ("no_such_path", 404, _INVALID, None, "Invalid URL"),
)
_USUAL: Mapping[Kind, Refused] = {
    kind: Refused(kind=kind, status=status, type=type_, code=code, message=message)
    for kind, status, type_, code, message in _WORDS
}


_USUAL_OF_RESPONSES = {**_USUAL, "too_long": replace(_USUAL["too_long"], message=_INPUT, param="input")}


def chat(fault: Refused, model: str) -> tuple[int, Json]:
    """The status and the JSON of an error of Chat Completions."""
    return _told(filled(fault, _USUAL, model))


def responses(fault: Refused, model: str) -> tuple[int, Json]:
    """The same for Responses."""
    return _told(filled(fault, _USUAL_OF_RESPONSES, model))


def _told(said: Refused) -> tuple[int, Json]:
    error = {"message": said.message, "type": said.type, "param": said.param, "code": said.code}
    return said.status or 400, said.body or {"error": error}
