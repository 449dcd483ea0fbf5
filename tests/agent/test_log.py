"""The log: one line an event, the owner's alone, bounded, and never in anybody's way (H4)."""

from __future__ import annotations

import json
from pathlib import Path

from memdir.agent.events import DEGRADED, DENIED, FAILED, LOADED, Event, Events
from memdir.agent.log import log_to
from tests.agent.world import NOW


def test_the_log_has_one_line_of_json_for_each_event_H4(tmp_path: Path) -> None:
    path = tmp_path / "log" / "memdir.jsonl"
    events = Events(log_to(path, now=lambda: NOW))
    assert not path.parent.exists()
    events.emit(LOADED, lines=3, truncated=False)
    events.emit(DENIED, tool="Bash", reason="a\nb \u2028 \ud800 你")
    first, second = map(json.loads, path.read_bytes().splitlines())
    assert first == {"at": "2026-05-07T12:00:00+00:00", "event": "loaded", "lines": 3, "truncated": False}
    assert second["reason"] == "a\nb \u2028 \ud800 你"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_full_log_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "memdir.jsonl"
    write = Events(log_to(path, now=lambda: NOW, full=1000))
    for lines in range(100):
        write.emit(LOADED, lines=lines)
    before = tmp_path / "memdir.1.jsonl"
    assert sorted(tmp_path.iterdir()) == [before, path]
    kept = [json.loads(line)["lines"] for line in (before.read_bytes() + path.read_bytes()).splitlines()]
    assert kept == list(range(kept[0], 100))
    assert before.stat().st_size + path.stat().st_size < 2500


def test_a_log_that_can_not_be_written_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.jsonl").mkdir()
    for path in (tmp_path / "file" / "memdir.jsonl", tmp_path / "folder.jsonl"):
        log_to(path, now=lambda: NOW)(Event(name=LOADED, fields={}))


def test_what_a_service_said_of_a_failure_is_told_and_not_written_H4(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write = log_to(path, now=lambda: NOW)
    said = {"why": "m did not take the request: 'my password'", "cure": "ask my password"}
    write(Event(name=DEGRADED, fields={"job": "extract", "error": "ModelError", "lasting": True, **said}))
    write(Event(name=FAILED, fields={"where": "extract", "error": "ModelError", "why": said["why"]}))
    assert "password" not in path.read_text()
    assert '"error": "ModelError"' in path.read_text()
