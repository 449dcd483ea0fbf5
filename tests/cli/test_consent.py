"""What instructions of a project bring in from outside of it is asked about before a conversation (I3)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memdir.testing import say
from tests.cli.support import Desk, typist
from tests.cli.test_compact import MODEL, environment
from tests.wire.server import WireServer

ASKED = r"Load it\? It would be sent to the model with each conversation here\.\n"


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as running:
        running.add(say("Yes."), say("Yes."))
        yield running


@pytest.fixture
def outside(desk: Desk) -> Path:
    """A file outside the project that it brings in."""
    path = desk.home / "style.md"
    path.write_text("Say please.\n", "utf-8")
    (desk.folder / "CLAUDE.md").write_text(f"See @{path}\n", "utf-8")
    return path


def decided(desk: Desk) -> dict[str, list[str]] | None:
    path = desk.home / ".memdir" / "consents.json"
    if not path.exists():
        return None
    found: dict[str, list[str]] = json.loads(path.read_text("utf-8"))[str(desk.folder)]
    return found


@pytest.mark.parametrize(
    ("answer", "allowed", "refused"),
    [("y", True, False), ("Yes", True, False), ("", False, True), ("no", False, True), ("l", False, False)],
)
def test_it_is_asked_and_a_yes_or_no_is_kept_I3(
    desk: Desk, server: WireServer, outside: Path, answer: str, allowed: bool, refused: bool
) -> None:
    with typist(desk, *MODEL, "hello", **environment(server)) as someone:
        told = someone.sees(rf"{ASKED}\[y\]es, \[N\]o, \[l\]ater: ")
        assert f"CLAUDE.md brings in {outside}, which is outside the project." in told
        someone.types(f"{answer}\n")
        someone.sees(r"Yes\.\n")
        someone.sees("\n> ")
        someone.types("\x04")
        assert someone.sees_the_end()[0] == 0
    assert ("Say please." in server.seen[-1].text) == allowed
    kept = decided(desk)
    if allowed or refused:
        assert kept == {"allowed": [str(outside)] * allowed, "refused": [str(outside)] * refused}
        with typist(desk, *MODEL, "hello", **environment(server)) as someone:
            assert "Load it?" not in someone.sees(r"Yes\.\n")
    else:
        assert kept is None


def test_what_is_kept_with_credentials_takes_a_whole_word_I3(desk: Desk, server: WireServer) -> None:
    secret = desk.home / ".ssh" / "style.md"
    secret.parent.mkdir()
    secret.write_text("Say please.\n", "utf-8")
    (desk.folder / "CLAUDE.md").write_text(f"See @{secret}\n", "utf-8")
    for answer, is_there in (("y", False), ("yes", True)):
        with typist(desk, *MODEL, "hello", **environment(server)) as someone:
            assert "where credentials are kept" in someone.sees(rf"{ASKED}yes, \[N\]o, \[l\]ater: ")
            someone.types(f"{answer}\n")
            someone.sees(r"Yes\.\n")
        assert ("Say please." in server.seen[-1].text) == is_there


def test_without_a_terminal_nobody_is_asked_and_that_is_told_I3(
    desk: Desk, server: WireServer, outside: Path
) -> None:
    ran = desk.process(*MODEL, "hello", **environment(server))
    assert (ran.code, ran.out) == (0, "Yes.\n")
    assert (
        ran.err.count(f"which is outside the project: it is left out. `memdir instructions allow {outside}`")
        == 1
    )
    assert decided(desk) is None


@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 0)])
def test_ctrl_c_at_the_question_ends_it_and_ctrl_d_is_later_I3(
    desk: Desk, server: WireServer, outside: Path, key: str, code: int
) -> None:
    with typist(desk, *MODEL, "hello", **environment(server)) as someone:
        someone.sees("ater: ")
        someone.types(key)
        if code == 0:
            someone.sees(r"Yes\.\n")
            someone.sees("\n> ")
            someone.types("\x04")
        ended, told = someone.sees_the_end()
    assert ended == code
    assert "Traceback" not in told
    assert len(server.seen) == (code == 0)
    assert decided(desk) is None
