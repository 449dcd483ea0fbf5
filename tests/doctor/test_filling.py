"""A header gets what it lacks, once, and nothing else of the file changes (F1, F2, E10)."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from memdir.doctor.filling import LONGEST, MOST_BYTES, NO_NAME, filled, lacking
from memdir.memory import encoding, topic
from tests.doctor.broken import TOKEN

_LINES = st.sampled_from(
    [
        "---", "name: Ports", "name:", "description: >", "  the proxy", "type: user", "metadata:", "# Ports",
        "The proxy listens on 8443.", "", "- a", "***", "\ufeff", "description: 'x", "origin: me", "图",
        TOKEN, "name: ports\ttabs", "...", "```", "<!-- x -->", "x" * 300, "word " * 60,
    ]
)  # fmt: skip
_TEXTS = st.builds(
    lambda lines, end: end.join(lines),
    st.lists(_LINES, max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
)


@given(text=_TEXTS, name=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_filling_adds_lines_and_takes_none_away_F1(text: str, name: str) -> None:
    data = text.encode(name)
    new = filled("ports.md", data)
    assert filled("ports.md", new) == new
    if new == data:
        return
    before, after = (encoding.readable(one).replace(encoding.MARK, "").splitlines() for one in (data, new))
    rest = iter(after)
    assert all(_follows(line, rest) for line in before), "a line is gone, or elsewhere"
    read, was = topic.parse(new, filename="ports.md"), topic.parse(data, filename="ports.md")
    assert (read.body, read.type, read.origin, read.modified) == (
        was.body,
        was.type,
        was.origin,
        was.modified,
    )
    assert read.problems == ()
    assert len(read.description or "") <= max(LONGEST, len(was.description or ""))
    assert TOKEN not in text
    assert len(lacking(topic.parse(new, filename=NO_NAME))) < len(
        lacking(topic.parse(data, filename=NO_NAME))
    )


def _follows(line: str, rest: Iterator[str]) -> bool:
    """Whether a line comes next, perhaps behind new ones; a key without a value may have one by now."""
    empty = line.strip() in {"name:", "description: >"}
    return any(new == line or (empty and new.startswith(f"{line.partition(':')[0]}: ")) for new in rest)


def test_a_text_too_long_for_a_memory_gets_no_header_F1() -> None:
    data = b"The proxy listens on 8443.\n" * (MOST_BYTES // 20)
    assert filled("ports.md", data) == data


@given(data=st.binary(max_size=200))
def test_any_bytes_are_filled_or_left_F2(data: bytes) -> None:
    new = filled("ports.md", data)
    assert filled("ports.md", new) == new
