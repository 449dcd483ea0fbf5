"""One dream at a time, and the time of the last one is never lost (D2-D4)."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.dream import holder
from memdir.dream.holder import Freed, Holder, Place, age_ns, fate, freed, parsed, written
from memdir.dream.lock import LOCK, STALE, Busy, Lock, Lost, State, last, look
from memdir.errors import UnsafePath
from tests.cases import REPO
from tests.dream.lock_processes import (
    DAY,
    NOBODY,
    NOW,
    NOW_NS,
    PRIOR_NS,
    begin,
    holding,
    record,
)
from tests.dream.lock_processes import (
    Holder as Process,
)

HOUR = 3600 * 10**9
HERE = Place(host="box", machine="m1", boot="b1", pidns="pid:[1]")
OURS = Holder(
    pid=4711,
    start=99,
    place=HERE,
    prior_ns=PRIOR_NS,
    tells_prior=True,
    taken=5,
    token="t",
)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    directory = tmp_path / "memory"
    directory.mkdir()
    return directory


def take(directory: Path, *, hours: float = 0) -> Lock:
    """Take it so many hours later, by both clocks."""
    boottime = holder.boottime()
    assert boottime is not None
    return Lock.take(
        directory,
        now=lambda: NOW + timedelta(hours=hours),
        boottime=lambda: boottime + int(hours * HOUR),
    )


def put(directory: Path, data: bytes, mtime_ns: int) -> Path:
    path = directory / LOCK
    path.write_bytes(data)
    os.utime(path, ns=(mtime_ns, mtime_ns))
    return path


def seen(path: Path) -> tuple[bytes, int]:
    return path.read_bytes(), path.stat().st_mtime_ns


# What is on the disk


def test_the_first_line_is_the_pid_and_the_time_that_of_the_taking_D2(memory: Path) -> None:
    lock = take(memory)
    assert (memory / LOCK).read_text().splitlines()[0] == str(os.getpid())
    assert (memory / LOCK).stat().st_mtime_ns == NOW_NS == lock.taken_ns
    assert stat.S_IMODE((memory / LOCK).stat().st_mode) == 0o600
    assert lock.prior_ns is None
    assert lock.is_ours()


@pytest.mark.parametrize("start", ["none", "empty", "freed", "left", "another program's", "long"])
def test_success_clears_the_pid_and_keeps_the_time_D4(tmp_path: Path, start: str) -> None:
    begin(tmp_path / "memory", start)
    lock = take(tmp_path / "memory")
    assert lock.succeed()
    data, mtime = seen(tmp_path / "memory" / LOCK)
    assert (data.splitlines()[0], mtime) == (b"", NOW_NS)
    assert last(tmp_path / "memory") == look(tmp_path / "memory", now=NOW).last_ns == NOW_NS
    assert look(tmp_path / "memory", now=NOW).is_free


@pytest.mark.parametrize("start", ["empty", "freed", "left", "another program's", "long"])
def test_failure_puts_the_old_time_back_to_the_nanosecond_D4(tmp_path: Path, start: str) -> None:
    begin(tmp_path / "memory", start)
    lock = take(tmp_path / "memory")
    if start == "another program's":  # which does not tell what was before it
        assert lock.prior_ns == PRIOR_NS
    assert lock.fail()
    data, mtime = seen(tmp_path / "memory" / LOCK)
    assert (data.splitlines()[0], mtime) == (b"", PRIOR_NS)
    assert last(tmp_path / "memory") == look(tmp_path / "memory", now=NOW).last_ns == PRIOR_NS


@pytest.mark.parametrize("start", ["none", "left, the first"])
def test_failure_of_the_first_leaves_no_file_D4(tmp_path: Path, start: str) -> None:
    begin(tmp_path / "memory", start)
    assert take(tmp_path / "memory").fail()
    assert list((tmp_path / "memory").iterdir()) == []
    assert look(tmp_path / "memory", now=NOW).last_ns is None


def test_a_lock_that_is_given_back_can_be_taken_again_D3(memory: Path) -> None:
    take(memory).succeed()
    lock = take(memory, hours=24)
    assert lock.prior_ns == NOW_NS
    assert lock.fail()
    assert last(memory) == NOW_NS


def test_giving_back_twice_does_nothing_D4(memory: Path) -> None:
    put(memory, b"", PRIOR_NS)
    lock = take(memory)
    assert lock.succeed()
    before = seen(memory / LOCK)
    assert not lock.fail()
    assert not lock.succeed()
    assert seen(memory / LOCK) == before


@pytest.mark.parametrize("start", ["empty", "freed"])
def test_when_was_the_last_costs_one_stat_D2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    begin(tmp_path / "memory", start)
    stats = 0
    real = os.lstat

    def counted(path: Path) -> os.stat_result:
        nonlocal stats
        stats += 1
        return real(path)

    def never(*_: object, **__: object) -> int:
        raise AssertionError("opened")

    with monkeypatch.context() as patch:
        patch.setattr(os, "lstat", counted)
        patch.setattr(os, "open", never)
        assert last(tmp_path / "memory") == PRIOR_NS
        assert stats == 1
        assert start == "freed" or look(tmp_path / "memory", now=NOW).last_ns == PRIOR_NS


def test_that_stat_does_not_tell_while_somebody_has_it_D2(memory: Path) -> None:
    assert last(memory) is None
    lock = take(memory)
    assert last(memory) is None
    assert look(memory, now=NOW).last_ns == NOW_NS
    lock.fail()
    assert last(memory) is None


def test_a_time_that_a_person_sets_counts_D2(memory: Path) -> None:
    take(memory).succeed()
    os.utime(memory / LOCK, ns=(PRIOR_NS, PRIOR_NS))
    assert last(memory) == look(memory, now=NOW).last_ns == PRIOR_NS
    (memory / LOCK).touch()
    assert last(memory) in {None, (memory / LOCK).stat().st_mtime_ns}
    assert look(memory, now=NOW).last_ns == (memory / LOCK).stat().st_mtime_ns


def test_a_look_changes_nothing_D2(memory: Path) -> None:
    assert look(memory, now=NOW) == State(
        last_ns=None, holder=None, why="free: there was no consolidation yet", is_free=True
    )
    assert list(memory.iterdir()) == []
    path = put(memory, record(), NOW_NS)
    before = path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ctime_ns
    assert look(memory, now=NOW).is_left
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ctime_ns) == before


# Who has it


def test_a_live_holder_keeps_others_out_D3(memory: Path) -> None:
    with holding(memory) as process:
        before = seen(memory / LOCK)
        with pytest.raises(Busy, match=f"held by process {process.process.pid} since") as refused:
            take(memory, hours=0.99)
        assert refused.value.state is not None
        assert refused.value.state.holder is not None
        assert refused.value.exit_code == 4
        assert seen(memory / LOCK) == before
        assert process.does("ours") == "True"


def test_it_keeps_itself_out_too_D3(memory: Path) -> None:
    lock = take(memory)
    with pytest.raises(Busy):
        take(memory)
    assert lock.is_ours()


def test_an_hour_is_too_long_and_a_nanosecond_less_is_not_D3(memory: Path) -> None:
    assert STALE == 3600
    path = put(memory, str(os.getpid()).encode(), NOW_NS - HOUR + 1)
    with pytest.raises(Busy):
        take(memory)
    os.utime(path, ns=(NOW_NS - HOUR, NOW_NS - HOUR))
    assert take(memory).is_ours()


@pytest.mark.parametrize("cleared_away", [True, False])
def test_a_killed_holder_is_reclaimed_at_once_D4(memory: Path, cleared_away: bool) -> None:
    put(memory, b"", PRIOR_NS)
    with holding(memory) as process:
        process.kill(cleared_away=cleared_away)
        state = look(memory, now=NOW)
        assert (state.is_free, state.is_left, state.last_ns) == (True, True, PRIOR_NS)
        assert "has ended" in state.why
        lock = take(memory)
        assert lock.prior_ns == PRIOR_NS
        assert lock.fail()
    assert last(memory) == PRIOR_NS


def test_a_pid_that_another_process_got_is_no_holder_D3(memory: Path) -> None:
    put(memory, record(pid=os.getpid(), start=1), NOW_NS)
    assert take(memory).prior_ns == PRIOR_NS


def test_a_stopped_holder_is_taken_over_and_can_write_no_more_D3(memory: Path) -> None:
    put(memory, b"", PRIOR_NS)
    with holding(memory) as process:
        process.stop()
        with pytest.raises(Busy):
            take(memory, hours=0.99)
        lock = take(memory, hours=1)
        assert lock.prior_ns == PRIOR_NS
        before = seen(memory / LOCK)
        process.wake()
        assert process.does("write") == "Lost"
        assert [process.does(word) for word in ("succeed", "fail", "ours")] == ["False"] * 3
    assert not (memory / "written.md").exists()
    assert seen(memory / LOCK) == before
    assert lock.succeed()


def test_a_holder_writes_and_nobody_takes_it_over_meanwhile_D3(memory: Path) -> None:
    lock = take(memory)
    with lock.held(), pytest.raises(Busy):
        take(memory, hours=2)
    assert lock.is_ours()
    assert take(memory, hours=2).prior_ns is None
    assert not lock.is_ours()


def test_an_error_of_what_is_done_inside_passes_as_it_is_D3(memory: Path) -> None:
    lock = take(memory)
    error = OSError(errno.ENOSPC, "full", "some.md")
    with pytest.raises(OSError, match="full") as raised, lock.held():
        raise error
    assert raised.value is error
    assert lock.succeed()


@pytest.mark.parametrize("how", ["removed", "replaced", "emptied", "its folder removed", "a link"])
def test_a_lock_that_is_gone_is_not_written_to_D3(memory: Path, tmp_path: Path, how: str) -> None:
    lock = take(memory)
    path = memory / LOCK
    other = tmp_path / "other"
    other.write_bytes(path.read_bytes())
    if how != "emptied":
        path.unlink()
    if how == "replaced":
        put(memory, record(), NOW_NS)
    elif how == "emptied":
        put(memory, b"", PRIOR_NS)
    elif how == "its folder removed":
        memory.rmdir()
    elif how == "a link":
        path.symlink_to(other)
    before = seen(path) if path.exists() else None
    assert not lock.is_ours()
    with pytest.raises(Lost), lock.held():
        pytest.fail("inside")
    assert not lock.succeed()
    assert not lock.fail()
    assert (seen(path) if path.exists() else None) == before


def test_a_forked_child_has_no_lock_D3(memory: Path) -> None:
    with holding(memory) as process:
        assert process.does("ours in a child") == "False"
        assert process.does("succeed") == "True"


def test_another_programs_lock_counts_by_its_pid_D3(memory: Path) -> None:
    path = put(memory, f"{os.getpid()}".encode(), NOW_NS)
    with pytest.raises(Busy):
        take(memory)
    path.write_text(f"{NOBODY}\n")
    os.utime(path, ns=(PRIOR_NS, PRIOR_NS))
    assert take(memory).prior_ns == PRIOR_NS


@pytest.mark.parametrize("changes", [{"host": "elsewhere"}, {"pidns": "pid:[1]"}])
def test_who_can_not_be_looked_at_goes_by_age_D3(memory: Path, changes: dict[str, str]) -> None:
    put(memory, record(place=replace(holder.here(), **changes)), NOW_NS)
    with pytest.raises(Busy, match="of another host or container"):
        take(memory, hours=0.99)
    assert take(memory, hours=1).prior_ns == PRIOR_NS


def test_a_clock_that_is_set_changes_no_age_D3(memory: Path) -> None:
    with holding(memory) as process:
        for days in (-400, -1, 1, 400):
            with pytest.raises(Busy):
                Lock.take(memory, now=lambda days=days: NOW + timedelta(days=days))  # type: ignore[misc]
        assert process.does("succeed") == "True"


@pytest.mark.parametrize("kind", ["nobody's", "another program's", "another host's"])
def test_a_time_far_in_the_future_does_not_block_for_ever_D3(memory: Path, kind: str) -> None:
    elsewhere = record(place=replace(holder.here(), boot="b", host="other"))
    data = {"nobody's": b"", "another program's": str(os.getpid()).encode()}.get(kind, elsewhere)
    put(memory, data, NOW_NS + 400 * DAY)
    assert take(memory).is_ours()


# What may be in its place, and disks that say no


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 200,
        b"no PID\n",
        b"-1\n",
        b"0\n",
        b"\xff\xfe4711",
        b"{}",
        b"\n" * 9999,
        b"9" * 9999,
        b"1e3",
        b"4 7",
    ],
)
def test_what_makes_no_sense_is_nobodys_D3(memory: Path, data: bytes) -> None:
    put(memory, data, PRIOR_NS)
    assert look(memory, now=NOW).last_ns == PRIOR_NS
    lock = take(memory)
    assert lock.prior_ns == PRIOR_NS
    lock.fail()
    assert last(memory) == PRIOR_NS


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "outside"
    path.write_bytes(b"not ours")
    yield path
    assert path.read_bytes() == b"not ours"


@pytest.mark.parametrize("kind", ["link", "link to nothing", "folder", "pipe", "socket"])
def test_only_a_file_may_be_in_its_place_A8(memory: Path, outside: Path, kind: str) -> None:
    path = memory / LOCK
    with ExitStack() as stack:
        if kind.startswith("link"):
            path.symlink_to(outside if kind == "link" else memory / "nothing")
        elif kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            here = Path.cwd()
            os.chdir(memory)  # the path of a socket is short
            stack.callback(os.chdir, here)
            stack.enter_context(socket.socket(socket.AF_UNIX)).bind(LOCK)
        before = path.lstat()
        with pytest.raises(UnsafePath):
            take(memory)
        state = look(memory, now=NOW)
        assert not state.is_free
        assert "remove it" in state.why
        assert last(memory) is None
        assert os.path.samestat(before, path.lstat())


def test_without_a_directory_there_is_nothing_to_take_D3(tmp_path: Path) -> None:
    assert look(tmp_path / "none", now=NOW).is_free
    with pytest.raises(FileNotFoundError):
        take(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def test_who_is_just_at_the_lock_is_not_waited_for_D3(memory: Path) -> None:
    path = put(memory, b"", PRIOR_NS)
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Busy, match="just at the lock"):
            take(memory)
    assert take(memory).prior_ns == PRIOR_NS


def test_a_lock_that_is_replaced_before_it_is_held_is_looked_at_again_D3(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(memory, b"", PRIOR_NS)
    real = fcntl.flock

    def replaced_first(fd: int, how: int) -> None:
        monkeypatch.undo()
        path.unlink()
        put(memory, record(pid=os.getpid(), start=None), NOW_NS)
        real(fd, how)

    monkeypatch.setattr(fcntl, "flock", replaced_first)
    with pytest.raises(Busy, match="held by"):
        take(memory)


def test_where_files_can_not_be_locked_nothing_is_taken_D3(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(memory, b"", PRIOR_NS)

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(Busy, match="can't be locked") as refused:
        take(memory)
    assert refused.value.hint
    assert seen(path) == (b"", PRIOR_NS)


def test_a_disk_without_hard_links_will_do_D3(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", no_links)
    lock = take(memory)
    assert lock.prior_ns is None
    assert [path.name for path in memory.iterdir()] == [LOCK]
    assert lock.fail()
    assert list(memory.iterdir()) == []


@pytest.mark.parametrize("start", ["none", "empty", "freed", "left", "left, the first"])
@pytest.mark.parametrize("call", ["pwrite", "ftruncate", "fsync"])
def test_a_full_disk_leaves_it_as_it_was_D4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str, call: str
) -> None:
    memory = tmp_path / "memory"
    prior = begin(memory, start)
    real, calls = getattr(os, call), 0

    def fails_once(*args: object) -> object:
        nonlocal calls
        calls += 1
        if calls > (start == "none" and call == "fsync") * 2:  # those of the temporary file, and its name
            monkeypatch.undo()
            raise OSError(errno.ENOSPC, "full")
        return real(*args)

    monkeypatch.setattr(os, call, fails_once)
    with pytest.raises(OSError, match="No space") as refused:
        take(memory)
    assert refused.value.filename == str(memory / LOCK)
    state = look(memory, now=NOW)
    assert (state.last_ns, state.is_free) == (prior, True)
    assert take(memory).prior_ns == prior


@pytest.mark.parametrize("start", ["none", "freed", "left", "empty"])
def test_killed_at_any_step_the_lock_can_be_taken_and_the_last_time_is_known_D4(
    tmp_path: Path, start: str
) -> None:
    command = [sys.executable, "-m", "tests.dream.lock_processes", "deaths", str(tmp_path / "memory"), start]
    ended = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True)
    deaths = list(map(json.loads, ended.stdout.splitlines()))
    assert len(deaths) > 20
    for death in deaths:
        right = {death["prior_ns"]} | ({NOW_NS} if death["action"] == "succeed" else set())
        assert death["free"], death
        assert death["taken"], death
        assert death["last_ns"] in right, death
        assert death["by_stat"] in {None, death["last_ns"]}, death
        assert death["put_back"] == death["last_ns"], death
        assert all(name.startswith(".memdir-") for name in death["left_over"]), death  # swept at a start


def test_one_that_died_without_a_word_can_be_mended_D4(memory: Path) -> None:
    put(memory, record(), NOW_NS)
    take(memory).fail()
    assert not look(memory, now=NOW).is_left
    assert last(memory) == PRIOR_NS


def test_two_processes_can_hand_it_over_D3(memory: Path) -> None:
    with holding(memory) as one:
        other = Process(memory)
        assert other.does("take") == "Busy"
        assert one.does("write") == "written"
        assert one.does("succeed") == "True"
        assert other.does("take") == "taken"
        assert one.does("write") == "Lost"
        assert other.does("fail") == "True"
        other.process.communicate("")
    assert last(memory) == NOW_NS


# Pure


@pytest.mark.parametrize(
    "one",
    [
        OURS,
        replace(OURS, prior_ns=None),
        replace(OURS, prior_ns=-1),
        replace(OURS, start=None, taken=None),
        replace(OURS, place=Place(host=None, machine=None, boot=None, pidns=None)),
    ],
)
def test_a_record_is_read_as_it_was_written_D2(one: Holder) -> None:
    assert parsed(written(one)) == one
    assert parsed(written(one) + b"start 1\nprior 1\nend\n") == one
    assert len(written(one)) < 512  # one sector


@pytest.mark.parametrize("last_ns", [None, 0, 1, -1, NOW_NS, 2**63 - 1, -(2**63)])
def test_what_was_given_back_is_read_as_it_was_written_D2(last_ns: int | None) -> None:
    assert parsed(freed(last_ns)) == parsed(freed(last_ns) + written(OURS)) == Freed(last_ns)
    assert len(freed(last_ns)) == holder.FREED_SIZE or last_ns is None
    assert len(freed(None)) != holder.FREED_SIZE


@pytest.mark.parametrize("end", range(len(written(OURS)) - 1))
def test_a_part_of_a_record_tells_no_wrong_time_D2(end: int) -> None:
    found = parsed(written(OURS)[:end])
    assert found is None or (isinstance(found, Holder) and not found.tells_prior) or found == OURS


@given(st.binary(max_size=6000))
def test_no_bytes_are_too_odd_D2(data: bytes) -> None:
    for one in (data, b"1\n" + data, b"1\n" + data + b"\nend\n"):
        found = parsed(one)
        assert found is None or isinstance(found, Holder | Freed)


@pytest.mark.parametrize(
    ("changes", "age", "alive", "wanted"),
    [
        ({}, 0, True, "alive"),
        ({}, 0, False, "gone"),
        ({}, HOUR - 1, True, "alive"),
        ({}, HOUR, True, "stale"),
        ({}, HOUR, False, "gone"),
        ({"place": None}, 0, True, "alive"),
        ({"place": None}, 0, False, "gone"),
        ({"place": replace(HERE, host="other")}, 0, False, "elsewhere"),
        ({"place": replace(HERE, host="other")}, HOUR, True, "stale"),
        ({"place": replace(HERE, pidns="pid:[2]")}, 0, False, "elsewhere"),
        ({"place": replace(HERE, pidns=None)}, 0, False, "elsewhere"),
        ({"place": replace(HERE, machine="m2")}, 0, False, "elsewhere"),
        ({"place": replace(HERE, boot="b0")}, 0, True, "gone"),
        ({"place": replace(HERE, boot=None)}, 0, False, "elsewhere"),
        ({"place": replace(HERE, boot="b0", machine=None)}, 0, False, "elsewhere"),
    ],
)
def test_the_fate_of_a_holder_D3(changes: dict[str, object], age: int, alive: bool, wanted: str) -> None:
    one = replace(OURS, **changes)  # type: ignore[arg-type]
    assert fate(one, here=HERE, age_ns=age, lives=lambda pid, start: alive) == wanted


def test_a_machine_without_an_id_goes_by_age_after_its_start_D3() -> None:
    here = replace(HERE, machine=None)
    before = replace(OURS, place=replace(here, boot="b0"))
    assert fate(before, here=here, age_ns=0, lives=lambda pid, start: False) == "elsewhere"


@pytest.mark.parametrize(
    ("changes", "boottime", "wanted"),
    [
        ({"taken": 5}, 12, 7),
        ({"taken": 12}, 5, 7),
        ({"taken": 5}, None, 100),
        ({"taken": None}, 12, 100),
        ({"place": None}, 12, 100),
        ({"place": replace(HERE, boot="b0")}, 12, 100),
        ({"place": replace(HERE, boot=None)}, 12, 100),
        ({"place": replace(HERE, host="other")}, 12, 7),  # a container of this machine
    ],
)
def test_ages_go_by_the_clock_that_nobody_sets_D3(
    changes: dict[str, object], boottime: int | None, wanted: int
) -> None:
    one = replace(OURS, **changes)  # type: ignore[arg-type]
    for mtime in (NOW_NS - 100, NOW_NS + 100):
        assert age_ns(one, here=HERE, mtime_ns=mtime, now_ns=NOW_NS, boottime=boottime) == wanted


def test_this_process_lives_and_nobody_does_not_D3() -> None:
    here = holder.this_process(prior_ns=None, taken=None)
    assert holder.lives(here.pid, here.start)
    assert holder.lives(here.pid, None)
    assert not holder.lives(here.pid, (here.start or 0) + 1)
    assert not holder.lives(NOBODY, None)
    assert not holder.lives(10**19 - 1, None)
    assert holder.lives(1, None)  # not ours, and there
    assert here.token != holder.this_process(prior_ns=None, taken=None).token
