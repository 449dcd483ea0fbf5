"""Whatever has become of the repository, memory goes on, and what can be kept is kept (H2)."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memdir import fs
from memdir.errors import NotFound
from memdir.memory.history import BEGINNING, By
from tests.memory.histories import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """With three changes, the newest first: `c`, `b`, `a`."""
    place = Place(tmp_path)
    history = place.history()
    history.look()
    for name in "abc":
        place.change(history, By(worker=name), **{f"{name}_md": name * 100})
    assert history.failure is None
    return place


def cut(path: Path, to: int = 10) -> None:
    path.chmod(0o600)
    os.truncate(path, to)


def packs(place: Place, kind: str = "pack") -> list[Path]:
    found = list(place.repository.glob(f"objects/pack/*.{kind}"))
    assert found
    return found


def all_packs_cut(place: Place) -> None:
    for pack in packs(place):
        cut(pack)


def all_indexes_garbage(place: Place) -> None:
    for index in packs(place, "idx"):
        index.chmod(0o600)
        index.write_bytes(b"garbage" * 200)


def objects_gone(place: Place) -> None:
    shutil.rmtree(place.repository / "objects")


def branch(data: bytes) -> Callable[[Place], None]:
    def damage(place: Place) -> None:
        (place.repository / "refs/heads/main").write_bytes(data)

    return damage


def branch_gone(place: Place) -> None:
    (place.repository / "refs/heads/main").unlink()


def all_gone(place: Place) -> None:
    shutil.rmtree(place.repository)
    place.repository.mkdir()


def a_file_instead(place: Place) -> None:
    shutil.rmtree(place.repository)
    place.repository.write_text("no repository")


def a_branch_that_is_a_folder(place: Place) -> None:
    branch_gone(place)
    (place.repository / "refs/heads/main").mkdir()


DAMAGES: list[Callable[[Place], None]] = [
    all_packs_cut, all_indexes_garbage, objects_gone, branch(b""), branch(b"garbage\n"), branch(b"\0" * 41),
    branch(b"0" * 40 + b"\n"), branch(b"1" * 40 + b"\n"), branch_gone, all_gone, a_file_instead,
    a_branch_that_is_a_folder,
]  # fmt: skip


@pytest.mark.parametrize("with_stamps", [True, False])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_repository_is_put_aside_and_a_new_one_begins_H2(
    place: Place, damage: Callable[[Place], None], with_stamps: bool
) -> None:
    damage(place)
    if not with_stamps:
        (place.folder / "stamps").unlink()
    history = place.history()
    with fs.locked(place.directory), history.recording(By(worker="main")):
        place.put("new.md", "1")

    nothing_left = damage in (branch_gone, all_gone) and not with_stamps
    assert (history.failure is None) == nothing_left
    if not nothing_left:
        assert "damaged" in (history.failure or "")
        assert [path.name for path in history.damaged] == ["repository.damaged-1"]
    log = place.history().log()
    assert log[-1].reason == BEGINNING
    assert {file.file for change in log for file in change.files} == {"a.md", "b.md", "c.md", "new.md"}

    place.change(history, By(worker="main"), a_md="2")
    assert place.history().log()[0].worker == "main"
    assert len(history.damaged) <= 1


def test_repositories_put_aside_are_counted_and_kept_H2(place: Place) -> None:
    for number in range(1, 12):
        branch(b"garbage")(place)
        place.change(place.history(), None, a_md=str(number))
    assert [path.name for path in place.history().damaged] == [
        f"repository.damaged-{number}" for number in range(1, 12)
    ]


@pytest.mark.parametrize("name", ["HEAD", "config"])
@pytest.mark.parametrize("data", [b"", b"garbage", None], ids=["empty", "garbage", "gone"])
def test_what_is_fixed_about_a_repository_is_put_right_H2(
    place: Place, name: str, data: bytes | None
) -> None:
    file = place.repository / name
    if data is None:
        file.unlink()
    else:
        file.write_bytes(data)
    history = place.history()
    place.change(history, By(worker="main"), a_md="2")
    assert history.failure is None
    assert [change.worker for change in history.log()] == ["main", "c", "b", "a"]


@pytest.mark.parametrize("lock", ["refs/heads/main.lock", "HEAD.lock", "config.lock", "packed-refs.lock"])
def test_a_lock_that_a_killed_git_left_is_in_nobodys_way_H2(place: Place, lock: str) -> None:
    (place.repository / lock).write_text("")
    history = place.history()
    place.change(history, By(worker="main"), a_md="2")
    history.tidy()
    assert history.failure is None
    assert [change.worker for change in history.log()] == ["main", "c", "b", "a"]


@pytest.mark.parametrize("data", [b"", b"garbage", b"memdir stamps 1\n" + b"\0" * 40, None])
def test_stamps_that_are_lost_or_damaged_are_made_anew_H2(place: Place, data: bytes | None) -> None:
    stamps = place.folder / "stamps"
    stamps.unlink() if data is None else stamps.write_bytes(data)
    os.utime(place.directory / "a.md", ns=(1, 1))
    history = place.history()
    assert history.look() is None
    assert history.failure is None
    assert stamps.read_bytes() not in (data, b"")
    change = place.change(history, None, b_md="2")
    assert change is not None
    assert change.files[0].before_mtime_ns == next(
        file.after_mtime_ns for one in history.log() for file in one.files if one.worker == "b"
    )
    assert len(history.log()) == 4


def test_stamps_of_before_the_last_commit_are_caught_up_with_H2(place: Place) -> None:
    """As a process leaves them that is killed between the two."""
    stamps = place.folder / "stamps"
    old = stamps.read_bytes()
    place.change(place.history(), By(worker="main"), a_md="2")
    stamps.write_bytes(old)
    history = place.history()
    assert history.look() is None
    assert [change.worker for change in history.log()] == ["main", "c", "b", "a"]


def test_what_killed_gits_left_is_cleared_away_H2(place: Place) -> None:
    left = [
        "objects/pack/tmp_pack_aBcDeF", "objects/pack/tmp_idx_aBcDeF", "objects/pack/.tmp-77-pack-x.pack",
        f"objects/pack/pack-{'0' * 40}.pack", f"objects/pack/pack-{'1' * 40}.idx",
        "fast_import_crash_4711",
    ]  # fmt: skip
    keep = packs(place)[0].with_suffix(".keep")
    for path in [*(place.repository / name for name in left), keep, place.folder / f".memdir-{'0' * 16}.tmp"]:
        path.write_text("left over")
    (place.folder / "rewriting").mkdir()
    (place.folder / "rewriting" / "HEAD").write_text("half")
    history = place.history()
    history.tidy()
    assert history.failure is None
    assert not [name for name in left if (place.repository / name).exists()]
    assert not keep.exists()
    assert sorted(path.name for path in place.folder.iterdir()) == ["lock", "repository", "stamps"]
    assert len(history.log()) == 3


def test_of_a_damaged_repository_the_log_has_what_can_be_read_H2(place: Place) -> None:
    """Each commit is a pack of its own here; the one of `a` is lost, and with it what `b` builds on."""
    oldest = min(packs(place), key=lambda pack: pack.stat().st_mtime_ns)
    oldest.unlink()
    history = place.history()
    assert history.log()[0].worker == "c"
    assert history.failure


def script(folder: Path, text: str) -> str:
    """A program named git; the folder that it is in."""
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\n{text}\nexec git "$@"\n')
    (folder / "git").chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    "fault",
    ["exit 1", "echo error: Permission denied >&2; exit 128", "cat >/dev/null; exit 0"],
    ids=["broken", "closed", "idle"],
)
def test_a_git_that_does_not_work_is_no_damage_and_nothing_is_lost_H2(
    place: Place, tmp_path: Path, fault: str
) -> None:
    log = place.history().log()
    bad = script(tmp_path / "bad", f'case "$*" in *version*) ;; *) {fault};; esac')
    for stamps in (True, False):
        if not stamps:
            (place.folder / "stamps").unlink()
        history = place.history(programs=[bad])
        with fs.locked(place.directory), history.recording(By(worker="main")):
            place.put("a.md", f"2 {stamps}")
        assert history.failure
        assert history.damaged == []
    place.history().look()
    assert place.history().log()[1:] == log
    assert place.history().log()[0].worker == "main"


def test_a_git_that_hangs_is_asked_once_H2(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    history = place.history(programs=[script(tmp_path / "hangs", f"echo >>{asked}; exit 1")])
    for _ in range(3):
        assert history.off == "git does not work here"
    assert asked.read_text() == "\n"


def test_no_graft_and_no_shallow_file_hides_what_came_before_H2(place: Place) -> None:
    log = place.history().log()
    head = (place.repository / "refs/heads/main").read_text()
    (place.repository / "info").mkdir(exist_ok=True)
    for name in ("shallow", "info/grafts"):
        (place.repository / name).write_text(head)
    assert place.history().log() == log


def test_what_keeps_changes_from_being_recorded_is_told_once_H2(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = Place(tmp_path)
    (tmp_path / "history").write_text("a file, where a folder should be")
    history = place.history()
    for number in range(3):
        with fs.locked(place.directory), history.recording(By(worker="main")):
            place.put("a.md", str(number))
    assert [record.getMessage() for record in caplog.records] == ["the history of memory: Not a directory"]


def test_an_unreadable_intent_is_nobodys_H2(place: Place) -> None:
    (place.folder / "intent").write_bytes(b"\xff garbage")
    history = place.history()
    change = place.change(history, None, a_md="2")
    assert change is not None
    assert change.worker == "external"
    assert not (place.folder / "intent").exists()


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_folder_that_is_a_link_or_a_file_is_refused_H2(tmp_path: Path, kind: str) -> None:
    place = Place(tmp_path)
    place.folder.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    if kind == "link":
        place.folder.symlink_to(tmp_path / "elsewhere")
    else:
        place.folder.write_text("a file")
    history = place.history()
    assert place.change(history, None, a_md="1") is None
    with fs.locked(place.directory), history.recording(By(worker="main")):
        place.put("b.md", "2")
    assert "folder" in (history.failure or "")
    assert history.log() == []
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_somebody_elses_folder_is_refused_H2(place: Place) -> None:
    os.chown(place.folder, 65534, 65534)
    history = place.history()
    assert place.change(history, None, a_md="1") is None
    assert history.failure == "its folder can't be used: somebody else's folder"
    assert history.log() == []


def test_a_full_disk_stops_no_write_and_the_next_look_records_it_H2(
    place: Place, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A real git that may write no more than 512 bytes into a file."""
    full = tmp_path / "full"
    full.mkdir()
    (full / "git").write_text('#!/bin/sh\ncase "$*" in *fast-import*) ulimit -f 1;; esac\nexec git "$@"\n')
    (full / "git").chmod(0o755)
    history = place.history(programs=[str(full)])
    data = os.urandom(100_000).hex()
    with caplog.at_level(logging.WARNING), fs.locked(place.directory), history.recording(By(worker="main")):
        place.put("telling.md", data)
    assert history.failure
    assert (place.directory / "telling.md").read_text() == data
    assert "telling" not in caplog.text + history.failure
    assert history.damaged == []
    assert (place.folder / "intent").exists()

    good = place.history()
    change = good.look()
    assert change is not None
    assert (change.worker, [file.file for file in change.files]) == ("main", ["telling.md"])
    good.tidy()
    assert list(place.repository.glob("objects/pack/tmp_*")) == []
    assert [one.worker for one in good.log()] == ["main", "c", "b", "a"]


def test_a_folder_that_can_not_be_made_stops_no_write_H2(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "history").write_text("a file, where a folder should be")
    history = place.history()
    with fs.locked(place.directory), history.recording(By(worker="main")):
        place.put("a.md", "1")
    assert history.failure
    assert (place.directory / "a.md").read_text() == "1"


def test_a_failing_disk_stops_no_write_H2(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    history = place.history()
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with history.recording(By(worker="main")):
            place.put("a.md", "2")
    assert history.failure == "the disk is full"
    after = place.history()
    assert after.look() is None  # git had it already
    assert after.failure is None
    assert len(after.log()) == 4


def test_a_version_that_is_missing_is_not_found_H2(place: Place) -> None:
    history = place.history()
    lost = history.log()[-1].files[0].after
    assert lost is not None
    min(packs(place), key=lambda pack: pack.stat().st_mtime_ns).unlink()
    with pytest.raises(NotFound):
        history.bytes(lost)


def test_commits_of_others_are_passed_over_H2(place: Place) -> None:
    """Nobody should, but somebody may commit to it by hand."""
    git = ["git", f"--git-dir={place.repository}", "-c", "user.name=x", "-c", "user.email=y"]
    commit = subprocess.run(
        [*git, "commit-tree", "main^{tree}", "-p", "main", "-m", "by hand"], capture_output=True, check=True
    )
    subprocess.run([*git, "update-ref", "refs/heads/main", commit.stdout.decode().strip()], check=True)
    history = place.history()
    assert history.look() is None
    place.change(history, By(worker="main"), a_md="2")
    assert [change.worker for change in history.log()] == ["main", "c", "b", "a"]
