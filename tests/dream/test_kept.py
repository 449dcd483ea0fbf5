"""Plans that wait for the person: whole or not there, and told of when they can't be read (D8)."""

from __future__ import annotations

import json
import stat
from datetime import timedelta
from itertools import count
from pathlib import Path
from types import MappingProxyType

import pytest

from memdir.dream.checks import Objection
from memdir.dream.files import Snapshot
from memdir.dream.kept import Kept
from memdir.dream.plan import Change, Gone, Plan
from memdir.dream.tidy import Proposal
from memdir.errors import MemdirError, NotFound, UsageError
from tests.dream.desk import NOW
from tests.memory.dying import dying_at

INDEX = "MEMORY.md"

BEFORE = Snapshot(
    files={
        "old.md": b"one\n\ntwo\n",
        "deep/new.md": b"three\n",
        "target.md": b"two\n",
        "other.md": b"not of the plan\n",
        INDEX: b"- [old](old.md)\n",
    },
    mtimes={"old.md": 11, "deep/new.md": 12, "target.md": 13, "other.md": 14, INDEX: 15},
)
AFTER = Snapshot(
    files={
        "deep/new.md": b"three\n\none \xff\n",
        "target.md": b"two\n",
        "other.md": b"not of the plan\n",
        INDEX: b"- [new](deep/new.md)\n",
    },
    mtimes={"target.md": 13, "other.md": 14},
)
PLAN = Plan(
    changes=(
        Change(file="deep/new.md", action="rewritten"),
        Change(file="old.md", action="merged", into="deep/new.md", why="same subject"),
    ),
    lines=(
        Gone(file="old.md", text="one", fate="reworded", to="deep/new.md", now="one \udcff"),
        Gone(file="old.md", text="two", fate="moved", to="target.md", now="two"),
    ),
    index_changed=True,
    topics=4,
    facts=9,
    needs=MappingProxyType({"old.md": frozenset({"deep/new.md", "target.md"})}),
    removed=("old.md",),
)
OBJECTIONS = (
    Objection(code="budget", file=None, reason="too much goes"),
    Objection(code="lost", file="old.md", reason="a line is lost"),
)
PROPOSALS = (Proposal(kind="duplicate", files=("a.md", "b.md"), line=3, reason="alike", cure="merge them"),)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "dreams")


def put(kept: Kept, *, minutes: int = 0, dry: bool = False) -> str:
    return kept.put(
        before=BEFORE,
        after=AFTER,
        plan=PLAN,
        objections=OBJECTIONS,
        proposals=PROPOSALS,
        now=NOW + timedelta(minutes=minutes),
        dry=dry,
        real=Path("/somewhere/memory"),
    )


# -- putting and getting ------------------------------------------------------------------------------------


def test_a_plan_comes_back_as_it_was_kept_D8(kept: Kept) -> None:
    name = put(kept)
    found = kept.get(name)
    assert (found.id, found.when, found.dry) == (name, NOW, False)
    assert (found.plan, found.objections, found.proposals) == (PLAN, OBJECTIONS, PROPOSALS)
    assert found.real == Path("/somewhere/memory")


def test_only_what_the_plan_changes_or_rests_on_is_kept_D8(kept: Kept) -> None:
    found = kept.get(put(kept))
    names = {"old.md", "deep/new.md", "target.md", INDEX}
    assert found.before.files == {file: data for file, data in BEFORE.files.items() if file in names}
    assert found.before.mtimes == {file: at for file, at in BEFORE.mtimes.items() if file in names}
    assert found.after.files == {file: data for file, data in AFTER.files.items() if file in names}
    assert found.after.mtimes == {"target.md": 13}


def test_what_is_kept_is_for_the_owner_alone_D8(kept: Kept) -> None:
    place = kept.folder / put(kept)
    for path in (place, *place.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_the_newest_is_meant_if_none_is_named_and_a_beginning_will_do_D8(kept: Kept) -> None:
    names = [put(kept, minutes=minutes) for minutes in (3, 9, 6)]
    assert kept.get().id == names[1]
    assert [item.id for item in kept.items()] == [names[1], names[2], names[0]]
    shortest = next(size for size in count(1) if len({name[:size] for name in names}) == 3)
    assert kept.get(names[0][:shortest]).id == names[0]
    for unknown in ("", "xyz", "../.."):
        with pytest.raises(NotFound):
            kept.get(unknown)


def test_a_beginning_that_several_share_names_none_D8(kept: Kept) -> None:
    first = kept.folder / put(kept)
    first.rename(first.with_name("ab12345678"))
    second = kept.folder / put(kept)
    second.rename(second.with_name("ab87654321"))
    with pytest.raises(UsageError):
        kept.get("ab")


def test_where_nothing_is_kept_nothing_waits_D8(kept: Kept) -> None:
    assert (kept.items(), kept.waiting()) == ((), 0)
    with pytest.raises(NotFound):
        kept.get()


def test_a_dry_run_waits_for_nobody_and_takes_the_place_of_the_last_one_D8(kept: Kept) -> None:
    waits = put(kept)
    put(kept, minutes=1, dry=True)
    second = put(kept, minutes=2, dry=True)
    assert {item.id for item in kept.items()} == {waits, second}
    assert kept.waiting() == 1
    assert kept.get().dry


def test_a_plan_that_is_dropped_is_gone_D8(kept: Kept) -> None:
    first, second, third = put(kept), put(kept), put(kept)
    kept.drop(first)
    kept.drop(kept.get(second))
    kept.drop(kept.item(third))
    assert list(kept.folder.iterdir()) == []
    for name in (first, "..", "stage-0"):
        with pytest.raises(NotFound):
            kept.drop(name)


def test_plans_that_hold_an_erased_memory_are_dropped_H2(kept: Kept) -> None:
    name = put(kept)
    assert kept.forget("other.md") == ()
    assert kept.forget("old.md") == (name,)
    assert kept.items() == ()


# -- what can't be read -------------------------------------------------------------------------------------


def test_a_plan_of_another_version_is_told_of_and_not_read_D8(kept: Kept) -> None:
    name = put(kept)
    place = kept.folder / name / "plan.json"
    place.write_text(json.dumps({"version": 2, "dry": False, "whatever": []}))
    (item,) = kept.items()
    assert item.problem is not None
    assert "another version" in item.problem
    assert kept.waiting() == 1
    with pytest.raises(MemdirError, match="another version"):
        kept.get()
    kept.drop(kept.item())
    assert kept.items() == ()


def damaged(record: dict[str, object], key: str, value: object) -> bytes:
    return json.dumps({**record, key: value}).encode()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("changes", [{"file": "a.md"}]),
        ("changes", [{"file": "a.md", "action": "eaten", "into": None, "why": None}]),
        ("changes", 7),
        ("lines", [1]),
        ("needs", []),
        ("topics", "many"),
        ("when", "2026-11-30T12:00:00"),
        ("when", 3),
        ("mtimes", None),
        ("objections", [{"code": "x", "file": None, "reason": "y"}]),
    ],
)
def test_a_plan_that_is_damaged_is_told_of_and_can_be_dropped_D8(kept: Kept, key: str, value: object) -> None:
    name = put(kept)
    place = kept.folder / name / "plan.json"
    place.write_bytes(damaged(json.loads(place.read_bytes()), key, value))
    with pytest.raises(MemdirError, match="can't be read"):
        kept.get(name)
    assert [item.id for item in kept.items()] == [name]
    kept.drop(kept.item(name))


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 100_000, b"null"])
def test_bytes_that_are_no_plan_are_told_of_D8(kept: Kept, data: bytes) -> None:
    name = put(kept)
    (kept.folder / name / "plan.json").write_bytes(data)
    (item,) = kept.items()
    assert item.problem is not None
    with pytest.raises(MemdirError):
        kept.get()


def test_what_lies_about_there_is_no_plan_D8(kept: Kept, tmp_path: Path) -> None:
    name = put(kept)
    (kept.folder / "stage-0123456789abcdef").mkdir()
    (kept.folder / "0123456789").symlink_to(kept.folder / name)
    (kept.folder / "9876543210").write_text("a file")
    assert [item.id for item in kept.items()] == [name]


# -- killed -------------------------------------------------------------------------------------------------


def test_killed_at_any_point_a_plan_is_kept_whole_or_not_at_all_D8(tmp_path: Path) -> None:
    found = set[int]()
    for number in count(1):
        kept = Kept(tmp_path / str(number))
        with dying_at(number, half=True) as life:
            put(kept)
        found.add(len(kept.items()))
        for item in kept.items():
            waiting = kept.open(item)
            assert (waiting.plan, waiting.objections) == (PLAN, OBJECTIONS)
            assert waiting.after.files["deep/new.md"] == AFTER.files["deep/new.md"]
        kept.sweep()
        assert len(list(kept.folder.glob("*"))) == len(kept.items())
        if not life.is_over:
            break
    assert found == {0, 1}


def test_killed_at_any_point_of_a_drop_a_plan_is_whole_or_gone_D8(tmp_path: Path) -> None:
    for number in count(1):
        kept = Kept(tmp_path / str(number))
        name = put(kept)
        with dying_at(number) as life:
            kept.drop(name)
        for item in kept.items():
            assert kept.open(item).plan == PLAN
        kept.sweep()
        assert len(list(kept.folder.glob("*"))) == len(kept.items())
        if not life.is_over:
            break
    assert kept.items() == ()
