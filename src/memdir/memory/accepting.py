"""The person says yes to a change that waited in the inbox: it is made, by their hand (E11).

`outlook` says what accepting would do to the file as it stands now, for the person to see; `accept` does
that and nothing else. Each moment is a good one to be killed at: what is done already is not done twice, and
the item goes last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from memdir import fs
from memdir.errors import Conflict, NotFound, UnsafePath
from memdir.memory import encoding, entrypoint, topic
from memdir.memory.entrypoint import NAME, Pointer
from memdir.memory.frontmatter import LINE, line_end
from memdir.memory.history import By
from memdir.memory.inbox import Item, without_stamps
from memdir.memory.pointer import entry, key, same
from memdir.memory.store import MemoryDir, Stored, Written
from memdir.memory.topic import Origin
from memdir.memory.trash import Trashed
from memdir.names import is_topic

LONGEST_LINE = 190
"""Characters of a pointer's line in the index, about (F6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What accepting an item would do, as things stand.

    `file` is another one than the item's where that name is taken. It holds `before` (None: it is not there)
    and would hold `after` (None: it would go). `changed`: it is not what the proposal was built on, so only
    the person can say that it is to be replaced or deleted all the same.
    """

    file: str
    before: bytes | None
    after: bytes | None
    changed: bool = False


def outlook(memory: MemoryDir, item: Item, *, now: datetime) -> Outlook:
    """What accepting the item would do now. Raises UnsafePath for a file that memory can't have."""
    try:
        stored = _stored(memory, item.file)
    except UnsafePath:
        if item.data is None or item.base is not None or not _is_taken(memory, item.file):
            raise
        return _beside(memory, item, item.data, now=now)
    before = stored.data if stored else None
    changed = item.base is not None and (stored is None or stored.digest != item.base)
    if item.data is None:
        return Outlook(file=item.file, before=before, after=None, changed=changed and stored is not None)
    if item.file == NAME:
        return Outlook(file=NAME, before=before, after=_index(memory, item, item.data, before))
    if before is not None and _same(before, item.data):  # accepted, by one who was killed then
        return Outlook(file=item.file, before=before, after=before)
    if stored is not None and item.base is None:
        if is_topic(item.file):
            return _beside(memory, item, item.data, now=now)
        changed = True
    after = _stamped(item.file, item.data, now=now, origin=item.origin)
    return Outlook(file=item.file, before=before, after=after, changed=changed)


def accept(memory: MemoryDir, item: Item, *, now: datetime, force: bool = False) -> Written | Trashed:
    """Do what the item proposes, as the person, and drop it from the inbox. A new memory gets a pointer.

    `force`: also if the file has changed since it was proposed.

    Raises:
        Conflict: the file has changed, and nothing is forced; or somebody writes there this moment.
        NotFound: what is to be deleted is gone. SecretFound, UnsafePath, UsageError: see `MemoryDir.write`.
    """
    seen = outlook(memory, item, now=now)
    if seen.changed and not force:
        how = "was removed" if seen.before is None else "has changed"
        raise Conflict(
            f"{item.file} {how} since this was proposed",
            hint=f"`memdir inbox show {item.id}` shows what accepting would change in it now; "
            f"`memdir inbox accept --force {item.id}` does it",
        )
    hand = _hand(memory, item.origin or Origin())
    if seen.after is None:
        done: Written | Trashed = _delete(hand, item, seen, now=now)
    else:
        done = _write(hand, item, seen, seen.after, now=now)
    memory.inbox.drop(item)
    return done


def pointer_of(file: str, data: bytes) -> Pointer:
    """The entry that a memory gets in the index, from what its header says."""
    about = topic.parse(data, filename=file)
    hook = about.description or about.name
    room = max(40, LONGEST_LINE - len(about.name) - len(file))
    short = hook if len(hook) <= room else f"{hook[: room - 1].rstrip()}…"
    return Pointer(title=about.name, file=file, hook=short)


def _hand(memory: MemoryDir, origin: Origin) -> MemoryDir:
    """The directory as the person writes to it."""
    by = By(worker="inbox", reason="accepted by the person", session=origin.session, message=origin.message)
    return memory.by_person().on_behalf(by)


def _write(hand: MemoryDir, item: Item, seen: Outlook, data: bytes, *, now: datetime) -> Written:
    """Write the file, and its pointer; a pointer that somebody has worded stays as it is."""
    expected = None if seen.before is None else fs.digest(seen.before)
    if is_topic(seen.file, team=True) and _takes_pointer(hand.index(), seen):
        pointer = pointer_of(seen.file, data)
        return hand.save(seen.file, data, pointer=pointer, expected=expected, now=now, origin=item.origin)
    return hand.write(seen.file, data, expected=expected, now=now, origin=item.origin)


def _takes_pointer(index: str, seen: Outlook) -> bool:
    """Whether the index has nothing on the file, or what we would have written ourselves."""
    there = next((one for one in entrypoint.pointers(index) if same(one.file, seen.file)), None)
    if there is None:
        return key(seen.file) not in entrypoint.linked(index)
    return seen.before is not None and _alike(there, pointer_of(seen.file, seen.before))


def _delete(hand: MemoryDir, item: Item, seen: Outlook, *, now: datetime) -> Trashed:
    if seen.before is not None:
        return hand.delete(item.file, now=now, expected=fs.digest(seen.before))
    for trashed in hand.trashed():  # deleted, by one who was killed then
        if trashed.file == item.file and fs.digest(hand.trash.data(trashed)) == item.base:
            return trashed
    raise NotFound(
        f"{item.file} is gone already", hint=f"`memdir inbox reject {item.id}` takes this off the list"
    )


# -- what the file would hold ----------------------------------------------------------------------------


def _stored(memory: MemoryDir, file: str) -> Stored | None:
    try:
        return memory.read(file)
    except NotFound:
        return None


def _is_taken(memory: MemoryDir, file: str) -> bool:
    """Whether what has the name of a new memory is none: a folder, a link, another case of its letters."""
    names = {one.name.casefold() for one in memory.directory.glob("*")} - {NAME.casefold()}
    return is_topic(file) and file.casefold() in names


def _same(one: bytes, other: bytes) -> bool:
    return without_stamps(one) == without_stamps(other)


def _alike(one: Pointer, other: Pointer) -> bool:
    return entrypoint.written(one) == entrypoint.written(other)


def _stamped(file: str, data: bytes, *, now: datetime, origin: Origin | None) -> bytes:
    """What the store makes of it (F1)."""
    return topic.stamp(data, now=now, origin=origin) if is_topic(file, team=True) else data


def _beside(memory: MemoryDir, item: Item, data: bytes, *, now: datetime) -> Outlook:
    """A new memory whose name somebody else's has by now: it gets another one, unless it has it already."""
    stem = PurePosixPath(item.file).stem
    free = memory.free_name(stem)
    base = free.removesuffix(".md").rstrip("0123456789")
    names = [header.path for header in memory.list() if header.path.startswith(base)]
    for stored in filter(None, (_stored(memory, name) for name in names)):
        if _same(stored.data, data):
            return Outlook(file=stored.file, before=stored.data, after=stored.data)
    return Outlook(file=free, before=None, after=_stamped(free, data, now=now, origin=item.origin))


def _index(memory: MemoryDir, item: Item, data: bytes, before: bytes | None) -> bytes:
    """The index with what is proposed for it. Nothing that has come into it since is lost."""

    def there(file: str) -> bool:
        return memory.why_not(file) is None and memory.path(file).is_file()

    old = encoding.decode(before or b"", name=NAME)
    if item.base is not None and before is not None and fs.digest(before) == item.base:
        text = whole = encoding.decode(data, name=NAME)
        named = entrypoint.linked(old)
        for pointer in entrypoint.pointers(whole):
            if key(pointer.file) not in named and not there(pointer.file):
                text = entrypoint.remove(text, pointer.file)
        return data if text == whole else encoding.encode(text, like=data)
    fresh = merged(old, encoding.readable(data), there=there, reword=item.base is None)
    return (before or b"") if fresh == old else encoding.encode(fresh, like=before or b"")


def merged(text: str, proposed: str, *, there: Callable[[str], bool], reword: bool) -> str:
    """An index with those lines of another one that it lacks, each behind the line that is before it there.

    No line goes. An entry for a file that is not `there` is left out; one for a file that has an entry here
    takes its place if `reword`.
    """
    at: int | None = None
    places = _places(text)
    for line in (line.rstrip("\r\n") for line in LINE.findall(proposed)):
        pointer = entry(line)
        file = f"\0{key(pointer.file)}" if pointer else ""
        if line.strip() in places:
            at = places[line.strip()]
        elif pointer is None:
            if line.strip():
                text, at = _inserted(text, line, at)
                places = _places(text)
        elif file in places or there(pointer.file):
            if reword or file not in places:
                text = entrypoint.add(text, pointer)
                places = _places(text)
            at = places.get(file)
    return text


def _places(text: str) -> dict[str, int]:
    """Where each line of an index is; and each entry, by its file behind a NUL."""
    places: dict[str, int] = {}
    for number, line in enumerate(LINE.findall(text)):
        places.setdefault(line.strip(), number)
        if pointer := entry(line):
            places.setdefault(f"\0{key(pointer.file)}", number)
    return places


def _inserted(text: str, line: str, at: int | None) -> tuple[str, int]:
    """The text with a line put behind line `at`, or at the end; and where it is now."""
    lines, eol = LINE.findall(text), line_end(text)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += eol
    place = len(lines) if at is None else at + 1
    lines.insert(place, line + eol)
    return "".join(lines), place
