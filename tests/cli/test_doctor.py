"""`memdir doctor`: what is wrong is told, with its cure and no value; `--fix` mends it (E10, H1, H2)."""

from __future__ import annotations

import shutil

import pytest

from tests.cli.support import Desk, claude_line

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def by_hand(desk: Desk, body: str) -> None:
    """A memory that is written past memdir, as it should be but for its text."""
    (desk.memory / "by_hand.md").write_text(f"---\nname: Mine\ndescription: words\n---\n{body}", "utf-8")
    index = desk.memory / "MEMORY.md"
    index.write_text(index.read_text("utf-8") + "- [Mine](by_hand.md)\n", "utf-8")


# -- what is found ---------------------------------------------------------------------------------------


def test_a_sound_directory_ends_with_0_H1(desk: Desk) -> None:
    none = desk("doctor")
    assert (none.code, none.out) == (0, "")
    assert "nothing to look at" in none.err
    desk("remember", "we deploy on Tuesdays")
    sound = desk("doctor")
    assert (sound.code, sound.out, sound.err) == (0, "", f"nothing found in {desk.memory}\n")


def test_a_secret_ends_with_5_and_its_value_is_told_nowhere_E10(desk: Desk) -> None:
    desk("remember", "we deploy on Tuesdays")
    by_hand(desk, f"one\nthe token is {TOKEN}\n")
    before = desk.files()
    ran = desk("doctor")
    assert ran.code == 5
    title, place, cure = ran.out.splitlines()
    assert title == "secrets"
    assert place.startswith("  by_hand.md:6  ")
    assert "GitHub token" in place
    assert "memdir:allow-secret" in cure
    assert ran.err == (
        f"findings in {desk.memory}: 1, of which secrets: 1\n"
        "all of them are left to you: none has only one right answer\n"
    )
    assert TOKEN[5:] not in ran.out + ran.err
    assert desk.files() == before


def test_other_findings_end_with_1_H1(desk: Desk) -> None:
    desk("remember", "--type", "project", "we deploy on Tuesdays")
    (desk.memory / "project_deploy_tuesdays.md").unlink()
    (desk.memory / "con.md").write_text("x", "utf-8")
    ran = desk("doctor")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[:2] == ["names", "  con.md  a name that Windows keeps for a device"]
    assert "  MEMORY.md:1  it points to project_deploy_tuesdays.md, which is not there" in lines


def test_findings_are_told_as_json_H1(desk: Desk) -> None:
    desk("remember", "we deploy on Tuesdays")
    sound = desk("doctor", "--json")
    assert (sound.code, sound.json["version"], sound.json["findings"]) == (0, 1, [])
    assert (sound.json["on"], sound.json["memory"]) == (True, str(desk.memory))
    by_hand(desk, TOKEN)
    ran = desk("doctor", "--json")
    assert ran.code == 5
    (finding,) = ran.json["findings"]
    assert {key: finding[key] for key in ("path", "line", "kind", "rule")} == {
        "path": "by_hand.md",
        "line": 5,
        "kind": "secret",
        "rule": "GitHub token",
    }
    assert set(finding) == {"path", "line", "kind", "rule", "reason", "cure", "fix"}
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
    assert any(line.startswith("  a\\x1b[31m\\x0ab.md") for line in ran.out.splitlines())


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


# -- what is mended --------------------------------------------------------------------------------------


def break_it(desk: Desk) -> dict[str, bytes]:
    """A memory without an entry and header, an entry without a memory, and two that say the same."""
    desk("remember", "--type", "project", "we deploy on Tuesdays")
    (desk.memory / "ports.md").write_text("The proxy listens on 8443.\n", "utf-8")
    (same,) = (path for path in desk.memory.glob("*.md") if path.name.startswith("project"))
    (desk.memory / "same.md").write_bytes(same.read_bytes())
    index = desk.memory / "MEMORY.md"
    index.write_text(index.read_text("utf-8") + "- [Same](same.md)\n- [Gone](gone.md)\n", "utf-8")
    return everything(desk)


def everything(desk: Desk) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in desk.memory.iterdir()}


def test_what_fix_would_mend_is_told_and_what_it_would_not_H1(desk: Desk) -> None:
    break_it(desk)
    ran = desk("doctor")
    assert ran.code == 1
    assert ran.out == (
        "entries of the index that lead to nothing\n"
        "  MEMORY.md:3  it points to gone.md, which is not there\n"
        "               -> take the line out, or bring the file back with `memdir restore`; "
        "or --fix, which takes the entry out\n"
        "\n"
        "memories without an entry in the index\n"
        "  ports.md  MEMORY.md has no entry for it\n"
        "            -> add a line with a link to it; or --fix, which adds an entry\n"
        "\n"
        "headers\n"
        "  ports.md  there is no header, so nothing says what it is about\n"
        "            -> put name and description between two lines of --- at its beginning; "
        "or --fix, which adds name and description\n"
        "\n"
        "memories that say the same\n"
        "  same.md  it says the same as project_deploy_tuesdays.md\n"
        "           -> `memdir forget` one of them\n"
    )
    assert ran.err == (
        f"findings in {desk.memory}: 4, of which secrets: 0\n"
        "`memdir doctor --fix` mends 3 of them (entries of the index that lead to nothing: 1; "
        "memories without an entry in the index: 1; headers: 1)\n"
        "left to you: 1 (memories that say the same: 1)\n"
    )


def test_fix_mends_and_names_the_undo_and_twice_is_once_H2(desk: Desk) -> None:
    before = break_it(desk)
    ran = desk("doctor", "--fix")
    assert ran.code == 1
    assert ran.out.splitlines()[:4] == [
        "mended",
        "  MEMORY.md:3  it points to gone.md, which is not there",
        "  ports.md     there is no header, so nothing says what it is about",
        "  ports.md     MEMORY.md has no entry for it",
    ]
    mended = ran.err.splitlines()[1]
    assert mended.startswith("mended: 3; left to you: 1; `memdir undo ")
    after = everything(desk)
    header = b"---\nname: ports\ndescription: The proxy listens on 8443.\n---\n\n"
    assert after["ports.md"] == header + before["ports.md"]

    again = desk("doctor", "--fix")
    assert again.code == 1
    assert "nothing was mended: what is left needs you" in again.err
    assert everything(desk) == after

    assert "you (doctor)" in desk("log").out
    assert desk("undo", mended.split("`")[1].split()[-1]).code == 0
    assert everything(desk) == before


def test_what_was_mended_is_told_as_json_H1(desk: Desk) -> None:
    break_it(desk)
    assert "mended" not in desk("doctor", "--json").json
    ran = desk("doctor", "--fix", "--json")
    assert ran.code == 1
    assert sorted(one["kind"] for one in ran.json["mended"]) == ["dead pointer", "frontmatter", "orphan"]
    assert [one["kind"] for one in ran.json["findings"]] == ["duplicate"]
    assert ran.json["whyNot"] is None
    assert desk("undo", ran.json["change"]).code == 0


def test_all_mended_ends_with_0_H1(desk: Desk) -> None:
    desk("remember", "we deploy on Tuesdays")
    (desk.memory / "ports.md").write_text("The proxy listens on 8443.\n", "utf-8")
    assert desk("doctor").code == 1
    ran = desk("doctor", "--fix")
    assert ran.code == 0
    assert "left to you: 0" in ran.err
    assert desk("doctor", "--fix").err == f"nothing found in {desk.memory}\n"


def test_nothing_is_mended_where_memory_is_off_S4(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before, memory = break_it(desk), desk.memory
    monkeypatch.setenv("MEMDIR_DISABLE", "1")
    ran = desk("doctor")
    assert "doctor --fix" not in ran.err
    refused = desk("doctor", "--fix")
    assert refused.code != 0
    assert "memory is off" in refused.err
    assert {path.name: path.read_bytes() for path in memory.iterdir()} == before


def test_a_directory_that_two_projects_share_is_a_finding_and_no_warning_besides_P3(desk: Desk) -> None:
    twin, other = desk.folder.with_name(f"{desk.folder.name}-x"), desk.folder / "x"
    twin.mkdir()
    other.mkdir()
    claude = ("--layout", "claude", "--directory", str(twin))
    assert desk(*claude, "remember", "we deploy on Tuesdays").code == 0
    [slug] = [one for one in (desk.home / ".claude" / "projects").iterdir() if (one / "memory").is_dir()]
    line = claude_line("x", cwd=other, number=0)
    (slug / "5c0a7d3e-0000-4000-8000-000000000001.jsonl").write_text(f"{line}\n", "utf-8")
    ran = desk(*claude, "doctor")
    assert ran.code == 1
    assert "names that are one" in ran.out
    assert "share one memory" in ran.out
    assert "warning" not in ran.err
