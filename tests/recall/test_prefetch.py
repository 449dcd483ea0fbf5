"""Recall beside a turn: gate, start, collection, end (recall/prefetch.py, recall/recent.py)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from memdir.agent.events import Event, Events
from memdir.agent.file_state import FileState
from memdir.errors import ContextTooLong, KeyRefused, ModelOverloaded
from memdir.model.client import ModelClient
from memdir.model.messages import Message, Request, Text, ToolResult, ToolUse, assistant, person
from memdir.recall.prefetch import Prefetch, Recall, why_not
from memdir.recall.recent import programs, recent_tools
from memdir.recall.select import Selection
from memdir.recall.shelf import Shelf
from memdir.recall.surface import SESSION_BYTES
from memdir.testing import Line, ScriptedModel, say

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
CHOSEN = say('{"selected_memories": ["lag.md"]}')


def result(content: str = "done", *, call: str = "1", error: bool = False) -> Message:
    block = ToolResult(tool_use_id=call, content=content, is_error=error)
    return Message(role="user", content=(block,), origin="tool")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (person("why is the order missing?"), None),
        (person("look at /etc/hosts"), None),
        (person("/review the lag"), None),
        (person(""), "no text from the person"),
        (person(" \n"), "no text from the person"),
        (person("/compact"), "a bare command"),
        (
            person("ask @agent-reviewer about it"),
            "it is for the agent reviewer, which has no memory of its own",
        ),
        (person("mail me@agent-x.example"), None),
        (result(), "no text from the person"),
        (Message(role="user", content=(Text(text="go on"),), origin="system"), "no text from the person"),
        (assistant("hello"), "no text from the person"),
    ],
)
def test_only_a_persons_words_start_a_prefetch_R2(message: Message, reason: str | None) -> None:
    assert why_not(message, surfaced=0) == reason


def test_no_prefetch_when_the_budget_is_used_up_R2() -> None:
    message = person("why is the order missing?")
    assert why_not(message, surfaced=SESSION_BYTES - 1) is None
    assert why_not(message, surfaced=SESSION_BYTES) == "the session's budget is used up"


@pytest.mark.anyio
async def test_a_prefetch_is_taken_once_and_only_when_ready_R1() -> None:
    go = anyio.Event()

    async def choose() -> Selection:
        await go.wait()
        return Selection(files=("lag.md",), how="local")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            prefetch = Prefetch.start(tasks, choose)
            assert prefetch.take_if_ready() is None
            go.set()
            taken = await prefetch.take(within=5)
            assert taken is not None
            assert taken.files == ("lag.md",)
            assert prefetch.take_if_ready() is None


@pytest.mark.anyio
async def test_a_cancelled_prefetch_ends_and_gives_nothing_R1() -> None:
    started, ended = anyio.Event(), anyio.Event()

    async def choose() -> Selection:
        try:
            started.set()
            await anyio.sleep_forever()
            return Selection()
        finally:
            ended.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            prefetch = Prefetch.start(tasks, choose)
            await started.wait()
            prefetch.cancel()
            await ended.wait()
            assert prefetch.take_if_ready() is None


# -- beside a conversation -----------------------------------------------------------------------------------


@dataclass
class Talk:
    messages: list[Message] = field(default_factory=list)
    files: FileState = field(default_factory=FileState)

    def say(self, text: str) -> Message:
        self.messages.append(person(text))
        return self.messages[-1]


@dataclass
class Scene:
    recall: Recall
    talk: Talk
    seen: list[Event]


@asynccontextmanager
async def scene(directory: Path, model: ModelClient | None = None) -> AsyncIterator[Scene]:
    """Recall over a directory with one memory, in a task group of its own."""
    (directory / "lag.md").write_text(
        "---\nname: Replica lag\n---\nThe replica lags behind.\n", encoding="utf-8"
    )
    seen: list[Event] = []
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            shelf = Shelf.of(directory)
            recall = Recall(shelf, tasks=tasks, model=model, now=lambda: NOW, events=Events(seen.append))
            yield Scene(recall=recall, talk=Talk(), seen=seen)
            recall.on_turn_over()


@pytest.mark.anyio
async def test_the_first_request_of_a_turn_has_what_words_bring_R1(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.recall.on_turn_start(at.talk, at.talk.say("how far does the replica lag?"))
        (message,) = await at.recall.collect()
        assert "The replica lags behind." in message.text
        assert at.recall.last is not None
        assert at.recall.last.shown == ("lag.md",)
        assert [verdict.why for verdict in at.recall.last.selection.verdicts] == ["bears on the prompt"]
        assert await at.recall.collect() == []
        assert [(event.name, event.fields["files"], event.fields["how"]) for event in at.seen] == [
            ("recalled", 1, "local")
        ]


@pytest.mark.anyio
async def test_the_memories_are_taken_in_before_the_first_turn_R1(tmp_path: Path) -> None:
    (tmp_path / "lag.md").write_text("The replica lags behind.", encoding="utf-8")
    shelf = Shelf.of(tmp_path)
    async with anyio.create_task_group() as tasks:
        Recall(shelf, tasks=tasks, model=None, now=lambda: NOW, events=Events()).warm()
    assert shelf.index.size == 1


@pytest.mark.anyio
async def test_later_prompts_get_memories_on_new_matter_only_R1(tmp_path: Path) -> None:
    nothing = say('{"selected_memories": []}')
    model = ScriptedModel([nothing, nothing])
    async with scene(tmp_path, model) as at:
        for prompt, asked in (
            ("how far does the replica lag?", 1),
            ("and the lag of the replica now?", 1),
            ("which canary takes the traffic?", 2),
        ):
            await at.recall.on_turn_start(at.talk, at.talk.say(prompt))
            while at.recall._prefetch is not None and not at.recall._prefetch.is_done:
                await anyio.lowlevel.checkpoint()
            await at.recall.collect()
            assert len(model.requests) == asked


@pytest.mark.anyio
async def test_a_prompt_whose_choice_never_came_was_not_dealt_with_R1(tmp_path: Path) -> None:
    model, asked = hanging(1)
    async with scene(tmp_path, model) as at:
        await let_by(at, asked[0], ends=assistant("by 3 s"))
        assert at.recall._matter == frozenset()


@pytest.mark.anyio
async def test_a_model_is_not_waited_for_and_tried_again_at_the_next_point_R1(tmp_path: Path) -> None:
    go, asked = anyio.Event(), anyio.Event()

    async def slow(_: Request) -> Text:
        asked.set()
        await go.wait()
        return CHOSEN

    async with scene(tmp_path, ScriptedModel([slow])) as at:
        await at.recall.on_turn_start(at.talk, at.talk.say("how far behind is it?"))
        await asked.wait()
        assert await at.recall.collect() == []
        go.set()
        found: list[Message] = []
        while not found:
            await anyio.lowlevel.checkpoint()
            found = await at.recall.collect()
        assert len(found) == 1


@pytest.mark.anyio
async def test_the_end_of_a_turn_cancels_what_was_not_taken_R1(tmp_path: Path) -> None:
    asked, cancelled = anyio.Event(), anyio.Event()

    async def never(_: Request) -> Text:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()
        return CHOSEN

    async with scene(tmp_path, ScriptedModel([never])) as at:
        await at.recall.on_turn_start(at.talk, at.talk.say("how far behind is it?"))
        await asked.wait()
        at.recall.on_turn_over(at.talk)
        await cancelled.wait()
        assert await at.recall.collect() == []


@pytest.mark.anyio
async def test_a_memory_is_surfaced_once_in_a_conversation_R4(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        for expected in (1, 0):
            at.recall._matter = frozenset()
            await at.recall.on_turn_start(at.talk, at.talk.say("how far does the replica lag?"))
            messages = await at.recall.collect()
            at.talk.messages += messages
            assert len(messages) == expected


@pytest.mark.anyio
async def test_a_file_read_while_choosing_is_dropped_at_the_collection_point_R4(tmp_path: Path) -> None:
    async with scene(tmp_path, ScriptedModel([CHOSEN])) as at:
        await at.recall.on_turn_start(at.talk, at.talk.say("how far behind is it?"))
        at.talk.files.saw(tmp_path / "lag.md", data=b"x", mtime_ns=0, partial=False, how="read")
        while at.recall.last is None:
            await anyio.lowlevel.checkpoint()
            assert await at.recall.collect() == []
        assert at.recall.last.dropped == {"lag.md": "in the conversation already"}


@pytest.mark.anyio
async def test_a_turn_without_reason_starts_nothing_and_says_why_R2(tmp_path: Path) -> None:
    async with scene(tmp_path, ScriptedModel()) as at:
        await at.recall.on_turn_start(at.talk, at.talk.say("/compact"))
        assert await at.recall.collect() == []
    assert [(event.name, event.fields["why"]) for event in at.seen] == [("skipped", "a bare command")]


# -- a model that fails --------------------------------------------------------------------------------------


async def taken(at: Scene) -> list[Message]:
    """What the first turn of a conversation gets, at whichever collection point it is ready."""
    at.talk = Talk()
    at.recall._matter = frozenset()
    await at.recall.on_turn_start(at.talk, at.talk.say("how far does the replica lag?"))
    while not (found := await at.recall.collect()):
        await anyio.lowlevel.checkpoint()
    return found


def told_of(at: Scene) -> list[tuple[object, ...]]:
    """That words stepped in, as events tell it."""
    degraded = [event.fields for event in at.seen if event.name == "degraded"]
    return [tuple(fields[key] for key in ("job", "model", "error", "lasting")) for fields in degraded]


@pytest.mark.anyio
async def test_where_a_model_fails_words_choose_for_the_same_turn_R5(tmp_path: Path) -> None:
    model = ScriptedModel([ModelOverloaded("busy"), say("lag.md, I think"), CHOSEN])
    async with scene(tmp_path, model) as at:
        (message,) = await taken(at)
        assert "The replica lags behind." in message.text
        await taken(at)
        assert len(model.requests) == 2
        await taken(at)
    assert len(model.requests) == 3
    assert told_of(at) == [("recall", "scripted:model", "ModelOverloaded", False)]
    assert [e.fields["how"] for e in at.seen if e.name == "recalled"] == ["local", "local", "model"]
    assert not [event for event in at.seen if event.name == "failed"]


@pytest.mark.anyio
async def test_after_an_error_that_lasts_the_model_is_not_asked_again_R5(tmp_path: Path) -> None:
    model = ScriptedModel([KeyRefused("the key was refused", hint="look at it")])
    async with scene(tmp_path, model) as at:
        assert len(await taken(at)) == 1
        at.talk = Talk()
        at.recall._matter = frozenset()
        await at.recall.on_turn_start(at.talk, at.talk.say("how far does the replica lag?"))
        assert len(await at.recall.collect()) == 1  # waited for, as words are
    assert len(model.requests) == 1
    assert told_of(at) == [("recall", "scripted:model", "KeyRefused", True)]


@pytest.mark.anyio
async def test_words_that_stepped_in_are_waited_for_from_then_on_R1(tmp_path: Path) -> None:
    asked, go = anyio.Event(), anyio.Event()

    async def fails(_: Request) -> ModelOverloaded:
        asked.set()
        await go.wait()
        return ModelOverloaded("busy")

    async with scene(tmp_path, ScriptedModel([fails])) as at:
        await at.recall.on_turn_start(at.talk, at.talk.say("how far does the replica lag?"))
        await asked.wait()
        assert await at.recall.collect() == []
        go.set()
        while not told_of(at):
            await anyio.lowlevel.checkpoint()
        assert len(await at.recall.collect()) == 1


@pytest.mark.anyio
async def test_the_end_of_a_turn_cancels_words_that_stepped_in_R1(tmp_path: Path) -> None:
    async with scene(tmp_path, ScriptedModel([ModelOverloaded("busy")])) as at:
        await at.recall.on_turn_start(at.talk, at.talk.say("how far does the replica lag?"))
        while not told_of(at):
            await anyio.lowlevel.checkpoint()
        at.recall.on_turn_over(at.talk)
        assert await at.recall.collect() == []
        assert at.recall.last is None


@pytest.mark.anyio
async def test_one_prompt_that_is_too_long_for_the_model_is_not_the_next_one_R5(tmp_path: Path) -> None:
    model = ScriptedModel([ContextTooLong("it is too long"), CHOSEN])
    async with scene(tmp_path, model) as at:
        await taken(at)
        await taken(at)
    assert told_of(at) == [("recall", "scripted:model", "ContextTooLong", False)]
    assert [e.fields["how"] for e in at.seen if e.name == "recalled"] == ["local", "model"]


def hanging(times: int, *, but_at: int | None = None) -> tuple[ScriptedModel, list[anyio.Event]]:
    """A model that does not answer, `but_at` one time, and what tells that it was asked."""
    asked = [anyio.Event() for _ in range(times)]
    left = iter(asked)

    async def never(_: Request) -> Text:
        next(left).set()
        await anyio.sleep_forever()
        return CHOSEN

    lines: list[Line] = [never] * times
    if but_at is not None:
        lines.insert(but_at, CHOSEN)
    return ScriptedModel(lines), asked


async def let_by(at: Scene, asked: anyio.Event | None, *, ends: Message | None) -> None:
    """A turn that is over before the model has chosen."""
    at.talk = Talk()
    at.recall._matter = frozenset()
    await at.recall.on_turn_start(at.talk, at.talk.say("how far does the replica lag?"))
    if asked is not None:
        await asked.wait()
        assert await at.recall.collect() == []
    if ends is not None:
        at.talk.messages.append(ends)
    at.recall.on_turn_over(at.talk)


@pytest.mark.anyio
async def test_a_selector_that_is_busy_longer_than_turns_take_is_left_to_words_R5(tmp_path: Path) -> None:
    model, asked = hanging(3)
    async with scene(tmp_path, model) as at:
        for each in asked:
            assert told_of(at) == []
            await let_by(at, each, ends=assistant("by 3 s"))
        assert told_of(at) == [("recall", "scripted:model", "ModelOverloaded", True)]
        for _ in range(2):
            assert len(await taken(at)) == 1
    assert len(model.requests) == 3
    assert len(told_of(at)) == 1
    (why,) = (event.fields["why"] for event in at.seen if event.name == "degraded")
    assert why == "scripted:model has not chosen in time in 3 turns"


@pytest.mark.anyio
@pytest.mark.parametrize("between", ["an answer", "a failed turn", "a broken call"])
async def test_only_turns_in_a_row_that_ended_in_an_answer_count_R5(tmp_path: Path, between: str) -> None:
    model, asked = hanging(3, but_at=2) if between == "an answer" else hanging(4)
    call = assistant(ToolUse(id="1", name="Bash", input={}))
    async with scene(tmp_path, model) as at:
        for each in asked[:2]:
            await let_by(at, each, ends=assistant("by 3 s"))
        if between == "an answer":
            assert len(await taken(at)) == 1
        else:
            await let_by(at, asked[2], ends=call if between == "a broken call" else None)
        assert told_of(at) == []
        await let_by(at, asked[-1], ends=assistant("by 3 s"))
        assert bool(told_of(at)) == (between != "an answer")


# -- tools in use --------------------------------------------------------------------------------------------


def bash(command: str, *, call: str = "1") -> Message:
    return assistant(ToolUse(id=call, name="Bash", input={"command": command}))


def test_tools_in_use_are_tools_and_the_programs_they_ran_R5() -> None:
    messages = [person("go"), bash("cd src && sudo kcat -L | jq .name"), result()]
    assert recent_tools(messages) == ("Bash", "cd", "kcat", "jq")


def test_a_call_that_failed_is_no_successful_use_R5() -> None:
    assert recent_tools([bash("kcat -L"), result(error=True)]) == ()


def test_calls_of_long_ago_do_not_count() -> None:
    assert recent_tools([bash("kcat -L"), result(), *[person("and?")] * 12]) == ()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("./gradlew :app:test", ["gradlew"]),
        ("A=1 sudo /opt/bin/kcat -L", ["kcat"]),
        ("ls; git log || true", ["ls", "git", "true"]),
        ("", []),
        ("$X --y", []),
    ],
)
def test_programs_are_read_off_a_command(command: str, expected: list[str]) -> None:
    assert programs(command) == expected
