"""Glob and Grep: the same answers with ripgrep and without (A2)."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import anyio
import pytest

from memdir.agent.tools import grep, search
from tests.agent.world import World

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["ripgrep", "python"])
def searcher(request: pytest.FixtureRequest, world: World) -> World:
    """The world with ripgrep on the PATH, or without."""
    if request.param == "ripgrep":
        if shutil.which("rg") is None:
            pytest.skip("ripgrep is not installed")
        return world
    environment = {**world.context.environment, "PATH": "/nowhere"}
    world.context = replace(world.context, environment=environment)
    return world


def dated(world: World, name: str, content: str | bytes, second: int) -> str:
    path = world.file(name, content)
    os.utime(path, (second, second))
    return str(path)


async def test_files_come_newest_first_A2(world: World) -> None:
    old = dated(world, "src/a.py", "", 1)
    new = dated(world, "b.py", "", 2)
    dated(world, "c.txt", "", 3)
    dated(world, ".git/d.py", "", 4)
    assert await world.use("Glob", pattern="**/*.py") == f"{new}\n{old}"
    assert await world.use("Glob", pattern="src/*") == old
    assert await world.use("Glob", pattern="*.py", path=str(world.root / "src")) == old
    assert "No file" in await world.use("Glob", pattern="*.rs")
    assert "no folder" in await world.fails("Glob", pattern="*", path="nowhere")
    assert "folder" in await world.fails("Glob", pattern="../*")
    assert "folder" in await world.fails("Glob", pattern="/etc/*")


async def test_a_hundred_files_are_enough(world: World) -> None:
    for n in range(105):
        world.file(f"{n}.txt")
    shown = await world.use("Glob", pattern="*.txt")
    assert shown.endswith("[the 100 newest of 105; a narrower pattern or folder shows others]")
    assert len(shown.splitlines()) == 101


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "x/y/a.py", True),
        ("**/*.py", "a.py", True),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/**", "src/x/a.py", True),
        ("**", "a", True),
        ("*.{ts,tsx}", "a.tsx", True),
        ("{src,lib}/*.c", "lib/a.c", True),
        ("a?[bc]", "axb", True),
        ("*.py", "a.pyc", False),
        ("**/x/**/*.md", "a/x/b/c.md", True),
        ("*a*a*a*a*a*a*a*a*b", "a" * 200, False),
    ],
)
def test_patterns_mean_what_coding_models_expect(pattern: str, path: str, fits: bool) -> None:
    assert search.matcher(pattern)(path) is fits


async def test_the_three_modes_of_grep_A2(searcher: World) -> None:
    a = dated(searcher, "a.py", "import os\nx = 1\nimport sys\n", 1)
    b = dated(searcher, "sub/b.txt", "import nothing\r\n", 2)
    use = searcher.use
    assert await use("Grep", pattern="import") == f"{b}\n{a}"
    assert await use("Grep", pattern="import", glob="*.py") == a
    assert await use("Grep", pattern="IMPORT") == f"No match below {searcher.root}"
    assert await use("Grep", pattern="IMPORT", **{"-i": True}, output_mode="count") == f"{b}:1\n{a}:2"
    shown = await use("Grep", pattern="^import", output_mode="content")
    assert shown == f"{b}:1:import nothing\n{a}:1:import os\n{a}:3:import sys"
    shown = await use("Grep", pattern="x =", output_mode="content", **{"-n": False, "-C": 1})
    assert shown == f"{a}-import os\n{a}:x = 1\n{a}-import sys"
    assert await use("Grep", pattern="import", path=a, output_mode="count") == f"{a}:2"
    shown = await use("Grep", pattern="import", output_mode="content", head_limit=1)
    assert shown == f"{b}:1:import nothing\n[2 more lines of output left out]"


async def test_pieces_that_do_not_touch_are_set_apart(searcher: World) -> None:
    a = dated(searcher, "a.txt", "hit\n1\n2\n3\nhit\n", 1)
    shown = await searcher.use("Grep", pattern="hit", output_mode="content", **{"-A": 1})
    assert shown == f"{a}:1:hit\n{a}-2-1\n--\n{a}:5:hit"


async def test_what_is_never_searched(searcher: World) -> None:
    for name in (".git/config", "node_modules/m.js", ".env", "deep/.ssh/config", "k/ID_RSA", "x.pem"):
        searcher.file(name, "needle\n")
    for name in (".config/gh/hosts.yml", "Prod.ENV", "ci/secrets.yaml", ".cargo/credentials", "a/server.key"):
        searcher.file(name, "needle\n")
    searcher.file("binary", b"needle\0\n")
    outside = searcher.memory.directory / "outside.txt"
    outside.write_text("needle\n")
    (searcher.root / "link").symlink_to(outside)
    found = searcher.file(".github/workflow.yml", "needle\n")
    os.mkfifo(searcher.root / "pipe")
    with anyio.fail_after(10):
        assert await searcher.use("Grep", pattern="needle") == str(found)


async def test_a_place_of_credentials_is_passed_by_from_inside_its_path_and_searched_when_named(
    searcher: World,
) -> None:
    path = searcher.file(".config/gh/hosts.yml", "needle\n")
    assert await searcher.use("Grep", pattern="needle", path=".config") == f"No match below {path.parents[1]}"
    assert await searcher.use("Grep", pattern="needle", path=".config/gh") == str(path)
    assert await searcher.use("Grep", pattern="needle", path=".config/gh/hosts.yml") == str(path)


async def test_a_bad_pattern_or_place_is_told(searcher: World) -> None:
    searcher.file("a.txt", "x\n")
    assert "Grep" in await searcher.fails("Grep", pattern="(")
    assert "there is no" in await searcher.fails("Grep", pattern="x", path="nowhere")
    assert "whole machine" in await searcher.fails("Grep", pattern="x", path="/")
    assert "NUL" in await searcher.fails("Grep", pattern="x\0")


async def test_an_answer_of_grep_has_a_size(searcher: World) -> None:
    searcher.file("a.txt", "needle " + "y" * 300 + "\n" + "needle\n" * 9000)
    shown = await searcher.use("Grep", pattern="needle", output_mode="content")
    assert len(shown) < 31_000
    assert "more lines of output left out" in shown


async def test_an_endless_expression_is_stopped(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep, "SECONDS", 0.5)
    world.context = replace(world.context, environment={"PATH": "/nowhere"})
    world.file("a.txt", "a" * 60 + "!\n")
    with anyio.fail_after(10):
        assert "stopped" in await world.fails("Grep", pattern="(a+)+$")


async def test_the_settings_of_ripgrep_do_not_count(searcher: World) -> None:
    config = searcher.file(".ripgreprc", "--invert-match\n")
    searcher.file("a.txt", "needle\n")
    environment = {**searcher.context.environment, "RIPGREP_CONFIG_PATH": str(config)}
    searcher.context = replace(searcher.context, environment=environment)
    shown = await searcher.use("Grep", pattern="needle", output_mode="count", glob="*.txt")
    assert shown.endswith("a.txt:1")
