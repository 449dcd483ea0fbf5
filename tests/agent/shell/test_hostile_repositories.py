"""What a repository's configuration would make git run, it does not run when a fork looks around (A6).

Each set-up says with which plain command it strikes; that it does is shown first, so that the rest can fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memdir.agent.shell.wall import standing
from tests.agent.shell.fixture import (
    RAN,
    Ground,
    as_fork,
    build,
    changes,
    copy,
    decide,
    leaks,
    snapshot,
    without_wall,
)

READS = (
    "git status",
    "git status --short --branch",
    "git diff",
    "git diff --stat HEAD~1",
    "git diff --cached",
    "git log",
    "git log -p -1",
    "git log -1 --oneline",
    "git log --stat -2",
    "git log --format='%h %an %s'",
    "git show HEAD",
    "git show HEAD:README.md",
    "git show --stat HEAD",
    "git blame README.md",
    "git blame -L 1,3 README.md",
    "git ls-files",
    "git ls-files -m",
    "git ls-tree -r HEAD",
    "git grep -n foo",
    "git branch -a",
    "git branch --show-current",
    "git tag -l",
    "git remote -v",
    "git describe --tags --always",
    "git shortlog -sn HEAD",
    "git rev-parse HEAD",
    "git rev-list --count HEAD",
    "git cat-file -p HEAD",
    "git cat-file -p HEAD:README.md",
    "git for-each-ref --format='%(refname)'",
    "git merge-base HEAD HEAD~1",
    "git stash list",
    "git reflog",
    "git worktree list",
    "git config --get user.name",
    "git --no-pager log --oneline -5",
    "ls",
    "cat README.md",
    "grep -rn foo src",
    "rg foo",
)

LOOKS = (
    *(
        "git status",
        "git diff",
        "git diff --stat HEAD~1",
        "git log -p -1",
        "git log -1 --oneline",
        "git show HEAD",
    ),
    *(
        "git blame README.md",
        "git ls-files -m",
        "git grep -n foo",
        "git cat-file -p HEAD:README.md",
        "git stash list",
    ),
    *("git describe --tags --always", "git shortlog -sn HEAD", "git branch -a", "git rev-list --count HEAD"),
    *(
        "git for-each-ref --format='%(refname)'",
        "git reflog",
        "ls",
        "cat README.md",
        "grep -rn foo src",
        "rg foo",
    ),
)
"""Those of them that have most to do."""
FIRST_LOOKS = (
    "git status",
    "git diff --stat HEAD~1",
    "git log -p -1",
    "git show HEAD",
    "git ls-files -m",
    "ls",
)
"""Behind the wall nothing can be written: there only what is said shows that a program ran."""

SIGNED = """
kind='{0}'; lines="gpgsig -----BEGIN $kind-----\\\\n \\\\n iFAKE\\\\n -----END $kind-----"
git cat-file commit HEAD | sed "/^committer/a $lines" > .git/c
git reset -q --soft $(git hash-object -t commit -w .git/c)
"""
LAZY = """
git config extensions.partialClone origin; git config core.repositoryFormatVersion 1
git config remote.origin.promisor true
blob=$(git rev-parse HEAD:README.md); rm -f .git/objects/${blob:0:2}/${blob:2}
"""
ATTRIBUTES = "printf '*.md diff=z filter=z\\n' > .gitattributes\n"
STALE = "touch -d 2030-01-01 README.md notes.txt docs/guide.md\n"
LOST = "git cat-file -p HEAD:README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """Lines of bash that lay a trap; `$P` is the program. `shows`: a plain command that falls into it.

    `tty`: only with a terminal. `also`: more ways to look. `environment`: what the agent's holds besides.
    """

    lines: str
    shows: str = ""
    tty: bool = False
    also: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


BEHIND_A_WALL = "split index"
"""Whatever reads a split index gives its shared part a new date: only a wall keeps git from that."""

SETUPS: Mapping[str, SetUp] = {
    "fsmonitor": SetUp(lines='git config core.fsmonitor "$P"', shows="git status"),
    "fsmonitor, spelt otherwise": SetUp(
        lines='printf \'[CORE]\\n\\tFsMonitor = "%s"\\n\' "$P" >> .git/config', shows="git diff"
    ),
    "hook": SetUp(lines=f'{STALE}cp "$P" .git/hooks/post-index-change', shows="git status"),
    "hooks path": SetUp(
        lines=f'{STALE}mkdir hooks; cp "$P" hooks/post-index-change; git config core.hooksPath hooks',
        shows="git status",
    ),
    "external diff": SetUp(lines='git config diff.external "$P"', shows="git diff"),
    "text conversion": SetUp(lines=ATTRIBUTES + 'git config diff.z.textconv "$P"', shows="git log -p -1"),
    "cached text conversion": SetUp(
        lines=ATTRIBUTES + 'git config diff.z.textconv "$P"; git config diff.z.cachetextconv true',
        shows="git blame README.md",
    ),
    "diff driver": SetUp(lines=ATTRIBUTES + 'git config diff.z.command "$P"', shows="git diff"),
    "diff driver of an odd name": SetUp(
        lines="printf '*.md diff=a.b=c\\n' > .git/info/attributes; git config 'diff.a.b=c.command' \"$P\"",
        shows="git diff",
    ),
    "attributes in .git": SetUp(
        lines="printf '*.md diff=z\\n' > .git/info/attributes; git config diff.z.textconv \"$P\"",
        shows="git show HEAD",
    ),
    "attributes file": SetUp(
        lines="printf '*.md diff=z\\n' > odd; git config core.attributesFile odd\n"
        'git config diff.z.textconv "$P"',
        shows="git show HEAD",
    ),
    "clean filter": SetUp(lines=ATTRIBUTES + STALE + 'git config filter.z.clean "$P"', shows="git status"),
    "required clean filter": SetUp(
        lines=ATTRIBUTES + STALE + 'git config filter.z.clean "$P"; git config filter.z.required true',
        shows="git diff",
    ),
    "clean filter, spelt otherwise": SetUp(
        lines="printf '*.md filter=Zé\\n' > .gitattributes\n"
        + STALE
        + 'printf \'[Filter "Zé"]\\n\\tCLEAN = "%s"\\n\' "$P" >> .git/config',
        shows="git status",
    ),
    "filter process": SetUp(lines=ATTRIBUTES + STALE + 'git config filter.z.process "$P"', shows="git diff"),
    "smudge filter": SetUp(
        lines=ATTRIBUTES + 'git config filter.z.smudge "$P"', shows="git cat-file --filters HEAD:README.md"
    ),
    "pager": SetUp(lines='git config core.pager "$P"', shows="git log", tty=True),
    "pager of one command": SetUp(lines='git config pager.status "$P"', shows="git status", tty=True),
    "signature checked in logs": SetUp(
        lines=SIGNED.format("PGP SIGNATURE")
        + 'git config log.showSignature true; git config gpg.program "$P"',
        shows="git log -1",
    ),
    "signature in a format": SetUp(
        lines=SIGNED.format("PGP SIGNATURE")
        + "git config format.pretty 'format:%G?'; git config gpg.program \"$P\"",
        shows="git log -1",
    ),
    "signature in the alias of a format": SetUp(
        lines=SIGNED.format("PGP SIGNATURE")
        + "git config pretty.mine 'format:%GS'; git config format.pretty mine\n"
        + 'git config gpg.openpgp.program "$P"',
        shows="git log -1",
    ),
    "a known format as an alias": SetUp(
        lines=SIGNED.format("PGP SIGNATURE")
        + "git config pretty.oneline 'format:%G?'; git config pretty.medium 'format:%G?'\n"
        + 'git config gpg.program "$P"'
    ),
    "signature of SSH": SetUp(
        lines=SIGNED.format("SSH SIGNATURE")
        + 'git config log.showSignature true; git config gpg.ssh.program "$P"\n'
        + "git config gpg.ssh.allowedSignersFile README.md",
        shows="git log -1",
    ),
    "signature of X.509": SetUp(
        lines=SIGNED.format("SIGNED MESSAGE")
        + 'git config log.showSignature true; git config gpg.x509.program "$P"',
        shows="git show HEAD",
    ),
    "alternate refs": SetUp(
        lines="git init -q other; git -C other commit -q --allow-empty -m x\n"
        'echo "$PWD/other/.git/objects" > .git/objects/info/alternates\n'
        'git config core.alternateRefsCommand "$P"',
        shows="git rev-list --alternate-refs -1",
    ),
    "an object to be fetched over SSH": SetUp(
        lines=LAZY + 'git config remote.origin.url ssh://h.invalid/r; git config core.sshCommand "$P"',
        shows=LOST,
    ),
    "an object to be fetched by a program": SetUp(
        lines=LAZY + 'git config remote.origin.url "$PWD"; git config remote.origin.uploadpack "$P"',
        shows=LOST,
    ),
    "an object to be fetched from ext": SetUp(
        lines=LAZY + 'git config remote.origin.url "ext::$P"; git config protocol.ext.allow always',
        shows=LOST,
    ),
    "an object to be fetched, by the extension alone": SetUp(
        lines=LAZY
        + "git config --unset remote.origin.promisor\n"
        + 'git config remote.origin.url "ext::$P"; git config protocol.ext.allow always',
        shows=LOST,
    ),
    "an object to be fetched through a rewritten address": SetUp(
        lines=LAZY
        + "git config remote.origin.url x:y; git config protocol.ext.allow always\n"
        + 'git config "url.ext::$P.insteadOf" x:y',
        shows=LOST,
    ),
    "included": SetUp(
        lines='printf \'[core]\\n\\tfsmonitor = "%s"\\n\' "$P" > odd; git config include.path ../odd',
        shows="git status",
    ),
    "included on a branch": SetUp(
        lines='printf \'[diff]\\n\\texternal = "%s"\\n\' "$P" > odd\n'
        "git config includeIf.onbranch:main.path ../odd",
        shows="git diff",
    ),
    "a driver, included for a folder": SetUp(
        lines=ATTRIBUTES
        + STALE
        + 'printf \'[filter "z"]\\n\\tclean = "%s"\\n\' "$P" > odd\n'
        + 'git config "includeIf.gitdir:$PWD/.path" ../odd',
        shows="git status",
    ),
    "submodule": SetUp(
        lines="git init -q sub; git -C sub commit -q --allow-empty -m x\n"
        "git -c advice.addEmbeddedRepo=false add sub; git commit -qm sub\n"
        "printf '[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = ./sub\\n' > .gitmodules\n"
        'git -C sub config core.fsmonitor "$P"',
        shows="git status",
    ),
    "submodule that insists": SetUp(
        lines="git init -q sub; git -C sub commit -q --allow-empty -m x\n"
        "git -c advice.addEmbeddedRepo=false add sub; git commit -qm sub; touch sub/new\n"
        "printf '[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = ./sub\\n\\tignore = none\\n' > .gitmodules\n"
        "git config submodule.sub.ignore none; git config diff.ignoreSubmodules none\n"
        "git config status.submoduleSummary true; git config diff.submodule diff\n"
        "git config submodule.recurse true; git config submodule.sub.active true\n"
        'git -C sub config core.fsmonitor "$P"',
        shows="git diff",
    ),
    "configuration of a worktree": SetUp(
        lines="git config extensions.worktreeConfig true; git config core.repositoryFormatVersion 1\n"
        'git config --worktree core.fsmonitor "$P"',
        shows="git status",
    ),
    "alias": SetUp(
        lines='git config alias.lg "!$P"; git config alias.status "!$P"; git config alias.log "!$P"',
        shows="git lg",
    ),
    "editor": SetUp(lines='git config core.editor "$P"', shows="git branch --edit-description"),
    "filter of interactive diffs": SetUp(lines='git config interactive.diffFilter "$P"'),
    "git folder in the tree": SetUp(
        lines='mv .git meta; echo "gitdir: meta" > .git; git config core.fsmonitor "$P"', shows="git status"
    ),
    "git folder elsewhere": SetUp(
        lines='mv .git ../meta; echo "gitdir: ../meta" > .git; git config core.fsmonitor "$P"',
        shows="git status",
    ),
    "git folder behind a link": SetUp(
        lines='mv .git ../meta; ln -s ../meta .git; git config diff.external "$P"', shows="git diff"
    ),
    "common folder elsewhere": SetUp(
        lines="cp -a .git ../meta; echo ../../meta > .git/commondir\n"
        'git config --file ../meta/config diff.external "$P"',
        shows="git diff",
    ),
    "files of a repository in the tree itself": SetUp(
        lines="cp -a .git/. .; rm -rf .git; git config --file config core.bare false\n"
        'git config --file config core.worktree "$PWD"; git config --file config core.fsmonitor "$P"',
        shows="git status",
    ),
    "a repository below": SetUp(
        lines="git init -q --bare inner; git --git-dir inner config core.bare false\n"
        'git --git-dir inner config core.worktree "$PWD"; git --git-dir inner config core.fsmonitor "$P"',
        shows="cd inner && git status",
        also=("cd inner && git status", "git -C inner status", "git -C inner log -p"),
    ),
    "programs in the working folder": SetUp(
        lines="for name in ls git grep cat rg sh bash sed env; do cp x $name; done",
        shows="PATH=.:$PATH; ls",
        environment={"PATH": f".::bin:{os.environ['PATH']}"},
    ),
    "a search path into the project": SetUp(
        lines='printf \'#!/bin/sh\\n"%s"\\n\' "$P" > bin/bash; chmod +x bin/bash; cp bin/bash bin/git',
        shows='PATH="$PWD/bin:$PATH"; ls',
        environment={"PATH": f"{{project}}/bin:{os.environ['PATH']}"},
    ),
    "start-up file": SetUp(
        lines='echo "$P" > start', shows="BASH_ENV=start bash -c ls", environment={"BASH_ENV": "start"}
    ),
    "exported function": SetUp(
        lines="",
        shows="export BASH_FUNC_ls%%='() { ./x; }'; env \"BASH_FUNC_ls%%=() { ./x; }\" bash -c ls",
        environment={"BASH_FUNC_ls%%": "() { ./x; }", "BASH_FUNC_git%%": "() { ./x; }"},
    ),
    "shell options": SetUp(
        lines="",
        environment={"SHELLOPTS": "xtrace", "PS4": "$(./x)", "BASHOPTS": "extglob"},
    ),
    "variables of git": SetUp(
        lines="",
        shows="GIT_EXTERNAL_DIFF=./x git diff",
        environment={
            "GIT_EXTERNAL_DIFF": "./x",
            "GIT_PAGER": "./x",
            "GIT_SSH_COMMAND": "./x",
            "GIT_CONFIG_PARAMETERS": "'core.fsmonitor=./x'",
            "GIT_CONFIG_GLOBAL": "evilhome/.gitconfig",
            "GIT_TRACE": "{project}/pwned",
            "GIT_TRACE2": "{project}/pwned",
            "GIT_EXEC_PATH": "bin",
        },
    ),
    "variables of git, counted": SetUp(
        lines="",
        shows="GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=./x git status",
        environment={
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.fsmonitor",
            "GIT_CONFIG_VALUE_0": "./x",
        },
    ),
    "variables of others": SetUp(
        lines="",
        shows="RIPGREP_CONFIG_PATH=rgrc rg foo",
        environment={"RIPGREP_CONFIG_PATH": "rgrc", "LESSOPEN": "|./x %s", "PAGER": "./x", "EDITOR": "./x"},
    ),
    "the person's own configuration": SetUp(
        lines='git config --global core.fsmonitor "$P"; git config --global diff.external "$P"',
        shows="git diff",
    ),
    "the person's own trace": SetUp(
        lines='git config --global trace2.normalTarget "$PWD/pwned"', shows="git status"
    ),
    "untracked cache": SetUp(
        lines=f"{STALE}git config core.untrackedCache true; git update-index --untracked-cache"
    ),
    BEHIND_A_WALL: SetUp(lines=f"git update-index --split-index\n{STALE}touch -d 2020-01-01 .git/shared*"),
    "a great many drivers": SetUp(
        lines='for n in $(seq 300); do printf \'[filter "z%s"]\\n\\tclean = "%s"\\n\' $n "$P"; done'
        " >> .git/config\nprintf '*.md filter=z9\\n' > .gitattributes\n" + STALE,
        shows="git status",
    ),
    "a configuration that is none": SetUp(lines='git config core.fsmonitor "$P"; echo "[" >> .git/config'),
}
TRAPS = [name for name, setup in SETUPS.items() if setup.shows]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return build(Path(os.path.realpath(tmp_path_factory.mktemp("ground"))) / "template")


@pytest.fixture
def ground(template: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    made = copy(template, Path(os.path.realpath(tmp_path)) / "g")
    monkeypatch.setenv("HOME", str(made.home))
    return made


def lay(setup: SetUp, ground: Ground) -> None:
    """Run the lines of a set-up; what they themselves set off is cleared away."""
    plain = {"P": ground.program(), "GIT_CONFIG_NOSYSTEM": "1"}
    names = {
        f"GIT_{role}_{part}": "a@example.invalid"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    subprocess.run(
        ["bash", "-e", "-c", setup.lines],
        cwd=ground.project,
        env=ground.environment(**plain, **names),
        check=True,
        capture_output=True,
    )
    (ground.project / "pwned").unlink(missing_ok=True)


def environment_of(setup: SetUp, ground: Ground) -> dict[str, str]:
    return {
        name: value.replace("{project}", str(ground.project)) for name, value in setup.environment.items()
    }


@pytest.mark.parametrize("name", TRAPS)
def test_the_traps_work(name: str, ground: Ground) -> None:
    setup = SETUPS[name]
    if " rg " in setup.shows and shutil.which("rg") is None:
        pytest.skip("ripgrep is not here")
    lay(setup, ground)
    command = ["bash", "-c", setup.shows]
    if setup.tty:
        command = [sys.executable, "-c", "import pty, sys; pty.spawn(sys.argv[1:])", *command]
    environment = ground.environment(TERM="dumb", GIT_CONFIG_NOSYSTEM="1")
    subprocess.run(
        command,
        cwd=ground.project,
        env=environment,
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=30,
    )
    assert (ground.project / "pwned").exists() or list(ground.root.rglob("pwned"))


def test_the_reads_are_allowed_A6(ground: Ground) -> None:
    refused = {read: why for read in READS if (why := decide(read, ground)[1])}
    assert refused == {}


@pytest.mark.parametrize(
    ("name", "walled"),
    [*((name, False) for name in SETUPS), *((name, True) for name in list(SETUPS)[::10])],
)
def test_looking_around_runs_nothing_and_changes_nothing_A6(name: str, walled: bool, ground: Ground) -> None:
    setup = SETUPS[name]
    if name == BEHIND_A_WALL and (not walled or standing().name == "none"):
        pytest.skip("the date of one file is new, without a wall")
    lay(setup, ground)
    before = snapshot(ground.root)
    with nullcontext() if walled else without_wall():
        for read in (*(FIRST_LOOKS if walled else LOOKS), *setup.also):
            answer = as_fork(read, ground, **environment_of(setup, ground))
            assert RAN not in answer.text, read
            assert changes(before, snapshot(ground.root)) == [], read
            assert leaks(answer.text) == [], read


PEEKS = (
    *("git status", "git diff", "git ls-files", "git ls-files -o", "git grep -n canary"),
    *("git grep --untracked canary", "git grep --no-index canary"),
)


@pytest.mark.parametrize("place", ["../h", "/"])
def test_a_repository_whose_tree_is_elsewhere_shows_nothing_of_it_A6(place: str, ground: Ground) -> None:
    lay(SetUp(lines=f"git config core.worktree {'../' * (place != '/')}{place}"), ground)
    for look in PEEKS:
        answer = as_fork(look, ground)
        assert leaks(answer.text) == [], look
        assert ".ssh" not in answer.text, look


LINKED = (
    "cat keys/id_rsa",
    "cat keys/*",
    "cat k*/id_rsa",
    "head -n 5 key",
    "grep -rn canary keys/",
    "grep -Rn canary .",
    "grep -n canary key",
    "rg -L canary",
    "find -L . -name 'id_*'",
    "cat < key",
    "sort key",
    "cd keys && cat id_rsa",
    "diff key README.md",
    "git diff --no-index README.md key",
)


@pytest.mark.parametrize("command", LINKED)
def test_a_link_to_credentials_is_not_followed_A8(command: str, ground: Ground) -> None:
    lay(SetUp(lines="ln -s ../h/.ssh keys; ln -s ../h/.ssh/id_rsa key"), ground)
    assert leaks(as_fork(command, ground).text) == []


@pytest.mark.parametrize("text", ['[filter "z{}"]\n\tclean = ./x\n', '[filter "{0}a{0}"]\n\tclean = ./x\n'])
def test_a_configuration_beyond_measure_is_an_answer_and_no_accident_A6(text: str, ground: Ground) -> None:
    config = ground.project / ".git" / "config"
    sizes = range(60_000) if "z" in text else ["b" * 200_000]
    config.write_text(config.read_text("utf-8") + "".join(map(text.format, sizes)), "utf-8")
    answer = as_fork("git status", ground)
    assert answer.failed
    assert RAN not in answer.text
