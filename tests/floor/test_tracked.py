"""Whether a file came with a repository, read from git's index and told as git itself would tell it (P6)."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memdir import paths
from memdir.paths import doubt
from memdir.paths.tracked import _names
from tests.cases import REPO

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="git's command line, and owners of files")
LOCAL = ".memdir/settings.local.json"


@pytest.fixture(autouse=True)
def _fresh_roots() -> Iterator[None]:
    paths.forget_roots()
    yield
    paths.forget_roots()


def git(*arguments: str, cwd: Path) -> bytes:
    name = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    return subprocess.run(["git", *name, *arguments], cwd=cwd, check=True, capture_output=True).stdout


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    return path


def start(folder: Path, *options: str) -> Path:
    folder.mkdir(exist_ok=True)
    git("init", "-q", *options, cwd=folder)
    put(folder / "src" / "a.py")
    put(folder / "out" / "b.py")
    git("add", ".", cwd=folder)
    git("commit", "-qm", "one", cwd=folder)
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return start(tmp_path / "repo")


def judged(root: Path) -> str | None:
    paths.forget_roots()
    return doubt(root / LOCAL, root=root)


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_the_index_is_read_as_git_reads_it_P6(tmp_path: Path, kind: str) -> None:
    repo = start(tmp_path / "repo", f"--object-format={kind}")
    for length in range(1, 20):
        put(repo / ("x" * length))
    for name in ("é", "a b", "deep/" * 30 + "x", "new\nline"):
        put(repo / name)
    put(repo / os.fsdecode(b"\xff"))
    git("add", ".", cwd=repo)
    assert (repo / ".git" / "index").read_bytes()[:8] == b"DIRC\0\0\0\2"
    _check_names(repo)
    put(repo / "later")
    git("add", "-N", "later", cwd=repo)  # which needs format 3
    assert (repo / ".git" / "index").read_bytes()[:8] == b"DIRC\0\0\0\3"
    _check_names(repo)


def _check_names(repo: Path) -> None:
    listed = git("ls-files", "-z", cwd=repo).split(b"\0")[:-1]
    assert [os.fsencode(name) for name in _names((repo / ".git" / "index").read_bytes())] == listed


def test_a_name_longer_than_its_length_field_is_read_P6(repo: Path) -> None:
    blob = git("hash-object", "-w", "src/a.py", cwd=repo).decode().strip()
    name = "/".join(["y" * 200] * 30)
    git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", cwd=repo)
    _check_names(repo)


def test_tracked_and_untracked_are_told_apart_P6(repo: Path) -> None:
    put(repo / LOCAL)
    assert judged(repo) is None
    git("add", LOCAL, cwd=repo)
    assert judged(repo) == f"the repository {repo} tracks it"
    git("rm", "-q", "--cached", LOCAL, cwd=repo)
    assert judged(repo) is None


def test_every_repository_around_the_file_is_asked_P6(repo: Path) -> None:
    inner = repo / "inner"
    put(inner / LOCAL)
    git("add", ".", cwd=repo)
    git("init", "-q", cwd=inner)
    assert judged(inner) == f"the repository {repo} tracks it"
    git("rm", "-q", "--cached", f"inner/{LOCAL}", cwd=repo)
    assert judged(inner) is None


def test_a_worktree_in_the_place_of_the_folder_hides_nothing_P6(tmp_path: Path) -> None:
    other = start(tmp_path / "other")
    put(other / "settings.local.json")
    git("add", ".", cwd=other)
    git("commit", "-qm", "two", cwd=other)
    git("worktree", "add", "-q", ".memdir", "-b", "theirs", cwd=other)
    assert judged(other) == f"the repository {other / '.memdir'} tracks it"


@pytest.mark.parametrize("spelled", [".MEMDIR/Settings.Local.json", ".mem\u200cdir/settings.local.json"])
def test_what_some_disk_takes_for_the_same_name_counts_P6(repo: Path, spelled: str) -> None:
    put(repo / spelled)
    git("add", ".", cwd=repo)
    put(repo / LOCAL)
    assert judged(repo) == f"the repository {repo} tracks it"


@pytest.mark.parametrize(
    "commands",
    [
        ["update-index --index-version 4"],
        ["update-index --split-index"],
        ["sparse-checkout init --cone --sparse-index", "sparse-checkout set src"],
    ],
    ids=["format-4", "split", "sparse"],
)
def test_an_index_of_another_kind_speaks_against_the_file_P6(repo: Path, commands: list[str]) -> None:
    put(repo / LOCAL)
    for command in commands:
        git(*command.split(), cwd=repo)
    assert "that is not read here" in (judged(repo) or ""), "and the person is told why"


def test_a_damaged_index_speaks_against_the_file_P6(repo: Path) -> None:
    put(repo / LOCAL)
    index = repo / ".git" / "index"
    whole = index.read_bytes()
    for cut in range(0, len(whole), 7):
        index.write_bytes(whole[:cut])
        assert judged(repo), cut
    index.write_bytes(whole[:-20] + bytes(20))
    assert judged(repo), "without a checksum"
    for at in range(8, len(whole) - 20):
        body = whole[:at] + b"\xff" + whole[at + 1 : -20]
        index.write_bytes(body + hashlib.sha1(body).digest())
        judged(repo)  # some of these are sound; none may fail otherwise
    for text in (b"DIRC", b"JUNK\0\0\0\2\0\0\0\0", b"DIRC\0\0\0\2\xff\xff\xff\xff"):
        index.write_bytes(text + hashlib.sha1(text).digest())
        assert judged(repo), text


def test_what_is_in_no_repository_may_come_from_anywhere_P6(tmp_path: Path) -> None:
    put(tmp_path / LOCAL)
    assert judged(tmp_path)
    (tmp_path / ".git").mkdir()
    assert judged(tmp_path), "an empty one is none"
    for name in ("HEAD", "objects/x", "refs/x"):
        put(tmp_path / name)
    assert judged(tmp_path), "nor is the shape of a bare one"
    (tmp_path / ".git").rmdir()
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert judged(tmp_path), "nor a pointer to nothing"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("theirs", [LOCAL, ".memdir", ".git", "."])
def test_what_belongs_to_somebody_else_is_not_the_persons_word_P6(repo: Path, theirs: str) -> None:
    put(repo / LOCAL)
    assert judged(repo) is None
    os.chown(repo / theirs, 4711, 4711)
    assert judged(repo)


@pytest.mark.parametrize("room", ["fs", "paths", "settings"])
def test_the_floor_starts_no_process_P6(room: str) -> None:
    for path in (REPO / "src" / "memdir" / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {"subprocess", "multiprocessing", "anyio"}.intersection(names), path
            assert not (isinstance(node, ast.Attribute) and node.attr in {"system", "popen", "execv"}), path
