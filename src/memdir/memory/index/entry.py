"""A topic file -> what the index keeps of it. The side that reads: loaded only when something has changed."""

from __future__ import annotations

import os
from hashlib import blake2b

from memdir.memory import topic
from memdir.memory.index.stamp import UNSETTLED, is_settled, stamp_of
from memdir.memory.rank import count
from memdir.memory.reading import beginning
from memdir.memory.traits import named_files, traits

LARGEST = 256 * 1024
"""Bytes of a file that are indexed: far more than a memory should have."""

_FURTHEST = 2**63 - 1


class Found:
    """A file as it was read: the beginning of it. `modified`: in nanoseconds, as far as 64 bits go; `size` in
    bytes; `digest`: which content it is."""

    __slots__ = ("data", "digest", "modified", "path", "size", "stamp")

    def __init__(self, path: str, data: bytes, status: os.stat_result, *, now_ns: int) -> None:
        self.path = path
        self.data = data
        self.modified = max(-_FURTHEST, min(status.st_mtime_ns, _FURTHEST))
        self.size = status.st_size
        self.stamp = stamp_of(status) if is_settled(status, now_ns) else UNSETTLED
        self.digest = blake2b(data, digest_size=16).digest()


class Entry:
    """What the index keeps of a file. `words`: how much each occurs; `named`: files that its body names."""

    __slots__ = ("description", "found", "kind", "name", "named", "traits", "words")

    def __init__(self, found: Found) -> None:
        parsed = topic.parse(found.data, filename=found.path)
        description = parsed.description or ""
        called = f"{found.path.removesuffix('.md')} {parsed.name}"
        headings = "\n".join(line for line in parsed.body.splitlines() if line.startswith("#"))
        fields = {"name": called, "description": description, "headings": headings, "body": parsed.body}
        self.found = found
        self.name = parsed.name
        self.description = description
        self.kind = parsed.type
        self.traits = traits(title=f"{called} {description}", body=parsed.body)
        self.named = named_files(parsed.body)
        self.words = count(fields)


def read(root: str, path: str, *, now_ns: int) -> Found | None:
    """A file; None if it is gone, no regular file, or can't be read now (M2). `now_ns`: the time before."""
    found = beginning(os.path.join(root, path), LARGEST)
    if found is None:
        return None
    data, status = found
    return Found(path, data, status, now_ns=now_ns)
