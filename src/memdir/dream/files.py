"""The memories of a directory at one moment: before a dream, or as it would leave them. A value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from memdir.memory.entrypoint import NAME
from memdir.memory.index_mending import Listed, listed
from memdir.names import is_topic


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Topic files and the index: path relative to the directory, with `/` -> bytes, and modification time in
    nanoseconds. Logs, summaries of sessions and the team's memories are not in it: a dream changes none.
    """

    files: Mapping[str, bytes]
    mtimes: Mapping[str, int]

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """The topic files, by name."""
        return tuple(sorted(file for file in self.files if is_topic(file)))

    @cached_property
    def listed(self) -> tuple[Listed, ...]:
        """The topics, as an index should know them. What has no time of its own is being written."""
        newest = max(self.mtimes.values(), default=0)
        return tuple(listed(file, self.files[file], self.mtimes.get(file, newest)) for file in self.topics)

    @property
    def index(self) -> bytes:
        """The index; empty where there is none."""
        return self.files.get(NAME, b"")
