"""Edit: an exact piece of a file -> another; every other byte stays as it was (A2)."""

from __future__ import annotations

import re
from pathlib import Path

from memdir.agent.place import place
from memdir.agent.tools.base import Input, Tool, ToolContext, in_thread, schema
from memdir.agent.tools.text import Shape, decode, lines_of
from memdir.agent.tools.write import known_content, save
from memdir.errors import ToolError
from memdir.model.messages import ToolSpec
from memdir.prompts import render

_AROUND = 4
_NUMBERED = re.compile(r"\s*\d+\t")

SPEC = ToolSpec(
    name="Edit",
    description=render("tool_edit"),
    schema=schema(
        ("file_path", "old_string", "new_string"),
        file_path={"type": "string", "description": "Absolute path of the file"},
        old_string={"type": "string", "description": "The text to replace"},
        new_string={"type": "string", "description": "The text that takes its place"},
        replace_all={"type": "boolean", "description": "Replace every occurrence (default false)"},
    ),
)


def edit(given: Input, context: ToolContext) -> str:
    """Replace one piece, or every occurrence of it, and show the place."""
    path, old, new = place(given["file_path"], context.cwd), given["old_string"], given["new_string"]
    data = known_content(path, context, whole=False)
    if old == new:
        raise ToolError("old_string and new_string are the same; there is nothing to change")
    if not old:
        return _create(path, new, data, context)
    if data is None:
        raise ToolError(f"there is no file {path}; an empty old_string makes a new one")
    if (decoded := decode(data)) is None:
        raise ToolError(f"{path} is a binary file; Edit changes text only")
    text, shape = decoded
    changed, at, count = replace(text, old, new, shape, every=given.get("replace_all", False), path=path)
    save(path, shape.encode(changed), context, old=data)
    times = f" in {count} places" if count > 1 else ""
    return f"Changed {path}{times}:\n{_around(changed, at, len(lines_of(new)))}"


def replace(text: str, old: str, new: str, shape: Shape, *, every: bool, path: Path) -> tuple[str, int, int]:
    """The changed text, where its first change begins, and how many pieces were replaced.

    A line end in `old` matches LF and CRLF alike; those in `new` become what the file mostly has.

    Raises:
        ToolError: `old` is not there, or more than once without `every`.
    """
    parts = old.replace("\r\n", "\n").split("\n")
    pattern = re.compile(r"\r?\n".join(re.escape(part) for part in parts))
    found = [match.start() for match in pattern.finditer(text)]
    if not found:
        raise ToolError(f"old_string is not in {path}{_hint(text, old)}")
    if len(found) > 1 and not every:
        lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in found[:5])
        more = " and more" if len(found) > 5 else ""
        raise ToolError(
            f"old_string stands {len(found)} times in {path} (at lines {lines}{more}). "
            "Give more of the surrounding text, or set replace_all."
        )
    fresh = new.replace("\r\n", "\n").replace("\n", shape.newline)
    return pattern.sub(lambda _: fresh, text), found[0], len(found)


def _create(path: Path, new: str, data: bytes | None, context: ToolContext) -> str:
    if data:
        raise ToolError(f"{path} exists and is not empty; an empty old_string is for new files")
    save(path, Shape().encode(new), context, old=data)
    return f"Created {path} ({len(lines_of(new))} lines)"


def _hint(text: str, old: str) -> str:
    """What may be wrong with a piece that was not found."""
    if all(_NUMBERED.match(line) for line in lines_of(old) if line):
        return "; leave out the line numbers and the tab that Read puts before each line"
    first = next((line.split() for line in lines_of(old) if line.strip()), [])
    for number, line in enumerate(lines_of(text), 1):
        if first and line.split() == first:
            return f"; line {number} begins like it and differs in white space or further down. Read it again"
    return "; Read it again and copy the text exactly"


def _around(text: str, at: int, count: int) -> str:
    """The changed lines and a few on either side, numbered."""
    first = text.count("\n", 0, at)
    lines = lines_of(text)
    start, end = max(0, first - _AROUND), min(len(lines), first + min(count, 40) + _AROUND)
    return "\n".join(f"{number:>6}\t{lines[number - 1][:500]}" for number in range(start + 1, end + 1))


EDIT = Tool(spec=SPEC, read_only=False, run=in_thread(edit))
