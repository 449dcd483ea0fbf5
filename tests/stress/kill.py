"""Kill a process that writes memories, again and again, at random: nothing torn, nothing lost (F8, F9).

    python -m tests.stress.kill --rounds 200 --seed 1

A writer saves, updates and deletes memories in a loop, and says before and after each step what it does.
After each kill -9 the directory is looked at as it was left, mended as at any start, and looked at again.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from memdir.memory import entrypoint, topic
from memdir.memory.store import ANY, MemoryDir
from tests.cases import REPO

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
NAMES = [f"memory_{number}.md" for number in range(12)]


def write_for_ever(store: MemoryDir, seed: int) -> None:
    """The writer. Each line it prints is flushed: `begin` before, `done` after, with the body's checksum."""
    chance = random.Random(seed)
    print("ready", flush=True)
    while True:
        file = chance.choice(NAMES)
        there = (store.directory / file).exists()
        check = "-"
        if there and chance.random() < 0.4:
            print("begin", file, check, flush=True)
            store.delete(file, now=NOW)
        else:
            body = f"{chance.random()}\n" * chance.choice([1, 20, 3000])
            check = hashlib.sha256(body.encode()).hexdigest()
            text = topic.render(name=file, description=check, type="project", body=body)
            print("begin", file, check, flush=True)
            pointer = entrypoint.Pointer(title=file, file=file, hook=check)
            store.save(file, text.encode(), pointer=pointer, expected=ANY, now=NOW, origin=None)
        print("done", file, check, flush=True)


@dataclass
class Killer:
    """Starts writers, kills them, and keeps what each file may hold afterwards."""

    store: MemoryDir
    chance: random.Random
    allowed: dict[str, set[str]] = field(default_factory=dict)
    steps: int = 0

    def round(self) -> None:
        command = [sys.executable, "-m", "tests.stress.kill", "--write", str(self.chance.random())]
        command += [str(self.store.directory), str(self.store.trash.folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPO) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            time.sleep(self.chance.random() * 0.15)
            writer.send_signal(signal.SIGKILL)
            for line in writer.stdout:
                self.heard(line)
        assert writer.returncode == -signal.SIGKILL, "the writer ended by itself"
        self.look()
        self.store.mend(now=NOW)
        self.look()
        self.look_mended()

    def heard(self, line: str) -> None:
        said, file, check = line.split() if line.endswith("\n") and line.count(" ") == 2 else ("", "", "")
        if said == "begin":
            self.allowed.setdefault(file, {"-"}).add(check)
        elif said == "done":
            self.steps += 1
            self.allowed[file] = {check}

    def look(self) -> None:
        """True at any moment: files whole and as old or new as they may be, and no pointer to nothing."""
        files = {header.path for header in self.store.list()}
        for file in NAMES:
            check = "-"
            if file in files:
                read = topic.parse((self.store.directory / file).read_bytes(), filename=file)
                check = hashlib.sha256(read.body.encode()).hexdigest()
                assert read.description == check, f"{file} is torn"
            assert check in self.allowed.get(file, {"-"}), f"{file} is not what was written last"
            self.allowed[file] = {check}
        pointed = {pointer.file for pointer in entrypoint.pointers(self.store.index())}
        assert pointed <= files, "a pointer leads to nothing"
        for entry in self.store.trashed():
            read = topic.parse(self.store.trash.data(entry), filename=entry.file)
            assert read.description == hashlib.sha256(read.body.encode()).hexdigest(), "the trash is torn"

    def look_mended(self) -> None:
        """After a mend: one pointer for each file, nothing of ours left over."""
        pointed = sorted(pointer.file for pointer in entrypoint.pointers(self.store.index()))
        assert pointed == sorted(header.path for header in self.store.list())
        assert not list(self.store.directory.rglob(".memdir-*"))
        assert self.store.problems() == []


def run(folder: Path, *, rounds: int, seed: int) -> int:
    """Kill `rounds` writers; how many steps they got done. Raises AssertionError with what went wrong."""
    killer = Killer(MemoryDir(folder / "memory", trash=folder / "trash"), random.Random(seed))
    killer.store.prepare()
    for _ in range(rounds):
        killer.round()
    return killer.steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", nargs=3, metavar=("SEED", "MEMORY", "TRASH"), help="be the writer")
    options = parser.parse_args()
    if options.write:
        seed, memory, trash = options.write
        write_for_ever(MemoryDir(Path(memory), trash=Path(trash)), int(float(seed) * 1e9))
    with tempfile.TemporaryDirectory() as folder:
        steps = run(Path(folder), rounds=options.rounds, seed=options.seed)
    print(f"{options.rounds} kills during {steps} steps (seed {options.seed}): nothing torn, nothing lost")


if __name__ == "__main__":
    main()
