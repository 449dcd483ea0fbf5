"""What was found of instructions: values, made by `gather` and `on_demand`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from memdir.memory.fence import exact

What = Literal["managed", "user", "project", "local", "rule", "import"]
"""Whose file it is, or how it came in. `rule`: from a folder `rules`. `import`: another file names it."""

_WORDS: Mapping[What, str] = {
    "managed": "instructions of the administrator",
    "user": "instructions of the person, for all their projects",
    "project": "instructions of the project",
    "local": "instructions for this project on this machine",
    "rule": "a rule",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One file that counts. `text` is what of it is for a model, fenced; `shown` what there is room for.

    `data`: the bytes on the disk. `whole`: a model that is shown all of `text` has seen the file. `by`: the
    file that imports it. `globs`: the files that a rule is for; none: for all.
    """

    path: Path
    what: What
    text: str
    shown: str
    data: bytes
    mtime_ns: int
    whole: bool
    by: Path | None = None
    globs: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        """The size of what is shown, in UTF-8."""
        return len(self.shown.encode())

    @property
    def size(self) -> int:
        """The size of all that is for a model, in UTF-8."""
        return len(self.text.encode())

    @property
    def cut(self) -> bool:
        """Whether less than all of it is shown."""
        return self.shown != self.text

    @property
    def words(self) -> str:
        """What it is, for a model and for people."""
        if self.by is not None:
            return f"imported by {exact(str(self.by))}"
        if self.globs:
            return "a rule for certain files"
        return _WORDS[self.what]

    def note(self) -> dict[str, Any]:
        """What stands of it on the message that shows it."""
        return {"path": str(self.path), "what": self.what, "bytes": self.bytes, "cut": self.cut}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A file that is loaded only if the person agrees: it lies outside the project, or with credentials.

    `path` is the real one, which a consent is about; a folder, where a whole one is linked in. `by`: the file
    that names it, or the link itself.
    """

    path: Path
    by: Path
    why: Literal["outside", "credentials"]

    @property
    def words(self) -> str:
        """One sentence for the person."""
        where = "outside the project"
        if self.why == "credentials":
            where = "where credentials are kept"
        return f"{exact(str(self.by))} brings in {exact(str(self.path))}, which is {where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule that counts once a file is read that one of its `globs` fits, relative to `root`.

    `within`: the folder that it may not lead out of; None: its owner is trusted.
    """

    path: Path
    globs: tuple[str, ...]
    root: Path
    within: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """All instructions of one place, in the order in which they are shown.

    `problems` are sentences for the person, one line each. `waiting`: what needs a consent. `rules`: what
    counts later. `max_bytes`: what all of them may take in a conversation.
    """

    files: tuple[Instruction, ...] = ()
    problems: tuple[str, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    rules: tuple[Rule, ...] = ()
    max_bytes: int = 0

    def without(self, path: Path) -> Sources:
        """The same, but for one file that is shown elsewhere: the index, which stands exactly once."""
        real = os.path.realpath(path)
        return replace(self, files=tuple(one for one in self.files if os.path.realpath(one.path) != real))

    @property
    def outside(self) -> tuple[Path, ...]:
        """The real paths that wait for a consent."""
        return tuple(one.path for one in self.waiting)
