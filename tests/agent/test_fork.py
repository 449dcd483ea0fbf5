"""Forks: the host's request as prefix, their own table and rights, and a report (A4, A5, A7)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from memdir.agent.attachments import memory_files_written
from memdir.agent.fork import Forked, fork
from memdir.agent.loop import Agent, Hooks
from memdir.agent.tools import TOOLS
from memdir.agent.transcript import Transcript, read
from memdir.errors import ModelOverloaded, UsageError
from memdir.memory.topic import Origin, parse
from memdir.model.messages import Message, Request, ToolResult, assistant, person
from memdir.testing import Line, ScriptedModel, call, say, tree
from tests.agent.world import INDEX, NOW, TOPIC, World, results

pytestmark = pytest.mark.anyio


async def hosted(world: World, *replies: Line, **more: Any) -> tuple[Agent, ScriptedModel]:
    """A host after a turn of its own, whose model goes on with `replies`."""
    agent, model = world.agent([say("Tabs it is."), *replies], **more)
    await agent.run("I indent with tabs, always. " * 900)
    return agent, model


async def extract(agent: Agent, world: World, *, max_turns: int = 5) -> Forked:
    return await fork(agent, "Save it.", memory=world.memory, max_turns=max_turns, label="extract")


async def test_a_fork_sends_the_hosts_request_and_one_message_more_A4(world: World) -> None:
    agent, model = await hosted(world, say("Nothing to save."))
    before = list(agent.messages)
    ended = await extract(agent, world)
    request = model.requests[-1]
    assert request.prefix is agent.prefix
    assert request.messages[:-1] == tuple(before)
    assert (request.messages[-1].origin, request.messages[-1].text) == ("system", "Save it.")
    assert agent.messages == before
    assert [message.origin for message in ended.messages] == ["system", "assistant"]
    assert (ended.stop, ended.turns, ended.topics) == ("end", 1, ())


async def test_a_fork_writes_memory_and_reports_it_A7(world: World) -> None:
    topic, index = world.memory.directory / "tabs.md", world.memory.directory / "MEMORY.md"
    agent, _ = await hosted(
        world,
        [
            call("Write", file_path=str(topic), content=TOPIC),
            call("Write", file_path=str(index), content=INDEX),
        ],
        say("Saved."),
    )
    ended = await extract(agent, world)
    assert set(tree(world.memory.directory)) == {"MEMORY.md", "tabs.md"}
    assert [written.file for written in ended.wrote] == ["tabs.md", "MEMORY.md"]
    assert ended.topics == ("tabs.md",)
    origin = Origin(session="session-1", message=agent.messages[0].id, worker="extract")
    assert parse(topic.read_bytes(), filename="tabs.md").origin == origin
    assert memory_files_written(ended.messages) == ("tabs.md", "MEMORY.md")
    assert memory_files_written(agent.messages) == ()
    (event,) = [event for event in world.told if event.name == "forked"]
    fields = dict(event.fields)
    assert fields.pop("seconds") == ended.seconds
    assert fields == {
        "label": "extract",
        "stop": "end",
        "turns": 2,
        "input_tokens": ended.usage.input,
        "cache_read": ended.usage.cache_read,
        "cache_write": ended.usage.cache_write,
        "output_tokens": ended.usage.output,
        "hit_percent": ended.usage.hit_percent,
        "files": 1,
        "denied": 0,
    }
    assert ended.usage.hit_percent > 90


async def test_what_a_fork_sees_does_not_count_as_seen_by_its_host_A4(world: World) -> None:
    path = world.file("a.txt", "one\n")
    agent, _ = await hosted(world, call("Read", file_path=str(path)), say("Done."))
    await extract(agent, world)
    assert agent.files.known(path) is None
    assert agent.context.wrote == []


async def test_what_a_fork_writes_is_neither_news_to_its_host_nor_seen_by_it_A4_E8(world: World) -> None:
    path = world.topic()
    edit = {"file_path": str(path), "old_string": "never spaces", "new_string": "not spaces"}
    agent, model = await hosted(world, call("Edit", **edit), say("Done."), say("Yes?"))
    await world.use("Read", file_path=str(path))
    await extract(agent, world)
    assert "not spaces" in path.read_text()
    await agent.run("And?")
    assert [message.origin for message in model.requests[-1].messages] == ["person", "assistant", "person"]
    assert "changed since" in await world.fails("Write", file_path=str(path), content=TOPIC)
    path.write_text(TOPIC.replace("Tabs, never spaces", "Four spaces"))
    model.add(say("I see."))
    await agent.run("I changed it")
    assert "+Four spaces" in model.requests[-1].messages[-1].text


async def test_a_fork_reads_the_repository_and_nothing_of_other_conversations_A5_C5(
    world: World, tmp_path: Path
) -> None:
    for folder in ("refs", "objects"):
        (world.root / ".git" / folder).mkdir(parents=True)
    world.file(".git/HEAD", "ref: refs/heads/main\n")
    (world.root / "inner").mkdir()
    readable, sessions = world.file("README", "top\n"), tmp_path / "sessions"
    others = [sessions / "old.jsonl", sessions / "old" / "session-memory" / "summary.md", tmp_path / "x.txt"]
    agent, _ = await hosted(
        world,
        [
            *(call("Read", file_path=str(path)) for path in (readable, *others)),
            call("Grep", pattern="x", path=str(sessions)),
            call("Bash", command=f"cat {others[1]}"),
        ],
        say("Done."),
    )
    agent.context = replace(agent.context, cwd=world.root / "inner")
    agent.transcript = Transcript.create(
        tmp_path / "sessions" / "s.jsonl", session_id="s", cwd=world.root, prefix=agent.prefix, at=NOW
    )
    for path in others:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    ended = await extract(agent, world)
    errors = [block.is_error for block in ended.messages[2].content if isinstance(block, ToolResult)]
    assert errors == [False, *[True] * 5]


async def test_a_fork_knows_what_its_host_has_seen_A4(world: World) -> None:
    path = world.topic()
    agent, _ = await hosted(
        world, call("Edit", file_path=str(path), old_string="never", new_string="not"), say("Done.")
    )
    await world.use("Read", file_path=str(path))
    ended = await extract(agent, world)
    assert ended.topics == ("tabs.md",)


async def test_a_fork_is_held_to_its_directory_and_told_why_A5(world: World) -> None:
    agent, model = await hosted(
        world,
        [
            call("Bash", command="touch pwned"),
            call("Write", file_path=str(world.root / "a.md"), content="x"),
            call("Write", file_path=str(world.memory.directory / "a.txt"), content="x"),
            call("Read", file_path=str(Path.home() / ".ssh" / "id_rsa")),
        ],
        say("Well."),
    )
    ended = await extract(agent, world)
    assert all(getattr(block, "is_error", False) for block in ended.messages[2].content)
    assert ended.denied == 4
    assert agent.denied == 0
    assert [event.fields["agent"] for event in world.told if event.name == "denied"] == ["extract"] * 4
    assert tree(world.root) == {}
    assert tree(world.memory.directory) == {}
    assert [tool.name for tool in model.requests[-1].prefix.tools] == [tool.spec.name for tool in TOOLS]


async def test_a_fork_deletes_a_memory_by_writing_nothing(world: World) -> None:
    path = world.topic()
    agent, _ = await hosted(
        world,
        say("I will."),
        call("Read", file_path=str(path)),
        call("Write", file_path=str(path), content=""),
        say("Gone."),
    )
    await agent.run("Forget that we indent with tabs.")
    ended = await extract(agent, world)
    assert ended.deleted == ("tabs.md",)
    assert ended.topics == ("tabs.md",)
    assert "tabs.md" not in "".join(tree(world.memory.directory).values())


async def test_the_limit_of_turns_is_a_success_E6(world: World) -> None:
    agent, model = await hosted(world, *[call("Glob", pattern="*")] * 3)
    ended = await extract(agent, world, max_turns=3)
    assert (ended.stop, ended.turns) == ("turn limit", 3)
    assert ended.messages[-1].origin == "tool"
    model.assert_exhausted()


async def test_a_fork_has_no_transcript_no_hooks_and_no_diffs_A4(world: World, tmp_path: Path) -> None:
    calls: list[str] = []

    async def end(agent: Agent) -> None:
        calls.append("end")

    path = world.file("a.txt", "one\n")
    agent, model = await hosted(world, say("Done."), hooks=Hooks(on_turn_end=end))
    agent.transcript = Transcript.create(
        tmp_path / "s.jsonl", session_id="s", cwd=world.root, prefix=agent.prefix, at=NOW
    )
    await world.use("Read", file_path=str(path))
    path.write_text("changed\n")
    await extract(agent, world)
    assert calls == ["end"]
    assert read(tmp_path / "s.jsonl").messages == ()
    assert [message.origin for message in model.requests[-1].messages] == ["person", "assistant", "system"]


async def test_a_fork_begins_where_no_call_is_unanswered_or_from_a_snapshot(world: World) -> None:
    agent, model = await hosted(world, say("Done."))
    snapshot = tuple(agent.messages)

    async def mid_turn(request: Request) -> Any:
        open_call = [*snapshot, assistant(call("Glob", pattern="*"))]
        with pytest.raises(UsageError, match="each tool call has its result"):
            await fork(agent, "Save.", memory=world.memory, max_turns=1, label="extract", messages=open_call)
        with pytest.raises(UsageError, match="may do"):
            await fork(agent, "Save.", max_turns=1, label="extract", messages=snapshot)
        await fork(agent, "Save.", memory=world.memory, max_turns=1, label="extract", messages=snapshot)
        return say("Second answer.")

    other, asked = world.agent([mid_turn])
    agent.model = asked
    asked.when(lambda request: request.messages[-1].origin == "system", say("Saved."))
    await agent.run("Next")
    assert asked.requests[1].messages[:-1] == snapshot
    assert other.messages == []
    assert model.requests


async def test_what_the_person_said_counts_where_a_forks_last_message_had_to_be_cut_E11(
    world: World,
) -> None:
    """What the window has no room for is theirs all the same."""
    path = world.memory.directory / "tabs.md"
    agent, model = world.agent([call("Write", file_path=str(path), content=TOPIC), say("Saved.")])
    model.window = 16_000
    said, long = person("I indent with tabs, never spaces.", at=NOW), assistant("word " * 12_000)
    read = assistant(call("Bash", command="seq 9000"))
    answered = ToolResult(tool_use_id=read.tool_uses[0].id, content="line\n" * 20_000)
    agent.add(said, long, person("Count.", at=NOW), read)
    agent.add(Message(role="user", content=(answered,), origin="tool"))
    ended = await extract(agent, world)
    assert (ended.held, ended.topics) == ((), ("tabs.md",))
    assert not any("never spaces" in message.text for message in model.requests[0].messages)


async def test_a_fork_can_begin_from_nothing(world: World) -> None:
    agent, model = world.agent([say("Done.")])
    await extract(agent, world)
    assert len(model.requests[0].messages) == 1


async def test_a_model_that_fails_fails_the_fork_E7(world: World) -> None:
    busy = ModelOverloaded("busy")
    note = call("Write", file_path=str(world.memory.directory / "note.md"), content=TOPIC)
    agent, _ = await hosted(world, note, busy)
    ended = await extract(agent, world)
    assert (ended.stop, ended.error, ended.turns, ended.topics) == ("failed", busy, 1, ("note.md",))
    assert ended.usage.total_input > 0


async def test_a_fork_is_aborted_by_its_own_scope_and_the_host_is_not_A4(world: World) -> None:
    async def hang(request: Request) -> Any:
        scope.cancel()
        await anyio.sleep_forever()

    agent, _ = await hosted(world, hang, say("Still here."))
    with anyio.fail_after(5), anyio.CancelScope() as scope:
        await extract(agent, world)
    assert scope.cancelled_caught
    assert (await agent.run("Hello?")).text == "Still here."
    assert results(agent) == []


async def test_a_fork_looks_around_with_commands_that_read_A5_A6(world: World) -> None:
    world.file("src/app.py", "def main(): ...\n")
    into_a_file = call("Bash", command="grep -rn 'def ' src | head -3; cat src/app.py > x")
    agent, _ = await hosted(world, [into_a_file], say("No."))
    refused = await extract(agent, world)
    assert refused.denied == 1
    assert "/dev/null only" in str(refused.messages[2].content)
    agent, _ = await hosted(world, [call("Bash", command="grep -rn 'def ' src | head -3")], say("Well."))
    ended = await extract(agent, world)
    assert ended.denied == 0
    assert "src/app.py:1:def main(): ..." in str(ended.messages[2].content)


async def test_a_secret_that_is_stopped_counts_as_denied_and_is_not_told_A5_E10(
    world: World,
) -> None:
    token = "ghp_" + "HAmvYDNZMPQ9qvBjv697Na02SXIXw72boFTV"
    path = str(world.memory.directory / "key.md")
    written = call("Write", file_path=path, content=f"{TOPIC}\nThe token is {token}.\n")
    agent, _ = await hosted(world, [written], say("Well."))
    ended = await extract(agent, world)
    assert ended.denied == 1
    (denied,) = [event for event in world.told if event.name == "denied"]
    assert denied.fields["reason"] == "a secret in it"
    assert token not in repr(world.told)
    assert tree(world.memory.directory) == {}
