"""Learning from a talk that exists already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import pytest

from memdir.errors import Conflict, ModelOverloaded
from memdir.extract import cursor
from memdir.extract import learn as learning
from memdir.extract.foreign import Talk
from memdir.extract.learn import learn
from memdir.extract.saved import Saved
from memdir.memory.store import MemoryDir
from memdir.model import tokens
from memdir.model.client import ModelClient
from memdir.model.local import Local
from memdir.model.messages import Block, Image, Message, Request, ToolResult, ToolUse, assistant, person
from memdir.testing import Line, ScriptedModel, call, say, temporary_memory, tree
from tests.extract.support import FRIDAYS, NOW, POINTER, count_of

pytestmark = pytest.mark.anyio
RULE = "From now on always run the linter before you commit, because CI is slow."


@pytest.fixture
def memory() -> Iterator[MemoryDir]:
    with temporary_memory() as made:
        yield made


def talk(*messages: Message, at: datetime = NOW) -> Talk:
    dated = tuple(
        message if message.at else replace(message, at=at + timedelta(seconds=place))
        for place, message in enumerate(messages)
    )
    return Talk(session_id="theirs", cwd=Path("/nowhere/shop"), messages=dated, ended=at)


async def learned(memory: MemoryDir, model: ModelClient, said: Talk) -> Saved:
    cursors = memory.directory.parent / "cursors"
    return await learn(said, memory=memory, model=model, cursors=cursors, now=lambda: NOW)


async def test_a_second_run_does_nothing_E7(memory: MemoryDir) -> None:
    said = talk(person(RULE), assistant("Yes."))
    assert len((await learned(memory, Local(), said)).changes) == 1
    before = tree(memory.directory)
    assert await learned(memory, Local(), said) == Saved()
    assert tree(memory.directory) == before


async def test_of_a_talk_that_has_grown_only_what_is_new_counts_E7(memory: MemoryDir) -> None:
    model = ScriptedModel([say("Nothing to save."), say("Nothing to save.")])
    said = talk(person("one"), assistant("1"))
    await learned(memory, model, said)
    grown = talk(*said.messages, person("two"), assistant("2"), person("three"))
    await learned(memory, model, grown)
    # each counts one message more, which says that the talk ends there
    assert [count_of(request) for request in model.requests] == [3, 4]
    model.assert_exhausted()


async def test_after_a_rewind_behind_the_cursor_only_what_was_said_later_counts_E7(memory: MemoryDir) -> None:
    model = ScriptedModel([say("Nothing to save."), say("Nothing to save.")])
    said = talk(person("one"), assistant("1"))
    await learned(memory, model, said)
    later = replace(person("instead"), at=NOW + timedelta(minutes=1))
    await learned(memory, model, talk(said.messages[0], later))
    assert [count_of(request) for request in model.requests] == [3, 2]


async def test_each_day_of_a_talk_has_its_own_date_E6(memory: MemoryDir) -> None:
    model = ScriptedModel([say("Nothing to save."), say("Nothing to save.")])
    next_day = NOW + timedelta(days=1)
    await learned(
        memory, model, talk(person("one", at=NOW), assistant("1", at=NOW), person("two", at=next_day))
    )
    told = [request.messages[-1].text for request in model.requests]
    assert ["2026-03-05" in text for text in told] == [True, False]
    assert ["2026-03-06" in text for text in told] == [False, True]


async def test_a_model_is_shown_the_talk_as_plain_text_E11(memory: MemoryDir) -> None:
    folder = memory.directory
    writes = [
        call("Write", file_path=f"{folder}/no_fridays.md", content=FRIDAYS),
        call("Write", file_path=f"{folder}/MEMORY.md", content=POINTER),
    ]
    model = ScriptedModel([writes, say("Saved.")])
    use = ToolUse(id="t", name="Bash", input={"command": "npm test"})
    picture = Image(media_type="image/png", data="iVBORw0KGgo=")
    answer = ToolResult(tool_use_id="t", content="ok" * 999, images=(picture,))
    result = Message(role="user", content=(answer, picture), origin="tool")
    note = Message(role="user", content=assistant("injected").content, origin="attachment")
    saved = await learned(memory, model, talk(person("no merges on Fridays"), note, assistant(use), result))
    shown = [message.text for message in model.requests[0].messages[:-1]]
    assert shown[:2] == ["no merges on Fridays", "[used Bash: npm test]"]
    assert shown[2].startswith("[a tool answered:]\n<answer>\nokok")
    assert shown[2].endswith("</answer>\n[image]")
    assert len(shown[2]) < 700
    assert [change.file for change in saved.changes] == ["no_fridays.md"]


async def test_a_turn_in_which_the_agent_remembered_by_itself_is_left_alone_E4(memory: MemoryDir) -> None:
    model = ScriptedModel([say("Nothing to save.")])
    wrote = Message(
        role="user",
        content=(ToolResult(tool_use_id="t", content="Created"),),
        origin="tool",
        attachment={"kind": "memory_write", "wrote": ["no_fridays.md"], "deleted": []},
    )
    await learned(
        memory, model, talk(person("remember"), wrote, assistant("Yes."), person("go"), assistant("1"))
    )
    assert [count_of(request) for request in model.requests] == [3]


async def test_if_the_model_fails_the_next_run_goes_on_there_E7(memory: MemoryDir) -> None:
    model = ScriptedModel([say("Nothing to save."), ModelOverloaded("busy"), say("Nothing to save.")])
    said = talk(person("one", at=NOW), person("two", at=NOW + timedelta(days=1)))
    with pytest.raises(ModelOverloaded):
        await learned(memory, model, said)
    await learned(memory, model, said)
    assert [request.messages[-3].text for request in model.requests] == ["one", "two", "two"]
    model.assert_exhausted()


async def test_a_long_talk_is_taken_in_parts_that_the_model_can_hold_E6(memory: MemoryDir) -> None:
    model = ScriptedModel([say("Nothing to save.")] * 5, window=30_000)
    turns = [
        message for n in range(20) for message in (person(f"turn {n} " + "word " * 1_200), assistant("yes"))
    ]
    await learned(memory, model, talk(*turns))
    assert 3 <= len(model.requests) <= 5
    for request in model.requests:  # with room for an answer of a quarter
        assert tokens.estimate_request(request) <= model.window * 3 / 4
    assert sum(count_of(request) - 1 for request in model.requests) == 40


async def test_two_projects_of_one_session_have_a_cursor_each_E7(memory: MemoryDir) -> None:
    model = ScriptedModel([say("Nothing to save.")] * 2)
    one = talk(person("one"))
    await learned(memory, model, one)
    await learned(memory, model, replace(talk(person("two")), part="/nowhere/other"))
    assert len(model.requests) == 2


async def test_of_two_at_once_one_learns_and_the_other_finds_it_done_E7(memory: MemoryDir) -> None:
    begun, may_end = anyio.Event(), anyio.Event()

    async def slow(_: Request) -> Line:
        begun.set()
        await may_end.wait()
        return say("Nothing to save.")

    model, said = ScriptedModel([slow]), talk(person(RULE), assistant("Yes."))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(learned, memory, model, said)
            await begun.wait()
            tasks.start_soon(learned, memory, model, said)
            await anyio.wait_all_tasks_blocked()
            assert len(model.requests) == 1
            may_end.set()
    assert len(model.requests) == 1


async def test_who_comes_while_another_is_learning_is_told_so_in_the_end_E7(memory: MemoryDir) -> None:
    cursors, said = memory.directory.parent / "cursors", talk(person(RULE))
    async with cursor.alone(cursors, said.session_id):
        with pytest.raises(Conflict, match="right now"):
            await learn(said, memory=memory, model=Local(), cursors=cursors, now=lambda: NOW, wait=0.01)
    assert memory.list() == []


def shown(requests: list[Request]) -> str:
    """All that the person said, as forks were shown it as new."""
    said = (m for r in requests for m in r.messages[-count_of(r) - 1 :] if m.origin == "person")
    return "".join(message.text for message in said)


def busy(turns: int) -> list[Message]:
    """What an agent says and is told in so many steps."""
    use = ToolUse(id="t", name="Bash", input={"command": "npm test"})
    result = ToolResult(tool_use_id="t", content="ok " * 300)
    told = Message(role="user", content=(result,), origin="tool", at=NOW)
    return [replace(step) for _ in range(turns) for step in (assistant("so " * 200, use, at=NOW), told)]


@pytest.mark.parametrize("steps", [5, 60, 600])
async def test_of_a_very_long_turn_the_persons_words_are_shown_E7(memory: MemoryDir, steps: int) -> None:
    model = ScriptedModel([say("Nothing to save.")], window=20_000)
    last = assistant("All done.", at=NOW)
    await learned(memory, model, talk(person(RULE), *busy(steps), last))
    assert shown(model.requests) == RULE
    if steps < 600:  # what can be held is shown to its end
        assert "All done." in [message.text for message in model.requests[0].messages]
    model.assert_exhausted()


async def test_a_word_longer_than_the_model_can_hold_is_shown_in_pieces_E7(memory: MemoryDir) -> None:
    model = ScriptedModel([say("Nothing to save.")] * 4, window=30_000)
    word = " ".join(f"word{number}" for number in range(10_000))
    await learned(memory, model, talk(person(word), assistant("Yes.")))
    assert shown(model.requests) == word
    model.assert_exhausted()


@pytest.mark.parametrize(
    ("tool", "place", "is_error", "is_left_alone"),
    [
        ("Write", "no_fridays.md", False, True),
        ("MultiEdit", "MEMORY.md", False, True),
        ("Write", "no_fridays.md", True, False),
        ("Read", "no_fridays.md", False, False),
        ("Write", "../other.md", False, False),
        ("Edit", "\0", False, False),
    ],
)
async def test_a_turn_in_which_another_programs_agent_wrote_memory_is_left_alone_E4(
    memory: MemoryDir, tool: str, place: str, is_error: bool, is_left_alone: bool
) -> None:
    use = ToolUse(id="t", name=tool, input={"file_path": f"{memory.directory}/{place}"})
    result = ToolResult(tool_use_id="t", content="ok", is_error=is_error)
    told = Message(role="user", content=(result,), origin="tool")
    saved = await learned(memory, Local(), talk(person(RULE), assistant(use), told, assistant("Noted.")))
    assert (saved == Saved()) is is_left_alone


async def test_a_long_talk_is_not_gone_through_again_for_each_part_E7(
    memory: MemoryDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    days, read = 20, list[Block]()
    real = learning._words

    def counting(block: Block) -> str:
        read.append(block)
        return real(block)

    said = [
        replace(message, at=NOW + timedelta(days=day))
        for day in range(days)
        for _ in range(20)
        for message in (person(f"What of day {day}? " + "word " * 200), assistant("Nothing. " * 200))
    ]
    monkeypatch.setattr(learning, "_words", counting)
    model = ScriptedModel([say("Nothing to save.")] * len(said), window=16_000)
    await learned(memory, model, talk(*said))
    assert len(read) < 3 * len(said), "once as new, and once as what was said before"
