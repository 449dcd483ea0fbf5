"""What the dreams of a project are made with: its memory, its settings, what recall says, a conversation to
continue from. And a plan that waited, carried out (D1, D5, D7, D8).
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from memdir.agent.events import Events
from memdir.agent.file_state import FileState
from memdir.agent.loop import Agent
from memdir.agent.permissions import for_fork
from memdir.agent.tools import ToolContext
from memdir.dream.apply import Applied, apply
from memdir.dream.checks import Limits
from memdir.dream.fork import LABEL
from memdir.dream.kept import Kept, Waiting
from memdir.dream.lock import Lock
from memdir.dream.run import Dreaming
from memdir.dream.worker import Policy
from memdir.errors import Conflict, NotFound
from memdir.memory.history import By
from memdir.memory.store import MemoryDir
from memdir.model.client import ModelClient
from memdir.model.messages import new_id
from memdir.project import ASKED, Project
from memdir.recall.public import Asking
from memdir.start import prefix_of


def dreaming_of(project: Project, memory: MemoryDir, *, events: Events) -> Dreaming:
    """What a dream of the project's memory needs."""
    settings = project.settings.dream

    def asking(directory: Path) -> Asking:
        return Asking(directory, now=project.now(), cached=False)

    return Dreaming(
        memory=memory,
        places=project.places,
        asking=asking,
        now=project.now,
        limits=Limits(files=settings.loss_files, lines=settings.loss_lines),
        review=settings.apply == "review",
        max_turns=settings.max_turns,
        events=events,
    )


def policy_of(project: Project, model: ModelClient | None = None) -> Policy:
    """When it is time for one (S3, D1)."""
    settings = project.settings
    return Policy(
        dream=settings.features.dream,
        daily_log=settings.features.daily_log,
        min_hours=settings.dream.min_hours,
        min_sessions=settings.dream.min_sessions,
        remote=project.remote,
        model=model,
    )


def beginning(project: Project, memory: MemoryDir, *, model: ModelClient, events: Events) -> Agent:
    """What a dream from the command line continues from: the plain system prompt, and no messages (D5)."""
    cwd = project.places.cwd
    return Agent(
        id=new_id(),
        prefix=prefix_of(project, events),
        model=model,
        context=ToolContext(cwd=cwd, files=FileState(), memory=memory, now=project.now),
        permit=for_fork(memory=memory.directory, cwd=cwd),
        events=events,
        label=LABEL,
    )


def carry_out(project: Project, waiting: Waiting) -> Applied:
    """Carry out a plan that waits, at the person's word; then it waits no longer, unless all of it was left.

    Raises:
        Conflict: a dream is under way, somebody is writing all the time, or the directory is another one by
            now.
        SecretFound: a secret would be written that was not there (E10).
        MemdirError: memory is off; or no history is kept, so that it could not be undone.
        OSError: the disk said no.
    """
    memory = project.require_memory()
    lock = Lock.take(memory.directory, now=project.now)
    try:
        applied = apply(
            memory,
            waiting.before,
            waiting.after,
            waiting.plan,
            guard=lock.held,
            by=By(worker=LABEL, reason=ASKED),
            now=project.now(),
            real=waiting.real,
        )
        if applied.files or not applied.left:
            with suppress(
                NotFound, OSError
            ):  # somebody has dropped it meanwhile, or it can't go: it may wait
                Kept(project.places.dreams).drop(waiting)
    finally:
        with suppress(OSError, Conflict):  # what was done is done; whoever comes next mends the lock
            lock.fail()  # it is as long since the last dream as before
    return applied
