"""Directories that are hostile, huge, or written to meanwhile: told, mended as far as that goes, undone."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from memdir.doctor.checkup import examine, problems
from memdir.doctor.finding import Finding
from memdir.doctor.fixing import LABEL, fix
from memdir.memory import encoding, entrypoint
from memdir.memory.history import History
from memdir.memory.plan import Swap, unrecorded
from memdir.memory.revising import undo
from tests.doctor.broken import INDEX, LONG_AGO, NOW, TOKEN, Directory, broken

HOSTILE = [
    "new\nline.md", "tab\t.md", "\x1b[31m.md", "\u202elive.md", "x" * 250 + ".md", "\u00e9" * 125 + ".md",
    "con.md", "a b.md", "a(b).md", "[x].md", "a#b.md", "a%20b.md", "a\\b.md", "..md", "-rf.md", "--help.md",
    " lead.md", "trail .md", "a:b.md", "CLAUDE.md", "memory.md", "x.MD", "team/a.md", "team/CLAUDE.md",
    "logs/x.md", "sub/MEMORY.md", "\U0001f600.md", "$(x).md", "`x`.md", "*.md", "q\"uote'.md",
]  # fmt: skip
FOLDER, PIPE, SOCKET = "folder", "pipe", "socket"


def contents(made: Directory) -> dict[str, tuple[bytes, int]]:
    root = made.memory.directory
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.lstat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def lines_of(data: bytes) -> list[str]:
    return encoding.readable(data).replace(encoding.MARK, "").splitlines()


def of(made: Directory) -> list[Finding]:
    return examine(made.memory, now=NOW, around=made.around)


def hostile(home: Path) -> Directory:
    made = Directory.sound(home, seed=3, topics=4)
    for name in HOSTILE:
        made.put(name, f"# Of {made.words(2)}\n\n{made.words(12)}.\n", at=LONG_AGO)
    return made


@pytest.mark.parametrize("index", ["", FOLDER, PIPE, SOCKET, "out", "\ufeff- [g](gone.md)\r\nMine.\r\n"])
def test_whatever_names_and_index_there_are_all_is_mended_once_and_undone_to_the_byte_H2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: str
) -> None:
    made = hostile(tmp_path)
    place = made.memory.directory / INDEX
    if index == FOLDER:
        place.mkdir()
    elif index == PIPE:
        os.mkfifo(place)
    elif index == SOCKET:
        with socket.socket(socket.AF_UNIX) as opened:
            monkeypatch.chdir(made.memory.directory)  # the names of sockets are short
            opened.bind(INDEX)
    elif index == "out":
        (tmp_path / "out.md").write_text("- [gone](gone.md)\n")
        place.symlink_to(tmp_path / "out.md")
    elif index:
        made.put(INDEX, index.encode())
    before = contents(made)
    found = of(made)
    assert len({(one.file, one.line, one.kind, one.reason) for one in found}) == len(found)
    fixed = fix(made.memory, now=NOW, around=made.around)
    after = contents(made)
    for file, (data, mtime_ns) in before.items():
        new, new_mtime_ns = after[file]
        lines, rest = lines_of(data), iter(lines_of(new))
        assert all(line in rest for line in lines if "(gone.md)" not in line), file
        assert file == INDEX or new_mtime_ns == mtime_ns
    assert [one for one in fixed.left if one.fix] == []
    again = fix(made.memory, now=NOW, around=made.around)
    assert (again.change, again.mended, contents(made)) == (None, (), after)
    assert fixed.change is not None
    assert made.memory.history is not None
    undo(made.memory, made.memory.history.find(fixed.change), now=NOW)
    undone = contents(made)
    assert {file: data for file, (data, _) in undone.items()} == {file: d for file, (d, _) in before.items()}
    assert {file: at for file, (_, at) in undone.items()} == {file: at for file, (_, at) in before.items()}


def test_an_entry_that_only_its_file_makes_long_is_no_fault_F6(tmp_path: Path) -> None:
    made = Directory.sound(tmp_path, seed=3, topics=2)
    made.topic(file="x" * 240 + ".md", listed=False)
    made.done()
    assert [one.kind for one in fix(made.memory, now=NOW).mended] == ["orphan"]
    assert of(made) == []


def test_an_index_with_prose_to_its_limit_gets_no_more_and_says_so_F7(tmp_path: Path) -> None:
    made = Directory.sound(tmp_path, seed=3, topics=0)
    files = [made.topic(listed=False) for _ in range(5)]
    made.lines += [f"{made.words(3)}." for _ in range(300)]
    made.done()
    before = (made.memory.directory / INDEX).read_bytes()
    fixed = fix(made.memory, now=NOW, around=made.around)
    assert (made.memory.directory / INDEX).read_bytes() == before
    assert fixed.mended == ()
    assert sorted(one.file for one in fixed.left if "no room" in one.reason) == sorted(files)
    assert {one.kind for one in fixed.left} == {"orphan", "index"}


def test_an_index_is_filled_up_to_its_limit_and_not_beyond_F7(tmp_path: Path) -> None:
    made = Directory.sound(tmp_path, seed=3, topics=150)
    for _ in range(86):
        file = made.topic(listed=False)
        os.utime(made.memory.directory / file)  # the newest of all
    made.done()
    fixed = fix(made.memory, now=NOW, around=made.around)
    loaded = entrypoint.load(made.memory.index())
    assert not loaded.truncated
    left = [one for one in fixed.left if one.kind == "orphan"]
    assert len(fixed.mended) == 200 - 152
    assert all("no room" in one.reason and one.fix is None for one in left)


def test_halves_of_plans_go_and_whole_ones_stay_D8(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=3, faults=["half_plan", "stage"], topics=2)
    whole = made.places.dreams / "00000000aa"
    whole.mkdir()
    (whole / "plan.json").write_text("{}")
    fixed = fix(made.memory, now=NOW, around=made.around)
    assert [one.kind for one in fixed.mended] == ["leftover", "leftover"]
    assert list(made.places.dreams.iterdir()) == [whole]


def test_no_part_of_a_secret_is_told_wherever_it_stands_E10(tmp_path: Path) -> None:
    made = Directory.sound(tmp_path, seed=3, topics=2)
    made.topic(f"---\nname: {TOKEN}\n---\n{made.words(9)}\n", file="a.md", listed=False)
    made.topic(f"{TOKEN}\n{made.words(9)}\n", file="b.md", listed=False)
    made.topic(made.text(), file=f"{TOKEN}/c.md", listed=False)
    made.put(f"team/{TOKEN}.md", made.text())
    made.put("notes", f"{TOKEN}\n")
    made.put("probes.yaml", f"- ask: {TOKEN}\n  must: a.md\n")
    made.lines += [f"- [{TOKEN}](gone.md) — x", f"- [x]({TOKEN}.md) — y", f"- [x](gone2.md) — {TOKEN}"]
    made.done()
    fixed = fix(made.memory, now=NOW, around=made.around)
    told = "\n".join(map(repr, (*of(made), *fixed.mended, *fixed.left)))
    assert TOKEN[:16] not in told
    assert made.memory.history is not None
    changes = made.memory.history.log()
    assert TOKEN not in "".join(f"{one.worker} {one.reason}" for one in changes)


def test_of_a_thousand_sound_files_nothing_is_told_H1(tmp_path: Path) -> None:
    made = Directory.sound(tmp_path, seed=3, topics=180)
    for _ in range(820):
        made.topic(listed=False)
    for file in made.memory.directory.glob("*.md"):
        if f"]({file.name})" in "".join(made.lines):
            os.utime(file)  # the newest have entries
    made.done()
    assert of(made) == []
    assert problems(made.memory, now=NOW) == []


# -- killed, and others at work --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment_it_is_finished_by_the_next_and_can_be_undone_H2(
    tmp_path: Path, seed: int
) -> None:
    faults = ["orphan", "dead", "no_header", "no_name", "no_description", "twice"]
    made = broken(tmp_path, seed=seed, faults=faults)
    before = contents(made)
    made.memory.look()
    first = next(made.memory.directory / one.file for one in made.planted if one.kind == "frontmatter")
    data = first.read_bytes()
    if (child := os.fork()) == 0:
        try:
            fix(made.memory, now=NOW, around=made.around)
        finally:
            os._exit(0)
    deadline = time.monotonic() + 10 * made.dice.random() / 40  # a random moment of a quarter of a second
    while time.monotonic() < deadline:
        if seed % 2 and first.read_bytes() != data:  # or in the midst of the writing
            break
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    fix(made.memory, now=NOW, around=made.around)
    assert [one for one in of(made) if one.fix and one.kind != "leftover"] == []
    history = made.memory.history
    assert history is not None
    for change in [one for one in history.log() if one.worker == LABEL]:
        undo(made.memory, change, now=NOW)
    assert {file: data for file, (data, _) in contents(made).items() if not file.startswith(".")} == {
        file: data for file, (data, _) in before.items()
    }


def test_what_the_history_does_not_hold_is_not_changed_H2(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=3, faults=["orphan", "no_header"])
    made.memory.look()
    data = made.memory.directory.joinpath(INDEX).read_bytes()
    swap = Swap(file=INDEX, now=data, now_mtime_ns=None, then=b"", then_mtime_ns=None)
    assert unrecorded(made.memory, [swap]) is None
    made.put(INDEX, data + b"Mine.\n")
    newer = Swap(file=INDEX, now=data + b"Mine.\n", now_mtime_ns=None, then=b"", then_mtime_ns=None)
    assert unrecorded(made.memory, [newer]) is not None


def test_a_history_that_can_not_be_written_keeps_memories_as_they_are_H2(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=3, faults=["orphan", "no_header", "dead"])
    history = made.memory.history
    assert isinstance(history, History)
    history.folder.parent.mkdir(parents=True, exist_ok=True)
    history.folder.symlink_to(tmp_path)  # not a place that it trusts
    before = contents(made)
    fixed = fix(made.memory, now=NOW, around=made.around)
    assert contents(made) == before
    assert (fixed.change, fixed.mended) == (None, ())
    assert fixed.why_not is not None
    assert "the history does not hold" in fixed.why_not
