"""Is the index, as a dream leaves it, complete, under its limits, and all there? (F6, F7, D8) Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from memdir.dream.checks.quoted import named, quoted
from memdir.dream.files import Snapshot
from memdir.memory import encoding, entrypoint, index_mending
from memdir.memory.entrypoint import MAX_BYTES, MAX_LINES
from memdir.memory.pointer import Pointer, entry, key, written
from memdir.memory.topic import parse

LONGEST = 300
"""Characters of a line that the dream wrote: F6 has about 200, and nobody counts."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the index."""

    reason: str


def faults(before: Snapshot, after: Snapshot) -> Iterator[Fault]:
    """What is wrong with it. What it was like already, a dead link or a file named twice, is no fault of the
    dream's; that a topic is not named, or that it is over a limit, is.
    """
    was, now = encoding.readable(before.index), encoding.readable(after.index)
    yield from _limits(was, now, after)
    yield from _missing(after, now)
    pointed = Counter(key(one.file) for one in entrypoint.pointers(now))
    pointed_then = Counter(key(one.file) for one in entrypoint.pointers(was))
    topics, topics_then = set(map(key, after.topics)), set(map(key, before.topics))
    for file in pointed:
        if file not in topics and (file in topics_then or file not in pointed_then):
            yield Fault(f"the index would point to {named(file)}, which would not be there")
    for file, times in pointed.items():
        if times > max(1, pointed_then[file]):
            yield Fault(f"the index would have {times} entries for {named(file)}")
    old = set(was.splitlines())
    for line in now.splitlines():
        if line not in old and entry(line) and len(line) > LONGEST:
            yield Fault(f"a line of the index would be {len(line):,} characters long: {quoted(line)}")
    for comment in _COMMENT.findall(was):
        if comment not in now:
            yield Fault(f"a comment in the index would be gone: {quoted(comment.strip('<!-> '))}")


def _limits(was: str, now: str, after: Snapshot) -> Iterator[Fault]:
    loaded = entrypoint.load(now)
    if not loaded.truncated:
        return
    then = entrypoint.load(was)
    smaller = loaded.lines <= then.lines and loaded.bytes <= then.bytes
    if smaller and not _fits(after):
        return  # no index of so many topics is under the limits
    yield Fault(f"the index would be {entrypoint.excess(loaded)}")


def _missing(after: Snapshot, now: str) -> Iterator[Fault]:
    """Topics without an entry that should have one: all, where there is room."""
    for topic in index_mending.wanting(now, after.listed):
        yield Fault(f"the index would not name {named(topic.file)}")


def _fits(after: Snapshot) -> bool:
    """Whether the shortest entries for all topics are under the limits."""
    size = sum(len(_shortest(file, after).encode()) + 1 for file in after.topics)
    return len(after.topics) <= MAX_LINES and size <= MAX_BYTES


def _shortest(file: str, after: Snapshot) -> str:
    title = parse(after.files[file][:4_096], filename=file, cut=True).name
    return written(Pointer(title=title, file=file, hook=""))


_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
