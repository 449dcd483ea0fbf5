"""What the fork of a dream may do: everything on the copy, nothing on the memories (D5, D8, A5, A8, C5)."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memdir.agent.permissions import Allow, Deny, Verdict
from memdir.dream.rights import LARGEST, MOST_LINES, Rights, for_dream
from memdir.model.messages import ToolUse
from memdir.testing import call, tree
from tests.cases import case_rows

ID = "0b9f6c1e-5f0c-4d5e-9a51-2f6f2a0c7d11"
READING = ("Read", "Glob", "Grep")


@dataclass
class Scene:
    """A home with memdir's state in it, two projects and a copy of the memories of one."""

    home: Path

    def __post_init__(self) -> None:
        self.home = Path(os.path.realpath(self.home))
        self.project = self.home / "shop"
        self.projects = self.home / ".memdir" / "projects"
        self.talks = self.projects / "-shop"
        self.memory = self.talks / "memory"
        self.other = self.projects / "-other"
        self.copy = self.home / ".memdir" / "dreams" / "-shop" / "stage-1" / "memory"
        self.notebook = self.copy / "dream.json"
        for path in (
            self.memory / "tabs.md",
            self.memory / "deep" / "b.md",
            self.copy / "tabs.md",
            self.copy / "MEMORY.md",
            self.copy / "logs" / "2026" / "05" / "2026-05-07.md",
            self.copy / "sessions" / "a.md",
            self.project / "src" / "app.py",
            self.project / ".env",
            self.talks / f"{ID}.jsonl",
            self.talks / ID / "session-memory" / "summary.md",
            self.talks / ID / "session-memory" / "odd.jsonl",
            self.talks / ID / "subagents" / "agent.jsonl",
            self.other / f"{ID}.jsonl",
            self.other / "memory" / "theirs.md",
            self.home / ".ssh" / "id_rsa",
            self.home / "notes.md",
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("pnpm\n")

    def rights(self, *, cwd: Path | None = None, shut: tuple[Path, ...] = ()) -> Rights:
        return Rights.of(
            self.copy,
            self.notebook,
            memory=self.memory,
            cwd=cwd or self.project,
            root=cwd or self.project,
            transcripts=[self.talks / f"{ID}.jsonl"],
            shut=shut,
        )

    def asks(self, tool: str, /, *, cwd: Path | None = None, **given: Any) -> Verdict:
        return self.rights(cwd=cwd).decide(call(tool, **given))

    def allows(self, tool: str, /, **given: Any) -> bool:
        verdict = self.asks(tool, **given)
        assert isinstance(verdict, Allow | Deny)
        return isinstance(verdict, Allow)

    def writes(self, path: object) -> bool:
        """Whether Write and Edit may; they are of one mind."""
        made = self.allows("Write", file_path=str(path), content="x\n")
        assert self.allows("Edit", file_path=str(path), old_string="a", new_string="b") == made
        return made

    def reads(self, path: Path | str, *, cwd: Path | None = None) -> bool:
        """Whether any tool that looks may look there."""
        asked = [
            call("Read", file_path=str(path)),
            call("Read", file_path=str(path), limit=1),
            call("Glob", pattern="*", path=str(path)),
            call("Grep", pattern="pnpm", path=str(path)),
            call("Grep", pattern="pnpm", path=str(path), glob="*.jsonl"),
            call("Bash", command=f"cat '{path}'"),
            call("Bash", command=f"grep -r pnpm '{path}'"),
        ]
        rights = self.rights(cwd=cwd)
        return any(isinstance(rights.decide(one), Allow) for one in asked)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "home")


# -- writing ---------------------------------------------------------------------------------------------


def test_topics_the_index_and_the_notebook_of_the_copy_are_written_D5(scene: Scene) -> None:
    for name in ("tabs.md", "new.md", "deep/new.md", "MEMORY.md", "dream.json"):
        assert scene.writes(scene.copy / name), name


@pytest.mark.parametrize(
    "name",
    [
        "logs/2026/05/2026-05-07.md",
        "Logs/x.md",
        "sessions/a.md",
        "SESSIONS/new.md",
        "team/x.md",
        "Team/MEMORY.md",
        "deep/MEMORY.md",
        "memory.md",
        ".x.md",
        ".git/config",
        ".consolidate-lock",
        "a.txt",
        "dream.json.bak",
        "deep/dream.json",
        "dream.json/x.md",
        "DREAM.JSON/x.md",
        "Dream.json",
        "CLAUDE.md",
        "deep/AGENTS.md",
    ],
)
def test_nothing_else_in_the_copy_is_D5_D8(scene: Scene, name: str) -> None:
    assert not scene.writes(scene.copy / name)


def _spellings(name: str) -> Iterator[str]:
    yield from (name.upper(), name.title(), name.swapcase(), f"{name} ", f"{name}.", f"{name}::$DATA")
    yield from (name.replace(".", "\uff0e"), name.replace("o", "\uff4f"), f"{name}\u200b", f"\u200b{name}")
    yield from (unicodedata.normalize("NFKD", name.replace("e", "é")), name.replace("r", "\u0280"))
    yield from (name.replace("d", "%64"), f"x\\{name}", f"x\u2215{name}")


def test_the_notebook_has_one_name_and_one_place_A8(scene: Scene) -> None:
    for name in _spellings("dream.json"):
        assert not scene.writes(f"{scene.copy}/{name}"), name
    for path in (scene.memory, scene.project, scene.talks, scene.copy.parent, scene.home / ".memdir"):
        assert not scene.writes(path / "dream.json"), path
    assert scene.writes(f"{scene.copy}/deep/../dream.json"), "which is that file"
    assert not scene.writes(f"{scene.copy}/../dream.json")


def test_a_link_or_a_folder_in_place_of_the_notebook_is_not_written_A8(scene: Scene) -> None:
    for target in (scene.memory / "tabs.md", scene.copy / "tabs.md", scene.home / "nothing"):
        scene.notebook.symlink_to(target)
        assert not scene.writes(scene.notebook) or target == scene.copy / "tabs.md"
        assert not scene.rights()._is_notebook(scene.notebook)
        scene.notebook.unlink()
    os.mkfifo(scene.notebook)
    assert not scene.writes(scene.notebook)
    scene.notebook.unlink()
    scene.notebook.mkdir()
    assert not scene.writes(scene.notebook)
    assert not scene.writes(scene.notebook / "x.md")


def test_nothing_outside_the_copy_is_written_D8(scene: Scene) -> None:
    outside = scene.home / "out"
    outside.mkdir()
    (scene.copy / "link").symlink_to(outside)
    (scene.copy / "link.md").symlink_to(scene.memory / "tabs.md")
    (scene.copy / "gone.md").symlink_to(outside / "new.md")
    (scene.copy / "mem").symlink_to(scene.memory)
    for path in (
        scene.memory / "tabs.md",
        scene.memory / "new.md",
        scene.memory / "MEMORY.md",
        scene.project / "a.md",
        scene.project / "CLAUDE.md",
        scene.home / "notes.md",
        scene.talks / f"{ID}.jsonl",
        scene.copy / "link" / "a.md",
        scene.copy / "link.md",
        scene.copy / "gone.md",
        scene.copy / "mem" / "tabs.md",
        scene.copy.parent / "x.md",
        f"{scene.copy}/../x.md",
        f"{scene.copy}/../../../../projects/-shop/memory/tabs.md",
        f"{scene.copy}/deep/../../memory/../x.md",
        f"{scene.copy}2/x.md",
        "",
        "a\0b.md",
        "\ud800.md",
        "tabs.md",
    ):
        assert not scene.writes(path), path


def test_a_write_of_the_memories_themselves_is_told_the_copy_D8(scene: Scene) -> None:
    for tool in ("Write", "Edit"):
        verdict = scene.asks(tool, file_path=str(scene.memory / "deep" / "b.md"), content="x")
        assert isinstance(verdict, Deny)
        assert str(scene.copy / "deep" / "b.md") in verdict.text


ROWS = [row for row in case_rows("paths.jsonl") if row["kind"] == "file_key"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_no_key_leads_a_write_out_of_the_copy_A8(row: dict[str, Any], scene: Scene) -> None:
    key = row["input"]
    if not isinstance(key, str):
        assert isinstance(scene.asks("Write", file_path=key, content="x"), Deny)
        return
    key = key.replace("{TEAM}", str(scene.copy))
    for path in (f"{scene.copy}/{key}", key):
        if scene.writes(path):
            real = Path(os.path.realpath(scene.project / path))
            assert real.is_relative_to(scene.copy)
            assert real.suffix == ".md"
    if row["expect"] == "accept" and not key.casefold().startswith(("logs/", "sessions/", "team/")):
        assert scene.writes(f"{scene.copy}/{key}")


def test_a_file_may_not_grow_without_end_D8(scene: Scene) -> None:
    path = scene.copy / "tabs.md"
    for target in (path, scene.notebook):
        assert not scene.allows("Write", file_path=str(target), content="x" * (LARGEST + 1))
    path.write_text("e" * 10_000)
    twice = {"file_path": str(path), "old_string": "e", "new_string": "e" * 40, "replace_all": True}
    assert not scene.allows("Edit", **twice)
    assert scene.allows("Edit", **{**twice, "replace_all": False})
    path.write_bytes(("e" * 10_000).encode("utf-16"))
    assert not scene.allows("Edit", **twice)
    path.write_text("e" * (LARGEST + 9))
    assert scene.allows("Edit", file_path=str(path), old_string="eee", new_string="e"), "it may shrink"


# -- reading ---------------------------------------------------------------------------------------------


def test_the_copy_and_the_project_are_read_D5(scene: Scene) -> None:
    for path in ("tabs.md", "MEMORY.md", "logs/2026/05/2026-05-07.md", "sessions/a.md"):
        assert scene.allows("Read", file_path=str(scene.copy / path))
    assert scene.allows("Read", file_path="src/app.py")
    for folder in (scene.copy, scene.project, scene.copy / "logs"):
        assert scene.allows("Grep", pattern="x", path=str(folder))
        assert scene.allows("Glob", pattern="**/*", path=str(folder))
        assert scene.allows("Bash", command=f"ls -la {folder}; grep -rn description: {folder} | head -3")
    assert scene.allows("Grep", pattern="x")
    assert scene.allows("Bash", command=f"cd {scene.copy} && cat *.md")


def test_the_memories_themselves_are_not_read_and_the_copy_is_named_D8(scene: Scene) -> None:
    (scene.copy / "mem").symlink_to(scene.memory)
    (scene.project / "mem").symlink_to(scene.memory)
    (scene.project / "tabs.md").symlink_to(scene.memory / "tabs.md")
    for path in (
        scene.memory,
        scene.memory / "tabs.md",
        scene.memory / "new.md",
        scene.copy / "mem" / "tabs.md",
        scene.project / "mem",
        scene.project / "mem" / "tabs.md",
        scene.project / "tabs.md",
        scene.talks / "memory" / ".." / "memory" / "tabs.md",
    ):
        assert not scene.reads(path), path
    verdict = scene.asks("Read", file_path=str(scene.memory / "deep" / "b.md"))
    assert isinstance(verdict, Deny)
    assert str(scene.copy / "deep" / "b.md") in verdict.text
    for command in (f"cat {scene.memory}/*.md", f"cat {scene.memory}/t?bs.md", f"git -C {scene.memory} log"):
        assert not scene.allows("Bash", command=command)


def test_a_wide_working_folder_opens_neither_memories_nor_conversations_D5_C5(scene: Scene) -> None:
    """Somebody works in their home, where memdir's own folder is."""
    cwd = scene.home
    kept = [scene.memory / "tabs.md", scene.talks / ID / "session-memory" / "summary.md", scene.projects]
    kept += [scene.other, scene.other / f"{ID}.jsonl", scene.other / "memory" / "theirs.md"]
    for path in kept:
        assert not scene.reads(path, cwd=cwd), path
        assert not scene.reads(path), path
    assert scene.reads(scene.home / "notes.md", cwd=cwd)
    for command in (
        "grep -r pnpm .",
        "rg -uuu pnpm",
        f"grep -r pnpm {scene.home}",
        "cat .memdir/projects/*/*.jsonl",
        "cat .memdir/projects/-*/*/*.md",
    ):
        assert not scene.allows("Bash", cwd=cwd, command=command), command
    for tool in ("Grep", "Glob"):
        assert not scene.allows(tool, cwd=cwd, pattern="pnpm")
        assert not scene.allows(tool, cwd=cwd, pattern="pnpm", path=str(scene.home / ".memdir"))
        assert scene.allows(tool, cwd=cwd, pattern="pnpm", path=str(scene.project))


def test_what_else_is_shut_is_not_read_D8(scene: Scene) -> None:
    state = scene.home / ".memdir"
    rights = scene.rights(cwd=scene.home, shut=(state,))
    for path in (state / "trash" / "x.md", scene.copy.parent / "x.md", state / "dreams" / "-other" / "x.md"):
        assert isinstance(rights.decide(call("Read", file_path=str(path))), Deny)
    assert isinstance(rights.decide(call("Read", file_path=str(scene.copy / "tabs.md"))), Allow)
    assert isinstance(rights.decide(call("Read", file_path=str(scene.home / "notes.md"))), Allow)


def test_credentials_are_not_read_E10(scene: Scene) -> None:
    (scene.copy / "key.md").symlink_to(scene.home / ".ssh" / "id_rsa")
    for path in (scene.project / ".env", scene.copy / ".env", scene.copy / "key.md", "~/.ssh/id_rsa"):
        assert not scene.reads(path), path


def test_a_working_folder_that_is_the_memory_opens_nothing_D8(scene: Scene) -> None:
    for cwd in (scene.memory, scene.memory / "deep"):
        assert not scene.reads(scene.memory / "tabs.md", cwd=cwd)
        assert not scene.reads(scene.memory / "deep" / "b.md", cwd=cwd)
        assert scene.reads(scene.copy / "tabs.md", cwd=cwd)


def test_the_root_of_the_machine_is_nobodys_working_folder_A5(scene: Scene) -> None:
    assert not scene.reads("/etc/hosts", cwd=Path("/"))
    assert scene.reads(scene.copy / "tabs.md", cwd=Path("/"))


# -- conversations ---------------------------------------------------------------------------------------


def test_a_conversation_is_searched_for_a_word_and_read_in_small_pieces_D5(scene: Scene) -> None:
    talk = str(scene.talks / f"{ID}.jsonl")
    assert scene.allows("Grep", pattern="pnpm", path=talk)
    assert scene.allows("Grep", pattern="pnpm|yarn", path=str(scene.talks), glob="*.jsonl")
    assert scene.allows("Grep", pattern="冻结", path=talk)
    assert scene.allows("Grep", pattern=r"\"origin\":\"person\".*freeze", path=talk, output_mode="content")
    assert scene.allows("Read", file_path=talk, offset=9, limit=MOST_LINES)
    assert scene.allows("Read", file_path=str(scene.talks / ID / "subagents" / "agent.jsonl"), limit=1)
    for given in ({}, {"limit": MOST_LINES + 1}, {"offset": 3}, {"limit": 0}, {"limit": "9"}):
        assert not scene.allows("Read", file_path=talk, **given)


@pytest.mark.parametrize("pattern", ["", ".", ".*", "a", "^", r"\w+", r"[a-z]{3}", "x|pnpm|", "^.*$", "{", 7])
def test_a_pattern_that_fits_anything_is_no_search_D5(scene: Scene, pattern: object) -> None:
    talk = scene.talks / f"{ID}.jsonl"
    assert not scene.allows("Grep", pattern=pattern, path=str(talk))
    assert not scene.allows("Grep", pattern=pattern, path=str(scene.talks), glob="*.jsonl")


@pytest.mark.parametrize(
    "glob",
    [None, "*", "**", "*.md", "!*.jsonl", "*.{jsonl,md}", "*.jsonl*", "../*.jsonl", "*/*/*.md", "*.json[lm]"],
)
def test_a_folder_of_conversations_is_searched_in_these_alone_D5(scene: Scene, glob: str | None) -> None:
    given = {} if glob is None else {"glob": glob}
    assert not scene.allows("Grep", pattern="pnpm", path=str(scene.talks), **given)


def test_conversations_are_neither_listed_nor_run_over_D5(scene: Scene) -> None:
    for command in ("ls", "cat", "head -1", "grep -r pnpm", "wc -l", "find", "jq ."):
        for path in (scene.talks, scene.talks / f"{ID}.jsonl", f"{scene.talks}/*.jsonl", f"{scene.talks}/*"):
            assert not scene.allows("Bash", command=f"{command} {path}"), (command, path)
    assert not scene.allows("Glob", pattern="*", path=str(scene.talks))


def test_what_sessions_noted_for_themselves_is_not_read_C5(scene: Scene) -> None:
    for path in (
        scene.talks / ID,
        scene.talks / ID / "session-memory",
        scene.talks / ID / "session-memory" / "summary.md",
        scene.talks / ID / "session-memory" / "odd.jsonl",
        scene.talks / ID / "Session-Memory" / "summary.md",
    ):
        assert not scene.reads(path), path


def test_no_link_among_conversations_leads_anywhere_else_A8(scene: Scene) -> None:
    fifo = scene.talks / "pipe.jsonl"
    os.mkfifo(fifo)
    links = {"a": scene.home / "notes.md", "b": scene.memory / "tabs.md", "c": scene.other / f"{ID}.jsonl"}
    links |= {
        "d": scene.talks / ID / "session-memory" / "summary.md",
        "e": scene.talks,
        "f": scene.home / "no",
    }
    for name, target in links.items():
        (scene.talks / f"{name}.jsonl").symlink_to(target)
        assert not scene.allows("Read", file_path=str(scene.talks / f"{name}.jsonl"), limit=1), name
    for name in [name for name in links if name != "e"]:
        assert not scene.allows("Grep", pattern="pnpm", path=str(scene.talks / f"{name}.jsonl")), name
    assert not scene.reads(fifo)
    (scene.talks / "folder.jsonl").mkdir()
    assert not scene.reads(scene.talks / "folder.jsonl")


# -- the rest --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["Task", "WebFetch", "", "bash", "NotebookEdit"])
def test_no_other_tool_is_there_A5(scene: Scene, tool: str) -> None:
    assert not scene.allows(tool, file_path=str(scene.copy / "tabs.md"))


@pytest.mark.parametrize(
    "command",
    ["rm -r {}", "echo x > {}/tabs.md", "touch {}/x", "sed -i s/a/b/ {}/tabs.md", "curl example.org", ""],
)
def test_bash_only_reads_A6(scene: Scene, command: str) -> None:
    assert not scene.allows("Bash", command=command.format(scene.copy))


@pytest.mark.anyio
async def test_deciding_changes_nothing_and_says_nothing_of_a_call_to_the_log_H4(scene: Scene) -> None:
    before = tree(scene.home)
    permit = for_dream(
        scene.copy,
        scene.notebook,
        memory_dir=scene.memory,
        cwd=scene.project,
        root=scene.project,
        transcripts=[scene.talks],
    )
    asked: list[ToolUse] = [
        *(call(tool, file_path="/etc/canary", path="/etc/canary", pattern="canary") for tool in READING),
        call("Write", file_path="/etc/canary.md", content="canary"),
        call("Bash", command="cat /etc/canary"),
    ]
    for one in asked:
        verdict = await permit(one)
        assert isinstance(verdict, Deny)
        assert "canary" not in verdict.reason
    assert tree(scene.home) == before
