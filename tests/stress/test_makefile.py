"""What the Makefile runs can be run, also in a checkout that nothing else lies beside."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from tests.cases import DATA, REPO

RECIPES = re.findall(
    r"^\t\$\(PY\) (-m tests\.stress\..+)$", (REPO / "Makefile").read_text("utf-8"), re.MULTILINE
)


def test_the_long_runs_take_the_options_that_make_gives_them() -> None:
    assert len(RECIPES) == 10
    for recipe in RECIPES:
        short = re.sub(r"\b\d+\b", "1", recipe).split()
        subprocess.run([sys.executable, *short], cwd=REPO, check=True, capture_output=True, timeout=60)


def test_the_cases_of_the_benchmarks_are_part_of_the_project() -> None:
    assert (DATA / "extraction.jsonl").is_file()
    assert (DATA / "extraction_check.py").is_file()
    rows = list(map(json.loads, (DATA / "recall" / "queries.jsonl").read_text("utf-8").splitlines()))
    wanted = {DATA / "recall" / row["dir"] / file for row in rows for file in (*row["relevant"], "MEMORY.md")}
    assert rows
    assert [path for path in sorted(wanted) if not path.is_file()] == []
