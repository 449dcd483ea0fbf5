"""A script of sed passes only when it reads and prints (A6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from memdir.agent.shell import sed
from tests.agent.shell.languages import Folder, installed, mutants

LOOPS = [":a;ba", ":a;$!N;ba", "/x/{:a;ba}", ":a;{ba}", ":a\n/x/{N};s/x/y/;b a", "p;:loop\np;b loop"]
"""Scripts that go round for ever on some line."""
ENDING = [":a;N;ba", ":a;$!{N;ba}", ":a;s/x/y/;ta", ":a;n;p;ba", "b;p", "ba;:a;p", ":a;/x/{s/x/y/;ba}"]

ALLOWED = [
    "1,20p",
    "5p",
    "$p",
    "$!d",
    "2,4p;6p",
    "10,20p\n20q",
    "10q",
    "1~2p",
    "0~4p",
    "0,/re/d",
    "/re/I,+3p",
    "2,~4p",
    "1, 3 p",
    "/start/,/end/p",
    "/start/,$p",
    "/^#/d",
    "/^$/d",
    "/a/!d",
    "/a/! d",
    "/^## /,/^## /p",
    "/a/,/b/{//!p}",
    "1,10{/a/p}",
    "1{p;q}",
    "{p}",
    "{p;};p",
    ";;p",
    "=",
    "$=",
    "l 80",
    "s/foo/bar/",
    "s/foo/bar/gI",
    "s/[^,]*,//2gp",
    "s/([a-z]+),/\\1:/",
    "s/[[:space:]]*$//",
    "s/[[:alpha:]_][[:digit:][:alpha:]]*/x/",
    "s/[^/]*$//",
    "s/[\\/]/_/g",
    "s/[]a]/x/;s/[^]a]/x/",
    "s/\\[x\\]/y/",
    "s/\\//_/g",
    "s|a/b|c|g",
    "s|a\\|b|c|",
    "s#http://#https://#g",
    "s,a,b,;s:a:b:;s@a@b@;s~a~b~",
    "s/a/w out/",
    "s/w out/e/",
    "s/a/\\n/;s/\\t/ /g",
    "s/a/&&/ # a note",
    "s/é/e/g;s/中文/x/",
    "s/x\\{2,\\}/y/",
    "\\,x,p",
    "\\#/usr#p",
    "y/abc/xyz/",
    "y/a\\/b/x\\/y/;p",
    ":a;N;$!ba;s/\\n/ /g",
    ":a\ns/a/b/\nta\np",
    "/x/b end;p;: end",
    "$!N;P;D",
    "1!G;h;$!d",
    "x;G;H;g;z",
    "#n the first line\np",
    "# w out\np",
    "1i above",
    "a w out",
    "2c e\np",
    "",
]

REFUSED = [
    "w out",
    "1w out",
    "1,3w out",
    "/foo/w out",
    "$!w out",
    "1! w out",
    "W out",
    "r other",
    "R other",
    "0r other",
    "e",
    "1e touch out",
    "1!e touch out",
    "F",
    "v",
    "s/a/b/w out",
    "s/a/b/ w out",
    "s/a/b/gw out",
    "s/a/b/pw out",
    "s/a/b/2w out",
    "s/.*/touch out/e",
    "s/.*/touch out/ge",
    "s/.*/touch out/Ie",
    "s/.*/touch out/e;p",
    "1p;2w out",
    "p\nw out",
    "p # note\nw out",
    "{p;w out\n}",
    "{p};w out",
    "{p}w out",
    "y/ab/cd/;w out",
    "y/a/b/w out",
    "y/[/x/;w out\n/]/y/",
    "s|a|b|w out",
    "s,a\\,b,c,w out",
    "s/a\\/b/c/w out",
    "s/a\\\\/b/w out",
    "\\|a|w out",
    "\\,a\\,b,w out",
    "/a\\/b/w out",
    "/[/]w out",
    "s/[/]/w out/",
    "s/a[/]/ g w out/",
    "s/[/]x/y/w out",
    "s/[\\]/]/w out/",
    "s/[/]a[]/]w x/w out/",
    "s/[\\[]/x/w out",
    "s/[[.a.]]/x/",
    "s/a/b\nw out/",
    "s/a/b\\\nc/",
    "s/a/b",
    "/a",
    "s",
    "sxaxbx",
    "s a b ",
    "s\\a\\b\\",
    "s\na\nb\n",
    "sé a é bé",
    "b x;w out",
    ":a w out",
    ":a;w out",
    "ba}w out",
    "# note\\\nw out",
    "a text\\\nw out",
    "a\\\ntext\nw out",
    "i\\",
    "a",
    "p p",
    "pw out",
    "1,2",
    "1,p",
    "!",
    "}",
    "{p",
    "p\rw out",
    "p\x0bw out",
    "s/中\\/w out/x/",
    "s|中|x|",
    "p\n" * 10_001,
    "#" + "x" * 2050 + "w out",
    "s/a/b/" + " " * 2050 + "w out",
]

EFFECTS = ["w out", "s/a/b/w out", "e touch out", "s/.*/touch out/e", "r other"]

COMMANDS = {
    "system": ["sed"],
    "extended": ["sed", "-E", "-n"],
    "busybox": ["busybox", "sed"],
}

PIECES = [
    "w", "e", "r", "W", "R", "F", "s", "y", "/", "|", ",", "#", ";", ":", "{", "}", "[", "]", "\\", "!",
    "$", "1", "+", "~", "p", "g", "I", "b", "\n", " ", "w out", "\nw out", "/w out", "/e", "e touch out",
    "r other", "\nr other\n", "W out", "\\\n", "[/]", "[^", "[]", "s/", "y/", ";w out;", "}w out", "\\[",
    "\\]", "[\\/]", "\\/", "a\\", "a ", "b a;w out", "é", "\\c", "[[:alpha:]]", "[.", " w out",
    "s/.*/touch out/e", "gw out", "#",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.at(tmp_path)


@pytest.mark.parametrize("script", ALLOWED)
def test_a_script_that_reads_and_prints_passes_A6(script: str) -> None:
    assert sed.refusal(script) is None


@pytest.mark.parametrize("script", LOOPS)
def test_a_loop_without_an_end_is_refused_A6(script: str) -> None:
    assert "must have an end" in str(sed.refusal(script))


@pytest.mark.parametrize("script", ENDING)
def test_a_loop_that_ends_with_the_input_or_has_a_condition_is_allowed_A6(script: str) -> None:
    assert sed.refusal(script) is None


@pytest.mark.parametrize("script", REFUSED)
def test_any_other_script_is_refused_in_one_short_sentence_A6(script: str) -> None:
    said = sed.refusal(script)
    assert said
    assert "\n" not in said
    assert len(said) < 110


def test_the_refusal_says_what_is_not_allowed_A6() -> None:
    assert sed.refusal("1w out") == "sed may not write files (w)"
    assert sed.refusal("s/a/b/e") == "sed may not run programs (the flag e of s)"


def test_scripts_that_pass_leave_everything_as_it_was_A6(folder: Folder) -> None:
    for command in installed(COMMANDS):
        for script in ALLOWED:
            folder.judge([*command, script])


def test_the_judge_sees_what_the_refused_ones_do_A6(folder: Folder) -> None:
    command = installed({"busybox": ["busybox", "sed"]})[0]
    for script in ("w out", "s/a/b/w out", "r other"):
        with pytest.raises(AssertionError):
            folder.judge([*command, script])
        (folder.path / "out").unlink(missing_ok=True)


def test_no_change_of_a_script_slips_through_A6(folder: Folder) -> None:
    commands = installed(COMMANDS)
    passed = [script for script in mutants(5, 900, ALLOWED + EFFECTS, PIECES) if sed.refusal(script) is None]
    assert len(passed) > 100
    for script in passed[:150]:
        for command in commands:
            folder.judge([*command, script])
