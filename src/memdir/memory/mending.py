"""What a killed or careless writer left of a memory directory is put right (F6, F8, F9).

Mending finishes what was begun, and takes no line of the index away. What else is wrong, the doctor tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING

from memdir import fs
from memdir.errors import MemdirError, UsageError
from memdir.memory import entrypoint, leaks
from memdir.memory.index_mending import Listed, beginning, owed
from memdir.memory.pointer import key

if TYPE_CHECKING:
    from memdir.memory.store import MemoryDir
    from memdir.memory.trash import Trashed


def mend(memory: MemoryDir) -> list[str]:
    """Put the directory right; the caller holds its lock. Says what it did, a sentence each."""
    # Who holds the lock is the only writer, so every temporary file is a dead one's, however young.
    swept = fs.sweep_temporaries(memory.directory, older_than=float("-inf"))
    did = [f"removed {len(swept)} half-written temporary files"] if swept else []
    memory.trash.sweep()
    try:
        memory.index_file.exact()
    except UsageError as error:
        return [*did, f"nothing was put right in the index: {error}"]
    did += _finish_trash(memory)
    return did + _point_at_all(memory)


def _finish_trash(memory: MemoryDir) -> list[str]:
    """Topics that are in the directory and, byte for byte, in the trash: who deleted or restored them died.

    Which of the two it was is not known; that the memory stays, and its index lines with it, loses nothing.
    """
    did = []
    for entry in memory.trash.entries():
        data = _in_both(memory, entry)
        if data is not None and not _rewritten(memory, entry):
            memory.bring_back(entry, data)
            did.append(f"kept {leaks.called(entry.file)}, which was half deleted or half restored")
    return did


def _in_both(memory: MemoryDir, entry: Trashed) -> bytes | None:
    """The bytes of an entry of the trash, if the file in the directory is the same."""
    try:
        data = memory.read(entry.file).data
        return data if memory.trash.data(entry) == data else None
    except (OSError, MemdirError):
        return None


def _rewritten(memory: MemoryDir, entry: Trashed) -> bool:
    """Whether the index has other lines for that file by now: it was made anew, and is no leftover."""
    _, there = entrypoint.take(memory.index_file.exact(), entry.file)
    texts = {line.rstrip("\r\n") for _, line in there}
    return bool(texts) and not texts >= {line.rstrip("\r\n") for _, line in entry.pointers}


def _point_at_all(memory: MemoryDir) -> list[str]:
    """A pointer for each topic that has none, as far as the index has room; for the newest in any case, and
    where they are seen. All in one change of it (F7).
    """
    index = memory.index_file.exact()
    linked = entrypoint.linked(index)
    topics = tuple(_topics(memory, linked=linked))
    did = [
        f"{leaks.called(one.file)} has no pointer: its name or description looks like a secret"
        for one in reversed(topics)
        if key(one.file) not in linked and one.is_secret
    ]
    if missing := owed(index, topics):
        new = [one.pointer for one in missing]
        memory.index_file.change(partial(entrypoint.add_all, new=new))
    return did + [f"added a pointer to {one.file}" for one in missing]


def _topics(memory: MemoryDir, *, linked: AbstractSet[str]) -> Iterator[Listed]:
    """The topics that an entry can lead to, newest first."""
    for header in memory.list():
        if not memory.why_not(header.path):
            hook = header.description or ""
            if not hook and key(header.path) not in linked:
                hook = _first_line(memory, header.path)
            yield Listed(file=header.path, title=header.name, hook=hook, mtime_ns=header.mtime_ns)


def _first_line(memory: MemoryDir, file: str) -> str:
    """How a topic without a description begins."""
    try:
        read = memory.read(file).topic
    except (OSError, MemdirError):  # gone meanwhile
        return ""
    return beginning(read) if read else ""
