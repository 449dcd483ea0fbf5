"""Choosing by words for those who have a directory and a prompt, and no session (recall/public.py)."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from subprocess import run

import pytest

from memdir.recall import select_local
from tests.recall.memories import NOW, put

QUERY = "why does the flux valve stick in frost?"
VALVE = "The flux valve sticks in frost."


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where memdir keeps what is its own."""
    monkeypatch.setenv("MEMDIR_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def memory(tmp_path: Path, state: Path) -> Path:
    """A memory directory in which one of some bears on the prompt."""
    folder = tmp_path / "memory"
    put(folder, "notes/valve.md", VALVE, days_ago=3)
    put(folder, "lunch.md", "Lunch is at noon.")
    put(folder, "lag.md", "The replica is behind.")
    return folder


def tree(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """All that is below a folder, with its times."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            path.read_bytes() if path.is_file() else None,
        )
        for path in [folder, *folder.rglob("*")]
    }


# -- what it gives -------------------------------------------------------------------------------------------


def test_paths_are_relative_to_the_directory_R9(memory: Path) -> None:
    assert select_local(memory, QUERY, now=NOW) == ["notes/valve.md"]
    assert select_local(str(memory), QUERY, now=NOW) == ["notes/valve.md"]
    assert select_local(f"{memory}/", QUERY, now=NOW) == ["notes/valve.md"]


def test_a_relative_directory_and_a_link_to_one_will_do_R9(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (memory.parent / "link").symlink_to(memory)
    monkeypatch.chdir(memory.parent)
    assert select_local("memory", QUERY, now=NOW) == ["notes/valve.md"]
    assert select_local("link", QUERY, now=NOW) == ["notes/valve.md"]


@pytest.mark.parametrize("query", ["thanks!", "what is a monad?", "", " \n", "。。。", "\x00", "🙂"])
def test_a_prompt_that_nothing_bears_on_gets_nothing_R9(memory: Path, query: str) -> None:
    assert select_local(memory, query, now=NOW) == []


def test_files_are_chosen_by_their_bodies_not_only_by_their_headers_R9(memory: Path) -> None:
    (memory / "broken.md").write_text(f"{VALVE} No header.", encoding="utf-8")
    assert set(select_local(memory, QUERY, now=NOW)) == {"broken.md", "notes/valve.md"}


@pytest.mark.parametrize(("limit", "given"), [(5, 5), (2, 2), (1, 1), (0, 0), (50, 8)])
def test_at_most_so_many_are_given_as_are_asked_for_R9(
    tmp_path: Path, state: Path, limit: int, given: int
) -> None:
    folder = tmp_path / "memory"
    for at in range(8):
        put(folder, f"v{at}.md", VALVE, name="Flux valve")
    for at in range(20):
        put(folder, f"other{at}.md", f"Number {at}.")
    found = select_local(folder, QUERY, limit=limit, now=NOW)
    assert len(found) == given
    assert all(file.startswith("v") for file in found)


def test_without_a_limit_it_is_five_R5(tmp_path: Path, state: Path) -> None:
    for at in range(8):
        put(tmp_path / "memory", f"v{at}.md", VALVE, name="Flux valve")
    assert len(select_local(tmp_path / "memory", QUERY, now=NOW)) == 5


def test_of_two_that_bear_on_it_alike_the_younger_one_comes_first_R9(tmp_path: Path, state: Path) -> None:
    put(tmp_path / "memory", "a.md", VALVE, name="Flux valve", days_ago=40)
    put(tmp_path / "memory", "b.md", VALVE, name="Flux valve", days_ago=4)
    assert select_local(tmp_path / "memory", QUERY, now=NOW) == ["b.md", "a.md"]


def test_how_to_use_a_tool_in_use_is_left_out_and_its_warnings_are_not_R5(
    tmp_path: Path, state: Path
) -> None:
    folder = tmp_path / "memory"
    put(folder, "usage.md", "zedctl drain NODE", name="zedctl", description="the everyday commands of zedctl")
    put(folder, "trap.md", "drain kills jobs", name="zedctl drain", description="careful with zedctl drain")
    put(folder, "lunch.md", "Lunch is at noon.")
    query = "drain a node with zedctl"
    assert set(select_local(folder, query, now=NOW)) == {"usage.md", "trap.md"}
    assert select_local(folder, query, recent_tools=("Bash", "zedctl"), now=NOW) == ["trap.md"]


# -- what it looks at ----------------------------------------------------------------------------------------


def test_the_index_of_the_directory_is_no_memory_M1(memory: Path) -> None:
    for file in ("MEMORY.md", "notes/MEMORY.md", "logs/2026/11/valve.md", "team/valve.md", ".x/valve.md"):
        path = memory / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(VALVE, encoding="utf-8")
    (memory / "valve.txt").write_text(VALVE, encoding="utf-8")
    assert select_local(memory, QUERY, now=NOW) == ["notes/valve.md"]


def test_nothing_that_lies_outside_is_read_M1(memory: Path) -> None:
    outside = memory.parent / "outside.md"
    outside.write_text(VALVE, encoding="utf-8")
    (memory / "link.md").symlink_to(outside)
    (memory / "linked").symlink_to(memory.parent)
    os.mkfifo(memory / "valve.md")
    assert select_local(memory, QUERY, now=NOW) == ["notes/valve.md"]


def test_a_missing_or_empty_directory_and_one_that_is_none_give_nothing(tmp_path: Path, state: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text(VALVE, encoding="utf-8")
    for name in ("empty", "none", "file", "file/below"):
        assert select_local(tmp_path / name, QUERY, now=NOW) == []


def test_memories_of_one_project_stay_out_of_another_R3(tmp_path: Path, state: Path) -> None:
    """As in https://github.com/openai/codex/issues/23658."""
    for project in ("one", "two"):
        put(tmp_path / project, f"{project}.md", VALVE)
    assert select_local(tmp_path / "one", QUERY, now=NOW) == ["one.md"]
    assert select_local(tmp_path / "two", QUERY, now=NOW) == ["two.md"]


def test_a_prompt_to_an_agent_looks_at_that_agents_directory_alone_R3(tmp_path: Path, state: Path) -> None:
    put(tmp_path / "memory", "reviewer/style.md", VALVE)
    assert select_local(tmp_path / "memory", QUERY, mention_agent="reviewer", now=NOW) == []
    own = tmp_path / "memory" / "reviewer"
    assert select_local(own, QUERY, mention_agent="reviewer", now=NOW) == ["style.md"]
    assert select_local(own, QUERY, mention_agent="writer", now=NOW) == []


def test_an_edit_made_a_moment_ago_is_in_the_answer_M6(memory: Path) -> None:
    assert select_local(memory, QUERY, now=NOW) == ["notes/valve.md"]
    (memory / "lunch.md").write_text(VALVE, encoding="utf-8")
    (memory / "notes" / "valve.md").unlink()
    assert select_local(memory, QUERY, now=datetime.now(UTC)) == ["lunch.md"]


# -- what it keeps, and where --------------------------------------------------------------------------------


def test_its_index_is_kept_in_memdirs_own_cache_and_nowhere_else_M6(memory: Path, state: Path) -> None:
    before = tree(memory)
    select_local(memory, QUERY, now=NOW)
    assert tree(memory) == before
    (kept,) = (state / "cache").rglob("*.sqlite")
    assert kept.stat().st_mode & 0o077 == 0


def test_two_names_of_a_directory_share_an_index_M6(memory: Path, state: Path) -> None:
    (memory.parent / "link").symlink_to(memory)
    select_local(memory, QUERY, now=NOW)
    select_local(memory.parent / "link", QUERY, now=NOW)
    assert len([*(state / "cache").iterdir()]) == 1


def test_without_memdir_home_the_cache_is_in_the_home_directory_M6(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMDIR_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    assert select_local(memory, QUERY, now=NOW) == ["notes/valve.md"]
    assert [*(tmp_path / "home" / ".memdir" / "cache").rglob("*.sqlite")]


@pytest.mark.parametrize(
    "home", ["/etc", "/", "relative/home", "~nobody-here/x", "/dev/null", "a\tb", "$HOME"]
)
def test_without_a_safe_place_for_a_cache_it_answers_all_the_same_M6(
    memory: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.chdir(memory.parent)
    monkeypatch.setenv("MEMDIR_HOME", home)
    assert select_local(memory, QUERY, now=NOW) == ["notes/valve.md"]
    assert not [*memory.parent.rglob("*.sqlite")]


def test_where_no_cache_can_be_made_it_answers_all_the_same_M6(memory: Path, state: Path) -> None:
    state.mkdir()
    (state / "cache").write_text("a file is in the way", encoding="utf-8")
    assert select_local(memory, QUERY, now=NOW) == ["notes/valve.md"]


def test_a_directory_that_may_only_be_read_is_enough_M6(memory: Path) -> None:
    folders = [memory, memory / "notes"]
    before = tree(memory)
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert select_local(memory, QUERY, now=NOW) == ["notes/valve.md"]
        assert select_local(memory, QUERY, now=NOW) == ["notes/valve.md"]
        assert tree(memory) == before
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_it_loads_no_model_and_no_event_loop_M6(memory: Path) -> None:
    """It is for hooks, which run at every prompt."""
    select_local(memory, QUERY, now=NOW)  # the index is there
    script = (
        "import sys; from datetime import datetime, UTC; from memdir.recall import select_local;"
        f"print(select_local({str(memory)!r}, {QUERY!r}, now=datetime.now(UTC)));"
        "heavy = {'anyio', 'click', 'httpx', 'numpy', 'anthropic', 'openai', 'yaml'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines() == ["['notes/valve.md']", "[]"]
