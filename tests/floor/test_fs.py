"""The floor under every file: whole, durable, contained, one writer at a time (F8, F9, A8)."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import os
import random
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir import fs
from memdir.errors import Conflict, UnsafePath
from memdir.fs import files, folder
from tests.cases import case_rows
from tests.floor.failing_disk import Died, FailingDisk

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


def tree(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def open_descriptors() -> int:
    return len(names(Path("/proc/self/fd"))) if Path("/proc/self/fd").is_dir() else 0


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# -- writing one file -----------------------------------------------------------------------------------


def test_a_new_file_and_its_new_folders_are_for_the_owner_only_F8(tmp_path: Path) -> None:
    fs.write_atomic(tmp_path / "a" / "b" / "x.md", b"one")
    assert tree(tmp_path) == {"a/b/x.md": b"one"}
    assert [mode(tmp_path / p) for p in ("a", "a/b", "a/b/x.md")] == [0o700, 0o700, 0o600]


def test_an_existing_file_keeps_its_mode_F8(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(b"old")
    path.chmod(0o640)
    fs.write_atomic(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", 0o640)


def test_a_mode_that_is_asked_for_wins_F8(tmp_path: Path) -> None:
    fs.write_atomic(tmp_path / "run", b"#!/bin/sh\n", mode=0o755)
    assert mode(tmp_path / "run") == 0o755


@posix
@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files away")
def test_an_existing_file_keeps_its_owner_F8(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(b"old")
    os.chown(path, 12345, 54321)
    fs.write_atomic(path, b"new")
    found = path.stat()
    assert (found.st_uid, found.st_gid) == (12345, 54321)


def test_a_link_is_written_through_and_stays_a_link_F8(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "s.json").write_bytes(b"old")
    (tmp_path / "s.json").symlink_to("real/s.json")
    fs.write_atomic(tmp_path / "s.json", b"new")
    assert (tmp_path / "s.json").is_symlink()
    assert tree(tmp_path) == {"real/s.json": b"new", "s.json": b"new"}


@pytest.mark.parametrize("target", ["nowhere", "link"])
def test_a_link_to_nothing_or_to_itself_is_refused_F8(tmp_path: Path, target: str) -> None:
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(UnsafePath, match="to nothing, or to itself"):
        fs.write_atomic(tmp_path / "link", b"x")
    assert names(tmp_path) == ["link"]


@posix
@pytest.mark.parametrize("kind", ["folder", "pipe", "socket"])
def test_only_regular_files_are_read_and_written_F8(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.md"
    with contextlib.ExitStack() as stack:
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            stack.enter_context(socket.socket(socket.AF_UNIX)).bind(str(path))
        for act in (
            lambda: fs.read_file(path),
            lambda: fs.write_atomic(path, b"x"),
            lambda: fs.replace_if(path, b"x", expected="0"),
            lambda: fs.append_line(path, b"x"),
        ):
            with pytest.raises(UnsafePath):
                act()
    assert names(tmp_path) == ["x.md"]


def test_a_hard_link_outside_keeps_what_it_had_F8(tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"theirs")
    (tmp_path / "x.md").hardlink_to(tmp_path / "outside")
    fs.write_atomic(tmp_path / "x.md", b"ours")
    assert tree(tmp_path) == {"outside": b"theirs", "x.md": b"ours"}


def test_errors_name_the_file_that_was_meant_F8(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError) as caught:
        fs.write_atomic(tmp_path / "file" / "x.md", b"x")
    assert caught.value.filename == str(tmp_path / "file" / "x.md")
    with pytest.raises(FileNotFoundError) as missing:
        fs.read_file(tmp_path / "none.md")
    assert missing.value.filename == str(tmp_path / "none.md")


def test_a_read_can_be_limited(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"0123456789" * 100_000)
    assert fs.read_file(tmp_path / "x.md", limit=4) == b"0123"
    assert len(fs.read_file(tmp_path / "x.md")) == 1_000_000
    assert fs.read_file(tmp_path / "x.md", limit=4, within=tmp_path) == b"0123"


# -- a folder swapped for a link between look and leap --------------------------------------------------


@pytest.fixture
def swapped(tmp_path: Path) -> Path:
    """A path that was inside, in a folder that is a link to outside by now."""
    inside, outside = tmp_path / "mem", tmp_path / "out"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "x.md").write_bytes(b"outside")
    path = fs.contain(inside, "sub/x.md")
    (inside / "sub").rmdir()
    (inside / "sub").symlink_to(outside)
    return path


def test_a_swapped_folder_is_not_followed_A8(tmp_path: Path, swapped: Path) -> None:
    mem = tmp_path / "mem"
    for act in (
        lambda: fs.write_atomic(swapped, b"x", within=mem),
        lambda: fs.replace_if(swapped, b"x", expected=fs.digest(b"outside"), within=mem),
        lambda: fs.replace_if(swapped, b"x", expected=None, within=mem),
        lambda: fs.read_file(swapped, within=mem),
        lambda: fs.remove_durably(swapped, within=mem),
    ):
        with pytest.raises(UnsafePath):
            act()
    assert tree(tmp_path / "out") == {"x.md": b"outside"}


def test_a_swapped_file_is_not_followed_A8(tmp_path: Path) -> None:
    (tmp_path / "out.md").write_bytes(b"outside")
    mem = tmp_path / "mem"
    mem.mkdir()
    path = fs.contain(mem, "x.md")
    path.symlink_to(tmp_path / "out.md")
    with pytest.raises(UnsafePath):
        fs.write_atomic(path, b"x", within=mem)
    with pytest.raises(UnsafePath):
        fs.read_file(path, within=mem)
    assert (tmp_path / "out.md").read_bytes() == b"outside"


@pytest.mark.parametrize("path", ["../out/x.md", "sub/../../out/x.md"])
def test_no_write_leaves_the_root_it_was_given_A8(tmp_path: Path, path: str) -> None:
    mem = tmp_path / "mem"
    mem.mkdir()
    with pytest.raises(UnsafePath):
        fs.write_atomic(mem / path, b"x", within=mem)
    assert tree(tmp_path) == {}


# -- compare and swap -----------------------------------------------------------------------------------


def test_a_file_that_changed_is_not_replaced_F9(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(b"seen")
    fs.replace_if(path, b"mine", expected=fs.digest(b"seen"))
    with pytest.raises(Conflict, match="changed meanwhile"):
        fs.replace_if(path, b"late", expected=fs.digest(b"seen"))
    with pytest.raises(Conflict, match="was created"):
        fs.replace_if(path, b"new", expected=None)
    assert tree(tmp_path) == {"x.md": b"mine"}


def test_a_file_that_went_away_is_not_brought_back_F9(tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="was removed"):
        fs.replace_if(tmp_path / "x.md", b"x", expected=fs.digest(b"seen"))
    assert tree(tmp_path) == {}
    fs.replace_if(tmp_path / "x.md", b"x", expected=None)
    assert tree(tmp_path) == {"x.md": b"x"}


# -- removing, appending, sweeping --------------------------------------------------------------


def test_a_torn_last_line_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "t.jsonl"
    fs.append_line(path, b"one", sync=True)
    fs.append_line(path, b"two")
    with path.open("ab") as file:
        file.write(b'{"torn')
    fs.append_line(path, b"three")
    assert path.read_bytes() == b'one\ntwo\n{"torn\nthree\n'
    assert mode(path) == 0o600
    with pytest.raises(ValueError, match="newline"):
        fs.append_line(path, b"a\nb")


def test_only_old_temporaries_of_ours_are_swept(tmp_path: Path) -> None:
    ours = [tmp_path / ".memdir-0123456789abcdef.tmp", tmp_path / "sub" / ".memdir-fedcba9876543210.tmp"]
    fresh = tmp_path / ".memdir-00000000000000ff.tmp"
    others = [tmp_path / name for name in ("x.tmp", ".memdir-notes.tmp", ".memdir-0123456789abcdef.tmp.md")]
    (tmp_path / "sub").mkdir()
    for path in [*ours, fresh, *others]:
        path.write_bytes(b"x")
        os.utime(path, (1000, 1000))
    os.utime(fresh)
    assert sorted(fs.sweep_temporaries(tmp_path, older_than=60)) == sorted(ours)
    assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == sorted([fresh, *others])


# -- the disk fails, the process dies -------------------------------------------------------------------

OLD, NEW = b"old " * 1000, b"new " * 2000


def _write(root: Path) -> None:
    fs.write_atomic(root / "x.md", NEW)


def _create(root: Path) -> None:
    fs.write_atomic(root / "deep" / "er" / "y.md", NEW)


def _swap(root: Path) -> None:
    fs.replace_if(root / "x.md", NEW, expected=fs.digest(OLD), within=root)


def _swap_new(root: Path) -> None:
    fs.replace_if(root / "y.md", NEW, expected=None)


def _remove(root: Path) -> None:
    fs.remove_durably(root / "x.md")


def _change_under_lock(root: Path) -> None:
    with fs.locked(root, timeout=0):
        _swap(root)


ACTS = [_write, _create, _swap, _swap_new, _remove, _change_under_lock]


@posix
@pytest.mark.parametrize("death", [False, True], ids=["error", "death"])
@pytest.mark.parametrize("act", ACTS)
def test_whichever_operation_fails_every_file_is_whole_F8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[Path], None], death: bool
) -> None:
    for number in range(1, 60):
        root = tmp_path / str(number)
        root.mkdir()
        (root / "x.md").write_bytes(OLD)
        (root / "x.md").chmod(0o644)
        disk = FailingDisk(number, death=death)
        before = open_descriptors()
        with monkeypatch.context() as patch:
            for module in (files, folder, fs.lock):
                patch.setattr(module, "os", disk)
            with contextlib.suppress(OSError, Died):
                act(root)
        assert death or open_descriptors() == before
        _check_whole(root, after_death=death)
        with fs.locked(root, timeout=0):
            pass  # nobody is left holding it
        if disk.ran_to_the_end:
            return
    pytest.fail("never ran to the end")


def _check_whole(root: Path, *, after_death: bool) -> None:
    swept = fs.sweep_temporaries(root, older_than=0)
    assert after_death or len(swept) <= 1
    left = tree(root)
    assert set(left.values()) <= {OLD, NEW}
    assert set(left) <= {"x.md", "y.md", "deep/er/y.md"}
    if "x.md" in left:
        assert mode(root / "x.md") == 0o644


@posix
def test_a_failed_append_costs_no_earlier_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 30):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"one\n")
        disk = FailingDisk(number, death=False)
        with monkeypatch.context() as patch:
            for module in (files, folder):
                patch.setattr(module, "os", disk)
            with contextlib.suppress(OSError):
                fs.append_line(path, b"two two two", sync=True)
        fs.append_line(path, b"three")
        lines = path.read_bytes().splitlines()
        assert (lines[0], lines[-1]) == (b"one", b"three")
        if disk.ran_to_the_end:
            assert lines == [b"one", b"two two two", b"three"]
            return
    pytest.fail("never ran to the end")


WRITER = """
import sys
from pathlib import Path
from memdir import fs
root = Path(sys.argv[1])
print("ready", flush=True)
n = 0
while True:
    n += 1
    line = b"%d\\n" % n
    fs.write_atomic(root / f"{n % 3}.md", line * (n % 50 * 400 + 1))
"""


@posix
def test_a_writer_killed_at_any_moment_leaves_whole_files_F8(tmp_path: Path) -> None:
    chance = random.Random(20)
    for _ in range(20):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout
        with process.stdout, process:
            assert process.stdout.readline() == "ready\n"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=chance.uniform(0.001, 0.08))
            process.send_signal(signal.SIGKILL)
        fs.sweep_temporaries(tmp_path, older_than=0)
        for name, data in tree(tmp_path).items():
            lines = data.splitlines()
            assert lines, f"{name} is empty"
            assert len(set(lines)) == 1, f"{name} mixes two writes"
            assert len(lines) == int(lines[0]) % 50 * 400 + 1, f"{name} is cut"
        assert set(tree(tmp_path)) <= {"0.md", "1.md", "2.md"}


# -- one writer at a time -------------------------------------------------------------------------------

ADDER = """
import sys
from pathlib import Path
from memdir import fs
root, who = Path(sys.argv[1]), sys.argv[2]
sys.stdin.readline()
for n in range(25):
    with fs.locked(root, timeout=60):
        path = root / "list.md"
        seen = fs.read_file(path)
        fs.replace_if(path, seen + f"{who}-{n}\\n".encode(), expected=fs.digest(seen), within=root)
"""


def test_eight_processes_that_change_one_file_lose_nothing_F9(tmp_path: Path) -> None:
    (tmp_path / "list.md").write_bytes(b"")
    processes = [
        subprocess.Popen([sys.executable, "-c", ADDER, str(tmp_path), str(who)], stdin=subprocess.PIPE)
        for who in range(8)
    ]
    for process in processes:
        process.communicate(b"\n", timeout=60) if process is processes[-1] else _go(process)
    for process in processes:
        assert process.wait(timeout=60) == 0
    wanted = {f"{who}-{n}" for who in range(8) for n in range(25)}
    lines = (tmp_path / "list.md").read_text().split()
    assert (len(lines), set(lines)) == (200, wanted)
    assert names(tmp_path) == ["list.md"]


def _go(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    process.stdin.write(b"\n")
    process.stdin.close()


def test_threads_exclude_each_other_too_F9(tmp_path: Path) -> None:
    path = tmp_path / "count"
    path.write_bytes(b"0")

    def add() -> None:
        for _ in range(10):
            with fs.locked(tmp_path, timeout=30):
                fs.write_atomic(path, b"%d" % (int(fs.read_file(path)) + 1))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert path.read_bytes() == b"40"


def test_a_lock_that_is_held_too_long_is_a_conflict_F9(tmp_path: Path) -> None:
    with fs.locked(tmp_path), pytest.raises(Conflict, match="busy"), fs.locked(tmp_path, timeout=0.02):
        pytest.fail("two holders")
    with fs.locked(tmp_path, timeout=0):
        assert names(tmp_path) == []


@posix
def test_patience_is_used_up_over_all_that_is_waited_for_F9(tmp_path: Path) -> None:
    patience = fs.Patience(0.02)
    with fs.locked(tmp_path):
        with pytest.raises(Conflict), fs.locked(tmp_path, timeout=patience):
            pass
        assert patience.left == 0
    with fs.locked(tmp_path, timeout=patience):  # what is free needs none
        pass


def test_where_folders_cannot_be_locked_a_file_is_F9(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    class NoFolders:
        LOCK_EX, LOCK_NB, LOCK_UN = fcntl.LOCK_EX, fcntl.LOCK_NB, fcntl.LOCK_UN

        @staticmethod
        def flock(fd: int, how: int) -> None:
            if stat.S_ISDIR(os.fstat(fd).st_mode):
                raise OSError(9, "Bad file descriptor")
            fcntl.flock(fd, how)

    monkeypatch.setattr(fs.lock, "fcntl", NoFolders)
    with fs.locked(tmp_path), pytest.raises(Conflict), fs.locked(tmp_path, timeout=0.02):
        pytest.fail("two holders")
    assert names(tmp_path) == [".memdir-lock"]


# -- containment ----------------------------------------------------------------------------------------

ROWS = case_rows("paths.jsonl")
TEAM_ONLY = {"pk-095"}  # an absolute path that leads inside: a server may not send it, a tool call may
STORE_ONLY = {"pk-107"}  # that memory holds Markdown only is the store's rule, not the floor's


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    spots = {"ROOT": tmp_path, "MEM": tmp_path / "w" / "mem", "OUT": tmp_path / "out"}
    spots |= {"TEAM": spots["MEM"] / "team", "HOME": tmp_path / "home" / "u"}
    for spot in spots.values():
        spot.mkdir(parents=True, exist_ok=True)
    (spots["OUT"] / "secret.txt").write_text("outside")
    (spots["MEM"] / "user-prefs.md").write_text("private")
    return spots


def _fill(value: Any, places: dict[str, Path]) -> Any:
    if isinstance(value, str):
        for token, spot in places.items():
            value = value.replace("{" + token + "}", str(spot))
    return value


def _key(row: dict[str, Any], places: dict[str, Path]) -> Any:
    if "input_b64" in row:
        return os.fsdecode(base64.b64decode(row["input_b64"]))
    return _fill(row["input"], places)


@pytest.mark.parametrize("row", [r for r in ROWS if r["kind"] == "file_key"], ids=lambda r: r["id"])
def test_a_file_key_is_contained_or_refused_A8(row: dict[str, Any], places: dict[str, Path]) -> None:
    if row["id"] in TEAM_ONLY | STORE_ONLY:
        fs.contain(places["TEAM"], _key(row, places))
        return
    if row["expect"] == "accept":
        path = fs.contain(places["TEAM"], _key(row, places))
        fs.write_atomic(path, b"x", within=places["TEAM"])
        assert path.relative_to(places["TEAM"]).as_posix() == row["input"]
    else:
        with pytest.raises(UnsafePath):
            fs.contain(places["TEAM"], _key(row, places))


@pytest.mark.parametrize("row", [r for r in ROWS if r["kind"] == "file_key_set"], ids=lambda r: r["id"])
def test_of_two_keys_for_one_name_the_second_is_refused_A8(
    row: dict[str, Any], places: dict[str, Path]
) -> None:
    first, second = row["input"]
    fs.write_atomic(fs.contain(places["TEAM"], first), b"first")
    with pytest.raises(UnsafePath):
        fs.write_atomic(fs.contain(places["TEAM"], second), b"second")
    assert tree(places["TEAM"]) == {first: b"first"}


def _set_up(row: dict[str, Any], places: dict[str, Path]) -> Iterator[Callable[[], None]]:
    """What is done before the action; `swap` is yielded, to be done between check and use."""
    for step in row.get("setup", ()):
        path = Path(_fill(step["path"], places))
        path.parent.mkdir(parents=True, exist_ok=True)
        target = _fill(step.get("target"), places)
        match step["op"]:
            case "symlink":
                path.symlink_to(target)
            case "hardlink":
                path.hardlink_to(target)
            case "write":
                path.write_text(step["text"])
            case "write_bytes":
                path.write_bytes(b"x" * step["size"])
            case "mkdir":
                path.mkdir(exist_ok=True)
            case "fifo":
                os.mkfifo(path)
            case "chmod":
                if os.geteuid() == 0:
                    pytest.skip("root is refused nothing")
                path.chmod(int(step["mode"], 8))
            case "immutable":
                try:
                    _let_change(path, False)
                except OSError:
                    pytest.skip("this disk has no immutable files, or not for us")
            case "swap":
                yield lambda path=path, target=target: _swap_for_link(path, target)  # type: ignore[misc]
            case "mount_note":
                pass
            case _:
                pytest.skip(f"set-up {step['op']}")


def _let_change(path: Path, yes: bool) -> None:
    """Take away, or give back, what lets anybody change or replace a file (Linux; for root)."""
    get_flags, set_flags, immutable = 0x80086601, 0x40086602, 0x10
    with path.open("rb") as file:
        flags = struct.unpack("l", fcntl.ioctl(file, get_flags, struct.pack("l", 0)))[0]
        fcntl.ioctl(file, set_flags, struct.pack("l", flags & ~immutable if yes else flags | immutable))


def _swap_for_link(path: Path, target: str) -> None:
    path.rename(path.with_name(path.name + ".was"))
    path.symlink_to(target)


FS_ROWS = [r for r in ROWS if r["kind"] == "fs" and r["action"] in {"read", "write", "load_index"}]


@pytest.mark.parametrize("row", FS_ROWS, ids=lambda r: r["id"])
def test_nothing_outside_is_read_or_written_A8(row: dict[str, Any], places: dict[str, Path]) -> None:
    in_memory = row["action"] == "load_index" or any("{MEM}" in s["path"] for s in row["setup"])
    base = Path(_fill(row["via"], places)) if "via" in row else places["MEM" if in_memory else "TEAM"]
    later = list(_set_up(row, places))
    before = tree(places["OUT"])
    refused = False
    try:
        path = fs.contain(base, row["input"])
        for swap in later:
            swap()
        if row["action"] == "write":
            fs.write_atomic(path, b"new", within=base)
        else:
            assert b"outside" not in fs.read_file(path, within=base)
    except (UnsafePath, OSError):
        refused = True
    finally:
        for step in row["setup"]:
            if step["op"] == "immutable":
                _let_change(Path(_fill(step["path"], places)), True)
    assert tree(places["OUT"]) == before
    assert (places["MEM"] / "user-prefs.md").read_text() == "private"
    assert not list(places["ROOT"].rglob(".memdir-*"))
    if row["expect"] != "outside_unchanged":
        assert refused == (row["expect"] != "accept")


def test_a_file_that_is_there_may_have_an_odd_but_harmless_name_F2(tmp_path: Path) -> None:
    for name in ("what?.md", "day:one.md", "con.md", "-x.md"):
        with pytest.raises(UnsafePath):
            fs.contain(tmp_path, name)
        (tmp_path / name).write_text("by another program")
        assert fs.contain(tmp_path, name) == tmp_path / name


def test_twins_that_are_both_there_can_both_be_reached_A8(tmp_path: Path) -> None:
    for name in ("Notes.md", "notes.md", "café.md", "cafe\u0301.md"):
        (tmp_path / name).write_text(name)
    for name in names(tmp_path):
        assert fs.contain(tmp_path, name).read_text() == name


def test_an_absolute_path_is_taken_however_its_root_is_spelled_A8(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    wanted = tmp_path / "real" / "x.md"
    for root in ("real", "link"):
        for spelled in ("real", "link"):
            assert fs.contain(tmp_path / root, tmp_path / spelled / "x.md") == wanted
            assert fs.contain(tmp_path / root, str(tmp_path / spelled / "x.md")) == wanted
    for outside in ("realx/x.md", "x.md", "real/../x.md", "real"):
        with pytest.raises(UnsafePath):
            fs.contain(tmp_path / "real", tmp_path / outside)


def test_links_that_stay_inside_are_followed_but_not_into_dot_files_A8(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "g").symlink_to(".git")
    assert fs.contain(tmp_path, "b/x.md") == tmp_path / "a" / "x.md"
    with pytest.raises(UnsafePath, match="dot file"):
        fs.contain(tmp_path, "g/config")


def test_inside_compares_real_places_A8(tmp_path: Path) -> None:
    (tmp_path / "mem").mkdir()
    (tmp_path / "link").symlink_to("mem")
    (tmp_path / "mem" / "out").symlink_to(tmp_path)
    mem = tmp_path / "mem"
    assert fs.inside(mem, mem)
    assert fs.inside(mem, tmp_path / "link" / "new" / "x.md")
    assert fs.inside(tmp_path / "link", mem / "x.md")
    assert not fs.inside(mem, tmp_path / "memory" / "x.md")
    assert not fs.inside(mem, mem / ".." / "x.md")
    assert not fs.inside(mem, mem / "out" / "x.md")
    assert not fs.inside(mem, Path("\0"))


SHARP = st.text(st.sampled_from("ab./\\~%2eC: \u202e\uff0e\uff0f\0-é中"), max_size=12)


@given(key=SHARP | st.text(max_size=30))
def test_whatever_the_key_it_stays_inside_or_is_refused_A8(key: str) -> None:
    root = Path(__file__).parent / "no-such-folder"
    with contextlib.suppress(UnsafePath):
        path = fs.contain(root, key)
        assert path != root
        assert os.path.normpath(path).startswith(f"{root}{os.sep}")


@pytest.mark.skipif(sys.platform == "win32", reason="a folder that is open can't be removed there")
def test_a_lock_whose_folder_goes_with_its_holder_is_still_one_at_a_time_F9(tmp_path: Path) -> None:
    folder, inside, most = tmp_path / "locks" / "one", [0], [0]

    def hold() -> None:
        for _ in range(150):
            with fs.locked(folder):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1
                folder.rmdir()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(hold) for _ in range(4)]:
            done.result()
    assert most == [1]
