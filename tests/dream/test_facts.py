"""The lines that say something, and when two are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.dream.plan.facts import facts, same_words

TOPIC = """---
name: Tools
description: Which tools we use
type: project
modified: "2026-03-30T12:00:00.000Z"
status: agreed
origin:
  session: 3f0d
---

# Tools

We use **pnpm** for all packages, since
npm broke the lockfile twice.

- one
  - nested
---
| tool | use |
|------|-----|
| ruff | yes |

```sh
make test
```
<!-- kept for later -->
✅
"""


def test_the_lines_that_say_something_are_the_description_the_body_and_keys_that_are_not_ours_D8() -> None:
    assert facts("a.md", TOPIC.encode()) == (
        "Which tools we use",
        "status: agreed",
        "We use **pnpm** for all packages, since",
        "npm broke the lockfile twice.",
        "one",
        "nested",
        "tool | use",
        "ruff | yes",
        "make test",
        "kept for later",
    )


def test_a_heading_with_nothing_below_it_is_all_there_is_and_counts_D8() -> None:
    assert facts("a.md", b"# Use pnpm\n") == ("Use pnpm",)
    assert facts("a.md", b"# T\n## A\n## B\ntext\n## C\n") == ("A", "text", "C")
    assert facts("a.md", b"# T\n## A\n### B\ntext\n") == ("text",)


def test_of_the_index_the_prose_counts_and_no_entry_heading_or_comment_D8() -> None:
    index = (
        b"# Memory\n<!-- note -->\n- [Tools](tools.md) - what we use\n\nAsk before deploying.\n- no link\n"
    )
    assert facts("MEMORY.md", index) == ("Ask before deploying.", "no link")


@pytest.mark.parametrize(
    "data",
    [
        TOPIC.encode(),
        TOPIC.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + TOPIC.encode(),
        TOPIC.encode("utf-16"),
    ],
)
def test_line_ends_marks_and_encodings_make_no_other_facts_D8(data: bytes) -> None:
    assert facts("a.md", data) == facts("a.md", TOPIC.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("- We use **pnpm**.", "We use pnpm"),
        ("1. We use `pnpm`", "* We use pnpm."),
        ("> We  use\tpnpm", "We use pnpm"),
        ("_We use_ pnpm", "We use pnpm"),
        ("***We*** use pnpm", "We use pnpm"),
        ("“We” use pnpm – now", '"We" use pnpm - now'),
        ("我们 使用 **pnpm**。", "我们使用pnpm"),
        ("cafe\u0301", "café"),
    ],
)
def test_marks_white_space_and_a_full_stop_make_no_other_line_D8(one: str, other: str) -> None:
    assert same_words(one) == same_words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use PNPM", "Use pnpm"),
        ("Use pnpm", "Use pnpm?"),
        ("Use pnpm", "Use pnpm..."),
        ("[ ] migrate", "[x] migrate"),
        ("- [ ] migrate", "migrate"),
        ("delete *.md", "delete .md"),
        ("2**3 and 4**5", "23 and 45"),
        ("__init__ runs", "init runs"),
        ("snake_case_name", "snakecasename"),
        ("see [x](https://a.example)", "see x"),
        ("use pnpm", "use pnpm"[:-1] + "м"),  # Cyrillic
        ("use pnpm", "use pn\u200bpm"),
        ("use pnpm", "use\u2800pnpm"),
        ("~~use pnpm~~", "use pnpm"),
        ("use &#112;npm", "use pnpm"),
        ("-1 degrees", "1 degrees"),
        ("--force", "force"),
        ("`a*b*c`", "`abc`"),
    ],
)
def test_what_says_something_else_or_only_looks_alike_is_another_line_D8(one: str, other: str) -> None:
    assert same_words(one) != same_words(other)


@given(st.binary(max_size=400))
def test_whatever_the_bytes_there_is_an_answer_F2(data: bytes) -> None:
    facts("a.md", data)
    facts("MEMORY.md", data)


@given(st.text(alphabet="ab *_`~<>!-|#[]():\n.\"'", max_size=200))
def test_whatever_the_marks_there_is_an_answer_D8(text: str) -> None:
    assert facts("a.md", text.encode()) == facts("a.md", text.encode())
    assert same_words(same_words(text)) is not None


@pytest.mark.parametrize(
    "piece",
    ["~a ", "_a b ", "*a ", "`` ", "<a style ", "<!-- ", '"a. B" ', "(a. B ", "- a\n" + " ", "| a ", "> "],
)
def test_no_text_takes_long_to_read_D8(piece: str) -> None:
    facts("a.md", (piece * (200_000 // len(piece))).encode())
