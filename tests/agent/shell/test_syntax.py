"""A command line as commands and operators; what isn't wholly understood is refused (A6)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memdir.agent.shell.refused import Refused
from memdir.agent.shell.syntax import LONGEST, MOST_COMMANDS, Command, Source, parts


def shape(text: str) -> str:
    """The line with `w` for each word of a command."""
    shown = []
    for part in parts(text):
        match part:
            case Command(words=words, fed=fed):
                shown.append(" ".join("w" for _ in words) + ("*" if fed else ""))
            case Source(operator=operator):
                shown.append(f" {operator} w")
            case operator:
                shown.append(operator)
    return "".join(shown)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls", "w"),
        ("ls -la src", "w w w"),
        ("\tls\n", "w"),
        ("ls | head -5", "w | w w*"),
        ("ls |& cat", "w 2>&1 | w*"),
        ("ls && pwd || true; id", "w && w || w; w"),
        ("ls &&\n  pwd |\n cat", "w && w | w*"),
        ("ls\n\npwd\n", "w; w"),
        ("ls;", "w"),
        ("(ls; pwd) | cat", "( w; w ) | w*"),
        ("ls | (cat; wc)", "w | ( w*; w* )"),
        ("{ ls; pwd; }", "{ w; w; }"),
        ("! ls | wc", "! w | w*"),
        ("cat < a", "w* < w"),
        ("cat <<< 'x'", "w* <<< w"),
        ("ls 2>/dev/null >&2 2>&1 &>/dev/null", "w 2>/dev/null >&2 2>&1 &>/dev/null"),
        ("ls >> /dev/null", "w >/dev/null"),
        ("ls # and a word\npwd", "w; w"),
        ("# first\nls", "w"),
        ("echo a#b '#c'", "w w w"),
        ("[ -f x ] && ls", "w w w && w"),
        ("[[ ! -f x ]] || [ a = 'b c' ]", "w w w w || w w w w"),
        ("ls *.{md,txt} {a,b}{c,d}", "w w w w w w w"),
        ("ls '{a,b}' HEAD@{1} {}", "w w w w"),
        ("ls -l \\\n  src", "w w w"),
    ],
)
def test_commands_come_with_the_operators_between_them_A6(text: str, expected: str) -> None:
    assert shape(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "\n", "#x", "()", "ls &", "ls & pwd", "ls;;pwd", "ls ;; pwd", "ls )", "(ls", "ls |",
        "| ls", "&& ls",
        "ls > out", "ls >> out", "ls >| out", "ls &> out", "ls 2> out", "ls <> out", "> out",
        "1>/dev/null ls",
        "ls >/dev/null -la", "ls > '/dev/null'", "ls > /dev/nul?", "ls > /dev/null/../x", "ls 3>/dev/null",
        "ls 2>&-", "ls >&3", "ls <&0", "ls 1>x 2>&1", "cat <<EOF\nx\nEOF", "cat <<'EOF'\nx\nEOF",
        "cat <<-EOF\nx\nEOF", "cat <(ls)", "ls >(cat)", "echo $(ls)", "echo `ls`", "x=1", "x=1 ls",
        "x=(1)", "x+=1",
        "export x=1", "declare -x a=1", "local a", "readonly a", "typeset a", "unset a", "f() { ls; }",
        "function f { ls; }", "for a in b; do ls; done", "for ((;;)); do ls; done", "while true; do ls; done",
        "until ls; do ls; done", "if ls; then ls; fi", "case a in a) ls;; esac", "select a in b; do ls; done",
        "[ -f x", "[[ -f x && -f y ]]", "[[ a =~ b ]]", "((1))", "echo $((1))", "echo $[1]", "'ls'",
        "\"ls\"", "\\ls", "l\\s",
        "l''s", "$x", "${x}", "*", "./l?", "echo hello \\ # x", "echo hello \\ #\ntouch x", "ls\\\n-la",
        "l\\\ns",
        "ls # a \\\npwd", "ls\r", "ls\x00", "ls\x1b[A", "ls\x0bpwd", "ls\x0cpwd", "ls\u2028pwd",
        "ls\u00a0-la",
        "ls\ud800", "a" * (LONGEST + 1), "; ".join(["ls"] * (MOST_COMMANDS + 1)), "(" * 30 + "ls" + ")" * 30,
        "echo {1..3}", "echo a{b,$c}", "echo {a,b", "{a,b}", "ls 'a", 'ls "a', "ls ${x:-a}", "ls <<< $x",
        "cat <<< $(ls)",
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused_with_a_reason_A6(text: str) -> None:
    with pytest.raises(Refused) as refused:
        parts(text)
    assert str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "\u423d\U0005ff05?\U000cb5f5\u67fe?)\u9fdf\xe9\u91ef(\u05f7\U000f125als\n?))[[)\ucf5d]\U0009fa19{\U0009f2aa",
        "|(\u452c;<{\U000da98di",
    ],
)
def test_characters_that_the_grammar_cannot_bear_end_no_process_A6(text: str) -> None:
    """A parser that gets them reads at random places of memory: most of the time, that kills the process."""
    asked = "import sys; from memdir.agent.shell import check; sys.exit(check(sys.stdin.read()).allowed)"
    ran = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", asked], input=text.encode(), capture_output=True
    )
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_letters_of_any_script_are_letters_A6() -> None:
    assert shape("cat 笔记.md '\U0001f600.md' é") == "w w w w"
    with pytest.raises(Refused):
        parts("cat \U0001f600.md")
