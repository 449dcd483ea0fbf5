"""Only what has one right answer is mended; no other work is touched, and it can be undone (H2, D4, F8)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memdir import fs
from memdir.doctor.checkup import checkup
from memdir.doctor.fixing import LABEL, fix
from memdir.dream.lock import LOCK, Lock, look
from memdir.dream.stage import new_folder
from memdir.errors import Conflict
from memdir.memory import topic
from memdir.memory.history import History
from memdir.memory.revising import latest, undo
from memdir.memory.store import MemoryDir
from tests.doctor.broken import FAULTS, INDEX, LONG_AGO, NOW, TOKEN, Directory, broken


def mends(made: Directory) -> set[str]:
    return {one.kind for one in fix(made.memory, now=NOW, around=made.around).mended}


def kinds(made: Directory) -> set[str]:
    return {one.kind for one in checkup(made.memory, now=NOW, around=made.around)}


def test_all_that_is_mended_is_one_change_and_one_undo_takes_it_back_H2(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=5, faults=["orphan", "dead", "no_header", "twice", "half_written"])
    history = made.memory.history
    assert history is not None
    found = checkup(made.memory, now=NOW)
    fixed = fix(made.memory, now=NOW)
    change = latest(history)
    assert (change.worker, change.id) == (LABEL, fixed.change)
    assert len(change.files) == 2
    undo(made.memory, change, now=NOW)
    assert [one for one in found if one.kind != "leftover"] == checkup(made.memory, now=NOW)


def test_no_memory_is_changed_where_that_could_not_be_undone_H2(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=5, faults=["orphan", "dead", "no_header", "half_written"])
    real = made.memory.directory
    no_git = History(tmp_path / "history", directory=real, now=lambda: NOW, programs=())
    for memory in (
        MemoryDir(real, trash=tmp_path / "trash"),
        MemoryDir(real, trash=tmp_path / "trash", history=no_git),
    ):
        before = {path: path.read_bytes() for path in real.glob("*.md")}
        fixed = fix(memory, now=NOW)
        assert {path: path.read_bytes() for path in real.glob("*.md")} == before
        assert fixed.change is None
        assert fixed.why_not is not None
        assert fixed.why_not.startswith("no history is kept")
        assert {one.kind for one in fixed.left} == {"orphan", "dead pointer", "frontmatter"}
    assert not list(real.glob(".memdir-*"))


def test_a_header_is_filled_and_makes_no_memory_younger_F1(tmp_path: Path) -> None:
    made = Directory.sound(tmp_path, seed=5)
    text = "\ufeff# Ports\r\n\r\n* The proxy listens on **8443**.\r\nNothing else does.\r\n"
    made.topic(text, file="ports.md")
    made.done()
    path = made.memory.directory / "ports.md"
    mtime_ns = path.stat().st_mtime_ns
    assert mends(made) == {"frontmatter"}
    assert path.stat().st_mtime_ns == mtime_ns
    data = path.read_bytes()
    assert data.decode() == "\ufeff---\r\nname: ports\r\ndescription: Ports\r\n---\r\n\r\n" + text[1:]
    read = topic.parse(data, filename="ports.md")
    assert (read.problems, read.modified, read.origin) == ((), None, None)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("---\nname: Ports\n# mine\ntype: project\n---\nThe proxy.\n", "description: The proxy.\n"),
        ("---\nname: Ports\nmetadata:\n  type: user\n---\nThe proxy.\n", "description: The proxy.\n"),
        ("---\ndescription: The proxy\n---\nThe proxy.\n", "name: ports\n"),
        ("---\ntype: user\n---\nThe proxy.\n", "name: ports\ndescription: The proxy.\n"),
    ],
)
def test_only_what_is_missing_is_added_and_every_other_line_stays_F1(
    tmp_path: Path, text: str, added: str
) -> None:
    made = Directory.sound(tmp_path, seed=5)
    made.topic(text, file="ports.md")
    made.done()
    assert mends(made) == {"frontmatter"}
    after = (made.memory.directory / "ports.md").read_text()
    assert after == text.replace("---\nThe", f"{added}---\nThe")


@pytest.mark.parametrize(
    "text",
    [
        f"# Mine\n\nThe token is {TOKEN}.\n",  # a secret is copied nowhere
        "---\nname: Ports\n\nThe proxy.\n",  # where the header should end, nobody knows
        "---\nname: ports\nname: more\n---\nThe proxy.\n",
        "---\nname: ports\n---\n",  # nothing to take a description from
    ],
)
def test_a_header_that_only_a_person_can_mend_is_left_and_told_F1(tmp_path: Path, text: str) -> None:
    made = Directory.sound(tmp_path, seed=5)
    made.topic(text, file="ports.md")
    made.done()
    assert "frontmatter" in kinds(made)
    assert mends(made) == set()
    assert (made.memory.directory / "ports.md").read_text() == text


def test_a_directory_without_an_index_gets_one_F6(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=5, faults=())
    (made.memory.directory / INDEX).unlink()
    assert kinds(made) == {"orphan"}
    assert mends(made) == {"orphan"}
    assert kinds(made) == set()


def test_an_index_that_is_a_link_within_the_directory_stays_one_F8(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=5, faults=["orphan", "dead"])
    place = made.memory.directory / INDEX
    place.rename(place.with_name("index.md"))
    place.symlink_to("index.md")
    assert mends(made) == {"orphan", "dead pointer"}
    assert place.is_symlink()
    assert kinds(made) == set()


def test_a_folder_in_the_place_of_the_index_is_told_and_left_A8(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=5, faults=())
    (made.memory.directory / INDEX).unlink()
    (made.memory.directory / INDEX).mkdir()
    assert kinds(made) == {"unreadable"}
    assert mends(made) == set()


def test_a_dream_that_is_under_way_keeps_its_lock_and_its_copy_D3(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=5, faults=["orphan"])
    lock = Lock.take(made.memory.directory, now=lambda: NOW)
    folder = new_folder(made.places.dreams)
    folder.mkdir(parents=True)
    assert kinds(made) == {"orphan"}
    assert mends(made) == {"orphan"}
    assert lock.is_ours()
    assert folder.is_dir()
    lock.succeed()
    assert kinds(made) == {"leftover"}
    last = look(made.memory.directory, now=NOW).last_ns
    assert mends(made) == {"leftover"}
    assert not folder.exists()
    assert look(made.memory.directory, now=NOW).last_ns == last


def test_the_lock_of_a_dead_dream_is_put_back_to_the_nanosecond_D4(tmp_path: Path) -> None:
    made = Directory.sound(tmp_path, seed=5)
    made.put(LOCK, b"", at=LONG_AGO + 123)
    FAULTS["dead_dreamer"](made)
    made.done()
    assert kinds(made) == {"lock"}
    assert mends(made) == {"lock"}
    assert look(made.memory.directory, now=NOW).last_ns == LONG_AGO + 123
    assert kinds(made) == set()


def test_a_file_that_somebody_is_just_writing_is_not_taken_for_a_leftover_F8(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=5, faults=["half_written"])
    young = made.put(f".memdir-{'0' * 16}.tmp", b"half", at=int(NOW.timestamp() - 5) * 10**9)
    os.utime(young)  # and by the clock of the disk
    assert mends(made) == {"leftover"}
    assert young.exists()
    assert kinds(made) == set()


@pytest.mark.parametrize("times", [1, 99])
def test_a_program_that_writes_at_the_same_moment_loses_nothing_F9(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    made = broken(tmp_path, seed=5, faults=["no_header", "orphan"])
    file = next(one.file for one in made.planted if one.kind == "frontmatter")
    path, real = made.memory.directory / file, fs.replace_if
    before = (made.memory.directory / INDEX).read_bytes()
    left = iter(range(times))

    def meddled(place: Path, data: bytes, *, expected: str | None, within: Path | None = None) -> None:
        if place == path and (number := next(left, None)) is not None:
            path.write_text(f"theirs {number}\n")
        real(place, data, expected=expected, within=within)

    monkeypatch.setattr(fs, "replace_if", meddled)
    if times == 1:  # who saves a file once is waited for
        assert len(fix(made.memory, now=NOW).mended) == 2
        assert path.read_text().endswith("\ntheirs 0\n")
        return
    with pytest.raises(Conflict):
        fix(made.memory, now=NOW)
    assert path.read_text().startswith("theirs ")
    assert (made.memory.directory / INDEX).read_bytes() == before


def test_a_directory_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    memory = MemoryDir(tmp_path / "none", trash=tmp_path / "trash")
    fixed = fix(memory, now=NOW)
    assert (fixed.mended, fixed.left) == ((), ())
    assert list(tmp_path.iterdir()) == []


def test_a_secret_is_not_copied_from_a_memory_into_its_entry_E10(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=5, faults=["secret_of_an_orphan", "orphan"])
    assert mends(made) == {"orphan"}
    assert TOKEN not in (made.memory.directory / INDEX).read_text()
