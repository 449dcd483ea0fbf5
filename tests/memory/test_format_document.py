"""docs/format.md is true: its files read as it says, and are what memdir would write itself (F1, F3, F6)."""

from __future__ import annotations

import json
import re

from memdir.memory import entrypoint, topic
from tests.cases import REPO

DOCUMENT = (REPO / "docs" / "format.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```markdown\n(.*?)^```$", DOCUMENT, re.DOTALL | re.MULTILINE)
TOPICS = [topic.parse(text, filename="x.md") for text in EXAMPLES if text.startswith("---\n")]
(INDEX,) = (text for text in EXAMPLES if text.startswith("- ["))


def test_the_document_shows_one_real_file_of_each_type_F4() -> None:
    assert [read.type for read in TOPICS[:4]] == list(topic.TYPES)
    assert [read.problems for read in TOPICS] == [()] * 5


def test_files_in_the_document_are_what_we_would_write_F3() -> None:
    for text, read in zip(EXAMPLES[1:4], TOPICS[1:4], strict=True):
        assert (
            topic.render(name=read.name, description=read.description, type=read.type, body=read.body) == text
        )


def test_both_shapes_in_the_document_carry_when_and_whence_F1() -> None:
    for read in (TOPICS[0], TOPICS[4]):
        assert read.modified == "2026-03-30T12:00:00.000Z"
        assert read.origin is not None
        assert read.origin.session == "3f0d1a52-6a0e-4a53-9d0c-0d2f4f6f6b11"


def test_the_index_in_the_document_is_as_we_would_write_it_F6() -> None:
    pointers = entrypoint.pointers(INDEX)
    assert "".join(f"{entrypoint.written(pointer)}\n" for pointer in pointers) == INDEX
    assert all(f"── {pointer.file}" in DOCUMENT for pointer in pointers)


def test_the_trash_record_in_the_document_is_json_with_the_pointer_it_took() -> None:
    (text,) = re.findall(r"^```json\n(.*?)^```$", DOCUMENT, re.DOTALL | re.MULTILINE)
    record = json.loads(text)
    assert entrypoint.take(INDEX, record["file"])[1] == tuple(map(tuple, record["pointers"]))
