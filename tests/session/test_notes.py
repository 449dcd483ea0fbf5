"""The notes of a session, kept up to date beside it (C1-C3, C5)."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from memdir.agent.loop import Agent
from memdir.errors import (
    ContextTooLong,
    KeyRefused,
    ModelError,
    ModelOverloaded,
    OverBudget,
)
from memdir.fs import digest
from memdir.model.anthropic import wire
from memdir.model.local import Local
from memdir.model.messages import Request, ToolResult
from memdir.session.extractive import FIRST_LINE
from memdir.session.notes import Notes, Summary
from memdir.session.sections import LIMIT, SECTION, Template, sections
from memdir.testing import Line, ScriptedModel, call, say, tree
from tests.agent.world import world_in
from tests.session.support import LONG, TOKEN, Stage, filled, guidance, is_fork

pytestmark = pytest.mark.anyio

OURS = Template.default()


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    path = tmp_path / "transcripts" / "session-1" / "session-memory" / "summary.md"
    async with anyio.create_task_group() as tasks:
        yield Stage(world=world_in(tmp_path), tasks=tasks, path=path)
        tasks.cancel_scope.cancel()


async def one_run(stage: Stage, *fork: Line, **more: Any) -> tuple[Notes, ScriptedModel]:
    """A turn that makes notes due, and the run that follows, in which the fork says this."""
    notes, model, _ = await begun(stage, *fork, **more)
    return notes, model


async def begun(stage: Stage, *fork: Line, **more: Any) -> tuple[Notes, ScriptedModel, Agent]:
    """The same, for a conversation that goes on."""
    notes = stage.notes(**more)
    agent, model = stage.host(notes)
    await another(agent, notes, model, *fork)
    return notes, model, agent


async def another(agent: Agent, notes: Notes, model: ScriptedModel, *fork: Line) -> None:
    """Another turn, and the run that follows."""
    model.add(say("Understood."))
    model.when(is_fork, *fork)
    await agent.run(LONG)
    with anyio.fail_after(10):
        assert await notes.settle(10)


def fork_of(model: ScriptedModel) -> Request:
    """The first request of the last fork."""
    return next(
        request for request in reversed(model.requests) if is_fork(request) and request.messages[-1].text
    )


# -- a run that succeeds -------------------------------------------------------------------------------------


async def test_a_fork_edits_the_notes_and_they_reach_as_far_as_it_saw_C3(stage: Stage) -> None:
    edits = [stage.edit("Task", "Merge the cart."), stage.edit("Log", "- looked at it")]
    notes, model = await one_run(stage, edits, say("Done."))
    assert stage.path.read_text() == filled(Task="Merge the cart.", Log="- looked at it")
    upto = fork_of(model).messages[-2].id
    assert notes.upto == upto
    assert stage.noted == [(upto, digest(stage.path.read_bytes()))]
    assert notes.summary() == Summary(text=stage.path.read_text(), upto=upto)
    (event,) = stage.told("noted")
    assert event.fields["how"] == "model"
    assert event.fields["over"] == 0
    model.assert_exhausted()


async def test_the_fork_sends_the_hosts_bytes_first_A4_C3(stage: Stage) -> None:
    _, model = await one_run(stage, say("Nothing to add."))
    host, fork = model.requests
    assert fork.prefix is host.prefix
    assert fork.messages[: len(host.messages)] == host.messages
    one, other = (wire.body(request, model="m") for request in (host, fork))
    assert other["tools"] == one["tools"]
    assert other["system"] == one["system"]
    strip = {"cache_control"}
    plain = [
        [{k: v for k, v in block.items() if k not in strip} for block in message["content"]]
        for body in (one, other)
        for message in body["messages"][: len(one["messages"])]
    ]
    assert plain[: len(plain) // 2] == plain[len(plain) // 2 :]
    (forked,) = stage.told("forked")
    assert forked.fields["label"] == "session memory"


async def test_the_fork_reads_the_hosts_cache_A4_C3(stage: Stage) -> None:
    notes = stage.notes(first=2_000)
    agent, model = stage.host(notes, [say("Understood.")])
    model.when(is_fork, say("Nothing to add."))
    await agent.run(LONG * 20)
    await notes.settle(10)
    (forked,) = stage.told("forked")
    hits = forked.fields["hit_percent"]
    assert isinstance(hits, float)
    assert hits > 80


async def test_whoever_is_killed_leaves_notes_of_use_C3(stage: Stage) -> None:
    seen: list[tuple[str, Summary | None]] = []

    def look(then: Line) -> Line:
        def killed_now(request: Request) -> Line:
            other = Notes(stage.path, tasks=stage.tasks)
            seen.append((stage.path.read_text(), other.summary()))
            return then

        return killed_now

    edits = [
        stage.edit("Task", "a"),
        call("Edit", file_path=str(stage.path), old_string="# Log", new_string=""),
    ]
    await one_run(stage, look(edits), look(stage.edit("Log", "b")), look(say("Done.")))
    texts = [text for text, _ in seen]
    assert texts == [OURS.text, filled(Task="a"), filled(Task="a", Log="b")]
    assert [summary and summary.upto for _, summary in seen] == [None, None, None]
    assert [summary is None for _, summary in seen] == [True, False, False]


async def test_file_and_folders_are_private_C1(stage: Stage) -> None:
    await one_run(stage, stage.edit("Task", "x"), say("Done."))
    assert stat.S_IMODE(stage.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(stage.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(stage.path.parents[1].stat().st_mode) == 0o700
    assert [one.name for one in stage.path.parent.iterdir()] == ["summary.md"]
    assert tree(stage.world.memory.directory) == {}


async def test_nothing_to_add_is_a_success_and_the_empty_template_no_summary_C3_C4(stage: Stage) -> None:
    notes, model = await one_run(stage, say("Nothing to add."))
    assert stage.path.read_text() == OURS.text
    assert notes.upto == fork_of(model).messages[-2].id
    assert notes.summary() is None


async def test_the_limit_of_turns_is_a_success_C3(stage: Stage) -> None:
    notes, model = await one_run(
        stage, stage.edit("Task", "a"), stage.edit("Log", "b"), stage.edit("Files", "c")
    )
    assert notes.upto is not None
    assert stage.path.read_text() == filled(Task="a", Log="b", Files="c")
    model.assert_exhausted()


async def test_a_second_edit_sees_the_first_C3(stage: Stage) -> None:
    await one_run(stage, [stage.edit("Task", "a"), stage.edit("Task", "b", before="a")], say("Done."))
    assert stage.path.read_text() == filled(Task="b")


async def test_between_two_tool_calls_the_fork_begins_behind_the_results_C2_C3(stage: Stage) -> None:
    stage.world.file("a.txt", "word word word word word word word\n" * 900)
    notes = stage.notes(first=1_500)
    read = call("Read", file_path=str(stage.world.root / "a.txt"))
    agent, model = stage.host(notes, [read, say("It is long.")])
    model.when(is_fork, stage.edit("Task", "Read a.txt."), say("Done."))
    await agent.run("Read a.txt.")
    await notes.settle(10)
    before = fork_of(model).messages[-2]
    assert before.origin == "tool"
    assert notes.upto == before.id
    assert agent.messages[-1].id != before.id


async def test_the_host_goes_on_meanwhile_C3(stage: Stage) -> None:
    go_on = anyio.Event()

    async def slow(request: Request) -> Line:
        await go_on.wait()
        return stage.edit("Task", "a")

    notes = stage.notes(grown=10**9, calls=10**9)
    agent, model = stage.host(notes, [say("One."), say("Two.")])
    model.when(is_fork, slow, say("Done."))
    await agent.run(LONG)
    snapshot = tuple(agent.messages)
    await agent.run("And another thing: " + LONG)
    assert notes.is_running
    assert not await notes.settle(0)
    go_on.set()
    assert await notes.settle(10)
    assert fork_of(model).messages[:-1] == snapshot
    assert notes.upto == snapshot[-1].id


async def test_the_next_run_sees_what_was_changed_by_hand_between_C3(stage: Stage) -> None:
    notes, model, agent = await begun(stage, stage.edit("Task", "a"), say("Done."))
    stage.path.write_bytes(filled(Task="by hand <summary>").replace("\n", "\r\n").encode())
    edit = stage.edit("Task", "both", before="by hand ‹summary>")
    await another(agent, notes, model, edit, say("Done."))
    assert "by hand ‹summary>" in fork_of(model).messages[-1].text
    assert stage.path.read_text() == filled(Task="both")
    assert len(stage.noted) == 2


async def test_notes_that_were_removed_begin_with_the_template_again_C3(stage: Stage) -> None:
    notes, model, agent = await begun(stage, stage.edit("Task", "a"), say("Done."))
    stage.path.unlink()
    assert notes.summary() is None
    await another(agent, notes, model, stage.edit("Task", "anew"), say("Done."))
    assert stage.path.read_text() == filled(Task="anew")


async def test_a_section_over_its_size_is_named_the_next_time_C1(stage: Stage) -> None:
    long = "\n".join(f"- step {number} of many that were taken" for number in range(400))
    notes, model, agent = await begun(stage, stage.edit("Log", long), say("Done."))
    assert stage.told("noted")[0].fields["over"] == 1
    summary = notes.summary()
    assert summary is not None
    assert all(one.tokens <= SECTION for one in sections(summary.text))
    assert "lines left out here" in summary.text
    await another(agent, notes, model, say("Nothing to add."))
    assert "- `Log`: about" in fork_of(model).messages[-1].text
    assert stage.path.read_text() == filled(Log=long), "the file itself is only cut where it is used"


async def test_the_persons_template_and_words_are_used_C1(stage: Stage, tmp_path: Path) -> None:
    own = tmp_path / "base" / "session-memory"
    own.mkdir(parents=True)
    (own / "template.md").write_text("# Aim\nWhat it is about\n")
    (own / "prompt.md").write_text("This message is not from me. $notes in $path for $5")
    edit = call(
        "Edit", file_path=str(stage.path), old_string="it is about", new_string="it is about\n\nMerge."
    )
    notes, model = await one_run(stage, edit, say("Ok."), template=Template.load(tmp_path / "base"))
    said = fork_of(model).messages[-1].text
    assert f"# Aim\nWhat it is about in {stage.path} for $5" in said
    assert stage.path.read_text() == "# Aim\nWhat it is about\n\nMerge.\n"
    assert notes.summary() is not None


async def test_another_model_may_do_it_C3(stage: Stage) -> None:
    other = ScriptedModel([stage.edit("Task", "a"), say("Done.")], name="scripted:other")
    notes, model = await one_run(stage, model=other)
    assert notes.upto is not None
    other.assert_exhausted()
    assert not any(map(is_fork, model.requests))


# -- when ----------------------------------------------------------------------------------------------------


async def test_a_short_conversation_has_no_notes_C2(stage: Stage) -> None:
    notes = stage.notes(first=10_000)
    agent, model = stage.host(notes, [say("Hi.")])
    await agent.run("Hello")
    assert await notes.settle(0)
    assert not stage.path.exists()
    assert len(model.requests) == 1
    assert (notes.summary(), notes.upto) == (None, None)


async def test_a_background_jobs_own_steps_make_no_notes_C2(stage: Stage) -> None:
    notes = stage.notes()
    agent, _ = stage.host(notes, [say("Hi.")], label="extract")
    await agent.run(LONG)
    assert await notes.settle(0)
    assert not stage.path.exists()


async def test_a_resumed_session_counts_from_where_its_notes_reach_C2(stage: Stage) -> None:
    _, model = await one_run(stage, stage.edit("Task", "a"), say("Done."))
    messages = [*fork_of(model).messages[:-1]]
    resumed = stage.notes(grown=600, summarised=messages[-1].id)
    agent, other = stage.host(resumed, [say("One."), say("Two.")], messages=[*messages])
    other.when(is_fork, say("Nothing to add."))
    await agent.run("short")
    assert await resumed.settle(0)
    assert not any(map(is_fork, other.requests))
    assert resumed.upto == messages[-1].id
    await agent.run(LONG + LONG)
    assert await resumed.settle(10)
    assert resumed.upto == agent.messages[-1].id


# -- a run that fails ----------------------------------------------------------------------------------------


def busy() -> ModelOverloaded:
    return ModelOverloaded("scripted:model is overloaded", hint="try again later")


async def assert_failed(stage: Stage, notes: Notes, text: str = OURS.text) -> None:
    assert stage.path.read_text() == text
    assert (notes.upto, stage.noted) == (None, [])
    (event,) = stage.told("failed")
    assert event.fields["where"] == "session memory"


async def test_a_model_that_fails_leaves_the_file_as_it_was_C3(stage: Stage) -> None:
    notes, _ = await one_run(stage, stage.edit("Task", "half of it"), busy())
    await assert_failed(stage, notes)
    assert notes.summary() is None


async def test_after_a_failure_it_waits_until_the_conversation_has_grown_C2(stage: Stage) -> None:
    notes = stage.notes(grown=1_000)
    agent, model = stage.host(notes, [say("One."), say("Two."), say("Three.")])
    model.when(is_fork, busy(), stage.edit("Task", "a"), say("Done."))
    await agent.run(LONG)
    await notes.settle(10)
    await agent.run("short")
    assert await notes.settle(0)
    assert len([one for one in model.requests if is_fork(one)]) == 1
    await agent.run(LONG + LONG)
    await notes.settle(10)
    assert stage.path.read_text() == filled(Task="a")


async def test_broken_off_the_file_is_as_it_was_C3(stage: Stage) -> None:
    asked = anyio.Event()

    async def hang(request: Request) -> Line:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    notes = stage.notes()
    agent, model = stage.host(notes, [say("One."), say("Two.")])
    model.when(is_fork, stage.edit("Task", "half of it"), hang)
    await agent.run(LONG)
    with anyio.fail_after(10):
        await asked.wait()
        assert stage.path.read_text() == filled(Task="half of it")
        assert not await notes.drain(0)
    assert stage.path.read_text() == OURS.text
    assert (notes.upto, notes.is_running, stage.noted) == (None, False, [])
    assert await notes.drain(0)
    assert (await agent.run("Still there?")).text == "Two."


@pytest.mark.parametrize(
    ("bad", "denied"),
    [
        (call("Edit", file_path="@", old_string="# Task\n", new_string=""), 1),
        (call("Edit", file_path="@", old_string=guidance("Task"), new_string=f"token {TOKEN}"), 1),
        (call("Write", file_path="@", content="all new"), 1),
        (call("Read", file_path="@"), 1),
        (call("Bash", command="rm -rf ."), 1),
        (call("Edit", file_path="@/../other.md", old_string="x", new_string="y"), 1),
        (call("Edit", file_path="@", old_string="not there", new_string="y"), 0),
        (call("Nothing", file_path="@"), 0),
    ],
)
async def test_a_model_that_only_tries_what_it_may_not_has_failed_C3(
    stage: Stage, bad: Any, denied: int
) -> None:
    given = {
        key: str(stage.path) + value[1:] if value[:1] == "@" else value for key, value in bad.input.items()
    }
    notes, _ = await one_run(stage, call(bad.name, **given), say("Nothing to add."))
    await assert_failed(stage, notes)
    assert stage.told("forked")[0].fields["denied"] == denied
    assert TOKEN not in repr(stage.world.told)


async def test_what_is_denied_does_not_spoil_the_rest_C3_E10(stage: Stage) -> None:
    edits = [stage.edit("Task", f"token {TOKEN}"), stage.edit("Log", "- got a token")]
    notes, model = await one_run(stage, edits, say("Done."))
    assert stage.path.read_text() == filled(Log="- got a token")
    assert notes.upto is not None
    results = [block for block in model.requests[-1].messages[-1].content if isinstance(block, ToolResult)]
    assert "what looks like a secret" in results[0].content
    assert [one.is_error for one in results] == [True, False]


async def test_words_instead_of_edits_of_a_model_that_calls_no_tools_are_no_notes_C3(stage: Stage) -> None:
    notes = stage.notes()
    agent, model = stage.host(notes, [say("Understood.")])
    model.calls_tools = False
    model.when(is_fork, say("I have noted it."))
    await agent.run(LONG)
    await notes.settle(10)
    (event,) = stage.told("degraded")
    assert event.fields["error"] == "ToolsIgnored"


@pytest.mark.parametrize("words", ["Done.", "I updated all sections.", "", filled(Task="Nothing yet, but b")])
async def test_words_instead_of_edits_are_no_notes_and_reach_no_further_C3(stage: Stage, words: str) -> None:
    notes, model, agent = await begun(stage, stage.edit("Task", "a"), say("Done."))
    upto = notes.upto
    await another(agent, notes, model, say(words))
    assert notes.upto == upto
    assert [event.fields["error"] for event in stage.told("failed")] == ["BadReply"]
    assert stage.path.read_text() == filled(Task="a")


async def test_who_was_asked_in_other_words_may_answer_in_others_C1(stage: Stage) -> None:
    template = replace(OURS, prompt="This message is not from a person. $notes $path $oversize")
    notes, _ = await one_run(stage, say("Nichts Neues."), template=template)
    assert notes.upto is not None


async def test_a_killed_process_leaves_no_notes_that_stay_unusable_C3(stage: Stage) -> None:
    notes, model, agent = await begun(stage, stage.edit("Task", "<user " * 10_000), say("Done."))
    assert notes.upto is None
    await another(agent, notes, model, [stage.edit("Log", "a\0b"), stage.edit("Task", "b")], say("Done."))
    assert stage.path.read_text() == filled(Task="b")
    assert notes.upto == agent.messages[-1].id


async def test_a_person_who_edits_during_a_run_is_not_overwritten_C3(stage: Stage) -> None:
    def by_hand(request: Request) -> Line:
        stage.path.write_text(filled(Task="by hand"))
        return [stage.edit("Log", "by the fork"), stage.edit("Task", "too", before="by hand")]

    notes, _ = await one_run(stage, stage.edit("Files", "a.py"), by_hand, say("Well."))
    await assert_failed(stage, notes, filled(Task="by hand"))
    summary = notes.summary()
    assert summary is not None
    assert summary.upto is None


async def test_a_link_put_in_its_place_during_a_run_is_not_followed_C3(stage: Stage, tmp_path: Path) -> None:
    target = tmp_path / "bashrc"
    target.write_text(OURS.text)

    def swap(request: Request) -> Line:
        stage.path.unlink()
        stage.path.symlink_to(target)
        return stage.edit("Task", "evil")

    notes, _ = await one_run(stage, swap, say("Well."))
    assert target.read_text() == OURS.text
    assert notes.upto is None
    assert notes.summary() is None


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.symlink_to("/etc/hosts"),
        lambda path: path.mkdir(),
        os.mkfifo,
        lambda path: path.write_bytes(b"\0" * 100),
        lambda path: path.write_bytes(b"x" * (LIMIT + 1)),
    ],
)
async def test_what_is_no_notes_is_told_and_left_alone_C1(stage: Stage, make: Callable[[Path], Any]) -> None:
    stage.path.parent.mkdir(parents=True)
    make(stage.path)
    before = stage.path.lstat()
    notes, model = await one_run(stage)
    assert not any(map(is_fork, model.requests))
    assert stage.path.lstat() == before
    assert len(stage.told("failed")) == 1
    assert (notes.summary(), notes.upto) == (None, None)


async def test_a_link_among_the_folders_is_not_followed_C1(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    stage.path.parents[1].mkdir(parents=True)
    stage.path.parent.symlink_to(tmp_path / "elsewhere")
    await one_run(stage)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert len(stage.told("failed")) == 1


async def test_the_transcript_folder_may_be_a_link_C1(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "transcripts").symlink_to(tmp_path / "real")
    real = tmp_path / "real" / "session-1" / "session-memory" / "summary.md"
    edit = call(
        "Edit", file_path=str(stage.path), old_string=guidance("Task"), new_string=guidance("Task") + "\na"
    )
    notes, _ = await one_run(stage, edit, say("Done."))
    assert real.read_text() == filled(Task="a")
    assert notes.upto is not None


async def test_a_listener_that_fails_costs_no_notes_C3(stage: Stage) -> None:
    def full(upto: str, digest: str) -> None:
        raise OSError(28, "No space left on device")

    notes = stage.notes()
    notes._on_noted = full
    agent, model = stage.host(notes, [say("Understood.")])
    model.when(is_fork, stage.edit("Task", "a"), say("Done."))
    await agent.run(LONG)
    await notes.settle(10)
    assert stage.path.read_text() == filled(Task="a")
    assert notes.upto == agent.messages[-1].id
    assert stage.told("failed")[0].fields["why"] == "No space left on device"


# -- budgets, windows, rules ---------------------------------------------------------------------------------


async def test_over_the_budget_it_waits_and_says_so_once_H3(stage: Stage) -> None:
    notes = stage.notes()
    agent, model = stage.host(notes, [say("One."), say("Two."), say("Three.")])
    model.when(is_fork, OverBudget("used up"), OverBudget("used up"), stage.edit("Task", "a"), say("Done."))
    for _ in range(3):
        await agent.run(LONG)
        await notes.settle(10)
    assert len(stage.told("waiting")) == 1
    assert stage.told("failed") == []
    assert stage.path.read_text() == filled(Task="a")
    await another(agent, notes, model, OverBudget("used up"))
    assert len(stage.told("waiting")) == 2, "another day"


async def test_in_a_small_window_the_fork_sees_what_is_new_C3(stage: Stage) -> None:
    notes = stage.notes(grown=10**9, calls=10**9)
    agent, model = stage.host(notes, [say("One."), say("Two.")])
    model.window = 22_400
    model.when(is_fork, stage.edit("Task", "a"), say("Done."))
    notes._thresholds = type(notes._thresholds)(first=15_000)
    for words in (LONG * 14, LONG * 13):
        await agent.run(words)
    await notes.settle(10)
    messages = fork_of(model).messages
    assert messages[0].text.startswith("[The first message of the conversation is left out")
    assert messages[1:-1] == tuple(agent.messages[1:])
    assert notes.upto == agent.messages[-1].id


SAID = "We decided to use pnpm instead of npm, because it is faster. "


async def local_run(stage: Stage, words: str, *failures: ModelError, **more: Any) -> Notes:
    notes = stage.notes(**more)
    agent, model = stage.host(notes, [say("Understood.")])
    model.when(is_fork, *failures)
    await agent.run(words)
    assert await notes.settle(10)
    return notes


async def test_the_embedded_default_writes_notes_by_rules_C3(stage: Stage) -> None:
    notes = await local_run(stage, SAID + LONG, model=Local())
    assert "pnpm" in stage.path.read_text()
    assert notes.upto is not None
    assert stage.told("noted")[0].fields["how"] == "rules"
    assert stage.told("degraded") == []
    assert stat.S_IMODE(stage.path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("error", "lasting"),
    [(KeyRefused("refused", hint="check it"), True), (ContextTooLong("too long"), False)],
)
async def test_a_model_that_fails_for_good_leaves_it_to_the_rules_C3(
    stage: Stage, error: ModelError, lasting: bool
) -> None:
    notes = await local_run(stage, SAID + LONG, error)
    assert "pnpm" in stage.path.read_text()
    assert notes.upto is not None
    (event,) = stage.told("degraded")
    assert (event.fields["job"], event.fields["lasting"]) == ("session memory", lasting)


async def test_rules_keep_what_others_wrote_and_say_what_came_since_C3(stage: Stage) -> None:
    stage.path.parent.mkdir(parents=True)
    stage.path.write_text(filled(Task="by hand"))
    notes = stage.notes(model=Local())
    agent, _ = stage.host(notes, [say("One."), say("Two.")])
    for words in (SAID + LONG, "Never merge on Fridays, please. " + LONG):
        await agent.run(words)
        assert await notes.settle(10)
    text = stage.path.read_text()
    assert text.startswith(filled(Task="by hand").strip())
    assert text.count("# Since then") == 1
    assert "pnpm" in text.split("# Since then")[1]


async def test_what_a_model_makes_of_the_notes_of_rules_is_no_news_to_who_has_read_them_E8(
    stage: Stage,
) -> None:
    await local_run(stage, SAID + LONG, model=Local())
    written = stage.path.read_text()
    assert written.startswith(FIRST_LINE)
    notes = stage.notes()
    agent, model = stage.host(notes, [call("Read", file_path=str(stage.path)), say("Understood.")])
    heading = next(line for line in written.splitlines() if line.startswith("# "))
    edit = call("Edit", file_path=str(stage.path), old_string=heading, new_string=f"{heading}\nby a model")
    model.when(is_fork, edit, say("Done."), edit, say("Done."))
    await agent.run(LONG)
    assert await notes.settle(10)
    assert "by a model" in stage.path.read_text()
    assert not stage.path.read_text().startswith(FIRST_LINE)
    model.add(say("Yes."))
    await agent.run("Are you there?")
    assert not any((message.attachment or {}).get("kind") == "changed_file" for message in agent.messages)


async def test_a_run_counts_what_is_new_from_a_message_that_was_cut_C3(stage: Stage) -> None:
    """What the notes cover stays covered: only what came since, and a little before it, is sent."""
    notes, _, agent = await begun(stage, stage.edit("Task", "a"), say("Done."))
    cut = replace(agent.messages[-1], id="a-copy", attachment={"cut_from": notes.upto})
    assert notes._place([*agent.messages[:-1], cut]) == len(agent.messages)


async def test_rules_leave_secrets_out_E10(stage: Stage) -> None:
    await local_run(stage, f"We decided to use the token {TOKEN} for npm. {SAID}{LONG}", model=Local())
    assert TOKEN not in stage.path.read_text()


async def test_nothing_is_started_by_a_summary_or_a_wait_C4(stage: Stage) -> None:
    notes = stage.notes()
    waits: list[Awaitable[bool]] = [notes.settle(0), notes.drain(0)]
    assert [await one for one in waits] == [True, True]
    assert notes.summary() is None
    assert not stage.path.parent.exists()
