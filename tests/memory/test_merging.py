"""One change is taken out of what others have changed since: by lines, and the index by entries (H2)."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.memory import merging
from memdir.memory.entrypoint import Pointer, pointers
from memdir.memory.merging import Returning, fitted, merged, undone

BASE = b"one\ntwo\nthree\nfour\nfive\n"
lines = st.lists(st.sampled_from("abcdef"), max_size=8).map(lambda found: "".join(f"{x}\n" for x in found))
texts = lines.map(str.encode)


def test_both_changes_are_in_what_is_merged_H2() -> None:
    ours, theirs = BASE.replace(b"one", b"ONE"), BASE.replace(b"five\n", b"")
    assert merged(BASE, ours, theirs) == b"ONE\ntwo\nthree\nfour\n"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (BASE.replace(b"two", b"2"), BASE.replace(b"two", b"TWO")),
        (BASE.replace(b"two", b"2"), BASE.replace(b"three", b"3")),
        (BASE + b"six\n", BASE + b"seven\n"),
        (b"", BASE + b"six\n"),
    ],
    ids=["the same line", "lines with nothing between them", "two lines at one place", "all gone"],
)
def test_what_is_not_clear_is_not_merged_H2(ours: bytes, theirs: bytes) -> None:
    assert merged(BASE, ours, theirs) is None


@given(base=texts, ours=texts)
def test_where_one_side_did_nothing_the_other_holds_H2(base: bytes, ours: bytes) -> None:
    assert merged(base, ours, base) == ours
    assert merged(base, base, ours) == ours
    assert merged(base, ours, ours) == ours


@given(base=texts, ours=texts, theirs=texts)
def test_the_sides_are_alike_H2(base: bytes, ours: bytes, theirs: bytes) -> None:
    assert merged(base, ours, theirs) == merged(base, theirs, ours)


@settings(max_examples=60)
@given(st.data())
def test_git_merges_so_too_H2(data: st.DataObject) -> None:
    base = [f"line {number}\n" for number in range(data.draw(st.integers(1, 9)))]
    ours, theirs = (data.draw(edits(base, name)) for name in ("ours", "theirs"))
    found = merged(*("".join(text).encode() for text in (base, ours, theirs)))
    assert found == by_git(base, ours, theirs)


@st.composite
def edits(draw: st.DrawFn, base: list[str], name: str) -> list[str]:
    """The lines with some of them gone, replaced, or followed by new ones."""
    text = list(base)
    for at in draw(st.lists(st.integers(0, len(base) - 1), max_size=2, unique=True)):
        text[at] = draw(st.sampled_from(["", f"{name} {at}\n", f"{base[at]}{name} below {at}\n"]))
    return [part + "\n" for part in "".join(text).split("\n")[:-1]]


def by_git(*sides: list[str]) -> bytes | None:
    with TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("base", "ours", "theirs")]
        for path, side in zip(paths, sides, strict=True):
            path.write_text("".join(side), "utf-8", newline="")
        base, ours, theirs = map(str, paths)
        command = ["git", "merge-file", "-p", "-q", ours, base, theirs]
        done = subprocess.run(command, capture_output=True, check=False)
        return None if done.returncode else done.stdout


@pytest.mark.parametrize("kind", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"], ids=str)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_every_byte_that_nobody_changed_stays_H2(kind: str, end: str) -> None:
    def encoded(text: str) -> bytes:
        return text.replace("\n", end).encode(kind)

    base = "eins\nzwei\ndréi\n部署\nfünf"
    ours, theirs = base.replace("eins", "1"), base.replace("fünf", "5")
    assert merged(encoded(base), encoded(ours), encoded(theirs)) == encoded("1\nzwei\ndréi\n部署\n5")


def test_bytes_that_are_no_text_are_kept_H2() -> None:
    base = b"a\nb\xff\xfe\nc\nd\n"
    assert merged(base, base.replace(b"a", b"A"), base.replace(b"d", b"D")) == b"A\nb\xff\xfe\nc\nD\n"


def test_an_encoding_that_only_one_side_changed_is_theirs_to_change_H2() -> None:
    text = "a\nb\nc\n"
    base, ours = text.encode(), text.replace("c", "C").encode()
    assert merged(base, ours, text.encode("utf-16-le")) == "a\nb\nC\n".encode("utf-16-le")
    assert merged(base, text.replace("c", "C").encode("utf-16-le"), b"b\nc\n") == "b\nC\n".encode("utf-16-le")


def test_what_is_no_text_in_its_encoding_is_not_merged_H2() -> None:
    assert merged(b"\xff\xfea\0b", b"\xff\xfea\0b\0", b"") is None


def test_more_than_can_be_compared_is_not_merged_H2() -> None:
    many = b"".join(b"%d\n" % number for number in range(merging.LIMIT + 10))
    assert merged(many, many.replace(b"\n7\n", b"\nseven\n"), many) is not None
    assert merged(many, b"x\n" + many + b"x\n", many[:-2] + b"y\n") is None


# -- the index ----------------------------------------------------------------------------------------------

A, B, C = ("- [A](a.md) — one\n", "- [B](b.md) — two\n", "- [C](c.md) — three\n")


def test_an_entry_that_was_added_goes_and_one_that_was_taken_away_comes_back_H2() -> None:
    assert undone(A + B + C, made=A + B, was=A) == A + C
    assert undone(A + C, made=A, was=A + B) == A + B + C


def test_what_others_did_with_an_entry_holds_H2() -> None:
    reworded = "- [B](b.md) — two, and more\n"
    assert undone(A + reworded, made=A + B, was=A + "- [B](b.md) — 2\n") == A + reworded
    assert undone(A, made=A + B, was=A + "- [B](b.md) — 2\n") == A


def test_no_file_gets_a_second_entry_H2() -> None:
    again = "- [B again](b.md)\n"
    assert undone(A + again, made=A, was=A + B) == A + again


def test_a_line_that_somebody_has_put_back_already_is_not_there_twice_H2() -> None:
    assert undone("mine\n" + A, made=A, was="mine\n" + A) == "mine\n" + A
    assert undone("mine\n" + A, made=A, was="mine\nmine\n" + A) == "mine\nmine\n" + A


@given(kept=st.lists(st.sampled_from([A, B, "text\n", "\n"]), max_size=5), more=st.integers(0, 5))
def test_lines_of_others_stay_in_their_order_H2(kept: list[str], more: int) -> None:
    was, made = "".join(kept), "".join([*kept[:more], C, *kept[more:]])
    for at in range(len(kept) + 2):
        lines = made.splitlines(keepends=True)
        text = "".join([*lines[:at], "- [D](d.md) — of others\n", *lines[at:]])
        left = undone(text, made=made, was=was)
        assert left == text.replace(C, "", 1)


def test_an_index_fits_what_goes_and_what_comes_back_H2() -> None:
    pointer = Pointer(title="C", file="c.md", hook="three")
    text = fitted(
        A + "  below\n" + B, gone=["a.md"], ours={"  below"}, back=[Returning(lines=(), pointer=pointer)]
    )
    assert text == B + C
    assert [one.file for one in pointers(text)] == ["b.md", "c.md"]


def test_what_somebody_wrote_below_an_entry_that_goes_stays_H2() -> None:
    assert fitted(A + "  mine\n" + B, gone=["a.md"], ours=set()) == "  mine\n" + B


def test_an_entry_comes_back_where_it_was_with_what_stood_below_it_H2() -> None:
    back = Returning(
        lines=((1, B), (2, "  below\n")), pointer=Pointer(title="B", file="b.md", hook="otherwise")
    )
    assert fitted(A + C, gone=[], ours=set(), back=[back]) == A + B + "  below\n" + C
    assert fitted(A + B + C, gone=[], ours=set(), back=[back]) == A + B + C
