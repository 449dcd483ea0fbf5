"""What hand edits left in a memory directory is found, with its place and its cure (E10, A8, F6)."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir.doctor import survey as survey_module
from memdir.doctor.checkup import Check, checkup, examine, problems
from memdir.doctor.files import files
from memdir.doctor.finding import Finding
from memdir.doctor.index import index
from memdir.doctor.layouts import inside
from memdir.doctor.leaks import secrets, trash
from memdir.doctor.names import names
from memdir.memory.leaks import MASKED
from memdir.memory.store import MemoryDir
from memdir.testing import temporary_memory, tree
from tests.cases import case_rows

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
NOTE = "---\nname: Tabs\ndescription: Tabs, not blanks\ntype: feedback\n---\n\nUse tabs.\n"


@pytest.fixture
def memory() -> Iterator[MemoryDir]:
    with temporary_memory({"tabs.md": NOTE, "MEMORY.md": "- [Tabs](tabs.md) — tabs, not blanks\n"}) as made:
        yield made


def put(memory: MemoryDir, name: str, text: str | bytes = NOTE) -> Path:
    path: Path = memory.directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
    return path


HERE: tuple[Check, ...] = (files, names, secrets, trash, inside)
"""What is wrong with a file, whatever the index and its header say of it."""


def told(memory: MemoryDir, *checks: Check) -> list[Finding]:
    found = examine(memory, now=NOW, checks=checks or HERE)
    return [one for one in found if one.kind != "marked"]


def found(memory: MemoryDir, *checks: Check) -> list[tuple[str, int | None, str]]:
    """File, line and kind of each finding."""
    return [(one.file, one.line, one.kind) for one in told(memory, *checks)]


def only(memory: MemoryDir, *checks: Check) -> Finding:
    (finding,) = told(memory, *checks)
    return finding


def test_there_is_nothing_to_say_of_a_sound_directory(memory: MemoryDir) -> None:
    for name in ("logs/2026/11/x.md", "sessions/s.md", "team/a.md", "team/MEMORY.md"):
        put(memory, name)
    put(
        memory, "deep/b.md", "---\nname: Ports\ndescription: Which ports\n---\n\nThe proxy listens on 8443.\n"
    )
    put(memory, "图.md", "---\nname: 图\ndescription: 图在哪里\n---\n\n架构图在设计文件夹里。\n")
    put(memory, "MEMORY.md", "- [Tabs](tabs.md)\n- [Ports](deep/b.md)\n- [图](图.md)\n- [Empty](empty.md)\n")
    put(memory, "deep/picture.png", b"\x89PNG\0\0" + TOKEN.encode())
    put(memory, ".obsidian/plugin.js", TOKEN)
    put(memory, "empty.md", "")
    (memory.directory / "alias.md").symlink_to("tabs.md")
    assert checkup(memory, now=NOW) == []


def test_a_directory_that_is_not_there_has_no_findings(tmp_path: Path) -> None:
    assert checkup(MemoryDir(tmp_path / "none", trash=tmp_path / "trash"), now=NOW) == []
    assert list(tmp_path.iterdir()) == []


# -- secrets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "a.md",
        "MEMORY.md",
        "team/a.md",
        "team/MEMORY.md",
        "logs/2026/11/x.md",
        "sessions/s.md",
        "deep/notes.txt",
        ".hidden.md",
        "data.json",
        "deep/MEMORY.md",
        "x.MD",
    ],
)
def test_a_secret_is_found_in_whatever_is_read_or_shared_E10(memory: MemoryDir, name: str) -> None:
    put(memory, name, f"one\ntwo\nthe token is {TOKEN}\nfour\n")
    secrets = [one for one in told(memory) if one.kind == "secret"]
    assert [(one.file, one.line, one.rule) for one in secrets] == [(name, 3, "GitHub token")]
    assert "GitHub token, ghp_" in secrets[0].reason
    assert "memdir:allow-secret" in secrets[0].cure


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_lines_are_counted_as_an_editor_does_in_any_encoding_E10(
    memory: MemoryDir, end: str, encoding: str
) -> None:
    put(memory, "a.md", end.join(["é", TOKEN, "", TOKEN]).encode(encoding))
    assert found(memory) == [("a.md", 2, "secret"), ("a.md", 4, "secret")]


def test_a_secret_behind_letters_that_nobody_sees_is_found_on_its_line_E10(memory: MemoryDir) -> None:
    put(memory, "a.md", f"one\n{TOKEN[:9]}\u2060{TOKEN[9:]}\n")
    assert found(memory) == [("a.md", 2, "secret")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f'---\nname: x\nlogin: "\\x67hp_{TOKEN[4:]}"\n---\n', 3),
        (f'---\nmetadata:\n  type: "gh\\u0070_{TOKEN[4:]}"\n---\n', 3),
        (f'---\nname: "{TOKEN[:9]}\\\n  {TOKEN[9:]}"\n---\n', 2),
        (f"# Mine\n- [ghp\\_{TOKEN[4:]}](tabs.md)\n", 2),
        (f'---\nname: x\nlogin: "\\x67hp_{TOKEN[4:]}" # memdir:allow-secret\n---\n', None),
    ],
)
def test_a_secret_behind_escapes_is_found_on_its_line_E10(
    memory: MemoryDir, text: str, line: int | None
) -> None:
    put(memory, "a.md", text)
    assert found(memory) == ([("a.md", line, "secret")] if line else [])


def test_a_line_that_the_person_marked_is_no_finding_E10(memory: MemoryDir) -> None:
    put(memory, "a.md", f"{TOKEN} <!-- memdir:allow-secret -->\n{TOKEN}\n")
    assert found(memory) == [("a.md", 2, "secret")]


def test_a_secret_in_a_name_is_found_and_not_repeated_E10(memory: MemoryDir) -> None:
    put(memory, f"{TOKEN}.md")
    put(memory, f"{TOKEN}/x.md", f"{TOKEN}")
    findings = told(memory)
    assert {one.file for one in findings} == {MASKED}
    assert {one.kind for one in findings} == {"secret"}
    assert TOKEN not in str(findings)


def test_a_secret_that_was_forgotten_is_found_in_the_trash_E10(memory: MemoryDir) -> None:
    put(memory, "a.md", f"---\nname: a\n---\n\n{TOKEN}\n")
    memory.delete("a.md", now=NOW)
    finding = only(memory)
    assert (finding.file, finding.line, finding.rule) == ("a.md", 5, "GitHub token")
    assert str(memory.trash.folder) in finding.cure


MUST = [row for row in case_rows("secrets.jsonl") if row["expect"] == "find" and row["tier"] == "must"]


@pytest.mark.parametrize("row", MUST, ids=lambda row: row["id"])
def test_no_part_of_a_value_is_told_E10(memory: MemoryDir, row: dict[str, str]) -> None:
    secret = "".join(row["parts"])
    template = row["template"].replace("{PAD200000}", "x " * 200_000)
    put(memory, "a.md", template.replace("{S}", secret))
    findings = checkup(memory, now=NOW)
    assert any(one.kind == "secret" for one in findings)
    words = json.dumps([asdict(one) for one in findings], ensure_ascii=False)
    middle = secret.strip()[len(secret) // 3 :]
    assert middle not in words


# -- files -----------------------------------------------------------------------------------------------


def test_a_link_that_leads_outside_or_nowhere_is_told_and_not_followed_A8(
    memory: MemoryDir, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.md").write_text(TOKEN)
    directory = memory.directory
    (directory / "file.md").symlink_to(tmp_path / "out" / "x.md")
    (directory / "folder").symlink_to(tmp_path / "out")
    (directory / "gone.md").symlink_to("nowhere.md")
    (directory / "self.md").symlink_to("self.md")
    (directory / ".consolidate-lock").symlink_to(tmp_path / "out" / "created")
    (directory / "up").symlink_to("..")
    assert found(memory) == [
        (name, None, "link")
        for name in (".consolidate-lock", "file.md", "folder", "gone.md", "self.md", "up")
    ]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["x.md"]


def test_an_index_that_is_a_link_out_is_one_finding_A8(memory: MemoryDir, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text(f"- [Gone](gone.md)\n{TOKEN}\n")
    (memory.directory / "MEMORY.md").unlink()
    (memory.directory / "MEMORY.md").symlink_to(tmp_path / "x.md")
    assert found(memory, *HERE, index) == [("MEMORY.md", None, "link")]


def test_a_directory_that_is_itself_a_link_is_looked_through(memory: MemoryDir, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(memory.directory)
    put(memory, "a.md", TOKEN)
    assert found(MemoryDir(tmp_path / "link", trash=tmp_path / "trash")) == [("a.md", 1, "secret")]


def test_what_is_no_file_is_told_and_not_waited_for_A8(
    memory: MemoryDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(memory.directory)  # the path of a socket is short
    os.mkfifo("pipe.md")
    with socket.socket(socket.AF_UNIX) as there:
        there.bind("socket.md")
    findings = told(memory)
    assert [(one.file, one.kind) for one in findings] == [
        ("pipe.md", "unreadable"),
        ("socket.md", "unreadable"),
    ]
    assert "a pipe" in findings[0].reason


@contextmanager
def nobody(memory: MemoryDir) -> Iterator[None]:
    """Somebody to whom a closed file is closed, who owns the directory. Who may read everything is none."""
    if os.geteuid() != 0:
        yield
        return
    checkup(memory, now=NOW)  # so that what is imported late is there
    above = memory.directory.parent
    for path in (above, *above.rglob("*")):
        os.chown(path, 65534, -1)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_what_may_not_be_read_is_told_with_its_cure_and_nothing_behind_it_is_called_gone_A8(
    memory: MemoryDir,
) -> None:
    closed, folder = put(memory, "closed.md"), put(memory, "shut/x.md").parent
    put(memory, "MEMORY.md", "- [T](tabs.md)\n- [x](shut/x.md)\n- [c](closed.md)\n")
    with nobody(memory):
        closed.chmod(0)
        folder.chmod(0)
        try:
            findings = checkup(memory, now=NOW)
        finally:
            folder.chmod(stat.S_IRWXU)
    assert [(one.file, one.kind) for one in findings] == [("closed.md", "unreadable"), ("shut", "unreadable")]
    assert "chmod u+r" in findings[0].cure
    assert "chmod u+rx" in findings[1].cure


def test_a_file_that_is_not_looked_through_is_told(
    memory: MemoryDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey_module, "MOST_BYTES", 100)
    put(memory, "big.md", "x" * 101)
    assert found(memory) == [("big.md", None, "unreadable")]


def test_an_encoding_that_can_not_be_kept_is_told(memory: MemoryDir) -> None:
    put(memory, "a.md", b"\xff\xfex\0\x80")
    put(memory, "bytes.md", b"caf\xe9 is kept\n")
    finding = only(memory)
    assert (finding.file, finding.kind, finding.cure) == ("a.md", "unreadable", "save it as UTF-8 first")


# -- names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("con.md", "Windows keeps"),
        ("what?.md", "Windows does not allow"),
        ("x.md.txt", "end in .md"),
        ("x.MD", "end in .md"),
        ("x.markdown", "end in .md"),
        ("deep/notes.txt", "end in .md"),
        ("-rf.md", "leading dash"),
        (" a.md", "a blank"),
        ("a\\b.md", "a backslash"),
        ("a%2fb.md", "percent-encoded"),
        ("a\u200bb.md", "U+200B"),
        ("c:x.md", "a Windows drive"),
        ("deep/memory.md", "the index is MEMORY.md"),
        ("team/x.txt", "end in .md"),
        ("logs/a\tb.md", "U+0009"),
        (os.fsdecode(b"a\xff.md"), "U+DCFF"),
    ],
)
def test_a_name_that_memory_or_another_system_can_not_hold_is_told_A8(
    memory: MemoryDir, name: str, reason: str
) -> None:
    put(memory, name)
    finding = only(memory)
    assert (finding.file, finding.kind) == (name, "name")
    assert reason in finding.reason


def test_a_folder_whose_name_is_wrong_is_one_finding_A8(memory: MemoryDir) -> None:
    put(memory, "a\\b/c/x.md")
    put(memory, "a\\b/y.md")
    assert found(memory) == [("a\\b", None, "name")]


def test_names_that_are_one_on_some_disks_are_told_A8(memory: MemoryDir) -> None:
    for name in ("Notes.md", "notes.md", "deep/caf\u00e9.md", "deep/cafe\u0301.md", "A/x.md", "a/y.md"):
        put(memory, name)
    twins = {(one.file, one.kind) for one in told(memory)}
    assert twins == {(name, "collision") for name in ("a", "notes.md", "deep/caf\u00e9.md")}


# -- the index -------------------------------------------------------------------------------------------


def test_an_entry_that_leads_nowhere_is_told_with_its_line_F6(memory: MemoryDir) -> None:
    put(
        memory,
        "MEMORY.md",
        "---\nx: 1\n---\n# Mine\n- [T](tabs.md)\n- [G](gone.md)\n```\n- [C](code.md)\n```\n",
    )
    finding = only(memory, index)
    assert (finding.file, finding.line, finding.kind) == ("MEMORY.md", 6, "dead pointer")
    assert "gone.md" in finding.reason
    assert "memdir restore" in finding.cure
    assert finding.fix is not None


def test_an_entry_for_what_can_not_be_seen_is_not_called_dead_A8(memory: MemoryDir, tmp_path: Path) -> None:
    """What a link or a closed folder hides may be there."""
    (memory.directory / "alias").symlink_to(memory.directory)
    (memory.directory / "away.md").symlink_to(tmp_path / "x.md")
    os.mkfifo(memory.directory / "pipe.md")
    put(memory, "broken.md", b"\xff\xfex\0\x80")
    names = ("tabs.md", "alias/tabs.md", "away.md", "pipe.md", "broken.md")
    put(memory, "MEMORY.md", "".join(f"- [x]({name})\n" for name in names))
    assert found(memory, index) == []


def test_what_is_no_memory_is_no_orphan_M1(memory: MemoryDir) -> None:
    for name in ("logs/2026/11/x.md", "sessions/s.md", "team/a.md", "x.txt", ".x.md", "CLAUDE.md"):
        put(memory, name)
    assert found(memory, index) == []
    put(memory, "deep/b.md")
    assert found(memory, index) == [("deep/b.md", None, "orphan")]


def test_entries_that_nobody_sees_are_one_finding_F7(memory: MemoryDir) -> None:
    for number in range(250):
        put(memory, f"t{number}.md", f"{NOTE}\n{number}\n")
    lines = "".join(f"- [Tabs {number}](t{number}.md) — its own word{number}\n" for number in range(250))
    put(memory, "MEMORY.md", f"- [Tabs](tabs.md)\n{lines}")
    finding = only(memory, index)
    assert (finding.file, finding.line, finding.kind) == ("MEMORY.md", None, "index")
    assert "entries that nobody sees: 51 (t199.md, t200.md," in finding.reason


# -- what `memdir status` tells --------------------------------------------------------------------------


def test_problems_name_what_keeps_memories_from_being_seen(memory: MemoryDir) -> None:
    for name in ("a.md", "A.md", "a\\b.md", "orphan.md"):
        put(memory, name, TOKEN)
    lines = "".join(f"{number}\n" for number in range(200))
    put(memory, "MEMORY.md", f"- [Gone](gone.md)\n{lines}")
    size = (
        "it is at 201 lines (limit: 200), and what is beyond that is not loaded; entries that nobody sees: 0"
    )
    assert problems(memory, now=NOW) == [
        f"MEMORY.md: {size}",
        "MEMORY.md: it points to gone.md, which is not there",
        "a.md: only case or Unicode form tell it from A.md",
        "a\\b.md: a backslash, or a character that looks like a slash",
    ]
    assert problems(MemoryDir(memory.directory / "none", trash=memory.trash.folder), now=NOW) == []


def test_an_index_that_can_not_be_read_is_told_by_status_too_A8(memory: MemoryDir) -> None:
    put(memory, "MEMORY.md", b"\xff\xfex\0\x80")
    assert problems(memory, now=NOW) == [
        "MEMORY.md: it is in a broken encoding, so nothing of ours can change it"
    ]


def test_a_checkup_changes_nothing(memory: MemoryDir) -> None:
    put(memory, "a.md", TOKEN)
    put(memory, "con.md")
    before = {path: path.stat().st_mtime_ns for path in memory.directory.parent.rglob("*")}
    files_before = tree(memory.directory)
    assert len(told(memory)) == 2
    assert {path: path.stat().st_mtime_ns for path in memory.directory.parent.rglob("*")} == before
    assert tree(memory.directory) == files_before
