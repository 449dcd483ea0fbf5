"""What a killed or careless writer left of a memory directory is put right, or told (F6, F8, F9).

Mending finishes what was begun, and takes no line of the index away. What only a person can decide is a
sentence in `problems`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from memdir import fs
from memdir.errors import MemdirError, UsageError
from memdir.memory import entrypoint, leaks
from memdir.memory.entrypoint import NAME, Pointer
from memdir.memory.manifest import harmless
from memdir.memory.pointer import key
from memdir.secrets import scan as find_secrets

if TYPE_CHECKING:
    from memdir.memory.store import MemoryDir
    from memdir.memory.trash import Trashed

_MARKS = re.compile(r"\s*(?:[>#]+\s*|[-*+]\s+)*")
"""What stands before the words of a heading, a list item or a quotation."""


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


def problems(memory: MemoryDir) -> list[str]:
    """What a person should look at: names out of reach or alike, dangling pointers, invisible entries."""
    index = memory.index_file.readable()
    found = [
        f"{NAME} points to {harmless(pointer.file)}, which is not there"
        for pointer in entrypoint.pointers(index)
        if memory.why_not(pointer.file) or not memory.path(pointer.file).is_file()
    ]
    loaded = entrypoint.load(index)
    if loaded.truncated:
        beyond = f": {entrypoint.named(loaded)}" if loaded.invisible else ""
        found.append(f"{NAME} is at {entrypoint.excess(loaded)}; a part is beyond what is loaded{beyond}")
    try:
        memory.index_file.exact()
    except UsageError as error:
        found.append(f"{error}, so nothing can be added to it; {error.hint}")
    return found + _problems_of_names([header.path for header in memory.list()], memory)


def _problems_of_names(paths: list[str], memory: MemoryDir) -> list[str]:
    found = [
        f"{harmless(path)} is out of reach, rename it: {reason}"
        for path in paths
        if (reason := memory.why_not(path))
    ]
    alike: dict[str, list[str]] = {}
    for path in paths:
        folded = unicodedata.normalize("NFD", path).casefold()
        alike.setdefault(unicodedata.normalize("NFC", folded), []).append(harmless(path))
    found += [
        f"only case or Unicode form tell these apart: {', '.join(sorted(names))}"
        for names in alike.values()
        if len(names) > 1
    ]
    return found


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
    """A pointer for each topic without one, all in one change of the index."""
    missing, did = list[Pointer](), list[str]()
    for pointer in _missing_pointers(memory):
        if find_secrets(entrypoint.written(pointer)):
            name = leaks.called(pointer.file)
            did.append(f"{name} has no pointer: its name or description looks like a secret")
        else:
            missing.append(pointer)
            did.append(f"added a pointer to {pointer.file}")
    if missing:
        memory.index_file.change(partial(entrypoint.add_all, new=missing))
    return did


def _missing_pointers(memory: MemoryDir) -> Iterator[Pointer]:
    """What should point at the topics that the index does not link to, oldest first."""
    linked = entrypoint.linked(memory.index_file.exact())
    for header in reversed(memory.list()):
        if key(header.path) not in linked and not memory.why_not(header.path):
            hook = header.description or _first_line(memory, header.path)
            yield Pointer(title=header.name, file=header.path, hook=hook)


def _first_line(memory: MemoryDir, file: str) -> str:
    """How a topic without a description begins, so that its pointer says more than its name. Nothing of one
    that holds a secret, of which half a line may be left (E10).
    """
    try:
        read = memory.read(file).topic
    except (OSError, MemdirError):  # gone meanwhile
        return ""
    if read is None or find_secrets(read.body):
        return ""
    lines = (_MARKS.sub("", line, count=1) for line in read.body.splitlines())
    return next((line for line in lines if any(map(str.isalnum, line)) and line.strip() != read.name), "")
