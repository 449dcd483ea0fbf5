"""The cursor on disk."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from memdir.errors import Conflict
from memdir.extract import cursor
from memdir.extract.cursor import Cursor
from memdir.model.messages import person


def test_a_cursor_comes_back_as_it_was_kept_E7(tmp_path: Path) -> None:
    said = person("hello", at=datetime(2026, 3, 4, 5, 6, tzinfo=UTC))
    cursor.save(tmp_path / "cursors", "one", Cursor.behind(said))
    cursor.save(tmp_path / "cursors", "two", Cursor(message="m"))
    assert cursor.load(tmp_path / "cursors", "one") == Cursor(message=said.id, at=said.at)
    assert cursor.load(tmp_path / "cursors", "two") == Cursor(message="m")
    assert cursor.load(tmp_path / "cursors", "three") is None


@pytest.mark.parametrize(
    "stored", [b"", b"{", b"[]", b"{}", b'{"message": "a", "at": 7}', b'{"message": "a", "at": "x"}', b"\xff"]
)
def test_a_cursor_that_can_not_be_made_out_is_none_E7(tmp_path: Path, stored: bytes) -> None:
    cursor.path(tmp_path, "one").write_bytes(stored)
    assert cursor.load(tmp_path, "one") is None


@pytest.mark.parametrize("session", ["../../etc/passwd", "a/b", "", "CON\0", "." * 300, "会话", "\ud800"])
def test_a_strange_session_id_gets_a_file_of_its_own_inside_E7(tmp_path: Path, session: str) -> None:
    cursor.save(tmp_path, session, Cursor(message="m"))
    assert cursor.path(tmp_path, session).parent == tmp_path
    assert cursor.load(tmp_path, session) == Cursor(message="m")


@pytest.mark.anyio
async def test_a_cursor_belongs_to_one_at_a_time_E7(tmp_path: Path) -> None:
    with anyio.fail_after(5):
        async with cursor.alone(tmp_path / "cursors", "one"):
            async with cursor.alone(tmp_path / "cursors", "two", wait=0):
                pass
            with pytest.raises(Conflict, match="learning from this conversation"):
                async with cursor.alone(tmp_path / "cursors", "one", wait=0.01):
                    raise AssertionError
        async with cursor.alone(tmp_path / "cursors", "one", wait=0):
            pass


@pytest.mark.anyio
async def test_where_no_lock_can_be_made_the_work_is_done_all_the_same_E7(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("a file")
    async with cursor.alone(tmp_path / "cursors", "one", wait=0):
        pass
