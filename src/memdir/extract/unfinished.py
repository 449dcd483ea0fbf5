"""Which sessions are not dealt with to their end, so that a later one learns from those that died (E7).

    <state>/pending/<session>.json      {"version": 1, "session", "transcript", "memory", "cwd"}

A session has its marker from its start, before anything is said in it, to its end, and keeps it if words of
the person still wait to be looked at: so none is lost, whenever it is killed. As long as it lives it holds a
lock on `<state>/locks/<session>.live`, and so does who picks up what a dead one has left: no session is
picked up while it lives, nor by two at once. What has been learned already is for the cursor to say.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from memdir import fs
from memdir.errors import Conflict, MemdirError, UnsafePath
from memdir.extract import cursor

VERSION = 1

WAIT = 1.0
"""Seconds for who just looks whether a session lives to let go of its lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A session of which something may be left: where its transcript is, and whose memory it goes to."""

    session: str
    transcript: Path
    memory: Path
    cwd: Path


class Unfinished:
    """The markers in one folder, and the locks that this process holds on its own sessions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._held = ExitStack()
        self._ours = set[str]()

    def begin(self, left: Left) -> Marker:
        """A session of this process begins: it counts as alive until `close`."""
        with suppress(Conflict, OSError, UnsafePath):  # without a lock it may be picked up early: not twice
            self.hold(left.session)
        marker = Marker(self, left)
        self._held.callback(marker.end)
        with suppress(OSError, MemdirError):  # tried again, and told, when there is something to be looked at
            marker.set()
        return marker

    def hold(self, session: str) -> None:
        """From now on a session is this process's, until `close`.

        Raises:
            Conflict: it is another's, who goes on with it, or learns from it right now.
            OSError, UnsafePath: there is no place for a lock.
        """
        if session not in self._ours:
            self._held.enter_context(fs.locked(self._lock(session), timeout=WAIT))
            self._ours.add(session)
            self._held.callback(self.tidy, session)

    def close(self) -> None:
        """The sessions of this process are over."""
        self._held.close()

    def of(self, memory: Path) -> list[Left]:
        """The sessions of a memory directory that have a marker, those that live included; oldest first."""
        home = os.path.realpath(memory)
        marked = sorted((path for path in self.folder.glob("*.json")), key=_age)
        found = (self._read(path) for path in marked)
        return [left for left in found if left is not None and os.path.realpath(left.memory) == home]

    def dead(self, memory: Path) -> list[Left]:
        """Those of them that are over, so that somebody may pick them up. Makes nothing on the disk."""
        return [left for left in self.of(memory) if not self._lives(left.session)]

    @contextmanager
    def picking_up(self, left: Left) -> Iterator[bool]:
        """Hold a session that is dead. False: it lives, somebody else is at it, or nothing is left of it."""
        lock = self._lock(left.session)
        with ExitStack() as held:
            try:
                held.enter_context(fs.locked(lock, timeout=0))
            except (Conflict, OSError, UnsafePath):  # without a lock nobody can tell whether it lives
                yield False
                return
            try:
                yield self.is_there(left.session)
            finally:
                self.tidy(left.session)

    # -- one marker --

    def is_there(self, session: str) -> bool:
        """Whether a session has a marker."""
        return self._place(session).exists()

    def put(self, left: Left) -> None:
        """Make the marker of a session.

        Raises:
            OSError: the disk does not take it.
            UnsafePath: something that is no file stands in its place.
            Conflict: the folder is busy, and stays so.
        """
        about = {"transcript": left.transcript, "memory": left.memory, "cwd": left.cwd}
        record = {"version": VERSION, "session": left.session} | {
            key: str(path) for key, path in about.items()
        }
        with fs.locked(self.folder):
            fs.write_atomic(self._place(left.session), json.dumps(record).encode("ascii") + b"\n")

    def drop(self, session: str) -> None:
        """All of that session is dealt with. Raises OSError."""
        with suppress(FileNotFoundError):
            fs.remove_durably(self._place(session))

    def postpone(self, session: str) -> None:
        """Let all others come before that session the next time."""
        with suppress(OSError):
            os.utime(self._place(session))

    def tidy(self, session: str) -> None:
        """The folder of a session's lock goes, while it is held, if there is nothing to pick up."""
        if not self.is_there(session):
            with suppress(OSError):
                self._lock(session).rmdir()

    def sweep(self) -> None:
        """Remove what killed processes left: temporary files, and folders of locks that nobody needs."""
        if any(self.folder.glob(".memdir-*.tmp")):
            with suppress(OSError, MemdirError), fs.locked(self.folder):  # who holds it is the only writer
                fs.sweep_temporaries(self.folder, older_than=float("-inf"))
        for lock in self.folder.with_name("locks").glob("*"):
            if not (self.folder / f"{lock.stem}.json").exists():
                with suppress(OSError, MemdirError), fs.locked(lock, timeout=0):
                    self.tidy(lock.stem) if lock.suffix else lock.rmdir()

    def _place(self, session: str) -> Path:
        return cursor.path(self.folder, session)

    def _lock(self, session: str) -> Path:
        return self.folder.with_name("locks") / f"{self._place(session).stem}.live"

    def _lives(self, session: str) -> bool:
        lock = self._lock(session)
        try:
            with fs.locked(lock, timeout=0) if lock.is_dir() else nullcontext():
                return False
        except (Conflict, OSError, UnsafePath):  # as in `picking_up`
            return True

    def _read(self, path: Path) -> Left | None:
        """What a marker says. One that can't be made out is no use to anybody, and goes; one of a later
        version stays.
        """
        try:
            stored = json.loads(fs.read_file(path, limit=100_000))
            if stored["version"] != VERSION:
                return None
            paths = {key: Path(stored[key]) for key in ("transcript", "memory", "cwd")}
            left = Left(session=stored["session"], **paths)
            if self._place(left.session) != path:
                raise ValueError(path.name)
        except OSError:
            return None
        except (UnsafePath, ValueError, KeyError, TypeError, AttributeError):
            with suppress(OSError, UnsafePath):
                fs.remove_durably(path)
            return None
        return left


class Marker:
    """The marker of a session that lives. It outlives the session unless `clear` was said last."""

    def __init__(self, unfinished: Unfinished, left: Left) -> None:
        self._unfinished = unfinished
        self._left = left
        self._waits = True

    @property
    def is_left(self) -> bool:
        """Whether something waits, and a later session will go on with it."""
        return self._waits and self._unfinished.is_there(self._left.session)

    def set(self) -> None:
        """Something may wait to be looked at. Raises as `Unfinished.put`."""
        self._waits = True
        if not self._unfinished.is_there(self._left.session):
            self._unfinished.put(self._left)

    def clear(self) -> None:
        """Nothing does."""
        self._waits = False

    def end(self) -> None:
        """The session is over."""
        if not self._waits:
            with suppress(OSError):  # who finds it finds nothing to do
                self._unfinished.drop(self._left.session)
        self._unfinished.tidy(self._left.session)


def _age(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_mtime_ns, path.name
    except OSError:
        return 0, path.name
