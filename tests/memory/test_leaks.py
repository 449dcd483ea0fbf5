"""A secret is stopped as readers would see it, and no error tells it (E10, T6)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir.errors import SecretFound
from memdir.memory.entrypoint import Pointer
from memdir.memory.store import ANY, MemoryDir

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
HIDDEN = {
    "in UTF-16": f"---\nname: x\n---\nkey {TOKEN}\n".encode("utf-16"),
    "in UTF-16 without a mark": f"key {TOKEN}\n".encode("utf-16-le"),
    "in UTF-32": f"key {TOKEN}\n".encode("utf-32"),
    "a byte hidden in it": f"key ghp\x01_{TOKEN[4:]}\n".encode(),
    "an escape in the name": f'---\nname: "ghp\\x5f{TOKEN[4:]}"\n---\n'.encode(),
    "an escape in the description": f'---\ndescription: "gh\\u0070_{TOKEN[4:]}"\n---\n'.encode(),
    "an escape in another key": f'---\nname: x\nlogin: "\\x67hp_{TOKEN[4:]}"\n---\n'.encode(),
    "an escape in a nested key": f'---\nmetadata:\n  type: "\\x67hp_{TOKEN[4:]}"\n---\n'.encode(),
    "broken over two lines": f'---\nname: "{TOKEN[:9]}\\\n  {TOKEN[9:]}"\n---\n'.encode(),
    "escaped in a title": f"- [ghp\\_{TOKEN[4:]}](a.md)\n".encode(),
}


@pytest.fixture
def store(tmp_path: Path) -> MemoryDir:
    store = MemoryDir(tmp_path / "memory", trash=tmp_path / "trash")
    store.prepare()
    return store


@pytest.mark.parametrize("file", ["a.md", "MEMORY.md"])
@pytest.mark.parametrize("data", HIDDEN.values(), ids=list(HIDDEN))
def test_a_secret_is_found_however_it_is_written_E10(store: MemoryDir, file: str, data: bytes) -> None:
    with pytest.raises(SecretFound) as caught:
        store.write(file, data, expected=None, now=NOW, origin=None)
    assert TOKEN[4:] not in str(caught.value)
    assert list(store.directory.iterdir()) == []


@pytest.mark.parametrize("data", HIDDEN.values(), ids=list(HIDDEN))
def test_a_hidden_secret_that_was_there_stops_no_other_edit_E10(store: MemoryDir, data: bytes) -> None:
    (store.directory / "a.md").write_bytes(data)
    changed = data + "more\n".encode("utf-16-le" if b"\0" in data else "utf-8")
    if data.startswith(b"\xff\xfe\0\0"):
        changed = data + "more\n".encode("utf-32-le")
    assert store.write("a.md", changed, expected=ANY, now=NOW, origin=None).action == "updated"


@pytest.mark.parametrize("file", [f"{TOKEN}.md", f"sub/{TOKEN}/a.md", f"{TOKEN}.txt", f"../{TOKEN}.md"])
def test_a_file_name_that_is_a_secret_is_refused_and_not_told_E10(store: MemoryDir, file: str) -> None:
    pointer = Pointer(title="x", file="", hook="")
    changes: list[Callable[[], object]] = [
        lambda: store.write(file, b"x\n", expected=ANY, now=NOW, origin=None),
        lambda: store.write(file, TOKEN.encode(), expected=ANY, now=NOW, origin=None),
        lambda: store.save(file, b"x\n", pointer=pointer, expected=ANY, now=NOW, origin=None),
        lambda: store.write(store.directory / file, b"x\n", expected=ANY, now=NOW, origin=None),
    ]
    for change in changes:
        with pytest.raises(SecretFound, match="the name of the file") as caught:
            change()
        assert TOKEN not in str(caught.value)
    assert list(store.directory.iterdir()) == []


def test_a_file_that_has_a_secret_for_a_name_is_never_named_in_an_error_E10(store: MemoryDir) -> None:
    (store.directory / f"{TOKEN}.md").write_bytes(b"x\n")
    assert store.write(f"{TOKEN}.md", b"y\n", expected=ANY, now=NOW, origin=None).action == "updated"
    with pytest.raises(SecretFound, match="a file whose name looks like a secret") as caught:
        store.write(f"{TOKEN}.md", f"ghp_{TOKEN[:3:-1]}".encode(), expected=ANY, now=NOW, origin=None)
    assert TOKEN not in str(caught.value)
    (sentence,) = store.mend()
    assert TOKEN not in sentence


def test_the_folders_above_a_memory_directory_may_have_any_name_E10(tmp_path: Path) -> None:
    store = MemoryDir(tmp_path / TOKEN / "memory", trash=tmp_path / "trash")
    store.prepare()
    written = store.write(store.directory / "a.md", b"x\n", expected=None, now=NOW, origin=None)
    assert written.file == "a.md"
