"""What can happen to the file of an index: the answer is the same, and nobody hears of it (M6)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from memdir.memory.index import Index, database
from tests.cases import REPO
from tests.stress import edits

PAGE = 4096
NOBODY = 65534


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Some memories, among them long ones: their words fill pages of their own."""
    folder = tmp_path / "memory"
    folder.mkdir()
    chance = Random(5)
    for at in range(24):
        own = [f"u{chance.randrange(3000)}" for _ in range(900 if at % 3 == 0 else 0)]
        put(folder, f"m{at}.md", " ".join([*chance.choices(edits.SAID, k=4), *own]))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def put(folder: Path, name: str, text: str) -> None:
    head = f"---\nname: {name}\ndescription: d\ntype: project\n---\n"
    (folder / name).write_text(f"{head}{text}\n", encoding="utf-8")


def index_of(memory: Path, cache: Path) -> Index:
    return Index(str(memory), cache=str(cache), clock=time.time_ns)


def answers(memory: Path, cache: Path) -> list[object]:
    with closing(index_of(memory, cache)) as one:
        return edits.answers(one)


def made(memory: Path, cache: Path) -> Path:
    """The file of a whole index that nobody has open, once all files are settled."""
    with closing(index_of(memory, cache)) as one:
        while one.refresh():
            pass
    return max((path for path in cache.glob("index-*.sqlite") if path.is_file()), key=lambda path: path.name)


def is_used(memory: Path, cache: Path) -> bool:
    """Whether one who comes later finds in the cache all that is settled."""
    made(memory, cache)
    with closing(index_of(memory, cache)) as one:
        return one.refresh() == 0


def spoil(path: Path) -> None:
    """Damage that shows, whatever the log beside it still holds."""
    for beside in ("-wal", "-shm"):
        Path(f"{path}{beside}").unlink(missing_ok=True)
    path.write_bytes(b"no database at all " * 4000)


# -- the file ------------------------------------------------------------------------------------------------

PAGES: dict[str, Callable[[bytes], bytes]] = {
    "zeros": lambda page: bytes(len(page)),
    "one byte": lambda page: b"\x5a" * len(page),
    "noise": lambda page: Random(3).randbytes(len(page)),
    "noise within": lambda page: page[:1500] + Random(3).randbytes(200) + page[1700:],
}


@pytest.mark.parametrize("damage", PAGES.values(), ids=PAGES)
def test_any_page_may_be_lost_and_no_answer_changes_M6(
    memory: Path, cache: Path, damage: Callable[[bytes], bytes]
) -> None:
    whole = made(memory, cache).read_bytes()
    expected = edits.fresh(memory)
    pages = range(0, len(whole), PAGE)
    for at in (*pages[:6], *pages[6::3]):
        spoilt = cache.with_name(f"cache{at}")
        spoilt.mkdir()
        (spoilt / "index-1.1.sqlite").write_bytes(
            whole[:at] + damage(whole[at : at + PAGE]) + whole[at + PAGE :]
        )
        assert answers(memory, spoilt) == expected, f"page {at // PAGE}"


@pytest.mark.parametrize("left", [0, 1, 99, 100, 1024, 4095, 4096, 4097, 20_000, -4096, -1])
def test_a_file_that_was_cut_anywhere_costs_no_answer_M6(memory: Path, cache: Path, left: int) -> None:
    path = made(memory, cache)
    path.write_bytes(path.read_bytes()[:left])
    assert answers(memory, cache) == edits.fresh(memory)
    assert is_used(memory, cache)


@pytest.mark.parametrize("beside", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("content", [b"", b"no log at all " * 900], ids=["empty", "garbage"])
def test_what_lies_beside_the_file_may_be_anything_M6(
    memory: Path, cache: Path, beside: str, content: bytes
) -> None:
    path = made(memory, cache)
    Path(f"{path}{beside}").write_bytes(content)
    put(memory, "new.md", "frost")
    assert answers(memory, cache) == edits.fresh(memory)


@pytest.mark.parametrize(
    "statement",
    [
        "delete from totals",
        "update files set path = 7 where id = 1",
        "update files set length = 'x', traits = 'y', modified = 'z'",
        "update files set words = 7",
        "update totals set files = 99, length = 'much'",
        "update terms set standing = 99999",
        "drop table terms",
        "drop table postings",
        "update files set name = x'ff', named = x'00'",
    ],
)
def test_rows_that_make_no_sense_raise_nothing_M6(memory: Path, cache: Path, statement: str) -> None:
    with closing(sqlite3.connect(made(memory, cache), isolation_level=None)) as connection:
        connection.execute(statement)
    assert len(answers(memory, cache)) == len(edits.fresh(memory))
    put(memory, "new.md", "frost")
    assert len(answers(memory, cache)) == len(edits.fresh(memory))


def test_the_generation_that_replaces_a_damaged_one_is_used_by_others_M6(memory: Path, cache: Path) -> None:
    with closing(index_of(memory, cache)) as long_lived:
        assert edits.answers(long_lived) == edits.fresh(memory)
        for generation in range(2, 5):
            spoil(made(memory, cache))
            assert answers(memory, cache) == edits.fresh(memory)
            assert [path.name for path in cache.glob("*.sqlite")] == [f"index-1.{generation}.sqlite"]
            assert edits.answers(long_lived) == edits.fresh(memory)
            assert is_used(memory, cache)


@pytest.mark.parametrize(
    "name", ["index-1.99999999999.sqlite", "index-1.x.sqlite", "index-1..sqlite", "index-9.1.sqlite"]
)
def test_any_file_may_lie_in_the_cache_M6(memory: Path, cache: Path, name: str) -> None:
    cache.mkdir()
    (cache / name).write_bytes(b"no database " * 400)
    assert answers(memory, cache) == edits.fresh(memory)
    assert is_used(memory, cache)


def test_where_a_folder_has_its_name_another_generation_serves_all_M6(memory: Path, cache: Path) -> None:
    path = made(memory, cache)
    path.unlink()
    path.mkdir()
    assert answers(memory, cache) == edits.fresh(memory)
    assert is_used(memory, cache)


def test_a_cache_that_is_lost_between_two_questions_costs_no_answer_M6(memory: Path, cache: Path) -> None:
    """Also where nobody looks at the files again in between."""
    with closing(index_of(memory, cache)) as one:
        one.refresh()
        before = [[hit.file for hit in one.rank(terms)] for terms in edits.TERMS]
        shutil.rmtree(cache)
        assert [[hit.file for hit in one.rank(terms)] for terms in edits.TERMS] == before
        shutil.rmtree(cache)
        assert (one.size, len(one.newest(99)), len(one.moments())) == (24, 24, 24)
        one.close()
        assert len(one.newest(99)) == 24


# -- who may, and how much -----------------------------------------------------------------------------------


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


AS_ANOTHER = """
import os, sys, time
from memdir.memory.index import Index, filling
from tests.stress import edits
memory, cache, nobody = sys.argv[1], sys.argv[2], int(sys.argv[3])
if os.geteuid() == 0:
    os.setgid(nobody)
    os.setuid(nobody)
one, fresh = (Index(memory, cache=where, clock=time.time_ns) for where in (cache, None))
assert edits.answers(one) == edits.answers(fresh)
print("the same", one.size)
"""


@pytest.mark.parametrize(
    ("folder", "file"),
    [(0o500, 0o600), (0o700, 0o400), (0o500, 0o400), (0o700, 0), (0, 0o600)],
    ids=["folder read-only", "file read-only", "both", "file closed", "folder closed"],
)
def test_what_can_not_be_written_costs_no_answer_M6(
    memory: Path, shared: Path, folder: int, file: int
) -> None:
    """By a user who may not, also where the tests run as root."""
    copy, cache = shared / "memory", shared / "cache"
    shutil.copytree(memory, copy)
    path = made(copy, cache)
    put(copy, "new.md", "frost")
    if os.geteuid() == 0:
        os.chown(cache, NOBODY, NOBODY)
        os.chown(path, NOBODY, NOBODY)
    path.chmod(file)
    cache.chmod(folder)
    command = [sys.executable, "-c", AS_ANOTHER, str(copy), str(cache), str(NOBODY)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=REPO)
    cache.chmod(0o700)
    assert (done.stdout, done.stderr) == ("the same 25\n", "")


LOCKED_AWAY = """
import os, sys, time
from memdir.memory.index import Index, filling
if os.geteuid() == 0:
    os.setgid(int(sys.argv[2]))
    os.setuid(int(sys.argv[2]))
one = Index(sys.argv[1], cache=None, clock=time.time_ns)
while one.refresh() > 1: pass
before, written = one.edition, one._connection.total_changes
one.refresh()
print(one.size, one.edition - before, one._connection.total_changes - written)
"""


def test_a_file_that_can_not_be_read_makes_nobody_write_at_every_prompt_M2(
    memory: Path, shared: Path
) -> None:
    copy = shared / "memory"
    shutil.copytree(memory, copy)
    (copy / "m3.md").chmod(0)
    command = [sys.executable, "-c", LOCKED_AWAY, str(copy), str(NOBODY)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=REPO)
    assert (done.stdout, done.stderr) == ("23 0 0\n", "")


FULL = """
import resource, signal, sys, time
from memdir.memory.index import Index
from tests.stress import edits
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
one, fresh = (Index(sys.argv[1], cache=where, clock=time.time_ns) for where in (sys.argv[2], None))
assert edits.answers(one) == edits.answers(fresh)
print("the same")
"""


@pytest.mark.parametrize("is_damaged", [False, True], ids=["whole", "damaged"])
@pytest.mark.parametrize("room", [0, 5_000, 40_000, 90_000, 200_000])
def test_a_disk_that_is_full_at_any_point_costs_no_answer_M6(
    memory: Path, cache: Path, room: int, is_damaged: bool
) -> None:
    """Also where a damaged file has to be made anew, and that fails half way."""
    path = made(memory, cache)
    put(memory, "new.md", "frost " * 500)
    if is_damaged:
        spoil(path)
    command = [sys.executable, "-c", FULL, str(memory), str(cache), str(room)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=REPO)
    assert (done.stdout, done.stderr) == ("the same\n", "")
    assert answers(memory, cache) == edits.fresh(memory)
    assert is_used(memory, cache)


# -- who else has it open ------------------------------------------------------------------------------------


@pytest.mark.parametrize("begin", ["begin immediate", "pragma locking_mode = exclusive; begin exclusive"])
def test_b166_whoever_holds_the_lock_nobody_waits_longer_than_patience_M6(
    memory: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, begin: str
) -> None:
    """As in https://github.com/thedotmack/claude-mem/issues/1815: a session began with 16 s of waiting."""
    path = made(memory, cache)
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    put(memory, "new.md", "frost")
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        for statement in begin.split(";"):
            holder.execute(statement)
        assert answers(memory, cache) == edits.fresh(memory)
    assert answers(memory, cache) == edits.fresh(memory)
    assert is_used(memory, cache)


def test_an_open_index_that_nobody_lets_read_goes_on_without_its_file_M6(
    memory: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without shared memory a writer shuts out readers too, and copying would wait for good."""
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    with closing(index_of(memory, cache)) as one:
        one.refresh()
        one._connection.execute("pragma journal_mode = delete")
        with closing(sqlite3.connect(next(cache.glob("*.sqlite")), isolation_level=None)) as holder:
            holder.execute("begin exclusive")
            put(memory, "new.md", "frost")
            assert edits.answers(one) == edits.fresh(memory)
