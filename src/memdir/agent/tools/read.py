"""Read: a file -> its lines, numbered, or the picture in it; and the table notes what was seen (A2)."""

from __future__ import annotations

import base64
import difflib
import os
from dataclasses import replace
from pathlib import Path

from memdir import fs
from memdir.agent.place import place
from memdir.agent.tools.base import (
    Input,
    Output,
    Tool,
    ToolContext,
    in_memory,
    in_thread,
    schema,
    told_to_the_model,
    where_read,
)
from memdir.agent.tools.picture import recognised
from memdir.agent.tools.text import decode, lines_of
from memdir.errors import ToolError
from memdir.memory import entrypoint, manifest
from memdir.memory.scan import moment
from memdir.model.messages import Image, ToolSpec
from memdir.prompts import render

MAX_LINES = 2000
MAX_LINE = 2000
MAX_CHARACTERS = 100_000
MAX_BYTES = 10 * 1024 * 1024
MAX_PICTURE_BYTES = 5 * 1024 * 1024 * 3 // 4
"""Of the file: what services take is 5 MiB of base64, which is a third longer."""
MAX_SIDE = 8000
"""Pixels of a picture's width or height."""

SPEC = ToolSpec(
    name="Read",
    description=render("tool_read"),
    schema=schema(
        ("file_path",),
        file_path={"type": "string", "description": "Absolute path of the file"},
        offset={"type": "integer", "minimum": 0, "description": "First line to give, counted from 1"},
        limit={"type": "integer", "minimum": 1, "description": "How many lines to give"},
    ),
)


def read(given: Input, context: ToolContext) -> str | Output:
    """The numbered lines of a file, or the picture that it is."""
    path = place(given["file_path"], context.cwd)
    data, mtime_ns = load(path, context)
    decoded = decode(data)
    if decoded is None:
        output = _picture(path, data)
        context.files.saw(path, data=data, mtime_ns=mtime_ns, partial=False, how="read")
        return replace(output, text=output.text + _age(path, mtime_ns, context))
    lines = lines_of(decoded[0])
    first = max(1, given.get("offset", 1))
    if lines and first > len(lines):
        raise ToolError(f"{path} has only {len(lines)} lines; offset {first} is behind its end")
    shown, whole = numbered(lines, first, given.get("limit", MAX_LINES))
    context.files.saw(path, data=data, mtime_ns=mtime_ns, partial=not whole, how="read")
    return shown + _note(path, lines, first, shown) + _age(path, mtime_ns, context)


def _picture(path: Path, data: bytes) -> Output:
    """The picture that the bytes are, with a line about it.

    Raises:
        ToolError: they are none, or one that no service would take.
    """
    picture = recognised(data)
    if picture is None:
        raise ToolError(
            f"{path} is a binary file ({len(data):,} bytes); Read shows text, and PNG, JPEG, GIF and WebP"
        )
    about = f"{path} is a {picture.kind} picture, {len(data):,} bytes"
    if picture.size is None:
        raise ToolError(f"{about}, but broken or cut off. Make it again, or convert it with Bash")
    about += ", {} x {} pixels".format(*picture.size)
    if len(data) > MAX_PICTURE_BYTES or max(picture.size) > MAX_SIDE:
        raise ToolError(
            f"{about}: too big, the limits are {MAX_PICTURE_BYTES:,} bytes and {MAX_SIDE:,} pixels a side. "
            "Make a smaller copy with Bash, and Read that"
        )
    image = Image(media_type=picture.media_type, data=base64.b64encode(data).decode("ascii"))
    return Output(text=about, images=(image,))


def load(path: Path, context: ToolContext) -> tuple[bytes, int]:
    """The bytes of a regular file and its mtime in nanoseconds; a memory is asked of its directory.

    Raises:
        ToolError: it is not there (with the nearest name that is), a folder, no regular file, or too big.
    """
    with told_to_the_model(path):
        try:
            found = path.stat()
        except FileNotFoundError as error:
            raise ToolError(f"there is no file {path}{_nearest(path)}") from error
        if path.is_dir():
            raise ToolError(f"{path} is a folder; list it with Glob")
        if found.st_size > MAX_BYTES:
            raise ToolError(
                f"{path} is too big to read ({found.st_size:,} bytes); search it with Grep, or if it is a "
                "picture, make a smaller copy with Bash"
            )
        if context.memory and path.suffix == ".md" and in_memory(path, context):
            stored = context.memory.read(Path(os.path.realpath(path)))
            return stored.data, stored.mtime_ns
        real, folder = where_read(path, context)
        return fs.read_file(real, within=folder), found.st_mtime_ns


def _nearest(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"; the folder {path.parent} is not there either"
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"; did you mean {path.parent / close[0]}?" if close else ""


def numbered(lines: list[str], first: int, limit: int) -> tuple[str, bool]:
    """The lines asked for, numbered, and whether that is the whole file, uncut."""
    wanted, out, room = lines[first - 1 : first - 1 + limit], list[str](), MAX_CHARACTERS
    for number, line in enumerate(wanted, first):
        entry = f"{number:>6}\t{line[:MAX_LINE]}" + (" [line cut]" if len(line) > MAX_LINE else "")
        room -= len(entry) + 1
        if room < 0:
            break
        out.append(entry)
    whole = len(out) == len(lines) and all(len(line) <= MAX_LINE for line in lines)
    return "\n".join(out), whole


def _note(path: Path, lines: list[str], first: int, shown: str) -> str:
    if not lines:
        return f"[{path} is there, and empty]"
    last = first + shown.count("\n")
    if last < len(lines):
        return f"\n\n[lines {first} to {last} of {len(lines)}; go on with offset {last + 1}]"
    return ""


def _age(path: Path, mtime_ns: int, context: ToolContext) -> str:
    """How old a memory is, when it is old enough to be doubted (M5)."""
    if path.name == entrypoint.NAME or not in_memory(path, context):
        return ""
    note = manifest.staleness_note(manifest.age_in_days(moment(mtime_ns), context.now()))
    return f"\n\n[{note}]" if note else ""


READ = Tool(spec=SPEC, read_only=True, run=in_thread(read))
