"""What is erased is nowhere any more, whatever its bytes are kept as; what others say of it is named (H2)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memdir.errors import MemdirError, NotFound, UnsafePath
from memdir.memory import erasing, proof, revising
from memdir.memory.erasing import Proof
from memdir.memory.history import History
from memdir.memory.journal import Journal
from memdir.memory.proof import Needles
from memdir.recall.usage import Usage
from tests.memory.leftovers import places_of
from tests.memory.test_revising import BODY, INDEX, Desk

SECRET = "The lawsuit of Heron & Sons ends in \u201cApril\u201d\n"
WORDS = (b"lawsuit of Heron", "lawsuit of Heron".encode("utf-16-le"))


@dataclass
class Bureau(Desk):
    """A desk that can erase; `erased` are the names that the record of use was cleared of."""

    erased: list[str] = field(default_factory=list)

    def erase(self, file: str, *, usage_erase: Callable[[str], int] | None = None) -> Proof:
        return erasing.erase(
            self.memory,
            file,
            cache=self.folder / "cache" / "m",
            journals=self.folder / "journal",
            usage_erase=usage_erase or self._clear,
            state=self.folder,
            base=self.folder / "base",
            now=self.now,
        )

    def _clear(self, file: str) -> int:
        self.erased.append(file)
        return 0


@pytest.fixture
def desk(tmp_path: Path) -> Bureau:
    return Bureau(tmp_path)


def test_every_version_of_an_erased_memory_is_gone_everywhere_H2(desk: Bureau) -> None:
    desk.save("a.md", BODY)
    desk.save("x.md", SECRET, hook="about the lawsuit of Heron")
    desk.save("x.md", "Otherwise.\n" + SECRET, hook="the lawsuit of Heron & Sons")
    desk.forget("x.md")
    desk.undo()
    desk.forget("x.md")
    desk.save("x.md", "A third version of what is to be erased\n")
    desk.history.tidy()
    desk.save("b.md", BODY)
    assert places_of(WORDS, desk.folder)
    found = desk.erase("x.md")
    assert places_of((*WORDS, b"third version of what", b"x.md"), desk.folder) == []
    assert found.left == ()
    assert found.searched > 5
    assert desk.erased == ["x.md"]
    assert sorted(desk.tree()) == [INDEX, "a.md", "b.md"]
    assert "x.md" not in desk.text(INDEX)


def test_other_memories_and_their_history_stay_H2(desk: Bureau) -> None:
    desk.save("a.md", BODY)
    first = desk.tree()["a.md"]
    change = desk.save("a.md", BODY + "more\n", hook="the second")
    desk.save("x.md", SECRET)
    desk.save("b.md", BODY, hook="of b")
    before = desk.tree()
    desk.erase("x.md")
    assert desk.text(INDEX) == before[INDEX][0].decode().replace("- [x.md](x.md) — a hook\n", "")
    del before["x.md"], before[INDEX]
    assert {file: there for file, there in desk.tree().items() if file != INDEX} == before
    assert desk.memory.look() is None
    desk.undo(desk.history.find(change.id))
    assert desk.tree()["a.md"] == first
    assert desk.text(INDEX) == "- [a.md](a.md) — a hook\n- [b.md](b.md) — of b\n"


def test_an_erased_memory_can_not_be_brought_back_H2(desk: Bureau) -> None:
    made = desk.save("x.md", SECRET)
    gone = desk.forget("x.md")
    desk.erase("x.md")
    for change in (made, gone):
        with pytest.raises(MemdirError):
            revising.undo(desk.memory, change, now=desk.now)
        with pytest.raises(NotFound):
            revising.restore_at(desk.memory, "x.md", change.id, now=desk.now)
    assert desk.memory.trashed() == []
    assert places_of(WORDS, desk.folder) == []


@pytest.mark.parametrize("where", ["trash", "history", "inbox"])
def test_what_only_the_trash_the_history_or_the_inbox_has_can_be_erased_H2(desk: Bureau, where: str) -> None:
    if where == "inbox":
        desk.memory.inbox.put(
            "x.md", data=SECRET.encode(), base=None, code="c", reason="r", now=desk.now, origin=None
        )
    else:
        desk.save("x.md", SECRET)
        desk.by_hand(desk.at("x.md").unlink) if where == "history" else desk.forget("x.md")
    assert places_of(WORDS, desk.folder)
    desk.erase("x.md")
    assert places_of(WORDS, desk.folder) == []


def test_a_run_under_way_keeps_no_copy_H2(desk: Bureau) -> None:
    desk.save("x.md", SECRET)
    journal = Journal.begin(desk.folder / "journal")
    desk.memory.recording(journal).delete("x.md", now=desk.now)
    assert list((desk.folder / "journal").iterdir())
    desk.erase("x.md")
    assert places_of(WORDS, desk.folder) == []


def test_lines_of_it_go_from_earlier_versions_of_others_H2(desk: Bureau) -> None:
    desk.save("a.md", BODY + "- " + SECRET)
    desk.save("a.md", BODY)
    desk.by_hand(lambda: desk.at("x.md").write_bytes(SECRET.encode("utf-16")))
    desk.by_hand(lambda: desk.at("x.md").write_text(SECRET, "utf-8"))
    assert desk.erase("x.md").left == ()
    assert places_of(WORDS, desk.folder) == []


def test_what_others_say_of_it_is_named_and_left_H2(desk: Bureau) -> None:
    desk.save("x.md", SECRET)
    desk.save("other.md", BODY + SECRET)
    talk = desk.folder / "base" / "projects" / "s.jsonl"
    talk.parent.mkdir(parents=True)
    talk.write_text(json.dumps({"text": f"remember: {SECRET}"}) + "\n")
    copy = desk.folder / "backup.sqlite-wal"
    copy.write_bytes(b"\0" * (proof._PIECE - 20) + SECRET.encode())
    before = desk.at("other.md").read_bytes()
    found = desk.erase("x.md")
    assert set(found.left) == {copy, talk, desk.at("other.md")}
    assert desk.at("other.md").read_bytes() == before


def test_a_line_in_which_others_spoke_of_it_goes_from_their_earlier_versions_H2(desk: Bureau) -> None:
    desk.save("x.md", SECRET)
    desk.by_hand(lambda: desk.at("other.md").write_text(f"see: {SECRET.strip()}, and more\nkept\n", "utf-8"))
    change = desk.newest()
    desk.save("other.md", BODY)
    assert desk.erase("x.md").left == ()
    assert places_of(WORDS, desk.folder) == []
    found = desk.history.at("other.md", change.id)
    assert found
    assert found[0] == b"kept\n"


def test_what_several_others_say_stays_in_their_history_H2(desk: Bureau) -> None:
    for file in ("a.md", "b.md", "c.md", "x.md"):
        desk.save(file, BODY + SECRET * (file == "x.md"))
    desk.save("a.md", BODY + "more\n")
    now = {desk.at(file) for file in ("a.md", "b.md", "c.md")}
    assert set(desk.erase("x.md").left) == {*now, "an earlier version of a.md"}
    found = desk.history.at("a.md", desk.history.log(file="a.md")[-1].id)
    assert found
    assert found[0].endswith(BODY.encode())
    assert places_of(WORDS, desk.folder) == []


def test_what_is_derived_goes_as_a_whole_H2(desk: Bureau) -> None:
    desk.save("x.md", SECRET)
    cache = desk.folder / "cache" / "m" / "words.sqlite"
    cache.parent.mkdir(parents=True)
    cache.write_bytes(b"words")
    desk.erase("x.md")
    assert not cache.parent.exists()


def test_the_record_of_use_is_cleared_H2(desk: Bureau) -> None:
    desk.save("x.md", SECRET)
    usage = Usage(str(desk.folder / "usage.sqlite"))
    usage.surfaced(["x.md"], session="s", turn_id="t", kind="question", at=desk.now, how="local")
    assert usage.of("x.md").surfaced
    desk.erase("x.md", usage_erase=usage.erase)
    assert usage.of("x.md").surfaced == ()
    assert places_of([b"x.md"], desk.folder) == []


def test_a_second_try_goes_on_where_the_first_failed_H2(desk: Bureau) -> None:
    def refuse(_: str) -> int:
        raise MemdirError("busy")

    desk.save("x.md", SECRET)
    with pytest.raises(MemdirError, match="busy"):
        desk.erase("x.md", usage_erase=refuse)
    assert not desk.at("x.md").exists()
    desk.erase("x.md")
    assert places_of(WORDS, desk.folder) == []


def test_a_history_that_can_not_be_rewritten_is_no_success_H2(desk: Bureau) -> None:
    desk.save("x.md", SECRET)
    place = desk.history.folder
    desk.memory.history = History(place, directory=desk.memory.directory, now=lambda: desk.now, programs=())
    with pytest.raises(MemdirError, match="can't be rewritten"):
        desk.erase("x.md")
    assert SECRET in desk.text("x.md"), "nothing is taken away by halves"
    desk.memory.history = desk.history
    desk.erase("x.md")
    assert places_of(WORDS, desk.folder) == []


def test_the_index_and_what_nobody_knows_are_refused_H2(desk: Bureau) -> None:
    desk.save("x.md", SECRET)
    before = desk.tree()
    with pytest.raises(UnsafePath):
        desk.erase(INDEX)
    for file in ("../x.md", ".x.md", "x.txt"):
        with pytest.raises(UnsafePath):
            desk.erase(file)
    with pytest.raises(NotFound):
        desk.erase("nobody.md")
    assert desk.tree() == before


def test_odd_names_can_be_erased_H2(desk: Bureau) -> None:
    for file in ("sub/x y.md", "odd\udcff.md"):
        desk.at(file).parent.mkdir(exist_ok=True)
        desk.at(file).write_text(SECRET, "utf-8")
        desk.memory.look()
        desk.erase(file)
        assert places_of(WORDS, desk.folder) == []


def test_a_memory_whose_name_a_folder_has_by_now_can_be_erased_H2(desk: Bureau) -> None:
    desk.save("x.md", SECRET)
    desk.by_hand(desk.at("x.md").unlink)
    desk.at("x.md").mkdir()
    desk.at("x.md/y.md").write_text("another memory", "utf-8")
    desk.erase("x.md")
    assert places_of(WORDS, desk.folder) == []
    assert desk.text("x.md/y.md") == "another memory"


def test_the_team_s_index_says_nothing_of_it_either_H2(desk: Bureau) -> None:
    desk.save("team/x.md", BODY)
    desk.at("team/MEMORY.md").write_text(f"- [A](a.md) - a\n- [X](x.md) - {SECRET}", "utf-8")
    desk.memory.look()
    desk.at("team/MEMORY.md").write_text("- [A](a.md) - a\n- [X](x.md) - as before\n", "utf-8")
    proof = desk.erase("team/x.md")
    assert desk.text("team/MEMORY.md") == "- [A](a.md) - a\n"
    assert (proof.left, places_of(WORDS, desk.folder)) == ((), [])


def test_a_history_that_is_a_link_is_not_said_to_be_erased_H2(desk: Bureau) -> None:
    desk.save("x.md", SECRET)
    repository = desk.history.folder / "repository"
    repository.rename(desk.folder / "elsewhere")
    repository.symlink_to(desk.folder / "elsewhere")
    with pytest.raises(MemdirError, match="is a link"):
        desk.erase("x.md")
    assert desk.at("x.md").exists()


def test_a_memory_without_a_telling_word_is_not_said_to_be_found_nowhere_H2(desk: Bureau) -> None:
    desk.at("x.md").write_text("a\nb\n", "utf-8")
    desk.memory.look()
    assert not desk.erase("x.md").telling


def test_a_memory_of_many_lines_is_erased_while_one_waits_H2(desk: Bureau) -> None:
    """Each line is looked for in each line of each version: one after the other that takes minutes."""
    lines = [f"{number:05} is the number of a heron" for number in range(10_000)]
    desk.save("x.md", "\n".join(lines))
    desk.save("a.md", "\n".join([*lines[5000:5001], "another line of it"]))
    desk.save("a.md", "another line of it")
    begun = time.process_time()
    desk.erase("x.md")
    assert time.process_time() - begun < 20
    assert places_of((b"number of a heron",), desk.folder) == []


# -- what is looked for -------------------------------------------------------------------------------------


def test_lines_and_descriptions_tell_a_memory_from_others_H2() -> None:
    text = (
        "---\nname: Heron\ndescription: A lawsuit that goes on\nmodified: 2026-03-30T12:00:00Z\n---\n\n"
        "# The parties of it\n\n- **Why:** they asked for it twice\n- short\n\n**How to apply:**\n"
        "部署到生产环境之前\n"
    )
    assert proof.telling(text.encode(), file="x.md", common={"The parties of it"}) == {
        "A lawsuit that goes on",
        "Why:** they asked for it twice",
        "部署到生产环境之前",
    }
    assert proof.telling(b"PIN 4711\n", file="x.md") == {"PIN 4711"}
    assert proof.telling(b"---\ntype: user\n---\n", file="x.md") == set()


@pytest.mark.parametrize("kind", ["utf-8", "utf-16-le"])
def test_a_line_is_found_across_the_pieces_of_a_file_H2(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "f"
    needles = Needles(["needle in hay"], encodings={kind})
    for before in (0, proof._PIECE - 30, proof._PIECE - 1, proof._PIECE, 2 * proof._PIECE - 5):
        place.write_bytes(b"-" * before + "needle in hay".encode(kind) + b"-")
        assert needles.are_in_file(place)
    place.write_bytes(b"-" * proof._PIECE + "needle in ha".encode(kind))
    assert not needles.are_in_file(place)


@pytest.mark.parametrize("many", [1, 1_000])
def test_few_lines_and_many_are_found_at_the_same_places_H2(many: int) -> None:
    needles = Needles([f"{number:04} is a heron's" for number in range(many)] + ["and so is a swan"])
    for data in (
        b"0000 is a heron's",
        b"x0000 is a heron's nest",
        b"it: and so is a swan",
        b"\n0000 is a heron's\n",
    ):
        assert needles.are_in(data)
    for data in (b"", b"0000", b"0000 is a heron", b"and so is a swa", b"x" * 100):
        assert not needles.are_in(data)
    assert list(needles.lines_in(b"a\nand so is a swan.\nb")) == [b"and so is a swan."]
