"""What may run: a fork in its one directory, the main agent where the person agrees (A5, A8, A9)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memdir.agent.permissions import (
    Allow,
    Ask,
    Deny,
    Mode,
    Question,
    decide_fork,
    decide_main,
    for_main,
)
from memdir.model.messages import ToolUse
from tests.agent.world import World


def called(tool: str, **given: Any) -> ToolUse:
    return ToolUse(id="1", name=tool, input=given)


@pytest.fixture
def fork_may(world: World) -> Callable[..., bool]:
    """Whether a fork may make the call; `{M}` `{P}` stand for the memory directory and the working folder."""
    (world.memory.directory / "out").symlink_to(world.root)
    (world.memory.directory / "gone.md").symlink_to(world.root / "created.md")
    (world.root / "keys").symlink_to(Path.home() / ".ssh")

    def may(tool: str, **given: str) -> bool:
        paths = {"M": str(world.memory.directory), "P": str(world.root), "H": str(Path.home())}
        shown = {key: value.format_map(paths) for key, value in given.items()}
        verdict = decide_fork(called(tool, **shown), memory=world.memory.directory, cwd=world.root)
        assert isinstance(verdict, Allow) or verdict.reason
        return isinstance(verdict, Allow)

    return may


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("{M}/new.md", True),
        ("{M}/MEMORY.md", True),
        ("{M}/sub/new.md", True),
        ("{M}/../memory/new.md", True),
        ("{P}/../memory/new.md", True),
        ("{M}/../new.md", False),
        ("{M}-other/new.md", False),
        ("{M}", False),
        ("{M}/new.txt", False),
        ("{M}/.md", False),
        ("{M}/.hidden.md", False),
        ("{M}/dream.json", False),
        ("{M}/out/new.md", False),
        ("{M}/out/../new.md", False),
        ("{M}/gone.md", False),
        ("{P}/a.md", False),
        ("a.md", False),
        ("~/.ssh/a.md", False),
        ("/etc/a.md", False),
        ("{M}/a\0.md", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("tool", ["Write", "Edit"])
def test_a_fork_writes_only_markdown_inside_its_directory_A5_A8(
    fork_may: Callable[..., bool], tool: str, path: str, allowed: bool
) -> None:
    assert fork_may(tool, file_path=path) is allowed


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("{M}/a.md", True),
        ("{P}/src/a.py", True),
        ("/usr/include/stdio.h", True),
        ("{H}/.ssh/id_ed25519", False),
        ("{H}/.aws/credentials", False),
        ("~/.gnupg/x", False),
        ("{P}/.env", False),
        ("{P}/.ENV.local", False),
        ("{P}/keys/config", False),
        ("{P}/keys/../.netrc", False),
        ("{P}/x/server.pem", False),
        ("/proc/self/environ", False),
    ],
)
def test_a_fork_reads_but_not_where_credentials_are_kept_A5(
    fork_may: Callable[..., bool], path: str, allowed: bool
) -> None:
    assert fork_may("Read", file_path=path) is allowed
    assert fork_may("Grep", path=path, pattern="x") is allowed
    assert fork_may("Glob", path=path, pattern="*") is allowed


def test_a_fork_has_no_bash_and_nothing_else_and_is_told_what_it_has_A5(
    fork_may: Callable[..., bool],
) -> None:
    assert not fork_may("Bash", command="ls")
    assert not fork_may("WebFetch", url="x")
    assert fork_may("Grep", pattern="x")
    verdict = decide_fork(called("Bash", command="ls"), memory=Path("/m"), cwd=Path("/p"))
    assert isinstance(verdict, Deny)
    assert "Read, Glob and Grep" in verdict.reason


@pytest.mark.parametrize(
    ("tool", "path", "verdict", "accepting"),
    [
        ("Read", "{M}/a.md", Allow, Allow),
        ("Write", "{M}/a.md", Allow, Allow),
        ("Edit", "{M}/a.md", Allow, Allow),
        ("Write", "{M}/out/a.md", Ask, Allow),
        ("Read", "{P}/a.py", Allow, Allow),
        ("Read", "a.py", Allow, Allow),
        ("Read", "{P}/.env", Ask, Ask),
        ("Read", "/etc/hosts", Ask, Ask),
        ("Read", "{P}/../other", Ask, Ask),
        ("Write", "{P}/a.py", Ask, Allow),
        ("Edit", "{P}/a.py", Ask, Allow),
        ("Write", "{P}/.env", Ask, Ask),
        ("Write", "{P}/.git/hooks/pre-commit", Ask, Ask),
        ("Edit", "{P}/.memdir/settings.local.json", Ask, Ask),
        ("Read", "{P}/.git/config", Allow, Allow),
        ("Write", "/etc/hosts", Ask, Ask),
        ("Write", "a\0", Deny, Deny),
    ],
)
def test_the_main_agent_is_free_in_memory_and_asks_elsewhere_A9(
    world: World, tool: str, path: str, verdict: type, accepting: type
) -> None:
    (world.memory.directory / "out").symlink_to(world.root)
    memory, cwd = world.memory.directory, world.root
    call = called(tool, file_path=path.format(M=memory, P=cwd))
    assert type(decide_main(call, memory=memory, cwd=cwd)) is verdict
    assert type(decide_main(call, memory=memory, cwd=cwd, mode="accept-edits")) is accepting


def test_bash_gains_nothing_by_memory_A9(world: World) -> None:
    call = called("Bash", command=f"cat {world.memory.directory}/a.md")
    modes: tuple[Mode, ...] = ("ask", "accept-edits")
    for mode in modes:
        verdict = decide_main(call, memory=world.memory.directory, cwd=world.root, mode=mode)
        assert isinstance(verdict, Ask)
        assert "cat" in verdict.what


def test_without_memory_nothing_of_it_is_free(world: World) -> None:
    call = called("Write", file_path=str(world.memory.directory / "a.md"))
    assert isinstance(decide_main(call, memory=None, cwd=world.root), Ask)


@pytest.mark.anyio
async def test_the_person_is_asked_and_their_no_is_a_reason_A9(world: World) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> bool:
        asked.append(question)
        return bool(question.call.input["command"] == "ls")

    permit = for_main(memory=None, cwd=world.root, ask=ask)
    assert isinstance(await permit(called("Bash", command="ls")), Allow)
    verdict = await permit(called("Bash", command="rm -r ."))
    assert isinstance(verdict, Deny)
    assert "person did not allow" in verdict.reason
    assert [question.what for question in asked] == ["run: ls", "run: rm -r ."]
    nobody = await for_main(memory=None, cwd=world.root)(called("Bash", command="ls"))
    assert isinstance(nobody, Deny)
    assert "nobody is there" in nobody.reason
