"""What the fork of a dream may do: look around, and write the copy and the notebook (D5, D8, A5, A8).

It reads the copy, the working folder and its project. Of conversations it sees what it searches for: Grep
with a pattern that says something, or a few lines. The memories themselves it neither reads nor writes, so
that nothing becomes of them but what the plan says; what sessions noted for themselves stays theirs (C5).
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from memdir import fs
from memdir.agent.credentials import leads_to_secrets
from memdir.agent.permissions import (
    READERS,
    WRITERS,
    Allow,
    Deny,
    Permission,
    Verdict,
    decide_fork,
    target_of,
)
from memdir.agent.place import place
from memdir.agent.tools.text import decode
from memdir.errors import MemdirError, ToolError
from memdir.model.messages import ToolUse
from memdir.names import what_is

if TYPE_CHECKING:
    from memdir.agent.shell.names import Name

TRANSCRIPT = ".jsonl"

MOST_LINES = 40
"""Lines of a conversation that one Read may show."""

LARGEST = 250_000
"""Characters that a file of the copy may grow to. Memories have some thousand; a larger one may shrink."""

_NO_PATH = "the path is no path"
_CONVERSATION = "a conversation"
_GLOB = re.compile(r"(\*\*/)?[\w*?.-]*\.jsonl")
_SAYS_SOMETHING = re.compile(r"[^\W_]{3}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")
_ESCAPES = re.compile(r"\\[a-zA-Z]|\[[^]]*\]|\{[^}]*\}|\(\?[a-zA-Z]*")
_SESSION_NOTES = "session-memory"


def for_dream(
    stage_dir: Path,
    notebook: Path,
    *,
    memory_dir: Path,
    cwd: Path,
    root: Path,
    transcripts: Sequence[Path],
    shut: Sequence[Path] = (),
) -> Permission:
    """The permission of a dream's fork. `stage_dir` is the copy of `memory_dir`, and `notebook` stands in it.

    `transcripts` are conversations, or folders of them; the folders of other projects beside these are shut.
    `shut`: more folders that nothing is read in, unless a folder further down is open.
    """
    rights = Rights.of(
        stage_dir,
        notebook,
        memory=memory_dir,
        cwd=cwd,
        root=root,
        transcripts=transcripts,
        shut=shut,
    )

    async def permit(call: ToolUse) -> Verdict:
        return await anyio.to_thread.run_sync(partial(rights.decide, call))  # it looks at the disk

    return permit


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """Real paths. `cwd` and `root` are open, as `copy` is; `talks` are folders of conversations, and `shut`
    is everybody else's.
    """

    copy: Path
    notebook: Path
    memory: Path
    cwd: Path
    root: Path
    talks: tuple[Path, ...]
    shut: tuple[Path, ...]

    @classmethod
    def of(
        cls,
        copy: Path,
        notebook: Path,
        *,
        memory: Path,
        cwd: Path,
        root: Path,
        transcripts: Sequence[Path],
        shut: Sequence[Path] = (),
    ) -> Rights:
        """The rights, with every path as it really is."""
        talks = dict.fromkeys(_real(one.parent if one.suffix == TRANSCRIPT else one) for one in transcripts)
        return cls(
            copy=_real(copy),
            notebook=_real(copy) / notebook.name,
            memory=_real(memory),
            cwd=_real(cwd),
            root=_real(root),
            talks=tuple(talks),
            shut=tuple(dict.fromkeys([*(one.parent for one in talks), *map(_real, shut)])),
        )

    def decide(self, call: ToolUse) -> Verdict:
        """Whether the call may run. Looks at the disk and changes nothing."""
        if call.name == "Bash":
            return self._run(call)
        if call.name not in READERS | WRITERS:
            return Deny(
                reason="not a tool for background jobs",
                text=f"{call.name} can't be used here. Read, Glob, Grep and Bash look; Write and Edit change "
                f"the memories in {self.copy}.",
            )
        try:
            target = target_of(call, self.cwd)
            return self._write(call, target) if call.name in WRITERS else self._read(call, target)
        except ToolError as error:
            return Deny(reason=_NO_PATH, text=str(error))
        except (OSError, ValueError):
            return Deny(reason=_NO_PATH, text="that path can't be looked at; give another one")

    # -- reading -------------------------------------------------------------------------------------------

    def _read(self, call: ToolUse, target: Path) -> Verdict:
        if found := self._bar(target):
            return found
        if (talk := self._talk(target)) is not None:
            return _of_talk(call, _real(target), talk)
        if call.name != "Read" and (found := self._bar_below(target)):
            return found
        return Allow()

    def _bar(self, target: Path) -> Deny | None:
        """Why nothing is read there; None for what is open, and for conversations."""
        if leads_to_secrets(target):
            return Deny(
                reason="a place of credentials",
                text=f"{target} is a place where credentials are kept; a background job does not read it.",
            )
        if fs.inside(self.copy, target):
            return None
        if fs.inside(self.memory, target):
            return self._use_the_copy(target)
        if (folder := self._nearest(target)) is None or folder in self.shut:
            return Deny(
                reason="outside the project",
                text=f"{target} does not belong to this project. Here you read the copy of the memories in "
                f"{self.copy}, and the project in {self.root}.",
            )
        return None

    def _use_the_copy(self, target: Path) -> Deny:
        real = _real(target)
        below = real.relative_to(self.memory) if real.is_relative_to(self.memory) else Path()
        return Deny(
            reason="the memories themselves",
            text=f"the memories themselves are not touched here, nor read. Use the copy: {self.copy / below}",
        )

    def _nearest(self, target: Path) -> Path | None:
        """The innermost folder of those we know that holds the path; of the same folder, what shuts wins."""
        known = dict.fromkeys((*self.talks, *self.shut, self.copy, self.cwd, self.root))
        holding = [one for one in known if one != Path(one.anchor) and fs.inside(one, target)]
        return max(holding, key=lambda one: len(one.parts), default=None)

    def _talk(self, target: Path) -> Path | None:
        """The folder of conversations that the path is in, if it is in one of them and not in the copy."""
        if fs.inside(self.copy, target):
            return None
        folder = self._nearest(target)
        return folder if folder in self.talks else None

    def _bar_below(self, start: Path) -> Deny | None:
        """Why nothing is searched there: below it, there are things that are not to be read."""
        if fs.inside(self.copy, start):
            return None
        for one in (self.memory, *self.talks, *self.shut):
            if one.is_dir() and fs.inside(start, one):
                return Deny(
                    reason="memories and conversations below",
                    text=f"memories and conversations are kept below {start}. Look in a folder of the "
                    f"project that holds none, or in the copy, {self.copy}.",
                )
        return None

    def _run(self, call: ToolUse) -> Verdict:
        """A command line that only reads (A6), and nothing that this fork does not."""
        from memdir.agent.shell import check

        verdict = decide_fork(call, memory=self.copy, cwd=self.cwd, also=(self.root,))
        line = check(str(call.input.get("command", "")))
        if not line.allowed:
            return verdict
        try:
            refusals = (self._not_run_on(*named) for named in self._named(line.names))
            return next(filter(None, refusals), verdict)
        except ToolError as error:
            return Deny(reason=_NO_PATH, text=str(error))

    def _not_run_on(self, target: Path, is_searched: bool) -> Deny | None:
        if found := self._bar(target):
            return found
        if self._talk(target) is not None:
            return Deny(reason=_CONVERSATION, text=_SEARCH)
        return self._bar_below(target) if is_searched else None

    def _named(self, names: Sequence[Name]) -> Iterator[tuple[Path, bool]]:
        """The paths that a line names, and whether all below them is read."""
        from memdir.agent.shell.wildcards import Walk

        walk = Walk()
        for name in dict.fromkeys(names):
            for path in walk.named(name.path, self.cwd) if name.pattern else [name.path]:
                yield place(path, self.cwd), bool(name.searched)

    # -- writing -------------------------------------------------------------------------------------------

    def _write(self, call: ToolUse, target: Path) -> Verdict:
        if not fs.inside(self.copy, target):
            if fs.inside(self.memory, target):
                return self._use_the_copy(target)
            return Deny(
                reason="outside the copy",
                text=f"here only the memories in {self.copy} are written, and {self.notebook}.",
            )
        if self._is_notebook(target):
            return self._sized(call, self.notebook)
        verdict = decide_fork(call, memory=self.copy, cwd=self.cwd)  # links, names, form (A8)
        if isinstance(verdict, Deny):
            return verdict
        real = fs.contain(self.copy, target)
        names = real.relative_to(self.copy).parts
        if _plain(names[0]) == _plain(self.notebook.name) or what_is(names) not in ("topic", "entrypoint"):
            return Deny(
                reason="no memory of its own",
                text=f"{'/'.join(names)} is no memory: logs, summaries of sessions and what a team shares "
                f"stay as they are. Write topic files, MEMORY.md, and {self.notebook}.",
            )
        return self._sized(call, real)

    def _is_notebook(self, target: Path) -> bool:
        """Exactly that file, or a new one of that name; no link, no folder."""
        if _real(target) != self.notebook or self.notebook.is_symlink():
            return False
        return self.notebook.is_file() or not os.path.lexists(self.notebook)

    def _sized(self, call: ToolUse, path: Path) -> Verdict:
        """Replacing every occurrence can double a file in one call; nobody wants to see how often."""
        try:
            decoded = decode(fs.read_file(path, within=self.copy))
        except (OSError, MemdirError):  # there is none, or the tool says so itself
            decoded = None
        text = decoded[0] if decoded else ""
        if _size_after(call, text) > max(LARGEST, len(text)):
            return Deny(
                reason="too large",
                text=f"{path.name} would have over {LARGEST:,} characters, which is no memory any more.",
            )
        return Allow()


_SEARCH = (
    "conversations are searched, not read through: Grep one file, or its folder with the glob "
    f"*{TRANSCRIPT}, for a word of the matter (three letters at least); then Read a few lines of one file, "
    f"with offset and a limit of {MOST_LINES} at most."
)


def _of_talk(call: ToolUse, real: Path, folder: Path) -> Verdict:
    """A narrow look at conversations: at one of them, or for a word in a folder of them."""
    no = Deny(reason=_CONVERSATION, text=_SEARCH)
    if not real.is_relative_to(folder):
        return no
    names = [_plain(name) for name in real.relative_to(folder).parts]
    if _SESSION_NOTES in names or any(name.startswith(".") for name in names):
        return no
    is_one = bool(names) and names[-1].endswith(TRANSCRIPT) and real.is_file()
    if call.name == "Read":
        limit = call.input.get("limit")
        return Allow() if is_one and isinstance(limit, int) and 0 < limit <= MOST_LINES else no
    if call.name == "Grep":
        glob = call.input.get("glob")
        in_all = not names and isinstance(glob, str) and _GLOB.fullmatch(glob)
        return Allow() if (is_one or in_all) and _is_about_something(call.input.get("pattern")) else no
    return no


def _is_about_something(pattern: object) -> bool:
    """Whether a pattern holds a word, and would not fit any line there is."""
    if not isinstance(pattern, str) or len(pattern) > 1000:
        return False
    alternatives = _ESCAPES.sub(" ", pattern).split("|")
    return all(_SAYS_SOMETHING.search(one) for one in alternatives)


def _size_after(call: ToolUse, text: str) -> int:
    """Characters of the file after the call, at most."""
    if call.name == "Write":
        return len(str(call.input.get("content", "")))
    old = str(call.input.get("old_string", "")).replace("\r\n", "\n")
    new = str(call.input.get("new_string", ""))
    times = text.replace("\r\n", "\n").count(old) if old and call.input.get("replace_all") else 1
    return len(text) + times * (len(new) + new.count("\n") - len(old))


def _plain(name: str) -> str:
    """A name as a disk may read it that takes no notice of case or form."""
    seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold()).rstrip(". ")


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
