"""Many processes reach for one lock at the same instant; holders are killed, and stopped (D3, D4).

    python -m tests.stress.lock_racers --rounds 200 --processes 32 --seed 1

Each round leaves a lock that may be taken, in one of several ways. All racers have found it free when they
are released, at once: one of them gets it. Beside it stands what a lock of the same form does without
`flock`: write the own PID, read it back, equal means mine.

Then as many holders are killed at a random moment: the next process takes the lock at once, and the time of
the last consolidation is what it was, to the nanosecond. Some are stopped instead, taken over after an hour,
and woken: they can't write, and giving back does nothing.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from multiprocessing.sharedctypes import SynchronizedArray
from multiprocessing.synchronize import Barrier
from pathlib import Path

from memdir.dream import holder
from memdir.dream.lock import LOCK, Busy, Lock, Lost, last, look

HOUR = 3600 * 10**9
NOBODY = 2**22 + 1
"""No Linux gives this PID."""

NAIVE_ROUNDS = 20
STOPPED_EVERY = 10
"""One in so many holders is stopped, not killed."""

AHEAD_NS = 20_000_000
"""How long before the instant the racers get ready for it."""

PATIENCE = 60.0
"""Seconds after which a racer that does not come back has failed."""

FORK = multiprocessing.get_context("fork")
TAKEN, REFUSED, BROKEN = 1, 2, 3


def now() -> datetime:
    return datetime.now(UTC)


class Left:
    """The ways in which a lock is left, so that the next one may take it."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.prior_ns = 0
        self.kinds: dict[str, Callable[[], bytes | None]] = {
            "never there": lambda: None,
            "free, as we leave it": lambda: holder.freed(self.prior_ns),
            "free and empty": lambda: b"",
            "of a dead one": lambda: self._record(pid=NOBODY),
            "of a dead one whose PID another got": lambda: self._record(pid=os.getpid(), start=1),
            "of a live one, for an hour": lambda: self._record(taken=self._boottime() - HOUR),
            "of another host, an hour ago": lambda: self._record(
                place=replace(holder.here(), host="other"), taken=None
            ),
            "of another program that died": lambda: str(NOBODY).encode(),
        }

    def put(self, directory: Path) -> str:
        """Leave it so; in what way."""
        kind = self._chance.choice(list(self.kinds))
        self.prior_ns = time.time_ns() - self._chance.randint(24 * HOUR, 900 * HOUR)
        data, path = self.kinds[kind](), directory / LOCK
        path.unlink(missing_ok=True)
        if data is not None:
            path.write_bytes(data)
            os.utime(path, ns=(self.prior_ns, self.prior_ns))
        return kind

    def _record(self, **changes: object) -> bytes:
        one = holder.this_process(prior_ns=self.prior_ns, taken=self._boottime())
        return holder.written(replace(one, **changes))  # type: ignore[arg-type]

    def _boottime(self) -> int:
        found = holder.boottime()
        assert found is not None, "there is no such clock here"
        return found


@dataclass
class Count:
    """How the rounds of a race ended."""

    rounds: int = 0
    holders: int = 0
    doubles: int = 0
    nobody: int = 0
    kinds: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"{self.rounds} rounds, {self.holders} holders, {self.doubles} doubles, {self.nobody} without one"
        )

    def add(self, kind: str, holders: int) -> None:
        self.rounds += 1
        self.holders += holders
        self.doubles += holders > 1
        self.nobody += holders == 0
        self.kinds[kind] = self.kinds.get(kind, 0) + 1


class Ours:
    """The lock. A look at it beforehand, as the gates take one, decides nothing."""

    def look(self, directory: Path) -> bool:
        return look(directory, now=now()).is_free

    def take(self, directory: Path) -> bool:
        """Take it, and write as its holder. Stays the holder."""
        try:
            lock = Lock.take(directory, now=now)
        except Busy:
            return False
        with lock.held(), (directory / "written").open("a") as file:
            file.write(f"{os.getpid()}\n")
        return True


class Naive:
    """The same file without `flock`: one that was found free is written to, and the last PID wins."""

    def look(self, directory: Path) -> bool:
        path = directory / LOCK
        if not path.exists():
            return True
        pid, age = path.read_text(errors="replace").split("\n")[0], time.time() - path.stat().st_mtime
        return not pid.isdecimal() or age >= 3600 or not holder.lives(int(pid), None)

    def take(self, directory: Path) -> bool:
        path, mine = directory / LOCK, str(os.getpid())
        path.write_text(mine)
        return path.read_text() == mine


def race(directory: Path, way: Ours | Naive, *, rounds: int, processes: int, seed: int) -> Count:
    """Let them race. Raises AssertionError if one does not come back, or a loser wrote."""
    left, count = Left(random.Random(seed)), Count()
    barrier, said, start = (
        FORK.Barrier(processes + 1),
        FORK.Array("i", processes),
        FORK.RawValue(ctypes.c_int64),
    )
    racers = [
        FORK.Process(
            target=run_racer, args=(directory, way, rounds, barrier, start, said, number), daemon=True
        )
        for number in range(processes)
    ]
    for racer in racers:
        racer.start()
    try:
        for _ in range(rounds):
            kind = left.put(directory)
            (directory / "written").unlink(missing_ok=True)
            start.value = 0
            barrier.wait(PATIENCE)  # have a look
            barrier.wait(PATIENCE)  # all have found it free; this lets them go one after the other
            start.value = time.monotonic_ns() + AHEAD_NS
            barrier.wait(PATIENCE)  # all are back, and whoever has it still has it
            assert BROKEN not in said[:], f"a racer failed, at a lock {kind}"
            count.add(kind, said[:].count(TAKEN))
            if isinstance(way, Ours):
                assert (directory / "written").read_text().count("\n") == said[:].count(TAKEN)
    except BaseException:
        barrier.abort()
        raise
    finally:
        for racer in racers:
            racer.join(PATIENCE)
    return count


def run_racer(
    directory: Path,
    way: Ours | Naive,
    rounds: int,
    barrier: Barrier,
    start: ctypes.c_int64,
    said: SynchronizedArray[int],
    number: int,
) -> None:
    for _ in range(rounds):
        barrier.wait(PATIENCE)
        free = way.look(directory)
        barrier.wait(PATIENCE)
        try:
            assert free, "it was not left free"
            while not start.value or time.monotonic_ns() < start.value:
                os.sched_yield()
            said[number] = TAKEN if way.take(directory) else REFUSED
        except Exception as error:  # noqa: BLE001
            print(type(error).__name__, error, file=sys.stderr)
            said[number] = BROKEN
        barrier.wait(PATIENCE)


@contextmanager
def holding(directory: Path, *, ready_after: str) -> Iterator[tuple[int, int, int]]:
    """A child that takes the lock, and is at its work, or gives it back and takes it again all the time: its
    PID, and the ends of pipes to read what it says and to tell it to go on.
    """
    heard, says = os.pipe()
    listens, tell = os.pipe()
    child = os.fork()
    if not child:
        try:
            hold(directory, listens, says, busy=ready_after == "begin")
        finally:
            os._exit(1)
    os.close(says)
    os.close(listens)
    try:
        assert os.read(heard, 1) == b"+", "it did not get the lock"
        yield child, heard, tell
    finally:
        os.close(heard)
        os.close(tell)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def hold(directory: Path, listens: int, says: int, *, busy: bool) -> None:
    if busy:
        os.write(says, b"+")
        while True:
            Lock.take(directory, now=now).fail()
    lock = Lock.take(directory, now=now)
    os.write(says, b"+")
    os.read(listens, 1)
    try:
        with lock.held():
            os.write(says, b"wrote")
    except Lost:
        os.write(says, f"lost {lock.succeed()} {lock.fail()} {lock.is_ours()}".encode())
    os.read(listens, 1)


def killed(directory: Path, left: Left, *, rounds: int, chance: random.Random) -> int:
    """Kill holders while they hold it, and others at any moment; how many were gone in the midst of it."""
    found = 0
    for _ in range(rounds):
        kind = left.put(directory)
        wanted = None if kind == "never there" else left.prior_ns
        with holding(directory, ready_after=chance.choice(["begin", "taken"])) as (child, _, _):
            time.sleep(chance.random() * 0.02)
            os.kill(child, signal.SIGKILL)
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            state = look(directory, now=now())
            found += state.is_left
            assert state.is_free, f"not to be taken: {state.why}"
            assert state.last_ns == wanted, f"the last time is lost, of a lock {kind}"
            assert last(directory) in {None, wanted}
            lock = Lock.take(directory, now=now)
            assert lock.prior_ns == wanted
            assert lock.fail()
            assert look(directory, now=now()).last_ns == wanted
            path = directory / LOCK
            assert (path.stat().st_mtime_ns if path.exists() else None) == wanted
    return found


def stopped(directory: Path, left: Left, *, rounds: int) -> int:
    """Stop holders, take the lock over after an hour, and wake them; how many."""
    for _ in range(rounds):
        kind = left.put(directory)
        wanted = None if kind == "never there" else left.prior_ns
        with holding(directory, ready_after="taken") as (child, heard, tell):
            os.kill(child, signal.SIGSTOP)
            os.waitid(os.P_PID, child, os.WSTOPPED)
            refused = False
            try:
                later(directory, 0.99)
            except Busy:
                refused = True
            assert refused, "taken from a live one"
            lock = later(directory, 1)
            assert lock.prior_ns == wanted
            before = (directory / LOCK).read_bytes(), (directory / LOCK).stat().st_mtime_ns
            os.kill(child, signal.SIGCONT)
            os.write(tell, b"+")
            assert os.read(heard, 100) == b"lost False False False", "it could write"
            assert before == ((directory / LOCK).read_bytes(), (directory / LOCK).stat().st_mtime_ns)
            assert lock.succeed()
    return rounds


def later(directory: Path, hours: float) -> Lock:
    """Take it, so many hours from now."""
    began = holder.boottime()
    assert began is not None
    return Lock.take(
        directory,
        now=lambda: now() + timedelta(hours=hours),
        boottime=lambda: began + int(hours * HOUR),
    )


def run(folder: Path, *, rounds: int, processes: int, seed: int) -> list[str]:
    """All of it; what to print. Raises AssertionError with what went wrong."""
    chance = random.Random(seed)
    left = Left(chance)
    count = race(folder, Ours(), rounds=rounds, processes=processes, seed=seed)
    assert (count.holders, count.doubles, count.nobody) == (rounds, 0, 0), count
    baseline = race(folder, Naive(), rounds=min(rounds, NAIVE_ROUNDS), processes=processes, seed=seed)
    gone = killed(folder, left, rounds=rounds, chance=chance)
    woken = stopped(folder, left, rounds=-(-rounds // STOPPED_EVERY))
    assert {path.name for path in folder.iterdir()} - {LOCK, "written"} <= {
        path.name for path in folder.glob(".memdir-*.tmp")
    }
    return [
        f"{processes} processes at once",
        f"  the lock           {count}",
        f"  write, then verify {baseline}",
        f"{rounds} holders killed, {gone} of them with the lock in hand: each taken at once,",
        "  the time of the last consolidation kept to the nanosecond",
        f"{woken} holders stopped for an hour: each taken over; woken, none could write",
        "locks that were raced for:",
        *(f"  {number:4} {kind}" for kind, number in sorted(count.kinds.items())),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = run(Path(folder), rounds=options.rounds, processes=options.processes, seed=options.seed)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
