"""The disk fails at the n-th operation, for every n: nothing torn, nothing lost, mended afterwards (F8)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from memdir.memory import entrypoint, topic
from memdir.memory.entrypoint import Pointer
from memdir.memory.journal import Journal
from memdir.memory.store import ANY, MemoryDir

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
Change = Callable[[MemoryDir], None]
EFFECTS = ("fsync", "replace", "link", "unlink", "write", "utime")


def _save(store: MemoryDir, body: str) -> None:
    data = topic.render(name="T", description=None, type="user", body=body).encode()
    pointer = Pointer(title="T", file="", hook=body)
    store.save("t.md", data, pointer=pointer, expected=ANY, now=NOW, origin=None)


def _delete(store: MemoryDir) -> None:
    store.delete("t.md", now=NOW)


def _restore(store: MemoryDir) -> None:
    store.restore("t.md")


def _save_and_delete(store: MemoryDir) -> None:
    _save(store, "new")
    _delete(store)


def _fail_at(monkeypatch: pytest.MonkeyPatch, number: int) -> list[str]:
    """Let the `number`-th effect on the disk fail, none before or after; the list then holds its name."""
    seen: list[str] = []
    failed: list[str] = []

    def failing(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def effect(*args: Any, **named: Any) -> Any:
            seen.append(name)
            if len(seen) == number:
                failed.append(name)
                raise OSError(errno.EIO, "the disk failed")
            return real(*args, **named)

        return effect

    for name in EFFECTS:
        monkeypatch.setattr(os, name, failing(name, getattr(os, name)))
    return failed


def _bodies(store: MemoryDir) -> set[str]:
    """What is in the memories and in the trash."""
    topics = [store.read(header.path).data for header in store.list()]
    trashed = [store.trash.data(entry) for entry in store.trashed()]
    return {topic.parse(data, filename="t.md").body.strip() for data in (*topics, *trashed)}


def _check_order(store: MemoryDir) -> None:
    """No pointer to nothing at any time; after a mend, one for each file, and nothing left over."""
    files = {header.path for header in store.list()}
    assert {pointer.file for pointer in entrypoint.pointers(store.index())} <= files
    store.mend()
    assert {pointer.file for pointer in entrypoint.pointers(store.index())} == files
    assert not list(store.directory.rglob(".memdir-*"))


@pytest.mark.parametrize(
    ("before", "change", "allowed"),
    [
        ([], partial(_save, body="new"), [set(), {"new"}]),
        ([partial(_save, body="old")], partial(_save, body="new"), [{"old"}, {"new"}]),
        ([partial(_save, body="old")], _delete, [{"old"}]),
        ([partial(_save, body="old"), _delete], _restore, [{"old"}]),
    ],
    ids=["create", "update", "delete", "restore"],
)
def test_a_disk_that_fails_at_any_point_loses_nothing_F8(
    tmp_path: Path, before: list[Change], change: Change, allowed: list[set[str]]
) -> None:
    for number in count(1):
        store = MemoryDir(tmp_path / str(number) / "memory", trash=tmp_path / str(number) / "trash")
        for prepare in before:
            prepare(store)
        with pytest.MonkeyPatch.context() as monkeypatch:
            failed = _fail_at(monkeypatch, number)
            with suppress(OSError):
                change(store)
        assert _bodies(store) in allowed
        _check_order(store)
        if not failed:
            break
    assert number > 10


@pytest.mark.parametrize("changed", [partial(_save, body="new"), _delete, _save_and_delete])
def test_a_run_in_which_the_disk_fails_can_be_taken_back_F8(tmp_path: Path, changed: Change) -> None:
    for number in count(1):
        store = MemoryDir(tmp_path / str(number) / "memory", trash=tmp_path / str(number) / "trash")
        _save(store, "old")
        journal = Journal()
        with pytest.MonkeyPatch.context() as monkeypatch:
            failed = _fail_at(monkeypatch, number)
            with suppress(OSError):
                changed(store.recording(journal))
        store.take_back(journal)
        assert _bodies(store) == {"old"}
        _check_order(store)
        assert store.trashed() == []
        if not failed:
            break
    assert number > 5


@pytest.mark.parametrize(
    ("changed", "allowed"),
    [
        (partial(_save, body="new"), [{"new"}, {"old"}]),
        (_delete, [{"old"}]),
        (_save_and_delete, [{"new"}, {"old"}]),
    ],
)
def test_a_disk_that_fails_while_a_run_is_taken_back_loses_nothing_F8(
    tmp_path: Path, changed: Change, allowed: list[set[str]]
) -> None:
    for number in count(1):
        store = MemoryDir(tmp_path / str(number) / "memory", trash=tmp_path / str(number) / "trash")
        _save(store, "old")
        index, journal = store.index(), Journal()
        changed(store.recording(journal))
        with pytest.MonkeyPatch.context() as monkeypatch:
            failed = _fail_at(monkeypatch, number)
            with suppress(OSError):
                store.take_back(journal)
        assert _bodies(store) in allowed
        _check_order(store)
        if not failed:
            break
    assert (_bodies(store), store.index(), store.trashed()) == ({"old"}, index, [])
    assert number > 3
