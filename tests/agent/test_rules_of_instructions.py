"""`rules/**/*.md`: which files are rules, and what each is for (I3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.agent.instructions.rules import DEEPEST, parsed
from tests.agent.house import House


@pytest.mark.parametrize(
    ("header", "globs"),
    [
        ("paths: src/**/*.ts", ["src/**/*.ts"]),
        ("paths: src/**/*.{ts,tsx}, lib/**", ["src/**/*.{ts,tsx}", "lib/**"]),
        ('paths: "src/**/*.{ts,tsx}"', ["src/**/*.{ts,tsx}"]),
        ("paths: 'a/**, b/**'", ["a/**", "b/**"]),
        (
            "paths:\n  - src/**/*.{ts,tsx}\n  - 'lib/**'\n  - \"*.md\"\n",
            ["src/**/*.{ts,tsx}", "lib/**", "*.md"],
        ),
        ("paths:\n- a/**\n# no\n- b/** # why", ["a/**", "b/**"]),
        ('paths: ["a/**", b/*.{x,y}, "c,d"]', ["a/**", "b/*.{x,y}", "c,d"]),
        ('paths: [\n  "a/**",\n  b/**\n]', ["a/**", "b/**"]),
        ("paths: [abc]/x.ts", ["[abc]/x.ts"]),
        ("paths: src/[a,b].ts", ["src/[a,b].ts"]),
        ("paths: ./a/**, /b/**", ["a/**", "b/**"]),
        ("name: x\npaths: a/**  # only these\nother: y", ["a/**"]),
        ("paths:", []),
        ("paths: null", []),
        ("paths: []", []),
        ("name: x", []),
        ("paths: a\r\nname: y\r\n", ["a"]),
    ],
)
def test_what_a_rule_is_for_I3(header: str, globs: list[str]) -> None:
    body, found = parsed(f"---\n{header}\n---\n\nUse tabs.\n")
    assert (body.strip(), list(found)) == ("Use tabs.", globs)


def test_a_rule_without_frontmatter_is_all_text_I3() -> None:
    assert parsed("Use tabs.\n---\npaths: x\n---\n") == ("Use tabs.\n---\npaths: x\n---\n", ())
    assert parsed("---\npaths: x\nnever closed")[1] == ()
    assert parsed("\ufeff---\npaths: x\n---\nTabs.") == ("Tabs.", ("x",))


@given(st.text(alphabet=st.sampled_from("paths:-[]{},'\"\\# \n\r\tab*"), max_size=60))
def test_no_header_makes_the_parser_fail_I3(text: str) -> None:
    body, found = parsed(f"---\npaths:{text}\n---\nbody")
    assert isinstance(body, str)
    assert all(found)


def test_rules_without_paths_are_loaded_at_the_start_without_their_frontmatter_I3(house: House) -> None:
    house.file(".claude/rules/a.md", "---\nname: a\n---\nUse tabs.")
    house.file(".claude/rules/deep/er/b.MD", "Rebase.")
    house.file(".claude/rules/c.txt", "no")
    house.file(".claude/rules/for.md", "---\npaths: src/**\n---\nLater.")
    sources = house.gather()
    assert [(one.path.name, one.text, one.whole) for one in sources.files] == [
        ("a.md", "Use tabs.", False),
        ("b.MD", "Rebase.", True),
    ]
    assert [(rule.path.name, rule.globs, rule.root) for rule in sources.rules] == [
        ("for.md", ("src/**",), house.project)
    ]
    assert "Later." not in house.text()


def test_the_persons_rules_come_before_those_of_the_project_I3(house: House) -> None:
    house.file("~/.memdir/rules/z.md", "Mine.")
    house.file(".claude/rules/a.md", "Theirs.")
    assert house.names() == ["~/.memdir/rules/z.md", ".claude/rules/a.md"]


def test_links_within_rules_are_followed_and_loops_end_I3(house: House) -> None:
    house.file("shared/one.md", "One.")
    house.file("shared/more/two.md", "Two.")
    house.link(".claude/rules/shared", house.project / "shared")
    house.link("shared/loop", house.project / "shared")
    house.link("shared/self", "self")
    house.link(".claude/rules/again.md", house.project / "shared" / "one.md")
    assert house.names() == [".claude/rules/again.md", ".claude/rules/shared/more/two.md"]


def test_a_linked_folder_that_leads_outside_waits_as_one_I3(house: House) -> None:
    there = house.file("~/rules/one.md", "One.").parent
    house.file("~/rules/two.md", "Two.")
    house.link(".claude/rules/mine", there)
    sources = house.gather()
    assert sources.files == ()
    assert sources.outside == (there,)
    house.consents.decide(house.project, there, allowed=True)
    assert house.names() == [".claude/rules/mine/one.md", ".claude/rules/mine/two.md"]


def test_a_link_to_the_root_of_the_disk_is_not_walked_I3(house: House) -> None:
    house.link(".claude/rules/all", "/")
    assert [str(one) for one in house.gather().outside] == ["/"]


def test_too_many_rules_end_and_are_told_I3(house: House) -> None:
    for number in range(600):
        house.file(f".claude/rules/{number}.md", f"Number {number}.")
    sources = house.gather()
    assert len(sources.files) == 500
    assert "holds too many files" in sources.problems[0]


def test_rules_may_import_too_I3(house: House) -> None:
    house.file(".memdir/rules/a.md", "See @../../docs/x.md")
    house.file("docs/x.md", "X.")
    assert house.names() == [".memdir/rules/a.md", "docs/x.md"]


@pytest.mark.parametrize(
    "value", ["a" + " " * 400_000 + "b", "./" * 400_000 + "a", "[" * 400_000, "'" * 400_001, "- \n" * 100_000]
)
def test_no_header_takes_long_to_parse_I3(value: str) -> None:
    parsed(f"---\npaths: {value}\n---\nbody")


def test_folders_in_each_other_without_end_are_not_looked_into_and_that_is_told_I3(house: House) -> None:
    for depth in (DEEPEST, DEEPEST + 1):
        house.file(f".claude/rules/{'a/' * depth}{depth}.md", f"At {depth}.")
    assert house.names() == [f".claude/rules/{'a/' * DEEPEST}{DEEPEST}.md"]
    assert any("too many files" in problem for problem in house.gather().problems)


def test_the_patterns_of_all_rules_share_a_budget_and_the_rest_is_told_I3(house: House) -> None:
    house.file("~/.memdir/rules/mine.md", "---\npaths: '*.py'\n---\nMine.")
    for number in range(20):
        many = ",".join(f"{number}-{choice}" for choice in range(900))
        house.file(f".claude/rules/{number:02}.md", f"---\npaths: '{{{many}}}{'[ab]*' * 10}'\n---\nx")
    found = house.gather()
    assert found.rules[0].path.name == "mine.md"
    assert 1 < len(found.rules) < 10
    assert any("19.md is for too many paths" in problem for problem in found.problems)
