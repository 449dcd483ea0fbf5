"""Accepting what waits: exactly that is done, once, and nothing that came since is lost (E11, F9)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from memdir import fs
from memdir.errors import Conflict, NotFound, UnsafePath
from memdir.memory import entrypoint, topic
from memdir.memory.accepting import accept, merged, outlook
from memdir.memory.inbox import Item
from memdir.memory.store import ANY, MemoryDir, Written
from memdir.memory.topic import Origin
from memdir.memory.trash import Trashed

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=2)
HERE = Origin(session="s-1", message="m-1", worker="extract")
EFFECTS = ("fsync", "replace", "link", "unlink", "write", "utime")


@pytest.fixture
def store(tmp_path: Path) -> MemoryDir:
    state = tmp_path / "state"
    store = MemoryDir(tmp_path / "memory", trash=state / "trash" / "shop", inbox=state / "inbox" / "shop")
    store.prepare()
    return store


def note(body: str, name: str = "Tabs") -> bytes:
    return topic.render(name=name, description=body, type="feedback", body=f"{body}\n").encode()


def put(store: MemoryDir, data: bytes | None, file: str = "tabs.md", **more: Any) -> Item:
    """Let a change wait that is built on what stands there now."""
    old = store.directory / file
    base = fs.digest(old.read_bytes()) if old.exists() else None
    given = {"base": base, "code": "untrusted", "reason": "a page said it", "now": NOW, "origin": HERE}
    item = store.inbox.put(file, data=data, **{**given, **more})
    assert item is not None
    return item


def save(store: MemoryDir, data: bytes, file: str = "tabs.md", hook: str | None = None) -> Written:
    pointer = entrypoint.Pointer(title="Tabs", file=file, hook=hook or "not blanks")
    return store.save(file, data, pointer=pointer, expected=ANY, now=NOW, origin=None)


def yes(store: MemoryDir, item: Item, **how: Any) -> Written | Trashed:
    return accept(store, item, now=LATER, **how)


def files(store: MemoryDir) -> dict[str, str]:
    found = (path for path in store.directory.rglob("*") if path.is_file())
    return {path.relative_to(store.directory).as_posix(): path.read_text("utf-8") for path in found}


# -- a new memory ----------------------------------------------------------------------------------------


def test_a_new_memory_is_written_as_shown_with_its_origin_and_a_pointer_E11(store: MemoryDir) -> None:
    item = put(store, note("use tabs"))
    shown = outlook(store, item, now=LATER)
    done = yes(store, item)
    assert isinstance(done, Written)
    assert (done.action, done.data, shown.before, shown.file) == ("created", shown.after, None, "tabs.md")
    read = store.read("tabs.md").topic
    assert read is not None
    assert (read.origin, read.modified, read.body) == (HERE, "2026-04-01T12:00:00.000Z", "use tabs\n")
    assert store.index() == "- [Tabs](tabs.md) — use tabs\n"
    assert store.inbox.items() == []


def test_a_name_that_was_taken_since_is_left_to_its_owner_F9(store: MemoryDir) -> None:
    item = put(store, note("use tabs"))
    save(store, note("quite another thing"))
    assert outlook(store, item, now=LATER).file == "tabs_2.md"
    assert yes(store, item).file == "tabs_2.md"
    assert "quite another thing" in files(store)["tabs.md"]
    assert "use tabs" in files(store)["tabs_2.md"]
    assert "- [Tabs](tabs_2.md) — use tabs\n" in store.index()


@pytest.mark.parametrize("what", ["a folder", "a link", "another case"])
def test_a_name_that_something_else_has_by_now_is_left_to_it_F9(
    store: MemoryDir, tmp_path: Path, what: str
) -> None:
    item = put(store, note("use tabs"))
    if what == "a folder":
        (store.directory / "tabs.md").mkdir()
    elif what == "a link":
        (store.directory / "tabs.md").symlink_to(tmp_path)
    else:
        (store.directory / "Tabs.md").write_text("another", "utf-8")
    assert outlook(store, item, now=LATER).file == "tabs_2.md"
    assert yes(store, item).file == "tabs_2.md"
    assert store.inbox.items() == []


def test_accepting_again_after_a_kill_changes_nothing_F8(store: MemoryDir) -> None:
    item = put(store, note("use tabs"))
    yes(store, item)
    before = files(store)
    again = accept(store, item, now=LATER + timedelta(days=1))
    assert isinstance(again, Written)
    assert (again.action, files(store)) == ("unchanged", before)


def test_accepting_again_under_another_name_makes_no_second_one_F8(store: MemoryDir) -> None:
    item = put(store, note("use tabs"))
    save(store, note("quite another thing"))
    yes(store, item)
    before = files(store)
    again = yes(store, item)
    assert (again.file, files(store)) == ("tabs_2.md", before)


def test_a_memory_that_the_index_links_to_anywhere_gets_no_second_pointer_F6(store: MemoryDir) -> None:
    (store.directory / "MEMORY.md").write_text("On white space see [tabs](tabs.md).\n", "utf-8")
    yes(store, put(store, note("use tabs")))
    assert store.index() == "On white space see [tabs](tabs.md).\n"


def test_a_log_gets_no_pointer_P8(store: MemoryDir) -> None:
    yes(store, put(store, b"12:00 deployed\n", "logs/2026/03/2026-03-30.md"))
    assert files(store) == {"logs/2026/03/2026-03-30.md": "12:00 deployed\n"}


def test_a_file_that_memory_can_t_have_is_refused_and_waits_on_F8(store: MemoryDir) -> None:
    item = put(store, note("use tabs"), "../outside.md", base=None)
    with pytest.raises(UnsafePath):
        yes(store, item)
    assert store.inbox.items() == [item]
    assert not (store.directory.parent / "outside.md").exists()


# -- a change --------------------------------------------------------------------------------------------


def test_a_change_is_made_and_the_pointer_we_wrote_follows_E11(store: MemoryDir) -> None:
    save(store, note("use tabs"), hook="use tabs")
    done = yes(store, put(store, note("use blanks")))
    assert isinstance(done, Written)
    assert done.action == "updated"
    assert store.index() == "- [Tabs](tabs.md) — use blanks\n"


def test_a_pointer_that_somebody_worded_stays_F6(store: MemoryDir) -> None:
    save(store, note("use tabs"), hook="their own words")
    yes(store, put(store, note("use blanks")))
    assert store.index() == "- [Tabs](tabs.md) — their own words\n"


def test_a_file_that_changed_since_is_a_conflict_that_says_how_to_look_F9(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    item = put(store, note("use blanks"))
    save(store, note("use what you like"))
    before = files(store)
    with pytest.raises(Conflict, match="has changed since this was proposed") as refused:
        yes(store, item)
    assert f"`memdir inbox show {item.id}`" in (refused.value.hint or "")
    assert (files(store), store.inbox.items()) == (before, [item])
    seen = outlook(store, item, now=LATER)
    assert (seen.changed, seen.before) == (True, before["tabs.md"].encode())
    yes(store, item, force=True)
    assert files(store)["tabs.md"].encode() == seen.after
    assert store.inbox.items() == []


def test_a_file_that_is_gone_since_is_a_conflict_and_comes_back_only_by_force_F9(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    item = put(store, note("use blanks"))
    store.delete("tabs.md", now=NOW)
    with pytest.raises(Conflict, match="was removed since"):
        yes(store, item)
    assert files(store) == {"MEMORY.md": ""}
    yes(store, item, force=True)
    assert store.index() == "- [Tabs](tabs.md) — use blanks\n"


def test_what_somebody_wrote_meanwhile_in_the_same_words_is_accepted_F9(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    item = put(store, note("use blanks"))
    save(store, note("use blanks"))
    done = yes(store, item)
    assert isinstance(done, Written)
    assert done.action == "unchanged"


# -- a removal -------------------------------------------------------------------------------------------


def test_a_removal_goes_to_the_trash_E11(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    done = yes(store, put(store, None))
    assert isinstance(done, Trashed)
    assert (files(store), store.inbox.items()) == ({"MEMORY.md": ""}, [])
    store.restore("tabs.md")
    assert "use tabs" in files(store)["tabs.md"]


def test_a_removal_of_what_changed_since_is_a_conflict_F9(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    item = put(store, None)
    save(store, note("use what you like"))
    with pytest.raises(Conflict):
        yes(store, item)
    assert "use what you like" in files(store)["tabs.md"]
    assert isinstance(yes(store, item, force=True), Trashed)


def test_a_removal_after_a_kill_is_done_once_F8(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    item = put(store, None)
    first = yes(store, item)
    assert yes(store, item) == first
    assert len(store.trashed()) == 1


def test_a_removal_of_what_somebody_else_removed_says_so_F9(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    item = put(store, None)
    (store.directory / "tabs.md").unlink()
    with pytest.raises(NotFound, match="gone already") as refused:
        yes(store, item)
    assert refused.value.hint == f"`memdir inbox reject {item.id}` takes this off the list"


def test_the_index_itself_is_never_removed_F6(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    with pytest.raises(UnsafePath):
        yes(store, put(store, None, "MEMORY.md"))
    assert "MEMORY.md" in files(store)


# -- the index -------------------------------------------------------------------------------------------


def test_an_index_that_stands_as_it_was_becomes_what_was_proposed_E11(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    data = "# Mine\n\n- [T](tabs.md) — new words\n\nAlways be kind.\n"
    yes(store, put(store, data.encode(), "MEMORY.md"))
    assert store.index() == data


def test_an_index_that_changed_since_keeps_what_came_and_what_is_worded_F9(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    save(store, note("kept apart"), "apart.md", hook="kept apart")
    (store.directory / "MEMORY.md").write_text("- [Tabs](tabs.md) — not blanks\n", "utf-8")
    old = store.index()
    data = f"{old}- [Apart](apart.md) — so it was\n- [No](no.md) — not there\nBe kind.\n"
    item = put(store, data.encode(), "MEMORY.md")
    save(store, note("use tabs"), hook="new words")
    save(store, note("later"), "later.md", hook="came later")
    yes(store, item)
    assert store.index() == (
        "- [Tabs](tabs.md) — new words\n- [Tabs](later.md) — came later\n"
        "- [Apart](apart.md) — so it was\nBe kind.\n"
    )
    before = files(store)
    yes(store, item)
    assert files(store) == before


def test_a_proposed_index_that_points_at_nothing_loses_that_line_F6(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    old = store.index()
    yes(store, put(store, f"{old}- [No](no.md) — not there\n".encode(), "MEMORY.md"))
    assert store.index() == old


def test_lines_for_the_index_reword_entries_whatever_became_of_the_rest_E11(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    old = store.index().encode()
    item = put(store, old.replace(b"not blanks", b"never blanks"), "MEMORY.md", before=old)
    save(store, note("later"), "later.md", hook="came later")
    yes(store, item)
    assert store.index() == "- [Tabs](tabs.md) — never blanks\n- [Tabs](later.md) — came later\n"


def test_a_first_index_is_made_of_the_lines_E11(store: MemoryDir) -> None:
    save(store, note("use tabs"))
    (store.directory / "MEMORY.md").unlink()
    yes(store, put(store, b"# Mine\n- [Tabs](tabs.md) - x\n", "MEMORY.md", base=None))
    assert store.index() == "# Mine\n- [Tabs](tabs.md) — x\n"


@pytest.mark.parametrize(
    ("text", "proposed", "result"),
    [
        ("", "", ""),
        ("a", "", "a"),
        ("a\n", "a\nb\n", "a\nb\n"),
        ("a\nc\n", "a\n  b\nc\n", "a\n  b\nc\n"),
        ("a", "b", "a\nb\n"),
        ("a\r\n", "a\nb\n", "a\r\nb\r\n"),
        ("tabs.md\n", "- [T](tabs.md)\n", "tabs.md\n- [T](tabs.md)\n"),
        ("- [T](tabs.md) — x\n", "- [T](tabs.md) — y\n  below\n", "- [T](tabs.md) — x\n  below\n"),
        ("a\n", "- [G](gone.md)\n", "a\n"),
    ],
)
def test_lines_that_an_index_lacks_come_behind_those_before_them_F6(
    text: str, proposed: str, result: str
) -> None:
    assert merged(text, proposed, there=lambda file: file == "tabs.md", reword=False) == result


# -- whose change it is ----------------------------------------------------------------------------------


def test_it_is_recorded_as_the_person_s_with_where_it_came_from_H2(tmp_path: Path) -> None:
    from memdir.memory.history import History

    directory = tmp_path / "memory"
    history = History(tmp_path / "history", directory=directory, now=lambda: LATER)
    store = MemoryDir(directory, trash=tmp_path / "trash", inbox=tmp_path / "inbox", history=history)
    store.prepare()
    yes(store, put(store, note("use tabs")))
    (change,) = history.log()
    told = (change.worker, change.reason, change.session, change.message)
    assert told == ("inbox", "accepted by the person", "s-1", "m-1")
    assert {one.file for one in change.files} == {"tabs.md", "MEMORY.md"}


# -- failing disks ---------------------------------------------------------------------------------------


def _new(store: MemoryDir) -> Item:
    return put(store, note("use tabs"))


def _change(store: MemoryDir) -> Item:
    save(store, note("use blanks"), hook="use blanks")
    return put(store, note("use tabs"))


def _removal(store: MemoryDir) -> Item:
    save(store, note("use blanks"))
    return put(store, None)


def _beside(store: MemoryDir) -> Item:
    item = put(store, note("use tabs"))
    save(store, note("quite another thing"), hook="quite another thing")
    return item


@pytest.mark.parametrize("prepared", [_new, _change, _removal, _beside])
def test_wherever_it_breaks_off_accepting_again_ends_it_F8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prepared: Callable[[MemoryDir], Item]
) -> None:
    ends = set[tuple[tuple[str, str], ...]]()
    for number in count(1):
        place = tmp_path / str(number)
        store = MemoryDir(place / "memory", trash=place / "trash", inbox=place / "inbox")
        store.prepare()
        item = prepared(store)
        calls = 0
        with monkeypatch.context() as patch:
            for name in EFFECTS:
                real = getattr(os, name)

                def failing(
                    *args: Any, real: Callable[..., Any] = real, at: int = number, **named: Any
                ) -> Any:
                    nonlocal calls
                    calls += 1
                    if calls >= at:
                        raise OSError(errno.EIO, "the disk failed")
                    return real(*args, **named)

                patch.setattr(os, name, failing)
            with suppress(OSError):
                yes(store, item)
        store.mend()
        if [one.id for one in store.inbox.items()] == [item.id]:
            yes(store, store.inbox.get(item.id))
        assert store.inbox.items() == []
        end = files(store)
        named = [pointer.file for pointer in entrypoint.pointers(end.pop("MEMORY.md"))]
        assert sorted(named) == sorted(end)
        ends.add(tuple(sorted(end.items())))
        if calls < number:
            break
    assert len(ends) == 1
