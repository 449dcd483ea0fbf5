"""A memory in the person's editor: a private copy is edited, and saved like any other change."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from memdir.app import Project
from memdir.errors import Conflict, SecretFound, UsageError
from memdir.memory.store import Written


def edit_memory(project: Project, name: str) -> Written | None:
    """Let the person edit a memory (or `MEMORY.md`). None if nothing changed.

    Raises:
        Conflict: somebody changed the file meanwhile. The person's text is kept, and the hint says where.
        SecretFound: the text holds a secret; kept likewise.
        UsageError: the editor can't be started, or failed.
    """
    memory = project.require_memory()
    stored = memory.read(project.find(name))
    changed, copy = _edited(stored.file, stored.data)
    if changed == stored.data:
        copy.unlink()
        return None
    try:
        written = memory.write(stored.file, changed, expected=stored.digest, now=project.now(), origin=None)
    except (Conflict, SecretFound) as error:
        error.hint = f"your text is kept in {copy}" + (f"; {error.hint}" if error.hint else "")
        raise
    copy.unlink()
    return written


def _edited(file: str, data: bytes) -> tuple[bytes, Path]:
    """The new bytes, and where the copy is."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    handle, name = tempfile.mkstemp(prefix="memdir-", suffix="-" + Path(file).name)
    copy = Path(name)
    with open(handle, "wb") as stream:  # noqa: PTH123 - the descriptor is open already
        stream.write(data)
    try:
        code = subprocess.run([*shlex.split(command), str(copy)], check=False).returncode
    except OSError as error:
        copy.unlink()
        raise UsageError(f"the editor {command!r} can't be started", hint="set VISUAL or EDITOR") from error
    if code != 0:
        hint = f"your text is kept in {copy}"
        raise UsageError(f"the editor ended with code {code}; nothing was saved", hint=hint)
    return copy.read_bytes(), copy
