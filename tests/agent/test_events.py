"""Events: names and small fields, and nobody who listens can do harm (H4)."""

from __future__ import annotations

import pytest

from memdir.agent.events import DENIED, LOADED, Degradation, Event, Events
from memdir.errors import KeyRefused, ModelOverloaded


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


def test_that_a_job_goes_on_without_its_model_is_told_once_and_once_more_if_it_lasts_H4() -> None:
    told: list[Event] = []
    degradation = Degradation("extract", Events(told.append))
    for error in (
        ModelOverloaded("busy"),
        ModelOverloaded("busy"),
        KeyRefused("no", hint="look"),
        KeyRefused("no"),
    ):
        degradation.tell("p:m", error, lasts=error.lasts)
    degradation.tell("p:m", ModelOverloaded("busy"), lasts=False)
    assert [event.fields["lasting"] for event in told] == [False, True]
    assert told[1].fields == {
        "job": "extract",
        "model": "p:m",
        "error": "KeyRefused",
        "why": "no",
        "cure": "look",
        "lasting": True,
    }
