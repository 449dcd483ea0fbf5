"""Which conversations a project has had since (D1, P9)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from bench import dream as bench

from memdir import paths
from memdir.dream import sessions
from memdir.dream.sessions import count, folders, touched
from memdir.paths import Places

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths and links")


@pytest.fixture(autouse=True)
def _fresh_roots() -> Iterator[None]:
    paths.forget_roots()
    yield
    paths.forget_roots()


def made(folder: Path, at_ns: int = 1, *, name: str | None = None, cwd: Path | str | None = None) -> Path:
    """A transcript in that folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name or uuid4()}.jsonl"
    told = {} if cwd is None else {"cwd": str(cwd)}
    path.write_text(json.dumps({"type": "session", "version": 1, **told}) + "\n", "utf-8")
    os.utime(path, ns=(at_ns, at_ns))
    return path


# -- since -------------------------------------------------------------------------------------------------


def test_sessions_written_to_later_than_then_count_the_newest_first_D1(tmp_path: Path) -> None:
    old, same, new, newest = (made(tmp_path, at) for at in (99, 100, 101, 200))
    assert touched([tmp_path], since_ns=100, but=None) == (newest, new)
    assert touched([tmp_path], since_ns=0, but=None) == (newest, new, same, old)
    assert touched([tmp_path], since_ns=10**18, but=None) == ()
    assert count([tmp_path], since_ns=100, but=None) == 2


def test_the_current_session_is_left_out_in_any_case_of_letters_D1(tmp_path: Path) -> None:
    mine = made(tmp_path, name="0B7F4C1E-9D2A-4a57-8f6e-2f1f9a1d0c33")
    other = made(tmp_path)
    assert touched([tmp_path], since_ns=0, but=mine.stem.lower()) == (other,)
    assert touched([tmp_path], since_ns=0, but=mine.stem.upper()) == (other,)
    assert count([tmp_path], since_ns=0, but=mine.stem) == 1


def test_what_is_no_transcript_does_not_count_D1(tmp_path: Path) -> None:
    real = made(tmp_path, name=(name := str(uuid4())))
    for odd in (f"{name}.json", f"{name}x.jsonl", f"x{name}.jsonl", "agent-1a2b.jsonl", f"{name}.jsonl\n"):
        (tmp_path / odd).write_text("x")
    (tmp_path / f"{name}.jsonl.memdir-x.tmp").write_text("x")
    (tmp_path / f"{uuid4().hex}.jsonl").write_text("x")
    (tmp_path / f"{uuid4()}.jsonl").symlink_to(real)
    (tmp_path / f"{uuid4()}.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / f"{uuid4()}.jsonl").mkdir()
    os.mkfifo(tmp_path / f"{uuid4()}.jsonl")
    assert touched([tmp_path], since_ns=0, but=None) == (real,)


def test_a_session_that_went_on_elsewhere_counts_once_D1(tmp_path: Path) -> None:
    made(tmp_path / "a", 100, name=(name := str(uuid4())))
    later = made(tmp_path / "b", 200, name=name.upper())
    other = made(tmp_path / "b", 150)
    assert touched([tmp_path / "a", tmp_path / "b"], since_ns=0, but=None) == (later, other)
    assert count([tmp_path / "b", tmp_path / "a"], since_ns=0, but=None) == 2


def test_a_folder_that_is_not_there_has_no_sessions_D1(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert touched([tmp_path / "missing", tmp_path / "file"], since_ns=0, but=None) == ()
    assert touched([], since_ns=0, but=None) == ()


def test_transcripts_are_not_read_D1(tmp_path: Path) -> None:
    for at in range(1, 31):
        made(tmp_path, at)
    with bench.counted() as calls:
        assert count([tmp_path], since_ns=10, but=None) == 20
    assert calls == {"scandir": 1, "stat": 30}


# -- whose they are ----------------------------------------------------------------------------------------


def git(*words: str | Path, cwd: Path) -> None:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=cwd, check=True, capture_output=True, timeout=60)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with one commit."""
    root = (tmp_path / "work" / "shop").resolve()
    root.mkdir(parents=True)
    git("init", "-q", cwd=root)
    (root / "a.txt").write_text("a")
    git("add", ".", cwd=root)
    git("commit", "-qm", "one", cwd=root)
    return root


@pytest.fixture(params=["memdir", "claude"])
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def resolved(cwd: Path, layout: str, home: Path) -> Places:
    paths.forget_roots()
    return paths.resolve(cwd, environment={"HOME": str(home)}, layout=layout)


def held(here: Places, cwd: Path, *, told: Path | str | None = None) -> Path:
    """A conversation that was held in `cwd`; its transcript's folder. `told`: what the transcript says."""
    folder = here.base / "projects" / paths.slug(cwd, layout=here.layout)
    made(folder, cwd=told or cwd)
    return folder


def test_a_new_project_has_no_folders_P9(shop: Path, layout: str, tmp_path: Path) -> None:
    assert folders(resolved(shop, layout, tmp_path)) == ()


def test_root_worktrees_and_folders_below_are_one_project_P9(shop: Path, layout: str, tmp_path: Path) -> None:
    git("worktree", "add", "-q", tmp_path / "fix", cwd=shop)
    (shop / "src" / "deep").mkdir(parents=True)
    (tmp_path / "fix" / "docs").mkdir()
    here = resolved(shop, layout, tmp_path)
    ours = [
        held(here, cwd)
        for cwd in (shop, shop / "src", shop / "src" / "deep", tmp_path / "fix", tmp_path / "fix" / "docs")
    ]
    assert folders(here)[0] == ours[0]
    assert set(folders(here)) == set(ours)
    inside = resolved(tmp_path / "fix" / "docs", layout, tmp_path)
    assert inside.root == shop
    assert set(folders(inside)) == set(ours)


def test_a_folder_below_that_is_gone_is_still_ours_P9(shop: Path, layout: str, tmp_path: Path) -> None:
    here = resolved(shop, layout, tmp_path)
    gone = held(here, shop / "was_here")
    assert folders(here) == (gone,)


def test_other_projects_with_alike_names_are_not_ours_P9(shop: Path, layout: str, tmp_path: Path) -> None:
    here = resolved(shop, layout, tmp_path)
    nested = shop / "vendor" / "lib"
    for other in (shop.parent / "shop-old", shop.parent / "shop_2", nested, shop.parent / "sh", shop.parent):
        other.mkdir(parents=True, exist_ok=True)
        held(here, other)
    git("init", "-q", cwd=nested)
    paths.forget_roots()
    assert folders(here) == ()


def test_a_name_that_two_projects_share_is_nobodys_P9(shop: Path, tmp_path: Path) -> None:
    here = resolved(shop, "claude", tmp_path)
    (shop / "old").mkdir()
    (shop.parent / "shop-old").mkdir()
    ours, theirs = held(here, shop / "old"), held(here, shop.parent / "shop-old")
    assert ours == theirs
    assert folders(here) == ()
    own = resolved(shop / "old", "claude", tmp_path)
    assert folders(own) == (ours,), "but this conversation's own is where it is"


@pytest.mark.parametrize("told", ["", "shop", "/nowhere", "/tmp\0", 7, None, ["/"]])
def test_a_transcript_that_does_not_say_where_it_was_proves_nothing_P9(
    shop: Path, layout: str, tmp_path: Path, told: object
) -> None:
    here = resolved(shop, layout, tmp_path)
    folder = here.base / "projects" / paths.slug(shop / "src", layout=layout)
    folder.mkdir(parents=True)
    (folder / f"{uuid4()}.jsonl").write_text(json.dumps({"cwd": told}) + "\n")
    (folder / f"{uuid4()}.jsonl").write_bytes(b'\xff{"cwd": "')
    (folder / f"{uuid4()}.jsonl").mkdir()
    assert folders(here) == ()


def test_what_a_transcript_says_is_held_against_the_folder_it_is_in_P9(
    shop: Path, layout: str, tmp_path: Path
) -> None:
    """A conversation goes to other folders, and quotes what it likes."""
    here = resolved(shop, layout, tmp_path)
    other = shop.parent / "shop-src"
    other.mkdir()
    folder = held(here, other, told=shop)
    assert folder not in folders(here)
    ours = here.base / "projects" / paths.slug(shop / "src", layout=layout)
    made(ours, cwd=tmp_path)
    if layout == "memdir":  # in the other, two folders have this one name
        with next(ours.iterdir()).open("a") as file:
            file.write(json.dumps({"cwd": str(shop / "src")}) + "\n")
        assert folders(here) == (ours,)


def test_the_first_record_may_be_longer_than_what_is_read_P9(shop: Path, layout: str, tmp_path: Path) -> None:
    here = resolved(shop, layout, tmp_path)
    folder = held(here, shop / "src")
    record = {"type": "session", "cwd": str(shop / "src"), "prefix": "x" * 200_000}
    next(folder.iterdir()).write_text(json.dumps(record) + "\n")
    assert folders(here) == (folder,)


def test_without_git_a_folder_below_is_another_project_P3(layout: str, tmp_path: Path) -> None:
    root = tmp_path / "plain"
    (root / "below").mkdir(parents=True)
    here = resolved(root, layout, tmp_path)
    own, _ = held(here, root), held(here, root / "below")
    assert folders(here) == (own,)


def test_worktrees_of_a_bare_repository_are_one_project_P9(shop: Path, layout: str, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git("clone", "-q", "--bare", shop, bare, cwd=tmp_path)
    git("worktree", "add", "-q", tmp_path / "one", cwd=bare)
    git("worktree", "add", "-q", "-b", "two", tmp_path / "two", cwd=bare)
    here = resolved(tmp_path / "one", layout, tmp_path)
    ours = {held(here, tmp_path / name) for name in ("one", "two")}
    held(here, shop)
    assert set(folders(here)) == ours


def test_a_repository_that_claims_anothers_checkout_gets_nothing_P9(
    shop: Path, layout: str, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    git("init", "-q", cwd=victim)
    claim = shop / ".git" / "worktrees" / "victim"
    claim.mkdir(parents=True)
    (claim / "gitdir").write_text(f"{victim / '.git'}\n")
    (claim / "commondir").write_text("../..\n")
    here = resolved(shop, layout, tmp_path)
    held(here, victim)
    assert folders(here) == ()


def test_a_worktree_that_is_gone_is_nobodys_P9(shop: Path, layout: str, tmp_path: Path) -> None:
    git("worktree", "add", "-q", tmp_path / "fix", cwd=shop)
    here = resolved(shop, layout, tmp_path)
    held(here, tmp_path / "fix")
    assert len(folders(here)) == 1
    git("worktree", "remove", "--force", tmp_path / "fix", cwd=shop)
    paths.forget_roots()
    assert folders(here) == ()


def test_long_paths_are_known_by_their_beginning_P9(layout: str, tmp_path: Path) -> None:
    root = tmp_path / ("long" * 25) / ("name" * 25)
    (root / "src").mkdir(parents=True)
    git("init", "-q", cwd=root)
    here = resolved(root, layout, tmp_path)
    ours = held(here, root / "src")
    if layout == "claude":  # the other program's hash is another
        ours = ours.rename(ours.with_name(f"{ours.name[:200]}-k3j2"))
    found = folders(here)
    assert ours in found


def test_a_folder_that_is_a_link_is_not_followed_P9(shop: Path, layout: str, tmp_path: Path) -> None:
    here = resolved(shop, layout, tmp_path)
    elsewhere = tmp_path / "elsewhere"
    made(elsewhere, cwd=shop / "src")
    link = here.base / "projects" / paths.slug(shop / "src", layout=layout)
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    assert folders(here) == ()


def test_few_transcripts_are_asked_and_none_is_read_whole_P9(shop: Path, layout: str, tmp_path: Path) -> None:
    here = resolved(shop, layout, tmp_path)
    for _ in range(300):
        folder = held(here, shop / "src")
        held(here, shop)
    assert set(folders(here)) == {folder, here.transcripts}  # and git's files are remembered
    with bench.counted() as calls:
        folders(here)
    assert calls["open"] <= 4 * sessions._ASKED
