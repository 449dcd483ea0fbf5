"""The whole way, over real HTTP: a conversation becomes memory, and the next one remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memdir import app
from memdir.agent.events import DEGRADED, RECALLED, Event, Events
from memdir.agent.transcript import read as read_transcript
from memdir.extract.saved import LABEL as EXTRACTION
from memdir.extract.saved import Saved
from memdir.memory import entrypoint, topic
from memdir.model.anthropic import Anthropic
from memdir.model.client import ModelClient
from memdir.model.jobs import Models
from memdir.model.openai import OpenAI, manners
from memdir.testing import call, say, tree
from tests.wire.server import Answer, Seen, WireServer

pytestmark = pytest.mark.anyio

FORK = "This message is not from the person."
TOPIC = """\
---
name: No mocks of the carrier clients
description: Tests of the carrier clients use recordings, never mocks
type: feedback
---

Test carrier clients with recordings, never with mocks.

**Why:** mocks hid a changed date format, and 400 parcels went to the wrong depot.
"""
POINTER = "- [No mocks of the carrier clients](feedback_no_mocks.md) — use recordings in tests\n"


@dataclass(kw_only=True)
class Stage:
    """A project, a server that plays the model of one provider, and what was told."""

    project: app.Project
    provider: str
    server: WireServer
    told: list[Event]
    saved: list[Saved]

    @property
    def memory(self) -> Path:
        return self.project.require_memory().directory

    def models(self) -> Models:
        def model() -> ModelClient:
            return PROVIDERS[self.provider](self.server)

        return Models(chat=model(), recall=model())

    def of(self, kind: str) -> list[Seen]:
        """The requests of one kind, in order: `main`, `fork` or `recall`."""
        return [seen for seen in self.server.seen if kind_of(seen) == kind]


PROVIDERS: dict[str, Callable[[WireServer], ModelClient]] = {
    "anthropic": lambda to: Anthropic("claude-sonnet-5", base_url=to.url, api_key=to.key),
    "openai": lambda to: OpenAI(
        "gpt-6.2-sol", base_url=to.v1, api_key=to.key, manners=manners.of(None, "gpt-6.2-sol")
    ),
    "openai-compatible": lambda to: OpenAI("qwen3.5:9b", dialect="chat", base_url=to.v1, api_key=to.key),
}


def kind_of(seen: Seen) -> str:
    if seen.is_structured:
        return "recall"
    return "fork" if FORK in seen.part("messages") else "main"


@pytest.fixture(params=PROVIDERS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    place = tmp_path / "parcel-tracker"
    place.mkdir()
    (place / "carriers.py").write_text("def fetch(): ...\n")
    environment = {"HOME": str(tmp_path), "MEMDIR_HOME": str(tmp_path / "state")}
    project = app.open_project(place.resolve(), environment=environment)
    with WireServer() as server:
        yield Stage(project=project, provider=request.param, server=server, told=[], saved=[])


async def play(stage: Stage, *prompts: str) -> app.Conversation:
    """One session: each prompt a turn, and after each the background work."""
    events = Events(stage.told.append)
    async with app.running(stage.project, models=stage.models(), events=events) as runtime:
        conversation = await runtime.start(on_saved=stage.saved.append)
        for prompt in prompts:
            await conversation.say(prompt)
            assert await runtime.drain()
    return conversation


def script_first_session(stage: Stage) -> None:
    """Three turns with one tool call; two forks find nothing, the third writes a topic and its pointer.

    There is no memory to choose from yet, so nothing asks for a selection.
    """
    place = stage.project.places.cwd
    server = stage.server
    server.when(
        lambda seen: kind_of(seen) == "main",
        [say("I'll look."), call("Read", file_path=str(place / "carriers.py"))],
        say("It has one function, `fetch`."),
        say("I'd write the test with a mock of the client."),
        say("Understood: recordings, no mocks."),
    )
    server.when(
        lambda seen: kind_of(seen) == "fork",
        say("Nothing to save."),
        say("Nothing to save."),
        [
            call("Write", file_path=str(stage.memory / "feedback_no_mocks.md"), content=TOPIC),
            call("Write", file_path=str(stage.memory / "MEMORY.md"), content=POINTER),
        ],
        say("Saved one correction."),
    )


PROMPTS = (
    "what is in carriers.py?",
    "add a test for fetch please",
    "no, don't mock the carrier clients. mocks hid a changed date format and 400 parcels went astray",
)


async def test_a_fork_sends_its_hosts_bytes_and_reads_them_from_the_cache_A4(stage: Stage) -> None:
    script_first_session(stage)
    await play(stage, *PROMPTS)

    parent, (fork, *_) = stage.of("main")[-1], stage.of("fork")[2:]
    assert fork.continues(parent)
    assert fork.part("tools") == parent.part("tools")
    assert fork.part("system") == parent.part("system")
    assert fork.usage is not None
    assert parent.usage is not None
    assert parent.usage.total_input > stage.server.cache.minimum
    assert fork.usage.cache_read >= 0.95 * parent.usage.total_input


async def test_a_conversation_becomes_a_topic_file_and_a_pointer_E8(stage: Stage) -> None:
    script_first_session(stage)
    conversation = await play(stage, *PROMPTS)

    files = tree(stage.memory)
    assert sorted(files) == ["MEMORY.md", "feedback_no_mocks.md"]
    assert files["MEMORY.md"] == POINTER
    assert files["feedback_no_mocks.md"].endswith(TOPIC.split("---\n")[2])
    origin = topic.parse(files["feedback_no_mocks.md"], filename="feedback_no_mocks.md").origin
    assert origin is not None
    assert (origin.session, origin.worker) == (conversation.agent.id, "extract")
    assert [saved.notice for saved in stage.saved] == ["Memory updated: feedback_no_mocks.md"]
    assert "feedback_no_mocks" not in str(conversation.agent.messages)


def script_second_session(stage: Stage) -> None:
    """Two turns. The selection runs beside the first, which goes on with tool calls until it was taken."""
    carriers = str(stage.project.places.cwd / "carriers.py")

    def look_until_recalled(seen: Seen) -> Answer:
        recalled = "never with mocks" in seen.part("messages")
        return say("With recordings, then.") if recalled else call("Read", file_path=carriers)

    chosen = say('{"selected_memories": ["feedback_no_mocks.md", "invented.md"]}')
    stage.server.when(lambda seen: kind_of(seen) == "main", *[look_until_recalled] * 20)
    stage.server.when(lambda seen: kind_of(seen) == "fork", *[say("Nothing to save.")] * 2)
    stage.server.when(lambda seen: kind_of(seen) == "recall", chosen, chosen)


async def test_the_next_session_has_the_index_once_and_is_given_the_memory_once_R4(stage: Stage) -> None:
    script_first_session(stage)
    await play(stage, *PROMPTS)
    stage.server.assert_exhausted()
    before = len(stage.of("main"))
    script_second_session(stage)
    conversation = await play(stage, "write a test for the Veloz client", "and another one for Northpost")

    first, *_, last = stage.of("main")[before:]
    assert entrypoint.NAME in first.part("messages")
    assert first.part("messages").count(POINTER.strip()) == 1
    assert POINTER.strip() not in first.part("system")
    assert last.continues(first)
    assert last.part("messages").count(POINTER.strip()) == 1
    assert last.part("messages").count("never with mocks") == 1
    kinds = [
        (message.attachment or {}).get("kind", message.origin) for message in conversation.agent.messages
    ]
    assert kinds.index("memory") < kinds.index("person", kinds.index("person") + 1)
    recalled = [event.fields["files"] for event in stage.told if event.name == RECALLED]
    assert [files for files in recalled if files] == [1]


async def test_when_all_memories_are_known_nothing_is_asked_R4(stage: Stage) -> None:
    script_first_session(stage)
    await play(stage, *PROMPTS)
    script_second_session(stage)
    await play(stage, "write a test for the Veloz client", "and another one for Northpost")
    assert len(stage.of("recall")) == 1


async def test_nothing_of_the_day_stands_in_the_system_prompt_I6(stage: Stage) -> None:
    script_first_session(stage)
    await play(stage, *PROMPTS)
    systems = {seen.part("system") for seen in stage.of("main")}
    assert len(systems) == 1
    assert f"{stage.project.now():%Y-%m-%d}" not in systems.pop()


async def test_the_transcript_of_the_session_holds_what_was_sent_A1(stage: Stage) -> None:
    script_first_session(stage)
    conversation = await play(stage, *PROMPTS)
    path = stage.project.places.transcripts / f"{conversation.agent.id}.jsonl"
    recorded = read_transcript(path)
    assert recorded.prefix == conversation.agent.prefix
    assert list(recorded.messages) == conversation.agent.messages


async def test_a_model_that_fails_beside_the_conversation_does_not_break_it_E7(stage: Stage) -> None:
    """No answers for forks and side queries: both are refused, the person's turns are whole, and rules do the
    rest.
    """
    stage.server.when(lambda seen: kind_of(seen) == "main", say("Fine."), say("Tuesday."))
    conversation = await play(
        stage, "hello there, we always deploy on Tuesdays", "thanks, when do we deploy?"
    )
    said = [message.text for message in conversation.agent.messages if message.origin == "assistant"]
    assert said == ["Fine.", "Tuesday."]
    files = tree(stage.memory)
    assert len(files) == 2
    (made,) = (topic.parse(files[file], filename=file) for file in files.keys() - {entrypoint.NAME})
    assert "Tuesdays" in made.body
    assert made.origin is not None
    assert made.origin.message == next(m.id for m in conversation.agent.messages if m.origin == "person")
    degraded = [event.fields["job"] for event in stage.told if event.name == DEGRADED]
    assert degraded.count(EXTRACTION) == 1
    assert degraded.count("recall") <= 1
    assert "deploy" not in str([event.fields for event in stage.told])
