"""Chosen files -> attachments with their (cut) bodies, within the budgets of turn and session (R4-R7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memdir import fs
from memdir.agent import attachments
from memdir.agent.file_state import FileState
from memdir.memory import encoding
from memdir.memory.fence import fenced
from memdir.memory.scan import moment
from memdir.memory.shown import BODY_BYTES, BODY_LINES
from memdir.model.messages import Message

TURN_BYTES = 5 * BODY_BYTES
SESSION_BYTES = 15 * BODY_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What is shown of a file. `size`: bytes of all that could have been shown; `altered`: it is not word for
    word what the file holds."""

    text: str
    size: int
    altered: bool = False

    @property
    def shown(self) -> int:
        """Bytes of the text."""
        return len(self.text.encode())

    @property
    def partial(self) -> bool:
        """Whether something was cut away."""
        return self.shown < self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfaced:
    """What goes into the conversation. `shown`: the files, relative; `dropped`: those that don't, and why."""

    messages: tuple[Message, ...]
    shown: tuple[str, ...]
    dropped: dict[str, str]


def surface(
    chosen: Sequence[str],
    *,
    directory: Path,
    messages: Sequence[Message],
    files: FileState,
    now: datetime,
) -> Surfaced:
    """The chosen memories as attachments, in order; each enters the file-state table.

    Left out: what the conversation knows by now (R4), what would pass a budget (R7), what can't be read any
    more. `messages` is the conversation as it stands: only attachments that are still in it count.
    """
    known = {directory.resolve() / file for file in known_files(directory, files, messages)}
    session = surfaced_bytes(messages)
    turn = 0
    made: dict[str, Message] = {}
    dropped: dict[str, str] = {}
    for file in dict.fromkeys(chosen):
        try:
            found = _look(directory, file, now)
        except Exception:  # noqa: BLE001 - whatever is odd about one file, the others are still there
            dropped[file] = "can't be read any more"
            continue
        if found.path in known:
            dropped[file] = "in the conversation already"
            continue
        shown = found.body.shown
        if turn + shown > TURN_BYTES or session + shown > SESSION_BYTES:
            dropped[file] = "over the budget"
            continue
        turn, session = turn + shown, session + shown
        known.add(found.path)
        files.saw(
            found.path,
            data=found.data,
            mtime_ns=found.mtime_ns,
            partial=found.body.partial or found.body.altered,
            how="surfaced",
        )
        made[file] = found.message
    return Surfaced(messages=tuple(made.values()), shown=tuple(made), dropped=dropped)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A chosen memory as it is on the disk now, and what would be said of it. `path` is the real one."""

    path: Path
    data: bytes
    mtime_ns: int
    body: Body
    message: Message


def _look(directory: Path, file: str, now: datetime) -> _Found:
    path = fs.contain(directory, file)
    status, data = path.stat(), fs.read_file(path)
    body = cut(data)
    message = attachments.relevant_memory(
        path,
        body.text,
        size=body.size,
        cut=body.partial,
        modified=moment(status.st_mtime_ns),
        now=now,
    )
    return _Found(path=path, data=data, mtime_ns=status.st_mtime_ns, body=body, message=message)


def cut(data: bytes) -> Body:
    """The first 200 lines, then at most 4,096 bytes, cut after a whole line, or after a whole character if
    the first line alone is longer (R6).

    The text is made harmless first, so that the limit holds for what is sent.
    """
    raw = encoding.readable(data).replace("\r\n", "\n")
    clean = fenced(raw)
    text = clean.strip("\n")
    start = "".join(text.splitlines(keepends=True)[:BODY_LINES])
    if len(start.encode()) > BODY_BYTES:
        start = start.encode()[:BODY_BYTES].decode(errors="ignore")
        start = start[: start.rfind("\n") + 1] or start
    shown = start.rstrip("\n") if start != text else text
    return Body(text=shown, size=len(text.encode()), altered=clean != raw)


def known_files(directory: Path, files: FileState, messages: Sequence[Message]) -> frozenset[str]:
    """The files of the directory that the conversation has seen: read, written, edited or surfaced (R4)."""
    root = directory.resolve()
    paths = [path for path, _ in files]
    paths += [Path(path).resolve() for path in attachments.surfaced(messages)]
    return frozenset(path.relative_to(root).as_posix() for path in paths if path.is_relative_to(root))


def surfaced_bytes(messages: Sequence[Message]) -> int:
    """Body bytes of the memories that are in these messages (R7)."""
    return sum(attachments.surfaced(messages).values())
