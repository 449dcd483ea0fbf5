"""A small sample of the long runs of `make stress`: kills at random moments, and racing writers (F8, F9)."""

from __future__ import annotations

from pathlib import Path

from tests.stress import kill, racers


def test_a_killed_writer_leaves_every_file_whole_and_an_index_that_mends_F8(tmp_path: Path) -> None:
    assert kill.run(tmp_path, rounds=20, seed=7) >= 20 * kill.STEPS[0]


def test_two_writers_at_once_lose_no_file_and_no_pointer_F9(tmp_path: Path) -> None:
    racers.run(tmp_path, processes=2, count=60)
