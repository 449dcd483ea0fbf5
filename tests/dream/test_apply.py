"""A plan is carried out in one step, or not at all; what somebody has changed since is theirs (D8)."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from memdir.dream.files import Snapshot
from memdir.dream.stage import Stage, new_folder, snapshot
from memdir.errors import Conflict, MemdirError, SecretFound
from memdir.memory import entrypoint, revising
from memdir.memory import plan as redo
from memdir.memory.history import History
from memdir.memory.plan import Swap
from tests.dream.desk import INDEX, Desk, made, topic
from tests.dream.killed_apply import AFTER, FILES, die_of
from tests.dream.test_swaps import Files, decided, result, triples, words
from tests.memory.dying import dying_at

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
STRIDE = 11
"""Each so manieth effect on the disk is the one that fails; `die_of` goes through all of them."""
EFFECTS = ("fsync", "replace", "link", "unlink", "write", "utime", "mkdir")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def after_of(before: Snapshot) -> Snapshot:
    return Snapshot(files=AFTER.files, mtimes={**AFTER.mtimes, "same.md": before.mtimes["same.md"]})


def edit(desk: Desk, file: str, old: str, new: str) -> None:
    desk.at(file).write_text(desk.text(file).replace(old, new), "utf-8")


def in_order(desk: Desk) -> bool:
    """Whether each entry of the index leads to a file, and each topic has one."""
    pointed = {pointer.file for pointer in entrypoint.pointers(desk.text(INDEX))}
    return pointed == {file for file in desk.bytes() if file != INDEX}


# -- nothing came in between --------------------------------------------------------------------------------


def test_the_memories_are_as_the_plan_says_byte_for_byte_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    applied = desk.dream(before, after_of(before))
    assert desk.bytes() == AFTER.files
    for file, mtime_ns in AFTER.mtimes.items():
        assert desk.at(file).stat().st_mtime_ns == mtime_ns
    assert applied.left == ()
    changed = {file for file in FILES.keys() | AFTER.files.keys() if FILES.get(file) != AFTER.files.get(file)}
    assert set(applied.files) == changed
    assert set(applied.topics) == changed - {INDEX}
    assert applied.change == desk.newest().id
    assert desk.newest().worker == "dream"


def test_an_undo_of_a_dream_brings_back_every_byte_and_mtime_H2(desk: Desk) -> None:
    before = desk.begin(FILES)
    there = desk.tree()
    applied = desk.dream(before, after_of(before))
    done = desk.tree()
    assert desk.undo().of.id == applied.change
    assert desk.tree() == there
    revising.undo(desk.memory, desk.newest(), now=desk.now)
    assert desk.tree() == done


def test_what_was_changed_by_hand_before_is_a_change_of_its_own_H2(desk: Desk) -> None:
    before = desk.begin(FILES)
    desk.put("by_hand.md", topic("written meanwhile"))
    desk.dream(before, after_of(before))
    dream, external = desk.history.log(limit=2)
    assert (dream.worker, external.worker) == ("dream", "external")
    assert [one.file for one in external.files] == ["by_hand.md"]
    desk.undo()
    assert desk.at("by_hand.md").exists()


def test_a_name_that_changes_only_in_case_is_changed_and_comes_back_H2(desk: Desk) -> None:
    before = desk.begin({"Notes.md": topic("a fact of some length"), INDEX: b"- [n](Notes.md)\n"})
    there = desk.tree()
    data = before.files["Notes.md"]
    after = made(
        before, {"Notes.md": None, "notes.md": data, INDEX: b"- [n](notes.md)\n"}, mtimes={"notes.md": 10**18}
    )
    applied = desk.dream(before, after)
    assert set(desk.bytes()) == {"notes.md", INDEX}
    assert set(applied.topics) == {"Notes.md", "notes.md"}
    desk.undo()
    assert desk.tree() == there


def test_on_a_disk_with_room_for_one_case_only_the_old_name_goes_first_D8() -> None:
    def swap(file: str, now: bytes | None, then: bytes | None) -> Swap:
        return Swap(file=file, now=now, now_mtime_ns=None, then=then, then_mtime_ns=None)

    swaps = [
        swap("a.md", None, b"1"),
        swap("x.md", None, b"2"),
        swap("b.md", b"3", b"4"),
        swap("A.md", b"1", None),
    ]
    assert [one.file for one in redo._twins_apart(swaps)] == ["x.md", "b.md", "A.md", "a.md"]
    assert redo._twins_apart(swaps[:3]) == swaps[:3]


def test_a_plan_of_nothing_changes_nothing_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    there, newest = desk.tree(), desk.newest()
    applied = desk.dream(before, before)
    assert (applied.change, applied.topics, applied.files, applied.left) == (None, (), (), ())
    assert (desk.tree(), desk.newest()) == (there, newest)


def test_a_plan_that_is_carried_out_twice_is_carried_out_once_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    desk.dream(before, after_of(before))
    there = desk.tree()
    applied = desk.dream(before, after_of(before))
    assert (applied.change, applied.left) == (None, ())
    assert desk.tree() == there


def test_an_index_alone_can_be_put_in_order_D5(desk: Desk) -> None:
    before = desk.begin({"a.md": topic("a fact"), INDEX: b"- [a](a.md)\n- [gone](gone.md)\n"})
    applied = desk.dream(before, made(before, {INDEX: b"- [a](a.md)\n"}))
    assert (applied.topics, applied.files) == ((), (INDEX,))
    assert desk.text(INDEX) == "- [a](a.md)\n"


def test_an_index_that_is_a_link_stays_one_D8(desk: Desk) -> None:
    desk.begin({"a.md": topic("a fact"), "b.md": topic("another"), "notes.md": b"- [a](a.md)\n- [b](b.md)\n"})
    desk.at(INDEX).symlink_to("notes.md")
    desk.memory.look()
    before, there = snapshot(desk.memory), desk.tree()
    after = made(before, {"b.md": None, "a.md": topic("a fact", "another"), INDEX: b"- [a](a.md)\n"})
    desk.dream(before, after)
    assert desk.at(INDEX).is_symlink()
    assert desk.text("notes.md") == "- [a](a.md)\n"
    desk.undo()
    assert desk.tree() == there


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(triple=triples())
def test_whatever_came_in_between_it_is_as_decided_and_can_be_undone_H2(
    triple: tuple[Files, Files, Files],
) -> None:
    before, after, current = triple
    with tempfile.TemporaryDirectory() as scratch:
        desk = Desk(Path(scratch))
        was = desk.begin(before)
        for file in before.keys() - current.keys():
            desk.at(file).unlink()
        for file, data in current.items():
            desk.put(file, data)
        there = desk.tree()
        applied = desk.dream(was, Snapshot(files=after, mtimes={}))
        expected = decided(before, after, current)
        assert words(desk.bytes()) == words(result(current, expected))
        assert {one.file for one in applied.left} == {one.file for one in expected.left}
        assert set(applied.files) == {swap.file for swap in expected.swaps}
        if applied.files:
            desk.undo()
        assert desk.tree() == there


# -- may it be? ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("history", ["none", "off"])
def test_where_nothing_could_be_undone_nothing_is_done_D8(desk: Desk, history: str) -> None:
    before = desk.begin(FILES)
    there = desk.tree()
    directory = desk.memory.directory
    without_git = History(desk.folder / "history", directory=directory, now=lambda: desk.now, programs=[])
    desk.memory.history = None if history == "none" else without_git
    with pytest.raises(MemdirError) as caught:
        desk.dream(before, after_of(before))
    assert "git" in (caught.value.hint or "")
    assert desk.tree() == there


def test_where_the_history_cant_be_written_nothing_is_done_D8(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = desk.begin(FILES)
    desk.put("a.md", FILES["a.md"] + b"\nby hand\n")
    there = desk.tree()
    monkeypatch.setattr(History, "_record", _refuses)
    with pytest.raises(MemdirError, match="history"):
        desk.dream(before, after_of(before))
    assert desk.tree() == there


def _refuses(*_: object) -> None:
    raise OSError(errno.ENOSPC, "full")


def test_a_guard_that_refuses_keeps_everything_as_it_is_D3(desk: Desk) -> None:
    before = desk.begin(FILES)
    there = desk.tree()

    @contextmanager
    def lost() -> Iterator[None]:
        if desk.bytes():
            raise Conflict("the lock is somebody else's")
        yield

    with pytest.raises(Conflict, match="somebody else"):
        desk.dream(before, after_of(before), guard=lost())
    assert desk.tree() == there


def test_all_that_is_written_is_written_under_the_guard_D3(desk: Desk) -> None:
    before = desk.begin(FILES)
    seen = list[bool]()

    @contextmanager
    def held() -> Iterator[None]:
        seen.append(desk.bytes() == FILES)
        yield
        seen.append(desk.bytes() == AFTER.files)

    desk.dream(before, after_of(before), guard=held())
    assert seen == [True, True]


def test_a_secret_that_was_not_there_is_never_written_E10(desk: Desk) -> None:
    before = desk.begin(FILES)
    there = desk.tree()
    secret: tuple[dict[str, bytes | None], ...] = (
        {"a.md": topic(f"the key is {TOKEN}")},
        {INDEX: FILES[INDEX] + f"{TOKEN}\n".encode()},
    )
    for files in secret:
        with pytest.raises(SecretFound):
            desk.dream(before, made(before, files))
        assert desk.tree() == there


def test_a_secret_that_moves_with_its_memory_is_no_leak_E10(desk: Desk) -> None:
    old = topic(f"the key of the test server is {TOKEN}  <!-- memdir:allow-secret -->")
    before = desk.begin({"old.md": old, INDEX: b"- [o](old.md)\n"})
    desk.dream(before, made(before, {"old.md": None, "new.md": old, INDEX: b"- [o](new.md)\n"}))
    assert desk.bytes()["new.md"] == old


def test_a_file_that_the_plan_does_not_name_is_never_touched_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    plan = desk.plan(before, made(before, {"a.md": topic("new words for it")}))
    wider = made(before, {"a.md": topic("new words for it"), "same.md": topic("overwritten"), "c.md": None})
    desk.dream(before, wider, plan=plan)
    assert desk.bytes() == {**FILES, "a.md": topic("new words for it")}


@pytest.mark.parametrize(
    "file", ["../out.md", "logs/x.md", "team/x.md", ".x.md", "x.txt", "deep/../../out.md"]
)
def test_no_plan_leads_out_of_the_memories_D8(desk: Desk, file: str) -> None:
    before = desk.begin(FILES)
    there = {path: path.read_bytes() for path in desk.folder.rglob("*.md")}
    after = made(before, {file: topic("planted")})
    with suppress(MemdirError):
        desk.dream(before, after)
    assert {path: path.read_bytes() for path in desk.folder.rglob("*.md")} == there
    assert not (desk.folder / "out.md").exists()


# -- changed before ------------------------------------------------------------------------------------------


def test_a_file_that_changed_elsewhere_gets_both_changes_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    edit(desk, "a.md", "The last line", "The person's own line.\n\nThe last line")
    applied = desk.dream(before, after_of(before))
    assert applied.left == ()
    assert "The person's own line." in desk.text("a.md")
    assert "The build takes five minutes" in desk.text("a.md")
    assert "The build takes an hour" not in desk.text("a.md")


def test_a_file_that_changed_in_the_same_lines_is_left_and_told_of_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    edit(desk, "a.md", "an hour", "two hours")
    mine = desk.text("a.md")
    applied = desk.dream(before, after_of(before))
    assert [one.file for one in applied.left] == ["a.md"]
    assert desk.text("a.md") == mine
    assert "a.md" not in applied.topics
    assert not desk.at("dup.md").exists()


def test_a_file_that_was_to_be_merged_away_and_changed_stays_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    edit(desk, "old.md", "Deploys go", "Something new about it.\n\nDeploys go")
    mine = desk.text("old.md")
    applied = desk.dream(before, after_of(before))
    assert [one.file for one in applied.left] == ["old.md"]
    assert desk.text("old.md") == mine
    assert desk.bytes()["target.md"] == AFTER.files["target.md"]
    assert in_order(desk)


def test_what_was_to_go_into_a_file_that_is_left_stays_where_it_is_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    desk.put("target.md", topic("Quite another thing."))
    applied = desk.dream(before, after_of(before))
    assert {one.file for one in applied.left} == {"target.md", "old.md"}
    assert desk.bytes()["old.md"] == FILES["old.md"]
    assert desk.bytes()["target.md"] == topic("Quite another thing.")
    assert in_order(desk)


def test_a_double_stays_if_the_other_one_has_lost_the_line_meanwhile_D8(desk: Desk) -> None:
    """`dup.md` was to go because `same.md`, which the plan does not change, says the same."""
    before = desk.begin(FILES)
    edit(desk, "same.md", "Tests run on every push", "Tests run at night")
    applied = desk.dream(before, after_of(before))
    assert [one.file for one in applied.left] == ["dup.md"]
    assert desk.bytes()["dup.md"] == FILES["dup.md"]
    assert in_order(desk)


def test_a_double_goes_if_the_other_one_changed_and_has_the_line_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    edit(desk, "same.md", "Tests run", "More of it.\n\nTests run")
    applied = desk.dream(before, after_of(before))
    assert applied.left == ()
    assert not desk.at("dup.md").exists()


def test_a_file_that_changed_keeps_its_name_and_the_new_one_is_not_made_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    edit(desk, "named.md", "Ines", "Ines Silva")
    applied = desk.dream(before, after_of(before))
    assert {one.file for one in applied.left} == {"named.md", "people/renamed.md"}
    assert not desk.at("people/renamed.md").exists()
    assert in_order(desk)


def test_a_new_file_does_not_take_the_place_of_somebody_elses_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    desk.put("people/renamed.md", topic("mine"))
    desk.put("c_new.md", topic("mine as well"))
    applied = desk.dream(before, after_of(before))
    assert {one.file for one in applied.left} == {"named.md", "people/renamed.md", "c_new.md", "c.md"}
    assert desk.bytes()["people/renamed.md"] == topic("mine")
    assert desk.bytes()["named.md"] == FILES["named.md"]
    assert desk.bytes()["c.md"] == FILES["c.md"]


def test_a_new_file_that_differs_by_case_from_somebody_elses_is_not_made_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    desk.put("C_New.md", topic("mine"))
    applied = desk.dream(before, after_of(before))
    assert "c_new.md" in {one.file for one in applied.left}
    assert not desk.at("c_new.md").exists()
    assert desk.bytes()["c.md"] == FILES["c.md"]


@pytest.mark.parametrize("file", ["old.md", "named.md", "c.md"])
def test_what_somebody_has_deleted_meanwhile_does_not_come_back_D8(desk: Desk, file: str) -> None:
    before = desk.begin(FILES)
    desk.memory.delete(file, now=desk.now)
    applied = desk.dream(before, after_of(before))
    word = {"old.md": "Deploys go to blue first", "named.md": "Ines", "c.md": "Invoices are sent"}[file]
    texts = [data.decode() for name, data in desk.bytes().items() if name != INDEX]
    assert not any(word in text for text in texts)
    assert applied.left
    assert in_order(desk)


def test_a_line_that_somebody_took_out_meanwhile_is_not_carried_elsewhere_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    edit(desk, "old.md", "Deploys go to blue first.", "")
    applied = desk.dream(before, after_of(before))
    assert {one.file for one in applied.left} == {"old.md", "target.md"}
    assert not any("blue first" in data.decode() for data in desk.bytes().values())


def test_what_is_a_link_by_now_is_left_with_what_rests_on_it_D8(desk: Desk, tmp_path: Path) -> None:
    before = desk.begin(FILES)
    outside = tmp_path / "outside.md"
    outside.write_bytes(FILES["target.md"])
    desk.at("target.md").unlink()
    desk.at("target.md").symlink_to(outside)
    applied = desk.dream(before, after_of(before))
    assert {one.file for one in applied.left} == {"target.md", "old.md"}
    assert outside.read_bytes() == FILES["target.md"]


def test_a_folder_that_is_a_link_by_now_is_not_written_through_D8(desk: Desk, tmp_path: Path) -> None:
    before = desk.begin(FILES)
    outside = tmp_path / "outside"
    outside.mkdir()
    desk.at("people").symlink_to(outside)
    applied = desk.dream(before, after_of(before))
    assert {one.file for one in applied.left} == {"named.md", "people/renamed.md"}
    assert list(outside.iterdir()) == []
    assert desk.bytes()["named.md"] == FILES["named.md"]


def test_a_directory_that_is_a_link_by_now_is_another_one_D8(desk: Desk, tmp_path: Path) -> None:
    desk.begin(FILES)
    stage = Stage.make(new_folder(desk.dreams), desk.memory)
    elsewhere = tmp_path / "elsewhere"
    desk.memory.directory.rename(elsewhere)
    desk.memory.directory.symlink_to(elsewhere)
    there = {path: path.read_bytes() for path in elsewhere.rglob("*.md")}
    with pytest.raises(Conflict, match="another one"):
        desk.dream(stage.before, after_of(stage.before), real=stage.real)
    assert {path: path.read_bytes() for path in elsewhere.rglob("*.md")} == there


# -- the index meanwhile -------------------------------------------------------------------------------------


def test_lines_that_somebody_wrote_into_the_index_meanwhile_stay_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    desk.put("mine.md", topic("written meanwhile"))
    edit(desk, INDEX, "- [c]", "- [mine](mine.md) — of my own\n- [c]")
    edit(desk, INDEX, "# Memory", "# Memory\n\nAsk before you delete.")
    desk.dream(before, after_of(before))
    text = desk.text(INDEX)
    assert "- [mine](mine.md) — of my own\n" in text
    assert "Ask before you delete." in text
    assert in_order(desk)


def test_an_entry_for_a_file_that_goes_goes_however_it_was_changed_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    edit(desk, INDEX, "- [old](old.md)", "- [old](old.md) — said otherwise")
    desk.dream(before, after_of(before))
    assert "old.md" not in desk.text(INDEX)
    assert in_order(desk)


def test_an_entry_that_somebody_made_before_its_file_stays_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    edit(desk, INDEX, "- [c]", "- [soon](soon.md)\n- [c]")
    desk.dream(before, after_of(before))
    assert "- [soon](soon.md)\n" in desk.text(INDEX)


def test_an_index_that_a_plan_leaves_out_is_never_gone_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    desk.dream(before, made(before, {INDEX: None}))
    assert in_order(desk)


def test_an_entry_that_leads_nowhere_is_not_made_D8(desk: Desk) -> None:
    before = desk.begin(FILES)
    desk.dream(before, made(before, {INDEX: FILES[INDEX] + b"- [ghost](ghost.md)\n"}))
    assert "ghost.md" not in desk.text(INDEX)


def test_words_of_the_index_stay_where_what_they_were_to_go_into_is_left_D8(desk: Desk) -> None:
    prose = b"Releases happen on Thursdays.\n\n- [a](a.md)\n"
    before = desk.begin({"a.md": topic("a fact"), INDEX: prose})
    after = made(before, {"a.md": topic("a fact", "Releases happen on Thursdays."), INDEX: b"- [a](a.md)\n"})
    desk.put("a.md", topic("quite another"))
    applied = desk.dream(before, after)
    assert {one.file for one in applied.left} == {"a.md", INDEX}
    assert desk.bytes()[INDEX] == prose


# -- changed at the last moment ----------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["a.md", "old.md", "target.md", "mine.md", INDEX])
def test_what_somebody_writes_at_any_moment_is_not_lost_D8(tmp_path: Path, file: str) -> None:
    """They come between the looks, not between a look and the rename behind it: nobody can help that."""
    for number in count(1, 3):
        desk = Desk(tmp_path / str(number))
        before = desk.begin(FILES)

        def write(desk: Desk = desk) -> None:
            if not desk.at(file).exists():
                desk.put(file, topic("The person's own line."))
            else:
                with desk.at(file).open("ab") as opened:
                    opened.write(b"\nThe person's own line.\n")

        with just_before_a_file(number, write) as done, suppress(Conflict):
            desk.dream(before, after_of(before))
        if not done:
            break
        assert "The person's own line." in desk.text(file), f"before change {number}"
        expected = {one.decode() for one in (*FILES.values(), *AFTER.files.values())}
        for name, data in desk.bytes().items():
            text = data.decode().replace("\nThe person's own line.\n", "")
            assert name in (file, INDEX) or text in expected
        desk.memory.look()
        assert not (desk.history.folder / redo.NAME).exists()
    assert number > 8


@contextmanager
def just_before_a_file(number: int, do: Callable[[], object]) -> Iterator[list[int]]:
    """Something is done right before the `number`-th file of memory is gone about."""
    real, seen, done = redo._replace, list[Swap](), list[int]()

    def replace(memory: Any, swap: Swap) -> None:
        seen.append(swap)
        if len(seen) == number:
            done.append(number)
            do()
        real(memory, swap)

    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(redo, "_replace", replace)
        yield done


def test_somebody_who_writes_once_at_the_last_moment_holds_up_nothing_D8(desk: Desk) -> None:
    before = desk.begin(FILES)

    def write() -> None:
        edit(desk, "a.md", "The last line", "The person's own line.\n\nThe last line")

    with just_before_a_file(1, write) as done:
        applied = desk.dream(before, after_of(before))
    assert done
    assert "The person's own line." in desk.text("a.md")
    assert "The build takes five minutes" in desk.text("a.md")
    assert applied.change == desk.newest().id
    desk.undo()
    assert "The person's own line." in desk.text("a.md")


def test_a_directory_that_becomes_a_link_at_the_last_moment_is_not_followed_D8(
    desk: Desk, tmp_path: Path
) -> None:
    before = desk.begin(FILES)
    elsewhere, away = tmp_path / "elsewhere", tmp_path / "away"
    elsewhere.mkdir()

    def swap() -> None:
        desk.memory.directory.rename(away)
        desk.memory.directory.symlink_to(elsewhere)

    with just_before_a_file(4, swap), pytest.raises(MemdirError):
        desk.dream(before, after_of(before))
    assert list(elsewhere.rglob("*.md")) == []
    desk.memory.directory.unlink()
    away.rename(desk.memory.directory)
    desk.memory.look()
    assert desk.bytes() == FILES


# -- broken off ---------------------------------------------------------------------------------------------


def failing_at(number: int, code: int, patches: pytest.MonkeyPatch, *, for_good: bool) -> list[str]:
    """The `number`-th effect on the disk fails, and all that take up room afterwards if it is `for_good`."""
    seen, failed = list[str](), list[str]()

    def failing(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def effect(*args: Any, **named: Any) -> Any:
            seen.append(name)
            if len(seen) == number or (for_good and failed and name in ("write", "mkdir", "link")):
                failed.append(name)
                raise OSError(code, os.strerror(code))
            return None if name == "fsync" else real(*args, **named)

        return effect

    for name in EFFECTS:
        patches.setattr(os, name, failing(name, getattr(os, name)))
    return failed


@pytest.mark.parametrize(("code", "for_good"), [(errno.EIO, False), (errno.ENOSPC, True)])
def test_a_disk_that_fails_at_any_point_leaves_all_as_before_or_as_after_F8(
    tmp_path: Path, code: int, for_good: bool
) -> None:
    found = set[str]()
    for number in count(1, STRIDE):
        desk = Desk(tmp_path / str(number))
        before = desk.begin(FILES)
        there = desk.tree()
        with pytest.MonkeyPatch.context() as patches:
            failed = failing_at(number, code, patches, for_good=for_good)
            with suppress(OSError, MemdirError):
                desk.dream(before, after_of(before))
        desk.memory.look()
        if desk.bytes() == FILES:
            assert desk.tree() == there
            found.add("before")
        else:
            assert desk.bytes() == AFTER.files, f"failed at {number}: {failed}"
            found.add("after")
        assert not (desk.history.folder / redo.NAME).exists()
        if not failed:
            break
    assert found == {"before", "after"}


@pytest.mark.parametrize("half", [False, True])
def test_killed_at_any_point_all_is_as_before_or_as_after_F8(tmp_path: Path, half: bool) -> None:
    found = list[str]()
    for number in count(1, STRIDE):
        desk = Desk(tmp_path / str(number))
        before = desk.begin(FILES)
        there = desk.tree()
        with dying_at(number, half=half) as life:
            desk.dream(before, after_of(before))
        desk = Desk(tmp_path / str(number))
        desk.memory.look()
        assert desk.bytes() in (FILES, AFTER.files), f"killed at {number}"
        found.append("before" if desk.bytes() == FILES else "after")
        assert not (desk.history.folder / redo.NAME).exists()
        if found[-1] == "after":
            assert desk.newest().worker == "dream"
            desk.undo()
        assert desk.tree() == there
        if not life.is_over:
            break
    assert set(found) == {"before", "after"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process that dies is made by a fork")
def test_a_process_that_is_killed_leaves_all_as_before_or_as_after_F8() -> None:
    before, after = die_of(deaths=6)
    assert before > 0
    assert after > 0


def test_what_is_changed_between_a_kill_and_the_next_look_stays_with_what_rests_on_it_F8(
    tmp_path: Path,
) -> None:
    """The plan is finished without the file that is somebody's, and without what needs that file."""
    for done in range(9):
        desk = Desk(tmp_path / str(done))
        before = desk.begin(FILES)
        swaps = killed_after(desk, before, done)
        desk.put("target.md", topic("Quite another thing."))
        desk.memory.look()
        there = desk.bytes()
        assert there["target.md"] == topic("Quite another thing.")
        assert there["old.md"] == FILES["old.md"]
        assert there["a.md"] == AFTER.files["a.md"]
        assert "named.md" not in there
        assert in_order(desk), f"killed after {done} of {len(swaps)}"
        assert not (desk.history.folder / redo.NAME).exists()


def killed_after(desk: Desk, before: Snapshot, done: int) -> list[Swap]:
    """A dream was killed after so many files."""
    planned = list[Swap]()

    class Killed(BaseException):
        pass

    def begun(memory: object, swaps: list[Swap]) -> None:
        planned.extend(swaps)
        raise Killed

    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(redo, "carry_out", begun)
        with suppress(Killed):
            desk.dream(before, after_of(before))
    redo._write(desk.history.folder / redo.NAME, planned, (), directory=desk.memory.directory.resolve())
    for swap in planned[:done]:
        redo._replace(desk.memory, swap)
    return planned
