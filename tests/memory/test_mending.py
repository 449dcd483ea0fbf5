"""What killed and careless writers leave is put right (F6, F8, F9)."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir import fs
from memdir.doctor.checkup import problems
from memdir.errors import UsageError
from memdir.memory import entrypoint
from memdir.memory.store import MemoryDir
from memdir.memory.topic import render

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
NOTE = render(name="Tabs", description="Tabs, not blanks", type="feedback", body="Use tabs.\n").encode()
INDEX = b"# Mine\n* **[My tabs](<tabs.md>)**: own words\n  and more of them\n- [B](b.md)\n"


@pytest.fixture
def store(tmp_path: Path) -> MemoryDir:
    store = MemoryDir(tmp_path / "memory", trash=tmp_path / "state" / "trash")
    store.prepare()
    return store


def _tree(store: MemoryDir) -> dict[str, bytes]:
    files = (path for path in store.directory.rglob("*") if path.is_file())
    return {path.relative_to(store.directory).as_posix(): path.read_bytes() for path in files}


def test_a_topic_without_a_pointer_gets_one_and_no_line_of_a_person_goes_F9(store: MemoryDir) -> None:
    own = "# Mine\n- [Gone](gone.md) — kept\nSee [B](b.md).\n"
    (store.directory / "MEMORY.md").write_text(own)
    for file in ("a.md", "b.md", "sub/c d.md", "team/t.md", "logs/l.md"):
        (store.directory / file).parent.mkdir(exist_ok=True)
        (store.directory / file).write_bytes(NOTE)
    os.utime(store.directory / "a.md", (1, 1))
    (store.directory / f".memdir-{'0' * 16}.tmp").write_bytes(b"half")
    did = store.mend()
    assert did == [
        "removed 1 half-written temporary files",
        "added a pointer to a.md",
        "added a pointer to sub/c d.md",
    ]
    assert _tree(store)["MEMORY.md"].decode() == own.replace(
        "kept\n",
        "kept\n- [Tabs](a.md) — Tabs, not blanks\n- [Tabs](sub/c%20d.md) — Tabs, not blanks\n",
    )
    assert not list(store.directory.glob(".memdir*"))
    assert store.mend() == []


def test_a_mend_does_not_copy_a_secret_into_the_index_E10(store: MemoryDir) -> None:
    text = f"---\nname: token\ndescription: ghp_{'a1B2c3D4e5F6' * 3}\n---\n"
    (store.directory / "a.md").write_text(text)
    assert store.mend() == ["a.md has no pointer: its name or description looks like a secret"]
    assert _tree(store) == {"a.md": text.encode()}


def test_there_is_nothing_to_mend_where_there_is_no_directory(tmp_path: Path) -> None:
    store = MemoryDir(tmp_path / "none", trash=tmp_path / "trash")
    assert store.mend() == []
    assert store.list() == []
    assert store.index() == ""
    assert not (tmp_path / "none").exists()


# -- what a killed delete or restore leaves --------------------------------------------------------------


@pytest.mark.parametrize("lines_gone", [False, True])
def test_a_memory_that_is_in_the_trash_too_keeps_its_lines_F8(store: MemoryDir, lines_gone: bool) -> None:
    """A delete killed before its last step, or a restore after its first: the trash holds the lines."""
    (store.directory / "MEMORY.md").write_bytes(INDEX)
    for file in ("tabs.md", "b.md"):
        (store.directory / file).write_bytes(NOTE)
    os.utime(store.directory / "tabs.md", ns=(1, 1_700_000_000_000_000_000))
    store.delete("tabs.md", now=NOW)
    (store.directory / "tabs.md").write_bytes(NOTE)
    if not lines_gone:
        (store.directory / "MEMORY.md").write_bytes(INDEX)
    assert store.mend() == ["kept tabs.md, which was half deleted or half restored"]
    assert _tree(store) == {"MEMORY.md": INDEX, "tabs.md": NOTE, "b.md": NOTE}
    assert (store.directory / "tabs.md").stat().st_mtime_ns == 1_700_000_000_000_000_000
    assert list(store.trash.folder.iterdir()) == []
    assert store.mend() == []


def test_a_memory_made_anew_leaves_the_deleted_one_in_the_trash_F8(store: MemoryDir) -> None:
    for text, index in ((b"other\n", INDEX), (NOTE, "- [Tabs](tabs.md) — new words\n".encode())):
        (store.directory / "tabs.md").write_bytes(NOTE)
        (store.directory / "MEMORY.md").write_bytes(INDEX.replace(b"- [B](b.md)\n", b""))
        trashed = store.delete("tabs.md", now=NOW)
        (store.directory / "tabs.md").write_bytes(text)
        (store.directory / "MEMORY.md").write_bytes(index.replace(b"- [B](b.md)\n", b""))
        before = _tree(store)
        store.mend()
        assert _tree(store) == before
        assert trashed in store.trashed()


def test_copies_without_a_record_are_cleared_out_of_the_trash_F8(store: MemoryDir) -> None:
    (store.directory / "tabs.md").write_bytes(NOTE)
    trashed = store.delete("tabs.md", now=NOW)
    kept = sorted(path.name for path in store.trash.folder.iterdir())
    for name in (f"{trashed.id[:-1]}x.md", "theirs.md"):
        (store.trash.folder / name).write_bytes(b"")
    for name in ("20260330T120000000Z-00000000.md", f".memdir-{'0' * 16}.tmp"):
        (store.trash.folder / name).write_bytes(NOTE)
    store.mend()
    assert sorted(path.name for path in store.trash.folder.iterdir()) == sorted(
        [*kept, f"{trashed.id[:-1]}x.md", "theirs.md"]
    )


# -- indexes that are not as we would write them ---------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_an_index_keeps_its_encoding_F6(store: MemoryDir, encoding: str) -> None:
    text = "# Index\r\n- [A](a.md) — hook\r\n"
    (store.directory / "MEMORY.md").write_bytes(text.encode(encoding))
    for file in ("a.md", "b.md"):
        (store.directory / file).write_bytes(NOTE)
    assert store.mend() == ["added a pointer to b.md"]
    entry = "- [Tabs](b.md) — Tabs, not blanks\r\n"
    assert _tree(store)["MEMORY.md"].decode(encoding) == text + entry
    assert store.index() == text + entry
    store.delete("b.md", now=NOW)
    assert _tree(store)["MEMORY.md"] == text.encode(encoding)


@pytest.mark.parametrize("broken", ["- [A](a.md)\n".encode("utf-16") + b"x", b"\xff\xfe\0\0\xff\xff\xff\xff"])
def test_an_index_that_cannot_be_rewritten_is_refused_and_told_F6(store: MemoryDir, broken: bytes) -> None:
    (store.directory / "MEMORY.md").write_bytes(broken)
    (store.directory / "b.md").write_bytes(NOTE)
    before = _tree(store)
    pointer = entrypoint.Pointer(title="Tabs", file="", hook="")
    with pytest.raises(UsageError, match="broken UTF-"):
        store.save("c.md", NOTE, pointer=pointer, expected=None, now=NOW, origin=None)
    with pytest.raises(UsageError, match="broken UTF-"):
        store.delete("b.md", now=NOW)
    assert ["nothing was put right in the index" in sentence for sentence in store.mend()] == [True]
    assert any("MEMORY.md: it is in a broken encoding" in one for one in problems(store, now=NOW))
    assert _tree(store) == before
    assert store.trashed() == []


def test_of_a_thousand_topics_the_newest_get_their_pointers_in_one_change_F9(
    store: MemoryDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1000):
        (store.directory / f"t{number}.md").write_bytes(NOTE)
        os.utime(store.directory / f"t{number}.md", (number, number))
    changes: list[Path] = []
    real = fs.replace_if

    def counted(path: Path, data: bytes, *, expected: str | None, within: Path | None = None) -> None:
        changes.append(path)
        real(path, data, expected=expected, within=within)

    monkeypatch.setattr(fs, "replace_if", counted)
    assert len(store.mend()) == 180
    assert len(changes) == 1
    assert len(entrypoint.pointers(store.index())) == 180
    assert not entrypoint.load(store.index()).truncated
    assert "(t999.md)" in entrypoint.load(store.index()).text
    assert store.mend() == []
