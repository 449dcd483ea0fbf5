"""find passes only with primaries that look and print (A6)."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from memdir.agent.shell import find
from tests.agent.shell.languages import Folder, installed, mutants

ALLOWED = [
    "",
    ".",
    "-name x",
    ". -type f -mtime -7",
    ". -type f -size +10k -print",
    ". -name '*.md' -newer in.txt",
    ". -type f -printf '%s %p\\n'",
    ". -empty -type d",
    ". -iname 'memory*' -print0",
    ". -name '*delete*'",
    ". -type f ! -name '*.md'",
    ". -type f -not -name '*.md' -a -size 1 -o -true",
    ". \\( -name a -o -iname b \\) -prune -o -print",
    ". -maxdepth 1 -mindepth 1 -ls",
    ". -depth -type d",
    "-H . in.txt -links 1 , -true",
    "-P in.txt",
    ". -newermt 2024-01-01 -not -newermt '2024-02-01 10:00'",
    ". -neweraB in.txt",
    ". -samefile in.txt -quit",
    ". -anewer in.txt -cnewer other",
    ". -perm -u+x,g=r",
    ". -perm /222 -perm -644 -perm 0644",
    ". -user root -group root -uid 0 -gid +5",
    ". -regextype posix-extended -regex '.*\\.(py|md)'",
    ". -path './a/*' -wholename '*x' -ipath '*y'",
    ". -xtype l -lname '*x' -inum 5",
    ". -mmin +5 -amin -5 -cmin 5 -atime 1 -ctime 2",
    ". -readable -writable -executable -nouser -nogroup",
    ". -fstype ext4 -xdev -mount",
    "a b 'c d' -type f,d",
]

REFUSED = [
    ". -delete",
    ". -name x -delete",
    ". -name x -o -name y -delete",
    ". -exec touch out \\;",
    ". -exec touch out {} +",
    ". -execdir touch out \\;",
    ". -ok touch out \\;",
    ". -okdir touch out \\;",
    ". -fprint out",
    ". -fprint0 out",
    ". -fprintf out %p",
    ". -fls out",
    "-files0-from other",
    ". -files0-from other",
    "-L .",
    ". -follow",
    "-H -L .",
    "-O3 .",
    "-D exec .",
    "-D exec . -delete",
    "-f . -delete",
    "-s .",
    "-x .",
    "-X .",
    "-d .",
    "-E .",
    "-Hx .",
    "-- .",
    "--",
    ". --delete",
    ". -depth 5",
    ". -noleaf -delete",
    ". -name -delete",
    ". -path -exec",
    ". -newer -delete",
    ". -size -delete",
    ". -perm -delete",
    ". -maxdepth -delete",
    ". -mtime x",
    ". -user -delete",
    ". -printf -delete",
    ". -name '('",
    ". -name '!'",
    ". -name",
    ". -newer",
    ". -type f x",
    ". -newerxy in.txt",
    ". -newerat",
    ". -unknown",
    "-fstype /etc",
    ". -Delete",
    ". -name x '' ",
    "''",
    "'(x'",
    "'!x'",
    "',x'",
    ". -version",
    ". -help",
    ". '-dele\nte'",
]

EFFECTS = [". -name other -delete", ". -exec touch out ;", ". -fprint out", ". -fls out"]

COMMANDS = {"system": ["find"], "busybox": ["busybox", "find"]}

PIECES = [
    ".", "x", "-", "(", ")", "!", ",", ";", "{}", "+", "1", "f", "*", " -delete ", " -exec touch out ; ",
    " -fprint out ", " -fprintf out %p ", " -fls out ", " -name ", " -newer ", " -o ", " -a ", " ( ", " ) ",
    " ! ", " , ", " -L ", " -follow ", " -- ", " - ", " -maxdepth ", " -printf ", " -depth 1 ", " -perm ",
    " -size ", " --delete ", " -O3 ", " -f . ", " -files0-from in.txt ", " ",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.at(tmp_path)


@pytest.mark.parametrize("line", ALLOWED)
def test_an_expression_that_looks_and_prints_passes_A6(line: str) -> None:
    assert find.refusal(shlex.split(line)) is None


@pytest.mark.parametrize("line", REFUSED)
def test_any_other_expression_is_refused_in_one_short_sentence_A6(line: str) -> None:
    said = find.refusal(shlex.split(line))
    assert said
    assert "\n" not in said
    assert len(said) < 110


def test_the_refusal_says_what_is_not_allowed_A6() -> None:
    assert find.refusal([".", "-delete"]) == "find may not use -delete: nothing is changed from here"
    assert "use grep -r or rg" in str(find.refusal([".", "-name", "x", "-exec", "cat", "{}", ";"]))
    assert "leave it out" in str(find.refusal(["-L", ".", "-name", "x"]))
    assert find.refusal([".", "-fls0"]) == "find may not use -fls0"
    assert "places stand before" in str(find.refusal([".", "-name", "x", "src"]))


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("", (".",)),
        ("-type f", (".",)),
        ("a b/c -name x", ("a", "b/c")),
        ("-H a -name b", ("a",)),
        (". -newer b -o -samefile c ! -anewer d", (".", "b", "c", "d")),
        ("a -newerma b -newermt 2024-01-01", ("a", "b")),
        ("a -path b -name c -perm 644", ("a",)),
        ("a -delete", ()),
    ],
)
def test_starting_points_and_compared_files_are_named_A8(line: str, named: tuple[str, ...]) -> None:
    assert find.paths(shlex.split(line)) == named


def test_expressions_that_pass_leave_everything_as_it_was_A6(folder: Folder) -> None:
    for command in installed(COMMANDS):
        for line in ALLOWED:
            folder.judge([*command, *shlex.split(line)])


def test_the_judge_sees_what_the_refused_ones_do_A6(folder: Folder) -> None:
    command = installed({"system": ["find"]})[0]
    for line in (". -name other -delete", ". -exec touch out ;"):
        with pytest.raises(AssertionError):
            folder.judge([*command, *line.split()])
        (folder.path / "out").unlink(missing_ok=True)
        Folder.at(folder.path)


def test_no_change_of_an_expression_slips_through_A6(folder: Folder) -> None:
    commands = installed(COMMANDS)
    plain = [" ".join(shlex.split(line)) for line in ALLOWED] + EFFECTS
    passed = [line for line in mutants(5, 1500, plain, PIECES) if find.refusal(line.split(" ")) is None]
    assert len(passed) > 50
    for line in passed[:150]:
        for command in commands:
            folder.judge([*command, *line.split(" ")])
