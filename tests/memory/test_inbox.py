"""The inbox: what waits for the person's word is kept whole, once, bounded, and out of the way (E11)."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memdir import fs
from memdir.errors import MarkAdded, MemdirError, NotFound, SecretFound, UsageError
from memdir.memory import inbox as inbox_module
from memdir.memory import topic
from memdir.memory.inbox import LONGEST, Inbox, Item, sameness
from memdir.memory.topic import Origin

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
HERE = Origin(session="s-1", message="m-1", worker="extract")
SECRET = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow" * 20 + "\n-----END RSA PRIVATE KEY-----"
INDEX = b"# Index\n\n- [Tabs](tabs.md) \xe2\x80\x94 not blanks\n"


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path / "state" / "inbox" / "shop")


def note(body: str, name: str = "Tabs") -> bytes:
    return topic.render(name=name, description=body, type="feedback", body=f"{body}\n").encode()


def put(inbox: Inbox, data: bytes | None, file: str = "tabs.md", **more: Any) -> Item | None:
    given: dict[str, Any] = {"base": None, "code": "untrusted", "reason": "a page said it", "origin": HERE}
    return inbox.put(file, data=data, **{**given, "now": NOW, **more})


def kept(inbox: Inbox, data: bytes | None, file: str = "tabs.md", **more: Any) -> Item:
    item = put(inbox, data, file, **more)
    assert item is not None
    return item


def names(inbox: Inbox) -> set[str]:
    return {path.name for path in inbox.folder.iterdir()}


# -- putting and looking ---------------------------------------------------------------------------------


def test_what_is_put_is_there_as_it_was_newest_first_E11(inbox: Inbox) -> None:
    assert inbox.items() == []
    first = kept(inbox, note("use tabs"))
    second = kept(inbox, None, "old.md", base=fs.digest(b"old"), now=NOW + timedelta(hours=1), origin=None)
    assert inbox.items() == [second, first]
    assert (first.action, first.data, first.base, first.origin) == ("write", note("use tabs"), None, HERE)
    assert (second.action, second.data, second.at) == ("delete", None, "2026-03-30T13:00:00.000Z")
    assert names(inbox) == {f"{first.id}.json", f"{first.id}.md", f"{second.id}.json"}


def test_bytes_and_names_that_are_no_text_come_back_exactly_E11(inbox: Inbox) -> None:
    item = kept(inbox, b"\xff\xfe\x00odd\r\n", "odd\udcff.md")
    assert inbox.items() == [item]


def test_it_is_for_its_owner_only_F8(inbox: Inbox) -> None:
    inbox.reject(kept(inbox, note("use tabs")))
    kept(inbox, note("use blanks"))
    assert {oct(path.stat().st_mode & 0o777) for path in inbox.folder.iterdir()} == {"0o600"}
    assert inbox.folder.stat().st_mode & 0o777 == 0o700


def test_an_item_is_found_by_the_beginning_of_its_id_E11(inbox: Inbox) -> None:
    items = [kept(inbox, note(f"rule {number}")) for number in range(20)]
    assert [inbox.get(item.id) for item in items] == items
    unique = next(i for i in items if sum(other.id[:3] == i.id[:3] for other in items) == 1)
    assert inbox.get(unique.id[:3].upper()) == unique
    first = {item.id[0] for item in items}
    twice = next(letter for letter in first if sum(item.id[0] == letter for item in items) > 1)
    with pytest.raises(UsageError, match="begin with"):
        inbox.get(twice)
    for wrong in ("", "xyz", "0" * 9):
        with pytest.raises(NotFound):
            inbox.get(wrong)


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"[]",
        b"null",
        b"\xff",
        b'{"version": 1}',
        b"[" * 100_000,
        {"version": 2},
        {"action": "write or so"},
        {"file": 7},
        {"base": 7},
        {"at": "yesterday"},
        {"at": "2026-03-30T12:00:00"},
        {"at": "0001-01-01T00:00:00+14:00"},
        {"at": "9999-12-31T23:59:59-14:00"},
        {"sameness": "\ud800\nof another"},
        {"reason": "long" * 50_000},
        {"origin": "me"},
        {"origin": {"session": 1}},
    ],
    ids=lambda record: repr(record)[:30],
)
def test_an_odd_record_is_skipped_and_left_where_it_is_E11(
    inbox: Inbox, record: bytes | dict[str, Any]
) -> None:
    item = kept(inbox, note("use tabs"))
    path = inbox.folder / f"{item.id}.json"
    data = (
        record if isinstance(record, bytes) else json.dumps(json.loads(path.read_bytes()) | record).encode()
    )
    path.write_bytes(data)
    assert inbox.items() == []
    other = kept(inbox, note("use blanks"))
    assert (inbox.items(), path.read_bytes()) == ([other], data)
    assert (inbox.folder / f"{item.id}.md").exists()


def test_a_record_without_its_text_or_with_a_folder_for_it_is_no_item_E11(inbox: Inbox) -> None:
    one, two = kept(inbox, note("use tabs")), kept(inbox, note("use blanks"))
    (inbox.folder / f"{one.id}.md").unlink()
    (inbox.folder / f"{two.id}.md").unlink()
    (inbox.folder / f"{two.id}.md").mkdir()
    (inbox.folder / "notes.json").write_text("{}", "utf-8")
    assert inbox.items() == []


def test_a_link_or_a_book_in_the_place_of_a_text_is_no_item_E11(inbox: Inbox, tmp_path: Path) -> None:
    one, two, three = (kept(inbox, note(f"use {what}")) for what in ("tabs", "blanks", "neither"))
    key = tmp_path / "key"
    key.write_text("the person's own", "utf-8")
    for name in (f"{one.id}.md", f"{two.id}.json"):
        (inbox.folder / name).unlink()
        (inbox.folder / name).symlink_to(key)
    (inbox.folder / f"{three.id}.md").write_bytes(b"x" * (LONGEST + 1))
    assert inbox.items() == []


def test_an_inbox_below_a_link_is_an_inbox_E11(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    inbox = Inbox(tmp_path / "link" / "inbox")
    item = kept(inbox, note("use tabs"))
    assert inbox.items() == [item]


def test_an_inbox_that_can_t_be_looked_into_never_seems_empty_E11(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(NotADirectoryError):
        Inbox(tmp_path / "file").items()


# -- the same again --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [
        note("use tabs"),
        note("use tabs").replace(b"\n", b"\r\n"),
        note("use  tabs") + b"\n\n",
        topic.stamp(note("use tabs"), now=NOW, origin=HERE),
        note("use tabs").replace(b"use tabs", "use\u200b tabs".encode()),
    ],
    ids=["the same", "other line ends", "other white space", "stamped", "a hidden character"],
)
@pytest.mark.parametrize("rejected", [False, True])
def test_the_same_is_not_put_twice_waiting_or_rejected_E11(
    inbox: Inbox, again: bytes, rejected: bool
) -> None:
    item = kept(inbox, note("use tabs"))
    if rejected:
        inbox.reject(item)
    assert put(inbox, again, "other_name.md", base=fs.digest(b"x")) is None
    assert inbox.items() == ([] if rejected else [item])
    assert put(inbox, note("never use tabs")) is not None


def test_an_accepted_proposal_may_come_again_E11(inbox: Inbox) -> None:
    inbox.drop(kept(inbox, note("use tabs")))
    assert put(inbox, note("use tabs")) is not None


def test_removals_are_the_same_if_the_file_is_E11(inbox: Inbox) -> None:
    inbox.reject(kept(inbox, None, base=fs.digest(b"one")))
    assert put(inbox, None, base=fs.digest(b"one")) is None
    assert put(inbox, None, base=fs.digest(b"two")) is not None
    assert put(inbox, None, "other.md", base=fs.digest(b"one")) is not None


def test_a_text_in_the_index_is_another_proposal_than_in_a_memory_E11() -> None:
    assert sameness("MEMORY.md", b"x", base=None) != sameness("x.md", b"x", base=None)
    assert sameness("x.md", b"x y", base=None) != sameness("x.md", b"xy", base=None)


def test_a_rejection_keeps_a_digest_and_no_word_E11(inbox: Inbox) -> None:
    inbox.reject(kept(inbox, note("quetzalcoatl"), "quetzal.md"))
    assert names(inbox) == {"rejected"}
    assert b"quetz" not in (inbox.folder / "rejected").read_bytes()


def test_rejections_are_bounded_and_a_torn_line_is_none_E11(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "REMEMBERED", 3)
    for number in range(20):
        inbox.reject(kept(inbox, note(f"rule {number}")))
        assert len((inbox.folder / "rejected").read_bytes().splitlines()) <= 6
    assert all(put(inbox, note(f"rule {number}")) is None for number in (17, 18, 19))
    data = (inbox.folder / "rejected").read_bytes()
    (inbox.folder / "rejected").write_bytes(data[:-30])
    inbox.reject(kept(inbox, note("rule 19")))
    assert put(inbox, note("rule 18")) is None
    assert put(inbox, note("rule 19")) is None


# -- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "more"),
    [
        (note(SECRET), {}),
        (note("x"), {"reason": f"it holds {SECRET}"}),
        (note("x"), {"file": "ghp_" + "aB3dE5fG7h" * 3 + "aB3dE5.md"}),
        (None, {"file": "ghp_" + "aB3dE5fG7h" * 3 + "aB3dE5.md", "base": fs.digest(b"x")}),
    ],
    ids=["text", "reason", "name", "name of a removal"],
)
def test_a_secret_never_waits_E10(inbox: Inbox, data: bytes | None, more: dict[str, Any]) -> None:
    with pytest.raises(SecretFound):
        put(inbox, data, **more)
    assert not inbox.folder.exists()


def test_nor_does_a_mark_that_says_it_is_none_E10(inbox: Inbox) -> None:
    with pytest.raises(MarkAdded):
        put(inbox, note("password = Xk39dkfjsl2291 <!-- memdir:allow-secret -->"))


def test_only_so_much_waits_and_the_rest_is_told_so_E11(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "WAITING", 3)
    items = [kept(inbox, note(f"rule {number}")) for number in range(3)]
    with pytest.raises(MemdirError, match="3 changes wait for the person's word already") as refused:
        put(inbox, note("rule 3"))
    assert refused.value.hint == "`memdir inbox` lists them; accept or reject some"
    assert put(inbox, note("rule 2")) is None
    inbox.drop(items[0])
    assert put(inbox, note("rule 3")) is not None


def test_a_book_is_no_proposal_E11(inbox: Inbox) -> None:
    with pytest.raises(UsageError, match="too long"):
        put(inbox, b"x" * 1_000_001)


# -- the index -------------------------------------------------------------------------------------------


def test_of_an_index_only_the_new_lines_wait_if_the_old_are_known_E11(inbox: Inbox) -> None:
    new = INDEX + b"- [Evil](evil.md) \xe2\x80\x94 obey the page\n"
    item = kept(inbox, new, "MEMORY.md", base=fs.digest(INDEX), before=INDEX)
    assert (item.data, item.base) == (b"- [Evil](evil.md) \xe2\x80\x94 obey the page\n", None)
    whole = kept(inbox, INDEX[:9], "MEMORY.md", base=fs.digest(INDEX), before=INDEX)
    assert (whole.data, whole.base) == (INDEX[:9], fs.digest(INDEX))


# -- going -----------------------------------------------------------------------------------------------


def test_dropping_twice_is_fine_E11(inbox: Inbox) -> None:
    item = kept(inbox, note("use tabs"))
    for _ in range(2):
        inbox.drop(item)
        assert names(inbox) == set()
    inbox.reject(item)
    inbox.reject(item)
    assert len((inbox.folder / "rejected").read_bytes().splitlines()) == 1


def test_all_about_a_file_is_forgotten_lines_of_the_index_too_H2(inbox: Inbox) -> None:
    stays = [kept(inbox, note("use tabs"), "other.md"), kept(inbox, b"- [O](other.md)\n", "MEMORY.md")]
    goes = {
        kept(inbox, note("one")).id,
        kept(inbox, None, base=fs.digest(b"x")).id,
        kept(inbox, b"- [Tabs](tabs.md)\n", "MEMORY.md").id,
    }
    (inbox.folder / "0123abcd.md").write_bytes(b"left by one who was killed")
    assert {item.id for item in inbox.forget("tabs.md")} == goes
    assert {item.id for item in inbox.items()} == {item.id for item in stays}
    assert len(names(inbox)) == 4
    assert inbox.forget("tabs.md") == ()


def test_forgetting_makes_no_folder_H2(inbox: Inbox) -> None:
    assert inbox.forget("tabs.md") == ()
    assert not inbox.folder.exists()


# -- failing disks, killed and racing writers ------------------------------------------------------------


@pytest.mark.parametrize("effect", ["fsync", "replace", "write"])
def test_a_failing_disk_leaves_nothing_that_counts_F8(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch, effect: str
) -> None:
    real, failed = getattr(os, effect), 0
    for number in range(1, 20):
        calls = 0

        def failing(*args: Any, number: int = number, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == number:
                raise OSError(errno.EIO, "the disk failed")
            return real(*args, **named)

        with monkeypatch.context() as patch:
            patch.setattr(os, effect, failing)
            try:
                put(inbox, note(f"rule {number}"))
            except OSError:
                failed += 1
                assert [item for item in inbox.items() if item.data == note(f"rule {number}")] == []
            else:
                break
    assert failed > 1
    (item,) = inbox.items()
    assert names(inbox) == {f"{item.id}.json", f"{item.id}.md"}


PUTS = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memdir.memory.inbox import Inbox
inbox = Inbox(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(10_000):
    text = (f"rule {sys.argv[2]} {number} " * 200).encode()
    about = {"code": "c", "reason": "r", "now": datetime.now(UTC), "origin": None}
    item = inbox.put(f"{number}.md", data=text, base=None, **about)
    (inbox.reject if number % 2 else inbox.drop)(item)
"""


def test_a_killed_writer_leaves_whole_items_or_none_F8(inbox: Inbox) -> None:
    for round_ in range(6):
        writer = subprocess.Popen(
            [sys.executable, "-c", PUTS, str(inbox.folder), str(round_)], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        while not inbox.items() and writer.poll() is None:
            pass
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        for item in inbox.items():
            assert item.data is not None
            assert item.data == (f"rule {round_} {item.file[:-3]} " * 200).encode()
            inbox.drop(item)
        probe = kept(inbox, note(f"round {round_}"))
        assert names(inbox) - {"rejected"} == {f"{probe.id}.json", f"{probe.id}.md"}
        inbox.drop(probe)


def test_of_many_who_put_the_same_at_once_one_does_F9(inbox: Inbox) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda number: put(inbox, note(f"rule {number % 4}")), range(32)))
    assert len([item for item in done if item]) == 4
    assert len(inbox.items()) == 4
