"""Kill processes in the middle of an extraction, again and again: nothing lost, none learned twice (E7, E9).

    python -m tests.stress.extraction_kill --rounds 100 --seed 1

Two conversations at a time share a memory directory. In each turn the person says a fact, and a scripted
model saves it in the background, under a new name each time it is asked, so that what is learned twice can be
seen. Now and then it fails, or its budget is used up. One of the two is killed by -9, at a random moment or
between two certain changes of the disk, and another one begins: it takes back what the killed one had half
done, and picks up what it had not come to. In the end one that lives does the rest, and looks at it all.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from memdir.agent.events import Event, Events
from memdir.agent.file_state import FileState
from memdir.agent.loop import Agent, Hooks
from memdir.agent.permissions import for_main
from memdir.agent.tools import TOOLS, ToolContext
from memdir.agent.transcript import Transcript
from memdir.doctor.checkup import problems
from memdir.errors import ModelOverloaded, OverBudget
from memdir.extract import cursor, foreign, gates, killed
from memdir.extract.pickup import PickingUp, PickUp
from memdir.extract.unfinished import Left, Unfinished
from memdir.extract.worker import Extractor, Policy
from memdir.memory import entrypoint, topic
from memdir.memory.history import History
from memdir.memory.store import MemoryDir
from memdir.model.client import ModelClient, OnText
from memdir.model.local import Local
from memdir.model.messages import Prefix, Reply, Request, new_id
from memdir.testing import Line, ScriptedModel, call, say

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
PREFIX = Prefix(system=("You are a coding agent.",), tools=tuple(tool.spec for tool in TOOLS))
FACT = re.compile(r"\b(?:[bdfgklmnprstvz][aeiou]){5}\b")
"""What a fact is known by: a name of five syllables."""
THINGS = ("database", "printer", "mailer", "cluster", "dashboard", "archive", "gateway", "mirror", "runner")
CITIES = ("Frankfurt", "Osaka", "Lima", "Turku", "Accra", "Hobart", "Quito", "Split", "Bergen", "Izmir")
CHANGES = ("fsync", "replace", "link", "unlink", "write", "utime", "mkdir", "rmdir")
TURNS = 3
"""Turns of a conversation that nobody kills."""
LATEST_CHANGE = 160
"""Changes of the disk, of which one is the last."""
LONGEST = 0.4
"""Seconds, at the end of which a conversation is dead that was to die at some moment."""
PATIENCE = 30.0
FAILURES = 0.15
"""Of the requests for saving, how many fail, and how many are over the budget."""


class Model(ScriptedModel):
    """Saves what is new: looks at the index, writes a memory for each fact, and all lines at once."""

    def __init__(self, memory: MemoryDir, chance: random.Random, failures: float) -> None:
        super().__init__()
        self._memory = memory
        self._chance = chance
        self._failures = failures

    async def complete(self, request: Request, *, on_text: OnText | None = None) -> Reply:
        self.add(self._answer(request))
        return await super().complete(request, on_text=on_text)

    def _answer(self, request: Request) -> Line:
        told = next((at for at, one in enumerate(request.messages) if one.origin == "system"), None)
        if told is None:
            return say("Noted.")
        if self._chance.random() < self._failures:
            return self._chance.choice([ModelOverloaded("busy"), OverBudget("used up for today")])
        step = sum(one.role == "assistant" for one in request.messages[told:])
        if step == 0:
            return call("Read", file_path=f"{self._memory.directory}/{entrypoint.NAME}")
        if step > 1:
            return say("Saved.")
        count = re.search(r"last (\d+) messages", request.messages[told].text)
        assert count, "the instruction says how many messages count"
        new = request.messages[max(told - int(count[1]), 0) : told]
        return self._writes([one.text for one in new if one.origin == "person"])

    def _writes(self, said: Sequence[str]) -> Line:
        calls, index = [], self._memory.index()
        for text in said:
            for fact in dict.fromkeys(FACT.findall(text)):  # its address names it once more
                name = f"{fact}_{self._chance.getrandbits(40):x}.md"
                content = topic.render(name=fact, description=text, type="project", body=f"{text}\n")
                calls.append(call("Write", file_path=f"{self._memory.directory}/{name}", content=content))
                index += f"- [{fact}]({name}) — {text}\n"
        if not calls:
            return say("Nothing to save.")
        written = call("Write", file_path=f"{self._memory.directory}/{entrypoint.NAME}", content=index)
        return [*calls, written]


@dataclass(kw_only=True)
class World:
    """All that the conversations share, below one folder."""

    folder: Path
    by_rules: bool = False
    with_history: bool = False
    failures: float = FAILURES
    told: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        directory, history = self.folder / "memory", None
        if self.with_history:
            history = History(self.folder / "history", directory=directory, now=lambda: NOW)
        self.memory = MemoryDir(directory, trash=self.folder / "trash", history=history)
        self.journals, self.cursors = self.folder / "journal", self.folder / "cursors"
        self.transcripts, self.pending = self.folder / "transcripts", self.folder / "pending"
        self.events = Events(self.told.append)

    def model(self, chance: random.Random) -> ModelClient:
        return Local() if self.by_rules else Model(self.memory, chance, self.failures)

    async def clear_up(self) -> None:
        """What every start does first."""
        take_back = partial(killed.take_back, self.memory, self.journals, cursors=self.cursors)
        recovered = await anyio.to_thread.run_sync(take_back)
        assert recovered.failures == (), recovered.failures
        await anyio.to_thread.run_sync(self.memory.mend)

    def picking_up(self, unfinished: Unfinished, model: ModelClient) -> PickingUp:
        return PickingUp(
            unfinished=unfinished,
            memory=self.memory,
            model=model,
            cursors=self.cursors,
            journals=self.journals,
            now=lambda: NOW,
            events=self.events,
        )

    # -- a conversation --

    async def live(self, chance: random.Random) -> None:
        """One conversation, from its start to its end, if it comes to that."""
        await self.clear_up()
        unfinished, saving = Unfinished(self.pending), self.model(chance)
        async with anyio.create_task_group() as tasks:
            picking_up = PickUp(self.picking_up(unfinished, saving), tasks=tasks)
            picking_up.start()
            extractor, agent = self._begin(unfinished, saving, tasks)
            for _ in range(TURNS):
                await agent.run(fact(chance))
                if chance.random() < 0.5:
                    await anyio.sleep(chance.random() * LONGEST / 4)
            await extractor.finish(PATIENCE)
            await picking_up.finish(PATIENCE)
            extractor.end(agent.messages)
            tasks.cancel_scope.cancel()
        unfinished.close()

    def _begin(
        self, unfinished: Unfinished, saving: ModelClient, tasks: TaskGroup
    ) -> tuple[Extractor, Agent]:
        session, directory = new_id(), self.memory.directory
        place = self.transcripts / f"{session}.jsonl"
        transcript = Transcript.create(place, session_id=session, cwd=self.folder, prefix=PREFIX, at=NOW)
        left = Left(session=session, transcript=place, memory=directory, cwd=self.folder)
        extractor = Extractor(
            session=session,
            memory=self.memory,
            cursors=self.cursors,
            journals=self.journals,
            marker=unfinished.begin(left),
            tasks=tasks,
            policy=Policy(model=saving),
            events=self.events,
        )

        agent = Agent(
            id=session,
            prefix=PREFIX,
            model=Model(self.memory, random.Random(0), 0.0),
            context=ToolContext(cwd=self.folder, files=FileState(), memory=self.memory, now=lambda: NOW),
            permit=for_main(memory=directory, cwd=self.folder),
            transcript=transcript,
            events=self.events,
            hooks=Hooks(on_turn_end=extractor.turn_ended),
        )
        return extractor, agent

    # -- the end --

    async def do_the_rest(self) -> None:
        """The last start: nobody kills it, no model fails."""
        self.failures = 0.0
        unfinished = Unfinished(self.pending)
        await self.clear_up()
        await self.picking_up(unfinished, self.model(random.Random(0))).run(at_most=sys.maxsize)
        if self.memory.history is not None and self.memory.history.off is None:
            with self.memory.alone():
                self.memory.history.tidy()
        failed = [event for event in self.told if event.name == "failed"]
        assert failed == [], failed

    def look(self) -> int:
        """How many facts there are. AssertionError: one is lost, or saved twice, or a thing is left over."""
        said = self._said()
        topics = {
            header.path: (self.memory.directory / header.path).read_bytes() for header in self.memory.list()
        }
        saved = Counter(
            found for data in topics.values() for found in set(FACT.findall(data.decode("utf-8")))
        )
        assert said - set(saved) == set(), "a message is lost"
        assert [found for found, times in saved.items() if times > 1] == [], "a message is learned twice"
        assert set(saved) - said == set()
        for file, data in topics.items():
            read = topic.parse(data, filename=file)
            assert read.description, f"{file} is torn"
            assert data.endswith(b"\n"), f"{file} is torn"
        pointed = [pointer.file for pointer in entrypoint.pointers(self.memory.index())]
        assert sorted(pointed) == sorted(topics), "the index does not fit"
        told = [problem for problem in problems(self.memory, now=NOW) if "it is at" not in problem]
        assert told == [], "a person would have to look"
        assert self.memory.trashed() == []
        left = [path for path in self.folder.rglob("*") if path.name.endswith((".tmp", ".live"))]
        left = [path for path in left if path.parent != self.transcripts]  # for the conversation to see to
        left += [*self.journals.glob("*"), *self.pending.glob("*")]
        assert left == [], left
        if self.memory.history is not None and self.memory.history.off is None:
            assert self.memory.look() is None, "a change is missing in the history"
        return len(said)

    def _said(self) -> set[str]:
        said = set[str]()
        for path in sorted(self.transcripts.glob("*.jsonl")):
            if b'"origin":"person"' not in path.read_bytes():
                continue
            (talk,) = foreign.read(path)
            kept = cursor.load(self.cursors, talk.session_id)
            assert kept is not None, "a cursor is missing"
            assert not gates.has_words(gates.since(talk.messages, kept.message)), "a cursor is behind"
            said |= {
                found
                for message in talk.messages
                if message.origin == "person"
                for found in FACT.findall(message.text)
            }
        return said


def fact(chance: random.Random) -> str:
    """Something to remember, as rules and models understand it."""
    name = "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(5))
    thing, city = chance.choice(THINGS), chance.choice(CITIES)
    return f"Remember: the {name} {thing} is at https://{name}.invalid/{city}."


# -- killing -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Fate:
    """How a conversation dies: right before that change of the disk, or so many seconds after its start."""

    change: int | None = None
    seconds: float | None = None


def begun(world: World, seed: int, fate: Fate) -> int:
    """A process in which a conversation takes place; its id."""
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    status = 1
    try:
        if fate.change is not None:
            mortal(fate.change)
        anyio.run(world.live, random.Random(seed))
        status = 0
    except BaseException as error:  # noqa: BLE001 - it must not run on as its parent
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        if isinstance(error, BaseExceptionGroup):
            sys.stderr.write(f"{error.exceptions}\n")
    finally:
        os._exit(status)


def mortal(last: int) -> None:
    """Kill this process right before its `last` change of the disk."""
    seen = 0

    def changing(real: Callable[..., Any]) -> Callable[..., Any]:
        def change(*args: Any, **named: Any) -> Any:
            nonlocal seen
            seen += 1
            if seen >= last:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **named)

        return change

    for name in CHANGES:
        setattr(os, name, changing(getattr(os, name)))


@dataclass
class Killer:
    """Begins conversations and kills them, two at a time."""

    world: World
    chance: random.Random
    living: list[tuple[int, Fate, float]] = field(default_factory=list)
    kills: int = 0

    def run(self, rounds: int) -> None:
        """Until so many were killed; the last one lives to its end."""
        while self.kills < rounds:
            while len(self.living) < 2:
                self._begin()
            pid, fate, since = self.living.pop(0)
            if fate.seconds is not None:
                time.sleep(max(since + fate.seconds - time.monotonic(), 0))
                os.kill(pid, signal.SIGKILL)
            self._wait(pid)
        for pid, _, _ in self.living:
            self._wait(pid)

    def _begin(self) -> None:
        by_change = self.chance.random() < 0.5
        fate = (
            Fate(change=self.chance.randint(1, LATEST_CHANGE))
            if by_change
            else Fate(seconds=self.chance.random() * LONGEST)
        )
        pid = begun(self.world, self.chance.getrandbits(40), fate)
        self.living.append((pid, fate, time.monotonic()))

    def _wait(self, pid: int) -> None:
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        assert code in (0, -signal.SIGKILL), "a conversation failed by itself"
        self.kills += code != 0


def run(folder: Path, *, rounds: int, seed: int, by_rules: bool = False, with_history: bool = True) -> int:
    """Kill so many conversations; how many facts were saved. Raises AssertionError with what went wrong."""
    has_git = with_history and shutil.which("git") is not None
    world = World(folder=folder, by_rules=by_rules, with_history=has_git)
    world.memory.prepare()
    Killer(world, random.Random(seed)).run(rounds)
    anyio.run(world.do_the_rest)
    return world.look()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    outcome = {}
    for name, by_rules, with_history in (
        ("by a model", False, False),
        ("by a model, with history", False, True),
        ("by rules", True, False),
    ):
        with tempfile.TemporaryDirectory() as folder:
            outcome[name] = run(
                Path(folder).resolve(),
                rounds=options.rounds,
                seed=options.seed,
                by_rules=by_rules,
                with_history=with_history,
            )
    print(f"{options.rounds} kills each (seed {options.seed}), none lost, none twice: {json.dumps(outcome)}")


if __name__ == "__main__":
    main()
