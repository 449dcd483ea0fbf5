"""Kill a process that writes memories, again and again, at random: nothing torn, nothing lost (F8, F9).

    python -m tests.stress.kill --rounds 200 --seed 1

A writer saves, updates, deletes and restores memories in a loop, and takes back what a run has changed; it
says before and after each step what it does. Each memory has lines in the index that a person wrote below its
entry. After each kill -9 the directory is looked at as it was left, mended as at any start, and looked at
again: every byte of a file, and every line of the index, is as before the step or as after it.
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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from memdir.doctor.checkup import problems
from memdir.memory import entrypoint, topic
from memdir.memory.entrypoint import Pointer
from memdir.memory.journal import Journal
from memdir.memory.store import ANY, MemoryDir
from tests.cases import REPO

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
NAMES = [f"memory_{number}.md" for number in range(12)]
GONE = "-"
STEPS = (2, 6)
"""So many steps, from and to, a writer gets done before it is killed, however slow the machine is."""
PAUSE = 0.02
"""And up to so many seconds later, in the middle of something."""


def entry(file: str, check: str) -> Pointer:
    return Pointer(title=file, file=file, hook=check)


def below(file: str) -> list[str]:
    """What a person wrote under the entry of a file."""
    return [f"  own words on {file}\n", "\n", f"  - and more of them on {file}\n"]


def write_for_ever(store: MemoryDir, seed: int) -> None:
    """The writer. Each line it prints is flushed: `begin` before, `done` after, with the body's checksum."""
    chance = random.Random(seed)
    print("ready", flush=True)
    while True:
        file = chance.choice(NAMES)
        trashed = {entry.file for entry in store.trashed()}
        there = (store.directory / file).exists()
        if there and chance.random() < 0.3:
            check, data = anything(file, chance)
            with told("undo", file, check):
                undo(store, file, check, data, chance)
        elif there and chance.random() < 0.5:
            with told("delete", file, GONE):
                store.delete(file, now=NOW)
        elif file in trashed and not there:
            check = topic.parse(store.trash.get(file)[1], filename=file).description or ""
            with told("restore", file, check):
                store.restore(file)
        else:
            check, data = anything(file, chance)
            with told("save", file, check):
                store.save(file, data, pointer=entry(file, check), expected=ANY, now=NOW, origin=None)


def anything(file: str, chance: random.Random) -> tuple[str, bytes]:
    """A new content for a file, and its checksum."""
    body = f"{chance.random()}\n" * chance.choice([1, 20, 3000])
    check = hashlib.sha256(body.encode()).hexdigest()
    return check, topic.render(name=file, description=check, type="project", body=body).encode()


def undo(store: MemoryDir, file: str, check: str, data: bytes, chance: random.Random) -> None:
    """A run that changes a memory or deletes it, or both, and is taken back."""
    journal = Journal()
    run = store.recording(journal)
    changes, deletes = chance.choice([(True, True), (True, False), (False, True)])
    if changes:
        run.save(file, data, pointer=entry(file, check), expected=ANY, now=NOW, origin=None)
    if deletes:
        run.delete(file, now=NOW)
    store.take_back(journal)


@contextmanager
def told(*words: str) -> Iterator[None]:
    print("begin", *words, flush=True)
    yield
    print("done", *words, flush=True)


@dataclass
class Killer:
    """Starts writers, kills them, and keeps what each file, and its entry, may hold afterwards."""

    store: MemoryDir
    chance: random.Random
    allowed: dict[str, set[str]] = field(default_factory=dict)
    entries: dict[str, set[str]] = field(default_factory=dict)
    as_it_was: tuple[set[str], set[str]] = (set(), set())
    steps: int = 0

    def prepare(self) -> None:
        """One memory after the other, with a person's lines below its entry."""
        self.store.prepare()
        check = hashlib.sha256(b"").hexdigest()
        for file in NAMES:
            self.allowed[file], self.entries[file] = {check}, {check}
            data = topic.render(name=file, description=check, type="project", body="").encode()
            self.store.save(file, data, pointer=entry(file, check), expected=None, now=NOW, origin=None)
            index = self.store.index() + "".join(below(file))
            self.store.write("MEMORY.md", index.encode(), expected=ANY, now=NOW, origin=None)

    def round(self) -> None:
        command = [sys.executable, "-m", "tests.stress.kill", "--write", str(self.chance.random())]
        command += [str(self.store.directory), str(self.store.trash.folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPO) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            wanted = self.steps + self.chance.randint(*STEPS)
            while self.steps < wanted:
                line = writer.stdout.readline()
                assert line, "the writer ended by itself"
                self.heard(line)
            time.sleep(self.chance.random() * PAUSE)
            writer.send_signal(signal.SIGKILL)
            for line in writer.stdout:
                self.heard(line)
        assert writer.returncode == -signal.SIGKILL, "the writer ended by itself"
        self.look()
        self.store.mend()
        self.look()
        self.look_mended()

    def heard(self, line: str) -> None:
        if not line.endswith("\n") or line.count(" ") != 3:
            return
        said, step, file, check = line.split()
        self.steps += said == "done"
        if step == "undo":
            was = self.allowed[file], self.entries[file]
            self.as_it_was = was if said == "begin" else self.as_it_was
            now = (was[0] | {check, GONE}, was[1] | {check}) if said == "begin" else self.as_it_was
            self.allowed[file], self.entries[file] = now
            return
        held = [self.allowed, self.entries] if step == "save" else [self.allowed]
        for one in held:
            one[file] = {check} if said == "done" else one[file] | {check}

    def look(self) -> None:
        """True at any moment: files whole and as old or new as they may be, and no pointer to nothing."""
        files = {header.path for header in self.store.list()}
        for file in NAMES:
            check = GONE
            if file in files:
                read = topic.parse((self.store.directory / file).read_bytes(), filename=file)
                check = hashlib.sha256(read.body.encode()).hexdigest()
                assert read.description == check, f"{file} is torn"
            assert check in self.allowed[file], f"{file} is not what was written last"
        pointed = {pointer.file for pointer in entrypoint.pointers(self.store.index())}
        assert pointed <= files, "a pointer leads to nothing"
        for one in self.store.trashed():
            read = topic.parse(self.store.trash.data(one), filename=one.file)
            assert read.description == hashlib.sha256(read.body.encode()).hexdigest(), "the trash is torn"

    def look_mended(self) -> None:
        """After a mend: each memory is in one place, all its lines with it, and nothing of ours left over."""
        index, files = self.store.index(), {header.path for header in self.store.list()}
        trashed = {one.file: one for one in self.store.trashed()}
        assert sorted(files | trashed.keys()) == sorted(NAMES), "a memory is lost"
        assert not files & trashed.keys(), "a memory is in both places"
        for file in NAMES:
            lines = trashed[file].pointers if file in trashed else entrypoint.take(index, file)[1]
            head, *rest = (line for _, line in lines)
            heads = {entrypoint.written(entry(file, check)) for check in self.entries[file]}
            assert head.rstrip("\n") in heads, f"the entry of {file} is not as it was"
            assert rest == below(file), f"the lines below {file} are not as they were"
        assert len(index.splitlines()) == len(files) * (1 + len(below(""))), "lines of nobody"
        assert not list(self.store.directory.rglob(".memdir-*"))
        assert len(list(self.store.trash.folder.iterdir())) == 2 * len(trashed)
        assert problems(self.store, now=NOW) == []


def run(folder: Path, *, rounds: int, seed: int) -> int:
    """Kill `rounds` writers; how many steps they got done. Raises AssertionError with what went wrong."""
    killer = Killer(MemoryDir(folder / "memory", trash=folder / "trash"), random.Random(seed))
    killer.prepare()
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
