"""Bash for a background fork: a command line that only reads -> what it printed, without secrets (A6, E10).

A module of its own, loaded when a fork first runs something: nobody else pays for the table and the wall.
"""

from __future__ import annotations

from functools import partial

import anyio.to_thread

from memdir.agent.process import Ended
from memdir.agent.shell import check
from memdir.agent.shell.reach import bar_of
from memdir.agent.shell.run import masked, run
from memdir.agent.tools.base import LIMIT, ToolContext, cut_middle
from memdir.errors import ToolError


async def run_guarded(command: str, context: ToolContext, seconds: float) -> Ended:
    """Judge the line, and run it.

    The permission has judged it before. It is judged again: by now, its paths may lead elsewhere.

    Raises:
        ToolError: it may not run.
    """
    verdict = await anyio.to_thread.run_sync(check, command)
    if not verdict.allowed:
        raise ToolError(f"{verdict.reason}. A background job may only read with Bash.")
    folders = context.folders()
    look = partial(bar_of, verdict.names, cwd=context.cwd, folders=folders)
    if bar := await anyio.to_thread.run_sync(look):
        raise ToolError(bar.text)
    return await run(
        verdict, cwd=context.cwd, folders=folders, environment=context.environment, seconds=seconds
    )


async def told(output: str) -> str:
    """The output for the model: a bounded piece of it, no secret in it, none cut in two unseen."""
    return await anyio.to_thread.run_sync(masked, cut_middle(output, 2 * LIMIT))
