"""A run that was killed is taken back by whoever comes next, wherever it was killed (E7, F8)."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from memdir import fs
from memdir.errors import Conflict, SecretFound
from memdir.memory import entrypoint, journal_file
from memdir.memory.journal import Head, Journal
from memdir.memory.pointer import Pointer
from memdir.memory.recovery import Recovered, Standing, recover
from memdir.memory.store import ANY, MemoryDir
from tests.memory.desk import INDEX, NOW, Desk, Snapshot, dead, known, made, snapshot, topic
from tests.memory.dying import dying_at

Run = Callable[[MemoryDir], None]
Prepare = Callable[[object], tuple[Path, MemoryDir, Snapshot]]


def store_in(folder: Path) -> MemoryDir:
    return MemoryDir(folder / "memory", trash=folder / "trash")


def save(store: MemoryDir, file: str, body: str = "new") -> None:
    pointer = Pointer(title="T", file=file, hook=body)
    store.save(file, topic(body).encode(), pointer=pointer, expected=ANY, now=NOW, origin=None)


def write(store: MemoryDir, file: str, text: str) -> None:
    store.write(file, text.encode(), expected=ANY, now=NOW, origin=None)


def delete(store: MemoryDir, file: str) -> None:
    store.delete(file, now=NOW)


def several(*runs: Run) -> Run:
    def run(store: MemoryDir) -> None:
        for each in runs:
            each(store)

    return run


RUNS: dict[str, Run] = {
    "a new memory": partial(save, file="new.md"),
    "a change": partial(save, file="a.md"),
    "a deletion": partial(delete, file="a.md"),
    "a change, then a deletion": several(partial(save, file="a.md"), partial(delete, file="a.md")),
    "a new one that is deleted": several(partial(save, file="new.md"), partial(delete, file="new.md")),
    "two changes of one": several(partial(save, file="a.md"), partial(save, file="a.md", body="newer")),
    "a deletion, and another in its place": several(
        partial(delete, file="a.md"), partial(save, file="a.md", body="another")
    ),
    "the index, then the topic": several(
        partial(write, file=INDEX, text="# Tidied\n- [A](a.md) — a\n- [N](new.md) — new\n"),
        partial(write, file="new.md", text=topic("new")),
    ),
    "several": several(
        partial(save, file="new.md"),
        partial(delete, file="b.md"),
        partial(save, file="a.md"),
        partial(delete, file="new.md"),
        partial(save, file="sub/c.md"),
    ),
}
BELOW = "  own words\n\n  - and more of them\n"


@pytest.fixture(scope="session")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two memories, with a person's lines below the entry of one; all with an mtime of their own."""
    folder = tmp_path_factory.mktemp("there")
    store = store_in(folder)
    desk = Desk(store)
    known(desk, "a.md", "b.md")
    first, rest = store.index().split("\n", 1)
    desk.path(INDEX).write_text(f"{first}\n{BELOW}{rest}")
    desk.age()
    return folder


@pytest.fixture
def prepared(there: Path, tmp_path: Path) -> Prepare:
    """Makes a folder with these memories, again and again; with their state."""

    def prepare(name: object) -> tuple[Path, MemoryDir, Snapshot]:
        folder = tmp_path / str(name)
        shutil.copytree(there, folder)
        return folder, store_in(folder), state(folder)

    return prepare


def state(folder: Path) -> Snapshot:
    return {name.removeprefix(str(folder)): held for name, held in snapshot(store_in(folder)).items()}


def run_of(store: MemoryDir, folder: Path) -> MemoryDir:
    """The directory as a run changes it that is noted on the disk."""
    return store.recording(Journal.begin(folder / "journals", session="one", upto="m2", start="m1"))


def comes_next(folder: Path, *, judge: Callable[[Head], object] = dead) -> Recovered:
    """Whoever starts next, in a process of his own."""
    store = store_in(folder)
    with dying_at(sys.maxsize):  # lives for ever
        recovered = recover(store, folder / "journals", judge=judge)  # type: ignore[arg-type]
        store.mend()
    return recovered


def check_all_is_as_it_was(folder: Path, before: Snapshot) -> None:
    assert state(folder) == before
    assert [path.name for path in folder.rglob("*") if path.name.endswith((".tmp", ".jsonl"))] == []


@pytest.mark.parametrize(
    ("run", "half"),
    [*((run, False) for run in RUNS.values()), (RUNS["several"], True)],
    ids=[*RUNS, "several, in the middle of a write"],
)
def test_wherever_a_run_is_killed_all_is_as_it_was_E7(prepared: Prepare, run: Run, half: bool) -> None:
    for number in count(1):
        folder, store, before = prepared(number)
        with dying_at(number, half=half) as life:
            run(run_of(store, folder))
        comes_next(folder)
        check_all_is_as_it_was(folder, before)
        if not life.is_over:
            break
    assert number > 10


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_wherever_who_takes_it_back_is_killed_the_next_one_goes_on_E7(prepared: Prepare, run: Run) -> None:
    for number in count(1):
        folder, store, before = prepared(number)
        with dying_at(sys.maxsize):
            run(run_of(store, folder))
        with dying_at(number) as life:
            recover(store_in(folder), folder / "journals", judge=dead)
        comes_next(folder)
        check_all_is_as_it_was(folder, before)
        if not life.is_over:
            break
    assert number > 3


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_wherever_a_run_is_killed_that_takes_itself_back_the_next_one_goes_on_E7(
    prepared: Prepare, run: Run
) -> None:
    for number in count(1):
        folder, store, before = prepared(number)
        journal = Journal.begin(folder / "journals", session="one")
        with dying_at(sys.maxsize):
            run(store.recording(journal))
        with dying_at(number) as life:
            store.take_back(journal)
        comes_next(folder)
        check_all_is_as_it_was(folder, before)
        if not life.is_over:
            break
    assert number > 3


def test_one_killed_after_the_other_is_followed_all_the_way_E7(prepared: Prepare) -> None:
    for number in range(1, 60, 4):
        folder, store, before = prepared(number)
        with dying_at(number):
            RUNS["several"](run_of(store, folder))
        for step in range(1, 30, 3):
            with dying_at(step):
                recover(store_in(folder), folder / "journals", judge=dead)
        comes_next(folder)
        check_all_is_as_it_was(folder, before)


def test_a_run_whose_cursor_had_moved_stays_E7(prepared: Prepare) -> None:
    folder, store, _ = prepared("one")
    save(run_of(store, folder), "new.md")
    after = state(folder)

    @contextmanager
    def done(head: Head) -> Iterator[Standing]:
        assert (head.session, head.upto, head.start) == ("one", "m2", "m1")
        yield "done"

    assert comes_next(folder, judge=done) == Recovered()
    check_all_is_as_it_was(folder, after)


def test_a_run_that_is_alive_is_left_alone_E7(prepared: Prepare) -> None:
    folder, store, before = prepared("one")
    run = run_of(store, folder)
    save(run, "new.md")

    @contextmanager
    def alive(_: Head) -> Iterator[Standing]:
        yield "alive"

    assert comes_next(folder, judge=alive) == Recovered()
    save(run, "newer.md")
    assert comes_next(folder) == Recovered(runs=1, files=("newer.md", "new.md", INDEX))
    check_all_is_as_it_was(folder, before)


def test_only_the_session_that_is_asked_for_is_taken_back_E7(prepared: Prepare) -> None:
    folder, store, before = prepared("one")
    save(run_of(store, folder), "new.md")
    journals = folder / "journals"
    assert recover(store, journals, judge=dead, session="two") == Recovered()
    assert recover(store, journals, judge=dead, session="one").runs == 1
    check_all_is_as_it_was(folder, before)


def test_a_run_without_a_cursor_is_done_when_it_says_so_E7(prepared: Prepare) -> None:
    folder, store, _ = prepared("one")
    journal = Journal.begin(folder / "journals")
    save(store.recording(journal), "new.md")
    assert len(journal_file.find(folder / "journals")) == 1
    journal.done()
    after = state(folder)
    assert comes_next(folder) == Recovered()
    check_all_is_as_it_was(folder, after)


def test_a_run_whose_journal_can_not_be_removed_is_done_all_the_same_E7(
    prepared: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, store, _ = prepared("one")
    journal = Journal.begin(folder / "journals")
    save(store.recording(journal), "new.md")
    with monkeypatch.context() as patches:
        patches.setattr("memdir.memory.journal_file.fs.remove_durably", _fails)
        journal.done()
    after = state(folder)
    assert comes_next(folder).files == ()
    check_all_is_as_it_was(folder, after)


def _fails(*_: object, **__: object) -> None:
    raise PermissionError


def test_a_run_that_was_taken_for_dead_writes_no_more_and_undoes_nothing_twice_E7(prepared: Prepare) -> None:
    folder, store, before = prepared("one")
    journal = Journal.begin(folder / "journals", session="one")
    run = store.recording(journal)
    delete(run, "a.md")
    comes_next(folder)
    with pytest.raises(Conflict, match="taken back"):
        save(run, "new.md")
    assert store.take_back(journal) == ()
    check_all_is_as_it_was(folder, before)


def test_what_somebody_changed_after_the_kill_stays_F9(prepared: Prepare) -> None:
    folder, store, _ = prepared("one")
    run = run_of(store, folder)
    save(run, "a.md", "ours")
    save(run, "new.md", "ours")
    save(store, "a.md", "theirs")
    theirs = (store.directory / "a.md").read_bytes()
    assert "a.md" not in comes_next(folder).files
    assert (store.directory / "a.md").read_bytes() == theirs
    assert not (store.directory / "new.md").exists()
    assert [one.file for one in entrypoint.pointers(store.index())] == ["a.md", "b.md"]


def test_several_killed_runs_are_taken_back_each_E7(prepared: Prepare) -> None:
    folder, store, before = prepared("one")
    save(run_of(store, folder), "new.md")
    save(run_of(store, folder), "newer.md")
    assert comes_next(folder).runs == 2
    check_all_is_as_it_was(folder, before)


def test_a_journal_of_a_later_version_or_of_nobody_stays_E7(prepared: Prepare) -> None:
    folder, store, before = prepared("one")
    journals = folder / "journals"
    journals.mkdir()
    for name, text in {"0" * 16: '{"version": 2}\n', "1" * 16: "what?\n", "notes": "{}\n"}.items():
        (journals / f"{name}.jsonl").write_text(text)
    assert recover(store, journals, judge=dead) == Recovered()
    assert len(list(journals.iterdir())) == 3
    assert state(folder) == before


def test_lines_that_can_not_be_made_out_cost_only_themselves_E7(prepared: Prepare) -> None:
    folder, store, before = prepared("one")
    save(run_of(store, folder), "new.md")
    (path,) = journal_file.find(folder / "journals")
    odd = ["[]", '{"n": 0, "wrote": {}}', '{"n": "x", "aims": 7}', '{"drop": 99}', '{"later": 1}', '{"n": 1']
    with path.open("a") as file:
        file.write("\n".join(odd))
    comes_next(folder)
    check_all_is_as_it_was(folder, before)


def test_a_busy_directory_is_dealt_with_the_next_time_F9(prepared: Prepare) -> None:
    folder, store, before = prepared("one")
    save(run_of(store, folder), "new.md")
    busy = store_in(folder).within(0)
    with fs.locked(store.directory):
        (failure,) = recover(busy, folder / "journals", judge=dead).failures
    assert isinstance(failure, Conflict)
    comes_next(folder)
    check_all_is_as_it_was(folder, before)


def test_a_journal_is_its_owners_alone_and_goes_with_the_run_H4(prepared: Prepare) -> None:
    folder, store, _ = prepared("one")
    journal = Journal.begin(folder / "journals", session="one")
    assert not (folder / "journals").exists()
    save(store.recording(journal), "new.md")
    (path,) = (folder / "journals").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    store.take_back(journal)
    assert list(path.parent.iterdir()) == []
    save(store.recording(journal), "new.md")
    assert len(list(path.parent.iterdir())) == 1


def test_a_secret_does_not_get_into_a_journal_E10(prepared: Prepare) -> None:
    folder, store, _ = prepared("one")
    journal = Journal.begin(folder / "journals", session="one")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    with suppress(SecretFound):
        save(store.recording(journal), "new.md", f"the token is {secret[:40]}")
        raise AssertionError
    assert not (folder / "journals").exists()
    assert journal.steps == []


def test_where_no_journal_can_be_made_the_run_goes_on_in_memory_E7(prepared: Prepare) -> None:
    folder, store, before = prepared("one")
    (folder / "journals").write_text("a file")
    journal = Journal.begin(folder / "journals", session="one")
    save(store.recording(journal), "new.md")
    assert journal.failure is not None
    store.take_back(journal)
    assert state(folder) == before


def test_what_can_not_be_noted_any_more_is_not_done_E7(
    prepared: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, store, before = prepared("one")
    run = run_of(store, folder)
    save(run, "new.md")
    then = state(folder)
    with monkeypatch.context() as patches:
        patches.setattr("memdir.memory.journal_file.fs.append_line", _fails)
        with pytest.raises(PermissionError):
            save(run, "newer.md")
    assert state(folder) == then
    save(run, "newest.md")
    comes_next(folder)
    check_all_is_as_it_was(folder, before)


def test_a_journal_says_what_it_is_about_before_the_disk_changes_E7(prepared: Prepare) -> None:
    folder, store, _ = prepared("one")
    journal = Journal.begin(folder / "journals", session="one", upto="m2", start="m1", change="c")
    run = store.recording(journal)
    seen: list[list[dict[str, object]]] = []
    real = fs.replace_if

    def look_first(*args: object, **named: object) -> None:
        (path,) = journal_file.find(folder / "journals")
        seen.append([json.loads(line) for line in path.read_bytes().splitlines()])
        real(*args, **named)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patches:
        patches.setattr("memdir.memory.store.fs.replace_if", look_first)
        write(run, "new.md", topic("new"))
        write(run, "a.md", topic("newer"))
    assert [len(lines) for lines in seen] == [2, 3]
    head = seen[0][0]
    assert head == {"version": 1, "session": "one", "upto": "m2", "start": "m1", "change": "c"}


def test_a_desk_of_a_killed_run_is_as_it_was_before_E7(tmp_path: Path) -> None:
    desk = made(tmp_path, on_disk=True)
    before = known(desk, "a.md", "b.md")
    desk.edits("a.md")
    desk.deletes("b.md")
    desk.writes("sub/c.md")
    assert set(desk.take_back()) == {"a.md", "b.md", "sub/c.md", INDEX}
    assert snapshot(desk.store) == before
