"""Several files become what they are to be, all of them or none: the redo log of undos and dreams (F8, H2).

    <history>/plan.json    {"version": 1, "directory": …, "trash": [id, …], "files": [
                            {"file", "now", "now_mtime_ns", "then", "then_mtime_ns", "needs"}, …]}

`now` and `then` are Base64, null for no file; the trash is what is dropped from it at the end; `directory` is
where the memory directory really was.

The plan is on the disk before the first file changes, and goes after the last. A process that is killed in
between leaves it there, and whoever changes the directory next finishes it first. An error on the way turns
the plan around: what was done is taken back. A file that somebody has changed meanwhile is theirs, and stays;
then so does what `needs` it.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memdir import fs
from memdir.errors import Conflict, UnsafePath, UsageError
from memdir.memory import merging, topic
from memdir.memory.merging import Returning
from memdir.memory.pointer import Pointer
from memdir.names import is_topic

if TYPE_CHECKING:
    from memdir.memory.store import MemoryDir

log = logging.getLogger(__name__)

VERSION = 1
NAME = "plan.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """What one file holds now, and what it is to hold then; None: no file. `then_mtime_ns` is None where the
    moment of the write will do. `needs`: files of the same plan that have to be carried out if this one is,
    because what it loses stands there then.
    """

    file: str
    now: bytes | None
    now_mtime_ns: int | None
    then: bytes | None
    then_mtime_ns: int | None
    needs: frozenset[str] = frozenset()

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
    root, swaps = _root(memory), _twins_apart(swaps)
    _write(place, swaps, trash, directory=root)
    done: list[Swap] = []
    try:
        for swap in swaps:
            _check_place(memory, root)
            done.append(swap)
            _replace(memory, swap)
            _date(memory, swap)
    except BaseException:
        back = [swap.turned() for swap in reversed(done)]
        with suppress(OSError):  # a full disk: what was done takes up no more room when it is taken back
            _write(place, back, (), directory=root)
        with suppress(OSError, Conflict):  # if even that fails, it is left for the next start
            _check_place(memory, root)
            _finish(memory, back, ())
            fs.remove_durably(place)
        raise
    _drop(memory, trash)
    fs.remove_durably(place)


def unrecorded(memory: MemoryDir, swaps: Sequence[Swap]) -> str | None:
    """Why what is about to be changed could not be undone: the history does not hold it. None: it does. The
    caller is within `memory.changing()`.
    """
    history = memory.history
    if history is None:
        return "no history is kept"
    if history.holds({swap.file: swap.now for swap in swaps if swap.now is not None}):
        return None
    why = f" ({history.failure})" if history.failure else ""
    return f"the history does not hold what is there now{why}"


def finish(memory: MemoryDir) -> None:
    """Finish what a killed process has begun, if it has; the caller holds the lock. One look where not.

    What can't be done now is logged, and is done next time: it holds up nothing else.
    """
    place = _place(memory)
    if place is None or not place.exists():
        return
    try:
        try:
            swaps, trash, directory = _read(place)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            log.warning("a plan that can't be read was dropped: %s", type(error).__name__)
        else:
            if directory not in (None, os.fspath(_root(memory))):
                return  # something else is in its place: it waits for the old one, or for a new plan
            possible = _possible(memory, swaps)
            _finish(memory, possible, trash)
            if possible != swaps:
                _fit_index(memory, swaps)
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


def _possible(memory: MemoryDir, swaps: Sequence[Swap]) -> list[Swap]:
    """What of a plan can still be carried out: without the files that somebody has changed since, and with
    the way back for what needs one of them.
    """
    if not any(swap.needs for swap in swaps):
        return list(swaps)
    theirs = {swap.file for swap in swaps if not _is_as_planned(memory, swap)}
    stuck, size = set(theirs), -1
    while len(stuck) != size:
        size = len(stuck)
        stuck |= {swap.file for swap in swaps if swap.needs & stuck}
    back = [swap.turned() for swap in reversed(swaps) if swap.file in stuck - theirs]
    return [*(swap for swap in swaps if swap.file not in stuck), *back]


def _fit_index(memory: MemoryDir, swaps: Sequence[Swap]) -> None:
    """The index leads to the files of a plan that are there, and to none that is not."""

    def fit(text: str) -> str:
        there = {swap.file: data for swap in swaps if (data := _found(memory, swap.file)) is not None}
        back = [
            Returning(lines=(), pointer=Pointer(title=read.name, file=file, hook=read.description or ""))
            for file, data in there.items()
            if is_topic(file)
            for read in (topic.parse(data, filename=file),)
        ]
        gone = [swap.file for swap in swaps if swap.file not in there]
        return merging.fitted(text, gone=gone, ours=frozenset(), back=back)

    with suppress(Conflict, UnsafePath, UsageError):
        memory.index_file.change(fit)


def _found(memory: MemoryDir, file: str) -> bytes | None:
    with suppress(UnsafePath):
        found = bytes_of(memory, file)
        return None if found is None else found[0]
    return None


def _is_as_planned(memory: MemoryDir, swap: Swap) -> bool:
    """Whether the file is as the plan found it, or as it makes it."""
    with suppress(UnsafePath):
        found = bytes_of(memory, swap.file)
        return (None if found is None else found[0]) in (swap.now, swap.then)
    return False


def _twins_apart(swaps: Sequence[Swap]) -> list[Swap]:
    """The same, but a file goes before one comes that only case or Unicode form tell from it: on some disks
    there is no room for both.
    """
    coming = {_twin_key(swap.file): swap for swap in swaps if swap.now is None and swap.then is not None}
    going = {_twin_key(swap.file): swap for swap in swaps if swap.now is not None and swap.then is None}
    late = [coming[key] for key in coming.keys() & going.keys()]
    return [*(swap for swap in swaps if swap not in late), *late] if late else list(swaps)


def _twin_key(file: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", file).casefold())


def _check_place(memory: MemoryDir, root: Path) -> None:
    """Raises Conflict where the directory is another one by now, or was replaced by a link."""
    if _root(memory) != root:
        raise Conflict("the memory directory was replaced meanwhile", hint="look at it, then try again")


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


def _write(
    place: Path, swaps: Sequence[Swap], trash: Sequence[str], *, directory: Path | None = None
) -> None:
    files = [
        {
            "file": swap.file,
            "now": _packed(swap.now),
            "now_mtime_ns": swap.now_mtime_ns,
            "then": _packed(swap.then),
            "then_mtime_ns": swap.then_mtime_ns,
            "needs": sorted(swap.needs),
        }
        for swap in swaps
    ]
    real = None if directory is None else os.fspath(directory)
    record = {"version": VERSION, "directory": real, "files": files, "trash": list(trash)}
    fs.write_atomic(place, json.dumps(record).encode("ascii") + b"\n")


def _read(place: Path) -> tuple[list[Swap], list[str], str | None]:
    record = json.loads(fs.read_file(place))
    swaps = [
        Swap(
            file=str(one["file"]),
            now=_unpacked(one["now"]),
            now_mtime_ns=_moment(one["now_mtime_ns"]),
            then=_unpacked(one["then"]),
            then_mtime_ns=_moment(one["then_mtime_ns"]),
            needs=frozenset(map(str, one.get("needs", ()))),
        )
        for one in record["files"]
    ]
    directory = record.get("directory")
    return (
        swaps,
        [str(one) for one in record["trash"]],
        None if directory is None else str(directory),
    )


def _moment(number: object) -> int | None:
    """A modification time that a file can have."""
    if number is None or (isinstance(number, int) and abs(number) < 2**63):
        return number
    raise ValueError("no moment")


def _packed(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _unpacked(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)
