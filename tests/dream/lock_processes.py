"""Real processes that hold the lock of a dream, and some that are killed at each step of it (D3, D4).

python -m tests.dream.lock_processes hold DIRECTORY       does what it reads: take, write, succeed, fail, ours
python -m tests.dream.lock_processes deaths DIRECTORY …   one line of JSON for each step that killed one
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from memdir.dream import holder
from memdir.dream.lock import LOCK, Lock, look
from memdir.errors import MemdirError
from tests.cases import REPO

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
NOW_NS = 1774872000 * 10**9
PRIOR_NS = 1774785600123456789
"""A day before, to the nanosecond."""

DAY = 24 * 3600 * 10**9
NOBODY = 2**22 + 1
"""No Linux gives this PID."""


class Holder:
    """A process of its own, for as long as it is wanted."""

    def __init__(self, directory: Path) -> None:
        command = [sys.executable, "-m", "tests.dream.lock_processes", "hold", str(directory)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPO
        )

    def does(self, word: str) -> str:
        """Tell it to do something; what it says to that."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def kill(self, *, cleared_away: bool = True) -> None:
        self.process.kill()
        if cleared_away:
            self.process.wait()
        else:  # wait until it has ended, and leave it as it lies
            os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def wake(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@contextmanager
def holding(directory: Path) -> Iterator[Holder]:
    """A process that has taken the lock; gone afterwards."""
    one = Holder(directory)
    try:
        assert one.does("take") == "taken"
        yield one
    finally:
        one.process.kill()
        one.process.communicate()


def hold(directory: Path) -> None:
    """Be such a process. `write` writes a file into the directory, as holders do."""
    lock: Lock | None = None
    for line in sys.stdin:
        try:
            if line == "take\n":
                lock = Lock.take(directory, now=lambda: NOW)
                said = "taken"
            elif lock is None:
                said = "nothing taken"
            elif line == "write\n":
                with lock.held():
                    (directory / "written.md").write_text("by a holder\n")
                said = "written"
            elif line == "ours in a child\n":
                said = in_a_child(lock)
            else:
                said = str({"succeed": lock.succeed, "fail": lock.fail, "ours": lock.is_ours}[line.strip()]())
        except MemdirError as error:
            said = type(error).__name__
        print(said, flush=True)


def in_a_child(lock: Lock) -> str:
    child = os.fork()
    if not child:
        os._exit(lock.is_ours() or lock.succeed() or lock.fail())
    return str(bool(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))


@dataclass(frozen=True, kw_only=True)
class Death:
    """How a lock stood after a kill, and after the next process took it and gave it back unused."""

    start: str
    action: str
    step: str
    prior_ns: int | None
    free: bool
    last_ns: int | None
    by_stat: int | None
    taken: bool
    put_back: int | None
    left_over: list[str]


def record(**changes: object) -> bytes:
    """The record of a process of this machine that is gone."""
    gone = holder.this_process(prior_ns=PRIOR_NS, taken=holder.boottime())
    return holder.written(replace(gone, **{"pid": NOBODY, **changes}))  # type: ignore[arg-type]


def begin(directory: Path, start: str) -> int | None:
    """Make a directory whose lock is such a one; when the last consolidation was."""
    directory.mkdir()
    lock = directory / LOCK
    if start == "none":
        return None
    data = {
        "empty": b"",
        "freed": holder.freed(PRIOR_NS),
        "left": record(),
        "left, the first": record(prior_ns=None),
        "another program's": str(NOBODY).encode(),
        "long": b"no PID\n" * 300,
    }[start]
    lock.write_bytes(data)
    mtime = NOW_NS if start.startswith("left") else PRIOR_NS
    os.utime(lock, ns=(mtime, mtime))
    return None if start == "left, the first" else PRIOR_NS


STARTS = ("none", "empty", "freed", "left", "left, the first", "another program's", "long")
ACTIONS = ("take", "succeed", "fail")
_STEPS = ("open", "pwrite", "write", "ftruncate", "utime", "fsync", "link", "unlink")


def deaths(folder: Path, starts: Sequence[str] = STARTS) -> Iterator[Death]:
    """Kill a process before each change of the disk, and in the middle of each write, until one gets
    through.
    """
    for start in starts:
        for action in ACTIONS:
            for torn in (False, True):
                number = 0
                while (death := _death(folder, start, action, number, torn=torn)) is not None:
                    number += 1
                    yield death


def _death(folder: Path, start: str, action: str, number: int, *, torn: bool) -> Death | None:
    shutil.rmtree(folder, ignore_errors=True)
    prior = begin(folder, start)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            _mortal(number, writing, torn=torn)
            lock = Lock.take(folder, now=lambda: NOW)
            if action == "succeed":
                lock.succeed()
            elif action == "fail":
                lock.fail()
        except Exception:  # noqa: BLE001
            traceback.print_exc()
            os._exit(1)
        os.kill(os.getpid(), signal.SIGTERM)  # through; a taken lock stays behind
    os.close(writing)
    step = os.read(reading, 1000).decode()
    os.close(reading)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == -signal.SIGTERM:
        return None
    assert code == -signal.SIGKILL, "it ended by itself"
    return _looked_at(folder, start, action, step, prior)


def _looked_at(folder: Path, start: str, action: str, step: str, prior: int | None) -> Death:
    from memdir.dream.lock import last

    path, state, by_stat = folder / LOCK, look(folder, now=NOW), last(folder)
    lock = Lock.take(folder, now=lambda: NOW)
    lock.fail()
    return Death(
        start=start,
        action=action,
        step=step,
        prior_ns=prior,
        free=state.is_free,
        last_ns=state.last_ns,
        by_stat=by_stat,
        taken=lock.prior_ns == state.last_ns,
        put_back=path.stat().st_mtime_ns if path.exists() else None,
        left_over=sorted(one.name for one in folder.iterdir() if one != path),
    )


def _mortal(number: int, writing: int, *, torn: bool) -> None:
    """From here on, the call of this number to the disk is the last one; `torn`: the write of this number,
    which moves the times and writes nothing.
    """
    left = number

    def dying(name: str, call: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*args: object, **options: object) -> object:
            nonlocal left
            if not torn or name == "pwrite":
                if not left:
                    if torn:
                        _cut_off(args[0])
                    real_write(writing, f"{name}{' cut off' * torn} {number}".encode())
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
            return call(*args, **options)

        return wrapped

    real_write, real_pwrite = os.write, os.pwrite

    def _cut_off(fd: object) -> None:
        assert isinstance(fd, int)
        real_pwrite(fd, os.pread(fd, 1, 0), 0)

    for name in _STEPS:
        setattr(os, name, dying(name, getattr(os, name)))


def main() -> None:
    what, directory, *starts = sys.argv[1:]
    if what == "hold":
        return hold(Path(directory))
    for death in deaths(Path(directory), starts or STARTS):
        print(json.dumps(asdict(death)))
    return None


if __name__ == "__main__":
    main()
