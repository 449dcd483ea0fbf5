"""`memdir doctor`: what was written past our checks is told, with its cure and no value (E10, H1)."""

from __future__ import annotations

import shutil

import pytest

from tests.cli.support import Desk

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def test_a_sound_directory_ends_with_0_H1(desk: Desk) -> None:
    none = desk("doctor")
    assert (none.code, none.out) == (0, "")
    assert "nothing to look at" in none.err
    desk("remember", "we deploy on Tuesdays")
    sound = desk("doctor")
    assert (sound.code, sound.out, sound.err) == (0, "", f"nothing found in {desk.memory}\n")


def test_a_secret_ends_with_5_and_its_value_is_told_nowhere_E10(desk: Desk) -> None:
    desk("remember", "we deploy on Tuesdays")
    (desk.memory / "by_hand.md").write_text(f"one\nthe token is {TOKEN}\n", "utf-8")
    before = desk.files()
    ran = desk("doctor")
    assert ran.code == 5
    place, cure = ran.out.splitlines()
    assert place.startswith("by_hand.md:2: ")
    assert "GitHub token" in place
    assert "memdir:allow-secret" in cure
    assert ran.err == f"findings in {desk.memory}: 1, of which secrets: 1\n"
    assert TOKEN[5:] not in ran.out + ran.err
    assert desk.files() == before


def test_other_findings_end_with_1_H1(desk: Desk) -> None:
    desk("remember", "--type", "project", "we deploy on Tuesdays")
    (desk.memory / "project_deploy_tuesdays.md").unlink()
    (desk.memory / "con.md").write_text("x", "utf-8")
    ran = desk("doctor")
    assert ran.code == 1
    assert ran.out.splitlines()[0].startswith("MEMORY.md:1: it points to project_deploy_tuesdays.md")
    assert ran.out.splitlines()[2].startswith("con.md: ")


def test_findings_are_told_as_json_H1(desk: Desk) -> None:
    desk("remember", "we deploy on Tuesdays")
    sound = desk("doctor", "--json")
    assert (sound.code, sound.json["version"], sound.json["findings"]) == (0, 1, [])
    assert (sound.json["on"], sound.json["memory"]) == (True, str(desk.memory))
    (desk.memory / "by_hand.md").write_text(TOKEN, "utf-8")
    ran = desk("doctor", "--json")
    assert ran.code == 5
    (finding,) = ran.json["findings"]
    assert {key: finding[key] for key in ("path", "line", "kind", "rule")} == {
        "path": "by_hand.md",
        "line": 1,
        "kind": "secret",
        "rule": "GitHub token",
    }
    assert set(finding) == {"path", "line", "kind", "rule", "reason", "cure"}
    assert TOKEN[5:] not in ran.out + ran.err


def test_memory_that_is_off_is_looked_through_and_told_to_be_off_S3(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk("remember", "we deploy on Tuesdays")
    (desk.memory / "by_hand.md").write_text(TOKEN, "utf-8")
    monkeypatch.setenv("MEMDIR_DISABLE", "1")
    ran = desk("doctor")
    assert ran.code == 5
    assert "(memory is off: MEMDIR_DISABLE" in ran.err
    assert desk("doctor", "--json").json["on"] is False


def test_a_name_steers_no_terminal_H1(desk: Desk) -> None:
    desk("remember", "we deploy on Tuesdays")
    (desk.memory / "a\x1b[31m\nb.md").write_text(TOKEN, "utf-8")
    ran = desk("doctor")
    assert ran.code == 5
    assert "\x1b" not in ran.out + ran.err
    assert ran.out.splitlines()[0].startswith("a\\x1b[31m\\x0ab.md: ")


def test_a_marked_line_is_counted_and_told_to_who_asks_for_all_E10(desk: Desk) -> None:
    desk("remember", "--allow-secret", f"the token is {TOKEN}")
    ran = desk("doctor")
    assert ran.code == 0
    assert "marked as harmless: 1" in ran.err
    (note,) = desk("doctor", "--json").json["findings"]
    assert (note["kind"], note["rule"]) == ("marked", "GitHub token")
    assert TOKEN not in repr(note)


def test_a_history_that_can_t_be_kept_is_told_by_status_and_doctor_H2(desk: Desk) -> None:
    assert desk("remember", "the replica is in Frankfurt").code == 0
    assert desk("status", "--json").json["history"] is None
    [folder] = (desk.home / ".memdir" / "history").iterdir()
    shutil.rmtree(folder)
    folder.write_text("in the way", "utf-8")

    assert "its folder can't be used" in desk("status", "--json").json["history"]
    assert "off: its folder can't be used" in desk("status").out
    assert "history is off: its folder can't be used" in desk("doctor").err
    assert desk("remember", "and the primary in Dublin").code == 0


def test_a_history_that_was_damaged_is_told_by_doctor_with_its_place_H2(desk: Desk) -> None:
    assert desk("remember", "the replica is in Frankfurt").code == 0
    [folder] = (desk.home / ".memdir" / "history").iterdir()
    for pack in (folder / "repository" / "objects" / "pack").iterdir():
        pack.chmod(0o600)
        pack.write_bytes(b"torn")
    assert desk("remember", "and the primary in Dublin").code == 0

    told = desk("doctor").err
    assert f"was damaged, and is kept in {folder}" in told
