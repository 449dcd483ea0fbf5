"""A git repository -> variables that keep its configuration from running programs; or why it isn't touched.

`git status` in a repository of somebody else runs what its configuration says: a file system monitor,
filters, external diffs, a signature checker (CVE-2022-24765 and its kin). The person's own configuration is
left out altogether (`environment`); what the repository itself says is looked through, and each setting that
names a program is overridden. Reading a configuration runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memdir import fs
from memdir.agent.process import Ended, run
from memdir.errors import ToolError

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
    "core.untrackedCache": "false",
    "credential.helper": "",
    "diff.autoRefreshIndex": "false",
    "diff.external": "",
    "diff.ignoreSubmodules": "all",
    "diff.submodule": "short",
    "format.pretty": "medium",
    "gc.auto": "0",
    "gpg.program": "false",
    "gpg.openpgp.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "gpg.ssh.defaultKeyCommand": "false",
    "interactive.diffFilter": "cat",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "status.submoduleSummary": "false",
    "submodule.recurse": "false",
}
"""Settings that name a program, reach out or write, at a value that does none of it."""

_DRIVERS = (
    (re.compile(r"filter\..+\.(?:clean|smudge|process)", re.DOTALL), ""),
    (re.compile(r"filter\..+\.required", re.DOTALL), "false"),
    (re.compile(r"diff\..+\.(?:command|textconv)", re.DOTALL), ""),
    (re.compile(r"merge\..+\.driver", re.DOTALL), "false"),
    (re.compile(r"pager\..+", re.DOTALL), "false"),
    (re.compile(r"remote\..+\.(?:uploadpack|receivepack|vcs|proxy)", re.DOTALL), "false"),
    (re.compile(r"remote\..+\.promisor", re.DOTALL), "false"),
    (re.compile(r"(?:pretty|alias|credential)\..+", re.DOTALL), ""),
)
"""Settings whose names the repository makes up, and what is put in their place."""


MOST_DRIVERS = 200
"""Settings of a repository's own that are overridden. One with more is no project's."""
_LONGEST_KEY = 500


async def overrides(
    folders: Sequence[Path], environment: Mapping[str, str], *, allowed: Sequence[Path], walled: bool
) -> dict[str, str]:
    """Variables for git in these folders, on top of a scrubbed environment.

    `allowed` are the folders in which a repository may lie. `walled`: a wall of the system's stands.

    Raises:
        ToolError: git is not to look into one of them. The message says why.
    """
    settings = dict(_ALWAYS)
    for folder in folders:
        settings |= await _drivers(folder, environment)
        await _stays_inside(folder, environment, allowed, walled=walled)
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


async def _drivers(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of this repository that name a program, each with a value that names none."""
    asked = ["config", "--list", "--includes", "--name-only", "-z"]
    ended = await _git(asked, folder, environment)
    if ended.code != 0 or not ended.whole:
        raise ToolError(f"the git configuration of {folder} can't be read; look at the files themselves")
    found = dict(_neutral(ended.output.decode("utf-8", errors="surrogateescape").split("\0")))
    if len(found) > MOST_DRIVERS or any(len(key) > _LONGEST_KEY for key in found):
        raise ToolError(
            f"the git configuration of {folder} is not one of a project; look at the files themselves"
        )
    return found


def _neutral(keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    for key in keys:
        for pattern, value in _DRIVERS:
            if pattern.fullmatch(key):
                yield key, value


async def _stays_inside(
    folder: Path, environment: Mapping[str, str], allowed: Sequence[Path], *, walled: bool
) -> None:
    """Raise ToolError for a repository that lies elsewhere: a `.git` file or `core.worktree` says so.

    Without a wall also for one with a split index, which each git touches that reads it.
    """
    asked = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"]
    found = await _lines(asked, folder, environment)
    for place in map(Path, [*found, *await _lines(["rev-parse", "--show-toplevel"], folder, environment)]):
        if not any(fs.inside(one, place) for one in allowed):
            raise ToolError(f"the git repository of {folder} leads to {place}, outside the project")
    if not walled and any(any(Path(place).glob("sharedindex.*")) for place in found):
        raise ToolError(f"the git repository of {folder} has a split index, which git touches when it reads")


async def _lines(asked: Sequence[str], folder: Path, environment: Mapping[str, str]) -> list[str]:
    """What git answers; nothing where there is no repository, or no work tree."""
    ended = await _git(asked, folder, environment)
    if ended.code is None:
        raise ToolError(f"git doesn't answer in {folder}; look at the files themselves")
    return ended.output.decode("utf-8", errors="surrogateescape").splitlines() if ended.code == 0 else []


async def _git(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Ended:
    command = ["git", "-C", str(folder), *arguments]
    return await run(command, cwd=folder, environment=environment, seconds=_SECONDS)
