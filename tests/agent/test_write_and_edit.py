"""Write and Edit: what may be replaced, what stays as it was, and how memory is written (A2, F1, F7)."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.agent.tools import WroteButOver
from memdir.agent.tools.edit import replace as replace_text
from memdir.agent.tools.text import Shape, decode
from memdir.errors import ToolError
from memdir.memory.topic import Origin
from memdir.testing import tree
from tests.agent.world import TOPIC, World

pytestmark = pytest.mark.anyio


async def test_a_new_file_is_made_with_its_folders_A2(world: World) -> None:
    path = world.root / "src" / "a.py"
    assert await world.use("Write", file_path=str(path), content="x = 1\n") == f"Created {path} (1 lines)"
    assert path.read_bytes() == b"x = 1\n"
    assert path.stat().st_mode & 0o111 == 0


@pytest.mark.parametrize(
    ("folder", "mask", "mode"),
    [(0o777, 0o022, 0o644), (0o777, 0o077, 0o600), (0o700, 0, 0o600), (0o777, 0, 0o666)],
)
async def test_a_new_file_is_as_private_as_its_folder_and_the_umask_make_it(
    world: World, folder: int, mask: int, mode: int
) -> None:
    world.root.chmod(folder)
    before = os.umask(mask)
    try:
        await world.use("Write", file_path=str(world.root / "a.py"), content="x = 1\n")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert (world.root / "a.py").stat().st_mode & 0o777 == mode


async def test_an_existing_file_is_replaced_only_when_seen_whole_A2(world: World) -> None:
    path = world.file("a.txt", "one\ntwo\n")
    assert "Read" in await world.fails("Write", file_path=str(path), content="new")
    await world.use("Read", file_path=str(path), limit=1)
    assert "only a part" in await world.fails("Write", file_path=str(path), content="new")
    await world.use("Read", file_path=str(path))
    await world.use("Write", file_path=str(path), content="new")
    assert path.read_bytes() == b"new"
    await world.use("Write", file_path=str(path), content="newer")
    assert path.read_bytes() == b"newer"


async def test_an_empty_file_has_nothing_to_lose(world: World) -> None:
    path = world.file("a.txt")
    await world.use("Write", file_path=str(path), content="new")
    assert path.read_bytes() == b"new"


async def test_a_file_changed_since_is_not_overwritten_A2(world: World) -> None:
    path = world.file("a.txt", "one\n")
    await world.use("Read", file_path=str(path))
    path.write_bytes(b"two\n")
    assert "changed" in await world.fails("Write", file_path=str(path), content="new")
    assert "changed" in await world.fails("Edit", file_path=str(path), old_string="two", new_string="new")
    assert path.read_bytes() == b"two\n"


async def test_an_edit_needs_a_read_and_a_part_is_enough_A2(world: World) -> None:
    path = world.file("a.txt", "one\ntwo\n")
    assert "Read" in await world.fails("Edit", file_path=str(path), old_string="two", new_string="2")
    await world.use("Read", file_path=str(path), limit=1)
    said = await world.use("Edit", file_path=str(path), old_string="two", new_string="2")
    assert said == f"Changed {path}:\n     1\tone\n     2\t2"
    assert path.read_bytes() == b"one\n2\n"


async def test_a_file_surfaced_whole_counts_as_read_and_one_surfaced_cut_does_not_A2(world: World) -> None:
    whole, cut = world.topic(), world.topic("cut.md", index=None)
    for path, partial in ((whole, False), (cut, True)):
        data, mtime_ns = path.read_bytes(), path.stat().st_mtime_ns
        world.context.files.saw(path, data=data, mtime_ns=mtime_ns, partial=partial, how="surfaced")
    await world.use("Edit", file_path=str(whole), old_string="never", new_string="not")
    said = await world.fails("Edit", file_path=str(cut), old_string="never", new_string="not")
    assert "only a part" in said


async def test_a_piece_that_is_not_there_or_not_alone_is_told_with_what_helps_A2(world: World) -> None:
    path = world.file("a.txt", "a = 1\nb = 1\n    c = 1\n")
    await world.use("Read", file_path=str(path))
    said = await world.fails("Edit", file_path=str(path), old_string="= 1", new_string="= 2")
    assert "stands 3 times" in said
    assert "lines 1, 2, 3" in said
    said = await world.fails("Edit", file_path=str(path), old_string="  c = 1\nd", new_string="x")
    assert "line 3 begins like it" in said
    said = await world.fails("Edit", file_path=str(path), old_string="     1\ta = 1", new_string="x")
    assert "line numbers" in said
    assert "not in" in await world.fails("Edit", file_path=str(path), old_string="zzz", new_string="x")
    assert "same" in await world.fails("Edit", file_path=str(path), old_string="a", new_string="a")
    assert "no file" in await world.fails("Edit", file_path="none.txt", old_string="a", new_string="b")
    said = await world.use("Edit", file_path=str(path), old_string="= 1", new_string="= 2", replace_all=True)
    assert "in 3 places" in said
    assert path.read_text() == "a = 2\nb = 2\n    c = 2\n"


async def test_an_empty_old_string_makes_a_new_file_and_never_replaces_one_A2(world: World) -> None:
    path = world.root / "new.txt"
    await world.use("Edit", file_path=str(path), old_string="", new_string="hello\n")
    assert path.read_bytes() == b"hello\n"
    assert "not empty" in await world.fails("Edit", file_path=str(path), old_string="", new_string="x")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\nthree\r\n", b"one\r\n2\r\n2b\r\nthree\r\n"),
        (b"\xef\xbb\xbfone\ntwo\nthree", b"\xef\xbb\xbfone\n2\n2b\nthree"),
        ("one\ntwo\nthree €\n".encode("utf-16"), "one\n2\n2b\nthree €\n".encode("utf-16")),
        (b"one\ntwo\n\xe9\n", b"one\n2\n2b\n\xe9\n"),
        (b"\r\none\r\ntwo\nthree\n\n\n", b"\r\none\r\n2\n2b\nthree\n\n\n"),
    ],
    ids=["crlf", "bom", "utf-16", "latin-1", "mixed"],
)
async def test_an_edit_keeps_encoding_mark_and_line_ends_A2(
    world: World, before: bytes, after: bytes
) -> None:
    path = world.file("a.txt", before)
    await world.use("Read", file_path=str(path))
    await world.use("Edit", file_path=str(path), old_string="two", new_string="2\n2b")
    assert path.read_bytes() == after


async def test_a_line_end_in_the_piece_fits_either_kind_A2(world: World) -> None:
    path = world.file("a.txt", b"one\r\ntwo\nthree\r\n")
    await world.use("Read", file_path=str(path))
    await world.use("Edit", file_path=str(path), old_string="one\ntwo\nthree", new_string="1\n2")
    assert path.read_bytes() == b"1\r\n2\r\n"


async def test_a_write_keeps_the_shape_of_the_file_A2(world: World) -> None:
    path = world.file("a.txt", b"\xef\xbb\xbfone\r\n")
    path.chmod(0o755)
    await world.use("Read", file_path=str(path))
    await world.use("Write", file_path=str(path), content="two\nthree\n")
    assert path.read_bytes() == b"\xef\xbb\xbftwo\r\nthree\r\n"
    assert path.stat().st_mode & 0o777 == 0o755


async def test_a_character_the_encoding_has_not_is_refused(world: World) -> None:
    path = world.file("a.txt", b"caf\xe9\n")
    await world.use("Read", file_path=str(path))
    said = await world.fails("Edit", file_path=str(path), old_string="café", new_string="咖啡")
    assert "latin-1" in said
    assert path.read_bytes() == b"caf\xe9\n"


@given(st.text("ab\r\n", max_size=40), st.text("ab\n", min_size=1, max_size=4), st.text("xy\n", max_size=4))
def test_an_edit_changes_nothing_but_its_piece(text: str, old: str, new: str) -> None:
    decoded = decode(text.encode())
    assert decoded is not None
    whole, shape = decoded
    try:
        changed, at, count = replace_text(whole, old, new, shape, every=False, path=Path("a"))
    except ToolError:
        assert whole.replace("\r\n", "\n").count(old) != 1
        return
    fresh = new.replace("\n", shape.newline)
    assert count == 1
    assert changed.startswith(whole[:at] + fresh)
    rest = changed[at + len(fresh) :]
    assert whole.endswith(rest)
    assert whole[at : len(whole) - len(rest)].replace("\r\n", "\n") == old


@given(st.binary(max_size=200))
def test_decoding_loses_no_byte(data: bytes) -> None:
    decoded = decode(data)
    if decoded is not None:
        text, shape = decoded
        assert shape.encode(text) == data
    assert Shape().encode("é") == "é".encode()


# -- memory --


async def test_a_memory_is_stamped_and_the_table_holds_the_bytes_as_stamped_F1(world: World) -> None:
    world.context = replace(world.context, origin=Origin(session="s", message="m", worker="main"))
    path = world.memory.directory / "tabs.md"
    await world.use("Write", file_path=str(path), content=TOPIC)
    on_disk, seen = path.read_bytes(), world.context.files.known(path)
    assert b"modified: " in on_disk
    assert b"2026-05-07" in on_disk
    assert b"session: s" in on_disk
    assert seen is not None
    assert (seen.data, seen.how) == (on_disk, "written")
    await world.use("Edit", file_path=str(path), old_string="never spaces", new_string="not spaces")
    assert [(w.file, w.action) for w in world.context.wrote] == [
        ("tabs.md", "created"),
        ("tabs.md", "updated"),
    ]


async def test_a_memory_that_somebody_else_changed_is_not_overwritten_F9(world: World) -> None:
    path = world.topic()
    await world.use("Read", file_path=str(path))
    path.write_bytes(path.read_bytes() + b"more\n")
    said = await world.fails("Edit", file_path=str(path), old_string="never", new_string="not")
    assert "changed" in said


async def test_an_index_over_its_limit_is_written_and_told_F7(world: World) -> None:
    path = world.memory.directory / "MEMORY.md"
    content = "".join(f"- [T{n}](t{n}.md) — hook\n" for n in range(230))
    with pytest.raises(WroteButOver, match="is written, but"):
        await world.use("Write", file_path=str(path), content=content)
    assert path.read_text() == content
    assert [written.file for written in world.context.wrote] == ["MEMORY.md"]
    seen = world.context.files.known(path)
    assert seen is not None
    assert seen.data == content.encode()


async def test_a_secret_never_reaches_the_disk_E10(world: World) -> None:
    path = world.memory.directory / "key.md"
    secret = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow" * 20 + "\n-----END RSA PRIVATE KEY-----"
    said = await world.fails("Write", file_path=str(path), content=TOPIC + secret)
    assert "secret" in said
    assert "MIIE" not in said
    assert tree(world.memory.directory) == {}


async def test_writing_nothing_deletes_a_memory_and_its_pointer(world: World) -> None:
    path = world.topic()
    assert "Read" in await world.fails("Write", file_path=str(path), content="")
    await world.use("Read", file_path=str(path))
    await world.use("Write", file_path=str(path), content="\n")
    assert "tabs.md" not in "".join(tree(world.memory.directory).values())
    assert not path.exists()
    assert world.context.deleted == ["tabs.md"]
    assert [trashed.file for trashed in world.memory.trashed()] == ["tabs.md"]
    assert "no memory" in await world.fails("Write", file_path=str(path), content="")


async def test_a_fork_writes_nowhere_else_also_when_a_path_was_turned_after_it_was_allowed_A5(
    world: World,
) -> None:
    world.context = replace(world.context, memory_only=True)
    (world.memory.directory / "turned").symlink_to(world.root)
    path = world.memory.directory / "turned" / "a.md"
    assert "does not lead" in await world.fails("Write", file_path=str(path), content="x")
    assert tree(world.root) == {}


async def test_a_link_out_of_memory_is_not_written_through_A8(world: World) -> None:
    outside = world.file("secret.txt", "outside")
    (world.memory.directory / "out").symlink_to(world.root)
    dangling = world.memory.directory / "d.md"
    dangling.symlink_to(world.root / "created.txt")
    await world.fails("Write", file_path=str(world.memory.directory / "out" / "secret.txt"), content="x")
    await world.fails("Write", file_path=str(dangling), content="x")
    assert tree(world.root) == {"secret.txt": "outside"}
    assert outside.read_text() == "outside"
