"""The copy that a dream works on: all of what it may touch, nothing else, and no way out (D5, D8)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memdir.dream.files import Snapshot
from memdir.dream.plan import reasons
from memdir.dream.stage import Stage, new_folder, snapshot, sweep
from memdir.errors import Conflict, UnsafePath
from memdir.memory.history.stamps import LIMIT
from memdir.memory.store import ANY, MemoryDir
from tests.dream.desk import NOW, Desk, topic

INDEX = "MEMORY.md"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    desk.put("a.md", topic("the first"), mtime_ns=10**18 + 1)
    desk.put("deep/b.md", topic("the second"), mtime_ns=10**18 + 2)
    desk.put("logs/2026/11/2026-11-29.md", b"- a log\n", mtime_ns=10**18 + 3)
    desk.put("sessions/s.md", b"a summary\n")
    desk.put("team/t.md", topic("the team's"))
    desk.put(INDEX, b"- [a](a.md)\n- [b](deep/b.md)\n", mtime_ns=10**18 + 4)
    return desk


def make(desk: Desk) -> Stage:
    return Stage.make(new_folder(desk.dreams), desk.memory)


# -- what is in it ------------------------------------------------------------------------------------------


def test_a_snapshot_holds_topics_and_index_with_their_mtimes_D5(desk: Desk) -> None:
    found = snapshot(desk.memory)
    assert found.topics == ("a.md", "deep/b.md")
    assert found.files[INDEX] == b"- [a](a.md)\n- [b](deep/b.md)\n"
    assert found.mtimes == {"a.md": 10**18 + 1, "deep/b.md": 10**18 + 2, INDEX: 10**18 + 4}


def test_a_directory_without_an_index_has_an_empty_one_D5(desk: Desk) -> None:
    desk.at(INDEX).unlink()
    found = snapshot(desk.memory)
    assert (INDEX in found.files, found.index) == (False, b"")


def test_links_and_what_cant_be_read_or_brought_back_are_left_out_D8(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("not a memory")
    desk.at("link.md").symlink_to(desk.at("a.md"))
    desk.at("leads_out.md").symlink_to(outside / "secret.md")
    desk.at("folder").symlink_to(outside)
    os.mkfifo(desk.at("pipe.md"))
    desk.put("large.md", b"x" * (LIMIT + 1))
    desk.put("odd\u200bname.md", b"can't be named\n")
    desk.put(".hidden.md", b"hidden\n")
    assert snapshot(desk.memory).topics == ("a.md", "deep/b.md")
    stage = make(desk)
    assert stage.after().topics == ("a.md", "deep/b.md")
    assert "secret.md" not in {path.name for path in stage.folder.rglob("*")}


def test_an_index_that_is_a_link_inside_is_one_file_D5(desk: Desk) -> None:
    desk.at(INDEX).rename(desk.at("notes.md"))
    desk.at(INDEX).symlink_to("notes.md")
    found = snapshot(desk.memory)
    assert found.topics == ("a.md", "deep/b.md")
    assert found.index.startswith(b"- [a]")
    stage = make(desk)
    assert not (stage.memory.directory / INDEX).is_symlink()


def test_an_index_that_leads_out_is_no_index_to_work_on_D8(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text("- [x](x.md)\n")
    desk.at(INDEX).unlink()
    desk.at(INDEX).symlink_to(tmp_path / "elsewhere.md")
    with pytest.raises(UnsafePath):
        make(desk)
    assert not list(desk.dreams.glob("*"))


# -- the copy -----------------------------------------------------------------------------------------------


def test_the_copy_has_the_same_bytes_and_mtimes_and_is_private_D5(desk: Desk) -> None:
    stage = make(desk)
    assert stage.after() == stage.before == snapshot(desk.memory)
    log = stage.memory.directory / "logs/2026/11/2026-11-29.md"
    assert (log.read_bytes(), log.stat().st_mtime_ns) == (b"- a log\n", 10**18 + 3)
    assert (stage.memory.directory / "sessions/s.md").read_bytes() == b"a summary\n"
    assert not (stage.memory.directory / "team").exists()
    for path in (stage.folder, *stage.folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_nothing_that_is_done_to_the_copy_reaches_the_memories_D8(desk: Desk) -> None:
    before = desk.tree()
    stage = make(desk)
    stage.memory.write("a.md", b"otherwise\n", expected=ANY, now=NOW, origin=None)
    stage.memory.delete("deep/b.md", now=NOW)
    with (stage.memory.directory / INDEX).open("ab") as file:  # in its place, as an editor may do it
        file.write(b"more\n")
    assert desk.tree() == before
    assert stage.after().files["a.md"] == b"otherwise\n"
    assert stage.after().topics == ("a.md",)
    assert stage.before == snapshot(desk.memory)
    assert stage.memory.history is None


def test_a_link_in_the_copy_is_nothing_D8(desk: Desk, tmp_path: Path) -> None:
    stage = make(desk)
    (tmp_path / "outside.md").write_text("not a memory")
    place = stage.memory.directory / "a.md"
    place.unlink()
    place.symlink_to(tmp_path / "outside.md")
    stage.notebook.symlink_to(tmp_path / "outside.md")
    assert stage.after().topics == ("deep/b.md",)
    assert stage.reasons() is None


def test_the_notebook_is_read_and_one_that_is_far_too_large_is_told_of_D8(desk: Desk) -> None:
    stage = make(desk)
    assert stage.reasons() is None
    stage.notebook.write_bytes(b"{}")
    assert stage.reasons() == b"{}"
    assert stage.after() == stage.before
    stage.notebook.write_bytes(b"x" * (2 * reasons.MAX_BYTES))
    assert reasons.read(stage.reasons()).problems == ("dream.json is over 2,000,000 bytes and was not read",)


def test_a_copy_can_be_made_to_hold_what_a_dream_is_to_leave_D8(desk: Desk) -> None:
    stage = make(desk)
    files = {"a.md": b"new\n", "c/d.md": b"made\n", INDEX: b"- [a](a.md)\n"}
    after = Snapshot(files=files, mtimes={"a.md": 5, "c/d.md": 6})
    stage.put(after)
    held = stage.after()
    assert held.files == files
    assert (held.mtimes["a.md"], held.mtimes["c/d.md"]) == (5, 6)
    assert (stage.memory.directory / "sessions/s.md").exists()


# -- coming and going ---------------------------------------------------------------------------------------


def test_a_copy_is_never_made_in_a_folder_that_is_there_D8(desk: Desk) -> None:
    folder = new_folder(desk.dreams)
    folder.mkdir(parents=True)
    with pytest.raises(Conflict):
        Stage.make(folder, desk.memory)


def test_a_copy_waits_for_who_is_writing_D8(desk: Desk) -> None:
    with desk.memory.alone(), pytest.raises(Conflict):
        Stage.make(new_folder(desk.dreams), desk.memory.within(0.05))
    assert not list(desk.dreams.glob("*"))


def test_what_killed_dreams_left_goes_and_the_rest_stays_D8(desk: Desk, tmp_path: Path) -> None:
    make(desk)
    make(desk)
    kept = desk.dreams / "0123456789"
    kept.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    (desk.dreams / f"stage-{'0' * 16}").symlink_to(outside)
    sweep(desk.dreams)
    assert list(desk.dreams.iterdir()) == [kept]
    assert (outside / "file").exists()
    sweep(desk.dreams)
    sweep(tmp_path / "nowhere")


def test_a_copy_that_is_removed_leaves_nothing_D8(desk: Desk) -> None:
    stage = make(desk)
    stage.remove()
    stage.remove()
    assert not stage.folder.exists()
    assert isinstance(desk.memory, MemoryDir)
