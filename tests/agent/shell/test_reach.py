"""What a line names leads where Read may go, however it is named; ways around that were tried (A5, A8)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memdir.agent.credentials import ANYWHERE
from memdir.agent.shell import check
from memdir.agent.shell.repository import ATTRIBUTES, attributes
from tests.agent.shell.fixture import (
    CANARIES,
    PROJECT_CANARY,
    Ground,
    as_fork,
    build,
    changes,
    snapshot,
    without_wall,
)

TOKEN = "ghp_" + "HAmvYDNZMPQ9qvBjv697Na02SXIXw72boFTV"


@pytest.fixture(params=[True, False], ids=["walled", "without a wall"])
def ground(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Ground]:
    """A new project each time. It holds up behind a wall and without one."""
    made = build(Path(os.path.realpath(tmp_path)) / "g")
    monkeypatch.setenv("HOME", str(made.home))
    if request.param:
        yield made
    else:
        with without_wall():
            yield made


def shell(lines: str, ground: Ground) -> None:
    """What somebody did in the project before."""
    who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@host.invalid"}
    who |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@host.invalid"}
    environment = ground.environment(**who)
    subprocess.run(["bash", "-e", "-c", lines], cwd=ground.project, env=environment, check=True)


def tells(commands: str, ground: Ground) -> list[str]:
    """The commands, one a line, whose answer holds a canary or the token."""
    secrets = (*CANARIES, TOKEN[8:], TOKEN[::-1][:20])
    lines = commands.strip().splitlines()
    return [line for line in lines if any(secret in as_fork(line.strip(), ground).text for secret in secrets)]


def test_a_folder_behind_a_link_is_the_one_that_was_judged_A8(ground: Ground) -> None:
    shell("mkdir -p a/b/c/d; ln -s a/b/c/d L; cp ~/.netrc ~/plain2.txt", ground)
    assert (
        tells(
            "cd L/../../h && cat plain2.txt\ncd L/../../../h && cat plain2.txt\ncat L/../../h/plain2.txt",
            ground,
        )
        == []
    )


@pytest.mark.parametrize("name", ["[e]", "?", "*", "[e", "e\\e", "~"])
def test_a_name_of_odd_letters_is_that_name_and_no_pattern_A8(ground: Ground, name: str) -> None:
    (ground.project / name).symlink_to(".env")
    (ground.project / f"{name}{name}").symlink_to(ground.home / ".ssh")
    quoted = f"'{name}'"
    assert (
        tells(f"cat {quoted}\ncat {quoted}{quoted}/id_rsa\ncat {quoted}{quoted}/id*\ncat < {quoted}", ground)
        == []
    )


def test_a_list_of_options_in_a_file_is_no_option_A5(ground: Ground) -> None:
    shell("echo .env > opts; cp opts @x", ground)
    assert tells("strings @opts\nstrings *\nstrings -- @opts", ground) == []


def test_two_folders_are_compared_without_what_is_in_them_A5(ground: Ground) -> None:
    shell(
        "mkdir a b; cp .env a/.env; ln -s ../.env a/l; ln -s ~/.ssh/id_rsa a/h; echo > b/l; echo > b/h",
        ground,
    )
    assert (
        tells(
            "diff a b\ndiff -N a b\ndiff -r a b\ndiff -rN a b\ndiff -rN .git empty\ndiff -N . empty", ground
        )
        == []
    )
    assert "differ" in as_fork("diff -rq a b", ground).text
    shell("rm -rf .git", ground)
    assert tells("git diff a b\ngit diff --stat a b", ground) == []


def test_the_address_of_a_remote_with_a_token_is_not_shown_A5_E10(ground: Ground) -> None:
    shell(f"git remote add o https://x:{TOKEN}@host.invalid/r", ground)
    assert tells(
        """
        git remote -v | rev
        git remote -v | fold -w 20
        git remote get-url o | rev
        git config --get remote.o.url | rev
        cd .git && grep -rh url . | rev
        grep -rh url .git/. | rev
        grep -rh url . | rev
        cd .git && rg -uu url | rev
        rg -uuu url | rev
        git -C docs remote -v | rev
        cat .git/config | rev
        """,
        ground,
    ) == []  # fmt: skip
    assert not as_fork("git log -1 --oneline", ground).failed


def test_a_tracked_file_of_credentials_is_not_shown_by_git_A5(ground: Ground) -> None:
    shell("git add -f .env; git commit -qm env", ground)
    shell("mkdir -p .ssh; cp .env .ssh/x; git add -f .ssh; git commit -qm ssh", ground)
    shell("echo more >> .env; echo more >> notes.txt", ground)
    blob = subprocess.run(
        ["git", "rev-parse", "HEAD:.env"], cwd=ground.project, capture_output=True, text=True
    )
    number = blob.stdout.strip()
    assert tells(
        f"""
        git log -2 -p
        git log -2 -p | rev
        git show HEAD
        git show HEAD~1
        git diff
        git diff HEAD~2
        git grep canary
        git grep canary HEAD
        git log -L 1,1:.env
        git log -p --text -2
        git log -p -a -2
        git diff --text
        git grep -a canary
        git show {number}
        git show {number[:8]}
        git cat-file -p {number}
        git show HEAD:.env
        git blame .env
        git stash show -p
        """,
        ground,
    ) == []  # fmt: skip
    assert "more" in as_fork("git diff notes.txt", ground).text
    assert "env" in as_fork("git log -2 --stat", ground).text
    assert PROJECT_CANARY not in as_fork("git show HEAD~1 --stat", ground).text


def test_git_knows_the_list_of_credential_places_A5() -> None:
    assert ATTRIBUTES.read_text("utf-8") == attributes()  # written by its `__main__`
    assert not any(line.startswith(("#", "!", '"')) for line in attributes().splitlines())
    assert len(attributes().splitlines()) == 2 * len(ANYWHERE.split())


@pytest.mark.parametrize(
    "lines",
    [
        "git config blame.ignoreRevsFile ../h/.netrc",
        "git config blame.ignoreRevsFile .env",
        "git config diff.orderFile ../h/.netrc",
        "git config mailmap.file ../h/.netrc",
        "git config core.excludesFile .env",
    ],
)
def test_a_file_that_a_repository_names_is_not_read_out_A5(ground: Ground, lines: str) -> None:
    shell(lines, ground)
    assert (
        tells(
            "git blame README.md\ngit log -1\ngit shortlog HEAD\ngit diff\ngit check-ignore -v canary*",
            ground,
        )
        == []
    )


@pytest.mark.parametrize(
    "lines",
    [
        "mkdir v; git init -q v; echo ../../../../o/.git/objects > v/.git/objects/info/alternates",
        "mkdir v; git init -q v; rm -r v/.git/objects; ln -s ../../../o/.git/objects v/.git/objects",
        "mkdir v; git init -q v; rm -r v/.git/refs; ln -s ../../../o/.git/refs v/.git/refs",
        "git clone -q --bare ../o v; rm -r v/objects; ln -s ../../o/.git/objects v/objects",
        "mkdir v; echo 'gitdir: ../../o/.git' > v/.git",
        "mkdir v; git init -q v; git -C v config core.worktree ../../../o",
    ],
)
def test_a_repository_lies_inside_in_all_its_parts_A8(ground: Ground, lines: str) -> None:
    other = ground.root / "o"
    other.mkdir()
    shell("cd ../o; git init -q; cp ~/.netrc n.txt; git add .; git commit -qm secret-subject", ground)
    shell(lines, ground)
    for command in (
        "git -C v log -p --all",
        "cd v && git status",
        "git -C v ls-files",
        "git -C v show o/HEAD",
    ):
        answer = as_fork(command, ground)
        assert answer.failed, answer.text
        assert "secret-subject" not in answer.text


def test_an_old_git_is_not_used_A6(ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bin"
    old.mkdir()
    (old / "git").write_text(
        '#!/bin/sh\n[ "$3" = version ] && echo git version 2.30.2 && exit\nexec /usr/bin/git "$@"\n'
    )
    (old / "git").chmod(0o755)
    monkeypatch.setattr("memdir.agent.shell.environment.SYSTEM", (str(old), "/usr/bin", "/bin"))
    answer = as_fork("git status", ground)
    assert answer.failed
    assert "git 2.32" in answer.text


def test_an_unnamed_driver_runs_nothing_A6(ground: Ground) -> None:
    program = ground.program()
    with (ground.project / ".git" / "config").open("a") as config:
        config.write(f'[filter ""]\n\tclean = {program}\n')
        config.write(f'[diff ""]\n\ttextconv = {program}\n\tcommand = {program}\n')
    shell("printf '* filter= diff=\\n' > .git/info/attributes; touch -d 2030-01-01 README.md", ground)
    before = snapshot(ground.root)
    for command in ("git status", "git diff", "git blame README.md", "git log -p -1", "git show HEAD"):
        as_fork(command, ground)
        assert changes(before, snapshot(ground.root)) == [], command


def test_a_merge_is_shown_and_not_made_again_A6(ground: Ground) -> None:
    shell("git stash -q; git checkout -qb side HEAD~1; echo a > c; git add c; git commit -qm a", ground)
    shell("git checkout -q -; echo b > c; git add c; git commit -qm b; git merge -q side || true", ground)
    shell("echo c > c; git add c; git commit -qm merged; git config log.diffMerges remerge", ground)
    before = snapshot(ground.root)
    as_fork("git log -1 -m -p", ground)
    as_fork("git show HEAD", ground)
    assert changes(before, snapshot(ground.root)) == []


@pytest.mark.parametrize(
    "command",
    [
        "echo {PATH}>/dev/null; ls", "cat /pro?/self/environ", "cat /p*/self/environ",
        "cat /var/run/../proc/self/environ",
        "cd / && cat proc/self/environ", "cd /proc && cat self/environ", "cat /etc/shado?",
        "cd /etc && head -1 shadow",
        "cd /etc && cat shado*", "tail +5f README.md", "tail +f README.md", "strings @x",
        "numfmt --padding=900000000 1",
        "shuf -i 1-2000000000", "echo a{1}\\;", "cat README.md 0</etc/hostname", "ls>/dev/null",
        "seq 99999999",
        "cat " + " | cat" * 9, "git log -L 1,5:.env", "cat .env~", "cat a/.netrc~",
    ],
)  # fmt: skip
def test_the_text_alone_is_enough_to_refuse_A6(command: str) -> None:
    assert not check(command).allowed


def test_a_line_may_not_grow_beyond_what_a_system_takes_A6() -> None:
    assert check("rg x README.md").allowed
    assert not check("; ".join(["rg x README.md"] * 12)).allowed


def test_a_search_by_grep_shows_no_credentials_that_it_can_not_leave_out_A5(ground: Ground) -> None:
    shell("mkdir -p .config/gh sub/.cargo y; cp ~/.config/gh/hosts.yml .config/gh", ground)
    assert (
        tells("grep -rn canary .\ngrep -rn --include=hosts.yml canary .\ngrep -r canary .config", ground)
        == []
    )
    shell("rm -r .config; cp .env sub/.cargo/credentials; cp .env .ENV", ground)
    assert tells("grep -rn canary sub\negrep -r canary .\ngrep -rn canary .\nrg -uuu canary", ground) == []
    shell("rm .ENV sub/.cargo/credentials; echo canary word > y/a.txt", ground)
    assert "canary word" in as_fork("grep -rn 'canary word' .", ground).text
    assert "canary word" in as_fork("grep -rn 'canary word' y", ground).text


def test_each_command_of_a_line_is_asked_about_A5(ground: Ground) -> None:
    shell("git add -f .env; git commit -qm env", ground)
    shell(f"git remote add o https://x:{TOKEN}@host.invalid/r", ground)
    asked = ["git", "rev-parse", "HEAD:.env"]
    blob = subprocess.run(asked, cwd=ground.project, capture_output=True, text=True).stdout.strip()
    assert tells(
        f"""
        git show {blob}; git status -s
        git cat-file -p {blob}; git log -1
        git remote -v | rev; git status -sb
        git log -1; git config --get remote.o.url | rev; git log -1
        git diff {blob} HEAD:README.md
        git diff HEAD:README.md {blob}
        git grep . {blob}
        git show {blob}~0
        git show HEAD {blob}
        git show {blob}^0
        """,
        ground,
    ) == []  # fmt: skip
    assert "README" in as_fork("git show HEAD:src HEAD~1 --stat; git ls-tree HEAD", ground).text


def test_neither_a_tree_nor_a_tag_hides_what_a_file_is_A5(ground: Ground) -> None:
    shell("mkdir secrets; cp .env secrets/prod.txt; git add -f secrets .env; git commit -qm s", ground)
    shell("git tag -a -m t annot HEAD:.env; git tag -a -m t nested annot; git tag light HEAD:.env", ground)
    asked = ["git", "rev-parse", "HEAD:secrets"]
    tree = subprocess.run(asked, cwd=ground.project, capture_output=True, text=True).stdout.strip()
    empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert tells(
        f"""
        git show {tree}:prod.txt
        git cat-file -p {tree}:prod.txt
        git grep . {tree}
        git diff {empty} {tree}
        git diff-tree -p -r {empty} {tree}
        git diff {empty} HEAD:secrets
        git show annot
        git show -s annot
        git cat-file blob annot
        git show nested
        git show light
        git log -p {tree}
        git diff {empty} HEAD:secrets --stat; git grep canary HEAD:secrets
        git diff-tree -p -r HEAD~1:src HEAD:secrets
        git show --tags
        git show --glob=refs/tags/*
        git tag --format='%(raw)'
        git tag --format='%(*raw)'
        git for-each-ref --format='%(raw)'
        """,
        ground,
    ) == []  # fmt: skip
    assert not as_fork("git show HEAD:src", ground).failed


@pytest.mark.parametrize(
    "lines",
    [
        "echo '* diff' > .gitattributes",
        "echo '*.env diff=python' > .gitattributes; git add .gitattributes",
        "echo '*.env text diff' > .git/info/attributes",
        "mkdir -p sub; echo '* diff' > sub/.gitattributes; cp .env sub/.env; git add -f sub",
    ],
)
def test_no_attribute_of_a_repository_shows_what_is_hidden_A5(ground: Ground, lines: str) -> None:
    shell(f"git add -f .env; git commit -qm env; {lines}; git commit -qm sub || true", ground)
    shell("echo more >> .env; git stash -q; git stash apply -q || true", ground)
    assert tells("git log -p\ngit show HEAD\ngit show HEAD~1\ngit grep canary\ngit diff HEAD~2", ground) == []
    assert (
        tells("git stash show -p\ngit stash list -p\ngit diff-files -p\ngit diff-index -p HEAD~1", ground)
        == []
    )
    assert not as_fork("git log -3 --oneline --stat", ground).failed


def test_attributes_of_other_files_are_the_repositorys_own_affair(ground: Ground) -> None:
    shell(
        "printf '%s\\n' '* text=auto' '*.php diff=php' '*.json diff=json' '*.lock -diff' > .gitattributes",
        ground,
    )
    shell("git add .gitattributes; git commit -qm attributes", ground)
    for command in (
        "git log -p -2",
        "git show HEAD",
        "git diff HEAD~1",
        "git grep -n foo",
        "git log --oneline",
    ):
        assert not as_fork(command, ground).failed, command


def test_a_folder_of_a_repository_is_a_project_too(ground: Ground) -> None:
    inner = Ground(root=ground.root)
    object.__setattr__(inner, "project", ground.project / "src")
    for command in ("git log -1 --oneline", "git status -s", "git diff HEAD~1 --stat", "git blame app.py"):
        answer = as_fork(command, inner)
        assert not answer.failed, answer.text


def test_a_work_tree_above_that_is_not_its_own_is_not_looked_into_A8(ground: Ground) -> None:
    shell(
        "cd ..; git init -q; mkdir docs; cp h/.netrc docs/diary.txt; cd w; git config core.worktree ../..",
        ground,
    )
    assert tells("git diff\ngit grep canary -- :/\ngit show :docs/diary.txt\ngit status", ground) == []


def test_what_is_hidden_is_so_in_letters_of_any_case_A5(ground: Ground) -> None:
    shell("cp .env .ENV; mkdir SECRETS; cp .env SECRETS/q.txt", ground)
    shell("git add -f .ENV SECRETS; git commit -qm e", ground)
    assert tells("git show HEAD\ngit grep canary\ngit log -p -1\ngit diff HEAD~1", ground) == []
    assert not check("git diff --binary HEAD~1").allowed
    assert tells("cat .git/objects/*/*\nls .git/objects", ground) == []


def test_linked_work_trees_and_submodules_are_ordinary_places(ground: Ground, tmp_path: Path) -> None:
    shell("git stash -q; git worktree add -q ../w2; mkdir -p ../w2/deep; cp notes.txt ../w2/deep", ground)
    shell("git -c protocol.file.allow=always submodule --quiet add ./. lib; true", ground)
    for folder in (ground.root / "w2", ground.root / "w2" / "deep", ground.project / "lib"):
        if not folder.is_dir():
            continue
        elsewhere = Ground(root=ground.root)
        object.__setattr__(elsewhere, "project", folder)
        answer = as_fork("git log -1 --oneline; git status -s", elsewhere)
        assert not answer.failed, f"{folder}: {answer.text}"


@pytest.mark.parametrize("lines", ["'\"/tmp/x\"'", "../../../o/.git/objects", "''"])
def test_objects_from_elsewhere_are_not_used_and_not_looked_through_A8(ground: Ground, lines: str) -> None:
    shell(f"for i in 1 2 3 4 5 6 7 8 9; do echo {lines} >> .git/objects/info/alternates; done", ground)
    answer = as_fork("git log -1", ground)
    assert answer.failed
    assert "alternates" in answer.text


def test_a_quoted_tilde_is_a_folder_to_find_too_A8(ground: Ground) -> None:
    shell("mkdir -p '~/q'; ln -s ~/.ssh '~/q/keys'; mkdir -p ~/q", ground)
    assert "id_rsa" not in as_fork("find '~/q/keys/'", ground).text
