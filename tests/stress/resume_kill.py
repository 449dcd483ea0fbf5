"""Kill a long conversation at random points, and take it up again: it is what it was (A1, C3, C4).

    python -m tests.stress.resume_kill --rounds 50 --seed 1

One session of the real runtime, with tool calls on real files, compactions, notes and extractions, by a
scripted model with a small window. The process is killed by -9: at a random moment, right before a certain
change of the disk, or when it writes a certain record of its transcript, of which half may be there. The next
one takes the session up, and looks first: the context is the one that the dead process had when it wrote the
last whole record (it had put that down beside the transcript, see `witness`); calls that were open have an
answer, and no other; nothing is there twice; the summary is one of use, and says nothing twice; and the first
request sends the same bytes, with what is new behind them. Then it goes on where the other one stopped, until
it is killed. The last one lives, and nothing was forgotten on the way.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from memdir import app
from memdir.agent.closing import INTERRUPTED
from memdir.agent.events import Events
from memdir.agent.transcript import Recorded, read
from memdir.model.anthropic import wire
from memdir.model.messages import Block, Message, Request, ToolResult
from memdir.paths import summary_path
from memdir.session.sections import Template, lost, sections
from tests.story.long import model, script
from tests.story.long.stage import Stage, allowed, scripted
from tests.story.long.witness import Witness, digest
from tests.stress.extraction_kill import mortal
from tests.wire.rules import objection

WINDOW = 28_000
LATEST_CHANGE = 500
"""Changes of the disk, of which one is the last."""
LATEST_RECORD = 60
"""The same of records of the transcript."""
LONGEST = 3.0
"""Seconds, at the end of which a process is dead that was to die at some moment."""
TO_THE_END = 10
"""Turns of the last one, which lives."""
TURNS = 900
"""More than there will be."""


@dataclass(frozen=True, kw_only=True)
class Fate:
    """How a process dies: right before that change of the disk; so many seconds after its start; or instead
    of writing that record, or half of it; or not at all.
    """

    change: int | None = None
    seconds: float | None = None
    record: int = 0
    is_torn: bool = False


class World:
    """The session, below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = scripted(WINDOW)
        self.witness = Witness(folder / "witness")
        self.stage = Stage(
            folder=folder / "world",
            turns=TURNS,
            window=WINDOW,
            in_process=self.client,
            settings={"FEATURES_EXTRACT_EVERY_TURNS": "3"},
            hurry=3,
        )

    @property
    def transcript(self) -> Path | None:
        """The session's, if it was begun."""
        return next(iter(self.stage.project.places.transcripts.glob("*.jsonl")), None)

    async def live(self, *, turns: int) -> None:
        """Take the session up, or begin it, and go on for so many turns."""
        self.client.life = f"_{os.getpid()}"
        path = self.transcript
        events = Events(self.stage.told.append)
        async with app.running(self.stage.project, models=self.stage.models(), events=events) as runtime:
            if path is None:
                with self.witness.watching():
                    await self.go_on(runtime, await runtime.start(ask=allowed), turns)
                return
            then = self.witness.of(_records(path)[-1]["uuid"])
            with self.witness.watching(then):
                recorded = read(path)
                conversation = await runtime.start(resume=path, ask=allowed)
                messages = list(conversation.agent.messages)
                assert tuple(map(digest, messages[: len(then.messages)])) == then.messages, "another context"
                assert recorded.noted == then.noted, "the summary reaches further, or not as far"
                added = messages[len(then.messages) :]
                assert len(added) <= 1, "more was added than an answer to open calls"
                assert all(_is_interrupted(block) for message in added for block in message.content)
                self.look_at_records(path, recorded)
                self.look_at_summary(path)
                await self.go_on(runtime, conversation, turns)

    async def go_on(self, runtime: app.Runtime, conversation: app.Conversation, turns: int) -> None:
        """From the turn that was not finished, or the next one."""
        stage, agent = self.stage, conversation.agent
        stage.conversation = conversation
        first, before = _next_turn(agent.record), list(agent.messages)
        for turn in range(first, min(first + turns, TURNS)):
            await stage.take(runtime, conversation, turn)
            if turn == first:
                self.look_at_first_request(before)
            assert stage.lost == [], [(at, one.line) for at, one in stage.lost]
            assert stage.failed == [], stage.failed

    # -- looking --

    def look_at_records(self, path: Path, recorded: Recorded) -> None:
        """Nothing is there twice."""
        lines = _records(path)
        names = Counter(line["uuid"] for line in lines)
        assert [name for name, times in names.items() if times > 1] == [], "a record is there twice"
        assert max(_results(recorded.context).values(), default=0) <= 1, "a call has two results"

    def look_at_summary(self, path: Path) -> None:
        """It is of use, whenever the other one was killed."""
        notes, template = summary_path(self.stage.project.places, path.stem), Template.default()
        if not notes.exists():
            return
        text = notes.read_text("utf-8")
        assert lost(template.text, text, template) == [], "the headings of the summary are lost"
        for one in sections(text, template):
            said = Counter(line for line in one.body.split("\n") if model.known(line))
            assert max(said.values(), default=0) <= 1, f"{one.title} says something twice"

    def look_at_first_request(self, before: list[Message]) -> None:
        """It begins with the bytes that the dead process would have sent next."""
        request = next(one for one in self.client.requests if model.heard(one).job == "host")
        body = wire.body(request, model="m")
        assert objection(body) is None, objection(body)
        head, kept = json.dumps([body["system"], body["tools"]]), self.folder / "prefix"
        if not kept.exists():
            kept.write_text(head)
        assert kept.read_text() == head, "another system prompt, or other tools"
        known = {message.id for message in before}
        new = [message for message in request.messages if message.id not in known]
        if not any((one.attachment or {}).get("kind") == "compaction" for one in new):
            sent, mine = _sent(request), _sent(Request(prefix=request.prefix, messages=tuple(before)))
            assert sent[: len(mine)] == mine, "other bytes"
            assert [one.origin for one in new if one.origin != "attachment"] == ["person"]


def _sent(request: Request) -> Any:
    return wire.body(replace(request, cache=False), model="m")["messages"]


def _results(messages: Iterable[Message]) -> Counter[str]:
    """How many results each call has."""
    blocks = (block for message in messages for block in message.content)
    return Counter(block.tool_use_id for block in blocks if isinstance(block, ToolResult))


def _is_interrupted(block: Block) -> bool:
    return isinstance(block, ToolResult) and block.content == INTERRUPTED


def _records(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a transcript; the last one may be torn."""
    lines = path.read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line.endswith(b"}") and _parses(line)]


def _parses(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _next_turn(record: Sequence[Message]) -> int:
    """The turn that the person is at: the last one, if it has no answer."""
    done = 0
    for message in record:
        if message.origin == "person" and (found := re.match(rf"{script.MARK} (\d+): ", message.text)):
            turn = int(found[1])
        elif message.origin == "assistant" and not message.tool_uses:
            done = turn
    return done + 1


# ── killing ────────────────────────────────────────────────────────────────────────────────────────────


def begun(world: World, turns: int, fate: Fate) -> int:
    """A process in which the conversation goes on; its id."""
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    status = 1
    try:
        if fate.change is not None:
            mortal(fate.change)
        world.witness.dies_at, world.witness.torn = fate.record, fate.is_torn
        anyio.run(partial(world.live, turns=turns))
        status = 0
    except BaseException:  # noqa: BLE001 - it must not run on as its parent
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def ended(pid: int) -> bool:
    """Whether a process was killed. AssertionError: it failed by itself."""
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGKILL), "a conversation was not what it had been"
    return code != 0


def run(folder: Path, *, rounds: int, seed: int) -> dict[str, int]:
    """Kill the conversation so many times, then let it live. AssertionError: something is wrong."""
    world, chance, kills = World(folder), random.Random(seed), 0
    while kills < rounds:
        fate = chance.choice(
            [
                Fate(change=chance.randint(1, LATEST_CHANGE)),
                Fate(seconds=chance.random() * LONGEST),
                Fate(record=chance.randint(1, LATEST_RECORD), is_torn=chance.random() < 0.5),
            ]
        )
        pid = begun(world, TURNS, fate)
        if fate.seconds is not None:
            time.sleep(fate.seconds)
            os.kill(pid, signal.SIGKILL)
        kills += ended(pid)
    assert not ended(begun(world, TO_THE_END, Fate()))
    path = world.transcript
    assert path is not None
    records = _records(path)
    kinds = Counter(record["type"] for record in records)
    interrupted = sum(INTERRUPTED in json.dumps(record) for record in records if record["type"] == "user")
    return {
        "turns": _next_turn(read(path).messages) - 1,
        "records": len(records),
        "compactions": kinds["compaction"],
        "notes": kinds["notes"],
        "calls interrupted": interrupted,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(Path(folder).resolve(), rounds=options.rounds, seed=options.seed)
    print(f"{options.rounds} kills (seed {options.seed}), each time as it was: {json.dumps(outcome)}")


if __name__ == "__main__":
    main()
