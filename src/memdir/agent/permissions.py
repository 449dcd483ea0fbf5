"""A tool call -> may it run? Decided when the tool is called, never by handing out other tools (A5, A9).

The two decisions look at the call and at where its path really leads, and change nothing. A memory fork
reads what its conversation is about, and writes the topic files of one directory. The main agent reads and
writes there freely, reads its working folder, and for the rest the person is asked.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import anyio.to_thread

from memdir import fs
from memdir.agent.credentials import leads_to_secrets
from memdir.agent.place import place
from memdir.errors import ToolError, UnsafePath
from memdir.model.messages import ToolUse
from memdir.paths import OBEYED

Mode = Literal["ask", "accept-edits"]
"""What happens to writes in the working folder: the person is asked, or has agreed to all of them."""

READERS = frozenset({"Read", "Glob", "Grep"})
WRITERS = frozenset({"Write", "Edit"})

_NO_PATH = "the path is no path"
_INSTRUCTIONS = frozenset(
    {
        "agents.local.md",
        "agents.md",
        "claude.local.md",
        "claude.md",
        "copilot-instructions.md",
        "gemini.md",
    }
)
"""Files that agents obey, wherever they are found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call may not run.

    `reason` goes to the log: a fixed phrase, with nothing of the call in it (H4). `text` goes to the model.
    """

    reason: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The person decides. `what` says in one line what would be done."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a front end shows to the person."""

    call: ToolUse
    what: str


Verdict: TypeAlias = Allow | Deny
Permission: TypeAlias = Callable[[ToolUse], Awaitable[Verdict]]
AskPerson: TypeAlias = Callable[[Question], Awaitable[bool]]


def decide_fork(call: ToolUse, *, memory: Path, cwd: Path, also: Sequence[Path] = ()) -> Verdict:
    """What a memory fork may do (A5). `memory` is the one directory that it was started for.

    It reads there, in the working folder `cwd` and in the folders `also`, and nowhere else.
    """
    if call.name == "Bash":
        return _run_by_fork(call, cwd, (memory, cwd, *also))
    if call.name not in READERS | WRITERS:
        return Deny(
            reason="not a tool for background jobs",
            text=f"{call.name} is not available to a background memory job. Use Read, Glob and Grep to look, "
            f"and Write or Edit for memory files in {memory}.",
        )
    try:
        target = target_of(call, cwd)
    except ToolError as error:
        return Deny(reason=_NO_PATH, text=str(error))
    if call.name in READERS:
        return _read_by_fork(target, (memory, cwd, *also))
    return _write_by_fork(target, memory)


def _read_by_fork(target: Path, folders: Sequence[Path]) -> Verdict:
    """Inside the folders, after links, and not where credentials are kept."""
    from memdir.agent.shell.reach import bar

    found = bar(target, folders)
    return Deny(reason=found.log, text=found.text) if found else Allow()


def _run_by_fork(call: ToolUse, cwd: Path, folders: Sequence[Path]) -> Verdict:
    """A command line that only reads (A6), and only where Read might look."""
    from memdir.agent.shell import check
    from memdir.agent.shell.reach import bar_of

    command = call.input.get("command")
    line = check(command if isinstance(command, str) else "")
    if not line.allowed:
        return Deny(
            reason=line.log,
            text=f"{line.reason}. Bash may only read here: plain commands such as ls, cat, head, grep, find, "
            "git log, with pipes, && and ;. Read, Glob and Grep do most of it.",
        )
    found = bar_of(line.names, cwd=cwd, folders=folders)
    return Deny(reason=found.log, text=found.text) if found else Allow()


def _write_by_fork(target: Path, memory: Path) -> Verdict:
    """Inside the directory, after links, `..`, case and Unicode form, and Markdown only (A8)."""
    if not fs.inside(memory, target):
        return Deny(
            reason="outside the memory directory",
            text=f"a background memory job writes only inside {memory}; {target} is not in it.",
        )
    try:
        real = fs.contain(memory, target)
    except (UnsafePath, OSError, ValueError) as error:
        why = error.reason if isinstance(error, UnsafePath) else "it can't be looked at"
        return Deny(reason="no name for a memory", text=f"{target.name} can't be written: {why}.")
    if real.suffix != ".md" or real.name.startswith("."):
        return Deny(
            reason="not a Markdown file",
            text=f"memory files are Markdown files, with a name that ends in .md; not {real.name}.",
        )
    if real.name.casefold() in _INSTRUCTIONS:
        return Deny(
            reason="a file that programs obey",
            text=f"programs would take what {real.name} says for instructions; choose another name.",
        )
    return Allow()


def decide_main(
    call: ToolUse,
    *,
    memory: Path | None,
    cwd: Path,
    mode: Mode = "ask",
    transcript: Path | None = None,
) -> Allow | Ask | Deny:
    """What the main agent may do without asking (A9). Bash gains nothing from memory. `transcript`: of its
    own conversation, in which it may look up what a compaction took away (C4).
    """
    if call.name == "Bash":
        return Ask(what=f"run: {call.input.get('command', '')}")
    if call.name not in READERS | WRITERS:
        return Deny(reason="an unknown tool", text=f"nobody has said what {call.name} may do")
    try:
        target = target_of(call, cwd)
    except ToolError as error:
        return Deny(reason=_NO_PATH, text=str(error))
    if memory and fs.inside(memory, target):
        return Allow()
    if (
        transcript
        and call.name in ("Read", "Grep")
        and os.path.realpath(target) == os.path.realpath(transcript)
    ):
        return Allow()
    here = fs.inside(cwd, target) and not leads_to_secrets(target)
    if here and (call.name in READERS or (mode == "accept-edits" and not _is_obeyed(target))):
        return Allow()
    doing = {"Read": "read", "Glob": "list", "Grep": "search", "Write": "write", "Edit": "change"}[call.name]
    return Ask(what=f"{doing} {target}")


def _is_obeyed(target: Path) -> bool:
    """Whether a file there would make programs do things: a write is then always asked about."""
    parts = (*target.parts, *Path(os.path.realpath(target)).parts)
    return not OBEYED.isdisjoint(part.casefold() for part in parts)


def for_fork(*, memory: Path, cwd: Path, also: Sequence[Path] = ()) -> Permission:
    """The permission of a memory fork."""

    async def permit(call: ToolUse) -> Verdict:
        decide = partial(decide_fork, call, memory=memory, cwd=cwd, also=also)
        return await anyio.to_thread.run_sync(decide)  # it looks at the disk, wildcards at much of it

    return permit


def for_main(
    *,
    memory: Path | None,
    cwd: Path,
    mode: Mode = "ask",
    ask: AskPerson | None = None,
    transcript: Path | None = None,
) -> Permission:
    """The permission of the main agent. `ask` puts questions to the person; None: nobody is there."""

    async def permit(call: ToolUse) -> Verdict:
        verdict = decide_main(call, memory=memory, cwd=cwd, mode=mode, transcript=transcript)
        if not isinstance(verdict, Ask):
            return verdict
        if ask is None:
            return Deny(
                reason="nobody is there to allow it",
                text=f"nobody is there to allow it ({verdict.what}). Find a way without it.",
            )
        if await ask(Question(call=call, what=verdict.what)):
            return Allow()
        return Deny(
            reason="the person did not allow it",
            text=f"the person did not allow it ({verdict.what}). Ask what they want instead.",
        )

    return permit


def target_of(call: ToolUse, cwd: Path) -> Path:
    """The file or folder that a file tool's call is about, as the tool itself will understand it.

    Raises:
        ToolError: the path is no path.
    """
    given = call.input.get("file_path" if call.name in WRITERS | {"Read"} else "path") or "."
    if not isinstance(given, str):
        raise ToolError("the path must be a string")
    return place(given, cwd)
