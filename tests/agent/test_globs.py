"""Patterns of paths, as settings and rules have them: what fits, and what no pattern can do (I3)."""

from __future__ import annotations

import fnmatch
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.agent.instructions.globs import MOST, MOST_CHARACTERS, cost, escaped, expanded, matcher


@pytest.mark.parametrize(
    ("pattern", "fits", "not_"),
    [
        ("*.md", ["a.md", ".a.md"], ["d/a.md", "a.mdx", "a.md/b"]),
        ("**/*.ts", ["a.ts", "d/a.ts", "d/e/a.ts"], ["a.tsx"]),
        ("src/**/*.{ts,tsx}", ["src/a.ts", "src/d/e/a.tsx"], ["a.ts", "lib/a.ts", "src/a.js"]),
        ("src/**", ["src/a", "src/d/e"], ["src", "srcs/a"]),
        ("src/", ["src/a", "src/d/e"], ["src"]),
        ("**", ["a", "d/e/a"], []),
        ("**/api/**", ["api/a", "x/api/y/a"], ["api", "x/api"]),
        ("a?c[0-9][!x]", ["abc1y"], ["abc1x", "ac1y", "abcay"]),
        ("[^a]b", ["bb"], ["ab"]),
        ("[]]a", ["]a"], ["a"]),
        ("a[b", [], ["a[b", "ab"]),
        ("a[", [], ["a["]),
        ("[z-a]x", [], ["zx", "ax", "[z-a]x"]),
        (r"app/\[id\]/page.tsx", ["app/[id]/page.tsx"], ["app/i/page.tsx"]),
        (r"a\*b", ["a*b"], ["axb"]),
        ("./src/./a", ["src/a"], []),
        ("{a,b/{c,d}}.md", ["a.md", "b/c.md", "b/d.md"], ["b.md"]),
        ("{a}.md", ["{a}.md"], ["a.md"]),
        ("{a,b.md", ["{a,b.md"], ["a"]),
        ("a},{b", ["a},{b"], []),
        (r"\{a,b\}", ["{a,b}"], ["a"]),
        ("{,a}b", ["b", "ab"], []),
        ("a\nb*", ["a\nbc"], ["a"]),
        ("", [], ["a"]),
    ],
)
def test_what_a_pattern_fits_I3(pattern: str, fits: list[str], not_: list[str]) -> None:
    test = matcher([pattern])
    assert [path for path in fits if not test(path)] == []
    assert [path for path in not_ if test(path)] == []


def test_any_of_several_patterns_will_do_I3() -> None:
    test = matcher(["*.py", "docs/**"])
    assert (test("a.py"), test("docs/a"), test("a.js"), matcher([])("a")) == (True, True, False, False)


def test_braces_over_the_budget_are_taken_as_they_are_written_I3() -> None:
    assert len(expanded("{a,b,c,d,e,f,g,h,i,j}" * 3)) == MOST
    wild = "{a,b}" * 10
    assert len(expanded(wild)) == 1
    assert (matcher([wild])(wild), matcher([wild])("a" * 10)) == (True, False)
    assert len(expanded("{" + ",".join(map(str, range(1001))) + "}")) == 1


def test_the_budget_is_for_all_patterns_of_a_rule_I3() -> None:
    ten = "{0,1,2,3,4,5,6,7,8,9}"
    test = matcher([f"x{ten * 3}", f"y{ten}", "z"])
    assert (test("x123"), test("y1"), test(f"y{ten}"), test("z")) == (True, False, True, True)


@pytest.mark.parametrize(
    "pattern",
    ["{" * 8000, "{a," * 4000, "{a,b}" * 3000, "{" * 4000 + "a,b" + "}" * 4000, "," * 9000, "x" * 20_000],
)
def test_no_pattern_takes_long_to_expand_I3(pattern: str) -> None:
    assert matcher([pattern])("a") is False


@pytest.mark.parametrize(
    "pattern", ["*a" * 60 + "b", "**/" * 200 + "x", "?*" * 100 + "b", "[a-b]*" * 60 + "c"]
)
def test_no_pattern_takes_long_to_compare_I3(pattern: str) -> None:
    assert matcher([pattern])("a" * 250) is False
    assert matcher([pattern])("/".join(["a"] * 250)) is False


@given(st.text(alphabet=st.sampled_from("ab/{},*?[]\\!"), min_size=1, max_size=12))
def test_an_escaped_path_fits_itself_alone_I3(path: str) -> None:
    plain = path.strip("/") or "a"
    while "//" in plain:
        plain = plain.replace("//", "/")
    test = matcher([escaped(plain)])
    assert test(plain)
    assert not test(plain + "x")


LETTERS = st.text(alphabet=st.sampled_from("ab{},*?[]\\/!^-."), max_size=25)


@given(LETTERS, st.text(alphabet="ab/.", max_size=12))
def test_no_pattern_fails_and_the_budget_holds_I3(pattern: str, path: str) -> None:
    assert 1 <= len(expanded(pattern, most=50)) <= 50
    assert isinstance(matcher([pattern])(path), bool)


@given(st.lists(st.text(alphabet=string.ascii_lowercase, min_size=1, max_size=4), min_size=2, max_size=6))
def test_braces_stand_for_each_of_their_parts_in_order_I3(parts: list[str]) -> None:
    assert expanded(f"x{{{','.join(parts)}}}y") == [f"x{part}y" for part in parts]


@given(st.text(alphabet="ab*?", min_size=1, max_size=8), st.text(alphabet="ab", min_size=1, max_size=8))
def test_within_one_name_a_pattern_is_what_it_is_everywhere_I3(pattern: str, name: str) -> None:
    if pattern != "**":
        assert matcher([pattern])(name) == fnmatch.fnmatchcase(name, pattern)


def test_braces_are_not_expanded_before_a_long_text_or_in_front_of_one_I3() -> None:
    many = "{" + ",".join(map(str, range(900))) + "}"
    for pattern in (many + "x" * 3000, "x" * 3000 + many, f"{{{'x' * 2000},y}}{many}"):
        assert expanded(pattern) == [pattern.replace("{", "\\{").replace("}", "\\}")]
    assert matcher([many + "x" * 3000])("1" + "x" * 3000) is False


def test_what_many_long_patterns_cost_has_an_end_I3() -> None:
    assert cost(["x" * 4000] * 2000) < MOST_CHARACTERS * 1.1
    test = matcher(["a", *["x" * 4000] * 2000, "b"])
    assert (test("a"), test("x" * 4000), test("b")) == (True, True, False)
