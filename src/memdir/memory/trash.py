"""Deleted topics, kept so that each can come back as it was. Lives outside the memory directory.

    <id>.md      the bytes
    <id>.json    {"version": 1, "file", "deleted", "mtime_ns", "pointers": [[line number, line], …]}

`id` is the moment of deletion and a random end, so several files of one name can be here. The record comes
last: without it there is no entry, only a copy of a file that was never deleted.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memdir import fs
from memdir.errors import NotFound, UnsafePath
from memdir.memory.topic import instant

VERSION = 1
_ID = re.compile(r"\d{8}T\d{9}Z-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trashed:
    """A deleted topic. `pointers` are the index lines that went with it, each with its place."""

    id: str
    file: str
    deleted: str
    mtime_ns: int
    pointers: tuple[tuple[int, str], ...]


class Trash:
    """A folder of deleted topics. Its callers hold the memory directory's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(
        self,
        file: str,
        data: bytes,
        *,
        mtime_ns: int,
        pointers: Sequence[tuple[int, str]],
        now: datetime,
    ) -> Trashed:
        """Keep a copy of a topic that is about to be deleted."""
        deleted = instant(now)
        stamp = "".join(character for character in deleted if character.isalnum())
        entry = Trashed(
            id=f"{stamp}-{secrets.token_hex(4)}",
            file=file,
            deleted=deleted,
            mtime_ns=mtime_ns,
            pointers=tuple(pointers),
        )
        record = {
            "version": VERSION,
            "file": file,
            "deleted": deleted,
            "mtime_ns": mtime_ns,
            "pointers": entry.pointers,
        }
        fs.make_private(self.folder)
        fs.write_atomic(self._content(entry.id), data)
        # ASCII, so that a line with bytes that are no UTF-8 comes back as it was.
        try:
            fs.write_atomic(self._record(entry.id), json.dumps(record, indent=2).encode("ascii") + b"\n")
        except OSError:
            with suppress(OSError):  # it may stand there all the same, for a topic that was not deleted
                fs.remove_durably(self._record(entry.id))
            raise
        return entry

    def entries(self) -> list[Trashed]:
        """All deleted topics, newest first. A record that can't be read is left where it is."""
        found = (self._read(path) for path in self.folder.glob("*.json"))
        return sorted(filter(None, found), key=lambda entry: (entry.deleted, entry.id), reverse=True)

    def get(self, file: str, id: str | None = None) -> tuple[Trashed, bytes]:  # noqa: A002 (as in Trashed)
        """The newest entry of that file, or the one with that id, and its bytes. Raises NotFound."""
        for entry in self.entries():
            if entry.file == file and id in (None, entry.id):
                return entry, self.data(entry)
        raise NotFound(f"nothing of that name was deleted: {file!r}")

    def data(self, entry: Trashed) -> bytes:
        """The bytes of a deleted topic."""
        return fs.read_file(self._content(entry.id))

    def drop(self, entry: Trashed) -> None:
        """Forget an entry: it was restored."""
        fs.remove_durably(self._record(entry.id))
        fs.remove_durably(self._content(entry.id))

    def sweep(self) -> None:
        """Clear away what killed writers left: temporary files, and copies that never got a record."""
        fs.sweep_temporaries(self.folder, older_than=float("-inf"))
        for content in self.folder.glob("*.md"):
            if _ID.fullmatch(content.stem) and not self._record(content.stem).exists():
                fs.remove_durably(content)

    def _content(self, id: str) -> Path:  # noqa: A002
        return self.folder / f"{id}.md"

    def _record(self, id: str) -> Path:  # noqa: A002
        return self.folder / f"{id}.json"

    def _read(self, path: Path) -> Trashed | None:
        try:
            record = json.loads(fs.read_file(path))
            entry = Trashed(
                id=path.stem,
                file=str(record["file"]),
                deleted=str(record["deleted"]),
                mtime_ns=int(record["mtime_ns"]),
                pointers=tuple((int(number), str(line)) for number, line in record["pointers"]),
            )
        except (OSError, UnsafePath, ValueError, KeyError, TypeError):
            return None
        return entry if self._content(entry.id).is_file() else None
