"""What the person is told of an event at the next pause (cli/notices.py)."""

from __future__ import annotations

from typing import Any

import pytest

from memdir.agent.events import DEGRADED, EXTRACTED, FAILED, NO_SHARED_CACHE, Event
from memdir.cli.notices import Notice, notice_of

REFUSED = {
    "model": "p:m",
    "error": "KeyRefused",
    "why": "the key for p:m was refused (401)",
    "cure": "check KEY",
}
ALONE = "can't read this conversation's cache, and pays for the whole of it each time"
BUSY = {"model": "p:m", "error": "ModelOverloaded", "why": "no connection", "cure": "try again later"}


def told(name: str, **fields: Any) -> Notice:
    notice = notice_of(Event(name=name, fields=fields))
    assert notice is not None
    return notice


@pytest.mark.parametrize(
    ("name", "fields", "text"),
    [
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
            {"job": "extract", "model": "p:m", "host": "q:n"},
            f"(extraction runs on p:m, not on q:n: it {ALONE})",
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
