"""Who may say what makes vectors of memories, and how much age and use count (M6, S1, S2, S5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.floor.test_settings import Desk

SERVICE = "openai:text-embedding-3-small"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_without_a_word_it_is_what_is_installed_S5(desk: Desk) -> None:
    recall = desk.load().settings.recall
    assert (recall.embedder, recall.recency_weight, recall.use_weight) == ("auto", 0.2, 0.05)


@pytest.mark.parametrize("source", ["local", "project"])
@pytest.mark.parametrize("name", ["none", "auto", "local"])
def test_a_project_may_choose_what_stays_in_the_process_S2(desk: Desk, source: str, name: str) -> None:
    desk.put(source, {"recall": {"embedder": name}})
    got = desk.load()
    assert (got.settings.recall.embedder, got.warnings) == (name, ())


@pytest.mark.parametrize("source", ["local", "project"])
@pytest.mark.parametrize("name", [SERVICE, "ollama:x", "http://127.0.0.1:8000/v1:x", "LOCAL", 7])
def test_a_project_may_not_choose_who_gets_the_memories_S2(desk: Desk, source: str, name: object) -> None:
    desk.put(source, {"recall": {"embedder": name}})
    desk.put("user", {"recall": {"embedder": "none"}})
    got = desk.load()
    assert got.settings.recall.embedder == "none"
    (told,) = got.warnings
    assert "recall.embedder: a project may not choose a model that your memories go to" in told


@pytest.mark.parametrize("source", ["managed", "user"])
def test_who_is_trusted_may_choose_any_S2(desk: Desk, source: str) -> None:
    path = desk.put(source, {"recall": {"embedder": SERVICE}})
    got = desk.load()
    assert (got.settings.recall.embedder, got.warnings) == (SERVICE, ())
    assert got.said_at["recall.embedder"] == f"{path}: recall.embedder"


def test_the_environment_may_choose_any_and_an_empty_word_is_none_S1(desk: Desk) -> None:
    desk.put("user", {"recall": {"embedder": SERVICE}})
    assert desk.load(MEMDIR_RECALL_EMBEDDER="none").settings.recall.embedder == "none"
    assert desk.load(MEMDIR_RECALL_EMBEDDER=" ").settings.recall.embedder == SERVICE


@pytest.mark.parametrize(
    ("key", "value", "holds"),
    [
        ("recencyWeight", 0, True),
        ("recencyWeight", 1, True),
        ("recencyWeight", 1.01, False),
        ("recencyWeight", -0.1, False),
        ("useWeight", 0, True),
        ("useWeight", 0.2, True),
        ("useWeight", 0.21, False),
        ("useWeight", "much", False),
    ],
)
def test_a_weight_is_within_its_bounds_or_passed_over_S1(
    desk: Desk, key: str, value: Any, holds: bool
) -> None:
    desk.put("user", {"recall": {key: value}})
    got = desk.load()
    recall = got.settings.recall
    found = recall.recency_weight if key == "recencyWeight" else recall.use_weight
    assert (found == value) is holds
    assert ("must be a number, at least 0" in "".join(got.warnings)) is not holds


def test_a_weight_is_an_environment_variable_S5(desk: Desk) -> None:
    recall = desk.load(MEMDIR_RECALL_RECENCY_WEIGHT="0.5", MEMDIR_RECALL_USE_WEIGHT="0").settings.recall
    assert (recall.recency_weight, recall.use_weight) == (0.5, 0)
