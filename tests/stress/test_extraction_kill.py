"""A small sample of the long run of `make stress` in which extractions are killed (E7, E9)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.cases import REPO


@pytest.mark.skipif(not hasattr(os, "fork"), reason="its processes are forked")
def test_of_killed_extractions_nothing_is_lost_and_nothing_learned_twice_E7() -> None:
    command = [sys.executable, "-m", "tests.stress.extraction_kill", "--rounds", "2", "--seed", "3"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r"\{.*\}", done.stdout)
    assert found
    assert all(facts > 0 for facts in json.loads(found[0]).values())
