"""The steps of a history -> the same without one file, without some lines, and without what told of them.

Pure: bytes come from a function. Steps that have nothing left fall away, the others keep their change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from memdir.errors import UsageError
from memdir.memory import encoding, entrypoint
from memdir.memory.history.message import Step
from memdir.memory.history.stamps import blob_of
from memdir.memory.history.values import Run
from memdir.names import INDEX

Put = Callable[[bytes], None]


class Erasure:
    """Erase `file`, and the lines `without` from all versions of other files but those in `kept`.

    `kept`: path -> the blob that is on the disk now. `blob`: a blob's bytes. Lines are compared without
    blanks around them.
    """

    def __init__(
        self,
        file: str,
        *,
        without: Collection[bytes],
        kept: Mapping[bytes, str],
        blob: Callable[[str], bytes],
    ) -> None:
        self._file = os.fsencode(file)
        self._without = {line.strip() for line in without} - {b""}
        self._kept = kept
        self._blob = blob
        self._known: dict[tuple[bytes, str], str] = {}

    def rewritten(self, steps: Sequence[Step], put: Put) -> Iterator[Step]:
        """The steps, oldest first, as they will be. `put` gets the bytes of each version before its step."""
        state: dict[bytes, Run] = {}
        for step in steps:
            files: dict[bytes, Run] = {}
            for path, run in step.files.items():
                if path == self._file:
                    continue
                before = state.get(path)
                after = None if run.after is None else self._version(path, run.after, put)
                if after != (before.after if before else None):
                    files[path] = Run(
                        before=before.after if before else None,
                        after=after,
                        before_mtime_ns=run.before_mtime_ns,
                        after_mtime_ns=run.after_mtime_ns,
                    )
                    state[path] = files[path]
            if files:
                yield Step(by=step.by, at=step.at, files=files)

    def _version(self, path: bytes, blob: str, put: Put) -> str:
        """What a version of a file is called when it is cleaned."""
        known = self._known.get((path, blob))
        if known is None:
            data = self._blob(blob)
            if self._kept.get(path) != blob:
                data = self._cleaned(path, data)
            put(data)
            known = self._known[path, blob] = blob_of(data)
        return known

    def _cleaned(self, path: bytes, data: bytes) -> bytes:
        folder, _, name = os.fsdecode(path).rpartition("/")
        inside = os.fsdecode(self._file)
        if name == INDEX and (not folder or inside.startswith(f"{folder}/")):
            data = without_pointer(data, inside.removeprefix(f"{folder}/") if folder else inside)
        return without_lines(data, self._without)


def without_pointer(data: bytes, file: str) -> bytes:
    """An index without its entries for a file; every other byte stays."""
    try:
        text = encoding.decode(data)
    except UsageError:  # in no encoding that can be given back: line by line
        named = file.encode("utf-8", "surrogateescape")
        return b"".join(line for line in data.splitlines(keepends=True) if named not in line)
    return encoding.encode(entrypoint.remove(text, file), like=data)


def without_lines(data: bytes, gone: Collection[bytes]) -> bytes:
    """The bytes without those lines, whatever blanks are around them; every other byte stays."""
    if not gone:
        return data
    return b"".join(line for line in data.splitlines(keepends=True) if line.strip() not in gone)
