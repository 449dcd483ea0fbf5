"""A runtime whose background work has a model of its own, or one that fails (app.py)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from memdir import app
from memdir.agent.events import DEGRADED, NO_SHARED_CACHE, Event, Events
from memdir.agent.transcript import Transcript
from memdir.errors import ModelOverloaded
from memdir.extract.foreign import Talk
from memdir.extract.saved import Saved
from memdir.extract.unfinished import Left, Unfinished
from memdir.model.client import ModelClient
from memdir.model.jobs import Models
from memdir.model.local import Local
from memdir.model.messages import Prefix, new_id, person
from memdir.paths import transcript_path
from memdir.testing import ScriptedModel, say, tree

pytestmark = pytest.mark.anyio

WISH = "From now on never merge on Fridays, because nobody is there on Saturdays."


@dataclass(kw_only=True)
class Stage:
    """A project, its models, and what was told."""

    project: app.Project
    chat: ScriptedModel = field(default_factory=lambda: ScriptedModel([say("Yes.")], name="scripted:chat"))
    told: list[Event] = field(default_factory=list)

    def running(self, extract: ModelClient | None) -> AbstractAsyncContextManager[app.Runtime]:
        models = Models(chat=self.chat, recall=Local(), extract=extract)
        return app.running(self.project, models=models, events=Events(self.told.append))

    def of(self, name: str) -> list[Event]:
        return [event for event in self.told if event.name == name]

    @property
    def files(self) -> dict[str, str]:
        return tree(self.project.require_memory().directory)


Open = Callable[..., Stage]


@pytest.fixture
def open_stage(tmp_path: Path) -> Open:
    """A stage; `settings` are those of the environment."""

    def opened(**settings: str) -> Stage:
        place = tmp_path / "shop"
        place.mkdir()
        environment = {"HOME": str(tmp_path), "MEMDIR_HOME": str(tmp_path / "state"), **settings}
        return Stage(project=app.open_project(place.resolve(), environment=environment))

    return opened


def busy() -> ScriptedModel:
    return ScriptedModel([ModelOverloaded("busy")], name="scripted:busy")


async def test_leaving_saves_by_rules_what_the_model_could_not_E7(open_stage: Open) -> None:
    stage = open_stage()
    with anyio.fail_after(10):
        async with stage.running(busy()) as runtime:
            await (await runtime.start()).say(WISH)
            assert await runtime.drain()
            assert stage.files == {}
    assert len(stage.files) == 2
    assert [event.fields["model"] for event in stage.of(DEGRADED)] == ["scripted:busy"]


async def test_a_front_end_that_fails_loses_no_memory_E7(open_stage: Open) -> None:
    stage = open_stage()

    async def front_end() -> None:
        async with stage.running(busy()) as runtime:
            await (await runtime.start()).say(WISH)
            raise RuntimeError("a bug")

    with anyio.fail_after(10), pytest.raises(RuntimeError, match="a bug"):
        await front_end()
    assert len(stage.files) == 2


async def test_who_breaks_a_runtime_off_waits_for_no_rules_E9(open_stage: Open) -> None:
    stage = open_stage()
    with anyio.fail_after(10):
        with anyio.CancelScope() as scope:
            async with stage.running(busy()) as runtime:
                await (await runtime.start()).say(WISH)
                assert await runtime.drain()
                scope.cancel()
                await anyio.sleep_forever()
        assert scope.cancelled_caught
    assert stage.files == {}
    assert stage.of(DEGRADED) == []


@pytest.mark.parametrize(
    ("model", "settings", "expected"),
    [
        ("scripted:other", {}, 1),
        ("scripted:chat", {}, 0),
        ("scripted:other", {"MEMDIR_FEATURES_EXTRACT": "false"}, 0),
        ("local", {}, 0),
        (None, {}, 0),
    ],
)
async def test_an_extraction_on_another_model_says_that_it_shares_no_cache_A4(
    open_stage: Open, model: str | None, settings: dict[str, str], expected: int
) -> None:
    stage = open_stage(**settings)
    extract = None if model is None else Local() if model == "local" else ScriptedModel(name=model)
    async with stage.running(extract) as runtime:
        await runtime.start()
    told = [event.fields for event in stage.of(NO_SHARED_CACHE)]
    assert told == [{"job": "extract", "model": model, "host": "scripted:chat", "free": False}] * expected


def killed(stage: Stage) -> None:
    """A session of the project in which the person said something, and that died."""
    project, session = stage.project, new_id()
    path = transcript_path(project.places, session)
    prefix = Prefix(system=("x",), tools=())
    made = Transcript.create(path, session_id=session, cwd=project.places.cwd, prefix=prefix)
    made.append(person(WISH))
    memory = project.require_memory().directory
    left = Left(session=session, transcript=path, memory=memory, cwd=project.places.cwd)
    Unfinished(project.places.pending).put(left)


async def test_what_an_earlier_session_had_left_is_told_to_the_person_E8(open_stage: Open) -> None:
    stage, saved = open_stage(), list[Saved]()
    killed(stage)
    with anyio.fail_after(20):
        async with stage.running(Local()) as runtime:
            await runtime.start(on_saved=saved.append)
    assert [len(one.changes) for one in saved] == [1]
    assert len(stage.files) == 2


async def test_who_learns_from_a_transcript_by_hand_picks_up_no_other_E7(open_stage: Open) -> None:
    stage = open_stage()
    killed(stage)
    now = stage.project.now()
    talk = Talk(session_id="theirs", cwd=None, messages=(person("Hello."),), ended=now)
    with anyio.fail_after(20):
        async with stage.running(Local()) as runtime:
            await runtime.learn(talk)
    assert stage.files == {}
    assert len(Unfinished(stage.project.places.pending).dead(stage.project.require_memory().directory)) == 1
