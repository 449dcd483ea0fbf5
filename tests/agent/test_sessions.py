"""Which conversations a folder has (agent/sessions.py)."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from memdir import fs
from memdir.agent.sessions import Session, find, is_beginning, is_open, last, sessions
from memdir.agent.transcript import Transcript
from memdir.errors import NotFound, UsageError
from memdir.model.messages import Message, Prefix, Text, person

PREFIX = Prefix(system=("be brief",), tools=())


class Folder:
    """A folder of transcripts."""

    def __init__(self, place: Path) -> None:
        self.place, self.cwd = place / "transcripts", place / "shop"
        self.cwd.mkdir()

    def talk(self, *texts: str, at: int = 0, session: str | None = None, cwd: Path | None = None) -> str:
        """A conversation in which the person said this, and was answered."""
        session = session or str(uuid4())
        path = self.place / f"{session}.jsonl"
        made = Transcript.create(path, session_id=session, cwd=cwd or self.cwd, prefix=PREFIX)
        added = Message(role="user", content=(Text(text='"origin":"person"'),), origin="attachment")
        made.append(added)
        for text in texts:
            made.append(person(text))
            made.append(Message(role="assistant", content=(Text(text="yes"),), origin="assistant"))
        os.utime(path, (at, at))
        return session

    def all(self) -> list[Session]:
        return list(sessions(self.place, cwd=self.cwd))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_they_come_newest_first_with_what_they_began_with_A1(folder: Folder) -> None:
    old, new = folder.talk("we\n  begin", "more", at=100), folder.talk("x" * 1_000, at=200)
    first, second = folder.all()
    assert (first.id, first.messages, first.first) == (new, 2, "x" * 200)
    assert (second.id, second.messages, second.first) == (old, 4, "we begin")
    assert second.at == datetime.fromtimestamp(100, UTC)
    assert last(folder.place, cwd=folder.cwd) == first


def test_only_what_is_asked_for_is_read_A1(folder: Folder) -> None:
    for at in range(5):
        folder.talk("hello", at=at)
    found = sessions(folder.place, cwd=folder.cwd)
    newest = next(found)
    for path in folder.place.iterdir():
        path.unlink()
    assert newest.first == "hello"
    assert list(found) == []


def test_what_is_no_conversation_of_this_folder_is_passed_over_A1(folder: Folder, tmp_path: Path) -> None:
    kept = folder.talk("hello", at=1)
    folder.talk(at=2)
    folder.talk("elsewhere", at=3, cwd=tmp_path)
    place = folder.place
    os.link(place / f"{kept}.jsonl", place / f"{uuid4()}.jsonl")
    (place / f"{uuid4()}.jsonl").symlink_to(place / f"{kept}.jsonl")
    os.mkfifo(place / f"{uuid4()}.jsonl")
    (place / f"{uuid4()}.jsonl").mkdir()
    for text in ("", "{}", '{"type":"session",', '{"type":"session","sessionId":1}\n', '{"type":"user"}\n'):
        (place / f"{uuid4()}.jsonl").write_text(text, "utf-8")
    (place / "notes.jsonl").write_text("hello", "utf-8")
    assert [one.id for one in folder.all()] == [kept]


def test_a_damaged_transcript_is_told_as_far_as_it_can_be_read_A1(folder: Folder) -> None:
    session = folder.talk("one", "two")
    path = folder.place / f"{session}.jsonl"
    head, note, first, *rest = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([head, note, first[:40], b"\xff", b'{"type":"user",' * 2, *rest]))
    [one] = folder.all()
    assert one.first == "two"


def test_a_folder_that_is_not_there_has_none_A1(folder: Folder) -> None:
    assert folder.all() == []
    with pytest.raises(NotFound, match=str(folder.cwd)):
        last(folder.place, cwd=folder.cwd)


def test_one_is_found_by_a_unique_beginning_A1(folder: Folder) -> None:
    one = folder.talk("one", session="abcd0000-0000-4000-8000-000000000001")
    two = folder.talk("two", session="abcd1111-0000-4000-8000-000000000002")
    assert find(folder.place, "abcd0", cwd=folder.cwd).id == one
    assert find(folder.place, two.upper(), cwd=folder.cwd).id == two
    with pytest.raises(UsageError, match="2 conversations"):
        find(folder.place, "abcd", cwd=folder.cwd)
    with pytest.raises(NotFound):
        find(folder.place, "abce", cwd=folder.cwd)
    for odd in ("abc", "../x", "abcd*", "", "continue"):
        assert not is_beginning(odd)
        with pytest.raises(UsageError):
            find(folder.place, odd, cwd=folder.cwd)


def test_one_that_a_process_has_is_open_and_looking_makes_nothing_A1(folder: Folder) -> None:
    locks = folder.cwd / "locks"
    assert not is_open(locks, "s")
    assert not locks.exists()
    with fs.locked(locks / "s.live"):
        assert is_open(locks, "s")
    assert not is_open(locks, "s")
