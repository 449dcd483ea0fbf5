"""The table of what was surfaced and what became of it: one SQLite file a memory directory (R10).

    <state>/usage/<slug>.sqlite
    surfacing   session, turn, file, at, kind, how, opened, cited, corrected

Bookkeeping: it can't be made again from the memories, and losing it costs nothing but what it knew. It holds
names, moments and flags, never a word of a prompt or a memory. A memory that is forgotten keeps its rows, so
that `restore` brings it back with its history; a file that is renamed by hand begins anew. Only `erase` takes
rows out.

Nothing here fails a turn: what goes wrong (a busy or read-only file, a full disk) leaves the answer empty and
is noted in `Usage.failure`. A damaged file is set aside as `<file>.damaged-N`, and a new one begun. SQLite
does the writing, with its plain journal: one small file, which works on network disks too.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TypeVar
from urllib.parse import quote

from memdir import fs
from memdir.errors import MemdirError
from memdir.memory.topic import instant
from memdir.recall.aftermath import Outcome
from memdir.recall.request_kind import Kind

VERSION = 1
PATIENCE = 2.0
"""Seconds that one look or change waits for other processes."""

HALF_LIFE = 90.0
"""Days after which what a memory was good for counts half."""

_PRIOR = 3.0
"""So much evidence would have to say "of no use either way": a memory recalled once moves little."""
_OFTEN = 4
"""Surfaced so often without ever being used, a memory begins to sink."""

_APPLICATION = 0x6D656D75  # "memu"
_SCHEMA = (
    """
    CREATE TABLE IF NOT EXISTS surfacing (
      session TEXT NOT NULL, turn TEXT NOT NULL, file NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL,
      how TEXT NOT NULL, opened INTEGER NOT NULL DEFAULT 0, cited INTEGER NOT NULL DEFAULT 0,
      corrected INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (session, turn, file)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS by_file ON surfacing (file, at, opened, cited, corrected)",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
_SURFACED = "INSERT OR IGNORE INTO surfacing (session, turn, file, at, kind, how) VALUES (?, ?, ?, ?, ?, ?)"
_BECAME = (
    "UPDATE surfacing SET opened = opened OR ?, cited = cited OR ?, corrected = corrected OR ?"
    " WHERE session = ? AND turn = ? AND file = ?"
)
_OF = (
    "SELECT at, kind, how, session, turn, opened, cited, corrected FROM surfacing"
    " WHERE file = ? ORDER BY at DESC, session, turn"
)
_ALL = (
    "SELECT file, COUNT(*), SUM(opened), SUM(cited), SUM(corrected), SUM(opened OR cited), MAX(at)"
    " FROM surfacing GROUP BY file"
)
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_MOVED = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY_DBMOVED})
_ATTEMPTS = 4
_ONE_THREAD = Lock()
"""Held for each piece of work: a file that a thread closes loses the locks that others of its process hold on
it, so no thread may make one while another has it open."""
_BESIDE = ("-journal", "-wal", "-shm")

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How often a memory was surfaced, and what came of that. `used`: surfacings after which it was opened or
    cited. `last`: when it was surfaced last; None if never.
    """

    surfaced: int = 0
    opened: int = 0
    cited: int = 0
    corrected: int = 0
    used: int = 0
    last: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfaced:
    """One time that a memory was put into a conversation. `how`: who chose it ("model", "local")."""

    at: datetime
    kind: str
    how: str
    session: str
    turn: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All times that a memory was surfaced, the latest first, and the sum of them."""

    surfaced: tuple[Surfaced, ...] = ()
    tally: Tally = Tally()


class Usage:
    """The table of one memory directory. Every call opens the file and closes it again, so an object can be
    used from any thread, and the file by many processes at once.

    `failure`: the first thing that went wrong: its kind, and SQLite's or the system's words; None if nothing.
    """

    def __init__(self, path: str, *, patience: float = PATIENCE) -> None:
        self._path = path
        self._patience = patience
        self.failure: str | None = None

    # -- writing --

    def surfaced(
        self, files: Iterable[str], *, session: str, turn_id: str, kind: Kind, at: datetime, how: str
    ) -> None:
        """These memories were put into the conversation in this turn. Never raises."""
        rows = [(session, turn_id, _stored(file), instant(at), kind, how) for file in files]
        if rows:
            self._quietly(lambda db: db.executemany(_SURFACED, rows), make=True)

    def became(self, session: str, turn_id: str, outcomes: Mapping[str, Outcome]) -> None:
        """What became of memories surfaced in that turn, beside what is known of them already. Of what was
        not surfaced then nothing is noted. Never raises.
        """
        rows = [
            (one.opened, one.cited, one.corrected, session, turn_id, _stored(file))
            for file, one in outcomes.items()
        ]
        if rows:
            self._quietly(lambda db: db.executemany(_BECAME, rows))

    def erase(self, file: str) -> int:
        """Take out all that is known of a memory, and overwrite where it stood. How many rows there were.

        A copy that was set aside as damaged goes as a whole if the file's name stands in it.

        Raises:
            MemdirError: it could not be done; what is left is as it was.
        """

        def take_out(db: sqlite3.Connection) -> int:
            db.execute("PRAGMA secure_delete = ON")
            return db.execute("DELETE FROM surfacing WHERE file = ?", (_stored(file),)).rowcount

        try:
            gone = self._run(take_out) or 0
            for copy in _set_aside(self._path):
                if os.fsencode(file) in copy.read_bytes():
                    copy.unlink()
        except (OSError, sqlite3.Error, MemdirError) as error:
            raise MemdirError(
                f"the record of use can't be cleared of {file!r}: {_words(error)}",
                hint=f"close what is using {self._path}, and try again",
            ) from None
        return gone

    # -- reading --

    def of(self, file: str) -> History:
        """All that is known of one memory; an empty history if nothing is, or on failure."""

        def look(db: sqlite3.Connection) -> History:
            surfaced = tuple(_surfaced(row) for row in db.execute(_OF, (_stored(file),)))
            return History(surfaced=surfaced, tally=_sum(surfaced))

        return self._quietly(look) or History()

    def all(self) -> Mapping[str, Tally]:
        """What is known of every memory that was ever surfaced; empty on failure."""

        def look(db: sqlite3.Connection) -> dict[str, Tally]:
            return {_named(file): _tally(counts) for file, *counts in db.execute(_ALL)}

        return self._quietly(look) or {}

    # -- the file --

    def _quietly(self, work: Callable[[sqlite3.Connection], Result], *, make: bool = False) -> Result | None:
        try:
            return self._run(work, make=make)
        except Exception as error:  # noqa: BLE001 - no record of use is worth a turn (R10)
            self._failed(error)
            return None

    def _failed(self, error: Exception) -> None:
        self.failure = self.failure or _words(error)

    def _run(self, work: Callable[[sqlite3.Connection], Result], *, make: bool = False) -> Result | None:
        """Do the work in one transaction; None if there is no file, and none is to be made.

        Begun anew where the file turns out to be damaged, or is set aside by somebody else at that moment.
        """
        for left in reversed(range(_ATTEMPTS)):
            with _ONE_THREAD:
                if (found := self._find(make=make)) is None:
                    return None
                try:
                    with self._open() as db:
                        return work(db)
                except (sqlite3.Error, _NotOurs) as error:
                    is_damage = _is_damage(error)
                    if not left or not (is_damage or _is_moved(error)):
                        raise
                    if is_damage:
                        self._failed(error)
                        self._put_aside(found)
        return None

    def _find(self, *, make: bool) -> int | None:
        """The inode of the file, made if it is to be; None if there is none."""
        path = Path(self._path)
        with suppress(FileNotFoundError):
            return _inode(path)
        if not make:
            return None
        fs.make_private(path.parent)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return _inode(path)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The table, in a transaction that is kept at the end, and taken back on an error."""
        address = f"file:{quote(os.fsencode(self._path))}?mode=rw"  # where it may not be written, it is read
        db = sqlite3.connect(address, uri=True, timeout=self._patience, isolation_level=None)
        try:
            with _transaction(db):
                is_new = _is_new(db)
            if is_new:
                with _transaction(db, "IMMEDIATE"):
                    if _is_new(db):  # still: nobody was faster
                        for statement in _SCHEMA:
                            db.execute(statement)
            with _transaction(db):
                yield db
        finally:
            db.close()

    def _put_aside(self, damaged: int) -> None:
        """Rename the file with that inode, so that a new one can begin, unless somebody else has done so."""
        path = Path(self._path)
        with fs.locked(path.parent, timeout=self._patience):
            try:
                if _inode(path) != damaged:
                    return
            except FileNotFoundError:
                return
            number = 1
            while os.path.lexists(aside := f"{path}.damaged-{number}"):
                number += 1
            for ending in _BESIDE:  # first: a journal would be played into the new file
                with suppress(FileNotFoundError):
                    os.rename(f"{path}{ending}", f"{aside}{ending}")  # noqa: PTH104
            os.rename(path, aside)  # noqa: PTH104


class _NotOurs(Exception):
    """There is a database, and another program's."""


class _Newer(Exception):
    """A later memdir has made this table."""


@contextmanager
def _transaction(db: sqlite3.Connection, kind: str = "DEFERRED") -> Iterator[None]:
    """One transaction. A change makes a writer's of it, for which SQLite waits; it refuses at once only where
    something was read before, and every piece of work here either reads or writes.
    """
    db.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _is_new(db: sqlite3.Connection) -> bool:
    """Whether the database is empty, as it stands at one moment: its caller is in a transaction.

    Raises:
        _NotOurs, _Newer: it is not to be written to.
    """
    version = db.execute("PRAGMA user_version").fetchone()[0]
    application = db.execute("PRAGMA application_id").fetchone()[0]
    if (version, application) == (0, 0) and not db.execute("SELECT 1 FROM sqlite_master").fetchone():
        return True
    if application != _APPLICATION:
        raise _NotOurs
    if version > VERSION:
        raise _Newer
    return False


def _is_damage(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return code in _DAMAGED or str(error).startswith("no such")  # a table or a column of ours
    return isinstance(error, _NotOurs)


def _is_moved(error: Exception) -> bool:
    """Whether the file may have been set aside between looking for it and the end of the work."""
    return getattr(error, "sqlite_errorcode", None) in _MOVED


def _inode(path: Path) -> int:
    """The inode of a plain file.

    Raises:
        FileNotFoundError: there is nothing.
        MemdirError: there is something else, a link say, which is not followed.
    """
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise MemdirError(f"{path} is not a plain file")
    return status.st_ino


def _set_aside(path: str) -> list[Path]:
    """The copies that were set aside as damaged, with what stood beside them."""
    place = Path(path)
    if not place.parent.is_dir():
        return []
    return sorted(one for one in place.parent.iterdir() if one.name.startswith(f"{place.name}.damaged-"))


def _words(error: Exception) -> str:
    """What went wrong: the kind of error, and what SQLite or the system says of it."""
    if isinstance(error, OSError):
        said = error.strerror
    else:
        said = str(error) if isinstance(error, sqlite3.Error | MemdirError) else None
    name = type(error).__name__.lstrip("_")
    return f"{name}: {said}" if said else name


# -- rows ----------------------------------------------------------------------------------------------------


def _stored(file: str) -> str | bytes:
    """A file's name as it is stored: one that is no UTF-8 as its bytes."""
    try:
        file.encode()
    except UnicodeEncodeError:
        return os.fsencode(file)
    return file


def _named(stored: str | bytes) -> str:
    return os.fsdecode(stored)


def _moment(stored: str) -> datetime:
    return datetime.fromisoformat(stored).astimezone(UTC)


def _surfaced(row: tuple[str, str, str, str, str, int, int, int]) -> Surfaced:
    at, kind, how, session, turn, opened, cited, corrected = row
    outcome = Outcome(opened=bool(opened), cited=bool(cited), corrected=bool(corrected))
    return Surfaced(at=_moment(at), kind=kind, how=how, session=session, turn=turn, outcome=outcome)


def _sum(surfaced: Sequence[Surfaced]) -> Tally:
    """The tally of one memory, from its surfacings, the latest first."""
    outcomes = [one.outcome for one in surfaced]
    return Tally(
        surfaced=len(surfaced),
        opened=sum(one.opened for one in outcomes),
        cited=sum(one.cited for one in outcomes),
        corrected=sum(one.corrected for one in outcomes),
        used=sum(one.opened or one.cited for one in outcomes),
        last=surfaced[0].at if surfaced else None,
    )


def _tally(counts: Iterable[int | str | None]) -> Tally:
    surfaced, opened, cited, corrected, used, last = counts
    return Tally(
        surfaced=int(surfaced or 0),
        opened=int(opened or 0),
        cited=int(cited or 0),
        corrected=int(corrected or 0),
        used=int(used or 0),
        last=_moment(str(last)) if last else None,
    )


# -- what it says to the ranking -----------------------------------------------------------------------------


def boost(tally: Tally, *, now: datetime) -> float:
    """How much use speaks for a memory, or against it: -1 to 1, 0 where nothing is known. Pure (R10).

    For it: it was cited (fully), or opened (half). Against it: it was corrected, or surfaced often and never
    used. Little evidence says little, and all of it fades: `HALF_LIFE` days after it was surfaced last it
    says half, so that what sank comes up again.
    """
    if tally.last is None:
        return 0.0
    good = tally.cited + tally.opened / 2
    bad = tally.corrected + (max(0, tally.surfaced - _OFTEN + 1) / 2 if not tally.used else 0)
    days = max(0.0, (now - tally.last).total_seconds() / 86_400)
    return float((good - bad) / (good + bad + _PRIOR) * 0.5 ** (days / HALF_LIFE))
