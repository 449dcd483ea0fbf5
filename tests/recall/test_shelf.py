"""Memories kept read between turns: the same answers, without reading again (recall/shelf.py)."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest

from memdir.memory.scan import Header, scan
from memdir.recall.candidates import load
from memdir.recall.local import judge
from memdir.recall.select import select
from memdir.recall.shelf import Shelf

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for file, text in {
        "lag.md": "The replica lags behind by seconds.",
        "canary.md": "The canary takes ten percent of the traffic.",
        "old/freeze.md": "No deploys in the freeze of December.",
    }.items():
        put(tmp_path, file, text)
    return tmp_path


def put(directory: Path, file: str, text: str, *, days_ago: int = 3) -> None:
    path = directory / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"---\nname: {path.stem}\ntype: project\n---\n{text}\n", encoding="utf-8")
    at = (NOW - timedelta(days=days_ago)).timestamp()
    os.utime(path, (at, at))


def headers(directory: Path) -> list[Header]:
    return scan(directory, limit=None)


def test_a_shelf_gives_what_the_disk_has_however_often_and_whatever_changed(directory: Path) -> None:
    shelf = Shelf(directory)

    def same() -> bool:
        found = headers(directory)
        memories, corpus = shelf.read(found, now=NOW)
        fresh = load(directory, found, now=NOW)
        query = "how far does the replica lag behind the canary in december?"
        return memories == fresh and judge(query, memories, corpus=corpus) == judge(query, fresh)

    assert same()
    assert same()
    put(directory, "lag.md", "The replica is gone, and so is December.", days_ago=2)
    assert same()
    put(directory, "new.md", "A canary is a bird.")
    assert same()
    (directory / "canary.md").unlink()
    assert same()
    assert shelf.read([], now=NOW)[0] == []


def test_a_file_that_did_not_change_is_not_read_again(directory: Path) -> None:
    shelf = Shelf(directory)
    shelf.warm(now=NOW)
    found = headers(directory)
    for header in found:
        (directory / header.path).unlink()
    memories, _ = shelf.read(found, now=NOW + timedelta(days=4))
    assert {memory.file for memory in memories} == {"lag.md", "canary.md", "old/freeze.md"}
    assert {memory.age for memory in memories} == {7}


def test_what_can_not_be_read_is_left_out_and_tried_again_M2(directory: Path) -> None:
    shelf, found = Shelf(directory), headers(directory)
    lag = directory / "lag.md"
    lag.rename(directory / "aside")
    assert {memory.file for memory in shelf.read(found, now=NOW)[0]} == {"canary.md", "old/freeze.md"}
    (directory / "aside").rename(lag)
    assert len(shelf.read(found, now=NOW)[0]) == 3


def test_threads_can_share_a_shelf(directory: Path) -> None:
    shelf, found = Shelf(directory), headers(directory)
    sizes: list[int] = []
    threads = [Thread(target=lambda: sizes.append(len(shelf.read(found, now=NOW)[0]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert sizes == [3] * 8


@pytest.mark.anyio
async def test_a_selection_on_a_shelf_is_the_same_as_without_R9(directory: Path) -> None:
    shelf = Shelf(directory)
    for query in ("how far does the replica lag behind?", "what is for lunch?"):
        with_shelf = await select(directory, query, shelf=shelf, now=NOW)
        assert with_shelf == await select(directory, query, now=NOW)
