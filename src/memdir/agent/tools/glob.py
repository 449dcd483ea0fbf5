"""Glob: a name pattern -> the paths of files that fit, the newest first."""

from __future__ import annotations

import os

import anyio.to_thread

from memdir.agent.place import place
from memdir.agent.tools.base import Input, Tool, ToolContext, schema, where_read
from memdir.agent.tools.search import matcher, walk
from memdir.errors import ToolError
from memdir.model.messages import ToolSpec
from memdir.prompts import render

MOST = 100

SPEC = ToolSpec(
    name="Glob",
    description=render("tool_glob"),
    schema=schema(
        ("pattern",),
        pattern={"type": "string", "description": "Name pattern, relative to the folder"},
        path={"type": "string", "description": "Absolute path of the folder to look in"},
    ),
)


def glob(given: Input, context: ToolContext) -> str:
    """The paths that fit, the newest first."""
    pattern, folder = given["pattern"], place(given.get("path") or ".", context.cwd)
    if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
        raise ToolError("the pattern is relative to a folder and goes down from it; give the folder as path")
    if not folder.is_dir():
        raise ToolError(f"there is no folder {folder}")
    folder, _ = where_read(folder, context)
    fits, root = matcher(pattern), str(folder)
    found = [
        (mtime_ns, path)
        for path, mtime_ns in walk(root)
        if fits(os.path.relpath(path, root).replace(os.sep, "/"))
    ]
    if not found:
        return f"No file below {folder} fits {pattern}"
    found.sort(key=lambda one: (-one[0], one[1]))
    more = f"\n[the {MOST} newest of {len(found)}; a narrower pattern or folder shows others]"
    return "\n".join(path for _, path in found[:MOST]) + (more if len(found) > MOST else "")


async def run(given: Input, context: ToolContext) -> str:
    """Look without holding up the session; an abort need not wait for it."""
    return await anyio.to_thread.run_sync(glob, given, context, abandon_on_cancel=True)


GLOB = Tool(spec=SPEC, read_only=True, run=run)
