"""Kill dreams, and what carries out or takes back their plans: all is as before or as after (D4, D8).

    python -m tests.stress.dream_kill --rounds 200 --seed 1

Each round lays an untidy directory and lets a process dream of it, by a scripted model that tidies well, or
by the rules; or carry out a plan that waits; or undo a dream. It is killed by -9: right before or after a
certain change of the disk, in the middle of a write, or at some moment. In which part of the work that is, is
chosen first, so that the short ones get as many as the long ones; one that nobody kills tells how much there
is to each. Then a fresh process does what the next start does, and looks. Bytes and times of the directory
are as before or as after that dream. The lock is free at once and names the right moment to the nanosecond.
The history has the change as the dream's, or not at all; undone, it is as before to the nanosecond. A new
dream runs through, and nothing is left lying about.

A round that fails is played again by `--only NUMBER`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial, wraps
from pathlib import Path
from typing import Any, Literal

import anyio

from memdir import app, consolidation
from memdir.agent.events import Event, Events
from memdir.dream import fork
from memdir.dream import run as dreams
from memdir.dream.files import Snapshot
from memdir.dream.fork import LABEL
from memdir.dream.kept import Kept
from memdir.dream.lock import LOCK, Lock, last, look
from memdir.dream.run import Dreamed
from memdir.dream.stage import Stage
from memdir.errors import Conflict
from memdir.memory import plan, topic
from memdir.memory.history import BEGINNING, EXTERNAL, Change, History
from memdir.model.client import ModelClient
from memdir.model.jobs import Models
from memdir.model.local import Local
from memdir.testing import ScriptedModel, say
from tests.dream.night import Night
from tests.dream.untidy import NOW, Benign, Untidy, untidy

Job = Literal["dream", "rules", "review", "dry", "carry out", "undo"]
"""What is killed: a dream by a model, by rules, one whose plan is to wait, or is only shown; and what a
person does with a plan that waits, or with a dream.
"""
JOBS: dict[Job, int] = {"dream": 10, "rules": 2, "review": 2, "dry": 1, "carry out": 3, "undo": 3}
"""How often each, of the sum."""
LARGE = 0.1
"""Of the rounds, how many are with 120 memories and an index of 260 lines; the others with 20."""
AGAIN, LATEST_CHANGE = 0.4, 25
"""After how many kills the next start is to be killed too, and at which change of the disk at latest."""
SMALL = {"team": 4, "store": 2, "decided": 3, "plain": 5}

Prior = Literal["none", "empty", "given back", "another program's", "a killed dream's"]
"""How the lock is found."""
PRIORS: tuple[Prior, ...] = ("none", "empty", "given back", "another program's", "a killed dream's")
PRIOR = NOW - timedelta(days=3, microseconds=123_457)
LATER = NOW + timedelta(hours=7)
"""When the next process is there."""

CHANGES = ("replace", "rename", "link", "unlink", "write", "pwrite", "ftruncate", "utime", "mkdir", "rmdir")
PATIENCE = 240.0
Tree = Mapping[str, tuple[bytes, int]]


# -- the victim ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Fate:
    """How a process dies: at that change of the disk of those in a part of its work ("": of all), or so many
    seconds into the part; without either, not at all. `with_git`: and the git that it has started dies too.
    """

    part: str = ""
    change: int = 0
    how: Literal["before", "after", "torn"] = "before"
    seconds: float | None = None
    with_git: bool = False


@dataclass
class Witness:
    """In the victim: tells in which part of the work it is, counts the changes of the disk, and kills it."""

    out: int
    fate: Fate
    stack: list[str] = field(default_factory=lambda: ["in between"])
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    has_swapped: bool = False

    def __post_init__(self) -> None:
        self._write = os.write
        self._since = time.monotonic()

    def tell(self, text: str) -> None:
        self._write(self.out, f"{text}\n".encode())

    def _turn(self) -> None:
        now = time.monotonic()
        part = self.stack[-1]
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self._since
        self._since = now

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        if name == "history":
            name += ", after" if self.has_swapped else ", before"
        self._turn()
        self.stack.append(name)
        self.tell(name)
        yield
        self._turn()
        self.has_swapped |= name == "swaps"
        self.stack.pop()
        self.tell(f"done: {name}")
        self.tell(self.stack[-1])

    def watch(self) -> None:
        """All that is done from here on in this process is seen."""
        for name in CHANGES:
            setattr(os, name, self._seen(getattr(os, name), name))
        os.open = self._seen(os.open, "open", if_=lambda flags, *_: bool(flags & os.O_CREAT))
        setattr(subprocess.Popen, "__init__", self._seen(subprocess.Popen.__init__, "git"))  # noqa: B010
        for owner, name, part in (
            (Lock, "take", "taking the lock"),
            (dreams, "_clear_up", "sweeping"),
            (Stage, "make", "staging"),
            (dreams, "tidy", "the work"),
            (dreams, "_judged", "judging"),
            (Kept, "put", "keeping the plan"),
            (Kept, "drop", "dropping the plan"),
            (History, "_try_to_look", "history"),
            (History, "_intend", "history"),
            (plan, "carry_out", "swaps"),
            (plan, "_write", "the redo log"),
            (Lock, "succeed", "giving the lock back"),
            (Lock, "fail", "giving the lock back"),
            (Stage, "remove", "clearing up"),
        ):
            self._mark(owner, name, part)
        work = fork.consolidate

        async def consolidate(*args: Any, **named: Any) -> Any:
            with self.part("the work"):
                return await work(*args, **named)

        setattr(dreams, "consolidate", consolidate)  # noqa: B010 - it is not for others to name

    def _mark(self, owner: Any, name: str, part: str) -> None:
        real = getattr(owner, name)

        @wraps(real)
        def marked(*args: Any, **named: Any) -> Any:
            with self.part(part):
                return real(*args, **named)

        is_bound = isinstance(owner, type) and isinstance(vars(owner)[name], classmethod)
        setattr(owner, name, staticmethod(marked) if is_bound else marked)

    def _seen(self, real: Callable[..., Any], name: str, if_: Callable[..., bool] | None = None) -> Any:
        @wraps(real)
        def change(*args: Any, **named: Any) -> Any:
            if if_ is not None and not if_(*args[1:]):
                return real(*args, **named)
            part, fate = self.stack[-1], self.fate
            self.counts[part] += 1
            count = self.counts[part] if fate.part else self.counts.total()
            if fate.part not in ("", part) or count != fate.change:
                return real(*args, **named)
            if name == "write" and fate.how == "torn":
                self._write(args[0], bytes(args[1])[: len(args[1]) // 2])
            elif fate.how != "before":
                real(*args, **named)
            kill(os.getpid(), with_git=fate.with_git)
            raise AssertionError("killed")

        return change


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What became of a process. `told`: the parts that it came to."""

    was_killed: bool
    told: tuple[str, ...]
    answer: Any = None

    @property
    def part(self) -> str:
        """The part in which it ended."""
        return next((one for one in reversed(self.told) if not one.startswith("done: ")), "in between")


def kill(pid: int, *, with_git: bool) -> None:
    """By -9. What it has started, and has ended by itself, is nobody's any more."""
    started = [
        int(one)
        for place in Path(f"/proc/{pid}/task").glob("*/children")
        for one in place.read_text().split()
    ]
    for one in started if with_git else ():
        with suppress(OSError):
            os.kill(one, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)


def process(work: Callable[[], Any], fate: Fate | None = None) -> Ended:
    """Do that in a process of its own, with that fate; None: as it is, and nobody looks.

    Raises AssertionError: it failed.
    """
    sys.stdout.flush()
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        _be_the_child(writing, work, fate)
    os.close(writing)
    told = list[str]()
    with os.fdopen(reading, "r", encoding="utf-8") as lines:
        if fate is not None and fate.seconds is not None:
            for text in lines:
                told.append(text.rstrip("\n"))
                if told[-1] == (fate.part or "in between"):
                    break
            time.sleep(fate.seconds)
            kill(pid, with_git=fate.with_git)
        told += [text.rstrip("\n") for text in lines]
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    answer = json.loads(told.pop()[2:]) if told and told[-1].startswith("= ") else None
    if isinstance(answer, dict) and "fault" in answer:
        raise AssertionError(answer["fault"])
    assert code in (0, -signal.SIGKILL), f"a process ended with {code}"
    return Ended(was_killed=code != 0, told=tuple(told), answer=answer)


def _be_the_child(out: int, work: Callable[[], Any], fate: Fate | None) -> None:
    tell = partial(os.write, out)
    try:
        signal.alarm(int(PATIENCE))
        witness = None
        if fate is not None:
            witness = Witness(out, fate)
            witness.tell("in between")
            witness.watch()
        answer = work()
        if witness is not None:
            witness.part("").__enter__()
            answer = {"counts": witness.counts, "seconds": witness.seconds, "answer": answer}
        tell(f"= {json.dumps(answer)}\n".encode())
    except BaseException as error:  # noqa: BLE001 - it must not run on as its parent
        text = f"{error}" if isinstance(error, AssertionError) else traceback.format_exc()
        where = traceback.extract_tb(error.__traceback__)[-1]
        tell(f"= {json.dumps({'fault': f'{text} ({Path(where.filename).name}:{where.lineno})'})}\n".encode())
    finally:
        os._exit(0)


# -- the world -----------------------------------------------------------------------------------------------


def small(seed: int) -> Untidy:
    """The same untidiness in 20 memories."""
    whole, made = untidy(seed), Untidy()
    for kind, count in SMALL.items():
        stems = [name for name in whole.files if name.startswith(f"{kind}_")]
        stems = [name for name in stems if not name.endswith(("_notes.md", "_old.md"))][:count]
        for name in stems:
            beside = (name[:-3] + "_notes.md", name[:-3] + "_old.md")
            for one in (name, *(one for one in beside if one in whole.files)):
                made.files[one], made.mtimes[one] = whole.files[one], whole.mtimes[one]
    made.doubles = {one: other for one, other in whole.doubles.items() if one in made.files}
    made.extra = {one: text for one, text in whole.extra.items() if one in made.files}
    made.outdated = {one: other for one, other in whole.outdated.items() if one in made.files}
    made.stale = {one: lines for one, lines in whole.stale.items() if one in made.files}
    index = whole.files["MEMORY.md"].splitlines(keepends=True)
    known = [f"({name})" for name in (*made.files, "gone_1.md", "gone_2.md", "gone_3.md")]
    made.files["MEMORY.md"] = "".join(
        line for line in index if not line.startswith("- [") or any(name in line for name in known)
    )
    return made


@dataclass(kw_only=True)
class Stand:
    """Where a job begins, and where it is to lead. `fresh`: the files of `after` that are as old as the
    moment in which they were written. `counts`: of the changes of the disk in each part; `seconds`: how long
    it takes.
    """

    place: Path
    before: Tree
    after: Tree
    fresh: frozenset[str]
    counts: Mapping[str, int]
    seconds: Mapping[str, float]


@dataclass(kw_only=True)
class World:
    """One untidy directory, at a place that all of its copies are brought to."""

    place: Path
    store: Path
    made: Untidy
    stands: dict[Job, Stand] = field(default_factory=dict)

    def night(self, now: datetime = NOW) -> Night:
        """The project, as a process that has just begun knows it."""
        return Night(self.place, now=now)

    def bring(self, stored: Path) -> None:
        """What was put aside is there again."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(stored, self.place, symlinks=True)

    def stand(self, job: Job) -> Stand:
        """Found out by one that nobody kills."""
        if job not in self.stands:
            self.stands[job] = self._found_out(job)
        return self.stands[job]

    def _found_out(self, job: Job) -> Stand:
        start = self._start(job)
        self.bring(start)
        set_lock(self.night(), "none")
        before = self.night().tree()
        since = time.time_ns() - 10**9
        ended = process(lambda: anyio.run(self.do, job), Fate())
        assert ended.answer is not None
        after = self.night().tree()
        assert (after == before) == (job in ("review", "dry")), "the job did not do what it was to do"
        return Stand(
            place=start,
            before=before,
            after=after,
            fresh=frozenset(file for file, (_, moment) in after.items() if moment >= since),
            counts=ended.answer["counts"],
            seconds=ended.answer["seconds"],
        )

    def _start(self, job: Job) -> Path:
        """Where a job begins, put aside."""
        kind = job if job in ("carry out", "undo") else "untidy"
        stored = self.store / kind.replace(" ", "_")
        if stored.exists():
            return stored
        if kind == "untidy":
            shutil.rmtree(self.place, ignore_errors=True)
            process(self._lay)
        else:
            self.bring(self._start("dream"))
            process(lambda: anyio.run(self.do, "review" if kind == "carry out" else "dream"))
        shutil.copytree(self.place, stored, symlinks=True)
        return stored

    def _lay(self) -> None:
        night = self.night()
        night.lay(self.made)
        moment = int(NOW.timestamp()) * 10**9 - 1
        os.utime(night.directory / "probes.yaml", ns=(moment, moment))
        night.memory.look()
        assert night.memory.mend() == [], "a start must find nothing to do"

    def start(self) -> None:
        """The memory's part of what each start does first."""
        memory = self.night(LATER).memory
        memory.look()
        memory.mend()

    # -- jobs --

    async def do(self, job: Job, now: datetime = NOW) -> str | None:
        """Do it; the change that the history has of it."""
        night = self.night(now)
        if job == "undo":
            await night.undo(dreams_of(night)[0].id)
            return None
        if job == "carry out":
            return consolidation.carry_out(night.project, night.dreaming.kept.get()).change
        dreamed = await self.dream(night, job)
        return dreamed.applied.change if dreamed.applied is not None else None

    async def dream(self, night: Night, job: Job) -> Dreamed:
        script = None if job == "rules" else Benign(self.made).lines
        dreaming = replace(night.dreaming, review=job == "review")
        dreamed = await night.dream(script, dry=job == "dry", dreaming=dreaming)
        wanted = {"review": "held", "dry": "shown"}.get(job, "applied")
        assert dreamed.outcome == wanted, [one.reason for one in dreamed.objections]
        return dreamed


def dreams_of(night: Night) -> list[Change]:
    """The changes that dreams have made, newest first."""
    history = night.memory.history
    assert history is not None
    return [change for change in history.log() if change.worker == LABEL]


def set_lock(night: Night, prior: Prior) -> int | None:
    """Leave the lock as that; what the last dream's time then is."""
    place, moment = night.directory / LOCK, int(PRIOR.timestamp()) * 10**9 + 876_543_211
    place.unlink(missing_ok=True)
    if prior == "none":
        return None
    if prior == "given back":
        Lock.take(night.directory, now=lambda: PRIOR).succeed()
        return place.stat().st_mtime_ns
    place.write_bytes(b"99999999\n" if prior == "another program's" else b"")
    os.utime(place, ns=(moment, moment))
    if prior == "a killed dream's":
        process(lambda: Lock.take(night.directory, now=lambda: PRIOR + timedelta(days=1)) and None)
    return moment


# -- a round -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Round:
    """How one went. `part`: where it was killed, "" if it was not. `fault`: what was wrong, or None."""

    number: int
    job: Job
    prior: Prior
    fate: Fate
    part: str = ""
    stands: Literal["before", "after"] = "before"
    size: int = 0
    again: bool = False
    """Whether the next start was killed too."""
    fault: str | None = None


@dataclass(kw_only=True)
class Looking:
    """In a fresh process: what the next start does, and whether all is as it is to be."""

    world: World
    stand: Stand
    job: Job
    prior_ns: int | None
    ended: Ended
    chance: random.Random
    since: int
    told: list[Event] = field(default_factory=list)

    async def look(self) -> str:
        """Whether the directory is as before or as after. Raises AssertionError."""
        night = self.world.night(LATER)
        self.look_at_lock(night)
        await self.start(night)
        stands = self.look_at_directory(night)
        self.look_at_history(night, stands)
        self.look_at_plans(night)
        await self.go_on(stands)
        self.look_for_leftovers(self.world.night(LATER))
        return stands

    # -- as it was left --

    def look_at_lock(self, night: Night) -> None:
        state = look(night.directory, now=LATER)
        assert state.is_free, f"the lock can't be taken: {state.why}"
        told, mine = self.ended.told, int(NOW.timestamp()) * 10**9
        right = {self.prior_ns}
        if self.job in ("dream", "rules", "review"):
            if "done: giving the lock back" in told or not self.ended.was_killed:
                right = {mine}
            elif "giving the lock back" in told:
                right = {self.prior_ns, mine}
        assert state.last_ns in right, f"the last dream was at {state.last_ns}, says the lock, not {right}"
        assert last(night.directory) in (None, state.last_ns), "a stat tells another time than the lock"

    async def start(self, night: Night) -> None:
        """What each start does first: the whole of it, or the memory's part alone."""
        if self.chance.random() < 0.5:
            async with self.running(night, Local()) as runtime:
                await runtime._mend()
        else:
            night.memory.look()
            did = [one for one in night.memory.mend() if "temporary" not in one]
            assert did == [], f"a start had to mend: {did}"

    def running(self, night: Night, model: ModelClient) -> Any:
        models = Models(chat=model, recall=Local())
        return app.running(night.project, models=models, events=Events(self.told.append))

    # -- as it is then --

    def look_at_directory(self, night: Night) -> Literal["before", "after"]:
        is_before = self.differing(self.stand.before) == []
        is_after = self.differing(self.stand.after, fresh=self.stand.fresh) == []
        told = self.ended.told
        if not is_before and not is_after:
            from_before, from_after = (
                self.differing(self.stand.before),
                self.differing(self.stand.after, fresh=self.stand.fresh),
            )
            raise AssertionError(f"half-applied: from before {from_before}, from after {from_after}")
        if self.stand.before != self.stand.after:
            assert is_before or "swaps" in told, "changed before anything was to be"
            done = "done: swaps" in told or not self.ended.was_killed
            assert is_after or not done, "what was done is gone"
        return "after" if is_after and not is_before else "before"

    def differing(self, tree: Tree, *, fresh: frozenset[str] = frozenset()) -> list[str]:
        """In what the directory is not that, a word each."""
        there, found = self.world.night(LATER).tree(), list[str]()
        for file in sorted({*there, *tree}):
            if file not in there or file not in tree:
                found.append(f"{file} is {'missing' if file in tree else 'there'}")
            elif there[file][0] != tree[file][0]:
                found.append(f"{file} has other bytes")
            elif file in fresh:
                if not self.since <= there[file][1] <= time.time_ns():
                    found.append(f"{file} is not of now")
            elif there[file][1] != tree[file][1]:
                found.append(f"{file} has another time")
        return found

    def look_at_history(self, night: Night, stands: str) -> None:
        history = night.memory.history
        assert history is not None
        changes = history.log()
        assert history.failure is None, history.failure
        assert history.damaged == []
        unknown = [one for one in changes if one.worker == EXTERNAL and one.reason != BEGINNING]
        assert unknown == [], "what the dream did is told as somebody else's"
        is_done = stands == "after"
        if self.job == "undo":
            assert [bool(one.undoes) for one in changes if one.worker == "undo"] == [True] * is_done
            assert len(dreams_of(night)) == 1
            return
        mine = dreams_of(night)
        assert len(mine) == is_done, f"{len(mine)} changes by dreams, and the directory is as {stands}"
        if is_done:
            changed = {file for file in {*self.stand.before, *self.stand.after} if self._is_changed(file)}
            assert {one.file for one in mine[0].files} == changed, "the history has another change"

    def _is_changed(self, file: str) -> bool:
        before, after = self.stand.before.get(file), self.stand.after.get(file)
        return (before and before[0]) != (after and after[0])

    def look_at_plans(self, night: Night) -> None:
        """Whole ones, or none."""
        kept = night.dreaming.kept
        for item in kept.items():
            assert item.problem is None, item.problem
            waiting = kept.open(item)
            assert waiting.plan.topics == len(waiting_topics(self.stand.before)), "a plan is torn"
            for snapshot, tree in ((waiting.before, self.stand.before), (waiting.after, self._planned())):
                self._look_at_snapshot(snapshot, tree)
        if self.job == "carry out" and "dropping the plan" not in self.ended.told:
            assert len(kept.items()) == 1, "a plan does not wait any more, and nobody has carried it out"

    def _planned(self) -> Tree:
        """What the plan of this job would come to."""
        return self.world.stand("dream").after if self.job in ("review", "dry") else self.stand.after

    def _look_at_snapshot(self, snapshot: Snapshot, tree: Tree) -> None:
        for file, data in snapshot.files.items():
            assert tree.get(file, (None,))[0] == data, f"a plan has another {file}"

    # -- and goes on --

    async def go_on(self, stands: str) -> None:
        """A new dream runs through; what was done is undone, what was not is done."""
        stand, again = self.stand, self.chance.random() < 0.5
        match self.job, stands:
            case "undo", "after":
                (undone,) = [one for one in self.log() if one.worker == "undo"]
                await self.world.night(LATER).undo(undone.id)
                self.expect(stand.before, "an undo that was undone")
                await self.nothing_to_do()
            case "undo", _:
                await self.world.do("undo", LATER)
                self.expect(stand.after, "an undo")
                await self.nothing_to_do()
            case "carry out", _:
                night = self.world.night(LATER)
                for item in night.dreaming.kept.items():
                    consolidation.carry_out(night.project, night.dreaming.kept.open(item))
                    self.expect(stand.after, "a plan that is carried out", fresh=stand.fresh)
                assert night.dreaming.kept.items() == ()
                await self.nothing_to_do()
                await self.undo()
            case "review" | "dry", _ if again:
                await self.nothing_to_do()
            case "review" | "dry", _:
                await self.dream()
                night = self.world.night(LATER)
                if self.job == "review":
                    consolidation.carry_out(night.project, night.dreaming.kept.get())
                    there = self.world.stand("dream")
                    self.expect(made_later(there.after), "a plan that is carried out", fresh=there.fresh)
                    await self.undo()
                assert sum(item.dry for item in night.dreaming.kept.items()) == (self.job == "dry")
            case _, "after":
                if again:
                    await self.nothing_to_do()
                    await self.undo()
                else:
                    await self.undo()
                    await self.dream()
            case _:
                await self.dream()
                self.expect(made_later(stand.after), "a dream", fresh=stand.fresh)
                if again:
                    await self.undo()

    def log(self) -> list[Change]:
        history = self.world.night(LATER).memory.history
        assert history is not None
        return history.log()

    async def undo(self) -> None:
        """The newest dream, exactly."""
        night = self.world.night(LATER)
        await night.undo(dreams_of(night)[0].id)
        self.expect(self.stand.before, "an undo")

    async def dream(self) -> None:
        """The same one again, by the next process, as it would."""
        night = self.world.night(LATER)
        if self.job != "dream" or self.chance.random() < 0.5:
            await self.world.dream(night, self.job)
        else:
            async with self.running(night, ScriptedModel(Benign(self.world.made).lines)) as runtime:
                dreamed = await runtime.dream()
                assert dreamed.outcome == "applied", dreamed.outcome
        self.look_at_time(night)

    async def nothing_to_do(self) -> None:
        """A dream in which the model finds all in order: at most the index is mended, and that is undone."""
        night = self.world.night(LATER)
        before = night.tree()
        dreamed = await night.dream([say("All is well.")])
        self.look_at_time(night)
        assert dreamed.outcome in ("nothing", "applied"), dreamed.outcome
        assert dreamed.topics == (), "memories were changed by who changed none"
        if dreamed.applied is not None and dreamed.applied.change is not None:
            await night.undo(dreamed.applied.change)
        self.expect(before, "an undo")

    def look_at_time(self, night: Night) -> None:
        if self.job != "dry":
            assert last(night.directory) == int(LATER.timestamp()) * 10**9, "a dream's time is not told"

    def expect(self, tree: Tree, what: str, *, fresh: frozenset[str] = frozenset()) -> None:
        differing = self.differing(tree, fresh=fresh)
        assert differing == [], f"{what} is not exact: {differing}"

    def look_for_leftovers(self, night: Night) -> None:
        assert [event for event in self.told if event.name == "failed"] == [], self.told
        night.memory.tidy()
        left = [path.name for path in night.folder.rglob("*") if path.name.startswith(".memdir-")]
        assert left == [], f"left lying about: {left}"
        assert night.stages == [], "a copy of the memories is left"
        place = night.project.places.dreams
        whole = {item.id for item in night.dreaming.kept.items()}
        there = {path.name for path in place.iterdir()} if place.exists() else set[str]()
        assert there == whole, f"half a plan is left: {there - whole}"
        assert night.memory.trashed() == []
        history = night.memory.history
        assert history is not None
        assert not (history.folder / plan.NAME).exists(), "a plan is left in the history"
        assert night.memory.look() is None, "a change is missing in the history"


def made_later(tree: Tree) -> Tree:
    """The same, dated as the next process dates it (F1)."""
    then, later = _stamp(NOW), _stamp(LATER)
    return {file: (data.replace(then, later), moment) for file, (data, moment) in tree.items()}


def _stamp(now: datetime) -> bytes:
    return topic.stamp(b"---\nname: a\n---\n", now=now, origin=None).split(b"\n")[2]


def waiting_topics(tree: Tree) -> list[str]:
    """The topics among the files of a directory."""
    return [file for file in tree if file.endswith(".md") and file != "MEMORY.md"]


def fate_of(stand: Stand, chance: random.Random) -> Fate:
    """How the next one dies."""
    parts = sorted(part for part, count in stand.counts.items() if count)
    kind, with_git = chance.random(), chance.random() < 0.3
    if kind < 0.70:
        by_part = kind < 0.55
        weights = [(3 if "lock" in part else 1) if by_part else stand.counts[part] for part in parts]
        (part,) = chance.choices(parts, weights)
        change = chance.randint(1, stand.counts[part])
        how: Literal["before", "after", "torn"] = chance.choice(["before", "after", "torn"])
        return Fate(part=part, change=change, how=how, with_git=with_git)
    if kind < 0.85:
        part = chance.choice(sorted(set(stand.seconds) - {"", "in between"}))
        return Fate(part=part, seconds=chance.random() * stand.seconds[part], with_git=with_git)
    return Fate(seconds=chance.random() * sum(stand.seconds.values()), with_git=with_git)


@dataclass(kw_only=True)
class Rounds:
    """Plays rounds below one folder. One that nobody was killed in, since it was over too soon, counts for
    nothing, but is looked at all the same.
    """

    folder: Path
    seed: int
    large: float = LARGE
    worlds: dict[str, World] = field(default_factory=dict)

    def play(self, number: int) -> list[Round]:
        chance = random.Random(f"{self.seed}/{number}")
        world = self._world(chance)
        (job,) = chance.choices(list(JOBS), list(JOBS.values()))
        played = list[Round]()
        while len(played) < 8 and not any(one.part or one.fault for one in played):
            played.append(self._play(world, number, job, chance))
        return played

    def _play(self, world: World, number: int, job: Job, chance: random.Random) -> Round:
        stand, prior = world.stand(job), chance.choice(PRIORS)
        if job in ("review", "dry"):
            world.stand("dream")
        world.bring(stand.place)
        prior_ns, since = set_lock(world.night(), prior), time.time_ns() - 10**9
        fate = fate_of(stand, chance)
        here = Round(number=number, job=job, prior=prior, fate=fate, size=len(world.made.files) - 1)
        again = Fate(change=chance.randint(1, LATEST_CHANGE), how=chance.choice(["before", "after", "torn"]))
        try:
            ended = process(lambda: anyio.run(world.do, job), fate)
            if ended.was_killed and chance.random() < AGAIN:
                here = replace(here, again=process(world.start, again).was_killed)
            looking = Looking(
                world=world,
                stand=stand,
                job=job,
                prior_ns=prior_ns,
                ended=ended,
                chance=chance,
                since=since,
            )
            stands = process(lambda: anyio.run(looking.look)).answer
        except (AssertionError, OSError, Conflict) as error:
            return replace(here, fault=str(error))
        return replace(here, stands=stands, part=ended.part if ended.was_killed else "")

    def _world(self, chance: random.Random) -> World:
        name = "large" if chance.random() < self.large else f"small-{chance.randint(1, 2)}"
        if name not in self.worlds:
            made = untidy(self.seed) if name == "large" else small(int(name[-1]))
            self.worlds[name] = World(place=self.folder / name, store=self.folder / f".{name}", made=made)
        return self.worlds[name]


def share(folder: str, numbers: Sequence[int], seed: int, large: float) -> list[Round]:
    """Some of the rounds, one after the other."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        rounds = Rounds(folder=Path(place).resolve(), seed=seed, large=large)
        return [one for number in numbers for one in rounds.play(number)]


def run(numbers: Sequence[int], *, seed: int, jobs: int, large: float) -> list[Round]:
    """Play these rounds in so many processes."""
    with tempfile.TemporaryDirectory(prefix="dream-kill-") as folder:
        if jobs == 1:
            return share(folder, numbers, seed, large)
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, mp_context=spawn) as pool:
            shares = [pool.submit(share, folder, numbers[at::jobs], seed, large) for at in range(jobs)]
            return [one for waiting in shares for one in waiting.result()]


def told(played: Sequence[Round]) -> Iterator[str]:
    """The counts, a line each."""
    killed = [one for one in played if one.part]
    yield f"{'killed':28} kills  as before  as after"
    for part in sorted({one.part for one in killed}):
        here = Counter(one.stands for one in killed if one.part == part)
        yield f"  {part:26} {here.total():5}  {here['before']:9}  {here['after']:8}"
    for title, names in (("what", (one.job for one in killed)), ("lock", (one.prior for one in killed))):
        yield f"{title}: {', '.join(f'{name} {count}' for name, count in Counter(names).most_common())}"
    again = sum(one.again for one in killed)
    moments = sum(one.fate.seconds is not None for one in killed)
    large = sum(one.size > 100 for one in killed)
    over = sum(not one.part and one.fault is None for one in played)
    yield f"{moments} at some moment, {large} of 120 memories, {again} times the next start too"
    yield f"{over} were over before they could be killed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes that play at once")
    parser.add_argument("--large", type=float, default=LARGE, help="share of rounds with 120 memories")
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER", help="play these rounds alone")
    options = parser.parse_args()
    began = time.monotonic()
    numbers = options.only or range(options.rounds)
    played = run(numbers, seed=options.seed, jobs=min(options.jobs, len(numbers)), large=options.large)
    for text in told(played):
        print(text)
    faults = [one for one in played if one.fault is not None]
    for one in faults:
        print(f"FAULT in round {one.number} ({one.job}, lock {one.prior}, {one.fate}): {one.fault}")
    kills, seconds = sum(bool(one.part) for one in played), time.monotonic() - began
    print(f"{kills} kills (seed {options.seed}) in {seconds:.0f} s: {len(faults)} faults")
    sys.exit(1 if faults or kills + len(faults) < len(numbers) else 0)


if __name__ == "__main__":
    main()
