"""A small sample of the long runs of `make stress`: kills, racing writers, random histories (F8, F9, H2)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cases import REPO
from tests.stress import kill, racers


def test_a_killed_writer_leaves_every_file_whole_and_an_index_that_mends_F8(tmp_path: Path) -> None:
    assert kill.run(tmp_path, rounds=20, seed=7) >= 20 * kill.STEPS[0]


def test_two_writers_at_once_lose_no_file_and_no_pointer_F9(tmp_path: Path) -> None:
    racers.run(tmp_path, processes=2, count=60)


def test_random_histories_are_undone_restored_and_erased_as_a_model_says_H2() -> None:
    command = [
        sys.executable,
        "-m",
        "tests.stress.histories",
        "--count",
        "6",
        "--seed",
        "20",
        "--deaths",
        "6",
    ]
    done = subprocess.run(command, cwd=REPO, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("6 histories")
