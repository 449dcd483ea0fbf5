"""What goes wrong with OpenAI's API, and with the servers that follow it, has a sentence and a cure."""

from __future__ import annotations

import email.utils
import importlib
import json
import pkgutil
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx2
import openai
import pytest

from memdir import errors
from memdir.model.openai.failures import Service, explain
from memdir.model.openai.said import InStream, Server, said
from memdir.model.service import near
from tests.wire import wordings

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")
OPENAI = Service(name="openai:m", model="m")

OUTSIDE = {
    "ContentFilterFinishReasonError",  # of the SDK's own parsing
    "LengthFinishReasonError",
    "APIRemovedInV1",  # of functions that are gone
    "StreamAlreadyConsumed",  # of reading a response twice
    "SubjectTokenProviderError",  # of identities that we don't use
    "WebSocketConnectionClosedError",  # of another transport
    "WebSocketQueueFullError",
    "MutuallyExclusiveAuthError",  # of another cloud's client
}
"""Errors that a conversation can't meet; they are told by their names."""


def service(server: Server, url: str = "http://127.0.0.1:11434/v1") -> Service:
    return Service(name=f"{server}:m", model="m", server=server, url=url, is_here="127.0.0.1" in url)


def answered(status: int, body: object, **headers: str) -> openai.APIStatusError:
    """The SDK's own error for an answer."""
    response = httpx2.Response(status, request=REQUEST, headers=headers, content=_content(body))
    return openai.AsyncOpenAI(api_key="k")._make_status_error_from_response(response)


def _content(body: object) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def tree(root: type[Exception]) -> Iterator[type[Exception]]:
    for child in root.__subclasses__():
        yield child
        yield from tree(child)


def all_classes() -> list[type[Exception]]:
    for module in pkgutil.iter_modules(openai.__path__):
        if module.name not in {"_extras", "cli", "__main__", "helpers"}:
            importlib.import_module(f"openai.{module.name}")
    found = {child for child in tree(openai.OpenAIError) if child.__module__.startswith("openai.")}
    return sorted(found, key=lambda child: child.__name__)


@pytest.mark.parametrize("kind", all_classes(), ids=lambda kind: kind.__name__)
def test_each_error_of_the_sdk_is_told_in_a_sentence(kind: type[Exception]) -> None:
    if issubclass(kind, openai.APIStatusError):
        status = getattr(kind, "status_code", 500)
        response = httpx2.Response(status, request=REQUEST)
        error: Exception = kind.__new__(kind)
        openai.APIStatusError.__init__(error, "m", response=response, body={"message": "m"})  # type: ignore[arg-type]
    else:
        error = kind.__new__(kind, "m")
    told = explain(error, service=OPENAI)
    assert isinstance(told, errors.ModelError)
    assert "openai:m" in str(told) or "model m" in str(told)
    by_name = f"({kind.__name__})" in str(told)
    assert by_name == (kind.__name__ in OUTSIDE)


# ── one by one ─────────────────────────────────────────────────────────────────────────────────────────


def openais(status: int, code: str | None = None, message: str = "m", kind: str | None = None) -> Exception:
    return answered(status, {"error": {"message": message, "type": kind, "code": code, "param": None}})


@pytest.mark.parametrize(
    ("error", "expected", "sentence", "cure"),
    [
        (openais(401, "invalid_api_key"), errors.KeyRefused, "was refused", "check OPENAI_API_KEY"),
        (
            openais(403, None, "no such country"),
            errors.KeyRefused,
            "(403): no such country",
            "OPENAI_API_KEY",
        ),
        (openais(403, None, "your input was flagged"), errors.ModelError, "was flagged", ""),
        (openais(413), errors.ContextTooLong, "too long", "new conversation"),
        (openais(404, "model_not_found"), errors.NoSuchModel, "OpenAI has no model m", "memdir models"),
        (openais(429, "insufficient_quota"), errors.KeyRefused, "can't pay", "billing"),
        (openais(429, "rate_limit_exceeded"), errors.ModelOverloaded, "rate limit", "wait a minute"),
        (openais(500), errors.ModelOverloaded, "overloaded or in trouble", "later"),
        (openais(408), errors.ModelUnreachable, "in time", "later"),
        (openais(400, "context_length_exceeded"), errors.ContextTooLong, "too long", "new conversation"),
        (openais(400, "x", "Unsupported parameter"), errors.ModelError, "Unsupported parameter", ""),
    ],
)
def test_what_openai_answers_is_told_with_a_cure(
    error: Exception, expected: type[Exception], sentence: str, cure: str
) -> None:
    told = explain(error, service=OPENAI)
    assert type(told) is expected
    assert sentence in str(told)
    assert cure in (told.hint or "")


@pytest.mark.parametrize("server", wordings.TOO_LONG)
def test_a_conversation_that_is_too_long_is_seen_in_each_servers_words(server: wordings.Server) -> None:
    said_ = wordings.TOO_LONG[server]
    body = said_.get("body") or {"error": {key: said_[key] for key in ("message", "type", "code")}}
    url = "https://openrouter.ai/api/v1" if server == "openrouter" else "http://127.0.0.1:11434/v1"
    told = explain(answered(said_["status"], body), service=service(server, url))
    assert type(told) is errors.ContextTooLong
    cure, _, second = (told.hint or "").rpartition("; or ")
    assert second == "start a new conversation; what was learned is kept"
    assert (cure == "") == (server == "openrouter"), "a larger window, where there can be one, comes first"


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "The input length exceeds the context length"),
        (
            400,
            "the prompt is longer than the context length currently available to the model",
        ),
        (400, "the request exceeds the available context size. try increasing the context size"),
        (500, "Context size has been exceeded."),
        (400, "Trying to keep the first 111490 tokens when context the overflows."),
        (400, "You passed 9000 input tokens … the model's context length is only 8192 tokens"),
        (400, "The decoder prompt (length 9) is longer than the maximum model length of 8"),
        (400, "prompt is too long: 215000 tokens > 200000 maximum"),
        (502, '{"error":{"message":"This model\'s maximum context length is 8192 tokens."}}'),
    ],
)
def test_a_conversation_that_is_too_long_is_seen_in_other_words(status: int, text: str) -> None:
    told = explain(answered(status, {"error": {"message": text}}), service=service("unknown"))
    assert type(told) is errors.ContextTooLong


def test_an_answer_that_might_be_too_long_is_no_long_conversation() -> None:
    text = "'max_tokens' or 'max_completion_tokens' is too large: 8000. The maximum context length is 4096"
    assert type(explain(openais(400, None, text), service=OPENAI)) is errors.ModelError


@pytest.mark.parametrize("server", wordings.TOOLS_REFUSED)
def test_a_model_without_tools_is_seen_in_each_servers_words(server: wordings.Server) -> None:
    said_ = wordings.TOOLS_REFUSED[server]
    body = said_.get("body") or {"error": {key: said_.get(key) for key in ("message", "type", "code")}}
    told = explain(answered(said_["status"], body), service=service(server))
    assert type(told) is errors.ToolsIgnored
    assert "can't call tools" in str(told)
    switch = {"vllm": "--enable-auto-tool-choice --tool-call-parser", "llamacpp": "--jinja"}.get(server)
    assert (switch or "choose a model that") in (told.hint or "")


@pytest.mark.parametrize(
    ("server", "status", "text", "cure"),
    [
        ("ollama", 404, 'model "m" not found, try pulling it first', "ollama pull m"),
        ("lmstudio", 404, "No models loaded. Please load a model in the developer page", "lms load m"),
        ("openrouter", 400, "m is not a valid model ID", "memdir models"),
        ("openrouter", 404, "No endpoints found for m.", "memdir models"),
        ("vllm", 404, "The model `m` does not exist.", "memdir models"),
    ],
)
def test_an_unknown_model_is_told_with_a_cure(server: Server, status: int, text: str, cure: str) -> None:
    told = explain(answered(status, {"error": {"message": text}}), service=service(server))
    assert type(told) is errors.NoSuchModel
    assert "the server at http://127.0.0.1:11434 has no model m" in str(told)
    assert cure in (told.hint or "")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>404</html>",
        "404 page not found",
        {"detail": "Not Found"},
        {"error": {"message": "File Not Found"}},
    ],
)
def test_a_wrong_address_is_told_as_one(body: object) -> None:
    told = explain(answered(404, body), service=service("unknown"))
    assert "there is no API of this kind at http://127.0.0.1:11434/v1" in str(told)
    assert "/v1" in (told.hint or "")


def test_a_password_in_an_address_is_not_told() -> None:
    told = explain(answered(404, ""), service=service("unknown", "http://me:secret@127.0.0.1:9/x"))
    assert "secret" not in f"{told} {told.hint}"
    away = explain(
        openai.APIConnectionError(request=REQUEST), service=service("unknown", "http://me:secret@h/v1")
    )
    assert "secret" not in f"{away} {away.hint}"


CURE = "put one there"


@pytest.mark.parametrize(
    ("given", "sentence", "cure"),
    [
        (
            {"key_from": "OPENROUTER_API_KEY", "key_cure": CURE},
            "was refused (401)",
            "check OPENROUTER_API_KEY: is it",
        ),
        (
            {"key_from": "the system keyring", "key_cure": CURE},
            "was refused (401)",
            "the key in the system keyring",
        ),
        ({"key_from": "the system keyring", "key_cure": CURE}, "was refused (401)", f"model? Or {CURE}"),
        (
            {},
            "was refused (401)",
            "store the key of that server: `keyring set memdir models.example.org:8443`",
        ),
        ({"has_key": False, "key_cure": CURE}, "wants a key, and none is stored for it", CURE),
        (
            {"has_key": False},
            "the server at https://models.example.org:8443 wants a key",
            "keyring set memdir",
        ),
    ],
)
def test_a_key_that_is_refused_is_told_with_where_it_was_found(
    given: dict[str, Any], sentence: str, cure: str
) -> None:
    told = explain(
        openais(401), service=replace(service("unknown", "https://models.example.org:8443/v1"), **given)
    )
    assert type(told) is errors.KeyRefused
    assert sentence in str(told)
    assert cure in (told.hint or "")


def test_a_router_that_wants_to_be_paid_says_so_and_how_long_to_wait_for_it() -> None:
    poor = answered(402, wordings.QUOTA["openrouter"]["body"])
    told = explain(poor, service=service("openrouter"))
    assert type(told) is errors.KeyRefused
    assert "more credits" in str(told)
    limited = answered(429, {"error": {"message": "slow down", "code": 429}}, **{"retry-after": "20"})
    assert "wait 20 seconds" in (explain(limited, service=service("openrouter")).hint or "")


@pytest.mark.parametrize(
    ("header", "value", "words"),
    [
        ("retry-after", "300", "it asks to wait 5 minutes"),
        ("retry-after", "in 5 minutes", "it asks to wait 5 minutes"),
        ("retry-after-ms", "7000", "it asks to wait 7 seconds"),
        ("retry-after", "7200", "it asks to wait 2 hours"),
        ("retry-after", "0.001", "wait a minute, then try again"),
        ("retry-after", "soon", "wait a minute, then try again"),
        ("retry-after", "inf", "hours"),
    ],
)
def test_how_long_to_wait_is_told_in_plain_words(header: str, value: str, words: str) -> None:
    if value == "in 5 minutes":
        value = email.utils.formatdate(time.time() + 300, usegmt=True)
    told = explain(answered(429, {"error": {"message": "slow down"}}, **{header: value}), service=OPENAI)
    assert words in (told.hint or "")


def test_a_model_that_is_loading_is_told_as_that() -> None:
    loading = answered(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    told = explain(loading, service=service("llamacpp"))
    assert type(told) is errors.ModelOverloaded
    assert "still loading" in str(told)


@pytest.mark.parametrize(
    "text", ["Jinja Exception: Unexpected message role.", "image input is not supported - hint: mmproj"]
)
def test_trouble_that_lasts_is_no_overload(text: str) -> None:
    told = explain(answered(500, {"error": {"code": 500, "message": text}}), service=service("llamacpp"))
    assert type(told) is errors.ModelError


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (InStream({"code": "context_length_exceeded", "message": "m"}), errors.ContextTooLong),
        (InStream({"code": "rate_limit_exceeded", "message": "m"}), errors.ModelOverloaded),
        (InStream({"code": "server_error", "message": "Provider disconnected"}), errors.ModelOverloaded),
        (InStream({"code": 400, "message": "bad", "type": "invalid_request_error"}), errors.ModelError),
        (InStream({"code": "invalid_prompt", "message": "bad"}), errors.ModelError),
        (InStream("Context size has been exceeded."), errors.ContextTooLong),
        (InStream("something broke"), errors.ModelOverloaded),
        (
            openai.APIError("m", REQUEST, body={"message": "m", "type": "server_error"}),
            errors.ModelOverloaded,
        ),
        (openai.APIError("m", REQUEST, body={"code": 429, "message": "m"}), errors.ModelOverloaded),
    ],
)
def test_an_error_inside_a_stream_is_told_like_one_before_it(
    error: Exception, expected: type[Exception]
) -> None:
    assert type(explain(error, service=OPENAI)) is expected


@pytest.mark.parametrize(
    "error",
    [
        openai.APIConnectionError(request=REQUEST),
        httpx2.ReadError("m"),
        httpx2.RemoteProtocolError("m"),
        httpx2.ReadTimeout("m"),
        httpx2.ConnectError("m"),
        httpx2.InvalidURL("m"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_connection_that_fails_is_unreachable(error: Exception) -> None:
    assert isinstance(explain(error, service=OPENAI), errors.ModelUnreachable)


@pytest.mark.parametrize(
    ("server", "cure"),
    [
        ("ollama", "ollama serve"),
        ("lmstudio", "lms server start"),
        ("llamacpp", "9931"),
        ("unknown", "start the"),
    ],
)
def test_a_server_on_this_machine_that_is_away_is_to_be_started(server: Server, cure: str) -> None:
    told = explain(lost(httpx2.ConnectError("m"), because=ConnectionRefusedError()), service=service(server))
    assert str(told) == "nothing listens at http://127.0.0.1:11434"
    assert cure in (told.hint or "")


def lost(*chain: BaseException, because: BaseException | None = None) -> openai.APIConnectionError:
    """The SDK's error for a connection, with what led to it; the last one is hidden, as the HTTP client
    hides it."""
    error = openai.APIConnectionError(request=REQUEST)
    last: BaseException = error
    for cause in chain:
        last.__cause__ = last = cause
    last.__context__ = because
    return error


@pytest.mark.parametrize(
    ("error", "url", "sentence"),
    [
        (lost(httpx2.ReadError("m")), "http://127.0.0.1:11434/v1", "the answer of ollama:m broke off"),
        (lost(httpx2.RemoteProtocolError("m")), "https://h.example/v1", "the answer of ollama:m broke off"),
        (httpx2.ReadError("m"), "https://h.example/v1", "the answer of ollama:m broke off"),
        (
            lost(httpx2.ConnectError("m"), because=ConnectionRefusedError()),
            "https://h.example/v1",
            "no connection to ollama:m at https://h.example",
        ),
        (lost(httpx2.ConnectError("certificate")), "https://127.0.0.1:9/v1", "no connection to ollama:m at"),
        (
            lost(
                httpx2.ConnectError("m"),
                because=ExceptionGroup("m", [OSError("v6"), ConnectionRefusedError()]),
            ),
            "http://127.0.0.1:11434/v1",
            "nothing listens at http://127.0.0.1:11434",
        ),
    ],
)
def test_what_became_of_a_connection_is_told_apart(error: Exception, url: str, sentence: str) -> None:
    told = explain(error, service=service("ollama", url))
    assert type(told) is errors.ModelUnreachable
    assert str(told).startswith(sentence)
    assert told.hint


def test_a_connection_to_openai_itself_may_have_been_moved() -> None:
    told = explain(lost(httpx2.ConnectError("m")), service=OPENAI)
    assert str(told) == "no connection to openai:m"
    assert "OPENAI_BASE_URL" in (told.hint or "")


@pytest.mark.parametrize(
    ("model", "models", "cure"),
    [
        (
            "qwen3",
            ("gemma3:4b", "qwen3:8b"),
            "did you mean `ollama:qwen3:8b`? Or fetch it: `ollama pull qwen3`",
        ),
        ("qwen3:4b", ("qwen3:8b",), "did you mean `ollama:qwen3:8b`?"),
        ("qwem3:8b", ("gemma3:4b", "qwen3:8b"), "did you mean `ollama:qwen3:8b`?"),
        ("qwen3", ("gemma3:4b",), "fetch it: `ollama pull qwen3`"),
        ("qwen3", (), "fetch it: `ollama pull qwen3`"),
    ],
)
def test_a_wrong_name_that_is_near_a_right_one_is_told_with_that(
    model: str, models: tuple[str, ...], cure: str
) -> None:
    there = replace(service("ollama"), model=model, name=f"ollama:{model}")
    assert there.name_cure(models).startswith(cure)


@pytest.mark.parametrize(
    ("model", "models", "found"),
    [
        ("qwen3-8b", ("a", "qwen/qwen3-8b"), "qwen/qwen3-8b"),
        ("claude-sonet-5", ("claude-opus-5-5", "claude-sonnet-5"), "claude-sonnet-5"),
        ("m", ("m", "mm"), None),
        ("nobody-1", ("qwen3.5:9b", "gpt-6.2-sol"), None),
    ],
)
def test_which_name_was_meant(model: str, models: tuple[str, ...], found: str | None) -> None:
    assert near(model, models) == found


ECHOES = [
    "[{'type': 'string_type', 'loc': ('body', 'messages'), 'msg': 'no', 'input': 'Anna moved to Lisbon'}]",
    "[{'loc': ('body',), 'msg': 'no', 'input': {'a': [\"it's }\", 'Anna moved to Lisbon']}}, {'loc': 'b'}]",
    "[{'msg': 'no', 'input': {'a': 'Anna moved to Lisbon",
    '{"detail": [{"msg": "no", "input": {"a": "the maximum context length: Anna moved to Lisbon"}}]} no',
    "no [type=string_type, input_value='the maximum context length Anna moved to Lisbon', input_type=str]",
    "no [type=string_type, input_value={'a': 'Anna moved to Lisbon",
]


@pytest.mark.parametrize("words", ECHOES)
@pytest.mark.parametrize("key", ["message", "detail", "error"])
def test_what_was_sent_is_neither_told_nor_searched_for_words(words: str, key: str) -> None:
    error = answered(400, {key: words})
    told = explain(error, service=OPENAI)
    assert type(told) is errors.ModelError
    assert "Anna" not in f"{told} {told.hint} {said(error)}"
    assert "no" in said(error).text


def test_faults_in_a_message_are_read_without_what_was_sent() -> None:
    fault = {"loc": ["body", "store"], "msg": "Extra inputs are not permitted", "input": "Anna moved"}
    assert said(answered(422, {"message": {"detail": [fault]}})).text.startswith("body.store: Extra inputs")


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError("x"), AttributeError("x"), TypeError("x"), RecursionError("x")]
)
def test_what_is_no_answer_is_a_bad_reply(error: Exception) -> None:
    assert type(explain(error, service=OPENAI)) is errors.BadReply


# ── what is said ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "text", "code"),
    [
        ({"error": {"message": "m", "code": 400}}, "m", "400"),
        ({"error": "m"}, "m", ""),
        ({"message": "m", "object": "error", "code": 400}, "m", "400"),
        ({"error": '{"error":{"code":400,"message":"m"}}'}, "m", "400"),
        (
            {"error": {"message": "upstream", "metadata": {"raw": '{"error":{"message":"m"}}'}}},
            "upstream: m",
            "",
        ),
        ({"detail": [{"loc": ["body", "n"], "msg": "m", "input": "what was sent"}]}, "body.n: m", ""),
        ({"detail": "m"}, "m", ""),
        ("<html>", "<html>", ""),
        ([1], "", ""),
        (None, "", ""),
    ],
)
def test_an_error_is_read_whatever_it_is_wrapped_in(body: Any, text: str, code: str) -> None:
    heard = said(answered(400, body) if body is not None else None)
    assert (heard.text, heard.code) == (text, code)


def test_a_reason_is_told_in_one_short_line_without_what_was_sent() -> None:
    told = str(explain(openais(400, None, "bad\nthing " * 100), service=OPENAI))
    assert "\n" not in told
    assert len(told) < 300
    repeated = {"detail": [{"loc": ["body"], "msg": "no", "input": "what was sent"}]}
    assert "what was sent" not in str(explain(answered(422, repeated), service=OPENAI))
