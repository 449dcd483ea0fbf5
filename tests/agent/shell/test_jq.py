"""A program of jq passes only when it cannot print the environment or load another file (A6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from memdir.agent.shell import jq
from tests.agent.shell.languages import Folder, installed, mutants

ALLOWED = [
    ".",
    "",
    ".a.b[0]",
    ".items[].name",
    ".dependencies | keys",
    ".[] | {name, version}",
    "[.items[] | select(.n > 1)]",
    'map(select(.type=="x")) | length',
    '.["a-b"].c',
    '."a-b"',
    ".a?",
    ".a[]?",
    '.a // "none"',
    ".[0:5]",
    ".[-1:]",
    'to_entries[] | "\\(.key): \\(.value)"',
    "group_by(.x) | map({x: .[0].x, n: length})",
    'select(.a | test("^x"; "i"))',
    "[.a, .b] | @csv",
    '@sh "echo \\(.a)"',
    '@base64 "x \\("y \\(1 + 1)")"',
    ". as $d | $d.a",
    ".[] as [$a, $b] | {$a, $b}",
    ".[] as {a: $x, b: [$y]} ?// $x | $x",
    '.packages | to_entries | map(select(.key | startswith("node_modules/")))',
    "del(.a)",
    'paths | map(tostring) | join(".")',
    "..|strings",
    '.. | objects | select(has("id")) | .id',
    'if type == "array" then length else keys end',
    "{a: (if . then 1 else 2 end), b: 3}",
    "{a: if . then 1, 2 else 3 end, b}",
    "reduce .[] as $i (0; . + $i)",
    "foreach .[] as $i (0; . + $i; .)",
    "label $out | .[] | if . then ., break $out else . end",
    "def f: . + 1; map(f)",
    "def f($x; g): $x | g; f(1; .)",
    'try error("x") catch .',
    "limit(3; .[])",
    "[inputs]",
    "input_filename, input_line_number",
    "$__loc__",
    "$ARGS.named",
    "{$__loc__}",
    "# a note: env\n.a",
    ".env",
    ".env.API_TOKEN",
    ".a.env",
    '.["env"]',
    '"env $ENV \\u0024ENV"',
    "{env: 1}",
    "{env}",
    "{a, env, b: 2}",
    "{env: .env, import: 1, if: 2}",
    ". as {env: $x} | $x",
    "1.5e3",
    ".end, .if, .import",
    'getpath(["env"])',
    "with_entries(.value |= length)",
    ".a = 1 | .b += 2 | .c //= 3",
    ".a != null and (.b or .c | not)",
    '"é 中"',
]

REFUSED = [
    "env",
    "env.API_TOKEN",
    "$ENV",
    "$ENV.API_TOKEN",
    "$ENV[]",
    "[env]",
    "(env)",
    "-env",
    "env?",
    ".a | env",
    ".a,env",
    ".. env",
    "..env",
    "...env",
    ". env",
    ".\nenv",
    "1.env",
    "1 env",
    ".[env]",
    ".[env:]",
    "map(env)",
    "limit(1; env)",
    "try env catch .",
    "if env then 1 else 2 end",
    "reduce env as $x (0; 1)",
    "env as $x | $x",
    "def f: env; f",
    "def env: 1; env",
    "def f(env): env; f(1)",
    '"\\(env)"',
    '"\\("\\(env)")"',
    '"a\\(1)b\\(env)"',
    '"a)\\(env)("',
    '@sh "\\(env)"',
    "@base64 env",
    '."\\(env)"',
    '{"\\(env)": 1}',
    "{(env | tostring): 1}",
    "{a: env}",
    "{a: .b | env}",
    "{env: env}",
    "{$ENV}",
    "{$ENV: 1}",
    "{a: if . then 1, env, 2 else 3 end}",
    "{a: if . then 1 else 2, env end}",
    "{a: . as $x | 1, env}",
    "{a: def f: 1, env, 2; f}",
    "[{a: 1}, env]",
    "{a: [1, env]}",
    "{a: f(1, env)}",
    "# note\nenv",
    "# note\\\nenv",
    "# note\\",
    "$ ENV",
    "$\nENV",
    "$__prog_args",
    "$__x",
    "$",
    "@",
    "@env",
    'import "a" as a; .',
    'include "a"; .',
    'import "a" as $a; $a',
    "modulemeta",
    '"a" | modulemeta',
    "get_search_list",
    "a::env",
    "$a::ENV",
    "getenv",
    "system",
    "some_function",
    "é",
    ".é",
    '"a',
    '"\\x"',
    '"\\(1"',
    '"\\(1]"',
    "(1]",
    "(1",
    "1)",
    "if . then 1",
    "end",
    "{a b}",
    ".\renv",
    "1\x0c",
    "!",
    "`env`",
    "." * 20_001,
]

EFFECTS = ["env", "$ENV", '"\\(env)"', "{a: if . then 1, env, 2 else 3 end}", "{$ENV}"]

COMMANDS = {"jq": ["jq"], "gojq": ["gojq"], "jaq": ["jaq"]}

PIECES = [
    "e", "$", ".", "@", '"', "\\", "(", ")", "[", "]", "{", "}", "|", ",", ":", ";", "#", "?", "/", "=",
    "-", "1", "a", "env", "$ENV", ".env", ",env", ",env,", "env:", "|env", "..", "\n", " ", " env ", '"\\(',
    "\\(env)", "# \\\n", "if . then ", " else ", " end", "def f: env; ", "as ", "{a:", "as $x|", "@text ",
    "@json ", "1.", ".1", "reduce ", "try ", "?//", "::", "map(env)", '\\"', "{$ENV}",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.at(tmp_path)


@pytest.mark.parametrize("program", ALLOWED)
def test_a_program_that_computes_passes_A6(program: str) -> None:
    assert jq.refusal(program) is None


@pytest.mark.parametrize("program", REFUSED)
def test_any_other_program_is_refused_in_one_short_sentence_A6(program: str) -> None:
    said = jq.refusal(program)
    assert said
    assert "\n" not in said
    assert len(said) < 110


def test_the_refusal_says_what_is_not_allowed_A6() -> None:
    assert jq.refusal("$ENV") == "jq may not print the environment ($ENV)"
    assert jq.refusal("nope") == "jq may only use functions that compute; nope is not known as one"


def test_programs_that_pass_print_nothing_of_the_environment_A6(folder: Folder) -> None:
    for command in installed(COMMANDS):
        for program in ALLOWED:
            folder.judge([*command, program], stdin="in.json")


def test_the_judge_sees_what_the_refused_ones_do_A6(folder: Folder) -> None:
    command = installed({"jq": ["jq"]})[0]
    for program in ("env", "$ENV", '"\\(env)"', "{$ENV}"):
        with pytest.raises(AssertionError):
            folder.judge([*command, program], stdin="in.json")


def test_no_change_of_a_program_slips_through_A6(folder: Folder) -> None:
    commands = installed(COMMANDS)
    passed = [text for text in mutants(5, 900, ALLOWED + EFFECTS, PIECES) if jq.refusal(text) is None]
    assert len(passed) > 50
    for program in passed[:60]:
        for command in commands:
            folder.judge([*command, program], stdin="in.json")
