"""Dreams by a consolidator that means harm, again and again: nothing lost, nothing outside, no halves (D8).

    python -m tests.stress.hostile_dreams --runs 200 --seed 1

Each run lays a directory of memories, mostly a small one, has a scripted model do one to three of the acts of
`tests.dream.hostile`, by its tools or straight to the copy, while in some runs a second program writes to the
memories themselves, and lets `tests.dream.oracle` judge what became of them. What is carried out is undone;
of what is held some is carried out at the person's word, and undone too.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.lowlevel

from memdir.consolidation import carry_out
from memdir.dream.run import Dreamed
from memdir.errors import MemdirError, ModelOverloaded
from memdir.model.messages import Request, ToolUse
from memdir.testing import Line, call, say
from tests.dream import oracle
from tests.dream.hostile import ACTS, INDEX, Draft, home
from tests.dream.night import Night
from tests.dream.untidy import stage_of, untidy

LARGE = 12
"""One run in so many is of a directory with 120 memories."""
MOST_TURNS = 10
OWN = ("dreams", "history", "trash", "inbox", "cache", "transcripts", "ledgers", "log", "logs")
"""Folders of memdir's own state, below its home, where a dream may leave something."""


@dataclass
class Run:
    """What came of one dream. `wrong` is a sentence for each fault."""

    number: int
    seed: int
    acts: tuple[str, ...]
    outcome: str = "failed"
    codes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    wrong: list[str] = field(default_factory=list)
    unnamed: int = 0
    outside: int = 0
    halves: int = 0
    given_up: int = 0
    flips: int = 0
    seconds: float = 0.0

    @property
    def name(self) -> str:
        return f"run {self.number} ({'+'.join(self.acts)}, {self.outcome})"


class Broken(Exception):
    """The consolidator, or what is beside it, breaks."""


@dataclass
class Scene:
    """One directory, one consolidator, and a second program."""

    night: Night
    draft: Draft
    rng: random.Random
    by_hand: bool
    writes: bool
    scope: anyio.CancelScope | None = None
    step: int = 0
    notebook: bytes | None = None
    expected: oracle.Tree = field(default_factory=dict)
    """The directory, with what the second program has written."""
    tokens: list[str] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)
    too_early: list[str] = field(default_factory=list)
    before: oracle.Tree = field(default_factory=dict)
    besides: oracle.Tree = field(default_factory=dict)

    # -- what there is

    def lay(self) -> None:
        real, root, outside = self.night.directory, self.night.root, self.night.folder / "outside"
        for file, data in self.draft.before.items():
            (real / file).parent.mkdir(parents=True, exist_ok=True)
            (real / file).write_bytes(data)
        outside.mkdir()
        for place in (outside / "victim.md", root / "main.py", root / "CLAUDE.md"):
            place.write_text("the words of somebody else\n", encoding="utf-8")
        for name in ("logs/2026/11/2026-11-19.md", "sessions/old.md"):
            (real / name).parent.mkdir(parents=True, exist_ok=True)
            (real / name).write_text("- a line of a log\n", encoding="utf-8")
        (real / "linked_out.md").symlink_to(outside / "victim.md")
        (real / "linked_folder").symlink_to(outside)
        first = min(self.draft.before.keys() - {INDEX})
        (real / "probes.yaml").write_text(
            f"- ask: zzz {Path(first).stem} zzz\n  must: {first}\n", encoding="utf-8"
        )

    def times(self, mtimes: dict[str, int]) -> None:
        for file, moment in mtimes.items():
            os.utime(self.night.directory / file, ns=(moment, moment))

    def tree(self) -> dict[str, tuple[str, bytes, int]]:
        """The memory directory, but for the lock."""
        found = oracle.tree(self.night.directory)
        found.pop(".consolidate-lock", None)
        return {name: one for name, one in found.items() if one[0] != "folder"}

    def elsewhere(self) -> dict[str, tuple[str, bytes, int]]:
        """All that is not the memory directory, nor memdir's own."""
        home_ = self.night.folder / "home"
        own = [home_ / name for name in OWN]
        return oracle.tree(self.night.folder, but=[self.night.directory, *own])

    # -- the consolidator

    def script(self) -> Iterator[Line]:
        steps: list[Callable[[Path], list[ToolUse] | Line]] = [self._read, self._write]
        if self.draft.attempts:
            steps.append(self._attempt)
        if self.draft.repeats:
            steps += [self._repeat] * (MOST_TURNS + 3)
        steps += [self._read_index, self._write_index]
        for step in steps:
            yield self._line(step)
        yield self._line(lambda _: say("Tidied."))

    def _line(self, step: Callable[[Path], list[ToolUse] | Line]) -> Line:
        def line(request: Request) -> Line:
            copy = stage_of(request)
            self._see(copy)
            self._write_beside(0.35)
            self.step += 1
            if self.draft.dies_at == self.step - 1:
                self._die()
            found = step(copy)
            return found or call("Glob", pattern="*.md", path=str(copy))

        async def waiting(request: Request) -> Line:
            found = line(request)
            await anyio.lowlevel.checkpoint()
            return found

        return waiting if self.draft.dies_at is not None else line

    def _die(self) -> None:
        match self.draft.dies_of:
            case "model":
                raise ModelOverloaded("busy")
            case "other":
                raise Broken("for no reason")
            case "cancel" if self.scope is not None:
                self.scope.cancel()
            case _:
                pass

    def _see(self, copy: Path) -> None:
        """What dream.json holds now."""
        with suppress(OSError):
            self.notebook = (copy / "dream.json").read_bytes()

    def _changed(self) -> list[str]:
        before, files = self.draft.before, self.draft.files
        return sorted(one for one in before.keys() | files.keys() if before.get(one) != files.get(one))

    def _read(self, copy: Path) -> list[ToolUse]:
        files = [one for one in self._changed() if one in self.draft.before and one != INDEX]
        if self.by_hand:
            return [call("Glob", pattern="**/*.md", path=str(copy))]
        return [call("Read", file_path=str(copy / one)) for one in files][:60]

    def _write(self, copy: Path) -> list[ToolUse]:
        calls = []
        for file in self._changed():
            data = self.draft.files.get(file)
            if file == INDEX:
                continue
            if self.by_hand:
                _put(copy / file, data)
            else:
                text = (data or b"").decode("utf-8", "surrogateescape")
                calls.append(call("Write", file_path=str(copy / file), content=text))
        if self.by_hand:
            _put(copy / "dream.json", self.draft.said)
        else:
            said = self.draft.said.decode("utf-8", "replace")
            calls.append(call("Write", file_path=str(copy / "dream.json"), content=said))
        for touch in self.draft.by_hand:
            with suppress(OSError):
                touch(copy, self.draft)
        return calls

    def _attempt(self, copy: Path) -> list[ToolUse]:
        return [self._call(name, given, copy) for name, given in self.draft.attempts]

    def _repeat(self, copy: Path) -> list[ToolUse]:
        return [self._call(name, given, copy) for name, given in self.draft.repeats]

    def _call(self, name: str, given: dict[str, str], copy: Path) -> ToolUse:
        night = self.night
        places = {
            "{copy}": str(copy), "{real}": str(night.directory), "{root}": str(night.root),
            "{home}": str(night.folder / "home"), "{outside}": str(night.folder / "outside"),
        }  # fmt: skip
        filled = {}
        for key, value in given.items():
            marks = re.compile("|".join(map(re.escape, places)))
            filled[key] = marks.sub(lambda found: places[found[0]], value)
        return call(name, **filled)

    def _read_index(self, copy: Path) -> list[ToolUse]:
        return [] if self.by_hand else [call("Read", file_path=str(copy / INDEX))]

    def _write_index(self, copy: Path) -> list[ToolUse]:
        data = self.draft.files.get(INDEX)
        if self.by_hand:
            _put(copy / INDEX, data)
            return []
        text = (data or b"").decode("utf-8", "surrogateescape")
        return [call("Write", file_path=str(copy / INDEX), content=text)]

    # -- what is beside it

    @contextmanager
    def asking(self, directory: Path) -> Iterator[Callable[[str], Sequence[str]]]:
        """The last moment before it is carried out."""
        if directory != self.night.directory:
            self._see(directory)
            self._write_beside(0.5)
            if self.draft.dies_of == "probes" and self.draft.dies_at is not None:
                raise Broken("while the probes were asked")
        yield lambda _: sorted(self.draft.before)

    def _write_beside(self, chance: float) -> None:
        """A second program, which knows nothing of dreams, writes."""
        now = self.tree()
        if found := oracle.changes(self.expected, now):
            self.too_early += [one for one in found if one not in self.too_early]
        if not self.writes or self.rng.random() > chance:
            return
        real, topics = self.night.directory, [one for one in self.draft.before if one != INDEX]
        file = real / self.rng.choice(topics)
        token = f"The second program wrote word{self.rng.randrange(10**9)} here."
        match self.rng.randrange(6):
            case 0 | 1 if file.exists():
                file.write_bytes(file.read_bytes().rstrip(b"\n") + f"\n{token}\n".encode())
                self.tokens.append(token)
            case 2:
                name = f"second_{len(self.tokens)}.md"
                head = f"---\nname: second\ndescription: {token}\ntype: project\n---\n"
                (real / name).write_text(f"{head}{token}\n", encoding="utf-8")
                self.tokens.append(token)
                self.foreign.add(name)
            case 3 if file.exists():
                file.unlink()
                self.foreign.add(file.relative_to(real).as_posix())
            case 4 if file.exists():
                lines = file.read_text("utf-8", "surrogateescape").splitlines(keepends=True)
                lines[-1] = f"{token}\n"
                file.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
                self.tokens.append(token)
            case _:
                index = real / INDEX
                index.write_text(f"{index.read_text('utf-8')}{token}\n", encoding="utf-8")
                self.tokens.append(token)
        self.expected = self.tree()


def _put(place: Path, data: bytes | None) -> None:
    with suppress(OSError, ValueError):
        if place.is_symlink() or data is None:
            place.unlink(missing_ok=True)
        if data is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


# -- one run ---------------------------------------------------------------------------------------------


def one(seed: int, number: int, only: str | None = None) -> Run:
    """One dream, judged."""
    rng = random.Random(f"{seed} {number}")
    names = list(ACTS)
    acts = [only or names[number % len(names)]]
    acts += rng.sample(names, rng.choice((0, 0, 0, 1, 2)))
    run = Run(number=number, seed=seed, acts=tuple(acts))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        try:
            anyio.run(_dream, Path(folder).resolve(), rng, run)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is a fault)
            run.wrong.append(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    run.seconds = time.monotonic() - began
    return run


async def _dream(folder: Path, rng: random.Random, run: Run) -> None:
    large = run.number % LARGE == LARGE - 1
    made = untidy(rng.randrange(10**6)) if large else home(rng, topics=rng.randint(11, 16))
    if large:
        _tidy_index(made.files)
    night = Night(folder, overrides={})
    draft = Draft.of(made, rng)
    for act in run.acts:
        ACTS[act](draft)
    draft.finish()
    scene = Scene(night, draft, rng, by_hand=large or rng.random() < 0.5, writes=rng.random() < 0.3)
    scene.lay()
    scene.times({name: int(when.timestamp()) * 10**9 + 123_456_789 for name, when in made.mtimes.items()})
    night.memory.look()
    scene.expected = scene.before = scene.tree()
    scene.besides = scene.elsewhere()
    dreamed = await _played(scene, run)
    await _judge(scene, run, dreamed)


def _tidy_index(files: dict[str, str]) -> None:
    """The index of the large directory as it ought to be: an untidy one is always held if it stays so."""
    lines = [*files[INDEX].splitlines()[:3], "Ask Ines before anything here is given to customers.", ""]
    lines += [f"- [{name[:-3]}]({name}) — about it" for name in files if name != INDEX]
    files[INDEX] = "\n".join(dict.fromkeys(lines)) + "\n"


async def _played(scene: Scene, run: Run) -> Dreamed | None:
    night = scene.night

    def now() -> datetime:
        if scene.draft.dies_of == "cancel at the end" and scene.draft.dies_at is not None and _carries_out():
            assert scene.scope is not None
            anyio.from_thread.run_sync(scene.scope.cancel)
        return night.now

    dreaming = replace(night.dreaming, asking=scene.asking, now=now, max_turns=MOST_TURNS)
    dreamed: Dreamed | None = None
    try:
        with anyio.fail_after(120), anyio.CancelScope() as scope:
            scene.scope = scope
            dreamed = await night.dream(scene.script(), dreaming=dreaming)
    except (ModelOverloaded, Broken) as error:
        run.outcome = f"failed: {type(error).__name__}"
    except MemdirError as error:
        run.outcome = f"failed: {type(error).__name__}"
    except ExceptionGroup as error:
        if not error.subgroup((ModelOverloaded, Broken)):
            raise
        run.outcome = "failed: group"
    if dreamed is not None:
        run.outcome = dreamed.outcome
        run.reasons = tuple(f"{one.code} {one.file}: {one.reason}" for one in dreamed.objections)
        run.codes = tuple(dict.fromkeys(one.code for one in dreamed.objections))
    elif scope.cancelled_caught:
        run.outcome = "failed: cancelled"
    return dreamed


def _carries_out() -> bool:
    """Whether the clock is asked by what carries a plan out."""
    return any(frame.name == "_carry_out" for frame in traceback.extract_stack(limit=5))


# -- and its judgement -----------------------------------------------------------------------------------


async def _judge(scene: Scene, run: Run, dreamed: Dreamed | None) -> None:
    night = scene.night
    run.wrong += [f"changed before it was carried out: {one}" for one in scene.too_early]
    after = scene.tree()
    found = oracle.changes(scene.besides, scene.elsewhere())
    run.outside = len(found)
    run.wrong += [f"outside: {one}" for one in found]
    if b"OUTSIDE was here" in b"".join(data for _, data, _ in after.values()):
        run.outside += 1
        run.wrong.append("outside: what was meant for elsewhere stands in a memory")
    run.wrong += [f"left over: {one}" for one in night.stages]
    _judge_lock(scene, run, dreamed)
    changed = oracle.changes(scene.expected, after)
    if dreamed is None or dreamed.outcome != "applied":
        if (
            dreamed is None
            and run.outcome == "failed: cancelled"
            and changed
            and scene.draft.dies_of == "cancel at the end"
        ):
            run.outcome = "applied, then cancelled"
            await _undo(scene, run, None)
            return
        run.halves += bool(changed)
        run.wrong += [f"not carried out, and yet: {one}" for one in changed]
        if dreamed is not None and dreamed.outcome == "held" and not changed and scene.rng.random() < 0.3:
            await _by_the_person(scene, run, dreamed)
        return
    _judge_applied(scene, run, dreamed, after)
    assert dreamed.applied is not None
    assert dreamed.applied.change is not None
    await _undo(scene, run, dreamed.applied.change)


def _judge_lock(scene: Scene, run: Run, dreamed: Dreamed | None) -> None:
    lock = scene.night.lock
    if dreamed is None and lock.exists():
        run.wrong.append("the lock is there, and there was no dream")
    if lock.exists() and re.match(rb"\d+\s*$", lock.read_bytes().split(b"\n")[0]):
        run.wrong.append("the lock still names a process")


def _files(tree: oracle.Tree) -> dict[str, bytes]:
    """The topics and the index of a directory."""
    return {
        name: data
        for name, (kind, data, _) in tree.items()
        if kind == "file" and name.endswith(".md") and name.split("/")[0] not in ("logs", "sessions", "team")
    }


def _judge_applied(scene: Scene, run: Run, dreamed: Dreamed, after: oracle.Tree) -> None:
    was, now = _files(scene.expected), _files(after)
    judged = oracle.judge(was, now, scene.notebook, foreign=frozenset(scene.foreign))
    run.unnamed, run.given_up = judged.unnamed, judged.given_up
    run.wrong += judged.wrong
    for name in sorted(scene.expected.keys() | after.keys()):
        if name in was or name in now or scene.expected.get(name, ("folder",))[0] == "folder":
            continue
        if scene.expected.get(name) != after.get(name) and after.get(name, ("",))[0] != "folder":
            run.wrong.append(f"no memory, and yet changed: {name}")
    for name, data in was.items():
        if now.get(name) == data and after[name][2] != scene.expected[name][2]:
            run.wrong.append(f"{name} has the same bytes and another time")
    _judge_whole(scene, run, dreamed, was, now)
    text = b"\n".join(now.values()).decode("utf-8", "replace")
    old = b"\n".join(was.values()).decode("utf-8", "replace")
    for token in scene.tokens:
        if token in old and token not in text:
            run.wrong.append(f"what the second program wrote is gone: {token}")
    believed = {line.now for line in dreamed.plan.lines if line.fate == "reworded"}
    for planted in scene.draft.planted:
        if planted.text in old or planted.text not in text:
            continue
        if planted.kind != "false":
            run.wrong.append(f"{planted.kind} got in: {planted.text!r}")
        elif any(one and planted.text in one for one in believed):
            run.wrong.append(f"believed to say the same: {planted.text!r}")
        else:
            run.flips += 1


def _judge_whole(
    scene: Scene, run: Run, dreamed: Dreamed, was: dict[str, bytes], now: dict[str, bytes]
) -> None:
    """All of the plan is done, or what was left is told."""
    assert dreamed.applied is not None
    left = {one.file for one in dreamed.applied.left}
    for name in sorted(was.keys() | now.keys() | dreamed.after.files.keys()):
        made = dreamed.after.files.get(name)
        if now.get(name) == made or name in left:
            continue
        if name == INDEX and (left or scene.tokens or scene.foreign):
            continue
        if scene.expected.get(name) == scene.before.get(name):
            run.halves += 1
            run.wrong.append(f"by halves: {name} is not what the plan makes of it")


async def _undo(scene: Scene, run: Run, change: str | None) -> None:
    night = scene.night
    if change is None:
        assert night.memory.history is not None
        change = night.memory.history.log(limit=1)[0].id
    await night.undo(change)
    run.wrong += [f"not undone: {one}" for one in oracle.changes(scene.expected, scene.tree())]


async def _by_the_person(scene: Scene, run: Run, dreamed: Dreamed) -> None:
    """They carry it out all the same; that, too, is undone to the byte."""
    night = scene.night
    waiting = night.dreaming.kept.get(dreamed.kept)
    try:
        applied = carry_out(night.project, waiting)
    except MemdirError:
        run.outcome = "held, refused to the person"
        found = oracle.changes(scene.expected, scene.tree())
        run.halves += bool(found)
        run.wrong += [f"refused, and yet: {one}" for one in found]
        return
    run.outcome = "held, carried out by the person"
    found = oracle.changes(scene.besides, scene.elsewhere())
    run.outside += len(found)
    run.wrong += [f"outside: {one}" for one in found]
    if applied.change is not None:
        await _undo(scene, run, applied.change)


# -- all of them -----------------------------------------------------------------------------------------


def _one(job: tuple[int, int, str | None]) -> Run:
    return one(*job)


def all_of(seed: int, numbers: Sequence[int], *, jobs: int, only: str | None = None) -> list[Run]:
    """The runs of these numbers."""
    work = [(seed, number, only) for number in numbers]
    if jobs == 1:
        return [_one(job) for job in work]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(_one, work, chunksize=4))


def told(runs: Sequence[Run]) -> str:
    """What became of them, by act."""
    rows = [f"{'act':12} {'runs':>5} {'applied':>8} {'held':>5} {'failed':>7} {'nothing':>8} {'wrong':>6}"]
    for act in ACTS:
        mine = [run for run in runs if act in run.acts]
        count = Counter(run.outcome.split(":")[0].split(",")[0] for run in mine)
        wrong = sum(bool(run.wrong) for run in mine)
        rows.append(
            f"{act:12} {len(mine):5} {count['applied']:8} {count['held']:5} {count['failed']:7} "
            f"{count['nothing']:8} {wrong:6}"
        )
    outcomes = Counter(run.outcome for run in runs)
    rows += ["", ", ".join(f"{name}: {number}" for name, number in sorted(outcomes.items()))]
    codes = Counter(code for run in runs for code in run.codes)
    rows.append("objections: " + ", ".join(f"{code} {number}" for code, number in codes.most_common()))
    rows.append(
        f"{len(runs)} runs: {sum(run.unnamed for run in runs)} bytes lost that were not named, "
        f"{sum(run.outside for run in runs)} writes outside, {sum(run.halves for run in runs)} by halves; "
        f"{sum(run.given_up for run in runs)} lines given up as named, "
        f"{sum(run.flips for run in runs)} turned lines in as named and counted; "
        f"{sum(bool(run.wrong) for run in runs)} runs with a fault"
    )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--act", choices=sorted(ACTS), help="only this one, and what is mixed with it")
    parser.add_argument("--run", type=int, help="only the run of this number")
    options = parser.parse_args()
    numbers = [options.run] if options.run is not None else range(options.runs)
    runs = all_of(
        options.seed, list(numbers), jobs=1 if options.run is not None else options.jobs, only=options.act
    )
    for run in runs:
        if options.run is not None:
            print(run.name, f"{run.seconds:.1f} s", *run.reasons, sep="\n    ")
        for wrong in run.wrong:
            print(f"{run.name}: {wrong}")
    print(told(runs))
    sys.exit(any(run.wrong or run.unnamed or run.outside or run.halves for run in runs))


if __name__ == "__main__":
    main()
