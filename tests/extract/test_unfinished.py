"""What sessions that died have left is learned from by a later one, once (E7, E9)."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from memdir.agent.events import Event, Events
from memdir.agent.transcript import Transcript
from memdir.errors import ModelOverloaded, OverBudget
from memdir.extract import cursor, killed
from memdir.extract.cursor import Cursor
from memdir.extract.pickup import PickingUp, PickUp
from memdir.extract.run import begin
from memdir.extract.unfinished import Left, Marker, Unfinished
from memdir.memory.pointer import Pointer
from memdir.memory.store import ANY, MemoryDir
from memdir.model.client import ModelClient
from memdir.model.local import Local
from memdir.model.messages import Message, Request, assistant, new_id, person
from memdir.testing import Line, ScriptedModel, temporary_memory, tree
from tests.extract.support import FRIDAYS, NOW, PREFIX

pytestmark = pytest.mark.anyio

RULE = "From now on always run the linter before you commit, because CI is slow."
PLACE = "Remember: our crash reports are at https://crashes.invalid/shop."
DATABASE = "Please remember: the staging database lives in Frankfurt."


@dataclass
class House:
    """A memory directory and the state beside it, in which sessions live and die."""

    memory: MemoryDir
    told: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state = self.memory.directory.parent
        self.cursors, self.pending = self.state / "cursors", self.state / "pending"
        self.journals = self.state / "journal"
        self.unfinished = Unfinished(self.pending)

    def session(self, *words: str, answered: bool = True) -> Left:
        """A session in which that was said."""
        session, place = new_id(), self.state / "transcripts"
        path = place / f"{session}.jsonl"
        transcript = Transcript.create(path, session_id=session, cwd=self.state, prefix=PREFIX, at=NOW)
        for each in words:
            transcript.append(person(each, at=NOW))
            if answered:
                transcript.append(assistant("Noted."))
        return Left(session=session, transcript=path, memory=self.memory.directory, cwd=self.state)

    def died(self, *words: str, answered: bool = True) -> Left:
        """A session that was killed."""
        left = self.session(*words, answered=answered)
        Unfinished(self.pending).put(left)
        return left

    def picking_up(self, model: ModelClient | None = None) -> PickingUp:
        return PickingUp(
            unfinished=Unfinished(self.pending),
            memory=self.memory,
            model=model or Local(),
            cursors=self.cursors,
            journals=self.journals,
            now=lambda: NOW,
            events=Events(self.told.append),
        )

    def events(self, name: str) -> list[dict[str, object]]:
        return [dict(event.fields) for event in self.told if event.name == name]

    @property
    def topics(self) -> list[str]:
        return sorted(set(tree(self.memory.directory)) - {"MEMORY.md"})


@pytest.fixture
def house() -> Iterator[House]:
    with temporary_memory() as memory:
        yield House(memory)


async def test_what_a_killed_session_was_told_is_learned_at_the_next_start_E7(house: House) -> None:
    left = house.died(RULE, PLACE)
    assert await house.picking_up().run() == 1
    assert len(house.topics) == 2
    assert not house.unfinished.is_there(left.session)
    assert house.events("picked_up") == [{"files": 2, "refused": 0}]
    assert list(house.pending.iterdir()) == []
    assert list(house.pending.with_name("locks").glob("*.live")) == []


async def test_so_are_words_that_nobody_answered_E7(house: House) -> None:
    house.died(RULE, answered=False)
    assert await house.picking_up().run() == 1
    assert len(house.topics) == 1


async def test_what_was_dealt_with_is_not_learned_again_E7(house: House) -> None:
    left = house.died(RULE)
    await house.picking_up().run()
    before = tree(house.memory.directory)
    house.unfinished.put(left)
    assert await house.picking_up(ScriptedModel()).run() == 0
    assert tree(house.memory.directory) == before
    assert not house.unfinished.is_there(left.session)


async def test_it_goes_on_behind_the_cursor_E7(house: House) -> None:
    left = house.died(RULE, PLACE)
    said = [json.loads(line) for line in left.transcript.read_text().splitlines()]
    cursor.save(house.cursors, left.session, Cursor(message=said[2]["uuid"]))
    await house.picking_up().run()
    (file,) = house.topics
    assert "crashes" in tree(house.memory.directory)[file]


async def test_a_session_that_lives_is_left_alone_E7(house: House) -> None:
    left = house.session(RULE)
    house.unfinished.begin(left)
    assert await house.picking_up().run() == 0
    assert house.topics == []
    house.unfinished.close()
    assert await house.picking_up().run() == 1
    assert len(house.topics) == 1


async def test_a_session_is_picked_up_by_one_at_a_time_E7(house: House) -> None:
    left = house.died(RULE)
    with house.unfinished.picking_up(left) as ours:
        assert ours
        assert await house.picking_up().run() == 0
        assert house.unfinished.is_there(left.session)
    assert await house.picking_up().run() == 1


async def test_two_starts_at_once_learn_each_session_once_E7(house: House) -> None:
    for words in (RULE, PLACE, DATABASE):
        house.died(words)
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(house.picking_up().run)
    await house.picking_up().run()
    assert len(house.topics) == 3
    assert list(house.pending.glob("*")) == []


async def test_a_few_at_a_time_the_oldest_first_E7(house: House) -> None:
    sessions = [house.died(words) for words in (RULE, PLACE, DATABASE)]
    for age, left in enumerate(sessions):
        stamp = 10**18 + age * 10**9
        path = cursor.path(house.pending, left.session)
        os.utime(path, ns=(stamp, stamp))
    assert await house.picking_up().run(at_most=2) == 2
    assert [house.unfinished.is_there(left.session) for left in sessions] == [False, False, True]


async def test_sessions_of_another_memory_wait_for_theirs_E7(house: House) -> None:
    left = house.session(RULE)
    other = Left(session=left.session, transcript=left.transcript, memory=house.state / "x", cwd=left.cwd)
    house.unfinished.put(other)
    assert await house.picking_up().run() == 0
    assert house.unfinished.is_there(left.session)


@pytest.mark.parametrize("damage", ["gone", "empty", "torn", "binary"])
async def test_a_transcript_that_can_not_be_read_drops_its_marker_E7(house: House, damage: str) -> None:
    left = house.died(RULE)
    if damage == "gone":
        left.transcript.unlink()
    else:
        left.transcript.write_bytes({"empty": b"", "torn": b'{"type": "sess', "binary": b"\xff\0"}[damage])
    assert await house.picking_up().run() == 0
    assert not house.unfinished.is_there(left.session)
    assert house.events("failed") == []


async def test_a_session_in_which_nothing_was_said_is_dropped_E7(house: House) -> None:
    left = house.died()
    assert await house.picking_up(ScriptedModel()).run() == 0
    assert not house.unfinished.is_there(left.session)


PATHS = '"transcript": "/x", "memory": "/x", "cwd": "/x"'


@pytest.mark.parametrize(
    "marker", ['{"version": 1}', "[]", "what?", f'{{"version": 1, "session": "other", {PATHS}}}']
)
async def test_a_marker_that_can_not_be_made_out_goes_E7(house: House, marker: str) -> None:
    house.pending.mkdir()
    (house.pending / "one.json").write_text(marker)
    assert house.unfinished.of(house.memory.directory) == []
    assert list(house.pending.iterdir()) == []


async def test_a_marker_of_a_later_version_stays_E7(house: House) -> None:
    house.pending.mkdir()
    (house.pending / "one.json").write_text('{"version": 2}')
    assert house.unfinished.of(house.memory.directory) == []
    assert len(list(house.pending.iterdir())) == 1


async def test_a_model_that_fails_leaves_all_for_another_time_and_is_told_once_E7(house: House) -> None:
    sessions = [house.died(RULE), house.died(PLACE)]
    model = ScriptedModel([ModelOverloaded("scripted:model is overloaded")])
    assert await house.picking_up(model).run() == 0
    model.assert_exhausted()
    assert all(house.unfinished.is_there(left.session) for left in sessions)
    (failed,) = house.events("failed")
    assert (failed["where"], failed["why"]) == ("earlier sessions", "scripted:model is overloaded")
    assert house.topics == []
    assert await house.picking_up().run() == 2


async def test_a_budget_that_is_used_up_is_no_failure_H3(house: House) -> None:
    left = house.died(RULE)
    assert await house.picking_up(ScriptedModel([OverBudget("used up for today")])).run() == 0
    assert house.events("waiting") == [{"job": "extract", "why": "used up for today"}]
    assert house.events("failed") == []
    assert house.unfinished.is_there(left.session)


async def test_one_that_fails_does_not_keep_the_others_waiting_E7(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = house.died(RULE), house.died(PLACE)
    real = cursor.save

    def save(folder: Path, session: str, to: Cursor) -> None:
        if session == first.session:
            raise PermissionError(13, "Permission denied")
        real(folder, session, to)

    monkeypatch.setattr("memdir.extract.learn.cursor.save", save)
    assert await house.picking_up().run() == 1
    assert [house.unfinished.is_there(one.session) for one in (first, second)] == [True, False]
    assert len(house.topics) == 1, "what could not be noted as learned was taken back"
    assert [event["error"] for event in house.events("failed")] == ["PermissionError"]


async def test_a_session_that_somebody_learns_from_right_now_is_left_to_him_E7(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = house.died(RULE)
    monkeypatch.setattr("memdir.extract.pickup.WAIT", 0.01)
    async with cursor.alone(house.cursors, left.session):
        assert await house.picking_up().run() == 0
    assert house.events("failed") == []
    assert house.unfinished.is_there(left.session)


async def test_where_no_day_has_room_for_it_rules_learn_it_H3(house: House) -> None:
    left, none = house.died(RULE), OverBudget("the setting is 0")
    none.lasts = True
    assert await house.picking_up(ScriptedModel([none])).run() == 1
    assert len(house.topics) == 1
    assert not house.unfinished.is_there(left.session)
    assert [event["why"] for event in house.events("degraded")] == ["the setting is 0"]


# -- in the background --------------------------------------------------------------------------------------


@pytest.fixture
async def tasks() -> AsyncIterator[anyio.abc.TaskGroup]:
    async with anyio.create_task_group() as group:
        yield group
        group.cancel_scope.cancel()


async def test_it_is_done_in_the_background_once_a_process_E7(
    house: House, tasks: anyio.abc.TaskGroup
) -> None:
    house.died(RULE)
    picks = PickUp(house.picking_up(), tasks=tasks)
    assert await picks.drain(0)
    picks.start()
    picks.start()
    running = [picks.is_running]
    with anyio.fail_after(20):
        assert await picks.finish(20)
    running.append(picks.is_running)
    assert running == [True, False]
    assert len(house.topics) == 1


async def test_what_does_not_end_in_time_is_broken_off_and_stays_for_another_time_E9(
    house: House, tasks: anyio.abc.TaskGroup
) -> None:
    left, begun = house.died(RULE), anyio.Event()

    async def endless(_: Request) -> Line:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    picks = PickUp(house.picking_up(ScriptedModel([endless])), tasks=tasks)
    picks.start()
    with anyio.fail_after(20):
        await begun.wait()
        assert not await picks.drain(0.01)
        await picks.give_up()
    assert house.unfinished.is_there(left.session)
    assert house.topics == []
    assert await house.picking_up().run() == 1


async def test_one_that_takes_too_long_comes_last_the_next_time_E7(
    house: House, tasks: anyio.abc.TaskGroup
) -> None:
    slow, other = house.died(RULE), house.died(PLACE)
    for age, left in enumerate((slow, other)):
        os.utime(cursor.path(house.pending, left.session), ns=(10**18 + age, 10**18 + age))
    begun = anyio.Event()

    async def endless(_: Request) -> Line:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    picks = PickUp(house.picking_up(ScriptedModel([endless])), tasks=tasks)
    picks.start()
    with anyio.fail_after(20):
        await begun.wait()
        await picks.give_up()
    assert house.unfinished.of(house.memory.directory) == [other, slow]


async def test_at_the_end_only_the_session_under_way_is_finished_E9(
    house: House, tasks: anyio.abc.TaskGroup
) -> None:
    for words in (RULE, PLACE, DATABASE):
        house.died(words)
    picks = PickUp(house.picking_up(), tasks=tasks)
    picks.start()
    with anyio.fail_after(20):
        assert await picks.finish(20)
    assert len(house.topics) == 1
    assert len(house.unfinished.of(house.memory.directory)) == 2


# -- the marker of a session that lives ---------------------------------------------------------------------


def begun(house: House) -> tuple[Left, Marker]:
    left = house.session(RULE)
    return left, house.unfinished.begin(left)


def test_a_marker_is_there_from_the_start_and_goes_at_the_end_if_nothing_waits_E7(house: House) -> None:
    left, marker = begun(house)
    assert house.unfinished.is_there(left.session)
    assert house.pending.stat().st_mode & 0o777 == 0o700
    assert next(house.pending.iterdir()).stat().st_mode & 0o777 == 0o600
    marker.clear()
    assert house.unfinished.is_there(left.session), "until the session is over: it may be killed any time"
    assert not marker.is_left
    house.unfinished.close()
    assert not house.unfinished.is_there(left.session)
    assert list(house.pending.with_name("locks").iterdir()) == []


def test_a_marker_outlives_a_session_in_which_something_waits_E7(house: House) -> None:
    left, marker = begun(house)
    marker.clear()
    marker.set()
    assert marker.is_left
    house.unfinished.close()
    assert house.unfinished.of(house.memory.directory) == [left]


def test_only_the_dead_are_counted_as_unfinished_and_counting_makes_nothing_E7(house: House) -> None:
    left = house.died(RULE)
    begun(house)
    locks = house.pending.with_name("locks")
    before = set(locks.iterdir())
    assert house.unfinished.dead(house.memory.directory) == [left]
    assert set(locks.iterdir()) == before
    house.unfinished.close()
    assert len(house.unfinished.dead(house.memory.directory)) == 2


async def test_locks_that_nobody_holds_are_swept_and_can_be_taken_again_E7(house: House) -> None:
    locks = house.pending.with_name("locks")
    async with cursor.alone(house.cursors, "held"):
        async with cursor.alone(house.cursors, "over"):
            pass
        assert {path.name for path in locks.iterdir()} == {"held", "over"}
        Unfinished(house.pending).sweep()
        assert {path.name for path in locks.iterdir()} == {"held"}
        async with cursor.alone(house.cursors, "over"):
            assert {path.name for path in locks.iterdir()} == {"held", "over"}


def test_what_killed_processes_left_beside_the_markers_is_swept_E7(house: House) -> None:
    left = house.died(RULE)
    locks = house.pending.with_name("locks")
    (locks / "dead.live").mkdir(parents=True)
    (locks / f"{left.session}.live").mkdir()
    (house.pending / f".memdir-{'0' * 16}.tmp").write_bytes(b"{")
    _, marker = begun(house)
    Unfinished(house.pending).sweep()
    assert len(list(house.pending.iterdir())) == 2
    assert len(list(locks.glob("*.live"))) == 2
    assert marker.is_left


# -- runs that were killed ----------------------------------------------------------------------------------


def half_done(house: House, left: Left, messages: list[Message]) -> None:
    """A run of a session that was killed on the way."""
    memory, journal = begin(house.memory, messages, session=left.session, start="", journals=house.journals)
    pointer = Pointer(title="No merges", file="no_fridays.md", hook="x")
    memory.recording(journal).save(
        "no_fridays.md", FRIDAYS.encode(), pointer=pointer, expected=ANY, now=NOW, origin=None
    )


async def test_who_learns_takes_back_first_what_a_killed_run_left_E7(house: House) -> None:
    left = house.died(RULE)
    half_done(house, left, [person(RULE)])
    assert house.topics == ["no_fridays.md"]
    await house.picking_up().run()
    (file,) = house.topics
    assert file != "no_fridays.md"
    assert list(house.journals.iterdir()) == []


async def test_a_start_takes_back_what_any_killed_run_left_E7(house: House) -> None:
    left = house.session(RULE)
    half_done(house, left, [person(RULE)])
    (house.cursors / f".memdir-{'0' * 16}.tmp").parent.mkdir()
    (house.cursors / f".memdir-{'0' * 16}.tmp").write_bytes(b"{")
    recovered = killed.take_back(house.memory, house.journals, cursors=house.cursors)
    assert (recovered.runs, recovered.files) == (1, ("no_fridays.md", "MEMORY.md"))
    assert tree(house.memory.directory) == {}
    assert list(house.cursors.iterdir()) == []


async def test_a_run_of_a_session_that_somebody_holds_is_alive_E7(house: House) -> None:
    left = house.session(RULE)
    half_done(house, left, [person(RULE)])
    async with cursor.alone(house.cursors, left.session):
        assert killed.take_back(house.memory, house.journals, cursors=house.cursors).runs == 0
    assert killed.take_back(house.memory, house.journals, cursors=house.cursors).runs == 1


async def test_a_run_whose_cursor_was_saved_is_done_E7(house: House) -> None:
    left, said = house.session(RULE), person(RULE)
    half_done(house, left, [said])
    cursor.save(house.cursors, left.session, Cursor.behind(said))
    assert killed.take_back(house.memory, house.journals, cursors=house.cursors).runs == 0
    assert house.topics == ["no_fridays.md"]
    assert list(house.journals.iterdir()) == []


async def test_a_cursor_that_only_began_does_not_make_a_run_done_E7(house: House) -> None:
    left = house.session(RULE)
    cursor.save(house.cursors, left.session, cursor.BEGINNING)
    half_done(house, left, [person(RULE)])
    assert killed.take_back(house.memory, house.journals, cursors=house.cursors).runs == 1


async def test_without_a_folder_for_journals_there_is_nothing_to_take_back_E7(house: House) -> None:
    assert killed.take_back(house.memory, None, cursors=house.cursors).runs == 0
