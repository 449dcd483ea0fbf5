"""Messages after a surfacing -> what became of the memory (recall/aftermath.py)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir.agent import attachments
from memdir.model.messages import Message, ToolResult, ToolUse, assistant, person
from memdir.recall.aftermath import Outcome, Surfacing, aftermath

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ROOT = "/home/ada/.memdir/projects/-shop/memory"
TESTS = """---
name: Integration tests use a real database
description: No mocked database in integration tests; start PostgreSQL in a container
type: feedback
---

Integration tests must never mock the database layer.
The `db` fixture starts a disposable PostgreSQL container on port 5433.
订单服务每周二凌晨三点做一次全量备份，请勿在此时部署。
デプロイは毎週火曜日の午前九時に本番環境へ行います。
"""
OPENED, CITED, CORRECTED = Outcome(opened=True), Outcome(cited=True), Outcome(corrected=True)
ASKED = person("which fixture should I take?")


def recalled(file: str = "feedback_tests.md", text: str = TESTS) -> Message:
    size = len(text.encode())
    return attachments.relevant_memory(Path(ROOT, file), text, size=size, cut=False, modified=NOW, now=NOW)


def results(*calls: str, error: bool = False, about: object = None) -> Message:
    content = tuple(ToolResult(tool_use_id=call, content="…", is_error=error) for call in calls)
    note = about if isinstance(about, dict) else None
    return Message(role="user", content=content, origin="tool", attachment=note)


def read(path: str, *, tool: str = "Read", key: str = "file_path") -> Message:
    return assistant(ToolUse(id="1", name=tool, input={key: path}))


def became(*messages: Message, since: int = 0) -> Outcome:
    """What became of the memory that was surfaced in the first turn."""
    found = aftermath([ASKED, recalled(), *messages], roots=(ROOT, "/real/memory"), since=since)
    assert set(found) <= {(ASKED.id, "feedback_tests.md")}
    return found.get((ASKED.id, "feedback_tests.md"), Outcome())


# -- opened --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        read(f"{ROOT}/feedback_tests.md"),
        read(f"{ROOT}/./feedback_tests.md"),
        read("/real/memory/feedback_tests.md"),
        read(f"{ROOT}/feedback_tests.md", tool="Grep", key="path"),
    ],
)
def test_a_memory_that_a_tool_read_afterwards_was_opened_R10(call: Message) -> None:
    assert became(call, results("1")) == OPENED


@pytest.mark.parametrize(
    "messages",
    [
        (read(f"{ROOT}/feedback_tests.md"), results("1", error=True)),
        (read(f"{ROOT}/feedback_tests.md"),),
        (read(f"{ROOT}/other.md"), results("1")),
        (read(ROOT, tool="Grep", key="path"), results("1")),
        (read(f"{ROOT}/feedback_tests.md", tool="Write"), results("1")),
    ],
)
def test_a_memory_that_was_not_read_was_not_opened_R10(messages: tuple[Message, ...]) -> None:
    assert became(*messages) == Outcome()


def test_what_was_read_before_it_was_surfaced_does_not_count_R10() -> None:
    before = [read(f"{ROOT}/feedback_tests.md"), results("1")]
    assert aftermath([ASKED, *before, recalled(), assistant("Done.")], roots=(ROOT,)) == {}


# -- cited ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        "See feedback_tests.md for that.",
        "As `feedback_tests` says, take the fixture.",
        "According to your note “Integration tests use a real database”, take it.",
        "I know that the db fixture starts a disposable\nPostgreSQL container, so use that.",
        "你的记忆写着：订单服务每周二凌晨三点做一次全量备份。",
        "毎週火曜日の午前九時に本番環境へ行います、とのことです。",
        f"It stands in {ROOT}/feedback_tests.md.",
        "参见feedback_tests.md里的说明。",
    ],
)
def test_an_answer_that_names_or_quotes_a_memory_cites_it_R10(answer: str) -> None:
    assert became(assistant(answer)) == CITED


@pytest.mark.parametrize(
    "answer",
    [
        "Take the `db` fixture.",
        "The tests use PostgreSQL in a container.",
        "I looked at feedback_tests_old.md and tests.md.",
        "I looked at docs/feedback_tests.md and ./feedback_tests.md.",
        "火曜日にデプロイしましょう。",
        "The tests feedback is good.",
        "每周二可以部署。",
        "",
    ],
)
def test_words_in_common_are_no_citation_R10(answer: str) -> None:
    assert became(assistant(answer)) == Outcome()


def test_what_the_person_said_themselves_is_not_cited_from_a_memory_R10() -> None:
    asked = person("The `db` fixture starts a disposable PostgreSQL container, right?")
    said = "Yes, the db fixture starts a disposable PostgreSQL container."
    assert aftermath([asked, recalled(), assistant(said)], roots=(ROOT,)) == {}


def test_a_run_that_says_nothing_is_no_quotation_R10() -> None:
    text = "---\nname: Way\n---\nIt is one of the things that we do here for all of them.\n"
    answer = assistant("It is one of the things that we do.")
    assert aftermath([ASKED, recalled("way.md", text), answer], roots=(ROOT,)) == {}


def test_a_readme_of_the_project_is_not_the_memory_of_that_name_R10() -> None:
    messages = [ASKED, recalled("README.md", "---\nname: Shop\n---\nShort.\n")]
    assert aftermath([*messages, assistant("It stands in README.md.")], roots=(ROOT,)) == {}


RELEASES = "---\nname: 部署窗口说明文档\n---\n周二。\n"


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("见 部署.md。", True),
        ("参见部署.md里的说明。", True),
        ("詳しくは部署.mdを見てください。", True),
        ("根据「部署窗口说明文档」，今天不行。", True),
        ("见 蓝绿部署.md。", False),
        ("见 docs/部署.md。", False),
        ("部署窗口还没有说明。", False),
        ("先部署，再说。", False),
    ],
)
def test_a_chinese_name_is_known_without_blanks_and_not_within_another_R10(answer: str, cited: bool) -> None:
    found = aftermath([ASKED, recalled("部署.md", RELEASES), assistant(answer)], roots=(ROOT,))
    assert found == ({(ASKED.id, "部署.md"): CITED} if cited else {})


def test_only_the_memory_that_was_used_is_cited_R10() -> None:
    other = "---\nname: Lag\n---\nThe replica in Frankfurt lags behind by about four seconds.\n"
    answer = assistant("The replica in Frankfurt lags behind by about four seconds.")
    found = aftermath([ASKED, recalled(), recalled("lag.md", other), answer], roots=(ROOT,))
    assert found == {(ASKED.id, "lag.md"): CITED}


# -- corrected -----------------------------------------------------------------------------------------------

CITING = assistant("See feedback_tests.md: take the `db` fixture.")


@pytest.mark.parametrize("about", [(["feedback_tests.md"], []), ([], ["feedback_tests.md"])])
def test_a_memory_that_a_tool_rewrote_or_deleted_was_corrected_R10(
    about: tuple[list[str], list[str]],
) -> None:
    note = attachments.memory_write(*about)
    assert became(results("1", about=note)) == CORRECTED
    assert became(results("1", about=attachments.memory_write(["other.md"], []))) == Outcome()


@pytest.mark.parametrize(
    "said",
    [
        "That's wrong, we use testcontainers now.",
        "No, that is outdated. Take testcontainers.",
        "this note is no longer true",
        "That isn't the case any more",
        "The memory is out of date.",
        "We don't use the fixture any more.",
        "Outdated.",
        "The note about the fixture is stale.",
        "That's no longer true since March",
        "这已经过时了",
        "你的记忆不对，现在用 testcontainers",
        "不是，这已经不用了",
        "你记错了",
        "それはもう古いです",
        "いや、その情報は間違っています",
        "違います",
    ],
)
def test_a_person_who_says_that_what_was_cited_is_wrong_corrects_it_R10(said: str) -> None:
    assert became(CITING, person(said)) == CITED | CORRECTED


@pytest.mark.parametrize(
    "said",
    [
        "Thanks, that works.",
        "Is that outdated?",
        "That's wrong, isn't it?",
        "No, use tabs.",
        "The test is wrong.",
        "What is no longer true?",
        "That was wrong of me.",
        "This is wrong in app.py, fix it",
        "It is wrong to mock, so rename it",
        "This changed the output, great",
        "这个函数不对",
        "古いコードを直して",
        "这过时了吗？",
        "それは古いですか？",
    ],
)
def test_another_answer_of_the_persons_corrects_nothing_R10(said: str) -> None:
    assert became(CITING, person(said)) == CITED


def test_a_complaint_is_about_the_answer_before_it_and_nothing_else_R10() -> None:
    assert became(assistant("Take the fixture."), person("That's wrong.")) == Outcome()
    later = (CITING, person("thanks"), assistant("Welcome."), person("That's wrong."))
    assert became(*later) == CITED


def test_where_two_memories_were_cited_a_complaint_has_to_name_one_R10() -> None:
    first, second = recalled(), recalled("port_list.md", "---\nname: Ports\n---\nNone.\n")
    both = assistant("See feedback_tests.md and port_list.md.")

    def corrected(said: str) -> set[Surfacing]:
        found = aftermath([ASKED, first, second, both, person(said)], roots=(ROOT,))
        return {one for one, outcome in found.items() if outcome.corrected}

    assert corrected("That's wrong.") == set()
    assert corrected("That's wrong: port_list is from last year.") == {(ASKED.id, "port_list.md")}


# -- where, and when -----------------------------------------------------------------------------------------


def test_what_happens_in_a_later_turn_counts_for_the_turn_of_the_surfacing_R10() -> None:
    later = (assistant("Done."), person("and where is that?"), CITING)
    assert became(*later) == CITED
    assert became(*later, since=4) == CITED
    assert became(CITING, person("and?"), assistant("Done."), since=3) == Outcome()


def test_memories_of_another_directory_are_left_out_R10() -> None:
    assert aftermath([ASKED, recalled(), CITING], roots=("/elsewhere",)) == {}
