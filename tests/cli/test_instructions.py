"""`memdir instructions`: what a conversation started here would be told, and what waits for consent (I3)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memdir.cli.output import visible
from tests.cli.support import Desk


def put(desk: Desk, name: str, text: str) -> Path:
    path = desk.home / name[2:] if name.startswith("~/") else desk.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_without_instructions_it_says_so_I3(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMDIR_DISABLE", "1")
    ran = desk("instructions")
    assert (ran.code, ran.out, ran.err) == (0, "", "there are no instructions here\n")
    assert desk("instructions", "--json").json == {
        "version": 1,
        "project": str(desk.folder),
        "files": [],
        "index": None,
        "rules": [],
        "waiting": [],
        "problems": [],
    }


def test_files_are_listed_in_order_with_where_they_come_from_I3(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(desk, "CLAUDE.md", "See @docs/a.md")
    put(desk, "docs/a.md", "0123456789\n0123456789\n")
    put(desk, "AGENTS.md", "Not shown.")
    put(desk, ".claude/rules/ts.md", "---\npaths: src/**\n---\nLater.")
    monkeypatch.setenv("MEMDIR_INSTRUCTIONS_MAX_BYTES", "25")
    ran = desk("instructions")
    here = desk.folder
    assert [re.sub(" {2,}", " | ", row) for row in ran.out.splitlines()] == [
        f"project | 14 bytes | {here}/CLAUDE.md",
        f"import | 21 bytes | {here}/docs/a.md (imported by {here}/CLAUDE.md; cut: 10 bytes are shown)",
        f"project | 10 bytes | {here}/AGENTS.md (only named: no room)",
        f"rule | later | {here}/.claude/rules/ts.md (with src/**)",
        f"index | 0 bytes | {desk.memory / 'MEMORY.md'} (empty)",
    ]
    assert ran.err.startswith("warning: the instructions are 45 bytes, over instructions.maxBytes (25)")
    told = desk("instructions", "--json").json
    assert told["files"][1] == {
        "path": f"{here}/docs/a.md",
        "what": "import",
        "bytes": 10,
        "cut": True,
        "size": 21,
        "by": f"{here}/CLAUDE.md",
    }
    assert told["rules"] == [{"path": f"{here}/.claude/rules/ts.md", "paths": ["src/**"]}]
    assert told["index"] == {"path": str(desk.memory / "MEMORY.md"), "bytes": 0}


def test_what_waits_is_told_allowed_and_refused_I3(desk: Desk) -> None:
    there = put(desk, "~/notes/a.md", "A note.")
    put(desk, "CLAUDE.md", "See @~/notes/a.md")
    err = desk("instructions").err
    assert err == (
        f"waiting: {desk.folder}/CLAUDE.md brings in {there}, which is outside the project; "
        f"`memdir instructions allow {there}` lets it in, `refuse` instead of `allow` keeps it out\n"
    )
    waiting = [{"path": str(there), "by": f"{desk.folder}/CLAUDE.md", "why": "outside"}]
    assert desk("instructions", "--json").json["waiting"] == waiting
    ran = desk("instructions", "allow", "~/notes/a.md")
    assert (ran.code, ran.err) == (0, f"allowed {there} for {desk.folder}\n")
    assert [Path(one["path"]).name for one in desk("instructions", "--json").json["files"]] == [
        "CLAUDE.md",
        "a.md",
    ]
    refused = desk("instructions", "--json", "refuse", str(there)).json
    assert refused == {"version": 1, "path": str(there), "project": str(desk.folder), "allowed": False}
    after = desk("instructions", "--json").json
    assert (len(after["files"]), after["waiting"]) == (1, [])


def test_credentials_need_a_word_of_their_own_I3(desk: Desk) -> None:
    there = put(desk, ".env", "KEY=hunter2")
    put(desk, "CLAUDE.md", "See @.env")
    cure = f"`memdir instructions allow --credentials {there}` lets it in"
    assert f"which is where credentials are kept; {cure}" in desk("instructions").err
    ran = desk("instructions", "allow", ".env", "--json")
    assert (ran.code, ran.json["error"]["hint"]) == (2, "if you mean it, say so: --credentials")
    assert desk("instructions", "allow", "--credentials", ".env").code == 0
    assert desk("instructions", "--json").json["files"][1]["path"] == str(there)


def test_what_makes_no_sense_is_an_error_that_says_what_to_do_I3(desk: Desk) -> None:
    put(desk, "docs/a.md", "A.")
    assert desk("instructions", "allow", "nowhere.md").code == 3
    ran = desk("instructions", "allow", "docs/a.md")
    assert (ran.code, ran.err) == (
        2,
        f"error: {desk.folder}/docs/a.md is in the project, and needs no consent\n",
    )
    put(desk, "~/.memdir/consents.json", "{")
    put(desk, "~/a.md", "A.")
    ran = desk("instructions", "allow", "~/a.md")
    assert ran.code == 2
    assert "hint: mend it or move it away" in ran.err


def test_with_instructions_off_only_the_index_is_left_S5(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    put(desk, "CLAUDE.md", "Use tabs.")
    monkeypatch.setenv("MEMDIR_FEATURES_INSTRUCTIONS", "off")
    assert [line.split()[0] for line in desk("instructions").out.splitlines()] == ["index"]


def test_no_name_steers_the_terminal_I3(desk: Desk) -> None:
    (desk.folder / "a\x1b[2J\nb.md").write_text("Odd.")
    (desk.folder / "CLAUDE.md").symlink_to("a\x1b[2J\nb.md")
    (desk.folder / "AGENTS.md").symlink_to("nowhere\x1b[2J")
    put(desk, ".claude/rules/a\x1b[2J.md", "---\npaths: \x1b[31m\n---\nx")
    for words in ((), ("--json",)):
        ran = desk("instructions", *words)
        assert ran.code == 0
        assert visible(ran.out + ran.err) == ran.out + ran.err


def test_nothing_is_made_on_the_disk_I3(desk: Desk) -> None:
    put(desk, "CLAUDE.md", "Use tabs.")
    assert desk("instructions").code == 0
    assert not (desk.home / ".memdir").exists()


def test_in_a_home_under_version_control_what_waits_can_be_allowed_I3(desk: Desk) -> None:
    there = put(desk, "~/notes/a.md", "A note.")
    put(desk, "CLAUDE.md", "See @~/notes/a.md")
    for name in ("objects/x", "refs/x", "HEAD"):
        put(desk, f"~/.git/{name}", "")
    (waiting,) = desk("instructions", "--json").json["waiting"]
    assert (waiting["path"], waiting["why"]) == (str(there), "outside")
    assert desk("instructions", "allow", "~/notes/a.md").code == 0
    assert desk("instructions", "--json").json["waiting"] == []
