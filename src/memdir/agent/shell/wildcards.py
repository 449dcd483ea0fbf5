"""A path with wildcards -> the paths that bash would put in its place."""

from __future__ import annotations

import itertools
import posixpath
from glob import has_magic, iglob
from pathlib import Path

from memdir.errors import ToolError

MOST = 5000
"""Names that one pattern may stand for."""


def named(pattern: str, cwd: Path) -> list[str]:
    """What the pattern stands for in `cwd` now, with wildcards as bash has them; itself if it is none.

    The folder of the pattern is among them, so that a pattern whose files come later is judged too.

    Raises:
        ToolError: too many to look at.
    """
    if not has_magic(pattern):
        return [pattern]
    plain = f"{Path.home()}/{pattern[2:]}" if pattern.startswith("~/") else pattern
    literal = plain[: min(plain.find(character) for character in "*?[" if character in plain)]
    matches = iglob(plain.replace("[^", "[!"), root_dir=cwd)  # noqa: PTH207 - pathlib would match hidden files
    found = list(itertools.islice(matches, MOST + 1))
    if len(found) > MOST:
        raise ToolError(f"{pattern} stands for more than {MOST:,} files; use Glob or find")
    return [posixpath.dirname(literal) or ".", *found]
