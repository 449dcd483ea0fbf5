"""How far a dream is, told from what the model called (D6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from memdir.dream.progress import LONGEST, Phase, Progress, phase_after
from memdir.model.messages import ToolUse, Usage, assistant
from memdir.testing import call, say

COPY, CWD = Path("/state/dreams/a/stage-1/memory"), Path("/home/ada/shop")


def read(path: str) -> ToolUse:
    return call("Read", file_path=path)


def write(path: str) -> ToolUse:
    return call("Write", file_path=path, content="x")


@pytest.mark.parametrize(
    ("before", "calls", "phase"),
    [
        ("look around", [], "look around"),
        ("look around", [read(f"{COPY}/MEMORY.md"), read(f"{COPY}/a.md")], "look around"),
        ("look around", [call("Grep", pattern="x", path=str(COPY))], "look around"),
        ("look around", [call("Glob", pattern="*", path=f"{COPY}/deep")], "look around"),
        ("look around", [read(f"{COPY}/logs/2026/05/2026-05-07.md")], "gather"),
        ("look around", [call("Glob", pattern="*", path=f"{COPY}/logs/2026")], "gather"),
        ("look around", [read(f"{COPY}/sessions/a.md")], "gather"),
        ("look around", [read(f"{COPY}/a.md"), read("src/app.py")], "gather"),
        ("look around", [call("Grep", pattern="x")], "gather"),
        ("look around", [call("Bash", command="git log")], "gather"),
        ("look around", [read("/projects/a/b.jsonl")], "gather"),
        ("look around", [read("a\0b"), call("Read", file_path=7), call("Task")], "look around"),
        ("gather", [read(f"{COPY}/a.md")], "gather"),
        ("gather", [write(f"{COPY}/a.md")], "consolidate"),
        ("look around", [call("Edit", file_path=f"{COPY}/deep/a.md")], "consolidate"),
        ("look around", [write(f"{COPY}/a.md"), write(f"{COPY}/MEMORY.md")], "prune"),
        ("consolidate", [read("src/app.py")], "consolidate"),
        ("consolidate", [write(f"{COPY}/dream.json")], "consolidate"),
        ("gather", [write("/elsewhere/a.md"), write(f"{COPY}/logs/2026/a.md")], "gather"),
        ("consolidate", [write(f"{COPY}/MEMORY.md")], "prune"),
        ("prune", [write(f"{COPY}/a.md")], "consolidate"),
        ("prune", [write(f"{COPY}/dream.json"), read(f"{COPY}/MEMORY.md")], "prune"),
    ],
)  # fmt: skip
def test_the_phase_is_what_the_calls_are_about_D6(before: Phase, calls: list[ToolUse], phase: Phase) -> None:
    assert phase_after(before, calls, copy=COPY, cwd=CWD) == phase


def test_progress_adds_up_D6() -> None:
    first = Progress().after(
        assistant(say("I look.\n\nFirst the index."), read(f"{COPY}/MEMORY.md"), read(f"{COPY}/a.md")),
        turns=1,
        usage=Usage(input=100, cache_read=1_000, output=20),
        files=(),
        copy=COPY,
        cwd=CWD,
    )
    assert first == Progress(
        turns=1, tool_calls=2, text="First the index.", input_tokens=1_100, output_tokens=20
    )
    second = first.after(
        assistant(write(f"{COPY}/a.md")),
        turns=2,
        usage=Usage(input=200, output=40),
        files=("a.md", "b.md", "a.md"),
        copy=COPY,
        cwd=CWD,
    )
    assert (second.phase, second.tool_calls, second.files) == ("consolidate", 3, ("a.md", "b.md"))
    assert second.text == "First the index.", "it said nothing new"


def test_the_text_is_one_line_and_nothing_in_it_moves_the_screen_D6() -> None:
    said = assistant(say("\x1b[2Jred\u202e\x07 " + "word " * 400))
    text = Progress().after(said, turns=1, usage=Usage(), files=(), copy=COPY, cwd=CWD).text
    assert len(text) == LONGEST
    assert text.isprintable()
