"""Events: names and small fields, and nobody who listens can do harm (H4)."""

from __future__ import annotations

import json
import logging

import pytest

from memdir.agent.events import DENIED, LOADED, Event, Events, logging_sink


def test_each_subscriber_gets_each_event_until_it_leaves_H4() -> None:
    first: list[Event] = []
    second: list[Event] = []
    events = Events(first.append)
    leave = events.subscribe(second.append)
    events.emit(LOADED, lines=3)
    leave()
    leave()
    events.emit(DENIED, tool="Bash")
    assert [event.name for event in first] == ["loaded", "denied"]
    assert second == [Event(name="loaded", fields={"lines": 3})]


def test_a_listener_that_fails_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Event] = []

    def broken(event: Event) -> None:
        raise ValueError("no")

    Events(broken, told.append).emit(LOADED)
    assert len(told) == 1
    assert "listener failed" in caplog.text


def test_the_log_has_one_line_of_json_for_each_event_H4(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="memdir"):
        Events(logging_sink()).emit(DENIED, tool="Bash", reason="a\nb" + "x" * 500)
    (record,) = caplog.records
    line = json.loads(record.getMessage())
    assert line["event"] == "denied"
    assert len(line["reason"]) == 300
    assert "\n" not in record.getMessage()
