"""One answer to what a file in a memory directory is (P8, M1)."""

from __future__ import annotations

import pytest

from memdir.names import what_is

FILES = {
    "entrypoint": ["MEMORY.md"],
    "topic": ["a.md", "deep/b.md", "sub/logs/c.md", "sub/team/c.md", "MEMORY.md.md", "team.md", "記憶.md"],
    "team": ["team", "team/MEMORY.md", "Team/a.md", "TEAM/deep/x.txt"],
    "log": ["logs/x.md", "Logs/x.md", "logs/2026/11/2026-11-29.md", "logs/MEMORY.md"],
    "session": ["sessions/x.md", "SESSIONS/x.md"],
    "other": [
        "sub/MEMORY.md", "memory.md", "Memory.MD", "sub/memory.md", "a.MD", "a.Md", "a.txt", "md", ".md",
        ".hidden.md", ".dot/a.md", "sub/.dot/a.md", "logs", "sessions", "sub", "a.md.bak",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "what"), [(name, what) for what, names in FILES.items() for name in names])
def test_the_names_that_lead_to_a_file_say_what_it_is_P8(name: str, what: str) -> None:
    assert what_is(tuple(name.split("/"))) == what


def test_the_memory_directory_itself_is_no_file_P8() -> None:
    assert what_is(()) == "other"
