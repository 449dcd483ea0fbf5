"""Read: numbered lines, and a table of what was seen (A2)."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from memdir.agent.tools import read
from tests.agent.world import NOW, World

pytestmark = pytest.mark.anyio


async def test_lines_come_numbered_as_cat_does_A2(world: World) -> None:
    path = world.file("a.py", "one\n\ttwo\nthree")
    assert await world.use("Read", file_path=str(path)) == "     1\tone\n     2\t\ttwo\n     3\tthree"


async def test_a_file_read_whole_is_known_whole_A2(world: World) -> None:
    path = world.file("a.py", "one\n")
    await world.use("Read", file_path=str(path))
    seen = world.context.files.known(path)
    assert seen is not None
    assert (seen.partial, seen.data, seen.how) == (False, b"one\n", "read")


async def test_a_piece_is_given_by_offset_and_limit_and_is_known_in_part_A2(world: World) -> None:
    path = world.file("a.txt", "".join(f"line {n}\n" for n in range(1, 11)))
    shown = await world.use("Read", file_path=str(path), offset=3, limit=2)
    assert shown == "     3\tline 3\n     4\tline 4\n\n[lines 3 to 4 of 10; go on with offset 5]"
    seen = world.context.files.known(path)
    assert seen is not None
    assert seen.partial
    assert seen.counts_as_read


async def test_a_piece_read_after_the_whole_takes_nothing_away_A2(world: World) -> None:
    path = world.file("a.txt", "one\ntwo\n")
    await world.use("Read", file_path=str(path))
    await world.use("Read", file_path=str(path), limit=1)
    seen = world.context.files.known(path)
    assert seen is not None
    assert not seen.partial


async def test_long_files_and_long_lines_are_cut_with_a_word_about_it(world: World) -> None:
    path = world.file("long.txt", "x\n" * 2500)
    shown = await world.use("Read", file_path=str(path))
    assert shown.endswith("[lines 1 to 2000 of 2500; go on with offset 2001]")
    wide = world.file("wide.txt", "y" * 5000 + "\n")
    shown = await world.use("Read", file_path=str(wide))
    assert shown == "     1\t" + "y" * 2000 + " [line cut]"
    seen = world.context.files.known(wide)
    assert seen is not None
    assert seen.partial


async def test_an_answer_has_a_size(world: World) -> None:
    path = world.file("big.txt", ("z" * 1000 + "\n") * 1500)
    shown = await world.use("Read", file_path=str(path))
    assert len(shown) < read.MAX_CHARACTERS + 200
    assert "go on with offset" in shown


async def test_an_empty_file_says_so(world: World) -> None:
    path = world.file("empty.txt")
    assert await world.use("Read", file_path=str(path)) == f"[{path} is there, and empty]"


async def test_what_is_no_text_file_is_refused_with_advice(world: World) -> None:
    binary = world.file("a.bin", b"\x7fELF\0\0\0")
    said = await world.fails("Read", file_path=str(binary))
    assert said.endswith("is a binary file (7 bytes); Read shows text, and PNG, JPEG, GIF and WebP")
    assert "list it with Glob" in await world.fails("Read", file_path=str(world.root))
    missing = await world.fails("Read", file_path=str(world.root / "a.bon"))
    assert f"did you mean {binary}?" in missing
    assert "not there either" in await world.fails("Read", file_path=str(world.root / "x" / "y"))
    assert "NUL" in await world.fails("Read", file_path="a\0b")
    world.file("short.txt", "one\n")
    assert "only 1 lines" in await world.fails("Read", file_path="short.txt", offset=9)


async def test_a_pipe_never_blocks(world: World) -> None:
    pipe = world.root / "pipe"
    os.mkfifo(pipe)
    with anyio.fail_after(5):
        assert "pipe" in await world.fails("Read", file_path=str(pipe))


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("\ufeffhé\r\n".encode(), "hé"),
        ("hé\n".encode("utf-16"), "hé"),
        (b"h\xe9\n", "hé"),
        ("一\u2028二\n".encode(), "一\u2028二"),
    ],
)
async def test_encodings_and_line_ends_are_understood(world: World, data: bytes, line: str) -> None:
    path = world.file("text.txt", data)
    assert await world.use("Read", file_path=str(path)) == f"     1\t{line}"


async def test_an_old_memory_comes_with_its_age_M5(world: World) -> None:
    path = world.topic()
    old = (NOW - timedelta(days=40)).timestamp()
    os.utime(path, (old, old))
    shown = await world.use("Read", file_path=str(path))
    assert "40 days" in shown
    fresh = world.topic("fresh.md")
    os.utime(fresh, (NOW.timestamp(), NOW.timestamp()))
    assert "days" not in await world.use("Read", file_path=str(fresh))


async def test_a_link_and_its_target_are_one_file(world: World) -> None:
    target = world.file("target.txt", "one\n")
    link = world.root / "link.txt"
    link.symlink_to(target)
    await world.use("Read", file_path=str(link))
    assert world.context.files.known(target) == world.context.files.known(Path(link))


async def test_wrong_input_names_every_fault_A2(world: World) -> None:
    said = await world.fails("Read", offset="1", limit=0, colour="red")
    assert said == (
        "Read: file_path is missing; offset must be of type integer, not str; limit must be at least 1; "
        "there is no parameter colour. Parameters: file_path, offset?, limit?."
    )
    assert "one of" in await world.fails("Grep", pattern="x", output_mode="everything")
    assert "at most" in await world.fails("Bash", command="true", timeout=10_000_000)
    assert "integer" in await world.fails("Read", file_path="a", limit=True)
