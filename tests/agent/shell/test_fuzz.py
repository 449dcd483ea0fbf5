"""A small sample of `make fuzz`: what the check allows has no effect when it is run (A6)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.agent.shell.fixture import build, copy
from tests.stress.shell_fuzz import run
from tests.stress.shell_grammar import PAYLOADS
from tests.stress.shell_judge import Judge, has_sandbox
from tests.stress.shell_mutants import mutants

OF_THE_PROJECT = {"cat .env"}
"""Its secret is hidden by the rights of a fork, not by what the text says."""


def test_mutated_commands_that_are_allowed_have_no_effect_A6() -> None:
    tally = run(seed=20, count=400)
    assert tally.offences == ()
    assert tally.run >= 60


def test_a_seed_gives_the_same_mutants_again() -> None:
    assert list(mutants(3, 50)) == list(mutants(3, 50)) != list(mutants(4, 50))


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    root = Path(os.path.realpath(tmp_path_factory.mktemp("judge")))
    template = build(root / "template")
    judge = Judge(template, copy(template, root / "g"))
    judge.settle()
    return judge


@pytest.mark.parametrize("payload", sorted(set(PAYLOADS) - OF_THE_PROJECT)[::4])
def test_the_judge_sees_the_trace_of_a_live_payload(payload: str, judge: Judge) -> None:
    if (
        payload.split(maxsplit=1)[0] in ("awk", "gawk", "jq", "rg")
        and shutil.which(payload.split(maxsplit=1)[0]) is None
    ):
        pytest.skip("the program is not here")
    if "/tmp" in payload and not has_sandbox():
        pytest.skip("without a sandbox the real /tmp would be meant")
    assert judge.raw(["ls", payload, "cat README.md"])


def test_the_judge_sees_nothing_where_there_is_nothing(judge: Judge) -> None:
    assert (
        judge.raw(["ls -la", "cat notes.txt", "git status", "git diff", "grep -rn foo src | sort -u"]) == []
    )
