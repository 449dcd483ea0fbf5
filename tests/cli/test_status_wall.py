"""`memdir status` says what stands between background commands and this machine (A6)."""

from __future__ import annotations

from memdir.agent.shell.wall import standing
from tests.cli.support import Desk


def test_status_names_the_wall_and_what_it_stops_A6(desk: Desk) -> None:
    told = desk("status", "--json").json
    assert (told["wall"], told["wallSays"]) == (standing().name, standing().says)
    shown = " ".join(desk("status").out.split())
    assert f"background commands only read; wall: {standing().says}" in shown


def test_status_says_it_with_memory_off_too_A6(desk: Desk) -> None:
    ran = desk.process("status", MEMDIR_DISABLE="1")
    assert "commands only read; wall: " in ran.out
