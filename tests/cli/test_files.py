"""list, show, edit, remember, forget, restore: by hand, and what is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import Desk, typist

DEPLOYS = "we deploy on Tuesdays"
DEPLOYS_IN_PROJECT = ("--type", "project", DEPLOYS)


def test_a_memory_is_made_listed_shown_forgotten_and_brought_back_H1(desk: Desk) -> None:
    made = desk("remember", *DEPLOYS_IN_PROJECT)
    assert (made.code, made.out, made.err) == (0, "", "created project_deploy_tuesdays.md\n")
    assert desk("list").out == f"project  today  project_deploy_tuesdays.md  {DEPLOYS}\n"
    shown = desk("show", "project_deploy_tuesdays")
    assert shown.out == desk.files()["project_deploy_tuesdays.md"]
    assert desk("show", DEPLOYS.upper()).out == shown.out
    gone = desk("forget", DEPLOYS)
    assert gone.err == (
        "forgot project_deploy_tuesdays.md; `memdir restore project_deploy_tuesdays.md` brings it back\n"
    )
    assert desk.files() == {}
    assert "project_deploy_tuesdays.md" in desk("restore").out
    assert desk("restore", DEPLOYS).err == "restored project_deploy_tuesdays.md\n"
    assert desk("show", "project_deploy_tuesdays").out == shown.out
    assert desk("restore").err == "the trash is empty\n"


def test_what_reads_and_changes_speaks_json_H1(desk: Desk) -> None:
    assert desk("list", "--json").json == {"version": 1, "directory": str(desk.memory), "memories": []}
    change = {"path": "user_spaces.md", "action": "created", "type": "user"}
    assert desk("remember", "--json", "--type", "user", "use spaces").json == {
        "version": 1,
        "files": [change],
        "warning": None,
    }
    (listed,) = desk("list", "--json").json["memories"]
    assert (listed["path"], listed["type"], listed["name"]) == ("user_spaces.md", "user", "use spaces")
    shown = desk("show", "--json", "use spaces").json
    assert (shown["body"], shown["problems"]) == ("use spaces\n", [])
    assert desk("forget", "--json", "user_spaces").json == {"version": 1, "forgotten": "user_spaces.md"}
    assert [item["path"] for item in desk("restore", "--json").json["trash"]] == ["user_spaces.md"]
    assert desk("restore", "--json", "user_spaces").json == {"version": 1, "restored": "user_spaces.md"}


@pytest.mark.parametrize("command", ["show", "edit", "forget", "restore"])
def test_a_name_that_is_not_there_ends_with_3_H1(desk: Desk, command: str) -> None:
    ran = desk(command, "nosuch")
    assert (ran.code, ran.out) == (3, "")
    assert "'nosuch'" in ran.err
    assert "hint: `memdir " in ran.err


def test_a_name_that_two_memories_have_ends_with_2_and_names_both_H1(desk: Desk) -> None:
    desk("remember", *DEPLOYS_IN_PROJECT)
    twin = desk.memory / "twin.md"
    twin.write_bytes((desk.memory / "project_deploy_tuesdays.md").read_bytes())
    ran = desk("show", "--json", DEPLOYS)
    assert ran.code == 2
    assert "twin.md" in ran.json["error"]["hint"]
    assert "project_deploy_tuesdays.md" in ran.json["error"]["hint"]


def test_the_index_can_be_shown_and_not_forgotten_H1(desk: Desk) -> None:
    desk("remember", *DEPLOYS_IN_PROJECT)
    assert "(project_deploy_tuesdays.md)" in desk("show", "MEMORY.md").out
    ran = desk("forget", "MEMORY.md")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: MEMORY.md is the index, not a memory")


def test_only_one_type_is_listed_H1(desk: Desk) -> None:
    desk("remember", "--type", "user", "I like short answers")
    desk("remember", *DEPLOYS_IN_PROJECT)
    assert [line.split()[0] for line in desk("list", "--type", "user").out.splitlines()] == ["user"]
    assert "no memories of type reference in" in desk("list", "--type", "reference").err


def test_remembering_the_same_twice_changes_nothing_H1(desk: Desk) -> None:
    desk("remember", *DEPLOYS_IN_PROJECT)
    before = desk.files()
    assert desk("remember", "We deploy on Tuesdays.").err == "nothing changed: that is remembered already\n"
    assert desk.files() == before


def test_a_secret_is_refused_with_5_and_its_value_told_nowhere_E10(desk: Desk) -> None:
    ran = desk("remember", "--json", "password = Xk39dkfjsl2291")
    assert (ran.code, ran.json["error"]["kind"]) == (5, "SecretFound")
    assert "Xk39" not in ran.out + ran.err
    assert desk("list").out == ""


def test_text_to_remember_may_come_from_a_pipe_H1(desk: Desk) -> None:
    ran = desk.process("remember", "--type", "project", said="release notes:\n- Anna owns the checklist\n")
    assert (ran.code, ran.err) == (0, "created project_release_notes.md\n")
    nothing = desk.process("remember", said=" \n")
    assert (nothing.code, nothing.err.splitlines()[0]) == (2, "error: nothing to remember")


def test_a_pasted_book_is_no_memory_H1(desk: Desk) -> None:
    long = desk.process("remember", said="blue pens are for letters. " * 300)
    assert long.code == 0
    assert "note: that is long" in long.err
    book = desk.process("remember", said="pens " * 50_000)
    assert book.code == 2
    assert "249,999 characters" in book.err


# -- edit ----------------------------------------------------------------------------------------------------


def edited(desk: Desk, monkeypatch: pytest.MonkeyPatch, script: str, name: str = DEPLOYS) -> tuple[int, str]:
    for key, value in desk.editor(script).items():
        monkeypatch.setenv(key, value)
    ran = desk("edit", name)
    return ran.code, ran.err


def test_an_edit_is_saved_like_any_other_change_H1(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk("remember", *DEPLOYS_IN_PROJECT)
    assert edited(desk, monkeypatch, 'echo "And on Fridays." >> "$1"') == (
        0,
        "updated project_deploy_tuesdays.md\n",
    )
    assert "And on Fridays.\n" in desk("show", DEPLOYS).out
    assert edited(desk, monkeypatch, "true") == (0, "nothing changed\n")


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 3", 1), (': > "$1"', 2), ('rm "$1"', 0)],
    ids=["the editor fails", "all is deleted", "the file is deleted"],
)
def test_an_edit_that_leaves_nothing_changes_nothing_H1(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, script: str, code: int, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    desk("remember", *DEPLOYS_IN_PROJECT)
    before = desk.files()
    assert edited(desk, monkeypatch, script)[0] == code
    assert desk.files() == before
    assert list(tmp_path.glob("memdir-*")) == []


def test_a_secret_in_an_edit_is_refused_and_the_text_is_kept_E10(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    desk("remember", *DEPLOYS_IN_PROJECT)
    before = desk.files()
    code, told = edited(desk, monkeypatch, 'echo "password = Xk39dkfjsl2291" >> "$1"')
    (kept,) = tmp_path.glob("memdir-*")
    assert (code, desk.files()) == (5, before)
    assert f"your text is kept in {kept}" in told
    assert kept.stat().st_mode & 0o077 == 0
    assert "Xk39" not in told


def test_an_edit_beside_another_change_ends_with_4_and_loses_neither_F9(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    desk("remember", *DEPLOYS_IN_PROJECT)
    theirs = desk.memory / "project_deploy_tuesdays.md"
    code, told = edited(desk, monkeypatch, f'echo mine >> "$1"; echo theirs >> "{theirs}"')
    (kept,) = tmp_path.glob("memdir-*")
    assert code == 4
    assert str(kept) in told
    assert kept.read_text("utf-8").endswith("mine\n")
    assert theirs.read_text("utf-8").endswith("theirs\n")


@pytest.mark.parametrize("editor", ['"', "/nowhere/editor"])
def test_an_editor_that_can_t_be_started_is_told_H1(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, editor: str
) -> None:
    desk("remember", *DEPLOYS_IN_PROJECT)
    monkeypatch.setenv("EDITOR", editor)
    ran = desk("edit", DEPLOYS)
    assert (ran.code, ran.err.splitlines()[1]) == (2, "hint: set VISUAL or EDITOR")


# -- where ---------------------------------------------------------------------------------------------------


def test_a_sub_folder_and_a_worktree_have_the_memory_of_their_project_P3(desk: Desk, tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", *who, *words], cwd=desk.folder, check=True, capture_output=True)

    git("init")
    git("commit", "--allow-empty", "-m", "begin")
    git("worktree", "add", str(tmp_path / "tree"))
    (desk.folder / "src").mkdir()
    paths = {
        desk("-C", str(place), "path").out for place in (desk.folder, desk.folder / "src", tmp_path / "tree")
    }
    assert len(paths) == 1
    (tmp_path / "elsewhere").mkdir()
    assert desk("-C", str(tmp_path / "elsewhere"), "path").out not in paths


def test_a_folder_that_is_gone_is_told_H1(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    ran = desk("list")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: the folder you are in is no longer there")


def test_a_file_name_cannot_steer_the_terminal_H1(desk: Desk) -> None:
    desk("remember", *DEPLOYS_IN_PROJECT)
    name = os.fsencode(desk.memory) + b"/red\x1b[31m\xff.md"
    with open(name, "w") as file:  # noqa: PTH123 - its name is no text
        file.write("hello\n")
    ran = desk.process("list")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert len(desk.process("list", "--json").json["memories"]) == 2


def test_a_memory_that_is_shown_at_a_terminal_does_not_steer_it_H1(desk: Desk) -> None:
    data = b"---\r\nname: a\r\n---\r\n\r\nred \x1b[31m and a bell \x07 and \xff\r\n"
    desk.memory.mkdir(parents=True)
    (desk.memory / "a.md").write_bytes(data)
    with typist(desk, "show", "a.md") as someone:
        code, told = someone.sees_the_end()
    assert (code, told.splitlines()[-1]) == (0, "red \\x1b[31m and a bell \\x07 and \ufffd")
    assert "\x1b" not in told
    plain = subprocess.run(
        [sys.executable, "-m", "memdir", "show", "a.md"], cwd=desk.folder, capture_output=True, check=True
    )
    assert plain.stdout == data
