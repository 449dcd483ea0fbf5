"""The words of one command against one entry: an allow list of options, values and operands (A6)."""

from __future__ import annotations

import pytest

from memdir.agent.shell.options import judge
from memdir.agent.shell.refused import Refused
from memdir.agent.shell.table import Entry, Operand, Value
from memdir.agent.shell.word import read

LOOK = Entry(
    name="look",
    flags=frozenset({"-a", "-l", "--all"}),
    values={
        "-n": Value(("number",), optional=False),
        "-f": Value(("file",), optional=False),
        "--lines": Value(("number",), optional=False),
        "--color": Value(("word:auto|never",), optional=True),
        "--arg": Value(("text", "text"), optional=False),
        "-e": Value(("text",), optional=False),
    },
    operands=(Operand("text", 1, 1), Operand("file", 0, None)),
    instead=frozenset({"-e"}),
    stdin=True,
    unless=frozenset({"-a"}),
    number=True,
)
SAY = Entry(
    name="say",
    flags=frozenset({"-n"}),
    values={},
    operands=(Operand("text", 0, None),),
    option_end=False,
    globs=True,
)
ONE = Entry(name="one", flags=frozenset(), values={}, operands=(Operand("file", 1, 1),))


def files(entry: Entry, line: str, *, fed: bool = False) -> list[str]:
    return [word.text for word in judge(entry, [read(raw) for raw in line.split()], fed=fed).files]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("x a b", ["a", "b"]),
        ("-la x a", ["a"]),
        ("-al -n 5 x a", ["a"]),
        ("-n5 -aln5 x a", ["a"]),
        ("-20 x a", ["a"]),
        ("--lines=5 --lines 6 --all x a", ["a"]),
        ("--color --color=auto x a", ["a"]),
        ("--arg b c x a", ["a"]),
        ("x a -l", ["a"]),
        ("x -- -l", ["-l"]),
        ("-f b x a", ["b", "a"]),
        ("-e x a", ["a"]),
        ("-ex -ey a b", ["a", "b"]),
        ("-a x", []),
        ("x src/*.py", ["src/*.py"]),
        ("x ./*", ["./*"]),
        ("x a*", ["a*"]),
    ],
)
def test_listed_options_values_and_operands_pass_A6(line: str, named: list[str]) -> None:
    assert files(LOOK, line) == named


@pytest.mark.parametrize(
    "line",
    [
        "-x x a", "-lx x a", "-xl x a", "--al x a", "--all=1 x a", "--line=5 x a", "-n x a", "-nx x a",
        "-n", "-n -5",
        "--lines", "--lines=x y a", "--color=always x a", "--color auto", "--arg=b c x a", "--arg b", "-e=",
        "-5x x a", "x", "", "--unknown", "x *", "x ?", "x [a]", "-n* x a", "-e *.py a", "--lin* x a", "x -*",
        "-f /dev/sda x a", "-f .env x a", "x .env", "x ~/.ssh/id_rsa", "x /proc/self/environ",
        "x /dev/../dev/zero",
        "x .*", "x a/.[a-z]*", "x '.'*",
    ],
)  # fmt: skip
def test_everything_else_is_refused_A6(line: str) -> None:
    with pytest.raises(Refused) as refused:
        files(LOOK, line)
    assert str(refused.value)


def test_a_command_that_waits_for_input_needs_a_file_or_a_pipe_A6() -> None:
    with pytest.raises(Refused, match="wait"):
        files(LOOK, "x")
    with pytest.raises(Refused, match="wait"):
        files(LOOK, "x -")
    assert files(LOOK, "x", fed=True) == []
    assert files(LOOK, "x -", fed=True) == ["-"]


def test_a_command_without_options_takes_them_as_text_A6() -> None:
    assert files(SAY, "-n --- -x --all -- *") == []


def test_one_name_is_no_place_for_wildcards_A6() -> None:
    assert files(ONE, "a") == ["a"]
    for line in ("a*", "a b", ""):
        with pytest.raises(Refused):
            files(ONE, line)


def test_an_option_with_wildcards_is_run_without_them_A6() -> None:
    judged = judge(LOOK, [read("--arg"), read("a"), read("b"), read("-ex*"), read("f")], fed=False)
    assert [word.rendered() for word in judged.words] == ["--arg", "a", "b", "'-ex*'", "f"]
