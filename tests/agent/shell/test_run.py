"""A line that passed, as it is run: limits, masks, folders, and what happens if there is no wall (A6)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import anyio
import pytest

from memdir.agent.process import Ended
from memdir.agent.shell import check
from memdir.agent.shell.run import masked, run
from memdir.agent.shell.verdict import ShellVerdict
from memdir.agent.shell.wall import standing
from memdir.agent.shell.wildcards import MOST_PATTERNS, Walk
from memdir.agent.tools.bash import BASH
from memdir.errors import ToolError
from tests.agent.shell.fixture import Ground, as_fork, build, changes, context_of, snapshot, without_wall

TOKEN = "ghp_" + "HAmvYDNZMPQ9qvBjv697Na02SXIXw72boFTV"


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    made = build(Path(os.path.realpath(tmp_path)) / "g")
    monkeypatch.setenv("HOME", str(made.home))
    return made


def ran(verdict: ShellVerdict, ground: Ground, *, seconds: float = 10, **environment: str) -> Ended:
    """How a line ended that is run in the project."""
    start = partial(
        run,
        verdict,
        cwd=ground.project,
        folders=[ground.project, ground.memory],
        environment=ground.environment(**environment),
        seconds=seconds,
    )
    return anyio.run(start)


def unseen(script: str) -> ShellVerdict:
    """A verdict on a script that no check has seen."""
    return ShellVerdict(allowed=True, script=script)


@pytest.mark.skipif(standing().name == "none", reason="no wall stands here")
def test_a_script_that_was_misjudged_changes_nothing_behind_a_wall_A6(ground: Ground) -> None:
    before = snapshot(ground.root)
    ran(unseen("echo x > README.md; echo x >> notes.txt; cp notes.txt n2; rm -r src; echo x > ~/x"), ground)
    assert changes(before, snapshot(ground.root)) == []


def test_a_script_that_was_misjudged_writes_no_byte_without_one_A6(ground: Ground) -> None:
    with without_wall():
        ran(unseen("cp notes.txt n2"), ground)
    assert (ground.project / "n2").read_bytes() == b""


def test_what_leads_elsewhere_stops_the_line_A6(ground: Ground) -> None:
    answer = as_fork("cd missing; cat README.md", ground)
    assert answer.failed
    assert "Demo" not in answer.text


def test_a_secret_in_what_is_printed_is_masked_E10(ground: Ground) -> None:
    (ground.project / "log.txt").write_text(f"before {TOKEN} after\n" + "x" * 200_000 + f"\n{TOKEN}\n")
    answer = as_fork("cat log.txt", ground)
    assert TOKEN[4:] not in answer.text
    assert "before [GitHub token, hidden] after" in answer.text


def test_masks_take_each_secret_and_nothing_else_E10() -> None:
    assert masked("nothing here") == "nothing here"
    assert masked(f"a {TOKEN} b {TOKEN} c") == "a [GitHub token, hidden] b [GitHub token, hidden] c"


def test_a_line_that_never_ends_is_stopped_A6(ground: Ground) -> None:
    assert ran(unseen("while :; do :; done"), ground, seconds=0.3).code is None


def test_where_there_is_no_bash_the_model_is_told_so_A6(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memdir.agent.shell.environment.SYSTEM", ())
    with pytest.raises(ToolError, match="no bash"):
        ran(check("ls"), ground, PATH=str(ground.temporary))


def listed(pattern: str, cwd: Path) -> list[str]:
    """What a pattern stands for, but for the folder that it is about."""
    return list(Walk().named(pattern, cwd))[1:]


def test_wildcards_stand_for_what_bash_finds_A6(ground: Ground) -> None:
    (ground.project / "[x]").mkdir()
    (ground.project / "[x]" / "a.md").touch()
    for pattern in (
        "*.md",
        "src/*.py",
        "[a-d]*",
        "d*/?*",
        "nothing*",
        "[^a-z]*",
        "*/*",
        "*/",
        "./*.md",
        "[[]x]/*",
    ):
        command = ["bash", "-c", f"compgen -G '{pattern}'"]
        known = subprocess.run(command, capture_output=True, text=True, cwd=ground.project)
        found = [path.removeprefix("./") for path in listed(pattern, ground.project)]
        assert sorted(found) == sorted(line.removeprefix("./") for line in known.stdout.splitlines()), pattern
    assert next(Walk().named("src/*.py", ground.project)) == "src"
    assert list(Walk().named("~/*.txt", ground.project)) == ["~", "~/plain.txt"]
    assert listed(f"{ground.project}/d*/*.md", Path("/")) == [f"{ground.project}/docs/guide.md"]


def test_a_pattern_costs_bounded_work_A6(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"l{number}").symlink_to(".")

    def several(patterns: Iterable[str]) -> None:
        walk = Walk()
        for pattern in patterns:
            list(walk.named(pattern, tmp_path))

    with pytest.raises(ToolError, match="too many"):
        listed("*/*/*/*", tmp_path)
    with pytest.raises(ToolError, match="too many"):
        several(f"*{number}" for number in range(MOST_PATTERNS + 1))
    for number in range(1000):
        (tmp_path / f"{number}").touch()
    with pytest.raises(ToolError, match="too many"):
        several(["*/*/zz"] * MOST_PATTERNS)


@pytest.mark.parametrize(
    "command",
    ["grep -rn canary .", "grep -rn canary -- .", "grep -r --include=.env canary .", "rg -uuu canary ."],
)
def test_a_search_through_folders_passes_credentials_by_A5(ground: Ground, command: str) -> None:
    (ground.project / "seen.txt").write_text("canary of a file like others\n")
    answer = as_fork(command, ground)
    if "not found" in answer.text:
        pytest.skip("ripgrep is not here")
    assert "canary-of-the-project" not in answer.text
    assert "canary of a file like others" in answer.text or "--include" in command


def test_the_configuration_of_a_repository_is_no_reading_matter_A5(ground: Ground) -> None:
    config = ground.project / ".git" / "config"
    config.write_text(config.read_text() + '[remote "o"]\n\turl = https://host.invalid/canary-in-config\n')
    for command in (
        "grep -rn canary-in .",
        "grep -rn canary-in .git",
        "rg -uuu canary-in .",
        "cat .git/config",
    ):
        assert "canary-in-config" not in as_fork(command, ground).text


def test_nothing_of_the_parser_is_loaded_before_a_command_is_judged_A6() -> None:
    asked = "import sys, memdir.app; print({'tree_sitter', 'memdir.agent.shell.verdict'} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "set()"


def test_a_path_that_leads_elsewhere_by_now_is_not_read_A5_A8(ground: Ground) -> None:
    (ground.project / "notes.txt").unlink()
    (ground.project / "notes.txt").symlink_to(ground.home / ".netrc")
    (ground.project / "docs" / "key").symlink_to(ground.home / ".ssh" / "id_rsa")
    for command in ("cat notes.txt", "cat docs/*", "head -1 < notes.txt", "cd docs && cat key"):
        with without_wall(), pytest.raises(ToolError, match="background"):
            anyio.run(partial(BASH.run, {"command": command}, context_of(ground)))
