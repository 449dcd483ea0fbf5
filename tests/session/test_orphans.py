"""What goes with a transcript that is gone."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

from memdir.session.orphans import remove_orphans
from memdir.testing import tree


def summary(folder: Path, name: str) -> Path:
    path = folder / name / "session-memory" / "summary.md"
    path.parent.mkdir(parents=True)
    path.write_text("# Title\n")
    return path


def test_a_summary_goes_with_its_transcript_and_nothing_else_does_C5(tmp_path: Path) -> None:
    kept, gone, beside, link = (str(uuid4()) for _ in range(4))
    for name in (kept, gone, beside, "no-session"):
        summary(tmp_path, name)
    (tmp_path / f"{kept}.jsonl").write_text("{}\n")
    (tmp_path / beside / "tool-results").mkdir()
    elsewhere = tmp_path / "elsewhere"
    summary(elsewhere, link)
    (tmp_path / link).symlink_to(elsewhere / link)

    assert remove_orphans(tmp_path) == 2

    assert set(tree(tmp_path)) == {
        f"{kept}.jsonl",
        f"{kept}/session-memory/summary.md",
        "no-session/session-memory/summary.md",
        f"elsewhere/{link}/session-memory/summary.md",
    }
    assert (tmp_path / beside / "tool-results").is_dir()
    assert not (tmp_path / gone).exists()
    assert remove_orphans(tmp_path) == 0
    assert remove_orphans(tmp_path / "nowhere") == 0


def test_what_a_killed_writer_left_of_a_summary_goes_with_it_C5(tmp_path: Path) -> None:
    both, alone, beside = (summary(tmp_path, str(uuid4())) for _ in range(3))
    for path in (both, alone, beside):
        path.with_name(".memdir-0123456789abcdef.tmp").write_text("# Title\nhalf of it")
    alone.unlink()
    (beside.parent / "mine.md").write_text("x")
    assert remove_orphans(tmp_path) == 2
    assert tree(tmp_path) == {f"{beside.parents[1].name}/session-memory/mine.md": "x"}
    assert [one.name for one in tmp_path.iterdir()] == [beside.parents[1].name]


def test_what_a_killed_writer_left_of_a_summary_that_stays_goes_after_a_while_C5(tmp_path: Path) -> None:
    path = summary(tmp_path, str(uuid4()))
    (tmp_path / f"{path.parents[1].name}.jsonl").write_text("{}\n")
    old, new = (path.with_name(f".memdir-{number:016x}.tmp") for number in range(2))
    old.write_text("half of it")
    new.write_text("half of it")
    os.utime(old, (0, 0))
    assert remove_orphans(tmp_path) == 0
    assert {one.name for one in path.parent.iterdir()} == {"summary.md", new.name}


def test_a_transcript_that_is_a_link_is_there_wherever_it_leads_C5(tmp_path: Path) -> None:
    path = summary(tmp_path, str(uuid4()))
    (tmp_path / f"{path.parents[1].name}.jsonl").symlink_to(tmp_path / "disk-not-there" / "a.jsonl")
    assert remove_orphans(tmp_path) == 0
    assert path.exists()
