"""The prompts as they are sent, and the promises of `render`."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from memdir import prompts
from memdir.memory import topic
from tests.prompts.regenerate import GOLDEN, rendered


@pytest.mark.parametrize("name", prompts.names())
def test_a_prompt_reads_as_its_golden_file_I5(name: str) -> None:
    golden = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert rendered(name) == golden, "run `python -m tests.prompts.regenerate` and read the difference"


def test_no_golden_file_is_left_of_a_prompt_that_is_gone_I5() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == prompts.names()


def test_the_table_lists_every_prompt_with_its_slots_I5() -> None:
    table = (files(prompts) / "README.md").read_text(encoding="utf-8")
    rows = {row[1]: row[4] for row in (line.split("|") for line in table.splitlines()) if len(row) == 6}
    for name in prompts.names():
        slots = rows[f" `{name}` "]
        assert all(f"`{slot}`" in slots for slot in prompts.slots(name)), name


@pytest.mark.parametrize("slots", [{}, {"directory": "/m", "colour": "red"}])
def test_a_missing_or_unknown_slot_is_an_error_I5(slots: dict[str, str]) -> None:
    with pytest.raises(TypeError, match=r"missing directory|unknown colour"):
        prompts.render("memory", **slots)


def test_an_unknown_prompt_is_an_error_that_names_the_others_I5() -> None:
    with pytest.raises(LookupError, match="selector"):
        prompts.render("../secrets")


def test_what_is_put_into_a_slot_is_not_searched_for_slots_I5() -> None:
    assert "$path costs $5" in prompts.render("entrypoint", path="/m/MEMORY.md", text="$path costs $5")


@pytest.mark.parametrize("name", ["coding", "memory"])
def test_nothing_in_the_system_prompt_changes_by_the_day_I6(name: str) -> None:
    assert not {"today", "count", "manifest", "age"} & set(prompts.slots(name))


def test_the_memory_prompt_shows_a_topic_file_that_we_read_without_a_problem_F1() -> None:
    block = re.search(r"```markdown\n(.*?)```", prompts.render("memory", directory="/m"), re.DOTALL)
    assert block
    shown = topic.parse(re.sub(r"(?m)^ {3}", "", block[1]), filename="release_freeze.md")
    assert (shown.name, shown.type, shown.problems) == ("Release freeze around store reviews", "project", ())
    assert shown.description
    assert shown.description.endswith("2026-05-22")
