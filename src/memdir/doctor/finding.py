"""One thing in a memory directory that somebody should look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from memdir.memory import leaks

Kind: TypeAlias = Literal[
    "secret",
    "unreadable",
    "link",
    "name",
    "collision",
    "layout",
    "dead pointer",
    "orphan",
    "index",
    "entry",
    "frontmatter",
    "duplicate",
    "lock",
    "leftover",
    "marked",
]
"""What is wrong. `collision`: two names, or two projects, that are one somewhere; `layout`: what another
program or an older layout put there; `index`: more of it than is loaded; `entry`: a line of it that is too
long, or a second one; `marked` is a note: a secret on a line that somebody marked as harmless.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""In the order in which they are told, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to look at.

    `file` is relative to the memory directory, with `/`, or absolute where it is not in there; where its
    name is the secret, words in its place. `line` counts from 1; None: the file as a whole. `rule` is what
    knew the secret; None for all else. `reason` and `cure` are sentences without an end; with `file`, they
    may hold any letter of a name. `fix` is what `memdir doctor --fix` does about it, likewise; None: only a
    person can.
    """

    file: str
    line: int | None = None
    kind: Kind
    rule: str | None = None
    reason: str
    cure: str
    fix: str | None = None

    @property
    def same(self) -> tuple[str, str, str]:
        """What it still is when lines above it come and go."""
        return self.file, self.kind, self.reason


def finding(
    file: str, kind: Kind, reason: str, cure: str, *, line: int | None = None, fix: str | None = None
) -> Finding:
    """A finding about a file, whose name is not repeated if it looks like a secret."""
    return Finding(file=leaks.called(file), line=line, kind=kind, reason=reason, cure=cure, fix=fix)
