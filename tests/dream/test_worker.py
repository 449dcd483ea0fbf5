"""The end of a turn -> a dream, if it is time for one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import anyio
import pytest

from memdir.agent.loop import Agent
from memdir.dream.lock import Lock
from memdir.dream.run import Dreamed
from memdir.dream.worker import Dreamer, Policy, explain
from memdir.errors import Conflict, ModelOverloaded
from memdir.model.messages import assistant, person
from memdir.testing import Line, ScriptedModel, say
from tests.dream.night import Night
from tests.dream.untidy import Benign, untidy

pytestmark = pytest.mark.anyio

SECONDS = 60


@dataclass(kw_only=True)
class Evening:
    """A conversation in which a turn has ended, and the dreamer beside it."""

    night: Night
    model: ScriptedModel
    agent: Agent
    dreamer: Dreamer
    dreamed: list[Dreamed] = field(default_factory=list)

    async def turn(self) -> None:
        await self.dreamer.turn_ended(self.agent)
        with anyio.fail_after(SECONDS):
            await self.dreamer.drain(SECONDS)

    @property
    def why(self) -> str:
        """Why the last turn began no dream."""
        return str(next(one for one in reversed(self.night.told) if one.name == "skipped").fields["why"])


@asynccontextmanager
async def evening(
    night: Night, script: Iterable[Line] = (), *, policy: Policy | None = None
) -> AsyncIterator[Evening]:
    model, dreamed = ScriptedModel(script), list[Dreamed]()
    agent = night.agent(model)
    agent.messages += [person("hello", at=night.now), assistant(say("Hello."))]
    async with anyio.create_task_group() as tasks:
        dreamer = Dreamer(night.dreaming, tasks=tasks, policy=policy or Policy(), on_dreamed=dreamed.append)
        yield Evening(night=night, model=model, agent=agent, dreamer=dreamer, dreamed=dreamed)
        await dreamer.give_up()


def sessions(night: Night, count: int) -> None:
    """So many other conversations were had."""
    night.project.places.transcripts.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = night.project.places.transcripts / f"{UUID(int=number + 1)}.jsonl"
        path.write_text("{}\n")
        moment = int(night.now.timestamp()) * 10**9 - number
        os.utime(path, ns=(moment, moment))


@pytest.fixture
def night(tmp_path: Path) -> Night:
    return Night(tmp_path.resolve())


def last_dream(night: Night, *, hours: float) -> None:
    moment = int((night.now - timedelta(hours=hours)).timestamp()) * 10**9
    night.lock.touch()
    os.utime(night.lock, ns=(moment, moment))


async def test_a_turn_begins_a_dream_when_all_gates_are_open_D1(night: Night) -> None:
    made = untidy()
    night.lay(made)
    sessions(night, 5)
    async with evening(night, Benign(made).lines) as one:
        await one.turn()
        assert [dreamed.outcome for dreamed in one.dreamed] == ["applied"]
        await one.turn()
        assert one.why.endswith("since the last, 24 h needed")
    said = next(event for event in night.told if event.name == "dreaming")
    assert said.fields["sessions"] == 5


async def test_the_host_goes_on_talking_while_a_dream_goes_on_D1(night: Night) -> None:
    night.lay(untidy())
    sessions(night, 5)
    asked, go_on = anyio.Event(), anyio.Event()

    async def slow(_: object) -> Line:
        asked.set()
        await go_on.wait()
        return say("All is well.")

    async with evening(night, [slow]) as one:
        await one.dreamer.turn_ended(one.agent)
        with anyio.fail_after(SECONDS):
            await asked.wait()
        assert one.dreamer.is_running
        assert one.dreamer.progress is not None
        one.agent.add(person("and another thing", at=night.now))
        await one.dreamer.turn_ended(one.agent)
        go_on.set()
        with anyio.fail_after(SECONDS):
            assert await one.dreamer.drain(SECONDS)
        assert len(one.model.requests) == 1
        assert all("another thing" not in message.text for message in one.model.requests[0].messages)


@pytest.mark.parametrize(
    ("hours", "others", "why"),
    [
        (23, 9, "23 h since the last, 24 needed"),
        (24, 4, "4 of 5 sessions"),
    ],
)
async def test_a_closed_gate_is_told_with_its_reason_D1(
    night: Night, hours: float, others: int, why: str
) -> None:
    night.lay(untidy())
    last_dream(night, hours=hours)
    sessions(night, others)
    async with evening(night) as one:
        await one.turn()
        assert one.why == why
        assert one.model.requests == []


async def test_dreams_that_are_off_never_begin_and_daily_logs_are_left_alone_D1(night: Night) -> None:
    night.lay(untidy())
    sessions(night, 9)
    for policy, why in ((Policy(dream=False), "off"), (Policy(daily_log=True), "daily log")):
        async with evening(night, policy=policy) as one:
            await one.turn()
            assert why in one.why


async def test_transcripts_are_looked_through_once_in_ten_minutes_D1(night: Night) -> None:
    night.lay(untidy())
    sessions(night, 4)
    async with evening(night, [say("All is well.")]) as one:
        await one.turn()
        assert one.why == "4 of 5 sessions"
        sessions(night, 5)
        night.now += timedelta(minutes=9)
        await one.turn()
        assert "at most once" in one.why
        night.now += timedelta(minutes=1)
        await one.turn()
        assert len(one.dreamed) == 1


async def test_after_a_failure_the_next_try_waits_longer_D1(night: Night) -> None:
    night.lay(untidy())
    sessions(night, 5)
    async with evening(night, [ModelOverloaded("busy"), say("All is well.")]) as one:
        await one.turn()
        failed = next(event for event in night.told if event.name == "failed")
        assert (failed.fields["where"], failed.fields["why"]) == ("dream", "busy")
        assert not night.lock.exists()
        night.now += timedelta(minutes=19)
        await one.turn()
        assert one.dreamed == []
        night.now += timedelta(minutes=1)
        await one.turn()
        assert len(one.dreamed) == 1


async def test_at_the_persons_word_no_gate_but_the_lock_counts_D7(night: Night) -> None:
    night.lay(untidy())
    last_dream(night, hours=1)
    policy = Policy(dream=False, daily_log=True)
    async with evening(night, [say("All is well.")], policy=policy) as one:
        lock = Lock.take(night.directory, now=lambda: night.now)
        with pytest.raises(Conflict):
            await one.dreamer.now(one.agent, on_progress=night.seen.append)
        lock.fail()
        dreamed = await one.dreamer.now(one.agent, on_progress=night.seen.append)
        assert dreamed.outcome == "applied"
        assert night.seen[0].phase == "look around"


async def test_a_dream_can_be_stopped_and_all_is_as_it_was_D6(night: Night) -> None:
    before = night.lay(untidy())
    sessions(night, 5)
    asked = anyio.Event()

    async def forever(_: object) -> Line:
        asked.set()
        await anyio.sleep_forever()
        return say("never")

    async with evening(night, [forever]) as one:
        await one.dreamer.turn_ended(one.agent)
        with anyio.fail_after(SECONDS):
            await asked.wait()
            assert await one.dreamer.stop()
        assert not one.dreamer.is_running
        assert not await one.dreamer.stop()
    assert night.tree() == before
    assert not night.lock.exists()


async def test_at_the_end_a_dream_gets_some_time_and_is_broken_off_then_D6(night: Night) -> None:
    before = night.lay(untidy())
    sessions(night, 5)

    async def forever(_: object) -> Line:
        await anyio.sleep_forever()
        return say("never")

    async with evening(night, [forever]) as one:
        await one.dreamer.turn_ended(one.agent)
        assert not await one.dreamer.finish(0.05)
    assert night.tree() == before


async def test_while_a_plan_waits_no_other_dream_begins_by_itself_D8(night: Night) -> None:
    made = untidy()
    night.lay(made)
    held = await night.dream(Benign(made).lines, dreaming=replace(night.dreaming, review=True))
    night.now += timedelta(hours=25)
    sessions(night, 9)
    async with evening(night) as one:
        await one.turn()
        assert f"the plan {held.kept} waits" in one.why


async def test_all_gates_can_be_explained_at_once_D1(night: Night) -> None:
    night.lay(untidy())
    last_dream(night, hours=18)
    sessions(night, 3)
    gates = explain(night.dreaming, Policy(), session=None)
    assert [(gate.name, gate.passes, gate.reason) for gate in gates] == [
        ("on", True, "dreams are on"),
        ("time", False, "18 h since the last, 24 needed"),
        ("throttle", True, "sessions were not looked through yet"),
        ("sessions", False, "3 of 5 sessions"),
        ("lock", True, "free"),
        ("review", True, "no plan waits for you"),
    ]
