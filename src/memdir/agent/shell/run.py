"""A command line that passed -> what it printed, run so that it could do no harm even if it were misjudged.

The script of the verdict runs, not the text. It has a scrubbed environment, a search path without the
project, git settings that run nothing, limits of its own, and behind it the wall that this system offers.
Secrets in what it prints are masked: the answer goes to a model (E10).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio.to_thread

from memdir import secrets
from memdir.agent import process
from memdir.agent.place import place
from memdir.agent.process import Ended
from memdir.agent.shell.environment import scrubbed
from memdir.agent.shell.repository import ATTRIBUTES, Git
from memdir.agent.shell.verdict import ShellVerdict
from memdir.agent.shell.wall import behind, standing
from memdir.errors import ToolError

_LIMITS = "ulimit -S -c 0 -t 30 -f {blocks} -v 1048576 2>/dev/null; "
"""No core file, 30 seconds of processor time, files of some size, 1 GiB of memory for each command."""
_SCRATCH_BLOCKS = 262_144
"""Of 1,024 bytes: what sort may put aside where the wall has a scratch folder. Elsewhere nothing."""


async def run(
    verdict: ShellVerdict,
    *,
    cwd: Path,
    folders: Sequence[Path],
    environment: Mapping[str, str],
    seconds: float,
) -> Ended:
    """Run the script of a verdict that allows it, in `cwd`. It sees `folders` and the system, read-only.

    Raises:
        ToolError: there is no bash, or git is not to look into a repository.
    """
    clean = scrubbed(environment, avoid=folders)
    shell = shutil.which("bash", path=clean["PATH"])
    if shell is None:
        raise ToolError("there is no bash on this machine; use the other tools")
    wall = await anyio.to_thread.run_sync(standing)
    shown = [*folders]
    if verdict.repositories:
        git = Git(clean, allowed=folders, is_walled=wall.name != "none")
        places = [(place(one.folder or ".", cwd), one) for one in verdict.repositories]
        clean |= await git.overrides([(folder, one) for folder, one in places if folder.is_dir()])
        shown += [ATTRIBUTES.parent, *git.places]
    limits = _LIMITS.format(blocks=_SCRATCH_BLOCKS if wall.name == "bubblewrap" else 0)
    command = [shell, "--norc", "--noprofile", "-c", limits + verdict.script]
    return await process.run(
        behind(wall, command, folders=shown, cwd=cwd, environment=clean),
        cwd=cwd,
        environment=clean,
        seconds=seconds,
        join=True,
    )


def masked(output: str) -> str:
    """The output with secrets taken out of it."""
    for finding in reversed(secrets.scan(output)):
        output = f"{output[: finding.start]}[{finding.rule}, hidden]{output[finding.end :]}"
    return output
