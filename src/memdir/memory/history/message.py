"""One recorded step <-> the message of its commit, which says all but the contents (H2).

    extract: 1 created, 2 updated

    Worker: extract
    Reason: what was said in a conversation
    Session: 3f0c…
    Change: 5b1c0e77aa
    At: 2026-03-30T12:00:00.123456+02:00
    File: - 257cc5642cb1a054f08cc83f2d943e56fd3ebe99 - 1774864800000000000 user_role.md

`File` has the blob ids and the modification times (ns) before and after, `-` for no file, and the path. A
word that is not plain ASCII stands as JSON does it, so that no name or id can end a line or forge one. The
subject names no files: a name may tell as much as what is in it.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from memdir.memory.history.values import Action, By, Run, action

_PLAIN = re.compile(r"[\x21\x23-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_BLOB = re.compile(r"[0-9a-f]{40}")
_MOST_SECONDS = 253_402_300_799
"""The end of the year 9999; git takes no moment before 1970 either."""
_MOST_MINUTES = 14 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One commit: who did what to which files (path -> before and after), at an aware moment."""

    by: By
    at: datetime
    files: Mapping[bytes, Run]


def message_of(step: Step) -> bytes:
    """The message of a step's commit, ASCII."""
    counted: Counter[Action] = Counter(action(run) for run in step.files.values())
    kinds: tuple[Action, ...] = ("created", "updated", "deleted")
    did = ", ".join(f"{counted[kind]} {kind}" for kind in kinds if counted[kind])
    worker = step.by.worker if re.fullmatch(r"[\w-]{1,40}", step.by.worker, re.ASCII) else "memdir"
    files = (f"File: {_run(run)} {_word(os.fsdecode(path))}" for path, run in sorted(step.files.items()))
    lines = [f"{worker}: {did or 'nothing'}", "", *_trailers(step.by), f"At: {step.at.isoformat()}", *files]
    return "\n".join(lines).encode("ascii") + b"\n"


def step_of(message: bytes) -> Step | None:
    """The step that a message tells of; None for one that is not ours."""
    _, _, body = message.partition(b"\n\n")
    files: dict[bytes, Run] = {}
    try:
        pairs = list(_pairs(body))
        by, at = _by(pairs), datetime.fromisoformat(dict(pairs)["At"])
        for key, value in pairs:
            if key == "File":
                *run, path = value.split(" ", 4)
                files[os.fsencode(_text(path))] = _parsed(*run)
    except (KeyError, ValueError, TypeError):
        return None
    return Step(by=by, at=at, files=files) if at.tzinfo else None


def intent_of(by: By) -> bytes:
    """What is noted before a change begins: whose it will be."""
    return "\n".join(_trailers(by)).encode("ascii") + b"\n"


def noted_in(intent: bytes) -> By | None:
    """Whose change was noted; None if that can't be read."""
    with suppress(KeyError, ValueError, TypeError):
        return _by(list(_pairs(intent)))
    return None


def when(at: datetime) -> str:
    """A moment as git writes it: seconds since 1970 and the zone. One that git can't hold is moved."""
    seconds = min(max(int((at - _epoch(at)).total_seconds()), 0), _MOST_SECONDS)
    minutes = round((at.utcoffset() or timedelta()).total_seconds() / 60)
    minutes = min(max(minutes, -_MOST_MINUTES), _MOST_MINUTES)
    hours, minute = divmod(abs(minutes), 60)
    return f"{seconds} {'-' if minutes < 0 else '+'}{hours:02}{minute:02}"


def _epoch(like: datetime) -> datetime:
    return datetime.fromisoformat("1970-01-01T00:00:00+00:00").astimezone(like.tzinfo)


def _trailers(by: By) -> list[str]:
    words = {
        "Worker": by.worker,
        "Reason": by.reason or None,
        "Session": by.session,
        "Message": by.message,
        "Change": by.change,
        "Undoes": by.undoes,
    }
    return [f"{key}: {_word(value)}" for key, value in words.items() if value is not None]


def _by(pairs: Iterable[tuple[str, str]]) -> By:
    words = {key: _text(value) for key, value in pairs if key not in ("File", "At")}
    return By(
        worker=words["Worker"],
        reason=words.get("Reason", ""),
        session=words.get("Session"),
        message=words.get("Message"),
        change=words["Change"],
        undoes=words.get("Undoes"),
    )


def _pairs(body: bytes) -> Iterator[tuple[str, str]]:
    for line in body.decode("ascii").split("\n"):
        key, colon, value = line.partition(": ")
        if colon:
            yield key, value


def _word(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _text(word: str) -> str:
    read = json.loads(word) if word.startswith('"') else word
    if not isinstance(read, str):
        raise ValueError("no text")
    return read


def _run(run: Run) -> str:
    parts = (run.before, run.after, run.before_mtime_ns, run.after_mtime_ns)
    return " ".join("-" if part is None else str(part) for part in parts)


def _parsed(before: str, after: str, before_mtime_ns: str, after_mtime_ns: str) -> Run:
    blobs = [None if part == "-" else part for part in (before, after)]
    if not all(blob is None or _BLOB.fullmatch(blob) for blob in blobs):
        raise ValueError("no blob")
    times = [None if part == "-" else int(part) for part in (before_mtime_ns, after_mtime_ns)]
    return Run(before=blobs[0], after=blobs[1], before_mtime_ns=times[0], after_mtime_ns=times[1])
