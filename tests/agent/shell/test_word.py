"""One word as bash understands it: literal text and wildcards, nothing else (A6)."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memdir.agent.shell.refused import Refused
from memdir.agent.shell.word import read

BASH = shutil.which("bash")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("notes.txt", "notes.txt"),
        ("'a b'", "a b"),
        ('"it\'s"', "it's"),
        ("it\\'s", "it's"),
        ("'it'\\''s fine'", "it's fine"),
        ('"a\\"b\\\\c\\d"', 'a"b\\c\\d'),
        ('"costs 5$ or foo$"', "costs 5$ or foo$"),
        ('"a\\$b"', "a$b"),
        ("memory/user\\ prefs.md", "memory/user prefs.md"),
        ("HEAD~1", "HEAD~1"),
        ("HEAD@{1}", "HEAD@{1}"),
        ("{}", "{}"),
        ("a#b", "a#b"),
        ("''", ""),
        ("笔记.md", "笔记.md"),
        ("'two\nlines'", "two\nlines"),
    ],
)
def test_literal_words_mean_what_bash_makes_of_them_A6(raw: str, text: str) -> None:
    word = read(raw)
    assert (word.text, word.is_pattern) == (text, False)
    assert said(word.rendered()) == said(raw) == [text]


@pytest.mark.parametrize("raw", ["*.md", "src/*.py", "a?c", "logs/app.[a-z]*", "'a b'*", "[!a]x"])
def test_wildcards_stay_live_and_the_rest_is_quoted_A6(raw: str) -> None:
    word = read(raw)
    assert word.is_pattern
    assert read(word.rendered()).pieces == word.pieces


@pytest.mark.parametrize(
    "raw",
    [
        "$x", "${x}", "$(ls)", "`ls`", '"$x"', '"$(ls)"', '"`ls`"', "$'x'", '$"x"', "a{b,c}", "{1..3}",
        "~root",
        "a=~/x", "a;b", "a|b", "a&b", "a>b", "a<b", "(a)", "a b", "a\nb", "'open", '"open', "a\\", "a\\\nb",
        "a\u00a0b", "a\u200bb", "'a\u200bb'", "ls；", "[$x]", "[[:alpha:]]", "[a", "@(a)", "a\\é", '"a\\\nb"',
    ],
)  # fmt: skip
def test_whatever_else_is_live_or_unseen_is_refused_A6(raw: str) -> None:
    with pytest.raises(Refused) as refused:
        read(raw)
    assert str(refused.value)


FRAGMENTS = st.lists(
    st.sampled_from([*"ab1 .-/:=,+%@^#!~*?[]{}()<>|&;$`\"'\\\n\t", "''", '""', "\\'", '\\"', "é", "笔"]),
    max_size=8,
).map("".join)


@given(FRAGMENTS)
@example("a'b'\"c\"d")
def test_what_is_understood_as_literal_is_one_word_of_bash_with_that_text_A6(raw: str) -> None:
    try:
        word = read(raw)
    except Refused:
        return
    if word.is_pattern or not raw or "~" in word.rendered()[:1]:
        return
    assert said(raw) == [word.text] or raw.startswith("#")
    assert said(word.rendered()) == [word.text]


def said(words: str) -> list[str]:
    """The words that bash makes of a text."""
    if BASH is None:
        pytest.skip("there is no bash")
    ran = subprocess.run(
        [BASH, "--norc", "-c", f"printf '%s\\0' {words}"],
        capture_output=True,
        env={"LC_ALL": "C.UTF-8"},
        cwd="/",
        check=True,
    )
    return ran.stdout.decode().split("\0")[:-1]
