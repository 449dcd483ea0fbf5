"""What goes with a transcript that is gone."""

from __future__ import annotations

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
