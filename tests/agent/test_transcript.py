"""Transcripts: what is read back is what was written, and nothing is overwritten (A1, SEAMS)."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.agent.closing import INTERRUPTED, closed
from memdir.agent.tools import TOOLS
from memdir.agent.transcript import Transcript, read, sweep
from memdir.errors import Conflict, NotFound, UsageError
from memdir.fs import files, folder
from memdir.model.messages import (
    Block,
    Image,
    Message,
    Prefix,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    person,
)
from tests.floor.failing_disk import FailingDisk

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
images = st.builds(Image, media_type=texts, data=texts)
blocks: st.SearchStrategy[Block] = st.one_of(
    images,
    st.builds(Text, text=texts),
    st.builds(Thinking, thinking=texts, signature=texts, redacted=st.booleans(), source=texts),
    st.builds(
        ToolUse, id=texts, name=texts, input=st.dictionaries(texts, values), malformed=st.none() | texts
    ),
    st.builds(
        ToolResult,
        tool_use_id=texts,
        content=texts,
        is_error=st.booleans(),
        images=st.lists(images, max_size=2).map(tuple),
    ),
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


def test_blocks_have_the_shape_of_the_messages_api_A1(path: Path) -> None:
    picture = Image(media_type="image/png", data="iVBORw0KGgo=")
    sent = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    content = (
        Thinking(thinking="hm", signature="s"),
        Thinking(thinking="hm", signature="s", source="anthropic:m"),
        ToolResult(tool_use_id="1", content="a.txt"),
        ToolResult(tool_use_id="2", content="a.png", images=(picture,)),
        picture,
    )
    begin(path).append(Message(role="user", content=content, origin="tool"))
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    result = {"type": "tool_result", "is_error": False}
    assert json.loads(path.read_text().splitlines()[1])["message"]["content"] == [
        thinking,
        {**thinking, "source": "anthropic:m"},
        {**result, "tool_use_id": "1", "content": "a.txt"},
        {**result, "tool_use_id": "2", "content": [{"type": "text", "text": "a.png"}, sent]},
        sent,
    ]


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
    good = {
        "type": "user",
        "uuid": "u",
        "timestamp": None,
        "origin": "person",
        "message": {"role": "user", "content": [{"type": "text", "text": "x"}]},
    }
    odd = [
        '{"type":"summary"}',
        "[]",
        "null",
        '{"type":"user"}',
        '{"type":"user","message":{"content":[{}]}}',
        "[" * 100_000,
        "1" * 5_000,
        json.dumps({**good, "uuid": 5}),
        json.dumps({**good, "origin": "stranger"}),
        json.dumps({**good, "origin": []}),
        json.dumps({**good, "timestamp": "yesterday"}),
        json.dumps({**good, "timestamp": 5}),
        json.dumps({**good, "attachment": "x"}),
        json.dumps({**good, "message": "x"}),
        json.dumps({**good, "message": {"role": "system", "content": []}}),
        json.dumps({**good, "message": {"role": "user", "content": "text"}}),
        *(
            json.dumps({**good, "message": {"role": "user", "content": [block]}})
            for block in (
                {"type": "text", "text": 5},
                {"type": "image"},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": None}},
                {"type": "tool_result", "tool_use_id": "1", "is_error": False, "content": []},
                {"type": "tool_result", "tool_use_id": "1", "is_error": False, "content": [{}]},
                {"type": "tool_result", "tool_use_id": "1", "is_error": False, "content": None},
                {"type": "thinking", "thinking": "hm", "signature": "s", "source": None},
            )
        ),
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
    for head in ('{"type":"user"}', '{"type":"session","uuid":"x"}', '{"type":"session","sessionId":5}'):
        path.write_text(head + "\n")
        with pytest.raises(NotFound, match="first record"):
            read(path)
    begin(path.with_name("t.jsonl"))
    whole = json.loads(path.with_name("t.jsonl").read_text())
    for key in ("sessionId", "cwd", "prefix", "uuid"):
        path.write_text(json.dumps({**whole, key: 5}) + "\n")
        with pytest.raises(NotFound, match="first record"):
            read(path)


def test_a_moment_without_a_zone_is_taken_for_utc(path: Path) -> None:
    begin(path).append(person("hello", at=NOW))
    path.write_text(path.read_text().replace("+00:00", ""))
    assert read(path).messages[0].at == NOW


# -- a disk that fails, a session that was killed --


@pytest.mark.parametrize("death", [False, True])
def test_a_transcript_is_begun_whole_or_not_at_all_F8(
    path: Path, monkeypatch: pytest.MonkeyPatch, death: bool
) -> None:
    for number in range(1, 60):
        here = path.parent / str(number) / path.name
        disk = FailingDisk(number, death=death)
        with monkeypatch.context() as patch, contextlib.suppress(BaseException):
            for module in (files, folder):
                patch.setattr(module, "os", disk)
            begin(here)
        if here.exists():
            assert read(here).session_id == "s"
        if disk.ran_to_the_end:
            assert here.exists()
            return
    pytest.fail("never ran to the end")


def test_what_a_failing_disk_refused_is_written_first_the_next_time_and_only_once_A1(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [person("one", at=NOW), assistant("two", at=NOW), person("three", at=NOW)]
    for number in range(1, 40):
        here = path.with_name(f"{number}.jsonl")
        transcript, disk = begin(here), FailingDisk(number, death=False)
        with monkeypatch.context() as patch:
            for module in (files, folder):
                patch.setattr(module, "os", disk)
            for message in said[:2]:
                with contextlib.suppress(OSError):
                    transcript.append(message)
        transcript.append(said[2])
        assert read(here).messages == tuple(said)
        if disk.ran_to_the_end:
            return
    pytest.fail("never ran to the end")


def test_a_message_that_no_line_can_hold_costs_that_message_only(path: Path) -> None:
    transcript, deep = begin(path), list[object]()
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        transcript.append(assistant(ToolUse(id="1", name="Read", input={"x": deep})))
    transcript.append(person("hello", at=NOW))
    assert [message.text for message in read(path).messages] == ["hello"]


def use(*ids: str) -> Message:
    return assistant("Looking.", *(ToolUse(id=name, name="Glob", input={}) for name in ids))


def result(*ids: str) -> Message:
    content = tuple(ToolResult(tool_use_id=name, content="found") for name in ids)
    return Message(role="user", content=content, origin="tool")


def answered(messages: Sequence[Message]) -> list[str]:
    """Each message in a word: who speaks, calls, and results with a `!` where they were interrupted."""
    shown = []
    for message in messages:
        calls = "".join(call.id for call in message.tool_uses)
        results = [block for block in message.content if isinstance(block, ToolResult)]
        told = "".join(one.tool_use_id + "!" * (one.content == INTERRUPTED) for one in results)
        shown.append(f"{message.role[0]}:{calls or told}")
    return shown


@pytest.mark.parametrize(
    ("recorded", "resumed"),
    [
        ([person("x"), use("1", "2"), result("1", "2"), assistant("y")], ["u:", "a:12", "u:12", "a:"]),
        ([person("x"), use("1"), person("z"), assistant("y")], ["u:", "a:1", "u:1!", "u:", "a:"]),
        ([person("x"), use("1", "2"), result("2"), assistant("y")], ["u:", "a:12", "u:1!2", "a:"]),
        ([person("x"), use("1"), use("2"), result("2")], ["u:", "a:1", "u:1!", "a:2", "u:2"]),
        ([person("x"), result("1"), assistant("y")], ["u:", "a:"]),
        ([person("x"), use("1"), result("9"), assistant("y")], ["u:", "a:1", "u:1!", "a:"]),
        ([person("x"), use("1"), result("1"), result("1")], ["u:", "a:1", "u:1"]),
        ([person("x"), use("1")], ["u:", "a:1"]),
        ([], []),
    ],
)
def test_a_resumed_conversation_has_a_result_for_each_call_and_no_others_A1(
    path: Path, recorded: list[Message], resumed: list[str]
) -> None:
    transcript = begin(path)
    for message in recorded:
        transcript.append(message)
    _, found = Transcript.reopen(path)
    assert answered(found.context) == resumed
    assert closed(found.context, at_end=False) == list(found.context)
    assert found.messages == tuple(recorded)
    kept = {message.id: message for message in recorded}
    assert all(m == kept[m.id] for m in found.context if m.id in kept and "!" not in answered([m])[0])


def test_what_a_killed_process_left_beside_the_transcripts_goes_when_it_is_old_A1(tmp_path: Path) -> None:
    old, new, other = (
        tmp_path / name for name in (f".memdir-{'0' * 16}.tmp", f".memdir-{'1' * 16}.tmp", "x")
    )
    for path in (old, new, other):
        path.write_bytes(b"{")
    os.utime(old, (0, 0))
    os.utime(other, (0, 0))
    sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == [new, other]
    sweep(tmp_path / "nowhere")


def test_a_transcript_of_a_later_version_is_left_to_that_one_A1(path: Path) -> None:
    begin(path)
    path.write_text(path.read_text().replace('"version":1', '"version":2'))
    with pytest.raises(UsageError, match="later version"):
        Transcript.reopen(path)
