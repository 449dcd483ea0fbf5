"""The table of what was surfaced and what became of it (recall/usage.py)."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest

from memdir.errors import MemdirError
from memdir.recall.aftermath import Outcome
from memdir.recall.usage import HALF_LIFE, History, Tally, Usage, boost

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
OPENED, CITED = Outcome(opened=True), Outcome(cited=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "usage" / "shop.sqlite"


def surface(usage: Usage, *files: str, turn: str = "t1", session: str = "s1", at: datetime = NOW) -> None:
    usage.surfaced(files, session=session, turn_id=turn, kind="question", at=at, how="local")


def python(script: str, *words: object) -> str:
    """What this prints, in a process of its own."""
    command = [sys.executable, "-c", script, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return done.stdout


# -- what is kept --------------------------------------------------------------------------------------------


def test_what_was_surfaced_and_what_became_of_it_is_kept_R10(path: Path) -> None:
    usage = Usage(str(path))
    surface(usage, "lag.md", "ports.md")
    usage.surfaced(
        ["lag.md"], session="s2", turn_id="t2", kind="error", at=NOW + timedelta(hours=1), how="model"
    )
    usage.became("s1", "t1", {"lag.md": OPENED})
    usage.became("s1", "t1", {"lag.md": CITED})
    history = Usage(str(path)).of("lag.md")
    assert [(one.kind, one.how, one.session, one.turn, one.outcome) for one in history.surfaced] == [
        ("error", "model", "s2", "t2", Outcome()),
        ("question", "local", "s1", "t1", OPENED | CITED),
    ]
    assert history.tally == Tally(surfaced=2, opened=1, cited=1, used=1, last=NOW + timedelta(hours=1))
    assert usage.all() == {"lag.md": history.tally, "ports.md": Tally(surfaced=1, last=NOW)}
    assert usage.failure is None


def test_a_memory_is_surfaced_once_a_turn_R10(path: Path) -> None:
    usage = Usage(str(path))
    surface(usage, "lag.md")
    usage.became("s1", "t1", {"lag.md": CITED})
    surface(usage, "lag.md", at=NOW + timedelta(hours=1))
    assert usage.all() == {"lag.md": Tally(surfaced=1, cited=1, used=1, last=NOW)}


def test_nothing_becomes_of_what_was_not_surfaced_R10(path: Path) -> None:
    usage = Usage(str(path))
    usage.became("s1", "t1", {"lag.md": CITED})
    assert not path.exists()
    surface(usage, "lag.md")
    usage.became("s1", "t2", {"lag.md": CITED})
    usage.became("s1", "t1", {"other.md": CITED})
    assert usage.all() == {"lag.md": Tally(surfaced=1, last=NOW)}


def test_looking_makes_no_file_R10(path: Path) -> None:
    usage = Usage(str(path))
    assert usage.of("lag.md") == History()
    assert usage.all() == {}
    assert usage.erase("lag.md") == 0
    assert not path.parent.exists()
    assert usage.failure is None


def test_the_table_is_its_owners_alone_R10(path: Path) -> None:
    surface(Usage(str(path)), "lag.md")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_any_file_name_is_kept_as_it_is_R10(path: Path) -> None:
    usage = Usage(str(path))
    names = ["a/b c.md", "部署.md", "'; DROP TABLE surfacing; --.md", os.fsdecode(b"caf\xe9.md"), "%?#.md"]
    surface(usage, *names)
    usage.became("s1", "t1", dict.fromkeys(names, OPENED))
    assert set(usage.all()) == set(names)
    assert [usage.of(name).tally.opened for name in names] == [1] * len(names)


def test_a_path_with_any_letters_in_it_will_do_R10(tmp_path: Path) -> None:
    odd = tmp_path / "a?b#c %41" / "d.sqlite"
    surface(Usage(str(odd)), "lag.md")
    assert set(Usage(str(odd)).all()) == {"lag.md"}
    assert odd.is_file()


# -- erasing -------------------------------------------------------------------------------------------------


def test_what_is_erased_is_gone_from_the_bytes_too_R10(path: Path) -> None:
    usage = Usage(str(path))
    surface(usage, "merger_with_acme.md", "lag.md")
    surface(usage, "merger_with_acme.md", turn="t2")
    assert b"merger_with_acme" in path.read_bytes()
    assert usage.erase("merger_with_acme.md") == 2
    assert b"merger_with_acme" not in path.read_bytes()
    assert set(usage.all()) == {"lag.md"}


def test_erasing_clears_damaged_copies_that_name_the_file_R10(path: Path) -> None:
    usage = Usage(str(path))
    surface(usage, "lag.md")
    named, other = (path.with_name(f"{path.name}.damaged-{number}") for number in (1, 2))
    named.write_bytes(b"\0merger.md\0")
    other.write_bytes(b"\0lag.md\0")
    usage.erase("merger.md")
    assert not named.exists()
    assert other.exists()


def test_an_erasure_that_fails_says_so_R10(path: Path) -> None:
    usage = Usage(str(path), patience=0.05)
    surface(usage, "lag.md")
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(MemdirError, match=r"can't be cleared of 'lag.md'"):
            usage.erase("lag.md")
    assert set(usage.all()) == {"lag.md"}


# -- when something is wrong ---------------------------------------------------------------------------------


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database at all, and long enough to be sure of it" * 20)


def torn(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100:] = b"\xa5" * (len(data) - 100)
    path.write_bytes(data)


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE wine (year)")


def without_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript("DROP TABLE surfacing")


@pytest.mark.parametrize("damage", [garbage, torn, foreign, without_a_table])
def test_a_damaged_table_is_set_aside_and_a_new_one_begun_R10(
    path: Path, damage: Callable[[Path], None]
) -> None:
    surface(Usage(str(path)), "old.md")
    damage(path)
    found = path.read_bytes()
    usage = Usage(str(path))
    surface(usage, "new.md")
    assert set(usage.all()) == {"new.md"}
    assert usage.failure is not None
    assert path.with_name(f"{path.name}.damaged-1").read_bytes() == found

    damage(path)
    assert Usage(str(path)).all() == {}
    assert path.with_name(f"{path.name}.damaged-2").exists()


def test_what_stood_beside_a_damaged_table_goes_with_it_R10(path: Path) -> None:
    surface(Usage(str(path)), "old.md")
    garbage(path)
    path.with_name(f"{path.name}-shm").write_bytes(b"left by a crash")
    surface(Usage(str(path)), "new.md")
    assert path.with_name(f"{path.name}.damaged-1-shm").exists()
    assert not path.with_name(f"{path.name}-shm").exists()


def test_a_table_of_a_later_memdir_is_left_alone_R10(path: Path) -> None:
    surface(Usage(str(path)), "old.md")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 2")
    before, usage = path.read_bytes(), Usage(str(path))
    surface(usage, "new.md")
    assert usage.all() == {}
    assert usage.failure == "Newer"
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_busy_table_costs_what_was_to_be_noted_and_no_more_R10(path: Path) -> None:
    usage = Usage(str(path), patience=0.05)
    surface(usage, "lag.md")
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        surface(usage, "late.md")
        assert usage.all() == {}
    assert usage.failure is not None
    assert "locked" in usage.failure
    assert set(usage.all()) == {"lag.md"}


def test_a_table_that_cannot_be_made_is_done_without_R10(tmp_path: Path) -> None:
    (tmp_path / "usage").write_bytes(b"a file where the folder should be")
    usage = Usage(str(tmp_path / "usage" / "shop.sqlite"))
    surface(usage, "lag.md")
    assert usage.all() == {}
    assert usage.failure is not None


READ_ONLY = """
import json, os, sys
from datetime import UTC, datetime
from memdir.recall.usage import Usage
import memdir.fs, memdir.recall.aftermath
if os.geteuid() == 0:
    os.setuid(65534)  # root may write anywhere
usage = Usage(sys.argv[1])
known = {file: tally.surfaced for file, tally in usage.all().items()}
before = usage.failure
usage.surfaced(["new.md"], session="s9", turn_id="t9", kind="other", at=datetime.now(UTC), how="local")
print(json.dumps([known, before, usage.failure]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no modes")
def test_a_table_that_may_only_be_read_is_read_R10() -> None:
    with TemporaryDirectory() as folder:  # open to others, as the folders of tests are not
        path = Path(folder, "shop.sqlite")
        surface(Usage(str(path)), "lag.md")
        before = path.read_bytes()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        known, at_first, failure = json.loads(python(READ_ONLY, path))
        path.parent.chmod(0o755)
        assert (known, at_first) == ({"lag.md": 1}, None)
        assert failure == "OperationalError: attempt to write a readonly database"
        assert path.read_bytes() == before
        assert [one.name for one in path.parent.iterdir()] == [path.name]


FULL = """
import resource, signal, sys
from datetime import UTC, datetime
from memdir.recall.usage import Usage
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
usage = Usage(sys.argv[1])
names = [f"{number:0200}.md" for number in range(500)]
usage.surfaced(names, session="s9", turn_id="t9", kind="other", at=datetime.now(UTC), how="local")
print(usage.failure)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a disk can't be filled so")
@pytest.mark.parametrize("room", [0, 20_000])
def test_a_full_disk_costs_what_was_to_be_noted_and_no_more_R10(path: Path, room: int) -> None:
    if room:
        surface(Usage(str(path)), "lag.md")
    assert python(FULL, path, room).startswith("OperationalError: ")
    usage = Usage(str(path))
    assert set(usage.all()) == ({"lag.md"} if room else set())
    surface(usage, "new.md")
    assert "new.md" in usage.all()
    assert usage.failure is None
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_link_is_not_followed_R10(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"")
    path.parent.mkdir(parents=True)
    path.symlink_to(elsewhere)
    usage = Usage(str(path))
    surface(usage, "lag.md")
    assert elsewhere.read_bytes() == b""
    assert usage.failure is not None


# -- many at once --------------------------------------------------------------------------------------------

WRITER = """
import sys
from datetime import UTC, datetime
from memdir.recall.aftermath import Outcome
from memdir.recall.usage import Usage
path, session = sys.argv[1:]
usage = Usage(path, patience=30)
for number in range(20):
    turn, now = str(number), datetime.now(UTC)
    usage.surfaced(["lag.md"], session=session, turn_id=turn, kind="other", at=now, how="local")
    usage.became(session, turn, {"lag.md": Outcome(cited=True)})
sys.exit(usage.failure)
"""


def test_many_processes_lose_nothing_of_each_other_R10(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), f"s{number}"]) for number in range(4)
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0, 0]
    tally = Usage(str(path)).of("lag.md").tally
    assert (tally.surfaced, tally.cited) == (80, 80)


FALLEN = """
import sys
from datetime import UTC, datetime
from memdir.recall.usage import Usage
usage = Usage(sys.argv[1])
for number in range(10**6):
    now = datetime.now(UTC)
    usage.surfaced(["lag.md"], session="s1", turn_id=str(number), kind="other", at=now, how="local")
    print(number, flush=True)
"""


def test_a_process_that_is_killed_leaves_what_it_had_noted_R10(path: Path) -> None:
    command = [sys.executable, "-c", FALLEN, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        noted = [process.stdout.readline() for _ in range(20)]
        process.kill()
        noted += process.stdout.readlines()
    usage = Usage(str(path))
    turns = {one.turn for one in usage.of("lag.md").surfaced}
    assert {turn.strip() for turn in noted if turn.endswith("\n")} <= turns
    assert usage.failure is None


def test_threads_that_find_it_damaged_set_it_aside_once_R10(path: Path) -> None:
    usage = Usage(str(path), patience=30)
    surface(usage, "old.md")
    garbage(path)
    threads = [Thread(target=surface, args=(usage, "new.md"), kwargs={"turn": f"t{n}"}) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert usage.of("new.md").tally.surfaced == 6
    names = sorted(one.name for one in path.parent.iterdir())
    assert names == [path.name, f"{path.name}.damaged-1"]


# -- what it says to the ranking -----------------------------------------------------------------------------


def test_use_raises_and_its_absence_lowers_R10() -> None:
    def value(**counts: int) -> float:
        return boost(Tally(last=NOW, **counts), now=NOW)

    assert boost(Tally(), now=NOW) == 0
    assert value(surfaced=3) == 0
    assert value(surfaced=9, cited=6, used=6) > value(surfaced=3, cited=1, used=1) > 0
    assert value(surfaced=3, cited=1, used=1) > value(surfaced=3, opened=1, used=1) > 0
    assert value(surfaced=40) < value(surfaced=4) < 0
    assert value(surfaced=2, corrected=1) < 0
    assert value(surfaced=3, cited=1, corrected=1, used=1) == 0


def test_the_boost_is_bounded_and_fades_R10() -> None:
    best = Tally(surfaced=10**6, opened=10**6, cited=10**6, used=10**6, last=NOW)
    worst = Tally(surfaced=10**6, last=NOW)
    assert 0.99 < boost(best, now=NOW) <= 1
    assert -1 <= boost(worst, now=NOW) < -0.99
    later = NOW + timedelta(days=HALF_LIFE)
    assert boost(best, now=later) == pytest.approx(boost(best, now=NOW) / 2)
    assert boost(replace(best, last=later), now=NOW) == boost(best, now=NOW), "a clock that went back"
