"""Who reads and changes memory files keeps to its rules: deletes compare, odd times harm nobody (F9, M3)."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir.agent.file_state import FileState
from memdir.agent.tools import TOOLS, ToolContext
from memdir.errors import ToolError
from memdir.memory.store import MemoryDir
from memdir.recall.surface import surface

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
YEAR_11476 = 300_000_000_000 * 1_000_000_000


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    memory = MemoryDir(tmp_path / "memory", trash=tmp_path / "trash")
    memory.prepare()
    return ToolContext(cwd=tmp_path, files=FileState(), memory=memory, now=lambda: NOW)


async def use(tool: str, context: ToolContext, **given: object) -> str:
    (found,) = (one for one in TOOLS if one.spec.name == tool)
    said = await found.run(given, context)
    assert isinstance(said, str)
    return said


@pytest.mark.anyio
async def test_a_tool_deletes_only_what_the_model_saw_F9(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = context.memory
    assert memory is not None
    path = memory.directory / "a.md"
    path.write_text("old\n")
    await use("Read", context, file_path=str(path))
    real, newer = memory.delete, "---\nname: a\n---\n\na new fact\n"

    def delete_after_them(*args: object, **named: object) -> object:
        path.write_text(newer)
        return real(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(memory, "delete", delete_after_them)
    with pytest.raises(ToolError, match="changed"):
        await use("Write", context, file_path=str(path), content="")
    assert path.read_text() == newer
    assert memory.trashed() == []


@pytest.mark.anyio
async def test_a_time_far_outside_the_calendar_stops_neither_read_nor_recall_M3(context: ToolContext) -> None:
    memory = context.memory
    assert memory is not None
    for name in ("a.md", "b.md"):
        (memory.directory / name).write_text("The fact.\n")
    try:
        os.utime(memory.directory / "a.md", ns=(YEAR_11476, YEAR_11476))
    except OSError:
        pytest.skip("this disk knows no such time")
    assert "The fact." in await use("Read", context, file_path=str(memory.directory / "a.md"))
    shown = surface(["a.md", "b.md"], directory=memory.directory, messages=(), files=FileState(), now=NOW)
    assert shown.shown == ("a.md", "b.md")
    assert [header.path for header in memory.list()] == ["a.md", "b.md"]
