"""Nearness in meaning: what is embedded, once, of which memories, and what of that counts
(recall/meaning.py, recall/shelf.py)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from memdir.agent.events import Event, Events
from memdir.errors import ModelError, ModelUnreachable
from memdir.model.embedding.embedder import Embedder
from memdir.model.messages import Request, Text
from memdir.recall.meaning import BATCH, PASSAGE, PASSAGES, Meaning, passages
from memdir.recall.select import select
from memdir.recall.shelf import Shelf
from memdir.testing import ScriptedModel, WordEmbedder, say
from tests.recall.memories import NOW, put

pytestmark = pytest.mark.anyio

GHP = "ghp_" + "a1B2" * 9
"""Looks like a key of a service, and is none."""


def on(directory: Path, embedder: Embedder, *, cache: Path | None = None) -> tuple[Shelf, Meaning]:
    shelf = Shelf.of(directory, cache=cache, embedder=embedder)
    assert shelf.meaning is not None
    return shelf, shelf.meaning


async def near(meaning: Meaning, query: str) -> list[str]:
    """The files that have vectors, nearest first."""
    found = await meaning.nearness(query)
    return sorted(found, key=lambda file: -found[file])


# -- what is embedded ----------------------------------------------------------------------------------------


async def test_the_nearest_in_meaning_need_share_no_word_M6(tmp_path: Path) -> None:
    put(tmp_path, "lag.md", "The replica is behind.")
    put(tmp_path, "lunch.md", "Lunch is at noon.")
    shelf, meaning = on(tmp_path, WordEmbedder(alike=[("replica", "копия"), ("behind", "отстаёт")]))
    await shelf.take_in()
    found = await meaning.nearness("копия отстаёт")
    assert found["lag.md"] > 0.3 > found["lunch.md"]


async def test_a_memory_is_embedded_with_what_it_is_called_and_what_it_says_M6(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    put(tmp_path, "lag.md", "4 seconds.", name="Replica lag", description="how far it is behind")
    put(tmp_path, "bare.md", "No header.", name="bare", description="a label is no sentence", days_ago=1)
    await on(tmp_path, embedder)[0].take_in()
    assert embedder.texts == [
        "Replica lag\nhow far it is behind\n4 seconds.",
        "a label is no sentence\nNo header.",
    ]


async def test_a_memory_is_embedded_once_M6(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    put(tmp_path, "lag.md", "The replica is behind.")
    shelf, _ = on(tmp_path, embedder)
    for _ in range(3):
        await shelf.take_in()
    assert len(embedder.texts) == 1


async def test_vectors_are_kept_with_the_index_M6(tmp_path: Path) -> None:
    put(tmp_path / "memory", "lag.md", "The replica is behind.")
    first, second = WordEmbedder(), WordEmbedder()
    await on(tmp_path / "memory", first, cache=tmp_path / "cache")[0].take_in()
    shelf, meaning = on(tmp_path / "memory", second, cache=tmp_path / "cache")
    await shelf.take_in()
    assert (len(first.texts), second.texts) == (1, [])
    assert await near(meaning, "the replica") == ["lag.md"]


async def test_a_memory_that_changed_is_embedded_again_and_the_others_are_not_M6(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    put(tmp_path, "lag.md", "The replica is behind.")
    put(tmp_path, "lunch.md", "Lunch is at noon.")
    shelf, meaning = on(tmp_path, embedder)
    await shelf.take_in()
    assert (await near(meaning, "octopus"))[0] == "lag.md"
    embedder.texts.clear()
    put(tmp_path, "lunch.md", "The octopus eats at noon.")
    await shelf.take_in()
    assert embedder.texts == ["lunch\nThe octopus eats at noon."]
    assert (await near(meaning, "octopus"))[0] == "lunch.md"


async def test_vectors_belong_to_what_is_said_not_to_where_it_stands_M6(tmp_path: Path) -> None:
    """A renamed file, and a copy, need no vector of their own."""
    embedder = WordEmbedder()
    put(tmp_path, "lag.md", "The replica is behind.", name="Replica lag")
    shelf, meaning = on(tmp_path, embedder)
    await shelf.take_in()
    (tmp_path / "copy.md").write_bytes((tmp_path / "lag.md").read_bytes())
    (tmp_path / "lag.md").rename(tmp_path / "moved.md")
    await shelf.take_in()
    assert len(embedder.texts) == 1
    assert sorted(await near(meaning, "the replica")) == ["copy.md", "moved.md"]


async def test_what_is_gone_is_near_to_nothing_M6(tmp_path: Path) -> None:
    put(tmp_path, "lag.md", "The replica is behind.")
    put(tmp_path, "lunch.md", "Lunch is at noon.")
    shelf, meaning = on(tmp_path, WordEmbedder())
    await shelf.take_in()
    assert len(await near(meaning, "the replica")) == 2
    (tmp_path / "lag.md").unlink()
    await shelf.take_in()
    assert await near(meaning, "the replica") == ["lunch.md"]


async def test_another_embedder_makes_vectors_of_its_own_M6(tmp_path: Path) -> None:
    put(tmp_path / "memory", "lag.md", "The replica is behind.")
    taken: list[int] = []
    for name, numbers in (("one", 64), ("other", 32), ("one", 64)):
        embedder = WordEmbedder(name=name, numbers=numbers)
        shelf, meaning = on(tmp_path / "memory", embedder, cache=tmp_path / "cache")
        await shelf.take_in()
        taken.append(len(embedder.texts))
        assert await near(meaning, "the replica") == ["lag.md"]
    assert taken == [1, 1, 0]


async def test_no_more_are_taken_in_than_allowed_the_newest_first_M6(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    for at in range(5):
        put(tmp_path, f"m{at}.md", f"Number {at}.", days_ago=at)
    shelf, meaning = on(tmp_path, embedder)
    await shelf.take_in(at_most=2)
    assert embedder.texts == ["m0\nNumber 0.", "m1\nNumber 1."]
    assert await meaning.take_in(at_most=2) == 2
    assert await meaning.take_in() == 1
    assert await meaning.take_in() == 0


async def test_many_memories_are_taken_in_by_and_by_M6(tmp_path: Path) -> None:
    sizes: list[int] = []

    class Counting(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[bytes]:
            sizes.append(len(texts))
            return await super().embed(texts)

    for at in range(2 * BATCH + 3):
        put(tmp_path, f"m{at}.md", f"Number {at}.")
    await on(tmp_path, Counting())[0].take_in()
    assert sizes == [BATCH, BATCH, 3]


async def test_each_passage_of_a_memory_counts_and_the_nearest_says_how_near_M6(tmp_path: Path) -> None:
    filler = "\n".join(f"Nothing of note in line {at}, and nothing else." for at in range(60))
    put(tmp_path, "long.md", f"{filler}\n" + "The octopus squeaks.\n" * 25)
    put(tmp_path, "short.md", "The octopus sleeps.", days_ago=1)
    shelf, meaning = on(tmp_path, WordEmbedder(numbers=512))
    await shelf.take_in()
    assert await near(meaning, "the octopus squeaks") == ["long.md", "short.md"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a line",
        "a\n\n  b\n",
        "x" * 10_000,
        "字" * 3_000,
        "line\n" * 5_000,
        "a" * PASSAGE + " " * 700 + "b",
    ],
    ids=["nothing", "a line", "lines", "one run", "chinese", "many lines", "a gap"],
)
def test_passages_are_bounded_and_none_is_empty_M6(text: str) -> None:
    found = passages(text)
    assert len(found) <= PASSAGES
    assert all(0 < len(one) <= PASSAGE and one == one.strip() for one in found)
    assert bool(found) == bool(text.strip())
    seen, all_of_it = ("".join("".join(part).split()) for part in (found, text))
    assert all_of_it.startswith(seen)


async def test_what_can_not_be_read_or_says_nothing_costs_the_others_nothing_M2(tmp_path: Path) -> None:
    put(tmp_path, "lag.md", "The replica is behind.", days_ago=3)
    for at in range(BATCH + 2):
        (tmp_path / f"blank{at}.md").write_text(" " * (at + 1), encoding="utf-8")
    gone = [put(tmp_path, f"gone{at}.md", f"Number {at}.") for at in range(BATCH + 2)]
    shelf, meaning = on(tmp_path, WordEmbedder())
    shelf.index.refresh()
    for file in gone:
        (tmp_path / file).unlink()
    await meaning.take_in()
    assert "lag.md" in await near(meaning, "the replica")


# -- what must not leave this process ------------------------------------------------------------------------


async def test_what_holds_a_secret_is_for_nobody_outside_this_process_E10(tmp_path: Path) -> None:
    put(tmp_path, "key.md", f"The key is {GHP}.")
    put(tmp_path, "lag.md", "The replica is behind.", days_ago=1)
    outside, inside = WordEmbedder(is_local=False), WordEmbedder()
    shelf, _ = on(tmp_path, outside)
    await shelf.take_in()
    assert outside.texts == ["lag\nThe replica is behind."]
    await on(tmp_path, inside)[0].take_in()
    assert any(GHP in text for text in inside.texts)


async def test_a_prompt_with_a_secret_is_for_nobody_outside_this_process_E10(tmp_path: Path) -> None:
    put(tmp_path, "lag.md", "The replica is behind.")
    outside = WordEmbedder(is_local=False)
    shelf, meaning = on(tmp_path, outside)
    await shelf.take_in()
    outside.texts.clear()
    assert await meaning.nearness(f"is {GHP} the key of the replica?") == {}
    assert outside.texts == []
    assert await meaning.nearness("the replica") != {}
    assert outside.texts == ["the replica"]


async def test_any_number_of_secrets_is_passed_over_M6_E10(tmp_path: Path) -> None:
    put(tmp_path, "lag.md", "The replica is behind.", days_ago=9)
    for at in range(BATCH + 5):
        put(tmp_path, f"key{at}.md", f"The key is {GHP}.", name="the same", days_ago=1)
        put(tmp_path, f"other{at}.md", f"Key {at} is {GHP}.")
    outside = WordEmbedder(is_local=False)
    await on(tmp_path, outside)[0].take_in()
    assert outside.texts == ["lag\nThe replica is behind."]


async def test_a_secret_that_was_taken_out_lets_the_memory_be_embedded_E10(tmp_path: Path) -> None:
    put(tmp_path, "key.md", f"The key is {GHP}.")
    outside = WordEmbedder(is_local=False)
    shelf, _ = on(tmp_path, outside)
    await shelf.take_in()
    put(tmp_path, "key.md", "The key is with Anna.")
    await shelf.take_in()
    assert outside.texts == ["key\nThe key is with Anna."]


# -- when it goes wrong --------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["words", "a model"])
async def test_where_the_embedder_fails_words_do_alone_and_one_event_says_so_M6_R5(
    tmp_path: Path, by: str
) -> None:
    put(tmp_path, "lag.md", "The replica lags behind.")
    embedder = WordEmbedder()
    shelf, _ = on(tmp_path, embedder)
    await shelf.take_in()
    embedder.failure = ModelUnreachable("nobody is there")
    seen: list[Event] = []
    model = ScriptedModel([say('{"selected_memories": ["lag.md"]}')]) if by == "a model" else None
    query = "how far does the replica lag?"
    selection = await select(shelf, query, model=model, now=NOW, events=Events(seen.append))
    assert (selection.files, selection.how) == (("lag.md",), "model" if model else "local")
    assert selection.error is None
    assert [(one.name, one.fields["where"], one.fields["error"]) for one in seen] == [
        ("failed", "recall.embedder", "ModelUnreachable")
    ]


async def test_an_embedder_that_hangs_is_not_waited_for_longer_than_said_R1(tmp_path: Path) -> None:
    class Hanging(WordEmbedder):
        hangs = False

        async def embed(self, texts: Sequence[str]) -> list[bytes]:
            if self.hangs:
                await anyio.sleep_forever()
            return await super().embed(texts)

    put(tmp_path, "lag.md", "The replica lags behind.")
    embedder = Hanging()
    shelf, _ = on(tmp_path, embedder)
    await shelf.take_in()
    embedder.hangs = True
    seen: list[Event] = []
    with anyio.fail_after(5):
        selection = await select(
            shelf, "how far does the replica lag?", meaning_within=0.01, now=NOW, events=Events(seen.append)
        )
    assert selection.files == ("lag.md",)
    assert [(one.name, one.fields["where"]) for one in seen] == [("failed", "recall.embedder")]


async def test_a_failure_while_taking_in_leaves_what_was_done_and_the_rest_for_later_M6(
    tmp_path: Path,
) -> None:
    class Once(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[bytes]:
            made = await super().embed(texts)
            self.failure = ModelUnreachable("nobody is there")
            return made

    for at in range(BATCH + 1):
        put(tmp_path, f"m{at}.md", f"Number {at}.")
    embedder = Once()
    shelf, meaning = on(tmp_path, embedder)
    with pytest.raises(ModelError):
        await shelf.take_in()
    assert len(shelf.index.vectors(embedder.name)) == BATCH
    embedder.failure = None
    assert await meaning.take_in() == 1


@pytest.mark.parametrize("odd", [b"", b"\0" * 12, b"\0" * 7])
async def test_a_vector_of_another_size_has_no_part_in_it_M6(tmp_path: Path, odd: bytes) -> None:
    put(tmp_path, "lag.md", "The replica is behind.")
    put(tmp_path, "odd.md", "The replica is odd.")
    embedder = WordEmbedder()
    shelf, meaning = on(tmp_path, embedder)
    shelf.index.refresh()
    digests = dict(shelf.index.without_vector(embedder.name, 9))
    shelf.index.keep_vectors(embedder.name, {digests["odd.md"]: odd})
    await meaning.take_in()
    assert await near(meaning, "the replica") == ["lag.md"]


async def test_an_embedder_whose_vectors_change_their_size_breaks_nothing_M6(tmp_path: Path) -> None:
    """Another model behind the same name: its vectors can't be compared with those that were kept."""
    put(tmp_path, "lag.md", "The replica lags behind.")
    embedder = WordEmbedder(numbers=64)
    shelf, meaning = on(tmp_path, embedder)
    await shelf.take_in()
    assert await near(meaning, "the replica") == ["lag.md"]
    embedder.numbers = 48
    assert await near(meaning, "the replica") == []
    selection = await select(shelf, "how far does the replica lag?", now=NOW)
    assert (selection.files, selection.error) == (("lag.md",), None)


async def test_an_embedder_elsewhere_needs_no_library_of_the_extra_M6(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "lag.md", "The replica is behind.\n" * 30 + "And so on.\n" * 90)
    put(tmp_path, "lunch.md", "Lunch is at noon.")
    shelf, meaning = on(tmp_path, WordEmbedder(is_local=False))
    await shelf.take_in()
    with_it = await meaning.nearness("is the replica behind?")
    monkeypatch.setitem(sys.modules, "numpy", None)
    without = await meaning.nearness("is the replica behind?")
    assert without == pytest.approx(with_it, abs=1e-6)
    assert without["lag.md"] > without["lunch.md"]


async def test_with_nothing_to_compare_nothing_is_near_M6(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    shelf, meaning = on(tmp_path, embedder)
    await shelf.take_in()
    assert await meaning.nearness("the replica") == {}
    assert await meaning.nearness("  ") == {}


# -- what comes of it ----------------------------------------------------------------------------------------


async def test_what_is_near_is_offered_to_a_model_beyond_200_files_M6(tmp_path: Path) -> None:
    put(tmp_path, "lag.md", "The replica is behind.", days_ago=400)
    for at in range(220):
        put(tmp_path, f"m{at}.md", f"Number {at}.", days_ago=at)
    offered: list[str] = []

    def look(request: Request) -> Text:
        offered.append(request.messages[0].text)
        return say('{"selected_memories": ["lag.md"]}')

    alike = [("replica", "копия"), ("behind", "отстаёт")]
    for embedder, expected in ((None, ()), (WordEmbedder(alike=alike, numbers=512), ("lag.md",))):
        shelf = Shelf.of(tmp_path, embedder=embedder)
        await shelf.take_in()
        selection = await select(shelf, "почему копия отстаёт?", model=ScriptedModel([look]), now=NOW)
        assert selection.files == expected
    assert ["] lag.md (" in text for text in offered] == [False, True]
