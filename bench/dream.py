"""What it costs to find out that it is no time for a dream: `python -m bench.dream`.

    python -m bench.dream                       a table, with 5,000 transcripts
    python -m bench.dream --files 20000 --json  one JSON object

A project has so many transcripts in the folder of its root, and a few in folders below it. The rows:

    not yet            what nearly every turn pays: the last dream is not long enough ago
    never              no lock: the time passes, and the transcripts were looked through a moment ago
    folders            which folders have transcripts of this project, and no other's
    sessions           which of the transcripts were written to since: the names, and one stat each
    stat pass          one stat each, and nothing else: what looks at every file can't be faster
    glob and stat      the same as `sessions` by plain means
    glob and read      and with the last line of each read, for its time

`stats` and `other` are calls to the system by way of Python's `os` and `open`, counted in a run of their own.
All files are in the system's cache. The rounds of the rows alternate, so that a busy machine slows all of
them; the figures are medians. `cpu` is the process's own time, of which a busy machine takes less away.
"""

from __future__ import annotations

import argparse
import builtins
import io
import json
import os
import subprocess
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from memdir import paths
from memdir.dream import gates, lock, sessions
from memdir.paths import Places

FILES = 5_000
BELOW = 20
"""Folders below the root in which conversations were held, too."""

ROUNDS = 15
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LINE = json.dumps({"type": "assistant", "timestamp": "2026-11-29T12:00:00Z", "message": "x" * 900}) + "\n"
LINES = 8

_STATS = ("stat", "lstat", "fstat")
_OTHER = ("open", "scandir", "listdir", "access", "readlink", "read")


# -- counting ------------------------------------------------------------------------------------------------


class _Entry:
    """An `os.DirEntry` whose stat is counted; the system tells its kind with the name, for nothing."""

    def __init__(self, entry: os.DirEntry[str], calls: Counter[str]) -> None:
        self._entry, self._calls = entry, calls

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        self._calls["stat"] += 1
        return self._entry.stat(follow_symlinks=follow_symlinks)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)


class _Entries:
    def __init__(self, entries: Any, calls: Counter[str]) -> None:
        self._entries, self._calls = entries, calls

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *_: object) -> None:
        self._entries.close()

    def __iter__(self) -> Iterator[_Entry]:
        return (_Entry(entry, self._calls) for entry in self._entries)

    def close(self) -> None:
        self._entries.close()


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Counts what Python asks of the file system in here: by the name of the call."""
    calls = Counter[str]()

    def counting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            calls["stat" if name in _STATS else name] += 1
            done = real(*given, **named)
            return _Entries(done, calls) if name == "scandir" else done

        return call

    kept = {name: getattr(os, name) for name in (*_STATS, *_OTHER)}
    opens = builtins.open, io.open
    try:
        for name, real in kept.items():
            setattr(os, name, counting(name, real))
        builtins.open = counting("open", opens[0])
        io.open = counting("open", opens[1])
        yield calls
    finally:
        for name, real in kept.items():
            setattr(os, name, real)
        builtins.open, io.open = opens


# -- a project -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Project:
    """A project with many transcripts. `memory` has a lock of an hour ago."""

    places: Places
    memory: Path
    since_ns: int


def project(folder: Path, files: int) -> Project:
    """Make it: half of the transcripts are younger than the lock."""
    root = folder / "shop"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True, timeout=60)
    paths.forget_roots()
    places = paths.resolve(root, environment={"HOME": str(folder / "home")})
    since = int((NOW - timedelta(hours=1)).timestamp()) * 10**9
    for number in range(files):
        at = since + (number - files // 2) * 10**9
        write(places.transcripts, cwd=root, at_ns=at)
    for number in range(BELOW):
        cwd = root / f"part_{number}"
        cwd.mkdir()
        write(places.transcripts.with_name(paths.slug(cwd, layout="memdir")), cwd=cwd, at_ns=since + 1)
    memory = places.memory or folder
    memory.mkdir(parents=True)
    held = memory / lock.LOCK
    held.touch()
    os.utime(held, ns=(since, since))
    return Project(places=places, memory=memory, since_ns=since)


def write(folder: Path, *, cwd: Path, at_ns: int) -> Path:
    """A transcript of that folder, written to at that time."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{uuid.uuid4()}.jsonl"
    head = json.dumps({"type": "session", "version": 1, "cwd": str(cwd)})
    path.write_text(f"{head}\n{LINE * LINES}", "utf-8")
    os.utime(path, ns=(at_ns, at_ns))
    return path


# -- what is measured ----------------------------------------------------------------------------------------


def not_yet(where: Project) -> str:
    """The answer after nearly every turn."""
    closed = gates.first_closed(
        (
            partial(gates.switched_on, dream=True, daily_log=False),
            lambda: gates.time(lock.last(where.memory), now=NOW),
            lambda: gates.sessions(scan(where)),
        )
    )
    return closed.name if closed else "open"


def never(where: Project) -> str:
    """The answer where there was no dream yet, and the transcripts were looked through a moment ago."""
    closed = gates.first_closed(
        (
            partial(gates.switched_on, dream=True, daily_log=False),
            lambda: gates.time(lock.last(where.memory / "nowhere"), now=NOW),
            partial(gates.throttle, NOW - timedelta(minutes=1), now=NOW),
            lambda: gates.sessions(scan(where)),
        )
    )
    return closed.name if closed else "open"


def scan(where: Project) -> int:
    """How many conversations there were since."""
    return sessions.count((where.places.transcripts,), since_ns=where.since_ns, but=None)


def naive(where: Project, *, read: bool) -> int:
    """The same by plain means."""
    found = 0
    for path in where.places.transcripts.glob("*.jsonl"):
        if read:
            last = path.read_text("utf-8").splitlines()[-1]
            found += bool(json.loads(last)["timestamp"]) and path.stat().st_mtime_ns > where.since_ns
        else:
            found += path.is_file() and path.stat().st_mtime_ns > where.since_ns
    return found


def stat_pass(where: Project) -> int:
    """The yardstick."""
    with os.scandir(where.places.transcripts) as entries:
        return sum(entry.stat(follow_symlinks=False).st_mtime_ns > where.since_ns for entry in entries)


ROWS: dict[str, tuple[Callable[[Project], object], bool]] = {
    "not yet": (not_yet, False),
    "never": (never, False),
    "folders": (lambda where: sessions.folders(where.places), False),
    "sessions": (scan, True),
    "stat pass": (stat_pass, True),
    "glob and stat": (partial(naive, read=False), True),
    "glob and read": (partial(naive, read=True), True),
}
"""What is done, and whether it looks at each transcript."""


def figures(files: int, rounds: int) -> dict[str, dict[str, float]]:
    """The table."""
    with TemporaryDirectory(prefix="memdir-") as name:
        where = project(Path(name).resolve(), files)
        assert (not_yet(where), never(where)) == ("time", "throttle")
        assert scan(where) == naive(where, read=True) == naive(where, read=False)
        took: dict[str, list[tuple[float, float]]] = {row: [] for row in ROWS}
        for _ in range(rounds):
            for row, (work, _each) in ROWS.items():
                began, used = perf_counter(), process_time()
                work(where)
                took[row].append(((perf_counter() - began) * 1_000, (process_time() - used) * 1_000))
        table: dict[str, dict[str, float]] = {}
        for row, (work, each) in ROWS.items():
            with counted() as calls:
                work(where)
            ms, cpu = (median(column) for column in zip(*took[row], strict=True))
            table[row] = {"stats": calls["stat"], "other": calls.total() - calls["stat"], "ms": round(ms, 3)}
            if each:
                table[row]["ms per 1,000"] = round(ms / files * 1_000, 3)
                table[row]["cpu per 1,000"] = round(cpu / files * 1_000, 3)
        return table


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m bench.dream")
    given.add_argument("--files", type=int, default=FILES)
    given.add_argument("--rounds", type=int, default=ROUNDS)
    given.add_argument("--json", action="store_true")
    options = given.parse_args()
    table = figures(options.files, options.rounds)
    if options.json:
        print(json.dumps({"files": options.files, "rounds": options.rounds, "rows": table}, indent=2))
        return
    print(f"is it time for a dream? {options.files:,} transcripts, median of {options.rounds}")
    print(f"{'':<16}{'stats':>8}{'other':>8}{'ms':>10}{'ms per 1,000':>14}{'cpu':>8}")
    for row, found in table.items():
        each = (
            f"{found['ms per 1,000']:>14.2f}{found['cpu per 1,000']:>8.2f}" if "ms per 1,000" in found else ""
        )
        print(f"{row:<16}{found['stats']:>8,}{found['other']:>8,}{found['ms']:>10.3f}{each}")


if __name__ == "__main__":
    main()
