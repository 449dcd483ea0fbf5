"""A program of awk passes only when it reads and prints (A6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from memdir.agent.shell import awk
from tests.agent.shell.languages import Folder, installed, mutants

ALLOWED = [
    "",
    "1",
    "{print}",
    "{print $1}",
    "{print $1, $NF}",
    "{print $(NF-1)}",
    "{print -$1}",
    "{print length}",
    "NR==5",
    "NR>=10 && NR<=20",
    "NR>=10{print} NR==20{exit}",
    "NR%2==0",
    "FNR==1{print FILENAME; nextfile}",
    '/^## /{print NR": "$0}',
    "/a/ || /b/",
    "!/^#/ && NF",
    "/start/,/end/",
    "/a\\.b/",
    "/\\/usr\\/bin/",
    "/[^\\/]+$/",
    "/[[:space:]]+$/",
    "/[^a-z_]/",
    "/[0-9]{4}-[0-9]{2}/",
    '/"name":/{gsub(/[",]/,"",$2);print $2}',
    "length($0) > 80",
    'length > 80{print FILENAME ":" FNR}',
    "$3 > 5",
    '$1=="foo"{print $2}',
    "$1 ~ /^[A-Z]/ && $2 !~ /x\\/y/",
    '$0 ~ "^/usr"',
    "$NF ~ /py$/",
    "{sum+=$3} END {print sum/NR}",
    "{print ($1+$2)/2}",
    "{print $1/($2+1), a[1]/2, 4/2}",
    "{a[$1]++} END {for (k in a) print k, a[k]}",
    "{c[$1]++} END{for(w in c) if (c[w] > 1) print w, c[w]}",
    "NR==FNR{a[$1];next} $1 in a",
    "!seen[$0]++",
    '{print $1\n$2 > "out"}',
    '{print $1; $2 > "out"} $1 > "out"',
    '{printf "%s %d\\n", $1, $2}',
    '{printf("%-20s %s\\n", $1, $2)}',
    '{gsub(/foo/,"bar"); print}',
    '{sub(/^[ \\t]+/, ""); print}',
    '{n=split($0, f, ":"); for (i = 1; i <= n; i++) print i, f[i]}',
    "{\n  n = split($0, f, /[,;]/)\n  for (i = n; i > 0; i--)\n    print i,\n      f[i]\n}",
    "match($0, /[0-9]+/) {print substr($0, RSTART, RLENGTH)}",
    '{print toupper(substr($1,1,1)) tolower($2), index($0, "x"), int($3)}',
    '{x = sprintf("%5.2f", $3); print x}',
    'BEGIN{FS=":"} {print $1}',
    'BEGIN { OFS="\\t" } { $1=$1; print }',
    'BEGIN{RS=""}{print $1}',
    "BEGIN{while (i < 5) print i++}",
    "{ if ($3 > 5) print $1; else print $2 }",
    "{ if (max < $1) max = $1 } END { print max }",
    '{ x = $1 > 5 ? "a" : "b"; print x }',
    '{ print ($1 > 5 ? "a" : "b") }',
    '{ print ($1 > 5), "x > y" }',
    "{do {i++} while (i < 5); print i}",
    "{delete a; delete b[1]; print}",
    "{x[NR]=$0} END{for(i=NR;i>0;i--) print x[i]}",
    "prev != $1 {print; prev=$1}",
    '# a note > "out"\n{ print }',
    '{print $1 # a note | "sh"\n}',
    "/^```/{f=!f;next} f",
    '{print "system(\\"x\\") | getline > out"}',
    "/system|getline/{print}",
    '{print "é" $1}',
]

REFUSED = [
    'BEGIN{system("touch out")}',
    'BEGIN{system ("touch out")}',
    '{print > "out"}',
    '{print>"out"}',
    '{print $1, $2 > "out"}',
    '{print ($1) > "out"}',
    '{print($1)($2) > "out"}',
    '{print ($1, $2) > "out"}',
    '{printf "x" > "out"}',
    '{printf("x") > "out"}',
    "{print $1 > $2}",
    '{print 1 > ("out")}',
    '{print a[1 > "out"]}',
    '{print 1 ? 2 : 3 > "out"}',
    '{print length > "out"}',
    '{print a,\nb > "out"}',
    '{print a &&\nb > "out"}',
    '{print a, # note\nb > "out"}',
    '{if (1) print 1 > "out"}',
    '{if (1) print (1) > "out"; else print}',
    '{print > "/dev/stderr"}',
    '{print >> "out"}',
    '{print $1 >>"out"}',
    '{print | "sh"}',
    '{print "touch out" | "sh"}',
    '{print |& "sh"}',
    '{"date" | getline}',
    'BEGIN{x="touch out"; x | getline y}',
    "{getline; print}",
    '{getline x < "other"; print x}',
    'BEGIN{while ((getline l < "other") > 0) print l}',
    'BEGIN{print ENVIRON["API_TOKEN"]}',
    "BEGIN{for (k in ENVIRON) print ENVIRON[k]}",
    "BEGIN{for (k in PROCINFO) print k}",
    'BEGIN{print SYMTAB["x"]}',
    'BEGIN{f="system"; @f("touch out")}',
    'BEGIN{ARGV[1]="other"; ARGC=2}',
    'BEGIN{FILENAME="other"}',
    'BEGIN{close("x")}',
    "BEGIN{fflush()}",
    'BEGIN{awk::system("touch out")}',
    '@load "filefuncs"',
    '@include "other"',
    "BEGINFILE{print}",
    "function f(x) {return x} {print f($1)}",
    "func f(x) {return x}",
    "{f($1)}",
    "{f ($1)}",
    '{print _"x"}',
    'BEGIN{OFMT="%n"; print 1.5}',
    "BEGIN{while (1) x++}",
    'BEGIN{while ("a") x++}',
    "BEGIN{for (;;) x++}",
    "BEGIN{do x++; while (1)}",
    '{x = "a\nb"}',
    '{x = "a\\\nb"}',
    '{print "a}',
    "/a",
    "/a\n/",
    "/[/]/{print}",
    '/[/"]/{print} # " {print > "out"}',
    "/[[]/",
    "/[\\]]/",
    "/[a/",
    "/=/",
    "{x /= 2}",
    'length / 2 "/ {print > " "out"} # /',
    "{x++ / 2}",
    '{if (x) / "/ print > "/" out"}',
    "{print /x/}",
    "{x = /x/}",
    '{print a \\\n > "out"}',
    "a\\\nb",
    "{print 'x'}",
    "{print `x`}",
    "{print 1x}",
    "{print 0x1F}",
    "{print é}",
    '# a note\\\n{print > "out"}',
    '{print $1\r> "out"}',
    "{print $1\x0b}",
    '{print "中\\" > "out"}',
    "{print",
    "{print (1}",
    "print)",
    '{(print 1 > "out")}',
    "1" * 20_001,
]

EFFECTS = [
    'BEGIN{system("touch out")}',
    '{print > "out"}',
    '{print | "touch out"}',
    "BEGIN{for (k in ENVIRON) print ENVIRON[k]}",
    'BEGIN{while ((getline l < "other") > 0) print l}',
]

COMMANDS = {
    "system": ["awk"],
    "gawk": ["gawk"],
    "mawk": ["mawk"],
    "busybox": ["busybox", "awk"],
    "bsd": ["original-awk"],
}

PIECES = [
    ">", "|", "/", '"', "\\", ";", "(", ")", "{", "}", "[", "]", "!", "$", ",", "+", "-", "*", "=", "<",
    "&", "?", ":", "#", "@", "1", "x", "print", "printf", "in", "length", "getline", "\n", " ", '>"out"',
    '> "out"', '>>"out"', '|"touch out"', 'system("touch out")', '>"out";', 'getline<"other"',
    '"cat other"|getline', '"/', '/"', "/=", "\\\n", "[/]", "/[/", "length /", "++", 'ENVIRON["API_TOKEN"]',
    "for(k in ENVIRON)print ENVIRON[k]", '# "\n', "if(x)/", "else ", '\\"', "\\/", "x/", "/x", '1>"out"',
    'print x>"out"', "}END{", "é", "/]/", "[^", 'ARGV[1]="other"', "print a,\n",
]  # fmt: skip

ASSIGNED = [
    "x=1",
    "FS=:",
    "OFS=\\t",
    "RS=",
    "ORS=\\n\\n",
    "name=touch out | sh > f",
    "x=a=b",
    "OFMT=%.2f",
    "_x1=$(x)",
    "x=é",
]

NOT_ASSIGNED = [
    "x",
    "=1",
    "1x=2",
    "a.b=1",
    "./x=1",
    "awk::x=1",
    "é=1",
    "ENVIRON=1",
    "PROCINFO=1",
    "ARGV=1",
    "ARGC=5",
    "FILENAME=other",
    "system=1",
    "getline=1",
    "print=1",
    "length=1",
    "OFMT=%n",
    "CONVFMT=%s%s",
    "x=a\nb",
    "x=a\\",
    "x=a\\\\\\",
    "x=a\rb",
]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.at(tmp_path)


@pytest.mark.parametrize("program", ALLOWED)
def test_a_program_that_reads_and_prints_passes_A6(program: str) -> None:
    assert awk.refusal(program) is None


@pytest.mark.parametrize("program", REFUSED)
def test_any_other_program_is_refused_in_one_short_sentence_A6(program: str) -> None:
    said = awk.refusal(program)
    assert said
    assert "\n" not in said
    assert len(said) < 120


@pytest.mark.parametrize("text", ASSIGNED)
def test_a_variable_may_be_set_A6(text: str) -> None:
    assert awk.refusal_of_assignment(text) is None


@pytest.mark.parametrize("text", NOT_ASSIGNED)
def test_a_variable_with_a_meaning_of_its_own_may_not_be_set_A6(text: str) -> None:
    assert awk.refusal_of_assignment(text)


def test_the_refusal_says_what_is_not_allowed_A6() -> None:
    assert awk.refusal('BEGIN{system("x")}') == "awk's system may not run programs"
    assert awk.refusal('{print | "sh"}') == "awk may not run programs (|)"


def test_programs_that_pass_leave_everything_as_it_was_A6(folder: Folder) -> None:
    for command in installed(COMMANDS):
        for program in ALLOWED:
            folder.judge([*command, program])
        for text in ASSIGNED:
            folder.judge([*command, "-v", text, "{print x, name}"])


def test_the_judge_sees_what_the_refused_ones_do_A6(folder: Folder) -> None:
    for command in installed(COMMANDS):
        for program in EFFECTS:
            with pytest.raises(AssertionError):
                folder.judge([*command, program])
            (folder.path / "out").unlink(missing_ok=True)


def test_no_change_of_a_program_slips_through_A6(folder: Folder) -> None:
    commands = installed(COMMANDS)
    passed = [text for text in mutants(5, 900, ALLOWED + EFFECTS, PIECES) if awk.refusal(text) is None]
    assert len(passed) > 100
    for program in passed[:120]:
        for command in commands:
            folder.judge([*command, program])
