"""What is generated from the commands and settings is as it was published."""

from __future__ import annotations

import subprocess
import sys

from scripts.reference import page

from memdir.cli import COMMANDS
from tests.cases import REPO


def test_the_command_reference_is_current_H1() -> None:
    assert (REPO / "docs" / "commands.md").read_text("utf-8") == page(), "run `make docs`"


def test_every_command_is_in_the_readme_H1() -> None:
    readme = (REPO / "README.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"memdir {name}" not in readme and f"`{name}" not in readme] == [
        "demo"
    ]


def test_the_settings_schema_that_is_printed_is_the_published_one_S1() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "memdir.settings"], capture_output=True, check=True, timeout=40
    )
    assert printed.stdout == (REPO / "src" / "memdir" / "settings.schema.json").read_bytes()
