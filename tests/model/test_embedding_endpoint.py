"""Embedders over OpenAI's SDK, against a real server: what is sent, how it is read, what goes wrong (M6)."""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import pytest

from memdir import errors
from memdir.model import bounds
from memdir.model.embedding import choose, endpoint
from memdir.model.embedding.embedder import Embedder
from memdir.model.embedding.endpoint import LONGEST, SHORTEST, EndpointEmbedder, read
from memdir.model.messages import Usage
from memdir.model.openai.said import InStream
from tests.model.test_streaming import answering, nobody
from tests.wire.answers import Refused, key_refused, overloaded, quota, rate_limited, refused
from tests.wire.embeddings import NUMBERS, vector
from tests.wire.server import Seen, WireServer
from tests.wire.transport import Answered, Asked

pytestmark = pytest.mark.anyio

NAME = "wire:bge-m3"
GHP = "ghp_" + "a1B2" * 9


@pytest.fixture(autouse=True)
def _no_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer(models=["bge-m3", "text-embedding-3-small"]) as running:
        yield running


def at(url: str, **given: Any) -> EndpointEmbedder:
    how = {
        "base_url": url,
        "key": lambda: "gateway-plum-seven",
        "called": NAME,
        "max_retries": 2,
        "pause": 0.001,
    }
    return EndpointEmbedder(**{"model": "bge-m3", **how, **given})


@pytest.fixture
async def embedder(server: WireServer) -> AsyncIterator[EndpointEmbedder]:
    made = at(server.v1)
    with anyio.fail_after(30):
        yield made
    await made.aclose()


async def failure(asked: Embedder, *texts: str) -> errors.ModelError:
    """What an embedder says instead of vectors."""
    with pytest.raises(errors.ModelError) as raised:
        await asked.embed(texts or ("a",))
    await asked.aclose()
    return raised.value


def numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def sent(server: WireServer) -> list[Any]:
    return [seen.body["input"] for seen in server.looked if seen.path.endswith("/embeddings")]


# ── vectors ────────────────────────────────────────────────────────────────────────────────────────────


async def test_each_text_has_its_vector_in_order_M6(server: WireServer, embedder: Embedder) -> None:
    texts = [f"memory number {number}" for number in range(70)]
    vectors = await embedder.embed(texts)
    for text, made in zip(texts, vectors, strict=True):
        assert numbers(made) == pytest.approx(vector(text), abs=1e-6)
    assert list(map(len, sent(server))) == [32, 32, 6]
    assert server.looked[0].body.keys() == {"model", "input", "encoding_format"}
    assert await embedder.embed([]) == []


async def test_vectors_of_any_length_come_out_with_length_1_M6(
    server: WireServer, embedder: Embedder
) -> None:
    server.embeddings.length = 17.5
    (made,) = await embedder.embed(["a b"])
    assert numbers(made) == pytest.approx(vector("a b"), abs=1e-6)


async def test_what_it_took_is_told_or_estimated_M6(server: WireServer) -> None:
    told: list[Usage] = []
    embedder = at(server.v1, on_usage=told.append)
    await embedder.embed(["one two three four"] * 33)
    server.embeddings.metered = False
    await embedder.embed(["one two three four"])
    await embedder.aclose()
    assert [(usage.output, usage.cache_read) for usage in told] == [(0, 0)] * 3
    assert told[0].input == 32 * told[1].input > 0
    assert told[2] == told[1]


async def test_a_text_that_is_odd_is_sent_as_what_a_service_takes_M6(
    server: WireServer, embedder: Embedder
) -> None:
    await embedder.embed(["", " \n", "\ud800 half", "x" * 9000])
    assert sent(server) == [["-", "-", "? half", "x" * LONGEST]]


async def test_no_text_with_a_secret_is_sent_E10(server: WireServer, embedder: Embedder) -> None:
    for text in (f"the token is {GHP}", "x " * LONGEST + GHP):  # behind the cut as well
        error = await failure(embedder, "deploy on Fridays", text)
        assert "looks like a secret" in str(error)
        assert GHP not in f"{error}{error.hint}"
    assert server.looked == []


# ── where, and with whose key ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", ["", "/embeddings", "/chat/completions"])
async def test_an_address_gets_no_key_and_no_names_of_the_environment_A3(
    server: WireServer, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "plum-tree-7")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "x-more: plum-tree-7")
    made = choose.embedder(f"{server.v1}{path}:bge-m3")
    assert made is not None
    assert len(await made.embed(["a"])) == 1
    await made.aclose()
    (seen,) = server.looked
    assert "plum-tree-7" not in str(seen.headers)
    assert seen.headers["authorization"] == "Bearer no-key"


async def test_openais_key_goes_where_the_environment_says_openai_is_A3(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "plum-tree-7")
    monkeypatch.setenv("OPENAI_BASE_URL", server.v1)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    told: list[Usage] = []
    made = choose.embedder("openai:text-embedding-3-small", on_usage=told.append)
    assert made is not None
    await made.embed(["a"])
    await made.aclose()
    (seen,) = server.looked
    assert (seen.headers["authorization"], seen.headers["openai-organization"]) == (
        "Bearer plum-tree-7",
        "org-of-mine",
    )
    assert len(told) == 1


async def test_ollama_is_asked_where_it_is_A3(server: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    made = choose.embedder("ollama:bge-m3")
    assert made is not None
    await made.embed(["a"])
    await made.aclose()
    assert [seen.path for seen in server.looked] == ["/v1/embeddings"]


async def test_without_a_key_the_cure_is_told_and_nobody_asked_A3() -> None:
    made = choose.embedder("openai:text-embedding-3-small", environment={})
    assert made is not None
    error = await failure(made)
    assert isinstance(error, errors.KeyMissing)
    assert "OPENAI_API_KEY" in str(error.hint)


async def test_a_test_reaches_no_service_that_is_elsewhere() -> None:
    error = await failure(at("https://embeddings.example.org/v1"))
    assert "this is a test" in str(error)


async def test_without_the_sdk_the_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    error = await failure(at("http://127.0.0.1:9/v1"))
    assert isinstance(error, errors.LibraryMissing)
    assert "openai>=" in str(error.hint)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_told_and_never_followed_A3(server: WireServer, status: int) -> None:
    def moved(asked: Asked) -> Answered:
        there = server.url.replace("127.0.0.1", "localhost")
        return Answered(status=status, headers={"location": f"{there}{asked.path}"}, body={})

    with answering(moved) as url:
        error = await failure(at(url + "/v1"))
    assert str(error) == f"{NAME} answers that it is elsewhere: localhost"
    assert server.looked == []


# ── what goes wrong ────────────────────────────────────────────────────────────────────────────────────


async def test_a_busy_service_is_asked_again_A3(server: WireServer, embedder: Embedder) -> None:
    server.embeddings.add(overloaded(), rate_limited())
    assert len(await embedder.embed(["a"])) == 1
    assert [seen.status for seen in server.looked] == [503, 429, 200]


async def test_a_connection_that_breaks_is_tried_again_A3() -> None:
    asked: list[Asked] = []

    def breaks_once(one: Asked) -> Answered:
        asked.append(one)
        row = {"index": 0, "embedding": [1.0, 0.0]}
        return Answered(body={"data": [row]}, is_cut=len(asked) == 1)

    with answering(breaks_once) as url:
        made = at(url + "/v1")
        assert [numbers(one) for one in await made.embed(["a"])] == [(1, 0)]
        await made.aclose()
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("fault", "kind", "sentence", "asked"),
    [
        (overloaded(), errors.ModelOverloaded, "overloaded", 3),
        (overloaded(pause="600"), errors.ModelOverloaded, "overloaded", 1),
        (key_refused(), errors.KeyRefused, "was refused (401)", 1),
        (key_refused(403), errors.KeyRefused, "(403)", 1),
        (quota(), errors.KeyRefused, "can't pay", 1),
        (refused(400, {"error": "this model makes no vectors"}), errors.ModelError, "makes no vectors", 1),
        (refused(200, {"error": {"message": "boom", "code": 500}}), errors.ModelOverloaded, "trouble", 3),
        (refused(404, {"detail": "Not Found"}), errors.NoSuchModel, "no API of this kind", 1),
    ],
)
async def test_what_a_service_refuses_is_told_in_a_sentence_A3(
    server: WireServer, fault: Refused, kind: type[errors.ModelError], sentence: str, asked: int
) -> None:
    server.embeddings.add(*[fault] * 3)
    error = await failure(at(server.v1))
    assert type(error) is kind
    assert sentence in str(error)
    assert "gateway-plum-seven" not in f"{error}{error.hint}"
    assert len(sent(server)) == asked


@pytest.mark.parametrize(
    ("model", "hint"), [("bge-m4", "did you mean `bge-m3`?"), ("else", "the name in `recall.embedder`")]
)
async def test_an_unknown_model_is_told_with_what_was_meant_A3(
    server: WireServer, model: str, hint: str
) -> None:
    error = await failure(at(server.v1, model=model))
    assert isinstance(error, errors.NoSuchModel)
    assert model in str(error)
    assert hint in str(error.hint)


async def test_nobody_there_is_told_at_once_A3() -> None:
    with nobody() as url:
        error = await failure(at(url + "/v1", max_retries=9, pause=60))
    assert isinstance(error, errors.ModelUnreachable)
    assert "nothing listens" in str(error)


async def test_a_service_that_does_not_come_to_an_answer_is_given_up_A3(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm = at(server.v1)
    await warm.embed(["the SDK is loaded"])
    await warm.aclose()
    monkeypatch.setattr(endpoint, "SECONDS", 0.5)
    go_on = threading.Event()

    def slowly(seen: Seen) -> dict[str, Any]:
        go_on.wait(20)
        return {}

    server.route("/v1/embeddings", slowly)
    try:
        error = await failure(at(server.v1))
    finally:
        go_on.set()
    assert isinstance(error, errors.ModelUnreachable)
    assert "did not answer in time" in str(error)


async def test_an_answer_without_end_is_given_up_A3(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "LONGEST_LINE", 5_000)
    error = await failure(at(server.v1), *["a"] * 20)
    assert isinstance(error, errors.BadReply)
    assert "has no end" in str(error)


# ── texts that are too long ────────────────────────────────────────────────────────────────────────────

LLAMACPP = {
    "error": {
        "code": 500,
        "message": "input (900 tokens) is too large to process. increase the physical batch size",
        "type": "server_error",
    }
}


async def test_what_is_too_long_is_cut_until_it_fits_and_then_known_M6(
    server: WireServer, embedder: Embedder
) -> None:
    server.embeddings.longest = 150
    long = "deploy " * 400
    assert len(await embedder.embed([long, "short"])) == 2
    assert len(await embedder.embed([long])) == 1
    lengths = [len(given[0]) for given in sent(server)]
    assert lengths == [LONGEST, LONGEST // 2, LONGEST // 4, LONGEST // 4]


@pytest.mark.parametrize(
    "fault",
    [
        refused(500, LLAMACPP),
        refused(
            413, {"error": "Input validation error: `inputs` must have less than 512 tokens. Given: 900"}
        ),
    ],
)
async def test_too_long_is_heard_in_the_words_of_other_servers_M6(
    server: WireServer, embedder: Embedder, fault: Refused
) -> None:
    server.embeddings.add(fault)
    await embedder.embed(["deploy " * 400])
    assert [len(given[0]) for given in sent(server)] == [LONGEST, LONGEST // 2]


async def test_what_no_cut_makes_fit_is_told_M6(server: WireServer) -> None:
    server.embeddings.longest = 1
    error = await failure(at(server.v1), "deploy " * 400)
    assert isinstance(error, errors.ContextTooLong)
    assert str(error) == f"a text is too long for {NAME}"
    assert len(sent(server)[-1][0]) == SHORTEST


# ── answers that are none ──────────────────────────────────────────────────────────────────────────────

GOOD = [{"index": 0, "embedding": [3.0, 4.0]}, {"index": 1, "embedding": [0, -2]}]
PACKED = {"index": 0, "embedding": "AABAQAAAgEA="}  # 3 and 4


@pytest.mark.parametrize(
    "rows",
    [
        GOOD,
        GOOD[::-1],
        [{"embedding": one["embedding"]} for one in GOOD],
        [PACKED, GOOD[1]],
    ],
)
def test_an_answer_is_read_in_whatever_order_and_encoding_it_comes_M6(rows: list[Any]) -> None:
    vectors, usage = read(json.dumps({"data": rows}).encode(), ["four", "more"])
    assert [numbers(one) for one in vectors] == [pytest.approx((0.6, 0.8)), (0, -1)]
    assert usage == Usage(input=2)


@pytest.mark.parametrize(
    "told",
    [
        {},
        [],
        {"data": []},
        {"data": GOOD[:1]},
        {"data": [*GOOD, GOOD[0]]},
        {"data": [GOOD[0], GOOD[0]]},
        {"data": [{"index": 0}, GOOD[1]]},
        {"data": ["a", "b"]},
        {"data": [{"index": "0", "embedding": [1]}, GOOD[1]]},
        {"data": [{"index": 0, "embedding": []}, GOOD[1]]},
        {"data": [{"index": 0, "embedding": [0, 0]}, GOOD[1]]},
        {"data": [{"index": 0, "embedding": ["a"]}, GOOD[1]]},
        {"data": [{"index": 0, "embedding": [1] * 20_000}, GOOD[1]]},
        {"data": [{"index": 0, "embedding": [1, float("nan")]}, GOOD[1]]},
        {"data": [{"index": 0, "embedding": [1, 10**400]}, GOOD[1]]},
        {"data": [{"index": 0, "embedding": "no base64"}, GOOD[1]]},
        {"data": [{"index": 0, "embedding": "AAAA"}, GOOD[1]]},
        {"data": [{"index": 0, "embedding": {"0": 1}}, GOOD[1]]},
        {"data": [{"index": 0, "embedding": [1, 2, 3]}, GOOD[1]]},
        {"data": [GOOD[0], {"index": 1, "embedding": [1]}]},
    ],
)
async def test_what_is_no_answer_is_told_and_not_asked_again_M6(server: WireServer, told: Any) -> None:
    server.route("/v1/embeddings", told)
    error = await failure(at(server.v1), "a", "b")
    assert isinstance(error, errors.BadReply)
    assert str(error) == f"what came back for {NAME} is no answer of this API"
    assert len(server.looked) == 1


def test_an_error_under_a_good_status_is_one() -> None:
    with pytest.raises(InStream):
        read(b'{"error": {"message": "no"}}', ["a"])


# ── lifetime ───────────────────────────────────────────────────────────────────────────────────────────


async def test_a_closed_embedder_opens_again_when_asked(server: WireServer, embedder: Embedder) -> None:
    for _ in range(2):
        assert len((await embedder.embed(["a"]))[0]) == 4 * NUMBERS
        await embedder.aclose()
    await embedder.aclose()
