"""A change is taken back: all of it or nothing, byte for byte, and nobody else's work is lost (H2)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memdir.errors import Conflict, MemdirError, NotFound, UsageError
from memdir.memory import plan, revising
from memdir.memory.entrypoint import Pointer
from memdir.memory.history import By, Change, History
from memdir.memory.plan import Swap
from memdir.memory.store import ANY, MemoryDir
from memdir.memory.topic import Origin, render
from memdir.secrets import scan as secrets_in

START = datetime(2026, 3, 30, 12, tzinfo=UTC)
INDEX = "MEMORY.md"
Tree = dict[str, tuple[bytes, int]]

BODY = "Deploys go to blue first.\n\nThen to green.\n\nRoll back with the script.\n"


@dataclass
class Desk:
    """A memory directory with its history, and a clock."""

    folder: Path
    now: datetime = START
    memory: MemoryDir = field(init=False)
    history: History = field(init=False)

    def __post_init__(self) -> None:
        self.history = History(
            self.folder / "history", directory=self.folder / "memory", now=lambda: self.now
        )
        self.memory = MemoryDir(
            self.folder / "memory",
            trash=self.folder / "trash",
            inbox=self.folder / "inbox",
            history=self.history,
        )
        self.memory.prepare()
        self.memory.look()

    def at(self, file: str) -> Path:
        return self.memory.directory / file

    def by(self, worker: str) -> MemoryDir:
        """A view for one change of that worker, a minute later."""
        self.now += timedelta(minutes=1)
        return self.memory.on_behalf(By(worker=worker))

    def save(self, file: str, body: str, *, hook: str = "a hook", view: MemoryDir | None = None) -> Change:
        view = view or self.by("main")
        data = render(name=file, description="d", type="project", body=body).encode()
        view.save(
            file,
            data,
            pointer=Pointer(title=file, file=file, hook=hook),
            expected=ANY,
            now=self.now,
            origin=Origin(session=self.now.isoformat(), worker="main"),
        )
        return self.newest()

    def forget(self, file: str) -> Change:
        self.by("forget").delete(file, now=self.now)
        return self.newest()

    def by_hand(self, edit: Callable[[], object]) -> Change:
        """What somebody does without memdir, and the look that finds it."""
        self.now += timedelta(minutes=1)
        edit()
        assert self.memory.look() is not None
        return self.newest()

    def newest(self) -> Change:
        return self.history.log(limit=1)[0]

    def undo(self, change: Change | None = None) -> revising.Undone:
        self.now += timedelta(minutes=1)
        return revising.undo(self.memory, change or revising.latest(self.history), now=self.now)

    def tree(self) -> Tree:
        """Bytes and mtime of every file."""
        return {
            path.relative_to(self.memory.directory).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in self.memory.directory.rglob("*")
            if path.is_file()
        }

    def text(self, file: str) -> str:
        return self.at(file).read_text("utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# -- the newest change --------------------------------------------------------------------------------------


def test_undoing_the_newest_change_brings_back_every_byte_and_mtime_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    before = desk.tree()
    change = desk.save("a.md", "otherwise\n", hook="another hook")
    undone = desk.undo(change)
    assert desk.tree() == before
    assert sorted(undone.files) == [INDEX, "a.md"]
    assert undone.of == change
    assert undone.change is not None
    assert (undone.change.worker, undone.change.undoes) == ("undo", change.id)


def test_an_undone_undo_does_the_change_again_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    before = desk.tree()
    desk.save("a.md", "otherwise\n", hook="another hook")
    after = desk.tree()
    for there in (before, after, before, after):
        undone = desk.undo(desk.newest())
        assert desk.tree() == there
        assert undone.change is not None


def test_a_second_undo_takes_back_the_change_before_H2(desk: Desk) -> None:
    trees = [desk.tree()]
    for number in range(3):
        desk.save(f"m{number}.md", BODY)
        trees.append(desk.tree())
    for there in trees[-2::-1]:
        desk.undo()
        assert desk.tree() == there
    with pytest.raises(NotFound):
        desk.undo()


def test_what_an_undone_undo_did_again_is_the_next_to_be_undone_H2(desk: Desk) -> None:
    change = desk.save("a.md", BODY)
    desk.undo()
    desk.undo(desk.newest())
    assert revising.latest(desk.history).id == change.id


def test_a_forgotten_memory_comes_back_and_leaves_the_trash_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    desk.save("b.md", BODY)
    before = desk.tree()
    desk.forget("a.md")
    assert [entry.file for entry in desk.memory.trashed()] == ["a.md"]
    desk.undo()
    assert desk.tree() == before
    assert desk.memory.trashed() == []
    assert desk.memory.mend() == []


def test_a_memory_that_was_made_goes_with_its_pointer_and_can_be_had_again_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    before = desk.tree()
    change = desk.save("b.md", BODY)
    made = desk.tree()
    desk.undo()
    assert desk.tree() == before
    assert desk.memory.trashed() == []
    revising.restore_at(desk.memory, "b.md", change.id, now=desk.now)
    assert {file: data for file, (data, _) in desk.tree().items()} == {
        file: data for file, (data, _) in made.items()
    }


def test_a_run_over_several_files_is_one_change_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    desk.save("b.md", BODY)
    before = desk.tree()
    run = desk.by("extract")
    desk.save("a.md", "one\n", view=run)
    run.delete("b.md", now=desk.now)
    desk.save("sub/c.md", "three\n", view=run)
    assert {one.file for one in desk.newest().files} == {"a.md", "b.md", "sub/c.md", INDEX}
    desk.undo()
    assert desk.tree() == before


def test_a_hand_edit_is_undone_like_any_change_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    before = desk.tree()
    desk.by_hand(lambda: desk.at("a.md").rename(desk.at("z.md")))
    desk.undo()
    assert desk.tree() == before


def test_a_hand_edit_that_nobody_has_looked_at_yet_is_not_lost_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    change = desk.save("b.md", BODY)
    desk.at("b.md").write_bytes(b"mine\n")
    with pytest.raises(Conflict, match=r"b\.md"):
        desk.undo(change)
    assert desk.at("b.md").read_bytes() == b"mine\n"
    assert desk.newest().worker == "external"


def test_a_pointer_that_was_mended_goes_with_its_file_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    before = {file: data for file, (data, _) in desk.tree().items()}
    desk.by_hand(lambda: desk.at("hand.md").write_text("by hand\n"))
    assert desk.memory.mend() == ["added a pointer to hand.md"]
    assert desk.newest().worker == "mend"
    desk.undo()
    assert {file: data for file, (data, _) in desk.tree().items()} == before


NAMES = ("sub/deep/x.md", "a b.md", "部署.md", "cafe\u0301.md", "odd\udcff.md", "line\nend.md", "con.md")
CONTENTS = (b"", b"\xef\xbb\xbfa\r\nb\r\n", "ä\n".encode("utf-16"), b"\xff\0\xfe", b"no end")


def test_any_name_and_any_bytes_come_back_H2(desk: Desk) -> None:
    def make() -> None:
        for number, name in enumerate(NAMES):
            desk.at(name).parent.mkdir(parents=True, exist_ok=True)
            desk.at(name).write_bytes(CONTENTS[number % len(CONTENTS)])

    def change() -> None:
        for name in NAMES[::2]:
            desk.at(name).unlink()
        for name in NAMES[1::2]:
            desk.at(name).write_bytes(b"otherwise\n")

    desk.by_hand(make)
    before = desk.tree()
    desk.by_hand(change)
    after = desk.tree()
    desk.undo()
    assert desk.tree() == before
    desk.undo(desk.newest())
    assert desk.tree() == after
    desk.undo(desk.newest())
    desk.undo(desk.history.log()[-1])
    assert desk.tree() == {}


def test_an_index_that_is_a_link_is_changed_where_it_is_H2(desk: Desk) -> None:
    desk.at("kept").mkdir()
    desk.at("kept/index.md").write_bytes(b"# Mine\n")
    desk.at(INDEX).symlink_to("kept/index.md")
    desk.memory.look()
    desk.save("a.md", BODY)
    before = desk.tree()
    desk.save("b.md", BODY)
    more = desk.text(INDEX) + "- [C](c.md) — by hand\n"
    desk.by_hand(lambda: desk.at("kept/index.md").write_text(more, "utf-8"))
    desk.undo(desk.history.log()[1])
    assert desk.at(INDEX).is_symlink()
    assert desk.text(INDEX) == before["kept/index.md"][0].decode() + "- [C](c.md) — by hand\n"
    assert not desk.at("b.md").exists()


def test_what_was_there_when_the_history_began_is_no_change_H2(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "a.md").write_text(BODY)
    desk = Desk(tmp_path)
    with pytest.raises(NotFound):
        revising.latest(desk.history)
    with pytest.raises(UsageError):
        desk.undo(desk.newest())
    assert desk.text("a.md") == BODY


def test_without_a_history_nothing_can_be_undone_H2(desk: Desk) -> None:
    change = desk.save("a.md", BODY)
    memory = MemoryDir(desk.memory.directory, trash=desk.folder / "trash")
    with pytest.raises(MemdirError, match="no history"):
        revising.undo(memory, change, now=desk.now)


# -- an older change ----------------------------------------------------------------------------------------


def test_later_work_on_other_lines_stays_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    change = desk.save("a.md", BODY.replace("blue", "red"))
    desk.save("a.md", BODY.replace("blue", "red").replace("script", "playbook"))
    desk.undo(change)
    assert BODY.replace("script", "playbook") in desk.text("a.md")
    assert desk.text("a.md").count("modified:") == 1


def test_the_same_lines_changed_since_refuse_all_of_it_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    run = desk.by("extract")
    desk.save("a.md", BODY.replace("blue", "red"), view=run)
    change = desk.save("b.md", BODY, view=run)
    later = desk.save("a.md", BODY.replace("blue", "yellow"))
    before = desk.tree()
    with pytest.raises(Conflict) as refused:
        desk.undo(change)
    assert "a.md" in str(refused.value)
    assert later.id in str(refused.value)
    assert f"undo {later.id} first" in (refused.value.hint or "")
    assert "blue" not in str(refused.value)
    assert desk.tree() == before
    desk.undo(later)
    desk.undo(change)
    assert BODY in desk.text("a.md")
    assert not desk.at("b.md").exists()


def test_a_file_that_was_made_and_edited_since_is_not_removed_H2(desk: Desk) -> None:
    change = desk.save("a.md", BODY)
    desk.save("a.md", BODY + "more\n")
    with pytest.raises(Conflict):
        desk.undo(change)
    assert "more" in desk.text("a.md")


def test_a_file_that_is_gone_since_can_not_be_merged_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    change = desk.save("a.md", "otherwise\n")
    desk.forget("a.md")
    with pytest.raises(Conflict):
        desk.undo(change)


def test_a_link_that_took_the_place_of_a_file_is_left_alone_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    change = desk.save("a.md", "otherwise\n")
    outside = desk.folder / "outside.md"
    outside.write_text("not memory\n")
    desk.at("a.md").unlink()
    desk.at("a.md").symlink_to(outside)
    with pytest.raises(Conflict):
        desk.undo(change)
    assert outside.read_text() == "not memory\n"


def test_entries_of_others_stay_in_the_index_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    change = desk.save("b.md", BODY)
    desk.save("c.md", BODY)
    desk.by_hand(lambda: desk.at(INDEX).write_text("# Mine\n\n" + desk.text(INDEX) + "\nmy words\n"))
    desk.undo(change)
    assert desk.text(INDEX) == ("# Mine\n\n- [a.md](a.md) — a hook\n- [c.md](c.md) — a hook\n\nmy words\n")


def test_an_older_forgetting_is_undone_with_its_entry_H2(desk: Desk) -> None:
    for file in ("a.md", "b.md", "c.md"):
        desk.save(file, BODY, hook=f"of {file}")
    index = desk.text(INDEX)
    change = desk.forget("b.md")
    desk.save("d.md", BODY, hook="of d.md")
    desk.undo(change)
    assert desk.text(INDEX) == index + "- [d.md](d.md) — of d.md\n"


def test_what_another_did_in_between_the_steps_of_a_run_stays_H2(desk: Desk) -> None:
    run = desk.by("extract")
    desk.save("a.md", BODY, view=run)
    desk.save("mine.md", BODY, hook="mine")
    desk.save("b.md", BODY, view=run)
    desk.undo(next(change for change in desk.history.log() if change.worker == "extract"))
    assert desk.text(INDEX) == "- [mine.md](mine.md) — mine\n"
    assert sorted(desk.tree()) == [INDEX, "mine.md"]


def test_nothing_left_to_undo_is_said_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    before = desk.at("a.md").read_bytes()
    change = desk.save("a.md", "otherwise\n")
    desk.by_hand(lambda: desk.at("a.md").write_bytes(before))
    with pytest.raises(Conflict, match="nothing of that change is left"):
        desk.undo(change)


def test_a_plan_says_what_an_undo_would_do_and_does_nothing_H2(desk: Desk) -> None:
    desk.save("a.md", BODY)
    change = desk.forget("a.md")
    before = desk.tree()
    swaps = revising.planned(desk.memory, change, now=desk.now)
    assert [(swap.file, swap.now is None) for swap in swaps] == [("a.md", True), (INDEX, False)]
    assert desk.tree() == before


def test_a_secret_that_stood_there_before_comes_back_at_the_person_s_word_H2(desk: Desk) -> None:
    secret = "key: ghp_" + "a1B2c3D4e5F6" * 3
    assert secrets_in(secret)
    desk.save("a.md", BODY)
    desk.by_hand(lambda: desk.at("a.md").write_text(secret + "\n"))
    desk.save("a.md", BODY)
    desk.undo()
    assert desk.text("a.md") == secret + "\n"


# -- one file alone -----------------------------------------------------------------------------------------


def test_one_file_is_brought_back_as_it_was_with_its_entry_H2(desk: Desk) -> None:
    first = desk.save("a.md", BODY, hook="the first")
    before = desk.tree()
    desk.save("a.md", "otherwise\n", hook="the second")
    desk.forget("a.md")
    written = revising.restore_at(desk.memory, "a.md", first.id, now=desk.now)
    assert (written.action, written.type) == ("created", "project")
    assert desk.tree()["a.md"] == before["a.md"]
    assert desk.text(INDEX) == "- [a.md](a.md) — the first\n"
    assert desk.newest().worker == "restore"


def test_a_file_that_is_there_is_replaced_and_keeps_its_entry_H2(desk: Desk) -> None:
    desk.save("a.md", BODY, hook="the first")
    moment, before = desk.now, desk.tree()
    desk.save("a.md", "otherwise\n", hook="the second")
    written = revising.restore_at(desk.memory, "a.md", moment, now=desk.now)
    assert written.action == "updated"
    assert desk.tree()["a.md"] == before["a.md"]
    assert desk.text(INDEX) == "- [a.md](a.md) — the second\n"
    again = revising.restore_at(desk.memory, "a.md", moment, now=desk.now)
    assert again.action == "unchanged"
    desk.undo()
    assert "otherwise" in desk.text("a.md")


def test_the_index_is_brought_back_too_H2(desk: Desk) -> None:
    first = desk.save("a.md", BODY)
    index = desk.text(INDEX)
    desk.by_hand(lambda: desk.at(INDEX).write_text("scratch\n"))
    revising.restore_at(desk.memory, INDEX, first.id, now=desk.now)
    assert desk.text(INDEX) == index


def test_what_was_not_there_then_can_not_be_brought_back_H2(desk: Desk) -> None:
    first = desk.save("a.md", BODY)
    desk.save("b.md", BODY)
    for point in (first.id, START):
        with pytest.raises(NotFound):
            revising.restore_at(desk.memory, "b.md", point, now=desk.now)
    with pytest.raises(NotFound):
        revising.restore_at(desk.memory, "a.md", "0000000000", now=desk.now)


# -- all or nothing -----------------------------------------------------------------------------------------


def swaps_of(desk: Desk) -> list[Swap]:
    """Three files: one that comes, one that changes, one that goes."""
    for file in ("b.md", "c.md"):
        desk.at(file).write_bytes(file.encode())
        os.utime(desk.at(file), ns=(5, 5))
    desk.memory.look()
    return [
        Swap(file="a.md", now=None, now_mtime_ns=None, then=b"new", then_mtime_ns=7),
        Swap(file="b.md", now=b"b.md", now_mtime_ns=5, then=b"other", then_mtime_ns=8),
        Swap(file="c.md", now=b"c.md", now_mtime_ns=5, then=None, then_mtime_ns=None),
    ]


def test_a_file_that_changes_at_the_last_moment_takes_all_of_it_back_F8(desk: Desk) -> None:
    swaps = swaps_of(desk)
    before = desk.tree()
    desk.at("c.md").write_bytes(b"mine")
    with desk.memory.alone(), pytest.raises(Conflict):
        plan.carry_out(desk.memory, swaps)
    assert desk.tree() == {**before, "c.md": (b"mine", desk.at("c.md").stat().st_mtime_ns)}
    assert not (desk.history.folder / plan.NAME).exists()


@pytest.mark.parametrize("done", range(4))
def test_what_a_killed_process_has_begun_is_finished_by_the_next_F8(desk: Desk, done: int) -> None:
    swaps = swaps_of(desk)
    plan._write(desk.history.folder / plan.NAME, swaps, ())
    for swap in swaps[:done]:
        plan._replace(desk.memory, swap)
    assert desk.memory.look() is not None
    assert desk.tree() == {"a.md": (b"new", 7), "b.md": (b"other", 8)}
    assert not (desk.history.folder / plan.NAME).exists()


def test_a_plan_that_is_no_plan_stops_nobody_F8(desk: Desk) -> None:
    (desk.history.folder / plan.NAME).write_bytes(b"{}")
    desk.save("a.md", BODY)
    assert not (desk.history.folder / plan.NAME).exists()


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 200_000,
        b"\xff",
        b"[1]",
        b'{"files": [{"file": "a.md", "now": null, "now_mtime_ns": "x"}], "trash": []}',
    ],
    ids=["deep", "no text", "a list", "no moment"],
)
def test_no_plan_that_can_be_put_there_holds_up_a_write_F8(desk: Desk, data: bytes) -> None:
    (desk.history.folder / plan.NAME).write_bytes(data)
    desk.save("a.md", BODY)
    assert not (desk.history.folder / plan.NAME).exists()


def test_a_folder_in_the_place_of_the_plan_holds_up_no_write_F8(desk: Desk) -> None:
    (desk.history.folder / plan.NAME).mkdir()
    assert desk.save("a.md", BODY).worker == "main"


def test_a_disk_too_full_to_note_the_way_back_takes_all_of_it_back_F8(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    swaps = swaps_of(desk)
    desk.at("c.md").write_bytes(b"mine")
    before = desk.tree()
    write = plan._write

    def filling(place: Path, swaps: Sequence[Swap], trash: Sequence[str], *, directory: Path) -> None:
        write(place, swaps, trash, directory=directory)
        monkeypatch.setattr(plan, "_write", full)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(plan, "_write", filling)
    with desk.memory.alone(), pytest.raises(Conflict):
        plan.carry_out(desk.memory, swaps)
    desk.memory.look()
    assert desk.tree() == before
