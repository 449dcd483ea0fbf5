"""What is saved when a person says what to remember: their words, of the right kind, once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from memdir.errors import SecretFound, UsageError
from memdir.extract.remember import remember
from memdir.extract.saved import Change
from memdir.memory.store import MemoryDir
from memdir.memory.topic import Topic
from memdir.testing import temporary_memory

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)  # a Sunday


@dataclass(frozen=True, kw_only=True)
class Notebook:
    """A memory directory that one speaks to."""

    memory: MemoryDir

    def __call__(self, text: str, kind: str | None = None) -> tuple[Change, ...]:
        return remember(text, memory=self.memory, kind=kind, session=None, now=NOW).changes

    @property
    def topics(self) -> list[Topic]:
        stored = (self.memory.read(header.path) for header in self.memory.list())
        return [one.topic for one in stored if one.topic]

    @property
    def only(self) -> Topic:
        (topic,) = self.topics
        return topic


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    with temporary_memory() as memory:
        yield Notebook(memory=memory)


@pytest.mark.parametrize(
    ("said", "kind", "name"),
    [
        ("we deploy on Tuesdays", "project", "we deploy on Tuesdays"),
        (
            "always run the linter first, because CI is slow",
            "feedback",
            "always run the linter first, because CI is slow",
        ),
        ("https://grafana.example.com/d/abc?x=1", "reference", "https://grafana.example.com/d/abc?x=1"),
        ("I'm a data scientist, new to Go", "user", "I'm a data scientist, new to Go"),
        (
            "use \"smart quotes\" and 'plain' ones: `code`",
            "feedback",
            "use \"smart quotes\" and 'plain' ones: `code`",
        ),
        ("-n means dry run here", "project", "-n means dry run here"),
        ("key: value: # yes \\ end", "project", "key: value: # yes \\ end"),
        ("what is the meaning of life?", "project", "what is the meaning of life?"),
        ("never forget to run migrations first", "feedback", "never forget to run migrations first"),
        ("forget the old dashboards", "project", "forget the old dashboards"),
        ("x", "project", "x"),
        ("🎉🎉", "project", "🎉🎉"),
        ("---\nname: x\n---\nbody", "project", "name: x"),
        ("```python\nprint('hi')\n```", "project", "print('hi')"),
        ("> quoted\n\n1. first", "project", "quoted"),
        ("我喜欢简短的回答", "user", "我喜欢简短的回答"),
        ("别用 mock，要用真实数据库", "feedback", "别用 mock，要用真实数据库"),
        ("测试环境的地址是 https://t.example.cn", "reference", "测试环境的地址是 https://t.example.cn"),
        ("第一行\n第二行：注意", "project", "第一行"),
        ("好", "project", "好"),
    ],
)
def test_the_body_is_what_the_person_said_H1(notebook: Notebook, said: str, kind: str, name: str) -> None:
    assert [change.action for change in notebook(said)] == ["created"]
    kept = notebook.only
    assert (kept.body, kept.type, kept.name, kept.problems) == (f"{said}\n", kind, name, ())
    assert notebook(said) == ()


@pytest.mark.parametrize(
    ("said", "body"),
    [
        ("Remember that the sky is blue", "the sky is blue"),
        ("please note: the sky is blue", "the sky is blue"),
        ("remember to water the plants", "remember to water the plants"),
        ("请记住：我们用 pnpm", "我们用 pnpm"),
        ("记住我们用 pnpm", "我们用 pnpm"),
        ("the freeze ends tomorrow", "the freeze ends 2026-11-30"),
        ("\x1b[31mred\x1b[0m and a\u202eb\x07", "red and ab"),
        ("one\r\ntwo\r", "one\ntwo"),
    ],
)
def test_only_what_is_no_part_of_the_fact_is_changed_H1(notebook: Notebook, said: str, body: str) -> None:
    notebook(said)
    assert notebook.only.body == f"{body}\n"


def test_a_list_is_one_memory_and_its_description_tells_all_of_it_H1(notebook: Notebook) -> None:
    said = "Release notes:\n- Anna owns the checklist\n- never tag by hand"
    notebook(said)
    assert notebook.only.body == f"{said}\n"
    assert notebook.only.description == "Release notes: Anna owns the checklist; never tag by hand"


def test_the_description_of_something_long_is_short_H1(notebook: Notebook) -> None:
    notebook("word " * 3_000)
    assert len(notebook.only.name) <= 60
    assert len(notebook.only.description or "") <= 150
    assert len(notebook.only.body) > 14_000


@pytest.mark.parametrize(
    ("first", "then", "body"),
    [
        (
            "we deploy the shop on Tuesdays",
            "we deploy the shop on Thursdays",
            "we deploy the shop on Thursdays\n\nEarlier: we deploy the shop on Tuesdays\n",
        ),
        ("use tabs, not spaces", "use spaces, not tabs", "use spaces, not tabs\n"),
        ("run the linter", "run the linter, CI is slow", "run the linter, CI is slow\n"),
        ("我喜欢简短的回答", "我喜欢详细的回答", "我喜欢详细的回答\n\n之前：我喜欢简短的回答\n"),
    ],
)
def test_a_memory_about_the_same_is_updated_and_not_doubled_H1(
    notebook: Notebook, first: str, then: str, body: str
) -> None:
    (made,) = notebook(first)
    (changed,) = notebook(then)
    assert (changed.action, changed.file) == ("updated", made.file)
    assert (notebook.only.body, notebook.only.name, notebook.only.description) == (body, then, then)
    assert notebook.memory.index() == f"- [{then}]({made.file}) — {then}\n"


def test_what_is_true_again_is_not_taken_for_known_H1(notebook: Notebook) -> None:
    for day in ("Tuesdays", "Thursdays", "Tuesdays"):
        notebook(f"we deploy the shop on {day}")
    body = "we deploy the shop on Tuesdays\n\nEarlier: we deploy the shop on Thursdays\n"
    assert notebook.only.body == body


def test_one_word_in_common_makes_no_topic_H1(notebook: Notebook) -> None:
    notebook("Anna owns the release checklist")
    assert [change.action for change in notebook("the release is in Lisbon")] == ["created"]


def test_the_type_that_is_given_holds_H1(notebook: Notebook) -> None:
    assert [change.type for change in notebook("we deploy the shop on Tuesdays", "reference")] == [
        "reference"
    ]
    (change,) = notebook("we deploy the shop on Tuesdays", "user")
    assert (change.action, change.type, notebook.only.type) == ("updated", "user", "user")
    (change,) = notebook("we deploy the shop on Thursdays", "feedback")
    assert (change.action, change.type, notebook.only.type) == ("updated", "feedback", "feedback")


def test_a_line_of_the_index_that_somebody_worded_stays_H1(notebook: Notebook) -> None:
    (made,) = notebook("we deploy the shop on Tuesdays")
    index = notebook.memory.directory / "MEMORY.md"
    index.write_text(f"- [Deploys]({made.file}) — ask Anna\n", "utf-8")
    notebook("we deploy the shop on Thursdays")
    assert notebook.memory.index() == f"- [Deploys]({made.file}) — ask Anna\n"


def test_a_secret_and_nothing_at_all_are_refused_E10(notebook: Notebook) -> None:
    with pytest.raises(SecretFound):
        notebook("password = Xk39dkfjsl2291")
    with pytest.raises(UsageError):
        notebook(" \x07\n")
    assert notebook.topics == []
