"""A directory kept ready between turns: the same answers as one that is opened anew (recall/shelf.py)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from threading import Thread

import anyio
import pytest

from memdir.recall.aftermath import Outcome
from memdir.recall.local import judge
from memdir.recall.select import Selection, select
from memdir.recall.shelf import Shelf
from memdir.recall.verdict import Verdict
from memdir.testing import WordEmbedder
from tests.recall.memories import NOW, put

QUERIES = ("how far does the replica lag behind the canary in december?", "what is for lunch?", "")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    put(folder, "lag.md", "The replica lags behind by seconds.", days_ago=3)
    put(folder, "canary.md", "The canary takes ten percent of the traffic.", days_ago=3)
    put(folder, "old/freeze.md", "No deploys in the freeze of December.", days_ago=3)
    return folder


def rows(verdicts: Sequence[Verdict]) -> list[tuple[object, ...]]:
    return [(one.file, one.score, one.chosen, one.why, dict(one.words)) for one in verdicts]


def answers(shelf: Shelf) -> list[object]:
    shelf.index.refresh()
    return [shelf.index.moments(), *(rows(judge(query, shelf.index, now=NOW)) for query in QUERIES)]


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "in a file"])
def test_a_shelf_answers_as_one_that_is_opened_anew_whatever_changed_M6(
    directory: Path, tmp_path: Path, kept: bool
) -> None:
    shelf = Shelf.of(directory, cache=tmp_path / "cache" if kept else None)

    def same() -> bool:
        return answers(shelf) == answers(Shelf.of(directory)) == answers(shelf)

    assert same()
    put(directory, "lag.md", "The replica is gone, and so is December.", days_ago=2)
    assert same()
    put(directory, "new.md", "A canary is a bird.")
    assert same()
    (directory / "canary.md").unlink()
    assert same()
    (directory / "old" / "freeze.md").rename(directory / "freeze.md")
    assert same()
    for path in directory.glob("*.md"):
        path.unlink()
    assert same()
    assert shelf.index.size == 0


def test_what_can_not_be_read_is_left_out_and_tried_again_M2(directory: Path) -> None:
    shelf = Shelf.of(directory)
    lag = directory / "lag.md"
    lag.rename(directory / "aside")
    answers(shelf)
    assert {file for file, _ in shelf.index.moments()} == {"canary.md", "old/freeze.md"}
    (directory / "aside").rename(lag)
    answers(shelf)
    assert shelf.index.size == 3


def test_threads_can_share_a_shelf_M6(directory: Path) -> None:
    shelf = Shelf.of(directory)
    found: list[object] = []
    threads = [Thread(target=lambda: found.append(answers(shelf))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert found == [answers(Shelf.of(directory))] * 8


def test_making_a_shelf_reads_and_makes_nothing_M6(tmp_path: Path) -> None:
    Shelf.of(
        tmp_path / "none",
        cache=tmp_path / "cache",
        usage=tmp_path / "usage.sqlite",
        embedder=WordEmbedder(),
        use_weight=0.2,
    )
    assert [*tmp_path.iterdir()] == []


@pytest.mark.anyio
@pytest.mark.parametrize("query", QUERIES)
async def test_a_selection_on_a_shelf_is_the_same_as_without_R9(directory: Path, query: str) -> None:
    def seen(selection: Selection) -> tuple[object, ...]:
        return selection.files, rows(selection.verdicts), selection.how, selection.error

    shelf = Shelf.of(directory)
    await shelf.take_in()
    kept = [seen(await select(shelf, query, now=NOW)) for _ in range(2)]
    assert kept == [seen(await select(Shelf.of(directory), query, now=NOW))] * 2


@pytest.mark.anyio
async def test_conversations_share_a_shelf_and_what_they_saw_stays_their_own_R4(directory: Path) -> None:
    shelf = Shelf.of(directory)
    chosen: dict[str, tuple[str, ...]] = {}

    async def ask(who: str, *known: str) -> None:
        query = "how far does the replica lag behind?"
        chosen[who] = (await select(shelf, query, known=known, now=NOW)).files

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "one", "lag.md")
        tasks.start_soon(ask, "other")
    assert chosen == {"one": (), "other": ("lag.md",)}


# -- what past use says --------------------------------------------------------------------------------------


def used(directory: Path, usage: Path, *, weight: float) -> Shelf:
    """A shelf on whose record `lag.md` was of use in five sessions, and `canary.md` in none of them."""
    shelf = Shelf.of(directory, usage=usage, use_weight=weight)
    assert shelf.usage is not None
    for at in range(5):
        session, turn, files = f"s{at}", f"t{at}", ("lag.md", "canary.md")
        shelf.usage.surfaced(files, session=session, turn_id=turn, kind="question", at=NOW, how="model")
        shelf.usage.became(session, turn, {"lag.md": Outcome(cited=True)})
    return shelf


def test_past_use_speaks_for_a_memory_by_at_most_its_weight_R10(directory: Path, tmp_path: Path) -> None:
    use = used(directory, tmp_path / "usage.sqlite", weight=0.2).use(NOW)
    assert 0 < use["lag.md"] <= 0.2
    assert -0.2 <= use.get("canary.md", 0.0) < use["lag.md"]


def test_past_use_counts_less_by_and_by_R10(directory: Path, tmp_path: Path) -> None:
    shelf = used(directory, tmp_path / "usage.sqlite", weight=0.2)
    assert shelf.use(NOW + timedelta(days=900))["lag.md"] < shelf.use(NOW)["lag.md"]


def test_without_weight_or_record_past_use_says_nothing_R10(directory: Path, tmp_path: Path) -> None:
    assert used(directory, tmp_path / "usage.sqlite", weight=0.0).use(NOW) == {}
    assert Shelf.of(directory, use_weight=0.2).use(NOW) == {}
