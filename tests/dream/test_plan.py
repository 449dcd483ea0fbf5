"""Before, after and reasons -> what becomes of each line: each one that went is accounted for, or lost."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.dream.files import Snapshot
from memdir.dream.plan import Change, Plan, derive
from memdir.dream.plan import page as pages
from memdir.dream.plan.facts import facts
from memdir.dream.plan.reasons import Reasons, read
from memdir.dream.plan.standing import facts_of


def snap(files: Mapping[str, str | bytes]) -> Snapshot:
    return Snapshot(
        files={file: data.encode() if isinstance(data, str) else data for file, data in files.items()},
        mtimes={},
    )


def because(*lines: Mapping[str, str], files: tuple[Mapping[str, str], ...] = ()) -> Reasons:
    return read(json.dumps({"version": 1, "files": files, "lines": lines}).encode())


def plan_of(
    before: Mapping[str, str | bytes], after: Mapping[str, str | bytes], reasons: Reasons | None = None
) -> Plan:
    return derive(snap(before), snap(after), reasons or Reasons())


def fates(plan: Plan) -> list[tuple[str, str, str | None]]:
    return [(line.fate, line.text, line.to) for line in plan.lines]


def of(plan: Plan) -> list[str]:
    return [line.fate for line in plan.lines]


FACT = "We use pnpm for all packages"


# -- a line that still stands


@pytest.mark.parametrize(
    "after",
    [
        FACT,
        f"- {FACT}.\n",
        f"* **{FACT}**\n",
        "1. We use `pnpm` for all packages\n",
        f"> {FACT}\n",
        f"# Tools\n\n- other\n  - {FACT}\n",
        f"The tools are few. {FACT}. They are good.\n",
        "The tools are few. We use pnpm\nfor all packages. They are good.\n",
        f"---\nname: x\ndescription: {FACT}\n---\n",
        f"---\nname: x\ndescription: Tools; {FACT}\n---\n",
        f"\ufeff---\r\nname: x\r\n---\r\n\r\n- {FACT}\r\n",
        f"| what |\n|---|\n| {FACT} |\n",
        f"Intro\n- {FACT}\n- This is new and good\n",
    ],
)
def test_a_line_that_stands_in_other_clothes_is_not_gone_D8(after: str) -> None:
    assert of(plan_of({"a.md": FACT}, {"a.md": after})) == []
    assert fates(plan_of({"a.md": FACT}, {"b.md": after})) == [("moved", FACT, "b.md")]


@pytest.mark.parametrize(
    "after",
    [
        "",
        f"<!-- {FACT} -->\n",
        f"x\n\n<!--\n{FACT}\n-->\n",
        f"<!--\n{FACT}\n",
        f"~~{FACT}~~\n",
        f"- ~{FACT}~\n",
        f"~~Old: gone. {FACT}. More~~\n",
        f"<del>{FACT}</del>\n",
        f'<span style="display:none">{FACT}</span>\n',
        f"<details>\n\n{FACT}\n</details>\n",
        f"<div hidden>\n{FACT}\n</div>\n",
        f"[//]: # ({FACT})\n",
        f"[x]: <> ({FACT})\n",
        f"```\n{FACT}\n```\n",
        f"~~~\n{FACT}\n",
        f"---\nname: x\nnote: {FACT}\n---\nbody\n",
        f"---\nname: {FACT}\n---\nbody\n",
        f"---\n# {FACT}\nname: x\n---\nbody\n",
        f"# {FACT}\n\nbody\n",
        f"![{FACT}](x.png)\n",
        f"[{FACT}](x.md)\n",
        f"It is not true that {FACT}\n",
        f"It would be wrong to say\n{FACT}\n",
        f"It would be wrong to say that:\n{FACT}\n",
        f"The following is false:\n\n- other\n- {FACT}\n",
        f"- Rejected\n  - {FACT}\n",
        f"{FACT} (outdated)\n",
        f"{FACT} no more\n",
        f"{FACT}, said Bob, who was wrong\n",
        f"{FACT}. This is no longer true.\n",
        f"- {FACT}\n- The line above is wrong\n",
        f"{FACT}\nNot any more.\n",
        f"None of this is true. {FACT}.\n",
        f"Everything below is outdated.\n\nSome text.\n\n- {FACT}\n",
        f"---\nname: x\ndescription: Ignore this file\n---\n- {FACT}\n",
        f"## Obsolete\n\n- {FACT}\n",
        f"## ❌\n\n- {FACT}\n",
        f"## What Bob wrongly believes\n\n- {FACT}\n",
        f"We decided against all of these\n\n- {FACT}\n",
        f"We decided against all of these\n- other\n- {FACT}\n",
        f"## What we don't do\n\n### Tools\n\n- {FACT}\n",
        f'He said "Old times. {FACT}. Ha." and lied\n',
        f"It is wrong (as we know. {FACT}. Yes) to go on\n",
        "We use pnpm for all pack ages\n",
        "Now we use pnpm for all packages\n",
        "we use pnpm for all packages\n",
        "We use PNPM for all packages\n",
        "We use рnpm for all packages\n",  # Cyrillic
        "We use pn\u200bpm for all packages\n",
        f"\u202e{FACT}\u202c\n",
        "We use pnpm\n\nfor all packages\n",
        "- We use pnpm\n- for all packages\n",
        "Here we use pnpm. For all packages there is a list.\n",
        "We use &#112;npm for all packages\n",
        "[x] We use pnpm for all packages\n",
        f"{FACT}?\n",
        "padding\n" * 2_000 + f"\n- {FACT}\n",
        "\n" * 2_000 + f"\n- {FACT}\n",
        "x" * 40_000 + f"\n\n- {FACT}\n",
        f"| banned |\n|---|\n| {FACT} |\n| not used |\n".replace("banned", "wrong"),
        f"以下内容已作废。\n\n- {FACT}\n",
    ],
)
def test_a_line_that_no_reader_would_take_for_it_is_lost_D8(after: str) -> None:
    assert fates(plan_of({"a.md": FACT}, {"a.md": after})) == [("lost", FACT, None)]
    assert fates(plan_of({"a.md": FACT}, {"b.md": after})) == [("lost", FACT, None)]


@pytest.mark.parametrize(
    "file",
    [
        "MEMORY.md",
        "logs/2026/03/x.md",
        "sessions/x.md",
        "team/x.md",
        ".MEMORY.md",
        ".x/a.md",
        "x.MD",
        "memory.md",
        "deep/MEMORY.md",
        "x.txt",
        "dream.json",
    ],
)
def test_what_is_no_topic_is_no_place_for_a_line_D8(file: str) -> None:
    assert of(plan_of({"a.md": FACT}, {file: FACT})) == ["lost"]


def test_a_new_file_that_a_disk_may_take_for_another_is_no_place_D8() -> None:
    assert of(plan_of({"a.md": FACT, "b.md": "- other"}, {"B.md": f"- {FACT}", "b.md": "- other"})) == [
        "lost"
    ]


def test_chinese_that_is_wrapped_anew_stands_and_turned_around_does_not_D8() -> None:
    before = {"a.md": "我们使用 pnpm\n管理所有的包。发布前要运行测试。\n"}
    assert of(plan_of(before, {"a.md": "- 我们使用 pnpm 管理所有的包。\n- 发布前要运行测试\n"})) == []
    assert of(plan_of(before, {"a.md": "我们使用pnpm管理所有的\n包。发布前要运行测试。"})) == []
    assert of(plan_of(before, {"a.md": "我们不使用pnpm管理所有的包。发布前要运行测试。"})) == ["lost", "lost"]
    assert of(plan_of({"a.md": "使用 pnpm"}, {"a.md": "不使用 pnpm"})) == ["lost"]
    assert of(plan_of({"a.md": "使用 pnpm"}, {"a.md": "我们从不\n使用 pnpm"})) == ["lost"]


def test_a_paragraph_may_be_wrapped_anew_and_its_sentences_stay_together_D8() -> None:
    before = {"a.md": "Ana owns billing, and has\ndone so since May. She is away\nuntil March.\n"}
    rewrapped = {
        "b.md": "Hello there.\nAna owns billing, and has done so\nsince May. She is away until March."
    }
    assert of(plan_of(before, rewrapped)) == ["moved"] * 3
    torn = {
        "b.md": "- Ana owns billing, and has done so since May\n- Bob owns CI\n- She is away until March\n"
    }
    assert "lost" in of(plan_of(before, torn))


def test_lines_of_a_paragraph_that_are_statements_of_their_own_stand_alone_D8() -> None:
    before = {
        "a.md": "**Why:** mocks passed, production failed\n"
        "**How to apply:** use the `db` fixture\nLikes tea\n"
    }
    assert (
        of(
            plan_of(
                before,
                {
                    "b.md": "- **How to apply:** use the db fixture\n- Why: mocks passed, production failed\n"
                    "- Likes tea\n"
                },
            )
        )
        == ["moved"] * 3
    )
    plan = plan_of(before, {"a.md": "**Why:** mocks passed, production failed\nLikes tea\n"})
    assert fates(plan) == [("lost", "**How to apply:** use the `db` fixture", None)]


def test_a_line_may_not_come_under_a_heading_that_makes_it_say_another_thing_D8() -> None:
    before = {"a.md": "# Who\n\n## Ana\n- owns billing\n\n## Bob\n- owns CI\n"}
    assert of(plan_of(before, {"a.md": "# Who\n## Bob\n- owns CI\n## Ana\n- owns billing\n"})) == []
    assert of(plan_of(before, {"a.md": "# Who\n## Ana\n- owns CI\n## Bob\n- owns billing\n"})) == [
        "lost",
        "lost",
    ]
    assert of(plan_of(before, {"a.md": "# Who\n- owns CI\n- owns billing\n"})) == ["lost", "lost"]
    assert of(plan_of({"a.md": "## Never\n- force push\n"}, {"a.md": "## Habits\n- force push\n"})) == [
        "lost"
    ]
    assert of(plan_of({"a.md": "## Never\n- force push\n"}, {"b.md": "## Don't\n- force push\n"})) == [
        "moved"
    ]
    assert of(plan_of({"a.md": "## Notes\n- likes tea\n"}, {"b.md": "## Details\n- likes tea\n"})) == [
        "moved"
    ]


def test_what_was_code_or_a_comment_may_stay_that_and_may_come_to_light_D8() -> None:
    before = {"a.md": "```\nmake test\n```\n<!-- ask Ana -->\n"}
    assert of(plan_of(before, {"b.md": "<!-- ask Ana -->\n```sh\nmake test\n```\n"})) == ["moved", "moved"]
    assert of(plan_of(before, {"b.md": "- ask Ana\n- `make test`\n"})) == ["moved", "moved"]
    assert of(plan_of(before, {"b.md": "<!-- make test -->\n- ask Ana\n"})) == ["lost", "moved"]


def test_a_key_of_the_header_that_is_not_ours_does_not_vanish_D8() -> None:
    before = {"a.md": "---\nname: a\nowner: Ana\nmetadata:\n  type: project\n  due: May\n---\n- x\n"}
    assert fates(plan_of(before, {"a.md": "---\nname: a\n---\n- x\n"})) == [
        ("lost", "owner: Ana", None),
        ("lost", "due: May", None),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "origin: told by Ana on the phone",
        "type: see Ana",
        "type: user # Ana said so",
        "modified: after the move",
        "description: first of two\ndescription: x",
        "# a remark",
        "no key at all",
        "metadata: some words",
        "origin:\n  session: s\n  who: Ana",
        "origins: told by Ana",
    ],
)
def test_nothing_hides_behind_a_key_of_ours_D8(line: str) -> None:
    before = {"a.md": f"---\nname: a\n{line}\n---\n- x\n"}
    assert "lost" in of(plan_of(before, {"a.md": "---\nname: a\n---\n- x\n"}))


def test_prose_of_the_index_may_go_into_a_topic_and_not_away_D8() -> None:
    index = "- [A](a.md) - x\n\nAsk before deploying.\n"
    before = {"a.md": "- one", "MEMORY.md": index}
    assert of(plan_of(before, {"a.md": "- one", "MEMORY.md": "- [A](a.md) - other\n"})) == ["lost"]
    assert of(plan_of(before, {"a.md": "- one"})) == ["lost"]
    assert of(plan_of(before, {"a.md": "- one", "MEMORY.md": ""})) == ["lost"]
    moved = plan_of(before, {"a.md": "- one\n- Ask before deploying", "MEMORY.md": "- [A](a.md) - x\n"})
    assert fates(moved) == [("moved", "Ask before deploying.", "a.md")]
    assert moved.needs == {"MEMORY.md": {"a.md"}}
    assert moved.index_changed


def test_what_goes_on_an_entry_of_the_index_counts_D8() -> None:
    before = {"MEMORY.md": "- [A](a.md) - x\ngoes on here\n  - and here\n"}
    assert fates(plan_of(before, {"MEMORY.md": "- [A](a.md) - x\n"})) == [
        ("lost", "goes on here", None),
        ("lost", "and here", None),
    ]


def test_bytes_that_are_no_text_are_not_all_the_same_D8() -> None:
    assert of(plan_of({"a.md": b"- caf\xe9 one"}, {"a.md": b"- caf\xe8 one"})) == ["lost"]
    assert of(plan_of({"a.md": b"- caf\xe9 one"}, {"b.md": b"caf\xe9 one"})) == ["moved"]


# -- what dream.json says


def test_a_line_with_an_absolute_date_is_reworded_D8() -> None:
    was, now = "Yesterday we chose Postgres for billing", "On 2026-03-01 we chose Postgres for billing"
    line = {"file": "a.md", "was": was, "now": now, "why": "absolute date"}
    (gone,) = plan_of({"a.md": f"- {was}\n"}, {"a.md": f"- {now}\n"}, because(line)).lines
    assert (gone.fate, gone.to, gone.now, gone.why) == ("reworded", "a.md", now, "absolute date")
    (gone,) = plan_of({"a.md": f"- {was}\n"}, {"b.md": f"- {now}\n"}, because(line)).lines
    assert (gone.fate, gone.to) == ("reworded", "b.md")


@pytest.mark.parametrize("why", ["", "?", "…"])
def test_a_line_without_a_why_is_lost_D8(why: str) -> None:
    assert of(
        plan_of(
            {"a.md": f"- {FACT}\n- b"}, {"a.md": "- b"}, because({"file": "a.md", "was": FACT, "why": why})
        )
    ) == ["lost"]


@pytest.mark.parametrize(
    "after",
    [
        "- other",
        "<!-- {now} -->",
        "It is false that {now}",
        "## Rejected\n- {now}",
        "~~{now}~~",
        "# {now}\n- other",
    ],
)
def test_new_words_that_do_not_stand_there_explain_nothing_D8(after: str) -> None:
    now = "All packages use pnpm since May"
    reasons = because({"file": "a.md", "was": FACT, "now": now, "why": "shorter"})
    assert of(plan_of({"a.md": FACT}, {"a.md": after.format(now=now)}, reasons)) == ["lost"]


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("Releases need 3 approvals from leads", "Releases need 2 approvals from leads"),
        ("The freeze for billing begins 2026-03-01", "The freeze for billing begins 2026-04-01"),
        ("Do not deploy billing on Fridays", "Deploy billing on Fridays"),
        ("Deploy billing on Fridays", "Never deploy billing on Fridays"),
        ("Always run the migrations first", "Run the migrations first"),
        ("Only Ana deploys billing", "Ana deploys billing"),
        ("Caching is enabled for the billing gateway", "Caching is disabled for the billing gateway"),
        ("Logs are at https://logs.example/billing for Ana", "Logs are there for Ana, billing"),
        ("Run `make deploy` with --dry-run for billing", "Run deploy for billing make"),
        ("Ana reports to Bob in billing", "Bob reports to Ana in billing"),
        ("Ana owns billing, Bob owns the gateway, Carla owns search", "Ana owns billing"),
        ("Ask Ana before a release of billing", "The cafeteria opens early"),
    ],
)
def test_new_words_that_say_another_thing_give_the_old_ones_up_D8(was: str, now: str) -> None:
    line = {"file": "a.md", "was": was, "now": now, "why": "tidier wording"}
    plan = plan_of({"a.md": f"- {was}\n"}, {"a.md": f"- {now}\n"}, because(line))
    assert of(plan) == ["dropped"]
    assert plan.given_up == 1
    assert of(plan_of({"a.md": f"- {was}\n"}, {"a.md": f"- {now}\n"}, because({**line, "why": ""}))) == [
        "lost"
    ]


def test_a_figure_that_the_why_tells_of_may_go_D8() -> None:
    line = {
        "file": "a.md",
        "was": "Releases need 3 approvals from leads",
        "now": "Releases need 2 approvals from leads",
        "why": "2 rather than 3 since May",
    }
    assert of(plan_of({"a.md": line["was"]}, {"a.md": line["now"]}, because(line))) == ["reworded"]


def test_several_lines_made_one_have_all_their_words_in_it_D8() -> None:
    before = {"a.md": "- Ana owns billing\n- Ana owns search\n- Carla cooks\n"}
    after = {"a.md": "Ana owns billing and search"}
    one = {
        "file": "a.md",
        "was": "Ana owns billing\nAna owns search",
        "now": after["a.md"],
        "why": "one line",
    }
    assert of(plan_of(before, after, because(one))) == ["reworded", "reworded", "lost"]
    every = one | {"was": "- Ana owns billing\n- Ana owns search\n- Carla cooks"}
    assert of(plan_of(before, after, because(every))) == ["dropped"] * 3


def test_of_lines_made_one_none_takes_the_no_of_another_D8() -> None:
    before = {"a.md": "- Deploy billing on Mondays\n- Never deploy search on Fridays\n"}
    now = "Never deploy billing on Mondays, deploy search on Fridays"
    was = "Deploy billing on Mondays\nNever deploy search on Fridays"
    reasons = because({"file": "a.md", "was": was, "now": now, "why": "one line"})
    assert of(plan_of(before, {"a.md": now}, reasons))[0] == "dropped"


def test_each_sentence_of_a_line_that_went_has_to_be_named_D8() -> None:
    before = {"a.md": "- Ana owns billing. Bob owns CI. Carla cooks.\n"}
    one = {"file": "a.md", "was": "Bob owns CI.", "why": "he left"}
    two = {"file": "a.md", "was": "Carla cooks", "why": "she stopped"}
    assert of(plan_of(before, {"a.md": "- Ana owns billing.\n"}, because(one))) == ["lost"]
    assert of(plan_of(before, {"a.md": "- Ana owns billing.\n"}, because(one, two))) == ["dropped"]
    assert of(plan_of(before, {"a.md": ""}, because(one, two))) == ["lost"]


def test_a_reason_is_for_its_own_file_only_D8() -> None:
    assert of(
        plan_of({"a.md": FACT, "b.md": FACT}, {}, because({"file": "a.md", "was": FACT, "why": "wrong"}))
    ) == [
        "dropped",
        "lost",
    ]


def test_a_file_that_was_wrong_is_dropped_with_all_its_lines_and_only_if_it_is_gone_D8() -> None:
    wrong = because(files=({"file": "a.md", "why": "contradicted by b.md"},))
    plan = plan_of({"a.md": f"- {FACT}\n- two", "b.md": "- b"}, {"b.md": "- b"}, wrong)
    assert of(plan) == ["dropped", "dropped"]
    assert plan.changes == (Change(file="a.md", action="deleted", why="contradicted by b.md"),)
    assert plan.removed == ("a.md",)
    assert of(plan_of({"a.md": f"- {FACT}\n- two"}, {"a.md": "- two"}, wrong)) == ["lost"]


def test_a_file_that_went_into_another_needs_no_description_and_all_of_its_lines_D8() -> None:
    merged = because(files=({"file": "a.md", "into": "b.md", "why": "same subject"},))
    before = {"a.md": f"---\nname: a\ndescription: Packages\n---\n- {FACT}\n- two", "b.md": "- b"}
    plan = plan_of(before, {"b.md": f"- b\n- {FACT}\n- two"}, merged)
    assert of(plan) == ["dropped", "moved", "moved"]
    assert plan.changes[0] == Change(file="a.md", action="merged", into="b.md", why="same subject")
    assert plan.removed == ()
    plan = plan_of(before, {"b.md": f"- b\n- {FACT}"}, merged)
    assert of(plan) == ["dropped", "moved", "lost"]
    assert plan.removed == ("a.md",)
    assert of(plan_of(before, {"b.md": "- b"}, merged)) == ["lost", "lost", "lost"]
    assert of(plan_of(before, {"b.md": f"- b\n- {FACT}\n- two"})) == ["lost", "moved", "moved"]


# -- what becomes of files


def test_a_duplicate_that_stands_whole_elsewhere_is_no_loss_and_needs_nothing_D8() -> None:
    plan = plan_of({"a.md": FACT, "b.md": f"- {FACT}\n- b"}, {"b.md": f"- {FACT}\n- b"})
    assert plan.changes == (Change(file="a.md", action="merged", into="b.md"),)
    assert (plan.removed, plan.given_up, dict(plan.needs)) == ((), 0, {})


def test_a_file_with_another_name_is_renamed_and_counts_once_D8() -> None:
    text = f"---\nname: a\ndescription: d\nmodified: 2026-01-01\n---\n- {FACT}\n"
    plan = plan_of({"a.md": text}, {"b.md": text.replace("2026", "2027")})
    assert [(change.file, change.action, change.into) for change in plan.changes] == [
        ("a.md", "renamed", "b.md"),
        ("b.md", "created", None),
    ]
    assert (plan.removed, plan.files) == ((), ("a.md", "b.md"))
    assert plan.needs == {"a.md": {"b.md"}, "b.md": {"a.md"}}


def test_a_file_emptied_or_gutted_counts_as_removed_D8() -> None:
    before = {"a.md": "- one\n- two\n- three", "b.md": "- four"}
    assert plan_of(before, {"a.md": "", "b.md": "- four"}).removed == ("a.md",)
    assert plan_of(before, {"a.md": "- one", "b.md": "- four"}).removed == ("a.md",)
    assert plan_of(before, {"a.md": "- one\n- two", "b.md": "- four"}).removed == ()


def test_stamps_and_origins_are_no_change_D8() -> None:
    text = "---\nname: a\nmodified: 2026-01-01\norigin:\n  session: x\n---\n- one\n"
    other = text.replace("2026", "2027").replace("session: x", "worker: dream")
    assert plan_of({"a.md": text}, {"a.md": other}).is_empty
    assert plan_of({"a.md": text}, {"a.md": text.replace("name: a", "name: b")}).files == ("a.md",)


def test_a_link_follows_the_file_that_it_leads_to_D8() -> None:
    before = {"a.md": FACT, "b.md": "- See [tools](a.md) and [[a]] before you build\n"}
    after = {"c.md": f"- {FACT}\n- c", "b.md": "- See [tools](c.md) and [[c]] before you build\n"}
    assert fates(plan_of(before, after)) == [
        ("moved", FACT, "c.md"),
        ("moved", "See [tools](a.md) and [[a]] before you build", "b.md"),
    ]
    wrong = after | {"b.md": "- See [tools](evil.md) and [[c]] before you build\n"}
    assert of(plan_of(before, wrong)) == ["moved", "lost"]


def test_lines_that_change_places_need_each_other_D8() -> None:
    plan = plan_of({"a.md": "- one\n- x", "b.md": "- two\n- y"}, {"a.md": "- two\n- x", "b.md": "- one\n- y"})
    assert plan.needs == {"a.md": {"b.md"}, "b.md": {"a.md"}}


# -- laws

WORDS = st.sampled_from(
    [
        "We use pnpm",
        "Ana owns billing",
        "Never push to main",
        "Deploy on 2026-03-01",
        "使用 pnpm",
        "Likes tea. Drinks it",
        "not true",
        "This is no longer true",
        "# Tools",
        "## Never",
        "## Ana",
        "```",
        "<!--",
        "-->",
        "~~",
        "It is wrong that:",
        "| a | b |",
        "---",
        "",
        "  indented words",
        "of the old kind",
        "See [x](b.md)",
        "**Why:** it broke",
        "> quoted",
    ]
)
LINE = st.builds(str.__add__, st.sampled_from(["", "- ", "  - ", "1. "]), WORDS)
BODY = st.lists(LINE, max_size=8).map("\n".join)
HEAD = st.sampled_from(
    [
        "",
        "---\nname: n\ndescription: Ana owns billing\n---\n",
        "---\nname: n\nowner: Ana\n---\n",
        "---\nname: n\ndescription: all of it; Likes tea\ntype: user\n---\n",
    ]
)
FILES = st.dictionaries(
    st.sampled_from(["a.md", "b.md", "c.md", "d/e.md", "MEMORY.md"]),
    st.builds(str.__add__, HEAD, BODY),
    max_size=4,
)
REASONS = st.builds(
    lambda lines, files: because(*lines, files=tuple(files)),
    st.lists(
        st.fixed_dictionaries(
            {
                "file": st.sampled_from(["a.md", "b.md"]),
                "was": WORDS,
                "now": WORDS,
                "why": st.sampled_from(["", "because of May"]),
            }
        ),
        max_size=3,
    ),
    st.lists(
        st.fixed_dictionaries({"file": st.sampled_from(["a.md", "b.md"]), "why": st.just("wrong")}),
        max_size=1,
    ),
)


@given(FILES, REASONS)
def test_what_stays_as_it_is_makes_an_empty_plan_D8(files: dict[str, str], reasons: Reasons) -> None:
    plan = derive(snap(files), snap(files), reasons)
    assert plan.is_empty
    assert not plan.needs


@given(FILES)
def test_a_file_whose_bytes_are_only_written_anew_loses_no_line_D8(files: dict[str, str]) -> None:
    assert plan_of(files, {file: text + "\n" for file, text in files.items()}).lines == ()


@given(FILES, FILES, REASONS)
def test_the_order_of_files_makes_no_other_plan_D8(
    before: dict[str, str], after: dict[str, str], reasons: Reasons
) -> None:
    one = plan_of(before, after, reasons)
    two = plan_of(dict(reversed(before.items())), dict(reversed(after.items())), reasons)
    assert one == two


@given(FILES)
def test_each_line_that_says_something_is_looked_at_D8(files: dict[str, str]) -> None:
    for file, text in files.items():
        page = pages.read(file, text.encode())
        assert [fact.text for fact in facts_of(page)] == list(facts(file, text.encode()))
        assert all(fact.fine and fact.coarse for fact in facts_of(page))


@given(FILES, FILES)
def test_without_reasons_a_line_is_moved_or_lost_and_nothing_else_D8(
    before: dict[str, str], after: dict[str, str]
) -> None:
    plan = plan_of(before, after)
    assert set(of(plan)) <= {"moved", "lost"}


@given(FILES, FILES, REASONS)
def test_each_line_stands_or_has_one_fate_D8(
    before: dict[str, str], after: dict[str, str], reasons: Reasons
) -> None:
    plan = plan_of(before, after, reasons)
    assert plan.facts == sum(len(facts(file, text.encode())) for file, text in before.items())
    for file, text in before.items():
        told = [line.text for line in plan.lines if line.file == file]
        left = list(facts(file, text.encode()))
        for line in told:
            left.remove(line)  # at most as often as it stood there
        there = _bare(after.get(file, ""))
        assert all(_bare(line.split("|")[0].split(";")[0]) in there for line in left)


@settings(max_examples=300)
@given(FILES, FILES, REASONS, st.sets(st.sampled_from(["a.md", "b.md", "c.md", "d/e.md", "MEMORY.md"])))
def test_a_part_of_a_plan_with_all_it_needs_loses_no_line_D8(
    before: dict[str, str], after: dict[str, str], reasons: Reasons, chosen: set[str]
) -> None:
    plan = plan_of(before, after, reasons)
    while more := {need for file in chosen for need in plan.needs.get(file, ())} - chosen:
        chosen |= more
    result = {file: text for file, text in before.items() if file not in chosen}
    result |= {file: text for file, text in after.items() if file in chosen}
    given_up = {(line.file, line.text) for line in plan.lines if line.fate in ("dropped", "lost")}
    for line in plan_of(before, result, reasons).lines:
        assert line.fate in ("moved", "reworded") or (line.file, line.text) in given_up


def _bare(text: str) -> str:
    return " ".join(text.replace("*", "").split())


def test_a_thousand_files_are_compared_in_one_go_D8() -> None:
    body = "".join(f"- fact number {number}: we use `tool{number}` for **things**\n" for number in range(60))
    before = {f"f{number}.md": f"- file {number}\n{body}" for number in range(1_000)}
    after = {file: text for file, text in before.items() if file != "f7.md"}
    assert fates(plan_of(before, after))[0] == ("lost", "file 7", None)
