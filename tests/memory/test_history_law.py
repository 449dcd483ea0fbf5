"""Whatever is done to the files, by whom and when: the history knows what a plain list knows (H2)."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memdir import fs
from memdir.memory.history import BEGINNING, By, Change, History
from tests.memory.histories import Place

NAMES = ["a.md", "b.md", "deep/c.md", 'd"\n.md', "MEMORY.md"]
WORKERS = ["extract", "main", "undo"]
MTIMES = [0, 1, 1_700_000_000_000_000_000, 1_700_000_000_123_456_789]


@dataclass(frozen=True)
class Edit:
    """Write a file, or delete it (`data` None)."""

    file: str
    data: bytes | None
    mtime_ns: int


@dataclass(frozen=True)
class Turn:
    """Some edits, recorded as a worker's, or noticed at a look; in a change of its own or an earlier one's.

    `fresh`: by a process that has just started. `tidies`: it is tidied up afterwards.
    """

    edits: tuple[Edit, ...]
    how: Literal["recording", "look", "external"]
    worker: str
    again: int
    fresh: bool
    tidies: bool
    jump: int


edits = st.builds(
    Edit,
    file=st.sampled_from(NAMES),
    data=st.none() | st.sampled_from([b"", b"1\n", b"2\r\n", b"\0\xff", b"3" * 70_000]),
    mtime_ns=st.sampled_from(MTIMES),
)
turns = st.builds(
    Turn,
    edits=st.lists(edits, max_size=3).map(tuple),
    how=st.sampled_from(["recording", "look", "external"]),
    worker=st.sampled_from(WORKERS),
    again=st.integers(0, 3),
    fresh=st.booleans(),
    tidies=st.integers(0, 9).map(lambda n: n == 0),
    jump=st.sampled_from([0, 0, 0, 3600, -3600]),
)

Files = dict[str, bytes]


def apply(place: Place, edit: Edit) -> None:
    if edit.data is not None:
        place.put(edit.file, edit.data, mtime_ns=edit.mtime_ns)
    elif (place.directory / edit.file).exists():
        place.remove(edit.file)


@dataclass
class Seen:
    """What a plain list holds of a step: whose, when, and the files before and after."""

    by: By | None
    at: datetime
    before: Files
    after: Files
    times: dict[str, int]


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(turns, max_size=8))
def test_the_history_knows_what_a_plain_list_knows_H2(happening: list[Turn]) -> None:
    with tempfile.TemporaryDirectory() as base:
        place = Place(Path(base))
        history = place.history()
        history.look()
        steps: list[Seen] = []
        files: Files = {}

        def noticed(by: By | None) -> None:
            nonlocal files
            now = place.on_disk()
            if now != files:
                times = {name: (place.directory / name).stat().st_mtime_ns for name in now}
                steps.append(Seen(by, place.clock.moment, files, now, times))
                files = now

        for turn in happening:
            if turn.fresh:
                history = place.history()
            place.clock.moment = place.clock.moment.fromtimestamp(
                place.clock.moment.timestamp() + turn.jump, place.clock.moment.tzinfo
            )
            earlier = [step.by for step in steps if step.by]
            by = earlier[-turn.again] if 0 < turn.again <= len(earlier) else By(worker=turn.worker)
            with fs.locked(place.directory):
                if turn.how == "recording":
                    with history.recording(by):
                        for edit in turn.edits:
                            apply(place, edit)
                    noticed(by)
                else:
                    for edit in turn.edits:
                        apply(place, edit)
                    whose = by if turn.how == "look" else None
                    history.look(whose)
                    noticed(whose)
                if turn.tidies:
                    history.tidy()
            assert history.failure is None

        for one in (history, place.history()):
            check(place, one.log(), steps)
            for file in NAMES:
                check_versions(place, file, steps)


def data_of(history: History, blob: str | None) -> bytes | None:
    return None if blob is None else history.bytes(blob)


def check(place: Place, log: list[Change], steps: list[Seen]) -> None:
    """The log has each change once, with its net effect, where its last step was."""
    history = place.history()
    changes: dict[str, list[Seen]] = {}
    for number, step in enumerate(steps):
        changes.setdefault(step.by.change if step.by else f"external {number}", []).append(step)
    expected = []
    for own in changes.values():
        net: dict[str, tuple[bytes | None, bytes | None]] = {}
        for step in own:
            for file in step.before.keys() | step.after.keys():
                before, after = step.before.get(file), step.after.get(file)
                if before != after:
                    net[file] = (net[file][0] if file in net else before, after)
        net = {file: pair for file, pair in net.items() if pair[0] != pair[1]}
        if net:
            last = own[-1]
            worker = last.by.worker if last.by else "external"
            expected.append((steps.index(last), worker, last.at, net))
    expected.sort(key=lambda one: one[0], reverse=True)
    found = []
    for change in log:
        did = {
            file.file: (data_of(history, file.before), data_of(history, file.after)) for file in change.files
        }
        found.append((change.worker, change.at, did))
    assert found == [one[1:] for one in expected]
    assert all(change.reason != BEGINNING for change in log)


def check_versions(place: Place, file: str, steps: list[Seen]) -> None:
    """Each file is what it was after each change, and as of each moment."""
    history = place.history()
    for number, step in enumerate(steps):
        moment = max(n for n, one in enumerate(steps) if one.at <= step.at)
        assert version(steps[moment], file) == ignoring_time(history.at(file, step.at)), number
        if step.by and step.by.change not in {one.by.change for one in steps[number + 1 :] if one.by}:
            assert version(step, file) == ignoring_time(history.at(file, step.by.change))
    found = history.at(file, place.clock.moment.replace(year=9000))
    assert (found and found[0]) == place.on_disk().get(file)
    if found and steps and steps[-1].before.get(file) != steps[-1].after.get(file):
        assert found[1] == steps[-1].times[file]


def version(step: Seen, file: str) -> bytes | None:
    return step.after.get(file)


def ignoring_time(found: tuple[bytes, int | None] | None) -> bytes | None:
    return None if found is None else found[0]


def test_the_names_of_this_test_can_all_be_written() -> None:
    assert all(len(os.fsencode(name)) < 200 for name in NAMES)
