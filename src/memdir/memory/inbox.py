"""Proposed changes that carry what the person did not say: kept apart until they say yes or no (E11).

    <id>.json    {"version": 1, "file", "action", "base", "code", "reason", "at", "origin", "sameness"}
    <id>.md      the bytes that are proposed; none where a file is to be deleted
    rejected     a line for each proposal that was rejected: its sameness, a digest

Outside the memory directory: nothing reads these texts but the commands that show them to the person. The
record comes last and goes first: without it there is no item, only a copy of a text that counts for nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from memdir import fs
from memdir.errors import MemdirError, NotFound, UnsafePath, UsageError
from memdir.memory import encoding, entrypoint, frontmatter, leaks, topic
from memdir.memory.frontmatter import LINE
from memdir.memory.manifest import visible
from memdir.memory.pointer import key, same
from memdir.memory.topic import Origin, instant

VERSION = 1

WAITING = 500
"""Items that may wait at most."""

LONGEST = 1_000_000
"""Bytes of a proposed text at most."""

_RECORD = 100_000
"""Bytes of a record at most; ours have some hundred."""

REMEMBERED = 5_000
"""Rejections that are remembered at least; twice as many at most."""

_ID = re.compile(r"[0-9a-f]{8}")
_DIGEST = re.compile(r"[0-9a-f]{64}")

Action = Literal["write", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A change of one memory file that waits for the person.

    `data` is what the file is to hold, or None if it is to be deleted. `base` is the digest of what the
    proposal was built on; None: there was no such file. For the index, None means that `data` are lines to be
    put into it, not the whole of it. `code` and `reason` say why it waits, `at` (ISO 8601) since when.
    """

    id: str
    file: str
    action: Action
    data: bytes | None = field(repr=False)
    base: str | None
    code: str
    reason: str
    at: str
    origin: Origin | None
    sameness: str


class Inbox:
    """A folder of items. Each change of it holds the folder's own lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(
        self,
        file: str,
        *,
        data: bytes | None,
        base: str | None,
        code: str,
        reason: str,
        now: datetime,
        origin: Origin | None,
        before: bytes | None = None,
    ) -> Item | None:
        """Let a change wait: `data` for that file, or without `data` its removal. None: the same waits
        already, or was rejected before.

        `before` matters for the index alone: what it held. Then only the lines that are new wait, and are put
        in where they fit, whatever has become of the rest by then.

        Raises:
            SecretFound: a secret stands in the text, or it would mark a line as none (E10).
            UsageError: the text is too long.
            MemdirError: too much waits already.
        """
        if data is not None and file == entrypoint.NAME and before is not None:
            new = _new_lines(data, before)
            data, base = (new, None) if new else (data, base)
        if data is not None and len(data) > LONGEST:
            raise UsageError(f"a text of {len(data):,} bytes is too long to wait for the person's word")
        leaks.refuse_name(file, below=())
        leaks.refuse(encoding.readable(data or b""), "", name=file)
        leaks.refuse(reason, "", name="the reason")
        mark = sameness(file, data, base=base)
        with fs.locked(self.folder):
            self._sweep()
            waiting = list(self._records())
            if mark in self._rejected() or any(one.sameness == mark for one in waiting):
                return None
            if len(waiting) >= WAITING:
                raise MemdirError(
                    f"{len(waiting)} changes wait for the person's word already; this one was not kept",
                    hint="`memdir inbox` lists them; accept or reject some",
                )
            item = Item(
                id=self._free_id(),
                file=file,
                action="delete" if data is None else "write",
                data=data,
                base=base,
                code=code,
                reason=reason,
                at=instant(now),
                origin=origin,
                sameness=mark,
            )
            self._write(item)
        return item

    def items(self) -> list[Item]:
        """All that waits, newest first. A record that can't be read is left where it is."""
        found = (self._with_data(item) for item in self._records())
        return sorted(filter(None, found), key=lambda item: (item.at, item.id), reverse=True)

    def get(self, id: str) -> Item:  # noqa: A002 (as in Item)
        """The item with that id, or a unique beginning of it.

        Raises:
            NotFound: there is none. UsageError: there are several.
        """
        wanted = id.strip().lower()
        found = [item for item in self.items() if wanted and item.id.startswith(wanted)]
        if not found:
            raise NotFound(f"nothing with the id {id!r} waits", hint="`memdir inbox` lists what does")
        if len(found) > 1:
            ids = ", ".join(item.id for item in found[:5])
            raise UsageError(f"the ids of {len(found)} items begin with {id!r}", hint=f"say which: {ids}")
        return found[0]

    def drop(self, item: Item) -> None:
        """The item waits no longer; one that is gone already is fine."""
        with fs.locked(self.folder):
            self._remove(item.id)

    def reject(self, item: Item) -> None:
        """Drop the item, and remember by a digest alone that the same is not wanted again."""
        with fs.locked(self.folder):
            rejected = self._rejected()
            if item.sameness not in rejected:
                if len(rejected) >= 2 * REMEMBERED:
                    kept = "".join(f"{line}\n" for line in list(rejected)[-REMEMBERED:])
                    fs.write_atomic(self._rejections, kept.encode())
                fs.append_line(self._rejections, item.sameness.encode(), sync=True)
            self._remove(item.id)

    def forget(self, file: str) -> tuple[Item, ...]:
        """Drop all that is about one file, lines of the index that name it included. Says what that was."""
        if not self.folder.is_dir():
            return ()
        with fs.locked(self.folder):
            self._sweep()
            gone = tuple(item for item in self.items() if _is_about(item, file))
            for item in gone:
                self._remove(item.id)
        return gone

    # -- on the disk ------------------------------------------------------------------------------------

    @property
    def _rejections(self) -> Path:
        return self.folder / "rejected"

    def _content(self, id: str) -> Path:  # noqa: A002
        return self.folder / f"{id}.md"

    def _record(self, id: str) -> Path:  # noqa: A002
        return self.folder / f"{id}.json"

    def _free_id(self) -> str:
        """An id that no item has, nor anything odd in the folder."""
        while True:
            new = secrets.token_hex(4)
            if not self._record(new).exists() and not self._content(new).exists():
                return new

    def _write(self, item: Item) -> None:
        record = {
            "version": VERSION,
            "file": item.file,
            "action": item.action,
            "base": item.base,
            "code": item.code,
            "reason": item.reason,
            "at": item.at,
            "origin": asdict(item.origin) if item.origin else None,
            "sameness": item.sameness,
        }
        if item.data is not None:
            fs.write_atomic(self._content(item.id), item.data)
        try:
            # ASCII, so that a name with bytes that are no UTF-8 comes back as it was.
            fs.write_atomic(self._record(item.id), json.dumps(record, indent=2).encode("ascii") + b"\n")
        except OSError:
            with suppress(OSError):  # it may stand there all the same, and the caller hears that it does not
                fs.remove_durably(self._record(item.id))
            raise

    def _remove(self, id: str) -> None:  # noqa: A002
        for path in (self._record(id), self._content(id)):
            with suppress(FileNotFoundError):
                fs.remove_durably(path)

    def _records(self) -> Iterator[Item]:
        """What the records say, without the bytes."""
        try:
            names = os.listdir(self.folder)  # noqa: PTH208 - raises: no answer must sound as if nothing waited
        except FileNotFoundError:
            return
        for path in (self.folder / name for name in names if name.endswith(".json")):
            if _ID.fullmatch(path.stem) and (item := self._read(path)):
                yield item

    def _read(self, path: Path) -> Item | None:
        """What a record says; None for one that is not as ours are: any program may have put it there."""
        try:
            return _item(path.stem, json.loads(self._bytes(path, _RECORD)))
        except (OSError, UnsafePath, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def _with_data(self, item: Item) -> Item | None:
        """The item with its bytes; None if they are gone, or no file."""
        if item.action == "delete":
            return item
        try:
            data = self._bytes(self._content(item.id), LONGEST + 1)
        except (OSError, UnsafePath):
            return None
        return replace(item, data=data) if len(data) <= LONGEST else None

    def _bytes(self, path: Path, limit: int) -> bytes:
        """A file of the folder, and no other that a link leads to."""
        root = Path(os.path.realpath(self.folder))
        return fs.read_file(root / path.name, limit=limit, within=root)

    def _rejected(self) -> dict[str, None]:
        """The digests of what was rejected, in order; a line that a crash cut off is none."""
        try:
            text = fs.read_file(self._rejections).decode("ascii", "replace")
        except (OSError, UnsafePath):
            return {}
        return dict.fromkeys(filter(_DIGEST.fullmatch, text.split("\n")))

    def _sweep(self) -> None:
        """Clear away what killed writers left: temporary files, and texts that never got a record."""
        fs.sweep_temporaries(self.folder, older_than=float("-inf"))
        for content in self.folder.glob("*.md"):
            if _ID.fullmatch(content.stem) and not self._record(content.stem).exists():
                with suppress(OSError):
                    fs.remove_durably(content)


def sameness(file: str, data: bytes | None, *, base: str | None) -> str:
    """What two proposals have in common if a person would call them the same: a digest.

    Of a text, by any file name: the words of it, without stamps, white space and what can't be seen. Of a
    removal: the file as it was.
    """
    if data is None:
        parts = ["delete", key(file), base or ""]
    else:
        kind = "index" if file == entrypoint.NAME else "memory"
        text = visible(encoding.readable(without_stamps(data)))
        parts = ["write", kind, *unicodedata.normalize("NFC", text).split()]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def without_stamps(data: bytes) -> bytes:
    """A memory's text without `modified` and `origin`, which say nothing about what it says."""
    if frontmatter.read(encoding.readable(data)) is None:
        return data
    with suppress(UsageError):
        return topic.edit(data, dict.fromkeys(_STAMPS))
    return data


_STAMPS = [name for name in topic.KEYS if name == "modified" or name.startswith("origin.")]


def _new_lines(data: bytes, before: bytes) -> bytes:
    """The lines of an index that it did not hold before, in UTF-8."""
    old = {line.strip() for line in LINE.findall(encoding.readable(before))}
    new = (line for line in LINE.findall(encoding.readable(data)) if line.strip() not in old)
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n" for line in new).encode(
        "utf-8", "replace"
    )


def _is_about(item: Item, file: str) -> bool:
    if same(item.file, file):
        return True
    text = encoding.readable(item.data or b"") if item.file == entrypoint.NAME else ""
    return key(file) in entrypoint.linked(text)


def _item(id: str, record: Any) -> Item:  # noqa: A002
    texts = {name: record[name] for name in ("file", "code", "reason", "at", "sameness")}
    base, action, origin = record["base"], record["action"], record["origin"]
    if record["version"] != VERSION or action not in ("write", "delete"):
        raise ValueError("a record of another kind")
    if not all(isinstance(text, str) for text in texts.values()) or not isinstance(base, str | None):
        raise TypeError("a record of another kind")
    moment = datetime.fromisoformat(texts["at"])
    if moment.tzinfo is None or not 1970 <= moment.year < 9999:  # elsewhere the calendar may end before
        raise ValueError("a moment without a time zone, or out of reach")
    if not _DIGEST.fullmatch(texts["sameness"]):
        raise ValueError("no digest")
    if origin is not None:
        parts = {name: origin.get(name) for name in ("session", "message", "worker")}
        if not all(isinstance(part, str | None) for part in parts.values()):
            raise TypeError("a record of another kind")
        origin = Origin(**parts)
    return Item(id=id, action=action, data=None, base=base, origin=origin, **texts)
