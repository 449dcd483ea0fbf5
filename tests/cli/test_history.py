"""`memdir log`, `diff`, `undo`, `restore --at`: who changed what, and how to take it back."""

from __future__ import annotations

import os
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memdir.app import open_project
from memdir.cli.slash import obey
from memdir.errors import MemdirError
from memdir.memory.entrypoint import Pointer
from memdir.memory.history import By
from memdir.memory.store import ANY
from tests.cli.support import Desk, typist

WHEN = r"\d{4}-\d\d-\d\d \d\d:\d\d"
SESSION = "3f0d1a52-6a0e-4a53-9d0c-0d2f4f6f6b11"
FIXTURE = (
    "---\nname: Integration tests\ndescription: the db fixture\ntype: feedback\n---\n\nTake the fixture.\n"
)


def extracted(desk: Desk, file: str, text: str, *, message: str = "m1") -> None:
    """What the extraction saves from a conversation."""
    project = open_project(desk.folder)
    memory = project.require_memory().on_behalf(By(worker="extract", session=SESSION, message=message))
    pointer = Pointer(title=file.removesuffix(".md"), file=file, hook="saved")
    memory.save(file, text.encode(), pointer=pointer, expected=ANY, now=project.now(), origin=None)


def ids(desk: Desk, *words: str) -> list[str]:
    return [one["id"] for one in desk("log", "--json", *words).json["changes"]]


@pytest.fixture
def shop(desk: Desk) -> Desk:
    """A project in which the extraction saved something, the person too, and then edited a file."""
    extracted(desk, "tests.md", FIXTURE)
    desk("remember", "--type", "project", "we deploy on Tuesdays")
    edit(desk, "the fixture", "the db fixture")
    return desk


def edit(desk: Desk, old: str, new: str) -> None:
    """The person changes `tests.md` in an editor."""
    place = desk.memory / "tests.md"
    place.write_text(place.read_text("utf-8").replace(old, new), "utf-8")


def body(desk: Desk) -> str:
    """What `tests.md` says."""
    return desk.files()["tests.md"].rpartition("---\n\n")[2]


# -- log -----------------------------------------------------------------------------------------------------


def test_the_log_says_who_did_what_and_when_newest_first_H2(shop: Desk) -> None:
    ran = shop("log")
    assert (ran.code, ran.err) == (0, "")
    rows = [re.split(r"\s{2,}", line) for line in ran.out.splitlines()]
    assert [row[2:] for row in rows] == [
        ["hand edit", "changed tests.md"],
        ["you (remember)", "created project_deploy_tuesdays.md"],
        ["extraction", "created tests.md"],
    ]
    assert all(re.fullmatch(r"[0-9a-f]{7}", row[0]) and re.fullmatch(WHEN, row[1]) for row in rows)


def test_a_file_that_was_removed_by_hand_is_in_the_log_and_can_come_back_H2(shop: Desk) -> None:
    shop("log")
    (shop.memory / "tests.md").unlink()
    assert re.split(r"\s{2,}", shop("log").out.splitlines()[0])[2:] == ["hand edit", "removed tests.md"]
    assert shop("undo").code == 0
    assert body(shop) == "Take the db fixture.\n"


def test_the_log_speaks_json_with_where_a_change_came_from_H2(shop: Desk) -> None:
    shop("undo")
    undone, edited, _, saved = shop("log", "--json").json["changes"]
    assert datetime.fromisoformat(saved.pop("at")).tzinfo is not None
    assert saved == {
        "id": saved["id"],
        "worker": "extract",
        "reason": "",
        "session": SESSION,
        "message": "m1",
        "undoes": None,
        "undoneBy": None,
        "files": [{"path": "MEMORY.md", "action": "created"}, {"path": "tests.md", "action": "created"}],
    }
    assert (edited["worker"], edited["undoneBy"]) == ("external", undone["id"])
    assert (undone["worker"], undone["undoes"]) == ("undo", edited["id"])
    assert undone["files"] == [{"path": "tests.md", "action": "updated"}]


def test_the_log_of_one_memory_takes_its_file_or_its_name_also_when_it_is_gone_H2(shop: Desk) -> None:
    both = [one for one in ids(shop) if one in ids(shop, "tests.md")]
    assert len(both) == 2
    for name in ("tests", "TESTS.md", "integration tests"):
        assert ids(shop, name) == both
    shop("forget", "tests")
    for name in ("tests.md", "Tests", "Integration tests"):
        assert ids(shop, name)[1:] == both
    ran = shop("log", "nosuch")
    assert (ran.code, ran.out) == (3, "")
    assert "there is no memory 'nosuch'" in ran.err


def test_only_so_many_changes_are_listed_and_how_to_see_more_is_said_H2(shop: Desk) -> None:
    ran = shop("log", "-n", "2")
    assert len(ran.out.splitlines()) == 2
    assert ran.err == "(the latest 2; `memdir log -n 10` lists more)\n"
    assert shop("log", "tests", "-n", "1").err == "(the latest 1; `memdir log -n 5 tests.md` lists more)\n"
    assert len(shop("log", "-n", "1", "--json").json["changes"]) == 1
    assert shop("log", "-n", "3").err == ""
    assert shop("log", "-n", "0").code == 2


def test_where_nothing_has_changed_yet_that_is_said_H2(desk: Desk) -> None:
    place = desk.memory
    ran = desk("log")
    assert (ran.code, ran.out, ran.err) == (0, "", "no change is recorded yet\n")
    assert desk("log", "--json").json == {"version": 1, "changes": []}
    assert (desk("diff").code, desk("undo").code) == (3, 3)
    assert not place.exists()


def test_what_was_there_when_the_history_began_was_found_and_nobody_made_it_H2(desk: Desk) -> None:
    desk.memory.mkdir(parents=True)
    (desk.memory / "old.md").write_text("older than the history\n", "utf-8")
    (line,) = desk("log").out.splitlines()
    assert re.split(r"\s{2,}", line)[2:] == ["there before", "found old.md"]
    assert "\n\nfound old.md\n--- /dev/null\n" in desk("diff").out
    ran = desk("undo")
    assert (ran.code, ran.err.splitlines()[0]) == (3, "error: there is no change left to undo")
    assert desk("undo", ids(desk)[0]).code == 2
    assert desk("undo", "--dry-run", ids(desk)[0]).code == 2
    assert list(desk.files()) == ["old.md"]


# -- diff ----------------------------------------------------------------------------------------------------


def test_diff_shows_what_the_latest_change_did_H2(shop: Desk) -> None:
    ran = shop("diff")
    assert (ran.code, ran.err) == (0, "")
    head, empty, *told = ran.out.splitlines()
    assert re.fullmatch(rf"[0-9a-f]{{7}}, {WHEN}, hand edit", head)
    stamp = next(line for line in told if line.startswith(" modified: "))
    assert (empty, told) == (
        "",
        [
            "changed tests.md",
            "--- tests.md",
            "+++ tests.md",
            "@@ -5,4 +5,4 @@",
            stamp,
            " ---",
            " ",
            "-Take the fixture.",
            "+Take the db fixture.",
        ],
    )


def test_diff_takes_a_change_a_file_or_both_H2(shop: Desk) -> None:
    edited, remembered, saved = ids(shop)
    assert shop("diff", "tests").out == shop("diff", edited).out == shop("diff", edited[:4]).out
    whole = shop("diff", saved).out
    assert f"extraction\n  session {SESSION}\n  message m1\n\ncreated tests.md\n--- /dev/null\n" in whole
    assert "+++ tests.md\n@@ -0,0 +1,8 @@\n+---\n" in whole
    assert "\n\ncreated MEMORY.md\n--- /dev/null\n+++ MEMORY.md\n@@ -0,0 +1 @@\n+- [" in whole
    assert "MEMORY.md" not in shop("diff", saved, "tests.md").out
    ran = shop("diff", saved, "project_deploy_tuesdays")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        f"error: change {saved[:7]} did nothing to project_deploy_tuesdays.md\nhint: it created tests.md\n"
    )
    shop("forget", "tests")
    assert "removed tests.md\n--- tests.md\n+++ /dev/null\n" in shop("diff").out
    assert shop("diff", remembered, "--json").json["id"] == remembered


def test_the_index_has_a_history_too_also_where_it_is_a_link_H2(shop: Desk) -> None:
    _, remembered, saved = ids(shop)
    assert ids(shop, "MEMORY.md") == [remembered, saved]
    assert "--- MEMORY.md\n" in shop("diff", "MEMORY.md").out
    assert shop("restore", "MEMORY.md", "--at", saved).code == 0
    assert "Tuesdays" not in shop("show", "MEMORY.md").out
    shop("undo")
    (shop.memory / "MEMORY.md").rename(shop.memory / "index.md")
    (shop.memory / "MEMORY.md").symlink_to("index.md")
    (linked,) = ids(shop, "MEMORY.md")
    assert "+++ index.md\n" in shop("diff", linked, "MEMORY.md").out


def test_a_word_that_may_be_a_change_and_is_a_file_is_that_file_H2(shop: Desk) -> None:
    (shop.memory / "beef.md").write_text("ox\n", "utf-8")
    assert shop("diff", "beef").out.endswith("@@ -0,0 +1 @@\n+ox\n")
    ran = shop("diff", "feed")
    assert (ran.code, ran.err.splitlines()[0]) == (3, "error: there is no change and no memory 'feed'")


def test_diff_speaks_json_and_its_diff_is_exact_H2(shop: Desk) -> None:
    (shop.memory / "tests.md").write_bytes(b"\xff\xfe\xfd")
    (shop.memory / "odd.md").write_bytes(b"a\x1b[31m\n")
    (shop.memory / "ends.md").write_bytes(b"one\ntwo\n")
    files = shop("diff", "--json").json["files"]
    assert [(one["path"], one["action"], one["diff"]) for one in files] == [
        ("ends.md", "created", "--- /dev/null\n+++ ends.md\n@@ -0,0 +1,2 @@\n+one\n+two\n"),
        ("odd.md", "created", "--- /dev/null\n+++ odd.md\n@@ -0,0 +1 @@\n+a\x1b[31m\n"),
        ("tests.md", "updated", None),
    ]
    told = shop("diff").out
    assert "changed tests.md: it is no text, so its lines can't be shown" in told
    assert "+a\\x1b[31m" in told
    (shop.memory / "ends.md").write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    assert "changed ends.md: only its line ends or its encoding" in shop("diff").out


def test_a_diff_is_coloured_at_a_terminal_only_H2(shop: Desk) -> None:
    assert "\x1b" not in shop("diff").out
    for environment, coloured in ({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False):
        with typist(shop, "diff", **environment) as someone:
            code, told = someone.sees_the_end()
        assert code == 0
        assert ("\x1b[32m+Take the db fixture.\x1b[0m" in told) is coloured
        assert ("\n+Take the db fixture." in told) is not coloured


# -- undo ----------------------------------------------------------------------------------------------------


def test_the_latest_change_is_taken_back_and_how_to_redo_it_is_said_H2(shop: Desk) -> None:
    edited, remembered, saved = ids(shop)
    ran = shop("undo")
    new = ids(shop)[0]
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == (
        f"took back {edited[:7]} (hand edit, just now): changed tests.md\n"
        f"`memdir undo {new[:7]}` does it again\n"
    )
    assert body(shop) == "Take the fixture.\n"
    assert (
        "(you: remember, just now): removed project_deploy_tuesdays.md, changed MEMORY.md" in shop("undo").err
    )
    assert re.search(r"\(extraction, .*\): removed tests.md, removed MEMORY.md", shop("undo").err)
    assert shop.files() == {}
    assert shop("undo").code == 3
    assert (
        shop("undo", new).err.startswith(f"took back {new[:7]} (undo of {edited[:7]}, just now): ") is False
    )
    lines = shop("log").out.splitlines()
    assert [line.endswith("; undone by " + new[:7]) for line in lines if line.startswith(edited[:7])] == [
        True
    ]
    assert remembered != saved


def test_an_undo_is_undone_by_its_own_name_H2(shop: Desk) -> None:
    before = shop.files()
    shop("undo")
    new = ids(shop)[0]
    assert shop.files() != before
    ran = shop("undo", new[:7])
    assert ran.err.startswith(f"took back {new[:7]} (undo of ")
    assert shop.files() == before


def test_undo_speaks_json_H2(shop: Desk) -> None:
    edited = ids(shop)[0]
    told = shop("undo", "--json").json
    assert told == {
        "version": 1,
        "undid": edited,
        "change": ids(shop)[0],
        "files": [{"path": "tests.md", "action": "updated"}],
    }


def test_a_dry_run_shows_what_an_undo_would_do_and_does_nothing_H2(shop: Desk) -> None:
    edited, remembered, _ = ids(shop)
    before = shop.files()
    ran = shop("undo", "--dry-run")
    assert (ran.code, ran.err) == (
        0,
        f"`memdir undo {edited[:7]}` would take back {edited[:7]} (hand edit, just now):\n",
    )
    assert ran.out.endswith("-Take the db fixture.\n+Take the fixture.\n")
    told = shop("undo", remembered, "--dry-run", "--json").json
    assert told["undoes"] == remembered
    assert [(one["path"], one["action"]) for one in told["files"]] == [
        ("project_deploy_tuesdays.md", "deleted"),
        ("MEMORY.md", "updated"),
    ]
    assert "-- [we deploy on Tuesdays]" in told["files"][1]["diff"]
    assert (shop.files(), ids(shop)[0]) == (before, edited)


def test_what_was_changed_since_refuses_an_undo_with_4_and_names_it_F9(shop: Desk) -> None:
    edited = ids(shop)[0]
    edit(shop, "the db", "no")
    before = shop.files()
    ran = shop("undo", edited)
    assert (ran.code, shop.files()) == (4, before)
    later = ids(shop)[0]
    assert "error: not undone: tests.md changed since" in ran.err
    assert later[:7] in ran.err
    assert "hint: " in ran.err
    assert shop("undo", edited, "--json").json["error"]["kind"] == "Conflict"


@pytest.mark.parametrize(("word", "code"), [("dance", 2), ("abcd", 3), ("ab", 2)])
def test_what_is_no_change_is_told_with_how_to_find_one_H2(shop: Desk, word: str, code: int) -> None:
    ran = shop("undo", word)
    assert (ran.code, ran.out) == (code, "")
    assert "hint: `memdir log` lists" in ran.err


# -- restore --at --------------------------------------------------------------------------------------------


def test_a_memory_is_again_as_it_was_after_a_change_H2(shop: Desk) -> None:
    edited, _, saved = ids(shop)
    ran = shop("restore", "tests", "--at", saved[:7])
    assert (ran.code, ran.err) == (
        0,
        f"tests.md is again as it was after {saved[:7]}; `memdir undo {ids(shop)[0][:7]}` takes that back\n",
    )
    assert body(shop) == "Take the fixture.\n"
    assert re.split(r"\s{2,}", shop("log").out.splitlines()[0])[2:] == ["you (restore)", "changed tests.md"]
    assert shop("restore", "tests", "--at", saved).err == (
        f"tests.md is as it was after {saved[:7]}; nothing changed\n"
    )
    shop("undo")
    assert "the db fixture" in shop.files()["tests.md"]
    told = shop("restore", "tests.md", "--at", edited, "--json")
    assert told.json == {"version": 1, "restored": "tests.md", "at": edited}


def test_a_memory_is_again_as_it_was_at_a_moment_H2(shop: Desk) -> None:
    def at(word: str) -> int:
        return shop("restore", "tests", "--at", word).code

    shop("log")
    now = datetime.now().astimezone()
    shop("forget", "tests")
    assert at(now.isoformat()) == 0
    assert "the db fixture" in shop.files()["tests.md"]
    assert "(tests.md)" in (shop.memory / "MEMORY.md").read_text("utf-8")
    assert at(f"{now + timedelta(days=1):%Y-%m-%d}") == 0
    assert at(f"{now - timedelta(days=1):%Y-%m-%d}") == 3
    assert at(f"{now - timedelta(days=1):%Y%m%d}") == 3
    assert at("2026-03-05 14:30+01:00") == 3
    for wrong in ("yesterday", "2026-13-05", "0001-01-01", "9999-12-31"):
        assert at(wrong) in (0, 2, 3)
    told = shop("restore", "tests", "--at", f"{now:%Y-%m-%d}", "--json").json
    assert datetime.fromisoformat(told["at"]) - now < timedelta(days=1)


def test_a_date_means_the_end_of_that_day_here_H2(shop: Desk) -> None:
    shop("log")
    today = f"{datetime.now().astimezone():%Y-%m-%d}"
    told = shop("restore", "tests", "--at", today, "--json").json
    end = datetime.fromisoformat(told["at"]).astimezone()
    assert f"{end:%Y-%m-%d %H:%M:%S}" == f"{today} 23:59:59"


def test_where_a_memory_was_not_there_then_it_is_said_when_it_was_H2(shop: Desk) -> None:
    edited = ids(shop)[0]
    ran = shop("restore", "tests", "--at", "2001-01-01")
    assert ran.err.endswith("hint: `memdir log tests.md` shows its changes\n")
    shop("forget", "tests")
    ran = shop("restore", "tests", "--at", ids(shop)[0])
    assert ran.code == 3
    assert ran.err.startswith("error: tests.md was not there then\nhint: `memdir restore tests.md --at ")
    assert edited[:7] in ran.err
    _, command, *_ = ran.err.split("`")
    assert shop(*command.split()[1:]).code == 0
    assert shop("restore", "--at", edited).code == 2
    assert shop("restore", "nosuch", "--at", edited).code == 3


# -- without git, and against the terminal -------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [("log",), ("diff",), ("undo",), ("undo", "--dry-run"), ("restore", "tests", "--at", "1a2b")],
    ids=" ".join,
)
def test_without_git_each_command_says_that_history_is_off_H2(
    shop: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
) -> None:
    without_git(monkeypatch, tmp_path)
    ran = shop(*words)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "error: history is off: git is not installed\n"
        "hint: install a current git: every change from then on is recorded, and can be undone\n"
    )
    assert shop(*words, "--json").json["error"]["kind"] == "MemdirError"


def test_without_git_all_else_works_H2(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_git(monkeypatch, tmp_path)
    assert desk("remember", "--type", "project", "we deploy on Tuesdays").code == 0
    assert "  history    is off: git is not installed\n" in desk("why", "project_deploy_tuesdays").out
    assert desk("forget", "project_deploy_tuesdays").code == 0
    assert desk("restore", "project_deploy_tuesdays").code == 0
    assert desk("forget", "project_deploy_tuesdays", "--erase", "--yes").code == 0
    assert desk.files() == {}


def test_without_git_a_conversation_names_the_way_back_that_is_left_H2(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_git(monkeypatch, tmp_path)
    project = open_project(desk.folder)
    obey(project, "/remember we deploy on Tuesdays", session="s1")
    (file,) = desk.files()
    desk.capture.readouterr()
    obey(project, f"/forget {file}", session="s1")
    told = desk.capture.readouterr().err
    assert told == f"forgot {file}; `memdir restore {file}` brings it back\n"
    with pytest.raises(MemdirError, match="history is off: git is not installed"):
        obey(project, "/undo", session="s1")


def without_git(monkeypatch: pytest.MonkeyPatch, empty: Path) -> None:
    monkeypatch.setattr("memdir.memory.history.git.SYSTEM", ())
    monkeypatch.setenv("PATH", str(empty))


def test_a_file_name_cannot_steer_the_terminal_in_the_history_H2(desk: Desk) -> None:
    desk.memory.mkdir(parents=True)
    desk("log")
    name = os.fsencode(desk.memory) + b"/red\x1b[31m\n\xff.md"
    with open(name, "w") as file:  # noqa: PTH123 - its name is no text
        file.write("hello\x1b[2J\n")
    for words in (
        ("log",),
        ("diff",),
        ("undo", "--dry-run"),
        ("undo",),
        ("log", "--json"),
        ("diff", "--json"),
    ):
        ran = desk.process(*words)
        assert ran.code == 0, words
        assert "\x1b" not in ran.out + ran.err
        assert "red" in ran.out + ran.err


def test_a_log_that_lacks_what_can_not_be_read_says_so_H2(desk: Desk) -> None:
    for text in ("we deploy on Tuesdays", "I like short answers", "the staging host is called heron"):
        desk("remember", text)
    assert "damaged" not in desk("log").err
    packs = (desk.home / ".memdir" / "history").glob("*/repository/objects/pack/*.pack")
    min(packs, key=lambda pack: pack.stat().st_mtime_ns).unlink()
    for words in (("log",), ("log", "--json")):
        ran = desk(*words)
        assert (ran.code, "heron" in ran.out) == (0, True)
        assert "warning: the history is damaged, and what is older is missing here" in ran.err
