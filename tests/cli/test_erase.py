"""`memdir forget --erase`: a memory is gone for good, and where its words still are is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memdir.app import open_project
from memdir.dream.lock import LOCK, Lock
from memdir.dream.stage import new_folder
from tests.cli.support import Desk, typist

FILE = "project_deploy_tuesdays_blue_pipeline.md"
SAYING = "we deploy on Tuesdays with the blue pipeline"
SESSION = "3f0d1a52-6a0e-4a53-9d0c-0d2f4f6f6b11"


@pytest.fixture
def shop(desk: Desk) -> Desk:
    """A project with two memories; one was brought up to date, forgotten and brought back."""
    desk("remember", "--type", "user", "I like short answers")
    desk("remember", "--type", "project", SAYING)
    with (desk.memory / FILE).open("a") as file:
        file.write("Nobody but Anna presses the green button.\n")
    desk("forget", FILE)
    desk("restore", FILE)
    return desk


def holding(desk: Desk, words: str) -> Iterator[Path]:
    """The files below the home that hold the words as they are, the memory directory included."""
    for path in desk.home.rglob("*"):
        if path.is_file() and words.encode() in path.read_bytes():
            yield path


def test_nothing_is_left_of_a_memory_that_is_erased_H2(shop: Desk) -> None:
    project = open_project(shop.folder)
    history = project.require_memory().history
    assert history is not None
    ran = shop("forget", SAYING, "--erase", "--yes")
    assert (ran.code, ran.out) == (0, "")
    erased, searched = ran.err.splitlines()[0].split("; ")
    assert erased == f"erased {FILE}"
    assert searched.startswith("searched ")
    assert searched.endswith(" files: found nowhere")
    for words in (SAYING, "green button", "blue_pipeline"):
        assert list(holding(shop, words)) == []
        assert not [data for _, data in history.blobs() if words.encode() in data]
    assert list(shop.files()) == ["user_short_answers.md"]
    assert shop("restore").err == "the trash is empty\n"
    assert "blue" not in shop("log").out
    for command in ("log", "why", "restore", "show", "forget"):
        assert shop(command, FILE).code == 3
    assert shop("forget", FILE, "--erase", "--yes").code == 3
    assert shop("list").out.count("\n") == 1


def test_what_killed_dreams_left_of_a_memory_goes_with_it_H2(shop: Desk) -> None:
    project = open_project(shop.folder)
    dreams = project.places.dreams
    copy, half = new_folder(dreams) / "memory", dreams / "0123456789" / "before"
    for folder in (copy, half):
        folder.mkdir(parents=True)
        (folder / FILE).write_text(SAYING)
    lock = Lock.take(shop.memory, now=project.now)  # a dream is under way: it may be its copy
    try:
        assert shop("forget", FILE, "--erase", "--yes").err.count(str(dreams)) == 2
        assert lock.is_ours()
    finally:
        lock.fail()
    shop("remember", "--type", "project", SAYING)
    assert "found nowhere" in shop("forget", FILE, "--erase", "--yes").err
    assert list(dreams.iterdir()) == []
    assert not (shop.memory / LOCK).exists()


def test_a_memory_that_is_forgotten_already_can_be_erased_by_its_file_or_its_name_H2(shop: Desk) -> None:
    shop("forget", FILE)
    assert shop("forget", SAYING, "--erase", "--yes").err.startswith(f"erased {FILE}; ")
    shop("remember", "--type", "project", SAYING)
    assert shop("undo").code == 0
    assert shop("restore").err == "the trash is empty\n", "an undo leaves it in the history alone"
    assert shop("forget", SAYING, "--erase", "--yes").err.startswith(f"erased {FILE}; ")
    assert list(holding(shop, SAYING)) == []


def test_where_its_words_still_are_is_said_with_what_to_do_about_it_H2(shop: Desk) -> None:
    (shop.memory / "twin.md").write_text(f"They say: {SAYING}\n", "utf-8")
    talk = shop.home / ".memdir" / "projects" / "-shop" / f"{SESSION}.jsonl"
    talk.parent.mkdir(parents=True)
    talk.write_text(json.dumps({"said": SAYING}), "utf-8")
    summary = talk.with_suffix("") / "session-memory" / "summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text(f"# Decisions\n{SAYING}\n", "utf-8")
    ran = shop("forget", FILE, "--erase", "--yes")
    assert ran.code == 0
    assert "its words are still in 3 places\n" in ran.err
    assert (
        f"  {summary} sums up a conversation in which it was said: delete the file if that is to" in ran.err
    )
    assert f"  {talk} is a conversation in which it was said: delete the file if that is to go" in ran.err
    assert f"  {shop.memory}/twin.md says it too: `memdir edit twin.md`" in ran.err
    assert talk.exists()
    assert list(shop.files()) == ["twin.md", "user_short_answers.md"]


def test_erasing_speaks_json_H2(shop: Desk) -> None:
    twin = shop.memory / "twin.md"
    twin.write_text(SAYING, "utf-8")
    told = shop("forget", FILE, "--erase", "--yes", "--json").json
    assert (told["version"], told["erased"]) == (1, FILE)
    assert told["searched"] > 3
    assert str(twin) in told["left"]


def test_without_a_terminal_nothing_is_erased_unless_that_was_said_H2(shop: Desk) -> None:
    before = shop.files()
    ran = shop.process("forget", SAYING, "--erase", said="y\n")
    assert (ran.code, shop.files()) == (2, before)
    assert f"memdir forget {FILE} --erase --yes" in ran.err
    assert shop("forget", FILE, "--yes").code == 2
    assert shop("forget", "MEMORY.md", "--erase", "--yes").code == 2
    assert shop("forget", "nosuch", "--erase", "--yes").code == 3
    assert shop.files() == before


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("\x04", 130)])
def test_at_a_terminal_it_is_asked_first_H2(shop: Desk, answer: str, code: int) -> None:
    with typist(shop, "forget", FILE, "--erase") as someone:
        assert "Nothing can bring it back." in someone.sees(r"erase it\? \[y/N\]: ")
        someone.types(answer)
        ended, told = someone.sees_the_end()
    assert ended == code
    assert ("nothing was erased" in told) == (code == 1)
    assert (FILE in shop.files()) == (code != 0)


def test_what_can_not_be_searched_for_is_not_said_to_be_found_nowhere_H2(shop: Desk) -> None:
    for name in ("one.md", "two.md"):
        (shop.memory / name).write_text("a\nb\n", "utf-8")
    ran = shop("forget", "one.md", "--erase", "--yes")
    assert ran.err.startswith("erased one.md; it had no words long enough to be searched for")
    assert shop("forget", "two.md", "--erase", "--yes", "--json").json["searched"] == 0


def test_prose_of_the_index_that_says_it_too_can_only_be_edited_H2(shop: Desk) -> None:
    with (shop.memory / "MEMORY.md").open("a") as file:
        file.write(f"As said: {SAYING}.\n")
    told = shop("forget", FILE, "--erase", "--yes").err
    assert "MEMORY.md says it too: `memdir edit MEMORY.md`\n" in told
