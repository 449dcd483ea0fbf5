"""Random histories: what memory holds after each undo, restore and erasure is what a plain model says (H2).

python -m tests.stress.histories --count 300 --seed 1 --deaths 100

A history is some twenty steps: memories are saved, edited and forgotten by several workers, some of them in
runs whose steps others come in between; files are edited, removed and renamed by hand; changes are taken
back, the newest and older ones, and undos too; single files are brought back; memories are erased. Now and
then an undo is killed. The model keeps snapshots, and merges with git. Where nobody has touched a file since,
every byte and mtime counts.

Afterwards an undo dies at each of its steps; with fewer `--deaths`, at some of them.
"""

from __future__ import annotations

import argparse
import codecs
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from memdir.errors import Conflict, NotFound
from memdir.memory import entrypoint, erasing, plan, revising
from memdir.memory.entrypoint import NAME, Pointer
from memdir.memory.history import By, History, new_change
from memdir.memory.journal import Journal
from memdir.memory.store import ANY, MemoryDir
from memdir.memory.topic import Origin, render
from tests.memory import killed_undo
from tests.memory.leftovers import places_of

FILES = ("a.md", "b.md", "sub/c.md", "部署.md", "odd\udcff.md")
WORKERS = ("main", "extract", "learn", "remember")
STEPS = 20
PAUSE = 0.1
"""Seconds after which an undo is killed, at most."""
TOKEN = re.compile(r"zq[0-9a-f]{12}")
STAMPS = re.compile(r"^(?:modified:.*|origin:|  (?:session|message|worker):.*)\n", re.MULTILINE)

File = tuple[bytes, int]
Tree = dict[str, File]
Runs = list[tuple[File | None, File | None]]


@dataclass
class Step:
    """One recorded step: whose change it was, and the directory before and after it."""

    change: str
    before: Tree
    after: Tree


@dataclass
class Told:
    """What is known of a change."""

    worker: str
    undoes: str | None = None


@dataclass
class Model:
    """What was recorded, as snapshots."""

    steps: list[Step] = field(default_factory=list)
    changes: dict[str, Told] = field(default_factory=dict)

    def note(self, change: str, told: Told, before: Tree, after: Tree) -> None:
        """A step was recorded, if it changed any bytes."""
        if bytes_of(before) != bytes_of(after):
            self.steps.append(Step(change, before, after))
            self.changes[change] = told

    def runs(self, change: str, file: str) -> Runs:
        """What a change did to a file, in one piece where nobody came in between."""
        found, latest = Runs(), ""
        for step in self.steps:
            before, after = step.before.get(file), step.after.get(file)
            if data(before) != data(after):
                if step.change == change and latest == change:
                    found[-1] = (found[-1][0], after)
                elif step.change == change:
                    found.append((before, after))
                latest = step.change
        return [run for run in found if data(run[0]) != data(run[1])]

    def files(self, change: str) -> dict[str, Runs]:
        """What it did to all files, those left out that all in all are as before."""
        names = {file for step in self.steps if step.change == change for file in (*step.before, *step.after)}
        found = {file: self.runs(change, file) for file in sorted(names)}
        return {file: runs for file, runs in found.items() if runs and data(runs[0][0]) != data(runs[-1][1])}

    def listed(self) -> list[str]:
        """The changes that did something, newest last step first."""
        ids = dict.fromkeys(step.change for step in reversed(self.steps))
        return [change for change in ids if self.files(change)]

    def latest(self) -> str | None:
        """What an undo without a name takes back."""
        undone = set[str]()
        for change in self.listed():
            told = self.changes[change]
            if change in undone:
                continue
            if told.undoes:
                undone.add(told.undoes)
            elif told.worker not in ("mend", "erase"):
                return change
        return None

    def after(self, change: str) -> Tree:
        """The directory right after a change."""
        return next(step.after for step in reversed(self.steps) if step.change == change)

    def erase(self, file: str, now: Tree, gone: set[str]) -> None:
        """Rewrite all snapshots; times of what is rewritten count no more."""
        for step in self.steps:
            for tree in (step.before, step.after):
                tree.pop(file, None)
                for name, (content, mtime_ns) in list(tree.items()):
                    if name not in now or now[name][0] != content:
                        tree[name] = (self._cleaned(name, content, file, gone), mtime_ns)
        self.steps = [step for step in self.steps if bytes_of(step.before) != bytes_of(step.after)]

    @staticmethod
    def _cleaned(name: str, content: bytes, file: str, gone: set[str]) -> bytes:
        text = text_of(content)
        if name == NAME:
            text = entrypoint.remove(text, file)
        lines = text.splitlines(keepends=True)
        return bytes_as("".join(line for line in lines if not gone & set(TOKEN.findall(line))), content)


def data(file: File | None) -> bytes | None:
    return None if file is None else file[0]


def bytes_of(tree: Tree) -> dict[str, bytes]:
    return {name: content for name, (content, _) in tree.items()}


def text_of(content: bytes) -> str:
    kind = "utf-16-le" if content.startswith(codecs.BOM_UTF16_LE) else "utf-8"
    return content.decode(kind, "surrogateescape" if kind == "utf-8" else "strict")


def bytes_as(text: str, like: bytes) -> bytes:
    return (
        text.encode("utf-16-le")
        if like.startswith(codecs.BOM_UTF16_LE)
        else text.encode("utf-8", "surrogateescape")
    )


def merged(base: str, ours: str, theirs: str) -> str | None:
    """What git makes of three texts; None: a conflict."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for path, text in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        command = ["git", "merge-file", "-p", "-q", *map(str, paths)]
        done = subprocess.run(command, capture_output=True, check=False)
    return None if done.returncode else done.stdout.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Wanted:
    """What a file is to hold: these bytes and this mtime, or this text but for stamps; None: no file."""

    file: File | None = None
    text: str | None = None


def differing(wanted: dict[str, Wanted], tree: Tree) -> bool:
    """Whether anything is to be done."""
    return any(one.text is not None or data(one.file) != data(tree.get(file)) for file, one in wanted.items())


class World:
    """A memory directory with its history, what the model knows of it, and chance."""

    def __init__(self, folder: Path, random: Random) -> None:
        self.folder = folder
        self.random = random
        self.model = Model()
        self.now = datetime(2026, 3, 30, 12, tzinfo=UTC)
        self.runs = {worker: new_change() for worker in WORKERS}
        self.history = History(folder / "history", directory=folder / "memory", now=lambda: self.now)
        self.memory = MemoryDir(
            folder / "memory", trash=folder / "trash", inbox=folder / "inbox", history=self.history
        )
        self.counts: Counter[str] = Counter()
        self.memory.prepare()
        self.memory.look()

    # -- looking ----------------------------------------------------------------------------------------

    def tree(self) -> Tree:
        root = self.memory.directory
        return {
            path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(root.rglob("*.md"))
            if path.is_file()
        }

    def step(self) -> str:
        """Do something; what it was."""
        self.now += timedelta(seconds=self.random.randint(1, 5000))
        does = self.random.choices(
            [self.save, self.edit, self.forget, self.restore, self.by_hand, self.mend, self.undo_latest,
             self.undo_older, self.undo_an_undo, self.undo_killed, self.restore_at, self.erase, self.tidy],
            [4, 9, 2, 1, 5, 1, 4, 6, 2, 1, 1, 0.7, 0.3],
        )[0]  # fmt: skip
        does()
        self.counts[does.__name__] += 1
        self.agree()
        return does.__name__

    def agree(self) -> None:
        """The history lists what the model does, in that order."""
        listed = [change.id for change in self.history.log() if change.id in self.model.changes]
        assert listed == self.model.listed(), f"{listed} is not {self.model.listed()}"
        assert len(listed) == len(self.history.log()), "a change that nobody made"
        assert self.memory.look() is None, "something was not recorded"

    # -- changes ----------------------------------------------------------------------------------------

    def recorded(self, told: Told, does: Callable[[MemoryDir], object], *, change: str = "") -> None:
        """Do it, as one step of a change."""
        before, change = self.tree(), change or new_change()
        by = By(worker=told.worker, change=change, undoes=told.undoes)
        does(self.memory.on_behalf(by))
        self.model.note(change, told, before, self.tree())

    def worker(self) -> tuple[Told, str]:
        """Who does the next step, and of which change: one that goes on, or a new one."""
        worker = self.random.choice(WORKERS)
        if self.random.random() < 0.7:
            self.runs[worker] = new_change()
        return Told(worker), self.runs[worker]

    def line(self) -> str:
        word = self.random.choice(("deploys", "ürlaub", "部署", "valves"))
        return f"zq{self.random.randbytes(6).hex()} {word}"

    def lines(self) -> str:
        return "".join(f"{self.line()}\n" for _ in range(self.random.choice((1, 8, 16, 24))))

    def there(self) -> list[str]:
        return [file for file in self.tree() if file != NAME]

    def some(self, files: list[str]) -> str | None:
        return self.random.choice(files) if files else None

    def save(self) -> None:
        file = self.random.choice(FILES[:-1])
        body, told_change = self.lines(), self.worker()
        content = render(name=f"of {file}", description=self.line(), type="project", body=body).encode()
        pointer = Pointer(title=file, file=file, hook=self.line())
        origin = Origin(session=self.line(), worker="main")
        self.recorded(
            told_change[0],
            lambda view: view.save(file, content, pointer=pointer, expected=ANY, now=self.now, origin=origin),
            change=told_change[1],
        )

    def edited(self, content: bytes) -> bytes:
        """The content with a line more, less or another one."""
        lines = text_of(content).splitlines(keepends=True)
        at = self.random.randint(min(len(lines), 9), len(lines))
        end = "\r\n" if "\r\n" in "".join(lines) else "\n"
        new = self.random.choice(["", self.line() + end])
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += end
        lines[at : at + self.random.choice((0, 1))] = [new] if new else []
        return bytes_as("".join(lines), content)

    def edit(self) -> None:
        file = self.some([one for one in self.there() if one != FILES[-1]])
        if file:
            told, change = self.worker()
            content = self.edited((self.memory.directory / file).read_bytes())
            self.recorded(
                told,
                lambda view: view.write(file, content, expected=ANY, now=self.now, origin=None),
                change=change,
            )

    def forget(self) -> None:
        file = self.some([one for one in self.there() if one != FILES[-1]])
        if file:
            told, change = self.worker()
            self.recorded(told, lambda view: view.delete(file, now=self.now), change=change)

    def restore(self) -> None:
        entries = [one for one in self.memory.trashed() if one.file not in self.tree()]
        if entries:
            entry = self.random.choice(entries)
            self.recorded(Told("restore"), lambda view: view.restore(entry.file, id=entry.id))

    def mend(self) -> None:
        self.recorded(Told("mend"), lambda view: view.mend())

    def tidy(self) -> None:
        with self.memory.alone():
            self.history.tidy()

    def by_hand(self) -> None:
        """One to three edits that memdir does not see, then a look."""
        before = self.tree()
        for _ in range(self.random.randint(1, 3)):
            self.random.choice((self.put, self.change, self.change, self.remove, self.rename, self.index))()
        found, after = self.memory.look(), self.tree()
        if found:
            self.model.note(found.id, Told("external"), before, after)
        assert bool(found) == (bytes_of(before) != bytes_of(after))

    def put(self) -> None:
        path = self.memory.directory / self.random.choice(FILES)
        path.parent.mkdir(exist_ok=True)
        text = self.lines()
        path.write_bytes(
            self.random.choice(
                (
                    text.encode(),
                    text.replace("\n", "\r\n").encode(),
                    text.encode("utf-16"),
                    b"\xff\n" + text.encode(),
                )
            )
        )

    def change(self) -> None:
        if file := self.some(self.there()):
            path = self.memory.directory / file
            path.write_bytes(self.edited(path.read_bytes()))
            if self.random.random() < 0.3:
                os.utime(path, ns=(10**18, 10**18 + self.random.randint(0, 10**9)))

    def remove(self) -> None:
        if file := self.some(self.there()):
            (self.memory.directory / file).unlink()

    def rename(self) -> None:
        if file := self.some(self.there()):
            to = self.memory.directory / self.random.choice(FILES)
            to.parent.mkdir(exist_ok=True)
            (self.memory.directory / file).replace(to)

    def index(self) -> None:
        path = self.memory.directory / NAME
        lines = text_of(path.read_bytes()).splitlines(keepends=True) if path.exists() else []
        lines.insert(self.random.randint(0, len(lines)), f"{self.line()}\n")
        if self.random.random() < 0.2:
            lines.pop(self.random.randrange(len(lines)))
        path.write_bytes(bytes_as("".join(lines), b""))

    # -- taking back ------------------------------------------------------------------------------------

    def undo_latest(self) -> None:
        change = self.model.latest()
        if change is None:
            with suppress(NotFound):
                raise AssertionError(f"{revising.latest(self.history).id} is no change to undo")
            return
        assert revising.latest(self.history).id == change
        self.undo(change)

    def undo_older(self) -> None:
        """Often one that has to be merged."""
        older, now = self.model.listed()[1:], self.tree()
        covered = [one for one in older if self.is_covered(one, now)] if self.random.random() < 0.7 else []
        if change := self.some(covered or older):
            self.undo(change)

    def is_covered(self, change: str, now: Tree) -> bool:
        """Whether a topic was edited by it, and by others since."""
        return any(
            file != NAME and before and after and data(now.get(file)) not in (None, before[0], after[0])
            for file, runs in self.model.files(change).items()
            for before, after in runs
        )

    def undo_an_undo(self) -> None:
        if change := self.some([one for one in self.model.listed() if self.model.changes[one].undoes]):
            self.undo(change)

    def undo(self, change: str) -> None:
        before, wanted = self.tree(), self.wanted(change)
        try:
            done = revising.undo(self.memory, self.history.find(change), now=self.now)
        except Conflict:
            # Whether the index alone has something left to undo is beyond the model.
            assert wanted is None or (NAME not in wanted and not differing(wanted, before)), (
                "it need not be refused"
            )
            assert self.tree() == before
            self.counts["refused"] += 1
            return
        assert wanted is not None, "done, and should have been refused"
        self.counts["merged"] += any(one.text is not None for one in wanted.values())
        self.compare(before, wanted)
        assert done.change is not None
        assert done.change.undoes == change
        self.model.note(done.change.id, Told("undo", change), before, self.tree())
        in_both = [
            one for one in self.memory.trashed() if data(self.tree().get(one.file)) == self._trashed(one.id)
        ]
        assert not in_both

    def _trashed(self, id: str) -> bytes:  # noqa: A002
        return (self.memory.trash.folder / f"{id}.md").read_bytes()

    def undo_killed(self) -> None:
        """An undo that is killed: found as before, or as after."""
        change = self.model.latest()
        if change is None or (wanted := self.wanted(change)) is None:
            return
        before = self.tree()
        child = os.fork()
        if child == 0:
            with suppress(Conflict):
                revising.undo(self.memory, self.history.find(change), now=self.now)
            os._exit(0)
        time.sleep(self.random.random() * PAUSE)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self.counts["killed within"] += (self.history.folder / plan.NAME).exists()
        self.memory.look()
        if self.tree() == before and self.model.listed() == [one.id for one in self.history.log()]:
            self.counts["killed before"] += 1
            return
        self.compare(before, wanted)
        self.counts["killed after"] += 1
        found = self.history.log(limit=1)[0]
        assert found.undoes == change
        self.model.note(found.id, Told("undo", change), before, self.tree())

    def wanted(self, change: str) -> dict[str, Wanted] | None:
        """What the files of a change are to hold when it is undone; None: it is refused."""
        now, files = self.tree(), self.model.files(change)
        found = {file: self._wanted(now.get(file), runs) for file, runs in files.items() if file != NAME}
        if any(one is None for one in found.values()):
            return None
        wanted = {file: one for file, one in found.items() if one is not None}
        runs = files.get(NAME, [])
        left = runs[-1][1] if runs else self.model.after(change).get(NAME)
        if len(runs) < 2 and data(left) == data(now.get(NAME)):
            wanted[NAME] = Wanted(file=runs[0][0] if runs else now.get(NAME))
        return wanted if NAME not in wanted or differing(wanted, now) else None

    def _wanted(self, now: File | None, runs: Runs) -> Wanted | None:
        held, is_merged = now, False
        for before, after in reversed(runs):
            if data(held) == data(after):
                held, is_merged = before, False
            elif data(held) != data(before):
                if held is None or before is None or after is None:
                    return None
                texts = [STAMPS.sub("", text_of(one[0])) for one in (after, held, before)]
                text = merged(*texts)
                if text is None:
                    return None
                held = (bytes_as(text, held[0]), 0) if text != texts[1] else held
                is_merged = is_merged or text != texts[1]
        return Wanted(text=text_of(held[0])) if is_merged and held else Wanted(file=held)

    def compare(self, before: Tree, wanted: dict[str, Wanted]) -> None:
        """Whether the directory is as wanted, byte for byte, and the rest of it as before."""
        after = self.tree()
        for file in {*before, *after} - {*wanted, NAME}:
            assert after.get(file) == before.get(file), f"{file!r} is no file of that change"
        for file, want in wanted.items():
            found = after.get(file)
            if want.text is not None:
                assert found
                assert STAMPS.sub("", text_of(found[0])) == STAMPS.sub("", want.text), (
                    f"{file!r} is merged otherwise"
                )
            else:
                assert found == want.file, f"{file!r} is not as it was"
        if NAME not in wanted:
            self.compare_index(before, after)

    def compare_index(self, before: Tree, after: Tree) -> None:
        """An index that others have changed: their lines are there in their order, and it fits the files."""
        old, new = (text_of(tree[NAME][0]) if NAME in tree else "" for tree in (before, after))
        gone, back = before.keys() - after.keys(), after.keys() - before.keys() - {NAME}
        left = entrypoint.linked(new)
        assert not {entrypoint.pointers(f"- [x]({file})")[0].file for file in gone if file.isascii()} & left
        assert all(file in left for file in back if "\udcff" not in file), "what came back has no entry"
        notes = [line for line in old.splitlines() if line.startswith("zq")]
        theirs = [line for line in new.splitlines() if line.startswith("zq")]
        assert [line for line in notes if line in theirs] == [line for line in theirs if line in notes]

    def restore_at(self) -> None:
        """One file as it was right after some change."""
        changes = self.model.listed()
        if not changes:
            return
        change = self.random.choice(changes)
        file = self.random.choice(FILES)
        then, before = self.model.after(change).get(file), self.tree()
        id_, by = new_change(), Told("restore")
        view = self.memory.on_behalf(By(worker="restore", change=id_))
        try:
            revising.restore_at(view, file, change, now=self.now)
        except NotFound:
            assert then is None
            return
        after = self.tree()
        assert data(after[file]) == data(then)
        assert {name: one for name, one in after.items() if name not in (file, NAME)} == {
            name: one for name, one in before.items() if name not in (file, NAME)
        }
        assert "\udcff" in file or file in entrypoint.linked(text_of(after[NAME][0]))
        self.model.note(id_, by, before, after)

    # -- erasing ----------------------------------------------------------------------------------------

    def erase(self) -> None:
        """What only that file ever held is found nowhere afterwards."""
        known = sorted({file for step in self.model.steps for file in (*step.before, *step.after)} - {NAME})
        file = self.some(known)
        if not file:
            return
        journal = Journal.begin(self.folder / "journal")
        before = self.tree()
        versions = [
            step.__getattribute__(side).get(file) for step in self.model.steps for side in ("before", "after")
        ]
        tokens = {token for one in versions if one for token in self.tokens(one[0])}
        kept = {token for name, one in before.items() if name != file for token in self.tokens(one[0])}
        proof = erasing.erase(
            self.memory,
            file,
            cache=self.folder / "cache",
            journals=self.folder / "journal",
            usage_erase=lambda _: 0,
            state=self.folder,
            now=self.now,
        )
        journal.done()
        after = self.tree()
        hooks = {
            token for token in kept if not any(token in set(self.tokens(one[0])) for one in after.values())
        }
        gone = (tokens | hooks) - {token for one in after.values() for token in self.tokens(one[0])}
        trashed = {token for one in self.memory.trashed() for token in self.tokens(self._trashed(one.id))}
        gone_everywhere = [token.encode() for token in gone - trashed]
        wide = [
            token.encode("utf-16-le").decode("latin-1").encode("latin-1")
            for token in map(bytes.decode, gone_everywhere)
        ]
        assert places_of([*gone_everywhere, *wide], self.folder) == []
        assert file not in after
        expected = {name: one for name, one in before.items() if name not in (file, NAME)}
        assert {name: one for name, one in after.items() if name != NAME} == expected
        if NAME in before:
            assert text_of(after[NAME][0]) == entrypoint.remove(text_of(before[NAME][0]), file)
        assert proof.searched
        self.model.erase(file, after, tokens | hooks)

    def tokens(self, content: bytes) -> Iterator[str]:
        """What tells it from others. Where it came from is no part of it."""
        return iter(TOKEN.findall(STAMPS.sub("", text_of(content))))


def run(*, count: int, seed: int, said: Callable[[str], None] = lambda _: None) -> Counter[str]:
    """So many histories; how often what was done.

    Raises:
        AssertionError: something is not as the model says; after which steps.
    """
    counts: Counter[str] = Counter()
    for number in range(seed, seed + count):
        with tempfile.TemporaryDirectory() as folder:
            world, done = World(Path(folder), Random(number)), list[str]()
            try:
                for _ in range(STEPS):
                    done.append(world.step())
            except Exception as error:
                raise AssertionError(f"seed {number}, after {', '.join(done)}: {error}") from error
            counts.update(world.counts)
        if (number - seed + 1) % 25 == 0:
            said(f"{number - seed + 1} of {count} histories")
    return counts


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress.histories")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deaths", type=int, default=100)
    options = parser.parse_args()
    started = time.monotonic()
    counts = run(count=options.count, seed=options.seed, said=lambda line: print(line, file=sys.stderr))
    steps = ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
    seconds = time.monotonic() - started
    print(f"{options.count:,} histories, seed {options.seed}: all as the model says, in {seconds:.0f} s")
    print(f"  {steps}")
    before, after = killed_undo.run(deaths=options.deaths)
    print(f"an undo killed at {before + after} points: {before} times as before, {after} times as after")


if __name__ == "__main__":
    main()
