"""Where memories come from and how old they are, through a dream."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import yaml

from memdir.dream.files import Snapshot
from memdir.dream.plan import derive
from memdir.dream.plan.provenance import origins_of, settled
from memdir.dream.plan.reasons import Reasons, read
from memdir.memory import topic
from memdir.memory.topic import Origin

FLAT = """---
name: {name}
description: about {name}
type: {kind}
modified: "2026-01-01T00:00:00.000Z"
origin:
  session: s-{name}
  worker: extract
---

- fact {name}
"""
NESTED = """---
name: {name}
description: about {name}
metadata:
  node_type: memory
  type: {kind}
  originSessionId: s-{name}
---

- fact {name}
"""


def snap(files: Mapping[str, str], mtimes: Mapping[str, int] | None = None) -> Snapshot:
    known = {file: at for at, file in enumerate(sorted(files), 1)} if mtimes is None else mtimes
    return Snapshot(files={file: text.encode() for file, text in files.items()}, mtimes=known)


def after_dream(before: Snapshot, after: Mapping[str, str], reasons: Reasons | None = None) -> Snapshot:
    copy = snap(after, dict.fromkeys(after, 999))
    return settled(before, copy, derive(before, copy, reasons or Reasons()))


@pytest.mark.parametrize("shape", [FLAT, NESTED])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_that_others_went_into_carries_the_origins_of_all_E11(shape: str, end: str) -> None:
    texts = {f"{name}.md": shape.format(name=name, kind="project").replace("\n", end) for name in "abc"}
    before = snap(texts)
    made = after_dream(before, {"a.md": texts["a.md"].replace("s-a", "lie") + f"- fact b{end}- fact c{end}"})
    data = made.files["a.md"]
    assert [origin.session for origin in origins_of(data)] == ["s-a", "s-b", "s-c"]
    parsed = topic.parse(data, filename="a.md")
    assert parsed.origin is not None
    assert parsed.origin.session == "s-a"
    assert not parsed.problems
    header = yaml.safe_load(data.decode().split("---")[1])
    assert header.get("origins", header.get("metadata", {}).get("origins"))[0].startswith("session s-a")
    assert (b"\r\n" in data) == (end == "\r\n")
    assert made.mtimes == {"a.md": 3}


def test_settling_twice_is_settling_once_E11() -> None:
    texts = {f"{name}.md": FLAT.format(name=name, kind="project") for name in "abc"}
    before = snap(texts)
    once = after_dream(before, {"a.md": texts["a.md"] + "- fact b\n", "c.md": texts["c.md"]})
    plan = derive(before, once, Reasons())
    assert settled(before, once, plan) == once


def test_a_list_of_origins_goes_on_through_the_next_dream_E11() -> None:
    texts = {f"{name}.md": FLAT.format(name=name, kind="project") for name in "abc"}
    first = after_dream(snap(texts), {"a.md": texts["a.md"] + "- fact b\n", "c.md": texts["c.md"]})
    before = Snapshot(files=first.files, mtimes={"a.md": 1, "c.md": 2})
    new = texts["c.md"] + "- fact b\n- fact a\n"
    second = after_dream(before, {"c.md": new})
    assert {origin.session for origin in origins_of(second.files["c.md"])} == {"s-a", "s-b", "s-c"}
    assert (
        derive(before, second, Reasons()).given_up == 1
    )  # the description of a.md: the list is no line of it


def test_what_a_model_writes_about_origins_counts_for_nothing_E11() -> None:
    text = FLAT.format(name="a", kind="project")
    before = snap({"a.md": text, "b.md": "- fact b\n"})
    liar = text.replace("s-a", "evil").replace("- fact a", "- fact a\n- news")
    made = after_dream(
        before, {"a.md": liar, "b.md": "---\nname: b\norigin:\n  session: evil\n---\n- fact b\n- c\n"}
    )
    assert origins_of(made.files["a.md"]) == (Origin(session="s-a", worker="extract"),)
    assert origins_of(made.files["b.md"]) == ()


def test_a_memory_made_of_no_other_is_the_dreams_own_E11() -> None:
    made = after_dream(snap({}), {"n.md": "---\nname: n\n---\n- news\n", "m.md": "- more news\n"})
    assert origins_of(made.files["n.md"]) == (Origin(worker="dream"),)
    assert made.files["m.md"] == b"- more news\n"
    assert made.mtimes == {}


def test_a_file_without_a_header_gets_one_where_it_has_an_origin_to_carry_E11() -> None:
    before = snap({"a.md": FLAT.format(name="a", kind="project"), "b.md": "- fact b\n"})
    made = after_dream(before, {"b.md": "- fact b\n- fact a\n"})
    assert origins_of(made.files["b.md"]) == (Origin(session="s-a", worker="extract"),)
    assert topic.parse(made.files["b.md"], filename="b.md").body == "- fact b\n- fact a\n"


def test_a_file_the_plan_does_not_change_is_as_it_was_M5() -> None:
    text = FLAT.format(name="a", kind="project")
    made = after_dream(snap({"a.md": text}), {"a.md": text.replace("2026", "2027")})
    assert made.files == {"a.md": text.encode()}
    assert made.mtimes == {"a.md": 1}


def test_a_dream_makes_no_memory_younger_than_what_it_is_made_of_M5() -> None:
    before = snap(
        {"a.md": "- fact a\n", "b.md": "- fact b\n", "c.md": "- fact c\n"},
        {"a.md": 30, "b.md": 20, "c.md": 10},
    )
    assert after_dream(before, {"n.md": "- fact c\n- fact b\n", "a.md": "- fact a\n"}).mtimes == {
        "a.md": 30,
        "n.md": 20,
    }
    assert after_dream(before, {"c.md": "- fact c\n- fact b\n- fact a"}).mtimes == {"c.md": 30}
    assert (
        after_dream(before, {"z.md": "- fact c\n", "b.md": "- fact b\n", "a.md": "- fact a\n"}).mtimes["z.md"]
        == 10
    )
    assert "c.md" not in after_dream(before, {"c.md": "- fact c\n- news\n"}).mtimes


def test_a_line_in_other_words_is_nothing_new_M5() -> None:
    before = snap({"a.md": "- Yesterday we chose Postgres\n"}, {"a.md": 5})
    reasons = read(
        b'{"lines": [{"file": "a.md", "was": "Yesterday we chose Postgres",'
        b' "now": "On 2026-03-01 we chose Postgres"}]}'
    )
    assert after_dream(before, {"a.md": "- On 2026-03-01 we chose Postgres\n"}, reasons).mtimes == {"a.md": 5}


@pytest.mark.parametrize("kind", ["user", "feedback"])
@pytest.mark.parametrize("shape", [FLAT, NESTED])
def test_projects_do_not_turn_into_what_the_person_wants_E11(shape: str, kind: str) -> None:
    texts = {f"{name}.md": shape.format(name=name, kind="reference") for name in "ab"}
    lie = shape.format(name="n", kind=kind).replace("- fact n", "- fact a\n- fact b")
    assert (
        topic.parse(after_dream(snap(texts), {"n.md": lie}).files["n.md"], filename="n").type == "reference"
    )
    still = after_dream(snap(texts), {**texts, "n.md": lie})  # the lines stay where they were, too
    assert topic.parse(still.files["n.md"], filename="n").type == "reference"
    relabelled = texts | {"a.md": shape.format(name="a", kind=kind)}
    assert topic.parse(after_dream(snap(texts), relabelled).files["a.md"], filename="a").type == "reference"
    true = {"a.md": shape.format(name="a", kind=kind), "b.md": texts["b.md"]}
    assert topic.parse(after_dream(snap(true), {"n.md": lie}).files["n.md"], filename="n").type == kind


def test_what_is_no_memory_is_left_out_D8() -> None:
    made = after_dream(
        snap({"a.md": "- a"}), {"a.md": "- a", "logs/x.md": "- l", "dream.json": "{}", "MEMORY.md": "- x"}
    )
    assert sorted(made.files) == ["MEMORY.md", "a.md"]


@pytest.mark.parametrize("theirs", ["origins:\n  - the library\n", "origins: Oslo\n", "origins:\n"])
def test_a_key_of_that_name_that_is_somebody_elses_stays_and_is_there_once_E11_F1(theirs: str) -> None:
    texts = {f"{name}.md": FLAT.format(name=name, kind="project") for name in "ab"}
    texts["a.md"] = texts["a.md"].replace("origin:\n", f"{theirs}origin:\n")
    before = snap(texts)
    data = after_dream(before, {"a.md": texts["a.md"] + "- fact b\n"}).files["a.md"]
    assert data.decode().count("origins:") == 1
    assert theirs in data.decode()
