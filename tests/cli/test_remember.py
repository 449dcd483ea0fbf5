"""What is saved when a person says what to remember: their words, of the right kind, once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir.doctor.checkup import checkup
from memdir.errors import SecretFound, UsageError
from memdir.extract.remember import remember
from memdir.extract.saved import Change
from memdir.memory.store import MemoryDir
from memdir.memory.topic import TYPES, Topic
from memdir.testing import temporary_memory
from tests.cli.support import Desk

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)  # a Sunday


@dataclass(frozen=True, kw_only=True)
class Notebook:
    """A memory directory that one speaks to."""

    memory: MemoryDir

    def __call__(
        self, text: str, kind: str | None = None, *, allow_secret: bool = False
    ) -> tuple[Change, ...]:
        saved = remember(
            text, memory=self.memory, kind=kind, session=None, now=NOW, allow_secret=allow_secret
        )
        assert saved.refused == ()
        return saved.changes

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
    ("said", "name"),
    [
        ("we deploy on Tuesdays", "we deploy on Tuesdays"),
        ("https://grafana.example.com/d/abc?x=1", "https://grafana.example.com/d/abc?x=1"),
        ("use \"smart quotes\" and 'plain' ones: `code`", "use \"smart quotes\" and 'plain' ones: `code`"),
        ("-n means dry run here", "-n means dry run here"),
        ("key: value: # yes \\ end", "key: value: # yes \\ end"),
        ("what is the meaning of life?", "what is the meaning of life?"),
        ("never forget to run migrations first", "never forget to run migrations first"),
        ("forget the old dashboards", "forget the old dashboards"),
        ("x", "x"),
        ("🎉🎉", "🎉🎉"),
        ("---\nname: x\n---\nbody", "name: x"),
        ("```python\nprint('hi')\n```", "print('hi')"),
        ("> quoted\n\n1. first", "quoted"),
        ("我喜欢简短的回答", "我喜欢简短的回答"),
        ("第一行\n第二行：注意", "第一行"),
        ("好", "好"),
    ],
)
def test_the_body_is_what_the_person_said_H1(notebook: Notebook, said: str, name: str) -> None:
    assert [change.action for change in notebook(said)] == ["created"]
    kept = notebook.only
    assert (kept.body, kept.name, kept.problems) == (f"{said}\n", name, ())
    assert kept.type in TYPES
    assert notebook(said) == ()


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("x", "project"),
        ("always run the linter first, because CI is slow", "feedback"),
        ("I'm a data scientist, new to Go", "user"),
        ("My name is Ada", "user"),
        ("call me Ada", "user"),
        ("Ich heiße Ada", "user"),
        ("我叫小明", "user"),
        ("别用 mock，要用真实数据库", "feedback"),
        ("测试环境的地址是 https://t.example.cn", "reference"),
    ],
)
def test_the_kind_is_what_the_words_suggest_H1(notebook: Notebook, said: str, kind: str) -> None:
    assert [change.type for change in notebook(said)] == [kind]


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
        (
            "the release branch is cut from main",
            "the release branch is cut from develop",
            "the release branch is cut from develop\n\nEarlier: the release branch is cut from main\n",
        ),
        (
            "the release is on 2026-12-04",
            "the release is on 2026-12-11",
            "the release is on 2026-12-11\n\nEarlier: the release is on 2026-12-04\n",
        ),
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


@pytest.mark.parametrize(
    "notes",
    [
        (
            "The auditors come on Friday",
            "The standup is at 9 on Tuesday",
            "No meetings on Monday mornings",
            "the freeze ends this Friday",
            "see you next Tuesday",
        ),
        ("the release is on 2026-12-04", "the wedding is on 2026-12-04"),
        ("always deploy on Tuesday", "never deploy on Friday"),
        ("I prefer short answers", "I prefer dark themes"),
        ("The staging database is Postgres 15", "The production database is Postgres 14"),
        ("Always use pnpm in the alpha repo", "Always use tabs in the alpha repo"),
        ("每周五不发布", "周五不要发布，因为没人值班"),
        ("请用 pnpm", "请用中文回答", "以后别用 mock", "以后别用 npm"),
        ("我喜欢简短的回答", "我喜欢深色主题"),
    ],
)
def test_a_day_or_the_words_of_a_wish_in_common_make_no_topic_H1(
    notebook: Notebook, notes: tuple[str, ...]
) -> None:
    assert [change.action for note in notes for change in notebook(note)] == ["created"] * len(notes)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Don't deploy on Friday", "Don't deploy on Friday"),
        ("周五不要发布，因为没人值班", "周五不要发布，因为没人值班"),
        ("the audit is on Friday (2026-12-04)", "the audit is on Friday (2026-12-04)"),
        ("finish it by Friday", "finish it by Friday (2026-12-04)"),
        ("周五之前写完", "周五 (2026-12-04)之前写完"),
        ("the freeze ends this Friday", "the freeze ends 2026-12-04"),
        ("下周二评审", "2026-12-01评审"),
    ],
)
def test_a_bare_weekday_may_be_said_of_every_week_and_stays_H1(
    notebook: Notebook, said: str, kept: str
) -> None:
    notebook(said)
    assert notebook.only.body == f"{kept}\n"


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


# -- a secret that the person wants kept -----------------------------------------------------------------

MARK = "<!-- memdir:allow-secret -->"
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
BLOCK = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEpAIBAAKCAQEAx9h3kq8Zk1mQ\n" * 8
    + "-----END RSA PRIVATE KEY-----"
)


def test_a_refusal_names_the_rule_and_the_lines_and_no_value_E10(notebook: Notebook) -> None:
    with pytest.raises(SecretFound) as refused:
        notebook(f"the tokens:\n{TOKEN}\nand\npassword = Xk39dkfjsl2291")
    assert "GitHub token" in refused.value.rules
    assert refused.value.lines == (2, 4)
    assert "a1B2" not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(
    ("said", "body"),
    [
        (f"the token is {TOKEN}", f"the token is {TOKEN} {MARK}"),
        (f"one\n{TOKEN}\nthree", f"one\n{TOKEN} {MARK}\nthree"),
        (f"{TOKEN} {MARK}", f"{TOKEN} {MARK}"),
        ("password = Xk39dkfjsl2291", f"password = Xk39dkfjsl2291 {MARK}"),
        ("密码是 Xk39dkfjsl2291", f"密码是 Xk39dkfjsl2291 {MARK}"),
        (f"key:\n{BLOCK}", f"key:\n{BLOCK.replace('KEY-----', f'KEY----- {MARK}', 1)}"),
        ("we deploy on Tuesdays", "we deploy on Tuesdays"),
    ],
)
def test_a_secret_that_is_allowed_is_kept_and_marked_and_in_no_title_E10(
    notebook: Notebook, said: str, body: str
) -> None:
    (made,) = notebook(said, allow_secret=True)
    kept = notebook.only
    assert kept.body == f"{body}\n"
    told = f"{made.file} {kept.name} {kept.description} {notebook.memory.index()}"
    for value in (TOKEN, "Xk39dkfjsl2291", "MIIEpAIBAAKCAQEA", MARK):
        assert value not in told
    assert checkup(notebook.memory, now=NOW) == []
    assert notebook(said, allow_secret=True) == ()


def test_a_mark_without_the_option_lets_nothing_in_E10(notebook: Notebook) -> None:
    with pytest.raises(SecretFound):
        notebook(f"the token is {TOKEN} {MARK}")
    assert notebook.topics == []


def test_a_marked_line_may_become_an_earlier_one_E10(notebook: Notebook) -> None:
    (made,) = notebook(f"the staging token for deploys is {TOKEN}", allow_secret=True)
    (changed,) = notebook("the staging token for deploys is in the vault")
    assert (changed.action, changed.file) == ("updated", made.file)
    assert f"Earlier: the staging token for deploys is {TOKEN} {MARK}\n" in notebook.only.body
    assert TOKEN not in notebook.memory.index()


def test_two_marked_memories_are_not_alike_for_their_marks_E10(notebook: Notebook) -> None:
    made = [
        notebook(said, allow_secret=True)[0].file
        for said in (f"deploys use {TOKEN}", "the printer: password = Xk39dkfjsl2291")
    ]
    assert len(set(made)) == 2


def test_the_option_is_the_persons_at_the_command_line_E10(desk: Desk) -> None:
    refused = desk("remember", f"the token is {TOKEN}")
    assert refused.code == 5
    assert "GitHub token" in refused.err
    assert "--allow-secret" in refused.err
    kept = desk("remember", "--allow-secret", f"the token is {TOKEN}")
    assert kept.code == 0
    assert TOKEN not in kept.out + kept.err
    (text,) = desk.files().values()
    assert f"the token is {TOKEN} {MARK}\n" in text
    assert desk("doctor").code == 0


def test_an_edit_lets_a_marked_line_through_and_no_other_E10(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    desk("remember", "we deploy on Tuesdays")
    (name,) = desk.files()
    for text, code in ((f"token {TOKEN}", 5), (f"token {TOKEN} {MARK}", 0), ("password = Xk39dkfjsl2291", 5)):
        for key, value in desk.editor(f"echo '{text}' >> \"$1\"").items():
            monkeypatch.setenv(key, value)
        assert desk("edit", name).code == code
    assert f"token {TOKEN} {MARK}\n" in desk.files()[name]
    assert "Xk39dkfjsl2291" not in desk.files()[name]


def test_what_pushes_the_index_over_a_limit_is_kept_and_told_F7(desk: Desk) -> None:
    desk.memory.mkdir(parents=True)
    lines = [f"- [Old {number}](old{number}.md) — something old\n" for number in range(200)]
    (desk.memory / "MEMORY.md").write_text("".join(lines))
    told = desk("remember", "we deploy on Tuesdays")
    assert told.code == 0
    assert told.err.startswith(
        "created project_deploy_tuesdays.md\nwarning: The write succeeded, but it left "
    )
    assert "MEMORY.md at 201 lines (limit: 200)" in told.err
    again = desk("remember", "--json", "the vault is in the north wing")
    assert "202 lines (limit: 200)" in again.json["warning"]
    (desk.memory / "MEMORY.md").write_text("")
    assert desk("remember", "--json", "the printer is on the second floor").json["warning"] is None


@pytest.mark.parametrize("words", [(), ("-",), ("--", "-")])
def test_a_dash_alone_means_standard_input_H1(desk: Desk, words: tuple[str, ...]) -> None:
    assert desk.process("remember", *words, said="we deploy on Tuesdays\n").code == 0
    (text,) = desk.files().values()
    assert text.endswith("\n\nwe deploy on Tuesdays\n")


def test_a_dash_with_words_is_a_dash_H1(desk: Desk) -> None:
    assert desk.process("remember", "--", "-", "we deploy on Tuesdays", said="no").code == 0
    (text,) = desk.files().values()
    assert text.endswith("\n\n- we deploy on Tuesdays\n")
