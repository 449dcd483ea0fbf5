"""A transcript that exists already -> the talk in it, ready to learn from (E11).

Two formats are read: our own (`memdir.agent.transcript`) and Claude Code's `projects/*/*.jsonl`, which its
vendor calls internal and changes without notice. So the reader asks for little: records with `type`,
`uuid`, `parentUuid` and `message`. Lines that are torn, unknown or too odd are passed over, one by one; a
large file is read line by line.

The talk is the chain that ends in the last message: a reply that was rewound and asked anew is not part of
it. Where the chain is broken, it goes on with what stands before in the file. Sub-agents' side chains,
summaries and what the program itself put into the person's role (meta records, commands and their output,
reminders) are either left out or kept as context; they never count as the person's words.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memdir.agent import transcript
from memdir.agent.attachments import memory_write
from memdir.errors import NotFound
from memdir.extract.own_words import own_words
from memdir.memory.scan import moment
from memdir.model.messages import Block, Message, Origin, Text, ToolResult, ToolUse

LONGEST_RESULT = 2_000
"""Characters kept of one tool result: it is context for the person's words, nothing more."""

IMAGE = "[image]"
"""Stands for a picture where there is text only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One conversation about one project. `cwd`: where it took place, None if the records don't say.

    `part` is empty for the folder in which the session began, and names the other ones of a session that
    moved. `skipped`: how many lines of the file could not be made out, told with its first talk.
    """

    session_id: str
    cwd: Path | None
    messages: tuple[Message, ...]
    ended: datetime
    part: str = ""
    skipped: int = 0


def read(path: Path, *, project: Callable[[Path], Path] = lambda cwd: cwd) -> list[Talk]:
    """The talks in a transcript of either format: one for each project that its records were made in.

    `project` maps a working folder to its project, so that a move into a sub-folder is none.

    Raises:
        NotFound: there is no such file, it is a pipe or the like, or there is no message in it.
        OSError: it can't be read.
    """
    if path.exists() and not path.is_file():
        raise NotFound(f"{path} is no regular file", hint="give a .jsonl transcript file")
    try:
        records, skipped = (list(_ours(path)), 0) if _is_ours(path) else _theirs(path)
    except FileNotFoundError as error:
        raise NotFound(f"there is no transcript {path}") from error
    if not records:
        raise NotFound(f"there is no conversation in {path}", hint="give a .jsonl transcript file")
    first, *more = _talks(records, session=_session(path, records), default=_mtime(path), project=project)
    return [replace(first, skipped=skipped), *more]


def find(directory: Path) -> list[Path]:
    """The transcripts below a folder of projects, those of side chains left out, oldest first."""
    named = (path for path in directory.glob("**/*.jsonl") if path.is_file())
    found = [path for path in named if "subagents" not in path.relative_to(directory).parts]
    return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))


def noting_writes(messages: Iterable[Message], memory: Path) -> tuple[Message, ...]:
    """The messages, with a note on each call of another program's agent that wrote below `memory` (E4).

    Our own loop leaves such a note by itself, and only a call that succeeded gets one.
    """
    told = list(messages)
    fine = {block.tool_use_id for message in told for block in _results_in(message) if not block.is_error}
    return tuple(_noting(message, fine, memory) for message in told)


# -- records -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """One line, as far as it matters. `message` is None for a mere link of the chain."""

    uuid: str
    parent: str | None
    session: str | None
    cwd: str | None
    message: Message | None
    is_side: bool = False


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        first = _parsed(file.readline())
    return first is not None and first.get("type") == "session" and isinstance(first.get("prefix"), dict)


def _ours(path: Path) -> Iterator[_Record]:
    found = transcript.read(path)
    for message in found.messages:
        yield _Record(
            uuid=message.id, parent=None, session=found.session_id, cwd=str(found.cwd), message=message
        )


def _theirs(path: Path) -> tuple[list[_Record], int]:
    """The records of the talk, and how many lines could not be made out."""
    records, torn = [], 0
    with path.open("rb") as file:
        for line in file:
            parsed = _parsed(line)
            torn += parsed is None and bool(line.strip())
            if parsed is not None and (record := _record(parsed)):
                records.append(record)
    return _chain(records), torn


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _record(line: Mapping[str, Any]) -> _Record | None:
    uuid = _text(line.get("uuid"))
    if uuid is None:
        return None  # summaries, titles, settings: they hang on no chain
    return _Record(
        uuid=uuid,
        parent=_text(line.get("parentUuid")) or _text(line.get("logicalParentUuid")),
        session=_text(line.get("sessionId")),
        cwd=_folder(line.get("cwd")),
        message=_message(uuid, line),
        is_side=bool(line.get("isSidechain") or line.get("teamName")),
    )


def _chain(records: Iterable[_Record]) -> list[_Record]:
    """The messages from the first to the last one, by `parentUuid`, with all answers of tools.

    A link that is missing (compaction began anew there, or a line is torn) stands for the one before it in
    the file: what was said before was said all the same. Side chains are no one's ancestors.
    """
    main = [record for record in records if not record.is_side]
    places = {record.uuid: place for place, record in enumerate(main)}
    place = next((at for at in reversed(range(len(main))) if main[at].message), -1)
    found: list[_Record] = []
    while place >= 0:
        here, before = main[place], place - 1
        if places.pop(here.uuid, None) is None:  # a chain that bites its tail goes on before it, or ends
            place = before
            continue
        found.append(here)
        place = places.get(here.parent or "", before)
    left = [main[place] for place in places.values()]
    return [record for record in _with_answers(found[::-1], left) if record.message]


def _with_answers(chain: Iterable[_Record], left: Iterable[_Record]) -> Iterator[_Record]:
    """The chain; of calls that were made side by side it holds one answer, and the others hang beside it."""
    answers: dict[str | None, list[_Record]] = {}
    for record in left:
        if record.message and record.message.origin == "tool":
            answers.setdefault(record.parent, []).append(record)
    for record in chain:
        yield record
        yield from answers.get(record.uuid, ())


# -- messages ------------------------------------------------------------------------------------------------


def _message(uuid: str, line: Mapping[str, Any]) -> Message | None:
    """The message in a record, with its true origin; None if it holds none that can be shown."""
    said = line.get("message")
    if line.get("type") not in ("user", "assistant") or not isinstance(said, dict):
        return None
    content = tuple(_blocks(said.get("content")))
    if not content:
        return None
    message = Message(
        role="user", content=content, origin="attachment", id=uuid, at=_time(line.get("timestamp"))
    )
    if line["type"] == "assistant":
        return replace(message, role="assistant", origin="assistant")
    if any(isinstance(block, ToolResult) for block in content):
        return replace(message, origin="tool")
    if any(line.get(flag) for flag in _NOT_THE_PERSON) or not _is_human(line.get("origin")):
        return message
    words = "\n".join(filter(None, (own_words(block.text) for block in content if isinstance(block, Text))))
    own: Origin = "person" if words else "attachment"
    return replace(message, content=(Text(text=words),) if words else content, origin=own)


_NOT_THE_PERSON = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "toolUseResult")


def _is_human(origin: object) -> bool:
    """Newer records may say who sent them; older ones say nothing."""
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    return kind in (None, "human", "user", "person")


def _blocks(content: object) -> Iterator[Block]:
    """The blocks we can show; pictures and unknown kinds are passed over, and so is the model's thinking."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                yield Text(text=text)
            case {"type": "tool_use", "id": str(name), "name": str(tool), "input": dict(given)}:
                yield ToolUse(id=name, name=tool, input=given)
            case {"type": "tool_result", "tool_use_id": str(name)}:
                text = _result(block.get("content"))
                yield ToolResult(tool_use_id=name, content=text, is_error=block.get("is_error") is True)


def _result(content: object) -> str:
    parts: Iterable[object] = content if isinstance(content, list) else [content]
    texts = (_shown(part) if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))[:LONGEST_RESULT]


def _shown(part: Mapping[str, Any]) -> object:
    return IMAGE if part.get("type") == "image" else part.get("text")


# -- what the other program's agent wrote --------------------------------------------------------------------

_WRITERS = frozenset({"Write", "Edit", "MultiEdit"})


def _results_in(message: Message) -> Iterator[ToolResult]:
    return (block for block in message.content if isinstance(block, ToolResult))


def _noting(message: Message, fine: Set[str], memory: Path) -> Message:
    calls = (call for call in message.tool_uses if call.id in fine and call.name in _WRITERS)
    wrote = [name for call in calls if (name := _name_below(memory, call.input.get("file_path")))]
    about = memory_write(wrote, ())
    return replace(message, attachment=about) if about and message.attachment is None else message


def _name_below(memory: Path, file: object) -> str | None:
    """The name of a file in the memory directory, or None if that is not where it is."""
    if (given := _folder(file)) is None:
        return None
    for place, home in ((os.path.normpath(given), memory), (os.path.realpath(given), memory.resolve())):
        if (inside := Path(place)).is_relative_to(home) and inside != home:
            return inside.relative_to(home).as_posix()
    return None


# -- talks ---------------------------------------------------------------------------------------------------


def _talks(
    records: list[_Record], *, session: str, default: datetime, project: Callable[[Path], Path]
) -> list[Talk]:
    """Messages by the project they were said in, each in order; a record without a folder stays where it
    is.
    """
    parts: dict[Path | None, list[Message]] = {}
    folders: dict[Path | None, Path | None] = {}
    cwd = next((record.cwd for record in records if record.cwd), None)
    for record in records:
        cwd = record.cwd or cwd
        folder = Path(cwd) if cwd else None
        home = project(folder) if folder else None
        folders.setdefault(home, folder)
        if record.message:
            parts.setdefault(home, []).append(record.message)
    return [
        Talk(
            session_id=session,
            cwd=folders[home],
            messages=tuple(messages),
            ended=next((message.at for message in reversed(messages) if message.at), default),
            part="" if place == 0 else str(home),
        )
        for place, (home, messages) in enumerate(parts.items())
    ]


def _session(path: Path, records: list[_Record]) -> str:
    return next((record.session for record in reversed(records) if record.session), path.stem)


def _mtime(path: Path) -> datetime:
    return moment(path.stat().st_mtime_ns)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _folder(value: object) -> str | None:
    """A path, or None for what no file system has."""
    if not isinstance(value, str) or not value or "\0" in value:
        return None
    try:
        os.fsencode(value)
    except UnicodeEncodeError:  # half a character
        return None
    return value


def _time(value: object) -> datetime | None:
    """An aware datetime, or None; a stamp without a zone is taken for UTC."""
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at
