"""The record of use beside a conversation (recall/recorder.py), alone and in a real one (app.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from memdir import app
from memdir.agent import attachments
from memdir.agent.events import RECALLED, Event, Events
from memdir.model.client import ModelClient
from memdir.model.jobs import Models
from memdir.model.local import Local
from memdir.model.messages import Message, assistant, person
from memdir.recall.aftermath import Outcome
from memdir.recall.recorder import Recorder
from memdir.recall.usage import Surfaced, Usage
from memdir.testing import ScriptedModel, call, say

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
OPENED, CITED, CORRECTED = Outcome(opened=True), Outcome(cited=True), Outcome(corrected=True)


# -- alone ---------------------------------------------------------------------------------------------------


class Scene:
    """A conversation with a recorder beside it, and all work done at the end of each call."""

    def __init__(self, path: Path, directory: Path) -> None:
        self.usage = Usage(str(path), patience=0.05)
        self.directory = directory.resolve()
        self.messages: list[Message] = []
        self.seen: list[Event] = []

    async def run(self, *steps: Callable[[Recorder], None]) -> None:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                recorder = Recorder(
                    self.usage,
                    session="s1",
                    directory=self.directory,
                    tasks=tasks,
                    events=Events(self.seen.append),
                )
                for step in steps:
                    step(recorder)
                tasks.cancel_scope.cancel()  # as at the end of a session: what was begun is finished

    def recall(self, recorder: Recorder, asked: Message, file: str) -> None:
        text = f"---\nname: {file}\n---\nNothing to quote.\n"
        found = attachments.relevant_memory(
            self.directory / file, text, size=len(text), cut=False, modified=NOW, now=NOW
        )
        self.messages += [asked, found]
        recorder.surfaced([file], message=asked, how="local", at=NOW)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "usage" / "shop.sqlite"


@pytest.fixture
def at(path: Path, tmp_path: Path) -> Scene:
    return Scene(path, tmp_path)


async def test_a_session_that_ends_at_once_has_noted_all_of_it_R10(at: Scene) -> None:
    def turn(recorder: Recorder) -> None:
        at.recall(recorder, person("how far does it lag?"), "replica_lag.md")
        at.messages.append(assistant("See replica_lag.md."))
        recorder.turn_over(at.messages)

    def another(recorder: Recorder) -> None:
        at.recall(recorder, person("That's wrong. Fix the ports"), "ports.md")
        recorder.turn_over(at.messages)

    await at.run(turn, another)
    (lag,), (ports,) = at.usage.of("replica_lag.md").surfaced, at.usage.of("ports.md").surfaced
    assert (lag.kind, lag.how, lag.outcome) == ("question", "local", CITED | CORRECTED)
    assert (ports.kind, ports.outcome) == ("change", Outcome())
    assert lag.turn == at.messages[0].id
    assert at.seen == []


async def test_what_a_background_job_rewrites_was_corrected_R10(at: Scene) -> None:
    await at.run(
        lambda recorder: at.recall(recorder, person("how far does it lag?"), "lag.md"),
        lambda recorder: recorder.changed(["lag.md", "other.md"]),
    )
    assert at.usage.of("lag.md").surfaced[0].outcome == CORRECTED
    assert set(at.usage.all()) == {"lag.md"}


async def test_what_was_surfaced_in_another_session_is_left_to_it_R10(at: Scene) -> None:
    asked = person("how far does it lag?")
    at.usage.surfaced(["replica_lag.md"], session="s0", turn_id=asked.id, kind="other", at=NOW, how="local")

    def resumed(recorder: Recorder) -> None:
        at.recall(recorder, person("and the ports?"), "ports.md")
        at.messages[:0] = [asked, assistant("See replica_lag.md.")]
        recorder.turn_over(at.messages)
        recorder.changed(["replica_lag.md"])

    await at.run(resumed)
    assert at.usage.of("replica_lag.md").surfaced[0].outcome == Outcome()


async def test_a_conversation_without_memories_makes_no_table_R10(at: Scene, path: Path) -> None:
    at.messages = [person("hello"), assistant("Hello.")]
    await at.run(lambda recorder: recorder.turn_over(at.messages))
    assert not path.exists()


async def test_what_fails_is_one_event_and_the_turn_goes_on_R10(at: Scene, path: Path) -> None:
    path.mkdir(parents=True)

    def turn(recorder: Recorder) -> None:
        at.recall(recorder, person("how far does it lag?"), "replica_lag.md")
        at.messages.append(assistant("See replica_lag.md."))
        recorder.turn_over(at.messages)

    await at.run(turn, turn, turn)
    assert [(event.name, event.fields["where"]) for event in at.seen] == [("failed", "usage")]


# -- in a conversation ---------------------------------------------------------------------------------------

LAG = """---
name: Replica lag
description: The read replica in Frankfurt lags behind, so new orders are read from the primary
type: project
---

The read replica in Frankfurt lags four seconds behind the primary.
"""
PORTS = "---\nname: Ports\ndescription: Which ports the warehouse scanners use\n---\n\nScanners use 5433.\n"
ASKED = "why are new orders missing on the Frankfurt replica?"


@dataclass(kw_only=True)
class Stage:
    """A project with two memories, and what was told."""

    project: app.Project
    told: list[Event] = field(default_factory=list)

    @property
    def directory(self) -> Path:
        return self.project.require_memory().directory

    @property
    def lag(self) -> str:
        return str(self.directory / "replica_lag.md")

    async def play(self, chat: ScriptedModel, *prompts: str, extract: ModelClient | None = None) -> str:
        """One session, each prompt a turn; the last answer."""
        models = Models(chat=chat, recall=Local(), extract=extract or Local())
        with anyio.fail_after(30):
            async with app.running(self.project, models=models, events=Events(self.told.append)) as runtime:
                conversation = await runtime.start()
                for prompt in prompts:
                    answer = await conversation.say(prompt)
                    assert await runtime.drain()
        chat.assert_exhausted()
        return answer.text

    @property
    def table(self) -> Path:
        return self.project.places.usage

    def of(self, file: str) -> list[Surfaced]:
        return list(Usage(str(self.table)).of(file).surfaced)

    @property
    def failures(self) -> list[object]:
        return [event.fields["where"] for event in self.told if event.name == "failed"]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    place = tmp_path / "shop"
    place.mkdir()
    environment = {
        "HOME": str(tmp_path),
        "MEMDIR_HOME": str(tmp_path / "state"),
        "MEMDIR_RECALL_EMBEDDER": "none",
    }
    made = Stage(project=app.open_project(place.resolve(), environment=environment))
    made.directory.mkdir(parents=True)
    (made.directory / "replica_lag.md").write_text(LAG, "utf-8")
    (made.directory / "ports.md").write_text(PORTS, "utf-8")
    return made


async def test_a_memory_that_is_surfaced_read_named_and_edited_has_all_of_it_noted_R10(stage: Stage) -> None:
    edit = {"old_string": "four seconds", "new_string": "nine seconds"}
    chat = ScriptedModel(
        [
            call("Read", file_path=stage.lag),
            say("As replica_lag.md says: read them from the primary."),
            call("Edit", file_path=stage.lag, **edit),
            say("Changed."),
        ]
    )
    await stage.play(chat, ASKED, "by now it is nine seconds, put that down")
    assert "nine seconds" in (stage.directory / "replica_lag.md").read_text("utf-8")
    (one,) = stage.of("replica_lag.md")
    assert (one.kind, one.how) == ("question", "local")
    assert one.outcome == OPENED | CITED | CORRECTED
    assert stage.of("ports.md") == [], "it was not surfaced"
    assert stage.failures == []


async def test_a_memory_that_is_surfaced_and_of_no_use_has_just_that_noted_R10(stage: Stage) -> None:
    chat = ScriptedModel([say("Is the cable in?"), say("Then I do not know.")])
    await stage.play(chat, ASKED, "yes, the cable is in")
    (one,) = stage.of("replica_lag.md")
    assert one.outcome == Outcome()


async def test_a_person_who_says_that_the_cited_memory_is_wrong_corrects_it_R10(stage: Stage) -> None:
    chat = ScriptedModel([say("It lags four seconds, see replica_lag.md."), say("I see.")])
    await stage.play(chat, ASKED, "No, that's outdated.")
    assert stage.of("replica_lag.md")[0].outcome == CITED | CORRECTED


async def test_a_memory_that_the_extraction_rewrites_was_corrected_R10(stage: Stage) -> None:
    edit = {"old_string": "four seconds", "new_string": "nine seconds"}
    fork = ScriptedModel([call("Edit", file_path=stage.lag, **edit), say("Saved.")], name="scripted:extract")
    await stage.play(ScriptedModel([say("Hm.")]), f"{ASKED} They come nine seconds late.", extract=fork)
    fork.assert_exhausted()
    assert stage.of("replica_lag.md")[0].outcome == CORRECTED


async def test_nothing_of_a_prompt_an_answer_or_a_memory_is_stored_R10(stage: Stage) -> None:
    chat = ScriptedModel([say("It lags four seconds, see replica_lag.md: buy a zebra.")])
    await stage.play(chat, f"{ASKED} My password is correct-horse.")
    stored = stage.table.read_bytes().lower()
    assert b"replica_lag.md" in stored
    of_prompt, of_answer = {"orders", "missing", "password", "horse"}, {"see", "zebra"}
    of_memory = {"replica lag", "frankfurt", "behind", "seconds"}
    assert {word for word in of_prompt | of_answer | of_memory if word.encode() in stored} == set()


async def test_a_table_that_fails_costs_no_turn_and_is_told_once_R10(stage: Stage) -> None:
    stage.table.mkdir(parents=True)
    chat = ScriptedModel([say("See replica_lag.md."), say("Ports are in ports.md.")])
    answer = await stage.play(chat, ASKED, "which ports do the warehouse scanners use?")
    assert answer == "Ports are in ports.md."
    assert [event.fields["files"] for event in stage.told if event.name == RECALLED] == [1, 1]
    assert stage.failures == ["usage"]


async def test_a_damaged_table_is_told_once_and_the_next_turns_are_noted_R10(stage: Stage) -> None:
    stage.table.parent.mkdir(parents=True)
    stage.table.write_bytes(b"no database at all " * 100)
    chat = ScriptedModel([say("See replica_lag.md."), say("Ports are in ports.md.")])
    await stage.play(chat, ASKED, "which ports do the warehouse scanners use?")
    assert stage.of("replica_lag.md")[0].outcome == stage.of("ports.md")[0].outcome == CITED
    assert stage.failures == ["usage"]
