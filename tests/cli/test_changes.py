"""A change of memory in a person's words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from memdir.cli.changes import ago, did, headline, named, row, taken_back, what, who
from memdir.memory.history import BEGINNING, Change, FileChange

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def file(name: str, action: Literal["created", "updated", "deleted"] = "updated") -> FileChange:
    return FileChange(
        file=name, action=action, before="a", after="b", before_mtime_ns=None, after_mtime_ns=None
    )


def change(
    *files: FileChange,
    id: str = "1a2b3c4d5e",  # noqa: A002 - as in Change
    worker: str = "extract",
    undoes: str | None = None,
    **more: str,
) -> Change:
    reason, session = more.get("reason", ""), more.get("session")
    return Change(
        id=id,
        at=NOW - timedelta(minutes=5),
        worker=worker,
        reason=reason,
        session=session,
        message=more.get("message"),
        undoes=undoes,
        files=files,
    )


@pytest.mark.parametrize(
    ("worker", "words"),
    [
        ("extract", "extraction"),
        ("main", "the agent"),
        ("external", "hand edit"),
        ("remember", "you (remember)"),
        ("inbox", "you (inbox)"),
        ("new\x1b[31mone", "new[31mone"),
        ("", "somebody"),
    ],
)
def test_who_made_a_change_is_told_in_plain_words_H2(worker: str, words: str) -> None:
    assert who(change(worker=worker)) == words


def test_an_undo_and_the_beginning_are_told_as_such_H2() -> None:
    assert who(change(worker="undo", undoes="9f8e7d6c5b")) == "undo of 9f8e7d6"
    first = change(file("a.md", "created"), worker="external", reason=BEGINNING)
    assert (who(first), did(first)) == ("there before", "found a.md")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([file("a.md", "created"), file("MEMORY.md")], "created a.md"),
        ([file("MEMORY.md")], "changed MEMORY.md"),
        ([file("team/MEMORY.md"), file("MEMORY.md")], "changed team/MEMORY.md and MEMORY.md"),
        (
            [file("a.md", "deleted"), file("b.md"), file("c.md", "created"), file("d.md", "created")],
            "created c.md and d.md, changed b.md, removed a.md",
        ),
        ([file(f"{n}.md") for n in range(9)], "changed 0.md, 1.md, 2.md, 3.md and 5 more"),
        ([file("red\x1b[31m\n\u202e.md")], "changed red[31m .md"),
    ],
)
def test_what_a_change_did_is_told_and_of_the_index_only_if_it_is_alone_H2(
    files: list[FileChange], words: str
) -> None:
    assert what(files) == words


def test_an_undo_is_told_with_the_index_at_the_end_H2() -> None:
    assert what([file("MEMORY.md"), file("a.md", "deleted")], index=True) == "removed a.md, changed MEMORY.md"


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(minutes=60), "1 hour ago"),
        (timedelta(hours=23, minutes=59), "23 hours ago"),
        (timedelta(hours=24), "yesterday"),
        (timedelta(days=3, hours=4), "3 days ago"),
    ],
)
def test_how_long_ago_is_said_as_people_do_H2(before: timedelta, words: str) -> None:
    assert ago(NOW - before, NOW) == words


def test_a_change_is_named_in_a_sentence_a_line_and_a_headline_H2() -> None:
    one = change(file("a.md", "created"), session="s1", message="m1")
    when = one.at.astimezone().strftime("%Y-%m-%d %H:%M")
    assert named(one, NOW) == "1a2b3c4 (extraction, 5 minutes ago)"
    assert named(change(worker="forget"), NOW) == "1a2b3c4 (you: forget, 5 minutes ago)"
    assert row(one, {}) == ("1a2b3c4", when, "extraction", "created a.md")
    assert row(one, {one.id: "ffff000011"})[-1] == "created a.md; undone by ffff000"
    assert headline(one) == f"1a2b3c4, {when}, extraction\n  session s1\n  message m1"


def test_an_undo_that_is_undone_counts_no_more_H2() -> None:
    made, undone = change(id="a"), change(id="b", undoes="a")
    assert taken_back([undone, made]) == {"a": "b"}
    redone = change(id="c", undoes="b")
    assert taken_back([redone, undone, made]) == {"b": "c"}
    again = change(id="d", undoes="a")
    assert taken_back([again, redone, undone, made]) == {"b": "c", "a": "d"}
