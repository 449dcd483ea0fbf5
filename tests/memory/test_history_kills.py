"""Killed with -9 at any moment: the next look records the right thing, as whose it was (H2)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memdir import fs
from memdir.errors import Conflict
from memdir.memory.history import By, History
from tests.cases import REPO
from tests.memory.histories import Place
from tests.memory.test_history_erase import GONE, OTHER, SECRET, erase, found_in
from tests.memory.test_history_erase import place as erasable

__all__ = ["erasable"]

CHILD = """
import os, signal, sys
from pathlib import Path
from memdir import fs
from memdir.memory.history import By
from tests.memory.histories import Place

base, what, last = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
writing, seen = os.O_WRONLY | os.O_RDWR, []

def step(event, arguments):
    # What changes something on the disk, or starts a process: there the kill comes, before it is done.
    changes = event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "subprocess.Popen", "os.utime")
    opens = event == "open" and isinstance(arguments[2], int) and arguments[2] & writing
    if changes or opens:
        seen.append(event)
        if len(seen) == last:
            os.kill(os.getpid(), signal.SIGKILL)

place = object.__new__(Place)
place.__dict__.update(base=base, clock=Place.__dataclass_fields__["clock"].default_factory())
history = place.history()
assert history.off is None
sys.addaudithook(step)
with fs.locked(place.directory):
    if what == "record":
        with history.recording(By(worker="killed", change="00000000aa")):
            fs.write_atomic(place.directory / "a.md", b"2")
            fs.write_atomic(place.directory / "b.md", b"2")
    elif what == "tidy":
        history.tidy()
    else:
        from tests.memory.test_history_erase import erase
        erase(history)
print(*seen)
"""


def run(base: Path, what: str, last: int) -> subprocess.CompletedProcess[str]:
    """Do it in a process of its own, which is killed at its step `last`; 0: never."""
    command = [sys.executable, "-c", CHILD, str(base), what, str(last)]
    environment = {"PYTHONPATH": f"{REPO / 'src'}:{REPO}", "PATH": os.environ["PATH"]}
    return subprocess.run(command, cwd=REPO, env=environment, capture_output=True, text=True, timeout=60)


def begun(base: Path) -> Place:
    place = Place(base)
    place.change(place.history(), None, a_md="1")
    return place


def test_a_writer_killed_at_any_step_loses_and_invents_nothing_H2(tmp_path: Path) -> None:
    whole = run(begun(tmp_path / "whole").base, "record", 0)
    assert whole.returncode == 0, whole.stderr
    steps = len(whole.stdout.split())
    assert steps > 8
    seen = set()
    for last in range(1, steps + 1):
        place = begun(tmp_path / str(last))
        assert run(place.base, "record", last).returncode == -signal.SIGKILL
        history = place.history()
        with fs.locked(place.directory):
            history.look(By(worker="next"))
        assert history.failure is None
        assert not (place.folder / "intent").exists()
        log = history.log()
        assert {change.worker for change in log[:-1]} <= {"killed"}, last
        names = [file.file for change in log[:-1] for file in change.files]
        seen.add(tuple(names))
        versions = {file: history.at(file, place.clock()) for file in ("a.md", "b.md")}
        assert {file: found[0] for file, found in versions.items() if found} == place.on_disk()
        assert place.change(history, By(worker="later"), a_md="3")
        assert history.log()[0].worker == "later"
    assert seen == {(), ("a.md",), ("a.md", "b.md")}


def test_an_erasure_killed_at_any_step_is_whole_or_not_begun_H2(tmp_path: Path, erasable: Place) -> None:
    def copy(name: str) -> Place:
        shutil.copytree(erasable.base / "memory", tmp_path / name / "memory")
        shutil.copytree(erasable.base / "history", tmp_path / name / "history")
        place = object.__new__(Place)
        place.__dict__.update(base=tmp_path / name, clock=erasable.clock)
        return place

    before = erasable.history().log()
    whole = copy("whole")
    done = run(whole.base, "erase", 0)
    assert done.returncode == 0, done.stderr
    after = whole.history().log()
    ends = set()
    steps = done.stdout.split()
    telling = [
        n for n, step in enumerate(steps, 1) if step in ("os.rename", "subprocess.Popen") or n % 8 == 0
    ]
    for last in telling:
        place = copy(str(last))
        run(place.base, "erase", last)
        history = place.history()
        log = history.log()
        assert log in (before, after), last
        with fs.locked(place.directory):
            assert history.look() is None
        assert history.failure is None
        assert history.log() == log
        ends.add(len(log))
        if log == after:
            assert not any(found_in(place.folder, words) for words in GONE if words not in (SECRET, OTHER))
        assert not (place.folder / "rewriting").exists()
        erase(history)
        assert history.log() == after
        assert found_in(place.folder, OTHER) == []
    assert ends == {len(before), len(after)}


def test_tidying_that_is_killed_at_any_step_loses_nothing_H2(tmp_path: Path) -> None:
    place = Place(tmp_path)
    history = place.history()
    for number in range(22):
        place.change(history, None, a_md=str(number))
        (place.repository / f"objects/pack/tmp_pack_{number}").write_text("left over")
    log = history.log()
    for last in range(1, 30, 4):
        assert run(place.base, "tidy", last).returncode in (0, -signal.SIGKILL)
        assert place.history().log() == log
    history.tidy()
    assert history.failure is None
    assert place.history().log() == log


def test_a_git_that_outlives_its_parent_keeps_others_out_until_it_has_ended_H2(tmp_path: Path) -> None:
    """The parent is killed while its git, which has all that it is to record, waits at a pipe."""
    place = begun(tmp_path / "place")
    slow, pipe = tmp_path / "slow", tmp_path / "pipe"
    slow.mkdir()
    os.mkfifo(pipe)
    (slow / "git").write_text(
        '#!/bin/sh\ncase "$*" in *fast-import*)\n'
        f"cat >{tmp_path}/input; echo waits >{pipe}; cat {pipe} >/dev/null\n"
        f'exec git "$@" <{tmp_path}/input;; esac\nexec git "$@"\n'
    )
    (slow / "git").chmod(0o755)
    child = (
        "import sys; from pathlib import Path; from memdir.memory.history import *\n"
        "from tests.memory.histories import Clock\n"
        f"folder, directory = Path({str(place.folder)!r}), Path({str(place.directory)!r})\n"
        f"history = History(folder, directory=directory, now=Clock(), programs=[{str(slow)!r}])\n"
        "history.look(By(worker='killed'))\n"
    )
    place.put("a.md", "2")
    parent = subprocess.Popen(
        [sys.executable, "-c", child],
        cwd=REPO,
        env={"PYTHONPATH": f"{REPO / 'src'}:{REPO}", "PATH": os.environ["PATH"]},
    )
    try:
        assert pipe.read_text() == "waits\n"  # git has it all, and has recorded nothing
    finally:
        parent.kill()
        parent.wait()

    history, found = place.history(), list[object]()
    other = threading.Thread(target=lambda: found.append(history.look(By(worker="next"))))
    other.start()
    other.join(0.3)
    assert other.is_alive()  # it waits, for the git of the dead one holds the history
    pipe.write_text("go on")
    other.join(30)
    assert found == [None]
    assert history.failure is None
    assert [change.worker for change in history.log()] == ["killed", "external"]


@pytest.mark.parametrize("read", [0, 1, 100, 300, 400, 10_000])
def test_a_git_that_is_killed_stops_no_write_and_loses_nothing_H2(tmp_path: Path, read: int) -> None:
    """It is killed when it has read so many bytes of what it is to record."""
    place = begun(tmp_path / "place")
    dying = tmp_path / "dying"
    dying.mkdir()
    ends = f'head -c {read} | git "$@"; kill -9 $$'
    (dying / "git").write_text(f'#!/bin/sh\ncase "$*" in *fast-import*) {ends};; esac\nexec git "$@"\n')
    (dying / "git").chmod(0o755)
    history = place.history(programs=[str(dying)])
    with fs.locked(place.directory), history.recording(By(worker="killed")):
        place.put("a.md", "2")
        place.put("b.md", os.urandom(2000).hex())
    assert history.failure == "git was ended"

    after = place.history()
    with fs.locked(place.directory):
        after.look(By(worker="next"))
        after.tidy()
    assert after.failure is None
    assert [change.worker for change in after.log()] == ["killed", "external"]
    left = [path.name for path in place.repository.rglob("*") if "tmp" in path.name or "crash" in path.name]
    assert left == []


def test_a_history_that_stays_busy_stops_no_write_H2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memdir.memory.history import folder

    place = begun(tmp_path)
    monkeypatch.setattr(folder, "_TRIES", 3)
    other = folder.Folder(place.folder)
    history = place.history()
    with other.held():
        with history.recording(By(worker="main")):
            place.put("a.md", "2")
        assert history.failure == "the history is busy"
        with pytest.raises(Conflict):
            history.erase("a.md", without=[])
        assert len(history.log()) == 1  # reading waits for nobody
    assert history.look()


def test_many_processes_that_record_at_once_lose_nothing_H2(tmp_path: Path) -> None:
    place = begun(tmp_path)
    child = (
        "import sys; from pathlib import Path; from memdir import fs; from memdir.memory.history import *\n"
        "from tests.memory.histories import Clock\n"
        f"directory, name = Path({str(place.directory)!r}), sys.argv[1]\n"
        f"history = History(Path({str(place.folder)!r}), directory=directory, now=Clock())\n"
        "for number in range(6):\n"
        "    with fs.locked(directory, timeout=60), history.recording(By(worker=name)):\n"
        "        fs.write_atomic(directory / f'{name}.md', str(number).encode())\n"
        "        fs.write_atomic(directory / 'all.md', f'{name} {number}'.encode())\n"
        "assert history.failure is None, history.failure\n"
    )
    environment = {"PYTHONPATH": f"{REPO / 'src'}:{REPO}", "PATH": os.environ["PATH"]}
    started = [
        subprocess.Popen([sys.executable, "-c", child, name], cwd=REPO, env=environment) for name in "pqrs"
    ]
    reader = place.history()
    while any(one.poll() is None for one in started):
        assert all(len(change.files) == 2 for change in reader.log()[:-1])
        assert reader.failure is None
    assert [one.returncode for one in started] == [0] * 4

    history: History = place.history()
    assert history.look() is None
    for name in "pqrs":
        log = history.log(file=f"{name}.md")
        assert [
            history.bytes(file.after or "") for one in log for file in one.files if file.file != "all.md"
        ] == [str(number).encode() for number in reversed(range(6))]
        assert {one.worker for one in log} == {name}
