"""A git repository -> variables that keep its configuration from running programs; or why it isn't touched.

`git status` in a repository of somebody else runs what its configuration says: a file system monitor,
filters, external diffs, a signature checker (CVE-2022-24765 and its kin). The person's own configuration is
left out altogether (`environment`); what the repository itself says is looked through, and each setting that
names a program is overridden. Reading a configuration runs nothing.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from memdir import fs, secrets
from memdir.agent.credentials import ANYWHERE
from memdir.agent.process import Ended, run
from memdir.agent.shell.names import Repository
from memdir.errors import ToolError, UnsafePath

ATTRIBUTES = Path(__file__).parent / "git" / "attributes"
"""For git: of files where credentials are kept, no contents are shown in diffs and searches (A5)."""

OLDEST = (2, 32)
"""Older gits don't hear of settings from the environment, or read the person's own."""

_SECONDS = 3.0

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
    "diff.ignoreSubmodules": "all",
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
    "log.diffMerges": "off",
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
_LONGEST_KEY = 500
_BESIDE = ("HEAD", "config", "index", "logs", "objects", "packed-refs", "refs", "worktrees")
"""What of a repository could lie elsewhere, by a link."""


class Git:
    """git in other people's repositories, with a scrubbed environment.

    `allowed` are the folders in which a repository may lie. `is_walled`: a wall of the system's stands.
    """

    def __init__(self, environment: Mapping[str, str], *, allowed: Sequence[Path], is_walled: bool) -> None:
        self._environment = environment
        self._allowed = allowed
        self._is_walled = is_walled

    async def overrides(self, asked: Sequence[tuple[Path, Repository]]) -> dict[str, str]:
        """Variables for git in these folders, on top of the environment.

        Raises:
            ToolError: git is not to look into one of them. The message says why.
        """
        await self._is_known()
        settings = dict(_ALWAYS)
        for folder, repository in asked:
            settings |= await self._drivers(folder)
            await self._stays_inside(folder)
            if repository.tells_addresses:
                await self._has_no_secret_addresses(folder)
            for name in repository.objects:
                if await self._lines(folder, "cat-file", "-t", name) == ["blob"]:
                    raise ToolError(f"{name} is a file without its path; name it as COMMIT:PATH")
        variables = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings.items()):
            variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return variables

    async def _is_known(self) -> None:
        found = re.search(r"(\d+)\.(\d+)", " ".join(await self._lines(Path("/"), "version")))
        if found is None or (int(found[1]), int(found[2])) < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise ToolError(f"git can't be used here: it takes git {oldest} to keep a repository from acting")

    async def _drivers(self, folder: Path) -> dict[str, str]:
        """The settings of this repository that name a program, each with a value that names none."""
        ended = await self._run(folder, "config", "--list", "--includes", "--name-only", "-z")
        if ended.code != 0 or not ended.whole:
            raise ToolError(f"the git configuration of {folder} can't be read; look at the files themselves")
        found = dict(_neutral(ended.output.decode("utf-8", errors="surrogateescape").split("\0")))
        if len(found) > MOST_DRIVERS or any(len(key) > _LONGEST_KEY for key in found):
            raise ToolError(f"the git configuration of {folder} has too many drivers; look at the files")
        return found

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
        parts = [home / name for home in homes for name in _BESIDE]
        for place in (*homes, *tops, *parts, *(one for home in homes for one in _alternates(home))):
            if not place.is_absolute() or not any(fs.inside(one, place) for one in self._allowed):
                raise ToolError(f"the git repository of {folder} leads to {place}, outside the project")
        if not self._is_walled and any(any(home.glob("sharedindex.*")) for home in homes):
            raise ToolError(f"the git repository of {folder} has a split index, which git touches to read it")

    async def _has_no_secret_addresses(self, folder: Path) -> None:
        """Raise ToolError where the configuration holds a token: what shows it could pass it on disguised."""
        ended = await self._run(folder, "config", "--list", "--includes", "-z")
        if ended.code != 0 or secrets.scan(ended.output.decode("utf-8", errors="replace")):
            raise ToolError(f"the git configuration of {folder} holds a password or a token; it is not shown")

    async def _lines(self, folder: Path, *arguments: str) -> list[str]:
        """What git answers; nothing where it fails."""
        ended = await self._run(folder, *arguments)
        if ended.code is None:
            raise ToolError(f"git doesn't answer in {folder}; look at the files themselves")
        said = ended.output.decode("utf-8", errors="surrogateescape")
        return said.splitlines() if ended.code == 0 else []

    async def _run(self, folder: Path, *arguments: str) -> Ended:
        git = shutil.which("git", path=self._environment["PATH"])
        if git is None:
            raise ToolError("there is no git on this machine; look at the files themselves")
        command = [git, "-C", str(folder), *arguments]
        return await run(command, cwd=folder, environment=self._environment, seconds=_SECONDS)


def _neutral(keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    for key in keys:
        for pattern, value in _DRIVERS:
            if pattern.fullmatch(key):
                yield key, value


def _alternates(home: Path) -> Iterator[Path]:
    """Where the repository has objects from, beside its own."""
    for name in ("alternates", "http-alternates"):
        with suppress(OSError, ValueError, UnsafePath):
            for line in fs.read_file(home / "objects" / "info" / name).decode().splitlines():
                yield home / "objects" / line


def attributes() -> str:
    """The text of `ATTRIBUTES`, from the list of credential places."""
    lines = [f"{name} -diff" if "/" not in name else f"**/{name} -diff" for name in ANYWHERE.split()]
    below = [f"**/{name}/** -diff" for name in ANYWHERE.split()]
    return "".join(f"{line}\n" for line in (*lines, *below))


if __name__ == "__main__":
    ATTRIBUTES.parent.mkdir(exist_ok=True)
    ATTRIBUTES.write_text(attributes(), encoding="utf-8")
