"""A small sample of the long run of `make stress` in which a long conversation is killed (A1, C4)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.cases import REPO


@pytest.mark.skipif(not hasattr(os, "fork"), reason="its processes are forked")
def test_a_killed_conversation_goes_on_as_it_was_A1_C4() -> None:
    command = [sys.executable, "-m", "tests.stress.resume_kill", "--rounds", "5", "--seed", "1"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r"\{.*\}", done.stdout)
    assert found
    outcome = json.loads(found[0])
    assert outcome["compactions"] > 1
    assert outcome["notes"] > 1
