"""`memdir forget --erase`: ask, leave nothing of a memory, and say where its words still are."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import click

from memdir import app
from memdir.cli import past
from memdir.cli.files import in_trash
from memdir.cli.opening import memory_of
from memdir.cli.output import emit_json, line, talk
from memdir.dream import sweeping
from memdir.dream.kept import Kept
from memdir.errors import MemdirError, NotFound, UsageError
from memdir.memory import entrypoint
from memdir.memory.erasing import Proof, erase
from memdir.memory.store import MemoryDir
from memdir.paths import Places, cache_directory
from memdir.recall.usage import Usage
from memdir.session.orphans import FOLDER, NAME

LISTED = 20
"""Places where its words still are, at most, that are listed."""


def erase_memory(project: app.Project, name: str, *, yes: bool, as_json: bool) -> int:
    """Erase a memory, which may be forgotten already, and tell what proves it. The exit code: 1 if the person
    does not want it after all.

    Raises:
        NotFound: there is none, and none is in the trash or the history.
        UsageError: nobody can be asked, or it is the index.
    """
    memory, places = memory_of(project), project.places
    file = _file(project, memory, name)
    if file == entrypoint.NAME:
        raise UsageError(f"{entrypoint.NAME} is the index, not a memory", hint="`memdir edit` changes it")
    if not yes and not _wanted(file):
        talk("nothing was erased")
        return MemdirError.exit_code
    Kept(places.dreams).forget(file)  # a plan that waits holds what it would change
    if sweeping.left(places.dreams):  # so do those of a killed one; what is under way the search finds
        sweeping.sweep(memory.directory, places.dreams, now=project.now)
    proof = erase(
        memory,
        file,
        cache=cache_directory(places.state, memory.directory),
        journals=places.journals,
        usage_erase=Usage(str(places.usage)).erase,
        state=places.state,
        base=places.base,
        now=project.now(),
    )
    if as_json:
        left = [str(one) for one in proof.left]
        emit_json(erased=file, searched=proof.searched if proof.telling else 0, left=left)
    else:
        _tell(file, proof, memory, places)
    return 0


def _file(project: app.Project, memory: MemoryDir, name: str) -> str:
    """The file that is meant: in the directory, else in the trash, else in the history."""
    try:
        return project.find(name)
    except NotFound as error:
        missing = error
    try:
        return in_trash(memory, name).file
    except NotFound:
        if past.off(memory) is None and (found := past.gone(past.look(memory), name)) is not None:
            return found
    missing.hint = "`memdir list` shows the memories, `memdir restore` the trash, `memdir log` what there was"
    raise missing


def _wanted(file: str) -> bool:
    """Whether the person says yes."""
    if not sys.stdin.isatty():
        raise UsageError(
            "nobody is there to be asked, and what is erased can't come back",
            hint=f"to erase it without being asked: memdir forget {shlex.quote(file)} --erase --yes",
        )
    talk(
        f"{line(file)} will be gone for good: the file, its line in the index, what the trash,\n"
        "the inbox and the history have of it, and the record of its use. Nothing can bring it back."
    )
    return click.confirm("erase it?", err=True)


def _tell(file: str, proof: Proof, memory: MemoryDir, places: Places) -> None:
    """What was done, and what is left for the person."""
    count = len(proof.left)
    found = "found nowhere" if not count else f"its words are still in {count} place{'s' * (count > 1)}"
    if proof.telling:
        talk(f"erased {line(file)}; searched {proof.searched:,} files: {found}")
    else:
        talk(f"erased {line(file)}; it had no words long enough to be searched for in other files")
    for sentence in _left(proof, memory, places):
        talk(f"  {sentence}")
    talk("not searched: what others keep, such as backups, or another program's transcripts")


def _left(proof: Proof, memory: MemoryDir, places: Places) -> Iterator[str]:
    """Each place where its words still are, and what to do about it."""
    for one in proof.left[:LISTED]:
        what = _cure(one, memory, places) if isinstance(one, Path) else " is in the history"
        yield line(f"{one}{what}")
    if (more := len(proof.left) - LISTED) > 0:
        yield f"and {more} more"


def _cure(path: Path, memory: MemoryDir, places: Places) -> str:
    if name := _below(path, memory.directory):
        if name == entrypoint.NAME:
            return f" says it too: `memdir edit {name}`"
        return f" says it too: `memdir edit {shlex.quote(name)}`, or forget that one as well"
    if name := _below(path, memory.inbox.folder):
        return f" waits for your word: `memdir inbox reject {Path(name).stem}` takes it away"
    if _below(path, memory.trash.folder):
        return " is another memory in the trash: `memdir restore` lists them, `forget --erase` takes one out"
    if talk := _below(path, places.base / "projects"):
        if path.suffix == ".jsonl":
            return " is a conversation in which it was said: delete the file if that is to go as well"
        if PurePosixPath(talk).parts[-2:] == (FOLDER, NAME):
            return " sums up a conversation in which it was said: delete the file if that is to go as well"
    return " is not part of this memory: look at it, and delete it if it is to go as well"


def _below(path: Path, folder: Path) -> str | None:
    """The name of a path within a folder, or None if it is elsewhere."""
    root = Path(os.path.realpath(folder))
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None
