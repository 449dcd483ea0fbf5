"""A conversation that gets too long goes on in a shorter one (C4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from memdir.agent.attachments import attached, relevant_memory
from memdir.agent.file_state import FileState
from memdir.agent.fit.shorten import original
from memdir.agent.fork import fork
from memdir.agent.loop import Agent, Hooks
from memdir.agent.transcript import Transcript, read
from memdir.errors import ContextTooLong, ModelOverloaded, UsageError
from memdir.model.messages import Message, Request, ToolResult, ToolUse, assistant, person
from memdir.model.tokens import estimate, estimate_request
from memdir.recall.surface import surfaced_bytes
from memdir.session.compact import Compactor
from memdir.session.draft import CARRIED
from memdir.session.notes import Summary
from memdir.session.plan import Limits, plan
from memdir.session.rights import none_at_all
from memdir.session.sections import Template
from memdir.testing import Line, ScriptedModel, call, say
from tests.agent.world import NOW, World

pytestmark = pytest.mark.anyio

WINDOW = 60_000


@dataclass
class Kept:
    """Running notes that say what a test wants."""

    text: str | None = None
    upto: str | None = None
    waited: list[float] = field(default_factory=list)

    async def settle(self, seconds: float) -> bool:
        self.waited.append(seconds)
        return True

    def summary(self) -> Summary | None:
        return None if self.text is None else Summary(text=self.text, upto=self.upto)


@dataclass(kw_only=True)
class Desk:
    """A conversation that is kept within its window."""

    world: World
    agent: Agent
    model: ScriptedModel
    notes: Kept
    compactor: Compactor

    @property
    def told(self) -> list[dict[str, Any]]:
        return [dict(event.fields) for event in self.world.told if event.name == "compacted"]

    def fill(self, tokens: int, *, each: int = 1_000) -> list[Message]:
        """So many tokens of talk, in turns."""
        said: list[Message] = []
        for number in range(tokens // (2 * each)):
            said += [
                person(f"request {number} " + "word " * (each * 4 // 5), at=NOW),
                assistant(f"answer {number} " + "word " * (each * 4 // 5), at=NOW),
            ]
        self.agent.add(*said)
        return said


def desk(world: World, replies: Sequence[Line] = (), *, window: int = WINDOW, **more: Any) -> Desk:
    agent, model = world.agent(replies)
    model.window = window
    notes = Kept()

    def fresh(files: FileState) -> list[Message]:
        return [attached("the instructions as they are now", {"kind": "context"}, now=NOW)]

    compactor = Compactor(notes=notes, fresh=fresh, template=Template.default(), events=agent.events, **more)
    agent.hooks = Hooks(make_room=compactor.make_room)
    return Desk(world=world, agent=agent, model=model, notes=notes, compactor=compactor)


def kinds(messages: Sequence[Message]) -> list[str]:
    return [(message.attachment or {}).get("kind", message.origin) for message in messages]


def is_summary(request: Request) -> bool:
    return request.messages[-1].origin == "system"


async def test_nothing_happens_while_there_is_room_C4(world: World) -> None:
    it = desk(world, [say("Yes.")])
    it.fill(30_000)
    await it.agent.run("Are you there?")
    assert it.told == []
    assert it.notes.waited == []


async def test_with_notes_that_cover_what_goes_nobody_is_asked_C4(world: World) -> None:
    it = desk(world, [say("Yes.")])
    said = it.fill(48_000)
    it.notes.text, it.notes.upto = "# Task\n\nBuild the shop.\n", said[-3].id
    await it.agent.run("Are you there?")
    (told,) = it.told
    assert (told["trigger"], told["how"]) == ("auto", "notes")
    assert it.notes.waited == [15.0]
    (request,) = it.model.requests
    assert kinds(request.messages)[:3] == ["context", "date", "compaction"]
    assert "Build the shop." in request.messages[2].text
    tail = [message for message in request.messages if message.origin in ("person", "assistant")]
    assert tail[:-1] == said[-(len(tail) - 1) :]
    assert tail[-1].text == "Are you there?"
    assert told["after"] < told["before"]


async def test_what_the_notes_do_not_cover_stays_word_for_word_C4(world: World) -> None:
    it = desk(world, [say("Yes.")])
    said = it.fill(48_000)
    it.notes.text, it.notes.upto = "# Task\n\nBuild the shop.\n", said[-20].id
    await it.agent.run("Are you there?")
    assert it.told[0]["how"] == "notes"
    assert all(message in it.agent.messages for message in said[-19:])


@pytest.mark.parametrize("notes", [None, "# Task\n\nBuild the shop.\n"])
async def test_without_notes_that_reach_far_enough_the_model_writes_the_summary_C4(
    world: World, notes: str | None
) -> None:
    it = desk(world, [say("Yes.")])
    it.model.when(is_summary, say("# Task\n\nBuild the shop, says the model.\n"))
    it.fill(48_000)
    it.notes.text = notes
    await it.agent.run("Are you there?")
    assert it.told[0]["how"] == "model"
    first, second = it.model.requests
    assert is_summary(first)
    assert first.prefix == second.prefix
    assert any("says the model" in message.text for message in second.messages)


async def test_a_summary_that_fails_waits_as_long_as_there_is_room_for_an_answer_C4(world: World) -> None:
    it = desk(world, [say("Yes."), say("Still.")])
    it.model.when(is_summary, ModelOverloaded("busy"))
    it.fill(48_000)
    before = list(it.agent.messages)
    await it.agent.run("Are you there?")
    assert it.told == []
    assert it.agent.messages[: len(before)] == before
    await it.agent.run("And now?")  # it is not asked again at once
    assert sum(map(is_summary, it.model.requests)) == 1
    assert [event.fields["where"] for event in world.told if event.name == "failed"] == ["compaction"]


async def test_where_no_answer_fits_rules_write_what_the_model_can_not_C4(world: World) -> None:
    it = desk(world, [say("Yes.")])
    it.model.when(is_summary, ModelOverloaded("busy"))
    said = it.fill(56_000)
    await it.agent.run("Are you there?")
    assert it.told[0]["how"] == "rules"
    assert "request 0" in it.agent.messages[2].text
    assert it.agent.messages[-2].text == "Are you there?"
    assert said[0] not in it.agent.messages


async def test_a_request_that_the_model_refuses_makes_the_conversation_shorter_C4(world: World) -> None:
    it = desk(world, [ContextTooLong("too long"), say("Yes.")])
    it.model.when(is_summary, say("# Task\n\nBuild the shop.\n"))
    it.fill(40_000)
    answer = await it.agent.run("Are you there?")
    assert answer.text == "Yes."
    assert it.told[0]["trigger"] == "overflow"
    assert it.agent.size() < 40_000


async def test_one_message_that_is_too_long_does_not_end_the_conversation_C4(world: World) -> None:
    it = desk(world, [say("Hello."), ContextTooLong("too long"), say("Long."), say("Yes.")])
    it.model.when(is_summary, *[ModelOverloaded("busy")] * 3)
    await it.agent.run("Hi")
    assert (await it.agent.run("word " * 80_000)).text == "Long."
    assert (await it.agent.run("Are you there?")).text == "Yes."
    assert it.agent.size() < WINDOW


@pytest.mark.parametrize("window", [8_000, 16_000, 60_000])
async def test_a_message_larger_than_the_window_is_sent_cut_and_not_refused_first_C4(
    world: World, window: int
) -> None:
    """By the conversation's own count, which is kept message by message: a cut copy has a size of its own."""
    it = desk(world, [say("Long."), say("Yes.")], window=window)
    it.model.when(is_summary, *[say("# Task\n\nBuild the shop.\n")] * 2)
    typed = "word " * 80_000
    await it.agent.run(typed)
    await it.agent.run("Are you there?")
    sizes = [estimate_request(request) for request in it.model.requests if not is_summary(request)]
    assert max(sizes) < window
    assert [one.text for one in it.agent.record if one.origin == "person"] == [typed, "Are you there?"]


@pytest.mark.parametrize("script", ["word " * 60, "甲乙丙丁" * 70])
async def test_a_hundred_open_points_take_no_more_than_there_is_room_for_C4(
    world: World, script: str
) -> None:
    it = desk(world, [say("Noted."), *[say("word " * 100)] * 20], window=16_000)
    it.model.when(is_summary, *[say("# Task\n\nBuild the shop.\n")] * 20)
    await it.agent.run("\n".join(f"- [ ] {number} {script}" for number in range(100)))
    for _ in range(20):
        await it.agent.run("word " * 200)
    (boundary,) = (one for one in it.agent.messages if (one.attachment or {}).get("kind") == "compaction")
    assert "- [ ] 0 " in boundary.text
    summary = Limits(window=16_000, answer=it.agent.prefix.max_tokens).summary()
    assert estimate(boundary.text) < CARRIED + summary
    assert len(it.told) <= 5


async def test_what_is_said_while_the_persons_wish_is_done_stays_in_the_conversation_C4(
    world: World, tmp_path: Path
) -> None:
    path, asked, go = tmp_path / "t.jsonl", anyio.Event(), anyio.Event()
    it = desk(world, [say("Yes.")])
    it.agent.transcript = Transcript.create(path, session_id="s", cwd=world.root, prefix=it.agent.prefix)
    it.fill(30_000)

    async def slow(_: Request) -> Line:
        asked.set()
        await go.wait()
        return say("# Task\n\nBuild the shop.\n")

    it.model.when(is_summary, slow)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(it.compactor.compact, it.agent)
        await asked.wait()
        it.agent.add(person("one thing more", at=NOW))
        go.set()
    assert it.agent.messages[-1].text == "one thing more"
    (boundary,) = [one for one in it.agent.messages if kinds([one]) == ["compaction"]]
    assert "one thing more" not in boundary.text
    assert (boundary.attachment or {})["gone"] == it.told[0]["gone"]
    assert list(read(path).context) == it.agent.messages
    assert list(read(path).messages) == it.agent.record


async def test_two_compactions_at_once_are_one_after_the_other_C4(world: World) -> None:
    it = desk(world)
    it.model.when(is_summary, *[say("# Task\n\nBuild the shop.\n")] * 2)
    it.fill(30_000)
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(it.compactor.compact, it.agent)
    ids = [message.id for message in it.agent.record]
    assert len(ids) == len(set(ids))
    assert kinds(it.agent.messages).count("compaction") == 1
    assert "compaction" not in kinds(it.model.requests[0].messages)
    assert "compaction" in kinds(it.model.requests[1].messages)  # the second takes what the first has left


async def test_a_turn_that_begins_meanwhile_waits_and_condenses_nothing_twice_C4(world: World) -> None:
    it, asked, go = desk(world, [say("Yes.")]), anyio.Event(), anyio.Event()
    it.fill(48_000)

    async def slow(_: Request) -> Line:
        asked.set()
        await go.wait()
        return say("# Task\n\nBuild the shop.\n")

    async def make_room(agent: Agent, overflow: bool) -> bool:
        go.set()
        return await it.compactor.make_room(agent, overflow)

    it.model.when(is_summary, slow, say("# Task\n\nBuild it twice.\n"))
    it.agent.hooks = Hooks(make_room=make_room)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(it.compactor.compact, it.agent)
        await asked.wait()
        await it.agent.run("Are you there?")
    assert [one["trigger"] for one in it.told] == ["manual"]
    assert it.agent.messages[-1].text == "Yes."


async def test_what_begins_a_conversation_stays_if_it_can_not_be_gathered_anew_C4(world: World) -> None:
    def broken(files: FileState) -> list[Message]:
        files.saw(world.file("a.md"), data=b"", mtime_ns=0, partial=False, how="instructions")
        raise OSError("the disk is gone")

    it = desk(world, [say("Yes.")])
    it.compactor._fresh = broken
    it.model.when(is_summary, say("# Task\n\nBuild the shop.\n"))
    first = attached("the instructions as they were", {"kind": "context"}, now=NOW)
    it.agent.add(first)
    it.fill(56_000)
    await it.agent.run("Are you there?")
    assert it.agent.messages[0] == first
    assert kinds(it.agent.messages)[:3] == ["context", "date", "compaction"]
    assert len(it.agent.files) == 0
    (failed,) = [dict(event.fields) for event in world.told if event.name == "failed"]
    assert failed == {"where": "compaction", "error": "OSError"}


async def test_notes_that_reach_a_message_which_was_cut_cover_it_still_C4(world: World) -> None:
    it = desk(world, [say("Long."), say("Yes.")], window=16_000)
    await it.agent.run("word " * 20_000)
    cut, answer = it.agent.messages[-2:]
    assert original(cut) != cut.id
    made = plan(
        [cut, answer],
        summarised=original(cut),
        fixed=0,
        limits=Limits(window=8_000, tail_tokens=1, tail_messages=1),
        count=it.agent.size_of,
    )
    assert (made.at, made.covered) == (1, True)


async def test_a_result_that_is_too_long_is_cut_and_keeps_its_call_C4(world: World) -> None:
    file = world.file("big.txt", "line\n" * 60_000)
    it = desk(world, [call("Bash", command=f"cat {file}"), say("Long.")], window=16_000)
    it.model.when(is_summary, ModelOverloaded("busy"))
    it.agent.add(person("hello", at=NOW), assistant("hi", at=NOW))
    await it.agent.run("How long is it?")
    calls = {one.id for message in it.agent.messages for one in message.tool_uses}
    results = {
        block.tool_use_id
        for message in it.agent.messages
        for block in message.content
        if isinstance(block, ToolResult)
    }
    assert calls == results
    assert it.agent.size() < 16_000


async def test_the_person_can_ask_for_it_and_say_what_matters_C4(world: World) -> None:
    it = desk(world)
    it.model.when(is_summary, say("# Task\n\nNames of the interface: pay, refund.\n"))
    it.fill(4_000)
    it.notes.text, it.notes.upto = "# Task\n\nnotes\n", it.agent.messages[-1].id
    done = await it.compactor.compact(it.agent, instructions="keep the names of the interface")
    assert (done.trigger, done.how) == ("manual", "model")
    assert "keep the names of the interface" in it.model.requests[0].messages[-1].text
    assert "pay, refund" in it.agent.messages[2].text
    assert done.after < done.before


async def test_the_persons_own_wish_is_not_done_by_rules_instead_C4(world: World) -> None:
    it = desk(world)
    it.model.when(is_summary, ModelOverloaded("busy"))
    it.fill(4_000)
    before = list(it.agent.messages)
    with pytest.raises(ModelOverloaded):
        await it.compactor.compact(it.agent, instructions="keep the names")
    assert it.agent.messages == before


async def test_there_must_be_something_to_condense_C4(world: World) -> None:
    it = desk(world)
    with pytest.raises(UsageError, match="nothing to condense"):
        await it.compactor.compact(it.agent)
    it.agent.add(person("hi", at=NOW), assistant("hello", at=NOW))
    with pytest.raises(UsageError, match="nothing to condense"):
        await it.compactor.compact(it.agent)


async def test_it_is_not_tried_again_and_again_where_it_does_not_help_C4(world: World) -> None:
    it = desk(world, [say("Yes."), say("Yes."), say("Yes.")], window=16_000)
    it.model.when(is_summary, say("# Task\n\nshort\n"), say("# Task\n\nshort\n"))
    it.agent.add(person("word " * 9_500, at=NOW), assistant("fine", at=NOW))
    for _ in range(3):
        await it.agent.run("Are you there?")
    assert len(it.told) <= 2


@pytest.mark.parametrize(("window", "begins_with"), [(16_000, 6_000), (16_000, 9_000), (32_000, 25_000)])
async def test_where_no_full_answer_fits_it_is_not_made_at_each_request_C4(
    world: World, window: int, begins_with: int
) -> None:
    """Long instructions in a small window: each time the conversation would be nearly all gone, and paid."""
    it = desk(world, [*[call("Bash", command="seq 300")] * 40, say("Done.")], window=window)
    long = attached("word " * (begins_with * 4 // 5), {"kind": "context"}, now=NOW)
    it.compactor._fresh = lambda _: [long]
    it.model.when(is_summary, *[say("# Task\n\n" + "word " * 1_000)] * 41)
    it.agent.add(long)
    await it.agent.run("Count.")
    assert len(it.told) <= 41 // 4
    sizes = [estimate_request(request) for request in it.model.requests if not is_summary(request)]
    assert max(sizes) < window


async def test_switched_off_it_acts_only_where_no_answer_fits_C4(world: World) -> None:
    it = desk(world, [say("Yes."), say("Yes.")], automatic=False)
    it.model.when(is_summary, say("# Task\n\nBuild.\n"))
    it.fill(48_000)
    await it.agent.run("Are you there?")
    assert it.told == []
    it.fill(6_000)
    await it.agent.run("And now?")
    assert len(it.told) == 1


async def test_what_was_wanted_first_and_what_is_open_goes_along_C4(world: World) -> None:
    it = desk(world, [say("Yes.")])
    it.agent.add(
        person("Move the shop to Postgres, and keep the old orders.", at=NOW),
        assistant("The plan:\n- [x] dump\n- [ ] convert the orders\n- [ ] switch over", at=NOW),
    )
    said = it.fill(48_000)
    it.notes.text, it.notes.upto = "# Task\n\nnotes\n", said[-1].id
    await it.agent.run("Are you there?")
    boundary = it.agent.messages[2].text
    assert "Move the shop to Postgres, and keep the old orders." in boundary
    assert "convert the orders" in boundary
    assert "switch over" in boundary
    assert "] dump" not in boundary


async def test_files_that_were_worked_with_are_shown_again_and_may_be_edited_C4(world: World) -> None:
    old, new = world.file("old.py", "OLD = 1\n"), world.file("new.py", "NEW = 1\n")
    it = desk(
        world,
        [
            [call("Read", file_path=str(old)), call("Read", file_path=str(new))],
            say("Read."),
            call("Edit", file_path=str(new), old_string="NEW = 2", new_string="NEW = 3"),
            say("Changed."),
        ],
    )
    await it.agent.run("Read both")
    new.write_text("NEW = 2\n")  # by hand: what is shown again is what is there now
    said = it.fill(48_000)
    it.notes.text, it.notes.upto = "# Task\n\nnotes\n", said[-1].id
    await it.agent.run("Change the new one")
    again = [message for message in it.agent.messages if kinds([message]) == ["file"]]
    assert {Path((message.attachment or {})["path"]).name for message in again} == {"old.py", "new.py"}
    assert new.read_text() == "NEW = 3\n"


async def test_a_file_whose_text_went_and_did_not_come_back_is_to_be_read_again_A2(world: World) -> None:
    file = world.file("gone.py", "X = 1\n")
    it = desk(world, [call("Read", file_path=str(file)), say("Read.")])
    await it.agent.run("Read it")
    file.unlink()
    said = it.fill(48_000)
    it.notes.text, it.notes.upto = "# Task\n\nnotes\n", said[-1].id
    await it.compactor.make_room(it.agent, False)
    assert it.agent.files.known(file) is None


async def test_memories_may_come_back_and_the_count_starts_over_R7(world: World) -> None:
    it = desk(world)
    path = world.topic("tabs.md")
    it.agent.add(relevant_memory(path, "Tabs.", size=5, cut=False, modified=NOW, now=NOW))
    assert surfaced_bytes(it.agent.messages) == 5
    said = it.fill(48_000)
    it.notes.text, it.notes.upto = "# Task\n\nnotes\n", said[-1].id
    assert await it.compactor.make_room(it.agent, False)
    assert surfaced_bytes(it.agent.messages) == 0
    assert it.agent.files.known(path) is None


async def test_each_compaction_replaces_the_head_of_the_last_one_C4(world: World) -> None:
    it = desk(world)
    for number in range(3):
        said = it.fill(46_000)
        it.notes.text, it.notes.upto = f"# Task\n\nnotes {number}\n", said[-1].id
        assert await it.compactor.make_room(it.agent, False)
    assert kinds(it.agent.messages).count("compaction") == 1
    assert kinds(it.agent.messages).count("context") == 1
    assert kinds(it.agent.messages).count("date") == 1
    assert "notes 2" in it.agent.messages[2].text


async def test_it_is_in_the_transcript_as_it_is_in_the_conversation_A1(world: World, tmp_path: Path) -> None:
    it = desk(world)
    path = tmp_path / "s.jsonl"
    it.agent.transcript = Transcript.create(
        path, session_id="s", cwd=world.root, prefix=it.agent.prefix, at=NOW
    )
    for number in range(2):
        said = it.fill(46_000)
        it.notes.text, it.notes.upto = f"# Task\n\nnotes {number}\n", said[-1].id
        assert await it.compactor.make_room(it.agent, False)
        assert list(read(path).context) == it.agent.messages
    assert list(read(path).messages) == it.agent.record


async def test_a_window_that_is_smaller_than_was_said_counts_for_forks_too_C4(world: World) -> None:
    it = desk(world, [ContextTooLong("too long"), say("Yes.")])
    it.model.when(is_summary, say("# Task\n\nBuild the shop.\n"))
    it.fill(40_000)
    await it.agent.run("Are you there?")
    assert it.agent.window < WINDOW
    it.fill(44_000 - it.agent.size())  # within what was said, and not within what was learned
    assert it.agent.window < it.agent.size() + it.agent.prefix.max_tokens < WINDOW
    it.model.add(say("Nothing to add."))
    await fork(it.agent, "Bring the notes up to date.", permit=none_at_all(), max_turns=1, label="notes")
    sent = it.model.requests[-1]
    assert estimate_request(sent) + sent.prefix.max_tokens < it.agent.window


async def test_where_nothing_can_go_it_is_told_that_results_were_cut_C4(world: World) -> None:
    it = desk(world, [say("Yes.")], window=16_000)
    it.agent.add(
        assistant(ToolUse(id="a", name="Read", input={"file_path": "/x"}), at=NOW),
        Message(role="user", content=(ToolResult(tool_use_id="a", content="word " * 15_000),), origin="tool"),
    )
    assert await it.compactor.make_room(it.agent, False)
    (told,) = it.told
    assert (told["how"], told["gone"], told["kept"]) == ("cut", 0, 2)
    assert it.agent.size() < 16_000
