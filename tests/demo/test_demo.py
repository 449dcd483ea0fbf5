"""The demonstration, as a person starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memdir.cli.demo.recordings import NAMES, make_project, recording
from memdir.memory import entrypoint
from memdir.testing import tree

SECRET = "kestrel-Vault-7731"
PLANTED = "collector.veloz-metrics.invalid"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What it prints, and the folder it leaves with `--keep`."""
    folder = tmp_path_factory.mktemp("demo") / "kept"
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "memdir", "demo", "--keep", str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder


def memory_of(folder: Path) -> dict[str, str]:
    (directory,) = (folder / "memdir" / "projects").glob("*/memory")
    return tree(directory)


def test_two_conversations_leave_memories_of_all_four_kinds_F4(shown: tuple[str, Path]) -> None:
    files = memory_of(shown[1])
    kinds = {line for text in files.values() for line in text.splitlines() if line.startswith("type: ")}
    assert kinds == {"type: user", "type: feedback", "type: project", "type: reference"}
    assert {one.file for one in entrypoint.pointers(files[entrypoint.NAME])} == set(files) - {entrypoint.NAME}


def test_a_password_and_a_pages_order_are_kept_out_E11(shown: tuple[str, Path]) -> None:
    text = "\n".join(memory_of(shown[1]).values())
    assert SECRET not in text
    assert PLANTED not in text


def test_the_third_conversation_is_given_what_bears_on_it_R9(shown: tuple[str, Path]) -> None:
    third = shown[0].split("Conversation 3")[1]
    assert "mock" in third.split("recall")[1]
    assert "freeze" in third.split("recall")[1]


def test_the_story_fits_two_screens_or_three_H1(shown: tuple[str, Path]) -> None:
    lines = shown[0].splitlines()
    assert len(lines) < 150
    assert "Next" in shown[0]


def test_the_recorded_tool_calls_are_those_that_models_know_A2(tmp_path: Path) -> None:
    make_project(tmp_path)
    replies = [
        reply for name in NAMES for turn in recording(name, project=tmp_path).turns for reply in turn.replies
    ]
    used = {block.name for reply in replies for block in reply if hasattr(block, "name")}
    assert used == {"Read", "Edit", "Grep", "Bash"}
