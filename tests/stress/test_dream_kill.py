"""A small, fixed sample of the long run of `make stress` in which dreams are killed (D4, D8)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.cases import REPO


@pytest.mark.skipif(not hasattr(os, "fork"), reason="its processes are forked")
@pytest.mark.skipif(shutil.which("git") is None, reason="a dream is carried out where it can be undone")
def test_a_dream_that_is_killed_leaves_all_as_before_or_as_after_D8() -> None:
    command = [sys.executable, "-m", "tests.stress.dream_kill", "--large", "0", "--jobs", "1"]
    command += ["--only", "3", "8", "10", "15"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ kills \(seed 1\) in \d+ s: 0 faults$", done.stdout, re.MULTILINE)
