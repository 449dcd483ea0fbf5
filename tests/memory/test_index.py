"""The index of a memory directory: fresh, whole, and the same for all (memory/index/)."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from memdir.memory.index import Index, Term, database
from memdir.memory.words import words
from tests.stress import edits

Make = Callable[[], Index]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    for name, text in {
        "canary.md": "The canary takes ten percent of the traffic.",
        "lag.md": "The replica lags behind.",
        "deep/frost.md": "The flux valve sticks in frost.",
    }.items():
        put(folder, name, text)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def make(memory: Path, cache: Path) -> Iterator[Make]:
    made: list[Index] = []

    def make() -> Index:
        made.append(Index(str(memory), cache=str(cache), clock=time.time_ns))
        return made[-1]

    yield make
    for one in made:
        one.close()


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {path.stem}\ntype: project\n---\n{text}\n", encoding="utf-8")
    return path


def found(one: Index, query: str) -> list[str]:
    one.refresh()
    return [hit.file for hit in one.rank([Term(word) for word in dict.fromkeys(words(query))])]


# -- freshness -----------------------------------------------------------------------------------------------


def test_an_edit_made_a_moment_ago_is_in_the_answer_M6(make: Make, memory: Path) -> None:
    one = make()
    assert found(one, "flux valve") == ["deep/frost.md"]
    put(memory, "canary.md", "A flux capacitor.")
    (memory / "deep" / "frost.md").rename(memory / "frost.md")
    assert found(one, "flux valve") == ["frost.md", "canary.md"]
    (memory / "frost.md").unlink()
    assert found(one, "flux valve") == ["canary.md"]
    assert found(make(), "flux valve") == ["canary.md"]


def test_an_edit_with_as_many_bytes_and_the_same_time_is_seen_M6(make: Make, memory: Path) -> None:
    one, path = make(), memory / "lag.md"
    assert found(one, "replica") == ["lag.md"]
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"replica", b"octopus"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert (found(one, "replica"), found(one, "octopus")) == ([], ["lag.md"])


def test_a_file_is_read_again_while_its_clock_may_stand_still_M6(memory: Path) -> None:
    """Two changes within one tick of the file system's clock have the same stamp."""
    clock = itertools.repeat(max(path.stat().st_ctime_ns for path in memory.rglob("*.md")) + 1)
    one = Index(str(memory), cache=None, clock=lambda: next(clock))
    assert [one.refresh(), one.refresh()] == [3, 3]
    later = Index(str(memory), cache=None, clock=lambda: next(clock) + 10**10)
    assert [later.refresh(), later.refresh()] == [3, 0]


def test_a_link_to_the_directory_may_lead_elsewhere_later_M6(memory: Path, cache: Path) -> None:
    link = memory.with_name("link")
    link.symlink_to(memory)
    one = Index(str(link), cache=str(cache), clock=time.time_ns)
    assert found(one, "replica") == ["lag.md"]
    put(memory.with_name("other"), "far.md", "The replica is far.")
    link.unlink()
    link.symlink_to("other")
    assert found(one, "replica") == ["far.md"]
    one.close()


def test_a_number_that_another_file_has_now_does_not_bring_back_the_old_one_M6(
    make: Make, memory: Path
) -> None:
    """Numbers of files are given again; what was kept in memory under one is not what it means by now."""
    one, other = make(), make()
    one.refresh()
    last = put(memory, "z.md", "gantry")
    assert found(one, "gantry") == found(other, "gantry") == ["z.md"]
    last.unlink()
    other.refresh()
    put(memory, "new.md", "plinth")
    other.refresh()
    assert {memory.file for memory in one.newest(9)} == {"canary.md", "lag.md", "deep/frost.md", "new.md"}


def test_a_directory_that_is_not_there_is_empty_and_may_come_back_M6(make: Make, memory: Path) -> None:
    one = make()
    assert found(one, "replica") == ["lag.md"]
    memory.rename(memory.with_name("aside"))
    assert (found(one, "replica"), one.size) == ([], 0)
    memory.with_name("aside").rename(memory)
    assert found(one, "replica") == ["lag.md"]


def test_nothing_is_read_that_a_scan_would_not_M1(make: Make, memory: Path, tmp_path: Path) -> None:
    outside = put(tmp_path, "outside.md", "The replica lags.")
    (memory / "link.md").symlink_to(outside)
    os.mkfifo(memory / "pipe.md")
    for name in ("MEMORY.md", "memory.md", ".hidden.md", "x.txt", "logs/a.md", "team/a.md", ".git/a.md"):
        put(memory, name, "The replica lags.")
    assert found(make(), "replica") == ["lag.md"]


# -- many at once --------------------------------------------------------------------------------------------


def test_it_can_be_shared_by_threads_and_by_objects_M6(make: Make, memory: Path) -> None:
    shared, other = make(), make()
    answers: list[list[str]] = []

    def work(one: Index, number: int) -> None:
        for at in range(5):
            put(memory, f"t{number}_{at}.md", f"gantry {number}")
            answers.append(found(one, "replica"))

    threads = [Thread(target=work, args=(shared if at % 2 else other, at)) for at in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [["lag.md"]] * 30
    assert edits.answers(shared) == edits.answers(other) == edits.fresh(memory)


WRITER = """
import sys, time
from pathlib import Path
from memdir.memory.index import Index, Term
memory, cache, number = sys.argv[1:]
one = Index(memory, cache=cache, clock=time.time_ns)
print("ready", flush=True); sys.stdin.readline()
for at in range(20):
    Path(memory, f"p{number}_{at}.md").write_text(f"gantry {number} {at}")
    one.refresh()
    assert f"p{number}_{at}.md" in {hit.file for hit in one.rank([Term("gantry")], depth=1000)}
"""


def test_processes_that_write_and_ask_at_once_disturb_nobody_M6(
    make: Make, memory: Path, cache: Path
) -> None:
    command = [sys.executable, "-c", WRITER, str(memory), str(cache)]
    racers = [
        subprocess.Popen([*command, str(at)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for at in range(4)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.communicate("go\n", timeout=60)
        assert racer.returncode == 0
    assert edits.answers(make()) == edits.fresh(memory)
    assert make().size == 83


# -- damage --------------------------------------------------------------------------------------------------


def file_of(cache: Path) -> Path:
    return max(cache.glob("index-*.sqlite"))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def garble(path: Path) -> None:
    path.write_bytes(b"no database at all " * 400)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def spoil(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 4096):
        data[at : at + 200] = b"\x5a" * 200
    path.write_bytes(bytes(data))


def age(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("pragma user_version = 99")
    connection.close()


def strip(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("drop table files")
    connection.close()


def shorten(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("update files set words = x'01020304'")
    connection.close()


def displace(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [cut, garble, empty, spoil, age, strip, shorten, displace])
def test_a_damaged_index_is_made_anew_and_nobody_hears_of_it_M6(
    make: Make, memory: Path, cache: Path, damage: Callable[[Path], None]
) -> None:
    first = make()
    first.refresh()
    first.close()
    for beside in ("-wal", "-shm"):
        Path(f"{file_of(cache)}{beside}").unlink(missing_ok=True)
    damage(file_of(cache))
    assert edits.answers(make()) == edits.fresh(memory)
    put(memory, "new.md", "The replica is new.")
    assert edits.answers(make()) == edits.answers(first) == edits.fresh(memory)


@pytest.mark.parametrize("damage", [garble, spoil, strip])
def test_damage_under_an_open_index_costs_no_answer_M6(
    make: Make, memory: Path, cache: Path, damage: Callable[[Path], None]
) -> None:
    one = make()
    one.refresh()
    damage(file_of(cache))
    put(memory, "new.md", "The replica is new.")
    assert edits.answers(one) == edits.fresh(memory)
    assert edits.answers(make()) == edits.fresh(memory)


def test_a_cache_that_was_deleted_comes_back_M6(make: Make, memory: Path, cache: Path) -> None:
    one = make()
    one.refresh()
    for path in cache.iterdir():
        path.unlink()
    put(memory, "new.md", "The replica is new.")
    assert edits.answers(one) == edits.fresh(memory)
    assert file_of(cache).stat().st_size > 0


def test_a_lock_that_nobody_gives_back_costs_time_and_no_answer_M6(
    make: Make, memory: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make().refresh()
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    holder = sqlite3.connect(file_of(cache), isolation_level=None)
    holder.execute("begin immediate")
    put(memory, "new.md", "The replica is new.")
    assert edits.answers(make()) == edits.fresh(memory)
    holder.close()


@pytest.mark.parametrize("spoilt", ["a file in its place", "no folder above"])
def test_without_a_place_for_its_file_it_is_kept_in_memory_M6(
    memory: Path, tmp_path: Path, spoilt: str
) -> None:
    (tmp_path / "file").write_text("x")
    cache = tmp_path / "file" if spoilt == "a file in its place" else tmp_path / "file" / "cache"
    one = Index(str(memory), cache=str(cache), clock=time.time_ns)
    assert edits.answers(one) == edits.fresh(memory)


def test_a_full_disk_costs_no_answer_M6(memory: Path, cache: Path) -> None:
    for at in range(300):
        put(memory, f"m{at}.md", f"gantry {at} " * 50)
    script = (
        "import resource, signal, sys, time\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))\n"
        "from memdir.memory.index import Index, Term\n"
        "one = Index(sys.argv[1], cache=sys.argv[2], clock=time.time_ns)\n"
        "one.refresh()\n"
        "print(one.size, len(one.rank([Term('gantry')], depth=1000)))\n"
    )
    command = [sys.executable, "-c", script, str(memory), str(cache)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("303 300\n", "")


def test_a_process_that_is_killed_while_it_fills_leaves_nothing_half_M6(
    make: Make, memory: Path, cache: Path
) -> None:
    for at in range(800):
        put(memory, f"m{at}.md", f"gantry {at} " * 20)
    script = (
        "import sys, time\nfrom memdir.memory.index import Index\n"
        "print('go', flush=True)\nIndex(sys.argv[1], cache=sys.argv[2], clock=time.time_ns).refresh()\n"
    )
    for delay in (0.02, 0.1, 0.2):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(memory), str(cache)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        assert edits.answers(make()) == edits.fresh(memory)


def test_its_file_is_for_its_owner_alone(make: Make, cache: Path) -> None:
    make().refresh()
    assert cache.stat().st_mode & 0o077 == 0
    assert {path.stat().st_mode & 0o077 for path in cache.iterdir()} == {0}


# -- ranking -------------------------------------------------------------------------------------------------


def test_only_files_that_share_a_word_are_found(make: Make) -> None:
    assert found(make(), "which traffic?") == ["canary.md"]
    assert found(make(), "lunch") == []
    assert found(make(), "") == []


def test_a_word_in_the_title_counts_more_than_one_in_the_body(make: Make, memory: Path) -> None:
    put(memory, "numbers.md", "the canary")
    assert found(make(), "canary") == ["canary.md", "numbers.md"]


def test_a_kindred_word_stands_in_at_a_discount_and_never_beside_the_word_itself(
    make: Make, memory: Path
) -> None:
    put(memory, "pilot.md", "A pilot.")
    put(memory, "both.md", "A gantry and a pilot.")
    put(memory, "word.md", "A gantry and a plinth.")
    one = make()
    one.refresh()
    scores = {hit.file: hit.score for hit in one.rank([Term("gantry", kin=frozenset({"pilot"}))])}
    plain = {hit.file: hit.score for hit in one.rank([Term("gantry")])}
    assert scores["both.md"] == plain["both.md"]
    assert scores.keys() == {"pilot.md", "both.md", "word.md"}
    kin = {hit.file: hit.score for hit in one.rank([Term("pilot")])}
    assert 0 < scores["pilot.md"] < kin["pilot.md"]
