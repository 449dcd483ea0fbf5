"""Memories of the same project that are kept elsewhere are told; those of others are not (P1, P2, P3)."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from memdir.doctor.around import Around
from memdir.doctor.checkup import examine
from memdir.doctor.finding import Finding
from memdir.doctor.layouts import beside, inside, shared
from memdir.paths import Places, resolve, slug
from memdir.paths.git import forget_roots
from memdir.project import open_project
from tests.doctor.broken import NOW

NOTE = "---\nname: Ports\ndescription: which\n---\nThe proxy listens on 8443.\n"
ID = "5c0a7d3e-0000-4000-8000-000000000001"


class Person:
    """Somebody with a home and a repository."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / "work"
        self.root.mkdir()
        subprocess.run(["git", "init", "-q", self.root], check=True)
        forget_roots()
        self.environment: Mapping[str, str] = {
            "HOME": str(home),
            "MEMDIR_HOME": str(home / ".memdir"),
            "PATH": os.environ["PATH"],
        }

    def places(self, layout: str = "memdir") -> Places:
        return resolve(self.root, environment=self.environment, layout=layout)

    def found(self) -> list[Finding]:
        memory = open_project(self.root, environment=self.environment).require_memory()
        memory.prepare()
        around = Around(places=self.places(), others=(self.places("claude"),))
        return examine(memory, now=NOW, around=around, checks=(beside, inside, shared))

    def store(self, folder: Path, *, layout: str, held_in: Path | None = None) -> Path:
        """A memory directory under the name of a folder, with a conversation that was held there."""
        base = self.places(layout).base / "projects" / slug(folder, layout=layout)
        (base / "memory").mkdir(parents=True)
        (base / "memory" / "ports.md").write_text(NOTE)
        if held_in is not None:
            line = {"type": "user", "cwd": str(held_in), "sessionId": ID}
            (base / f"{ID}.jsonl").write_text(json.dumps(line) + "\n")
        return base / "memory"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_the_store_of_the_other_layout_is_told_until_this_one_has_what_is_in_it_P1(person: Person) -> None:
    assert person.found() == []
    store = person.store(person.root, layout="claude")
    (finding,) = person.found()
    assert (finding.file, finding.kind, finding.fix) == (str(store), "layout", None)
    assert finding.reason == "a memory of this project is in there, and not here"
    own = person.places().memory
    assert own is not None
    (own / "other_name.md").write_text(NOTE.replace("name: Ports", "name: Which ports"))
    assert person.found() == []


def test_what_was_saved_under_the_name_of_a_worktree_that_is_gone_is_told_P3(person: Person) -> None:
    """https://github.com/anthropics/claude-code/issues/28037"""
    gone = person.root / ".claude" / "worktrees" / "fix"
    store = person.store(gone, layout="claude", held_in=gone)
    assert [one.file for one in person.found()] == [str(store)]


def test_a_store_whose_name_only_looks_like_this_project_is_nobodys_here_P3(person: Person) -> None:
    other = person.home / "work-tools"
    other.mkdir()
    person.store(other, layout="claude", held_in=other)
    person.store(person.home / "work-x", layout="claude")
    assert person.found() == []


def test_memories_at_the_ordinary_place_are_told_where_a_setting_names_another_P2(person: Person) -> None:
    """https://github.com/anthropics/claude-code/issues/46701"""
    store = person.store(person.root, layout="memdir")
    person.environment = {**person.environment, "MEMDIR_PATH_OVERRIDE": str(person.home / "mine")}
    assert [one.file for one in person.found()] == [str(store)]


def test_two_projects_with_one_name_are_told_P3(person: Person) -> None:
    memory = open_project(person.root, environment=person.environment).require_memory()
    memory.prepare()
    warning = "/a-b and /a/b have the same name in this layout, and so share one memory; give one its own"
    around = Around(places=replace(person.places(), warnings=(warning,)))
    (finding,) = examine(memory, now=NOW, around=around, checks=(shared,))
    assert (finding.file, finding.kind) == (str(memory.directory), "collision")
    assert finding.reason.endswith("share one memory")
    assert finding.cure == "give one its own"


def test_instructions_and_other_indexes_in_the_directory_are_told_P8(person: Person) -> None:
    memory = open_project(person.root, environment=person.environment).require_memory()
    memory.prepare()
    for name in (
        "CLAUDE.md",
        "deep/AGENTS.md",
        "old/MEMORY.md",
        "agents.md",
        "team/MEMORY.md",
        "logs/MEMORY.md",
    ):
        path: Path = memory.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NOTE)
    told = [(one.file, one.kind) for one in examine(memory, now=NOW, checks=(inside,))]
    assert told == [(name, "layout") for name in ("CLAUDE.md", "deep/AGENTS.md", "old/MEMORY.md")]
