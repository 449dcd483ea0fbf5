"""docs/rules.md and the tests hold each other: no rule without a test, no number without a rule."""

from __future__ import annotations

import re

from tests.cases import REPO

TESTS = "\n".join(path.read_text(encoding="utf-8") for path in sorted((REPO / "tests").rglob("test_*.py")))
RULES = (REPO / "docs" / "rules.md").read_text(encoding="utf-8")
ENDINGS = re.findall(r"def test_\w+?((?:_[A-Z]\d+)+)\(", TESTS)
NAMED = {rule for ending in ENDINGS for rule in ending.strip("_").split("_")}
PROMISED = set(re.findall(r"^\| ([A-Z]\d+)\*? \|", RULES, re.MULTILINE))


def test_every_rule_has_a_test() -> None:
    assert sorted(PROMISED - NAMED) == []


def test_every_rule_that_a_test_names_is_promised() -> None:
    assert sorted(NAMED - PROMISED) == []
