"""The index: what is loaded, and pointers that come and go without a trace on other bytes (F6, F7)."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memdir.memory.entrypoint import (
    MAX_BYTES,
    MAX_LINES,
    Pointer,
    add,
    add_all,
    linked,
    load,
    over_limit,
    pointers,
    put_back,
    remove,
    take,
    written,
)
from memdir.memory.manifest import harmless

A = "- [A](a.md) — first\n"
B = "- [B](b.md) — second\n"

HANGS = 60.0
"""Seconds. What takes quadratic time takes far longer on these inputs; nothing else does on any machine."""


def _entry(number: int, *, length: int = 40) -> str:
    return f"- [T{number}](t{number}.md) - ".ljust(length - 1, "x") + "\n"


def _index(count: int, *, length: int = 40) -> str:
    return "".join(_entry(number, length=length) for number in range(count))


# -- loading (F7) ---------------------------------------------------------------------------------------


def test_an_index_within_the_limits_is_loaded_as_it_is_F7() -> None:
    for text in ("", A, "# Index\r\n\r\n" + A + "\n", _index(200), "x" * MAX_BYTES, "é" * (MAX_BYTES // 2)):
        loaded = load(text)
        assert (loaded.text, loaded.truncated, loaded.invisible) == (text, False, ())
        assert loaded.bytes == len(text.encode())
    assert load(_index(200)).lines == load(_index(200).rstrip("\n")).lines == 200


def test_lines_beyond_the_limit_are_cut_with_a_warning_that_says_so_F7() -> None:
    text = _index(MAX_LINES + 1)
    loaded = load(text)
    kept, warning = loaded.text.split("\n\n> ")
    assert kept == _index(MAX_LINES).rstrip("\n")
    assert "201 lines (limit: 200)" in warning
    assert "bytes (limit" not in warning
    assert (loaded.truncated, loaded.lines, loaded.bytes) == (True, 201, len(text))
    assert loaded.invisible == (_entry(200).rstrip(),)


def test_bytes_beyond_the_limit_are_cut_at_the_last_newline_F7() -> None:
    text = _index(150, length=200)
    loaded = load(text)
    kept, warning = loaded.text.split("\n\n> ")
    assert kept == _index(125, length=200).rstrip("\n")
    assert "30,000 bytes (limit: 25,000)" in warning
    assert "lines (limit" not in warning
    assert len(loaded.invisible) == 25


def test_the_warning_names_both_limits_where_both_are_passed_F7() -> None:
    loaded = load(_index(300, length=200))
    assert "300 lines (limit: 200) and 60,000 bytes (limit: 25,000)" in loaded.text
    assert "topic files" in loaded.text


def test_one_endless_line_is_cut_at_a_character_F7() -> None:
    kept = load("漢" * 10_000).text.split("\n\n> ")[0]
    assert kept == "漢" * (MAX_BYTES // 3)


def test_a_line_that_ends_exactly_at_the_limit_is_kept_whole_F7() -> None:
    text = "x" * (MAX_BYTES - 5) + "\n" + "yyyy" + "\n" + "z\n"
    assert load(text).text.split("\n\n> ")[0] == "x" * (MAX_BYTES - 5) + "\nyyyy"


def test_frontmatter_and_block_comments_neither_count_nor_load_F7() -> None:
    comment = "<!--\n" + "note\n" * 300 + "-->\n"
    loaded = load(
        "\ufeff---\nowner: me\n---\n\n" + comment + "\n" + _index(199) + "<!-- a --> <!-- b -->\n" + A
    )
    assert (loaded.text, loaded.lines, loaded.truncated) == (_index(199) + A, 200, False)


@pytest.mark.parametrize(
    "kept",
    [
        "```\n<!-- shown -->\n```\n" + A,
        "~~~~ md\n~~~\n<!-- shown -->\n~~~~\n" + A,
        "- a list\n- ```\n  <!-- shown -->\n  ```\n" + A,
        "    <!-- indented code -->\n" + A,
        "text <!-- inline --> text\n" + A,
        A + "<!-- never closed\n" + B,
        A + "a --> b\n<!-- never closed\n" + B,
        "---\nA rule, and another.\n\n---\n" + A,
    ],
)
def test_what_only_looks_like_a_comment_or_a_header_is_loaded_F7(kept: str) -> None:
    assert load(kept).text == kept


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<!-- x -->" + A, A),
        ("<!--> --> \n" + A, " --> \n" + A),
        ("<!--\n```\n-->\n" + A, A),
        (A + "   <!-- x\ny --> tail\n", A + " tail\n"),
        ("<!-- a\r\n-->\r\n\r\nb\r\n", "b\r\n"),
        ("```\n```\n<!-- gone -->\n" + A, "```\n```\n" + A),
    ],
)
def test_comments_of_odd_shapes_are_left_out_F7(text: str, left: str) -> None:
    assert load(text).text == left


PIECES = st.sampled_from(
    [
        A, B, "- [C](<c d.md>): hook\n", "- see [A](a.md)\n", "* [A](./a.md#x 'title')",
        "  - [A](a.md) sub\n", "1. [N](n.md)\n", "- [U](http://h.invalid/a.md)\n", "<!--", "-->",
        "```\n", "~~~", "---\n", "k: v\n", "\n", "\r\n", "  ", "x", "[", "]", "(", ")", "\\",
        "# Head\n", "\ufeff", "\ud800", "漢", "a.md",
        "-", "`", "\r", "    more\n", "  ```\n", "\n\n   x\n",
    ]
)  # fmt: skip
INDEXES = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))


@given(INDEXES)
def test_what_is_loaded_keeps_to_the_limits_F7(text: str) -> None:
    long = text * (1 + 30_000 // (len(text) + 1))
    for one in (text, long):
        loaded = load(one)
        kept = loaded.text.rpartition("\n\n> ")[0] if loaded.truncated else loaded.text
        assert len(kept.removesuffix("\n").split("\n")) <= MAX_LINES
        assert len(kept.encode()) <= MAX_BYTES
        assert loaded.truncated == (loaded.lines > MAX_LINES or loaded.bytes > MAX_BYTES)
        if not loaded.truncated:
            assert load(loaded.text).bytes <= loaded.bytes


@pytest.mark.parametrize(
    "text",
    [
        "<!--\n" * 100_000,
        "<!-- -->" * 100_000,
        "](" * 200_000,
        "- [" + "](a" * 100_000,
        "- [" + "\\]" * 100_000,
        "- [" + "\\" * 100_000 + "](a.md)" * 10_000,
        "- [" + "\\](a.md)" * 50_000,
        "- [x](" + "(a" * 100_000,
        '- [x](a "' * 50_000,
        "```\n" * 100_001,
        "- [x](" + "a" * 300_000,
        " " * 300_000 + "x",
    ],
    ids=lambda text: text[:8],
)
def test_loading_and_pointing_take_linear_time_F7(text: str) -> None:
    start = time.perf_counter()
    load(text)
    add(text, Pointer(title="t", file="t.md", hook="h"))
    assert time.perf_counter() - start < HANGS


# -- the answer to a write that goes over (F7) ------------------------------------------------------------


def test_a_write_within_the_limits_has_nothing_to_answer_for_F7() -> None:
    assert over_limit(_index(200)) is None


def test_a_write_over_a_limit_is_told_what_is_invisible_and_the_cure_F7() -> None:
    sentence = over_limit(_index(203))
    assert sentence is not None
    assert "succeeded" in sentence
    assert "203 lines (limit: 200)" in sentence
    assert "t200.md, t201.md, t202.md" in sentence
    assert "under 140 lines and 17,500 bytes" in sentence
    many = over_limit(_index(400)) or ""
    assert "t219.md, and 180 more" in many
    assert "t220.md" not in many


# -- reading pointers (F6) --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "title", "file", "hook"),
    [
        ("- [A](a.md) — hook", "A", "a.md", "hook"),
        ("* [A](./sub/../a.md) - hook - more", "A", "a.md", "hook - more"),
        ("1. [A](a%20b.md): hook", "A", "a b.md", "hook"),
        ("  - [A](<a b (1).md>)", "A", "a b (1).md", ""),
        ("- **[A](a.md)** – hook", "A", "a.md", "hook"),
        ("- [x] [A](a.md) — done", "A", "a.md", "done"),
        (r"- [x\](http://h.invalid) \[y](a.md)", "x](http://h.invalid) [y", "a.md", ""),
        ("- [a [b] c](a_(b).md 'tip') -- hook", "a [b] c", "a_(b).md", "hook"),
        ("- [A](a.md#part?x) hook", "A", "a.md", "hook"),
        ("- [中文](输入法.md) — 提示", "中文", "输入法.md", "提示"),
    ],
)
def test_a_pointer_is_read_however_it_is_spelled_F6(line: str, title: str, file: str, hook: str) -> None:
    assert pointers(line + "\r\n") == [Pointer(title=title, file=file, hook=hook)]


@pytest.mark.parametrize(
    "line",
    [
        "See [A](a.md) for more.",
        "- see [A](a.md)",
        "- [A](https://h.invalid/a.md)",
        "- [A](/etc/a.md)",
        "- [A](../a.md)",
        "- [A](..%2fa.md)",
        "- [A](a.txt)",
        "- [A] a.md",
        "a.md",
        "```\n- [A](a.md)\n```",
        "<!-- - [A](a.md) -->",
        "<!--\n- [A](a.md)\n-->",
    ],
)
def test_a_mention_is_no_pointer_F6(line: str) -> None:
    text = f"{line}\n"
    assert pointers(text) == []
    assert remove(text, "a.md") == text


def test_links_in_sentences_and_tables_count_as_links_only_where_they_count_F6() -> None:
    text = "See [A](a.md).\n| [B](<b c.md>) |\n```\n[C](c.md)\n```\n<!-- [D](d.md) -->\n- [E](e.md)\n"
    assert linked(text) == {"a.md", "b c.md", "e.md"}


# -- adding and removing (F6) -----------------------------------------------------------------------------


def test_a_new_pointer_goes_behind_the_last_and_keeps_all_other_bytes_F6() -> None:
    text = "# Index\r\n\r\n- [A](a.md) — first\r\n  more on it\r\n\r\nfoot\r\n"
    new = add(text, Pointer(title="B", file="b.md", hook="h"))
    assert new == text.replace("more on it\r\n", "more on it\r\n- [B](b.md) — h\r\n")
    assert remove(new, "b.md") == text


def test_a_missing_final_newline_does_not_glue_two_pointers_F6() -> None:
    """Reported of other programs as B070: an append to a file without a final newline."""
    assert add(A.rstrip("\n"), Pointer(title="B", file="b.md", hook="second")) == A + B


def test_a_pointer_to_the_same_file_is_replaced_in_place_F6() -> None:
    text = "  * [Old](<./a.md> 'tip') — old\r\n" + B
    new = add(text, Pointer(title="New", file="a.md", hook="new"))
    assert new == "  * [New](a.md) — new\r\n" + B
    assert (
        add("- [A](a.md)   -  first", Pointer(title="A", file="a.md", hook="first"))
        == "- [A](a.md)   -  first"
    )


def test_a_pointer_never_lands_where_it_would_not_count_F6() -> None:
    for text in ("text\n```\nopen\n", "\ufeff---\nk: v\n---", "<!-- x\n-->", "\ufeff<!-- open"):
        new = add(text, Pointer(title="A", file="a.md", hook="first"))
        assert pointers(new) == [Pointer(title="A", file="a.md", hook="first")]
        assert new.replace(A, "").rstrip("\n") == text.rstrip("\n")


def test_a_new_pointer_is_never_the_invisible_one_F7() -> None:
    new = add(_index(MAX_LINES), Pointer(title="A", file="a.md", hook="first"))
    assert new == A + _index(MAX_LINES)
    assert load(new).invisible == (_entry(MAX_LINES - 1).rstrip(),)


def test_titles_and_hooks_are_escaped_one_line_and_short_F6() -> None:
    line = written(
        Pointer(
            title="x](http://h.invalid) [y\n<b>`",
            file="a (1)#?.md",
            hook="one\ntwo </system-reminder>" + " w" * 300,
        )
    )
    assert line.startswith(
        r"- [x\](http://h.invalid) \[y \<b>\`](a%20%281%29%23%3F.md) — one two ‹/system-reminder> w"
    )
    assert "\n" not in line
    assert len(line) <= 200
    assert line.endswith("w…")


def test_a_long_file_name_is_never_shortened_F6() -> None:
    file = "n" * 240 + ".md"
    assert written(Pointer(title="A", file=file, hook="hook")) == f"- [A]({file})"


# -- lines that belong to an entry (F6) ------------------------------------------------------------------


@pytest.mark.parametrize(
    "own",
    [
        "",
        "  more on b\n",
        "  more\n  - and more\n",
        "\n  a paragraph\n\n    and another\n",
        "\tmore\r\n",
        "  ```\n  code\n  ```\n",
        "  <!-- note -->\n",
    ],
)
def test_what_is_indented_below_an_entry_goes_and_comes_back_with_it_F6(own: str) -> None:
    text = A + B + own + "- [C](c.md)\n"
    left, taken = take(text, "b.md")
    assert left == A + "- [C](c.md)\n"
    assert "".join(line for _, line in taken) == B + own
    assert put_back(left, taken, Pointer(title="B", file="b.md", hook="")) == text


@pytest.mark.parametrize(
    "other",
    ["\ntext\n", "\n text\n", "  - [N](n.md)\n", "text\n", "  ```\nopen\n- [X](x.md)\n  ```\n- [C](c.md)\n"],
)
def test_what_belongs_to_nobody_or_to_another_entry_stays_F6(other: str) -> None:
    """A code block that is not indented to its end is nobody's: half of it would hide what follows."""
    assert remove(B + other, "b.md") == other


def test_an_entry_inside_another_takes_only_its_own_lines_F6() -> None:
    text = A + "  - [N](n.md)\n    on n\n  on a\n" + B
    assert remove(text, "n.md") == A + "  on a\n" + B


def test_a_new_entry_takes_over_no_lines_of_others_F6() -> None:
    for text in ("   text\n", A + "\n\n   text\n", "- x\n    - [N](n.md)\n  on x\n", "---\nk: v\n---\n  x\n"):
        new = add(text, Pointer(title="T", file="t.md", hook="h"))
        assert remove(new, "t.md") == text


def test_a_changed_entry_keeps_the_lines_below_it_F6() -> None:
    new = add(A + "  on a\n" + B, Pointer(title="A", file="a.md", hook="new"))
    assert new == "- [A](a.md) — new\n  on a\n" + B


def test_several_entries_go_in_at_once_and_the_newest_is_visible_F7() -> None:
    new = [Pointer(title=f"N{number}", file=f"n{number}.md", hook="") for number in range(3)]
    known = Pointer(title="A", file="a.md", hook="new")
    text = add_all(A + B, [*new[:2], known, new[2]])
    assert [one.file for one in pointers(text)] == ["a.md", "b.md", "n0.md", "n1.md", "n2.md"]
    assert pointers(text)[0] == known
    assert [one.file for one in pointers(add_all(_index(199), new))][:4] == [
        "n2.md",
        "n1.md",
        "n0.md",
        "t0.md",
    ]


# -- lines end in three ways, comments in one (F6, F7) -----------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_is_a_line_however_it_ends_F7(end: str) -> None:
    text = f"---{end}name: i{end}---{end}- [A](a.md) — x{end}  on a{end}- [B](b.md){end}"
    assert load(text).text == text.partition(f"---{end}- ")[2].join(["- ", ""])
    assert [one.file for one in pointers(text)] == ["a.md", "b.md"]
    assert add(text, Pointer(title="N", file="n.md", hook="k")) == f"{text}- [N](n.md) — k{end}"
    left, taken = take(text, "a.md")
    assert left == text.replace(f"- [A](a.md) — x{end}  on a{end}", "")
    assert put_back(left, taken, Pointer(title="A", file="a.md", hook="")) == text
    assert load(f"- [T](t.md){end}" * 201).invisible == ("- [T](t.md)",)
    long = ("x" * 99 + end) * 300
    kept = load(long).text.split("\n\n> ")[0]
    assert set(kept.split(end)) == {"x" * 99}
    assert len(kept) <= MAX_LINES * (99 + len(end))


def test_a_new_entry_ends_no_comment_that_somebody_left_open_F6() -> None:
    pointer = Pointer(title="A --> B", file="t.md", hook="x --> y")
    text = A + "<!-- open\n" + B
    new = add(text, pointer)
    assert add(new, pointer) == new
    assert [one.file for one in pointers(new)] == ["a.md", "b.md", "t.md"]
    assert remove(new, "t.md") == text


FILE_NAMES = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="/\\"), min_size=1, max_size=20
).map(lambda stem: stem.replace("..", "x").strip() + "x.md")
POINTERS = st.builds(
    Pointer,
    title=st.one_of(st.text(), st.just("a](b) [c")),
    file=FILE_NAMES,
    hook=st.one_of(st.text(), PIECES),
)


@given(INDEXES, POINTERS)
@example("\r- [](.md)\n\n", Pointer(title="t", file="0x.md", hook=""))
def test_adding_a_pointer_twice_is_adding_it_once_and_removing_undoes_it_F6(
    text: str, pointer: Pointer
) -> None:
    new = add(text, pointer)
    assert add(new, pointer) == new
    found = [one for one in pointers(new) if one.file == pointer.file]
    assert len(found) == 1
    assert harmless(pointer.title).startswith(found[0].title.rstrip("…")) or not harmless(pointer.title)
    gone = remove(new, pointer.file)
    assert remove(gone, pointer.file) == gone
    assert gone in (text, *(text + end for end in ("\n", "\r\n", "\r")))


@given(INDEXES, st.sampled_from(["a.md", "b.md", "c d.md", "n.md"]))
@example("\r- [](a.md)\n\n", "a.md")
@example("\r- [](a.md)\n\n- [](a.md)\n\n", "a.md")
def test_what_was_taken_out_can_be_put_back_exactly_F6(text: str, file: str) -> None:
    left, taken = take(text, file)
    assert len(left) <= len(text)
    if taken and left.startswith("\ufeff") == text.startswith("\ufeff"):
        back = put_back(left, taken, Pointer(title="t", file=file, hook=""))
        assert back == text or back.rstrip("\r\n") == text.rstrip("\r\n")
        assert [one.file for one in pointers(back)] == [one.file for one in pointers(text)]
