"""Scanning a memory directory: what is seen, what never is, and nothing that blocks or breaks it (M1-M3)."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memdir.memory.scan import HEAD_LINES, Header, scan
from memdir.names import is_topic, what_is

TEXT = "---\nname: A\ndescription: d\ntype: user\n---\n\nbody\n"


def _put(directory: Path, path: str, text: str = TEXT, *, mtime_ns: int | None = None) -> Path:
    place = directory / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    if mtime_ns is not None:
        os.utime(place, ns=(mtime_ns, mtime_ns))
    return place


def _paths(directory: Path, *, team: bool = False) -> list[str]:
    return sorted(header.path for header in scan(directory, team=team))


def test_a_header_holds_what_a_scan_keeps_of_a_file_M1(tmp_path: Path) -> None:
    _put(tmp_path, "sub/a.md", mtime_ns=1_774_872_000_123_456_789)
    assert scan(str(tmp_path)) == [
        Header(
            path="sub/a.md",
            name="A",
            description="d",
            type="user",
            mtime=datetime(2026, 3, 30, 12, 0, 0, 123_456, tzinfo=UTC),
            mtime_ns=1_774_872_000_123_456_789,
            size=len(TEXT),
        )
    ]


def test_only_topic_files_are_seen_M1(tmp_path: Path) -> None:
    for path in (
        "a.md", "sub/deep/b.md", "sub/logs/c.md", "team/t.md", "MEMORY.md", "sub/MEMORY.md", "team/MEMORY.md",
        "a.txt", "a.md.bak", "md", ".hidden.md", ".dot/c.md", "sub/.dot/c.md", "logs/2026/c.md",
        "sessions/c.md",
    ):  # fmt: skip
        _put(tmp_path, path)
    (tmp_path / "folder.md").mkdir()
    assert _paths(tmp_path) == ["a.md", "sub/deep/b.md", "sub/logs/c.md"]
    assert _paths(tmp_path, team=True) == ["a.md", "sub/deep/b.md", "sub/logs/c.md", "team/t.md"]
    assert is_topic("sub/logs/c.md")
    assert not is_topic("logs/c.md")
    assert not is_topic(".x/c.md")


def test_links_that_leave_or_lead_to_what_is_left_out_are_not_followed_M1(tmp_path: Path) -> None:
    memory, outside = tmp_path / "memory", tmp_path / "memory-2"
    secret = _put(outside, "secret.md")
    _put(memory, "a.md")
    _put(memory, "team/t.md")
    _put(memory, "MEMORY.md")
    (memory / "out.md").symlink_to(secret)
    (memory / "folder").symlink_to(outside)
    for name, target in (("gone.md", "nowhere.md"), ("self.md", "self.md"), ("sub", "team"), ("round", ".")):
        (memory / name).symlink_to(memory / target)
    for name, target in (("index.md", "MEMORY.md"), ("b.md", "a.md")):
        (memory / name).symlink_to(memory / target)
    assert _paths(memory) == ["a.md"]


def test_a_file_is_listed_once_under_its_real_name_M1(tmp_path: Path) -> None:
    _put(tmp_path, "zoo/a.md")
    for link in ("b.md", "zoo/c.md"):
        (tmp_path / link).symlink_to(tmp_path / "zoo" / "a.md")
    (tmp_path / "notes.txt").write_text(TEXT)
    (tmp_path / "notes.md").symlink_to(tmp_path / "notes.txt")
    assert _paths(tmp_path) == ["zoo/a.md"]


def test_the_index_is_no_topic_also_where_it_is_a_link_to_another_file_M1(tmp_path: Path) -> None:
    _put(tmp_path, "INDEX.md", "- [A](a.md)\n")
    _put(tmp_path, "a.md")
    (tmp_path / "MEMORY.md").symlink_to("INDEX.md")
    assert _paths(tmp_path) == ["a.md"]


def test_a_scan_sees_what_is_a_topic_everywhere_else_P8(tmp_path: Path) -> None:
    for path in ("a.md", "b.MD", "Logs/c.md", "SESSIONS/d.md", "Team/e.md", "memory.md", "sub/Memory.md"):
        _put(tmp_path, path)
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    topics = {path for path in found if what_is(tuple(path.split("/"))) == "topic"}
    assert set(_paths(tmp_path)) == topics == {"a.md"}
    assert _paths(tmp_path, team=True) == ["Team/e.md", "a.md"]


def test_a_header_in_utf_16_is_read_to_its_last_line_F2(tmp_path: Path) -> None:
    lines = "".join(f"x{number}: y\n" for number in range(HEAD_LINES - 2))
    (tmp_path / "a.md").write_bytes(f"---\n{lines}name: A\ntype: user\n---\n".encode("utf-16"))
    (header,) = scan(tmp_path)
    assert (header.name, header.type) == ("A", None)


def test_a_directory_reached_through_a_link_of_its_owner_is_scanned_M1(tmp_path: Path) -> None:
    _put(tmp_path / "real", "a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert _paths(tmp_path / "link") == ["a.md"]


def test_a_linked_folder_is_entered_once_and_goes_by_its_real_name_M1(tmp_path: Path) -> None:
    _put(tmp_path, "zoo/a.md")
    (tmp_path / "alias").symlink_to(tmp_path / "zoo")
    (tmp_path / "zoo" / "up").symlink_to(tmp_path)
    assert _paths(tmp_path) == ["zoo/a.md"]


def test_pipes_and_unreadable_files_are_skipped_and_never_waited_for_M2(tmp_path: Path) -> None:
    _put(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    _put(tmp_path, "closed.md").chmod(0)
    _put(tmp_path, "shut/b.md")
    (tmp_path / "shut").chmod(0)
    seen = set(_paths(tmp_path))
    (tmp_path / "shut").chmod(0o700)
    assert {"a.md"} <= seen <= {"a.md", "closed.md", "shut/b.md"}  # an administrator may read all


def test_a_file_that_vanishes_meanwhile_is_skipped_M2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "b.md", "c.md"):
        _put(tmp_path, name)
    real_open = os.open

    def vanishing(path: str, flags: int) -> int:
        if path.endswith("b.md"):
            Path(path).unlink()
        return real_open(path, flags)

    monkeypatch.setattr(os, "open", vanishing)
    assert _paths(tmp_path) == ["a.md", "c.md"]


def test_each_file_is_opened_once_and_only_its_beginning_read_M2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _put(tmp_path, "a.md", TEXT + "x" * 1_000_000)
    opened: list[str] = []
    sizes: list[int] = []
    real_open, real_read = os.open, os.read

    def counted_open(path: str, flags: int) -> int:
        opened.append(path)
        return real_open(path, flags)

    def counted_read(fd: int, size: int) -> bytes:
        sizes.append(size)
        return real_read(fd, size)

    monkeypatch.setattr(os, "open", counted_open)
    monkeypatch.setattr(os, "read", counted_read)
    scan(tmp_path)
    assert len(opened) == len(sizes) == 1
    assert sizes[0] < 100_000


def test_a_header_longer_than_the_lines_that_are_read_still_gives_its_name_M2(tmp_path: Path) -> None:
    links = "".join(f"  - {number}\n" for number in range(HEAD_LINES))
    _put(tmp_path, "a.md", f"---\nname: A\ntype: user\nlinks:\n{links}description: too late\n---\n")
    (header,) = scan(tmp_path)
    assert (header.name, header.type, header.description) == ("A", "user", None)


def test_a_file_without_a_header_goes_by_its_name_F2(tmp_path: Path) -> None:
    _put(tmp_path, "sub/plain.md", "text\n")
    _put(tmp_path, "empty.md", "")
    _put(tmp_path, "open.md", "---\nname: never closed\n")
    assert sorted((header.name, header.type) for header in scan(tmp_path)) == [
        ("empty", None),
        ("open", None),
        ("plain", None),
    ]


def test_the_newest_come_first_and_ties_go_by_path_M3(tmp_path: Path) -> None:
    for path, mtime_ns in (("b.md", 2), ("a.md", 2), ("c.md", 3), ("d.md", 1)):
        _put(tmp_path, path, mtime_ns=mtime_ns)
    assert [header.path for header in scan(tmp_path)] == ["c.md", "a.md", "b.md", "d.md"]


def test_at_most_200_headers_come_back_unless_all_are_asked_for_M3(tmp_path: Path) -> None:
    for number in range(203):
        _put(tmp_path, f"{number}.md", "", mtime_ns=number)
    assert [header.path for header in scan(tmp_path)] == [f"{number}.md" for number in range(202, 2, -1)]
    assert len(scan(tmp_path, limit=None)) == 203


def test_no_directory_is_no_memory_M1(tmp_path: Path) -> None:
    assert scan(tmp_path / "none") == []
    assert scan(_put(tmp_path, "a.md")) == []


def test_a_time_outside_the_calendar_is_its_edge_M3(tmp_path: Path) -> None:
    _put(tmp_path, "old.md", mtime_ns=-5_000_000_000)
    (header,) = scan(tmp_path)
    assert header.mtime == datetime(1969, 12, 31, 23, 59, 55, tzinfo=UTC)


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="names are Unicode there")
def test_a_name_that_is_no_unicode_does_not_break_a_scan_M2(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x")
    assert len(scan(tmp_path)) == 1
