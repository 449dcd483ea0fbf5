"""What speaks against a memory, whoever chose it (recall/objections.py)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memdir.memory.index import Known
from memdir.recall.objections import programs, successor, tool_in_use
from tests.recall.memories import index_of, put

# -- tools in use --------------------------------------------------------------------------------------------


def test_the_agents_own_tools_say_nothing_about_the_work_R5() -> None:
    assert programs(["Bash", "Read", "zedctl", "KCat"]) == {"zedctl", "kcat"}


@pytest.mark.parametrize(
    ("name", "description", "type_", "expected"),
    [
        ("zedctl cheat sheet", "Everyday commands of zedctl", "reference", "zedctl"),
        ("How to use zedctl", None, "project", "zedctl"),
        ("zedctl 用法", "常用命令", "reference", "zedctl"),
        ("zedctl commands", "careful: drain kills jobs", "reference", None),
        ("zedctl drain", "a known problem with its options", "reference", None),
        ("zedctl 的坑", "命令 drain 不等待", "reference", None),
        ("zedctl usage", "the person wants --json always", "feedback", None),
        ("The zedctl team", "who to ask", "project", None),
        ("kcat commands", "Everyday commands of kcat", "reference", None),
    ],
)
def test_what_only_tells_how_to_call_a_tool_in_use_is_objected_to_R5(
    tmp_path: Path, name: str, description: str | None, type_: str, expected: str | None
) -> None:
    """Its warnings are wanted more than ever while it is being used, and so is what the person said of it."""
    put(tmp_path, "note.md", name=name, description=description, type=type_, body="`zedctl drain NODE`")
    (memory,) = index_of(tmp_path).files(["note.md"])
    assert tool_in_use(memory, {"zedctl"}) == expected
    assert tool_in_use(memory, set()) is None


def test_a_manual_whose_text_alone_names_the_tool_is_one_of_it_too_R5(tmp_path: Path) -> None:
    put(tmp_path, "note.md", name="Cheat sheet", description="Everyday commands", body="`zedctl drain`")
    (memory,) = index_of(tmp_path).files(["note.md"])
    assert tool_in_use(memory, {"zedctl"}) is None
    assert tool_in_use(memory, {"zedctl"}, {"zedctl", "node"}) == "zedctl"


# -- what is past --------------------------------------------------------------------------------------------


def known(directory: Path) -> dict[str, Known]:
    index = index_of(directory)
    return {one.file: one for one in index.newest(index.size)}


def heir_of(file: str, directory: Path, among: Sequence[str] | None = None) -> str | None:
    memories = known(directory)
    others = [memories[name] for name in (memories if among is None else among)]
    heir = successor(memories[file], others)
    return heir.file if heir is not None else None


def test_the_memory_that_it_names_takes_its_place_R5(tmp_path: Path) -> None:
    put(tmp_path, "old.md", name="Deploy by hand", body="Superseded by tower.md.")
    put(tmp_path, "tower.md", name="The tower", body="It goes out from there.")
    put(tmp_path, "hand.md", name="Deploy by hand on staging", body="Still so.")
    assert heir_of("old.md", tmp_path) == "tower.md"
    assert heir_of("old.md", tmp_path, among=["old.md", "hand.md"]) == "hand.md"


@pytest.mark.parametrize("named", ["tower.md", "ops/tower.md", "./tower.md", "../ops/tower.md"])
def test_it_may_name_it_as_seen_from_the_directory_or_from_where_it_lies_R5(
    tmp_path: Path, named: str
) -> None:
    put(tmp_path, "ops/old.md", name="By hand", body=f"No longer used, see [this]({named}).")
    put(tmp_path, "ops/tower.md", name="Something else")
    assert heir_of("ops/old.md", tmp_path) == "ops/tower.md"


def test_else_the_one_with_the_most_similar_title_takes_it_if_it_is_similar_enough_R5(tmp_path: Path) -> None:
    put(tmp_path, "old.md", name="Deploying with the tower script", body="Out of use since May.")
    put(tmp_path, "pages.md", name="Deploying the pages", description="of the handbook, by hand")
    put(tmp_path, "new.md", name="Deploying with the tower", description="the script is gone")
    put(tmp_path, "lunch.md", name="Lunch", description="at noon")
    assert heir_of("old.md", tmp_path) == "new.md"
    assert heir_of("old.md", tmp_path, among=["lunch.md"]) is None
    assert heir_of("old.md", tmp_path, among=[]) is None


def test_what_is_past_takes_no_place_and_what_holds_gives_none_away_R5(tmp_path: Path) -> None:
    put(tmp_path, "first.md", name="Deploy by hand", body="Superseded by second.md.")
    put(tmp_path, "second.md", name="Deploy by hand again", body="Deprecated, see third.md.")
    put(tmp_path, "third.md", name="Deploy by hand at last", body="So it is done.")
    assert heir_of("first.md", tmp_path) == "third.md"
    assert heir_of("first.md", tmp_path, among=["first.md", "second.md"]) is None
    assert heir_of("third.md", tmp_path) is None


@pytest.mark.parametrize(
    "body", ["已废弃，见 new.md。", "本文作废，以 new.md 为准", "廃止。new.md を見ること。"]
)
def test_it_says_so_in_any_of_three_languages_R5(tmp_path: Path, body: str) -> None:
    put(tmp_path, "old.md", name="发布流程", body=body)
    put(tmp_path, "new.md", name="Tower")
    assert heir_of("old.md", tmp_path) == "new.md"
