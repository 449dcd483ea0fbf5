"""What a fork for the notes may do (C3, E10)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memdir.agent.permissions import Allow, Deny, Verdict
from memdir.fs import digest
from memdir.model.messages import ToolUse
from memdir.session.rights import OnlyEdit, none_at_all
from memdir.session.sections import LIMIT, Template
from memdir.testing import call
from tests.session.support import TOKEN, filled, guidance

pytestmark = pytest.mark.anyio

OURS = Template.default()
TASK = guidance("Task")


class Scene:
    """Notes at a place, and what may be done with them."""

    def __init__(self, folder: Path, text: str = OURS.text) -> None:
        self.root = Path(os.path.realpath(folder))
        self.path = self.root / "s" / "session-memory" / "summary.md"
        self.path.parent.mkdir(parents=True)
        self.path.write_text(text)
        self.rights = OnlyEdit(
            self.path, text.encode(), template=OURS, within=self.root, cwd=self.path.parent
        )

    async def asks(self, one: ToolUse) -> Verdict:
        return await self.rights(one)

    async def edits(self, old: str, new: str, *, path: str | None = None, every: bool = False) -> Verdict:
        path = str(self.path) if path is None else path
        given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": every}
        return await self.asks(call("Edit", **given))

    async def refuses(self, old: str, new: str, *, every: bool = False) -> str:
        verdict = await self.edits(old, new, every=every)
        assert isinstance(verdict, Deny)
        assert TOKEN not in verdict.text + verdict.reason
        return verdict.text


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def test_an_edit_of_the_notes_is_allowed_and_its_outcome_is_known_C3(scene: Scene) -> None:
    assert isinstance(await scene.edits(TASK, f"{TASK}\nMerge."), Allow)
    assert scene.rights.digests == [digest(OURS.text.encode()), digest(filled(Task="Merge.").encode())]
    assert isinstance(await scene.edits("not there", "x"), Allow), "Edit says so itself"
    assert len(scene.rights.digests) == 2


@pytest.mark.parametrize("path", ["summary.md", "./summary.md", "../session-memory/summary.md"])
async def test_the_path_may_be_written_in_other_ways_C3(scene: Scene, path: str) -> None:
    assert isinstance(await scene.edits(TASK, f"{TASK}\nMerge.", path=path), Allow)


@pytest.mark.parametrize("tool", ["Read", "Write", "Glob", "Grep", "Bash", "Task"])
async def test_no_other_tool_is_C3(scene: Scene, tool: str) -> None:
    verdict = await scene.asks(call(tool, file_path=str(scene.path), content="x", command="ls", pattern="*"))
    assert isinstance(verdict, Deny)
    assert "Only Edit" in verdict.text


async def test_no_other_file_is_C3(scene: Scene) -> None:
    other = scene.path.with_name("other.md")
    other.write_text("x")
    for path in (str(other), "other.md", "", "a\0b", "/etc/passwd", str(scene.path.parent)):
        assert isinstance(await scene.edits("x", "y", path=path), Deny)


async def test_a_link_in_place_of_the_notes_or_their_folder_is_not_followed_C3(scene: Scene) -> None:
    target = scene.root / "target"
    target.mkdir()
    (target / "summary.md").write_text(OURS.text)
    scene.path.unlink()
    scene.path.symlink_to(target / "summary.md")
    assert isinstance(await scene.edits(TASK, "x"), Deny)
    scene.path.unlink()
    scene.path.parent.rmdir()
    scene.path.parent.symlink_to(target)
    assert isinstance(await scene.edits(TASK, "x"), Deny)


async def test_what_somebody_else_changed_is_left_alone_C3(scene: Scene) -> None:
    scene.path.write_text(filled(Task="by hand"))
    assert "somebody else has changed" in await scene.refuses("by hand", "by the fork")
    scene.path.unlink()
    assert "somebody else" in await scene.refuses(TASK, "x")
    os.mkfifo(scene.path)
    assert "somebody else" in await scene.refuses(TASK, "x")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Task\n", ""),
        ("# Task", "## Task"),
        (f"# Task\n{TASK}", TASK),
        (OURS.text.strip(), "All new"),
        ("# Files", "# Files of the project"),
    ],
)
async def test_headings_can_not_be_lost_C3(scene: Scene, old: str, new: str) -> None:
    assert "would lose" in await scene.refuses(old, new)
    assert len(scene.rights.digests) == 1


async def test_a_heading_more_or_a_guidance_line_less_is_no_harm_C3(scene: Scene) -> None:
    assert isinstance(await scene.edits(TASK, "Merge.\n\n# Money\n5 €"), Allow)


async def test_a_secret_is_denied_and_not_told_E10(scene: Scene) -> None:
    said = await scene.refuses(TASK, f"{TASK}\nThe token is {TOKEN}.")
    assert "what looks like a secret" in said
    assert "say where it is kept" in said
    assert "mark" in await scene.refuses(TASK, f"{TASK}\nx # memdir:allow-secret")


async def test_a_secret_put_together_from_two_edits_is_denied_E10(tmp_path: Path) -> None:
    scene = Scene(tmp_path, filled(Task=f"The token is {TOKEN[:20]}@@"))
    assert "secret" in await scene.refuses("@@", TOKEN[20:])


async def test_a_secret_that_the_person_put_there_stops_no_other_edit_E10(tmp_path: Path) -> None:
    scene = Scene(tmp_path, filled(Log=f"The token is {TOKEN}."))
    assert isinstance(await scene.edits(TASK, f"{TASK}\nMerge."), Allow)


async def test_too_much_is_denied_C1(scene: Scene) -> None:
    assert "over 64 KiB" in await scene.refuses(TASK, "word " * LIMIT)
    assert "over 64 KiB" in await scene.refuses("e", "e" * 9_000, every=True)
    assert "empty" in await scene.refuses("", "x" * 9_000, every=True)


async def test_too_much_is_not_even_put_together_C1(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("memdir.session.rights.edit.replace")
    for old in ("e", "\n", "\r\n"):  # Edit takes one line end for the other
        assert "over 64 KiB" in await scene.refuses(old, "x" * 9_000, every=True)


async def test_what_the_next_run_could_not_use_is_denied_C3(scene: Scene) -> None:
    assert "NUL" in await scene.refuses(TASK, f"{TASK}\na\0b")
    assert "over 64 KiB" in await scene.refuses(TASK, TASK + "\n<user" * 9_500), "fenced, it is longer"
    assert "secret" in await scene.refuses(TASK, f"{TASK}\n{TOKEN[:20]}\r{TOKEN[20:]}")
    assert len(scene.rights.digests) == 1


async def test_nothing_at_all_may_be_done_for_a_summary_C4() -> None:
    for tool in ("Read", "Edit", "Bash"):
        verdict = await none_at_all()(call(tool, file_path="x"))
        assert isinstance(verdict, Deny)
        assert "answer now, in text" in verdict.text
