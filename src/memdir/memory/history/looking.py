"""A memory directory is compared with what is recorded of it: which files hold other bytes now (H2)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from memdir import fs
from memdir.errors import UnsafePath
from memdir.memory.history import stamps
from memdir.memory.history.stamps import Entry
from memdir.memory.history.values import Run


class Looking:
    """A directory that is compared with what is recorded of it.

    `runs`: what differs. `fresh`: what is to be recorded. `gone`: what is recorded and not there any more.
    All of them are complete when `differing` is through. `closed`: a file could not be read. `files`: how
    many are looked at.
    """

    def __init__(self, root: Path, known: Mapping[bytes, Entry], *, now_ns: int) -> None:
        found = stamps.look(os.fsencode(root), known)
        self._root, self._known, self._now_ns = root, known, now_ns
        self._changed = found.changed
        self.files = len(found.changed) + len(found.gone)
        self.gone = found.gone
        self.fresh: dict[bytes, Entry] = {}
        self.runs = {path: _run(known[path], None) for path in found.gone}
        self.closed = False

    def differing(self) -> Iterator[bytes]:
        """The bytes of each file that holds others than are recorded."""
        for path, status in sorted(self._changed.items()):
            place = self._root / os.fsdecode(path)
            try:
                data = fs.read_file(place, limit=stamps.LIMIT + 1, within=self._root)
            except (FileNotFoundError, UnsafePath):  # another one came in between: seen at the next look
                continue
            except OSError:
                self.closed = True
                continue
            if len(data) <= stamps.LIMIT:
                old, blob = self._known.get(path), stamps.blob_of(data)
                stamp = stamps.stamp(status, place, now_ns=self._now_ns)
                self.fresh[path] = new = Entry(blob, status.st_mtime_ns, stamp)
                if old is None or old.blob != blob:
                    self.runs[path] = _run(old, new)
                    yield data


def _run(before: Entry | None, after: Entry | None) -> Run:
    return Run(
        before=before.blob if before else None,
        after=after.blob if after else None,
        before_mtime_ns=before.mtime_ns if before else None,
        after_mtime_ns=after.mtime_ns if after else None,
    )


def clock(fd: int) -> int:
    """What the clock of the file system shows, in ns: by the time that it gives to an open file of ours."""
    os.utime(fd)
    return os.fstat(fd).st_mtime_ns
