"""The table of faults: provider x fault -> what the person sees, what the background job does, what is tried
again; and whatever it was, nothing is lost and nothing is written twice (A3, E7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import anyio
import pytest

from memdir import app
from memdir.agent.events import DEGRADED, RECALLED, Event, Events
from memdir.agent.transcript import read as read_transcript
from memdir.errors import (
    ContextTooLong,
    KeyRefused,
    ModelError,
    ModelOverloaded,
    ModelUnreachable,
    NoSuchModel,
    ToolsIgnored,
)
from memdir.memory import entrypoint, topic
from memdir.model.anthropic import Anthropic
from memdir.model.client import ModelClient
from memdir.model.jobs import Models
from memdir.model.openai import OpenAI, manners
from memdir.testing import call, say, tree
from tests.wire.answers import (
    breaks,
    cut_off,
    garbled_call,
    key_refused,
    overloaded,
    quota,
    rate_limited,
    stopped,
    too_long,
    tools_refused,
    unknown_model,
    written_call,
)
from tests.wire.server import Answer, Seen, WireServer

pytestmark = pytest.mark.anyio

TRIES = 3
"""Requests for one question, if each of them fails in a way that may pass."""

PROVIDERS: dict[str, Callable[[WireServer], ModelClient]] = {
    "anthropic": lambda to: Anthropic(
        "claude-sonnet-5", base_url=to.url, api_key=to.key, max_retries=TRIES - 1, pause=0.001
    ),
    "openai": lambda to: OpenAI(
        "gpt-6.2-sol",
        base_url=to.v1,
        api_key=to.key,
        manners=manners.of(None, "gpt-6.2-sol"),
        max_retries=TRIES - 1,
        pause=0.001,
    ),
    "openai-compatible": lambda to: OpenAI(
        "qwen3.5:9b", dialect="chat", base_url=to.v1, api_key=to.key, max_retries=TRIES - 1, pause=0.001
    ),
}

READ = call("Read", file_path="notes.txt")
LONG = call("Write", file_path="notes.txt", content="x" * 400)
WISH = "From now on never merge on Fridays, because nobody is there on Saturdays."
TOPIC = """\
---
name: No merges on Fridays
description: Never merge on Fridays
type: feedback
---

Never merge on Fridays.

**Why:** nobody is there on Saturdays.
"""
POINTER = "- [No merges on Fridays](feedback_fridays.md) — never merge on Fridays\n"

By = Literal["model", "rules at once", "rules for this run", "rules at the second run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One row. `answers`: what the service does to one question, to its end or to that of all tries; then it
    is well again.

    `person`: what the person's turn ends with; None: with an answer. `says`: words of the sentence. `shown`:
    text that was on the screen by then. `by`: who saves the memory in the end, when the same happens to the
    background job, of which nobody reads as it comes.
    """

    answers: Sequence[Answer]
    person: type[ModelError] | None = None
    says: str = ""
    shown: str = ""
    by: By = "model"


FAULTS: dict[str, Fault] = {
    "overloaded for a moment": Fault(answers=[overloaded()] * (TRIES - 1)),
    "overloaded": Fault(
        answers=[overloaded()] * TRIES,
        person=ModelOverloaded,
        says="overloaded",
        by="rules at the second run",
    ),
    "overloaded inside the stream": Fault(
        answers=[breaks(overloaded())] * TRIES,
        person=ModelOverloaded,
        says="overloaded",
        by="rules at the second run",
    ),
    "rate limit that says when to come again": Fault(answers=[rate_limited(pause="0.05")]),
    "rate limit": Fault(
        answers=[rate_limited()] * TRIES,
        person=ModelOverloaded,
        says="rate limit",
        by="rules at the second run",
    ),
    "rate limit of an hour": Fault(
        answers=[rate_limited(pause="3600")],
        person=ModelOverloaded,
        says="rate limit",
        by="rules at the second run",
    ),
    "stream dropped in a tool call": Fault(answers=[cut_off(LONG)] * (TRIES - 1)),
    "stream dropped in a tool call each time": Fault(
        answers=[cut_off(LONG)] * TRIES,
        person=ModelUnreachable,
        says="broke",
        by="rules at the second run",
    ),
    "stream dropped in a tool call, after text": Fault(
        answers=[cut_off(say("Let me write that down."), LONG)],
        person=ModelUnreachable,
        says="broke",
        shown="Let me write that down.",
    ),
    "context too long": Fault(
        answers=[too_long()], person=ContextTooLong, says="too long", by="rules for this run"
    ),
    "key refused": Fault(answers=[key_refused()], person=KeyRefused, says="refused", by="rules at once"),
    "no money": Fault(answers=[quota()], person=KeyRefused, says="can't pay", by="rules at once"),
    "unknown model": Fault(
        answers=[unknown_model()], person=NoSuchModel, says="no model", by="rules at once"
    ),
    "malformed tool JSON": Fault(answers=[garbled_call("Read", '{"file_path": ')]),
    "tool call cut off by its length": Fault(
        answers=[stopped("max_tokens", garbled_call("Read", '{"file_path": "no'))]
    ),
    "answer cut off by its length": Fault(answers=[stopped("max_tokens", say("So far, "))], shown="So far, "),
    "tools refused": Fault(
        answers=[tools_refused()], person=ToolsIgnored, says="can't call tools", by="rules at once"
    ),
    "tools ignored": Fault(
        answers=[written_call(READ)],
        person=ToolsIgnored,
        says="as text",
        shown='{"name": "Read"',
        by="rules at once",
    ),
}


@dataclass(kw_only=True)
class Stage:
    """A project, a server that plays one provider's model, and what was told."""

    project: app.Project
    server: WireServer
    model: Callable[[WireServer], ModelClient]
    told: list[Event] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    @property
    def memory(self) -> Path:
        return self.project.require_memory().directory

    @property
    def forks(self) -> list[Seen]:
        return [seen for seen in self.server.seen if is_fork(seen)]

    def script(self, *, main: Sequence[Answer], fork: Sequence[Answer]) -> None:
        self.server.when(lambda seen: not is_fork(seen), *main)
        self.server.when(is_fork, *fork)

    def saving(self) -> list[Answer]:
        """What a fork answers that saves the wish."""
        return [
            [
                call("Write", file_path=str(self.memory / "feedback_fridays.md"), content=TOPIC),
                call("Write", file_path=str(self.memory / "MEMORY.md"), content=POINTER),
            ],
            say("Saved."),
        ]

    async def play(self, *prompts: str) -> tuple[app.Conversation, list[ModelError]]:
        """One session: each prompt a turn, then the background work; and what turns failed with."""
        model, failed = self.model(self.server), list[ModelError]()
        events = Events(self.told.append)
        with anyio.fail_after(60):
            async with app.running(
                self.project, models=Models(chat=model, recall=model), events=events
            ) as runtime:
                conversation = await runtime.start(on_text=self.shown.append)
                for prompt in prompts:
                    try:
                        await conversation.say(prompt)
                    except ModelError as error:
                        failed.append(error)
                    assert await runtime.drain()
        return conversation, failed

    def assert_saved_once(self, by: str) -> None:
        """The wish stands in one memory, with one line in the index, and it was this worker who made it."""
        files = tree(self.memory)
        (name,) = files.keys() - {entrypoint.NAME}
        made = topic.parse(files[name], filename=name)
        assert files[entrypoint.NAME].count(f"({name})") == 1
        assert files[entrypoint.NAME].count("\n- ") + files[entrypoint.NAME].startswith("- ") == 1
        assert made.body.count("Fridays") == 1
        assert (made.name == "No merges on Fridays") == (by == "model")


def is_fork(seen: Seen) -> bool:
    return "This message is not from the person." in seen.part("messages")


@pytest.fixture(params=["off"])
def recall(request: pytest.FixtureRequest) -> str:
    """Whether memories are chosen for each turn: only where that is what a test is about."""
    return str(request.param)


@pytest.fixture(params=PROVIDERS)
def stage(request: pytest.FixtureRequest, recall: str, tmp_path: Path) -> Iterator[Stage]:
    place = tmp_path / "shop"
    place.mkdir()
    (place / "notes.txt").write_text("nothing yet\n")
    environment = {
        "HOME": str(tmp_path),
        "MEMDIR_HOME": str(tmp_path / "state"),
        "MEMDIR_FEATURES_RECALL": recall,
    }
    project = app.open_project(place.resolve(), environment=environment)
    with WireServer() as server:
        yield Stage(project=project, server=server, model=PROVIDERS[request.param])


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_what_the_person_sees_A3(stage: Stage, fault: Fault) -> None:
    """One sentence with a cure, or the answer as if nothing had been; and what was said before counts."""
    well = [say("Done.")] if fault.person is None else []
    stage.script(
        main=[*fault.answers, *well, say("Yes, you said that.")],
        fork=[say("Nothing to save."), say("Nothing to save.")][: 1 + (fault.person is None)],
    )
    conversation, failed = await stage.play(WISH, "did you hear me?")

    assert [type(error) for error in failed] == ([fault.person] if fault.person else [])
    for error in failed:
        assert fault.says in str(error)
        assert error.hint
        assert "\n" not in f"{error}{error.hint}"
        assert WISH not in f"{error}{error.hint}"
    assert "".join(stage.shown).startswith(fault.shown)
    stage.server.assert_exhausted()  # so many tries as the table has, and no more

    last = stage.server.seen[-2 if is_fork(stage.server.seen[-1]) else -1]
    assert last.part("messages").count(WISH) == 1
    assert conversation.agent.messages[-1].text == "Yes, you said that."
    assert (stage.project.places.cwd / "notes.txt").read_text() == "nothing yet\n"
    recorded = read_transcript(stage.project.places.transcripts / f"{conversation.agent.id}.jsonl")
    assert list(recorded.messages) == conversation.agent.messages


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_what_the_background_job_does_E7(stage: Stage, fault: Fault) -> None:
    """The conversation goes on; the memory is saved once, by the model or by rules, and rules are told."""
    runs: dict[By, list[Answer]] = {
        "model": [*fault.answers, *stage.saving(), *[say("Nothing to save.")] * 2],
        "rules at once": [*fault.answers],
        "rules for this run": [*fault.answers, *[say("Nothing to save.")] * 2],
        "rules at the second run": [*fault.answers, *fault.answers, say("Nothing to save.")],
    }
    stage.script(main=[say("Noted."), say("Fine."), say("Bye.")], fork=runs[fault.by])
    _, failed = await stage.play(WISH, "thanks, that is all for today", "see you")

    assert failed == []
    stage.server.assert_exhausted()
    stage.assert_saved_once("model" if fault.by == "model" else "rules")
    told = [event.fields for event in stage.told if event.name == DEGRADED]
    assert [(one["job"], one["lasting"]) for one in told] == (
        [] if fault.by == "model" else [("extract", fault.by == "rules at once")]
    )
    for one in told:
        assert fault.says in str(one["why"])
        assert WISH not in str(one)


FREEZE = """\
---
name: Release freeze
description: The release freeze ends when the auditors have signed
type: project
---

The release freeze ends when the auditors have signed.
"""
FIRST = say('{"selected_memories": ["feedback_fridays.md"]}')
SECOND = say('{"selected_memories": ["project_freeze.md"]}')
PROSE = say("I would take the one about Fridays.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One row: what the service does to the side queries of two turns, and who chooses in each of them."""

    answers: Sequence[Answer]
    how: tuple[str, str]


CHOICES: dict[str, Choice] = {
    "well": Choice(answers=[FIRST, SECOND], how=("model", "model")),
    "overloaded for a moment": Choice(answers=[overloaded(), FIRST, SECOND], how=("model", "model")),
    "overloaded": Choice(answers=[*[overloaded()] * TRIES, SECOND], how=("local", "model")),
    "context too long": Choice(answers=[too_long(), SECOND], how=("local", "model")),
    "key refused": Choice(answers=[key_refused()], how=("local", "local")),
    "unknown model": Choice(answers=[unknown_model()], how=("local", "local")),
    "schema ignored, and kept at the second question": Choice(
        answers=[PROSE, FIRST, SECOND], how=("model", "model")
    ),
    "schema ignored": Choice(answers=[PROSE, PROSE, SECOND], how=("local", "model")),
    "cut off by its length": Choice(
        answers=[stopped("max_tokens", say('{"selected_memories": ["feedb')), SECOND], how=("local", "model")
    ),
    "dropped": Choice(answers=[*[cut_off(FIRST)] * TRIES, SECOND], how=("local", "model")),
}


@pytest.mark.parametrize("recall", ["on"], indirect=True)
@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
async def test_who_chooses_memories_R5(stage: Stage, choice: Choice) -> None:
    """In either turn its memory comes in; a model that can't be had is not asked again; that is said once."""
    stage.memory.mkdir(parents=True)
    (stage.memory / "feedback_fridays.md").write_text(TOPIC)
    (stage.memory / "project_freeze.md").write_text(FREEZE)

    def look_until(recalled: str) -> Answer:
        return lambda seen: say("Not yet.") if recalled in seen.part("messages") else READ

    def turn(number: int) -> Callable[[Seen], bool]:
        prompts = ("may I merge this on Fridays?", "when does the release freeze end?")
        later = prompts[number + 1 :]
        return lambda seen: prompts[number] in seen.text and not any(prompt in seen.text for prompt in later)

    stage.server.when(lambda seen: seen.is_structured, *choice.answers)
    stage.server.when(is_fork, *[say("Nothing to save.")] * 2)
    stage.server.when(turn(0), *[look_until("nobody is there on Saturdays")] * 200)
    stage.server.when(turn(1), *[look_until("auditors have signed.")] * 200)
    await stage.play("may I merge this on Fridays?", "when does the release freeze end?")

    recalled = [event.fields for event in stage.told if event.name == RECALLED]
    assert [one["how"] for one in recalled if one["files"]] == list(choice.how)
    assert len([seen for seen in stage.server.seen if seen.is_structured]) == len(choice.answers)
    degraded = [event.fields["job"] for event in stage.told if event.name == DEGRADED]
    assert degraded == ["recall"] * ("local" in choice.how)
