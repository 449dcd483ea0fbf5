"""Where memory lives, and where it must never live (P1-P9)."""

from __future__ import annotations

import base64
import json
import os
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir import paths
from memdir.errors import UnsafePath
from memdir.paths import (
    Kind,
    Places,
    canonical_root,
    check_base_directory,
    check_memory_directory,
    classify,
    slug,
)
from tests.cases import case_rows

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths and links")

SESSION = "0b7f4c1e-9d2a-4a57-8f6e-2f1f9a1d0c33"


@pytest.fixture(autouse=True)
def _fresh_roots() -> Iterator[None]:
    paths.forget_roots()
    yield
    paths.forget_roots()


# -- what may be a memory directory (P5, P6) ------------------------------------------------------------


@pytest.fixture
def spots(tmp_path: Path) -> dict[str, Path]:
    spots = {"ROOT": tmp_path, "MEM": tmp_path / "w" / "mem", "HOME": tmp_path / "home" / "u"}
    for spot in spots.values():
        spot.mkdir(parents=True, exist_ok=True)
    return spots


def _fill(value: Any, spots: dict[str, Path]) -> Any:
    if isinstance(value, list):
        return [_fill(item, spots) for item in value]
    if isinstance(value, str):
        for token, spot in spots.items():
            value = value.replace("{" + token + "}", str(spot))
    return value


def _set_up(row: dict[str, Any], spots: dict[str, Path]) -> None:
    for step in row.get("setup", ()):
        path = Path(_fill(step["path"], spots))
        match step["op"]:
            case "symlink":
                path.symlink_to(_fill(step["target"], spots))
            case "write":
                path.write_text(step["text"])
            case "mkdir":
                path.mkdir(parents=True)
            case other:
                pytest.fail(f"unknown set-up {other}")


DIRECTORIES = [row for row in case_rows("paths.jsonl") if row["kind"] == "dir_override"]


@pytest.mark.parametrize("row", DIRECTORIES, ids=lambda row: row["id"])
def test_a_memory_directory_is_taken_or_refused_P5(row: dict[str, Any], spots: dict[str, Path]) -> None:
    _set_up(row, spots)
    raw = (
        os.fsdecode(base64.b64decode(row["input_b64"])) if "input_b64" in row else _fill(row["input"], spots)
    )
    platform = row["platform"] if row["platform"] == "windows" else sys.platform
    if row["expect"] == "accept":
        got = check_memory_directory(raw, source=row["scope"], home=spots["HOME"], platform=platform)
        assert got.is_absolute()
        if "normalised" in row:
            assert str(got) == _fill(row["normalised"], spots)
    else:
        with pytest.raises(UnsafePath) as refused:
            check_memory_directory(raw, source=row["scope"], home=spots["HOME"], platform=platform)
        assert refused.value.source == row["scope"]
        assert row["scope"] in str(refused.value)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "  ",
        {},
        3.5,
        b"/srv/mem",
        "~u/mem",
        "~root/.ssh",
        "~\\mem",
        "${HOME}/mem",
        "/srv/$USER/mem",
        "%APPDATA%\\mem",
        "C:mem",
        "file:///srv/mem",
        "/ETC",
        "/etc/cron.d",
        "/usr",
        "/usr/bin/x",
        "/var",
        "/tmp",
        "/root",
        "/sys/kernel/x",
        "/proc/1/cwd",
        "/home/somebody",
        "/Users/somebody",
        "/run/user/1000/mem",
        "///srv/mem",
        "/srv/mem\u202e",
        "/srv/mem\u200b",
        "/srv/" + "x" * 256,
        "/srv/.git/hooks",
        "~/.config",
        "~/.config/autostart/x",
        "~/.local/bin",
        "~/.SSH/x",
        "~/.gnupg",
        "~/./",
        "~//",
        "~/x/..",
    ],
)
def test_more_of_the_same_kinds_are_refused_P5(raw: object, spots: dict[str, Path]) -> None:
    with pytest.raises(UnsafePath):
        check_memory_directory(raw, source="user", home=spots["HOME"])


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        ("{ROOT}/w/mem/", "{ROOT}/w/mem"),
        ("{ROOT}/w/./mem", "{ROOT}/w/mem"),
        ("{ROOT}/w/mem/.", "{ROOT}/w/mem"),
        ("{ROOT}/w/x/../mem", "{ROOT}/w/mem"),
        ("~/notes/mem", "{HOME}/notes/mem"),
        ("~/.config/memdir/memory", "{HOME}/.config/memdir/memory"),
        ("~/.local/share/memdir", "{HOME}/.local/share/memdir"),
        ("{ROOT}/cafe\u0301", "{ROOT}/caf\u00e9"),
        ("{ROOT}/100%", "{ROOT}/100%"),
        ("{ROOT}/记忆", "{ROOT}/记忆"),
        ("{ROOT}/..hidden/...x", "{ROOT}/..hidden/...x"),
    ],
)
def test_good_directories_come_back_in_one_form_P5(raw: str, wanted: str, spots: dict[str, Path]) -> None:
    got = check_memory_directory(_fill(raw, spots), source="user", home=spots["HOME"])
    assert str(got) == _fill(wanted, spots)


RELATIVE_OR_BARE = ["C:\\", "c:/", "C:", "C:mem", "\\mem", "/srv/mem", "mem", "C:\\a\\..", "C:\\..\\.."]
NETWORK_OR_DEVICE = ["\\\\s\\x\\m", "//?/C:/m", "\\/s/x/m", "D:\\con", "D:\\a\\NUL.txt", "D:\\COM¹"]
BAD_NAMES = ["D:\\a.", "D:\\a \\b", "D:\\a:b", "D:\\a*", "D:\\%TEMP%"]
TAKEN = [
    "C:\\Windows\\x",
    "C:\\Program Files\\x",
    "C:\\Users",
    "C:\\Users\\me",
    "C:/Users/me/.ssh",
    "~",
    "~\\..",
]


@pytest.mark.parametrize("raw", [*RELATIVE_OR_BARE, *NETWORK_OR_DEVICE, *BAD_NAMES, *TAKEN])
def test_windows_paths_are_judged_as_text_P5(raw: str) -> None:
    home = PureWindowsPath("C:\\Users\\me")
    with pytest.raises(UnsafePath):
        check_memory_directory(raw, source="user", home=Path(str(home)), platform="win32")


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        ("d:/a/./b//c/", "D:\\a\\b\\c"),
        ("~\\mem", "C:\\Users\\me\\mem"),
        ("~/mem", "C:\\Users\\me\\mem"),
        ("C:\\Users\\me\\mem", "C:\\Users\\me\\mem"),
    ],
)
def test_good_windows_paths_come_back_in_one_form_P5(raw: str, wanted: str) -> None:
    got = check_memory_directory(raw, source="cli", home=Path("C:\\Users\\me"), platform="win32")
    assert (type(got), str(got)) == (PureWindowsPath, wanted)


@pytest.mark.parametrize("source", ["project", "project-nested", "somebody", ""])
def test_a_project_never_moves_the_memory_P6(source: str, spots: dict[str, Path]) -> None:
    with pytest.raises(UnsafePath, match="may move the memory directory"):
        check_memory_directory(str(spots["MEM"]), source=source, home=spots["HOME"])


OBEYED = [
    "~/.claude",
    "~/.claude/",
    "~/.CLAUDE",
    "~/.claude/projects",
    "~/.claude/projects/-srv-app",
    "~/.claude/skills/x",
    "~/.claude/projects/x/memory/.git",
    "~/.memdir",
    "~/.memdir/projects",
    "~/app/.vscode",
    "~/app/.github/workflows",
    "~/app/.husky",
    "~/.config/Code/User",
    "~/.config/nvim/after",
    "~/.local/share/applications",
    "~/Library/LaunchAgents",
    "~/Library/Application Support/Code/User",
    "~/Library",
    "~/.cargo",
    "~/.vim/plugin",
    "~/snap/code/x",
    "/usr/local/bin",
    "/usr/local/lib/x",
    "/opt/homebrew/bin",
    "/var/spool/cron",
    "/private/var/spool/x",
    "/private/tmp",
    "/private/etc/x",
    "/var/at/tabs",
    "/Library/LaunchDaemons",
]


@pytest.mark.parametrize("raw", OBEYED)
def test_a_folder_that_other_programs_obey_holds_no_memory_P5(raw: str, spots: dict[str, Path]) -> None:
    with pytest.raises(UnsafePath):
        check_memory_directory(raw, source="local", home=spots["HOME"])


@pytest.mark.parametrize(
    "inside",
    [
        ".claude/projects/-srv-app/memory",
        ".claude/projects/-srv-app/memory/team",
        ".claude/agent-memory/reviewer",
        ".memdir/projects/-srv-app/memory",
        ".memdir/notes",
        ".config/memdir/x",
        "Library/Application Support/memdir",
        "Library/Mobile Documents/notes",
        ".notes",
    ],
)
def test_where_memory_is_kept_in_such_a_folder_is_fine_P5(inside: str, spots: dict[str, Path]) -> None:
    got = check_memory_directory(f"~/{inside}", source="user", home=spots["HOME"])
    assert got == spots["HOME"] / inside


def test_a_base_directory_is_judged_by_where_memory_will_be_P1(spots: dict[str, Path]) -> None:
    for good in (".claude", ".memdir", "conf/.claude", "notes"):
        assert check_base_directory(f"~/{good}", source="env", home=spots["HOME"]) == spots["HOME"] / good
    for bad in ("~", "/etc", "~/.ssh", "~/.vscode", "~/.claude/skills", "~/.config/Code"):
        with pytest.raises(UnsafePath):
            check_base_directory(bad, source="env", home=spots["HOME"])


def test_a_folder_that_windows_programs_obey_holds_no_memory_P5() -> None:
    home = Path("C:\\Users\\me")
    for bad in (
        "~\\AppData\\Roaming\\Code\\User",
        "~\\AppData",
        "~\\.VSCode",
        "~\\.claude",
        "D:\\x\\Start Menu\\x",
        "~\\Documents\\PowerShell",
    ):
        with pytest.raises(UnsafePath):
            check_memory_directory(bad, source="user", home=home, platform="win32")
    for good in ("~\\AppData\\Local\\memdir", "~\\.claude\\projects\\x\\memory"):
        assert check_memory_directory(good, source="user", home=home, platform="win32")


def test_a_link_to_a_system_folder_is_the_system_folder_P5(tmp_path: Path) -> None:
    for number, target in enumerate(
        ["/etc", "/usr", "/", "/proc/self", str(tmp_path.parent.parent / "none")]
    ):
        link = tmp_path / f"link{number}"
        link.symlink_to(target)
        with pytest.raises(UnsafePath):
            check_memory_directory(str(link), source="user")
        if target not in {"/", "/usr"}:
            with pytest.raises(UnsafePath):
                check_memory_directory(str(link / "mem"), source="user")


# -- which repository (P3, P4) --------------------------------------------------------------------------


def git(*arguments: str, cwd: Path) -> None:
    name = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *name, *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """main/ with two worktrees, a submodule and a nested repository; bare ones with worktrees; two whose
    repository is kept apart; folders in the shape of a bare one."""
    top = tmp_path_factory.mktemp("repositories")
    main = top / "main"
    main.mkdir()
    git("init", "-q", cwd=main)
    (main / "src" / "deep").mkdir(parents=True)
    (main / "src" / "a.py").write_text("")
    git("add", ".", cwd=main)
    git("commit", "-qm", "one", cwd=main)
    git("clone", "-q", "--bare", "main", "bare.git", cwd=top)
    git("worktree", "add", "-q", "../wt", cwd=main)
    git("worktree", "add", "-q", "inner-wt", cwd=main)
    git("worktree", "add", "-q", "../bw", cwd=top / "bare.git")
    git("worktree", "add", "-q", "inside", cwd=top / "bare.git")
    git("submodule", "--quiet", "add", str(top / "bare.git"), "sub", cwd=main)
    git("worktree", "add", "-q", "../../sub-wt", cwd=main / "sub")
    git("init", "-q", str(main / "nested"), cwd=main)
    (top / "proj").mkdir()
    git("clone", "-q", "--bare", str(main), "proj/.bare", cwd=top)
    (top / "proj" / ".git").write_text("gitdir: ./.bare\n")
    git("worktree", "add", "-q", "feature", cwd=top / "proj")
    for name in ("sep", "joined"):
        separate = top / ("elsewhere.git" if name == "sep" else f"{name}.git")
        git("init", "-q", "--separate-git-dir", str(separate), str(top / name), cwd=top)
        git("commit", "-q", "--allow-empty", "-m", "one", cwd=top / name)
        git("worktree", "add", "-q", f"../{name}-wt", cwd=top / name)
    git("config", "core.worktree", str(top / "joined"), cwd=top / "joined")
    for shaped in (main / "shaped", top / "shaped"):
        for inner in ("objects", "refs"):
            (shaped / inner).mkdir(parents=True)
        (shaped / "HEAD").write_text("ref: refs/heads/main\n")
    (top / "plain" / "deep").mkdir(parents=True)
    return top


@pytest.mark.parametrize(
    ("folder", "root"),
    [
        ("main", "main"),
        ("main/src/deep", "main"),
        ("main/.git/hooks", "main"),
        ("wt", "main"),
        ("wt/src", "main"),
        ("main/inner-wt/src", "main"),
        ("bare.git", "bare.git"),
        ("bare.git/hooks", "bare.git"),
        ("bw", "bare.git"),
        ("bw/src", "bare.git"),
        ("bare.git/inside/src", "bare.git"),
        ("main/sub", "main/sub"),
        ("main/sub/src", "main/sub"),
        ("sub-wt", "main/sub"),
        ("main/nested", "main/nested"),
        ("proj", "proj"),
        ("proj/feature/src", "proj"),
        ("sep", "sep"),
        ("sep-wt", "elsewhere.git"),
        ("joined", "joined"),
        ("joined-wt", "joined"),
        ("main/shaped", "main"),
        ("main/shaped/objects", "main"),
        ("shaped/refs", "shaped"),
        ("plain", "plain"),
        ("plain/deep", "plain/deep"),
        ("plain/not-there", "plain/not-there"),
    ],
)
def test_a_folder_belongs_to_the_main_checkout_P3(repositories: Path, folder: str, root: str) -> None:
    assert canonical_root(repositories / folder) == repositories / root


def test_links_to_a_checkout_are_that_checkout_P3(repositories: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repositories / "wt")
    assert canonical_root(tmp_path / "link" / "src") == repositories / "main"


def test_relative_worktree_pointers_are_followed_P3(tmp_path: Path) -> None:
    """As newer git writes them with worktree.useRelativePaths."""
    main, tree = tmp_path / "main", tmp_path / "tree"
    main.mkdir()
    git("init", "-q", cwd=main)
    git("commit", "-q", "--allow-empty", "-m", "one", cwd=main)
    git("worktree", "add", "-q", "../tree", cwd=main)
    (tree / ".git").write_text("gitdir: ../main/.git/worktrees/tree\n")
    (main / ".git" / "worktrees" / "tree" / "gitdir").write_text("../../../../tree/.git\n")
    assert canonical_root(tree) == main


def test_a_hostile_pointer_is_given_no_other_memory_P3(repositories: Path, tmp_path: Path) -> None:
    main = repositories / "main"
    worktree = main / ".git" / "worktrees" / "wt"
    fake = tmp_path / "evil" / "fake" / "worktrees" / "w"
    fake.mkdir(parents=True)
    (fake / "commondir").write_text(f"{main}/.git\n")
    (fake / "gitdir").write_text(f"{tmp_path}/evil/.git\n")
    (tmp_path / "evil" / "sub").mkdir()
    for named in (
        main / ".git",
        worktree,
        repositories / "bare.git",
        fake,
        main / ".git" / "modules" / "sub",
    ):
        (tmp_path / "evil" / ".git").write_text(f"gitdir: {named}\n")
        paths.forget_roots()
        assert canonical_root(tmp_path / "evil" / "sub") == tmp_path / "evil", named


def test_a_hostile_link_is_given_no_other_memory_P3(repositories: Path, tmp_path: Path) -> None:
    (tmp_path / "evil").mkdir()
    for target in (repositories / "main" / ".git", repositories / "wt" / ".git", repositories / "bare.git"):
        (tmp_path / "evil" / ".git").unlink(missing_ok=True)
        (tmp_path / "evil" / ".git").symlink_to(target)
        paths.forget_roots()
        assert canonical_root(tmp_path / "evil") == tmp_path / "evil", target


def test_a_hostile_repository_cannot_name_another_checkout_P3(repositories: Path, tmp_path: Path) -> None:
    """A repository's own core.worktree counts only if that checkout points back."""
    git("init", "-q", "--bare", "evil.git", cwd=tmp_path)
    with (tmp_path / "evil.git" / "config").open("a") as config:
        config.write(f"[core]\n\tbare = false\n\tworktree = {repositories / 'main' / 'sub'}\n")
    assert canonical_root(tmp_path / "evil.git") == tmp_path / "evil.git"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"garbage",
        b"gitdir:",
        b"gitdir: \n",
        b"gitdir: /nowhere/at/all\n",
        b"gitdir: .\n",
        b"gitdir: a\0b\n",
        b"\xff\xfe",
        b"gitdir: " + b"x/" * 9000,
    ],
)
def test_a_broken_git_file_keeps_its_folder_apart_P3(tmp_path: Path, content: bytes) -> None:
    git("init", "-q", cwd=tmp_path)
    (tmp_path / "broken" / "src").mkdir(parents=True)
    (tmp_path / "broken" / ".git").write_bytes(content)
    assert canonical_root(tmp_path / "broken" / "src") == tmp_path / "broken"


def test_an_empty_git_folder_or_a_pipe_is_no_repository_P3(tmp_path: Path) -> None:
    git("init", "-q", cwd=tmp_path)
    (tmp_path / "a" / ".git").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    os.mkfifo(tmp_path / "b" / ".git")
    assert canonical_root(tmp_path / "a") == tmp_path
    assert canonical_root(tmp_path / "b") == tmp_path


def test_a_root_is_computed_once_until_it_is_forgotten_P4(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert canonical_root(tmp_path / "sub") == tmp_path / "sub"
    git("init", "-q", cwd=tmp_path)
    assert canonical_root(tmp_path / "sub") == tmp_path / "sub"
    paths.forget_roots()
    assert canonical_root(tmp_path / "sub") == tmp_path


# -- slugs (P3) -----------------------------------------------------------------------------------------


def test_plain_paths_have_plain_slugs_P3() -> None:
    for layout in ("memdir", "claude"):
        assert slug(Path("/srv/Code/app2"), layout=layout) == "-srv-Code-app2"


@pytest.mark.parametrize(
    "path", ["/srv/a-b", "/srv/a.b", "/srv/a b", "/srv/应用", "/srv/a_b", "/srv/x/0123abcd"]
)
def test_where_the_plain_slug_tells_too_little_a_hash_is_added_P3(path: str) -> None:
    plain = slug(Path(path), layout="claude")
    assert set(plain) <= set(string.ascii_letters + string.digits + "-")
    ours = slug(Path(path), layout="memdir")
    assert ours[:-9] == plain
    assert ours[-9] == "-"
    assert set(ours[-8:]) <= set("0123456789abcdef")


def test_the_hash_is_of_the_composed_path_P3() -> None:
    assert slug(Path("/srv/cafe\u0301"), layout="memdir") == slug(Path("/srv/caf\u00e9"), layout="memdir")
    assert slug(Path("/srv/a-b"), layout="memdir") == "-srv-a-b-742fc61d"


def test_long_paths_are_cut_at_200_and_hashed_P3() -> None:
    path = Path("/srv/" + "x" * 100 + "/" + "y" * 120)
    for layout in ("memdir", "claude"):
        name = slug(path, layout=layout)
        assert (len(name), name[:200]) == (209, ("-srv-" + "x" * 100 + "-" + "y" * 120)[:200])


@given(st.lists(st.text("ab-./_0é中", min_size=1, max_size=6), min_size=2, max_size=5, unique=True))
def test_different_roots_never_share_a_slug_P3(names: list[str]) -> None:
    roots = {Path(os.path.realpath(f"/no-such-place/{name}")) for name in names}
    assert len({slug(root, layout="memdir") for root in roots}) == len(roots)


def test_a_path_made_to_look_like_anothers_hash_does_not_collide_P3() -> None:
    victim = slug(Path("/srv/a-b"), layout="memdir")
    assert slug(Path("/srv/a/b") / victim[-8:], layout="memdir") != victim


# -- the places of a project (P1, P2, P9) ---------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "code" / "app" / "src").mkdir(parents=True)
    git("init", "-q", cwd=tmp_path / "code" / "app")
    return tmp_path / "code" / "app"


def resolve(cwd: Path, home: Path, layout: str = "memdir", **more: Any) -> Places:
    environment = {"HOME": str(home), **more.pop("environment", {})}
    return paths.resolve(cwd, environment=environment, layout=layout, **more)


def test_memory_goes_by_the_root_and_transcripts_by_the_folder_P3(project: Path, home: Path) -> None:
    got = resolve(project / "src", home)
    assert (got.cwd, got.root) == (project / "src", project)
    assert got.state == got.base == home / ".memdir"
    assert got.memory == home / ".memdir" / "projects" / slug(project, layout="memdir") / "memory"
    assert got.transcripts == home / ".memdir" / "projects" / slug(project / "src", layout="memdir")
    assert (got.memory_source, got.refused, got.warnings) == ("default", (), ())
    assert got.trash == got.state / "trash" / got.slug


def test_nothing_of_ours_goes_to_a_foreign_directory_P1(project: Path, home: Path, tmp_path: Path) -> None:
    got = resolve(project, home, "claude")
    assert (got.base, got.state) == (home / ".claude", home / ".memdir")
    assert got.memory == home / ".claude" / "projects" / slug(project, layout="claude") / "memory"
    for place in (got.cursors, got.trash):
        assert place.is_relative_to(home / ".memdir")
    moved = resolve(project, home, "claude", environment={"CLAUDE_CONFIG_DIR": str(tmp_path / "cc")})
    assert moved.base == tmp_path / "cc"


def test_each_memory_directory_of_a_project_has_a_history_and_a_trash_of_its_own_H2(
    project: Path, home: Path, tmp_path: Path
) -> None:
    found = [
        resolve(project, home),
        resolve(project, home, "claude"),
        resolve(project, home, "claude", environment={"CLAUDE_CONFIG_DIR": str(tmp_path / "cc")}),
        resolve(project, home, base_directory=str(tmp_path / "base")),
    ]
    assert len({got.memory for got in found}) == 4
    for one in ("history", "trash", "inbox", "journals", "usage"):
        assert len({getattr(got, one) for got in found}) == 4
        assert all(getattr(got, one).is_relative_to(home / ".memdir") for got in found)


def test_the_base_directory_has_an_order_P1(project: Path, home: Path, tmp_path: Path) -> None:
    named, base = str(tmp_path / "named"), str(tmp_path / "base")
    assert resolve(project, home, base_directory=base).base == Path(base)
    assert resolve(project, home, base_directory=base).state == home / ".memdir"
    both = resolve(project, home, base_directory=base, environment={"MEMDIR_HOME": named})
    assert (both.base, both.state) == (Path(named), Path(named))


def test_remote_mode_has_a_base_of_its_own_P1(project: Path, home: Path, tmp_path: Path) -> None:
    remote = {"MEMDIR_REMOTE": "1", "MEMDIR_REMOTE_MEMORY_DIR": str(tmp_path / "remote")}
    for layout in ("memdir", "claude"):
        assert resolve(project, home, layout, environment=remote).base == tmp_path / "remote"
    assert resolve(project, home, environment={"MEMDIR_REMOTE": "1"}).base == home / ".memdir"
    for word in ("1 ", " TRUE", "on"):  # the same words as everywhere
        assert (
            resolve(project, home, environment={**remote, "MEMDIR_REMOTE": word}).base == tmp_path / "remote"
        )
        assert paths.is_remote({"MEMDIR_REMOTE": word})


def test_a_bad_home_of_ours_is_an_error_P1(project: Path, home: Path) -> None:
    for value in ("relative", "/", "/etc", str(home)):
        with pytest.raises(UnsafePath):
            resolve(project, home, environment={"MEMDIR_HOME": value})


def test_the_memory_directory_has_an_order_P2(project: Path, home: Path, tmp_path: Path) -> None:
    override = {"MEMDIR_PATH_OVERRIDE": str(tmp_path / "over")}
    directories = [("managed", str(tmp_path / "managed")), ("user", "~/mine")]
    got = resolve(project, home, environment=override, directories=directories)
    assert (got.memory, got.memory_source) == (tmp_path / "over", "env")
    got = resolve(project, home, directories=directories)
    assert (got.memory, got.memory_source) == (tmp_path / "managed", "managed")
    got = resolve(project, home, directories=directories[1:])
    assert (got.memory, got.memory_source) == (home / "mine", "user")
    assert got.trash == got.state / "trash" / slug(home / "mine", layout="memdir")


def test_the_foreign_override_counts_in_its_layout_only_P2(project: Path, home: Path, tmp_path: Path) -> None:
    foreign = {"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": str(tmp_path / "over")}
    assert resolve(project, home, "claude", environment=foreign).memory == tmp_path / "over"
    assert resolve(project, home, environment=foreign).memory_source == "default"


def test_a_refused_value_is_noted_once_and_the_next_counts_P5(project: Path, home: Path) -> None:
    got = resolve(
        project,
        home,
        environment={"MEMDIR_PATH_OVERRIDE": "relative"},
        directories=[("managed", 42), ("project", "/srv/evil"), ("user", "~/mine")],
    )
    assert (got.memory, got.memory_source) == (home / "mine", "user")
    assert [(r.source, r.path) for r in got.refused] == [
        ("env", "relative"),
        ("managed", 42),
        ("project", "/srv/evil"),
    ]


def test_an_ordinary_place_that_is_a_link_to_home_is_no_memory_P5(project: Path, home: Path) -> None:
    ordinary = resolve(project, home).memory
    assert ordinary
    ordinary.parent.mkdir(parents=True)
    ordinary.symlink_to(home)
    got = resolve(project, home)
    assert (got.memory, got.memory_source, len(got.refused)) == (None, "none", 1)


def test_a_transcript_is_named_by_its_session_P9(project: Path, home: Path) -> None:
    places = resolve(project, home)
    assert paths.transcript_path(places, SESSION) == places.transcripts / f"{SESSION}.jsonl"
    for bad in ("", "../x", "x", SESSION.replace("-", ""), f"{{{SESSION}}}", SESSION + "/x"):
        with pytest.raises(UnsafePath):
            paths.transcript_path(places, bad)


def _record(folder: Path, cwd: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [{"type": "summary"}, {"type": "user", "cwd": cwd, "sessionId": SESSION}]
    (folder / f"{SESSION}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"cut')


def test_a_shared_slug_is_warned_about_P3(tmp_path: Path, home: Path) -> None:
    for folder in ("a-b", "a/b"):
        (tmp_path / folder).mkdir(parents=True)
    kept = home / ".claude" / "projects" / slug(tmp_path / "a-b", layout="claude")
    _record(kept, str(tmp_path / "a-b"))
    assert resolve(tmp_path / "a-b", home, "claude").warnings == ()
    (warning,) = resolve(tmp_path / "a" / "b", home, "claude").warnings
    assert str(tmp_path / "a-b") in warning
    assert "autoMemoryDirectory" in warning


def test_an_existing_long_name_is_found_by_its_first_200_P3(tmp_path: Path, home: Path) -> None:
    root = tmp_path / ("x" * 120) / ("y" * 120)
    root.mkdir(parents=True)
    prefix = slug(root, layout="claude")[:200]
    projects = home / ".claude" / "projects"
    assert resolve(root, home, "claude").slug == slug(root, layout="claude")
    _record(projects / f"{prefix}-k2x9q", str(root.parent / "another"))
    assert resolve(root, home, "claude").slug == f"{prefix}-k2x9q"
    _record(projects / f"{prefix}-zz81m", str(root))
    assert resolve(root, home, "claude").slug == f"{prefix}-zz81m"


# -- which memory a path belongs to (P8) ----------------------------------------------------------------


def test_each_path_belongs_to_one_memory_P8(project: Path, home: Path, tmp_path: Path) -> None:
    places = resolve(project, home)
    assert places.memory
    memory, sessions = places.memory, places.transcripts / SESSION
    wanted = {
        memory: Kind(what="auto"),
        memory / "MEMORY.md": Kind(what="entrypoint"),
        memory / "a.md": Kind(what="topic"),
        memory / "deep" / "b.md": Kind(what="topic"),
        memory / "deep" / "MEMORY.md": Kind(what="auto"),
        memory / ".consolidate-lock": Kind(what="auto"),
        memory / ".hidden" / "a.md": Kind(what="auto"),
        memory / "dream.json": Kind(what="auto"),
        memory / "team" / "MEMORY.md": Kind(what="team"),
        memory / "Team" / "a.md": Kind(what="team"),
        memory / "Logs" / "x.md": Kind(what="log"),
        memory / "memory.md": Kind(what="auto"),
        memory / "a.MD": Kind(what="auto"),
        memory / "logs" / "2026" / "11" / "2026-11-29.md": Kind(what="log"),
        memory / "sessions" / "x.md": Kind(what="session"),
        memory / ".." / "x.md": Kind(what="none"),
        sessions / "session-memory" / "summary.md": Kind(what="session"),
        places.transcripts / f"{SESSION}.jsonl": Kind(what="none"),
        places.base / "agent-memory" / "reviewer" / "MEMORY.md": Kind(
            what="agent", agent_type="reviewer", scope="user"
        ),
        project / ".memdir" / "agent-memory" / "tester" / "a.md": Kind(
            what="agent", agent_type="tester", scope="project"
        ),
        project / ".memdir" / "agent-memory-local" / "tester" / "a.md": Kind(
            what="agent", agent_type="tester", scope="local"
        ),
        project / "CLAUDE.md": Kind(what="instructions"),
        project / "src" / "AGENTS.md": Kind(what="instructions"),
        project / "README.md": Kind(what="none"),
        project / ".memdir" / "rules" / "style.md": Kind(what="instructions"),
        project / "src" / ".claude" / "rules" / "deep" / "tests.MD": Kind(what="instructions"),
        places.base / "rules" / "deep" / "mine.md": Kind(what="instructions"),
        project / ".memdir" / "rules" / "notes.txt": Kind(what="none"),
        project / ".memdir" / "rules.md": Kind(what="none"),
        project / "rules" / "style.md": Kind(what="none"),
        project / ".memdir" / "rules" / ".." / "x.md": Kind(what="none"),
        project / ".memdir" / "agent-memory" / "rules" / "a.md": Kind(
            what="agent", agent_type="rules", scope="project"
        ),
        memory / "rules" / "a.md": Kind(what="topic"),
        tmp_path / "elsewhere.md": Kind(what="none"),
    }
    assert {path: classify(path, places) for path in wanted} == wanted


def test_links_are_resolved_before_a_path_is_classified_P8(project: Path, home: Path, tmp_path: Path) -> None:
    places = resolve(project, home)
    assert places.memory
    places.memory.mkdir(parents=True)
    (tmp_path / "way-in").symlink_to(places.memory)
    (places.memory / "way-out.md").symlink_to(tmp_path / "out.md")
    assert classify(tmp_path / "way-in" / "a.md", places) == Kind(what="topic")
    assert classify(places.memory / "way-out.md", places) == Kind(what="none")


def test_the_persons_rules_are_below_the_base_wherever_that_is_P8(project: Path, home: Path) -> None:
    places = resolve(project, home, environment={"MEMDIR_HOME": str(home / "mine")})
    assert classify(home / "mine" / "rules" / "deep" / "a.md", places) == Kind(what="instructions")
    assert classify(home / "rules" / "a.md", places) == Kind(what="none")


def test_a_rule_is_one_by_its_name_and_by_where_it_leads_P8(project: Path, home: Path) -> None:
    places, rules = resolve(project, home), project / ".claude" / "rules"
    rules.mkdir(parents=True)
    (project / "shared.md").write_text("")
    (rules / "link.md").symlink_to(project / "shared.md")
    (rules / "rule.md").write_text("")
    (project / "way-in.md").symlink_to(rules / "rule.md")
    for path in (rules / "link.md", project / "way-in.md"):
        assert classify(path, places) == Kind(what="instructions")
    assert classify(project / "shared.md", places) == Kind(what="none")


def test_the_index_is_known_by_what_it_really_is_P8(project: Path, home: Path) -> None:
    places = resolve(project, home)
    assert places.memory
    places.memory.mkdir(parents=True)
    (places.memory / "MEMORY.md").symlink_to("INDEX.md")
    (places.memory / "INDEX.md").write_text("")
    (places.memory / "way.md").symlink_to("MEMORY.md")
    for name in ("MEMORY.md", "INDEX.md", "way.md"):
        assert classify(places.memory / name, places) == Kind(what="entrypoint")


def test_the_claude_layout_keeps_agent_memory_in_its_own_folder_P8(project: Path, home: Path) -> None:
    places = resolve(project, home, "claude")
    kind = Kind(what="agent", agent_type="tester", scope="project")
    assert classify(project / ".claude" / "agent-memory" / "tester" / "a.md", places) == kind
