"""A journal on the disk: `<run>.jsonl`, one line a step, each there before the disk changes (E7).

    {"version": 1, "session", "upto", "start", "change"}                        what it is about, see `Head`
    {"n": 0, "wrote": {"file", "before", "mtime_ns", "after", "dangling"}}      bytes in base64, null: no file
    {"n": 1, "deleted": {"id", "file", "deleted", "mtime_ns", "pointers", "data"}}
    {"drop": 1}                                                                 that step was taken out
    {"n": 1, "aims": {file: [digest, mtime_ns]}, "trash": [id, …]}              is being taken back, to this
    {"done": true}                                                              all of it stays

`n` is the step's place: a step that did not come about is replaced by the next one of its number. The head
and the first step come as one file, so that there is no journal without them; of a line that was cut off
nothing had been begun. Files are 0600 in a folder that is 0700: they hold what memories hold. Who writes
holds the lock of the memory directory.
"""

from __future__ import annotations

import json
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memdir import fs
from memdir.errors import Conflict
from memdir.memory.steps import Aim, Deleted, Step, Wrote
from memdir.memory.trash import Trashed

VERSION = 1
_NAME = re.compile(r"[0-9a-f]{16}\.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a run is about. It is over and done once the cursor of `session` is not at `start` any more.

    `session`: whose lock its owner holds as long as it runs; None: its owner holds the memory directory's
    lock instead, from the first step to the last. `upto` is the last message it deals with, `change` the
    change that its steps are recorded as.
    """

    session: str | None = None
    upto: str = ""
    start: str = ""
    change: str | None = None


@dataclass(kw_only=True)
class Contents:
    """What a journal file holds. `trash`: what of the run was in the trash when it began to be taken back."""

    head: Head
    steps: list[Step] = field(default_factory=list)
    aims: dict[str, Aim] = field(default_factory=dict)
    trash: set[str] = field(default_factory=set)
    done: bool = False


class JournalFile:
    """The file of one journal."""

    def __init__(self, path: Path, head: Head, *, begun: bool = False) -> None:
        self.path = path
        self.head = head
        self.begun = begun

    @classmethod
    def new(cls, folder: Path, head: Head) -> JournalFile:
        """One that appears with its first line."""
        return cls(folder / f"{secrets.token_hex(8)}.jsonl", head)

    @property
    def is_gone(self) -> bool:
        """Whether it was there, and somebody has taken the run for dead and put all back."""
        return self.begun and not self.path.exists()

    def add(self, number: int, step: Step) -> None:
        """Note a step that is about to be done; it is on the disk when this returns.

        Raises:
            Conflict: the journal is gone. OSError: the disk said no.
        """
        record = {"n": number, **_out(step)}
        if self.begun:
            self.append(record)
            return
        head = {"version": VERSION, **asdict(self.head)}
        try:
            fs.write_atomic(self.path, b"".join(_line(one) + b"\n" for one in (head, record)), mode=0o600)
        except OSError:
            with suppress(OSError):  # it may stand there all the same
                fs.remove_durably(self.path)
            raise
        self.begun = True

    def append(self, record: Mapping[str, Any]) -> None:
        """One line more. Raises as `add`."""
        if self.is_gone:
            raise Conflict("this run was taken for dead, and its changes were taken back")
        fs.append_line(self.path, _line(record), sync=True)

    def remove(self) -> None:
        """The file goes for good, if it is there. Raises OSError."""
        if self.begun:
            with suppress(FileNotFoundError):
                fs.remove_durably(self.path)
            self.begun = False


def aims_line(number: int, aims: Mapping[str, Aim], trash: set[str]) -> dict[str, Any]:
    """The record that the first `number` steps are being taken back."""
    targets = {file: [aim.digest, aim.mtime_ns] for file, aim in aims.items()}
    return {"n": number, "aims": targets, "trash": sorted(trash)}


def drop_line(number: int) -> dict[str, Any]:
    """The record that the step at that place was taken out."""
    return {"drop": number}


DONE: Mapping[str, Any] = {"done": True}


def find(folder: Path) -> list[Path]:
    """The journals in a folder, in a fixed order."""
    return sorted(path for path in folder.glob("*.jsonl") if _NAME.fullmatch(path.name))


def read(path: Path) -> Contents | None:
    """What a journal holds; None if it is another program's, or of another version.

    Raises:
        OSError: it can't be read, or is gone.
    """
    first, *lines = fs.read_file(path).split(b"\n")
    head = _parsed(first)
    if head is None or head.get("version") != VERSION:
        return None
    session, upto, start, change = (_text(head.get(name)) for name in ("session", "upto", "start", "change"))
    found = Contents(head=Head(session=session, upto=upto or "", start=start or "", change=change))
    for record in filter(None, map(_parsed, lines)):
        with suppress(KeyError, TypeError, ValueError, AttributeError, IndexError):
            _take(found, record)
    return found


def _take(found: Contents, record: Mapping[str, Any]) -> None:
    if "wrote" in record or "deleted" in record:
        step = _step(record)
        del found.steps[record["n"] :]
        found.steps.append(step)
        found.aims.clear()
        found.trash.clear()
    elif "drop" in record:
        del found.steps[record["drop"]]
    elif "aims" in record:
        aims = {file: Aim(digest=digest, mtime_ns=mtime) for file, (digest, mtime) in record["aims"].items()}
        del found.steps[record["n"] :]
        found.aims |= aims
        found.trash |= set(record["trash"])
    elif record.get("done") is True:
        found.done = True


# -- steps ---------------------------------------------------------------------------------------------------


def _out(step: Step) -> dict[str, Any]:
    match step:
        case Wrote():
            about = {
                "file": step.file,
                "before": _bytes_out(step.before),
                "mtime_ns": step.mtime_ns,
                "after": _bytes_out(step.after),
                "dangling": sorted(step.dangling),
            }
            return {"wrote": about}
        case Deleted():
            return {"deleted": {**asdict(step.entry), "data": _bytes_out(step.data)}}


def _step(record: Mapping[str, Any]) -> Step:
    if "wrote" in record:
        wrote = record["wrote"]
        return Wrote(
            file=str(wrote["file"]),
            before=None if wrote["before"] is None else b64decode(wrote["before"], validate=True),
            mtime_ns=int(wrote["mtime_ns"]),
            after=b64decode(wrote["after"], validate=True),
            dangling=frozenset(wrote["dangling"]),
        )
    deleted = record["deleted"]
    entry = Trashed(
        id=str(deleted["id"]),
        file=str(deleted["file"]),
        deleted=str(deleted["deleted"]),
        mtime_ns=int(deleted["mtime_ns"]),
        pointers=tuple((int(number), str(line)) for number, line in deleted["pointers"]),
    )
    return Deleted(entry=entry, data=b64decode(deleted["data"], validate=True))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _bytes_out(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode("ascii")


def _line(record: Mapping[str, Any]) -> bytes:
    """ASCII, so that a line with bytes that are no UTF-8 comes back as it was."""
    return json.dumps(record, separators=(",", ":")).encode("ascii")


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
