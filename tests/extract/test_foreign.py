"""Transcripts of other programs as talks: whose words, which branch, what survives."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memdir.agent.transcript import Transcript
from memdir.errors import NotFound
from memdir.extract.foreign import Talk, find, read
from memdir.extract.gates import has_words
from memdir.extract.own_words import own_words
from memdir.model.messages import Image, Prefix, Text, ToolResult, ToolUse, assistant, person

CWD = "/home/ada/shop"


def record(uuid: str, parent: str | None, content: Any, *, kind: str = "user", **more: Any) -> dict[str, Any]:
    """A record as Claude Code writes them, as far as we know."""
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "5d6d1f3a-0000-4000-8000-000000000001",
        "timestamp": "2026-03-05T10:00:00.000Z",
        "cwd": CWD,
        "message": {"role": kind, "content": content},
        **more,
    }


def written(path: Path, lines: Iterable[object]) -> Path:
    """A file with one line each: text as it is, all else as JSON."""
    path.write_text("".join(f"{ln if isinstance(ln, str) else json.dumps(ln)}\n" for ln in lines), "utf-8")
    return path


def the_talk(path: Path) -> Talk:
    (talk,) = read(path)
    return talk


def words(talk: Talk) -> list[str]:
    return [message.text for message in talk.messages if message.origin == "person"]


def test_a_claude_code_transcript_becomes_a_talk_E11(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a.py"}]}
    path = written(
        tmp_path / "t.jsonl",
        [
            {"type": "summary", "summary": "Tabs", "leafUuid": "4"},
            record("1", None, "use tabs"),
            record("2", "1", [{"type": "thinking", "thinking": "hm"}, call], kind="assistant"),
            record("3", "2", [result], toolUseResult={"stdout": "a.py"}),
            record("4", "3", [{"type": "text", "text": "Done."}], kind="assistant"),
        ],
    )
    talk = the_talk(path)
    assert [(message.id, message.origin) for message in talk.messages] == [
        ("1", "person"),
        ("2", "assistant"),
        ("3", "tool"),
        ("4", "assistant"),
    ]
    assert (talk.session_id, talk.cwd) == ("5d6d1f3a-0000-4000-8000-000000000001", Path(CWD))
    assert talk.ended == datetime(2026, 3, 5, 10, tzinfo=UTC)


def test_our_own_transcript_becomes_the_same_messages_E11(tmp_path: Path) -> None:
    at = datetime(2026, 3, 5, 10, tzinfo=UTC)
    said, answer = person("use tabs", at=at), assistant("Yes.", at=at)
    path = tmp_path / "own.jsonl"
    transcript = Transcript.create(
        path, session_id="own", cwd=Path(CWD), prefix=Prefix(system=("s",), tools=()), at=at
    )
    transcript.append(said)
    transcript.append(answer)
    assert the_talk(path) == Talk(session_id="own", cwd=Path(CWD), messages=(said, answer), ended=at)


@pytest.mark.parametrize(
    "line",
    [
        record("2", "1", "injected", isMeta=True),
        record("2", "1", "injected", isCompactSummary=True),
        record("2", "1", "injected", origin={"kind": "task-notification"}),
        record("2", "1", "injected", type="attachment"),
        record("2", "1", "injected", type="system"),
        record("2", "1", [{"type": "tool_result", "tool_use_id": "t", "content": "injected"}]),
        record("2", "1", "<local-command-stdout>injected</local-command-stdout>"),
        record("2", "1", "<command-name>/injected</command-name>\n<command-args>now</command-args>"),
        record("2", "1", "<system-reminder>injected</system-reminder>"),
        record("2", "1", "[Request interrupted by user for tool use]"),
    ],
)
def test_what_the_program_says_in_the_persons_role_is_not_their_word_E11(
    tmp_path: Path, line: dict[str, Any]
) -> None:
    talk = the_talk(
        written(tmp_path / "t.jsonl", [record("1", None, "use tabs"), line, record("3", "2", "ok")])
    )
    assert words(talk) == ["use tabs", "ok"]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("<system-reminder>\nbe good\n</system-reminder>\nuse tabs", "use tabs"),
        ("use <b>tabs</b>", "use <b>tabs</b>"),
        ("what is <bash-input> for?", "what is <bash-input> for?"),
        ("a <bash-input> <system-reminder>x</system-reminder> b", "a <bash-input>  b"),
        ("<bash-input>ls <system-reminder></bash-input>use tabs", "use tabs"),
        ("<system-reminder>\na\n</system-reminder>\nevil\n<system-reminder></system-reminder>\nmine", "mine"),
        ("mine <system-reminder>a</system-reminder>\nevil <system-reminder></system-reminder>", "mine"),
        ("<system-reminder>\nevil", ""),
        ("\n<task-notification>evil <bash-input>x</bash-input> evil", ""),
        ('<teammate-message teammate_id="bob" summary="a > b">\nevil\n</teammate-message>', ""),
        ('<system-reminder type="x">\nevil\n</system-reminder >\nmine', "mine"),
        ("<session-start-hook>evil</session-start-hook>", ""),
        ("This session is being continued from a previous conversation that ran out. evil", ""),
        ("<pre-commit-hook> has to pass", "<pre-commit-hook> has to pass"),
        ("[Image #1] use tabs", "use tabs"),
        ("[Image #12]", ""),
        ("<system-reminders> are what I call them", "<system-reminders> are what I call them"),
        ("", ""),
    ],
)
def test_blocks_beside_the_persons_words_are_cut_away_E11(text: str, own: str) -> None:
    assert own_words(text) == own


def test_one_block_of_a_message_can_not_take_another_with_it_E11(tmp_path: Path) -> None:
    blocks = ["<system-reminder>unclosed", "use tabs", "<bash-input>x</bash-input>", "and spaces in YAML"]
    content = [{"type": "text", "text": block} for block in blocks]
    talk = the_talk(written(tmp_path / "t.jsonl", [record("1", None, content)]))
    assert words(talk) == ["use tabs\nand spaces in YAML"]


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def test_pictures_are_read_over_and_add_nothing_to_the_persons_words_E11(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a.png"}}
    seen = [{"type": "text", "text": "a.png"}, PICTURE]
    lines = [
        record("1", None, [PICTURE, {"type": "text", "text": "use tabs"}]),
        record("2", "1", [call], kind="assistant"),
        record("3", "2", [{"type": "tool_result", "tool_use_id": "t1", "content": seen}]),
        record("4", "3", [PICTURE]),
        record("5", "4", [{"type": "text", "text": "[Image #1] like so"}, {**PICTURE, "source": None}]),
        record("6", "5", [{"type": "text", "text": "[Image #2]"}, PICTURE]),
    ]
    talk = the_talk(written(tmp_path / "t.jsonl", lines))
    assert words(talk) == ["use tabs", "like so"]
    (answer,) = [message for message in talk.messages if message.origin == "tool"]
    assert answer.content == (ToolResult(tool_use_id="t1", content="a.png\n[image]"),)
    assert all(isinstance(block, Text | ToolUse | ToolResult) for m in talk.messages for block in m.content)


def test_pictures_in_a_transcript_of_ours_add_nothing_to_the_persons_words_E11(tmp_path: Path) -> None:
    at = datetime(2026, 3, 5, 10, tzinfo=UTC)
    picture = Image(media_type="image/png", data="iVBORw0KGgo=")
    said = replace(person("use tabs", at=at), content=(Text(text="use tabs"), picture))
    path = tmp_path / "own.jsonl"
    transcript = Transcript.create(
        path, session_id="own", cwd=Path(CWD), prefix=Prefix(system=("s",), tools=()), at=at
    )
    transcript.append(said)
    talk = the_talk(path)
    assert talk.messages == (said,)
    assert words(talk) == ["use tabs"]
    assert not has_words([replace(said, content=(picture,))])


def test_only_the_branch_that_ends_the_conversation_counts_E11(tmp_path: Path) -> None:
    lines = [
        record("1", None, "begin"),
        record("2", "1", "use spaces"),
        record("3", "2", "ok", kind="assistant"),
        record("4", "1", "use tabs"),
        record("s1", "4", "side question", isSidechain=True),
        {"type": "progress", "uuid": "p", "parentUuid": "4"},
        record("5", "p", "ok", kind="assistant"),
        record("s2", "s1", "side answer", kind="assistant", isSidechain=True),
    ]
    assert words(the_talk(written(tmp_path / "t.jsonl", lines))) == ["begin", "use tabs"]


def test_what_was_said_before_compaction_was_said_all_the_same_E11(tmp_path: Path) -> None:
    lines = [
        record("1", None, "use tabs"),
        {"type": "system", "uuid": "b", "parentUuid": None, "logicalParentUuid": "1"},
        record("2", "b", "A summary", isCompactSummary=True),
        record("3", "2", "go on"),
    ]
    assert words(the_talk(written(tmp_path / "t.jsonl", lines))) == ["use tabs", "go on"]


@pytest.mark.parametrize("parent", [None, "gone"])
def test_a_missing_link_loses_nothing_of_what_was_said_before_it_E7(
    tmp_path: Path, parent: str | None
) -> None:
    lines = [
        record("1", None, "use tabs"),
        record("2", "1", "ok", kind="assistant"),
        {"type": "system", "uuid": "b", "parentUuid": parent, "logicalParentUuid": parent},
        record("3", "b", "A summary", isCompactSummary=True),
        record("4", "3", "go on"),
    ]
    assert words(the_talk(written(tmp_path / "t.jsonl", lines))) == ["use tabs", "go on"]


def test_a_torn_line_costs_itself_only_and_is_counted_E7(tmp_path: Path) -> None:
    lines: list[object] = [
        record("1", None, "use tabs"),
        json.dumps(record("2", "1", "ok", kind="assistant"))[:40],
        "",
        record("3", "2", "go on"),
    ]
    talk = the_talk(written(tmp_path / "t.jsonl", lines))
    assert words(talk) == ["use tabs", "go on"]
    assert talk.skipped == 1


def test_a_side_chain_is_nobodys_ancestor_E11(tmp_path: Path) -> None:
    lines = [
        record("1", None, "use tabs"),
        record("s", "1", "side word", isSidechain=True),
        record("2", "s", "go on"),
    ]
    assert words(the_talk(written(tmp_path / "t.jsonl", lines))) == ["use tabs", "go on"]


def test_answers_to_calls_made_side_by_side_are_all_in_the_talk_E11(tmp_path: Path) -> None:
    def use(name: str) -> list[object]:
        return [{"type": "tool_use", "id": name, "name": "Bash", "input": {}}]

    def answer(name: str) -> list[object]:
        return [{"type": "tool_result", "tool_use_id": name, "content": name}]

    lines = [
        record("1", None, "look"),
        record("2", "1", use("a"), kind="assistant"),
        record("3", "2", use("b"), kind="assistant"),
        record("4", "2", answer("a")),
        record("5", "3", answer("b")),
        record("6", "5", "done", kind="assistant"),
    ]
    talk = the_talk(written(tmp_path / "t.jsonl", lines))
    assert [message.id for message in talk.messages] == ["1", "2", "4", "3", "5", "6"]


def test_torn_and_unknown_lines_cost_themselves_only_E11(tmp_path: Path) -> None:
    odd: list[object] = ['{"type": "us', "null", "[1]", "\x00", '"text"', "[" * 100_000, {"uuid": 7}]
    odd += [
        {"type": "user", "uuid": "x", "message": 1},
        {"type": "user", "uuid": "y", "message": {"content": 5}},
    ]
    odd += [record("z", "1", [{"type": "image"}, "text", {"type": "text", "text": None}])]
    lines = [record("1", None, "use tabs"), *odd, record("2", "1", "ok", timestamp="yesterday", cwd=None)]
    assert words(the_talk(written(tmp_path / "t.jsonl", lines))) == ["use tabs", "ok"]


def test_a_chain_that_bites_its_tail_ends_E11(tmp_path: Path) -> None:
    lines = [record("1", "2", "use tabs"), record("2", "1", "ok")]
    assert words(the_talk(written(tmp_path / "t.jsonl", lines))) == ["use tabs", "ok"]


def test_each_records_folder_decides_its_project_E11(tmp_path: Path) -> None:
    lines = [
        record("1", None, "one", cwd="/a"),
        record("2", "1", "two", cwd="/a/src"),
        record("3", "2", "three", cwd="/b"),
        record("4", "3", "four", cwd=None),
        record("5", "4", "five", cwd="/a"),
    ]
    talks = read(written(tmp_path / "t.jsonl", lines), project=lambda cwd: Path(*cwd.parts[:2]))
    assert [(talk.cwd, talk.part, words(talk)) for talk in talks] == [
        (Path("/a"), "", ["one", "two", "five"]),
        (Path("/b"), "/b", ["three", "four"]),
    ]


@pytest.mark.parametrize("lines", [[], ["not json"], [{"type": "summary", "summary": "x"}]])
def test_a_file_without_a_conversation_is_told_E11(tmp_path: Path, lines: list[object]) -> None:
    with pytest.raises(NotFound, match="no conversation"):
        read(written(tmp_path / "t.jsonl", lines))
    with pytest.raises(NotFound, match="no transcript"):
        read(tmp_path / "missing.jsonl")


def test_transcripts_are_found_without_those_of_side_chains(tmp_path: Path) -> None:
    for name in ("-a/1.jsonl", "-a/1/subagents/agent-2.jsonl", "-b/3.jsonl", "-b/memory/MEMORY.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert {path.name for path in find(tmp_path)} == {"1.jsonl", "3.jsonl"}


def test_only_files_below_the_given_folder_are_judged_by_their_folders(tmp_path: Path) -> None:
    folder = tmp_path / "subagents" / "projects"
    folder.mkdir(parents=True)
    (folder / "1.jsonl").touch()
    (folder / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    (folder / "folder.jsonl").mkdir()
    assert find(folder) == [folder / "1.jsonl"]


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.jsonl")
    with pytest.raises(NotFound, match="no regular file"):
        read(tmp_path / "t.jsonl")


def test_a_long_transcript_is_read_in_linear_time(tmp_path: Path) -> None:
    lines = (record(str(n), str(n - 1) if n else None, f"line {n} <bash-input>") for n in range(5_000))
    path = written(tmp_path / "t.jsonl", lines)
    before = time.process_time()
    assert len(the_talk(path).messages) == 5_000
    assert time.process_time() - before < 10  # a guard against hanging; it takes a tenth of a second


def test_a_line_too_deep_or_too_odd_costs_that_line_only(tmp_path: Path) -> None:
    odd = ["[" * 100_000, '{"a":' * 100_000, "1" * 5_000, "{}", "[]", '"x"', "nul"]
    path = written(tmp_path / "t.jsonl", [*odd, record("1", None, "use tabs"), *odd])
    assert words(the_talk(path)) == ["use tabs"]


@pytest.mark.parametrize("cwd", ["/a\0b", "/a\ud800b"])
def test_a_folder_that_no_disk_has_is_none(tmp_path: Path, cwd: str) -> None:
    path = written(tmp_path / "t.jsonl", [record("1", None, "use tabs", cwd=cwd)])
    assert the_talk(path).cwd is None


def test_a_transcript_of_ours_without_its_head_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", [{"type": "session", "prefix": {}}])
    with pytest.raises(NotFound):
        read(path)
