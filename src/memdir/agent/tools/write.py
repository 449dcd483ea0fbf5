"""Write: content -> a whole file, new or replaced; `save` is the way of all tool writes to the disk (A2, F1).

A file in the memory directory goes through its `MemoryDir`: stamped, checked for secrets, compared before
it is replaced. The table then holds the bytes as they stand on disk.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from memdir import fs
from memdir.agent.file_state import Seen
from memdir.agent.place import place
from memdir.agent.tools.base import (
    Input,
    Tool,
    ToolContext,
    WroteButOver,
    in_memory,
    in_thread,
    is_notebook,
    own_index,
    schema,
    told_to_the_model,
)
from memdir.agent.tools.read import load
from memdir.agent.tools.text import Shape, decode, lines_of
from memdir.agent.vetting import vet_deletion, vetted
from memdir.errors import ToolError
from memdir.memory import encoding, entrypoint, leaks
from memdir.model.messages import ToolSpec
from memdir.prompts import render

SPEC = ToolSpec(
    name="Write",
    description=render("tool_write"),
    schema=schema(
        ("file_path", "content"),
        file_path={"type": "string", "description": "Absolute path of the file"},
        content={"type": "string", "description": "All that the file will hold"},
    ),
)


def write(given: Input, context: ToolContext) -> str:
    """Make or replace a file, or delete a memory by writing nothing (SEAMS: tools have no delete)."""
    path, content = place(given["file_path"], context.cwd), given["content"]
    old = known_content(path, context, whole=True)
    is_memory = path.name != entrypoint.NAME and in_memory(path, context) and not is_notebook(path, context)
    if not content.strip() and is_memory:
        return _delete(path, old, context)
    save(path, _in_the_old_shape(content, old), context, old=old)
    return f"{'Updated' if old is not None else 'Created'} {path} ({len(lines_of(content))} lines)"


def known_content(path: Path, context: ToolContext, *, whole: bool) -> bytes | None:
    """What stands in the file now, which the conversation must have seen; None if there is no file (A2).

    `whole`: seeing a part is not enough, because all of it is going to be replaced. An empty file needs no
    Read.

    Raises:
        ToolError: never read, read in part where `whole` is asked, or changed since.
    """
    if not path.exists():
        return None
    data, _ = load(path, context)
    seen = context.files.known(path)
    if data and seen is None:
        raise ToolError(f"Read {path} first: it exists, and you have not seen what is in it")
    if seen and seen.digest != fs.digest(data):
        raise ToolError(f"{path} was changed since you saw it. Read it again, then make your change.")
    if seen and not _enough(seen, whole=whole):
        raise ToolError(
            f"you have seen only a part of {path}. {'Use Edit, or r' if whole else 'R'}ead it in full"
        )
    return data


def _enough(seen: Seen, *, whole: bool) -> bool:
    return not seen.partial if whole else seen.counts_as_read


def save(path: Path, data: bytes, context: ToolContext, *, old: bytes | None) -> None:
    """Put `data` into the file, if it still holds `old` (None: still is not there), and note it as seen.

    Raises:
        ToolError: it changed meanwhile, may not be written, or holds a secret (memory only).
        WroteButOver: written, and the memory index is now over a limit (F7).
    """
    expected = fs.digest(old) if old is not None else None
    warning = None
    with told_to_the_model(path):
        if is_notebook(path, context):
            _write_notebook(path, data, old)
        elif context.memory and in_memory(path, context):
            real = Path(os.path.realpath(path))
            data = vetted(real, old, data, context, context.memory)
            written = context.memory.write(
                real, data, expected=expected, now=context.now(), origin=context.origin
            )
            context.wrote.append(written)
            data, warning = written.data, written.warning
        elif context.memory_only:
            raise ToolError(f"{path} does not lead into the memory directory")
        else:
            _write_ordinary(path, data, expected)
        context.files.saw(path, data=data, mtime_ns=path.stat().st_mtime_ns, partial=False, how="written")
        if context.host:
            context.host.overtaken(path, fs.digest(data))
    if warning:
        raise WroteButOver(f"{path} is written, but: {warning}")


def _write_notebook(path: Path, data: bytes, old: bytes | None) -> None:
    """The file at a path that `is_notebook`: as private as a memory, and as little a place for a secret."""
    real = Path(os.path.realpath(path))
    leaks.refuse(encoding.readable(data), encoding.readable(old or b""), name=real.name)
    fs.replace_if(real, data, expected=None if old is None else fs.digest(old), within=real.parent)


def _write_ordinary(path: Path, data: bytes, expected: str | None) -> None:
    """A file outside memory. A new one is as private as the folder it stands in and the umask make it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fs.replace_if(path, data, expected=expected)
    if expected is None:
        path.chmod(path.parent.stat().st_mode & 0o666 & ~_umask())


_ASKING = threading.Lock()


def _umask() -> int:
    """The process's umask. It can only be asked for by setting it, so one thread at a time."""
    with _ASKING:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


def _delete(path: Path, old: bytes | None, context: ToolContext) -> str:
    if old is None or context.memory is None:
        raise ToolError(f"there is no memory {path} to delete; a new memory needs content")
    with told_to_the_model(path):
        real = Path(os.path.realpath(path))
        vet_deletion(real, old, context, context.memory)
        gone = context.memory.delete(real, now=context.now(), expected=fs.digest(old))
    context.deleted.append(gone.file)
    context.files.forget(path)
    own_index(context, context.memory)
    return f"Deleted the memory {path} and its line in {entrypoint.NAME}"


def _in_the_old_shape(content: str, old: bytes | None) -> bytes:
    """The bytes of the new content, with the encoding, mark and line ends that the file had."""
    decoded = decode(old) if old else None
    shape = decoded[1] if decoded else Shape()
    if shape.newline == "\r\n":
        content = content.replace("\r\n", "\n").replace("\n", "\r\n")
    return shape.encode(content)


WRITE = Tool(spec=SPEC, read_only=False, run=in_thread(write))
