"""The engine, started once for all tests here; without `MEMDIR_TEST_ENGINE` none of them is collected."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

collect_ignore_glob = [] if os.environ.get("MEMDIR_TEST_ENGINE") else ["test_*.py"]

_SECONDS_TO_END = 20


@pytest.fixture(scope="session")
def engine() -> Iterator[str]:
    """The address of the running engine."""
    command = [sys.executable, "-m", "tests.engine.serve"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = (
            process.stdout.readline().strip()
        )  # comes when the model is loaded, or ends with the process
        assert address.startswith("http://"), "the engine did not start; run `python -m tests.engine.serve`"
        yield address
        process.stdin.close()
        process.wait(_SECONDS_TO_END)
