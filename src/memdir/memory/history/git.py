"""git, started for one question at a time: the only module of memory that starts a process.

What it does depends on nothing of the person's: neither on their configuration, hooks, environment nor home,
and on no `git` of a project's. It runs in a process group of its own, so that a Ctrl-C at the terminal does
not hit it, and holds the history's lock on a descriptor of ours: where we are killed, nobody comes in between
until it has ended.
"""

from __future__ import annotations

import os
import re
import signal
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen

OLDEST = (2, 20)
"""The oldest git whose `fast-import` and settings are those that are used here."""

SYSTEM = ("/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin")
"""Where git is looked for first. Whoever may write there needs no trick."""

SECONDS = 30.0
"""For one question, before git is ended."""

_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "false",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_DEFAULT_HASH": "sha1",
    "GIT_EDITOR": "false",
    "GIT_GRAFT_FILE": os.devnull,  # with either of these a repository may hide what came before
    "GIT_SHALLOW_FILE": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "PATH": os.pathsep.join(SYSTEM),
    "TZ": "UTC",
    "XDG_CONFIG_HOME": os.devnull,  # where an older git looks for the person's settings; it gets no HOME
}
_SETTINGS = {
    "advice.graftFileDeprecated": "false",  # a word to a dead parent would end it
    "core.alternateRefsCommand": "true",
    "core.attributesFile": os.devnull,
    "core.commitGraph": "false",
    "core.fsmonitor": "false",
    "core.fsync": "all",
    "core.hooksPath": os.devnull,
    "core.logAllRefUpdates": "false",
    "core.protectHFS": "false",  # nothing is ever checked out; any name may be recorded
    "core.protectNTFS": "false",
    "fastimport.unpackLimit": "0",
    "gc.auto": "0",
    "i18n.logOutputEncoding": "UTF-8",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "pack.compression": "1",
    "pack.threads": "1",
    "protocol.allow": "never",
    "repack.writeBitmaps": "false",
}
_FSYNC_IN_PARTS = (2, 36)
"""Older gits always write packs through to the disk, and have another setting for the rest."""
_FULL = (b"No space left on device", b"Disk quota exceeded", b"File too large")
_CLOSED = (b"Permission denied", b"Operation not permitted", b"Read-only file system")
_NOTHING = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
"""What every git calls no bytes at all."""


class GitFailed(Exception):
    """git could not do what was asked. The text says why, without a name or content in it.

    `passes`: it has nothing to do with the repository, and another time may be better.
    """

    def __init__(self, why: str, *, passes: bool = False) -> None:
        super().__init__(why)
        self.passes = passes


def folders(path: str) -> tuple[str, ...]:
    """Where git may be: the system's folders, then the absolute ones of a PATH."""
    return tuple(dict.fromkeys((*SYSTEM, *filter(os.path.isabs, path.split(os.pathsep)))))


def find(places: Sequence[str]) -> str | None:
    """The first git in these folders that nobody else could have put there, or None. Starts nothing."""
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in places:
        with suppress(OSError):
            if os.name == "posix" and Path(folder).stat().st_mode & stat.S_IWOTH:
                continue
            program = Path(folder, name)
            if program.is_file() and os.access(program, os.X_OK):
                return str(program)
    return None


@lru_cache(maxsize=8)
def version_of(program: str) -> tuple[int, int] | None:
    """The version of a git, asked once in a process; None if it does not say, or not in time."""
    try:
        said = Git(program, repository=Path("/")).ask("version", seconds=5.0)
    except GitFailed:
        return None
    found = re.search(rb"(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else None


class Git:
    """git in one bare repository. `held` is the descriptor of a lock that it is to hold while it runs."""

    def __init__(
        self, program: str, *, repository: Path, version: tuple[int, int] = OLDEST, held: int | None = None
    ) -> None:
        self._program = program
        self._repository = repository
        self._held = held
        self.version = version

    def ask(self, *words: str, seconds: float = SECONDS, partly: bool = False) -> bytes:
        """What git answers. `partly`: also where it ended with an error. Raises GitFailed."""
        import subprocess

        with self._started(words, stdin=subprocess.DEVNULL) as process:
            try:
                answer, complaint = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired as error:
                raise GitFailed("git did not answer in time", passes=True) from error
        if process.returncode and not (partly and answer):
            raise _failed(process.returncode, complaint)
        return answer

    def feed(self, *words: str, chunks: Iterable[bytes], seconds: float = SECONDS) -> None:
        """Let git read what `chunks` gives, bit by bit. Raises GitFailed."""
        import subprocess
        from threading import Timer

        with self._started(words, stdin=subprocess.PIPE) as process:
            timer = Timer(seconds, _end, [process])
            timer.daemon = True
            timer.start()
            try:
                _write(process.stdin, chunks)
                _, complaint = process.communicate()
            finally:
                timer.cancel()
        if process.returncode:
            raise _failed(process.returncode, complaint)

    def works(self) -> bool:
        """Whether it can do anything at all, whatever is wrong with the repository."""
        elsewhere = Git(self._program, repository=Path("/"), version=self.version)
        try:
            return elsewhere.ask("hash-object", "--stdin").strip() == _NOTHING
        except GitFailed:
            return False

    @contextmanager
    def blobs(self) -> Iterator[Blobs]:
        """Ask for one blob after the other, of one git. Raises GitFailed."""
        import subprocess

        with self._started(("cat-file", "--batch"), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as git:
            if git.stdin is None or git.stdout is None:
                raise GitFailed("git can't be asked")
            yield Blobs(git.stdin, git.stdout)
            _end(git)

    @contextmanager
    def _started(
        self, words: Sequence[str], *, stdin: int, stderr: int | None = None
    ) -> Iterator[Popen[bytes]]:
        import subprocess

        settings = dict(_SETTINGS)
        if self.version < _FSYNC_IN_PARTS:
            settings["core.fsyncObjectFiles"] = "true"
        pairs = (part for key, value in settings.items() for part in ("-c", f"{key}={value}"))
        repository = str(self._repository)
        command = [
            self._program,
            "--no-pager",
            "--literal-pathspecs",
            f"--git-dir={repository}",
            *pairs,
            *words,
        ]
        try:
            process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if stderr is None else stderr,
                cwd=repository,
                env=_environment(),
                pass_fds=() if self._held is None else (self._held,),
                process_group=_GROUP,
                umask=_UMASK,
            )
        except OSError as error:
            raise GitFailed("git can't be started", passes=True) from error
        try:
            with process:
                try:
                    yield process
                except BaseException:
                    _end(process)
                    raise
        except BrokenPipeError as error:  # from closing the pipe to one that has ended
            raise GitFailed("git ended early") from error


class Blobs:
    """A git that gives one blob after the other."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions = questions
        self._answers = answers

    def get(self, blob: str) -> bytes:
        """The bytes of a blob. Raises GitFailed if it is not there."""
        try:
            self._questions.write(f"{blob}\n".encode("ascii"))
            self._questions.flush()
        except OSError as error:
            raise GitFailed("git ended early") from error
        _, _, rest = self._answers.readline().partition(b" ")
        kind, _, size = rest.strip().partition(b" ")
        if kind != b"blob" or not size.isdigit():
            raise GitFailed("a version is missing")
        data = self._answers.read(int(size) + 1)
        if len(data) != int(size) + 1:
            raise GitFailed("git ended early")
        return data[:-1]


_GROUP, _UMASK = (None, -1) if sys.platform == "win32" else (0, 0o077)


def _environment() -> dict[str, str]:
    needed = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}  # of Windows
    return {**_ENVIRONMENT, **needed}


def _write(pipe: IO[bytes] | None, chunks: Iterable[bytes]) -> None:
    if pipe is None:
        return
    with suppress(BrokenPipeError):  # it has ended; its exit code says more
        for chunk in chunks:
            pipe.write(chunk)
        pipe.flush()


def _end(process: Popen[bytes]) -> None:
    """End a git, and what it started."""
    with suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        elif process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)


def _failed(code: int, complaint: bytes) -> GitFailed:
    if any(words in complaint for words in _FULL):
        return GitFailed("the disk is full", passes=True)
    if any(words in complaint for words in _CLOSED):
        return GitFailed("its files may not be read or written", passes=True)
    if code < 0:
        return GitFailed("git was ended", passes=True)
    return GitFailed(f"git ended with {code}")
