"""Bash: a command line -> what it printed, bounded in time and size (A2)."""

from __future__ import annotations

import shutil

from memdir.agent.process import Ended, handed_on, run
from memdir.agent.tools.base import Input, Tool, ToolContext, cut_middle, schema
from memdir.errors import ToolError
from memdir.model.messages import ToolSpec
from memdir.prompts import render

DEFAULT_MS = 120_000
MOST_MS = 600_000
READING_MS = 10_000
"""For a command of a background fork, at most."""

SPEC = ToolSpec(
    name="Bash",
    description=render("tool_bash"),
    schema=schema(
        ("command",),
        command={"type": "string", "description": "The command line"},
        timeout={"type": "integer", "minimum": 1, "maximum": MOST_MS, "description": "Milliseconds"},
        description={"type": "string", "description": "What the command does, in a few words"},
    ),
)


async def bash(given: Input, context: ToolContext) -> str:
    """Run one command line; an exit code other than 0 is an error result.

    For a background fork it is a command line that only reads, run in a way that keeps it so (A6).
    """
    if "\0" in given["command"]:
        raise ToolError("the command holds a NUL byte")
    if context.memory_only:
        from memdir.agent.tools.guarded import run_guarded, told

        milliseconds = min(given.get("timeout", READING_MS), READING_MS)
        ended = await run_guarded(given["command"], context, milliseconds / 1000)
        output = await told(_text(ended))
    else:
        milliseconds = given.get("timeout", DEFAULT_MS)
        ended = await run(
            [_shell(context), "-c", given["command"]],
            cwd=context.cwd,
            environment=handed_on(context.environment),
            seconds=milliseconds / 1000,
            join=True,
        )
        output = _text(ended)
    output = cut_middle(output)
    if ended.code is None:
        raise ToolError(f"stopped after {milliseconds / 1000:g} seconds; until then it printed:\n{output}")
    if ended.code != 0:
        raise ToolError(f"exit code {ended.code}\n{output}".rstrip())
    return output or "(no output)"


def _text(ended: Ended) -> str:
    return ended.output.decode("utf-8", errors="replace").rstrip("\n")


def _shell(context: ToolContext) -> str:
    shell = shutil.which("bash", path=context.environment.get("PATH"))
    if shell is None:
        raise ToolError("there is no bash on this machine; use the other tools")
    return shell


BASH = Tool(spec=SPEC, read_only=False, run=bash)
