"""A shorter conversation in the place of a long one: context, record, transcript, table of files (C4, A1)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from memdir.agent.attachments import attached, changed_files
from memdir.agent.events import Events
from memdir.agent.file_state import FileState, noted
from memdir.agent.instructions import context_message
from memdir.agent.loop import Agent, Hooks
from memdir.agent.transcript import Transcript, read
from memdir.errors import ContextTooLong
from memdir.fs import digest
from memdir.model.messages import Message, ToolResult, person
from memdir.testing import call, say
from tests.agent.world import NOW, World

pytestmark = pytest.mark.anyio

SUMMARY = attached("What was said before.", {"kind": "compaction"}, now=NOW)


async def talked(world: World, path: Path) -> Agent:
    """A conversation of two turns, the first of which read a file, with its transcript."""
    file = world.file("notes.txt", "one\n")
    agent, _ = world.agent([call("Read", file_path=str(file)), say("One."), say("Bye.")])
    agent.transcript = Transcript.create(path, session_id="s", cwd=world.root, prefix=agent.prefix, at=NOW)
    await agent.run("What is in it?")
    await agent.run("Thanks")
    return agent


async def test_what_a_message_shows_of_files_is_noted_on_it_A2(world: World, tmp_path: Path) -> None:
    agent = await talked(world, tmp_path / "s.jsonl")
    (told,) = [message for message in agent.messages if message.origin == "tool"]
    assert told.attachment is not None
    (seen,) = told.attachment["seen"]
    assert (seen["path"], seen["digest"], seen["partial"], seen["how"]) == (
        str(world.root / "notes.txt"),
        digest(b"one\n"),
        False,
        "read",
    )


async def test_the_table_of_files_is_made_again_from_the_messages_A2(world: World, tmp_path: Path) -> None:
    agent = await talked(world, tmp_path / "s.jsonl")
    again = FileState.of(read(tmp_path / "s.jsonl").context)
    assert list(again) == list(agent.files)
    world.file("notes.txt", "two\n")
    changed = FileState.of(agent.messages).known(world.root / "notes.txt")
    assert changed is not None
    assert (changed.digest, changed.data) == (digest(b"one\n"), None)


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "x",
        [1],
        [{}],
        [{"path": "/a", "digest": 1, "mtime_ns": 1, "partial": False, "how": "read"}],
        [{"path": "/a", "digest": "1", "mtime_ns": "x", "partial": False, "how": "read"}],
        [{"path": "/a", "digest": "1", "mtime_ns": 1, "partial": False, "how": "guessed"}],
        [{"path": 7, "digest": "1", "mtime_ns": 1, "partial": False, "how": "read"}],
    ],
)
def test_a_note_that_is_not_as_we_write_them_says_nothing(odd: object) -> None:
    assert len(FileState.of([attached("x", {"kind": "seen", "seen": odd}, now=NOW)])) == 0


def test_notes_stand_on_the_message_about_their_path_else_on_the_last(tmp_path: Path) -> None:
    files = FileState()
    for name in ("a.md", "b.md", "c.md"):
        files.saw(tmp_path / name, data=b"x", mtime_ns=1, partial=False, how="surfaced")
    said = [
        attached(name, {"kind": "memory", "path": str(tmp_path / name)}, now=NOW) for name in ("a.md", "b.md")
    ]
    told = noted(said, files.take_shown())
    assert [[Path(one["path"]).name for one in (m.attachment or {})["seen"]] for m in told] == [
        ["a.md"],
        ["b.md", "c.md"],
    ]
    assert files.take_shown() == []
    assert noted([], [{"path": "/a"}]) == []


async def test_the_context_is_shorter_and_the_record_is_not_C4(world: World, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    agent = await talked(world, path)
    before = list(agent.messages)
    agent.recompose([SUMMARY], before[-2:], files=FileState())
    assert agent.messages == [SUMMARY, *before[-2:]]
    assert agent.record == [*before, SUMMARY]
    assert agent.context_at(before[3].id) == tuple(before[:4])
    assert agent.context_at(before[-1].id) == (SUMMARY, *before[-2:])
    assert agent.context_at("nowhere") == tuple(agent.messages)
    assert len(agent.files) == 0
    found = read(path)
    assert list(found.context) == agent.messages
    assert list(found.messages) == agent.record


async def test_the_next_request_holds_the_new_context_and_is_resumed_the_same_A4(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    agent = await talked(world, path)
    agent.recompose([SUMMARY], agent.messages[-2:], files=FileState())
    agent.recompose([SUMMARY, person("twice", at=NOW)], agent.messages[-1:], files=FileState())
    transcript, found = Transcript.reopen(path)
    resumed, model = world.agent([say("Yes.")], messages=list(found.context), record=list(found.messages))
    resumed.transcript = transcript
    await resumed.run("Are you there?")
    assert model.requests[0].messages[:-1] == tuple(agent.messages)
    assert list(read(path).context) == resumed.messages
    assert list(read(path).messages) == resumed.record


async def test_a_torn_compaction_changes_nothing(world: World, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    agent = await talked(world, path)
    before = list(agent.messages)
    agent.recompose([SUMMARY], before[-2:], files=FileState())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:-20])
    assert list(read(path).context) == before
    assert read(path).skipped == 1


async def test_a_compaction_of_messages_whose_lines_are_lost_keeps_the_others(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    agent = await talked(world, path)
    lost, kept = agent.messages[-2:]
    agent.recompose([SUMMARY], [lost, kept], files=FileState())
    lines = [line for line in path.read_text().splitlines() if json.loads(line)["uuid"] != lost.id]
    path.write_text("\n".join(lines) + "\n")
    assert list(read(path).context) == [SUMMARY, kept]


@pytest.mark.parametrize("context", [None, "x", [], [7], ["nowhere"], [{"type": "user"}]])
def test_an_odd_compaction_is_passed_by(context: object, world: World, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    transcript = Transcript.create(
        path, session_id="s", cwd=world.root, prefix=world.agent()[0].prefix, at=NOW
    )
    said = person("hello", at=NOW)
    transcript.append(said)
    with path.open("a") as file:
        file.write(json.dumps({"type": "compaction", "uuid": "c", "context": context}) + "\n")
    assert (read(path).context, read(path).skipped) == ((said,), 1)


def test_how_far_the_summary_reaches_is_recorded_C3(world: World, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    transcript = Transcript.create(
        path, session_id="s", cwd=world.root, prefix=world.agent()[0].prefix, at=NOW
    )
    assert read(path).noted is None
    transcript.note("first", "d1", at=NOW)
    transcript.note("second", "d2", at=NOW)
    assert read(path).noted == ("second", "d2")
    assert read(path).messages == ()


async def test_calls_that_a_killed_process_left_open_are_answered_once_A1(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    agent = await talked(world, path)
    agent.add(replace(agent.messages[1], id="open", content=(call("Bash", command="x"),)))
    transcript, found = Transcript.reopen(path)
    again, _ = world.agent(messages=list(found.context), record=list(found.messages), transcript=transcript)
    again.close_calls()
    again.close_calls()
    assert [type(block) for block in again.messages[-1].content] == [ToolResult]
    assert list(read(path).context) == again.messages


async def test_a_refused_request_is_made_once_more_if_there_is_room_now_C4(world: World) -> None:
    asked: list[bool] = []

    async def make_room(agent: Agent, overflow: bool) -> bool:
        asked.append(overflow)
        if overflow:
            agent.recompose([SUMMARY], agent.messages[-1:], files=FileState())
        return overflow

    agent, model = world.agent([say("Hello."), ContextTooLong("too long"), say("Here.")])
    agent.hooks = Hooks(make_room=make_room)
    await agent.run("Hi")
    answer = await agent.run("Go on")
    assert answer.text == "Here."
    assert asked == [False, False, True]
    assert [message.text for message in model.requests[-1].messages] == ["What was said before.", "Go on"]


async def test_without_room_the_person_is_told_and_can_go_on_C4(world: World) -> None:
    agent, _ = world.agent([ContextTooLong("too long"), say("Hello.")])
    with pytest.raises(ContextTooLong):
        await agent.run("Hi")
    assert (await agent.run("Again")).text == "Hello."


async def test_the_size_of_a_request_is_what_the_model_counted_and_what_came_since(world: World) -> None:
    agent, model = world.agent([say("Hello.")])
    estimated = agent.size()
    await agent.run("Hi")
    counted = model.cache.size({}) + agent.usage.total_input + agent.usage.output
    assert agent.size() >= counted > estimated
    before = agent.size()
    agent.add(Message(role="user", content=person("x" * 4_000).content, origin="person"))
    assert 900 < agent.size() - before < 1_200


async def test_steps_are_told_when_no_call_is_unanswered_C2(world: World) -> None:
    seen: list[str] = []

    async def step(agent: Agent) -> None:
        assert not agent.messages[-1].tool_uses
        seen.append(agent.messages[-1].origin)

    agent, _ = world.agent([call("Glob", pattern="*"), call("Glob", pattern="*.py"), say("None.")])
    agent.hooks = Hooks(on_step=step)
    await agent.run("Files?")
    assert seen == ["tool", "tool", "assistant"]


async def test_an_index_that_changed_while_nobody_was_there_is_told_by_its_lines_R8(world: World) -> None:
    index = world.memory.directory / "MEMORY.md"
    index.write_text("- [Tabs](tabs.md) — indents with tabs\n- [Old](old.md) — goes\n")
    files = FileState()
    first = context_message(world.memory, files=files, events=Events(), now=NOW)
    assert first is not None
    (shown,) = noted([first], files.take_shown())
    index.write_text("- [Tabs](tabs.md) — indents with tabs\n- [New](new.md) — comes\n")
    (told,) = changed_files(FileState.of([shown]), now=NOW)
    assert (told.attachment or {})["how"] == "lines"
    assert "+- [New](new.md) — comes" in told.text
    assert "-- [Old](old.md) — goes" in told.text
    assert "Tabs" not in told.text
