"""The benchmark measures what it says (bench/recall.py)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases import REPO

MEMORIES = {
    "canary.md": "The canary takes ten percent of the traffic.",
    "lag.md": "The replica lags behind by four seconds.",
    "codes.md": "ZQ-4090 means that the sum is locked.",
}


def case(name: str, query: str, relevant: list[str], **more: Any) -> str:
    row: dict[str, Any] = {
        "id": name,
        "dir": "shop",
        "query": query,
        "recent_tools": [],
        "mention_agent": None,
    }
    row |= {"relevant": relevant, "acceptable": [], "kind": "direct", "lang": "en", "split": "tune"}
    return json.dumps(row | more)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    for file, body in MEMORIES.items():
        text = f"---\nname: {Path(file).stem}\ndescription: A note\ntype: project\n---\n{body}\n"
        (tmp_path / "shop" / file).write_text(text, encoding="utf-8")
    rows = [
        case("a", "how much traffic does the canary take?", ["canary.md"]),
        case("b", "ZQ-4090", ["codes.md"], kind="identifier"),
        case("c", "thanks!", [], kind="follow_up"),
        case("d", "explain monads", [], kind="follow_up"),
        case("e", "the replica lags", ["lag.md", "canary.md"], acceptable=["codes.md"]),
    ]
    (tmp_path / "queries.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def run(cases: Path, *options: str) -> str:
    command = [sys.executable, "-m", "bench.recall", "--cases", str(cases), *options]
    return subprocess.run(command, cwd=REPO, check=True, capture_output=True, text=True).stdout


def test_the_report_has_the_same_figures_for_each_selector(cases: Path) -> None:
    report = json.loads(run(cases, "--json", "--cross-validate"))
    assert set(report) == {"local", "semantic", "cross_validated", "baselines"}
    assert set(report["baselines"]) == {"nothing", "fts5 header", "fts5 full text", "word overlap"}
    figures = {"score", "f1", "empty_right", "by_kind", "by_lang"}
    rows = [report["local"], report["semantic"], *report["baselines"].values()]
    assert all(set(row) == figures for row in rows)
    assert report["baselines"]["nothing"]["score"] == 0.4
    assert report["local"]["by_kind"] == {"direct": 0.8333, "follow_up": 1.0, "identifier": 1.0}


def test_the_table_names_each_selector(cases: Path) -> None:
    table = run(cases)
    assert [line.split("  ")[0] for line in table.splitlines()[1:7]] == [
        "local",
        "semantic",
        "nothing",
        "fts5 header",
        "fts5 full text",
        "word overlap",
    ]
