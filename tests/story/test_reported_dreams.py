"""What consolidation did to people's memories elsewhere, as they reported it; and what it does here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from memdir.cli.slash import help_, obey
from memdir.dream.plan.provenance import origins_of
from memdir.memory import entrypoint
from memdir.model.messages import Request
from memdir.testing import Line, call, say
from tests.dream.night import Night
from tests.dream.untidy import Untidy, stage_of, untidy

pytestmark = pytest.mark.anyio


@pytest.fixture
def night(tmp_path: Path) -> Night:
    return Night(tmp_path.resolve())


def laid(night: Night, memories: Mapping[str, str], *, days: Mapping[str, int] | None = None) -> None:
    """These memories (name -> text), so many days old."""
    files = {
        f"{name}.md": f"---\nname: {name}\ndescription: about {name}\ntype: project\n"
        f"origin:\n  session: s-{name}\n  worker: extract\n---\n{text}\n"
        for name, text in memories.items()
    }
    files["MEMORY.md"] = "".join(f"- [{name}]({name}.md) — about {name}\n" for name in memories)
    ages = {f"{name}.md": night.now - timedelta(days=(days or {}).get(name, 30)) for name in memories}
    night.lay(Untidy(files=files, mtimes=ages))


def reading(*names: str) -> Callable[[Request], Line]:
    return lambda request: [call("Read", file_path=str(stage_of(request) / name)) for name in names]


def writing(**contents: str) -> Callable[[Request], Line]:
    """Files of the copy by their names, with `__` for the dot."""
    return lambda request: [
        call("Write", file_path=str(stage_of(request) / name.replace("__", ".")), content=content)
        for name, content in contents.items()
    ]


def merging(night: Night) -> list[Line]:
    """A model that puts `b` into `a`, as it should."""
    text = night.tree()["a.md"][0].decode() + "\nBackups run at 02:30 on host kiln.\n"
    reasons = '{"version": 1, "files": [{"file": "b.md", "into": "a.md", "why": "the same backups"}]}'
    return [reading("a.md", "b.md"), writing(a__md=text, b__md="", dream__json=reasons), say("Merged.")]


TWO = {"a": "Backups are kept for ninety days.", "b": "Backups run at 02:30 on host kiln."}
OTHERS = {f"other_{n}": f"The {n}th fact stands alone, and has nothing to do with it." for n in range(4)}


def test_b076_each_command_that_help_names_is_there_H1(
    night: Night, capsys: pytest.CaptureFixture[str]
) -> None:
    """https://github.com/anthropics/claude-code/issues/38461"""
    assert "/dream" in help_()
    obey(night.project, "/dream list", session="s")
    assert "there is no" not in capsys.readouterr().err


def test_b077_a_word_that_is_no_command_runs_none_that_is_like_it_H1(
    night: Night, capsys: pytest.CaptureFixture[str]
) -> None:
    """https://github.com/anthropics/claude-code/issues/42015"""
    obey(night.project, "/dream-big", session="s")
    assert "there is no /dream-big" in capsys.readouterr().err
    assert not night.lock.exists()


async def test_b078_most_of_a_store_does_not_go_however_good_the_reasons_are_D8(night: Night) -> None:
    """https://github.com/vellum-ai/vellum-assistant/pull/24045"""
    names = [f"note_{number}" for number in range(40)]
    laid(night, {name: f"Fact {number} of the project." for number, name in enumerate(names)})
    before, gone = night.tree(), [f"{name}.md" for name in names[:32]]
    told = ", ".join(
        f'{{"file": "{name}", "why": "decayed, nobody asked for it in months"}}' for name in gone
    )
    reasons = f'{{"version": 1, "files": [{told}]}}'
    empty = {name.replace(".", "__"): "" for name in gone}
    dreamed = await night.dream([reading(*gone), writing(**empty, dream__json=reasons), say("Tidied.")])
    assert dreamed.outcome == "held"
    assert "budget" in {one.code for one in dreamed.objections}
    assert night.tree() == before


async def test_b080_a_merge_is_on_record_and_can_be_taken_back_D8(night: Night) -> None:
    """https://github.com/samvallad33/vestige/issues/142"""
    laid(night, {**TWO, **OTHERS})
    before = night.tree()
    dreamed = await night.dream(merging(night))
    assert dreamed.objections == ()
    assert night.memory.history is not None
    change = night.memory.history.log(limit=1)[0]
    assert change.worker == "dream"
    assert {one.file: one.action for one in change.files} == {
        "a.md": "updated",
        "b.md": "deleted",
        "MEMORY.md": "updated",
    }
    await night.undo(change.id)
    assert night.tree() == before


async def test_b081_what_was_merged_is_recalled_at_once_D8(night: Night) -> None:
    """https://github.com/scrypster/muninndb/issues/779"""
    laid(night, {**TWO, **OTHERS})
    await night.dream(merging(night))
    with night.dreaming.asking(night.directory) as ask:
        assert "a.md" in ask("when do the backups run on host kiln?")


async def test_b082_a_merged_memory_says_where_all_of_it_came_from_E11(night: Night) -> None:
    """https://github.com/librefang/librefang/issues/3537"""
    laid(night, {**TWO, **OTHERS})
    await night.dream(merging(night))
    assert {one.session for one in origins_of(night.tree()["a.md"][0])} == {"s-a", "s-b"}


async def test_b083_what_was_merged_is_no_younger_than_it_was_M5(night: Night) -> None:
    """https://github.com/bytedance/deer-flow/pull/3996"""
    laid(night, {**TWO, **OTHERS}, days={"a": 400, "b": 365})
    newest = night.tree()["b.md"][1]
    await night.dream(merging(night))
    assert night.tree()["a.md"][1] == newest


async def test_b085_an_index_that_has_grown_beyond_what_is_loaded_is_brought_back_F7(night: Night) -> None:
    """https://github.com/openai/codex/issues/29818"""
    night.lay(untidy())
    assert entrypoint.load(night.tree()["MEMORY.md"][0].decode()).truncated
    await night.dream(None)
    assert not entrypoint.load(night.tree()["MEMORY.md"][0].decode()).truncated
