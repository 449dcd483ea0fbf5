"""The names that lead to a file, from the memory directory down, become what the file is (P8, M1).

    MEMORY.md                       entrypoint    the index, and the only one
    a.md   deep/b.md                topic
    team/...                        team          a memory directory of its own: ask again without `team`
    logs/2026/11/2026-11-29.md      log
    sessions/x.md                   session
    deep/MEMORY.md   memory.md      other         never a topic, never the index
    a.MD   a.txt   .x.md   .x/a.md  other

Classifying, scanning, indexing and storing all ask here, so that they can't disagree. Imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as `typing` has it, without what importing that costs
if TYPE_CHECKING:
    from typing import Literal

    What = Literal["entrypoint", "topic", "team", "log", "session", "other"]

INDEX = "MEMORY.md"
_SUFFIX = ".md"


def what_is(names: tuple[str, ...]) -> What:
    """What the file is that these names lead to, relative to the memory directory. Pure: reads no disk.

    The three folders and the index are known in any case of letters, since a disk may take no notice of it:
    `Logs/x.md` is a log everywhere. What would be the index on such a disk alone (`memory.md`) is nothing
    at all. Topics are what ends in `.md`, small letters, with no dot file or dot folder on the way. The
    names of a folder say what it is too, as far as one can tell: `()` and `("logs",)` are `other`.
    """
    match tuple(name.casefold() for name in names):
        case ("team", *_):
            return "team"
        case ("logs", _, *_):
            return "log"
        case ("sessions", _, *_):
            return "session"
        case (*_, file) if file == INDEX.casefold():
            return "entrypoint" if names == (INDEX,) else "other"
    hidden = any(name.startswith(".") for name in names)
    return "topic" if names and names[-1].endswith(_SUFFIX) and not hidden else "other"


def is_topic(path: str, *, team: bool = False) -> bool:
    """Whether a path relative to the memory directory, with `/`, names a topic file (M1, P8)."""
    names = tuple(path.split("/"))
    kind = what_is(names)
    return kind == "topic" or (team and kind == "team" and what_is(names[1:]) == "topic")
