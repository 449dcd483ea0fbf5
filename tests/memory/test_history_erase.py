"""What is erased is in no object, pack, message or leftover any more; all else is as it was (H2)."""

from __future__ import annotations

import os
import re
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from memdir import fs
from memdir.errors import MemdirError
from memdir.memory.history import By, History
from tests.memory.histories import Place, everything_below

SECRET = "the distinctive line of what is to be erased"
OTHER = "another line that nobody else would write"
FILE = "telling-name.md"
INDEX = "# Index\n\n- [A](a.md) — stays\n"
POINTER = f"- [Telling title]({FILE}) — a telling hook\n  and what stands below it\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """With a file that was made, changed and deleted, told of in the index and copied into others."""
    place = Place(tmp_path)
    history = place.history()
    history.look()
    for by, files in [
        ("one", {"a.md": "a1\n", "MEMORY.md": INDEX}),
        ("two", {FILE: f"---\nname: x\n---\n{SECRET}\n", "MEMORY.md": INDEX + POINTER}),
        ("three", {"b.md": f"before\r\n  {SECRET}  \r\nbehind\r\n{OTHER}"}),
        ("four", {FILE: f"{SECRET}\n{OTHER}\n"}),
        ("five", {"b.md": "before\r\nbehind\r\n", "a.md": "a2\n"}),
        ("six", {"team/MEMORY.md": f"{SECRET}\n", "keeps.md": f"still says: {SECRET}\n"}),
        ("seven", {"team/MEMORY.md": "none\n"}),
    ]:
        for file, text in files.items():
            place.put(file, text)
        with fs.locked(place.directory):
            history.look(By(worker=by, session=f"s-{by}"))
    place.remove(FILE)
    place.put("MEMORY.md", INDEX)
    history.look(By(worker="eight"))
    place.put("keeps.md", "nothing\n")
    history.look(By(worker="nine"))
    assert history.failure is None
    return place


def objects(repository: Path) -> Iterator[bytes]:
    """All objects, whether or not anything leads to them."""
    git = ["git", f"--git-dir={repository}", "cat-file", "--batch-all-objects"]
    said = subprocess.run(
        [*git, "--batch-check=%(objectname) %(objecttype)"], capture_output=True, check=True
    )
    for line in said.stdout.decode().splitlines():
        name, kind = line.split()
        git_show = ["git", f"--git-dir={repository}", "cat-file", kind, name]
        yield subprocess.run(git_show, capture_output=True, check=True).stdout


def streams(data: bytes) -> Iterator[bytes]:
    """Whatever in these bytes can be decompressed, wherever it begins."""
    for found in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
        try:
            yield zlib.decompressobj().decompress(data[found.start() :])
        except zlib.error:
            continue


def found_in(folder: Path, words: str) -> list[str]:
    """Where these words are: in names, in the bytes of files, in all that is compressed in them."""
    wanted, where = words.encode(), list[str]()
    for path in everything_below(folder):
        if wanted in os.fsencode(path.name):
            where.append(f"name {path.name}")
        if path.is_file():
            data = path.read_bytes()
            if any(wanted in one for one in (data, *streams(data))):
                where.append(path.relative_to(folder).as_posix())
    for repository in folder.glob("repo*"):
        if (repository / "HEAD").exists() and any(wanted in one for one in objects(repository)):
            where.append(f"object of {repository.name}")
    return where


GONE = [SECRET, OTHER, FILE, "Telling title", "a telling hook", "what stands below"]


def erase(history: History) -> None:
    history.erase(FILE, without=[SECRET.encode(), OTHER.encode()])


def test_nothing_of_what_was_erased_is_left_anywhere_H2(place: Place) -> None:
    """`keeps.md` had the words in a longer line of its own, which is another line."""
    history = place.history()
    assert all(found_in(place.folder, words) for words in GONE)
    place.put("keeps.md", "x")
    history.erase(FILE, without=[SECRET.encode(), OTHER.encode() + b"\n", f"still says: {SECRET}".encode()])
    assert {words: found_in(place.folder, words) for words in GONE} == {words: [] for words in GONE}
    assert {path.name for path in place.folder.iterdir()} <= {"lock", "repository", "stamps"}


def test_all_else_is_as_it_was_H2(place: Place) -> None:
    history = place.history()
    before = history.log()
    erase(history)
    assert history.failure is None
    after = place.history().log()
    assert [one.worker for one in before] == [
        "nine", "eight", "seven", "six", "five", "four", "three", "two", "one",
    ]  # fmt: skip
    assert [one.worker for one in after] == ["nine", "seven", "six", "five", "three", "one"]
    kept = {one.id: one for one in before}
    for one in after:
        old = kept[one.id]
        assert (one.at, one.worker, one.reason, one.session) == (old.at, old.worker, old.reason, old.session)
    contents = {
        (one.worker, file.file): history.bytes(file.after or "") for one in after for file in one.files
    }
    assert contents == {
        ("one", "a.md"): b"a1\n",
        ("one", "MEMORY.md"): INDEX.encode(),
        ("three", "b.md"): b"before\r\nbehind\r\n",
        ("five", "a.md"): b"a2\n",
        ("six", "team/MEMORY.md"): b"",
        ("six", "keeps.md"): f"still says: {SECRET}\n".encode(),
        ("seven", "team/MEMORY.md"): b"none\n",
        ("nine", "keeps.md"): b"nothing\n",
    }


def test_the_newest_version_is_what_is_on_the_disk_H2(place: Place) -> None:
    history = place.history()
    erase(history)
    for one in (history, place.history()):
        assert one.look() is None
        assert {
            file: (one.at(file, place.clock()) or (b"",))[0] for file in place.on_disk()
        } == place.on_disk()
    done = subprocess.run(["git", f"--git-dir={place.repository}", "fsck", "--full"], capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"")


def test_what_is_on_the_disk_now_stays_in_the_history_as_it_is_H2(place: Place) -> None:
    place.put("keeps.md", f"{SECRET}\nmore\n")
    history = place.history()
    history.look()
    erase(history)
    version = history.at("keeps.md", place.clock())
    assert version is not None
    assert version[0] == f"{SECRET}\nmore\n".encode()
    assert history.look() is None


def test_what_nobody_had_looked_at_is_recorded_before_H2(place: Place) -> None:
    place.put("new.md", f"{SECRET}\n")
    history = place.history()
    erase(history)
    assert history.log(file="new.md")
    assert history.look() is None


def test_repositories_that_were_put_aside_go_too_H2(place: Place) -> None:
    (place.repository / "refs/heads/main").write_text("garbage")
    history = place.history()
    history.look()
    assert history.damaged
    assert found_in(place.folder, SECRET)
    erase(history)
    assert history.damaged == []
    assert found_in(place.folder, OTHER) == []


def test_all_of_a_history_can_be_erased_and_a_new_one_goes_on_H2(tmp_path: Path) -> None:
    place = Place(tmp_path)
    history = place.history()
    history.look()
    place.change(history, None, a_md="only this")
    place.remove("a.md")
    history.erase("a.md", without=[b"only this"])
    assert history.log() == []
    assert found_in(place.folder, "only this") == []
    with fs.locked(place.directory), history.recording(By(worker="main")):
        place.put("b.md", "1")
    assert [one.worker for one in history.log()] == ["main"]


def test_erasing_where_there_is_no_history_does_nothing_H2(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.history().erase("a.md", without=[])
    assert not place.folder.exists()


def test_a_history_that_can_not_be_rewritten_is_left_and_said_so_H2(place: Place, tmp_path: Path) -> None:
    before = place.history().log()
    full = tmp_path / "full"
    full.mkdir()
    (full / "git").write_text('#!/bin/sh\ncase "$*" in *fast-import*) ulimit -f 0;; esac\nexec git "$@"\n')
    (full / "git").chmod(0o755)
    for programs, old in (([str(full)], place.history()), ([], place.history())):
        with pytest.raises(MemdirError) as refused:
            erase(place.history(programs=programs))
        assert SECRET not in str(refused.value)
        assert old.log() == before
    old.tidy()
    assert not (place.folder / "rewriting").exists()
    erase(place.history())
    assert found_in(place.folder, OTHER) == []


def test_a_reader_goes_on_while_the_repository_is_replaced_H2(place: Place) -> None:
    reader = place.history()
    before = reader.log()
    erase(place.history())
    assert [one.worker for one in reader.log()] == ["nine", "seven", "six", "five", "three", "one"]
    assert reader.bytes(before[0].files[0].after or "") == b"nothing\n"
