"""What importing memdir loads: nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("anthropic", "openai", "pydantic", "httpx", "httpx2")
FOR_THE_TERMINAL = ("click", "rich")


def loaded(module: str) -> set[str]:
    """The top-level packages that importing a module loads, as `-X importtime` tells them."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"import {module}"],
        capture_output=True,
        text=True,
        check=True,
    )
    names = (line.rpartition("|")[2].strip() for line in done.stderr.splitlines())
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize(
    "module", ["memdir", "memdir.model.anthropic", "memdir.model.choose", "memdir.testing", "memdir.cli"]
)
def test_importing_loads_no_providers_library(module: str) -> None:
    heavy = HEAVY if module == "memdir.cli" else HEAVY + FOR_THE_TERMINAL
    assert loaded(module) & set(heavy) == set()
