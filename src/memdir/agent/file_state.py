"""Files the model has seen -> what it knows of each, and whether that still holds (A2, R8).

The table belongs to one conversation. A fork gets a copy, so that what it reads does not count as read by
its host (A4). Keys are resolved paths: a file reached through a link is the same file.

What a message shows of files is noted on the message (`attachment["seen"]`), so that the table can be made
again from the messages that are in the context: after a compaction took some away, and when a conversation
is taken up from its transcript.

    {"path": "/w/a.py", "digest": "9f86…", "mtime_ns": 1746612000000000000, "partial": false, "how": "read"}
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from memdir import fs
from memdir.errors import MemdirError
from memdir.fs import digest
from memdir.model.messages import Message, ToolUse

How = Literal["read", "written", "surfaced", "index", "instructions", "carried"]
"""How the content came into the conversation. `read`, `written`: by a tool call. `surfaced`: recalled.
`index`: the entrypoint at the start. `instructions`: a file that people wrote for agents. `carried`: shown
again after a compaction."""

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
        self._shown: dict[Path, None] = {}  # since `take_shown` was called last, in order

    @classmethod
    def of(cls, messages: Iterable[Message], *, before: FileState | None = None) -> FileState:
        """The table of a conversation that consists of these messages, by their notes.

        `before`: the table so far, which has the contents at hand. A file that it does not know is read from
        the disk if it still is what was seen; otherwise its content is gone, and a change can't be shown.
        """
        table, index, calls = cls(), dict[Path, bytes | None](), tuple[ToolUse, ...]()
        for message in messages:
            is_news = (message.attachment or {}).get("kind") in _DIFFERENCES
            for path, seen in _noted(message):
                if (is_news or _is_edited(path, seen, calls)) and path not in table._seen:
                    continue  # what it differs from is not there
                table._seen.pop(path, None)
                table._seen[path] = seen
                index[path] = _index_in(message) if seen.how == "index" else None
            calls = message.tool_uses
        known = dict(before) if before is not None else {}
        for path, seen in table:
            whole = _with_content(path, seen, known.get(path))
            table._seen[path] = whole if whole.data is not None else replace(whole, data=index.get(path))
        return table

    def saw(self, path: Path, *, data: bytes, mtime_ns: int, partial: bool, how: How) -> None:
        """Note that `data`, the whole content of the file, was shown (in part, if `partial`).

        A part shown of bytes that were known already takes nothing away from that.
        """
        key, found = _key(path), digest(data)
        before = self._seen.get(key)
        self._shown[key] = None
        if partial and before and before.digest == found and before.counts_as_read:
            self._seen[key] = replace(before, mtime_ns=mtime_ns)
            return
        kept = data if _is_kept(how, partial=partial) and len(data) <= KEEP_BYTES else None
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

    def become(self, other: FileState) -> None:
        """Hold what another table does. Whoever works beside the conversation has this one (E8)."""
        self._seen, self._shown = dict(other), {}

    def take_shown(self) -> list[dict[str, Any]]:
        """The notes of what was shown since this was asked last, each file once."""
        shown, self._shown = self._shown, {}
        return [note(path, self._seen[path]) for path in shown if path in self._seen]

    def copy(self) -> FileState:
        """A table of its own with the same content, for a fork (A4)."""
        return FileState(self._seen)

    def __iter__(self) -> Iterator[tuple[Path, Seen]]:
        """All files with what is known of them, in the order they were first seen."""
        return iter(list(self._seen.items()))

    def __len__(self) -> int:
        return len(self._seen)


def note(path: Path, seen: Seen) -> dict[str, Any]:
    """What stands on the message that showed a file."""
    about = {"digest": seen.digest, "mtime_ns": seen.mtime_ns, "partial": seen.partial, "how": seen.how}
    return {"path": str(path), **about}


def noted(messages: Sequence[Message], notes: Sequence[Mapping[str, Any]]) -> list[Message]:
    """The messages with the notes of what they show: each on the one about that path, else on the last.

    What no message shows is no news to anybody.
    """
    placed: dict[int, list[Mapping[str, Any]]] = {}
    paths = [_about(message) for message in messages]
    for each in notes if messages else ():
        at = paths.index(each["path"]) if each["path"] in paths else len(paths) - 1
        placed.setdefault(at, []).append(each)
    told = list(messages)
    for at, shown in placed.items():
        told[at] = replace(
            told[at], attachment={"kind": "seen", **(told[at].attachment or {}), "seen": shown}
        )
    return told


def _about(message: Message) -> str | None:
    path = (message.attachment or {}).get("path")
    return str(_key(Path(path))) if isinstance(path, str) else None


def _noted(message: Message) -> Iterator[tuple[Path, Seen]]:
    """The notes on a message; one that is not as we write them says nothing."""
    found = (message.attachment or {}).get("seen")
    for each in found if isinstance(found, list) else ():
        with suppress(KeyError, TypeError, ValueError):
            if each["how"] not in _HOWS or not isinstance(each["digest"], str):
                continue
            seen = Seen(
                digest=each["digest"],
                mtime_ns=int(each["mtime_ns"]),
                data=None,
                partial=bool(each["partial"]),
                how=each["how"],
            )
            yield Path(each["path"]), seen


def _is_kept(how: How, *, partial: bool) -> bool:
    """Whether a later content may be compared with it: what was shown, or all that counts of an index."""
    return not partial or how == "index"


def _is_edited(path: Path, seen: Seen, calls: Sequence[ToolUse]) -> bool:
    """Whether these calls changed a piece of the file: only a Write says all that it holds."""
    written = (call.input.get("file_path") for call in calls if call.name == "Write")
    return seen.how == "written" and all(Path(str(given)).name != path.name for given in written)


_DIFFERENCES = frozenset({"changed_file", "index_changed"})
"""Kinds of attachments that show how a file differs from what stands further up."""

_HOWS = frozenset(get_args(How))


def _index_in(message: Message) -> bytes | None:
    """The index as a first message shows it, unless it is cut: what counts of it, to compare a later one."""
    about = message.attachment or {}
    if about.get("kind") not in ("context", "index") or about.get("truncated"):
        return None
    found = _INDEX.search(message.text)
    return found[1].encode(errors="surrogatepass") if found else None


_NOTHING = digest(b"")

_INDEX = re.compile(r"<index>\n(.*)\n</index>\s*\Z", re.DOTALL)


def _with_content(path: Path, seen: Seen, known: Seen | None) -> Seen:
    if seen.digest == _NOTHING:
        return replace(seen, data=b"", no_news=known.no_news if known and known.digest == _NOTHING else None)
    if known is not None and known.digest == seen.digest:
        data = known.data if _is_kept(seen.how, partial=seen.partial) else None
        return replace(seen, data=data, no_news=known.no_news)
    if known is not None or not _is_kept(seen.how, partial=seen.partial):
        return seen  # something else was shown since, in a message that is gone; or only a part
    try:
        data = fs.read_file(path, limit=KEEP_BYTES + 1)
    except (OSError, MemdirError):
        return seen
    return replace(seen, data=data) if len(data) <= KEEP_BYTES and digest(data) == seen.digest else seen


def _key(path: Path) -> Path:
    return Path(os.path.realpath(path))
