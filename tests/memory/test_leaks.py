"""A secret is stopped as readers would see it, and no error tells it (E10, T6)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir.errors import MarkAdded, SecretFound
from memdir.memory import leaks
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


MARKED = f"the key is {TOKEN} <!-- memdir:allow-secret -->"


def test_the_message_names_the_rule_and_the_line_and_says_what_to_do_E10() -> None:
    with pytest.raises(SecretFound) as caught:
        leaks.refuse(f"---\nname: ci\n---\nthe key is {TOKEN}\n", "", name="ci.md")
    assert str(caught.value) == "not written: line 4 of ci.md holds what looks like a secret (GitHub token)"
    assert caught.value.hint == "write the same fact without the value: say where it is kept, or leave it out"
    with pytest.raises(SecretFound, match=r"^not written: lines 1, 3 of ci\.md hold what looks like"):
        leaks.refuse(f"{TOKEN}\n\npassword: Kestrel-lamp-42\n", "", name="ci.md")


@pytest.mark.parametrize(
    "marked", [MARKED, MARKED.replace("allow-", "allow\u200b-"), f"x = '{TOKEN}'  # memdir:allow-secret"]
)
def test_a_marker_that_a_tool_adds_is_refused_like_the_secret_E10(marked: str) -> None:
    for old in ("", "other\n", marked.partition(" <!--")[0].partition("  #")[0] + "\n"):
        with pytest.raises(SecretFound, match=r"line 1 of a\.md") as caught:
            leaks.refuse(f"{marked}\n", old, name="a.md")
        assert TOKEN[4:] not in str(caught.value)


def test_a_marker_without_a_secret_opens_no_line_for_later_E10() -> None:
    with pytest.raises(MarkAdded, match="would get the mark") as refused:
        leaks.refuse("the key is <!-- memdir:allow-secret -->\n", "the key is\n", name="a.md")
    assert "only the person sets it" in (refused.value.hint or "")


def test_a_marked_line_that_stays_as_it_was_stops_no_edit_E10() -> None:
    leaks.refuse(f"# title\n{MARKED}\nmore\n", f"{MARKED}\n", name="a.md")
    leaks.refuse(f"{MARKED}\r\nmore\r\n", f"{MARKED}\n", name="a.md")
    leaks.refuse("nothing\n", f"{MARKED}\n", name="a.md")


def test_another_secret_on_a_marked_line_is_refused_E10() -> None:
    with pytest.raises(SecretFound):
        leaks.refuse(
            MARKED.replace(TOKEN, TOKEN[::-1].replace("_phg", "") + "ghp_"), f"{MARKED}\n", name="a.md"
        )
    with pytest.raises(SecretFound):
        leaks.refuse(MARKED.replace("the key is", "password: Kestrel-lamp-42,"), f"{MARKED}\n", name="a.md")


def test_the_person_may_mark_a_line_and_no_other_line_profits_E10() -> None:
    leaks.refuse(f"{MARKED}\n", "", name="a.md", by_person=True)
    leaks.refuse(f"---\ndescription: {TOKEN} # memdir:allow-secret\n---\n", "", name="a.md", by_person=True)
    with pytest.raises(SecretFound, match=r"line 2 of a\.md"):
        leaks.refuse(f"{MARKED}\npassword: Kestrel-lamp-42\n", "", name="a.md", by_person=True)
    with pytest.raises(SecretFound):
        leaks.refuse(f"the key is {TOKEN}\n", "", name="a.md", by_person=True)


def test_a_tool_writes_no_marker_through_the_store_E10(store: MemoryDir) -> None:
    (store.directory / "a.md").write_text("x\n", encoding="utf-8")
    with pytest.raises(SecretFound):
        store.write("a.md", f"{MARKED}\n".encode(), expected=ANY, now=NOW, origin=None)
    assert (store.directory / "a.md").read_text(encoding="utf-8") == "x\n"
