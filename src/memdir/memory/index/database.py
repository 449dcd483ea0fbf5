"""Where an index is kept: an SQLite file in a cache folder, or memory where there is no such place (M6).

The file is derived: what is damaged, or not of this format, is left behind for a new generation under a new
name. Never the same name again: another process may still have the old file open, and SQLite finds the log
that belongs to a file by the file's name.

    index-1.4.sqlite      format 1, fourth generation
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

FORMAT = 1
"""Changes with the tables, and with all that decides what is in them: tokens, fields, weights, traits."""

PATIENCE = 2.0
"""Seconds to wait for another process that is writing."""

_TABLES = """
create table files (
    id integer primary key, path text not null unique,
    modified integer not null, size integer not null, stamp integer not null, digest blob not null,
    name text not null, description text not null, type text,
    traits integer not null, named text not null, length integer not null, words blob not null
);
create index by_age on files (modified desc, path);
create table terms (id integer primary key, term text not null unique, standing integer not null);
create virtual table postings using fts5 (terms, content='', detail=none, columnsize=0, tokenize='ascii');
create table vectors (
    embedder text not null, digest blob not null, vector blob not null, primary key (embedder, digest)
) without rowid;
create table totals (files integer not null, length integer not null);
insert into totals values (0, 0);
"""
# length and the amounts in `words`: halves. `postings`: for each word its id, and its id with a "t" where it
# stands in the title. Words as numbers: nothing that a person types is ever SQLite's query language.

_ELSEWHERE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_AUTH,
}


class Overtaken(Exception):
    """Somebody else has written since it was found out what has to be written."""


class Database:
    """A connection, and where it leads. `path` is None in memory."""

    __slots__ = ("_inode", "connection", "path")

    def __init__(self, connection: sqlite3.Connection, path: str | None, inode: int = 0) -> None:
        self.connection = connection
        self.path = path
        self._inode = inode

    @property
    def is_replaced(self) -> bool:
        """Whether its file is no longer the one under its name: deleted, or left for a new generation."""
        return self.path is not None and _inode(self.path) != self._inode

    def close(self) -> None:
        """Give the file back."""
        self.connection.close()


def open_database(folder: str | None) -> Database:
    """The index in a folder, made if need be; in memory where that is impossible."""
    if folder is None:
        return in_memory()
    try:
        return _open(folder, max(_generations(folder), default=1))
    except (sqlite3.Error, OSError) as error:
        return in_memory() if not is_damage(error) else renewed(folder)


def renewed(folder: str) -> Database:
    """A new generation, for one that is damaged; what is damaged is removed."""
    numbers = _generations(folder)
    try:
        database = _open(folder, max(numbers, default=0) + 1)
    except (sqlite3.Error, OSError):
        return in_memory()
    for old in numbers:
        for ending in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                os.unlink(file_of(folder, old) + ending)
    return database


def in_memory(like: Database | None = None) -> Database:
    """An index that nobody else sees: empty, or a copy."""
    connection = _connect(":memory:")
    if like is not None:
        like.connection.backup(connection, progress=_unless_locked)
    _set_up(connection)
    return Database(connection, None)


def is_damage(error: Exception) -> bool:
    """Whether a new file would help. Not if it is locked, the disk full, the folder read-only."""
    if not isinstance(error, sqlite3.Error):
        return not isinstance(error, OSError) or isinstance(error, IsADirectoryError | PermissionError)
    return getattr(error, "sqlite_errorcode", 1) & 0xFF not in _ELSEWHERE


def file_of(folder: str, number: int) -> str:
    """The file of a generation."""
    return os.path.join(folder, f"index-{FORMAT}.{number}.sqlite")


def _generations(folder: str) -> list[int]:
    """The numbers of the generations that are there."""
    head, tail = f"index-{FORMAT}.", ".sqlite"
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    numbers = [name.removeprefix(head).removesuffix(tail) for name in names if name.startswith(head)]
    return [int(number) for number in numbers if number.isdecimal()]


def _open(folder: str, number: int) -> Database:
    path = file_of(folder, number)
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        inode = os.fstat(fd).st_ino  # before it is opened: if it is replaced meanwhile, that shows
    finally:
        os.close(fd)
    connection = _connect(path)
    try:
        # Nothing is lost that can't be read again: a commit need not wait for the disk.
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = normal")
        _set_up(connection)
    except BaseException:
        connection.close()
        raise
    return Database(connection, path, inode)


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def _set_up(connection: sqlite3.Connection) -> None:
    """Make the tables, if there are none.

    Raises:
        sqlite3.DatabaseError: this is another format, or no index at all.
    """
    if _version(connection) == FORMAT:
        return
    connection.execute("begin immediate")
    try:
        if _version(connection) != FORMAT:  # another process may have made them meanwhile
            if connection.execute("select count(*) from sqlite_master").fetchone()[0]:
                raise sqlite3.DatabaseError("not an index of this format")
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
            connection.execute(f"pragma user_version = {FORMAT}")
    except BaseException:
        if connection.in_transaction:  # a full disk ends it by itself
            connection.execute("rollback")
        raise
    connection.execute("commit")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("pragma user_version").fetchone()[0]
    return version


def _unless_locked(status: int, _: int, __: int) -> None:
    """By itself, copying would wait for another process without end."""
    if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise sqlite3.OperationalError("locked")


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
