"""What a model wrote into dream.json."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.dream.plan.reasons import MAX_BYTES, FileReason, LineReason, Reasons, read


def test_files_and_lines_are_read_with_their_whys_D8() -> None:
    data = {
        "version": 1,
        "files": [
            {"file": "old.md", "into": "./new.md", "why": "same subject"},
            {"file": "wrong.md", "why": "contradicted by new.md"},
        ],
        "lines": [
            {"file": "a.md", "was": "Yesterday", "now": "On 2026-03-01", "why": "absolute date"},
            {"file": "sub\\b.md", "was": "x", "now": None},
        ],
    }
    assert read(json.dumps(data).encode()) == Reasons(
        files={
            "old.md": FileReason(file="old.md", into="new.md", why="same subject"),
            "wrong.md": FileReason(file="wrong.md", into=None, why="contradicted by new.md"),
        },
        lines=(
            LineReason(file="a.md", was="Yesterday", now="On 2026-03-01", why="absolute date"),
            LineReason(file="sub/b.md", was="x", now=None, why=None),
        ),
    )


@pytest.mark.parametrize("data", [None, b"", b"  \n"])
def test_none_is_no_reason_and_no_problem_D8(data: bytes | None) -> None:
    assert read(data) == Reasons()


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"7",
        b"\xff\xfe",
        b"[" * 100_000,
        b" " + b"x" * MAX_BYTES,
        b'{"files": 7}',
        b'{"lines": {}}',
        b'{"files": [7]}',
        b'{"files": [{}]}',
        b'{"files": [{"file": 3, "why": "x"}]}',
        b'{"files": [{"file": " "}]}',
        b'{"lines": [{"file": "a.md"}]}',
        b'{"lines": [{"file": "a.md", "was": ["x"]}]}',
        b'{"lines": [{"file": "a.md", "was": "x", "why": {"y": 1}}]}',
    ],
)
def test_what_can_not_be_read_gives_no_reason_and_a_problem_D8(data: bytes) -> None:
    reasons = read(data)
    assert not reasons.files
    assert not reasons.lines
    assert len(reasons.problems) == 1


def test_one_bad_entry_costs_only_itself_and_no_word_of_it_is_told_D8() -> None:
    reasons = read(
        json.dumps(
            {
                "version": "2",
                "lines": [{"file": "a.md", "was": 5, "why": "geheim"}, {"file": "a.md", "was": "x"}],
            }
        ).encode()
    )
    assert [line.was for line in reasons.lines] == ["x"]
    assert len(reasons.problems) == 2
    assert "geheim" not in " ".join(reasons.problems)


def test_of_two_reasons_for_one_file_the_one_that_covers_less_counts_D8() -> None:
    two = [{"file": "a.md", "why": "wrong"}, {"file": "a.md", "into": "b.md", "why": "same"}]
    for files in (two, two[::-1]):
        reasons = read(json.dumps({"files": files}).encode())
        assert reasons.files["a.md"].into == "b.md"
        assert reasons.problems


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["version", "files", "lines", "file", "into", "was", "now", "why"]), inner
            )
        ),
        max_leaves=20,
    )
)
def test_whatever_json_there_is_it_is_read_D8(value: object) -> None:
    read(json.dumps(value).encode())


@given(st.binary(max_size=200))
def test_whatever_bytes_there_are_they_are_read_D8(data: bytes) -> None:
    read(data)
