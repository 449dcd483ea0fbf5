"""Events: names and small fields, and nobody who listens can do harm (H4)."""

from __future__ import annotations

import pytest

from memdir.agent.events import DENIED, LOADED, Event, Events


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


def test_long_text_is_cut_H4() -> None:
    told: list[Event] = []
    Events(told.append).emit(DENIED, reason="x" * 500)
    assert told[0].fields == {"reason": "x" * 300}
