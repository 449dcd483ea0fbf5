"""The absences that ARCHITECTURE.md promises."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import REPO

SOURCE = REPO / "src" / "memdir"
CLOCKS = {"now", "today", "utcnow", "time", "monotonic", "localtime", "gmtime"}
WRITERS = {
    "write_atomic",
    "replace_if",
    "append_line",
    "remove_durably",
    "move_durably",
    "write_text",
    "write_bytes",
}


def modules(room: str) -> list[Path]:
    return sorted((SOURCE / room).rglob("*.py"))


def calls(path: Path) -> Iterator[tuple[str, str]]:
    """The calls in a module, as (what it is called on, name)."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield ast.unparse(node.func.value), node.func.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield "", node.func.id


@pytest.mark.parametrize("path", modules("memory"), ids=lambda path: path.name)
def test_nothing_in_memory_reads_the_clock(path: Path) -> None:
    asked = {name for owner, name in calls(path) if owner.split(".")[-1] in {"datetime", "date", "time"}}
    assert asked & CLOCKS == set()


@pytest.mark.parametrize("path", modules("memory"), ids=lambda path: path.name)
def test_nothing_in_memory_opens_a_socket_or_starts_a_process(path: Path) -> None:
    words = set(re.findall(r"^ *(?:from|import) ([\w.]+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    allowed = {"subprocess"} if path == SOURCE / "memory/history/git.py" else set[str]()
    assert words & {"socket", "http", "urllib", "subprocess", "httpx2", "anthropic"} <= allowed


@pytest.mark.parametrize(
    "room", ["recall", "extract", "session", "dream", "doctor", "cli", "model", "prompts"]
)
def test_only_the_store_and_the_floor_write_files(room: str) -> None:
    """Cursors, markers, a session's own notes and the demonstration's project are bookkeeping, not memory."""
    allowed = {
        "extract/cursor.py",
        "extract/unfinished.py",
        "session/notes.py",
        "session/orphans.py",
        "model/ledger.py",
        "cli/demo/recordings.py",
        "dream/kept.py",
    }
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in modules(room)
        if any(name in WRITERS for _, name in calls(path))
    }
    assert found - allowed == set()


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.stem)
def test_no_task_starts_outside_a_task_group(path: Path) -> None:
    assert {name for _, name in calls(path)} & {
        "create_task",
        "ensure_future",
        "run_coroutine_threadsafe",
    } == set()
