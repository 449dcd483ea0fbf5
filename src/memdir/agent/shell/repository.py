"""A git repository -> variables that keep its configuration from running programs; or why it isn't touched.

`git status` in a repository of somebody else runs what its configuration says: a file system monitor,
filters, external diffs, a signature checker (CVE-2022-24765 and its kin). The person's own configuration is
left out altogether (`environment`); what the repository itself says is looked through, and each setting that
names a program is overridden. Reading a configuration runs nothing.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from memdir import fs, secrets
from memdir.agent.credentials import ANYWHERE, holds_secrets
from memdir.agent.process import Ended, run
from memdir.agent.shell.names import Repository
from memdir.errors import ToolError, UnsafePath

ATTRIBUTES = Path(__file__).parent / "git" / "attributes"
"""For git: of files where credentials are kept, no contents are shown in diffs and searches (A5)."""

OLDEST = (2, 32)
"""Older gits don't hear of settings from the environment, or read the person's own."""

_SECONDS = 4.0
"""For all that is asked before the line runs."""

_ALWAYS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.editor": "false",
    "core.askPass": "false",
    "core.sshCommand": "false",
    "core.gitProxy": "false",
    "core.alternateRefsCommand": "true",
    "core.attributesFile": str(ATTRIBUTES),
    "core.excludesFile": "/dev/null",
    "core.packedGitLimit": "256m",
    "core.packedGitWindowSize": "64m",
    "core.untrackedCache": "false",
    "blame.ignoreRevsFile": "",
    "credential.helper": "",
    "diff.autoRefreshIndex": "false",
    "diff.external": "",
    "diff.ignoreSubmodules": "dirty",
    "diff.orderFile": "/dev/null",
    "diff.submodule": "short",
    "format.pretty": "medium",
    "gc.auto": "0",
    "gpg.program": "false",
    "gpg.openpgp.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "gpg.ssh.defaultKeyCommand": "false",
    "interactive.diffFilter": "cat",
    "log.diffMerges": "separate",
    "log.showSignature": "false",
    "mailmap.blob": "",
    "mailmap.file": "/dev/null",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "status.submoduleSummary": "false",
    "submodule.recurse": "false",
}
"""Settings that name a program or a file, reach out or write, at a value that does none of it."""

_DRIVERS = (
    (re.compile(r"filter\..*\.(?:clean|smudge|process)", re.DOTALL), ""),
    (re.compile(r"filter\..*\.required", re.DOTALL), "false"),
    (re.compile(r"diff\..*\.(?:command|textconv)", re.DOTALL), ""),
    (re.compile(r"merge\..*\.driver", re.DOTALL), "false"),
    (re.compile(r"pager\..*", re.DOTALL), "false"),
    (re.compile(r"remote\..*\.(?:uploadpack|receivepack|vcs|proxy)", re.DOTALL), "false"),
    (re.compile(r"remote\..*\.promisor", re.DOTALL), "false"),
    (re.compile(r"(?:pretty|alias|credential)\..*", re.DOTALL), ""),
)
"""Settings whose names the repository makes up, and what is put in their place."""


MOST_DRIVERS = 200
"""Settings of a repository's own that are overridden. One with more is no project's."""
MOST_WORDS = 100
"""Words that may be revisions, in one line."""
_LONGEST_KEY = 500
_LONGEST_CONFIG = 256 * 1024
_MOST_LINKS = 20_000
_BESIDE = ("HEAD", "config", "index", "logs", "objects", "packed-refs", "refs", "worktrees")
"""What of a repository could lie elsewhere, by a link."""
_RANGE = re.compile(r"\.{2,3}")


class Git:
    """git in other people's repositories, with a scrubbed environment.

    `allowed` are the folders in which a repository may lie. `is_walled`: a wall of the system's stands.
    """

    def __init__(self, environment: Mapping[str, str], *, allowed: Sequence[Path], is_walled: bool) -> None:
        self._environment = environment
        self._allowed = allowed
        self._is_walled = is_walled
        self._overrides: dict[str, str] = {}
        self.places: set[Path] = set()
        """Git folders and work trees that were found, and may be looked into."""

    async def overrides(self, asked: Sequence[tuple[Path, Repository]]) -> dict[str, str]:
        """Variables for git in these folders, on top of the environment. Takes bounded time.

        Raises:
            ToolError: git is not to look into one of them. The message says why.
        """
        settings = dict(_ALWAYS)
        try:
            with anyio.fail_after(_SECONDS):
                await self._is_known()
                folders = list(dict.fromkeys(folder for folder, _ in asked))
                for folder in folders:
                    settings |= await self._drivers(folder)
                self._overrides = _variables(settings)  # nothing but reading settings is done without them
                for folder in folders:
                    await self._stays_inside(folder)
                for folder, repository in asked:
                    await self._hides(folder, repository)
        except TimeoutError as error:
            raise ToolError("git doesn't answer in time; look at the files themselves") from error
        return self._overrides

    async def _is_known(self) -> None:
        found = re.search(r"(\d+)\.(\d+)", " ".join(await self._lines(Path("/"), "version")))
        if found is None or (int(found[1]), int(found[2])) < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise ToolError(f"git can't be used here: it takes git {oldest} to keep a repository from acting")

    async def _drivers(self, folder: Path) -> dict[str, str]:
        """The settings of this repository that name a program, each with a value that names none."""
        listed = await self._settings(folder, "--name-only")
        found = dict(_neutral(listed.split("\0")))
        if len(found) > MOST_DRIVERS or any(len(key) > _LONGEST_KEY for key in found):
            raise ToolError(f"the git configuration of {folder} has too many drivers; look at the files")
        return found

    async def _settings(self, folder: Path, *how: str) -> str:
        """The configuration of the repository, as git lists it."""
        ended = await self._run(folder, "config", "--list", "--includes", "-z", *how)
        if ended.code != 0 or len(ended.output) > _LONGEST_CONFIG:
            raise ToolError(f"the git configuration of {folder} can't be read; look at the files themselves")
        return ended.output.decode("utf-8", errors="surrogateescape")

    async def _stays_inside(self, folder: Path) -> None:
        """Raise ToolError for a repository that lies elsewhere, as a whole or in part.

        A `.git` file, `core.worktree`, a link or an alternate can point anywhere. Without a wall also for one
        with a split index, which each git touches that reads it.
        """
        asked = ("--path-format=absolute", "--git-dir", "--git-common-dir")
        homes = [Path(line) for line in await self._lines(folder, "rev-parse", *asked)]
        if not homes:
            raise ToolError(f"there is no git repository in {folder}")
        tops = [Path(line) for line in await self._lines(folder, "rev-parse", "--show-toplevel")]
        self.places.update(homes, tops)
        check = partial(_check_places, folder, homes, tops, self._allowed)
        await anyio.to_thread.run_sync(check)
        if not self._is_walled and any(any(home.glob("sharedindex.*")) for home in homes):
            raise ToolError(f"the git repository of {folder} has a split index, which git touches to read it")

    async def _hides(self, folder: Path, asked: Repository) -> None:
        """Raise ToolError where git would show credentials, by a name or an attribute that tells no path."""
        if asked.tells_addresses:
            settings = await self._settings(folder)
            if await anyio.to_thread.run_sync(secrets.scan, settings):
                raise ToolError(f"the git configuration of {folder} holds a password or a token")
        if asked.reads_files:
            await self._hides_objects(folder, asked)
            await self._hides_files(folder)

    async def _hides_objects(self, folder: Path, asked: Repository) -> None:
        """Each word that is a revision must be a commit, or a path in one."""
        words = [part for word in asked.shows for part in _RANGE.split(word.removeprefix("^"))]
        words = [word for word in words if word and not word.startswith("-")]
        if len(words) > MOST_WORDS or any("\n" in word for word in words):
            raise ToolError("name fewer revisions in one line")
        for word in words:
            start, colon, _ = word.partition(":")
            if start and (kind := await self._kind(folder, start)) not in ("commit", None):
                raise ToolError(f"{start} is a {kind} without its path; name it as COMMIT:PATH")
            if colon and not asked.trees and await self._kind(folder, word) == "tree":
                raise ToolError(f"{word} is a folder; name the commit, and the folder behind --")

    async def _kind(self, folder: Path, word: str) -> str | None:
        """What a word is to git, tags followed: commit, tree or blob; None if it is no revision."""
        name = word if ":" in word else f"{word}^{{}}"
        kinds = await self._lines(folder, "cat-file", "-t", name)
        return kinds[0] if kinds else None

    async def _hides_files(self, folder: Path) -> None:
        """No attribute of the repository's own may undo `ATTRIBUTES` for what is tracked."""
        ended = await self._run(folder, "ls-files", "-z", "--full-name", ":/")
        if not ended.whole:
            raise ToolError(f"the repository of {folder} is too large for this; look at the files themselves")
        if ended.code != 0 or not (hidden := await anyio.to_thread.run_sync(_credentials, ended.output)):
            return
        top = await self._lines(folder, "rev-parse", "--show-cdup")
        place = folder / (top[0] if top else "")
        told = await self._run(place, "check-attr", "--stdin", "-z", "diff", given=b"\0".join(hidden))
        values = told.output.split(b"\0")
        shown = [path for path, value in zip(values[::3], values[2::3], strict=False) if value != b"unset"]
        if told.code != 0 or shown or len(values) // 3 != len(hidden):
            name = shown[0].decode("utf-8", errors="replace") if shown else "some file"
            raise ToolError(
                f"credentials are kept in {name}, and an attribute of the repository has git show it; "
                "look at other files by themselves"
            )

    async def _lines(self, folder: Path, *arguments: str) -> list[str]:
        """What git answers; nothing where it fails."""
        ended = await self._run(folder, *arguments)
        said = ended.output.decode("utf-8", errors="surrogateescape")
        return said.splitlines() if ended.code == 0 else []

    async def _run(self, folder: Path, *arguments: str, given: bytes | None = None) -> Ended:
        git = shutil.which("git", path=self._environment["PATH"])
        if git is None:
            raise ToolError("there is no git on this machine; look at the files themselves")
        command = [git, "-C", str(folder), *arguments]
        environment = {**self._environment, **self._overrides}
        return await run(command, cwd=folder, environment=environment, seconds=_SECONDS, given=given)


def _variables(settings: Mapping[str, str]) -> dict[str, str]:
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _neutral(keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    for key in keys:
        for pattern, value in _DRIVERS:
            if pattern.fullmatch(key):
                yield key, value


def _check_places(folder: Path, homes: Sequence[Path], tops: Sequence[Path], allowed: Sequence[Path]) -> None:
    """Raise ToolError unless a repository lies in the allowed folders, or belongs to them by their word."""

    def is_inside(place: Path) -> bool:
        return place.is_absolute() and any(fs.inside(one, place) for one in allowed)

    for top in tops:
        found_by_itself = _holds(top, folder) and any(_is_of(home, top) for home in homes)
        if not is_inside(top) and not found_by_itself:
            raise ToolError(f"the git repository of {folder} leads to {top}, outside the project")
    for home in homes:
        if not is_inside(home) and not any(_is_of(home, top) for top in tops):
            raise ToolError(f"the git repository of {folder} leads to {home}, outside the project")
        real = os.path.realpath(home)
        for link in _links(home):
            if not Path(os.path.realpath(link)).is_relative_to(real):
                raise ToolError(f"{link} leads out of the git repository of {folder}")
        for name in ("alternates", "http-alternates"):
            if os.path.lexists(home / "objects" / "info" / name):
                raise ToolError(f"the git repository of {folder} has objects elsewhere ({name})")


def _holds(top: Path, folder: Path) -> bool:
    """Whether the folder is in this work tree, which is neither the machine nor a home."""
    return top not in (Path(top.anchor), Path.home()) and fs.inside(top, folder)


def _is_of(home: Path, top: Path) -> bool:
    """Whether a git folder is the one of this work tree, as git finds it by itself."""
    own = os.path.realpath(top / ".git")
    return (os.path.isdir(own) and os.path.realpath(home) == own) or _belongs(home, top)  # noqa: PTH112


def _belongs(home: Path, top: Path) -> bool:
    """Whether a git folder elsewhere is the one of a linked work tree or a submodule, and says so itself."""
    with suppress(OSError, ValueError, UnsafePath):
        said = fs.read_file(top / ".git").decode().removeprefix("gitdir:").strip()
        leads = Path(os.path.realpath(top / said))
        if leads.parent.name == "worktrees" and os.path.realpath(home) in (
            str(leads),
            str(leads.parent.parent),
        ):
            back = fs.read_file(leads / "gitdir").decode().strip()
            return os.path.realpath(back) == os.path.realpath(top / ".git")
        if str(leads) == os.path.realpath(home):
            tree = _WORKTREE.search(fs.read_file(leads / "config").decode())
            return tree is not None and os.path.realpath(leads / tree[1].strip()) == os.path.realpath(top)
    return False


_WORKTREE = re.compile(r"^\s*worktree\s*=\s*(.+)$", re.MULTILINE)


def _links(home: Path) -> Iterator[Path]:
    """The links among the parts of a repository, its objects and its refs."""
    waiting, seen = [home / name for name in _BESIDE], 0
    while waiting:
        place = waiting.pop()
        if place.is_symlink():
            yield place
        elif place.is_dir():
            parts = place.relative_to(home).parts
            if len(parts) == 1 or (len(parts) == 2 and (parts[0] == "refs" or parts[1] in ("pack", "info"))):
                for entry in os.scandir(place):
                    waiting.append(place / entry.name)
                    seen += 1
                    if seen > _MOST_LINKS:
                        raise ToolError(f"{home} has too many parts to be looked through; pack its refs")


def _credentials(listed: bytes) -> list[bytes]:
    """Those of the tracked files, told by git with a NUL behind each, in which credentials are kept."""
    paths = listed.split(b"\0")
    return [path for path in paths if path and holds_secrets(path.decode("utf-8", errors="surrogateescape"))]


def attributes() -> str:
    """The text of `ATTRIBUTES`, from the list of credential places."""
    names = [name if "/" not in name else f"**/{name}" for name in ANYWHERE.split()]
    return "".join(
        f"{_cased(line)} -diff\n" for line in (*names, *(f"**/{name}/**" for name in ANYWHERE.split()))
    )


def _cased(pattern: str) -> str:
    """The pattern for letters of any case."""
    return "".join(f"[{c}{c.swapcase()}]" if c.isalpha() and c.isascii() else c for c in pattern)


if __name__ == "__main__":
    ATTRIBUTES.parent.mkdir(exist_ok=True)
    ATTRIBUTES.write_text(attributes(), encoding="utf-8")
