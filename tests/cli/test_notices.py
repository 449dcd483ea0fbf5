"""What the person is told of an event at the next pause (cli/notices.py)."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from memdir.agent.events import (
    COMPACTED,
    DEGRADED,
    DISABLED,
    EXTRACTED,
    FAILED,
    INSTRUCTIONS,
    NO_SHARED_CACHE,
    NOTED,
    RESUMED,
    WAITING,
    Event,
)
from memdir.cli.notices import Notice, notice_of
from memdir.cli.output import complain, fail, talk
from memdir.cli.terminal import Terminal
from memdir.errors import Conflict, KeyRefused, MemdirError, ModelOverloaded
from memdir.model.messages import Usage

REFUSED = {
    "model": "p:m",
    "error": "KeyRefused",
    "why": "the key for p:m was refused (401)",
    "cure": "check KEY",
}
ALONE = "can't read this conversation's cache, and"
CONFLICT = {"error": "Conflict", "why": "another program is learning from this conversation right now"}
ROOM = "`memdir status` says in which folder; see that it can be written, and has room"
UNKNOWN = "how far this conversation is saved can't be noted"
LATER = "Nothing is lost, but a part may be looked at again later; see that the folder can be written"
FULL = {"error": "OSError", "why": "No space left on device"}
BUSY = {"model": "p:m", "error": "ModelOverloaded", "why": "no connection", "cure": "try again later"}


def told(name: str, **fields: Any) -> Notice:
    notice = notice_of(Event(name=name, fields=fields))
    assert notice is not None
    return notice


@pytest.mark.parametrize(
    ("name", "fields", "text"),
    [
        (
            FAILED,
            {"where": "earlier sessions", **FULL},
            "(what earlier conversations left is not saved: No space left on device; the next tries again)",
        ),
        (
            FAILED,
            {"where": "marker", **FULL},
            "(noting that this conversation is not saved yet failed: OSError; the conversation goes on)",
        ),
        (
            DISABLED,
            {"job": "extract", "why": "the setting features.extract is off"},
            "(saving memories is off: the setting features.extract is off)",
        ),
        (FAILED, {"where": "mend", "error": "OSError"}, "(mend failed: OSError; the conversation goes on)"),
        (
            FAILED,
            {"where": "extract", "again": True, **BUSY},
            "(p:m: no connection; saving will be tried again)",
        ),
        (
            DEGRADED,
            {"job": "extract", "lasting": True, **REFUSED},
            "(the key for p:m was refused (401); memories are saved by rules from now on. check KEY)",
        ),
        (
            DEGRADED,
            {"job": "extract", "lasting": False, **BUSY},
            "(p:m: no connection; memories are saved by rules meanwhile)",
        ),
        (
            DEGRADED,
            {"job": "recall", "lasting": True, **REFUSED, "cure": None},
            "(the key for p:m was refused (401); memories are chosen by their words from now on)",
        ),
        (
            DEGRADED,
            {"job": "dream", "lasting": False, **BUSY},
            "(p:m: no connection; dream goes on by rules meanwhile)",
        ),
        (
            NO_SHARED_CACHE,
            {"job": "extract", "model": "p:m", "host": "q:n", "free": False},
            f"(extraction runs on p:m, not on q:n: it {ALONE} pays for the whole of it each time)",
        ),
        (
            NO_SHARED_CACHE,
            {"job": "extract", "model": "p:m", "host": "q:n", "free": True},
            f"(extraction runs on p:m, not on q:n: it {ALONE} reads the whole of it anew each time)",
        ),
        (
            FAILED,
            {"where": "extract", "again": True, "model": None, **CONFLICT},
            f"(what was said is not saved yet: {CONFLICT['why']}; saving will be tried again)",
        ),
        (
            FAILED,
            {"where": "extract", "again": True, "model": None, **FULL},
            f"(what was said is not saved yet: No space left on device; saving will be tried again. {ROOM})",
        ),
        (
            FAILED,
            {"where": "extract", "again": False, "model": None, "error": "ValueError", "why": None},
            f"(what was said is not saved: ValueError. {ROOM})",
        ),
        (
            FAILED,
            {"where": "cursor", "path": "/x/cursors", **FULL},
            f"({UNKNOWN} in /x/cursors: No space left on device. {LATER}, and has room)",
        ),
    ],
)
def test_each_is_one_plain_sentence_H4(name: str, fields: dict[str, Any], text: str) -> None:
    assert told(name, **fields).text == text


def test_what_went_well_is_no_notice() -> None:
    assert notice_of(Event(name=EXTRACTED, fields={"files": 1})) is None


def test_an_error_can_not_steer_the_terminal() -> None:
    notice = told(DEGRADED, job="extract", lasting=False, **{**BUSY, "why": "p:m said \x1b[2J"})
    assert "\x1b" not in notice.text


def test_that_rules_did_it_replaces_that_it_will_be_tried_again() -> None:
    again = told(FAILED, where="extract", again=True, **BUSY)
    by_rules = told(DEGRADED, job="extract", lasting=False, **BUSY)
    chosen = told(DEGRADED, job="recall", lasting=False, **BUSY)
    assert by_rules.replaces(again)
    assert not again.replaces(by_rules)
    assert not chosen.replaces(again)
    assert not by_rules.replaces(chosen)


# -- what is still to be told --------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Desk:
    """A front end at which nothing was told yet. `turn` is what the next turn fails with."""

    terminal: Terminal
    capture: pytest.CaptureFixture[str]
    turn: MemdirError | None = None

    def hears(self, name: str, **fields: Any) -> None:
        self.terminal.on_event(Event(name=name, fields=fields))

    async def run(self, _words: str) -> None:
        if self.turn is not None:
            raise self.turn

    def tells(self) -> list[str]:
        self.capture.readouterr()
        self.terminal._tell_notices()
        return self.capture.readouterr().err.splitlines()


@pytest.fixture
def desk(capsys: pytest.CaptureFixture[str]) -> Desk:
    made = Desk(terminal=Terminal(cast(Any, None)), capture=capsys)
    agent = SimpleNamespace(
        run=made.run,
        usage=Usage(),
        model=SimpleNamespace(name="p:m"),
        messages=[],
        record=[],
        transcript=None,
    )
    made.terminal.conversation = cast(Any, SimpleNamespace(agent=agent, extractor=None, dreamer=None))
    return made


AGAIN = {"where": "extract", "again": True, **BUSY}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "fields", "turn", "survives"),
    [
        (FAILED, AGAIN, ModelOverloaded("no connection"), False),
        (FAILED, AGAIN, ModelOverloaded("the rate limit for p:m is reached"), True),
        (FAILED, {**AGAIN, "model": "p:other"}, ModelOverloaded("no connection"), True),
        (FAILED, {**AGAIN, "why": "x" * 300}, ModelOverloaded("x" * 400), False),
        (DEGRADED, {"job": "extract", "lasting": True, **BUSY}, ModelOverloaded("no connection"), True),
        (DEGRADED, {"job": "recall", "lasting": True, **REFUSED}, KeyRefused(REFUSED["why"]), True),
        (FAILED, {"where": "mend", "error": "Conflict"}, Conflict("no connection"), True),
    ],
)
async def test_a_notice_survives_the_error_of_a_turn_unless_it_says_the_same_H4(
    desk: Desk, name: str, fields: dict[str, Any], turn: MemdirError, survives: bool
) -> None:
    desk.turn = turn
    desk.hears(name, **fields)
    await desk.terminal._turn("hello")
    assert len(desk.tells()) == survives


def test_no_again_where_it_has_been_made_up_for_and_again_if_it_comes_back_E7(desk: Desk) -> None:
    for fields in (AGAIN, {"where": "extract", "again": True, "model": None, **FULL}):
        desk.hears(FAILED, **fields)
        desk.hears(EXTRACTED, files=1, refused=0)
        assert desk.tells() == []
        desk.hears(FAILED, **fields)
        assert len(desk.tells()) == 1


def test_that_saving_waits_is_told_once_whoever_says_so_H3(desk: Desk) -> None:
    for tokens in ("6,556", "6,225"):  # an earlier conversation, and this one
        desk.hears(WAITING, job="extract", why=f"it may need {tokens} more")
    assert desk.tells() == ["(saving memories waits: it may need 6,556 more)"]
    desk.hears(WAITING, job="extract", why="it may need 9,000 more")
    assert desk.tells() == []


def test_that_rules_step_in_is_told_once_whoever_says_so_E7(desk: Desk) -> None:
    for _ in range(2):
        desk.hears(DEGRADED, job="extract", lasting=True, **REFUSED)
    assert len(desk.tells()) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("finished", [True, False])
async def test_no_again_at_the_end_E7(desk: Desk, finished: bool) -> None:
    async def finish() -> bool:
        return finished

    desk.hears(FAILED, **AGAIN)
    desk.hears(FAILED, where="mend", error="OSError")
    desk.capture.readouterr()

    async def give_up() -> None:
        pass

    runtime = SimpleNamespace(is_busy=False, finish=finish, give_up=give_up)
    await desk.terminal.finish(cast(Any, runtime))
    told = desk.capture.readouterr().err
    assert "again" not in told
    assert "(mend failed" in told


def test_complain_is_visible_and_so_is_all_talk(capsys: pytest.CaptureFixture[str]) -> None:
    complain(MemdirError("said \x1b[2J\r", hint="look \x1b]0;x\x07\u202e"))
    complain("a \x9b1A")
    talk("\n> ", end="")
    fail(MemdirError("\x1b"), as_json=False)
    told = capsys.readouterr().err
    assert told == (
        "error: said \\x1b[2J\\x0d\nhint: look \\x1b]0;x\\x07\\x202e\na \\x9b1A\n\n> error: \\x1b\n"
    )


# -- long conversations --------------------------------------------------------------------------------------

SHRUNK: dict[str, Any] = {
    "how": "notes",
    "before": 180_000,
    "after": 60_000,
    "gone": 212,
    "kept": 9,
    "seconds": 0.1,
}
SIZES = "180,000 -> 60,000 tokens; the running summary stands for 212 messages"


@pytest.mark.parametrize(
    ("name", "fields", "text"),
    [
        (
            COMPACTED,
            {"trigger": "auto", **SHRUNK},
            f"(the conversation had grown too long and was condensed: {SIZES})",
        ),
        (
            COMPACTED,
            {"trigger": "overflow", **SHRUNK},
            f"(the model refused the conversation as too long, so it was condensed: {SIZES})",
        ),
        (INSTRUCTIONS, {"why": "a \x1b is wrong"}, "(a \\x1b is wrong)"),
        (
            RESUMED,
            {"messages": 9, "skipped": 2},
            "(2 lines of the transcript could not be read: the conversation lacks what stood there)",
        ),
        (
            FAILED,
            {"where": "session memory", **FULL},
            f"(the running summary was not brought up to date: {FULL['why']}; this is tried again)",
        ),
        (
            FAILED,
            {"where": "compaction", **BUSY},
            "(the model could not write a summary of the conversation: no connection)",
        ),
        (
            WAITING,
            {"job": "session memory", "why": "it may need 9 more"},
            "(the running summary waits: it may need 9 more)",
        ),
        (
            DEGRADED,
            {"job": "session memory", "lasting": True, **REFUSED},
            f"({REFUSED['why']}; the running summary is kept by rules from now on. check KEY)",
        ),
        (
            NO_SHARED_CACHE,
            {"job": "session memory", "model": "p:m", "host": "q:n", "free": False},
            f"(the running summary runs on p:m, not on q:n: it {ALONE} pays for the whole of it each time)",
        ),
    ],
)
def test_what_happens_to_a_long_conversation_is_one_plain_sentence_C4(
    name: str, fields: dict[str, Any], text: str
) -> None:
    assert told(name, **fields).text == text


def test_what_the_person_asked_for_or_lost_nothing_by_is_no_notice_C4() -> None:
    assert notice_of(Event(name=COMPACTED, fields={"trigger": "manual", **SHRUNK})) is None
    assert notice_of(Event(name=RESUMED, fields={"messages": 9, "skipped": 0})) is None
    assert notice_of(Event(name=NOTED, fields={"tokens": 9, "over": 0})) is None


def test_a_summary_that_was_brought_up_to_date_since_is_no_failure_C3(desk: Desk) -> None:
    desk.hears(FAILED, where="session memory", **FULL)
    desk.hears(EXTRACTED, files=1, refused=0)
    desk.hears(NOTED, tokens=9, over=0)
    assert desk.tells() == []
    desk.hears(FAILED, where="session memory", **FULL)
    assert len(desk.tells()) == 1


def test_each_fault_of_the_instructions_is_told_once_I3(desk: Desk) -> None:
    for why in ("one", "two", "one"):
        desk.hears(INSTRUCTIONS, why=why)
    assert desk.tells() == ["(one)", "(two)"]
