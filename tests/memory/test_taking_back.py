"""What one run changed is taken back: byte for byte, and nothing that somebody else did is lost (E7, F9)."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.errors import Conflict
from memdir.memory import entrypoint
from memdir.memory.journal import Journal
from memdir.memory.store import MemoryDir
from tests.memory.desk import FILES, INDEX, Act, Desk, known, made, snapshot, topic


@pytest.fixture(params=[False, True], ids=["failed", "killed"])
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Desk:
    return made(tmp_path, on_disk=request.param)


# -- one after the other ------------------------------------------------------------------------------------


def test_nothing_noted_nothing_taken_back_and_no_directory_made(tmp_path: Path) -> None:
    store = MemoryDir(tmp_path / "memory", trash=tmp_path / "trash")
    assert store.take_back(Journal()) == ()
    assert not store.directory.exists()


def test_a_new_memory_goes_and_is_not_in_the_trash_E7(desk: Desk) -> None:
    before = known(desk, "b.md")
    desk.writes("a.md")
    desk.writes(INDEX, desk.store.index() + "- [A](a.md) — new\n")
    assert desk.take_back() == ("a.md", INDEX)
    assert snapshot(desk.store) == before
    assert desk.store.trashed() == []
    assert desk.take_back() == ()


def test_a_changed_memory_has_its_earlier_bytes_and_mtime_E7(desk: Desk) -> None:
    before = known(desk, "a.md")
    desk.edits("a.md")
    desk.edits("a.md")
    assert desk.take_back() == ("a.md",)
    assert snapshot(desk.store) == before


def test_a_deleted_memory_is_back_with_its_lines_and_out_of_the_trash_E7(desk: Desk) -> None:
    known(desk, "a.md", "b.md")
    index = desk.store.index().replace("(a.md)", "(a.md)\n  own words\n\n  and more of them", 1)
    desk.path(INDEX).write_text(index)
    before = snapshot(desk.store)
    desk.deletes("a.md")
    assert "own words" not in desk.store.index()
    assert desk.take_back() == ("a.md", INDEX)
    assert snapshot(desk.store) == before


def test_a_memory_that_was_made_and_deleted_again_is_nowhere_E7(desk: Desk) -> None:
    before = known(desk)
    desk.writes("a.md")
    desk.deletes("a.md")
    desk.take_back()
    assert snapshot(desk.store) == before


def test_a_pointer_to_nothing_that_was_there_before_comes_back_E7(desk: Desk) -> None:
    desk.path(INDEX).write_text("- [Gone](gone.md) — long ago\n- [A](a.md) — not yet there\n")
    before = snapshot(desk.store)
    desk.writes(INDEX, "# Tidied\n")
    desk.writes("a.md")
    desk.take_back()
    assert snapshot(desk.store) == before


def test_rules_and_saves_are_noted_as_well_E7(desk: Desk) -> None:
    before = known(desk, "a.md")
    there = Desk(desk.store.recording(desk.journal))
    there.saves("a.md")
    there.saves("b.md")
    there.removes("a.md")
    desk.take_back()
    assert snapshot(desk.store) == before


def test_what_the_plain_directory_does_is_in_no_journal_E7(desk: Desk) -> None:
    desk.saves("a.md")
    assert desk.journal.steps == []


# -- with somebody else beside it ---------------------------------------------------------------------------


def test_a_new_memory_that_somebody_has_changed_stays_with_its_pointer_F9(desk: Desk) -> None:
    known(desk, "b.md")
    desk.writes("a.md")
    desk.writes(INDEX, desk.store.index() + "- [A](a.md) — new\n")
    desk.path("a.md").write_text(topic("theirs"))
    assert desk.take_back() == (INDEX,)
    assert desk.path("a.md").read_text() == topic("theirs")
    assert [pointer.file for pointer in entrypoint.pointers(desk.store.index())] == ["b.md", "a.md"]


def test_of_an_index_that_somebody_has_changed_only_ours_is_put_back_F9(desk: Desk) -> None:
    known(desk, "a.md", "b.md")
    desk.deletes("a.md")
    desk.writes("sub/c.md")
    desk.writes(INDEX, f"# Ours\n{desk.store.index()}- [C](sub/c.md) — new\n")
    line = desk.adds_to_the_index()
    desk.take_back()
    index = desk.store.index()
    assert [pointer.file for pointer in entrypoint.pointers(index)] == ["a.md", "b.md"]
    assert index.endswith(f"{line}\n")
    assert "# Ours" not in index


def test_a_pointer_that_somebody_made_for_what_goes_goes_too_F9(desk: Desk) -> None:
    desk.writes("a.md")
    desk.store.mend()
    desk.path(INDEX).write_text(desk.store.index() + "  own words\n")
    desk.take_back()
    assert desk.store.list() == []
    assert desk.store.index() == "  own words\n"


def test_what_somebody_wrote_between_two_changes_is_what_comes_back_F9(desk: Desk) -> None:
    known(desk, "a.md")
    desk.edits("a.md")
    desk.saves("a.md")
    theirs = snapshot(desk.store)
    desk.edits("a.md")
    desk.take_back()
    assert snapshot(desk.store) == theirs


def test_another_memory_in_the_place_of_a_deleted_one_stays_F9(desk: Desk) -> None:
    known(desk, "a.md")
    desk.deletes("a.md")
    desk.saves("a.md")
    theirs = snapshot(desk.store)
    assert "a.md" not in desk.take_back()
    assert snapshot(desk.store)[str(desk.path("a.md"))] == theirs[str(desk.path("a.md"))]
    assert [entry.file for entry in desk.store.trashed()] == ["a.md"]
    assert [pointer.file for pointer in entrypoint.pointers(desk.store.index())] == ["a.md"]


def test_what_somebody_has_restored_or_removed_stays_so_F9(desk: Desk) -> None:
    known(desk, "a.md", "b.md")
    desk.edits("b.md")
    desk.deletes("a.md")
    desk.store.restore("a.md")
    desk.path("b.md").unlink()
    theirs = desk.path("a.md").read_bytes()
    desk.take_back()
    assert desk.path("a.md").read_bytes() == theirs
    assert not desk.path("b.md").exists()


def test_a_pointer_to_what_somebody_removed_does_not_come_back_F9(desk: Desk) -> None:
    known(desk, "a.md", "b.md")
    desk.writes(INDEX, "- [B](b.md) — only this one\n")
    desk.removes("a.md")
    desk.take_back()
    assert [pointer.file for pointer in entrypoint.pointers(desk.store.index())] == ["b.md"]


def test_a_link_out_of_the_directory_in_the_place_of_a_file_is_left_alone_A8(
    desk: Desk, tmp_path: Path
) -> None:
    before = known(desk, "a.md")
    outside = tmp_path / "outside.md"
    desk.edits("a.md")
    outside.write_bytes(desk.path("a.md").read_bytes())
    desk.path("a.md").unlink()
    desk.path("a.md").symlink_to(outside)
    assert desk.take_back() == ()
    assert "fact" in outside.read_text()
    assert before[str(desk.path(INDEX))] == snapshot(desk.store)[str(desk.path(INDEX))]


def test_a_program_without_our_lock_is_not_run_over_F9(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    known(desk, "a.md")
    desk.edits("a.md")
    monkeypatch.setattr("memdir.memory.undoing.fs.replace_if", _conflict)
    theirs = desk.path("a.md").read_bytes()
    assert desk.take_back() == ()
    assert desk.path("a.md").read_bytes() == theirs


def _conflict(*_: object, **__: object) -> None:
    raise Conflict("a.md changed meanwhile")


# -- any sequence -------------------------------------------------------------------------------------------

indexes = st.lists(
    st.sampled_from([f"- [T]({file}) — hook" for file in (*FILES, "nowhere.md")] + ["# Memories", "  below"]),
    max_size=6,
).map(lambda lines: "".join(f"{line}\n" for line in lines) or "\n")
files = st.sampled_from(FILES)
ours = st.one_of(
    st.tuples(st.sampled_from([Desk.writes, Desk.edits, Desk.deletes]), files),
    st.tuples(st.just(Desk.writes), st.just(INDEX), indexes),
    st.tuples(st.just(Desk.edits), st.just(INDEX)),
)
theirs = st.one_of(
    st.tuples(st.sampled_from([Desk.saves, Desk.removes]), files),
    st.tuples(st.just(Desk.adds_to_the_index)),
)


@settings(max_examples=100, deadline=None)
@given(
    there=st.lists(files, unique=True),
    index=st.none() | indexes,
    steps=st.lists(ours, max_size=8),
    killed=st.booleans(),
)
def test_whatever_a_run_did_all_is_as_it_was_E7(
    there: list[str], index: str | None, steps: list[Act], killed: bool
) -> None:
    with TemporaryDirectory() as folder:
        desk = made(Path(folder), on_disk=killed)
        known(desk, *there)
        if index is not None:
            desk.path(INDEX).write_text(index)
        desk.removes("b.md")
        before = snapshot(desk.store)
        for act, *more in steps:
            act(desk, *more)
        desk.take_back()
        assert snapshot(desk.store) == before


@settings(max_examples=120, deadline=None)
@given(there=st.lists(files, unique=True), steps=st.lists(ours | theirs, max_size=10), killed=st.booleans())
def test_what_somebody_else_did_meanwhile_survives_F9(
    there: list[str], steps: list[Act], killed: bool
) -> None:
    with TemporaryDirectory() as folder:
        desk = made(Path(folder), on_disk=killed)
        known(desk, *there)
        notes, pointed, trashed = set[str](), set(there), set[str]()
        left: dict[str, set[bytes | None]] = {file: {_bytes(desk, file)} for file in FILES}
        seen: dict[str, set[bytes | None]] = {file: {_bytes(desk, file)} for file in FILES}
        deleted_by_us: set[str] = set()
        for act, *more in steps:
            before = {file: _bytes(desk, file) for file in FILES}
            entries = {entry.id for entry in desk.store.trashed()}
            line = act(desk, *more)
            changed = {file: now for file in FILES if (now := _bytes(desk, file)) != before[file]}
            if act in (Desk.writes, Desk.edits, Desk.deletes):
                for file, now in changed.items():
                    seen[file].add(now)
                    (deleted_by_us.add if now is None else deleted_by_us.discard)(file)
                continue
            notes |= {line} if line else set()
            trashed |= {entry.id for entry in desk.store.trashed()} - entries
            for file, now in changed.items():
                seen[file].add(now)
                # who makes a memory in the place of one that we deleted, and deletes it, leaves no trace
                left[file] = {None, *seen[file]} if now is None and file in deleted_by_us else {now}
                pointed = pointed | {file} if now is not None else pointed - {file}
        desk.take_back()
        index = desk.store.index()
        for file in FILES:
            assert _bytes(desk, file) in left[file]
        there_now = {file for file in FILES if desk.path(file).exists()}
        assert {pointer.file for pointer in entrypoint.pointers(index)} <= there_now
        assert pointed & there_now <= {pointer.file for pointer in entrypoint.pointers(index)}
        assert notes <= set(index.splitlines())
        assert trashed <= {entry.id for entry in desk.store.trashed()}


def _bytes(desk: Desk, file: str) -> bytes | None:
    return desk.path(file).read_bytes() if desk.path(file).exists() else None
