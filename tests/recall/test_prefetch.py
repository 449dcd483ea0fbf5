"""Recall beside a turn: gate, start, collection, end (recall/prefetch.py, recall/recent.py)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from memdir.agent.events import Event, Events
from memdir.agent.file_state import FileState
from memdir.errors import ContextTooLong, KeyRefused, ModelOverloaded
from memdir.model.client import ModelClient
from memdir.model.embedding.embedder import Embedder
from memdir.model.messages import Message, Request, Text, ToolResult, ToolUse, assistant, person
from memdir.recall.offers import NARROW, WIDE
from memdir.recall.prefetch import Prefetch, Recall, why_not
from memdir.recall.recent import programs, recent_tools
from memdir.recall.select import Selection
from memdir.recall.shelf import Shelf
from memdir.recall.surface import SESSION_BYTES
from memdir.testing import Line, ScriptedModel, WordEmbedder, say
from tests.recall.memories import NOW, put

CHOSEN = say('{"selected_memories": ["lag.md"]}')
NOTHING = say('{"selected_memories": []}')

LAG = "how far does the replica lag?"
SUBJECTS = {
    LAG: "The replica lags behind.",
    "why does the flux valve stick in frost?": "The flux valve sticks in frost.",
    "when may the octopus tank be drained?": "The octopus tank is drained on Mondays.",
    "who signs the mortgage ledger?": "Anna signs the mortgage ledger.",
    "where is the falcon telescope?": "The falcon telescope is on the roof.",
}
"""Prompts, each of which is about a matter of its own, and the memory that bears on it."""


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
    subjects: Iterator[str] = field(default_factory=lambda: iter(SUBJECTS))

    async def begin(self, prompt: str) -> None:
        """A turn begins."""
        await self.recall.on_turn_start(self.talk, self.talk.say(prompt))

    async def begin_anew(self) -> None:
        """A turn begins, about something else, and nothing is known of what was shown before."""
        self.talk = Talk()
        await self.begin(next(self.subjects))

    async def collected(self) -> list[Message]:
        """What this turn gets, at whichever collection point its choice is ready."""
        before = self.recall.last
        while self.recall.last is before:
            await anyio.lowlevel.checkpoint()
            found = await self.recall.collect()
        self.talk.messages += found
        return found


@asynccontextmanager
async def scene(
    directory: Path, model: ModelClient | None = None, *, embedder: Embedder | None = None
) -> AsyncIterator[Scene]:
    """Recall over a directory with a memory for each subject, in a task group of its own."""
    put(directory, "lag.md", SUBJECTS[LAG], name="Replica lag")
    for at, body in enumerate([*SUBJECTS.values()][1:]):
        put(directory, f"subject{at}.md", body)
    seen: list[Event] = []
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            shelf = Shelf.of(directory, embedder=embedder)
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
async def test_the_start_of_a_turn_waits_for_nothing_R1(tmp_path: Path) -> None:
    model = ScriptedModel([NOTHING])
    async with scene(tmp_path, model) as at:
        await at.begin(LAG)
        assert model.requests == []
        assert at.recall.last is None
        await at.collected()
        assert len(model.requests) == 1


@pytest.mark.anyio
async def test_an_embedder_that_hangs_costs_a_turn_no_memories_R1(tmp_path: Path) -> None:
    class Hanging(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[bytes]:
            await anyio.sleep_forever()
            return []

    async with scene(tmp_path, embedder=Hanging()) as at:
        await at.begin(LAG)
        assert len(await at.recall.collect()) == 1


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
        for prompt, expected in ((LAG, 1), ("and the replica of the canary, lagging in Osaka?", 0)):
            await at.begin(prompt)
            assert len(await at.collected()) == expected
        assert at.recall.last is not None
        assert "lag.md" in [one.file for one in at.recall.last.selection.verdicts if not one.chosen]


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


# -- a conversation goes on ----------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_later_prompts_get_memories_on_new_matter_only_R1(tmp_path: Path) -> None:
    model = ScriptedModel([NOTHING, NOTHING])
    async with scene(tmp_path, model) as at:
        for prompt, asked in ((LAG, 1), ("and the lag of the replica now?", 1), ("which canary is it?", 2)):
            await at.begin(prompt)
            assert await at.collected() == []
            assert len(model.requests) == asked
    assert [event.fields["how"] for event in at.seen if event.name == "recalled"] == [
        "model",
        "none",
        "model",
    ]


@pytest.mark.anyio
async def test_words_choose_on_new_matter_only_R1(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.begin(LAG)
        assert len(await at.collected()) == 1
        at.talk = Talk()  # as if it had been forgotten: what decides is the matter
        await at.begin("and the lag of the replica now?")
        assert await at.collected() == []
        await at.begin("why does the flux valve stick in frost?")
        assert len(await at.collected()) == 1


@pytest.mark.anyio
async def test_the_first_prompt_is_chosen_for_widely_and_later_ones_are_not_M3(tmp_path: Path) -> None:
    for at_ in range(WIDE + 20):
        put(tmp_path, f"m{at_}.md", f"Number {at_}.")
    model = ScriptedModel([NOTHING] * 2)
    async with scene(tmp_path, model) as at:
        for prompt in (LAG, "which canary is it?"):
            await at.begin(prompt)
            await at.collected()
    offered = [request.messages[0].text.count("\n- [project] ") for request in model.requests]
    assert offered == [WIDE, NARROW]


@pytest.mark.anyio
@pytest.mark.parametrize("ends", [assistant("by 3 s"), None], ids=["late", "broken off"])
async def test_a_prompt_whose_choice_came_too_late_was_not_dealt_with_R1(
    tmp_path: Path, ends: Message | None
) -> None:
    asked = anyio.Event()

    async def never(_: Request) -> Text:
        asked.set()
        await anyio.sleep_forever()
        return CHOSEN

    model = ScriptedModel([never, CHOSEN])
    async with scene(tmp_path, model) as at:
        await at.begin(LAG)
        await asked.wait()
        at.talk.messages += [ends] if ends else []
        at.recall.on_turn_over(at.talk)
        await at.begin(LAG)
        assert len(await at.collected()) == 1
        assert len(model.requests) == 2


@pytest.mark.anyio
async def test_a_prompt_whose_choice_failed_was_not_dealt_with_R1(tmp_path: Path) -> None:
    model = ScriptedModel([RuntimeError("a bug"), CHOSEN])
    async with scene(tmp_path, model) as at:
        await at.begin(LAG)
        assert await at.collected() == []
        await at.begin(LAG)
        assert len(await at.collected()) == 1


@pytest.mark.anyio
async def test_a_prompt_whose_choice_was_taken_was_dealt_with_whoever_chose_R1(tmp_path: Path) -> None:
    model = ScriptedModel([ModelOverloaded("busy"), NOTHING])
    async with scene(tmp_path, model) as at:
        await at.begin(LAG)
        assert len(await at.collected()) == 1  # by words
        await at.begin(LAG)
        assert await at.collected() == []
        assert len(model.requests) == 1
        await at.begin("which canary is it?")
        await at.collected()
        assert len(model.requests) == 2


@pytest.mark.anyio
@pytest.mark.parametrize("by", ["words", "a model"])
async def test_what_was_shown_and_then_changed_on_disk_is_not_recalled_again_R8(
    tmp_path: Path, by: str
) -> None:
    model = ScriptedModel([CHOSEN, CHOSEN]) if by == "a model" else None
    async with scene(tmp_path, model) as at:
        await at.begin(LAG)
        assert len(await at.collected()) == 1
        put(tmp_path, "lag.md", "The replica of the canary lags in Osaka.", name="Replica lag")
        await at.begin("does the canary in Osaka lag like the replica?")
        assert await at.collected() == []
        if model is not None:
            assert "lag.md" not in model.requests[1].messages[0].text


# -- a model that fails --------------------------------------------------------------------------------------


async def taken(at: Scene) -> list[Message]:
    """What a turn on a new subject gets."""
    await at.begin_anew()
    return await at.collected()


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
        await at.begin_anew()
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
    await at.begin_anew()
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
