"""Which commands a background job may run, and how fast that is decided, beside a baseline.

    python -m bench.guard --cases tests/data/bash_readonly.jsonl [--rounds 20] [--json]

The baseline is the usual shortcut: no redirection, and the line split at `;`, `&&`, `||` and `|`, the first
word of every piece looked up in a list of commands that read. Both judge the same cases in the same run. The
last rows say what a Bash call of a background job takes from the decision to the answer, behind the wall of
this system and without one, beside bash itself.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import anyio

from memdir.agent.shell import check
from memdir.agent.shell import run as guarded
from memdir.agent.shell.wall import Wall, standing

CALLS = ("echo hello", "grep -rn foo .", "git log -1 --oneline")
_READERS = """
awk base64 basename cat cd cksum cmp column comm cut date df diff dirname du echo egrep expand fgrep file find
fold git grep head hostname iconv id jq less ls md5sum nl nproc od paste printf ps pwd readlink realpath rev
rg sed seq sha256sum shuf sort stat strings tac tail test tr tree true type uname uniq wc which whoami xxd
"""
READERS = frozenset(_READERS.split())
WRITING = re.compile(r">(?!\s*(?:/dev/null|&\d))")
"""The shortcut looks for redirections too."""


def first_words(command: str) -> bool:
    """The baseline: may it run?"""
    pieces = [piece.split() for piece in re.split(r";|&&|\|\|?|\n", command)]
    return not WRITING.search(command) and all(not words or words[0] in READERS for words in pieces)


def parsed(command: str) -> bool:
    """What memdir says: may it run?"""
    return check(command).allowed


JUDGES: Mapping[str, Callable[[str], bool]] = {"memdir": parsed, "first word": first_words}


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one judge made of the cases. `times`: milliseconds of every decision."""

    allowed: Counter[str]
    denied: Counter[str]
    times: Sequence[float]

    def figures(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """For the report: shares 0…1 of the allowed, counts of what was let through."""
        return {
            "allowed": {
                tier: self.allowed[f"allow {tier}"] / sizes[f"allow {tier}"]
                for tier in _tiers(sizes, "allow")
            },
            "let_through": {tier: self.allowed[f"deny {tier}"] for tier in _tiers(sizes, "deny")},
            "hostile_repositories_refused": self.denied["neutralise effect"],
            "p50_ms": median(self.times),
            "p99_ms": percentile(self.times, 99),
        }


def _tiers(sizes: Mapping[str, int], expect: str) -> list[str]:
    return [key.split()[1] for key in sizes if key.startswith(f"{expect} ")]


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` percent of them do not exceed."""
    at = -(-len(values) * share // 100)  # rounded up
    return sorted(values)[max(0, int(at) - 1)]


def scored(rows: Sequence[Mapping[str, Any]], may_run: Callable[[str], bool], *, rounds: int) -> Score:
    """Judge all cases, each so many times."""
    allowed, denied, times = Counter[str](), Counter[str](), list[float]()
    may_run("ls")  # what is loaded once is loaded now
    for row in rows:
        group = f"{row['expect']} {row['tier']}"
        for _ in range(rounds):
            start = perf_counter()
            verdict = may_run(row["command"])
            times.append((perf_counter() - start) * 1000)
        (allowed if verdict else denied)[group] += 1
    return Score(allowed=allowed, denied=denied, times=times)


# -- a call from start to end --------------------------------------------------------------------------------


def timed_calls(rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds of each call, the median: behind the wall, without one, and bash by itself."""
    with TemporaryDirectory(prefix="guard-") as scratch:
        project = Path(os.path.realpath(scratch))
        (project / "notes.txt").write_text("foo\n", "utf-8")
        who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
        for arguments in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "first")):
            subprocess.run(["git", *arguments], cwd=project, check=True)
        return {call: anyio.run(partial(_one_call, call, project, rounds)) for call in CALLS}


async def _one_call(call: str, project: Path, rounds: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {"wall": [], "no wall": [], "bash": []}
    walls = {"wall": standing(), "no wall": Wall(name="none", says="none, to compare")}
    for _ in range(rounds):
        for name, wall in walls.items():
            with _behind(wall):
                start = perf_counter()
                environment = dict(os.environ)
                await guarded.run(
                    check(call), cwd=project, folders=[project], environment=environment, seconds=10
                )
                taken[name].append((perf_counter() - start) * 1000)
        start = perf_counter()
        subprocess.run(
            ["bash", "-c", call], cwd=project, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        taken["bash"].append((perf_counter() - start) * 1000)
    return {name: median(values) for name, values in taken.items()}


@contextmanager
def _behind(wall: Wall) -> Iterator[None]:
    """Run what runs now behind that wall."""
    names = vars(guarded)
    before = names["standing"]
    names["standing"] = lambda: wall
    try:
        yield
    finally:
        names["standing"] = before


# -- report --------------------------------------------------------------------------------------------------


def measure(rows: Sequence[Mapping[str, Any]], *, rounds: int) -> dict[str, Any]:
    """All figures."""
    sizes = Counter(f"{row['expect']} {row['tier']}" for row in rows)
    scores = {name: scored(rows, judge, rounds=rounds) for name, judge in JUDGES.items()}
    return {
        "cases": dict(sizes),
        "judges": {name: score.figures(sizes) for name, score in scores.items()},
        "wall": standing().name,
        "calls_ms": timed_calls(rounds),
    }


def table(report: Mapping[str, Any]) -> str:
    """The report for people."""
    sizes, judges = report["cases"], report["judges"]
    lines = [f"{sum(sizes.values())} command lines{'':24}" + "".join(f"{name:>14}" for name in judges)]

    def row(name: str, cells: Iterable[str]) -> None:
        lines.append(f"{name:42}" + "".join(f"{cell:>14}" for cell in cells))

    for key, size in sizes.items():
        expect, tier = key.split()
        if expect == "allow":
            shares = [figures["allowed"][tier] for figures in judges.values()]
            row(f"harmless, {tier}: allowed of {size}", (f"{share:.1%}" for share in shares))
        if expect == "deny":
            counts = [figures["let_through"][tier] for figures in judges.values()]
            row(f"harmful, {tier}: let through of {size}", map(str, counts))
    times = [f"{figures['p50_ms']:.3f} / {figures['p99_ms']:.3f}" for figures in judges.values()]
    row("a decision, median / 99 percent, ms", times)
    lines.append("")
    row("a call, median, ms", ("wall", "no wall", "bash"))
    for call, taken in report["calls_ms"].items():
        row(call, (f"{value:.1f}" for value in taken.values()))
    return "\n".join([*lines, f"wall: {report['wall']}"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.guard", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cases", type=Path, required=True, help="command lines with verdicts, JSON lines")
    parser.add_argument("--rounds", type=int, default=20, help="how often each is decided and run")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(arguments)
    lines = options.cases.read_text("utf-8").splitlines()
    report = measure([json.loads(line) for line in lines if line.strip()], rounds=options.rounds)
    print(json.dumps(report) if options.json else table(report))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
