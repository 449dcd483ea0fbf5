"""Grep: a regular expression -> the files, lines or counts that match (A2).

ripgrep does the work where it is installed, and `search.py` in a process of its own where it is not. Both
give `Hit`s, and one function puts them into words.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memdir.agent import credentials
from memdir.agent.place import place
from memdir.agent.process import Ended, handed_on, run
from memdir.agent.shell.environment import scrubbed
from memdir.agent.tools import search
from memdir.agent.tools.base import LIMIT, Input, Tool, ToolContext, schema, where_read
from memdir.errors import ToolError
from memdir.model.messages import ToolSpec
from memdir.prompts import render

SECONDS = 20.0
LONGEST_LINE = 500

_COUNT = {"type": "integer", "minimum": 0}

SPEC = ToolSpec(
    name="Grep",
    description=render("tool_grep"),
    schema=schema(
        ("pattern",),
        pattern={"type": "string", "description": "Regular expression"},
        path={"type": "string", "description": "Absolute path of a file or folder"},
        glob={"type": "string", "description": "Only files whose name fits, e.g. *.{ts,tsx}"},
        output_mode={"type": "string", "enum": ["content", "files_with_matches", "count"]},
        **{
            "-i": {"type": "boolean", "description": "Ignore case"},
            "-n": {"type": "boolean", "description": "Line numbers, for content (default true)"},
            "-A": {**_COUNT, "description": "Lines after each match"},
            "-B": {**_COUNT, "description": "Lines before each match"},
            "-C": {**_COUNT, "description": "Lines before and after each match"},
        },
        head_limit={"type": "integer", "minimum": 1, "description": "At most so many lines of output"},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a file: a match, or one beside it."""

    number: int
    text: str
    match: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A file with matches. None among the lines is a gap between pieces that do not touch."""

    path: str
    mtime_ns: int
    lines: tuple[Line | None, ...]


async def grep(given: Input, context: ToolContext) -> str:
    """Search and put the result into words."""
    if "\0" in given["pattern"]:
        raise ToolError("the pattern holds a NUL byte")
    path = place(given.get("path") or ".", context.cwd)
    if not path.exists():
        raise ToolError(f"there is no {path}")
    if path == Path(path.anchor):
        raise ToolError(f"{path} is the whole machine; choose a folder in it")
    path, _ = where_read(path, context)
    if not (path.is_dir() or path.is_file()):
        raise ToolError(f"{path} is no file that can be searched")
    ripgrep = shutil.which("rg", path=_environment(context).get("PATH"))
    hits = await (_with_ripgrep(ripgrep, given, path, context) if ripgrep else _alone(given, path, context))
    lines = list(_words([hit for hit in hits if not _passed_by(hit.path, path)], given))
    if not lines:
        return f"No match below {path}"
    return _within_limits(lines, given.get("head_limit"))


def _passed_by(found: str, asked: Path) -> bool:
    """Whether a file is left out for its credentials, unless the search was allowed to look at these."""
    return credentials.holds_secrets(found) and not credentials.leads_to_secrets(asked)


def _around(given: Input) -> tuple[int, int]:
    """How many lines before and after a match are wanted."""
    if given.get("output_mode") != "content":
        return 0, 0
    both = given.get("-C", 0)
    return given.get("-B", both), given.get("-A", both)


def _first_only(given: Input) -> bool:
    """Whether one match in a file says all that is asked."""
    return bool(given.get("output_mode", "files_with_matches") == "files_with_matches")


# -- the two searchers -------------------------------------------------------------------------------------


async def _with_ripgrep(program: str, given: Input, path: Path, context: ToolContext) -> list[Hit]:
    before, after = _around(given)
    command = [
        program,
        "--no-config",
        "--json",
        "--hidden",
        "--no-messages",
        f"--max-filesize={search.MOST_BYTES}",
    ]
    command += [f"--before-context={before}", f"--after-context={after}"]
    command += ["--ignore-case"] if given.get("-i") else []
    command += ["--max-count=1"] if _first_only(given) else []
    command += [f"--glob={given['glob']}"] if given.get("glob") else []
    command += [f"--iglob=!**/{name}" for name in _unwanted(path)]
    ended = await _run([*command, "-e", given["pattern"], "--", str(path)], context)
    if ended.code not in (0, 1) and not ended.output:
        raise ToolError(f"Grep: {ended.errors.decode('utf-8', errors='replace').strip()[:500]}")
    return list(_from_ripgrep(ended.output, gaps=bool(before or after)))


def _unwanted(path: Path) -> list[str]:
    """Names that ripgrep need not walk into. A file named outright is searched as it is."""
    if not path.is_dir():
        return []
    hidden = () if credentials.leads_to_secrets(path) else credentials.ANYWHERE.split()
    return sorted([*search.SKIPPED, *hidden])


def _from_ripgrep(output: bytes, *, gaps: bool) -> Iterator[Hit]:
    """The hits in ripgrep's JSON lines; a record broken at a size limit ends them."""
    path, lines = "", list[Line | None]()
    for record in output.splitlines():
        try:
            about = json.loads(record)
        except ValueError:
            continue
        kind, data = about["type"], about.get("data", {})
        if kind == "begin":
            path, lines = _text(data["path"]), []
        elif kind in ("match", "context"):
            number: int = data["line_number"]
            if gaps and lines and lines[-1] and number > lines[-1].number + 1:
                lines.append(None)
            lines.append(Line(number=number, text=_text(data["lines"]).rstrip("\r\n"), match=kind == "match"))
        elif kind == "end" and data.get("binary_offset") is None:
            yield Hit(path=path, mtime_ns=_mtime(path), lines=tuple(lines))


def _text(value: dict[str, str]) -> str:
    """ripgrep gives text, or base64 of what is not valid UTF-8."""
    if "text" in value:
        return value["text"]
    import base64

    return base64.b64decode(value["bytes"]).decode("utf-8", errors="replace")


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 - a string, thousands of times
    except OSError:
        return 0


async def _alone(given: Input, path: Path, context: ToolContext) -> list[Hit]:
    before, after = _around(given)
    request = {
        "path": str(path),
        "pattern": given["pattern"],
        "glob": given.get("glob"),
        "unwanted": None if credentials.leads_to_secrets(path) else credentials.PATTERN,
        "ignore_case": given.get("-i", False),
        "before": before,
        "after": after,
        "first_only": _first_only(given),
    }
    ended = await _run([sys.executable, "-I", search.__file__], context, given=json.dumps(request).encode())
    if ended.code != 0:
        raise ToolError("Grep: the search broke off; try a simpler pattern or a smaller folder")
    answer: dict[str, Any] = json.loads(ended.output)
    if "error" in answer:
        raise ToolError(f"Grep: {answer['error']}")
    return [_hit(*found) for found in answer["files"]]


def _hit(path: str, mtime_ns: int, lines: list[list[Any] | None]) -> Hit:
    found = (line and Line(number=line[0], text=line[1], match=line[2]) for line in lines)
    return Hit(path=path, mtime_ns=mtime_ns, lines=tuple(line or None for line in found))


def _environment(context: ToolContext) -> dict[str, str]:
    """What ripgrep starts with; for a fork, programs of the project are none (A6)."""
    if context.memory_only:
        return scrubbed(context.environment, avoid=context.folders())
    return handed_on(context.environment)


async def _run(command: list[str], context: ToolContext, *, given: bytes | None = None) -> Ended:
    environment = _environment(context)
    ended = await run(command, cwd=context.cwd, environment=environment, seconds=SECONDS, given=given)
    if not ended.whole:
        raise ToolError(f"Grep: {search.TOO_MANY}")
    if ended.code is None:
        raise ToolError(
            f"Grep: stopped after {SECONDS:g} seconds. Use a simpler pattern, a glob or a smaller folder."
        )
    return ended


# -- words ---------------------------------------------------------------------------------------------------


def _words(hits: list[Hit], given: Input) -> Iterator[str]:
    """The lines of the answer, in the mode that was asked for; the last changed file first."""
    mode, numbered = given.get("output_mode", "files_with_matches"), given.get("-n", True)
    for hit in sorted(hits, key=lambda hit: (-hit.mtime_ns, hit.path)):
        if mode == "files_with_matches":
            yield hit.path
        elif mode == "count":
            yield f"{hit.path}:{sum(line.match for line in hit.lines if line)}"
        else:
            yield from _content(hit, numbered=numbered)


def _content(hit: Hit, *, numbered: bool) -> Iterator[str]:
    for line in hit.lines:
        if line is None:
            yield "--"
            continue
        sign = ":" if line.match else "-"
        number = f"{line.number}{sign}" if numbered else ""
        cut = " [line cut]" if len(line.text) > LONGEST_LINE else ""
        yield f"{hit.path}{sign}{number}{line.text[:LONGEST_LINE]}{cut}"


def _within_limits(lines: Iterable[str], most: int | None) -> str:
    """The lines that there is room for, and a remark on how many are left out."""
    shown, size, total = list[str](), 0, 0
    for line in lines:
        total += 1
        size += len(line) + 1
        if size <= LIMIT and (most is None or len(shown) < most):
            shown.append(line)
    more = f"\n[{total - len(shown)} more lines of output left out]" if total > len(shown) else ""
    return "\n".join(shown) + more


GREP = Tool(spec=SPEC, read_only=True, run=grep)
