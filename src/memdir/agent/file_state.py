"""Files the model has seen -> what it knows of each, and whether that still holds (A2, R8).

The table belongs to one conversation. A fork gets a copy, so that what it reads does not count as read by
its host (A4). Keys are resolved paths: a file reached through a link is the same file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from memdir.fs import digest

How = Literal["read", "written", "surfaced", "index"]
"""How the content came into the conversation. `read`, `written`: by a tool call. `surfaced`: recalled.
`index`: the entrypoint at the start; its later changes are memory's own bookkeeping and not news (E8)."""

KEEP_BYTES = 256 * 1024
"""Contents up to this size are kept, so that a later change can be shown as a diff (R8)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the conversation knows of one file: the digest and mtime of the bytes that were looked at.

    `partial`: only a part of them was shown. `data`: the bytes, where they were shown whole and are not big.
    `no_news`: the digest of a later content that a background job of the same conversation wrote.
    """

    digest: str
    mtime_ns: int
    data: bytes | None
    partial: bool
    how: How
    no_news: str | None = None

    @property
    def counts_as_read(self) -> bool:
        """Whether an Edit may build on it: the model chose what to read, or was shown all of it (A2)."""
        return self.how == "read" or not self.partial


class FileState:
    """The table of what one conversation has seen of files."""

    def __init__(self, seen: Mapping[Path, Seen] | None = None) -> None:
        self._seen: dict[Path, Seen] = dict(seen or {})

    def saw(self, path: Path, *, data: bytes, mtime_ns: int, partial: bool, how: How) -> None:
        """Note that `data`, the whole content of the file, was shown (in part, if `partial`).

        A part shown of bytes that were known already takes nothing away from that.
        """
        key, found = _key(path), digest(data)
        before = self._seen.get(key)
        if partial and before and before.digest == found and before.counts_as_read:
            self._seen[key] = replace(before, mtime_ns=mtime_ns)
            return
        kept = data if not partial and len(data) <= KEEP_BYTES else None
        self._seen[key] = Seen(digest=found, mtime_ns=mtime_ns, data=kept, partial=partial, how=how)

    def known(self, path: Path) -> Seen | None:
        """What is known of the file, or None if this conversation never saw it (R4)."""
        return self._seen.get(_key(path))

    def forget(self, path: Path) -> None:
        """The file is gone."""
        self._seen.pop(_key(path), None)

    def overtaken(self, path: Path, by: str) -> None:
        """A background job wrote the bytes with digest `by`: no news for the conversation (E8).

        It has not seen them either: an Edit still asks for another Read (A2), and whatever becomes of the
        file after that is shown against what was seen (R8).
        """
        if seen := self.known(path):
            self._seen[_key(path)] = replace(seen, no_news=by)

    def copy(self) -> FileState:
        """A table of its own with the same content, for a fork (A4)."""
        return FileState(self._seen)

    def __iter__(self) -> Iterator[tuple[Path, Seen]]:
        """All files with what is known of them, in the order they were first seen."""
        return iter(list(self._seen.items()))

    def __len__(self) -> int:
        return len(self._seen)


def _key(path: Path) -> Path:
    return Path(os.path.realpath(path))
