"""A bare git repository of our own: commits in, commits and blobs out.

It has one branch, and each commit is one step (`message`); nothing is ever checked out. `HEAD` and `config`
have fixed contents and are put right where they have others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from memdir import fs
from memdir.errors import UnsafePath
from memdir.memory.history.git import Blobs, Git, GitFailed
from memdir.memory.history.message import Step, message_of, step_of, when
from memdir.memory.history.values import Run

BRANCH = "refs/heads/main"

_FIXED = {
    "HEAD": f"ref: {BRANCH}\n".encode(),
    "config": b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n",
}
_FOLDERS = ("objects/info", "objects/pack", "refs/heads", "refs/tags")
_LOCKS = (f"{BRANCH}.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock")
_OBJECT = re.compile(r"[0-9a-f]{40}")
_AUTHOR = "memdir <memdir@localhost>"
_QUOTED = re.compile(rb'[^\x20-\x7e]|["\\]')
_TOO_MANY = 20
"""Packs. One is made by each commit."""
_GEOMETRIC = (2, 33)
_CROWD = 100
"""Packs that are too many even for who never calls `tidy`; making one of them takes some 100 ms."""
_STEP, _COMMIT, _CHECK, _PACK = 10.0, 60.0, 20.0, 30.0
"""Seconds. A step of a few files takes a hundredth of one; a whole directory at the beginning takes more."""
_FEW = 100


class Damaged(Exception):
    """The repository can't be gone on with. The text says what is wrong."""


class Repository:
    """The repository at `path`. What writes is called by one process at a time."""

    def __init__(self, path: Path, git: Git) -> None:
        self.path = path
        self._git = git

    # -- writing ----------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make it, or put right what is fixed about it, and remove locks whose holder is dead.

        Raises Damaged where something else stands there.
        """
        try:
            for folder in _FOLDERS:
                if not (self.path / folder).is_dir():
                    fs.make_private(self.path / folder)
            for name, content in _FIXED.items():
                if _read(self.path / name) != content:
                    fs.write_atomic(self.path / name, content)
            for name in _LOCKS:
                (self.path / name).unlink(missing_ok=True)
        except (UnsafePath, NotADirectoryError, FileExistsError, IsADirectoryError) as error:
            raise Damaged("something else stands where it should be") from error

    def head(self) -> str | None:
        """The newest commit; None if there is none yet. Raises Damaged. Starts nothing."""
        try:
            data = fs.read_file(self.path / BRANCH, limit=100)
        except FileNotFoundError:
            return None
        except (UnsafePath, NotADirectoryError) as error:
            raise Damaged("its branch is no file") from error
        head = data.decode("ascii", "replace").removesuffix("\n")
        if not _OBJECT.fullmatch(head):
            raise Damaged("its branch names no commit")
        return head

    def commit(self, chunks: Iterable[bytes], *, files: int = _FEW, seconds: float | None = None) -> str:
        """Let git read blobs and steps (`blob_chunks`, `step_chunks`); the new head. Raises GitFailed.

        Whoever writes waits for it: a step of few `files` gets little time, unless `seconds` says how much.
        """
        before = self.head()

        def whole() -> Iterator[bytes]:
            yield from chunks
            yield b"done\n"

        how = ("--quiet", "--done", "--date-format=raw")
        seconds = seconds or (_STEP if files < _FEW else _COMMIT)
        self._git.feed("fast-import", *how, chunks=whole(), seconds=seconds)
        for folder in ("objects/pack", "refs/heads"):
            _sync(self.path / folder)
        if (head := self.head()) in (None, before):
            raise GitFailed("git recorded nothing")
        return head

    @property
    def is_crowded(self) -> bool:
        """Whether it is time to tidy: now, or, where that failed, after as many packs again."""
        return sum(name.endswith(".pack") for name in os.listdir(self.path / "objects/pack")) % _CROWD == 0  # noqa: PTH208

    def tidy(self) -> None:
        """Remove what killed gits left, and pack what many commits made. Raises GitFailed."""
        for place in self.path.glob("fast_import_crash_*"):
            place.unlink(missing_ok=True)
        for place in [*self.path.glob("objects/pack/*"), *self.path.glob("objects/??/*")]:
            if _is_left_over(place):
                place.unlink(missing_ok=True)
        loose = next(self.path.glob("objects/??/*"), None)
        if loose or sum(1 for _ in self.path.glob("objects/pack/*.pack")) > _TOO_MANY:
            how = ["--geometric=2"] if self._git.version >= _GEOMETRIC else ["-a"]
            self._git.ask("repack", "-d", "-l", "-n", "-q", *how, seconds=_PACK)

    # -- reading ----------------------------------------------------------------------------------------

    def steps(self, head: str, *, partly: bool = False) -> list[Step]:
        """The steps, newest first. `partly`: those before a damage. Raises GitFailed."""
        said = self._git.ask("log", "-z", "--format=tformat:%B", "--no-notes", head, "--", partly=partly)
        return [step for message in said.split(b"\0") if (step := step_of(message))]

    def tree(self, head: str) -> dict[bytes, str]:
        """The files as of a commit: path -> blob. Raises GitFailed."""
        said = self._git.ask("ls-tree", "-r", "-z", "--full-tree", head)
        files = (line.split(b"\t", 1) for line in said.split(b"\0") if line)
        return {path: kind.split(b" ")[2].decode("ascii") for kind, path in files}

    def blob(self, blob: str) -> bytes:
        """The bytes of a blob. Raises GitFailed."""
        return self._git.ask("cat-file", "blob", blob)

    def blobs(self) -> AbstractContextManager[Blobs]:
        """Ask for many blobs, one after the other. Raises GitFailed."""
        return self._git.blobs()

    def all_blobs(self) -> list[str]:
        """All blobs that it holds, also those of no commit. Raises GitFailed."""
        how = ("--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
        said = self._git.ask("cat-file", *how, seconds=_COMMIT)
        return [line[5:].decode("ascii") for line in said.splitlines() if line.startswith(b"blob ")]

    def is_sound(self) -> bool:
        """Whether git finds nothing wrong with what its branch leads to. True where it takes too long, or
        where it is git that does not work. The caller holds the folder.
        """
        try:
            self.prepare()
            if head := self.head():
                self.tree(head)
                self._git.ask("fsck", "--connectivity-only", "--no-dangling", seconds=_CHECK)
        except GitFailed as error:
            return error.passes or not self._git.works()
        except Damaged:
            return False
        return True


def blob_chunks(data: bytes) -> Iterator[bytes]:
    """For `commit`: a blob."""
    yield b"blob\ndata %d\n" % len(data)
    yield data
    yield b"\n"


def step_chunks(step: Step, *, parent: str | None) -> Iterator[bytes]:
    """For `commit`: a step whose blobs are known. `parent`: where the branch stands before the first one."""
    message = message_of(step)
    moment = when(step.at)
    yield f"commit {BRANCH}\nauthor {_AUTHOR} {moment}\ncommitter {_AUTHOR} {moment}\n".encode("ascii")
    yield b"data %d\n" % len(message) + message
    if parent:
        yield f"from {parent}\n".encode("ascii")
    yield from _files(step.files)
    yield b"\n"


def _files(files: Mapping[bytes, Run]) -> Iterator[bytes]:
    """What goes first: a file may give its place to a folder, or the other way round."""
    for path in files:
        if files[path].after is None:
            yield b"D %s\n" % _quoted(path)
    for path, run in files.items():
        if run.after is not None:
            yield b"M 100644 %s %s\n" % (run.after.encode("ascii"), _quoted(path))


def _quoted(path: bytes) -> bytes:
    return b'"%s"' % _QUOTED.sub(lambda found: b"\\%03o" % found[0][0], path)


def _is_left_over(place: Path) -> bool:
    """Whether a killed git left it: a temporary, a guard, or half of a pack and its index."""
    if place.name.startswith((".tmp", "tmp_")) or place.suffix == ".keep":
        return True
    if place.suffix == ".pack":
        return not place.with_suffix(".idx").exists()
    return place.suffix in (".idx", ".rev") and not place.with_suffix(".pack").exists()


def _read(file: Path) -> bytes | None:
    with suppress(FileNotFoundError):
        return fs.read_file(file, limit=10_000)
    return None


def _sync(folder: Path) -> None:
    """Names made in a folder, to the disk."""
    if os.name == "posix":
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
