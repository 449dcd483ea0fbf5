"""What users of other programs reported of an index that was cut, thin, stale or elsewhere, and ours.

b039, b041 ...: the numbers of the reports, each with its link.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from memdir import app
from memdir.agent.events import Events
from memdir.agent.file_state import FileState
from memdir.agent.instructions import context_message
from memdir.doctor.checkup import checkup, problems
from memdir.memory import entrypoint
from memdir.memory.topic import render
from memdir.model.jobs import Models
from memdir.model.local import Local
from memdir.testing import ScriptedModel
from tests.agent.world import NOW, TOPIC, World, world_in
from tests.cli.support import Desk

pytestmark = pytest.mark.anyio


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_in(tmp_path)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A project in whose conversations nothing needs a model."""

    project: app.Project

    @property
    def memory(self) -> Path:
        return self.project.require_memory().directory

    @asynccontextmanager
    async def runtime(self) -> AsyncIterator[app.Runtime]:
        models = Models(chat=ScriptedModel(), recall=Local(), extract=Local())
        async with app.running(self.project, models=models) as runtime:
            yield runtime

    async def start(self) -> str:
        """What a new conversation is told of memory."""
        async with self.runtime() as runtime:
            conversation = await runtime.start()
        (first,) = conversation.agent.messages
        return first.text

    async def recalled(self, prompt: str) -> list[str]:
        """The files that a prompt would get, where no conversation was started."""
        async with self.runtime() as runtime:
            return list((await runtime.recalled(prompt)).files)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    place = tmp_path / "shop"
    place.mkdir()
    environment = {"HOME": str(tmp_path), "MEMDIR_HOME": str(tmp_path / "state")}
    project = app.open_project(place.resolve(), environment=environment)
    project.require_memory().prepare()
    return Stage(project=project)


def put(folder: Path, name: str, body: str, *, title: str | None = None, about: str | None = None) -> None:
    """A memory without a pointer, as another program would leave it."""
    text = render(name=title or name.removesuffix(".md"), description=about, type="project", body=body)
    (folder / name).write_text(text, encoding="utf-8")


def entries(count: int, *, length: int = 0) -> str:
    """An index with that many entries, each of `length` characters where it is not longer."""
    return "".join(
        f"- [Topic {number}](t{number}.md) — old".ljust(length, "x") + "\n" for number in range(count)
    )


def begin(world: World) -> str:
    """What a new conversation is told of memory; it then knows the index."""
    message = context_message(world.memory, files=world.context.files, events=Events(), now=NOW)
    assert message is not None
    return message.text


def below(shown: str) -> str:
    """The warning below an index that was cut."""
    return shown.rpartition("> WARNING: ")[2]


# -- the newest entry is the one that is cut --------------------------------------------------------------


async def test_b039_what_is_saved_into_a_full_index_is_there_at_the_next_start_F7(stage: Stage) -> None:
    """https://github.com/anthropics/claude-code/issues/40210"""
    for number in range(200):
        put(stage.memory, f"t{number}.md", "old")
    (stage.memory / "MEMORY.md").write_text(entries(200))
    stage.project.remember("we deploy the shop on Tuesdays")
    shown = await stage.start()
    assert "](project_deploy_shop_tuesdays.md)" in shown
    assert "Topic 199 (t199.md)" in below(shown)


async def test_b039_files_made_by_hand_beside_a_full_index_are_there_at_the_next_start_F7(
    stage: Stage,
) -> None:
    """https://github.com/anthropics/claude-code/issues/40210"""
    for number in range(200):
        put(stage.memory, f"t{number}.md", "old")
    (stage.memory / "MEMORY.md").write_text(entries(200))
    put(stage.memory, "canary.md", "Ten percent.", title="Canary", about="ten percent of the traffic")
    assert "- [Canary](canary.md) — ten percent of the traffic" in await stage.start()


async def test_b039_an_entry_that_a_model_adds_at_the_end_is_told_at_once_and_named_at_the_next_start_F7(
    world: World,
) -> None:
    """https://github.com/anthropics/claude-code/issues/40210"""
    world.topic(index=entries(200))
    begin(world)
    index, last = world.memory.directory / "MEMORY.md", "- [Topic 199](t199.md) — old\n"
    new = "- [Tabs](tabs.md) — indents with tabs\n"
    told = await world.fails("Edit", file_path=str(index), old_string=last, new_string=last + new)
    assert "201 lines (limit: 200)" in told
    assert "now invisible: tabs.md" in told
    assert index.read_text() == entries(200) + new
    shown = begin(next_conversation(world))
    assert new not in shown
    assert "the last first: Tabs (tabs.md)" in below(shown)


def next_conversation(world: World) -> World:
    """The next conversation on the same memory: it has seen nothing."""
    context = replace(world.context, files=FileState())
    return World(root=world.root, memory=world.memory, context=context)


# -- what was cut is not even named -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "title"),
    [
        ("- [Never compact during a migration](compaction.md) — ask first", "(compaction.md)"),
        ("**Never compact during a migration**, ask first.", "ask first"),
        ("## Never compact during a migration", "migration"),
    ],
)
async def test_b041_a_rule_beyond_the_limit_is_named_at_the_start_F7(
    stage: Stage, rule: str, title: str
) -> None:
    """https://github.com/anthropics/claude-code/issues/56786: on line 238, nobody knew of it."""
    index = entries(237) + rule + "\n"
    (stage.memory / "MEMORY.md").write_text(index)
    shown = await stage.start()
    assert rule not in shown.partition("> WARNING: ")[0]
    assert "Never compact during a migration" in below(shown)
    assert title in below(shown)
    assert all(f"Topic {number} (t{number}.md)" in below(shown) for number in range(200, 237))
    assert (stage.memory / "MEMORY.md").read_text() == index


async def test_b041_naming_what_was_cut_has_a_limit_and_says_how_much_is_left_out_F7(stage: Stage) -> None:
    """https://github.com/anthropics/claude-code/issues/56786"""
    (stage.memory / "MEMORY.md").write_text(entries(5_000))
    warning = below(await stage.start())
    named = re.findall(r"Topic \d+ \(", warning)
    assert named[0] == "Topic 4999 ("
    assert f"; and {4_800 - len(named):,} more.".replace(",", "") in warning
    assert len(warning) < entrypoint.TITLES + 500


# -- two limits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "over", "shown_lines"),
    [
        (entries(120, length=300), "36,360 bytes (limit: 25,000)", 82),
        (entries(260), "260 lines (limit: 200)", 200),
        (entries(260, length=300), "260 lines (limit: 200) and 78,780 bytes (limit: 25,000)", 82),
    ],
    ids=["bytes", "lines", "both"],
)
async def test_b042_either_limit_is_told_and_no_line_is_cut_in_two_F7(
    stage: Stage, index: str, over: str, shown_lines: int
) -> None:
    """https://github.com/anthropics/claude-code/issues/57574: 120 long lines, and no word about it."""
    (stage.memory / "MEMORY.md").write_text(index)
    shown = await stage.start()
    assert below(shown).startswith(f"MEMORY.md is {over}; only the first part")
    loaded = [line for line in shown.partition("> WARNING: ")[0].splitlines() if line.startswith("- ")]
    assert loaded == index.splitlines()[: len(loaded)]
    assert len("\n".join(loaded).encode()) <= entrypoint.MAX_BYTES
    assert len(loaded) == shown_lines


# -- the files behind the index ---------------------------------------------------------------------------


async def test_b043_a_file_is_recalled_by_its_body_though_its_index_line_is_thin_M6(stage: Stage) -> None:
    """https://github.com/anthropics/claude-code/issues/24474"""
    put(
        stage.memory,
        "testing.md",
        "Integration tests need the Kestrel emulator on port 9040.",
        title="testing notes",
        about="testing notes",
    )
    put(stage.memory, "style.md", "Headings in sentence case.", title="style notes", about="style notes")
    index = "- [testing notes](testing.md)\n- [style notes](style.md)\n"
    (stage.memory / "MEMORY.md").write_text(index)
    assert await stage.recalled("how do I get the Kestrel emulator to run?") == ["testing.md"]


async def test_b043_the_pointer_we_add_says_what_is_in_a_file_without_a_description_F6(stage: Stage) -> None:
    """https://github.com/anthropics/claude-code/issues/24474"""
    (stage.memory / "testing.md").write_text("# testing\n\n- Needs the Kestrel emulator.\n- More.\n")
    assert "- [testing](testing.md) — Needs the Kestrel emulator." in await stage.start()


def test_b043_the_pointer_we_add_tells_nothing_of_a_file_with_a_secret_E10(stage: Stage) -> None:
    """https://github.com/anthropics/claude-code/issues/24474: a usable hook, and never at that price."""
    text = f"the token, kept here for now, is {'ghp_' + 'a1B2c3D4e5F6' * 3}\n"
    (stage.memory / "token.md").write_text(text)
    memory = stage.project.require_memory()
    assert memory.mend() == ["added a pointer to token.md"]
    assert memory.index() == "- [token](token.md)\n"


# -- topic and pointer drift apart ------------------------------------------------------------------------


async def test_b045_an_index_shown_at_the_start_may_be_edited_without_another_read_A2(world: World) -> None:
    """https://github.com/anthropics/claude-code/issues/78569: the refusal left an orphan each time."""
    old = "- [Dark](dark.md) — dark themes\n"
    world.topic("dark.md", index=old)
    begin(world)
    folder, new = world.memory.directory, "- [Tabs](tabs.md) — indents with tabs\n"
    await world.use("Write", file_path=str(folder / "tabs.md"), content=TOPIC)
    await world.use("Edit", file_path=str(folder / "MEMORY.md"), old_string=old, new_string=old + new)
    assert world.memory.index() == old + new
    assert world.memory.mend() == []


async def test_b045_a_topic_whose_index_edit_is_refused_gets_its_pointer_at_the_next_start_F9(
    world: World,
) -> None:
    """https://github.com/anthropics/claude-code/issues/78569: here somebody else changed the index."""
    old = "- [Dark](dark.md) — dark themes\n"
    world.topic("dark.md", index=old)
    begin(world)
    index = world.memory.directory / "MEMORY.md"
    await world.use("Write", file_path=str(world.memory.directory / "tabs.md"), content=TOPIC)
    index.write_text(f"# Mine\n{old}")
    told = await world.fails(
        "Edit", file_path=str(index), old_string=old, new_string=f"{old}- [T](tabs.md)\n"
    )
    assert "Read it again" in told
    assert world.memory.mend() == ["added a pointer to tabs.md"]
    assert world.memory.index() == f"# Mine\n{old}- [Tabs](tabs.md) — Indents with tabs\n"


async def test_b045_a_deleted_memory_leaves_no_dead_link_and_one_made_by_hand_is_told_F6(
    world: World,
) -> None:
    """https://github.com/anthropics/claude-code/issues/78569: a line of a person's is never taken away."""
    path = world.topic(index="- [Tabs](tabs.md) — indents with tabs\n- [Gone](gone.md) — my own words\n")
    await world.use("Read", file_path=str(path))
    await world.use("Write", file_path=str(path), content="")
    assert world.memory.index() == "- [Gone](gone.md) — my own words\n"
    assert world.memory.mend() == []
    assert problems(world.memory, now=NOW) == ["MEMORY.md: it points to gone.md, which is not there"]
    (finding,) = checkup(world.memory, now=NOW)
    assert (finding.file, finding.line, finding.kind) == ("MEMORY.md", 1, "dead pointer")


async def test_b047_a_file_without_an_index_line_is_found_and_gets_one_M6_F9(stage: Stage) -> None:
    """https://github.com/davegoldblatt/total-recall/issues/5: the index is no list of what there is."""
    put(stage.memory, "known.md", "Headings in sentence case.")
    (stage.memory / "MEMORY.md").write_text("- [known](known.md)\n")
    (stage.memory / "topic.md").write_text("The canary takes ten percent of the traffic.\n")
    assert await stage.recalled("how much traffic does the canary take?") == ["topic.md"]
    assert [header.path for header in stage.project.require_memory().list()] == ["topic.md", "known.md"]
    line = "- [topic](topic.md) — The canary takes ten percent of the traffic."
    assert line in await stage.start()
    assert (stage.memory / "MEMORY.md").read_text() == f"- [known](known.md)\n{line}\n"


# -- nobody says that it has grown ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "unseen"), [("- [Tabs](tabs.md) - {}", 255), ("{} and more prose", 0)], ids=["entries", "prose"]
)
def test_b048_an_index_of_52_kb_is_told_with_its_size_and_the_limit_F7(
    desk: Desk, line: str, unseen: int
) -> None:
    """https://github.com/vamseeachanta/workspace-hub/issues/3366: twice the limit, and half never loaded."""
    desk.memory.mkdir(parents=True)
    (desk.memory / "tabs.md").write_text(TOPIC)
    text = "".join(line.format(number).ljust(114, "x") + "\n" for number in range(455))
    (desk.memory / "MEMORY.md").write_text(text)
    size = f"455 lines (limit: 200) and {len(text):,} bytes (limit: 25,000)"
    ran = desk("doctor")
    assert ran.code == 1
    assert f"MEMORY.md  it is at {size}" in ran.out
    assert f"entries that nobody sees: {unseen}" in ran.out
    status = desk("status")
    assert "455 of 200 lines, 52,325 of 25,000 bytes" in status.out
    assert f"warning: MEMORY.md: it is at {size}" in status.err
    assert status.err.count("\n") == 1


# -- written where nobody looks ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "base"), [("memdir", ".memdir"), ("claude", ".claude")], ids=["memdir", "claude"]
)
async def test_b112_the_index_is_written_to_the_folder_from_which_it_is_loaded_P1_P9(
    tmp_path: Path, layout: str, base: str
) -> None:
    """https://github.com/rohitg00/agentmemory/pull/1134: it was in the folder above, and never loaded."""
    place = (tmp_path / "shop").resolve()
    place.mkdir()
    project = app.open_project(place, environment={"HOME": str(tmp_path)}, overrides={"layout": layout})
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(place)) if layout == "claude" else project.places.slug
    right = tmp_path / base / "projects" / slug / "memory" / "MEMORY.md"
    wrong = right.parent.parent / "MEMORY.md"
    right.parent.mkdir(parents=True)
    wrong.write_text("- [Stray](stray.md) — not in the memory folder\n")
    project.remember("we deploy the shop on Tuesdays")
    assert sorted(tmp_path.rglob("MEMORY.md")) == sorted([right, wrong])
    assert "project_deploy_shop_tuesdays.md" in right.read_text()
    assert wrong.read_text() == "- [Stray](stray.md) — not in the memory folder\n"
    shown = await Stage(project=project).start()
    assert f"Contents of {right}" in shown
    assert "project_deploy_shop_tuesdays.md" in shown
    assert "Stray" not in shown
