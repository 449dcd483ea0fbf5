"""What has broken a dream once: each a way in which it was tried, with the rule that holds now."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import anyio
import pytest

from memdir.consolidation import carry_out, dreaming_of, policy_of
from memdir.dream import run, sessions
from memdir.dream.apply import Applied
from memdir.dream.lock import Lock
from memdir.dream.plan import derive
from memdir.dream.plan.reasons import Reasons
from memdir.dream.run import Dreamed
from memdir.dream.stage import Stage, new_folder, snapshot
from memdir.dream.worker import explain
from memdir.errors import Conflict, ContextTooLong, ModelError, OverBudget
from memdir.memory import entrypoint
from memdir.memory.pointer import Pointer, key
from memdir.memory.store import MemoryDir
from memdir.model.messages import Request
from memdir.paths import forget_roots, slug
from memdir.project import open_project
from memdir.testing import Line, call, say
from tests.dream.desk import INDEX, Desk, made, topic
from tests.dream.night import Night
from tests.dream.test_worker import evening
from tests.dream.untidy import Benign, Untidy, stage_of, untidy

pytestmark = pytest.mark.anyio

SECONDS = 60


@pytest.fixture
def night(tmp_path: Path) -> Night:
    return Night(tmp_path.resolve())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def talked(night: Night, count: int) -> None:
    night.project.places.transcripts.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (night.project.places.transcripts / f"{UUID(int=number + 1)}.jsonl").write_text("{}\n")


@contextmanager
def busy(memory: MemoryDir) -> Iterator[threading.Event]:
    """Somebody is writing in the directory until the event is set."""
    has, over = threading.Event(), threading.Event()

    def write() -> None:
        with memory.alone():
            has.set()
            over.wait(SECONDS)

    thread = threading.Thread(target=write)
    thread.start()
    assert has.wait(SECONDS)
    try:
        yield over
    finally:
        over.set()
        thread.join()


def is_flocked(path: Path) -> bool:
    with path.open("rb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


# -- broken off, taken over ----------------------------------------------------------------------------------


async def test_a_dream_that_is_broken_off_while_it_is_carried_out_is_told_and_its_time_is_kept_D4(
    night: Night,
) -> None:
    before = night.lay(untidy())
    dreamed: Dreamed | None = None
    with anyio.fail_after(SECONDS), anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            entered, held = anyio.Event(), threading.Event()

            async def last(_: Request) -> Line:
                entered.set()
                await anyio.to_thread.run_sync(held.wait, SECONDS)
                return say("All is well.")

            async def person() -> None:
                await entered.wait()
                with busy(night.memory) as over:
                    held.set()
                    while not is_flocked(night.lock):
                        await anyio.sleep(0.01)
                    scope.cancel()
                    over.set()

            tasks.start_soon(person)
            dreamed = await night.dream([last])
    assert dreamed is not None
    assert dreamed.outcome == "applied"
    assert night.tree() != before
    assert abs(night.lock.stat().st_mtime - night.now.timestamp()) < 1
    assert night.stages == []


async def test_one_that_was_taken_over_before_it_began_clears_nothing_of_the_next_away_D3(
    night: Night,
) -> None:
    night.lay(untidy())
    lock = Lock.take(night.directory, now=lambda: night.now)
    night.lock.unlink()
    other = Lock.take(night.directory, now=lambda: night.now)
    stage = Stage.make(new_folder(night.project.places.dreams), night.memory)
    with pytest.raises(Conflict):
        run._clear_up(night.dreaming, lock)  # what a process does that wakes up right here
    assert stage.after() == stage.before
    assert other.is_ours()


async def test_one_that_was_taken_over_keeps_no_plan_D3(night: Night) -> None:
    before = night.lay(untidy())

    def taken_over(_: Request) -> Line:
        night.lock.unlink()
        Lock.take(night.directory, now=lambda: night.now)
        return say("All is well.")

    with pytest.raises(Conflict):
        await night.dream([taken_over], dreaming=replace(night.dreaming, review=True))
    assert night.dreaming.kept.items() == ()
    assert night.tree() == before


@pytest.mark.parametrize("error", [OverBudget("not today"), ContextTooLong("too long")])
async def test_a_model_that_fails_after_it_has_written_leaves_all_as_it_was_D4(
    night: Night, error: ModelError
) -> None:
    before = night.lay(untidy())

    def write(request: Request) -> Line:
        path = stage_of(request) / "brand_new.md"
        return call("Write", file_path=str(path), content="---\nname: new\n---\nBrand new.\n")

    with pytest.raises(type(error)):
        await night.dream([write, *([error] * 5)])
    assert night.tree() == before
    assert not night.lock.exists()
    assert night.stages == []


async def test_of_two_that_begin_at_once_in_one_process_one_dreams_and_the_other_has_not_failed_D3(
    night: Night,
) -> None:
    night.lay(untidy())
    talked(night, 5)
    async with evening(night, [say("Well.")]) as one, evening(night, [say("Well.")]) as two:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.dreamer.turn_ended, one.agent)
            tasks.start_soon(two.dreamer.turn_ended, two.agent)
        with anyio.fail_after(SECONDS):
            await one.dreamer.drain(SECONDS)
            await two.dreamer.drain(SECONDS)
    names = [event.name for event in night.told]
    assert names.count("dreamed") == 1
    assert "failed" not in names


# -- the index -----------------------------------------------------------------------------------------------


def overfull() -> Untidy:
    """More memories than the index has room for, each with an entry."""
    files, index = dict[str, str](), ""
    for number in range(400):
        files[f"note_{number:03}.md"] = (
            f"---\nname: note {number}\ndescription: d\ntype: project\n---\nIt was number {number}.\n"
        )
        index += f"- [note {number}](note_{number:03}.md) — d\n"
    return Untidy(files={**files, "MEMORY.md": index})


async def test_an_index_that_has_no_room_for_all_gets_under_its_limits_and_stays_there_F7(
    night: Night,
) -> None:
    before = night.lay(overfull())
    dreamed = await night.dream(None)
    assert (dreamed.outcome, dreamed.topics) == ("applied", ())
    after = night.tree()
    assert not entrypoint.load(after["MEMORY.md"][0].decode()).truncated
    assert {**after, "MEMORY.md": before["MEMORY.md"]} == before
    assert (await night.dream(None)).outcome == "nothing"
    assert dreamed.applied is not None
    assert dreamed.applied.change is not None
    await night.undo(dreamed.applied.change)
    assert night.tree() == before


async def test_an_index_gets_under_its_limits_too_when_the_person_has_it_carried_out_F7(
    night: Night,
) -> None:
    night.lay(overfull())
    held = await night.dream(None, dreaming=replace(night.dreaming, review=True))
    assert held.outcome == "held"
    carry_out(night.project, night.dreaming.kept.get())
    assert not entrypoint.load(night.tree()["MEMORY.md"][0].decode()).truncated
    assert night.dreaming.kept.items() == ()


async def test_where_there_is_room_a_plan_that_drops_the_index_costs_no_entry_D8(desk: Desk) -> None:
    files = {f"{name}.md": topic(f"The {name} grows.", name=name) for name in ("birch", "larch")}
    index = b"- [birch](birch.md)\n- [larch](larch.md)\n"
    before = desk.begin({**files, INDEX: index})
    after = made(before, {INDEX: b""})
    desk.dream(before, after, plan=derive(before, after, Reasons()))
    assert entrypoint.linked(desk.text(INDEX)) == {key("birch.md"), key("larch.md")}


# -- meanwhile -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_deleted", [True, False])
def test_what_was_taken_out_meanwhile_does_not_come_back_where_the_plan_has_copied_it_D8(
    desk: Desk, *, is_deleted: bool
) -> None:
    line = "The safe opens with the key of the house in Oslo."
    kept = "The house in Oslo is painted red each May."
    before = desk.begin({"a.md": topic(line, kept), "b.md": topic("The boat lies in Bergen.")})
    after = made(before, {"b.md": topic("The boat lies in Bergen.", line)})
    if is_deleted:
        desk.at("a.md").unlink()
    else:
        desk.put("a.md", topic(kept))
    applied = desk.dream(before, after)
    assert [one.file for one in applied.left] == ["b.md"]
    assert not any(line.encode() in data for data in desk.bytes().values())


async def test_what_is_saved_while_a_dream_goes_on_is_neither_lost_nor_refused_F9(night: Night) -> None:
    made_ = untidy()
    night.lay(made_)
    over, errors, saved = threading.Event(), list[BaseException](), list[str]()

    def save() -> None:
        while not over.wait(0.05):  # who writes all the time leaves nobody a turn
            name = f"ferry_{len(saved)}"
            try:
                night.memory.save(
                    f"{name}.md",
                    topic(f"The {name} leaves at dawn.", name=name),
                    pointer=Pointer(title=name, file=f"{name}.md", hook="when it leaves"),
                    expected=None,
                    now=night.now,
                    origin=None,
                )
                saved.append(name)
            except Exception as error:  # noqa: BLE001 - it is what is asked about
                errors.append(error)
                return

    thread = threading.Thread(target=save)
    thread.start()
    try:
        dreamed = await night.dream(Benign(made_).lines)
    finally:
        over.set()
        await anyio.to_thread.run_sync(thread.join)
    assert (dreamed.outcome, errors) == ("applied", [])
    tree = night.tree()
    assert [name for name in saved if f"The {name} leaves".encode() not in tree[f"{name}.md"][0]] == []
    topics = {key(file) for file in tree if file.endswith(".md") and file != "MEMORY.md"}
    assert entrypoint.linked(tree["MEMORY.md"][0].decode()) == topics


# -- other places --------------------------------------------------------------------------------------------


async def test_a_memory_directory_that_is_a_link_is_dreamed_of_with_its_probes_D8(
    night: Night, tmp_path: Path
) -> None:
    made_ = untidy()
    night.lay(made_)
    real = tmp_path / "elsewhere"
    night.directory.rename(real)
    night.directory.symlink_to(real)
    assert (real / "probes.yaml").exists()
    dreamed = await night.dream(Benign(made_).lines)
    assert (dreamed.outcome, dreamed.objections) == ("applied", ())
    assert night.directory.is_symlink()


def test_in_remote_mode_it_is_never_time_for_a_dream_and_that_is_said_D1(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "MEMDIR_HOME": str(tmp_path / "home"),
        "MEMDIR_REMOTE": "1",
        "MEMDIR_REMOTE_MEMORY_DIR": str(tmp_path / "far"),
    }
    project = open_project(tmp_path, environment=environment)
    memory = project.require_memory()
    memory.prepare()
    gates = explain(
        dreaming_of(project, memory, events=Night(tmp_path.resolve()).dreaming.events),
        policy_of(project),
        session=None,
    )
    assert next(gate.reason for gate in gates if not gate.passes) == "none begins by itself in remote mode"


def test_a_folder_whose_first_transcript_is_of_another_project_is_settled_by_that_P9(night: Night) -> None:
    places = night.project.places
    for name in ("HEAD", "objects", "refs"):
        path = night.root / ".git" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("ref: refs/heads/main\n") if name == "HEAD" else path.mkdir()
    below = night.root / "tools"
    below.mkdir()
    folder = places.base / "projects" / slug(below, layout=places.layout)
    folder.mkdir(parents=True)
    for number in range(30):
        (folder / f"{UUID(int=number)}.jsonl").write_text(f'{{"cwd": "{below}"}}\n')
    environment = {"MEMDIR_HOME": str(places.state), "HOME": str(night.folder)}
    ours = open_project(night.root, environment=environment).places
    assert folder in sessions.folders(ours)
    (below / ".git").mkdir()
    (below / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for name in ("objects", "refs"):
        (below / ".git" / name).mkdir()
    forget_roots()
    assert folder not in sessions.folders(ours)


# -- what the person is told ---------------------------------------------------------------------------------


def test_what_the_history_could_not_take_in_is_told_and_no_undo_is_promised_D6(desk: Desk) -> None:
    before = desk.begin({"a.md": topic("The boat lies in Bergen.")})
    dreamed = Dreamed(
        outcome="applied",
        plan=derive(before, before, Reasons()),
        before=before,
        after=snapshot(desk.memory),
        applied=Applied(change=None, topics=("a.md",), left=(), files=("a.md",)),
    )
    assert dreamed.notice is not None
    assert dreamed.notice.startswith("Improved 1 memory; ")
    assert "undo" not in dreamed.notice
