"""The extraction by rules: each proposal stands for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memdir.errors import SecretFound
from memdir.extract import rules
from memdir.extract.saved import Change, Saved
from memdir.memory.store import MemoryDir, Written
from memdir.model.messages import Message, assistant, person
from memdir.testing import temporary_memory, tree
from memdir.trust.evidence import Evidence
from tests.extract.support import FRIDAYS, NOW, POINTER

RULE = "From now on always run the linter before you commit, because CI is slow."
PLACE = "Remember: our crash reports are at https://crashes.invalid/shop."


@pytest.fixture
def memory() -> Iterator[MemoryDir]:
    with temporary_memory() as made:
        yield made


def learn(memory: MemoryDir, *said: Message) -> Saved:
    return rules.extract(said, memory=memory, session="s", today=date(2026, 3, 5), now=NOW)


def test_what_the_person_wants_is_saved_with_a_pointer_E1(memory: MemoryDir) -> None:
    saved = learn(memory, person(RULE), assistant("Yes."))
    (change,) = saved.changes
    assert (change.action, change.type) == ("created", "feedback")
    assert memory.index().count(change.file) == 1
    assert all(len(line) < 200 for line in memory.index().splitlines())


def test_an_index_that_is_over_a_limit_by_then_is_told_F7(memory: MemoryDir) -> None:
    lines = [f"- [Old {number}](old{number}.md) — something old\n" for number in range(200)]
    (memory.directory / "MEMORY.md").write_text("".join(lines), encoding="utf-8")
    saved = learn(memory, person(RULE))
    assert "201 lines (limit: 200)" in str(saved.warning)
    assert "201 lines (limit: 200)" in str(saved.notice)
    assert (Saved() + saved + Saved()).warning == saved.warning
    (memory.directory / "MEMORY.md").write_text("", encoding="utf-8")
    saved = learn(memory, person(PLACE))
    assert (len(saved.changes), saved.warning) == (1, None)


def test_a_warning_is_over_when_the_index_is_written_shorter_F7() -> None:
    long, short = (
        Written(file="MEMORY.md", action="updated", digest="", data=b"", type=None, warning=warning)
        for warning in ("too long", None)
    )
    assert Saved.of([long]).warning == "too long"
    assert Saved.of([long, short]).warning is None


def test_the_same_again_changes_nothing_E5(memory: MemoryDir) -> None:
    learn(memory, person(RULE))
    before = tree(memory.directory)
    assert learn(memory, person(RULE)) == Saved()
    assert tree(memory.directory) == before


def test_what_the_assistant_and_tools_say_is_not_saved_E11(memory: MemoryDir) -> None:
    assert learn(memory, person("Thanks."), assistant(RULE)) == Saved()
    assert tree(memory.directory) == {}


def test_one_sentence_may_remove_a_memory_and_make_another_E1(memory: MemoryDir) -> None:
    text = (
        "---\nname: 家庭情况\ndescription: 用户私事\ntype: user\n---\n\n孩子上幼儿园，每天 17:30 要去接。\n"
    )
    (memory.directory / "family.md").write_text(text, encoding="utf-8")
    known = assistant("之前的记忆里写着你每天 17:30 接孩子。")
    saved = rules.extract(
        [person("这种私事别存，删掉，以后我家里的事都不要记。")],
        before=[person("你怎么知道？"), known],
        memory=memory,
        session="s",
        today=date(2026, 3, 5),
        now=NOW,
    )
    assert sorted(change.action for change in saved.changes) == ["created", "deleted"]
    assert "17:30" not in "".join(tree(memory.directory).values())


def test_a_wish_to_forget_removes_file_and_pointer_E1(memory: MemoryDir) -> None:
    (memory.directory / "no_fridays.md").write_text(FRIDAYS)
    (memory.directory / "MEMORY.md").write_text(POINTER)
    saved = learn(memory, person("Please forget that we don't merge on Fridays."))
    assert saved.changes == (Change(file="no_fridays.md", action="deleted"),)
    assert "no_fridays" not in "".join(tree(memory.directory))
    assert memory.index().strip() == ""


def test_a_copy_of_the_talk_does_not_bring_back_what_was_deleted_E11(memory: MemoryDir) -> None:
    said = person(RULE)
    (change,) = learn(memory, said).changes
    memory.delete(change.file, now=NOW)
    assert learn(memory, said, assistant("Yes.")) == Saved()
    assert learn(memory, person(RULE)).changes  # said anew, it counts anew


def test_a_deleted_memory_that_can_not_be_read_is_no_hindrance_E11(memory: MemoryDir) -> None:
    (change,) = learn(memory, person(RULE)).changes
    entry = memory.delete(change.file, now=NOW)
    (memory.trash.folder / f"{entry.id}.md").write_bytes(b"\xff")
    assert learn(memory, person(RULE)).changes


def test_once_the_run_is_over_nothing_more_is_written_E9(memory: MemoryDir) -> None:
    written: list[bool] = []

    def after_one() -> bool:
        written.append(True)
        return len(written) > 1

    said = [person(RULE), person(PLACE)]
    saved = rules.extract(
        said, memory=memory, session="s", today=date(2026, 3, 5), now=NOW, is_over=after_one
    )
    assert len(saved.changes) == 1
    assert len(tree(memory.directory)) == 2


class Watched(MemoryDir):
    """A directory where somebody else has been quicker, or where a secret is seen, the first time."""

    first: BaseException | None = None
    rival: bool = False

    def save(self, file: str | Path, data: bytes, **more: Any) -> Written:
        if self.rival:
            self.rival = False
            (self.directory / file).write_text(FRIDAYS)
        error, self.first = self.first, None
        if error:
            raise error
        return super().save(file, data, **more)


def watched(memory: MemoryDir) -> Watched:
    return Watched(memory.directory, trash=memory.directory.parent / "trash")


def test_one_memory_with_a_secret_does_not_cost_the_others_E10(memory: MemoryDir) -> None:
    store = watched(memory)
    store.first = SecretFound(("password",), where="x.md")
    saved = learn(store, person(RULE), person(PLACE))
    assert [change.type for change in saved.changes] == ["reference"]
    assert saved.refused


def test_a_file_that_appeared_meanwhile_is_left_and_the_memory_gets_another_F9(memory: MemoryDir) -> None:
    store = watched(memory)
    store.rival = True
    saved = learn(store, person(RULE))
    (change,) = saved.changes
    files = tree(memory.directory)
    assert change.action == "created"
    assert FRIDAYS in files.values()
    assert len([file for file in files if file != "MEMORY.md"]) == 2


def test_who_said_what_is_made_out_only_where_something_is_to_be_saved_E11(
    memory: MemoryDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, real = [0], Evidence.of

    def of(messages: Sequence[Message]) -> Evidence:
        asked[0] += 1
        return real(messages)

    monkeypatch.setattr(Evidence, "of", of)
    learn(memory, person("What does this function do?"))
    assert asked == [0], "it takes a while for a long conversation"
    learn(memory, person(RULE), person(PLACE))
    assert asked == [1]
