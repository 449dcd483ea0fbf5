"""`memdir chat --resume` and `memdir sessions`: conversations are taken up again (A1)."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memdir.testing import say
from tests.cli.support import Desk, typist
from tests.cli.test_compact import LONG, NO_NOTES, SUMMARY, environment, is_summary
from tests.wire.server import WireServer

MODEL = ("--bare", "--model", "anthropic:claude-sonnet-5", "chat")


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as running:
        yield running


def folder(desk: Desk) -> Path:
    """The transcripts of the project."""
    return Path(desk("path", "--json").json["transcripts"])


def has_talked(desk: Desk, server: WireServer, *turns: str, resume: Sequence[str] = ()) -> str:
    """A conversation that was had: its id."""
    server.add(*(say(f"Answer to {turn}.\nMore.") for turn in turns))
    assert desk.process(*MODEL, *resume, said="\n".join(turns), **environment(server)).code == 0
    return str(listed(desk)[0]["id"])


def listed(desk: Desk, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = desk("sessions", "--json", *words).json["sessions"]
    return found


def age(desk: Desk, session: str, seconds: int) -> None:
    """Make it older."""
    path = folder(desk) / f"{session}.jsonl"
    at = path.stat().st_mtime - seconds
    os.utime(path, (at, at))


def test_the_last_conversation_goes_on_where_it_was_A1(desk: Desk, server: WireServer) -> None:
    session = has_talked(desk, server, "one \x1b[2J", "two")
    server.add(say("Three it is."))
    before = server.seen[-1]
    ran = desk.process(*MODEL, "--resume", "--", "and", "three", **environment(server))
    assert (ran.code, ran.out) == (0, "Three it is.\n")
    shown = ran.err.splitlines()
    assert shown[0] == f"taking up {session[:8]}: just now, 4 messages"
    assert shown[1] == "  began with   one \\x1b[2J"
    assert shown[2] == "  last answer  Answer to two."
    assert server.seen[-1].part("system") == before.part("system")
    assert server.seen[-1].text.startswith(before.text)
    assert server.seen[-1].text.endswith("and three")
    [one] = listed(desk)
    assert (one["id"], one["messages"], one["first"]) == (session, 6, "one \x1b[2J")


def test_a_conversation_is_taken_up_by_the_beginning_of_its_id_A1(desk: Desk, server: WireServer) -> None:
    first = has_talked(desk, server, "one")
    age(desk, first, 60)
    has_talked(desk, server, "other")
    server.add(say("Go on."), say("Go on."))
    for words in (("--resume", first[:6].upper(), "go", "on"), (f"--resume={first}", "go on")):
        ran = desk.process(*MODEL, *words, **environment(server))
        assert (ran.code, ran.out) == (0, "Go on.\n")
        assert f"taking up {first[:8]}" in ran.err
    assert listed(desk)[0]["messages"] == 6


def test_a_word_that_is_no_id_is_told_with_how_to_say_it_H1(desk: Desk, server: WireServer) -> None:
    session = has_talked(desk, server, "one")
    for word, code in (("please", 2), ("abc", 2), ("--", 0), ("fade", 3), (str(uuid4()), 3)):
        if code and not session.startswith(word):
            ran = desk.process(*MODEL, "--resume", word, "it's on", **environment(server))
            assert (ran.code, ran.out) == (code, "")
            assert f"""chat --resume -- {word} 'it'"'"'s on'""" in ran.err
            assert len(ran.err.splitlines()) == 2
    shutil.copy(folder(desk) / f"{session}.jsonl", folder(desk) / "odd.jsonl")
    double = f"{session[:8]}{uuid4()}"[:8] + str(uuid4())[8:]
    text = (folder(desk) / f"{session}.jsonl").read_text("utf-8")
    (folder(desk) / f"{double}.jsonl").write_text(text.replace(session, double), "utf-8")
    ran = desk.process(*MODEL, "--resume", session[:8], **environment(server))
    assert (ran.code, "2 conversations have ids that begin with" in ran.err) == (2, True)


def test_where_there_is_none_the_folder_is_named_H1(desk: Desk, server: WireServer) -> None:
    ran = desk.process(*MODEL, "--resume", **environment(server))
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(
        f"error: there is no conversation in {desk.folder} that could be taken up\nhint: "
    )
    assert f"there is no conversation in {desk.folder} yet" in desk("sessions").err
    assert listed(desk) == []


def test_a_conversation_that_is_under_way_is_not_taken_up_twice_A1(desk: Desk, server: WireServer) -> None:
    server.add(say("Yes."))
    with typist(desk, *MODEL, "hello", **environment(server)) as someone:
        someone.sees(r"Yes\.")
        someone.sees("\n> ")
        ran = desk.process(*MODEL, "--resume", "--", "hi", **environment(server))
        assert (ran.code, "is under way elsewhere" in ran.err) == (4, True)
        assert [one["open"] for one in listed(desk)] == [True]
        assert re.search(r"\d\d:\d\d +2  open +hello\n", desk("sessions").out)
        someone.types("\x04")
        assert someone.sees_the_end()[0] == 0
    assert [one["open"] for one in listed(desk)] == [False]


def test_a_conversation_that_was_condensed_goes_on_from_the_summary_C4(
    desk: Desk, server: WireServer
) -> None:
    server.add(say(LONG), say(LONG))
    server.when(is_summary, say(SUMMARY))
    lines = "what colour is the sea?\nreally?\n/compact\n"
    assert desk.process(*MODEL, said=lines, **environment(server, **NO_NOTES)).code == 0
    server.add(say("Blue."))
    ran = desk.process(*MODEL, "--resume", "--", "well?", **environment(server, **NO_NOTES))
    assert (ran.code, ran.out) == (0, "Blue.\n")
    assert "began with   what colour is the sea?" in ran.err
    assert "last answer  It is blue, and this is why. It is a long story. " in ran.err
    assert "Find out the colour of the sea." in server.seen[-1].text
    assert server.seen[-1].text.endswith("well?")


def test_lines_of_a_transcript_that_are_lost_are_told_A1(desk: Desk, server: WireServer) -> None:
    session = has_talked(desk, server, "one", "two")
    path = folder(desk) / f"{session}.jsonl"
    head, *lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([head, "torn", *lines]) + "\n", "utf-8")
    server.add(say("Three."))
    ran = desk.process(*MODEL, "--resume", "--", "three", **environment(server))
    assert ran.code == 0
    assert ran.err.count("(1 line of the transcript could not be read: ") == 1


def test_with_memory_on_it_goes_on_too_and_nothing_is_saved_twice_A1(desk: Desk, server: WireServer) -> None:
    remembers = ("--model", "anthropic:claude-sonnet-5", "chat")
    rule = "From now on never merge on Fridays, because nobody is there on Saturdays."
    local = environment(server, MEMDIR_EXTRACT_MODEL="local", MEMDIR_RECALL_MODEL="local")
    server.add(say("Yes."), say("Sure."))
    assert desk.process(*remembers, rule, **local).code == 0
    kept = desk.files()
    assert len(kept) == 1
    ran = desk.process(*remembers, "--resume", "--", "are you sure?", **local)
    assert (ran.code, ran.out) == (0, "Sure.\n")
    assert "Memory updated" not in ran.err
    assert desk.files() == kept
    assert [one["unsaved"] for one in listed(desk)] == [False]


# -- the list ------------------------------------------------------------------------------------------------


def planted(desk: Desk, number: int) -> None:
    """A conversation that was had, the older the larger its number."""
    session, place = str(uuid4()), folder(desk)
    place.mkdir(parents=True, exist_ok=True)
    common = {"sessionId": session, "cwd": str(desk.folder)}
    said = {"role": "user", "content": [{"type": "text", "text": f"number {number}"}]}
    lines = [
        {"type": "session", "version": 1, "uuid": str(uuid4()), **common, "prefix": {}},
        {"type": "user", "uuid": str(uuid4()), **common, "origin": "person", "message": said},
    ]
    path = place / f"{session}.jsonl"
    path.write_text("".join(f"{json.dumps(one, separators=(',', ':'))}\n" for one in lines), "utf-8")
    os.utime(path, (1_770_000_000 - number, 1_770_000_000 - number))


def test_the_list_is_short_unless_all_of_it_is_asked_for_H1(desk: Desk) -> None:
    for number in range(25):
        planted(desk, number)
    out = desk("sessions")
    assert [row.split()[-1] for row in out.out.splitlines()[1:]] == [str(number) for number in range(20)]
    assert out.err == "(and others; --all lists them)\n"
    told = desk("sessions", "--json").json
    assert (len(told["sessions"]), told["more"]) == (20, True)
    assert (len(listed(desk, "--all")), desk("sessions", "--json", "--all").json["more"]) == (25, False)


def test_who_talked_without_memory_s_word_waits_is_told_unsaved_E7(desk: Desk, server: WireServer) -> None:
    planted(desk, 1)
    [one] = listed(desk)
    assert one["unsaved"] is False
    pending = desk.home / ".memdir" / "pending"
    pending.mkdir(parents=True)
    (pending / f"{one['id']}.json").write_text("{}", "utf-8")
    assert listed(desk)[0]["unsaved"] is True
    assert "  unsaved  number 1\n" in desk("sessions").out


def test_the_list_goes_by_whole_words_of_a_terminal_H1(desk: Desk) -> None:
    planted(desk, 1)
    [path] = folder(desk).glob("*.jsonl")
    path.write_text(path.read_text("utf-8").replace("number 1", "red \\u001b[31m\\u202e\\nline " + "x" * 500))
    with typist(desk, "sessions", COLUMNS="60") as someone:
        code, shown = someone.sees_the_end()
    assert (code, max(map(len, shown.splitlines())) <= 60) == (0, True)
    assert "red \\x1b[31m" in shown
    assert not set(shown) & set("\x1b\u202e")
