"""Transcripts: what is read back is what was written, and nothing is overwritten (A1, SEAMS)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.agent.tools import TOOLS
from memdir.agent.transcript import Transcript, read
from memdir.errors import Conflict, NotFound
from memdir.model.messages import (
    Block,
    Message,
    Prefix,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    person,
)

PREFIX = Prefix(
    system=("你好\u2028", "two"), tools=tuple(tool.spec for tool in TOOLS), max_tokens=99, thinking=7
)
NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)

texts = st.text(max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, text=texts),
    st.builds(Thinking, thinking=texts, signature=texts, redacted=st.booleans()),
    st.builds(
        ToolUse, id=texts, name=texts, input=st.dictionaries(texts, values), malformed=st.none() | texts
    ),
    st.builds(ToolResult, tool_use_id=texts, content=texts, is_error=st.booleans()),
)
zones = st.sampled_from([UTC, timezone(timedelta(hours=8)), timezone(timedelta(minutes=-210))])
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant"]),
    content=st.lists(blocks, max_size=3).map(tuple),
    origin=st.sampled_from(["person", "assistant", "tool", "attachment", "system"]),
    at=st.none() | st.datetimes(timezones=zones),
    attachment=st.none() | st.dictionaries(texts, values, max_size=3),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(messages, max_size=4))
def test_what_is_read_back_is_what_was_written_A1(said: list[Message]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        transcript = Transcript.create(path, session_id="s", cwd=Path("/w"), prefix=PREFIX, at=NOW)
        for message in said:
            transcript.append(message)
        found = read(path)
    assert found.messages == tuple(said)
    assert (found.prefix, found.session_id, found.cwd, found.skipped) == (PREFIX, "s", Path("/w"), 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "projects" / "s.jsonl"


def begin(path: Path) -> Transcript:
    return Transcript.create(path, session_id="s", cwd=Path("/w"), prefix=PREFIX, at=NOW)


def test_records_have_the_fields_of_the_format(path: Path) -> None:
    begin(path).append(person("hello", at=NOW))
    head, first = map(json.loads, path.read_text().splitlines())
    assert head["type"] == "session"
    assert head["prefix"]["system"] == list(PREFIX.system)
    assert set(first) == {
        "type",
        "uuid",
        "parentUuid",
        "sessionId",
        "timestamp",
        "cwd",
        "origin",
        "message",
    }
    assert first["parentUuid"] == head["uuid"]
    assert first["message"] == {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    assert first["timestamp"] == "2026-05-07T12:00:00+00:00"


def test_a_transcript_is_the_owners_alone(path: Path) -> None:
    begin(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_an_existing_transcript_is_never_overwritten(path: Path) -> None:
    begin(path).append(person("hello", at=NOW))
    before = path.read_bytes()
    with pytest.raises(Conflict, match="already"):
        begin(path)
    assert path.read_bytes() == before


def test_a_torn_last_line_costs_that_line_only(path: Path) -> None:
    transcript = begin(path)
    transcript.append(person("one", at=NOW))
    with path.open("ab") as file:
        file.write(b'{"type": "user", "uuid": "x", "mess')
    assert [message.text for message in read(path).messages] == ["one"]
    again, found = Transcript.reopen(path)
    again.append(assistant("two", at=NOW))
    assert [message.text for message in read(path).messages] == ["one", "two"]
    assert found.skipped == 1
    last = json.loads(path.read_text().splitlines()[-1])
    assert last["parentUuid"] == found.messages[-1].id


def test_unknown_records_are_passed_by(path: Path) -> None:
    begin(path)
    odd = [
        '{"type":"summary"}',
        "[]",
        "null",
        '{"type":"user"}',
        '{"type":"user","message":{"content":[{}]}}',
    ]
    with path.open("a") as file:
        file.write("\n".join(odd) + "\n")
    found = read(path)
    assert (found.messages, found.skipped) == ((), len(odd))


def test_half_a_surrogate_pair_survives(path: Path) -> None:
    transcript = begin(path)
    message = person("odd \ud83d end", at=NOW)
    transcript.append(message)
    assert read(path).messages == (message,)


def test_a_missing_or_foreign_file_is_told(path: Path) -> None:
    with pytest.raises(NotFound):
        read(path)
    path.parent.mkdir(parents=True)
    path.write_text('{"type":"user"}\n')
    with pytest.raises(NotFound, match="first record"):
        read(path)
