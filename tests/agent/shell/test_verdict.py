"""A command line and its verdict: what passes, what would run, which files it names (A6)."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.agent.shell import check


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("ls -la *.md", "ls -la *.md"),
        ("cat memory/user\\ prefs.md", "cat 'memory/user prefs.md'"),
        ('grep -n "it\'s" a.txt 2>/dev/null | head -5', "grep -n 'it'\"'\"'s' a.txt 2>/dev/null | head -5"),
        ("ls # and so on\npwd", "ls; pwd"),
        ("cd src && ls; pwd", "cd -P -- src || exit; ls; pwd"),
        ("cat ~/a\\ b ~/*.md ~", "cat ~/'a b' ~/*.md ~"),
        ("ls |& cat", "ls 2>&1 | cat"),
        ("cat < 'a b'", "cat < 'a b'"),
        ("(ls; pwd) | wc -l", "( ls; pwd ) | wc -l"),
        ("test -f a || echo 'no\na'", "test -f a || echo 'no\na'"),
    ],
)
def test_what_runs_is_the_line_as_it_was_understood_A6(command: str, script: str) -> None:
    verdict = check(command)
    assert (verdict.allowed, verdict.script, verdict.reason) == (True, script, "")


@pytest.mark.parametrize("command", ["git diff HEAD", "git log -p -1", "git show HEAD", "git blame a"])
def test_git_is_told_to_run_no_other_program_A6(command: str) -> None:
    script = check(command).script
    assert "--no-textconv" in script
    assert script.startswith(command[: command.index(" ", 4)])


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat a ../b ~/c", ("a", "../b", "~/c")),
        ("cd src && cat a && ls ../docs", ("src", "src/a", "src/../docs")),
        ("cd ~ && cat a", ("~/", "~/a")),
        ("git -C sub log -- a", ("sub", "sub/a")),
        ("cat < a", ("a",)),
        ("cat <<< a", ()),
        ("find src docs -newer a -name '*.py'", ("src", "docs", "a")),
        ("grep -rn --include=*.py foo src", ("src",)),
        ("ls src/*.py", ("src/*.py",)),
        ("ls '[a]'/*.py '[b]'", ("[[]a]/*.py", "[b]")),
        ("cat '~/x'", ("./~/x",)),
        ("cat '~a'/*", ("./~a/*",)),
        ("test a -nt b", ("a", "b")),
        ("git show HEAD:src/a", ("HEAD:src/a",)),
        ("echo /etc/passwd", ()),
    ],
)
def test_the_files_that_a_line_names_are_told_A6(command: str, paths: tuple[str, ...]) -> None:
    verdict = check(command)
    assert verdict.allowed, verdict.reason
    assert sorted(verdict.paths) == sorted(paths)


@pytest.mark.parametrize(
    ("command", "repositories"),
    [
        ("git status", ("",)),
        ("cd a && git status", ("a",)),
        ("git -C b log; git -C /c log", ("b", "/c")),
        ("ls", ()),
    ],
)
def test_the_repositories_in_which_git_would_run_are_told_A6(
    command: str, repositories: tuple[str, ...]
) -> None:
    assert tuple(one.folder for one in check(command).repositories) == repositories


@pytest.mark.parametrize(
    "command",
    [
        "ls; cd src", "cd src | ls", "cd a && cd b", "cd - && ls", "cd && ls", "cd a b && ls",
        "cd src || ls", "cd * && ls",
        "(cd src; ls)", "cat .env", "cat ~/.ssh/id_rsa", "cat ~/.ss?/id_rsa", "cat .*", "ls | cat < .env",
        "cat < ~/.netrc",
        "git show HEAD:.env", "git -C ~/.ssh log", "git", "git -c a=b log", "git log --output=x",
        "git \"log\" --help",
        "git --no-pager", "frobnicate", "/bin/ls", "./ls", "test -v 'a[$(x)]'", "test a -eq b",
        "test a -a b", "test",
        "find * -maxdepth 0", "find . -name *", "awk -v 'a=b' -f x", "awk '{print}' a=b", "jq -f x .",
        "sed -i s/a/b/ x",
        "rg --pre ./x foo", "diff3 --diff-program=./x a b c", "env", "xargs ls", "tee x",
    ],
)  # fmt: skip
def test_what_is_not_known_to_be_harmless_is_refused_with_a_reason_A6(command: str) -> None:
    verdict = check(command)
    assert not verdict.allowed
    assert verdict.reason
    assert (verdict.script, verdict.names, bool(verdict.log)) == ("", (), True)


def test_a_reason_says_which_option_and_what_else_to_do_A6() -> None:
    assert check("sort -o out.txt a").reason.startswith("sort may not be given -o here")
    assert "Write" in check("ls > out.txt").reason
    assert "quote" in check("find . -name *.py").reason


@given(st.text(max_size=60))
def test_any_text_has_a_verdict_A6(text: str) -> None:
    verdict = check(text)
    assert verdict.allowed != bool(verdict.reason)


def test_a_search_leaves_out_where_credentials_are_kept_A5_A6() -> None:
    for command in ("grep -rn foo .", "grep foo -r -- .", "rg foo", "rg -g '.env' foo"):
        script = check(command).script
        assert ".env" in script
        ran = subprocess.run(["bash", "-n", "-c", script], capture_output=True, text=True, check=True)
        assert ran.stderr == ""
    script = check("rg -g '.env' foo").script
    assert script.index("-g .env") < script.index("--iglob")
    assert check("grep foo a").script == "grep foo a"
