"""The selector by words (recall/local.py, recall/vocabulary.py)."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from memdir.memory import topic
from memdir.memory.index import Index
from memdir.memory.words import stem, words
from memdir.recall import local
from memdir.recall.local import KNOWN
from memdir.recall.verdict import Verdict
from memdir.recall.vocabulary import GROUPS, TRANSLATIONS, relatives

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A topic file, `age` days old."""

    file: str
    name: str
    description: str = ""
    type: str | None = None
    body: str = ""
    age: int = 0


def judge(
    query: str,
    memories: Sequence[Memory],
    *,
    tools: Sequence[str] = (),
    known: Sequence[str] = (),
    earlier: frozenset[str] = frozenset(),
) -> list[Verdict]:
    """The verdicts on a directory with these memories."""
    with TemporaryDirectory() as folder:
        for one in memories:
            path = Path(folder, one.file)
            text = topic.render(
                name=one.name, description=one.description or None, type=one.type, body=one.body
            )
            path.write_text(text, encoding="utf-8")
            os.utime(path, ((NOW - timedelta(days=one.age)).timestamp(),) * 2)
        index = Index(folder, cache=None, clock=time.time_ns)
        index.refresh()
        return local.judge(query, index, recent_tools=tools, known=known, earlier=earlier, now=NOW)


def rows(verdicts: Sequence[Verdict]) -> list[tuple[object, ...]]:
    return [(one.file, one.score, one.chosen, one.why, dict(one.words)) for one in verdicts]


DEPLOY = Memory(
    file="deploy.md",
    name="Deploying to production",
    description="gantry promote, canary, time window",
    type="project",
    body="Services go out with `gantry promote`. Monday to Thursday, never on a Friday.",
)
OLD_DEPLOY = Memory(
    file="deploy_old.md",
    name="Deploying with the tower script",
    description="How to deploy to production with tower.sh",
    type="project",
    body="Run `tower.sh prod`. Out of use since May, see deploy.md.",
)
TESTS = Memory(
    file="tests.md",
    name="Tests run against a real database",
    description="No mocks in repository tests",
    type="feedback",
    body="The person was burnt by a mock that hid a broken migration.",
)
USAGE = Memory(
    file="zed_usage.md",
    name="zedctl cheat sheet",
    description="The everyday commands of zedctl",
    type="reference",
    body="`zedctl list`, `zedctl drain NODE`, `zedctl resume NODE`",
)
TRAP = Memory(
    file="zed_traps.md",
    name="zedctl drain: careful",
    description="Draining kills running jobs",
    type="feedback",
    body="`zedctl drain` does not wait. Cordon the node first.",
)
ALL = [DEPLOY, OLD_DEPLOY, TESTS, USAGE, TRAP]


def chosen(query: str, *, tools: tuple[str, ...] = (), known: tuple[str, ...] = ()) -> list[str]:
    return [v.file for v in judge(query, ALL, tools=tools, known=known) if v.chosen]


def verdict(file: str, verdicts: list[Verdict]) -> Verdict:
    return next(v for v in verdicts if v.file == file)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "continue",
        "ok, and now the other one",
        "thanks, looks good!",
        "为什么？",
        "好，就这样",
        "explain what a monad is",
        "rename the variable in the second function",
    ],
)
def test_a_prompt_that_nothing_bears_on_gets_nothing_R9(query: str) -> None:
    assert chosen(query) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("write tests for the order repository", ["tests.md"]),
        ("how do I drain a node with zedctl?", ["zed_traps.md", "zed_usage.md"]),
        ("发布到生产", ["deploy.md"]),
        ("promote the service to production", ["deploy.md"]),
    ],
)
def test_a_prompt_brings_the_memories_that_bear_on_it_R9(query: str, expected: list[str]) -> None:
    assert sorted(chosen(query)) == expected


def test_how_to_use_a_tool_in_use_is_left_out_and_its_warnings_are_not_R5() -> None:
    verdicts = judge("now drain node 7", ALL, tools=("Bash", "zedctl"))
    assert verdict("zed_traps.md", verdicts).chosen
    assert verdict("zed_usage.md", verdicts).why == "how to use zedctl, which is in use"


def test_the_agents_own_tools_say_nothing_about_the_work() -> None:
    query = "drain a node with zedctl"
    assert rows(judge(query, ALL, tools=("Read", "Bash"))) == rows(judge(query, ALL))


def test_an_outdated_memory_gives_its_place_to_the_one_that_took_over() -> None:
    verdicts = judge("deploy to production with tower.sh", ALL)
    assert verdict("deploy_old.md", verdicts).why == "outdated: deploy.md took its place"
    assert verdict("deploy.md", verdicts).chosen


def test_an_outdated_memory_without_a_successor_still_counts() -> None:
    assert [v.file for v in judge("deploy to production with tower.sh", [OLD_DEPLOY]) if v.chosen] == [
        "deploy_old.md"
    ]


def test_known_files_are_not_chosen_and_take_no_place_R4() -> None:
    many = [
        Memory(file=f"{at}.md", name=f"Falcon launch {at}", body="The falcon launches at noon.")
        for at in range(8)
    ]
    first = [v.file for v in judge("when does the falcon launch?", many) if v.chosen]
    again = judge("when does the falcon launch?", many, known=first)
    assert len(first) == 5
    assert sorted([*first, *(v.file for v in again if v.chosen)]) == [f"{at}.md" for at in range(8)]
    assert {v.why for v in again if v.file in first} == {KNOWN}


def test_a_known_successor_still_keeps_the_outdated_one_out_R4() -> None:
    assert "deploy_old.md" not in chosen("deploy to production with tower.sh", known=("deploy.md",))


def test_in_a_long_paste_the_telling_words_decide() -> None:
    noise = "\n".join(f"{at:02}:00 INFO worker-{at} heartbeat sent, queue empty" for at in range(40))
    assert chosen(f"what is this?\n{noise}\nzedctl: drain killed 4 jobs")[0] == "zed_traps.md"
    assert chosen(f"what is this?\n{noise}") == []


def test_every_memory_that_was_looked_at_says_why_R10() -> None:
    verdicts = judge("promote the service to production", ALL)
    assert all(v.why for v in verdicts)
    assert list(verdict("deploy.md", verdicts).words) == ["promot", "product", "servic"]
    assert "too little in common" in {v.why.split(":")[0] for v in judge("a broken thing", ALL)}


def test_an_order_of_equals_goes_by_age_and_otherwise_by_name() -> None:
    twins = [Memory(file=f"{name}.md", name="Falcon launch", age=age) for name, age in (("a", 9), ("b", 2))]
    assert [v.file for v in judge("falcon launch", twins)] == ["b.md", "a.md"]


def test_the_vocabulary_consists_of_tokens_that_texts_have() -> None:
    assert relatives()["deploy"] >= {"releas", "发布", "リリース"}
    written = {word for line in (GROUPS + TRANSLATIONS).splitlines() for word in line.split()}
    assert [word for word in sorted(written) if stem(word) not in words(word)] == []


def test_what_an_earlier_prompt_was_about_brings_nothing_again_R9() -> None:
    query = "how do I drain a node with zedctl?"
    assert [v.file for v in judge(query, ALL) if v.chosen]
    again = judge(query, ALL, earlier=frozenset(words(query)))
    assert [v.file for v in again if v.chosen] == []
    assert "nothing new: the session has been on this before" in {v.why for v in again}
    new = judge("and how do the tests of the repository run?", ALL, earlier=frozenset(words(query)))
    assert [v.file for v in new if v.chosen] == ["tests.md"]


def test_a_memory_that_was_of_use_before_comes_before_its_equal_R10() -> None:
    twins = [Memory(file=f"{name}.md", name="Falcon launch", body="At noon.") for name in ("a", "b")]
    with TemporaryDirectory() as folder:
        for one in twins:
            Path(folder, one.file).write_text(
                topic.render(name=one.name, description=None, type=None, body="")
            )
            os.utime(Path(folder, one.file), (NOW.timestamp(),) * 2)
        index = Index(folder, cache=None, clock=time.time_ns)
        index.refresh()
        plain = local.judge("when is the falcon launch?", index, now=NOW)
        used = local.judge("when is the falcon launch?", index, use={"b.md": 0.05}, now=NOW)
    assert [one.file for one in plain] == ["a.md", "b.md"]
    assert [one.file for one in used] == ["b.md", "a.md"]


# -- what others were told of --------------------------------------------------------------------------------


def test_a_correction_is_recalled_without_the_fact_that_it_corrects_R5() -> None:
    """As in https://github.com/mem0ai/mem0/issues/5576, where both were recalled."""
    verdicts = judge("how do I deploy to production with tower.sh?", ALL)
    assert {v.file for v in verdicts if v.chosen} >= {"deploy.md"}
    assert not verdict("deploy_old.md", verdicts).chosen


def test_feedback_is_recalled_before_the_matching_action_R9() -> None:
    """As in https://github.com/anthropics/claude-code/issues/43393, where it was saved and not applied."""
    never = Memory(
        file="amend.md",
        name="Never amend commits",
        description="When committing: a new commit, no amend",
        type="feedback",
    )
    assert [v.file for v in judge("commit this, amend the last commit", [*ALL, never]) if v.chosen] == [
        "amend.md"
    ]
