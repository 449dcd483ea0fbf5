"""One dream at a time: `.consolidate-lock` in the memory directory (D2-D4).

Its modification time is the last consolidation, its first line the PID of who is at one. Whoever changes it
holds its `flock`, and makes sure that it still is the file of that name; it is written in place, for a
rename (F8) would leave others with the lock of a file that is no more. A process that was stopped, and taken
over meanwhile, finds another token in it; all that a holder writes into memory it writes inside `held`.

Killed at any step, a process leaves a lock that the next one takes at once, and the time of the last
consolidation to the nanosecond. Each write moves the modification time, so the record tells it too, until it
is put back: a write moves modification and change time together and leaves the access time alone; whoever
sets the time on purpose, with `touch` or otherwise, does not. (A gap of microseconds: a kill within the one
call that writes into an empty or another program's lock, or within those that make the first one without hard
links. It leaves a lock of now, and the next consolidation comes a day late.)

Needs `flock` (not on Windows, not on every network disk); where there is none, nothing is taken.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memdir.dream.holder import (
    FREED_SIZE,
    MOST_BYTES,
    STALE_NS,
    Freed,
    Holder,
    age_ns,
    boottime,
    fate,
    freed,
    here,
    lives,
    parsed,
    this_process,
    written,
)
from memdir.errors import Conflict, UnsafePath
from memdir.fs.folder import NEVER_WAIT, PRIVATE_FILE, Folder, closing, naming, open_folder, regular, to_disk

if sys.platform != "win32":
    import fcntl

LOCK = ".consolidate-lock"
STALE = STALE_NS // 10**9
"""Seconds after which a holder is taken over, alive or not (D3)."""

_PAUSE = 0.004
_TAKING, _RELEASING = 25, 500
"""So many looks, a pause apart, at a lock that somebody else is just changing: 0.1 s and 2 s."""
_NO_ACCESS_TIME = getattr(os, "O_NOATIME", 0)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A lock at one moment.

    `last_ns`: the last consolidation, nanoseconds since 1970; None: there was none. `holder`: who is at one,
    or perhaps is. `why` says in words how it stands. `is_left`: the record of one who is gone, or too long
    there, is in it; `Lock.take(...).fail()` puts it back as it was before.
    """

    last_ns: int | None
    holder: Holder | None
    why: str
    is_free: bool
    is_left: bool = False


class Busy(Conflict):
    """The lock is not to be had; the message says why. `state` is how it was found, if it could be read."""

    def __init__(self, message: str, *, hint: str, state: State | None = None) -> None:
        super().__init__(message, hint=hint)
        self.state = state


class Lost(Conflict):
    """Somebody else has taken the lock over, or removed it: what was begun under it must not be written."""


def last(directory: Path) -> int | None:
    """The last consolidation, nanoseconds since 1970, for exactly one stat (D2).

    None: that does not tell it: there is no lock, somebody's record is in it, or no file is in its place.
    `look` knows more.
    """
    found = _stat(directory)
    if found is None or not stat.S_ISREG(found.st_mode):
        return None
    as_set = found.st_size == 0 or (found.st_size == FREED_SIZE and not _only_written(found))
    return found.st_mtime_ns if as_set else None


def look(directory: Path, *, now: datetime, boottime: Callable[[], int | None] = boottime) -> State:
    """How the lock stands. One stat, if there is none or it is empty; changes nothing and waits for nobody.

    Raises OSError: it can't be read.
    """
    found = _stat(directory)
    if found is None:
        return _NEVER
    if not stat.S_ISREG(found.st_mode):
        why = f"{LOCK} is no file, but a link, folder, pipe or device; remove it"
        return State(last_ns=None, holder=None, why=why, is_free=False)
    data = b""
    if found.st_size:
        try:
            with _opened(directory) as (_, fd):
                found, data = _read(fd)
        except FileNotFoundError:
            return _NEVER
    return _state(found, data, now=now, boottime=boottime())


class Lock:
    """The lock of a directory, taken by this process. To be given back by `succeed` or `fail`.

    `prior_ns` is the last consolidation before this one (None: there was none), `taken_ns` the moment of the
    taking; nanoseconds since 1970. It is not shared with a child that is forked.
    """

    def __init__(self, directory: Path, holder: Holder, *, taken_ns: int) -> None:
        self.directory = directory
        self.prior_ns = holder.prior_ns
        self.taken_ns = taken_ns
        self._holder = holder

    @classmethod
    def take(
        cls,
        directory: Path,
        *,
        now: Callable[[], datetime],
        boottime: Callable[[], int | None] = boottime,
    ) -> Lock:
        """Take it, if nobody is at a consolidation; of any number that try at once, one gets it (D3).

        Waits a tenth of a second at most, for others that are just trying.

        Raises:
            Busy: with the reason. UnsafePath: no file is in its place. OSError: the disk said no, or there
                is no such directory; a lock that was there is as it was.
        """
        for number in range(_TAKING):
            if number:
                time.sleep(_PAUSE)
            with naming(directory / LOCK), open_folder(directory, None, create=False) as folder:
                if folder.look(LOCK) is None:
                    _make(folder)
                with suppress(_Again, FileNotFoundError), _flocked(folder) as fd:
                    return cls._taken(directory, folder, fd, now(), boottime())
        state = look(directory, now=now(), boottime=boottime)
        why = state.why if not state.is_free else "somebody else is just at the lock"
        raise Busy(f"not now: {why}", hint="try again in a moment", state=state)

    def is_ours(self) -> bool:
        """Whether it still is as this process took it, at this moment. False if that can't be told."""
        try:
            with _opened(self.directory) as (_, fd):
                return self._names_us(_read(fd)[1])
        except (OSError, UnsafePath):
            return False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody can take it over in here: what a holder writes, it writes inside. Not re-entrant, also not
        for `succeed` and `fail`.

        Raises Lost, before anything is done inside: it is no longer ours.
        """
        with self._ours() as found:
            if found is None:
                raise Lost(
                    "another process has taken over, or removed, the lock of this consolidation",
                    hint="nothing was written; run it again",
                )
            yield

    def succeed(self) -> bool:
        """Give it back: the moment of the taking is the last consolidation (D4). False: it was not ours any
        more, and nothing was done.
        """
        return self._give_back(self.taken_ns)

    def fail(self) -> bool:
        """Give it back as it was before, to the nanosecond; the file goes, if there was none (D4). False: it
        was not ours any more, and nothing was done.
        """
        return self._give_back(self.prior_ns)

    @classmethod
    def _taken(cls, directory: Path, folder: Folder, fd: int, now: datetime, boottime: int | None) -> Lock:
        """Decide and write. The file is flocked, and the one of that name."""
        found, data = _read(fd)
        _refuse_foreign(found)
        state = _state(found, data, now=now, boottime=boottime)
        if not state.is_free:
            raise Busy(
                f"not now: {state.why}", hint=f"it is taken over after {STALE // 60} minutes", state=state
            )
        holder = this_process(prior_ns=state.last_ns, taken=boottime)
        lock = cls(directory, holder, taken_ns=_nanoseconds(now))
        try:
            before = found.st_mtime_ns if state.last_ns is None else state.last_ns
            _put(fd, written(holder), lock.taken_ns, before=before)
        except BaseException:
            with suppress(OSError):
                _free(folder, fd, state.last_ns)
            raise
        if not _is_named(fd, folder) or not lock._names_us(_read(fd)[1]):
            raise _Again  # by a program, or a person, who does not ask for the lock
        return lock

    def _give_back(self, last_ns: int | None) -> bool:
        with self._ours() as found:
            if found is not None:
                _free(*found, last_ns)
        return found is not None

    @contextmanager
    def _ours(self) -> Iterator[tuple[Folder, int] | None]:
        """The file, flocked, if it still names this process; None if not."""
        with ExitStack() as stack:
            yield self._reached(stack)

    def _reached(self, stack: ExitStack) -> tuple[Folder, int] | None:
        for number in range(_RELEASING):
            if number:
                time.sleep(_PAUSE)
            with suppress(_Again), ExitStack() as attempt:
                try:
                    folder = attempt.enter_context(open_folder(self.directory, None, create=False))
                    fd = attempt.enter_context(_flocked(folder))
                except (FileNotFoundError, UnsafePath):
                    return None
                if not self._names_us(_read(fd)[1]):
                    return None
                stack.push(attempt.pop_all())
                return folder, fd
        raise Busy(
            "the lock of this consolidation is out of reach", hint="somebody else does not let go of it"
        )

    def _names_us(self, data: bytes) -> bool:
        return parsed(data) == self._holder and self._holder.pid == os.getpid()


class _Again(Exception):
    """Somebody else is just at it, or has put another in its place: look again."""


_NEVER = State(last_ns=None, holder=None, why="free: there was no consolidation yet", is_free=True)


def _state(found: os.stat_result, data: bytes, *, now: datetime, boottime: int | None) -> State:
    """What a lock says, with these times and these bytes."""
    mtime = found.st_mtime_ns
    record = parsed(data)
    if record is None:
        why = "free: what stands in it names no process" if data.strip() else "free"
        return State(last_ns=mtime, holder=None, why=why, is_free=True)
    if isinstance(record, Freed):
        last_ns = record.last_ns if record.last_ns is None or _only_written(found) else mtime
        return _NEVER if last_ns is None else State(last_ns=last_ns, holder=None, why="free", is_free=True)
    place = here()
    age = age_ns(record, here=place, mtime_ns=mtime, now_ns=_nanoseconds(now), boottime=boottime)
    prior = record.prior_ns if record.tells_prior else mtime
    match fate(record, here=place, age_ns=age, lives=lives):
        case "gone":
            why = f"free: process {record.pid}, which held it, has ended"
            return State(last_ns=prior, holder=None, why=why, is_free=True, is_left=True)
        case "stale":
            why = f"free: process {record.pid} has held it for too long"
            return State(last_ns=prior, holder=None, why=why, is_free=True, is_left=True)
        case "elsewhere":
            who = f"process {record.pid} of another host or container"
        case "alive":
            who = f"process {record.pid}"
    return State(last_ns=mtime, holder=record, why=f"held by {who}{_since(age, now)}", is_free=False)


def _since(age: int, now: datetime) -> str:
    began = (now - timedelta(microseconds=age // 1000)).astimezone()
    same_day = began.date() == now.astimezone().date()
    return f" since {began:%H:%M}" if same_day else f" since {began:%Y-%m-%d %H:%M}"


def _only_written(found: os.stat_result) -> bool:
    """Whether it was written last, and its time not put back after that, nor set by anybody."""
    return found.st_mtime_ns == found.st_ctime_ns != found.st_atime_ns


def _nanoseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


def _stat(directory: Path) -> os.stat_result | None:
    try:
        return os.lstat(directory / LOCK)
    except FileNotFoundError:
        return None


def _read(fd: int) -> tuple[os.stat_result, bytes]:
    found = os.fstat(fd)  # before the read, which may move one of its times
    return found, os.pread(fd, MOST_BYTES, 0)


def _put(fd: int, data: bytes, mtime_ns: int, *, before: int) -> None:
    """Write the record, whole, then its time. `end` in it makes it valid before the rest is cut off.

    `before`: the time that is right until then. The access time is none that a write, or a touch, could
    give; `_only_written` goes by it.
    """
    os.utime(fd, ns=(0, before))
    if os.pwrite(fd, data, 0) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.ftruncate(fd, len(data))
    os.utime(fd, ns=(mtime_ns, mtime_ns))
    to_disk(fd)


def _free(folder: Folder, fd: int, last_ns: int | None) -> None:
    """Nobody's from here on, and the last consolidation was then; None: there was none, and no file stays."""
    if last_ns is not None:
        _put(fd, freed(last_ns), last_ns, before=os.fstat(fd).st_mtime_ns)
    elif _is_named(fd, folder):
        folder.unlink(LOCK)
        folder.sync()


def _make(folder: Folder) -> None:
    """A lock that says: nobody's, and never yet. There at once as a whole; nothing, if there is one now."""
    with folder.temporary(freed(None), like=None) as temporary:
        try:
            names = folder.at(temporary), folder.at(LOCK)
            os.link(*names, src_dir_fd=folder.fd, dst_dir_fd=folder.fd, follow_symlinks=False)
        except FileExistsError:
            return
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            _make_in_place(folder)
    folder.sync()


def _make_in_place(folder: Folder) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | NEVER_WAIT
    with suppress(FileExistsError), closing(folder.open(LOCK, flags, PRIVATE_FILE)) as fd:
        if _try(fd):
            try:
                if os.fstat(fd).st_size == 0:  # nobody was quicker
                    os.pwrite(fd, freed(None), 0)
            finally:
                _let_go(fd)


@contextmanager
def _opened(directory: Path) -> Iterator[tuple[Folder, int]]:
    with (
        naming(directory / LOCK),
        open_folder(directory, None, create=False) as folder,
        closing(_open(folder, os.O_RDONLY)) as fd,
    ):
        regular(os.fstat(fd), directory / LOCK)
        yield folder, fd


def _open(folder: Folder, flags: int) -> int:
    """Open it so that our reading does not move its access time, where that is allowed: its owner may."""
    try:
        return folder.open(LOCK, flags | NEVER_WAIT | _NO_ACCESS_TIME)
    except PermissionError:
        return folder.open(LOCK, flags | NEVER_WAIT)


@contextmanager
def _flocked(folder: Folder) -> Iterator[int]:
    """The file of that name, flocked. Raises _Again: not at this moment; FileNotFoundError: there is none."""
    path = folder.path / LOCK
    if found := folder.look(LOCK):
        regular(found, path)  # what else stands there may not even be opened
    with closing(_open(folder, os.O_RDWR)) as fd:
        regular(os.fstat(fd), path)
        if not _try(fd):
            raise _Again
        try:
            if not _is_named(fd, folder):
                raise _Again
            yield fd
        finally:
            _let_go(fd)


def _try(fd: int) -> bool:
    """Whether the file is locked now; nobody waits. Raises Busy where files can't be locked at all."""
    if sys.platform == "win32":
        raise _unlockable()
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        raise _unlockable() from error
    return True


def _let_go(fd: int) -> None:
    """Said, not left to the closing: a child forked meanwhile would go on holding it."""
    if sys.platform != "win32":
        fcntl.flock(fd, fcntl.LOCK_UN)


def _unlockable() -> Busy:
    return Busy(
        "not here: files on this disk can't be locked (flock), so two consolidations could run at once",
        hint="keep memory on a disk of this machine",
    )


def _is_named(fd: int, folder: Folder) -> bool:
    """Whether the open file is the one of that name: not one that was removed while we waited for it."""
    found = folder.look(LOCK)
    return found is not None and os.path.samestat(found, os.fstat(fd))


def _refuse_foreign(found: os.stat_result) -> None:
    """Only its owner can set a file's times."""
    if sys.platform != "win32" and os.geteuid() not in {0, found.st_uid}:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
