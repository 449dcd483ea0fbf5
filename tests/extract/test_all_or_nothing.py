"""A run of the extraction is all or nothing: whoever looks at the same messages next begins anew (E7)."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from memdir.agent.attachments import changed_files
from memdir.agent.loop import Agent
from memdir.errors import Conflict, KeyRefused, ModelOverloaded
from memdir.extract import cursor
from memdir.extract.foreign import Talk
from memdir.extract.learn import learn
from memdir.extract.run import extract
from memdir.extract.saved import Change, Saved
from memdir.memory.journal import Journal
from memdir.memory.store import MemoryDir, Written
from memdir.model.local import Local
from memdir.model.messages import Message, Request, ToolUse, assistant, person
from memdir.testing import Line, ScriptedModel, call, say, temporary_memory, tree
from tests.extract.support import FRIDAYS, NOW, POINTER, Scene, scene

pytestmark = pytest.mark.anyio

SAID = (person("never merge on Fridays, nobody is there on Saturday"), assistant("Understood."))
RULE = "From now on always run the linter before you commit, because CI is slow."
PLACE = "Remember: our crash reports are at https://crashes.invalid/shop."
DEPLOY = FRIDAYS.replace("Fridays", "Mondays")


@pytest.fixture
def memory() -> Iterator[MemoryDir]:
    with temporary_memory() as made:
        yield made


@pytest.fixture
async def stage() -> AsyncIterator[Scene]:
    async with anyio.create_task_group() as tasks:
        with scene(tasks, files={"deploy.md": DEPLOY, "MEMORY.md": "- [Deploy](deploy.md) — x\n"}) as made:
            yield made
        tasks.cancel_scope.cancel()


def host(made: Scene, *lines: Line | BaseException) -> Agent:
    """A conversation whose fork gets these lines."""
    made.model.add(*lines)
    return made.begin(messages=SAID)


def writes(made: Scene, file: str, content: str) -> ToolUse:
    return call("Write", file_path=f"{made.memory.directory}/{file}", content=content)


def reads(made: Scene, file: str) -> ToolUse:
    return call("Read", file_path=f"{made.memory.directory}/{file}")


async def run(made: Scene, agent: Agent) -> Saved:
    return await extract(agent, SAID, SAID, memory=made.memory)


def state(store: MemoryDir) -> dict[str, tuple[bytes, int]]:
    """Every file of the memory and its trash, with its mtime."""
    places = [path for folder in (store.directory, store.trash.folder) for path in folder.rglob("*.*")]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in places if path.is_file()}


def busy() -> ModelOverloaded:
    return ModelOverloaded("scripted:model is overloaded")


Begun = Callable[[Scene], list[Line]]
PARTLY: dict[str, Begun] = {
    "a topic without its line": lambda made: [writes(made, "no_fridays.md", FRIDAYS)],
    "a line without its topic": lambda made: [
        reads(made, "MEMORY.md"),
        writes(made, "MEMORY.md", f"- [Deploy](deploy.md) — x\n{POINTER}"),
    ],
    "a change, and no word of the index": lambda made: [
        reads(made, "deploy.md"),
        writes(made, "deploy.md", FRIDAYS),
    ],
    "a deletion": lambda made: [reads(made, "deploy.md"), writes(made, "deploy.md", "")],
    "a refused call beside the others": lambda made: [
        reads(made, "MEMORY.md"),
        [
            writes(made, "no_fridays.md", FRIDAYS),
            writes(made, "MEMORY.md", f"- [Deploy](deploy.md) — x\n{POINTER}"),
            writes(made, "../elsewhere.md", FRIDAYS),
        ],
    ],
    "a look at one more": lambda made: [
        reads(made, "MEMORY.md"),
        [
            writes(made, "no_fridays.md", FRIDAYS),
            writes(made, "MEMORY.md", f"- [Deploy](deploy.md) — x\n{POINTER}"),
        ],
        reads(made, "deploy.md"),
    ],
    "nothing but a look": lambda made: [reads(made, "deploy.md")],
}


@pytest.mark.parametrize("begun", PARTLY.values(), ids=PARTLY)
async def test_a_model_that_fails_half_way_leaves_the_memories_as_they_were_E7(
    stage: Scene, begun: Begun
) -> None:
    before = state(stage.memory)
    agent = host(stage, *begun(stage), busy())
    with pytest.raises(ModelOverloaded):
        await run(stage, agent)
    assert state(stage.memory) == before
    stage.model.assert_exhausted()


async def test_whatever_else_is_raised_leaves_them_so_too_E7(stage: Scene) -> None:
    before = state(stage.memory)
    agent = host(stage, writes(stage, "no_fridays.md", FRIDAYS), ValueError("a fault of ours"))
    with pytest.raises(ValueError, match="a fault of ours"):
        await run(stage, agent)
    assert state(stage.memory) == before


async def test_a_run_that_is_broken_off_leaves_nothing_behind_E9(stage: Scene) -> None:
    before, begun = state(stage.memory), anyio.Event()

    async def endless(_: Request) -> Line:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    agent = host(stage, writes(stage, "no_fridays.md", FRIDAYS), endless)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, stage, agent)
            await begun.wait()
            assert state(stage.memory) != before
            tasks.cancel_scope.cancel()
    assert state(stage.memory) == before


async def test_a_run_of_which_only_the_closing_words_are_missing_counts_E7(stage: Scene) -> None:
    index = f"- [Deploy](deploy.md) — x\n{POINTER}"
    agent = host(
        stage,
        reads(stage, "MEMORY.md"),
        [writes(stage, "no_fridays.md", FRIDAYS), writes(stage, "MEMORY.md", index)],
        KeyRefused("the key was refused"),
    )
    assert (await run(stage, agent)).changes == (
        Change(file="no_fridays.md", action="created", type="feedback"),
    )
    assert stage.memory.index() == index


async def test_an_index_of_old_pointers_to_nothing_is_no_fault_of_the_run_E7(stage: Scene) -> None:
    index = "- [Deploy](deploy.md) — x\n- [Gone](gone.md) — long ago\n"
    (stage.memory.directory / "MEMORY.md").write_text(index)
    agent = host(
        stage,
        reads(stage, "MEMORY.md"),
        [writes(stage, "no_fridays.md", FRIDAYS), writes(stage, "MEMORY.md", index + POINTER)],
        busy(),
    )
    assert len((await run(stage, agent)).changes) == 1


async def test_what_was_taken_back_is_no_news_for_the_host_E8(stage: Scene) -> None:
    place = stage.memory.directory / "deploy.md"
    agent = host(stage, reads(stage, "deploy.md"), writes(stage, "deploy.md", FRIDAYS), busy())
    for file in ("deploy.md", "MEMORY.md"):
        stored = stage.memory.read(file)
        agent.files.saw(
            stage.memory.directory / file,
            data=stored.data,
            mtime_ns=stored.mtime_ns,
            partial=False,
            how="read",
        )
    with pytest.raises(ModelOverloaded):
        await run(stage, agent)
    assert changed_files(agent.files, now=NOW) == []
    place.write_text("theirs")
    assert len(changed_files(agent.files, now=NOW)) == 1


@pytest.mark.parametrize("by", ["background", "somebody"])
async def test_what_was_changed_before_the_run_is_the_news_that_it_was_E8_R8(stage: Scene, by: str) -> None:
    place = stage.memory.directory / "deploy.md"
    agent = host(stage, reads(stage, "deploy.md"), writes(stage, "deploy.md", FRIDAYS), busy())
    stored = stage.memory.read("deploy.md")
    agent.files.saw(place, data=stored.data, mtime_ns=stored.mtime_ns, partial=False, how="read")
    place.write_text(DEPLOY + "More.\n")
    if by == "background":
        agent.files.overtaken(place, stage.memory.read("deploy.md").digest)
    with pytest.raises(ModelOverloaded):
        await run(stage, agent)
    assert place.read_text() == DEPLOY + "More.\n"
    assert len(changed_files(agent.files, now=NOW)) == (by == "somebody")


class Busy(MemoryDir):
    """A directory that somebody else holds, when something is to be taken back."""

    def take_back(self, journal: Journal) -> Any:
        raise Conflict("busy")


async def test_that_it_could_not_be_taken_back_is_told_E7(stage: Scene) -> None:
    stage.memory = Busy(stage.memory.directory, trash=stage.memory.trash.folder)
    agent = host(stage, writes(stage, "no_fridays.md", FRIDAYS), busy())
    with pytest.raises(ModelOverloaded):
        await run(stage, agent)
    failed = [(e.fields["where"], e.fields["error"]) for e in stage.events if e.name == "failed"]
    assert failed == [("taking back", "Conflict")]


# -- by rules -----------------------------------------------------------------------------------------------


class Second(MemoryDir):
    """A directory whose second `save` does something else before; it says when a run was taken back."""

    saves: list[Path | str]
    before: Callable[[], None]
    taken_back: threading.Event

    def take_back(self, journal: Journal) -> Any:
        files = super().take_back(journal)
        self.taken_back.set()
        return files

    def save(self, file: str | Path, data: bytes, **more: Any) -> Written:
        self.saves.append(file)
        if len(self.saves) == 2:
            self.before()
        return super().save(file, data, **more)


def second(stage: Scene, before: Callable[[], None]) -> Second:
    store = Second(stage.memory.directory, trash=stage.memory.trash.folder)
    store.saves, store.before, store.taken_back = [], before, threading.Event()
    return store


async def test_rules_that_meet_a_full_disk_half_way_leave_nothing_behind_E7(stage: Scene) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    before = state(stage.memory)
    stage.memory = second(stage, full)
    said = [person(RULE), person(PLACE), assistant("Yes.")]
    agent = replace(stage.begin(messages=said), model=Local())
    with pytest.raises(OSError, match="No space"):
        await extract(agent, said, said, memory=stage.memory)
    assert state(stage.memory) == before


async def test_rules_that_are_broken_off_half_way_leave_nothing_behind_E9(stage: Scene) -> None:
    begun, may_go_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        assert may_go_on.wait(5)

    before = state(stage.memory)
    stage.memory = store = second(stage, wait)
    said = [person(RULE), person(PLACE), assistant("Yes.")]
    agent = replace(stage.begin(messages=said), model=Local())
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: extract(agent, said, said, memory=stage.memory))
            await anyio.to_thread.run_sync(begun.wait, 5)
            tasks.cancel_scope.cancel()
        assert not store.taken_back.is_set()
        may_go_on.set()
        assert await anyio.to_thread.run_sync(store.taken_back.wait, 5)
    assert len(store.saves) == 2
    assert state(stage.memory) == before


async def test_rules_that_had_just_done_when_they_were_broken_off_leave_nothing_behind_E9(
    stage: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(stage.memory)
    said = [person(RULE), assistant("Yes.")]
    agent = replace(stage.begin(messages=said), model=Local())

    class Breaking:
        """A lock that, when the thread has taken it, breaks off who waits for the thread."""

        def __init__(self) -> None:
            self.real = threading.Lock()
            self.locked = self.real.locked

        def acquire(self, *, blocking: bool) -> bool:
            first = self.real.acquire(blocking=blocking)
            if first:
                anyio.from_thread.run_sync(tasks.cancel_scope.cancel)
            return first

    monkeypatch.setattr("memdir.extract.run.Lock", Breaking)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: extract(agent, said, said, memory=stage.memory))
    assert state(stage.memory) == before


# -- of a talk ----------------------------------------------------------------------------------------------


def talk(*messages: Message) -> Talk:
    return Talk(session_id="theirs", cwd=Path("/nowhere/shop"), messages=messages, ended=NOW)


async def test_each_part_is_told_as_it_is_saved_also_if_a_later_one_fails_E8(memory: MemoryDir) -> None:
    folder, told = memory.directory, list[Saved]()
    saves = [
        call("Write", file_path=f"{folder}/no_fridays.md", content=FRIDAYS),
        call("Write", file_path=f"{folder}/MEMORY.md", content=POINTER),
    ]
    half = call("Write", file_path=f"{folder}/half.md", content=FRIDAYS)
    model = ScriptedModel([saves, say("Saved."), half, busy()])
    said = talk(person("one", at=NOW), person("two", at=NOW + timedelta(days=1)))
    cursors = folder.parent / "cursors"
    with pytest.raises(ModelOverloaded):
        await learn(said, memory=memory, model=model, cursors=cursors, now=lambda: NOW, on_saved=told.append)
    assert [change.file for saved in told for change in saved.changes] == ["no_fridays.md"]
    assert sorted(tree(folder)) == ["MEMORY.md", "no_fridays.md"]
    kept = cursor.load(cursors, "theirs")
    assert kept is not None
    assert kept.message == said.messages[0].id


async def test_of_a_part_in_pieces_nothing_stays_if_one_fails_E7(memory: MemoryDir) -> None:
    folder, told = memory.directory, list[Saved]()
    saves = [
        call("Write", file_path=f"{folder}/no_fridays.md", content=FRIDAYS),
        call("Write", file_path=f"{folder}/MEMORY.md", content=POINTER),
    ]
    model = ScriptedModel([saves, say("Saved."), busy()], window=20_000)
    said = talk(person("word " * 12_000, at=NOW))
    cursors = folder.parent / "cursors"
    with pytest.raises(ModelOverloaded):
        await learn(said, memory=memory, model=model, cursors=cursors, now=lambda: NOW, on_saved=told.append)
    assert (told, tree(folder), memory.trashed()) == ([], {}, [])
    assert cursor.load(cursors, "theirs") is None
    assert len(model.requests) == 3
