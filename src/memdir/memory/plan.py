"""Several files become what they are to be, all of them or none: the redo log of an undo (F8, H2).

    <history>/plan.json    {"version": 1, "trash": [id, …], "files": [
                            {"file", "now", "now_mtime_ns", "then", "then_mtime_ns"}, …]}

`now` and `then` are Base64, null for no file; the trash is what is dropped from it at the end.

The plan is on the disk before the first file changes, and goes after the last. A process that is killed in
between leaves it there, and whoever changes the directory next finishes it first. An error on the way turns
the plan around: what was done is taken back. A file that somebody has changed meanwhile is theirs, and stays.
"""

from __future__ import annotations

import base64
import json
import logging
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memdir import fs
from memdir.errors import Conflict, UnsafePath

if TYPE_CHECKING:
    from memdir.memory.store import MemoryDir

log = logging.getLogger(__name__)

VERSION = 1
NAME = "plan.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """What one file holds now, and what it is to hold then; None: no file. `then_mtime_ns` is None where the
    moment of the write will do.
    """

    file: str
    now: bytes | None
    now_mtime_ns: int | None
    then: bytes | None
    then_mtime_ns: int | None

    def turned(self) -> Swap:
        """The way back."""
        return Swap(
            file=self.file,
            now=self.then,
            now_mtime_ns=self.then_mtime_ns,
            then=self.now,
            then_mtime_ns=self.now_mtime_ns,
        )


def carry_out(memory: MemoryDir, swaps: Sequence[Swap], *, trash: Sequence[str] = ()) -> None:
    """Change all the files, in that order, and drop the entries of the trash; the caller holds the lock.

    Raises:
        Conflict: one of them is not what it was thought to be. OSError: the disk said no. All is as it was.
    """
    place = _place(memory)
    if place is None:
        raise Conflict("there is no history to undo anything with")
    _write(place, swaps, trash)
    done: list[Swap] = []
    try:
        for swap in swaps:
            done.append(swap)
            _replace(memory, swap)
            _date(memory, swap)
    except BaseException:
        back = [swap.turned() for swap in reversed(done)]
        with suppress(OSError):  # a full disk: what was done takes up no more room when it is taken back
            _write(place, back, ())
        with suppress(OSError):  # if even that fails, it is left for the next start
            _finish(memory, back, ())
            fs.remove_durably(place)
        raise
    _drop(memory, trash)
    fs.remove_durably(place)


def finish(memory: MemoryDir) -> None:
    """Finish what a killed process has begun, if it has; the caller holds the lock. One look where not.

    What can't be done now is logged, and is done next time: it holds up nothing else.
    """
    place = _place(memory)
    if place is None or not place.exists():
        return
    try:
        try:
            swaps, trash = _read(place)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            log.warning("a plan that can't be read was dropped: %s", type(error).__name__)
        else:
            _finish(memory, swaps, trash)
        fs.remove_durably(place)
    except OSError as error:
        log.warning("an undo that was broken off can't be finished: %s", error.strerror)
    except UnsafePath as error:
        log.warning("an undo that was broken off can't be finished: %s", error.reason)


def bytes_of(memory: MemoryDir, file: str) -> tuple[bytes, int] | None:
    """A file that the history may know, with its mtime; None: no file is there.

    Raises:
        UnsafePath: its name leads out of the directory or to something hidden, or no regular file is there.
    """
    place = located(memory.directory, file)
    try:
        mtime_ns = place.lstat().st_mtime_ns  # before the bytes: a change in between makes it look old
        return fs.read_file(place, within=_root(memory)), mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return None


def located(directory: Path, file: str) -> Path:
    """Where a file is that the history may know. Its name may be odd: it was there once.

    Raises:
        UnsafePath: the name leads out of the directory or to something hidden.
    """
    names = file.split("/")
    if not file.endswith(".md") or any(not name or name.startswith(".") for name in names) or "\0" in file:
        raise UnsafePath(file, reason="no name of a memory file")
    return Path(os.path.realpath(directory), *names)


def _root(memory: MemoryDir) -> Path:
    return Path(os.path.realpath(memory.directory))


def _place(memory: MemoryDir) -> Path | None:
    return None if memory.history is None else memory.history.folder / NAME


def _finish(memory: MemoryDir, swaps: Iterable[Swap], trash: Iterable[str]) -> None:
    for swap in swaps:
        with suppress(Conflict, UnsafePath):  # somebody has changed it since
            found = bytes_of(memory, swap.file)
            if (None if found is None else found[0]) != swap.then:
                _replace(memory, swap)
            _date(memory, swap)
    _drop(memory, trash)


def _replace(memory: MemoryDir, swap: Swap) -> None:
    """Raises Conflict if the file is not what it was (F9)."""
    root, place = _root(memory), located(memory.directory, swap.file)
    if swap.then is not None:
        expected = None if swap.now is None else fs.digest(swap.now)
        fs.replace_if(place, swap.then, expected=expected, within=root)
        return
    found = bytes_of(memory, swap.file)
    if found is not None and found[0] != swap.now:
        raise Conflict(f"{place.name} changed meanwhile", hint="look again, then decide")
    with suppress(FileNotFoundError, NotADirectoryError):
        fs.remove_durably(place, within=root)


def _date(memory: MemoryDir, swap: Swap) -> None:
    if swap.then is not None and swap.then_mtime_ns is not None:
        moment = swap.then_mtime_ns
        with suppress(FileNotFoundError):
            os.utime(located(memory.directory, swap.file), ns=(moment, moment), follow_symlinks=False)


def _drop(memory: MemoryDir, trash: Iterable[str]) -> None:
    ids = set(trash)
    for entry in memory.trash.entries() if ids else ():
        if entry.id in ids:
            with suppress(OSError):  # a topic in both places is what `mend` puts right
                memory.trash.drop(entry)


# -- on the disk --------------------------------------------------------------------------------------------


def _write(place: Path, swaps: Sequence[Swap], trash: Sequence[str]) -> None:
    files = [
        {
            "file": swap.file,
            "now": _packed(swap.now),
            "now_mtime_ns": swap.now_mtime_ns,
            "then": _packed(swap.then),
            "then_mtime_ns": swap.then_mtime_ns,
        }
        for swap in swaps
    ]
    record = {"version": VERSION, "files": files, "trash": list(trash)}
    fs.write_atomic(place, json.dumps(record).encode("ascii") + b"\n")


def _read(place: Path) -> tuple[list[Swap], list[str]]:
    record = json.loads(fs.read_file(place))
    swaps = [
        Swap(
            file=str(one["file"]),
            now=_unpacked(one["now"]),
            now_mtime_ns=_moment(one["now_mtime_ns"]),
            then=_unpacked(one["then"]),
            then_mtime_ns=_moment(one["then_mtime_ns"]),
        )
        for one in record["files"]
    ]
    return swaps, [str(one) for one in record["trash"]]


def _moment(number: object) -> int | None:
    """A modification time that a file can have."""
    if number is None or (isinstance(number, int) and abs(number) < 2**63):
        return number
    raise ValueError("no moment")


def _packed(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _unpacked(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)
