"""Each planted fault is told once, and nothing else; mending twice is mending once (D4, E10, F6, F7)."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memdir.doctor.checkup import checkup
from memdir.doctor.finding import Finding
from memdir.doctor.fixing import Fixed, fix
from memdir.memory.revising import undo
from memdir.names import is_topic
from tests.doctor.broken import FAULTS, INDEX, NOW, TOKEN, Directory, Planted, broken, compatible, subsets

State = dict[str, tuple[int, bytes]]


def found(made: Directory) -> list[Finding]:
    return checkup(made.memory, now=NOW, around=made.around)


def mend(made: Directory) -> Fixed:
    return fix(made.memory, now=NOW, around=made.around)


def told(findings: list[Finding], planted: list[Planted]) -> None:
    """Each of the planted faults is told once, with what it is; nothing else is."""
    assert Counter((one.file, one.kind) for one in findings) == Counter(
        (one.file, one.kind) for one in planted
    )
    left = list(findings)
    for one in planted:
        fits = [other for other in left if (other.file, other.kind) == (one.file, one.kind)]
        match = next((other for other in fits if one.says in other.reason), None)
        assert match is not None, (one, [other.reason for other in fits])
        assert (match.fix is not None) == one.mends, match
        assert match.cure
        left.remove(match)


def everything(folder: Path) -> State:
    """Each file and folder: when it changed last, and its bytes."""
    state: State = {}
    for path in [folder, *sorted(folder.rglob("*"))] if folder.exists() else []:
        there = path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20
        state[str(path)] = (path.lstat().st_mtime_ns, path.read_bytes() if there else b"")
    return state


def memories(folder: Path) -> State:
    """The files that the history has."""
    return {path: state for path, state in everything(folder).items() if path.endswith(".md")}


def examine(made: Directory) -> None:
    """All that must hold of a broken directory."""
    directory = made.memory.directory
    before = everything(made.home)
    findings = found(made)
    assert everything(made.home) == before
    told(findings, made.planted)
    assert TOKEN[4:] not in repr(findings)

    as_found = memories(directory)
    fixed = mend(made)
    rest = [one for one in made.planted if not one.mends]
    told([one for one in fixed.left if one.kind != "marked"], rest)
    assert len(fixed.mended) == len(made.planted) - len(rest)
    nothing_is_lost(as_found, memories(directory), directory)

    once = everything(directory), everything(made.places.state / "dreams")
    again = mend(made)
    assert (everything(directory), everything(made.places.state / "dreams")) == once
    assert (again.left, again.mended, again.change) == (fixed.left, (), None)

    if fixed.change is not None:
        history = made.memory.history
        assert history is not None
        undo(made.memory, history.find(fixed.change), now=NOW)
        assert memories(directory) == as_found


def nothing_is_lost(before: State, after: State, directory: Path) -> None:
    """No file is gone, none is younger, and no line is gone but entries of the index."""
    assert before.keys() <= after.keys()
    for path, (mtime_ns, data) in before.items():
        new_mtime_ns, new = after[path]
        if path == str(directory / INDEX):
            kept = [line for line in data.splitlines() if line.strip() and not line.startswith(b"- [")]
            assert Counter(kept) <= Counter(new.splitlines())
        else:
            assert new_mtime_ns == mtime_ns
            assert Counter(data.splitlines()) <= Counter(new.splitlines())
            assert new.endswith(data) or is_topic(os.path.relpath(path, directory))


def test_nothing_is_told_of_a_sound_directory_H1(tmp_path: Path) -> None:
    made = broken(tmp_path, seed=0, faults=())
    before = everything(tmp_path)
    assert found(made) == []
    assert mend(made) == Fixed(change=None, mended=(), left=())
    assert everything(tmp_path) == before


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_alone_is_told_once_and_nothing_else_H1(tmp_path: Path, fault: str) -> None:
    examine(broken(tmp_path, seed=1, faults=[fault]))


@pytest.mark.parametrize(
    ("seed", "faults"),
    subsets(range(12)),
    ids=lambda one: str(one) if isinstance(one, int) else f"{len(one)} faults",
)
def test_each_planted_fault_is_told_once_and_mended_once_H1(
    tmp_path: Path, seed: int, faults: frozenset[str]
) -> None:
    examine(broken(tmp_path, seed=seed, faults=faults))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 1 << 32), faults=st.sets(st.sampled_from(sorted(FAULTS))))
def test_any_faults_together_are_told_each_for_itself_H1(seed: int, faults: set[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="memdir-") as folder:
        examine(broken(Path(folder).resolve(), seed=seed, faults=compatible(faults)))
