"""`memdir why` and `memdir list --by use`: where a memory came from, its changes, what it was good for."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from memdir import app
from memdir.agent.transcript import Transcript
from memdir.memory.topic import instant
from memdir.model.jobs import Models
from memdir.model.local import Local
from memdir.model.messages import Prefix, person
from memdir.recall.aftermath import Outcome
from memdir.recall.usage import Usage
from memdir.testing import ScriptedModel, call, say
from tests.cli.support import Desk

NOW = datetime.now(UTC)
WHEN = r"\d{4}-\d\d-\d\d \d\d:\d\d"
FIXTURE = """---
name: Integration tests
description: the db fixture
type: feedback
modified: "2026-03-30T12:00:00.000Z"
origin:
  session: 3f0d1a52-6a0e-4a53-9d0c-0d2f4f6f6b11
  message: 0b6b7a0e-52f5-4b0a-8f43-3f3f2b0c7d55
  worker: extract
---

Take the db fixture.
"""


@pytest.fixture
def shop(desk: Desk) -> Desk:
    """A project with three memories."""
    desk.memory.mkdir(parents=True)
    for name, text in {"tests.md": FIXTURE, "ports.md": "5433", "lag.md": "four seconds"}.items():
        (desk.memory / name).write_text(text, "utf-8")
    return desk


def table(desk: Desk) -> Path:
    state = Path(desk("path", "--json").json["state"])
    trash = Path(desk("path", "--json").json["trash"])
    return state / "usage" / f"{trash.name}.sqlite"


def surfaced(desk: Desk, *files: str, turn: str = "t1", days: float = 0, **became: bool) -> None:
    usage = Usage(str(table(desk)))
    at = NOW - timedelta(days=days)
    usage.surfaced(files, session="s1", turn_id=turn, kind="error", at=at, how="local")
    usage.became("s1", turn, dict.fromkeys(files, Outcome(**became)))
    assert usage.failure is None


def test_why_says_where_a_memory_came_from_R10(shop: Desk) -> None:
    ran = shop("why", "integration tests")
    assert (ran.code, ran.err) == (0, "")
    written = datetime(2026, 3, 30, 12, tzinfo=UTC).astimezone()
    *told, seen, changed, recalled = ran.out.splitlines()
    assert told == [
        "tests.md: Integration tests",
        "  came from  extraction",
        "             in session 3f0d1a52-6a0e-4a53-9d0c-0d2f4f6f6b11",
        "             from message 0b6b7a0e-52f5-4b0a-8f43-3f3f2b0c7d55",
        f"  written    {written:%Y-%m-%d %H:%M}",
    ]
    assert re.fullmatch(rf"  first seen [0-9a-f]{{7}}  {WHEN}  there before", seen)
    assert (changed, recalled) == ("  changed    never since", "  recalled   never")
    assert "written by hand, or by another program" in shop("why", "ports").out
    assert not table(shop).exists()


def test_why_says_when_a_memory_was_recalled_and_what_became_of_it_R10(shop: Desk) -> None:
    surfaced(shop, "tests.md", turn="t1", days=3.5, opened=True, cited=True)
    surfaced(shop, "tests.md", "lag.md", turn="t2")
    *_, recalled, then, _, latest, first = shop("why", "tests.md").out.splitlines()
    assert recalled == "  recalled   twice, last today"
    assert then == "  then       opened 1, cited 1, corrected 0"
    assert re.split(r"\s{2,}", latest) == ["today", "an error", "chosen by words", "not used"]
    assert re.split(r"\s{2,}", first) == ["3 days ago", "an error", "chosen by words", "opened, cited"]


def test_a_conversation_is_seen_in_why_and_in_the_list_by_use_R10(shop: Desk) -> None:
    """Surfaced, read, named in the answer, edited: in text and as JSON."""
    (shop.memory / "lag.md").write_text("The replica in Frankfurt lags four seconds behind.", "utf-8")
    lag = str(shop.memory / "lag.md")
    edit = {"old_string": "four seconds", "new_string": "nine seconds"}
    chat = ScriptedModel(
        [
            call("Read", file_path=lag),
            say("By lag.md it is four seconds."),
            call("Edit", file_path=lag, **edit),
            say("Changed."),
        ]
    )

    async def talk() -> None:
        models = Models(chat=chat, recall=Local(), extract=Local())
        async with app.running(app.open_project(shop.folder), models=models) as runtime:
            conversation = await runtime.start()
            await conversation.say("how far does the replica in Frankfurt lag behind?")
            await conversation.say("by now it is nine seconds, put that down")

    anyio.run(talk)
    ran = shop("why", "lag")
    assert (ran.code, ran.err) == (0, "")
    assert re.search(
        rf"\n  changed    once since\n {{13}}[0-9a-f]{{7}}  {WHEN}  the agent  changed\n", ran.out
    )
    *_, recalled, then, _, row = ran.out.splitlines()
    assert (recalled, then) == (
        "  recalled   once, last today",
        "  then       opened 1, cited 1, corrected 1",
    )
    expected = ["today", "a question", "chosen by words", "opened, cited, corrected"]
    assert re.split(r"\s{2,}", row) == expected
    (one,) = shop("why", "lag", "--json").json["recalled"]
    assert (one["request"], one["how"]) == ("question", "local")
    assert (one["opened"], one["cited"], one["corrected"]) == (True, True, True)
    first = shop("list", "--by", "use").out.splitlines()[1]
    assert first.split() == ["1", "1", "1", "1", "today", "lag.md"]
    listed = shop("list", "--by", "use", "--json").json["memories"]
    most = listed[0]
    assert (most["path"], most["surfaced"], most["corrected"]) == ("lag.md", 1, 1)
    assert [one["surfaced"] for one in listed[1:]] == [0, 0]


def test_all_of_it_fits_a_terminal_R10(shop: Desk) -> None:
    surfaced(shop, "tests.md", days=200, opened=True, cited=True, corrected=True)
    lines = [*shop("why", "tests").out.splitlines(), *shop("list", "--by", "use").out.splitlines()]
    assert max(map(len, lines)) <= 80


def test_why_lists_the_latest_times_and_counts_the_rest_R10(shop: Desk) -> None:
    for number in range(12):
        surfaced(shop, "tests.md", turn=str(number))
    assert shop("why", "tests").out.endswith("\n(and 2 more; --json lists all)\n")
    assert len(shop("why", "tests", "--json").json["recalled"]) == 12


def test_why_speaks_json_R10(shop: Desk) -> None:
    surfaced(shop, "tests.md", corrected=True)
    at = instant(NOW)
    found = shop("why", "--json", "tests").json
    history = found.pop("history")
    assert (history["off"], [one["worker"] for one in history["changes"]]) == (None, ["external"])
    assert datetime.fromisoformat(found.pop("last")) == datetime.fromisoformat(at)
    assert datetime.fromisoformat(found["recalled"][0].pop("at")) == datetime.fromisoformat(at)
    assert found == {
        "version": 1,
        "path": "tests.md",
        "name": "Integration tests",
        "modified": "2026-03-30T12:00:00.000Z",
        "origin": {
            "session": "3f0d1a52-6a0e-4a53-9d0c-0d2f4f6f6b11",
            "message": "0b6b7a0e-52f5-4b0a-8f43-3f3f2b0c7d55",
            "worker": "extract",
            "said": None,
        },
        "surfaced": 1,
        "opened": 0,
        "cited": 0,
        "corrected": 1,
        "recalled": [
            {
                "request": "error",
                "how": "local",
                "session": "s1",
                "message": "t1",
                "opened": False,
                "cited": False,
                "corrected": True,
            }
        ],
    }


def test_why_of_what_is_no_memory_ends_as_elsewhere_R10(shop: Desk) -> None:
    ran = shop("why", "nosuch")
    assert (ran.code, ran.out) == (3, "")
    assert "there is no memory 'nosuch'" in ran.err
    assert json.loads(shop("why", "nosuch", "--json").out)["error"]["kind"] == "NotFound"
    (shop.memory / "MEMORY.md").write_text("", "utf-8")
    assert shop("why", "MEMORY.md").code == 2


def test_a_list_by_use_has_the_most_used_first_and_the_unused_last_R10(shop: Desk) -> None:
    surfaced(shop, "ports.md", "lag.md", turn="t1")
    surfaced(shop, "lag.md", turn="t2", cited=True)
    header, *rows = shop("list", "--by", "use").out.splitlines()
    assert header.split() == ["RECALLED", "OPENED", "CITED", "CORRECTED", "LAST", "MEMORY"]
    assert [row.split() for row in rows] == [
        ["2", "0", "1", "0", "today", "lag.md"],
        ["1", "0", "0", "0", "today", "ports.md"],
        ["0", "0", "0", "0", "never", "tests.md"],
    ]
    listed = shop("list", "--by", "use", "--json").json["memories"]
    assert [(one["path"], one["surfaced"], one["cited"]) for one in listed] == [
        ("lag.md", 2, 1),
        ("ports.md", 1, 0),
        ("tests.md", 0, 0),
    ]
    assert [
        row.split()[-1] for row in shop("list", "--by", "use", "--type", "feedback").out.splitlines()
    ] == [
        "MEMORY",
        "tests.md",
    ]


def test_what_was_forgotten_comes_back_with_its_history_R10(shop: Desk) -> None:
    surfaced(shop, "tests.md", cited=True)
    shop("forget", "tests")
    assert "tests.md" not in shop("list", "--by", "use").out
    shop("restore", "tests")
    assert shop("why", "tests", "--json").json["cited"] == 1


def test_a_record_that_cannot_be_read_is_told_and_no_failure_R10(shop: Desk) -> None:
    surfaced(shop, "tests.md", cited=True)
    table(shop).write_bytes(b"this is no database" * 100)
    ran = shop("why", "tests")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "  recalled   never")
    assert ran.err.startswith("warning: the record of use can't be read: DatabaseError")
    assert shop("list", "--by", "use").err == "", "it was set aside"


def test_what_is_recalled_by_hand_is_not_recorded_R10(shop: Desk) -> None:
    assert "tests.md" in shop("recall", "which db fixture do the integration tests take?").out
    assert not table(shop).exists()


# -- its history ---------------------------------------------------------------------------------------------


def rows(told: str) -> list[list[str]]:
    """The lines of a table below `changed`, without their times."""
    lines = told.partition(" since\n")[2].partition("  recalled")[0].splitlines()
    cells = [re.split(r"\s{2,}", line.strip()) for line in lines]
    return [[*row[:1], *row[2:]] if len(row) > 2 else row for row in cells]


def test_why_says_who_changed_a_memory_since_and_the_latest_first_H2(desk: Desk) -> None:
    desk("remember", "--type", "project", "we deploy on Tuesdays")
    with (desk.memory / "project_deploy_tuesdays.md").open("a") as file:
        file.write("And on Fridays.\n")
    desk("undo")
    undo, edit, made = [one["id"][:7] for one in desk("log", "--json").json["changes"]]
    told = desk("why", "project_deploy_tuesdays").out
    assert re.search(rf"\n  created    {made}  {WHEN}  you \(remember\)\n  changed    twice since\n", told)
    assert rows(told) == [
        [undo, f"undo of {edit}", "changed"],
        [edit, "hand edit", f"changed, undone by {undo}"],
    ]
    for number in range(5):
        desk("forget" if number % 2 == 0 else "restore", "project_deploy_tuesdays")
    desk("restore", "project_deploy_tuesdays")
    told = desk("why", "project_deploy_tuesdays").out
    assert "  changed    8 times since\n" in told
    assert [row[-1] for row in rows(told)] == [
        "created",
        "removed",
        "created",
        "removed",
        "created",
        "(and 3 more; `memdir log` with its name lists all)",
    ]
    assert len(desk("why", "project_deploy_tuesdays", "--json").json["history"]["changes"]) == 9


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("From now on take\nthe db fixture.", '"From now on take the db fixture."'),
        ("word " * 90, f'"{"word " * 10}word…"'),
        ("red \x1b[31m\u202e", '"red [31m"'),
        ("<system-reminder>not typed</system-reminder>", None),
    ],
    ids=["two lines", "long", "codes", "not the person's words"],
)
def test_why_shows_what_the_person_said_there_if_the_transcript_is_there_E11(
    shop: Desk, said: str, shown: str | None
) -> None:
    folder = shop.home / ".memdir" / "projects" / "-elsewhere"
    folder.mkdir(parents=True)
    session, message = re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", FIXTURE)
    transcript = Transcript.create(
        folder / f"{session}.jsonl",
        session_id=session,
        cwd=shop.folder,
        prefix=Prefix(system=("",), tools=(), max_tokens=9),
    )
    assert "you said" not in shop("why", "tests").out
    transcript.append(replace(person("something else"), id="other"))
    transcript.append(replace(person(said), id=message))
    told = shop("why", "tests").out
    if shown is None:
        assert "you said" not in told
        return
    assert f"\n             you said: {shown}\n" in told
    assert max(map(len, told.splitlines())) <= 80
    whole = shop("why", "tests", "--json").json["origin"]["said"]
    assert len(whole) >= len(said.strip("\u202e ")), "it is not cut"


def test_a_session_that_is_no_session_leads_nowhere_A8(shop: Desk) -> None:
    for odd in ("../../../etc/passwd", "*", "3f0d1a52", "{3f0d1a52-6a0e-4a53-9d0c-0d2f4f6f6b11}"):
        text = re.sub("session: .*", f"session: '{odd}'", FIXTURE)
        (shop.memory / "tests.md").write_text(text, "utf-8")
        ran = shop("why", "tests")
        assert (ran.code, ran.err) == (0, "")
        assert "you said" not in ran.out
