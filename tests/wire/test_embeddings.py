"""What the wire server answers to a request for vectors, and what it turns away as the real service does."""

from __future__ import annotations

import base64
import json
import math
import struct
from typing import Any

import pytest

from tests.wire.answers import overloaded
from tests.wire.asking import Json, send
from tests.wire.rules import embeddings as rules
from tests.wire.server import WireServer


def embed(server: WireServer, given: Any, *, key: str = "k", **more: Any) -> tuple[int, Json]:
    status, data = send(server, "/v1/embeddings", {"model": "m", "input": given, **more}, key=key)
    return status, json.loads(data)


def body(given: Any, **more: Any) -> Json:
    return {"model": "m", "input": given, **more}


def product(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("wrong", "sent"),
    [
        ("input' is invalid", body("")),
        ("input' is invalid", body([])),
        ("input' is invalid", body(None)),
        ("input' is invalid", body({"text": "x"})),
        ("an entry cannot be empty", body(["a", ""])),
        ("an entry cannot be empty", body([[1], []])),
        ("expected strings, tokens", body(["a", 1])),
        ("expected strings, tokens", body(["a", ["b"]])),
        ("expected strings, tokens", body([True])),
        ("more than 2048", body(["a"] * 2049)),
        ("missing required parameter: 'input'", {"model": "m"}),
        ("model parameter", {"input": "a"}),
        ("argument supplied: stream", body("a", stream=True)),
        ("argument supplied: texts", body("a", texts=["a"])),
        ("encoding_format", body("a", encoding_format="int8")),
        ("dimensions", body("a", dimensions=0)),
        ("dimensions", body("a", dimensions="8")),
        ("user", body("a", user=7)),
    ],
)
def test_what_the_service_refuses_is_refused(wrong: str, sent: Json) -> None:
    assert wrong in (rules.objection(sent) or "nothing wrong")


@pytest.mark.parametrize("given", ["a", ["a"] * 2048, [1, 2], [[1], [2, 3]]])
def test_what_the_service_takes_is_taken(given: Any) -> None:
    assert rules.objection(body(given, encoding_format="base64", dimensions=8, user="u")) is None


def test_each_input_has_a_vector_in_its_order_and_the_usage_is_told() -> None:
    with WireServer() as server:
        status, answer = embed(server, ["one two", "three"])
        assert (status, answer["object"], answer["model"]) == (200, "list", "m")
        assert [(row["object"], row["index"]) for row in answer["data"]] == [
            ("embedding", 0),
            ("embedding", 1),
        ]
        assert [math.hypot(*row["embedding"]) for row in answer["data"]] == pytest.approx([1, 1])
        assert answer["usage"]["prompt_tokens"] == answer["usage"]["total_tokens"] > 1
        assert embed(server, "three")[1]["data"][0]["embedding"] == answer["data"][1]["embedding"]
        assert [seen.path for seen in server.looked] == ["/v1/embeddings"] * 2
        assert server.seen == []


def test_both_encodings_hold_the_same_numbers() -> None:
    with WireServer() as server:
        plain = embed(server, "a b c", dimensions=8)[1]["data"][0]["embedding"]
        packed = embed(server, "a b c", dimensions=8, encoding_format="base64")[1]["data"][0]["embedding"]
    assert list(struct.unpack("<8f", base64.b64decode(packed))) == pytest.approx(plain, rel=1e-6)


def test_texts_that_share_words_are_alike() -> None:
    with WireServer() as server:
        rows = embed(server, ["deploy on friday", "friday deploy", "bananas"])[1]["data"]
    first, second, third = (row["embedding"] for row in rows)
    assert product(first, second) > 0.5 > product(first, third)


def test_what_is_too_long_is_refused_by_the_text_and_by_the_request() -> None:
    with WireServer() as server:
        status, answer = embed(server, "word " * 9000)
        assert (status, "maximum context length is 8192" in answer["error"]["message"]) == (400, True)
        status, answer = embed(server, ["word " * 6000] * 50)
        assert (status, answer["error"]["type"]) == (400, "max_tokens_per_request")


def test_keys_models_and_faults_are_as_elsewhere() -> None:
    with WireServer(models=["m"]) as server:
        assert embed(server, "a", key="")[0] == 401
        assert embed(server, "a", model="other")[0] == 404
        server.embeddings.add(overloaded())
        assert [embed(server, "a")[0] for _ in range(2)] == [503, 200]
        assert send(server, "/v1/embeddings")[0] == 404  # a GET
