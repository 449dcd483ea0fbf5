"""What a person means by a change, a moment, or a file that may be gone; and the history to look it up in."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from pathlib import PurePosixPath

from memdir import app
from memdir.cli.output import line, talk
from memdir.errors import Conflict, MemdirError, NotFound, UsageError
from memdir.memory import entrypoint, topic
from memdir.memory.history import Change, FileChange, History
from memdir.memory.store import MemoryDir

_ID = re.compile(r"[0-9a-fA-F]{4,10}")


def history_of(memory: MemoryDir) -> History:
    """The history of a memory directory.

    Raises:
        MemdirError: none is kept, says why.
    """
    if (why := off(memory)) is None and memory.history is not None:
        return memory.history
    raise MemdirError(
        f"history is off: {why}",
        hint="install a current git: every change from then on is recorded, and can be undone",
    )


def off(memory: MemoryDir) -> str | None:
    """Why no history is kept, or None if it is."""
    return "none is kept of this directory" if memory.history is None else memory.history.off


def look(memory: MemoryDir) -> History:
    """The history, with what was changed outside memdir recorded. Where that can't be, the person is told.

    Raises:
        MemdirError: as `history_of`.
    """
    history = history_of(memory)
    if not memory.directory.exists() and not history.folder.exists():
        return history  # to look would make the directory
    try:
        memory.look()
    except Conflict:
        talk("warning: somebody is changing memory just now, so the latest edits may be missing here")
    if history.failure:
        talk(line(f"warning: {history.failure}"))
    return history


def changes_in(history: History, *, file: str | None = None, limit: int | None = None) -> list[Change]:
    """The changes, newest first. Where some can't be read any more, the person is told."""
    before = history.failure
    found = history.log(file=file, limit=limit)
    if history.failure and history.failure != before:
        talk(line(f"warning: the history is damaged, and what is older is missing here ({history.failure})"))
    return found


def is_change(word: str) -> bool:
    """Whether a word may be the beginning of a change's id."""
    return _ID.fullmatch(word) is not None


def change_of(history: History, word: str) -> Change:
    """The change with that id, or with an id that begins so.

    Raises:
        NotFound: there is none.
        UsageError: there are several, or that is no id.
    """
    if is_change(word):
        return history.find(word.lower())
    raise UsageError(
        f"{word!r} is no change", hint="`memdir log` lists the changes; four digits of an id are enough"
    )


def point_of(history: History, word: str) -> Change | datetime:
    """What `--at` means: a change, or a moment. A date means the end of that day, here.

    Raises:
        NotFound, UsageError: it is neither.
    """
    if is_change(word):
        try:
            return change_of(history, word)
        except NotFound:
            if (moment := _moment(word)) is not None:  # 20260305 may be either
                return moment
            raise
    if (moment := _moment(word)) is None:
        raise UsageError(
            f"{word!r} is neither a change nor a date",
            hint="`memdir log` lists the changes; a date is written 2026-03-05, or 2026-03-05T14:30",
        )
    return moment


def _moment(word: str) -> datetime | None:
    """A moment as a person writes it, in their time zone unless they name one."""
    try:
        moment = datetime.fromisoformat(word)
        if _is_day(word):
            moment += timedelta(days=1, microseconds=-1)
        return moment.astimezone()
    except (ValueError, OverflowError):
        return None


def _is_day(word: str) -> bool:
    try:
        date.fromisoformat(word)
    except ValueError:
        return False
    return True


def file_of(project: app.Project, history: History, name: str) -> str:
    """The file that a person means; also one that is gone, by its file name or the name it had.

    Raises:
        NotFound: there is none, and there was none.
        UsageError: several memories have that name.
    """
    try:
        return _recorded(project, project.find(name))
    except NotFound as error:
        if (found := gone(history, name)) is not None:
            return found
        error.hint = "`memdir list` shows the memories, `memdir log` also those that are gone"
        raise


def _recorded(project: app.Project, file: str) -> str:
    """What the history calls a file: an index that is a link to another file is that one."""
    memory = project.require_memory()
    if file != entrypoint.NAME:
        return file
    return memory.index_file.place.relative_to(memory.directory.resolve()).as_posix()


def leaves(change: Change, file: str) -> bool:
    """Whether a change made or changed that file, and did not remove it."""
    return any(one.file == file and one.after is not None for one in change.files)


def gone(history: History, name: str) -> str | None:
    """The file of that name in the history, or the one that had that name at last; the latest first."""
    wanted, last = name.casefold(), dict[str, FileChange]()
    for change in history.log():
        for one in change.files:
            last.setdefault(one.file, one)
    for file in last:
        if wanted in {file.casefold(), PurePosixPath(file).with_suffix("").as_posix().casefold()}:
            return file
    removed = {one.before: one.file for one in last.values() if one.after is None}
    named = set[str]()
    for blob, data in history.blobs() if removed else ():
        if blob in removed and topic.parse(data, filename=removed[blob]).name.casefold() == wanted:
            named.add(removed[blob])
    return next((file for file in last if file in named), None)
