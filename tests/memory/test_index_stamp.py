"""What shows that a file has changed (memory/index/stamp.py, M6)."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from memdir.memory.index import Index, Term
from memdir.memory.index.stamp import UNSETTLED, is_settled, stamp_of

SECOND = 10**9
THEN = 1_790_000_000 * SECOND + 123_456_789


class Status:
    """What the stamp looks at of a file's state, in nanoseconds, bytes and numbers."""

    def __init__(self, *, mtime: int = THEN, ctime: int = THEN, size: int = 10, inode: int = 7) -> None:
        self.st_mtime_ns = mtime
        self.st_ctime_ns = ctime
        self.st_size = size
        self.st_ino = inode


@pytest.mark.parametrize(
    "changed",
    [Status(mtime=THEN + 1), Status(ctime=THEN + 1), Status(size=11), Status(inode=8), Status(mtime=-1)],
)
def test_each_part_of_a_state_shows_in_the_stamp(changed: os.stat_result) -> None:
    stamps = {stamp_of(status) for status in (Status(), changed)}  # type: ignore[arg-type]
    assert len(stamps) == 2
    assert UNSETTLED not in stamps
    assert all(-(2**63) <= stamp < 2**63 for stamp in stamps)


def test_times_that_trade_places_show_too() -> None:
    one, other = Status(mtime=THEN, ctime=THEN + 5), Status(mtime=THEN + 5, ctime=THEN)
    assert stamp_of(one) != stamp_of(other)  # type: ignore[arg-type]


WHOLE = THEN // SECOND * SECOND


@pytest.mark.parametrize(
    ("status", "now", "settled"),
    [
        (Status(), THEN, False),
        (Status(), THEN + SECOND // 1000, False),
        (Status(), THEN + SECOND, True),
        (Status(mtime=0), THEN, False),
        (Status(mtime=0), THEN + SECOND, True),
        (Status(ctime=WHOLE, mtime=0), WHOLE + SECOND, False),
        (Status(ctime=WHOLE, mtime=0), WHOLE + 3 * SECOND, True),
        (Status(mtime=THEN + 10**12), THEN + SECOND, True),
        (Status(), THEN - SECOND // 1000, False),
        (Status(), THEN - 3600 * SECOND, True),
    ],
    ids=[
        "this very moment", "a millisecond ago", "a second ago", "set back just now", "set back a second ago",
        "whole seconds, one ago", "whole seconds, three ago", "set to the future", "a clock a bit behind",
        "a clock that was set back an hour",
    ],
)  # fmt: skip
def test_a_file_is_settled_once_its_clock_must_have_moved_on_M6(
    status: os.stat_result, now: int, settled: bool
) -> None:
    assert is_settled(status, now) is settled


def test_edits_in_place_one_right_after_the_other_are_all_seen_M6(tmp_path: Path) -> None:
    """As many bytes, the same time of modification, and many of them within one tick of the clock."""
    path = tmp_path / "note.md"
    with closing(Index(str(tmp_path), cache=None, clock=time.time_ns)) as one:
        for at in range(300):
            with path.open("r+b" if at else "wb") as file:
                file.write(b"turn%03d" % at)
            os.utime(path, ns=(THEN, THEN))
            one.refresh()
            assert [hit.file for hit in one.rank([Term(f"turn{at:03}")])] == ["note.md"]
    assert path.stat().st_size == 7


def test_a_stamp_is_not_believed_if_the_clock_says_it_is_too_young_M6(tmp_path: Path) -> None:
    """Here the clock stands still for good: nothing ever settles, and nothing is ever missed."""
    path = tmp_path / "note.md"
    path.write_text("frost")
    moment = path.stat().st_ctime_ns
    with closing(Index(str(tmp_path), cache=None, clock=lambda: moment)) as one:
        assert [one.refresh() for _ in range(3)] == [1, 1, 1]
    with closing(Index(str(tmp_path), cache=None, clock=lambda: moment + 10 * SECOND)) as one:
        assert [one.refresh() for _ in range(3)] == [1, 0, 0]
