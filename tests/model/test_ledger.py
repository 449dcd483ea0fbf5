"""The ledger of background work: its lines, its figures, and a limit that holds among processes (H3, A7)."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir import fs
from memdir.errors import OverBudget
from memdir.fs import files, folder
from memdir.model.known import Price
from memdir.model.ledger import FREE, Day, Ledger, Reservation, midnight, parsed, rows, weight
from memdir.model.messages import Usage
from tests.floor.failing_disk import Died, FailingDisk

NOON = datetime(2026, 5, 7, 12, tzinfo=UTC)
DAY = NOON.date()
PRICE = Price(input=2, output=10, cache_read=0.2, cache_write=2.5)
SPENT = Usage(input=1_000, cache_read=20_000, cache_write=500, output=300)
"""Counts as 3,500, costs 0.01025."""


def books(place: Path, *, limit: int | None = 10_000, now: Callable[[], datetime] = lambda: NOON) -> Ledger:
    return Ledger(place / "ledger", limit=limit, now=now)


def lines(place: Path, day: date = DAY) -> list[dict[str, Any]]:
    path = place / "ledger" / f"{day}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def spend(
    ledger: Ledger, usage: Usage, *, job: str = "extraction", model: str = "m", project: str | None = None
) -> None:
    ledger.settle(ledger.reserve(job, model, weight(usage), project=project), usage, PRICE)


# -- what is noted ------------------------------------------------------------------------------------------


def test_a_call_is_reserved_and_then_noted_with_what_it_took_H3(tmp_path: Path) -> None:
    ledger = books(tmp_path)
    room = ledger.reserve("extraction", "anthropic:x", 4_000, project="-shop", session="s1")
    assert (ledger.budget().used, ledger.budget().reserved, ledger.budget().left) == (0, 4_000, 6_000)
    ledger.settle(room, SPENT, PRICE)
    who = {"id": room.id, "at": "2026-05-07T12:00:00+00:00", "job": "extraction", "model": "anthropic:x",
           "project": "-shop", "session": "s1"}  # fmt: skip
    assert lines(tmp_path) == [
        {"kind": "reserved", **who, "tokens": 4_000},
        {"kind": "call", **who, "input": 1_000, "cacheRead": 20_000, "cacheWrite": 500, "output": 300,
         "usd": 0.01025, "counted": 3_500, "told": True},
    ]  # fmt: skip
    assert (ledger.budget().used, ledger.budget().reserved, ledger.budget().left) == (3_500, 0, 6_500)


def test_the_ledger_is_the_owners_alone_H3(tmp_path: Path) -> None:
    spend(books(tmp_path), SPENT)
    place = tmp_path / "ledger"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()] == [0o600]


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (Usage(), 0),
        (Usage(output=5_000), 0),
        (Usage(input=7), 7),
        (Usage(cache_write=7), 7),
        (Usage(cache_read=70), 7),
        (Usage(cache_read=71), 8),
        (Usage(input=1, cache_write=2, cache_read=30), 6),
    ],
)
def test_cache_reads_count_as_a_tenth_and_output_as_nothing_H3(usage: Usage, counted: int) -> None:
    assert weight(usage) == counted


@pytest.mark.parametrize(
    ("usage", "price", "usd"),
    [
        (SPENT, PRICE, 0.01025),
        (SPENT, None, None),
        (SPENT, Price(input=1, output=5), None),  # what a read from the cache costs is not known
        (Usage(input=1_000_000), Price(input=1, output=5), 1.0),
        (SPENT, FREE, 0.0),
        (None, PRICE, None),
        (None, FREE, 0.0),
        (Usage(), PRICE, 0.0),
    ],
)
def test_a_cost_is_known_or_not_and_free_is_nothing_H3(
    tmp_path: Path, usage: Usage | None, price: Price | None, usd: float | None
) -> None:
    ledger = books(tmp_path)
    ledger.settle(ledger.reserve("recall", "m", 100, likely=70), usage, price)
    (call,) = ledger.read(DAY).calls
    assert call.usd == usd
    assert (call.told, call.counted) == ((True, weight(usage)) if usage is not None else (False, 70))


# -- the limit ----------------------------------------------------------------------------------------------


def test_a_call_that_fits_exactly_is_made_and_one_token_more_is_not_H3(tmp_path: Path) -> None:
    ledger = books(tmp_path, limit=10_000)
    spend(ledger, Usage(input=4_000))
    ledger.settle(ledger.reserve("recall", "m", 6_000), Usage(), PRICE)
    with pytest.raises(OverBudget):
        ledger.reserve("recall", "m", 6_001)


def test_over_the_limit_the_error_says_how_much_until_when_and_which_setting_H3(tmp_path: Path) -> None:
    ledger = books(tmp_path, limit=10_000)
    spend(ledger, Usage(input=9_000))
    with pytest.raises(OverBudget) as refused:
        ledger.reserve("extraction", "m", 1_500)
    said = str(refused.value)
    assert "9,000 of 10,000 input tokens" in said
    assert "extraction" in said
    assert "1,500" in said
    assert "midnight" in said
    assert "budget.inputTokensPerDay" in str(refused.value.hint)
    assert (refused.value.lasts, refused.value.until) == (False, datetime(2026, 5, 8, tzinfo=UTC))


@pytest.mark.parametrize(("limit", "tokens"), [(0, 1), (0, 0), (100, 101)])
def test_where_no_day_would_have_room_waiting_is_of_no_use_H3(
    tmp_path: Path, limit: int, tokens: int
) -> None:
    with pytest.raises(OverBudget) as refused:
        books(tmp_path, limit=limit).reserve("recall", "m", tokens)
    assert (refused.value.lasts, refused.value.until) == (True, None)
    assert "midnight" not in str(refused.value)


def test_without_a_limit_nothing_is_refused_and_all_is_noted_H3(tmp_path: Path) -> None:
    ledger = books(tmp_path, limit=None)
    spend(ledger, Usage(input=10**9))
    spend(ledger, Usage(input=10**9))
    assert (ledger.budget().used, ledger.budget().left) == (2 * 10**9, None)


def test_a_call_that_was_not_made_gives_its_room_back_H3(tmp_path: Path) -> None:
    ledger = books(tmp_path, limit=100)
    for _ in range(3):
        ledger.settle(ledger.reserve("recall", "m", 100), Usage(), PRICE)
    assert (ledger.budget().left, len(ledger.read(DAY).calls)) == (100, 3)


def test_an_estimate_that_was_too_low_is_counted_as_it_was_H3(tmp_path: Path) -> None:
    ledger = books(tmp_path, limit=100)
    ledger.settle(ledger.reserve("recall", "m", 100), Usage(input=130), PRICE)
    assert (ledger.budget().used, ledger.budget().left) == (130, 0)
    with pytest.raises(OverBudget):
        ledger.reserve("recall", "m", 1)


def test_jobs_wait_until_there_is_room_for_them_again_H3(tmp_path: Path) -> None:
    ledger = books(tmp_path, limit=100)
    room = ledger.reserve("recall", "m", 70)
    for tokens in (50, 60, 40):
        with pytest.raises(OverBudget):
            ledger.reserve("extraction", "m", tokens)
    assert ledger.budget().waiting == ("extraction",)
    noted = [line["tokens"] for line in lines(tmp_path) if line["kind"] == "refused"]
    assert noted == [50, 40], "the same again, or more, is not noted again"
    ledger.settle(room, Usage(input=60), PRICE)
    assert ledger.budget().waiting == ()


def test_all_projects_and_ledgers_share_a_day_H3(tmp_path: Path) -> None:
    one, other = books(tmp_path), books(tmp_path, limit=5_000)
    spend(one, Usage(input=4_000), project="a")
    with pytest.raises(OverBudget):
        other.reserve("recall", "m", 1_001, project="b")
    spend(other, Usage(input=1_000), project="b")
    assert one.budget().used == 5_000


# -- days ---------------------------------------------------------------------------------------------------


def test_a_new_day_begins_at_the_persons_midnight_H3(tmp_path: Path) -> None:
    zone = timezone(timedelta(hours=9))
    moment = [datetime(2026, 5, 7, 23, 59, 59, tzinfo=zone)]  # in Greenwich it is 15:00
    ledger = books(tmp_path, limit=100, now=lambda: moment[0])
    spend(ledger, Usage(input=100))
    with pytest.raises(OverBudget) as refused:
        ledger.reserve("recall", "m", 1)
    assert refused.value.until == moment[0] + timedelta(seconds=1)
    moment[0] += timedelta(seconds=1)
    spend(ledger, Usage(input=100))
    assert ledger.days() == [date(2026, 5, 8), date(2026, 5, 7)]
    assert ledger.budget().waiting == ()


def test_a_call_over_midnight_counts_for_the_day_it_was_reserved_on_H3(tmp_path: Path) -> None:
    moment = [datetime(2026, 5, 7, 23, 59, 59, tzinfo=UTC)]
    ledger = books(tmp_path, now=lambda: moment[0])
    room = ledger.reserve("extraction", "m", 4_000)
    moment[0] += timedelta(minutes=5)
    ledger.settle(room, SPENT, PRICE)
    assert ledger.days() == [DAY]
    assert (ledger.read(DAY).used, ledger.read(DAY).reserved, ledger.budget().used) == (3_500, 0, 0)
    assert ledger.read(DAY).calls[0].at == "2026-05-08T00:04:59+00:00"


def test_the_reservation_of_a_process_that_died_counts_until_its_day_is_over_H3(tmp_path: Path) -> None:
    moment = [NOON]
    script = (
        "import os, sys; from datetime import datetime; from pathlib import Path;"
        "from memdir.model.ledger import Ledger;"
        "books = Ledger(Path(sys.argv[1]), limit=100, now=lambda: datetime.fromisoformat(sys.argv[2]));"
        "books.reserve('recall', 'm', 80); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "ledger", NOON.isoformat()], timeout=40)
    ledger = books(tmp_path, limit=100, now=lambda: moment[0])
    assert (ledger.budget().reserved, ledger.budget().left) == (80, 20)
    with pytest.raises(OverBudget):
        ledger.reserve("recall", "m", 21)
    moment[0] += timedelta(days=1)
    assert ledger.budget().left == 100


@given(st.integers(0, 10**10), st.integers(-14, 14))
def test_midnight_is_the_next_and_within_a_day_H3(seconds: int, hours: int) -> None:
    now = datetime.fromtimestamp(seconds, timezone(timedelta(hours=hours)))
    assert timedelta(0) < midnight(now) - now <= timedelta(days=1)
    assert midnight(now).date() == now.date() + timedelta(days=1)


# -- lines that are none ------------------------------------------------------------------------------------

ODD = [
    b"no json",
    b"[]",
    b"7",
    b"{}",
    b'{"kind":"other"}',
    b'{"kind":"call","id":"x"}',
    b'{"kind":"call","id":"x","at":"","job":"j","model":"m","counted":-5000}',
    b'{"kind":"call","id":"x","at":"","job":"j","model":"m","counted":1e99}',
    b'{"kind":"call","id":"x","at":"","job":"j","model":"m","usd":-1}',
    b'{"kind":"reserved","id":"x","at":"","job":"j","model":"m","tokens":"80"}',
    b'{"kind":"reserved","id":"x","at":"","job":"j","mod',
    b"\xff\xfe\x00",
    b"[" * 5_000,
]


@pytest.mark.parametrize("line", ODD, ids=repr)
def test_an_odd_line_is_passed_over_and_counted_H3(tmp_path: Path, line: bytes) -> None:
    ledger = books(tmp_path)
    spend(ledger, Usage(input=10))
    path = tmp_path / "ledger" / f"{DAY}.jsonl"
    path.write_bytes(path.read_bytes() + line)  # torn: without a line end
    spend(ledger, Usage(input=20))
    day = ledger.read(DAY)
    assert (day.used, day.reserved, day.odd, len(day.calls)) == (30, 0, 1, 2)


def test_a_later_memdir_may_say_more_in_a_line_H3() -> None:
    line = b'{"kind":"call","id":"x","at":"","job":"j","model":"m","counted":5,"what":["ever"]}\r\n\n'
    assert (parsed(line, day=DAY).used, parsed(line, day=DAY).odd) == (5, 0)


@given(st.binary(max_size=300) | st.lists(st.sampled_from(ODD)).map(b"\n".join))
def test_no_file_is_too_odd_to_be_read_H3(data: bytes) -> None:
    day = parsed(data, day=DAY)
    assert day.used >= 0
    assert day.odd <= data.count(b"\n") + 1


def test_where_a_settled_line_is_torn_the_reservation_still_counts_H3(tmp_path: Path) -> None:
    ledger = books(tmp_path)
    ledger.settle(ledger.reserve("recall", "m", 400), Usage(input=300), PRICE)
    path = tmp_path / "ledger" / f"{DAY}.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert (ledger.budget().used, ledger.budget().reserved) == (0, 400)


def test_other_files_beside_it_are_no_days_H3(tmp_path: Path) -> None:
    ledger = books(tmp_path)
    assert ledger.days() == []
    spend(ledger, SPENT)
    for name in ("notes.txt", "2026-13-01.jsonl", "x.jsonl", "2026-05-08"):
        (tmp_path / "ledger" / name).touch()
    assert ledger.days() == [DAY]


# -- a disk that says no ------------------------------------------------------------------------------------


def _on(disk: FailingDisk, monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    with monkeypatch.context() as patch:
        for module in (files, folder, fs.lock):
            patch.setattr(module, "os", disk)
        act()


@pytest.mark.parametrize("limit", [1_000, None])
@pytest.mark.parametrize("existed", [True, False])
def test_on_a_full_disk_no_call_is_made_unless_there_is_no_limit_H3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int | None, existed: bool
) -> None:
    for number in range(1, 40):
        place = tmp_path / str(number)
        ledger = books(place, limit=limit)
        if existed:
            spend(ledger, Usage(input=100))
        got: list[Reservation | OverBudget] = []

        def reserve(ledger: Ledger = ledger, got: list[Reservation | OverBudget] = got) -> None:
            try:
                got.append(ledger.reserve("recall", "m", 400))
            except OverBudget as error:
                got.append(error)

        disk = FailingDisk(number, death=False)
        _on(disk, monkeypatch, reserve)
        (came,) = got
        if isinstance(came, OverBudget):
            assert limit is not None
            assert not came.lasts
            assert "can't be noted" in str(came)
            assert "budget.inputTokensPerDay" in str(came.hint)
        else:
            ledger.settle(came, Usage(input=200), PRICE)
        if disk.ran_to_the_end:
            assert isinstance(came, Reservation)
            assert ledger.failure is None
            return
        assert ledger.budget().used + ledger.budget().reserved <= 500
        spend(books(place), Usage(input=1))
    pytest.fail("never ran to the end")


def test_what_can_not_be_settled_stays_reserved_and_costs_no_answer_H3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = books(tmp_path)
    room = ledger.reserve("recall", "m", 400)
    _on(FailingDisk(2, death=False), monkeypatch, lambda: ledger.settle(room, Usage(input=3), PRICE))
    assert ledger.failure is not None
    assert (ledger.budget().used, ledger.budget().reserved) == (0, 400)


def test_killed_at_any_point_a_process_leaves_no_room_that_is_not_there_H3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 60):
        ledger = books(tmp_path / str(number))
        asked: list[Reservation] = []

        def work(ledger: Ledger = ledger, asked: list[Reservation] = asked) -> None:
            with contextlib.suppress(Died, OverBudget):
                asked.append(ledger.reserve("recall", "m", 400))
                ledger.settle(asked[0], Usage(input=300), PRICE)

        disk = FailingDisk(number, death=True)
        _on(disk, monkeypatch, work)
        budget = ledger.budget()
        assert budget.used + budget.reserved >= (300 if asked else 0)
        if disk.ran_to_the_end:
            assert (budget.used, budget.reserved) == (300, 0)
            return
    pytest.fail("never ran to the end")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is refused to an administrator")
def test_a_folder_that_may_not_be_written_is_told_H3(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OverBudget, match="can't be noted"):
        books(tmp_path).reserve("recall", "m", 1)


def test_a_file_where_the_folder_should_be_is_told_H3(tmp_path: Path) -> None:
    (tmp_path / "ledger").touch()
    with pytest.raises(OverBudget, match="can't be noted"):
        books(tmp_path).reserve("recall", "m", 1)
    unlimited = books(tmp_path, limit=None)
    unlimited.settle(unlimited.reserve("recall", "m", 1), SPENT, PRICE)
    assert unlimited.failure is not None


# -- processes ----------------------------------------------------------------------------------------------

RACER = """
import sys
from datetime import datetime
from pathlib import Path
from memdir.errors import OverBudget
from memdir.model.ledger import Ledger
from memdir.model.messages import Usage
place, at, tokens, way = sys.argv[1:]
books = Ledger(Path(place), limit=1_000, now=lambda: datetime.fromisoformat(at))
print("ready", flush=True)
sys.stdin.readline()
made = 0
try:
    while True:
        room = books.reserve("recall", "m", int(tokens))
        made += 1
        if way == "settle":
            books.settle(room, Usage(input=int(tokens)), None)
except OverBudget:
    print(made, flush=True)
"""


def _race(place: Path, *, racers: int, tokens: int, way: str) -> list[int]:
    """How many calls each process made room for, all of them started at once."""
    words = [sys.executable, "-c", RACER, str(place / "ledger"), NOON.isoformat(), str(tokens), way]
    with contextlib.ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            for _ in range(racers)
        ]
        for one in started:
            assert one.stdout
            assert one.stdout.readline() == "ready\n"
        for one in started:
            assert one.stdin
            one.stdin.write("\n")
            one.stdin.flush()
        return [int(one.communicate(timeout=60)[0]) for one in started]


@pytest.mark.parametrize("way", ["settle", "hold"])
def test_two_processes_that_race_for_the_last_tokens_never_pass_the_limit_H3(
    tmp_path: Path, way: str
) -> None:
    made = _race(tmp_path, racers=2, tokens=7, way=way)
    budget = books(tmp_path, limit=1_000).budget()
    assert budget.used + budget.reserved == 7 * sum(made) == 994


def test_of_many_processes_that_want_more_than_half_one_gets_it_H3(tmp_path: Path) -> None:
    assert sorted(_race(tmp_path, racers=5, tokens=501, way="hold")) == [0, 0, 0, 0, 1]


# -- the figures --------------------------------------------------------------------------------------------


def _two_days(place: Path) -> list[Day]:
    moment = [NOON]
    ledger = books(place, limit=None, now=lambda: moment[0])
    spend(ledger, SPENT, job="extraction", model="a", project="p")
    spend(ledger, SPENT, job="extraction", model="a", project="q")
    ledger.settle(ledger.reserve("recall", "b", 100, likely=60), None, None)
    moment[0] += timedelta(days=1)
    spend(ledger, Usage(input=100), job="recall", model="a", project="p")
    return [ledger.read(day) for day in sorted(ledger.days())]


def test_calls_are_put_together_by_job_day_model_and_project_H3(tmp_path: Path) -> None:
    days = _two_days(tmp_path)
    assert [(row.job, row.calls, row.usage.input) for row in rows(days, ("job",))] == [
        ("extraction", 2, 2_000),
        ("recall", 2, 100),
    ]
    assert [(row.day, row.calls) for row in rows(days, ("day",))] == [
        (DAY, 3),
        (DAY + timedelta(days=1), 1),
    ]
    assert [(row.model, row.unpriced, row.untold, row.estimated) for row in rows(days, ("model",))] == [
        ("a", 0, 0, 0),
        ("b", 1, 1, 60),
    ]
    assert [(row.project, row.calls) for row in rows(days, ("project",))] == [(None, 1), ("p", 2), ("q", 1)]
    assert [(row.day, row.job, row.model, row.project) for row in rows(days)] == [
        (DAY, "extraction", "a", "p"),
        (DAY, "extraction", "a", "q"),
        (DAY, "recall", "b", None),
        (DAY + timedelta(days=1), "recall", "a", "p"),
    ]


def test_the_share_of_the_cache_is_that_of_all_input_together_A7(tmp_path: Path) -> None:
    (extraction, recall) = rows(_two_days(tmp_path), ("job",))
    assert extraction.usage.hit_percent == round(20_000 * 100 / 21_500, 1)
    assert recall.usage.hit_percent == 0.0
    assert extraction.usd == pytest.approx(2 * 0.01025)


def test_a_long_day_is_read_in_a_moment_H3(tmp_path: Path) -> None:
    ledger = books(tmp_path, limit=None)
    spend(ledger, SPENT, project="-home-ada-shop")
    reserved, call = (tmp_path / "ledger" / f"{DAY}.jsonl").read_bytes().splitlines()
    name = json.loads(call)["id"].encode()
    data = b"\n".join(
        line.replace(name, b"%016x" % number) for number in range(5_000) for line in (reserved, call)
    )
    day = parsed(data, day=DAY)
    assert (day.used, day.reserved, day.odd) == (5_000 * 3_500, 0, 0)
