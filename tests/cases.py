"""Case files: JSON lines of verdicts, from the shared folder beside the checkout or from tests/data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parent.parent
SHARED = REPO.parent / "shared" / "cases"
DATA = REPO / "tests" / "data"


def case_file(name: str) -> Path:
    """The case file of that name; the shared one when it is there."""
    shared = SHARED / name
    return shared if shared.exists() else DATA / name


def case_rows(name: str) -> list[dict[str, Any]]:
    """All cases of a JSON-lines file."""
    lines = case_file(name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]
