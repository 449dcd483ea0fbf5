"""What a memory says of itself (memory/traits.py)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.memory.traits import MANUAL, OUTDATED, WARNING, named_files, traits


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("psql cheat sheet", MANUAL),
        ("psql_cheatsheet how to run it", MANUAL),
        ("Commands of the release tool", MANUAL),
        ("发布工具的用法", MANUAL),
        ("デプロイの使い方", MANUAL),
        ("never restart the broker by hand", WARNING),
        ("broker_gotchas", WARNING),
        ("发布时要小心", WARNING),
        ("known problems with the options of rsync", MANUAL + WARNING),
        ("why the broker was chosen", 0),
        ("debugging notes", 0),
        ("", 0),
    ],
)
def test_the_title_says_manual_or_warning(title: str, expected: int) -> None:
    assert traits(title=title, body="") == expected
    assert traits(title="plain", body=title) == 0


@pytest.mark.parametrize(
    "body",
    [
        "Superseded by `new.md`.",
        "This was REPLACED BY the new queue.",
        "The old host is switched off.",
        "It is no longer used.",
        "Do not use it for anything new.",
        "该接口已停用",
        "本文已废弃",
        "此记录只作历史",
        "この手順は廃止",
    ],
)
def test_b091_the_body_says_that_it_does_not_hold_any_more_M6(body: str) -> None:
    """As in https://github.com/mem0ai/mem0/issues/5576: nothing marked what is past."""
    assert traits(title="plain", body=f"Some words.\n{body}\n") == OUTDATED


@pytest.mark.parametrize(
    "body",
    [
        "Replace the token every month.",
        "We retire hosts in May.",
        "There is no longer path than this.",
        "用新的方案取得令牌",
        "",
    ],
)
def test_words_that_only_look_like_it_say_nothing(body: str) -> None:
    assert traits(title="plain", body=body) == 0


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("see `new.md`, (old.md) and [there](deep/b.md)", ("new.md", "old.md", "deep/b.md")),
        ("twice: a.md a.md", ("a.md",)),
        ("见《部署.md》，以及 b.md。", ("部署.md", "b.md")),
        ("x.mdx is none, nor is .md alone", ()),
        ("nothing", ()),
    ],
)
def test_the_files_that_a_body_names(body: str, expected: tuple[str, ...]) -> None:
    assert named_files(body) == expected


def test_of_very_many_names_the_first_are_kept_and_the_work_is_bounded() -> None:
    body = " ".join(f"n{at}.md" for at in range(100_000))
    assert named_files(body) == tuple(f"n{at}.md" for at in range(len(named_files(body))))
    assert len(named_files(body)) < 100
    assert len(named_files("x" * 10**6 + ".md")[0]) < 200


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_has_traits_and_names(title: str, body: str) -> None:
    assert 0 <= traits(title=title, body=body) <= MANUAL + WARNING + OUTDATED
    assert all(name.endswith(".md") and "\n" not in name for name in named_files(body))
