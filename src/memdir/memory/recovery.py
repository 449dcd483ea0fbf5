"""What runs that were killed had done to a memory directory is taken back (E7).

Who owns a journal holds a lock as long as he lives: what can be locked is a dead one's. Whether its run was
done by then is for the caller to say (`Standing`), since cursors are not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from memdir import fs
from memdir.errors import MemdirError
from memdir.memory import journal_file
from memdir.memory.history import By
from memdir.memory.journal import Head, Journal

if TYPE_CHECKING:
    from memdir.memory.store import MemoryDir

Standing: TypeAlias = Literal["alive", "done", "open"]
"""Of the run that a journal belongs to: somebody is at it, it is done, or it was killed before it was."""

Judge: TypeAlias = Callable[[Head], AbstractContextManager[Standing]]
"""Says how a run stands, and keeps it so while the context lasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """How many killed runs were taken back, what was put back of them, and what could not be."""

    runs: int = 0
    files: tuple[str, ...] = ()
    failures: tuple[Exception, ...] = ()


def recover(memory: MemoryDir, folder: Path, *, judge: Judge, session: str | None = None) -> Recovered:
    """Take back what killed runs have left of themselves, newest first; their journals go. `session`: of that
    one only.

    Files that somebody has changed since are left as they are. A journal of another version stays. One that
    can't be dealt with now, since the directory is busy or the disk fails, is there the next time.
    """
    runs, files, failures = 0, list[str](), list[Exception]()
    for path in sorted(journal_file.find(folder), key=_age, reverse=True):
        try:
            put_back = _recover(memory, path, judge, session)
        except FileNotFoundError:  # somebody else was first
            continue
        except (OSError, MemdirError) as error:
            failures.append(error)
            continue
        runs += put_back is not None
        files += put_back or ()
    _sweep(memory, folder)
    return Recovered(runs=runs, files=tuple(dict.fromkeys(files)), failures=tuple(failures))


def _recover(memory: MemoryDir, path: Path, judge: Judge, session: str | None) -> tuple[str, ...] | None:
    """Deal with one journal. None: there was nothing to take back, or it is not for us to do."""
    journal = Journal.left(path)
    if journal is None or session not in (None, journal.head.session):
        return None
    with judge(journal.head) as standing:
        if standing == "alive":
            return None
        if standing == "done":
            fs.remove_durably(path)
            return None
        if not journal.steps:  # its only one never came about
            journal.clear()
            return None
        by = By(worker="mend", reason="a run that was killed was taken back")
        if journal.head.change is not None:  # all in all, that change then is none
            by = replace(by, change=journal.head.change)
        return memory.on_behalf(by).take_back(journal)


def _sweep(memory: MemoryDir, folder: Path) -> None:
    """Remove what was left of journals that never began. Who begins one holds the directory's lock."""
    if any(folder.glob(".memdir-*")):
        with suppress(OSError, MemdirError), fs.locked(memory.directory, timeout=memory.patience):
            fs.sweep_temporaries(folder, older_than=float("-inf"))


def _age(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_mtime_ns, path.name
    except FileNotFoundError:
        return 0, path.name
