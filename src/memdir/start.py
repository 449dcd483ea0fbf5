"""Where a conversation begins: at its first messages, or where a transcript left it (A1, I1)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import anyio.to_thread

from memdir import prompts
from memdir.agent.events import FAILED, RESUMED, Events
from memdir.agent.file_state import FileState
from memdir.agent.instructions import load_memory_prompt
from memdir.agent.tools import TOOLS
from memdir.agent.transcript import Recorded, Transcript
from memdir.errors import Conflict, MemdirError, NotFound, UnsafePath
from memdir.extract.unfinished import Unfinished
from memdir.first_messages import FirstMessages
from memdir.model.messages import Message, Prefix, new_id
from memdir.paths import transcript_path
from memdir.project import Project

OTHERS = "`memdir chat --resume` takes up the last one; `memdir sessions` lists them"


def prefix_of(project: Project, events: Events) -> Prefix:
    """What each request of a conversation begins with: who the agent is, then how its memory works; the same
    for a whole session (I6).
    """
    about = prompts.render("coding", cwd=str(project.places.cwd))
    remembering = load_memory_prompt(project.memory, events=events)
    system = (about, remembering) if remembering else (about,)
    return Prefix(system=system, tools=tuple(tool.spec for tool in TOOLS))


def without_memory(prefix: Prefix) -> Prefix:
    """The same for a conversation that began with memory, and goes on without (S4)."""
    return replace(prefix, system=prefix.system[:1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a conversation begins. A new one holds its first messages; one that is taken up, all that it did.

    `noted`: the id of the last message that its running summary covers, and the digest of that file then.
    """

    session: str
    prefix: Prefix
    files: FileState
    context: Sequence[Message]
    record: Sequence[Message]
    transcript: Transcript | None
    noted: tuple[str, str] | None = None
    is_resumed: bool = False


async def begun(first: FirstMessages, *, project: Project, events: Events, unfinished: Unfinished) -> Start:
    """A new conversation, with its transcript."""
    session, files = new_id(), FileState()
    prefix = prefix_of(project, events)
    shown = await anyio.to_thread.run_sync(first.messages, files)
    with suppress(Conflict, OSError, UnsafePath):  # without a lock it may be taken up early: not twice
        unfinished.hold(session)
    transcript = _transcript(session, prefix, shown, project=project, events=events)
    return Start(
        session=session, prefix=prefix, files=files, context=shown, record=shown, transcript=transcript
    )


def reopened(path: Path, project: Project, unfinished: Unfinished) -> tuple[Transcript, Recorded]:
    """The conversation that a transcript holds; nobody else takes it up while this process lives.

    Raises:
        NotFound: there is none.
        Conflict: somebody has it.
        UsageError: it is of a later version.
    """
    session = path.stem
    if transcript_path(project.places, session) != path:
        raise NotFound(f"{path} is no conversation of this folder")
    if not path.exists():
        raise NotFound(f"there is no conversation {session} in this folder", hint=OTHERS)
    try:
        unfinished.hold(session)
    except Conflict as error:
        raise Conflict(
            "that conversation is under way elsewhere, or is being learned from right now",
            hint="end it there, or try again in a moment",
        ) from error
    transcript, recorded = Transcript.reopen(path)
    if recorded.session_id != session:
        raise NotFound(f"{path} holds another conversation than its name says")
    return transcript, recorded


def resumed(found: tuple[Transcript, Recorded], *, project: Project, events: Events) -> Start:
    """A conversation as if its process had never stopped (A1), but for memory that is off now (S4)."""
    transcript, recorded = found
    events.emit(RESUMED, messages=len(recorded.context), skipped=recorded.skipped)
    return Start(
        session=recorded.session_id,
        prefix=recorded.prefix if project.memory else without_memory(recorded.prefix),
        files=FileState.of(recorded.context),
        context=recorded.context,
        record=recorded.messages,
        transcript=transcript,
        noted=recorded.noted,
        is_resumed=True,
    )


def _transcript(
    session: str, prefix: Prefix, first: Sequence[Message], *, project: Project, events: Events
) -> Transcript | None:
    """The session's transcript. A folder that can't be written is told, and the session goes on."""
    try:
        made = Transcript.create(
            transcript_path(project.places, session),
            session_id=session,
            cwd=project.places.cwd,
            prefix=prefix,
            at=project.now(),
        )
        for message in first:
            made.append(message)
    except (OSError, MemdirError) as error:
        events.emit(FAILED, where="transcript", error=type(error).__name__)
        return None
    return made
