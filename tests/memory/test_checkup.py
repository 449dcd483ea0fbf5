"""What hand edits left in a memory directory is found, with its place and its cure (E10, A8, F6)."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir.memory import checkup as checkup_module
from memdir.memory.checkup import Finding, checkup
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


def found(memory: MemoryDir) -> list[tuple[str, int | None, str]]:
    """File, line and kind of each finding."""
    return [(one.file, one.line, one.kind) for one in checkup(memory)]


def only(memory: MemoryDir) -> Finding:
    (finding,) = checkup(memory)
    return finding


def test_there_is_nothing_to_say_of_a_sound_directory(memory: MemoryDir) -> None:
    for name in ("logs/2026/11/x.md", "sessions/s.md", "team/a.md", "team/MEMORY.md", "deep/b.md", "图.md"):
        put(memory, name)
    put(memory, "deep/picture.png", b"\x89PNG\0\0" + TOKEN.encode())
    put(memory, ".obsidian/plugin.js", TOKEN)
    put(memory, "empty.md", "")
    (memory.directory / "alias.md").symlink_to("tabs.md")
    assert checkup(memory) == []


def test_a_directory_that_is_not_there_has_no_findings(tmp_path: Path) -> None:
    assert checkup(MemoryDir(tmp_path / "none", trash=tmp_path / "trash")) == []
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
    secrets = [one for one in checkup(memory) if one.kind == "secret"]
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
    findings = checkup(memory)
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
    findings = checkup(memory)
    assert any(one.kind == "secret" for one in findings)
    told = json.dumps([asdict(one) for one in findings], ensure_ascii=False)
    middle = secret.strip()[len(secret) // 3 :]
    assert middle not in told


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
    assert found(memory) == [("MEMORY.md", None, "link")]


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
    findings = checkup(memory)
    assert [(one.file, one.kind) for one in findings] == [
        ("pipe.md", "unreadable"),
        ("socket.md", "unreadable"),
    ]
    assert "a pipe" in findings[0].reason


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_told_with_its_cure(memory: MemoryDir) -> None:
    put(memory, "closed.md").chmod(0)
    put(memory, "shut/x.md").parent.chmod(0)
    findings = checkup(memory)
    (memory.directory / "shut").chmod(stat.S_IRWXU)
    assert [(one.file, one.kind) for one in findings] == [("closed.md", "unreadable"), ("shut", "unreadable")]
    assert "chmod u+r" in findings[0].cure
    assert "chmod u+rx" in findings[1].cure


def test_a_file_that_is_not_looked_through_is_told(
    memory: MemoryDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkup_module, "MOST_BYTES", 100)
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
        ("deep/MEMORY.md", "the index is MEMORY.md"),
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
    told = {(one.file, one.kind) for one in checkup(memory)}
    assert told == {("a", "name"), ("notes.md", "name"), ("deep/caf\u00e9.md", "name")}


# -- the index -------------------------------------------------------------------------------------------


def test_an_entry_that_leads_nowhere_is_told_with_its_line_F6(memory: MemoryDir) -> None:
    put(
        memory,
        "MEMORY.md",
        "---\nx: 1\n---\n# Mine\n- [T](tabs.md)\n- [G](gone.md)\n```\n- [C](code.md)\n```\n",
    )
    finding = only(memory)
    assert (finding.file, finding.line, finding.kind) == ("MEMORY.md", 6, "index")
    assert "gone.md" in finding.reason
    assert "memdir restore" in finding.cure


def test_entries_that_nobody_sees_are_one_finding_F7(memory: MemoryDir) -> None:
    put(memory, "MEMORY.md", "".join(f"- [Tabs](tabs.md) — {number}\n" for number in range(250)))
    finding = only(memory)
    assert (finding.file, finding.line, finding.kind) == ("MEMORY.md", None, "index")
    assert finding.reason.endswith(": 50")


def test_whatever_status_warns_of_the_checkup_tells_too(memory: MemoryDir) -> None:
    lines = "".join(f"- [G{number}](gone{number}.md)\n" for number in range(250))
    put(memory, "MEMORY.md", lines)
    for name in ("Notes.md", "notes.md", "a\\b.md"):
        put(memory, name)
    told = [f"{one.file} {one.reason}" for one in checkup(memory)]
    for sentence in memory.problems():
        if "beyond what is loaded" not in sentence:
            assert any(_names_in(sentence) & _names_in(one) for one in told), sentence
    assert any("nobody sees: 50" in one for one in told)


def _names_in(sentence: str) -> set[str]:
    return {word.strip(",;") for word in sentence.split() if ".md" in word} - {"MEMORY.md"}


def test_a_checkup_changes_nothing(memory: MemoryDir) -> None:
    put(memory, "a.md", TOKEN)
    put(memory, "con.md")
    before = {path: path.stat().st_mtime_ns for path in memory.directory.parent.rglob("*")}
    files = tree(memory.directory)
    assert len(checkup(memory)) == 2
    assert {path: path.stat().st_mtime_ns for path in memory.directory.parent.rglob("*")} == before
    assert tree(memory.directory) == files
