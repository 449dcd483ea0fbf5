"""A small, fixed sample of the race for the lock of a dream; `make stress` runs 200 rounds (D3, D4)."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.cases import REPO


def test_of_many_processes_one_gets_the_lock_and_a_dead_or_stopped_one_loses_it_D3() -> None:
    command = [sys.executable, "-m", "tests.stress.lock_racers"]
    options = ["--rounds", "10", "--processes", "32", "--seed", "1"]
    ended = subprocess.run([*command, *options], cwd=REPO, capture_output=True, text=True, check=True)
    assert re.search(r"the lock +10 rounds, 10 holders, 0 doubles, 0 without one", ended.stdout)
    assert "10 holders killed" in ended.stdout
    assert "1 holders stopped for an hour" in ended.stdout
    assert ended.stderr == ""
