"""Two versions of a file, as a diff that a person reads and `patch` takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from memdir.cli.differences import difference, shown

LONG = "".join(f"line {number}\n" for number in range(40))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, b"one\ntwo\n", "--- /dev/null\n+++ a.md\n@@ -0,0 +1,2 @@\n+one\n+two\n"),
        (b"one\n", None, "--- a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"),
        (None, b"", "--- /dev/null\n+++ a.md\n"),
        (b"a\nb\nc\n", b"a\nB\nc\n", "--- a.md\n+++ a.md\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
        (
            b"a\nb",
            b"a\nb\n",
            "--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
        ),
        (b"a\r\nb\r\n", b"a\r\nc\r\n", "--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
        ("ü\n".encode("utf-16"), "ö\n".encode("utf-16"), "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-ü\n+ö\n"),
        (b"\xef\xbb\xbfa\n", b"a\n", ""),
        (b"a\n", b"a\n", ""),
        (b"one\0two\n", b"a\n", None),
        (b"a\n", b"\xff\xfe\xfd", None),
    ],
    ids=[
        "created",
        "deleted",
        "created empty",
        "changed",
        "a last line that got its end",
        "line ends that all lines share",
        "another encoding",
        "a mark alone",
        "nothing",
        "a NUL before",
        "no text after",
    ],
)
def test_what_differs_is_a_unified_diff_H2(
    before: bytes | None, after: bytes | None, expected: str | None
) -> None:
    assert difference("a.md", before, after) == expected


def test_places_far_from_each_other_are_shown_each_with_its_lines_H2() -> None:
    after = LONG.replace("line 5\n", "").replace("line 30\n", "line thirty\nand more\n")
    told = difference("a.md", LONG.encode(), after.encode())
    assert told is not None
    assert [line for line in told.splitlines() if line[:1] in "@-+"] == [
        "--- a.md",
        "+++ a.md",
        "@@ -3,7 +3,6 @@",
        "-line 5",
        "@@ -28,7 +27,8 @@",
        "-line 30",
        "+line thirty",
        "+and more",
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LONG, LONG.replace("line 0\n", "")),
        (LONG, LONG + "one more"),
        (LONG, LONG.replace("line 20\n", "x\n\ny\n").replace("line 22\n", "")),
        ("a\n" * 50, "a\n" * 30),
        ("", "new\n"),
        ("a\n\nb\nb\n", "b\na\n\nb\n"),
    ],
)
def test_patch_makes_one_version_of_the_other_H2(before: str, after: str, tmp_path: Path) -> None:
    place = tmp_path / "a.md"
    place.write_text(before, "utf-8")
    told = difference("a.md", before.encode(), after.encode())
    assert told is not None
    subprocess.run(["git", "apply", "-p0", "-"], input=told.encode(), cwd=tmp_path, check=True, timeout=20)
    assert place.read_text("utf-8") == after


def test_a_name_can_forge_no_line_of_a_diff_H2() -> None:
    told = difference("a\n+++ b.md", None, b"")
    assert told == "--- /dev/null\n+++ a\\x0a+++ b.md\n"


def test_nothing_in_a_diff_steers_the_terminal_or_hides_H2() -> None:
    told = difference("a.md", b"", "red \x1b[31m\r\u202e \u200b\U000e0041 tab\t.\n".encode())
    assert told is not None
    last = shown(told, coloured=False).splitlines()[-1]
    assert last == "+red \\x1b[31m\\x0d\\x202e \\x200b\\xe0041 tab\t."
    assert shown("+a\n-b\n c\n", coloured=True) == "\x1b[32m+a\x1b[0m\n\x1b[31m-b\x1b[0m\n c"
