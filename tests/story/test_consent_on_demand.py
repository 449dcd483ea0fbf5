"""Instructions that a file brings later, and that wait for the person: told in the real runtime (I3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from memdir.agent.events import INSTRUCTIONS
from memdir.testing import call, say
from tests.story.test_reported_compaction import Stage

pytestmark = pytest.mark.anyio


async def test_what_a_nested_file_brings_from_outside_is_told_once_I3(tmp_path: Path) -> None:
    folder, outside = (tmp_path / "shop").resolve(), (tmp_path / "style.md").resolve()
    (folder / "api").mkdir(parents=True)
    outside.write_text("Say please.\n", "utf-8")
    (folder / "api" / "CLAUDE.md").write_text(f"See @{outside}\n", "utf-8")
    code = folder / "api" / "x.py"
    code.write_text("x = 1\n", "utf-8")
    stage = Stage(folder=folder, home=tmp_path)
    stage.environment["MEMDIR_FEATURES_EXTRACT"] = "off"
    stage.script(main=[call("Read", file_path=str(code)), say("Read."), say("Still there.")])
    async with stage.talk() as (_, conversation):
        await conversation.say("look at x")
        await conversation.say("and again")
    (told,) = stage.of(INSTRUCTIONS)
    assert f"{outside}, which is outside the project: it is left out" in str(told.fields["why"])
    assert "Say please." not in str(conversation.agent.messages)
