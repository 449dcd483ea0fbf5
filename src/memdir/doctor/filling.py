"""What a header lacks is taken from the file itself: its name, and how it begins. Pure (F1, F3).

Only what is missing is added; every other byte stays. Nothing is made of a text that holds a secret (E10).
"""

from __future__ import annotations

from memdir.errors import UsageError
from memdir.memory import encoding, index_mending, topic
from memdir.memory.frontmatter import one_line
from memdir.memory.topic import Topic
from memdir.secrets import scan

KEYS = ("name", "description")
"""What other programs, and a model that chooses, go by. A kind can't be told from the text, and need not
be.
"""

NO_NAME = "\0"
"""A file name that no file has: a topic that is read with it, and has it, does not say its name itself."""

MOST_BYTES = 256 * 1024
"""A longer file is no memory that a header would make one, and takes long to be looked through."""

LONGEST = 160
"""Characters of a description that is made of how a text begins."""


def lacking(read: Topic) -> tuple[str, ...]:
    """Which of `KEYS` a topic does not have that was read with `NO_NAME`. One that says nothing lacks
    nothing.
    """
    if read.fallback:
        return KEYS if any(map(str.isalnum, read.body)) else ()
    said = {"name": read.name != NO_NAME, "description": read.description is not None}
    return tuple(key for key in KEYS if not said[key])


def filled(file: str, data: bytes) -> bytes:
    """The file with what can be added; the same bytes where nothing can."""
    missing = _lacking(data) if len(data) <= MOST_BYTES else ()
    read = topic.parse(data, filename=file)
    if not missing or read.problems or scan(encoding.readable(data)) or scan(file):
        return data
    values = {"name": read.name, "description": _shortened(one_line(index_mending.beginning(read)))}
    changes: dict[str, str | None] = {key: values[key] for key in missing if values[key].strip()}
    if read.fallback and "description" not in changes:
        return data  # a name alone says no more than the file's own
    try:
        new = topic.edit(data, changes)
    except UsageError:
        return data
    after = topic.parse(new, filename=file)
    return (
        new if not after.problems and after.body == read.body and not scan(encoding.readable(new)) else data
    )


def added(file: str, data: bytes) -> tuple[str, ...]:
    """Which of `KEYS` `filled` adds."""
    new = filled(file, data)
    left = _lacking(new)
    return tuple(key for key in _lacking(data) if key not in left)


def _lacking(data: bytes) -> tuple[str, ...]:
    return lacking(topic.parse(data, filename=NO_NAME))


def _shortened(text: str) -> str:
    """At most `LONGEST` characters, cut between words where there are words."""
    if len(text) <= LONGEST:
        return text
    cut = text[: LONGEST - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[LONGEST // 2 :] else cut).rstrip() + "…"
