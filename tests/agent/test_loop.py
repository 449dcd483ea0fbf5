"""One turn: run > turn > ask > act, and a conversation that stays whole whatever happens (A1, A2, A4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from memdir.agent import loop
from memdir.agent.attachments import attached, memory_files_written
from memdir.agent.closing import INTERRUPTED
from memdir.agent.loop import Agent, Hooks
from memdir.agent.permissions import Deny, Verdict
from memdir.agent.tools import TOOLS, Tool, ToolContext
from memdir.agent.transcript import Transcript, read
from memdir.errors import Aborted, ModelOverloaded, TurnLimit, UsageError
from memdir.memory.topic import Origin, parse
from memdir.model.messages import Message, Reply, Request, ToolResult, ToolUse, Usage, assistant
from memdir.testing import call, say
from tests.agent.world import NOW, TOPIC, World, results, tool_named

pytestmark = pytest.mark.anyio


def texts(agent: Agent) -> list[tuple[str, str]]:
    return [(message.origin, message.text) for message in agent.messages]


async def test_a_message_becomes_an_answer_A1(world: World) -> None:
    said: list[str] = []
    agent, model = world.agent([say("Hello you.")], on_text=said.append)
    answer = await agent.run("Hi")
    assert answer.text == "Hello you."
    assert "".join(said) == "Hello you."
    assert texts(agent) == [("person", "Hi"), ("assistant", "Hello you.")]
    assert answer == agent.messages[-1]
    assert all(message.at == NOW for message in agent.messages)
    assert agent.usage.output > 0
    model.assert_exhausted()


async def test_tool_calls_are_carried_out_until_the_answer_A1(world: World) -> None:
    path = world.file("a.txt", "one\n")
    agent, model = world.agent(
        [
            [say("Looking."), call("Read", file_path=str(path))],
            call("Edit", file_path=str(path), old_string="one", new_string="two"),
            say("Done."),
        ]
    )
    await agent.run("Make it two")
    assert path.read_text() == "two\n"
    assert [message.origin for message in agent.messages] == [
        "person",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert [result.is_error for result in results(agent)] == [False, False]
    model.assert_exhausted()


async def test_each_request_begins_with_all_that_was_sent_before_A4(world: World) -> None:
    agent, model = world.agent([call("Glob", pattern="*"), say("None."), say("Still none.")])
    await agent.run("Files?")
    await agent.run("Sure?")
    for earlier, later in zip(model.requests, model.requests[1:], strict=False):
        assert later.prefix is earlier.prefix
        assert later.messages[: len(earlier.messages)] == earlier.messages


async def test_a_wrong_call_is_answered_and_the_turn_goes_on_A2(world: World) -> None:
    broken = ToolUse(id="broken", name="Read", input={}, malformed='{"file_pa')
    agent, _ = world.agent(
        [[call("Fetch", url="x"), broken, call("Read"), call("Read", file_path=7)], say("I see.")]
    )
    await agent.run("Go")
    said = results(agent)
    assert all(result.is_error for result in said)
    assert said[0].content == "there is no tool Fetch; there are Read, Write, Edit, Glob, Grep, Bash"
    assert "not valid JSON" in said[1].content
    assert said[2].content.startswith("Read: file_path is missing")
    assert "must be of type string" in said[3].content


async def test_a_tool_that_breaks_does_not_end_the_turn_and_is_logged_without_contents(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    async def break_down(given: Any, context: ToolContext) -> str:
        raise ValueError(" ".join(("secret", "contents")))

    agent, _ = world.agent(
        [call("Read", file_path="a"), say("Oh.")],
        tools=[replace(tool_named("Read"), run=break_down)],
    )
    await agent.run("Go")
    assert results(agent)[0].is_error
    assert "ValueError" in results(agent)[0].content
    assert "secret contents" not in caplog.text
    assert [event.fields["where"] for event in world.told if event.name == "failed"] == ["Read"]


def slow_reader(started: list[str], gates: dict[str, anyio.Event]) -> Tool:
    """A reading tool that waits for the gate of its pattern, then opens the gate of the one before.

    `started` gets the pattern, and the pattern in capitals at the end.
    """

    async def run(given: Any, context: ToolContext) -> str:
        name: str = given["pattern"]
        started.append(name)
        await gates[name].wait()
        if before := gates.get(chr(ord(name) - 1)):
            before.set()
        started.append(name.upper())
        return name

    return replace(tool_named("Grep"), run=run)


async def test_readers_run_at_once_and_answer_in_order_A1(world: World) -> None:
    gates = {name: anyio.Event() for name in "abc"}
    gates["c"].set()
    started: list[str] = []
    agent, _ = world.agent(
        [[call("Grep", pattern=name) for name in "abc"], say("ok")], tools=[slow_reader(started, gates)]
    )
    with anyio.fail_after(5):
        await agent.run("Go")
    assert started == ["a", "b", "c", "C", "B", "A"]
    assert [result.content for result in results(agent)] == ["a", "b", "c"]


async def test_writers_run_one_after_another_between_the_readers_A1(world: World) -> None:
    path = world.file("a.txt", "1\n")
    step = {"file_path": str(path)}
    agent, _ = world.agent(
        [
            [
                call("Read", **step),
                call("Edit", **step, old_string="1", new_string="2"),
                call("Read", **step),
                call("Edit", **step, old_string="2", new_string="3"),
                call("Edit", **step, old_string="3", new_string="4"),
            ],
            say("ok"),
        ]
    )
    await agent.run("Count")
    assert path.read_text() == "4\n"
    assert results(agent)[2].content == "     1\t2"


async def test_permission_is_decided_at_each_call_and_a_refusal_is_counted_A5(world: World) -> None:
    asked: list[str] = []

    async def permit(use: ToolUse) -> Verdict:
        asked.append(use.name)
        return Deny(reason="closed", text="not today")

    agent, _ = world.agent([[call("Glob", pattern="*"), call("Read")], say("Pity.")], permit=permit)
    await agent.run("Go")
    assert results(agent)[0].content == "Not allowed: not today"
    assert asked == ["Glob"]
    assert agent.denied == 1
    (event,) = [event for event in world.told if event.name == "denied"]
    assert event.fields == {"agent": "main", "tool": "Glob", "reason": "closed"}


# -- what counts as a write (E4, F7) --


async def test_a_write_of_memory_is_noted_with_its_result_and_a_failed_one_is_not_E4(world: World) -> None:
    path = world.memory.directory / "tabs.md"
    write = call("Write", file_path=str(path), content=TOPIC)
    other = call("Write", file_path=str(world.root / "a.txt"), content="x")
    unread = call("Write", file_path=str(world.topic("old.md")), content="x")
    agent, _ = world.agent([[write, other], unread, say("Noted.")])
    await agent.run("Remember tabs")
    first, second = (message.attachment for message in agent.messages if message.origin == "tool")
    assert first is not None
    assert {**first, "seen": [seen["path"] for seen in first["seen"]]} == {
        "kind": "memory_write",
        "wrote": ["tabs.md"],
        "deleted": [],
        "seen": [str(path), str(world.root / "a.txt")],
    }
    assert second is None
    assert memory_files_written(agent.messages) == ("tabs.md",)
    origin = Origin(session="session-1", message=agent.messages[0].id, worker="main")
    assert parse(path.read_bytes(), filename="tabs.md").origin == origin


async def test_a_write_that_leaves_the_index_over_its_limit_is_an_error_and_counts_E4_F7(
    world: World,
) -> None:
    index = "".join(f"- [T{n}](t{n}.md) — hook\n" for n in range(230))
    path = world.memory.directory / "MEMORY.md"
    agent, _ = world.agent([call("Write", file_path=str(path), content=index), say("Oh.")])
    await agent.run("Go")
    assert results(agent)[0].is_error
    assert memory_files_written(agent.messages) == ("MEMORY.md",)


# -- ends --


def cut_off(text: str) -> Reply:
    return Reply(message=assistant(text), stop="max_tokens", usage=Usage(), model="m")


async def test_an_answer_at_the_length_limit_is_continued_once(world: World) -> None:
    agent, model = world.agent([cut_off("One"), cut_off("two")])
    assert (await agent.run("Count")).text == "two"
    assert texts(agent) == [
        ("person", "Count"),
        ("assistant", "One"),
        ("system", loop.GO_ON),
        ("assistant", "two"),
    ]
    model.assert_exhausted()


async def test_an_answer_without_content_is_none_and_can_be_sent_again(world: World) -> None:
    agent, _ = world.agent([Reply(message=assistant(), stop="refusal", usage=Usage(), model="m")])
    assert (await agent.run("Hi")).text == "(no answer)"


async def test_a_model_that_fails_leaves_the_conversation_whole(world: World) -> None:
    agent, _ = world.agent([ModelOverloaded("busy"), say("Now.")])
    with pytest.raises(ModelOverloaded):
        await agent.run("Hi")
    assert (await agent.run("Again")).text == "Now."
    assert [message.origin for message in agent.messages] == ["person", "person", "assistant"]


async def test_the_number_of_requests_can_be_bounded(world: World) -> None:
    agent, model = world.agent([call("Glob", pattern="*"), call("Glob", pattern="*")], max_steps=2)
    with pytest.raises(TurnLimit):
        await agent.run("Go")
    assert len(results(agent)) == 2
    model.assert_exhausted()


async def test_two_turns_at_once_are_refused(world: World) -> None:
    async def second(request: Request) -> Any:
        with pytest.raises(UsageError):
            await agent.run("Me too")
        return say("ok")

    agent, _ = world.agent([second])
    await agent.run("Hi")


async def test_after_an_abort_every_call_has_its_result_A1(world: World, tmp_path: Path) -> None:
    gates = {"a": anyio.Event(), "b": anyio.Event()}
    gates["a"].set()
    started: list[str] = []
    reader = slow_reader(started, gates)
    agent, model = world.agent(
        [[call("Grep", pattern="a"), call("Grep", pattern="b"), call("Bash", command="true")], say("Fine.")],
        tools=[reader, tool_named("Bash")],
    )
    agent.transcript = Transcript.create(
        tmp_path / "s.jsonl", session_id="s", cwd=world.root, prefix=agent.prefix, at=NOW
    )
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(expect_abort, agent)
            while started != ["a", "b", "A"]:
                await anyio.lowlevel.checkpoint()
            agent.abort()
    said = results(agent)
    assert [result.content for result in said] == ["a", INTERRUPTED, INTERRUPTED]
    assert [result.is_error for result in said] == [False, True, True]
    assert texts(agent)[-1] == ("system", loop.BROKEN_OFF)
    assert [event.name for event in world.told] == ["aborted"]
    assert read(tmp_path / "s.jsonl").messages == tuple(agent.messages)
    assert (await agent.run("Go on")).text == "Fine."
    model.assert_exhausted()


async def expect_abort(agent: Agent) -> None:
    with pytest.raises(Aborted):
        await agent.run("Go")


async def test_a_cancelled_scope_around_it_does_the_same(world: World) -> None:
    async def cancel(request: Request) -> Any:
        scope.cancel()
        await anyio.sleep_forever()

    agent, _ = world.agent([cancel])
    with anyio.CancelScope() as scope:
        await agent.run("Go")
    assert scope.cancelled_caught
    assert texts(agent) == [("person", "Go"), ("system", loop.BROKEN_OFF)]


async def test_calls_that_a_killed_session_left_open_are_closed_at_the_next_turn(world: World) -> None:
    open_call = ToolUse(id="t1", name="Bash", input={"command": "x"})
    agent, _ = world.agent([say("Hello again.")], messages=[assistant(open_call)])
    await agent.run("Hi")
    assert results(agent) == [ToolResult(tool_use_id="t1", content=INTERRUPTED, is_error=True)]
    assert [message.origin for message in agent.messages] == ["assistant", "tool", "person", "assistant"]


# -- what plugs in --


async def test_hooks_are_called_at_their_places(world: World) -> None:
    order: list[str] = []
    waiting = [attached("a memory", {"kind": "memory", "path": "/m/a.md", "bytes": 8}, now=NOW)]

    async def start(agent: Agent, message: Message) -> None:
        order.append(f"start {message.text}")

    async def collect() -> Sequence[Message]:
        order.append("collect")
        given, waiting[:] = list(waiting), []
        return given

    async def end(agent: Agent) -> None:
        order.append(f"end {agent.messages[-1].text}")

    hooks = Hooks(
        on_turn_start=start,
        collect=collect,
        on_turn_end=end,
        on_turn_over=lambda agent: order.append("over"),
    )
    agent, model = world.agent([call("Glob", pattern="*"), say("ok")], hooks=hooks)
    await agent.run("Hi")
    assert order == ["start Hi", "collect", "collect", "end ok", "over"]
    assert [message.origin for message in model.requests[0].messages] == ["person", "attachment"]


async def test_a_hook_that_fails_never_reaches_the_turn(world: World) -> None:
    def broken(*_: object) -> Any:
        raise RuntimeError("no")

    hooks = Hooks(on_turn_start=broken, collect=broken, on_turn_end=broken, on_turn_over=broken)
    agent, _ = world.agent([say("ok")], hooks=hooks)
    assert (await agent.run("Hi")).text == "ok"
    failed = [event.fields["where"] for event in world.told if event.name == "failed"]
    assert failed == ["on_turn_start", "collect", "on_turn_end", "on_turn_over"]


async def test_a_turn_without_an_answer_has_no_end_but_is_over_E1(world: World) -> None:
    order: list[str] = []

    async def end(agent: Agent) -> None:
        order.append("end")

    hooks = Hooks(on_turn_end=end, on_turn_over=lambda agent: order.append("over"))
    agent, _ = world.agent([ModelOverloaded("busy")], hooks=hooks)
    with pytest.raises(ModelOverloaded):
        await agent.run("Hi")
    assert order == ["over"]


async def test_a_known_file_that_changed_is_shown_before_the_next_request_R8(world: World) -> None:
    path = world.file("a.txt", "one\n")

    def change(request: Request) -> Any:
        path.write_text("two!\n")
        return say("Read it.")

    agent, model = world.agent([call("Read", file_path=str(path)), change, say("I see.")])
    await agent.run("Read a.txt")
    await agent.run("And now?")
    added = model.requests[-1].messages[-1]
    assert added.origin == "attachment"
    assert "+two!" in added.text


async def test_a_transcript_that_can_not_be_written_does_not_end_the_conversation(
    world: World, tmp_path: Path
) -> None:
    agent, _ = world.agent([say("ok")])
    path = tmp_path / "t" / "s.jsonl"
    agent.transcript = Transcript.create(path, session_id="s", cwd=world.root, prefix=agent.prefix, at=NOW)
    path.unlink()
    path.mkdir()
    assert (await agent.run("Hi")).text == "ok"
    assert {event.fields.get("where") for event in world.told if event.name == "failed"} == {"transcript"}


async def test_what_the_disk_refused_is_in_the_transcript_when_it_takes_things_again_A1(
    world: World, tmp_path: Path
) -> None:
    path, aside = tmp_path / "s.jsonl", tmp_path / "aside"

    def full(request: Request) -> Any:
        path.rename(aside)
        path.mkdir()
        return call("Glob", pattern="*")

    def free(request: Request) -> Any:
        path.rmdir()
        aside.rename(path)
        return say("None.")

    agent, _ = world.agent([full, free])
    agent.transcript = Transcript.create(path, session_id="s", cwd=world.root, prefix=agent.prefix, at=NOW)
    await agent.run("Files?")
    assert any(event.name == "failed" for event in world.told)
    assert read(path).messages == tuple(agent.messages)


async def test_a_conversation_resumed_from_its_transcript_continues_byte_for_byte_A4(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    agent, _ = world.agent([call("Glob", pattern="*"), say("None.")])
    agent.transcript = Transcript.create(path, session_id="s", cwd=world.root, prefix=agent.prefix, at=NOW)
    await agent.run("Files?")
    transcript, found = Transcript.reopen(path)
    again, later = world.agent([say("Still none.")], messages=list(found.context), transcript=transcript)
    await again.run("Sure?")
    assert found.prefix == agent.prefix
    assert later.requests[0].messages[: len(agent.messages)] == tuple(agent.messages)
    assert read(path).messages == tuple(again.messages)


async def test_the_tools_are_those_that_coding_models_know_A2() -> None:
    assert [tool.spec.name for tool in TOOLS] == ["Read", "Write", "Edit", "Glob", "Grep", "Bash"]
    assert [tool.spec.name for tool in TOOLS if tool.read_only] == ["Read", "Glob", "Grep"]
    for tool in TOOLS:
        assert set(tool.spec.schema["required"]) <= set(tool.spec.schema["properties"])
