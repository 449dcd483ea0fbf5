"""`/compact` and `/context` in a conversation, with a model on the wire (C4)."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memdir.testing import say
from tests.cli.support import SECONDS, Desk, Typist, typist
from tests.wire.answers import key_refused, too_long
from tests.wire.server import Answer, Seen, WireServer

MODEL = ("--bare", "--model", "anthropic:claude-sonnet-5", "chat")
LONG = "It is blue, and this is why. " + "It is a long story. " * 2_000
SUMMARY = "# Task\nFind out the colour of the sea.\n\n# Results\nIt is blue."
NO_NOTES = {"MEMDIR_FEATURES_SESSION_MEMORY": "off"}


def is_summary(seen: Seen) -> bool:
    return "Write a summary of it" in seen.part("messages")


def is_notes(seen: Seen) -> bool:
    return "bring the running notes of this session" in seen.part("messages")


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as running:
        yield running


def environment(server: WireServer, **more: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key, **more}


def says(someone: Typist, text: str) -> None:
    someone.sees("\n> ")
    someone.types(f"{text}\n")


def ends(someone: Typist) -> str:
    says(someone, "/exit")
    code, told = someone.sees_the_end()
    assert code == 0
    return told


def records(desk: Desk) -> list[dict[str, object]]:
    [transcript] = (desk.home / ".memdir" / "projects").glob("*/*.jsonl")
    return [json.loads(line) for line in transcript.read_text("utf-8").splitlines()]


def test_a_conversation_is_condensed_by_the_person_and_goes_on_from_the_summary_C4(
    desk: Desk, server: WireServer
) -> None:
    server.add(say(LONG), say(LONG), say("As I said, blue."))
    server.when(is_summary, say(SUMMARY))
    with typist(desk, *MODEL, **environment(server, **NO_NOTES)) as someone:
        says(someone, "/compact")
        someone.sees("condensing …\nerror: there is nothing to condense yet.*\nhint: ")
        says(someone, "what colour is the sea?")
        says(someone, "really?")
        says(someone, "/context")
        before = someone.sees("running summary: off: the setting features.sessionMemory is off\n")
        says(someone, "/compact mind the colours\x1b[8m")
        told = someone.sees(r"condensed: [\d,]+ -> [\d,]+ tokens; .* stands for \d+ messages?\n")
        assert "; a summary that the model wrote stands for " in told
        says(someone, "/context")
        after = someone.sees("running summary: off.*\n")
        says(someone, "and now?")
        someone.sees("As I said, blue")
        ends(someone)
    assert "  summary" not in before
    assert re.search(r"\n  summary +[\d,]+  1 message\n", after)
    assert total(after) < total(before)
    asked = next(seen for seen in server.seen if is_summary(seen))
    assert "mind the colours" in asked.text
    last = server.seen[-1]
    assert "Find out the colour of the sea." in last.text
    assert "what colour is the sea?" in last.text, "the person's own words are kept"
    assert last.text.count("It is a long story") < 3_000
    assert [one["type"] for one in records(desk)].count("compaction") == 1


def total(context: str) -> int:
    return int(re.findall(r"about ([\d,]+) of", context)[0].replace(",", ""))


def test_what_the_parts_of_the_next_request_take_adds_up_C4(desk: Desk, server: WireServer) -> None:
    (desk.folder / "CLAUDE.md").write_text("Answer in one word.\n", "utf-8")
    server.add(say("Blue."))
    ran = desk.process(*MODEL, said="hello\n/context\n", **environment(server))
    assert (ran.code, ran.out) == (0, "Blue.\n")
    rows = re.findall(r"^  (\S.*?)  +([\d,]+)(?:  (\d+) messages?)?$", ran.err, re.MULTILINE)
    assert [name for name, _, _ in rows] == ["system prompt", "tools", "instructions, index", "conversation"]
    taken = sum(int(tokens.replace(",", "")) for _, tokens, _ in rows)
    assert taken == total(ran.err)
    assert "it is condensed by itself above " in ran.err
    assert "running summary: none yet, it begins at about 10,000 tokens of conversation\n" in ran.err


def test_ctrl_c_breaks_a_compaction_off_and_leaves_all_as_it_was_C4(desk: Desk, server: WireServer) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slow(_: Seen) -> Answer:
        asked.set()
        go_on.wait(SECONDS)
        return say(SUMMARY)

    server.add(say(LONG), say(LONG), say("Still blue."))
    server.when(is_summary, slow)
    with typist(desk, *MODEL, **environment(server, **NO_NOTES)) as someone:
        says(someone, "what colour is the sea?")
        says(someone, "really?")
        says(someone, "/compact")
        someone.sees("condensing …")
        assert asked.wait(SECONDS)
        someone.types("\x03")
        someone.sees(r"\(broken off; the conversation is as it was\)\n")
        go_on.set()
        says(someone, "and now?")
        someone.sees("Still blue")
        ends(someone)
    assert server.seen[-1].text.count("It is a long story") == 4_000
    assert "compaction" not in [one["type"] for one in records(desk)]


def test_where_the_model_can_t_write_a_summary_rules_put_one_together_and_that_is_told_C4(
    desk: Desk, server: WireServer
) -> None:
    server.add(say(LONG), say(LONG), say("Blue."))
    server.when(is_summary, key_refused(), key_refused())
    lines = "what colour is the sea?\nreally?\n/compact mind the colours\n/compact\nand now?\n"
    ran = desk.process(*MODEL, said=lines, **environment(server, **NO_NOTES))
    assert ran.code == 0
    assert "error: the key for anthropic:claude-sonnet-5 was refused" in ran.err
    assert "; a summary put together by rules stands for " in ran.err
    assert ran.err.count("(the model could not write a summary of the conversation: the key for ") == 1
    assert "fixed rules, not by a model" in server.seen[-1].text


def test_a_conversation_that_the_model_finds_too_long_is_condensed_and_that_is_told_C4(
    desk: Desk, server: WireServer
) -> None:
    server.add(say(LONG), say(LONG), too_long(), say("Blue, then."))
    server.when(is_summary, say(SUMMARY))
    ran = desk.process(*MODEL, said="one\ntwo\nthree\n", **environment(server, **NO_NOTES))
    assert ran.code == 0
    assert ran.out.endswith("Blue, then.\n")
    told = [line for line in ran.err.splitlines() if line.startswith("(the model refused the conversation")]
    assert len(told) == 1
    assert "; a summary that the model wrote stands for " in told[0]


def test_the_running_summary_is_kept_beside_the_transcript_and_used_C4(
    desk: Desk, server: WireServer
) -> None:
    server.add(say(LONG), say(LONG), say("Blue."))
    local = {"MEMDIR_SESSION_MODEL": "local", "MEMDIR_SESSION_FIRST_TOKENS": "1000"}
    with typist(desk, *MODEL, **environment(server, **local)) as someone:
        says(someone, "what colour is the sea?")
        says(someone, "really?")
        says(someone, "/compact")
        someone.sees(r"; the running summary stands for \d+ messages?\n")
        says(someone, "/context")
        told = someone.sees(r"running summary: up to message \d+ of \d+, in (.*)\n")
        says(someone, "and now?")
        someone.sees(r"Blue\.")
        ends(someone)
    path = Path(told.rsplit(", in ", 1)[1].strip())
    assert path.parts[-2:] == ("session-memory", "summary.md")
    assert "what colour is the sea?" in path.read_text("utf-8")
    assert not [seen for seen in server.seen if is_notes(seen) or is_summary(seen)]
