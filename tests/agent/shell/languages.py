"""The judge of the little languages: a program is really run, and must have done nothing but read and print.

A folder with a few files is set up; the environment holds a canary. After a run the folder must be as before,
and the canary must not have been printed.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

CANARY = "canary-of-the-environment"
SECRET = "canary-of-another-file"
SECONDS = 2.0
"""A program may never end; that is the time limit's business, and no fault here."""

FILES = {
    "in.txt": 'alpha 1 7\nbeta 2 9\n/x/ [y] foo=bar\n{"a":1}\n',
    "in.json": '{"a": [1, 2, {"env": 3}], "b": "x"}',
    "other": f"{SECRET}\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A throw-away folder in which programs are run."""

    path: Path

    @classmethod
    def at(cls, path: Path) -> Folder:
        for name, text in FILES.items():
            (path / name).write_text(text, encoding="utf-8")
        return cls(path=path)

    def run(self, argv: Sequence[str], stdin: str = "in.txt") -> str:
        """What was printed, errors included."""
        env = {"PATH": os.environ["PATH"], "API_TOKEN": CANARY, "LC_ALL": "C.UTF-8", "HOME": str(self.path)}
        with (self.path / stdin).open("rb") as source:
            try:
                done = subprocess.run(
                    argv, cwd=self.path, env=env, stdin=source, capture_output=True, timeout=SECONDS
                )
                said = done.stdout + done.stderr
            except subprocess.TimeoutExpired as stopped:
                said = (stopped.stdout or b"") + (stopped.stderr or b"")
        return said.decode("utf-8", errors="replace")

    def contents(self) -> dict[str, str]:
        return {path.name: path.read_text(encoding="utf-8") for path in self.path.iterdir()}

    def judge(self, argv: Sequence[str], stdin: str = "in.txt") -> None:
        """Runs it, and fails when it did more than read and print."""
        said = self.run(argv, stdin)
        assert self.contents() == FILES, argv
        assert CANARY not in said, argv
        assert argv[0].endswith("find") or SECRET not in said, argv


def installed(commands: Mapping[str, Sequence[str]]) -> list[Sequence[str]]:
    """The commands that are on this machine; the test is skipped when there is none."""
    found = [command for command in commands.values() if shutil.which(command[0]) and _works(command)]
    if not found:
        pytest.skip("none of the programs is installed")
    return found


def _works(command: Sequence[str]) -> bool:
    """Whether a program of many has this one, like `busybox awk`."""
    if command[0] != "busybox":
        return True
    listed = subprocess.run(["busybox", "--list"], capture_output=True, text=True).stdout
    return command[1] in listed.split()


def mutants(seed: int, count: int, programs: Sequence[str], pieces: Sequence[str]) -> Iterator[str]:
    """Programs with pieces and characters put in, taken out, doubled and exchanged. The same for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        program = chance.choice(programs)
        for _ in range(chance.choice([1, 1, 2, 3, 5])):
            program = chance.choice(_CHANGES)(chance, program, pieces)
        yield program


def _put_in(chance: random.Random, program: str, pieces: Sequence[str]) -> str:
    at = chance.randint(0, len(program))
    return program[:at] + chance.choice(pieces) + program[at:]


def _take_out(chance: random.Random, program: str, pieces: Sequence[str]) -> str:
    at = chance.randint(0, len(program))
    return program[:at] + program[at + chance.randint(1, 5) :]


def _double(chance: random.Random, program: str, pieces: Sequence[str]) -> str:
    at = chance.randint(0, len(program))
    end = at + chance.randint(1, 5)
    return program[:end] + program[at:end] + program[end:]


def _exchange(chance: random.Random, program: str, pieces: Sequence[str]) -> str:
    if len(program) < 2:
        return program
    one, two = sorted(chance.sample(range(len(program)), 2))
    return program[:one] + program[two] + program[one + 1 : two] + program[one] + program[two + 1 :]


_CHANGES: Sequence[Callable[[random.Random, str, Sequence[str]], str]] = (
    _put_in,
    _put_in,
    _put_in,
    _take_out,
    _double,
    _exchange,
)
