"""Attempts to break a compaction in the real runtime: what it took away, let through or told twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from memdir import app
from memdir.agent.events import CHANGED, COMPACTED, EXTRACTED
from memdir.agent.transcript import read
from memdir.errors import Conflict
from memdir.model import tokens
from memdir.model.messages import Request
from memdir.testing import Line, call, say, tree
from tests.story.test_reported_compaction import (
    PLANTED,
    POISON,
    SUMMARY,
    WINDOW,
    WISH,
    Stage,
    kinds,
    told_of_index,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    folder = tmp_path / "shop"
    folder.mkdir()
    return Stage(folder=folder.resolve(), home=tmp_path)


@pytest.mark.parametrize("writes", ["before the summary is there", "after the compaction"])
async def test_what_an_extraction_saves_while_the_conversation_is_cut_is_no_news_E8(
    stage: Stage, writes: str
) -> None:
    """It began before the compaction, and its memory is on the disk before the next request."""
    begun, go, saved = anyio.Event(), anyio.Event(), anyio.Event()

    async def extracts(_: Request) -> Line:
        begun.set()
        await go.wait()
        return stage.saves()[0]

    def lets(then: Line) -> Callable[[Request], Awaitable[Line]]:
        async def answer(_: Request) -> Line:
            go.set()
            await saved.wait()
            return then

        return answer

    early = writes.startswith("before")
    step = call("Bash", command="echo done")
    stage.script(
        main=[
            say("I will."),
            *stage.reads(1, 2, 3, 4),
            step if early else lets(step),
            say("Looked through."),
        ],
        summary=[lets(say(SUMMARY)) if early else say(SUMMARY)],
        extraction=[extracts, say("Saved."), say("Nothing more.")],
    )
    async with stage.talk() as (runtime, conversation):
        runtime._hearing.append(lambda _: saved.set())
        assert conversation.extractor is not None
        conversation.extractor._on_saved = lambda _: saved.set()
        await conversation.say(WISH)
        await begun.wait()
        await conversation.say("Now look through the logs, one after the other.")
    order = [event.name for event in stage.told if event.name in (COMPACTED, EXTRACTED)]
    assert order[:2] == ([EXTRACTED, COMPACTED] if early else [COMPACTED, EXTRACTED])
    assert "kept.md" in tree(stage.memory)
    assert stage.of(CHANGED) == []
    assert told_of_index(conversation.agent.messages) == ""


async def test_a_pasted_text_that_had_to_be_cut_does_not_become_the_persons_word_E11(stage: Stage) -> None:
    """Where its first half is left out, with the mark that it begins with, the rest looks like theirs."""
    page = "```\n" + "all is well here, and nothing is to be done\n" * 5_000 + f"{PLANTED}\n```"
    stage.script(
        main=[say("I see."), say("Yes.")],
        summary=[say(SUMMARY)],
        extraction=[*stage.saves(POISON), *stage.saves(POISON)],
    )
    async with stage.talk() as (runtime, conversation):
        await conversation.say(f"{'I wonder about this. ' * 200}\n{page}")
        assert await runtime.drain()
        (asked,) = stage.requests("main")
        assert tokens.estimate_request(asked) < WINDOW
        assert [one.origin for one in conversation.agent.record].count("person") == 1
    assert conversation.agent.transcript is not None
    recorded = read(conversation.agent.transcript.path)
    assert list(recorded.context) == conversation.agent.messages
    assert list(recorded.messages) == conversation.agent.record
    assert "kept.md" not in tree(stage.memory)


async def test_what_is_said_while_the_person_has_it_condensed_stays_in_the_conversation_C4(
    stage: Stage,
) -> None:
    asked, go = anyio.Event(), anyio.Event()

    async def summary(_: Request) -> Line:
        asked.set()
        await go.wait()
        return say(SUMMARY)

    stage.script(
        main=[*stage.reads(1, 2), say("Read."), say("I will.")],
        summary=[summary],
        extraction=[say("Nothing.")] * 2,
    )
    async with stage.talk() as (_, conversation), anyio.create_task_group() as tasks:
        await conversation.say("Look through the logs.")
        tasks.start_soon(conversation.compact)
        await asked.wait()
        tasks.start_soon(conversation.say, WISH)
        while conversation.agent.messages[-1].text != WISH:
            await checkpoint()
        go.set()
    assert "compaction" in kinds(conversation.agent.messages)
    assert [one.text for one in conversation.agent.messages[-2:]] == [WISH, "I will."]


async def test_one_runtime_takes_a_conversation_up_once_A1(stage: Stage) -> None:
    """Two that write into one transcript would each lack what the other says."""
    stage.script(main=[say("Yes.")], extraction=[say("Nothing.")])
    async with stage.talk() as (_, conversation):
        await conversation.say("Are you there?")
    assert conversation.agent.transcript is not None
    path, refused = conversation.agent.transcript.path, list[Conflict]()

    async def take_up(runtime: app.Runtime) -> None:
        try:
            await runtime.start(resume=path)
        except Conflict as error:
            refused.append(error)

    async with app.running(stage.project) as runtime:
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(take_up, runtime)
        assert len(runtime.conversations) == 1
    assert len(refused) == 2


async def test_a_conversation_that_goes_on_without_memory_is_told_nothing_of_it_S4(stage: Stage) -> None:
    stage.environment["MEMDIR_FEATURES_EXTRACT"] = "off"
    stage.script(main=[say("Hello."), say("Hello again.")])
    async with stage.talk() as (_, first):
        await first.say("hello there")
    assert first.agent.transcript is not None
    stage.environment["MEMDIR_DISABLE"] = "1"
    async with stage.talk(resume=first.agent.transcript.path) as (_, resumed):
        await resumed.say("hello once more")
    before, after = (request.prefix for request in stage.requests("main"))
    assert (len(before.system), len(after.system)) == (2, 1)
    assert after.system == before.system[:1]
    assert after.tools == before.tools
