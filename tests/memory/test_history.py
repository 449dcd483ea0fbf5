"""Every change is recorded with who made it, and every version can be had again (H2)."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from memdir import fs
from memdir.errors import NotFound, UsageError
from memdir.memory.history import BEGINNING, By, FileChange, History, new_change
from tests.memory.histories import START, Place, as_recorded, everything_below


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def history(place: Place) -> History:
    """One that has begun, with nothing in the directory yet."""
    history = place.history()
    assert history.look() is None
    return history


def told(history: History) -> list[tuple[str, list[tuple[str, str]]]]:
    """Worker, and what it did, newest first."""
    return [(one.worker, [(file.file, file.action) for file in one.files]) for one in history.log()]


def test_a_change_is_recorded_with_all_that_is_known_of_it_H2(place: Place, history: History) -> None:
    by = By(worker="extract", reason="said in a conversation", session="s-1", message="m-2", undoes="ab")
    place.put("a.md", "one\n", mtime_ns=1_700_000_000_123_456_789)
    with fs.locked(place.directory):
        step = history.look(by)

    assert history.log() == [step]
    assert step is not None
    assert step.id == by.change
    assert step.at == place.clock.moment
    assert (step.worker, step.reason, step.session, step.message, step.undoes) == (
        "extract", "said in a conversation", "s-1", "m-2", "ab",
    )  # fmt: skip
    (file,) = step.files
    assert file == FileChange(
        file="a.md",
        action="created",
        before=None,
        after=file.after,
        before_mtime_ns=None,
        after_mtime_ns=1_700_000_000_123_456_789,
    )
    assert history.bytes(file.after or "") == b"one\n"


def test_a_change_from_outside_is_recorded_at_the_next_look_H2(place: Place, history: History) -> None:
    assert place.change(history, None, a_md="one")
    assert place.change(history, None) is None
    place.change(history, None, a_md="two", b_md="new")
    place.change(history, None, a_md=None)

    assert told(history) == [
        ("external", [("a.md", "deleted")]),
        ("external", [("a.md", "updated"), ("b.md", "created")]),
        ("external", [("a.md", "created")]),
    ]


def test_what_was_there_before_the_history_is_its_beginning_and_nobodys_change_H2(place: Place) -> None:
    place.put("a.md", "old")
    history = place.history()
    with fs.locked(place.directory), history.recording(By(worker="main")):
        place.put("a.md", "new")

    mine, beginning = history.log()
    assert (mine.worker, mine.reason) == ("main", "")
    assert (beginning.worker, beginning.reason) == ("external", BEGINNING)


def test_a_directory_that_begins_empty_has_no_beginning_H2(place: Place) -> None:
    shutil.rmtree(place.directory)
    history = place.history()
    assert history.look() is None
    assert not place.folder.exists()
    with fs.locked(place.directory), history.recording(By(worker="main")):
        place.put("a.md", "new")
    assert [change.reason for change in history.log()] == [""]


def test_recording_takes_apart_what_was_there_before_and_what_it_did_H2(
    place: Place, history: History
) -> None:
    place.put("theirs.md", "by hand")
    with fs.locked(place.directory), history.recording(By(worker="main")):
        place.put("ours.md", "by us")

    assert told(history) == [
        ("main", [("ours.md", "created")]),
        ("external", [("theirs.md", "created")]),
    ]


def test_what_a_broken_off_body_did_is_recorded_as_its_own_H2(place: Place, history: History) -> None:
    def break_off() -> None:
        with fs.locked(place.directory), history.recording(By(worker="main")):
            place.put("a.md", "half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert told(history) == [("main", [("a.md", "created")])]
    assert not (place.folder / "intent").exists()


def test_a_recording_inside_another_leaves_each_its_own_H2(place: Place, history: History) -> None:
    with fs.locked(place.directory), history.recording(By(worker="outer")):
        place.put("a.md", "1")
        with history.recording(By(worker="inner")):
            place.put("b.md", "2")
        place.put("c.md", "3")

    assert told(history) == [
        ("outer", [("a.md", "created"), ("c.md", "created")]),
        ("inner", [("b.md", "created")]),
    ]


def test_steps_of_one_change_are_one_entry_also_with_others_in_between_H2(
    place: Place, history: History
) -> None:
    one, other = By(worker="extract"), By(worker="main")
    place.change(history, one, a_md="1")
    place.change(history, other, b_md="1")
    place.change(history, one, a_md="2", c_md="1")

    assert told(history) == [
        ("extract", [("a.md", "created"), ("c.md", "created")]),
        ("main", [("b.md", "created")]),
    ]
    assert history.at("a.md", one.change) is not None
    assert history.log()[0].files[0].runs == ()


def test_a_change_to_a_file_that_others_changed_in_between_tells_its_parts_H2(
    place: Place, history: History
) -> None:
    one = By(worker="extract")
    place.change(history, None, a_md="x")
    place.change(history, one, a_md="y")
    place.change(history, By(worker="main"), a_md="z")
    place.change(history, one, a_md="w")

    (file,) = history.find(one.change).files
    assert [history.bytes(blob or "") for blob in (file.before, file.after)] == [b"x", b"w"]
    parts = [(history.bytes(run.before or ""), history.bytes(run.after or "")) for run in file.runs]
    assert parts == [(b"x", b"y"), (b"z", b"w")]


def test_what_a_change_made_and_took_back_is_not_listed_H2(place: Place, history: History) -> None:
    by = By(worker="extract")
    place.change(history, by, a_md="1")
    place.change(history, by, a_md=None, b_md="1")
    assert told(history) == [("extract", [("b.md", "created")])]
    place.change(history, by, b_md=None)
    assert told(history) == []
    with pytest.raises(NotFound):
        history.find(by.change)


def test_a_new_modification_time_alone_is_no_change_but_is_what_comes_back_H2(
    place: Place, history: History
) -> None:
    place.change(history, None, a_md="1")
    place.put("a.md", "1", mtime_ns=1_600_000_000_000_000_000)
    assert history.look() is None
    change = place.change(history, None, a_md="2")
    assert change is not None
    assert change.files[0].before_mtime_ns == 1_600_000_000_000_000_000


def test_the_log_of_a_file_has_only_its_changes_and_a_limit_counts_changes_H2(
    place: Place, history: History
) -> None:
    for number in range(3):
        place.change(history, None, a_md=str(number))
        place.change(history, None, b_md=str(number))
    assert len(history.log()) == 6
    assert len(history.log(file="a.md")) == 3
    assert history.log(file="a.md", limit=1) == history.log()[1:2]
    assert history.log(file="c.md") == []


def test_a_change_is_found_by_the_beginning_of_its_id_H2(place: Place, history: History) -> None:
    place.change(history, By(worker="main", change="abc0000001"), a_md="1")
    place.change(history, By(worker="main", change="abc0000002"), a_md="2")
    place.change(history, By(worker="main", change="abc"), a_md="3")
    assert history.find("abc0000002").id == "abc0000002"
    assert history.find("abc").id == "abc"
    with pytest.raises(UsageError):
        history.find("abc0")
    for nothing in ("", "f", "abc0000003", "--all"):
        with pytest.raises(NotFound):
            history.find(nothing)


@pytest.mark.parametrize("blob", ["", "HEAD", "main:a.md", "--help", "0" * 40, "f" * 39])
def test_a_blob_that_is_none_is_not_found_H2(place: Place, history: History, blob: str) -> None:
    place.change(history, None, a_md="1")
    with pytest.raises(NotFound):
        history.bytes(blob)


def test_a_file_can_be_had_as_of_a_change_or_a_moment_H2(place: Place, history: History) -> None:
    first = place.change(history, None, a_md="1")
    between = place.clock()
    second = place.change(history, None, a_md="2", b_md="x")
    third = place.change(history, None, a_md=None)
    assert first
    assert second
    assert third

    names = ["a.md", "b.md"]
    assert as_recorded(history, first.id, names) == {"a.md": b"1"}
    assert as_recorded(history, second.id[:6], names) == {"a.md": b"2", "b.md": b"x"}
    assert as_recorded(history, third.id, names) == {"b.md": b"x"}
    assert as_recorded(history, between, names) == {"a.md": b"1"}
    assert as_recorded(history, second.at, names) == {"a.md": b"2", "b.md": b"x"}
    assert as_recorded(history, START, names) == {}
    assert as_recorded(history, START + timedelta(days=9), names) == {"b.md": b"x"}
    with pytest.raises(NotFound):
        history.at("a.md", "0123456789")


def test_a_clock_that_is_set_back_changes_no_order_H2(place: Place, history: History) -> None:
    place.change(history, None, a_md="1")
    place.clock.moment += timedelta(days=365)
    place.change(history, None, a_md="2")
    place.clock.moment -= timedelta(days=364)
    last = place.change(history, None, a_md="3")
    assert last
    versions = [history.bytes(one.files[0].after or "") for one in place.history().log()]
    assert versions == [b"3", b"2", b"1"]
    assert as_recorded(history, last.at, ["a.md"]) == {"a.md": b"3"}
    assert as_recorded(history, START + timedelta(hours=1), ["a.md"]) == {"a.md": b"1"}


@pytest.mark.parametrize(
    "moment",
    [
        datetime(1955, 11, 5, 6, 0, 0, 7, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone(-timedelta(hours=23, minutes=59))),
        datetime(2026, 3, 30, tzinfo=timezone(timedelta(hours=5, minutes=30, seconds=12))),
        datetime.min.replace(tzinfo=UTC),
    ],
)
def test_any_moment_can_be_recorded_H2(place: Place, history: History, moment: datetime) -> None:
    place.clock.moment = moment - timedelta(seconds=1) if moment.year > 1 else moment
    place.change(history, None, a_md="1")
    assert history.failure is None
    assert history.log()[0].at == place.clock.moment


NAMES = [
    "plain.md",
    "with blank.md",
    '"quoted".md',
    "back\\slash.md",
    "new\nline.md",
    "tab\tand\r.md",
    "\\\\200.md",
    "grün.md",
    "记忆.md",
    "gru\u0308n.md",
    os.fsdecode(b"no-utf8-\xff\xfe.md"),
    "-dash.md",
    "--help.md",
    ":(glob)*.md",
    "git~1.md",
    "con.md",
    "x" * 250 + ".md",
    "deep/er/and/deeper.md",
    "git~1/x.md",
    "a.md.md",
    "Change: 0123456789.md",
    "team/MEMORY.md",
    " .md",
    "\u200b.md",
    "\x01\x7f.md",
    "/".join(["long" * 20] * 10) + "/end.md",
]
CONTENTS = [
    b"",
    b"\n",
    b"no newline at the end",
    b"CR LF\r\nand\rCR\r\n",
    b"NUL\0 and \xff\xfe bytes",
    "\ufeffBOM, 记忆".encode(),
    b"done\n",
    b"data 3\nabc\n\ncommit refs/heads/other\n",
    b"x" * 300_000,
    bytes(range(256)) * 10,
]


def test_every_name_and_every_content_comes_back_exactly_H2(place: Place, history: History) -> None:
    for number, name in enumerate(NAMES):
        place.put(name, CONTENTS[number % len(CONTENTS)])
    (change,) = [history.look()]
    assert history.failure is None
    assert change is not None
    assert {one.file for one in change.files} == set(NAMES)
    assert as_recorded(place.history(), change.id, NAMES) == place.on_disk()

    for name in NAMES:
        place.remove(name)
    after = history.look()
    assert after is not None
    assert {(one.file, one.action) for one in after.files} == {(name, "deleted") for name in NAMES}
    assert place.history().log() == [after, change]


@pytest.mark.parametrize("content", CONTENTS, ids=range(len(CONTENTS)))
def test_content_is_kept_byte_for_byte_H2(place: Place, history: History, content: bytes) -> None:
    change = place.change(history, None, a_md=content)
    assert change is not None
    assert history.bytes(change.files[0].after or "") == content


WORDS = [
    "",
    "two\nlines",
    "Change: ffffffffff",
    '"',
    "\\",
    "grün",
    "\udcff\ud800",
    "x" * 5000,
    " a ",
    "\0",
    "{}",
]


@pytest.mark.parametrize("word", WORDS, ids=range(len(WORDS)))
def test_no_word_of_a_session_can_forge_what_is_recorded_H2(
    place: Place, history: History, word: str
) -> None:
    by = By(worker=word, reason=word, session=word, message=word, undoes=word)
    place.change(history, by, a_md="1")
    assert history.failure is None
    (change,) = place.history().log()
    assert change.id == by.change
    assert (change.worker, change.reason, change.session, change.message, change.undoes) == (word,) * 5


def test_what_no_memory_is_is_not_recorded_H2(place: Place, history: History, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("outside")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.md").write_text("elsewhere")
    for name in (".hidden.md", ".git/x.md", "deep/.obsidian/x.md", "a.txt", "a.MD", "md", ".memdir-0.tmp"):
        place.put(name, "no memory")
    (place.directory / "link.md").symlink_to(outside)
    (place.directory / "folder").symlink_to(tmp_path / "elsewhere")
    (place.directory / "dangling.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(place.directory / "pipe.md")
    (place.directory / "folder.md").mkdir()
    place.put("huge.md", b"x" * (5 * 1024 * 1024 + 1))
    place.put("folder.md/inside.md", "a memory")

    change = history.look()
    assert change is not None
    assert [one.file for one in change.files] == ["folder.md/inside.md"]


def test_a_file_that_grows_too_large_stays_as_it_was_recorded_H2(place: Place, history: History) -> None:
    place.change(history, None, a_md="small")
    assert place.change(history, None, a_md=b"x" * (5 * 1024 * 1024 + 1)) is None
    assert told(history) == [("external", [("a.md", "created")])]
    assert place.change(history, None, a_md="small again")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_can_not_be_read_is_no_deletion_H2(place: Place, history: History) -> None:
    place.change(history, None, a_md="1")
    place.put("deep/b.md", "2")
    history.look()
    (place.directory / "a.md").chmod(0)
    (place.directory / "deep").chmod(0)
    os.utime(place.directory / "a.md")
    try:
        assert history.look() is None
        assert history.failure
    finally:
        (place.directory / "deep").chmod(0o700)


def test_a_file_can_give_its_place_to_a_folder_and_back_H2(place: Place, history: History) -> None:
    place.change(history, None, a_md="file")
    place.remove("a.md")
    place.put("a.md/b.md", "in a folder")
    change = history.look()
    assert change is not None
    assert [(one.file, one.action) for one in change.files] == [("a.md", "deleted"), ("a.md/b.md", "created")]
    shutil.rmtree(place.directory / "a.md")
    place.put("a.md", "file")
    assert history.look()
    assert history.failure is None
    assert as_recorded(history, history.log()[0].id, ["a.md", "a.md/b.md"]) == {"a.md": b"file"}


def test_a_directory_that_was_removed_is_recorded_as_all_deleted_H2(place: Place, history: History) -> None:
    place.change(history, None, a_md="1", b_md="2")
    shutil.rmtree(place.directory)
    change = history.look()
    assert change is not None
    assert {(one.file, one.action) for one in change.files} == {("a.md", "deleted"), ("b.md", "deleted")}
    assert [history.bytes(one.before or "") for one in change.files] == [b"1", b"2"]


def test_edits_within_one_tick_of_the_clock_are_all_seen_H2(place: Place, history: History) -> None:
    """The same size, and the same time as far as the file system can tell."""
    for number in range(50):
        assert place.change(history, None, a_md=f"{number:03}"), number
    assert len(history.log()) == 50


def test_an_edit_that_sets_its_time_back_is_seen_H2(place: Place, history: History) -> None:
    place.put("a.md", "one", mtime_ns=1_600_000_000_000_000_000)
    history.look()
    history.look()
    place.put("a.md", "two", mtime_ns=1_600_000_000_000_000_000)
    assert history.look()


def test_every_version_can_be_searched_H2(place: Place, history: History) -> None:
    assert list(history.blobs()) == []
    contents = [b"1", b"", b"two\n\n", b"\0" * 100_000]
    for content in contents:
        place.change(history, None, a_md=content)
    place.change(history, None, a_md=None)
    found = dict(history.blobs())
    assert sorted(found.values()) == sorted(contents)
    assert all(history.bytes(name) == data for name, data in found.items())


def test_two_histories_of_one_directory_see_each_others_commits_H2(place: Place, history: History) -> None:
    other = place.history()
    for number in range(4):
        assert place.change(history if number % 2 else other, None, a_md=str(number))
        assert (other if number % 2 else history).look() is None
    assert history.log() == other.log()
    assert len(history.log()) == 4


def test_ten_thousand_files_are_recorded_and_one_of_them_changes_H2(place: Place) -> None:
    for number in range(10_000):
        (place.directory / f"{number}.md").write_bytes(b"%d\n" % number)
    history = place.history()
    first = history.look()
    assert first is not None
    assert len(first.files) == 10_000
    second = place.change(history, None, **{"77_md": "changed"})
    assert second is not None
    assert [one.file for one in second.files] == ["77.md"]
    assert place.history().log() == [second, first]


def test_tidying_packs_what_many_commits_made_and_loses_nothing_H2(place: Place, history: History) -> None:
    for number in range(30):
        place.change(history, None, a_md=str(number))
    before = history.log()
    history.tidy()
    assert history.failure is None
    assert len(list(place.repository.glob("objects/pack/*.pack"))) < 10
    assert place.history().log() == before
    assert [history.bytes(one.files[0].after or "") for one in before] == [
        str(number).encode() for number in reversed(range(30))
    ]
    assert place.change(history, None, a_md="more")


# -- git, and nothing of the person's ----------------------------------------------------------------------


def test_a_history_that_nobody_tidies_packs_itself_now_and_then_H2(
    place: Place, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memdir.memory.history.repository._CROWD", 25)
    for number in range(60):
        place.change(history, By(worker="main"), a_md=str(number))
        assert len(list(place.repository.glob("objects/pack/*.pack"))) <= 25
    assert len(place.history().log()) == 60


def test_without_git_the_history_is_off_and_nothing_else_happens_H2(place: Place, tmp_path: Path) -> None:
    history = place.history(programs=[str(tmp_path / "nothing here")])
    assert history.off == "git is not installed"
    with fs.locked(place.directory), history.recording(By(worker="main")):
        place.put("a.md", "1")
    history.tidy()
    history.erase("a.md", without=[b"1"])
    assert (history.look(), history.log(), list(history.blobs())) == (None, [], [])
    assert history.at("a.md", datetime.now(UTC)) is None
    with pytest.raises(NotFound):
        history.find("ab")
    with pytest.raises(NotFound):
        history.bytes("0" * 40)
    assert history.failure is None
    assert not place.folder.exists()


def test_a_git_that_is_too_old_or_broken_is_as_none_H2(place: Place, tmp_path: Path) -> None:
    for name, said, why in (("old", "git version 2.19.7", "too old"), ("broken", "", "does not work")):
        script(tmp_path / name, f"echo {said}")
        history = place.history(programs=[str(tmp_path / name)])
        assert why in (history.off or "")
        with fs.locked(place.directory), history.recording(By(worker="main")):
            place.put("a.md", name)
        assert history.look() is None
        assert history.log() == []


def script(folder: Path, text: str) -> None:
    """A program named git."""
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "git").chmod(0o755)


def test_a_git_of_the_project_or_of_everybody_is_never_started_H2(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "everybody", "touch $0.started")
    (tmp_path / "everybody").chmod(0o777)
    script(tmp_path / "bin", "touch $0.started")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"bin:.:{tmp_path / 'bin'}")
    place.change(place.history(), None, a_md="1")
    assert place.history(programs=[str(tmp_path / "everybody")]).off
    assert list(tmp_path.rglob("*.started")) == []


def test_nothing_of_the_persons_git_takes_part_H2(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap"
    (tmp_path / "hooks").mkdir()
    for hook in ("reference-transaction", "post-commit", "pre-auto-gc"):
        (tmp_path / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {trap}\n")
        (tmp_path / "hooks" / hook).chmod(0o755)
    config = f"[core]\n hooksPath = {tmp_path / 'hooks'}\n fsmonitor = touch {trap}\n pager = touch {trap}\n"
    Path.home().joinpath(".gitconfig").write_text(config + "[user]\n name = Somebody\n email = some@body\n")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path / "hooks"))
    monkeypatch.setenv("GIT_TRACE", str(trap))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "objects"))
    history = place.history()
    change = place.change(history, None, a_md="1")
    assert change is not None
    history.tidy()
    assert history.bytes(change.files[0].after or "") == b"1"
    assert not trap.exists()
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    said = subprocess.run(
        ["git", f"--git-dir={place.repository}", "log", "--format=%an <%ae> %cn <%ce>%n%s"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    ours = "memdir <memdir@localhost>"
    assert said == f"{ours} {ours}\nexternal: 1 created\n"


def test_a_plain_git_finds_nothing_wrong_with_the_repository_H2(place: Place, history: History) -> None:
    for number, name in enumerate(NAMES):
        place.put(name, CONTENTS[number % len(CONTENTS)])
        history.look()
    history.tidy()
    done = subprocess.run(
        ["git", f"--git-dir={place.repository}", "fsck", "--full"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_no_content_and_no_name_stands_in_a_subject_and_no_content_in_a_message_H2(
    place: Place, history: History
) -> None:
    place.change(history, By(worker="ma\nin"), telling_name_md="telling content")
    said = subprocess.run(
        ["git", f"--git-dir={place.repository}", "log", "--format=%B"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "telling" not in said.splitlines()[0]
    assert "content" not in said


def test_nobody_else_can_read_anything_of_the_history_H2(place: Place) -> None:
    old = os.umask(0)
    try:
        history = place.history()
        for number in range(25):
            place.change(history, None, a_md=str(number))
        with fs.locked(place.directory), history.recording(By(worker="main")):
            open_for_others = [
                path for path in everything_below(place.folder) if stat.S_IMODE(path.stat().st_mode) & 0o077
            ]
            assert open_for_others == []
        history.tidy()
        history.erase("b.md", without=[b"1"])
    finally:
        os.umask(old)
    assert [p for p in everything_below(place.folder) if stat.S_IMODE(p.stat().st_mode) & 0o077] == []


def test_a_folder_that_others_could_look_into_is_closed_H2(place: Place) -> None:
    place.folder.mkdir(parents=True)
    place.folder.chmod(0o755)
    place.change(place.history(), None, a_md="1")
    assert stat.S_IMODE(place.folder.stat().st_mode) == 0o700


def test_changes_have_names_of_ten_digits_that_differ_H2() -> None:
    names = {new_change() for _ in range(100)}
    assert len(names) == 100
    assert all(len(name) == 10 and int(name, 16) >= 0 for name in names)
