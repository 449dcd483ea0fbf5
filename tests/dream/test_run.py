"""One dream from the lock to what it made of the memories."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from memdir.dream.lock import Lock
from memdir.errors import Conflict, ModelOverloaded
from memdir.memory import entrypoint
from memdir.memory.pointer import key
from memdir.memory.store import MemoryDir
from memdir.model.messages import Request
from memdir.testing import Line, call, say
from tests.dream.night import Night
from tests.dream.untidy import Benign, Untidy, stage_of, untidy

pytestmark = pytest.mark.anyio


def well_kept() -> Untidy:
    """A directory in which there is nothing to do."""
    head = "---\nname: {0}\ndescription: about {0}\ntype: project\n---\n"
    names = ("birch", "larch", "maple")
    files = {f"{one}.md": head.format(one) + f"The {one} grows behind the house.\n" for one in names}
    index = "".join(f"- [{one}]({one}.md) — about {one}\n" for one in names)
    return Untidy(files={**files, "MEMORY.md": index})


@pytest.fixture
def night(tmp_path: Path) -> Night:
    return Night(tmp_path.resolve())


def brought(night: Night, ask: str) -> list[str]:
    with night.dreaming.asking(night.directory) as asking:
        return list(asking(ask))


async def test_a_good_dream_of_an_untidy_directory_is_carried_out_and_undone_to_the_byte_D8(
    night: Night,
) -> None:
    made = untidy()
    before = night.lay(made)
    dreamed = await night.dream(Benign(made).lines)
    assert [one.reason for one in dreamed.objections] == []
    assert dreamed.outcome == "applied"
    after = night.tree()
    assert not {*made.doubles, *made.outdated} & after.keys()
    index = after["MEMORY.md"][0].decode()
    assert not entrypoint.load(index).truncated
    topics = {name for name in after if name.endswith(".md") and name != "MEMORY.md"}
    assert {key(one.file) for one in entrypoint.pointers(index)} == {key(name) for name in topics}
    for ask, name in made.probes.items():
        assert name in brought(night, ask)
    for extra, double in zip(made.extra.values(), made.extra, strict=True):
        assert extra.encode() in after[made.doubles[double]][0]
    assert dreamed.applied is not None
    assert dreamed.applied.change is not None
    await night.undo(dreamed.applied.change)
    assert night.tree() == before


async def test_the_notice_counts_the_topic_files_and_names_the_way_back_D6(night: Night) -> None:
    made = untidy()
    night.lay(made)
    dreamed = await night.dream(Benign(made).lines)
    assert dreamed.applied is not None
    changed = {*made.doubles, *made.outdated, *made.stale, *(made.doubles[one] for one in made.extra)}
    assert set(dreamed.topics) == changed
    assert dreamed.notice == (
        f"Improved {len(changed)} memories; `memdir undo {dreamed.applied.change}` takes it back"
    )
    phases = list(dict.fromkeys(one.phase for one in night.seen))
    assert phases == ["look around", "gather", "consolidate", "prune"] or phases[0] == "look around"
    assert night.seen[-1].turns == 6
    assert night.seen[-1].tool_calls > 100
    assert [event.name for event in night.told] == ["dreaming", "dreamed"]


async def test_a_dream_that_changes_nothing_says_nothing_D6(night: Night) -> None:
    before = night.lay(well_kept())
    dreamed = await night.dream([say("All is well.")])
    assert (dreamed.outcome, dreamed.notice) == ("nothing", None)
    assert night.tree() == before


async def test_what_was_wrong_with_the_index_before_is_mended_along_D8(night: Night) -> None:
    made = untidy()
    before = night.lay(made)
    dreamed = await night.dream([say("All is well.")])
    assert (dreamed.outcome, dreamed.objections, dreamed.notice) == ("applied", (), None)
    after = night.tree()
    assert not entrypoint.load(after["MEMORY.md"][0].decode()).truncated
    assert {**after, "MEMORY.md": before["MEMORY.md"]} == before


async def test_of_more_memories_than_the_index_has_room_for_a_dream_can_be_carried_out_D8(
    night: Night,
) -> None:
    made = well_kept()
    for number in range(400):
        name = f"note_{number:03}"
        made.files[f"{name}.md"] = (
            f"---\nname: {name}\ndescription: d{number}\ntype: project\n---\nf{number}.\n"
        )
    night.lay(made)
    dreamed = await night.dream([say("All is well.")])
    assert (dreamed.outcome, dreamed.objections) == ("applied", ())
    assert (await night.dream(None)).outcome == "nothing"


async def test_success_keeps_the_time_of_the_taking_D4(night: Night) -> None:
    night.lay(well_kept())
    await night.dream([say("All is well.")])
    assert abs(night.lock.stat().st_mtime - night.now.timestamp()) < 1
    assert not night.lock.read_bytes().split(b"\n")[0].strip().isdigit()


@pytest.mark.parametrize("prior", [None, 1_790_000_000_123_456_789])
async def test_a_model_that_fails_leaves_all_as_it_was_D4(night: Night, prior: int | None) -> None:
    before = night.lay(untidy())
    if prior is not None:
        night.lock.touch()
        os.utime(night.lock, ns=(prior, prior))
    with pytest.raises(ModelOverloaded):
        await night.dream([ModelOverloaded("busy")])
    assert night.tree() == before
    assert night.lock.exists() == (prior is not None)
    assert prior is None or night.lock.stat().st_mtime_ns == prior
    assert night.stages == []


async def test_a_dream_that_is_broken_off_leaves_all_as_it_was_D6(night: Night) -> None:
    before = night.lay(untidy())
    began = anyio.Event()

    async def forever(_: object) -> Line:
        began.set()
        await anyio.sleep_forever()
        return say("never")

    async def dream() -> None:
        await night.dream([forever])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dream)
        with anyio.fail_after(30):
            await began.wait()
        tasks.cancel_scope.cancel()
    assert night.tree() == before
    assert not night.lock.exists()
    assert night.stages == []


async def test_only_one_dream_at_a_time_D3(night: Night) -> None:
    night.lay(well_kept())
    lock = Lock.take(night.directory, now=lambda: night.now)
    with pytest.raises(Conflict):
        await night.dream([say("never asked")])
    lock.fail()
    assert (await night.dream([say("All is well.")])).outcome == "nothing"


def read_all(pattern: str) -> Callable[[Request], Line]:
    return lambda request: [
        call("Read", file_path=str(one)) for one in sorted(stage_of(request).glob(pattern))
    ]


def empty_all(pattern: str) -> Callable[[Request], Line]:
    return lambda request: [
        call("Write", file_path=str(one), content="") for one in sorted(stage_of(request).glob(pattern))
    ]


HALF_GONE: list[Line] = [read_all("t*.md"), empty_all("t*.md"), say("Tidied.")]
"""A model that empties half of the memories, and gives no reason."""


async def test_a_plan_that_takes_out_too_much_waits_and_changes_nothing_D8(night: Night) -> None:
    before = night.lay(untidy())
    dreamed = await night.dream(HALF_GONE)
    assert dreamed.outcome == "held"
    assert {"budget", "lost"} <= {one.code for one in dreamed.objections}
    assert night.tree() == before
    assert dreamed.notice is not None
    assert "memdir dream show" in dreamed.notice
    assert [item.id for item in night.dreaming.kept.items()] == [dreamed.kept]


async def test_a_plan_waits_where_the_person_wants_to_see_each_D8(night: Night) -> None:
    made = untidy()
    before = night.lay(made)
    dreamed = await night.dream(Benign(made).lines, dreaming=replace(night.dreaming, review=True))
    assert (dreamed.outcome, dreamed.objections) == ("held", ())
    assert night.tree() == before


async def test_a_dry_run_is_shown_and_is_no_dream_D8(night: Night) -> None:
    made = untidy()
    before = night.lay(made)
    dreamed = await night.dream(Benign(made).lines, dry=True)
    assert dreamed.outcome == "shown"
    assert not dreamed.plan.is_empty
    assert night.tree() == before
    assert not night.lock.exists()
    assert night.dreaming.kept.waiting() == 0


async def test_a_dream_that_breaks_a_probe_waits_D8(night: Night) -> None:
    made = untidy()
    before = night.lay(made)
    name = next(iter(made.probes.values()))
    text, index = made.files[name], made.files["MEMORY.md"].replace(f"({name})", "(plain_other.md)")

    def read(request: Request) -> Line:
        return [call("Read", file_path=str(stage_of(request) / one)) for one in (name, "MEMORY.md")]

    def write(request: Request) -> Line:
        stage = stage_of(request)
        return [
            call("Write", file_path=str(stage / "plain_other.md"), content=text),
            call("Write", file_path=str(stage / "MEMORY.md"), content=index),
            call("Write", file_path=str(stage / name), content=""),
        ]

    dreamed = await night.dream([read, write, say("Renamed.")])
    assert dreamed.outcome == "held"
    assert "probe" in {one.code for one in dreamed.objections}
    assert night.tree() == before


async def test_without_a_model_the_index_is_mended_and_no_memory_is_touched_D8(night: Night) -> None:
    made = untidy()
    before = night.lay(made)
    dreamed = await night.dream(None)
    assert [one.reason for one in dreamed.objections] == []
    assert dreamed.outcome == "applied"
    after = night.tree()
    assert not entrypoint.load(after["MEMORY.md"][0].decode()).truncated
    assert {name: one for name, one in after.items() if name != "MEMORY.md"} == {
        name: one for name, one in before.items() if name != "MEMORY.md"
    }
    kinds = {one.kind for one in dreamed.proposals}
    assert {"duplicate", "stale date"} <= kinds
    assert dreamed.notice is None


async def test_a_dream_clears_away_what_killed_ones_left_D8(night: Night) -> None:
    night.lay(well_kept())
    dreams = night.project.places.dreams
    for half in (dreams / "0123456789" / "before", dreams / f"stage-{'0' * 16}" / "memory"):
        half.mkdir(parents=True)
        (half / "a.md").write_text("half of a plan, or a copy")
    assert (await night.dream([say("All is well.")])).outcome == "nothing"
    assert list(dreams.iterdir()) == []


async def test_what_could_not_be_undone_waits_D8(night: Night) -> None:
    made = untidy()
    before = night.lay(made)
    memory = MemoryDir(night.directory, trash=night.folder / "trash")
    dreamed = await night.dream(Benign(made).lines, dreaming=replace(night.dreaming, memory=memory))
    assert dreamed.outcome == "held"
    assert [one.code for one in dreamed.objections] == ["history"]
    assert night.tree() == before
