"""The cases: what must be refused is, what an agent reads with is allowed, and runs as in any shell (A6)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agent.shell.fixture import (
    Ground,
    as_fork,
    as_plain_bash,
    build,
    changes,
    decide,
    leaks,
    snapshot,
)
from tests.cases import case_rows

ROWS = case_rows("bash_readonly.jsonl")
DENIED = [row for row in ROWS if row["expect"] == "deny"]
HOSTILE = [row for row in ROWS if row["expect"] == "neutralise"]
ALLOWED = [row for row in ROWS if row["expect"] == "allow"]
CORE = [row for row in ALLOWED if row["tier"] == "core"]
STRETCH = [row for row in ALLOWED if row["tier"] == "stretch"]

OF_THE_MACHINE = re.compile(r"\b(df|id|whoami|nproc|uname|which|type|date|ps|shuf|python3|ls -la)\b")
"""What these say depends on the moment, or on how much of the machine a process sees."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return build(Path(os.path.realpath(tmp_path_factory.mktemp("ground"))) / "g")


@pytest.fixture
def ground(shared: Ground, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """The ground of the module: nothing changes it, or the test fails. `~` is its home."""
    monkeypatch.setenv("HOME", str(shared.home))
    return shared


def ids(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def test_the_cases_are_there() -> None:
    assert min(len(DENIED), len(CORE), len(STRETCH), len(HOSTILE)) >= 8


@pytest.mark.parametrize("row", DENIED, ids=ids(DENIED))
def test_what_may_have_an_effect_is_refused_A6(row: dict[str, Any], ground: Ground) -> None:
    verdict, refused = decide(row["command"], ground)
    assert refused, f"{row['why']}: would run {verdict.script!r}"


@pytest.mark.parametrize("row", CORE, ids=ids(CORE))
def test_an_ordinary_read_is_allowed_and_says_what_a_shell_says_A6(
    row: dict[str, Any], ground: Ground
) -> None:
    _, refused = decide(row["command"], ground)
    assert not refused
    if missing(row):
        pytest.skip(f"needs {row['needs']}")
    agrees(row["command"], ground)


def test_most_harmless_lines_beyond_that_are_allowed_too_A6(ground: Ground) -> None:
    allowed = [row for row in STRETCH if not decide(row["command"], ground)[1]]
    assert len(allowed) >= len(STRETCH) / 2
    for row in allowed:
        if not missing(row):
            agrees(row["command"], ground)


@pytest.mark.parametrize("row", HOSTILE, ids=ids(HOSTILE))
def test_a_hostile_repository_runs_nothing_A6(
    row: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground = build(Path(os.path.realpath(tmp_path)) / "g")
    monkeypatch.setenv("HOME", str(ground.home))
    for line in row["setup"]:
        subprocess.run(["bash", "-c", line], cwd=ground.project, env=ground.environment(), check=True)
    before = snapshot(ground.root)
    as_fork(row["command"], ground)
    assert changes(before, snapshot(ground.root)) == []
    assert not list(ground.root.rglob("pwned"))


def missing(row: dict[str, Any]) -> bool:
    """Whether a program that the line needs is not on this machine."""
    words = {*row.get("needs", ()), *{"awk", "jq", "rg"} & set(row["command"].split())}
    return any(shutil.which(name) is None for name in words)


def agrees(command: str, ground: Ground) -> None:
    """Run as a fork runs it: nothing changes, nothing leaks, and a shell says the same."""
    before = snapshot(ground.root)
    answer = as_fork(command, ground)
    assert changes(before, snapshot(ground.root)) == []
    assert leaks(answer.text) == []
    plain = as_plain_bash(command, ground)
    if OF_THE_MACHINE.search(command):
        assert answer.failed == plain.failed, answer.text
    elif "rg" in command.split():  # it searches files at once, and tells what it found as it comes
        assert sorted(answer.text.splitlines()) == sorted(plain.text.splitlines())
    else:
        assert answer == plain
