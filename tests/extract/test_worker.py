"""The extraction in the background of a conversation."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from itertools import product
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from memdir.agent.attachments import changed_files
from memdir.agent.loop import Agent
from memdir.errors import KeyRefused, ModelError, ModelOverloaded, OverBudget
from memdir.extract import cursor, gates
from memdir.extract.cursor import Cursor
from memdir.extract.saved import Change, Saved
from memdir.extract.unfinished import Left, Marker, Unfinished
from memdir.fs import digest
from memdir.memory.store import MemoryDir
from memdir.memory.topic import parse
from memdir.model.local import Local
from memdir.model.messages import Request, assistant, person
from memdir.testing import Line, ScriptedModel, call, say, tree
from tests.extract.support import FRIDAYS, NOW, POINTER, Scene, count_of, is_fork, scene

pytestmark = pytest.mark.anyio


@pytest.fixture
async def stage() -> AsyncIterator[Scene]:
    async with anyio.create_task_group() as tasks:
        with scene(tasks) as made:
            yield made
        tasks.cancel_scope.cancel()


def saves(made: Scene) -> tuple[Line, ...]:
    """A fork that saves a memory and its pointer, as it is told to."""
    folder = made.memory.directory
    return (
        [
            call("Write", file_path=f"{folder}/no_fridays.md", content=FRIDAYS),
            call("Write", file_path=f"{folder}/MEMORY.md", content=POINTER),
        ],
        say("Saved one memory."),
    )


def finds_nothing() -> Line:
    return say("Nothing to save.")


FACTS = (
    "From now on never merge on Fridays, because nobody is there on Saturdays.",
    "Please remember: the staging database lives in Frankfurt.",
    "We decided to use pnpm instead of npm, since it is faster.",
    "I prefer short answers without emojis, always.",
)
"""Each becomes one memory by rules."""


def busy() -> ModelOverloaded:
    return ModelOverloaded("scripted:model is overloaded", hint="try again later")


def refused() -> KeyRefused:
    return KeyRefused("the key for scripted:model was refused (401)", hint="check THE_KEY")


async def say_all(made: Scene, *words: str, **policy: Any) -> Agent:
    """A conversation of these turns, each with the run that follows it."""
    made.model.add(*[say("Understood.")] * len(words))
    agent = made.begin(**policy)
    for each in words:
        await agent.run(each)
        await made.settle()
    return agent


def learned_from(memory: MemoryDir) -> Iterator[str | None]:
    """The messages from which memories were made, one a memory."""
    for file, text in tree(memory.directory).items():
        if file != "MEMORY.md":
            origin = parse(text, filename=file).origin
            yield origin.message if origin else None


async def test_a_turn_becomes_a_memory_in_the_background_E1(stage: Scene) -> None:
    stage.model.when(is_fork, *saves(stage))
    stage.model.add(say("Understood."))
    agent = stage.begin()
    answer = await agent.run("never merge on Fridays, nobody is there on Saturday")
    await stage.settle()
    assert sorted(tree(stage.memory.directory)) == ["MEMORY.md", "no_fridays.md"]
    assert stage.memory.index() == POINTER
    assert cursor.load(stage.cursors, stage.session) == Cursor.behind(answer)
    stage.model.assert_exhausted()


async def test_a_fork_is_told_what_is_new_and_sends_the_hosts_bytes_first_A4_E6(stage: Scene) -> None:
    stage.model.when(is_fork, finds_nothing())
    stage.model.add(say("Understood."))
    agent = stage.begin()
    await agent.run("never merge on Fridays")
    await stage.settle()
    (fork,) = stage.forks
    assert fork.prefix is agent.prefix
    assert fork.messages[:-1] == tuple(agent.messages)
    told = fork.messages[-1].text
    assert count_of(fork) == 2
    assert "Thursday, 2026-03-05" in told
    assert str(stage.memory.directory) in told
    assert "(no memories yet)" in told


async def test_the_manifest_goes_with_the_message_E6(stage: Scene) -> None:
    (stage.memory.directory / "no_fridays.md").write_text(FRIDAYS)
    stage.model.when(is_fork, finds_nothing())
    stage.model.add(say("Understood."))
    await stage.begin().run("hello")
    await stage.settle()
    assert "- [feedback] no_fridays.md (" in stage.forks[0].messages[-1].text


async def test_what_was_saved_is_told_and_the_conversation_is_not_touched_E8(stage: Scene) -> None:
    stage.model.when(is_fork, *saves(stage))
    stage.model.add(say("Understood."))
    agent = stage.begin()
    await agent.run("never merge on Fridays")
    await stage.settle()
    assert stage.saved == [Saved(changes=(Change(file="no_fridays.md", action="created", type="feedback"),))]
    assert stage.saved[0].notice == "Memory updated: no_fridays.md"
    assert [message.origin for message in agent.messages] == ["person", "assistant"]


async def test_a_memory_says_where_it_came_from_E11(stage: Scene) -> None:
    stage.model.when(is_fork, *saves(stage))
    stage.model.add(say("Understood."))
    agent = stage.begin()
    await agent.run("never merge on Fridays")
    await stage.settle()
    origin = parse(tree(stage.memory.directory)["no_fridays.md"], filename="no_fridays.md").origin
    assert origin is not None
    assert (origin.session, origin.message, origin.worker) == ("session", agent.messages[0].id, "extract")


async def test_a_run_that_saves_nothing_moves_the_cursor_and_tells_nobody_E7(stage: Scene) -> None:
    stage.model.when(is_fork, finds_nothing(), finds_nothing())
    stage.model.add(say("One."), say("Two."))
    agent = stage.begin()
    for words in ("thanks", "go on"):
        await agent.run(words)
        await stage.settle()
    assert [count_of(fork) for fork in stage.forks] == [2, 2]
    assert stage.saved == []


async def test_after_a_failure_the_same_messages_count_again_E7(stage: Scene) -> None:
    stage.model.when(is_fork, ModelOverloaded("busy"), finds_nothing())
    stage.model.add(say("One."), say("Two."))
    agent = stage.begin()
    await agent.run("never merge on Fridays")
    await stage.settle()
    assert cursor.load(stage.cursors, stage.session) == cursor.BEGINNING
    assert [e.fields["error"] for e in stage.events if e.name == "failed"] == ["ModelOverloaded"]
    await agent.run("go on")
    await stage.settle()
    assert [count_of(fork) for fork in stage.forks] == [2, 4]


async def test_using_up_the_turns_is_a_success_E6(stage: Scene) -> None:
    look = call("Read", file_path=str(stage.memory.directory / "MEMORY.md"))
    stage.model.when(is_fork, *[look] * 5)
    stage.model.add(say("One."))
    agent = stage.begin()
    await agent.run("hello")
    await stage.settle()
    assert cursor.load(stage.cursors, stage.session) == Cursor.behind(agent.messages[-1])
    stage.model.assert_exhausted()


async def test_if_the_agent_wrote_memory_itself_there_is_no_run_E4(stage: Scene) -> None:
    write = call("Write", file_path=f"{stage.memory.directory}/no_fridays.md", content=FRIDAYS)
    stage.model.add(write, say("Remembered."))
    agent = stage.begin()
    await agent.run("remember: no merges on Fridays")
    await stage.settle()
    assert stage.forks == []
    assert stage.skipped == ["the agent wrote memory itself"]
    assert cursor.load(stage.cursors, stage.session) == Cursor.behind(agent.messages[-1])


async def test_a_write_that_put_the_index_over_its_limit_counts_E4(stage: Scene) -> None:
    index = "".join(f"- [Note {n}](note_{n}.md) — a note\n" for n in range(201))
    stage.model.add(call("Write", file_path=f"{stage.memory.directory}/MEMORY.md", content=index), say("Oh."))
    agent = stage.begin()
    await agent.run("remember all this")
    await stage.settle()
    assert agent.messages[2].content[0].is_error  # type: ignore[union-attr]
    assert stage.skipped == ["the agent wrote memory itself"]


async def test_a_write_that_failed_does_not_count_E4(stage: Scene) -> None:
    (stage.memory.directory / "no_fridays.md").write_text(FRIDAYS)
    write = call("Write", file_path=f"{stage.memory.directory}/no_fridays.md", content="unread")
    stage.model.when(is_fork, finds_nothing())
    stage.model.add(write, say("I could not."))
    await stage.begin().run("remember: no merges on Fridays")
    await stage.settle()
    assert len(stage.forks) == 1


async def test_turns_that_end_during_a_run_get_one_run_on_the_newest_context_E5(stage: Scene) -> None:
    begun, may_end = anyio.Event(), anyio.Event()
    most, now = 0, 0

    async def slow(_: Request) -> Line:
        nonlocal most, now
        now += 1
        most = max(most, now)
        begun.set()
        await may_end.wait()
        now -= 1
        return finds_nothing()

    stage.model.when(is_fork, slow, slow)
    stage.model.add(say("One."), say("Two."), say("Three."))
    agent = stage.begin()
    with anyio.fail_after(5):
        await agent.run("first")
        await begun.wait()
        await agent.run("second")
        await agent.run("third")
    may_end.set()
    await stage.settle()
    assert [count_of(fork) for fork in stage.forks] == [2, 4]
    assert most == 1
    assert stage.skipped == ["one is running", "one is running"]
    assert cursor.load(stage.cursors, stage.session) == Cursor.behind(agent.messages[-1])


async def test_only_every_other_turn_starts_a_run_that_sees_both_E3(stage: Scene) -> None:
    stage.model.when(is_fork, finds_nothing(), finds_nothing())
    stage.model.add(*[say("Yes.")] * 4)
    agent = stage.begin(every=2)
    for words in ("one", "two", "three", "four"):
        await agent.run(words)
        await stage.settle()
    assert [count_of(fork) for fork in stage.forks] == [4, 4]


async def test_sessions_do_not_count_each_others_turns_E2(stage: Scene) -> None:
    async with anyio.create_task_group() as tasks:
        with scene(tasks) as other:
            for one in (stage, other):
                one.model.add(say("Yes."))
                await one.begin(every=2).run("one")
            await stage.settle()
            await other.settle()
            assert (stage.forks, other.forks) == ([], [])


async def test_a_resumed_session_without_a_cursor_starts_at_the_resume_E7(stage: Scene) -> None:
    stage.model.when(is_fork, finds_nothing())
    stage.model.add(say("Again."))
    agent = stage.begin(messages=[person("long ago"), assistant("yes")])
    await agent.run("we are back")
    await stage.settle()
    assert [count_of(fork) for fork in stage.forks] == [2]


async def test_turns_that_were_due_when_a_session_ended_count_after_its_resume_E7(stage: Scene) -> None:
    stage.model.when(is_fork, finds_nothing())
    stage.model.add(say("1"), say("2"))
    first = stage.begin(every=2)
    await first.run("one")
    again = stage.begin(messages=first.messages)
    await again.run("two")
    await stage.settle()
    assert [count_of(fork) for fork in stage.forks] == [4]


async def test_a_resumed_session_goes_on_at_its_cursor_E7(stage: Scene) -> None:
    past = [person("one"), assistant("1"), person("two"), assistant("2")]
    cursor.save(stage.cursors, stage.session, Cursor.behind(past[1]))
    stage.model.when(is_fork, finds_nothing())
    stage.model.add(say("3"))
    await stage.begin(messages=past).run("three")
    await stage.settle()
    assert [count_of(fork) for fork in stage.forks] == [4]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"label": "helper"}, "not the main agent"),
        ({"extract": False}, "switched off"),
        ({"remote": True}, "remote"),
    ],
)
async def test_where_it_is_not_wanted_nothing_runs_E0(
    stage: Scene, settings: dict[str, object], why: str
) -> None:
    stage.model.add(say("Yes."))
    await stage.begin(**settings).run("never merge on Fridays")  # type: ignore[arg-type]
    await stage.settle()
    assert stage.forks == []
    assert stage.skipped == [why]


async def test_shutdown_waits_a_bounded_time_and_breaks_off_cleanly_E9(stage: Scene) -> None:
    begun = anyio.Event()

    async def endless(_: Request) -> Line:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    stage.model.when(is_fork, endless)
    stage.model.add(say("One."), say("Two."))
    agent = stage.begin()
    with anyio.fail_after(5):
        await agent.run("first")
        await begun.wait()
        await agent.run("second")
        assert not await stage.extractor.drain(0.01)
        assert await stage.extractor.drain(0.01)
    assert len(stage.forks) == 1
    assert cursor.load(stage.cursors, stage.session) == cursor.BEGINNING


class Slow(MemoryDir):
    """A directory that lists its files only when it is told to."""

    begun: threading.Event
    may_go_on: threading.Event

    def list(self) -> Any:
        self.begun.set()
        assert self.may_go_on.wait(5)
        return super().list()


async def test_shutdown_does_not_wait_for_a_thread_that_then_writes_nothing_E9(stage: Scene) -> None:
    slow = Slow(stage.memory.directory, trash=stage.memory.directory.parent / "trash")
    slow.begun, slow.may_go_on = threading.Event(), threading.Event()
    stage.memory = slow
    stage.model.add(say("Understood."))
    agent = stage.begin(model=Local())
    with anyio.fail_after(5):
        await agent.run("Please remember: from now on never merge on Fridays.")
        assert await anyio.to_thread.run_sync(slow.begun.wait, 5)
        try:
            assert not await stage.extractor.drain(0.01)
            assert not slow.may_go_on.is_set()
        finally:
            slow.may_go_on.set()
        while anyio.to_thread.current_default_thread_limiter().borrowed_tokens:
            await anyio.lowlevel.checkpoint()
    assert tree(stage.memory.directory) == {}
    assert cursor.load(stage.cursors, stage.session) == cursor.BEGINNING


@pytest.mark.parametrize("kind", ["folder", "looping link"])
async def test_a_cursor_file_that_is_none_never_breaks_the_session_E7(stage: Scene, kind: str) -> None:
    begun, may_end = anyio.Event(), anyio.Event()

    async def slow(_: Request) -> Line:
        begun.set()
        await may_end.wait()
        return finds_nothing()

    write = call("Write", file_path=f"{stage.memory.directory}/no_fridays.md", content=FRIDAYS)
    stage.model.when(is_fork, slow)
    stage.model.add(say("One."), write, say("Two."))
    agent = stage.begin()
    with anyio.fail_after(5):
        await agent.run("first")
        await begun.wait()
        await agent.run("remember: no merges on Fridays")
    place = cursor.path(stage.cursors, stage.session)
    place.unlink()
    place.mkdir() if kind == "folder" else place.symlink_to(place)
    may_end.set()
    await stage.settle()
    told = [event.fields["where"] for event in stage.events if event.name == "failed"]
    assert told == ["cursor", "cursor"]
    assert stage.skipped == ["one is running", "the agent wrote memory itself"]


async def test_what_another_program_has_learned_from_the_session_is_not_learned_again_E7(
    stage: Scene,
) -> None:
    stage.model.when(is_fork, finds_nothing())
    stage.model.add(say("One."), say("Two."), say("Three."))
    agent = stage.begin(every=3)
    for words in ("one", "two"):
        await agent.run(words)
    cursor.save(stage.cursors, stage.session, Cursor.behind(agent.messages[-1]))
    await agent.run("three")
    await stage.settle()
    assert [count_of(fork) for fork in stage.forks] == [2]


async def test_a_run_waits_for_who_is_learning_from_the_session_and_sees_only_the_rest_E7(
    stage: Scene,
) -> None:
    stage.model.add(say("One."))
    agent = stage.begin()
    with anyio.fail_after(5):
        async with cursor.alone(stage.cursors, stage.session):
            await agent.run("first")
            assert stage.extractor.is_running
            cursor.save(stage.cursors, stage.session, Cursor.behind(agent.messages[-1]))
        await stage.settle()
    assert stage.forks == []
    assert cursor.load(stage.cursors, stage.session) == Cursor.behind(agent.messages[-1])


async def test_without_a_language_model_rules_do_the_work_E1(stage: Scene) -> None:
    stage.model.add(say("Understood."))
    agent = stage.begin(model=Local())
    await agent.run(
        "Please remember: from now on never merge on Fridays, because nobody is there on Saturday."
    )
    await stage.settle()
    (saved,) = stage.saved
    (change,) = saved.changes
    assert (change.action, change.type) == ("created", "feedback")
    assert change.file in stage.memory.index()
    origin = parse(tree(stage.memory.directory)[change.file], filename=change.file).origin
    assert origin is not None
    assert (origin.message, origin.worker) == (agent.messages[0].id, "extract")


async def test_what_the_rules_change_is_no_news_for_a_conversation_that_knows_it_E8(stage: Scene) -> None:
    stage.model.add(say("Understood."), say("Yes."))
    agent = stage.begin(model=Local())
    await agent.run("Please remember: we always deploy on Tuesdays.")
    await stage.settle()
    (change,) = stage.saved[-1].changes
    for file in (change.file, "MEMORY.md"):
        stored = stage.memory.read(file)
        path = stage.memory.directory / file
        agent.files.saw(path, data=stored.data, mtime_ns=stored.mtime_ns, partial=False, how="read")
    await agent.run("Please remember: we always deploy on Wednesdays, and never merge on Fridays.")
    await stage.settle()
    assert len(stage.saved) == 2
    assert changed_files(agent.files, now=NOW) == []
    assert [path for path, seen in agent.files if seen.digest != digest(path.read_bytes())]


# -- when the model fails -----------------------------------------------------------------------------------


async def test_an_error_that_may_pass_is_told_with_what_will_be_done_E7(stage: Scene) -> None:
    stage.model.when(is_fork, busy())
    agent = await say_all(stage, FACTS[0])
    (failed,) = (event.fields for event in stage.events if event.name == "failed")
    assert (failed["where"], failed["error"], failed["again"]) == ("extract", "ModelOverloaded", True)
    assert (failed["model"], failed["why"]) == ("scripted:model", "scripted:model is overloaded")
    assert stage.extractor.is_behind(agent.messages)
    assert tree(stage.memory.directory) == {}


async def test_if_the_second_try_fails_too_the_rules_do_both_turns_E7(stage: Scene) -> None:
    stage.model.when(is_fork, busy(), busy(), finds_nothing())
    agent = await say_all(stage, *FACTS[:3])
    assert [count_of(fork) for fork in stage.forks] == [2, 4, 2]
    assert sorted(map(str, learned_from(stage.memory))) == sorted(m.id for m in agent.messages[:4:2])
    assert not stage.extractor.is_behind(agent.messages)
    assert [event.fields["lasting"] for event in stage.events if event.name == "degraded"] == [False]
    assert [event.fields["error"] for event in stage.events if event.name == "failed"] == ["ModelOverloaded"]


async def test_after_an_error_that_lasts_rules_do_this_run_and_all_others_E7(stage: Scene) -> None:
    stage.model.when(is_fork, refused())
    agent = await say_all(stage, *FACTS[:2])
    assert len(stage.forks) == 1
    assert sorted(map(str, learned_from(stage.memory))) == sorted(m.id for m in agent.messages[::2])
    assert [event.fields for event in stage.events if event.name == "degraded"] == [
        {
            "job": "extract",
            "model": "scripted:model",
            "error": "KeyRefused",
            "why": "the key for scripted:model was refused (401)",
            "cure": "check THE_KEY",
            "lasting": True,
        }
    ]
    assert not [event for event in stage.events if event.name == "failed"]
    assert len(stage.saved) == 2


async def test_that_what_might_pass_turned_out_to_last_is_told_as_well_E7(stage: Scene) -> None:
    stage.model.when(is_fork, busy(), busy(), busy(), busy(), refused())
    await say_all(stage, *FACTS, "thanks")
    assert [event.fields["lasting"] for event in stage.events if event.name == "degraded"] == [False, True]


async def test_words_of_a_model_that_calls_no_tools_save_nothing_and_rules_do_it_E7(stage: Scene) -> None:
    """It says that it has saved: without a call that can't be, and its server has said that it calls none."""
    stage.model.calls_tools = False
    stage.model.when(is_fork, say("I have saved it."))
    agent = await say_all(stage, FACTS[0])
    assert list(learned_from(stage.memory)) == [agent.messages[0].id]
    assert [event.fields["error"] for event in stage.events if event.name == "degraded"] == ["ToolsIgnored"]


async def test_another_model_that_fails_is_named_E7(stage: Scene) -> None:
    other = ScriptedModel([refused()], name="scripted:other")
    agent = await say_all(stage, FACTS[0], model=other)
    assert [event.fields["model"] for event in stage.events if event.name == "degraded"] == ["scripted:other"]
    assert list(learned_from(stage.memory)) == [agent.messages[0].id]


@pytest.mark.parametrize("failure", [busy(), refused()], ids=["busy", "refused"])
async def test_what_a_failed_run_has_written_is_gone_and_the_rules_begin_anew_E7(
    stage: Scene, failure: ModelError
) -> None:
    topic, *_ = saves(stage)[0]  # type: ignore[misc]
    stage.model.when(is_fork, topic, failure)
    agent = await say_all(stage, FACTS[0])
    assert await stage.extractor.finish(5)
    assert list(learned_from(stage.memory)) == [agent.messages[0].id]
    assert "no_fridays.md" not in tree(stage.memory.directory)
    assert len(stage.saved) == 1


async def test_at_the_end_the_rules_do_what_the_model_failed_to_do_E7(stage: Scene) -> None:
    stage.model.when(is_fork, busy())
    agent = await say_all(stage, FACTS[0])
    with anyio.fail_after(5):
        assert await stage.extractor.finish(5)
        assert await stage.extractor.finish(5)
    assert list(learned_from(stage.memory)) == [agent.messages[0].id]
    assert len(stage.saved) == 1
    assert not stage.extractor.is_behind(agent.messages)
    assert cursor.load(stage.cursors, stage.session) == Cursor.behind(agent.messages[-1])
    assert [event.fields["lasting"] for event in stage.events if event.name == "degraded"] == [False]


async def test_at_the_end_nothing_is_begun_for_turns_that_were_not_due_E3(stage: Scene) -> None:
    await say_all(stage, FACTS[0], every=2)
    assert await stage.extractor.finish(5)
    assert tree(stage.memory.directory) == {}


async def test_who_gives_up_saving_does_not_wait_for_rules_E9(stage: Scene) -> None:
    begun = anyio.Event()

    async def endless(_: Request) -> Line:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    stage.model.when(is_fork, busy(), endless)
    agent = await say_all(stage, FACTS[0])
    stage.model.add(say("Yes."))
    with anyio.fail_after(5):
        await agent.run(FACTS[1])
        await begun.wait()
        await stage.extractor.give_up()
        assert await stage.extractor.finish(5)
    assert stage.extractor.is_behind(agent.messages)
    assert tree(stage.memory.directory) == {}


async def test_the_rules_at_the_end_are_bounded_too_E9(stage: Scene) -> None:
    slow = Slow(stage.memory.directory, trash=stage.memory.directory.parent / "trash")
    slow.begun, slow.may_go_on = threading.Event(), threading.Event()
    slow.may_go_on.set()
    stage.memory = slow
    stage.model.when(is_fork, busy())
    agent = await say_all(stage, FACTS[0])
    slow.may_go_on.clear()
    with anyio.fail_after(5):
        try:
            assert not await stage.extractor.finish(0.05)
        finally:
            slow.may_go_on.set()
        while anyio.to_thread.current_default_thread_limiter().borrowed_tokens:
            await anyio.lowlevel.checkpoint()
    assert stage.extractor.is_behind(agent.messages)
    assert tree(stage.memory.directory) == {}


async def test_a_full_disk_is_no_fault_of_the_model_E7(stage: Scene) -> None:
    full = Full(stage.memory.directory, trash=stage.memory.directory.parent / "trash")
    stage.memory = full
    stage.model.when(is_fork, refused())
    agent = await say_all(stage, FACTS[0])
    assert await stage.extractor.finish(5)
    assert [
        tuple(event.fields[key] for key in ("error", "why", "again", "model"))
        for event in stage.events
        if event.name == "failed"
    ] == [("OSError", "No space left on device", again, None) for again in (True, False)]
    assert not [event for event in stage.events if event.name == "degraded"]
    assert stage.extractor.is_behind(agent.messages)
    assert cursor.load(stage.cursors, stage.session) == cursor.BEGINNING


async def test_what_waits_is_not_lost_when_the_agent_then_writes_memory_itself_E4(stage: Scene) -> None:
    write = call("Write", file_path=f"{stage.memory.directory}/no_fridays.md", content=FRIDAYS)
    stage.model.when(is_fork, busy(), finds_nothing())
    agent = await say_all(stage, FACTS[1])
    stage.model.add(write, say("Remembered."))
    await agent.run("remember: no merges on Fridays")
    await stage.settle()
    assert [count_of(fork) for fork in stage.forks] == [2, 2]
    assert [len(fork.messages) for fork in stage.forks] == [3, 3]
    assert stage.skipped == ["the agent wrote memory itself"]
    assert cursor.load(stage.cursors, stage.session) == Cursor.behind(agent.messages[-1])


@pytest.mark.parametrize(
    "second", [finds_nothing(), busy(), OSError(28, "full")], ids=["works", "busy", "full"]
)
async def test_nor_when_it_writes_during_the_run_that_fails_E5(
    stage: Scene, second: Line | BaseException
) -> None:
    begun, may_fail = anyio.Event(), anyio.Event()

    async def fails(_: Request) -> Line:
        begun.set()
        await may_fail.wait()
        return busy()

    write = call("Write", file_path=f"{stage.memory.directory}/no_fridays.md", content=FRIDAYS)
    stage.model.when(is_fork, fails, second)
    stage.model.add(say("Yes."), write, say("Remembered."))
    agent = stage.begin()
    with anyio.fail_after(5):
        await agent.run(FACTS[1])
        await begun.wait()
        await agent.run("remember: no merges on Fridays")
    may_fail.set()
    await stage.settle()
    assert [count_of(fork) for fork in stage.forks] == [2, 2]
    if isinstance(second, OSError):
        assert stage.extractor.is_behind(agent.messages)
        assert cursor.load(stage.cursors, stage.session) == cursor.BEGINNING
        assert await stage.extractor.finish(5)
    assert list(learned_from(stage.memory)).count(agent.messages[0].id) == isinstance(second, Exception)
    assert not stage.extractor.is_behind(agent.messages)
    assert cursor.load(stage.cursors, stage.session) == Cursor.behind(agent.messages[-1])
    assert stage.skipped == ["one is running", "the agent wrote memory itself"]


class Full(MemoryDir):
    """A directory on a disk that takes nothing."""

    def list(self) -> Any:
        raise OSError(28, "No space left on device")


OWN = "---\nname: Harbour {at}\ndescription: Logs go to harbour {at}\ntype: reference\n---\n\nHarbour {at}.\n"
LOTS = ("works", "fails", "is gone", "full", "hangs", "own", "learned", "resumed")
"""What becomes of a turn: how the run of the model after it ends; or the agent writes memory itself, or
another program learns from the session meanwhile, or the session is taken up again before it. In these a run
that is due fails.
"""


@pytest.mark.parametrize(
    "lots",
    [
        *(row for n in (1, 2) for row in product(LOTS, repeat=n)),
        *product(("fails", "hangs", "own", "learned", "resumed"), repeat=3),
    ],
    ids="-".join,
)
async def test_whatever_happens_each_message_is_learned_from_once_E7(
    stage: Scene, lots: tuple[str, ...]
) -> None:
    """By the agent itself, by one run of the model that succeeded, by another program, or by rules."""
    seen: list[str] = []
    cursors: list[int] = []
    by_itself = [fact for lot, fact in zip(lots, FACTS, strict=False) if lot == "own"]
    hanging = anyio.Event()

    async def answers(request: Request) -> Line | BaseException:
        if lot == "works":
            new = request.messages[-1 - count_of(request) : -1]
            seen.extend(message.id for message in new if message.origin == "person")
            return finds_nothing()
        if lot == "hangs":
            hanging.set()
            await anyio.sleep_forever()
        return {"full": OSError(28, "full"), "is gone": refused()}.get(lot, busy())

    def learned(_: Request) -> Line:
        new = gates.since(agent.messages, getattr(cursor.load(stage.cursors, stage.session), "message", None))
        seen.extend(m.id for m in new if m.origin == "person" and m.text not in by_itself)
        cursor.save(stage.cursors, stage.session, Cursor.behind(agent.messages[-1]))
        return say("Understood.")

    stage.model.when(is_fork, *[answers] * 9)
    agent = stage.begin()
    for at, (lot, fact) in enumerate(zip(lots, FACTS, strict=False)):
        if lot == "own":
            path = f"{stage.memory.directory}/own{at}.md"
            stage.model.add(call("Write", file_path=path, content=OWN.format(at=at)))
        if lot == "resumed":
            agent = stage.begin(messages=agent.messages)
        stage.model.add(learned if lot == "learned" else say("Understood."))
        with anyio.fail_after(5):
            await agent.run(fact)
            while lot == "hangs" and stage.extractor.is_running and not hanging.is_set():
                await anyio.sleep(0)
            assert await stage.extractor.drain(0 if hanging.is_set() else 5) != hanging.is_set()
        hanging = anyio.Event()
        kept = cursor.load(stage.cursors, stage.session)
        cursors.append(gates.place(agent.messages, kept.message if kept else None))
    with anyio.fail_after(5):
        assert await stage.extractor.finish(5)
    learned_once = [*seen, *map(str, learned_from(stage.memory))]
    assert sorted(learned_once) == sorted(m.id for m in agent.messages if m.origin == "person")
    assert not stage.extractor.is_behind(agent.messages)
    assert cursors == sorted(cursors)


@pytest.mark.parametrize("outcomes", list(product(("works", "fails", "is gone"), repeat=4)))
async def test_that_rules_step_in_is_told_once_whatever_the_model_does_E7(
    stage: Scene, outcomes: tuple[str, ...]
) -> None:
    lines: dict[str, Line] = {"works": finds_nothing(), "fails": busy(), "is gone": refused()}
    stage.model.when(is_fork, *(lines[outcome] for outcome in outcomes))
    await say_all(stage, *FACTS)
    with anyio.fail_after(5):
        assert await stage.extractor.finish(5)
    told = [bool(event.fields["lasting"]) for event in stage.events if event.name == "degraded"]
    assert told in ([], [False], [True], [False, True])


# -- what is left at the end --------------------------------------------------------------------------------


async def test_what_was_said_in_a_turn_that_failed_is_behind_until_another_one_ends_E7(stage: Scene) -> None:
    stage.model.when(is_fork, finds_nothing(), finds_nothing())
    agent = await say_all(stage, FACTS[0])
    assert not stage.extractor.is_behind(agent.messages)
    stage.model.add(busy())
    with pytest.raises(ModelOverloaded):
        await agent.run(FACTS[1])
    assert await stage.extractor.finish(5)
    assert stage.extractor.is_behind(agent.messages)
    stage.model.add(say("Yes."))
    await agent.run("go on")
    await stage.settle()
    assert not stage.extractor.is_behind(agent.messages)


async def test_so_is_a_first_turn_that_failed_unless_nothing_is_to_be_learned_E7(stage: Scene) -> None:
    for policy, expected in (({}, True), ({"extract": False}, False), ({"remote": True}, False)):
        agent = stage.begin(**policy)  # type: ignore[arg-type]
        stage.model.add(busy())
        with pytest.raises(ModelOverloaded):
            await agent.run(FACTS[0])
        assert stage.extractor.is_behind(agent.messages) == expected
    cursor.save(stage.cursors, stage.session, Cursor.behind(agent.messages[-1]))
    assert not stage.begin(messages=agent.messages) or not stage.extractor.is_behind(agent.messages)


async def test_a_turn_that_was_not_due_is_not_behind_E3(stage: Scene) -> None:
    agent = await say_all(stage, FACTS[0], every=2)
    assert await stage.extractor.finish(5)
    assert not stage.extractor.is_behind(agent.messages)


@pytest.mark.parametrize("turns", [1, 2])
async def test_a_model_that_hangs_at_the_end_is_broken_off_and_rules_do_the_rest_E9(
    stage: Scene, turns: int
) -> None:
    """Also if it was busy before, and if a turn ended meanwhile."""
    begun = anyio.Event()

    async def endless(_: Request) -> Line:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    stage.model.when(is_fork, *[busy()] * (turns - 1), endless)
    agent = await say_all(stage, *FACTS[: turns - 1]) if turns > 1 else stage.begin()
    stage.model.add(say("Yes."), say("Yes."))
    with anyio.fail_after(5):
        await agent.run(FACTS[turns - 1])
        await begun.wait()
        await agent.run(FACTS[turns])
        assert await stage.extractor.finish(1)
    assert sorted(map(str, learned_from(stage.memory))) == sorted(m.id for m in agent.messages[::2])
    assert not stage.extractor.is_behind(agent.messages)
    (told,) = (event.fields for event in stage.events if event.name == "degraded")
    assert (told["why"], told["lasting"]) == ("scripted:model did not finish in time", False)


async def test_what_another_program_learns_while_a_failure_waits_is_not_done_again_E7(stage: Scene) -> None:
    stage.model.when(is_fork, finds_nothing(), busy())
    agent = await say_all(stage, *FACTS[:2])
    stage.model.add(busy())
    with pytest.raises(ModelOverloaded):
        await agent.run(FACTS[2])
    further = Cursor.behind(agent.messages[-1])
    cursor.save(stage.cursors, stage.session, further)
    assert await stage.extractor.finish(5)
    assert cursor.load(stage.cursors, stage.session) == further
    assert tree(stage.memory.directory) == {}
    assert not stage.extractor.is_behind(agent.messages)


async def test_what_was_said_before_and_after_the_agents_own_writing_counts_E4(stage: Scene) -> None:
    """Whatever ended while a run was under way."""
    begun, may_end = anyio.Event(), anyio.Event()

    async def slow(_: Request) -> Line:
        begun.set()
        await may_end.wait()
        return finds_nothing()

    write = call("Write", file_path=f"{stage.memory.directory}/no_fridays.md", content=FRIDAYS)
    stage.model.when(is_fork, slow, finds_nothing(), finds_nothing())
    stage.model.add(say("One."), say("Two."), write, say("Three."), say("Four."))
    agent = stage.begin()
    with anyio.fail_after(5):
        await agent.run("first")
        await begun.wait()
        for words in ("second", "remember: no merges on Fridays", "fourth"):
            await agent.run(words)
    may_end.set()
    await stage.settle()
    assert [fork.messages[-1 - count_of(fork)].text for fork in stage.forks] == ["first", "second", "fourth"]
    assert [count_of(fork) for fork in stage.forks] == [2, 2, 2]
    assert cursor.load(stage.cursors, stage.session) == Cursor.behind(agent.messages[-1])


# -- for another day, and for another session ----------------------------------------------------------------


def over() -> OverBudget:
    return OverBudget("background work has used up what it may for today")


def marked(made: Scene) -> Marker:
    """The session's marker, made when it began."""
    state = made.cursors.parent
    unfinished = Unfinished(state / "pending")
    memory = made.memory.directory
    left = Left(session=made.session, transcript=state / "x.jsonl", memory=memory, cwd=state)
    made.marker = unfinished.begin(left)
    return made.marker


async def test_what_is_over_the_budget_waits_is_told_once_and_is_no_failure_H3(stage: Scene) -> None:
    marker = marked(stage)
    stage.model.when(is_fork, over(), over())
    agent = await say_all(stage, *FACTS[:2])
    told = [event.fields for event in stage.events if event.name == "waiting"]
    assert told == [{"job": "extract", "why": "background work has used up what it may for today"}]
    assert [event.name for event in stage.events if event.name in ("failed", "degraded")] == []
    assert await stage.extractor.finish(5)
    stage.extractor.end(agent.messages)
    assert tree(stage.memory.directory) == {}
    assert cursor.load(stage.cursors, stage.session) == cursor.BEGINNING
    assert marker.is_left
    assert stage.extractor.is_left_to_others
    assert stage.extractor.is_behind(agent.messages)


async def test_it_is_tried_again_at_the_next_turn_H3(stage: Scene) -> None:
    marker = marked(stage)
    stage.model.when(is_fork, over(), *saves(stage))
    agent = await say_all(stage, *FACTS[:2])
    assert count_of(stage.forks[-1]) == 4
    assert cursor.load(stage.cursors, stage.session) == Cursor.behind(agent.messages[-1])
    stage.extractor.end(agent.messages)
    assert not marker.is_left


async def test_after_a_model_was_busy_the_budget_keeps_the_rules_out_too_H3(stage: Scene) -> None:
    stage.model.when(is_fork, busy(), over())
    await say_all(stage, *FACTS[:2])
    assert await stage.extractor.finish(5)
    assert tree(stage.memory.directory) == {}


async def test_a_budget_that_lasts_is_as_any_error_that_lasts_H3(stage: Scene) -> None:
    for_good = over()
    for_good.lasts = True
    stage.model.when(is_fork, for_good)
    await say_all(stage, FACTS[0])
    assert len(list(learned_from(stage.memory))) == 1


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ({"extract": False}, "the setting features.extract is off"),
        ({"remote": True}, "this is a remote session"),
    ],
)
async def test_that_nothing_is_saved_is_told_once_E0(stage: Scene, policy: dict[str, bool], why: str) -> None:
    await say_all(stage, *FACTS[:2], **policy)
    told = [event.fields for event in stage.events if event.name == "disabled"]
    assert told == [{"job": "extract", "why": why}]


async def test_a_turn_that_was_not_due_is_left_to_a_later_session_E3(stage: Scene) -> None:
    marker = marked(stage)
    agent = await say_all(stage, FACTS[0], every=2)
    stage.extractor.end(agent.messages)
    assert marker.is_left


async def test_words_that_nobody_answered_are_left_to_a_later_session_E7(stage: Scene) -> None:
    marker = marked(stage)
    stage.model.when(is_fork, *saves(stage))
    agent = await say_all(stage, FACTS[0])
    stage.extractor.end(agent.messages)
    assert not marker.is_left
    stage.extractor.end([*agent.messages, person(FACTS[1])])
    assert marker.is_left


async def test_a_run_is_noted_on_the_disk_as_long_as_it_lasts_E7(stage: Scene) -> None:
    stage.journals = stage.cursors.parent / "journal"
    seen: list[int] = []

    def look(_: Request) -> Line:
        assert stage.journals is not None
        seen.append(len(list(stage.journals.iterdir())))
        return say("Saved.")

    stage.model.when(is_fork, saves(stage)[0], look)
    await say_all(stage, FACTS[0])
    assert seen == [1]
    assert list(stage.journals.iterdir()) == []
    assert sorted(tree(stage.memory.directory)) == ["MEMORY.md", "no_fridays.md"]


async def test_a_folder_for_journals_that_is_none_is_told_and_the_run_goes_on_E7(stage: Scene) -> None:
    stage.journals = stage.cursors.parent / "journal"
    stage.journals.write_text("a file")
    stage.model.when(is_fork, *saves(stage))
    await say_all(stage, FACTS[0])
    assert sorted(tree(stage.memory.directory)) == ["MEMORY.md", "no_fridays.md"]
    assert [event.fields["where"] for event in stage.events if event.name == "failed"] == ["journal"]
