"""Long conversations in the real runtime: within the window, nothing forgotten, nothing paid twice, taken up
again as they were (C4, A1, A4, I6).

A fixed sample; the full length runs in `make bench-long`, and with kills in `make stress`.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memdir import app
from memdir.agent.attachments import attached
from memdir.agent.events import COMPACTED, DEGRADED, RECALLED
from memdir.agent.file_state import FileState
from memdir.agent.loop import Agent, Hooks
from memdir.agent.transcript import read
from memdir.errors import Conflict, ContextTooLong
from memdir.memory import topic
from memdir.model.anthropic import wire
from memdir.model.messages import Message, Request
from memdir.session.compact import Compactor
from memdir.session.notes import Summary
from memdir.session.plan import Limits
from memdir.session.sections import TOTAL, Template
from memdir.testing import say
from tests.agent.world import NOW, World, world_in
from tests.session.random_talk import histories
from tests.session.support import LONG, filled, is_fork
from tests.session.support import Stage as Desk
from tests.story.long import model, script
from tests.story.long.stage import BEGAN, Stage, allowed, scripted
from tests.story.long.witness import Witness, digest
from tests.wire.rules import objection

pytestmark = pytest.mark.anyio


# ── within the window, and nothing forgotten ───────────────────────────────────────────────────────────


@pytest.mark.parametrize(("turns", "by_rules"), [(90, False), (60, True)], ids=["by a model", "by rules"])
async def test_a_long_session_fits_its_window_and_forgets_nothing_C4(
    tmp_path: Path, turns: int, by_rules: bool
) -> None:
    """By the server's own count, with room for the answer; it refuses a call without its result."""
    every = {"FEATURES_EXTRACT_EVERY_TURNS": "4"}
    with Stage(folder=tmp_path, turns=turns, window=40_000, settings=every, by_rules=by_rules) as stage:
        await stage.play()
    assert {seen.status for seen in stage.seen} == {200}
    assert max(one.tokens + one.answer for one in stage.requests) <= stage.window
    assert len(stage.of(COMPACTED)) >= turns // 20
    assert {event.fields["how"] for event in stage.of(COMPACTED)} == {"notes"}
    assert (stage.failed, stage.of(DEGRADED)) == ([], [])
    text, facts = stage.standing(), script.facts(turns)
    gone = {one.turn for one in facts if not one.stands_in(text)} | {one.turn for _, one in stage.lost}
    assert len(gone) <= (len(facts) // 5 if by_rules else 0)  # an honest model forgets nothing


@pytest.mark.parametrize("provider", ["openai", "openai-compatible"])
async def test_other_formats_are_no_different_C4(tmp_path: Path, provider: str) -> None:
    """Each server refuses what its format does not allow, a call without its result above all."""
    every = {"FEATURES_EXTRACT_EVERY_TURNS": "9"}
    with Stage(folder=tmp_path, turns=22, window=34_000, settings=every, provider=provider) as stage:
        await stage.play()
    assert {seen.status for seen in stage.seen} == {200}
    assert len(stage.of(COMPACTED)) >= 1
    assert (stage.failed, stage.of(DEGRADED), stage.lost) == ([], [], [])


async def test_a_small_window_has_room_for_all_that_matters_C4(tmp_path: Path) -> None:
    """Notes are told to be as short as a small window wants them: what is cut from them would be lost."""
    alone = {"FEATURES_EXTRACT": "off"}
    with Stage(folder=tmp_path, turns=45, window=28_000, settings=alone) as stage:
        await stage.play()
    refused = [one for one in stage.requests if one.tokens + one.answer > stage.window]
    assert len(refused) <= 2
    assert (stage.failed, stage.of(DEGRADED), stage.lost) == ([], [], [])


async def test_a_window_that_is_smaller_than_was_said_is_learned_C4(tmp_path: Path) -> None:
    """Each refusal makes the conversation shorter, and there are few of them."""
    alone = {"FEATURES_EXTRACT": "off"}
    with Stage(folder=tmp_path, turns=45, window=60_000, served=36_000, settings=alone) as stage:
        await stage.play()
    refused = [one for one in stage.requests if one.tokens + one.answer > 36_000]
    assert 1 <= len([one for one in refused if one.job == "host"]) <= 4
    assert (stage.failed, stage.lost) == ([], [])
    assert all(int(event.fields["before"] or 0) > 24_000 for event in stage.of(COMPACTED))  # of 27,800


@pytest.mark.parametrize("is_learned", [False, True])
async def test_notes_are_told_how_much_a_small_window_takes_over_C1(tmp_path: Path, is_learned: bool) -> None:
    path = tmp_path / "transcripts" / "session-1" / "session-memory" / "summary.md"
    async with anyio.create_task_group() as tasks:
        desk = Desk(world=world_in(tmp_path), tasks=tasks, path=path)
        notes = desk.notes()
        agent, client = desk.host(notes, [say("One.")])
        if is_learned:
            agent.most = 24_000
        else:
            client.window = 24_000
        client.when(is_fork, desk.edit("Task", "a"), say("Done."))
        await agent.run(LONG)
        assert await notes.settle(10)
    taken = Limits(window=24_000, answer=agent.prefix.max_tokens).summary()
    told = next(request.messages[-1].text for request in client.requests if is_fork(request))
    assert f"all of it for {taken:,}." in told
    assert taken < TOTAL // 2


async def test_edits_count_though_there_is_no_room_for_the_closing_word_C3(tmp_path: Path) -> None:
    path = tmp_path / "transcripts" / "session-1" / "session-memory" / "summary.md"
    async with anyio.create_task_group() as tasks:
        desk = Desk(world=world_in(tmp_path), tasks=tasks, path=path)
        notes = desk.notes()
        agent, client = desk.host(notes, [say("One.")])
        client.when(is_fork, desk.edit("Task", "a"), ContextTooLong("too long"))
        await agent.run(LONG)
        assert await notes.settle(10)
    assert path.read_text() == filled(Task="a")
    assert notes.upto == agent.messages[-1].id
    assert (desk.told("degraded"), desk.told("failed")) == ([], [])


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(messages=histories(turns=12), window=st.integers(9_000, 30_000), noted=st.floats(0, 1))
def test_no_call_loses_its_result_C4(
    messages: list[Message], window: int, noted: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever was said, wherever the notes reach, each request is one that a service takes."""
    world = world_in(tmp_path_factory.mktemp("world"))
    anyio.run(_goes_on, world, messages, window, noted)


async def _goes_on(world: World, messages: list[Message], window: int, noted: float) -> None:
    agent, client = world.agent([say("Yes.")] * 2, messages=list(messages))
    client.when(lambda request: request.messages[-1].origin == "system", *[say("# Task\n\nBuild.")] * 9)
    upto = messages[int(noted * (len(messages) - 1))].id if messages else None
    compactor = Compactor(notes=_Kept(upto), fresh=_fresh, template=Template.default(), events=agent.events)
    agent.hooks = Hooks(make_room=compactor.make_room)
    for less in (1, 2):
        client.window = window // less
        await agent.run("Are you there?")
    for request in client.requests:
        assert objection(wire.body(request, model="m")) is None
    ids = [message.id for message in agent.messages]
    assert len(ids) == len(set(ids))
    assert set(ids) <= {message.id for message in agent.record}


def _fresh(files: FileState) -> list[Message]:
    return [attached("the instructions as they are now", {"kind": "context"}, now=NOW)]


class _Kept:
    """Notes that reach as far as a test wants."""

    def __init__(self, upto: str | None) -> None:
        self._upto = upto

    async def settle(self, seconds: float) -> bool:
        return True

    def summary(self) -> Summary | None:
        return Summary(text="# Task\n\nBuild the shop.\n", upto=self._upto) if self._upto else None


# ── nothing paid twice ─────────────────────────────────────────────────────────────────────────────────

MIDNIGHT = 129
"""The first turn of the second day."""


def edited(stage: Stage) -> Callable[[int], None]:
    """The person's edits by hand, before some turns: of memories, of their index, and of instructions."""

    def edit(turn: int) -> None:
        if turn % 9 == 0:
            with (stage.memory / "project_lanes.md").open("a") as file:
                file.write(f"Lane {turn} is closed for parcel crates.\n")
        if turn % 13 == 0:
            with (stage.place / "CLAUDE.md").open("a") as file:
                file.write(f"Rule {turn}: no tabs.\n")
        if turn % 17 == 0:
            with (stage.memory / "MEMORY.md").open("a") as file:
                file.write(f"- [Gate {turn}](project_gate_{turn}.md) — where gate {turn} is\n")
            about = f"Gate {turn} of the sorter belt"
            text = topic.render(name=f"Gate {turn}", description=about, type="project", body=f"{about}.\n")
            (stage.memory / f"project_gate_{turn}.md").write_text(text)

    return edit


async def test_what_was_sent_stays_as_it_was_sent_A4_I6(tmp_path: Path) -> None:
    """200 turns with a midnight, edits by hand, recalls and extractions: system prompt and tools never
    change, and each request begins with the one before it, but for the one behind a compaction.
    """
    client, seldom = scripted(60_000), {"FEATURES_EXTRACT_EVERY_TURNS": "8", "SESSION_TOOL_CALLS": "9"}
    stage = Stage(folder=tmp_path, turns=200, window=60_000, in_process=client, settings=seldom)
    stage.before = edited(stage)
    stage.memory.mkdir(parents=True)
    for name in ("lanes", *script.WORDS[:12]):
        about = f"How we name the {name} of the sorter in code"
        text = topic.render(name=name, description=about, type="project", body=f"{about}: as it is.\n")
        (stage.memory / f"project_{name}.md").write_text(text)
    await stage.play()

    assert stage.now().date() > BEGAN.date()
    assert sum(int(event.fields["files"] or 0) for event in stage.of(RECALLED)) > 2
    assert (stage.failed, len(stage.of(COMPACTED)) >= 1) == ([], True)
    hosts: list[list[Any]] = [[]]
    prefixes, breaks, trimmed = set[str](), 0, 0
    for request in client.requests:
        body = wire.body(replace(request, cache=False), model="m")
        assert objection(body) is None
        sent = body.pop("messages")
        prefixes.add(json.dumps(body))
        if model.heard(request).job == "host":
            if sent[: len(hosts[-1])] != hosts[-1]:
                breaks += 1
                assert is_cut(request), "only a compaction begins anew"
            hosts.append(sent)
        elif not any(sent[: len(host)] == host for host in hosts[:0:-1]):
            trimmed += 1
            assert sent[0]["content"][0]["text"].startswith("[The first"), "only a lack of room parts a fork"
    assert breaks == len(stage.of(COMPACTED))
    assert len(prefixes) == 1
    assert trimmed <= 2 * breaks  # requests of a run of the notes, right before the conversation is cut


def is_cut(request: Request) -> bool:
    """Whether it is the first request behind a compaction."""
    kinds = [(message.attachment or {}).get("kind") for message in request.messages]
    return "compaction" in kinds


# ── taken up again ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("at", [13, 18, 24])
async def test_taken_up_again_it_sends_what_it_would_have_sent_A1(tmp_path: Path, at: int) -> None:
    """Two futures of one moment: the process lives on, or another one takes the conversation up."""
    client, kept = scripted(28_000), tmp_path / "kept"
    quiet = {"FEATURES_RECALL": "off", "FEATURES_EXTRACT": "off"}
    folder = tmp_path / "world"
    stage = Stage(
        folder=folder, turns=at + 1, window=client.window, in_process=client, settings=quiet, hurry=0
    )
    asked: list[int] = []
    knew: list[Any] = []

    async def keep(conversation: app.Conversation, turn: int) -> None:
        if turn == at:
            shutil.copytree(folder, kept, symlinks=True)
            asked.append(len(client.requests))
            knew.append(known(conversation.agent))

    stage.after = keep
    await stage.play()
    lived = client.requests[asked[0]]
    assert stage.conversation is not None
    session = stage.conversation.agent.id

    shutil.rmtree(folder)
    kept.rename(folder)
    again, transcript = len(client.requests), stage.project.places.transcripts / f"{session}.jsonl"
    async with app.running(stage.project, models=stage.models()) as runtime:
        conversation = stage.conversation = await runtime.start(resume=transcript, ask=allowed)
        assert known(conversation.agent) == knew[0]
        await stage.take(runtime, conversation, at + 1)
    resumed = client.requests[again]
    assert wire.body(resumed, model="m") == wire.body(lived, model="m")


def known(agent: Agent) -> tuple[Any, ...]:
    """All that a conversation is made of."""
    files = {path: (seen.digest, seen.partial, seen.how, seen.data or b"") for path, seen in agent.files}
    return list(agent.messages), list(agent.record), files, agent.prefix


async def test_wherever_its_transcript_ends_it_is_what_it_was_then_A1(tmp_path: Path) -> None:
    """Of a session with compactions and notes, cut off at any record or within it, the reader gives what
    the conversation consisted of when the last whole record was written.
    """
    client = scripted(28_000)
    stage = Stage(folder=tmp_path, turns=30, window=client.window, in_process=client)
    witness = Witness(tmp_path / "witness")
    with witness.watching():
        await stage.play()
    assert stage.conversation is not None
    path = stage.project.places.transcripts / f"{stage.conversation.agent.id}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    chance, cut = random.Random(1), tmp_path / f"{stage.conversation.agent.id}.jsonl"
    marks = [at for at, line in enumerate(lines, 1) if b'"type":"compaction"' in line]
    assert len(marks) > 1
    for at in {*marks, *(mark - 1 for mark in marks), *chance.sample(range(2, len(lines)), 30)}:
        torn = lines[at] if at < len(lines) else b""
        cut.write_bytes(b"".join(lines[:at]) + torn[: chance.randrange(max(len(torn) - 1, 1))])
        found, then = read(cut), witness.of(json.loads(lines[at - 1])["uuid"])
        assert tuple(map(digest, found.context)) == then.messages
        assert found.noted == then.noted


async def test_nobody_takes_up_what_is_under_way_and_twice_is_like_once_A1(tmp_path: Path) -> None:
    client = scripted(28_000)
    stage = Stage(folder=tmp_path, turns=12, window=client.window, in_process=client)

    async def refused(conversation: app.Conversation, turn: int) -> None:
        if turn == 12:
            assert conversation.agent.transcript is not None
            async with app.running(stage.project, models=stage.models()) as other:
                with pytest.raises(Conflict):
                    await other.start(resume=conversation.agent.transcript.path)

    stage.after = refused
    await stage.play()
    assert stage.conversation is not None
    path = stage.project.places.transcripts / f"{stage.conversation.agent.id}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if b'"tool_use"' in line and b'"type":"assistant"' in line)
    path.write_bytes(b"".join(lines[: last + 1]))  # killed while a tool ran
    contexts, sizes = list[Sequence[Message]](), list[int]()
    for _ in range(3):
        async with app.running(stage.project, models=stage.models()) as runtime:
            contexts.append(tuple((await runtime.start(resume=path)).agent.messages))
        sizes.append(path.stat().st_size)
    assert contexts[0] == contexts[1] == contexts[2]
    assert sizes[0] > sum(map(len, lines[: last + 1]))  # the call was answered, once
    assert sizes[0] == sizes[1] == sizes[2]
