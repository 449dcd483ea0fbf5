"""Several indexes of a directory on one file: what one has taken in, no other undoes (memory/index/, M6)."""

from __future__ import annotations

import itertools
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memdir.memory.index import Index, Term, index
from memdir.memory.index.database import Database
from tests.cases import REPO
from tests.stress import edits

NAMES = ("a.md", "b.md", "c.md", "d.md")

Make = Callable[..., Index]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text("canary")
    return folder


@pytest.fixture
def make(memory: Path, tmp_path: Path) -> Iterator[Make]:
    made: list[Index] = []

    def make(clock: Callable[[], int] = time.time_ns) -> Index:
        made.append(Index(str(memory), cache=str(tmp_path / "cache"), clock=clock))
        return made[-1]

    yield make
    for one in made:
        one.close()


def found(one: Index, word: str) -> list[str]:
    return sorted(hit.file for hit in one.rank([Term(word)]))


def while_reading(at: int, happens: Callable[[], object]) -> Callable[[], int]:
    """A clock; an index asks for the time before each file it reads: before the `at`-th, this happens."""
    asked = itertools.count(1)

    def clock() -> int:
        if next(asked) == at:
            happens()
        return time.time_ns()

    return clock


@pytest.mark.parametrize("at", range(1, 5))
def test_who_read_an_older_state_does_not_write_it_over_a_newer_one_M6(
    make: Make, memory: Path, at: int
) -> None:
    one = make()

    def overtake() -> None:
        for name in NAMES:
            (memory / name).write_text("gantry")
        one.refresh()

    slow = make(while_reading(at, overtake))
    slow.refresh()
    assert found(one, "gantry") == found(slow, "gantry") == list(NAMES)
    assert found(one, "canary") == found(slow, "canary") == []


def test_who_saw_a_file_gone_does_not_forget_it_when_it_is_back_M6(make: Make, memory: Path) -> None:
    one = make()
    one.refresh()
    (memory / "a.md").rename(memory / "aside")
    (memory / "b.md").write_text("gantry")

    def put_back() -> None:
        (memory / "aside").rename(memory / "a.md")
        one.refresh()

    make(while_reading(1, put_back)).refresh()
    assert found(one, "canary") == ["a.md", "c.md", "d.md"]


def test_others_that_never_rest_keep_nobody_from_an_answer_M6(make: Make, memory: Path) -> None:
    one = make()
    edit = itertools.count()

    def write() -> int:
        (memory / f"busy{next(edit)}.md").write_text("gantry")
        one.refresh()
        return time.time_ns()

    busy = make(write)
    busy.refresh()
    assert found(busy, "canary") == list(NAMES)
    assert edits.answers(one) == edits.answers(make())


def test_what_was_kept_between_questions_is_of_the_same_moment_as_the_question_M6(
    make: Make, memory: Path
) -> None:
    """Another process may give the number of one file to another between two questions."""
    one, other = make(), make()
    one.refresh()
    assert found(one, "canary") == list(NAMES)
    (memory / "d.md").rename(memory / "e.md")
    (memory / "a.md").write_text("gantry")
    other.refresh()
    assert {known.file for known in one.newest(9)} == {"a.md", "b.md", "c.md", "e.md"}
    assert [known.file for known in one.files(["e.md", "d.md", "a.md"])] == ["e.md", "a.md"]
    assert one.standing(["canary", "gantry"]) == {"canary": 3, "gantry": 1}
    assert one.size == 4


def test_many_objects_take_turns_and_always_agree_M6(make: Make, memory: Path) -> None:
    ones = [make() for _ in range(5)]
    for turn in range(25):
        (memory / f"{turn % 7}.md").write_text(f"canary gantry{turn}")
        (memory / NAMES[turn % 4]).unlink(missing_ok=True)
        if turn % 6 == 5:
            ones[turn % 5].close()
        right = edits.answers(Index(str(memory), cache=None, clock=time.time_ns))
        for at in range(5):
            assert edits.answers(ones[(turn + at) % 5]) == right, turn


ASKER = """
import sys, time
from memdir.memory.index import Index, Term, index
memory, cache = sys.argv[1:]
one = Index(memory, cache=cache, clock=time.time_ns)
print("ready", flush=True)
for line in sys.stdin:
    one.refresh()
    print(*sorted(hit.file for hit in one.rank([Term("canary")], depth=1000)), flush=True)
"""


def test_readers_in_other_processes_see_each_edit_at_their_next_question_M6(
    memory: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", ASKER, str(memory), str(tmp_path / "cache")]
    readers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPO)
        for _ in range(3)
    ]
    there = set(NAMES)
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
    for turn in range(15):
        (memory / f"n{turn}.md").write_text("canary")
        (memory / f"n{turn // 2}.md").write_text("gantry")
        there = (there | {f"n{turn}.md"}) - {f"n{turn // 2}.md"}
        for reader in readers:  # all at once
            assert reader.stdin is not None
            reader.stdin.write("?\n")
            reader.stdin.flush()
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline().split() == sorted(there)
    for reader in readers:
        reader.communicate(timeout=60)
        assert reader.returncode == 0
    assert [path.name for path in (tmp_path / "cache").glob("*.sqlite")] == ["index-1.1.sqlite"]


def test_no_edit_of_another_is_taken_for_damage_M6(make: Make, memory: Path) -> None:
    """However the moments fall: the file stays the one that it was."""
    one, other = make(), make()
    for turn in range(40):
        (memory / f"{turn}.md").write_text("canary")
        (one if turn % 2 else other).refresh()
        (memory / f"{turn // 3}.md").unlink(missing_ok=True)
        assert one.size + other.size
    for each in (one, other):
        database: Database | None = each._database
        assert database is not None
        assert database.path is not None
        assert database.path.endswith("index-1.1.sqlite")


def test_a_word_in_very_many_files_does_not_outgrow_a_statement_M6(
    make: Make, memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite takes a million bytes: the numbers of some 150,000 files. Here it takes less."""
    for at in range(3_000):
        (memory / f"m{at}.md").write_text("pilot")
    one = make()
    one.refresh()
    expected = [hit.file for hit in one.rank([Term("pilot")])]
    assert len(expected) == index.MOST
    monkeypatch.setattr(index, "LISTED", 1_000)
    one._connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 8_000)
    assert [hit.file for hit in one.rank([Term("pilot")])] == expected
    assert [path.name for path in (tmp_path / "cache").glob("*.sqlite")] == ["index-1.1.sqlite"]
