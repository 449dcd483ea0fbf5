"""The environment of a read-only command: what is on a list, and nothing that starts a program (A6)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memdir.agent.shell.environment import SYSTEM, programs, scrubbed

GIT = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs folders with modes")

HOSTILE = {
    "ANTHROPIC_API_KEY": "k",
    "AWKPATH": "/x",
    "BASHOPTS": "extdebug",
    "BASH_ENV": "/x/start",
    "BASH_FUNC_ls%%": "() { touch pwned; }",
    "CDPATH": "/x",
    "ENV": "/x/start",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_PARAMETERS": "'core.pager=touch pwned'",
    "GIT_CONFIG_VALUE_0": "touch pwned",
    "GIT_DIR": "/x",
    "GIT_EXTERNAL_DIFF": "/x/run",
    "GIT_TRACE": "/x/trace",
    "GLOBIGNORE": "*",
    "GREP_OPTIONS": "-f/x",
    "IFS": "x",
    "JQ_COLORS": "1",
    "LD_LIBRARY_PATH": "/x",
    "LD_PRELOAD": "/x/a.so",
    "LESSOPEN": "|/x/run %s",
    "LOCPATH": "/x",
    "LS_COLORS": "di=1",
    "NODE_OPTIONS": "--require /x",
    "POSIXLY_CORRECT": "1",
    "PROMPT_COMMAND": "touch pwned",
    "PS4": "$(touch pwned)",
    "PYTHONPATH": "/x",
    "PYTHONSTARTUP": "/x",
    "RIPGREP_CONFIG_PATH": "/x/rc",
    "SHELLOPTS": "xtrace",
    "SSH_AUTH_SOCK": "/x/agent",
    "TMPDIR": "/x",
    "XDG_CONFIG_DIRS": "/x",
}


def test_only_names_on_the_list_pass_A6() -> None:
    kept = {"HOME": "/home/ada", "LANG": "en_GB.UTF-8", "LC_TIME": "de_DE.utf8", "TZ": "CET-1CEST,M3.5.0"}
    kept |= {"USER": "ada", "LOGNAME": "ada"}
    bare = {name: value for name, value in scrubbed({}, avoid=()).items() if name != "LC_ALL"}
    assert scrubbed({**HOSTILE, **kept}, avoid=()) == {**bare, **kept}
    assert not scrubbed({}, avoid=()).keys() & (HOSTILE.keys() | {"SHELL", "HISTFILE", "PWD"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOME", "relative"),
        ("HOME", "/home/a\nb"),
        ("HOME", "/home/\x1b[2J"),
        ("HOME", "/home/a/../b"),
        ("HOME", ""),
        ("LANG", "../../x"),
        ("LANG", "/x/locale"),
        ("LC_ALL", "C\nPATH=/x"),
        ("LC_ALL", "$(touch pwned)"),
        ("LC_", "C"),
        ("LC_x", "C"),
        ("TZ", "/etc/passwd"),
        ("TZ", ":/etc/passwd"),
        ("TZ", "../../etc/passwd"),
        ("TZ", "UTC\0x"),
        ("USER", "a b"),
        ("USER", "a;touch pwned"),
        ("LOGNAME", "a\tb"),
    ],
)
def test_a_value_that_is_not_what_it_should_be_does_not_pass_A6(name: str, value: str) -> None:
    assert scrubbed({name: value}, avoid=()) == scrubbed({}, avoid=())


@pytest.mark.parametrize("said", ["zh_CN.GBK", "ja_JP.SJIS", "C", "POSIX", "de_DE@euro"])
def test_text_is_utf_8_to_every_program_A6(said: str) -> None:
    assert scrubbed({"LANG": said, "LC_ALL": said}, avoid=())["LC_ALL"] == "C.UTF-8"
    assert scrubbed({"LANG": "en_GB.UTF-8", "LC_CTYPE": said}, avoid=()).get("LC_CTYPE") is None


def test_what_starts_programs_is_fixed_whatever_was_said_A6() -> None:
    said = dict.fromkeys(scrubbed({}, avoid=()), "/x/run")
    fixed = scrubbed(said, avoid=())
    assert "/x/run" not in {fixed[name] for name in said}
    assert (fixed["PAGER"], fixed["GIT_PAGER"], fixed["EDITOR"]) == ("cat", "cat", "false")
    assert (fixed["GIT_CONFIG_GLOBAL"], fixed["GIT_CONFIG_NOSYSTEM"]) == (os.devnull, "1")
    assert fixed["GIT_OPTIONAL_LOCKS"] == "0"


@POSIX
def test_bash_starts_clean_in_it_A6(tmp_path: Path) -> None:
    start = tmp_path / "start"
    start.write_text("touch pwned\n")
    hostile = {**os.environ, **HOSTILE, "BASH_ENV": str(start), "ENV": str(start)}
    script = 'ls; printf "%s|" "$IFS" "${BASH_ENV-}" "${LD_PRELOAD-}"; echo "$-"; export'
    ran = subprocess.run(
        ["/bin/bash", "--norc", "--noprofile", "-c", script],
        cwd=tmp_path,
        env=scrubbed(hostile, avoid=[tmp_path]),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith("start\n \t\n|||")
    assert "x" not in ran.stdout.splitlines()[2].rpartition("|")[2]  # no xtrace
    assert not (tmp_path / "pwned").exists()
    assert ran.stderr == ""


@GIT
@POSIX
def test_git_obeys_no_setting_of_a_person_and_reaches_no_repository_A6(tmp_path: Path) -> None:
    home, project, other = tmp_path / "home", tmp_path / "project", tmp_path / "other"
    for repository in (project, other):
        subprocess.run(["git", "init", "-q", str(repository)], check=True)
    home.mkdir()
    (home / ".gitconfig").write_text("[alias]\nstatus2 = !touch pwned\n[user]\nname = ada\n")
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("*\n")
    (project / "new").write_text("x")
    environment = scrubbed({**os.environ, "HOME": str(home)}, avoid=[project])

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words], cwd=project, env=environment, capture_output=True, text=True, check=False
        )

    assert git("config", "--list", "--show-origin").stdout.count("gitconfig") == 0
    assert git("status", "--short").stdout == "?? new\n"
    for address in (
        str(other),
        f"file://{other}",
        "ext::touch pwned",
        "https://localhost/x",
        "a@localhost:x",
    ):
        assert "not allowed" in git("ls-remote", address).stderr
    assert not (project / "pwned").exists()


@POSIX
def test_programs_of_the_system_come_first_and_all_folders_are_full_ones_A6(tmp_path: Path) -> None:
    own = folder(tmp_path / "own")
    found = programs(f"relative::.:{own}:bin/..:/usr/bin:~/bin:{own}", avoid=())
    system = list(dict.fromkeys(os.path.realpath(one) for one in SYSTEM if Path(one).is_dir()))
    assert found == [*system, str(own)]


@POSIX
def test_a_repository_brings_no_programs_A6(tmp_path: Path) -> None:
    project, own = folder(tmp_path / "project"), folder(tmp_path / "own")
    inside = folder(project / "node_modules" / ".bin")
    link = tmp_path / "link"
    link.symlink_to(inside)
    through = tmp_path / "through"
    through.symlink_to(project)
    path = ":".join(map(str, (project, inside, link, through / "node_modules" / ".bin", own)))
    assert set(programs(path, avoid=[through, tmp_path / "missing"])) - set(programs("", avoid=())) == {
        str(own)
    }
    assert scrubbed({"PATH": path}, avoid=[project])["PATH"].endswith(f":{own}")


@POSIX
def test_a_folder_that_anybody_may_write_to_holds_no_programs_A6(tmp_path: Path) -> None:
    missing, a_file = tmp_path / "missing", tmp_path / "file"
    a_file.write_text("")
    a_file.chmod(0o755)
    open_one, sticky, below = folder(tmp_path / "a"), folder(tmp_path / "b"), folder(tmp_path / "c" / "bin")
    open_one.chmod(0o777)
    sticky.chmod(0o1777)
    (tmp_path / "c").chmod(0o777)
    path = ":".join(map(str, (missing, a_file, open_one, sticky, below)))
    assert programs(path, avoid=()) == programs("", avoid=())


def folder(path: Path) -> Path:
    """A folder that only its owner may write to, by its real path."""
    path.mkdir(parents=True)
    for one in (path, path.parent):
        one.chmod(0o755)
    return path.resolve()
