"""`memdir recall` with an embedder that fails, and where there is little to look for."""

from __future__ import annotations

import os
import socket

import pytest

from memdir import app
from tests.cli.support import Desk


@pytest.fixture
def shop(desk: Desk) -> Desk:
    assert desk("remember", "We deploy the shop on Tuesdays").code == 0
    return desk


def test_an_embedder_that_fails_costs_no_memory_and_is_told_R10(
    shop: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMDIR_RECALL_EMBEDDER", "http://127.0.0.1:9/v1:x")
    ran = shop("recall", "when do we deploy?")
    assert (ran.code, ran.out) == (0, "project_deploy_shop_tuesdays.md\n")
    assert ran.err.startswith("warning: memories were found by their words alone: ")
    assert shop("recall", "--json", "when do we deploy?").json["without_meaning"] in ran.err


def test_an_embedder_that_never_answers_is_not_waited_for_for_ever_R10(
    shop: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "BY_HAND", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("MEMDIR_RECALL_EMBEDDER", f"http://127.0.0.1:{silent.getsockname()[1]}/v1:x")
        ran = shop("recall", "when do we deploy?")
    assert (ran.code, ran.out) == (0, "project_deploy_shop_tuesdays.md\n")
    assert "words alone: the embedder was too slow" in ran.err


def test_with_nothing_to_compare_no_embedder_is_asked_R10(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMDIR_RECALL_EMBEDDER", "http://127.0.0.1:9/v1:x")
    assert desk("recall", "when do we deploy?").err == "no memory bears on that\n"


def test_without_a_prompt_there_is_nothing_to_look_for_H1(desk: Desk) -> None:
    ran = desk("recall", "  ")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: nothing to look for")


def test_what_no_command_opens_is_not_recalled_R9(shop: Desk) -> None:
    name = os.fsdecode(b"deploy\xff.md")
    (shop.memory / name).write_text("We deploy the shop on Tuesdays", "utf-8")
    explained = shop("recall", "--explain", "--json", "when do we deploy?").json
    assert explained["files"] == ["project_deploy_shop_tuesdays.md"]
    whys = {one["path"]: one["why"] for one in explained["considered"]}
    assert whys[name] == "its name is out of reach: rename it"
