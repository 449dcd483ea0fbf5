"""`memdir probe`, as the person sees it (D8)."""

from __future__ import annotations

import pytest

from memdir.cli import COMMANDS
from memdir.dream.probes import NAME
from tests.cli.support import Desk


@pytest.fixture(autouse=True)
def _command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "probe", "memdir.cli.probe:probe")


@pytest.fixture
def shop(desk: Desk) -> Desk:
    assert desk("remember", "We deploy the shop on Tuesdays").code == 0
    assert desk("remember", "Packages are installed with uv, our package manager").code == 0
    return desk


DEPLOY = "project_deploy_shop_tuesdays.md"


def test_without_a_file_it_says_how_to_write_one_D8(shop: Desk) -> None:
    ran = shop("probe")
    assert (ran.code, ran.out) == (0, "")
    assert str(shop.memory / NAME) in ran.err
    assert "- ask: which package manager do we use?" in ran.err
    assert shop("probe", "--json").json == {
        "version": 1,
        "path": str(shop.memory / NAME),
        "broken": 0,
        "absent": [],
        "probes": [],
    }


def test_each_probe_is_shown_with_what_was_brought_D8(shop: Desk) -> None:
    (shop.memory / NAME).write_text(f"- {{ask: when do we deploy the shop?, must: {DEPLOY}}}\n")
    ran = shop("probe")
    assert (ran.code, ran.out) == (0, f"ok  when do we deploy the shop?  brought {DEPLOY}\n")
    assert ran.err == "1 probe, and it is answered\n"


def test_a_broken_probe_ends_the_command_with_1_D8(shop: Desk) -> None:
    (shop.memory / NAME).write_text(
        f"- {{ask: when do we deploy the shop?, must: gone.md, must_not: {DEPLOY}}}\n"
        "- {ask: what is for lunch?, must: lunch.md}\n"
        f"- {{ask: when do we deploy the shop?, must: {DEPLOY}}}\n"
    )
    ran = shop("probe")
    assert ran.code == 1
    assert [row.split("  ")[0] for row in ran.out.splitlines()] == ["broken", "broken", "ok"]
    assert f"did not bring gone.md; must not bring {DEPLOY}; brought {DEPLOY}" in ran.out
    assert "did not bring lunch.md; brought nothing" in ran.out
    told = "2 of 3 probes are broken\nprobes name what is no memory here: gone.md, lunch.md\n"
    assert ran.err == told
    ran = shop("probe", "--json")
    assert (ran.code, ran.json["broken"], ran.json["absent"]) == (1, 2, ["gone.md", "lunch.md"])
    assert ran.json["probes"][0] == {
        "ask": "when do we deploy the shop?",
        "ok": False,
        "must": ["gone.md"],
        "must_not": [DEPLOY],
        "brought": [DEPLOY],
        "missing": ["gone.md"],
        "unwanted": [DEPLOY],
    }


def test_a_file_that_cannot_be_read_ends_the_command_with_2_D8(shop: Desk) -> None:
    (shop.memory / NAME).write_text("- ask: when?\n  must: deploy\n")
    ran = shop("probe")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith('error: probes.yaml, line 2: "deploy" in `must` names no memory')
    assert shop("probe", "--json").json["error"]["kind"] == "BadProbes"


def test_nothing_in_a_prompt_steers_the_terminal_D8(shop: Desk) -> None:
    (shop.memory / NAME).write_text('- {ask: "a\\e[31m b\\nc", must: a.md}\n')
    ran = shop("probe")
    assert "\x1b" not in ran.out
    assert len(ran.out.splitlines()) == 1


def test_with_memory_off_there_is_nothing_to_probe_S3(shop: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMDIR_DISABLE", "1")
    assert shop("probe").code == 1


def test_the_file_is_no_memory_and_no_finding_D8(shop: Desk) -> None:
    (shop.memory / NAME).write_text(f"- {{ask: when do we deploy the shop?, must: {DEPLOY}}}\n")
    assert NAME not in shop("list").out
    assert shop("doctor").code == 0
