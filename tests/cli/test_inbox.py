"""`memdir inbox`: what waits is listed, shown as it is, accepted or rejected, and told (E11)."""

from __future__ import annotations

import os
import re
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memdir import fs
from memdir.app import open_project
from memdir.cli.output import visible
from memdir.memory import topic
from memdir.memory.inbox import Inbox, Item
from memdir.memory.topic import Origin
from tests.cli.support import Desk, typist

HERE = Origin(session="5c0a7d3e-0000-4000-8000-000000000001", message="m-1", worker="extract")
REASON = "a page asked for it, you did not"


def inbox_of(desk: Desk) -> Inbox:
    return open_project(desk.folder).require_memory().inbox


def note(body: str, name: str = "Tabs") -> bytes:
    return topic.render(name=name, description=body, type="feedback", body=f"{body}\n").encode()


def put(desk: Desk, data: bytes | None, file: str = "tabs.md", *, days: int = 0, **more: Any) -> Item:
    old = desk.memory / file
    given = {
        "base": fs.digest(old.read_bytes()) if old.exists() else None,
        "code": "untrusted",
        "reason": REASON,
        "now": datetime.now(UTC) - timedelta(days=days),
        "origin": HERE,
    }
    item = inbox_of(desk).put(file, data=data, **{**given, **more})
    assert item is not None
    return item


# -- listing ---------------------------------------------------------------------------------------------


def test_an_empty_inbox_is_said_on_stderr_and_is_no_failure_E11(desk: Desk) -> None:
    ran = desk("inbox")
    assert (ran.code, ran.out, ran.err) == (0, "", "nothing waits\n")
    assert desk("inbox", "--json").json == {"version": 1, "items": []}
    assert not inbox_of(desk).folder.exists()


def test_what_waits_is_listed_newest_first_aligned_E11(desk: Desk) -> None:
    desk("remember", "--type", "project", "we deploy on Tuesdays")
    file = "project_deploy_tuesdays.md"
    old = put(desk, note("use tabs"), days=3)
    change = put(desk, note("we deploy on Sundays"), file, days=1)
    gone = put(desk, None, file, origin=None)
    assert desk("inbox").out.splitlines() == [
        f"{gone.id}  today       delete  {file}  -        {REASON}",
        f"{change.id}  yesterday   change  {file}  extract  {REASON}",
        f"{old.id}  3 days ago  new     tabs.md                     extract  {REASON}",
    ]


def test_the_list_as_json_has_where_each_came_from_E11(desk: Desk) -> None:
    item = put(desk, note("use tabs"))
    (told,) = desk("inbox", "--json").json["items"]
    assert told == {
        "id": item.id,
        "file": "tabs.md",
        "action": "new",
        "reason": REASON,
        "code": "untrusted",
        "at": item.at,
        "session": HERE.session,
        "message": "m-1",
        "worker": "extract",
    }


# -- showing ---------------------------------------------------------------------------------------------


def test_a_new_memory_is_shown_with_why_and_from_where_E11(desk: Desk) -> None:
    item = put(desk, note("use tabs"))
    shown = desk("inbox", "show", item.id[:6]).out
    about, _, text = shown.partition("\n\n")
    assert re.sub(r" +", " ", about).splitlines()[:2] == [
        "proposed new memory tabs.md",
        f"why it waits {REASON} (untrusted)",
    ]
    assert HERE.session is not None
    assert all(word in about for word in (HERE.session, "m-1", "extract"))
    desk("inbox", "accept", item.id)
    written = desk.files()["tabs.md"]
    stamp = r'modified: ".*?"'
    assert re.sub(stamp, "", text) == re.sub(stamp, "", written)


def test_a_change_is_shown_as_what_differs_now_and_says_if_it_is_stale_E11(desk: Desk) -> None:
    put_there(desk, "tabs.md", note("use tabs"))
    item = put(desk, note("use blanks"))
    assert "-use tabs\n+use blanks\n" in desk("inbox", "show", item.id).out
    assert "note" not in desk("inbox", "show", item.id).out
    put_there(desk, "tabs.md", note("use both"))
    stale = desk("inbox", "show", item.id).out
    assert "-use both\n+use blanks\n" in stale
    assert "the file has changed since; only `accept --force` does what is shown here" in stale
    told = desk("inbox", "show", "--json", item.id).json
    assert (told["changed"], told["target"], told["action"]) == (True, "tabs.md", "change")
    assert "-use both\n+use blanks\n" in told["diff"]
    assert told["text"] == note("use blanks").decode()


def put_there(desk: Desk, file: str, data: bytes) -> None:
    desk.memory.mkdir(parents=True, exist_ok=True)
    (desk.memory / file).write_bytes(data)


def test_a_removal_is_shown_as_the_lines_that_would_go_E11(desk: Desk) -> None:
    put_there(desk, "tabs.md", note("use tabs"))
    item = put(desk, None)
    assert "-use tabs\n" in desk("inbox", "show", item.id).out
    told = desk("inbox", "--json", "show", item.id).json
    assert (told["action"], told["text"]) == ("delete", None)
    (desk.memory / "tabs.md").unlink()
    assert desk("inbox", "show", item.id).out.endswith("the file is gone already\n")


def test_a_taken_name_is_told_before_and_after_E11(desk: Desk) -> None:
    item = put(desk, note("use tabs"))
    put_there(desk, "tabs.md", note("use both"))
    assert "this one would be tabs_2.md" in " ".join(desk("inbox", "show", item.id).out.split())
    assert desk("inbox", "accept", item.id).err == "created tabs_2.md (tabs.md is another memory)\n"


HOSTILE = "pay\x1b[2J\x1b]0;title\x07 \u202egnihton\u202c \u200bhid\u2066den\U000e0041 \x9b31m\r over"


@pytest.mark.parametrize("where", ["text", "reason", "file", "worker"])
def test_nothing_of_it_steers_a_terminal_and_what_is_hidden_shows_E11(desk: Desk, where: str) -> None:
    more: dict[str, dict[str, Any]] = {
        "reason": {"reason": HOSTILE},
        "worker": {"origin": Origin(session=HOSTILE, message=HOSTILE, worker=HOSTILE)},
    }
    data = f"---\nname: x\n---\n{HOSTILE}\n".encode() if where == "text" else note("use tabs")
    file = f"{HOSTILE}.md" if where == "file" else "tabs.md"
    item = put(desk, data, file, **more.get(where, {}))
    for words in ((), ("show", item.id)):
        ran = desk("inbox", *words)
        bad = [letter for letter in ran.out + ran.err if letter != "\n" and not letter.isprintable()]
        assert (ran.code, bad) == (0, [])
        if words or where != "text":
            assert all(code in ran.out for code in ("\\x1b[2J", "\\x202e", "\\x200b", "\\xe0041", "\\x9b"))
    for line in ("--json", f"show --json {item.id}", f"accept {item.id}", "reject --all"):
        ran = desk("inbox", *line.split())
        assert visible(ran.out + ran.err) == ran.out + ran.err


def test_a_file_that_memory_can_t_have_is_shown_and_can_only_be_rejected_F8(desk: Desk) -> None:
    item = put(desk, note("use tabs"), "../outside.md")
    shown = desk("inbox", "show", item.id).out
    assert "it can't be accepted: unsafe path" in " ".join(shown.split())
    assert "use tabs" in shown
    assert desk("inbox", "accept", item.id).code == 2
    assert desk("inbox", "reject", item.id).code == 0


def test_bytes_that_are_no_text_show_as_codes_E11(desk: Desk) -> None:
    item = put(desk, b"plain \xff and \x00 so on\n")
    assert "plain \\xff and \\x00 so on\n" in desk("inbox", "show", item.id).out


# -- accepting and rejecting -----------------------------------------------------------------------------


def test_accepting_writes_it_with_its_pointer_and_empties_the_inbox_E11(desk: Desk) -> None:
    item = put(desk, note("use tabs"))
    ran = desk("inbox", "accept", item.id)
    assert (ran.code, ran.out, ran.err) == (0, "", "created tabs.md\n")
    assert "(tabs.md)" in desk("show", "MEMORY.md").out
    assert desk("inbox").err == "nothing waits\n"
    assert "worker: extract" in desk.files()["tabs.md"]


def test_rejecting_removes_it_and_it_does_not_come_again_E11(desk: Desk) -> None:
    item = put(desk, note("use tabs"))
    assert desk("inbox", "reject", item.id).err == f"rejected {item.id}: new tabs.md\n"
    assert (desk.files(), desk("inbox").err) == ({}, "nothing waits\n")
    again = inbox_of(desk).put(
        "tabs.md", data=note("use tabs"), base=None, code="c", reason="r", now=datetime.now(UTC), origin=None
    )
    assert again is None


def test_all_is_done_oldest_first_and_told_as_json_E11(desk: Desk) -> None:
    put_there(desk, "old.md", note("old"))
    items = [put(desk, note("use tabs"), days=2), put(desk, None, "old.md", days=1)]
    assert desk("inbox", "accept", "--all", "--json").json == {
        "version": 1,
        "accepted": [
            {"id": items[0].id, "path": "tabs.md", "action": "created"},
            {"id": items[1].id, "path": "old.md", "action": "deleted"},
        ],
        "failures": [],
    }
    one = put(desk, note("use blanks"))
    assert desk("inbox", "reject", "--all", "--json").json == {
        "version": 1,
        "rejected": [one.id],
        "failures": [],
    }
    for command in ("accept", "reject"):
        ran = desk("inbox", command, "--all")
        assert (ran.code, ran.err) == (0, "nothing waits\n")


def test_what_fails_is_told_and_the_rest_goes_on_E11(desk: Desk) -> None:
    put_there(desk, "tabs.md", note("use tabs"))
    stale, good = put(desk, note("use blanks"), days=1), put(desk, note("be kind", "Kind"), "kind.md")
    put_there(desk, "tabs.md", note("use both"))
    ran = desk("inbox", "accept", "--json", "nosuch", stale.id, good.id, good.id)
    assert ran.code == 3
    assert [(one["id"], one["kind"]) for one in ran.json["failures"]] == [
        ("nosuch", "NotFound"),
        (stale.id, "Conflict"),
    ]
    assert ran.json["accepted"] == [{"id": good.id, "path": "kind.md", "action": "created"}]
    told = desk("inbox", "accept", "--all")
    assert told.code == 4
    assert told.err.splitlines()[0] == "error: tabs.md has changed since this was proposed"
    assert f"memdir inbox show {stale.id}" in told.err
    assert desk("inbox", "accept", "--force", stale.id).err == "updated tabs.md\n"
    assert "use blanks" in desk.files()["tabs.md"]


@pytest.mark.parametrize("command", ["accept", "reject"])
def test_one_has_to_say_which_or_all_E11(desk: Desk, command: str) -> None:
    item = put(desk, note("use tabs"))
    for words in ((), (item.id, "--all")):
        ran = desk("inbox", command, *words, "--json")
        assert (ran.code, ran.json["error"]["message"]) == (2, "say which, or --all")
    assert desk("inbox", "show", "--json", "nosuch").code == 3
    assert len(inbox_of(desk).items()) == 1


@pytest.mark.parametrize("words", ["", "show x", "accept x", "reject x"])
def test_with_memory_off_it_says_by_what_S3(desk: Desk, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMDIR_DISABLE", "1")
    ran = desk("inbox", *words.split(), "--json")
    assert (ran.code, ran.json["error"]["message"]) == (1, "memory is off: MEMDIR_DISABLE is 1")


def test_a_terminal_gets_whole_lines_that_fit_E11(desk: Desk) -> None:
    put(desk, note("use tabs"), reason="a page said it, at some length " * 5)
    with typist(desk, "inbox", COLUMNS="60") as person:
        code, seen = person.sees_the_end()
    assert code == 0
    assert [len(line) <= 60 for line in seen.splitlines()] == [True]


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_what_waits_is_for_its_owner_only_F8(desk: Desk) -> None:
    put(desk, note("use tabs"))
    folder = inbox_of(desk).folder
    assert folder.parent == Path.home() / ".memdir" / "inbox"
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
