"""`MemoryDir`: the one way to change a memory directory. Topic and pointer go together, nothing is lost.

The order of writes makes every moment a good one to be killed at. Saving: topic first, pointer second (a
topic without a pointer is found by every scan, and `mend` points at it). Deleting: a copy in the trash,
then the pointer goes, then the topic. So the index never points at nothing by our doing.

Each change holds the directory's lock and compares before it replaces (F9); each new text is looked
through for secrets first (E10). The clock is never read: `now` is an argument.
"""

from __future__ import annotations

import logging
import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final, Literal

from memdir import fs
from memdir.errors import Conflict, NotFound, SecretFound, UnsafePath
from memdir.memory import entrypoint, topic
from memdir.memory.entrypoint import NAME, Pointer
from memdir.memory.manifest import harmless
from memdir.memory.scan import Header, scan
from memdir.memory.topic import Origin, Topic
from memdir.memory.trash import Trash, Trashed
from memdir.secrets import scan as find_secrets

log = logging.getLogger(__name__)

NAME_LENGTH = 50
"""Characters of a new file name, without what makes it unique and `.md`."""


class Anything(Enum):
    """The type of `ANY`."""

    ANY = "any"


ANY: Final = Anything.ANY
"""As `expected`: whatever is there now may be replaced."""

Expected = str | None | Literal[Anything.ANY]
Action = Literal["created", "updated", "unchanged"]

# Inside the class, `list` is its method.
Headers = list[Header]
Deleted = list[Trashed]
Sentences = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A file as it was read. `digest` is what a later write expects (F9); `topic` is None for an index."""

    file: str
    data: bytes
    digest: str
    mtime_ns: int
    topic: Topic | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a write did. `data` is what is on the disk now, stamped; `warning` goes to who wrote (F7)."""

    file: str
    action: Action
    digest: str
    data: bytes
    type: str | None
    warning: str | None = None


class MemoryDir:
    """A memory directory and the trash that belongs to it. `file` is a path relative to it, with `/`.

    Raised by all that take a file: UnsafePath for one that is no visible `.md` inside the directory.
    Conflict: the directory is busy, or a file is not what the caller expected.
    """

    def __init__(self, directory: Path, *, trash: Path) -> None:
        self.directory = directory
        self.trash = Trash(trash)

    def prepare(self) -> None:
        """Make the directory (P7). A refusal is logged, and shows again when something is written."""
        try:
            fs.make_private(self.directory)
        except (OSError, UnsafePath) as error:
            log.warning("the memory directory can't be made: %s", error)

    def path(self, file: str | Path) -> Path:
        """The real, absolute path of a file in the directory, whether or not it exists."""
        place = fs.contain(self.directory, file)
        if place.suffix != ".md":
            raise UnsafePath(str(file), reason="memory files end in .md")
        return place

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, file: str | Path) -> Stored:
        """A file with what a later write needs. Raises NotFound."""
        place = self.path(file)
        name = self._name(place)
        try:
            mtime_ns = place.stat().st_mtime_ns  # before the bytes: a change in between makes it look old
        except FileNotFoundError as error:
            raise _not_there(name) from error
        data = self._bytes(place)
        if data is None:
            raise _not_there(name)
        read = None if place.name == NAME else topic.parse(data, filename=name)
        return Stored(file=name, data=data, digest=fs.digest(data), mtime_ns=mtime_ns, topic=read)

    def list(self) -> Headers:
        """All topic files, newest first."""
        return scan(self.directory, limit=None)

    def index(self) -> str:
        """The index as it is on the disk; empty where there is none."""
        return (self._bytes(self.path(NAME)) or b"").decode("utf-8", "replace")

    def trashed(self) -> Deleted:
        """What `restore` can bring back, newest first."""
        return self.trash.entries()

    def free_name(self, stem: str) -> str:
        """A file name that nobody has, from any text: its letters and digits, `_` between words, `.md`."""
        letters = unicodedata.normalize("NFKC", stem).lower()
        words = "".join(letter if _is_word(letter) else " " for letter in letters).split()
        base = "_".join(words)[:NAME_LENGTH].rstrip("_")
        if not base or not self._is_good(f"{base}_0.md"):
            base = "memory_note"
        taken = {one.name.casefold() for one in self.directory.glob("*")} | {NAME.casefold()}
        names = (f"{base}_{number}.md" if number > 1 else f"{base}.md" for number in count(1))
        return next(name for name in names if name.casefold() not in taken and self._is_good(name))

    # -- writing ----------------------------------------------------------------------------------------

    def write(
        self, file: str | Path, data: bytes, *, expected: Expected, now: datetime, origin: Origin | None
    ) -> Written:
        """Write one file, also the index, if it still is as `expected`: a digest, None for no file, or ANY.

        A topic that has a header is stamped (F1). `warning` says so when the index is over a limit (F7).
        Raises SecretFound for a secret that the old bytes did not hold (E10); nothing is written then.
        """
        with self._alone():
            return self._write(self.path(file), data, expected=expected, now=now, origin=origin)

    def save(
        self,
        file: str | Path,
        data: bytes,
        *,
        pointer: Pointer,
        expected: Expected,
        now: datetime,
        origin: Origin | None,
    ) -> Written:
        """Write a topic, then its pointer, as one change. `pointer.file` is taken from `file`."""
        with self._alone():
            place = self._topic_path(file)
            pointer = replace(pointer, file=self._name(place))
            _refuse_secrets(entrypoint.written(pointer), self._index_text(), where=NAME)
            written = self._write(place, data, expected=expected, now=now, origin=origin)
            return replace(written, warning=self._change_index(partial(entrypoint.add, pointer=pointer)))

    def delete(self, file: str | Path, *, now: datetime) -> Trashed:
        """Take a topic and its pointer out; both can be restored. Raises NotFound."""
        with self._alone():
            place = self._topic_path(file)
            name = self._name(place)
            data = self._bytes(place)
            if data is None:
                raise _not_there(name)
            _, pointers = entrypoint.take(self._index_text(), name)
            mtime_ns = place.stat().st_mtime_ns
            trashed = self.trash.put(name, data, mtime_ns=mtime_ns, pointers=pointers, now=now)
            self._change_index(partial(entrypoint.remove, file=name))
            fs.remove_durably(place, within=self._root)
            return trashed

    def restore(self, file: str | Path, *, id: str | None = None) -> Written:  # noqa: A002 (as in Trashed)
        """Bring a deleted topic back, bytes, mtime and pointer: the newest one of that name, or `id`.

        Raises NotFound, and Conflict where a file of that name is there already.
        """
        with self._alone():
            place = self._topic_path(file)
            name = self._name(place)
            entry, data = self.trash.get(name, id)
            try:
                fs.replace_if(place, data, expected=None, within=self._root)
            except Conflict as error:
                raise Conflict(f"{name} is there again", hint="move or delete that one first") from error
            os.utime(place, ns=(entry.mtime_ns, entry.mtime_ns))
            read = topic.parse(data, filename=name)
            pointer = Pointer(title=read.name, file=name, hook=read.description or "")
            put_back = partial(entrypoint.put_back, taken=entry.pointers, pointer=pointer)
            warning = self._change_index(put_back) if entry.pointers else None
            self.trash.drop(entry)
            return Written(
                file=name,
                action="created",
                digest=fs.digest(data),
                data=data,
                type=read.type,
                warning=warning,
            )

    # -- keeping order ----------------------------------------------------------------------------------

    def mend(self, *, now: datetime) -> Sentences:  # noqa: ARG002 (as all that change the directory)
        """Put right what a killed writer left: temporary files go, topics without a pointer get one.

        No line of the index is ever removed. Says what it did, a sentence each.
        """
        if not self.directory.is_dir():
            return []
        with self._alone():
            # Who holds the lock is the only writer, so every temporary file is a dead one's, however young.
            swept = fs.sweep_temporaries(self.directory, older_than=float("-inf"))
            did = [f"removed {len(swept)} half-written temporary files"] if swept else []
            for pointer in self._missing_pointers():
                if find_secrets(entrypoint.written(pointer)):
                    did.append(f"{pointer.file} has no pointer: its name or description looks like a secret")
                else:
                    self._change_index(partial(entrypoint.add, pointer=pointer))
                    did.append(f"added a pointer to {pointer.file}")
            return did

    def problems(self) -> Sentences:
        """What a person should look at: dangling pointers, invisible entries, names alike but for case."""
        index = self.index()
        found = [
            f"{NAME} points to {harmless(pointer.file)}, which is not there"
            for pointer in entrypoint.pointers(index)
            if not (self._is_good(pointer.file) and self.path(pointer.file).is_file())
        ]
        for line in entrypoint.load(index).invisible:
            files = (harmless(pointer.file) for pointer in entrypoint.pointers(line))
            found.append(f"{', '.join(files)} is beyond what is loaded of {NAME}")
        alike: dict[str, Sentences] = {}
        for header in self.list():
            folded = unicodedata.normalize("NFD", header.path).casefold()
            alike.setdefault(unicodedata.normalize("NFC", folded), []).append(harmless(header.path))
        found += [
            f"only case or Unicode form tell these apart: {', '.join(sorted(paths))}"
            for paths in alike.values()
            if len(paths) > 1
        ]
        return found

    # -- inside the lock --------------------------------------------------------------------------------

    @property
    def _root(self) -> Path:
        return Path(os.path.realpath(self.directory))

    def _name(self, place: Path) -> str:
        return place.relative_to(self._root).as_posix()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        fs.make_private(self.directory)
        with fs.locked(self.directory):
            yield

    def _topic_path(self, file: str | Path) -> Path:
        place = self.path(file)
        if place.name == NAME:
            raise UnsafePath(str(file), reason=f"{NAME} is the index, not a memory")
        return place

    def _is_good(self, file: str) -> bool:
        try:
            self.path(file)
        except UnsafePath:
            return False
        return True

    def _bytes(self, place: Path) -> bytes | None:
        try:
            return fs.read_file(place, within=self._root)
        except FileNotFoundError:
            return None

    def _index_text(self) -> str:
        return (self._bytes(self.path(NAME)) or b"").decode("utf-8", "surrogateescape")

    def _change_index(self, change: Callable[[str], str]) -> str | None:
        """Change the index, again if a program that knows no lock came in between; a warning is for F7."""
        place = self.path(NAME)
        for tries_left in (2, 1, 0):
            data = self._bytes(place)
            old = (data or b"").decode("utf-8", "surrogateescape")
            new = change(old)
            known = None if data is None else fs.digest(data)
            try:
                if new != old:
                    fresh = new.encode("utf-8", "surrogateescape")
                    fs.replace_if(place, fresh, expected=known, within=self._root)
                break
            except Conflict:
                if not tries_left:
                    raise
        return entrypoint.over_limit(new)

    def _missing_pointers(self) -> Iterator[Pointer]:
        """What should point at the topics that the index does not link to, oldest first."""
        linked = entrypoint.linked(self._index_text())
        for header in reversed(self.list()):
            if not self._is_good(header.path):
                continue
            file = self._name(self.path(header.path))  # a link goes by the name of what it leads to
            known = unicodedata.normalize("NFC", file)
            if known not in linked:
                linked.add(known)
                yield Pointer(title=header.name, file=file, hook=header.description or "")

    def _write(
        self, place: Path, data: bytes, *, expected: Expected, now: datetime, origin: Origin | None
    ) -> Written:
        name, old = self._name(place), self._bytes(place)
        known = None if old is None else fs.digest(old)
        if expected is not ANY and known != expected:
            how = "is there already" if expected is None else "changed" if known else "was removed"
            raise Conflict(f"{name} {how} meanwhile", hint="read it again, then decide")
        text = data.decode("utf-8", "replace")
        is_index = place.name == NAME
        action: Action = "unchanged"
        fresh = data
        if data != old:
            before = "" if old is None else f"{name}\n\n{old.decode('utf-8', 'replace')}"
            _refuse_secrets(f"{name}\n\n{text}", before, where=name)
            fresh = data if is_index else topic.stamp(data, now=now, origin=origin)
            fs.replace_if(place, fresh, expected=known, within=self._root)
            action = "created" if old is None else "updated"
        return Written(
            file=name,
            action=action,
            digest=fs.digest(fresh),
            data=fresh,
            type=None if is_index else topic.parse(data, filename=name).type,
            warning=entrypoint.over_limit(text) if is_index else None,
        )


def _is_word(letter: str) -> bool:
    """Whether a file name may hold it: letters and digits of all scripts, with the marks on them."""
    return (letter.isalnum() or unicodedata.category(letter)[0] == "M") and not fs.hidden_character(letter)


def _not_there(name: str) -> NotFound:
    return NotFound(f"there is no memory file {name!r}", hint="list the memories to see their names")


def _refuse_secrets(new: str, old: str, *, where: str) -> None:
    """Stop a secret that was not in the old text; an edit elsewhere in the file is no leak (E10)."""
    found = {(finding.rule, new[finding.start : finding.end]) for finding in find_secrets(new)}
    if found:
        found -= {(finding.rule, old[finding.start : finding.end]) for finding in find_secrets(old)}
    if found:
        raise SecretFound(tuple(sorted({rule for rule, _ in found})), where=where)
