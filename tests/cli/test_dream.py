"""`memdir dream` and `/dream`, as the person sees them, with a model on the wire or by rules."""

from __future__ import annotations

import json
import os
import re
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memdir.testing import call, say
from tests.cli.support import SECONDS, Desk, Typist, typist
from tests.cli.test_history import without_git
from tests.wire.seen import Seen
from tests.wire.server import Answer, WireServer

MODEL = ("--model", "anthropic:claude-sonnet-5")
DREAM = ("dream", *MODEL)
CHAT = (*MODEL, "chat")
LOCK = ".consolidate-lock"
TEAM = "---\nname: team\ndescription: the billing team\ntype: project\n---\nThe billing team sits in Graz.\n"
NOTES = TEAM.replace("name: team", "name: team notes")
WHEN = """\
---
name: when
description: when we deploy
type: project
---
We deploy the shop on Tuesdays, at noon.
"""
INDEX = (
    "- [team](team.md) — the billing team\n- [team notes](team_notes.md) — the same\n"
    "- [when](when.md) — when we deploy\n"
)


@dataclass(kw_only=True)
class Line:
    """A model at the other end of the line. Side jobs find nothing; `held` lets a dream wait for a word."""

    server: WireServer
    asked: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    def dreams(self, *answers: Answer, said: int = 9) -> None:
        """What a dream is answered; the conversation gets `Hello.`"""
        self.server.when(is_dream, *answers)
        self.server.when(is_other_fork, *[say("Nothing to save.")] * 9)
        self.server.when(is_recall, *[say('{"selected_memories": []}')] * 9)
        self.server.add(*[say("Hello.")] * said)

    def held(self, _: Seen) -> Answer:
        self.asked.set()
        self.go_on.wait(SECONDS)
        return say("too late")

    def is_asked(self) -> None:
        assert self.asked.wait(SECONDS)

    @property
    def environment(self) -> dict[str, str]:
        return {"ANTHROPIC_BASE_URL": self.server.url, "ANTHROPIC_API_KEY": self.server.key}


def is_dream(seen: Seen) -> bool:
    return "put your memory in order" in seen.part("messages")


def is_other_fork(seen: Seen) -> bool:
    return "This message is not from the person." in seen.part("messages") and not is_dream(seen)


def is_recall(seen: Seen) -> bool:
    return "format" in seen.body.get("output_config", {})


@pytest.fixture
def line() -> Iterator[Line]:
    with WireServer() as server:
        made = Line(server=server)
        yield made
        made.go_on.set()


@pytest.fixture
def shop(desk: Desk) -> Desk:
    """Three memories, two of them the same."""
    desk.memory.mkdir(parents=True)
    for name, text in (("team.md", TEAM), ("team_notes.md", NOTES), ("when.md", WHEN), ("MEMORY.md", INDEX)):
        (desk.memory / name).write_text(text, "utf-8")
    assert desk("log").code == 0
    return desk


# -- what the model does -------------------------------------------------------------------------------------


def stage_of(seen: Seen) -> Path:
    return Path(re.findall(r"(/[^\s`\"'\\]*/stage-[0-9a-f]{16}/memory)", seen.part("messages"))[-1])


def reads(seen: Seen) -> Answer:
    stage = stage_of(seen)
    return [call("Read", file_path=str(stage / name)) for name in ("team.md", "team_notes.md", "when.md")]


def merges(seen: Seen) -> Answer:
    """What a good model does: one of two that say the same goes."""
    stage = stage_of(seen)
    why = {"files": [{"file": "team_notes.md", "into": "team.md", "why": "says the same"}], "lines": []}
    return [
        call("Write", file_path=str(stage / "team_notes.md"), content=""),
        call("Write", file_path=str(stage / "dream.json"), content=json.dumps({"version": 1, **why})),
    ]


def loses(seen: Seen) -> Answer:
    """What a bad one does: a memory goes without a word."""
    return [call("Write", file_path=str(stage_of(seen) / "when.md"), content="")]


GOOD: tuple[Answer, ...] = (reads, merges, say("Done."))
BAD: tuple[Answer, ...] = (reads, loses, say("Done."))


def files_of(desk: Desk) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(desk.memory.glob("*.md"))}


def settings(desk: Desk, **fields: Any) -> None:
    place = desk.home / ".memdir" / "settings.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(fields), "utf-8")


def says(someone: Typist, text: str) -> None:
    someone.sees("\n> ")
    someone.types(f"{text}\n")


# -- whether it is time --------------------------------------------------------------------------------------


def test_explain_prints_each_gate_with_its_reason_and_changes_nothing_D1(desk: Desk) -> None:
    ran = desk("dream", "--explain")
    assert ran.code == 0
    assert [row.split()[:2] for row in ran.out.splitlines()] == [
        ["on", "open"],
        ["time", "open"],
        ["throttle", "open"],
        ["sessions", "closed"],
        ["lock", "open"],
        ["review", "open"],
    ]
    assert "0 of 5 sessions" in ran.out
    assert "when all are open" in ran.err
    assert not desk.memory.exists()


def test_explain_as_json_says_whether_it_is_due_D1(desk: Desk) -> None:
    settings(desk, dream={"minSessions": 0})
    told = desk("dream", "--explain", "--json").json
    assert told["due"] is True
    assert [gate["name"] for gate in told["gates"]] == [
        "on",
        "time",
        "throttle",
        "sessions",
        "lock",
        "review",
    ]
    assert "the next turn of a conversation begins a dream" in desk("dream", "--explain").err


def test_a_project_cannot_say_when_or_how_freely_dreams_happen_S2(shop: Desk) -> None:
    (shop.folder / ".memdir").mkdir()
    wished = {"apply": "review", "minSessions": 0, "lossFiles": 1, "lossLines": 1}
    (shop.folder / ".memdir" / "settings.json").write_text(json.dumps({"dream": wished}), "utf-8")
    ran = shop("dream", "--explain")
    assert "0 of 5 sessions" in ran.out
    assert ran.err.count("a project may not set this") == len(wished)


def test_a_bad_value_is_told_and_counts_for_nothing_S1(shop: Desk) -> None:
    settings(shop, dream={"apply": "never", "minSessions": -1})
    ran = shop("dream", "--explain")
    assert "0 of 5 sessions" in ran.out
    assert 'dream.apply: must be one of "auto", "review"; ignored' in ran.err


def test_switched_off_no_dream_begins_by_itself_and_one_at_your_word_does_D7(shop: Desk) -> None:
    settings(shop, features={"dream": False})
    assert "features.dream is off" in shop("dream", "--explain").out
    (shop.memory / "MEMORY.md").write_text(INDEX + "- [x](gone.md) — x\n", "utf-8")
    assert shop("dream").code == 0
    assert "gone.md" not in (shop.memory / "MEMORY.md").read_text("utf-8")


@pytest.mark.parametrize(
    "words",
    [(), ("--explain",), ("--dry-run",), ("list",), ("show",), ("apply",), ("discard",)],
    ids=" ".join,
)
def test_with_memory_off_nothing_is_dreamed_of_D7(
    shop: Desk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    before = files_of(shop)
    monkeypatch.setenv("MEMDIR_DISABLE", "1")
    ran = shop("dream", *words)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: memory is off: MEMDIR_DISABLE is 1\n")
    monkeypatch.delenv("MEMDIR_DISABLE")
    assert files_of(shop) == before


# -- by rules ------------------------------------------------------------------------------------------------


def test_by_rules_the_index_is_mended_and_the_rest_is_proposed_D8(shop: Desk) -> None:
    (shop.memory / "MEMORY.md").write_text(INDEX + "- [x](gone.md) — x\n", "utf-8")
    before = files_of(shop)
    ran = shop("dream")
    assert (ran.code, ran.out) == (0, "")
    did, done, back, head, proposal = ran.err.splitlines()
    assert did == "took out an entry for gone.md, which is not there"
    assert done == "Put MEMORY.md in order"
    change = re.search(r"`memdir undo (\w+)`", back)
    assert change
    assert head == "For you to look at:"
    assert proposal.startswith("  team.md, team_notes.md: they say the same")
    assert shop.files().keys() == {"team.md", "team_notes.md", "when.md"}
    assert "dream" in shop("log", "-n", "1").out
    assert "gone.md" in shop("diff", change[1]).out
    assert shop("undo", change[1]).code == 0
    assert files_of(shop) == before


def test_many_sentences_are_cut_and_the_command_that_is_named_lists_them_all_H1(shop: Desk) -> None:
    for number in range(12):
        text = (
            f"---\nname: n{number}\ndescription: d{number}\n---\nYesterday we met client {number} in Graz.\n"
        )
        (shop.memory / f"n{number}.md").write_text(text, "utf-8")
        os.utime(shop.memory / f"n{number}.md", (1_700_000_000, 1_700_000_000))
    shop("dream")
    ran = shop("dream")
    assert ran.err.startswith("nothing to improve\nFor you to look at:\n")
    found = re.search(r"… and (\d+) more: `memdir (.*)` lists all", ran.err)
    assert found
    every = shop(*found[2].split())
    assert (every.code, every.err) == (0, "nothing to improve\n")
    assert every.out.count("Yesterday") == 12
    told = shop("dream", "--json").json
    assert (told["outcome"], len(told["proposals"])) == ("nothing", int(found[1]) + 10)


@pytest.mark.parametrize("words", [(), ("--dry-run",), ("--json",)], ids=" ".join)
def test_an_empty_directory_has_nothing_to_improve_D6(desk: Desk, words: tuple[str, ...]) -> None:
    ran = desk("dream", *words)
    assert ran.code == 0
    if words == ("--json",):
        assert (ran.json["outcome"], ran.json["files"]) == ("nothing", [])
    else:
        assert (ran.out, ran.err) == ("", "nothing to improve\n")


# -- by a model ----------------------------------------------------------------------------------------------


def test_a_dream_tells_its_phases_what_it_did_and_the_way_back_D6(shop: Desk, line: Line) -> None:
    line.dreams(*GOOD)
    before = files_of(shop)
    ran = shop.process(*DREAM, **line.environment)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("looking around\n")
    assert re.search(
        r"^consolidating: 2 requests, 5 tool calls, 1 file written, [\d,]+ tokens", ran.err, re.M
    )
    assert "\nImproved 1 memory: team_notes.md\n" in ran.err
    assert "team_notes.md" not in shop.files()
    change = re.search(r"`memdir undo (\w+)` takes it back\n$", ran.err)
    assert change
    assert shop("undo", change[1]).code == 0
    assert files_of(shop) == before


def test_as_json_a_dream_is_one_object_and_no_talk_H1(shop: Desk, line: Line) -> None:
    line.dreams(*GOOD)
    ran = shop.process(*DREAM, "--json", **line.environment)
    assert (ran.code, ran.err) == (0, "")
    told = ran.json
    assert (told["outcome"], told["files"], told["turns"]) == ("applied", ["team_notes.md"], 3)
    change = told["plan"]["changes"][0]
    assert (change["path"], change["action"], change["into"]) == ("team_notes.md", "merged", "team.md")
    assert told["change"]
    assert shop("undo", told["change"]).code == 0


def test_a_dry_run_shows_all_changes_nothing_and_can_be_carried_out_D8(shop: Desk, line: Line) -> None:
    line.dreams(*GOOD)
    before = files_of(shop)
    ran = shop.process(*DREAM, "--dry-run", **line.environment)
    assert ran.code == 0
    assert "  merged     team_notes.md -> team.md  says the same\n" in ran.out
    assert "-The billing team sits in Graz." in ran.out
    assert files_of(shop) == before
    assert not (shop.memory / LOCK).exists()
    assert "it does not wait" in shop("dream", "list").out
    assert shop("status", "--json").json["dreams"]["waiting"] == 0
    found = re.search(r"nothing was changed; `memdir (dream apply \w+)` carries it out", ran.err)
    assert found
    assert "Improved 1 memory: team_notes.md" in shop(*found[1].split()).err
    assert shop("dream", "list").err == "no plan waits\n"


def test_a_plan_that_fails_waits_and_all_is_as_it_was_D8(shop: Desk, line: Line) -> None:
    line.dreams(*BAD)
    before = files_of(shop)
    ran = shop.process(*DREAM, **line.environment)
    assert (ran.code, ran.out) == (1, "")
    assert "\nNothing was changed, for this speaks against the plan:\n  when.md: " in ran.err
    assert files_of(shop) == before
    name = re.search(r"`memdir dream show (\w+)` shows it, `apply` carries it out", ran.err)
    assert name
    shown = shop("dream", "show")
    assert "What speaks against it:" in shown.out
    assert "deleted    when.md" in shown.out
    assert "We deploy the shop on Tuesdays" in shown.out
    assert f"`memdir dream apply {name[1]}`" in shown.err
    listed = shop("dream", "list")
    assert re.match(rf"{name[1]}  just now  waits for your word: \d objections?\n", listed.out)
    item = shop("dream", "list", "--json").json["items"][0]
    assert (item["id"], item["dryRun"], item["problem"]) == (name[1], False, None)
    assert "lost" in [one["code"] for one in item["objections"]]
    assert f"the plan {name[1]} waits for you" in shop("dream", "--explain").out
    assert "1 plan waiting for your word: `memdir dream list`" in " ".join(shop("status").out.split())
    told = shop("dream", "show", name[1][:4], "--json").json
    assert [one["path"] for one in told["files"]] == ["when.md", "MEMORY.md"]
    applied = shop("dream", "apply", name[1])
    assert (applied.code, "Improved 1 memory: when.md" in applied.err) == (0, True)
    assert "when.md" not in shop.files()
    assert shop("undo").code == 0
    assert files_of(shop) == before


def test_as_json_a_plan_that_fails_is_exit_code_1_too_D8(shop: Desk, line: Line) -> None:
    line.dreams(*BAD)
    ran = shop.process(*DREAM, "--json", **line.environment)
    assert (ran.code, ran.json["outcome"]) == (1, "held")
    assert ran.json["id"] == shop("dream", "list", "--json").json["items"][0]["id"]


def test_several_plans_wait_each_under_its_name_D8(shop: Desk, line: Line) -> None:
    line.dreams(*BAD, *BAD)
    shop.process(*DREAM, **line.environment)
    ran = shop.process(*DREAM, **line.environment)
    assert ran.err.endswith("2 plans wait now: `memdir dream list`\n")
    newest, oldest = (item["id"] for item in shop("dream", "list", "--json").json["items"])
    assert shop("dream", "discard", oldest).err == f"dropped {oldest}; no memory was changed\n"
    assert shop("dream", "discard", "--json").json == {"version": 1, "id": newest}
    assert shop("dream", "list", "--json").json["items"] == []


@pytest.mark.parametrize("command", ["show", "apply", "discard"])
def test_a_name_that_no_plan_has_is_exit_code_3_H1(shop: Desk, line: Line, command: str) -> None:
    assert shop("dream", command).code == 3
    assert shop("dream", command).err == "error: no plan waits\nhint: `memdir dream` makes one\n"
    line.dreams(*BAD)
    shop.process(*DREAM, **line.environment)
    ran = shop("dream", command, "zz", "--json")
    assert (ran.code, ran.json["error"]["message"]) == (3, "no plan 'zz' waits")
    assert len(shop("dream", "list", "--json").json["items"]) == 1


def test_where_plans_are_to_be_reviewed_a_good_one_waits_too_D8(shop: Desk) -> None:
    settings(shop, dream={"apply": "review"})
    (shop.memory / "MEMORY.md").write_text(INDEX + "- [x](gone.md) — x\n", "utf-8")
    ran = shop("dream")
    assert ran.code == 0
    first, second = ran.err.splitlines()
    assert first == "Nothing was changed: plans wait for your word, as the setting dream.apply says"
    assert "shows it, `apply` carries it out, `discard` drops it" in second
    assert "took out" not in ran.err
    assert re.search(r"waits for your word\n$", shop("dream", "list").out)
    assert shop("dream", "apply").err.startswith("Put MEMORY.md in order\n")


def test_a_plan_that_is_overtaken_says_so_and_is_dropped_D8(shop: Desk) -> None:
    settings(shop, dream={"apply": "review"})
    (shop.memory / "MEMORY.md").write_text(INDEX + "- [x](gone.md) — x\n", "utf-8")
    shop("dream")
    (shop.memory / "MEMORY.md").write_text(INDEX, "utf-8")
    ran = shop("dream", "apply")
    assert ran.code == 0
    assert re.fullmatch(r"nothing was left to change; the plan \w+ is dropped\n", ran.err)
    assert shop("dream", "list").err == "no plan waits\n"


def test_without_git_a_dream_is_not_carried_out_and_says_what_to_install_D8(
    shop: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (shop.memory / "MEMORY.md").write_text(INDEX + "- [x](gone.md) — x\n", "utf-8")
    before = files_of(shop)
    without_git(monkeypatch, tmp_path)
    ran = shop("dream")
    assert ran.code == 1
    assert "git is not installed" in ran.err
    assert files_of(shop) == before
    ran = shop("dream", "apply")
    assert ran.code == 1
    assert "hint: install git" in ran.err
    assert files_of(shop) == before
    assert len(shop("dream", "list", "--json").json["items"]) == 1


# -- broken off, and two at once -----------------------------------------------------------------------------


def test_ctrl_c_breaks_a_dream_off_and_puts_everything_back_D6(shop: Desk, line: Line) -> None:
    line.dreams(line.held)
    (shop.memory / LOCK).write_bytes(b"")
    os.utime(shop.memory / LOCK, ns=(10**18, 10**18 + 123_456_789))
    before = files_of(shop)
    with typist(shop, *DREAM, **line.environment) as someone:
        line.is_asked()
        someone.types("\x03")
        code, told = someone.sees_the_end()
    assert code == 130
    assert "broken off; the memories are as they were" in told
    assert files_of(shop) == before
    assert (shop.memory / LOCK).stat().st_mtime_ns == 10**18 + 123_456_789
    assert shop("dream", "list").err == "no plan waits\n"


def test_while_a_dream_is_under_way_another_says_who_is_at_it_D3(shop: Desk, line: Line) -> None:
    line.dreams(line.held)
    with typist(shop, *DREAM, **line.environment) as someone:
        line.is_asked()
        ran = shop("dream")
        assert (ran.code, ran.out) == (4, "")
        assert re.match(r"error: a dream is under way: the lock is held by process \d+ since ", ran.err)
        assert "hint: try again when it is over; it is taken over after 60 minutes" in ran.err
        assert shop("dream", "--json").json["error"]["kind"] == "Busy"
        told = shop("status", "--json").json["dreams"]
        assert (told["underWay"], told["last"]) == (True, None)
        assert "a dream is under way: the lock is held by process" in " ".join(shop("status").out.split())
        assert re.search(r"lock +closed +held by process", shop("dream", "--explain").out)
        someone.types("\x03")
        assert someone.sees_the_end()[0] == 130
    assert shop("dream").code == 0


def test_what_stands_in_the_place_of_the_lock_is_named_with_what_to_do_D3(shop: Desk) -> None:
    os.mkfifo(shop.memory / LOCK)
    ran = shop("dream")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(
        "a pipe, where a file is needed\nhint: no dream can begin while it is there: remove it\n"
    )


def test_where_the_index_is_no_file_a_dream_and_status_name_the_doctor_H1(shop: Desk) -> None:
    (shop.memory / "MEMORY.md").unlink()
    (shop.memory / "MEMORY.md").mkdir()
    ran = shop("dream")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("a folder, where a file is needed\nhint: `memdir doctor` says what to do\n")
    ran = shop("status")
    assert (ran.code, ran.out.startswith("memory        on: ")) == (0, True)
    assert ran.err.endswith("a folder, where a file is needed: `memdir doctor` says what to do\n")
    assert "MEMORY.md  a folder, where the index should be" in shop("doctor").out


def test_a_plan_of_another_version_is_told_of_and_can_only_be_dropped_D8(shop: Desk) -> None:
    place = shop.home / ".memdir" / "dreams" / shop.memory.parent.name / "aaaaaaaaaa"
    place.mkdir(parents=True)
    (place / "plan.json").write_text('{"version": 9}', "utf-8")
    ran = shop("dream", "list")
    assert ran.out.endswith("the plan aaaaaaaaaa was kept by another version of memdir\n")
    assert ran.err == "`memdir dream discard aaaaaaaaaa` drops it\n"
    for command in ("show", "apply"):
        ran = shop("dream", command)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.endswith("hint: `memdir dream discard aaaaaaaaaa` drops it\n")
    assert shop("dream", "discard").code == 0
    assert shop("dream", "list").err == "no plan waits\n"


# -- status --------------------------------------------------------------------------------------------------


def test_status_says_when_the_last_dream_was_D2(shop: Desk) -> None:
    def row() -> str:
        return next(row for row in shop("status").out.splitlines() if row.startswith("dreamed "))

    assert row().split(maxsplit=1)[1] == "never yet; `memdir dream --explain` says what it takes"
    assert shop("status", "--json").json["dreams"] == {
        "waiting": 0,
        "last": None,
        "underWay": False,
        "lock": "free: there was no consolidation yet",
    }
    shop("dream")
    assert row().split(maxsplit=1)[1] == "just now"
    assert shop("status", "--json").json["dreams"]["last"] is not None
    os.utime(shop.memory / LOCK, (7_258_118_400, 7_258_118_400))
    assert row().split(maxsplit=1)[1] == "on 2200-01-01, by a clock that was wrong"


def test_status_says_what_is_in_the_place_of_the_lock_D2(shop: Desk) -> None:
    (shop.memory / LOCK).mkdir()
    assert f"{LOCK} is no file, but a link, folder, pipe or device; remove it" in shop("status").out


def test_with_memory_off_status_says_nothing_of_dreams_S4(
    shop: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMDIR_DISABLE", "1")
    assert "dreams" not in shop("status", "--json").json
    assert "dreamed " not in shop("status").out


def test_status_tells_the_first_problems_and_where_the_others_are_H1(shop: Desk) -> None:
    lines = "".join(f"- [x](gone_{number}.md) — x\n" for number in range(15))
    (shop.memory / "MEMORY.md").write_text(INDEX + lines, "utf-8")
    ran = shop("status")
    assert ran.err.count("which is not there") == 10
    assert ran.err.endswith("… and 5 more: `memdir doctor` lists them, each with its cure\n")
    assert len(shop("status", "--json").json["problems"]) == 15


# -- in a conversation ---------------------------------------------------------------------------------------


def test_a_dream_in_a_conversation_at_the_persons_word_D7(shop: Desk, line: Line) -> None:
    line.dreams(*GOOD)
    with typist(shop, *CHAT, **line.environment) as someone:
        says(someone, "/dream")
        told = someone.sees(r"`/undo \w+` takes it back\n")
        assert "dreaming …\nlooking around\nconsolidating: " in told
        assert "Improved 1 memory: team_notes.md\n`/diff " in told
        assert "has begun" not in someone.sees("\n> ")
        someone.types("/undo\n")
        someone.sees("took back ")
        says(someone, "/dream list")
        someone.sees("no plan waits\n")
        says(someone, "/dream show a b")
        someone.sees("as in: /dream, /dream stop, /dream explain, /dream list, ")
        says(someone, "/exit")
        assert someone.sees_the_end()[0] == 0


def test_plans_are_judged_in_a_conversation_D8(shop: Desk, line: Line) -> None:
    line.dreams(*BAD, *BAD)
    with typist(shop, *CHAT, **line.environment) as someone:
        says(someone, "/dream")
        someone.sees("for this speaks against the plan:\n  when.md: ")
        someone.sees("`/dream show [0-9a-f]{10}` shows it")
        says(someone, "/dream list")
        someone.sees("waits for your word: ")
        says(someone, "/dream show")
        someone.sees("What speaks against it:")
        someone.sees("`/dream apply [0-9a-f]{10}` carries it out")
        says(someone, "/dream show zz")
        someone.sees("error: no plan 'zz' waits\n")
        says(someone, "/dream discard")
        someone.sees("dropped [0-9a-f]{10}; no memory was changed\n")
        says(someone, "/dream")
        someone.sees("shows it")
        says(someone, "/dream apply")
        someone.sees("Improved 1 memory: when.md\n`/diff ")
        says(someone, "/exit")
        assert someone.sees_the_end()[0] == 0


def test_ctrl_c_breaks_off_a_dream_in_a_conversation_which_goes_on_D6(shop: Desk, line: Line) -> None:
    line.dreams(line.held)
    before = files_of(shop)
    with typist(shop, *CHAT, **line.environment) as someone:
        says(someone, "/dream")
        line.is_asked()
        someone.types("\x03")
        someone.sees("the dream was broken off; the memories are as they were\n")
        assert "has begun" not in someone.sees("\n> ")
        someone.types("hi\n")
        someone.sees("Hello.")
        says(someone, "/dream stop")
        someone.sees("no dream is under way\n")
        says(someone, "/exit")
        assert someone.sees_the_end()[0] == 0
    assert files_of(shop) == before
    assert not (shop.memory / LOCK).exists()


@pytest.fixture
def due(shop: Desk) -> Desk:
    """Five other conversations were had since the last dream, a day ago."""
    folder = Path(shop("path", "--json").json["transcripts"])
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(5):
        (folder / f"{uuid.uuid4()}.jsonl").write_text("{}\n", "utf-8")
    return shop


def test_a_dream_begins_by_itself_after_a_turn_and_can_be_stopped_D1(due: Desk, line: Line) -> None:
    line.dreams(line.held)
    before = files_of(due)
    with typist(due, *CHAT, **line.environment) as someone:
        says(someone, "hi")
        line.is_asked()
        says(someone, "hi again")
        someone.sees(
            r"\(a dream has begun, to put the memories in order: /dream says how far it is, /dream stop "
        )
        says(someone, "/dream")
        someone.sees("looking around\n`/dream stop` breaks it off\n")
        says(someone, "/dream stop")
        someone.sees("the dream was broken off; the memories are as they were\n")
        says(someone, "/dream explain")
        assert re.search(
            r"throttle +closed +sessions were looked through", someone.sees("when all are open\n")
        )
        says(someone, "/exit")
        assert someone.sees_the_end()[0] == 0
    assert files_of(due) == before


def test_what_a_dream_made_of_the_memories_is_told_at_the_next_pause_D6(due: Desk, line: Line) -> None:
    told = threading.Event()

    def ends(_: Seen) -> Answer:
        told.set()
        return say("Done.")

    line.dreams(reads, merges, ends)
    with typist(due, *CHAT, **line.environment) as someone:
        says(someone, "hi")
        assert told.wait(SECONDS)
        seen = ""
        while "Improved" not in seen:
            someone.types("hi\n")
            seen = someone.sees("\n> ")
        assert re.search(r"Improved 1 memory; `memdir undo \w+` takes it back\n", seen)
        someone.types("/exit\n")
        assert someone.sees_the_end()[0] == 0
    assert "team_notes.md" not in due.files()


def test_a_conversation_that_ends_while_it_dreams_says_so_and_ctrl_c_leaves_all_as_it_was_D6(
    due: Desk, line: Line
) -> None:
    line.dreams(line.held)
    before = files_of(due)
    with typist(due, *CHAT, **line.environment) as someone:
        says(someone, "hi")
        line.is_asked()
        says(someone, "/exit")
        someone.sees("finishing a dream, and saving what is worth keeping …\n")
        someone.types("\x03")
        code, told = someone.sees_the_end()
    assert code == 0
    assert "broken off; nothing is half-written" in told
    assert "has begun" not in told
    assert files_of(due) == before
    assert not (due.memory / LOCK).exists()
