"""Where the tools of a background fork lead: nothing outside is written or read, whatever the path (A5, A8).

Each call goes the whole way: the decision, then what somebody else may do meanwhile, then the tool itself.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memdir import fs
from memdir.agent.file_state import FileState
from memdir.agent.permissions import Allow, decide_fork
from memdir.agent.tools import ToolContext, grep
from memdir.agent.tools.base import check_input
from memdir.errors import ToolError
from memdir.memory.store import MemoryDir
from memdir.model.messages import ToolUse
from tests.agent.world import NOW, tool_named
from tests.cases import case_rows
from tests.floor.test_fs import _fill, _key, _let_change, _set_up, tree

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")

CANARY = "canary-4417"
"""Stands in files outside, and in none inside."""

NEW = "---\nname: New\ndescription: By a fork\ntype: project\n---\n\nnew\n"
TOOLS = ("Write", "Edit", "Read", "Grep", "Glob")
WRITERS = TOOLS[:2]


@dataclass(frozen=True, kw_only=True)
class Fork:
    """A background job with one memory directory and a project folder; `root` is where everything lies."""

    root: Path
    memory: Path
    context: ToolContext
    errors: list[str] = field(default_factory=list)
    """What tools said that could not do it."""

    @classmethod
    def of(cls, root: Path, memory: Path) -> Fork:
        project = root / "project"
        project.mkdir(exist_ok=True)
        context = ToolContext(
            cwd=project,
            files=FileState(),
            memory=MemoryDir(memory, trash=root / "trash"),
            now=lambda: NOW,
            memory_only=True,
        )
        return cls(root=root, memory=memory, context=context)

    async def __call__(
        self, tool: str, path: object, *, meanwhile: Sequence[Callable[[], object]] = ()
    ) -> str:
        """What the tool says; empty if the call is refused, by whom ever."""
        call = ToolUse(id="1", name=tool, input=self._input(tool, path))
        try:
            check_input(tool_named(tool).spec, call.input)
        except ToolError:
            return ""
        verdict = decide_fork(call, memory=self.memory, cwd=self.context.cwd)
        for act in meanwhile:
            act()
        if not isinstance(verdict, Allow):
            return ""
        try:
            return str(await tool_named(tool).run(call.input, self.context))
        except (ToolError, OSError) as error:  # the loop tells the model of both
            self.errors.append(str(error))
            return ""

    async def knows(self, path: object) -> None:
        """Let it see the file, as it must have before it may change it."""
        await self("Read", path)

    def _input(self, tool: str, path: object) -> dict[str, Any]:
        match tool:
            case "Write":
                return {"file_path": path, "content": NEW}
            case "Edit":
                old = _text(path)
                return {
                    "file_path": path,
                    "old_string": old[:5],
                    "new_string": "NEW" + old[:5] if old else NEW,
                }
            case "Read":
                return {"file_path": path}
            case "Grep":
                return {"path": path, "pattern": ".", "output_mode": "content"}
            case _:
                return {"path": path, "pattern": "**"}

    def outside(self) -> dict[str, bytes]:
        """All that is not in the memory directory: `{OUT}`, and what lies beside."""
        below = f"{self.memory.relative_to(self.root).as_posix()}/"
        return {
            name: data for name, data in tree(self.root).items() if not name.startswith((below, "trash/"))
        }

    def written(self) -> set[str]:
        """The regular files in the memory directory; a link is none."""
        return {
            path.relative_to(self.memory).as_posix()
            for path in self.memory.rglob("*")
            if path.is_file() and not path.is_symlink()
        }


def _text(path: object) -> str:
    """What stands in a regular file; empty for anything else."""
    try:
        return fs.read_file(Path(str(path))).decode(errors="replace")
    except Exception:  # noqa: BLE001 - no path at all, no file, no regular one: nothing to read
        return ""


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    spots = {"ROOT": tmp_path, "MEM": tmp_path / "w" / "mem", "OUT": tmp_path / "out"}
    spots |= {"TEAM": spots["MEM"] / "team", "HOME": tmp_path / "home" / "u"}
    for spot in spots.values():
        spot.mkdir(parents=True, exist_ok=True)
    (spots["OUT"] / "secret.txt").write_text(f"outside {CANARY}")
    (spots["OUT"] / "secret.md").write_text(f"outside {CANARY}")
    (spots["MEM"] / "user-prefs.md").write_text(f"private {CANARY}")
    return spots


@pytest.fixture
def fork(tmp_path: Path, places: dict[str, Path]) -> Fork:
    (places["MEM"] / "user-prefs.md").unlink()
    return Fork.of(tmp_path, places["MEM"])


# -- the case file ---------------------------------------------------------------------------------------

ROWS = case_rows("paths.jsonl")


def _rows(kind: str) -> list[dict[str, Any]]:
    return [row for row in ROWS if row["kind"] == kind]


@pytest.mark.anyio
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("row", _rows("file_key"), ids=lambda row: row["id"])
async def test_a_key_leads_a_tool_nowhere_outside_A5_A8(
    row: dict[str, Any], tool: str, places: dict[str, Path]
) -> None:
    fork, key = Fork.of(places["ROOT"], places["TEAM"]), _key(row, places)
    before = fork.outside()
    for path in (f"{places['TEAM']}/{key}" if isinstance(key, str) else key, key):
        assert CANARY not in await fork(tool, path)
    assert CANARY not in str(fork.errors)
    assert fork.outside() == before
    if tool in WRITERS and row["expect"] == "accept":
        assert fork.written() == {row["input"]}
    assert all(_is_plain(name) for name in fork.written())


def _is_plain(name: str) -> bool:
    """Whether a new file of that name is one that all systems hold, and no dot file."""
    return fs.contain(Path(__file__).parent / "no-such-folder", name).suffix == ".md"


@pytest.mark.anyio
@pytest.mark.parametrize("row", _rows("file_key_set"), ids=lambda row: row["id"])
async def test_of_two_keys_for_one_name_a_tool_writes_the_first_A8(
    row: dict[str, Any], places: dict[str, Path]
) -> None:
    fork, (first, second) = Fork.of(places["ROOT"], places["TEAM"]), row["input"]
    assert await fork("Write", f"{places['TEAM']}/{first}")
    data = (places["TEAM"] / first).read_bytes()
    assert not await fork("Write", f"{places['TEAM']}/{second}")
    assert not await fork("Edit", f"{places['TEAM']}/{second}")
    assert (fork.written(), (places["TEAM"] / first).read_bytes()) == ({first}, data)


@pytest.mark.anyio
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("row", _rows("fs"), ids=lambda row: row["id"])
async def test_whatever_is_planted_a_tool_stays_inside_A5_A8(
    row: dict[str, Any], tool: str, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grep, "SECONDS", 1.0)  # a pipe named outright is waited for, and given up
    in_memory = row["action"] in {"load_index", "lock"} or any("{MEM}" in s["path"] for s in row["setup"])
    base = Path(_fill(row["via"], places)) if "via" in row else places["MEM" if in_memory else "TEAM"]
    if base != places["TEAM"]:
        (places["MEM"] / "user-prefs.md").unlink()
    meanwhile = list(_set_up(row, places))
    fork, path = Fork.of(places["ROOT"], base), f"{base}/{row['input']}"
    before = tree(places["OUT"])
    try:
        await fork.knows(path)
        said = await fork(tool, path, meanwhile=meanwhile)
    finally:
        for step in row["setup"]:
            if step["op"] == "immutable":
                _let_change(Path(_fill(step["path"], places)), True)
    assert tree(places["OUT"]) == before
    if not any(
        step["op"] == "hardlink" for step in row["setup"]
    ):  # of two names of a file, none is the real one
        assert CANARY not in f"{said}{fork.errors}"
    if tool in WRITERS and row["action"] == "write" and row["expect"] in {"accept", "reject"}:
        assert bool(said) == (row["expect"] == "accept")


# -- names that are not a fork's to write ----------------------------------------------------------------


def spellings(name: str) -> Iterator[str]:
    """A name as disks may understand it that take no notice of case or form."""
    yield from (name, name.upper(), name.title(), name.swapcase())
    yield from (unicodedata.normalize(form, name) for form in ("NFD", "NFKD"))
    yield from (name.replace(".", "\uff0e"), name.replace(".", "\u2024"), name.replace("o", "\uff4f"))
    yield from (name.replace("k", "\u212a"), name.replace("s", "\u017f"), f"{name}\u200b", f"\u200b{name}")
    yield from (f"{name} ", f"{name}.", f"./{name}", f"x/../{name}", f"{name}/", f"{name}::$DATA")


@pytest.mark.anyio
@pytest.mark.parametrize("tool", WRITERS)
@pytest.mark.parametrize(
    "name", [".consolidate-lock", "dream.json", ".memdir-lock", ".usage.sqlite", ".git/config"]
)
async def test_what_is_no_memory_is_written_in_no_spelling_A5_A8(fork: Fork, tool: str, name: str) -> None:
    there = fork.memory / name
    there.parent.mkdir(exist_ok=True)
    there.write_bytes(b"1")
    before = tree(fork.memory)
    for spelled in spellings(name):
        assert not await fork(tool, f"{fork.memory}/{spelled}"), spelled
    assert tree(fork.memory) == before


@pytest.mark.anyio
@pytest.mark.parametrize("tool", WRITERS)
@pytest.mark.parametrize("is_there", [False, True], ids=["new", "there"])
async def test_there_is_one_index_and_nothing_is_called_nearly_like_it_A8_P8(
    fork: Fork, tool: str, is_there: bool
) -> None:
    if is_there:
        (fork.memory / "MEMORY.md").write_bytes(b"- [A](a.md)\n")
    before = tree(fork.memory)
    for name in ("MEMORY.MD", "memory.md", "Memory.md", "MEMORY.Md", "deep/MEMORY.md", "deep/memory.md"):
        assert not await fork(tool, f"{fork.memory}/{name}"), name
    assert not await fork(tool, f"{fork.memory}/ME\u2060MORY.md")
    assert tree(fork.memory) == before


@pytest.mark.anyio
@pytest.mark.parametrize("tool", TOOLS)
async def test_trash_state_and_other_projects_are_out_of_reach_A5(fork: Fork, tool: str) -> None:
    for folder in ("trash", "state", "history", "w/mem-other", "w/other/memory"):
        (fork.root / folder).mkdir(parents=True)
        (fork.root / folder / "x.md").write_text(CANARY)
    before = tree(fork.root)
    for folder in ("trash", "state", "history", "w/mem-other", "w/other/memory"):
        for path in (f"{fork.root}/{folder}/x.md", f"{fork.memory}/../../{folder}/x.md", f"../{folder}/x.md"):
            assert not await fork(tool, path)
        for path in (f"{fork.root}/{folder}", f"{fork.root}/{folder}/new.md", str(fork.root), "..", "/"):
            assert not await fork(tool, path)
    assert tree(fork.root) == before


@pytest.mark.anyio
@pytest.mark.parametrize("tool", WRITERS)
async def test_dot_folders_and_folders_called_like_files_take_nothing_A8(fork: Fork, tool: str) -> None:
    for folder in (".obsidian", "x.md", "deep/.x"):
        (fork.memory / folder).mkdir(parents=True)
    for path in (".obsidian/a.md", "x.md", "deep/.x/a.md", ".new/a.md", "x.md/.a.md", "\uff0enew/a.md", ""):
        assert not await fork(tool, f"{fork.memory}/{path}"), path
    assert fork.written() == set()
    assert await fork(tool, f"{fork.memory}/x.md/a.md")
    assert fork.written() == {"x.md/a.md"}


# -- files that are none ---------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("tool", WRITERS)
async def test_a_file_with_a_second_name_outside_is_never_changed_in_place_A8(fork: Fork, tool: str) -> None:
    secret = fork.root / "out" / "secret.md"
    (fork.memory / "hard.md").hardlink_to(secret)
    before = fork.outside()
    await fork.knows(f"{fork.memory}/hard.md")
    assert await fork(tool, f"{fork.memory}/hard.md")
    assert fork.outside() == before
    assert not secret.samefile(fork.memory / "hard.md")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as there:
        there.bind(str(path))


def _device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except OSError:
        pytest.skip("no devices can be made here")


@posix
@pytest.mark.anyio
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("make", [_pipe, _socket, _device])
async def test_nothing_is_waited_for_and_nothing_special_is_replaced_A8(
    fork: Fork, tool: str, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grep, "SECONDS", 1.0)
    monkeypatch.chdir(fork.memory)  # the path of a socket is short
    make(Path("x.md"))
    before = (fork.memory / "x.md").lstat()
    assert len(await fork(tool, f"{fork.memory}/x.md")) < 1000
    assert (fork.memory / "x.md").lstat() == before


# -- somebody else is quicker ------------------------------------------------------------------------------


def _turn_into(path: Path, target: Path) -> None:
    """Put a link in the place of what is there."""
    if path.exists():
        path.rename(path.with_name(f"{path.name}.was"))
    path.symlink_to(target)


@posix
@pytest.mark.anyio
@pytest.mark.parametrize("tool", WRITERS)
@pytest.mark.parametrize(
    ("asked", "swapped", "target"),
    [
        ("x.md", "x.md", "out/secret.md"),
        ("x.md", "x.md", "out/created.md"),
        ("sub/x.md", "sub", "out"),
        ("sub/secret.md", "sub", "out"),
        ("new/x.md", "new", "out"),
        ("sub/deep/new.md", "sub/deep", "out"),
    ],
)
async def test_a_link_put_there_after_the_decision_leads_no_write_outside_A5_A8(
    fork: Fork, tool: str, asked: str, swapped: str, target: str
) -> None:
    for name in ("x.md", "sub/x.md", "sub/secret.md", "sub/deep/x.md"):
        (fork.memory / name).parent.mkdir(parents=True, exist_ok=True)
        (fork.memory / name).write_text("inside")
    before = tree(fork.root / "out")
    await fork.knows(f"{fork.memory}/{asked}")

    def swap() -> None:
        _turn_into(fork.memory / swapped, fork.root / target)

    await fork(tool, f"{fork.memory}/{asked}", meanwhile=[swap])
    assert tree(fork.root / "out") == before


@posix
@pytest.mark.anyio
async def test_a_thousand_swaps_beside_the_writes_of_a_fork_lead_none_outside_A5_A8(fork: Fork) -> None:
    out, before = fork.root / "out", tree(fork.root / "out")
    for name in ("x.md", "sub/secret.md"):
        (fork.memory / name).parent.mkdir(exist_ok=True)
        (fork.memory / name).write_text("inside")
    swapper = _Swapper(links={fork.memory / "x.md": out / "secret.md", fork.memory / "sub": out})
    with swapper:
        rounds = 0
        while rounds < 40 or swapper.swaps < 1000:
            rounds += 1
            for path in (
                f"{fork.memory}/x.md",
                f"{fork.memory}/sub/secret.md",
                f"{fork.memory}/sub/{rounds}.md",
            ):
                with contextlib.suppress(Exception):  # what the swapping breaks is not the point
                    await fork.knows(path)
                with contextlib.suppress(Exception):
                    await fork(WRITERS[rounds % 2], path)
    assert tree(out) == before


class _Swapper:
    """A thread that puts links in the place of files and folders, and takes them away, all the time."""

    def __init__(self, links: dict[Path, Path]) -> None:
        self.swaps = 0
        self._links = links
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> _Swapper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(timeout=60)

    def _work(self) -> None:
        while not self._over.is_set():
            for path, target in self._links.items():
                aside = path.with_name(f"{path.name}.aside")
                with contextlib.suppress(OSError):
                    path.rename(aside)
                    path.symlink_to(target)
                with contextlib.suppress(OSError):
                    path.unlink()
                    aside.rename(path)
                self.swaps += 1


# -- any key ---------------------------------------------------------------------------------------------

SHARP = st.text(st.sampled_from("ab./\\~%2eC: \u202e\uff0e\uff0f\0-é中MmdD\u017f\u212a"), max_size=12)
KEYS = st.one_of(SHARP, st.text(max_size=20)).flatmap(
    lambda stem: st.sampled_from([stem, f"{stem}.md", f"x/{stem}.md", f"../mem/{stem}.md", f"{stem}/x.md"])
)
FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    memory = tmp_path_factory.mktemp("keys") / "mem"
    memory.mkdir()
    return memory


@given(key=KEYS)
@settings(max_examples=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_accepted_key_is_inside_however_it_is_read_A5_A8(empty: Path, key: str) -> None:
    call = ToolUse(id="1", name="Write", input={"file_path": f"{empty}/{key}", "content": "x"})
    if not isinstance(decide_fork(call, memory=empty, cwd=empty.parent), Allow):
        return
    real = MemoryDir(empty, trash=empty.parent / "trash").path(Path(os.path.normpath(f"{empty}/{key}")))
    name = real.relative_to(empty).as_posix()
    for form in FORMS:
        for read in (name, name.casefold(), name.upper()):
            other = Path(os.path.realpath(f"{empty}/{unicodedata.normalize(form, read)}"))
            assert other != empty
            assert other.is_relative_to(empty)
            assert other.suffix.casefold() == ".md"
            assert not any(part.startswith(".") for part in other.relative_to(empty).parts)


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["Read", "Grep", "Glob", "Edit", "Write"])
@pytest.mark.parametrize("base", ["memory", "project"])
@pytest.mark.parametrize(
    ("asked", "swapped", "target"),
    [
        ("x.md", "x.md", "out/secret.md"),
        ("sub/secret.md", "sub", "out"),
        ("sub", "sub", "out"),
        ("y.txt", "y.txt", "out/secret.txt"),
    ],
)
async def test_a_link_put_there_after_the_decision_leads_no_read_outside_A5_A8(
    fork: Fork,
    tool: str,
    base: str,
    asked: str,
    swapped: str,
    target: str,
) -> None:
    folder = fork.memory if base == "memory" else fork.context.cwd
    for name in ("x.md", "sub/x.md", "sub/secret.md", "y.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("inside")
    (folder / "sub" / "inside.md").write_text("inside")

    def swap() -> None:
        _turn_into(folder / swapped, fork.root / target)

    said = await fork(tool, f"{folder}/{asked}", meanwhile=[swap])
    assert CANARY not in f"{said}{fork.errors}"
    assert tool != "Glob" or "secret.txt" not in said


@pytest.mark.anyio
async def test_a_thousand_swaps_beside_the_reads_of_a_fork_show_nothing_outside_A5_A8(fork: Fork) -> None:
    out = fork.root / "out"
    links: dict[Path, Path] = {}
    for folder in (fork.memory, fork.context.cwd):
        for name in ("x.md", "y.txt", "sub/secret.md", "sub/secret.txt"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("inside")
        links |= {
            folder / "x.md": out / "secret.md",
            folder / "y.txt": out / "secret.txt",
            folder / "sub": out,
        }
    said = []
    with _Swapper(links=links) as swapper:
        rounds = 0
        while rounds < 100 or swapper.swaps < 1000:
            rounds += 1
            for folder in (fork.memory, fork.context.cwd):
                for name in ("x.md", "y.txt", "sub/secret.md", "sub/secret.txt"):
                    with contextlib.suppress(Exception):
                        said.append(await fork("Read", f"{folder}/{name}"))
    assert any("inside" in one for one in said)
    assert CANARY not in f"{said}{fork.errors}"
