"""MemoryDir: topic and pointer together, nothing lost, nothing outside, no secret written (F8, F9, E10)."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memdir import fs
from memdir.errors import Conflict, NotFound, SecretFound, UnsafePath
from memdir.memory import entrypoint
from memdir.memory.entrypoint import Pointer
from memdir.memory.store import ANY, MemoryDir, Written
from memdir.memory.topic import Origin, render
from memdir.memory.trash import Trashed

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
SECRET = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow" * 20 + "\n-----END RSA PRIVATE KEY-----"
NOTE = render(name="Tabs", description="Tabs, not blanks", type="feedback", body="Use tabs.\n").encode()
STAMPED = NOTE.replace(b"---\n\n", b'modified: "2026-03-30T12:00:00.000Z"\n---\n\n')
TABS = Pointer(title="Tabs", file="", hook="not blanks")


@pytest.fixture
def store(tmp_path: Path) -> MemoryDir:
    store = MemoryDir(tmp_path / "memory", trash=tmp_path / "state" / "trash")
    store.prepare()
    return store


def _save(store: MemoryDir, file: str = "tabs.md", data: bytes = NOTE, pointer: Pointer = TABS) -> Written:
    return store.save(file, data, pointer=pointer, expected=ANY, now=NOW, origin=None)


def _write(store: MemoryDir, file: str, data: bytes, expected: str | None = None) -> Written:
    return store.write(file, data, expected=expected, now=NOW, origin=None)


def _tree(store: MemoryDir) -> dict[str, bytes]:
    files = (path for path in store.directory.rglob("*") if path.is_file())
    return {path.relative_to(store.directory).as_posix(): path.read_bytes() for path in files}


# -- writing --------------------------------------------------------------------------------------------


def test_a_saved_memory_is_a_stamped_topic_and_a_pointer_F1(store: MemoryDir) -> None:
    written = _save(store)
    assert _tree(store) == {"tabs.md": STAMPED, "MEMORY.md": "- [Tabs](tabs.md) — not blanks\n".encode()}
    assert written == Written(
        file="tabs.md",
        action="created",
        digest=fs.digest(STAMPED),
        data=STAMPED,
        type="feedback",
        warning=None,
    )
    read = store.read("tabs.md")
    assert (read.data, read.digest) == (STAMPED, written.digest)
    assert read.topic is not None
    assert read.topic.description == "Tabs, not blanks"


def test_a_write_carries_where_it_came_from_E11(store: MemoryDir) -> None:
    store.write("tabs.md", NOTE, expected=None, now=NOW, origin=Origin(session="s", worker="extract"))
    read = store.read("tabs.md").topic
    assert read is not None
    assert read.origin == Origin(session="s", worker="extract")


def test_a_file_without_a_header_is_written_as_it_is_F1(store: MemoryDir) -> None:
    assert _write(store, "plain.md", b"text\xff\r\n").data == b"text\xff\r\n"


def test_new_files_and_folders_are_for_their_owner_only_F8(store: MemoryDir) -> None:
    _save(store, "sub/folder/tabs.md")
    assert {oct(path.stat().st_mode & 0o777) for path in store.directory.rglob("*.md")} == {"0o600"}
    folders = [store.directory, *(path for path in store.directory.rglob("*") if path.is_dir())]
    assert {oct(path.stat().st_mode & 0o777) for path in folders} == {"0o700"}


def test_an_existing_file_keeps_its_mode_F8(store: MemoryDir) -> None:
    _write(store, "a.md", b"old\n")
    (store.directory / "a.md").chmod(0o644)
    _write(store, "a.md", b"new\n", fs.digest(b"old\n"))
    assert (store.directory / "a.md").stat().st_mode & 0o777 == 0o644


def test_a_second_writer_is_told_that_the_file_changed_F9(store: MemoryDir) -> None:
    first = _write(store, "a.md", b"one\n")
    assert _write(store, "a.md", b"two\n", first.digest).action == "updated"
    for expected, words in ((first.digest, "changed meanwhile"), (None, "is there already")):
        with pytest.raises(Conflict, match=words):
            _write(store, "a.md", b"three\n", expected)
    (store.directory / "a.md").unlink()
    with pytest.raises(Conflict, match="was removed"):
        _write(store, "a.md", b"three\n", first.digest)
    assert _tree(store) == {}


def test_any_may_replace_whatever_is_there_F9(store: MemoryDir) -> None:
    for data in (b"one\n", b"two\n"):
        store.write("a.md", data, expected=ANY, now=NOW, origin=None)
    assert _tree(store) == {"a.md": b"two\n"}


def test_writing_the_same_again_touches_nothing_F3(store: MemoryDir) -> None:
    _save(store)
    before = {path: path.stat().st_mtime_ns for path in store.directory.iterdir()}
    written = _save(store, data=STAMPED)
    assert (written.action, written.data) == ("unchanged", STAMPED)
    assert {path: path.stat().st_mtime_ns for path in store.directory.iterdir()} == before


def test_a_conflict_on_the_topic_leaves_the_index_alone_F9(store: MemoryDir) -> None:
    _save(store)
    before = _tree(store)
    with pytest.raises(Conflict):
        store.save(
            "tabs.md",
            b"x",
            pointer=Pointer(title="X", file="", hook="x"),
            expected=None,
            now=NOW,
            origin=None,
        )
    assert _tree(store) == before


def test_an_index_edited_by_a_program_without_our_lock_is_read_again_F9(
    store: MemoryDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = "- [Theirs](theirs.md) — x\n".encode()
    real = entrypoint.add
    edits: list[int] = []

    def add_while_they_write(text: str, pointer: Pointer) -> str:
        if not edits:
            edits.append((store.directory / "MEMORY.md").write_bytes(theirs))
        return real(text, pointer)

    monkeypatch.setattr(entrypoint, "add", add_while_they_write)
    _save(store)
    assert _tree(store)["MEMORY.md"] == theirs + "- [Tabs](tabs.md) — not blanks\n".encode()


def test_bytes_of_the_index_that_are_no_text_survive_F6(store: MemoryDir) -> None:
    (store.directory / "MEMORY.md").write_bytes(b"\xef\xbb\xbf# caf\xe9\r\n- [A](a.md)")
    _save(store)
    assert _tree(store)["MEMORY.md"] == (
        b"\xef\xbb\xbf# caf\xe9\r\n- [A](a.md)\r\n" + "- [Tabs](tabs.md) — not blanks\r\n".encode()
    )
    assert store.index().startswith("# caf\ufffd")


# -- the index over its limits (F7) ---------------------------------------------------------------------


def test_an_index_written_over_a_limit_stands_and_is_answered_with_a_warning_F7(store: MemoryDir) -> None:
    index = "".join(f"- [T](t{number}.md)\n" for number in range(201)).encode()
    written = _write(store, "MEMORY.md", index)
    assert _tree(store) == {"MEMORY.md": index}
    assert written.warning is not None
    assert "t200.md" in written.warning
    assert (written.type, written.data) == (None, index)
    assert _write(store, "MEMORY.md", index, written.digest).warning == written.warning


def test_pointers_beyond_the_limit_are_all_on_the_disk_and_the_newest_is_visible_F7(store: MemoryDir) -> None:
    index = "".join(f"- [T](t{number}.md)\n" for number in range(200)).encode()
    _write(store, "MEMORY.md", index)
    written = _save(store)
    assert len(entrypoint.pointers(store.index())) == 201
    assert "[Tabs](tabs.md)" in entrypoint.load(store.index()).text
    assert written.warning is not None
    assert "t199.md" in written.warning


# -- secrets (E10, T6) ----------------------------------------------------------------------------------


def test_a_secret_never_reaches_the_disk_and_the_error_does_not_tell_it_E10(store: MemoryDir) -> None:
    changes: list[Callable[[], object]] = [
        lambda: _write(store, "a.md", SECRET.encode()),
        lambda: _save(store, data=NOTE + SECRET.encode()),
        lambda: _save(store, pointer=Pointer(title="T", file="", hook="ghp_" + "a1B2c3D4e5F6" * 3)),
        lambda: _write(store, "MEMORY.md", SECRET.encode()),
    ]
    for change in changes:
        with pytest.raises(SecretFound) as caught:
            change()
        assert "MIIEow" not in str(caught.value)
        assert "ghp_" not in str(caught.value)
    assert _tree(store) == {}


def test_a_secret_that_stood_there_already_does_not_stop_an_edit_elsewhere_E10(store: MemoryDir) -> None:
    (store.directory / "a.md").write_text(f"old\n{SECRET}\n")
    data = f"new\n{SECRET}\n".encode()
    assert store.write("a.md", data, expected=ANY, now=NOW, origin=None).action == "updated"
    with pytest.raises(SecretFound):
        store.write("a.md", data + SECRET.replace("MII", "MIJ").encode(), expected=ANY, now=NOW, origin=None)


# -- names and places (A8) ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    ["a.txt", "a", ".a.md", ".x/a.md", "../a.md", "sub/../../a.md", "/etc/a.md", "a\x00.md", "a\\b.md",
     "a:b.md", "con.md", "a .md ", "aux/x.md", "memory.md", "", ".", "~/a.md", "%2e%2e/a.md", "a.md/b.md"],
)  # fmt: skip
def test_a_name_that_is_no_visible_file_of_the_directory_is_refused_A8(store: MemoryDir, file: str) -> None:
    _write(store, "MEMORY.md", b"")
    _write(store, "a.md", b"")
    for change in (
        lambda: _write(store, file, b"x"),
        lambda: store.read(file),
        lambda: store.delete(file, now=NOW),
    ):
        with pytest.raises((UnsafePath, NotFound)):
            change()
    assert _tree(store) == {"MEMORY.md": b"", "a.md": b""}


def test_nothing_is_written_or_read_through_a_link_that_leaves_A8(store: MemoryDir, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"outside")
    (store.directory / "out.md").symlink_to(outside)
    (store.directory / "MEMORY.md").symlink_to(outside)
    for change in (
        lambda: _write(store, "out.md", b"x"),
        lambda: store.read("out.md"),
        store.index,
        lambda: _save(store),
    ):
        with pytest.raises(UnsafePath):
            change()
    assert outside.read_bytes() == b"outside"
    assert not (store.directory / "tabs.md").exists()


def test_an_absolute_path_inside_the_directory_is_as_good_as_its_name_A8(store: MemoryDir) -> None:
    assert _write(store, str(store.directory / "a.md"), b"x\n").file == "a.md"


def test_a_name_that_differs_by_case_only_is_refused_A8(store: MemoryDir) -> None:
    _write(store, "a.md", b"x\n")
    with pytest.raises(UnsafePath):
        _write(store, "A.md", b"y\n")


def test_the_index_is_the_index_also_as_a_link_to_another_file_P8(store: MemoryDir) -> None:
    (store.directory / "INDEX.md").write_bytes(b"---\nname: mine\n---\n- [A](a.md)\n")
    (store.directory / "MEMORY.md").symlink_to("INDEX.md")
    (store.directory / "a.md").write_bytes(NOTE)
    before = _tree(store)
    assert store.mend() == []
    for change in (lambda: store.delete("INDEX.md", now=NOW), lambda: _save(store, "INDEX.md")):
        with pytest.raises(UnsafePath, match="index"):
            change()
    assert _tree(store) == before
    for file in ("MEMORY.md", "INDEX.md"):
        assert (store.read(file).file, store.read(file).topic) == ("MEMORY.md", None)
    index = b"---\nname: mine\n---\n" + b"- [T](t.md)\n" * 201
    written = store.write("INDEX.md", index, expected=ANY, now=NOW, origin=None)
    assert written.warning is not None
    assert (written.file, written.data, written.type) == ("MEMORY.md", index, None)
    assert (store.directory / "MEMORY.md").is_symlink()


def test_what_is_no_topic_is_written_as_it_is_P8(store: MemoryDir) -> None:
    for file in ("logs/2026/a.md", "Sessions/c.md"):
        assert _write(store, file, NOTE).data == NOTE
        with pytest.raises(UnsafePath, match="no place for a memory"):
            _save(store, file)
    assert _write(store, "team/d.md", NOTE).data == STAMPED
    assert _write(store, "team/MEMORY.md", NOTE).data == NOTE


@pytest.mark.parametrize("file", ["memory.md", "sub/MEMORY.md", "sub/Memory.md"])
def test_no_new_file_takes_the_name_of_the_index_P8(store: MemoryDir, file: str) -> None:
    with pytest.raises(UnsafePath, match=r"the index of the directory is MEMORY\.md"):
        _write(store, file, NOTE)
    assert _tree(store) == {}


def test_the_index_is_never_deleted_or_saved_as_a_memory(store: MemoryDir) -> None:
    _write(store, "MEMORY.md", b"text\n")
    for change in (lambda: store.delete("MEMORY.md", now=NOW), lambda: _save(store, "MEMORY.md")):
        with pytest.raises(UnsafePath, match="index"):
            change()
    assert _tree(store) == {"MEMORY.md": b"text\n"}


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("Tabs, not blanks!", "tabs_not_blanks.md"),
        ("  用户偏好: 缩进 ", "用户偏好_缩进.md"),
        ("../../etc/passwd", "etc_passwd.md"),
        ("Memory", "memory_2.md"),
        ("CON", "con_2.md"),
        ("日本語で", "日本語で.md"),
        ("हिन्दी", "हिन्दी.md"),
        ("", "memory_note.md"),
        ("\u200b😀\x00", "memory_note.md"),
        ("x" * 300, "x" * 50 + ".md"),
    ],
)
def test_a_free_name_is_safe_and_says_what_it_is_about(store: MemoryDir, stem: str, name: str) -> None:
    assert store.free_name(stem) == name
    _write(store, name, b"x\n")
    assert store.free_name(stem) not in (name, store.free_name("other"))
    assert store.free_name("Taken") == "taken.md"


def test_a_directory_that_cannot_be_made_is_logged_and_does_not_stop_P7(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    with caplog.at_level(logging.WARNING):
        MemoryDir(tmp_path / "file" / "memory", trash=tmp_path / "trash").prepare()
    assert "can't be made" in caplog.text


# -- deleting and restoring -----------------------------------------------------------------------------


def test_a_deleted_memory_comes_back_as_it_was_bytes_time_and_pointer(store: MemoryDir) -> None:
    index = b"# Mine\n\n- [A](a.md)\n* [My Tabs](<tabs.md>):  own words\n- [B](b.md)"
    odd = b"---\r\nname: caf\xe9\r\n---\r\nbody"
    (store.directory / "tabs.md").write_bytes(odd)
    os.utime(store.directory / "tabs.md", ns=(1, 1_700_000_000_123_456_789))
    (store.directory / "MEMORY.md").write_bytes(index)
    trashed = store.delete("tabs.md", now=NOW)
    assert _tree(store) == {"MEMORY.md": b"# Mine\n\n- [A](a.md)\n- [B](b.md)"}
    assert store.trashed() == [trashed]
    assert (trashed.file, trashed.deleted) == ("tabs.md", "2026-03-30T12:00:00.000Z")
    restored = store.restore("tabs.md")
    assert (restored.action, restored.data) == ("created", odd)
    assert _tree(store) == {"MEMORY.md": index, "tabs.md": odd}
    assert (store.directory / "tabs.md").stat().st_mtime_ns == 1_700_000_000_123_456_789
    assert store.trashed() == []


def test_a_delete_takes_only_what_the_caller_saw_F9(store: MemoryDir) -> None:
    seen = _save(store)
    newer = _write(store, "tabs.md", NOTE + b"more\n", seen.digest)
    before = _tree(store)
    with pytest.raises(Conflict, match="changed meanwhile"):
        store.delete("tabs.md", expected=seen.digest, now=NOW)
    assert (_tree(store), store.trashed()) == (before, [])
    store.delete("tabs.md", expected=newer.digest, now=NOW)
    assert "tabs.md" not in _tree(store)


@pytest.mark.parametrize("theirs", ["tabs.md", "MEMORY.md"])
def test_what_is_written_while_a_delete_runs_stays_F9(
    store: MemoryDir, monkeypatch: pytest.MonkeyPatch, theirs: str
) -> None:
    _save(store)
    put = store.trash.put
    text = b"- [Mine](tabs.md) - typed just now\n"

    def put_while_they_write(*args: Any, **named: Any) -> Trashed:
        trashed = put(*args, **named)
        (store.directory / theirs).write_bytes(text)
        return trashed

    monkeypatch.setattr(store.trash, "put", put_while_they_write)
    before = _tree(store)
    with pytest.raises(Conflict, match=f"{theirs} changed meanwhile"):
        store.delete("tabs.md", now=NOW)
    assert _tree(store) == before | {theirs: text}
    assert store.trashed() == []


def test_lines_below_an_entry_go_and_come_back_with_it_F6(store: MemoryDir) -> None:
    index = "- [Tabs](tabs.md) — x\n  all about tabs\n\n  - and more\n- [B](b.md)\n".encode()
    _save(store)
    (store.directory / "MEMORY.md").write_bytes(index)
    store.delete("tabs.md", now=NOW)
    assert _tree(store)["MEMORY.md"] == b"- [B](b.md)\n"
    store.restore("tabs.md")
    assert _tree(store)["MEMORY.md"] == index


def test_a_restore_that_was_killed_is_done_again(store: MemoryDir) -> None:
    _save(store)
    before = _tree(store)
    store.delete("tabs.md", now=NOW)
    (store.directory / "tabs.md").write_bytes(before["tabs.md"])
    store.restore("tabs.md")
    assert (_tree(store), store.trashed()) == (before, [])


def test_several_generations_of_a_name_are_kept_the_newest_comes_back_first(store: MemoryDir) -> None:
    for number in range(3):
        _write(store, "a.md", f"{number}\n".encode())
        store.delete("a.md", now=NOW + timedelta(seconds=number))
    oldest = store.trashed()[-1]
    assert store.restore("a.md").data == b"2\n"
    with pytest.raises(Conflict, match="there again"):
        store.restore("a.md")
    assert len(store.trashed()) == 2
    store.delete("a.md", now=NOW + timedelta(minutes=1))
    assert store.restore("a.md", id=oldest.id).data == b"0\n"


def test_a_memory_without_a_pointer_comes_back_without_one(store: MemoryDir) -> None:
    _write(store, "a.md", b"x\n")
    store.delete("a.md", now=NOW)
    store.restore("a.md")
    assert _tree(store) == {"a.md": b"x\n"}


def test_what_is_not_there_cannot_be_read_deleted_or_restored(store: MemoryDir) -> None:
    for change in (
        lambda: store.read("a.md"),
        lambda: store.delete("a.md", now=NOW),
        lambda: store.restore("a.md"),
    ):
        with pytest.raises(NotFound):
            change()


def test_a_broken_record_in_the_trash_hides_nothing_else(store: MemoryDir) -> None:
    _save(store)
    store.delete("tabs.md", now=NOW)
    for name, text in (("a.json", "{"), ("b.json", "[]"), ("c.json", '{"file": "x.md"}')):
        (store.trash.folder / name).write_text(text)
    assert [entry.file for entry in store.trashed()] == ["tabs.md"]


# -- the list ---------------------------------------------------------------------------------------------


def test_the_list_is_of_all_topics_newest_first_M3(store: MemoryDir) -> None:
    for number in range(205):
        (store.directory / f"t{number}.md").write_bytes(NOTE)
        os.utime(store.directory / f"t{number}.md", (number, number))
    assert [header.path for header in store.list()] == [f"t{number}.md" for number in range(204, -1, -1)]
