"""What a fork for a session's notes may do: edit that one file, or nothing at all (C3, C4, E10).

An edit is judged by what the file would hold after it, so that the file is of use at every moment, whenever
the program is killed: text, not too large, all headings in their order, and no secret that was not there.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import anyio.to_thread

from memdir import fs
from memdir.agent.permissions import Allow, Deny, Permission, Verdict, target_of
from memdir.agent.tools import edit
from memdir.agent.tools.text import decode
from memdir.errors import MemdirError, SecretFound, ToolError
from memdir.memory import leaks
from memdir.memory.fence import fenced
from memdir.model.messages import ToolUse
from memdir.session.sections import LIMIT, Template, lost

ANSWER_IN_TEXT = "no tool can be used here: answer now, in text, with the summary itself"


class OnlyEdit:
    """A permission: Edit of the file at `path`, which holds `before`, and nothing else.

    `within`: the folder below which no part of the path may be a link; both are real paths. `cwd`: where a
    relative path of the model begins. `digests` are those of what the file holds, before and after each edit
    that was allowed: a file with another one was changed by somebody else.
    """

    def __init__(self, path: Path, before: bytes, *, template: Template, within: Path, cwd: Path) -> None:
        self._path = path
        self._within = within
        self._cwd = cwd
        self._template = template
        self.digests = [fs.digest(before)]

    async def __call__(self, call: ToolUse) -> Verdict:
        """Whether the call may run."""
        return await anyio.to_thread.run_sync(partial(self._decide, call))

    def _decide(self, call: ToolUse) -> Verdict:
        if call.name != edit.SPEC.name:
            return Deny(
                reason="not an edit of the notes",
                text=f"{call.name} can't be used here. Only Edit can, of {self._path}, which you know whole.",
            )
        try:
            real = Path(os.path.realpath(target_of(call, self._cwd)))
        except (ToolError, ValueError) as error:
            return Deny(reason="the path is no path", text=str(error))
        if real != self._path or self._path.is_symlink():
            return Deny(reason="not the notes", text=f"only {self._path} can be edited here, no other file.")
        try:
            data = fs.read_file(self._path, limit=LIMIT + 1, within=self._within)
        except (OSError, MemdirError):
            return _CHANGED
        if fs.digest(data) not in self.digests:
            return _CHANGED
        return self._judged(call, data)

    def _judged(self, call: ToolUse, data: bytes) -> Verdict:
        """The file is as we know it, and Edit replaces nothing but that: so this is what will be in it."""
        old, new = call.input["old_string"], call.input["new_string"]
        if not old:
            return Deny(
                reason="not an edit of the notes", text="old_string is empty; give the text to replace"
            )
        if (decoded := decode(data)) is None:
            return _CHANGED
        text, shape = decoded
        every = bool(call.input.get("replace_all", False))
        if every and _plain(text).count(_plain(old)) * len(new) > LIMIT:
            return _TOO_LARGE
        try:
            after, _, _ = edit.replace(text, old, new, shape, every=every, path=self._path)
            changed = shape.encode(after)
        except ToolError:
            return Allow()  # Edit says so itself, and changes nothing
        read = fenced(after)  # as the next run has it, and writes it down first
        if "\0" in after:
            return Deny(reason="a NUL byte in it", text="a NUL byte is no text; write it without")
        if max(len(changed), len(read.encode())) > LIMIT:
            return _TOO_LARGE
        if gone := lost(text, after, self._template):
            return Deny(
                reason="a heading would go",
                text=f"the headings stay as they are, all of them and in their order; this would lose "
                f"{', '.join(f'`{title}`' for title in gone)}. Edit only what stands below a heading.",
            )
        try:
            for one in (after, read):
                leaks.refuse(one, text, name=self._path.name)
        except SecretFound as error:
            return Deny(reason="a secret in it", text=f"{error}. {error.hint or ''}".strip())
        self.digests.append(fs.digest(changed))
        return Allow()


def _plain(text: str) -> str:
    """With line ends as Edit compares them."""
    return text.replace("\r\n", "\n")


_CHANGED = Deny(
    reason="the notes were changed meanwhile",
    text="somebody else has changed the file meanwhile. Leave it as it is now, and end with one word.",
)

_TOO_LARGE = Deny(
    reason="the notes would be too large",
    text=f"the notes would be over {LIMIT // 1024} KiB. Write less, and condense what is there.",
)


def none_at_all(text: str = ANSWER_IN_TEXT) -> Permission:
    """The permission of a fork that only answers; `text` is what it is told when it calls a tool."""

    async def permit(call: ToolUse) -> Verdict:  # noqa: ARG001 - whatever it is
        return Deny(reason="a summary is asked for, no tool", text=text)

    return permit
