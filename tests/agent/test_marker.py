"""The mark that lets a secret stand is the person's: no tool sets it, for nobody (E10)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memdir.agent.tools import ToolContext
from tests.agent.world import TOPIC, World

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
MARK = "<!-- memdir:allow-secret -->"
MARKED = f"{TOPIC}token {TOKEN} {MARK}\n"


@pytest.fixture(params=[False, True], ids=["main agent", "fork"])
def world(world: World, request: pytest.FixtureRequest) -> World:
    context: ToolContext = replace(world.context, memory_only=request.param)
    return replace(world, context=context)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "line",
    [
        f"token {TOKEN} {MARK}",
        f"nothing yet {MARK}",
        f"token {TOKEN} <!--memdir:allow-secret-->",
        f"token {TOKEN} # memdir:allow-secret",
        f"token {TOKEN} // memdir:allow-secret",
        f"token {TOKEN} <!-- memdir:allow\u2060-secret -->",
    ],
)
async def test_no_tool_writes_the_mark_E10(world: World, line: str) -> None:
    path = world.topic()
    await world.use("Read", file_path=str(path))
    before = path.read_bytes()
    told = [
        await world.fails("Write", file_path=str(path), content=f"{TOPIC}{line}\n"),
        await world.fails("Edit", file_path=str(path), old_string="Tabs, never", new_string=f"{line}\nTabs"),
        await world.fails("Write", file_path=str(path.with_name("new.md")), content=f"{TOPIC}{line}\n"),
        await world.fails("Edit", file_path=str(path.with_name("new.md")), old_string="", new_string=line),
        await world.fails(
            "Write", file_path=str(path.with_name("MEMORY.md")), content=f"- [T](tabs.md) {line}\n"
        ),
    ]
    assert path.read_bytes() == before
    assert not path.with_name("new.md").exists()
    assert not any(TOKEN in one for one in told)


@pytest.mark.anyio
async def test_a_line_that_the_person_marked_lets_no_other_secret_in_E10(world: World) -> None:
    path = world.topic(content=MARKED)
    await world.use("Read", file_path=str(path))
    other = "ghp_" + "Z9y8X7w6V5u4" * 3
    for old, new in (
        (TOKEN, other),
        (f"token {TOKEN}", f"token {TOKEN} and {other}"),
        (f" {MARK}\n", f" {MARK}\nalso {other}\n"),
        ("Tabs, never", f"{other} {MARK}\nTabs, never"),
        (f"token {TOKEN} {MARK}", f"token {other} {MARK}"),
    ):
        assert other not in await world.fails("Edit", file_path=str(path), old_string=old, new_string=new)
    assert path.read_bytes() == MARKED.encode()


@pytest.mark.anyio
async def test_what_stands_beside_a_marked_line_can_be_changed_E10(world: World) -> None:
    path = world.topic(content=MARKED)
    await world.use("Read", file_path=str(path))
    await world.use("Edit", file_path=str(path), old_string="Tabs, never", new_string="Tabs and never")
    assert f"token {TOKEN} {MARK}\n" in path.read_text("utf-8")
