"""Mutated command lines against the check of read-only Bash: what it allows is run, and does nothing (A6).

    python -m tests.stress.shell_fuzz --seed 1 2 3 4 5 --count 4000 --jobs 2

One line for each seed: how many lines were made, how many of them differ, are allowed by the check and by
the rights of a fork, how many were run (each twice, see `shell_judge`), and what came of it. Exits with 1,
naming the commands, if one had an effect.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.agent.shell.fixture import Ground, build, copy, decide
from tests.stress.shell_judge import Judge, Offence, has_sandbox, runnable
from tests.stress.shell_mutants import mutants


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What came of one seed. `allowed`: by the check; `run`: what a fork may run of it."""

    seed: int
    generated: int
    distinct: int
    allowed: int
    run: int
    offences: tuple[Offence, ...]
    seconds: float

    def line(self) -> str:
        """In one line."""
        leaks = sum(offence.leak for offence in self.offences)
        return (
            f"seed {self.seed}: {self.generated:,} generated, {self.distinct:,} distinct, "
            f"{self.allowed:,} allowed ({self.allowed / max(self.distinct, 1):.0%}), {self.run:,} run, "
            f"{len(self.offences) - leaks} effects, {leaks} leaks, {self.seconds:.0f} s"
        )


def run(seed: int, count: int, *, jobs: int = 1) -> Tally:
    """Make so many command lines, and run what is allowed."""
    start = time.monotonic()
    lines = list(dict.fromkeys(mutants(seed, count)))
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        root = Path(os.path.realpath(scratch))
        template = build(root / "template")
        shares = [(str(root), at, lines[at::jobs]) for at in range(jobs)]
        if jobs == 1:
            parts = [_share(*shares[0])]
        else:
            with ProcessPoolExecutor(jobs) as pool:
                parts = list(pool.map(_share, *zip(*shares, strict=True)))
        assert template.project.is_dir()
    return Tally(
        seed=seed,
        generated=count,
        distinct=len(lines),
        allowed=sum(part[0] for part in parts),
        run=sum(part[1] for part in parts),
        offences=tuple(offence for part in parts for offence in part[2]),
        seconds=time.monotonic() - start,
    )


def _share(root: str, number: int, lines: Sequence[str]) -> tuple[int, int, list[Offence]]:
    """The part of one process: how many are allowed, how many were run, what they did."""
    template = Ground(root=Path(root, "template"))
    judge = Judge(template, copy(template, Path(root, str(number))))
    judge.settle()
    with _at_home(judge.ground.home):
        allowed, chosen, broken = 0, list[str](), list[Offence]()
        for line in lines:
            verdict, refused = decide(line, judge.ground)
            allowed += verdict.allowed
            if not refused and runnable(line):
                chosen.append(line)
            elif not refused:
                broken.append(Offence(command=line, how="check", what=("cannot be run",), leak=False))
        return allowed, len(chosen), [*broken, *judge.judge(chosen)]


@contextmanager
def _at_home(home: Path) -> Iterator[None]:
    """`~` of this process is the home of the ground, as for an agent that works there."""
    before = os.environ.get("HOME")
    os.environ["HOME"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["HOME"]
        else:
            os.environ["HOME"] = before


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress.shell_fuzz")
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--count", type=int, default=4_000, help="command lines for each seed")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    if not has_sandbox():
        print("no bubblewrap here: the raw text runs in the throw-away folders", file=sys.stderr)
    failed = 0
    for seed in dict.fromkeys(options.seed):
        tally = run(seed, options.count, jobs=options.jobs)
        print(tally.line(), flush=True)
        for offence in tally.offences:
            failed = 1
            print(f"  {offence.how}: {offence.command!r}: {'; '.join(offence.what)}")
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
