"""Random edits to a memory directory: after each, every index of it answers as a fresh one does (M6).

python -m tests.stress.edits --edits 10000 --seed 1

Compared are two indexes of this process and one of another, which share a cache, and now and then a process
that has just begun. Afterwards several processes edit and ask at the same time; then all agree.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random

from memdir.memory.index import Index, Term
from memdir.memory.words import words
from tests.cases import REPO
from tests.stress.editor import NAMES, SAID, Editor

__all__ = ["QUERIES", "SAID", "TERMS", "Editor", "Reader", "answers", "fresh", "race", "run"]

QUERIES = ("the canary and its traffic", "部署到生产环境", "zq-4090", "valve", "replica frost カナリア", "")
TERMS = [[Term(word) for word in dict.fromkeys(words(query))] for query in QUERIES]
RACERS = 4


def answers(index: Index) -> list[object]:
    """What the index says, in so far as callers can see it."""
    index.refresh()
    ranked = [[(hit.file, hit.score, dict(hit.words)) for hit in index.rank(terms)] for terms in TERMS]
    newest = [
        (one.file, one.name, one.description, one.type, one.traits, tuple(one.named), one.modified, one.size)
        for one in index.newest(100)
    ]
    standing = [index.standing(words(query)) for query in QUERIES]
    return [index.size, ranked, newest, index.moments(), standing, [one.file for one in index.files(NAMES)]]


def fresh(memory: Path) -> list[object]:
    """What an index says that has just been made."""
    with closing(Index(str(memory), cache=None, clock=time.time_ns)) as index:
        return answers(index)


class Reader:
    """An index in a process of its own. `edits`: so many it makes itself, before it answers first."""

    def __init__(self, memory: Path, cache: Path, *, edits: int = 0, seed: int = 0) -> None:
        command = [sys.executable, "-m", "tests.stress.edits", "--edits", str(edits), "--seed", str(seed)]
        self._process = subprocess.Popen(
            [*command, "--read", str(memory), str(cache)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPO,
        )

    def begin(self) -> None:
        """Ask; the answer is awaited in `end`."""
        assert self._process.stdin is not None
        self._process.stdin.write("?\n")
        self._process.stdin.flush()

    def end(self) -> str:
        """The answers, as `ascii` writes them; nothing if the process has failed."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ask(self) -> str:
        """What it says now."""
        self.begin()
        return self.end()

    def close(self) -> None:
        """Let the process end."""
        self._process.communicate()


def read(memory: Path, cache: Path, *, edits: int, seed: int) -> None:
    """Be a reader: answer each line of the input; before the first one, make the edits, asking after each."""
    editor = Editor(memory, Random(seed))
    with closing(Index(str(memory), cache=str(cache), clock=time.time_ns)) as index:
        for _ in sys.stdin:
            for _ in range(edits):
                editor.edit()
                answers(index)
            edits = 0
            print(ascii(answers(index)), flush=True)


@contextmanager
def folders() -> Iterator[tuple[Path, Path]]:
    """A memory directory, and the folder for its index."""
    with tempfile.TemporaryDirectory() as scratch:
        memory = Path(scratch, "memory")
        memory.mkdir()
        yield memory, Path(scratch, "cache")


def run(*, edits: int, seed: int, every: int = 1, said: Callable[[str], None] = lambda _: None) -> int:
    """Make the edits, and compare after `every` so many. How often it was compared.

    Raises:
        AssertionError: an index answered otherwise than a fresh one; says after which edit.
    """
    with folders() as (memory, cache), ExitStack() as stack:
        editor = Editor(memory, Random(seed))
        old, other = (
            stack.enter_context(closing(Index(str(memory), cache=str(cache), clock=time.time_ns)))
            for _ in range(2)
        )
        process = stack.enter_context(closing(Reader(memory, cache)))
        askers = [lambda: ascii(answers(old)), lambda: ascii(answers(other)), process.ask]
        compared = 0
        for at in range(1, edits + 1):
            made = editor.edit()
            if at % every:
                continue
            compared += 1
            right = ascii(fresh(memory))
            for ask in (*askers[at % 3 :], *askers[: at % 3]):
                found = ask()
                assert found == right, f"seed {seed}, edit {at} ({made}): {found} is not {right}"
            if at % 500 == 0:
                with closing(Reader(memory, cache)) as new:
                    assert new.ask() == right, f"seed {seed}, edit {at}: a process that has just begun"
                said(f"{at:,} of {edits:,} edits")
        return compared


def race(*, processes: int, edits: int, seed: int) -> None:
    """Let several processes edit and ask at the same time.

    Raises:
        AssertionError: when all are done, one of them answers otherwise than a fresh index.
    """
    with folders() as (memory, cache), ExitStack() as stack:
        racers = [
            stack.enter_context(closing(Reader(memory, cache, edits=edits, seed=seed + at)))
            for at in range(processes)
        ]
        for racer in racers:
            racer.begin()
        for racer in racers:
            racer.end()
        right = ascii(fresh(memory))
        assert [racer.ask() for racer in racers] == [right] * processes, f"race of seed {seed}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress.edits")
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--read", nargs=2, metavar=("MEMORY", "CACHE"), type=Path, help="be a reader")
    options = parser.parse_args()
    if options.read:
        return read(*options.read, edits=options.edits, seed=options.seed)
    compared = run(edits=options.edits, seed=options.seed, said=lambda line: print(line, file=sys.stderr))
    race(processes=RACERS, edits=options.edits // 20, seed=options.seed)
    print(
        f"{options.edits:,} edits, seed {options.seed}: {compared:,} times as a fresh index answers;"
        f" so do {RACERS} processes after {options.edits // 20:,} edits each at the same time"
    )
    return None


if __name__ == "__main__":
    main()
