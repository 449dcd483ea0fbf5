"""Is it time for a dream: each gate with its reason, in their order, and what the answer costs (D1)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from bench import dream as bench

from memdir.dream import gates, lock, sessions
from memdir.dream.gates import Gate, first_closed
from memdir.dream.lock import State

NOW = datetime(2026, 3, 5, 12, 0, 0, 250_000, tzinfo=UTC)
NOW_NS = int(NOW.timestamp() * 4) * 250_000_000
HOUR = 3600 * 10**9


@pytest.mark.parametrize(
    ("dream", "daily_log", "passes", "reason"),
    [
        (True, False, True, "dreams are on"),
        (False, False, False, "the setting features.dream is off"),
        (True, True, False, "memory is kept as a daily log"),
        (False, True, False, "the setting features.dream is off"),
    ],
)
def test_first_it_must_be_on_and_not_a_daily_log_D1(
    dream: bool, daily_log: bool, passes: bool, reason: str
) -> None:
    assert gates.switched_on(dream=dream, daily_log=daily_log) == Gate(
        name="on", passes=passes, reason=reason
    )


@pytest.mark.parametrize(
    ("ago_ns", "hours", "passes", "reason"),
    [
        (None, 24, True, "there was no dream yet"),
        (0, 24, False, "less than a minute since the last, 24 h needed"),
        (40 * 60 * 10**9, 24, False, "40 min since the last, 24 h needed"),
        (18 * HOUR, 24, False, "18 h since the last, 24 needed"),
        (24 * HOUR - 1, 24, False, "23 h 59 min since the last, 24 needed"),
        (24 * HOUR, 24, True, "24 h since the last, 24 needed"),
        (24 * HOUR + 1, 24, True, "24 h since the last, 24 needed"),
        (80 * HOUR, 24, True, "3 days since the last, 24 h needed"),
        (20_000 * 24 * HOUR, 24, True, "20,000 days since the last, 24 h needed"),
        (10**9, 0.5, False, "less than a minute since the last, 0.5 h needed"),
        (HOUR // 2, 0.5, True, "30 min since the last, 0.5 h needed"),
        (0, 0, True, "less than a minute since the last, 0 h needed"),
        (-2 * 10**9, 24, False, "less than a minute since the last, 24 h needed"),  # a file server's clock
        (-301 * 10**9, 24, True, "the last one lies in the future: a clock was wrong"),
        (-20_000 * HOUR, 24, True, "the last one lies in the future: a clock was wrong"),
    ],
)
def test_the_last_one_must_be_long_enough_ago_and_equality_passes_D1(
    ago_ns: int | None, hours: float, passes: bool, reason: str
) -> None:
    last = None if ago_ns is None else NOW_NS - ago_ns
    assert gates.time(last, now=NOW, hours=hours) == Gate(name="time", passes=passes, reason=reason)


def test_in_another_time_zone_it_is_as_long_ago_D1() -> None:
    there = NOW.astimezone(datetime.fromisoformat("2026-01-01T00:00:00+09:00").tzinfo)
    assert gates.time(NOW_NS - 18 * HOUR, now=there) == gates.time(NOW_NS - 18 * HOUR, now=NOW)


@pytest.mark.parametrize(
    ("last_ns", "since"),
    [
        (None, 0),
        (NOW_NS - HOUR, NOW_NS - HOUR),
        (NOW_NS + 10**9, NOW_NS + 10**9),
        (NOW_NS + HOUR, 0),  # else no conversation would ever count
        (-1, -1),
    ],
)
def test_conversations_count_since_the_last_dream_unless_it_lies_in_the_future_D1(
    last_ns: int | None, since: int
) -> None:
    assert gates.counts_since(last_ns, now=NOW) == since


@pytest.mark.parametrize(
    ("ago", "between", "passes", "reason"),
    [
        (None, 10, True, "sessions were not looked through yet"),
        (0, 10, False, "sessions were looked through less than a minute ago, at most once in 10 min"),
        (599, 10, False, "sessions were looked through 9 min ago, at most once in 10 min"),
        (600, 10, True, "sessions were looked through 10 min ago, at most once in 10 min"),
        (7200, 160, False, "sessions were looked through 2 h ago, at most once in 2 h 40 min"),
        (-60, 10, True, "sessions were looked through in the future"),  # the clock was put back
    ],
)
def test_transcripts_are_looked_through_once_in_ten_minutes_D1(
    ago: int | None, between: int, passes: bool, reason: str
) -> None:
    scanned = None if ago is None else NOW - timedelta(seconds=ago)
    gate = gates.throttle(scanned, now=NOW, between=timedelta(minutes=between))
    assert gate == Gate(name="throttle", passes=passes, reason=reason)
    assert timedelta(minutes=10) == gates.BETWEEN_SCANS


@pytest.mark.parametrize(
    ("count", "needed", "passes", "reason"),
    [
        (0, 5, False, "0 of 5 sessions"),
        (3, 5, False, "3 of 5 sessions"),
        (5, 5, True, "5 of 5 sessions"),
        (1_200, 5, True, "1,200 of 5 sessions"),
        (0, 1, False, "0 of 1 session"),
        (0, 0, True, "0 of 0 sessions"),
    ],
)
def test_there_must_be_enough_sessions_and_equality_passes_D1(
    count: int, needed: int, passes: bool, reason: str
) -> None:
    assert gates.sessions(count, needed=needed) == Gate(name="sessions", passes=passes, reason=reason)


def test_the_lock_must_be_free_D1() -> None:
    held = State(last_ns=None, holder=None, why="held by process 4711 since 12:03", is_free=False)
    free = State(last_ns=1, holder=None, why="free", is_free=True)
    assert gates.lock(held) == Gate(name="lock", passes=False, reason="held by process 4711 since 12:03")
    assert gates.lock(free) == Gate(name="lock", passes=True, reason="free")


def test_no_earlier_plan_may_wait_for_the_person_D8() -> None:
    assert gates.review(None).passes
    waiting = gates.review("20260305-1")
    assert (waiting.name, waiting.passes) == ("review", False)
    assert waiting.reason == "the plan 20260305-1 waits for you: `memdir dream show`"


@pytest.mark.parametrize("closed", range(6))
def test_behind_a_closed_gate_nothing_is_looked_up_D1(closed: int) -> None:
    asked: list[int] = []

    def gate(number: int) -> Gate:
        asked.append(number)
        return Gate(name="on", passes=number < closed, reason=f"{number}")

    found = first_closed(partial(gate, number) for number in range(5))
    assert found == (Gate(name="on", passes=False, reason=f"{closed}") if closed < 5 else None)
    assert asked == list(range(min(closed, 4) + 1))


# -- what it costs -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The transcripts of a project, 5,000 of them, and its memory directory, last consolidated just now."""
    folder = tmp_path_factory.mktemp("shop")
    transcripts, memory = folder / "transcripts", folder / "memory"
    transcripts.mkdir()
    memory.mkdir()
    for _ in range(5_000):
        (transcripts / f"{uuid4()}.jsonl").touch()
    return transcripts, memory


Ways = list[Callable[[], Gate]]


def ways(transcripts: Path, memory: Path, now: datetime) -> Ways:
    """The gates as they are asked after a turn."""
    return [
        partial(gates.switched_on, dream=True, daily_log=False),
        lambda: gates.time(lock.last(memory), now=now),
        lambda: gates.sessions(sessions.count((transcripts,), since_ns=0, but=None)),
        lambda: gates.lock(lock.look(memory, now=now)),
    ]


def given_back(memory: Path, how: str, at: datetime) -> None:
    """A lock whose last consolidation was then, as memdir or another program leaves it."""
    (memory / lock.LOCK).unlink(missing_ok=True)
    if how == "memdir":
        assert lock.Lock.take(memory, now=lambda: at).succeed()
    else:
        (memory / lock.LOCK).touch()
        os.utime(memory / lock.LOCK, (at.timestamp(), at.timestamp()))


@pytest.mark.parametrize("how", ["memdir", "another program"])
def test_not_yet_costs_one_stat_however_many_transcripts_there_are_D1(
    shop: tuple[Path, Path], how: str
) -> None:
    given_back(shop[1], how, NOW - timedelta(hours=18))
    with bench.counted() as calls:
        closed = first_closed(ways(*shop, NOW))
    assert closed == Gate(name="time", passes=False, reason="18 h since the last, 24 needed")
    assert calls == {"stat": 1}


def test_the_counting_layer_counts_D1(shop: tuple[Path, Path]) -> None:
    given_back(shop[1], "another program", NOW - timedelta(hours=25))
    with bench.counted() as calls:
        assert first_closed(ways(*shop, NOW)) is None
    assert calls == {"stat": 5_002, "scandir": 1}, "the lock twice, each transcript once, none of them opened"


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_the_system_sees_that_one_stat_and_nothing_else_D1(shop: tuple[Path, Path], tmp_path: Path) -> None:
    transcripts, memory = shop
    given_back(memory, "memdir", NOW - timedelta(hours=18))
    script = tmp_path / "turn.py"
    script.write_text(
        "import os, sys\n"
        "from datetime import datetime\n"
        "from pathlib import Path\n"
        "from tests.dream.test_gates import first_closed, ways\n"
        "gates = ways(Path(sys.argv[1]), Path(sys.argv[2]), datetime.fromisoformat(sys.argv[3]))\n"
        "first_closed(gates)  # what is imported at the first call\n"
        "os.access('/begin', 0)\n"
        "closed = first_closed(gates)\n"
        "os.access('/end', 0)\n"
        "print(closed.name)\n"
    )
    log = tmp_path / "calls"
    words = ["strace", "-f", "-o", str(log), sys.executable, str(script)]
    repo = str(Path(__file__).parents[2])
    ran = subprocess.run(
        [*words, str(transcripts), str(memory), NOW.isoformat()],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": repo},
    )
    if ran.returncode and "ptrace" in ran.stderr.lower():
        pytest.skip("processes may not be traced here")
    assert (ran.returncode, ran.stdout) == (0, "time\n"), ran.stderr
    between = re.split(r"access\(\"/(?:begin|end)\".*\n", log.read_text())[1]
    calls = re.findall(r"^(?:\d+ +)?(\w+)\(", between, re.MULTILINE)
    files = [call for call in calls if re.search(r"stat|open|read|getdents|access", call)]
    assert len(files) == 1, between
    assert "stat" in files[0]
    assert lock.LOCK in between
