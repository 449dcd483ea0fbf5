"""A memory in the person's editor: a private copy is edited, and saved like any other change."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memdir.app import Project
from memdir.errors import MemdirError, UsageError
from memdir.memory.history import By
from memdir.memory.store import Written
from memdir.project import ASKED


def edit_memory(project: Project, name: str) -> Written | None:
    """Let the person edit a memory (or `MEMORY.md`). None if nothing changed.

    Raises:
        Conflict: somebody changed the file meanwhile. The person's text is kept, and the hint says where.
        SecretFound: the text holds a secret; kept likewise.
        UsageError: the editor can't be started, or left nothing.
        MemdirError: the editor failed.
    """
    memory = project.require_memory()
    stored = memory.read(project.find(name))
    copy = _copy(stored.file, stored.data)
    try:
        _edit(copy)
        changed = copy.read_bytes() if copy.exists() else stored.data
        if not changed.strip() and stored.data.strip():
            raise UsageError(
                "nothing is left of it, so nothing was saved", hint="`memdir forget` takes a memory away"
            )
        if changed == stored.data:
            copy.unlink(missing_ok=True)
            return None
        own = memory.by_person().on_behalf(By(worker="edit", reason=ASKED))
        written = own.write(stored.file, changed, expected=stored.digest, now=project.now(), origin=None)
    except (MemdirError, OSError) as error:
        _keep_or_drop(copy, stored.data, error)
        raise
    copy.unlink()
    return written


def _copy(file: str, data: bytes) -> Path:
    """A copy that only its owner can read, with an ending that tells the editor what it is."""
    handle, name = tempfile.mkstemp(prefix="memdir-", suffix="-" + Path(file).name)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
    return Path(name)


def _edit(copy: Path) -> None:
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        words = shlex.split(command)
        with _keys_are_the_editors():
            code = subprocess.run([*words, str(copy)], check=False).returncode
    except (OSError, ValueError) as error:
        raise UsageError(f"the editor {command!r} can't be started", hint="set VISUAL or EDITOR") from error
    if code != 0:
        raise MemdirError(f"the editor ended with code {code}; nothing was saved")


@contextmanager
def _keys_are_the_editors() -> Iterator[None]:
    """While an editor runs, Ctrl-C is for it alone."""
    if threading.current_thread() is not threading.main_thread():
        yield  # a conversation has its own way with the key
        return
    before = signal.signal(signal.SIGINT, lambda _signal, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _keep_or_drop(copy: Path, data: bytes, error: Exception) -> None:
    """After a failure: text that the person wrote stays, and the error says where."""
    written = copy.read_bytes() if copy.exists() else b""
    if written == data or not written.strip():
        copy.unlink(missing_ok=True)
    elif isinstance(error, MemdirError):
        error.hint = f"your text is kept in {copy}" + (f"; {error.hint}" if error.hint else "")
