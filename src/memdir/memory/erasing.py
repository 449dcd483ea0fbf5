"""One memory is erased: file, entry, every copy that memdir keeps; then a search for what is left (H2).

The history goes last: until then a second try finds all there is to erase, if the first was killed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from itertools import takewhile
from pathlib import Path

from memdir import fs
from memdir.errors import MemdirError, NotFound, UnsafePath
from memdir.memory import encoding, entrypoint, journal_file, leaks, plan, proof
from memdir.memory.entrypoint import NAME
from memdir.memory.frontmatter import LINE
from memdir.memory.history import By, FileChange, History, Run
from memdir.memory.history.erasing import without_pointer
from memdir.memory.pointer import entry as parsed
from memdir.memory.pointer import same
from memdir.memory.proof import Needles, Proof
from memdir.memory.steps import Step, Wrote
from memdir.memory.store import MemoryDir

__all__ = ["Proof", "erase"]

SHARED = 3
"""What so many other memories say is no secret of one of them: their earlier versions keep it."""


def erase(
    memory: MemoryDir,
    file: str,
    *,
    cache: Path,
    journals: Path,
    usage_erase: Callable[[str], int],
    state: Path,
    base: Path | None = None,
    now: datetime,
) -> Proof:
    """Erase a memory for good, also one that only the trash, the inbox or the history still has.

    `cache` is the folder of what is derived from the directory: it goes as a whole, and is made anew.
    `journals` is the folder of runs under way; `usage_erase` clears the record of use. What the search finds
    under `state` and `base` and in the directory itself is named in the proof, and left to the person.

    Raises:
        NotFound: nothing is known of such a file. UnsafePath: the index, or a name out of reach.
        MemdirError: a part could not be erased; the rest is gone, and a second try goes on from there.
    """
    with memory.on_behalf(By(worker="erase")).changing():
        known = _Known(memory=memory, file=file)
        known.look()
        if memory.history is not None:
            memory.history.check_erasable()
        needles = known.needles()
        _take_out(memory, file)
        _forget(memory, file, needles, cache=cache, journals=journals)
        usage_erase(file)
        if memory.history is not None:
            memory.history.erase(file, without=known.lines(memory.history))
    folders = [state, *([base] if base else []), memory.directory]
    folders += [memory.trash.folder, memory.inbox.folder, journals]
    return proof.search(needles, folders, histories=_histories(memory, now))


# -- what there is of it ------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class _Known:
    """All that is known of a file: its versions, and what the index said of it."""

    memory: MemoryDir
    file: str
    versions: list[bytes] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    seen: dict[tuple[str, str], bool] = field(default_factory=dict)
    """Lines of indexes, by what those call it, and whether they are entries for it."""
    said: set[tuple[str, ...]] = field(default_factory=lambda: {()})
    """What versions of the index have said of it."""

    def look(self) -> None:
        """Gather it; the caller holds the lock. Raises NotFound, UnsafePath."""
        place = plan.located(self.memory.directory, self.file)
        if self.file == NAME or self.memory.index_file.is_at(place):
            raise UnsafePath(self.file, reason=f"{NAME} is the index, not a memory")
        found = None if _is_folder(place) else plan.bytes_of(self.memory, self.file)
        self.versions += [found[0]] if found else []
        self._of_trash()
        self._of_inbox()
        self._of_index(self.memory.index_file.exact(), self.file)
        for index, name in _inner_indexes(self.file):
            if data := _bytes(self.memory, index):
                self._of_index(encoding.readable(data), name)
        if self.memory.history and not self.memory.history.off:
            self._of_history(self.memory.history)
        if not self.versions and not self.entries:
            raise NotFound(f"nothing is known of {leaks.called(self.file)}", hint="`memdir log` lists names")

    def _of_trash(self) -> None:
        for entry in self.memory.trash.entries():
            if entry.file == self.file:
                self.versions.append(self.memory.trash.data(entry))
                self.entries += [line for _, line in entry.pointers]

    def _of_inbox(self) -> None:
        for item in self.memory.inbox.items():
            if same(item.file, self.file):
                self.versions.append(item.data or b"")
            elif same(item.file, NAME):
                self._of_other_index(item.data or b"", self.file)

    def _of_index(self, text: str, name: str) -> None:
        """`name`: what that index calls the file."""
        self.entries += [line for _, line in entrypoint.take(text, name)[1]]

    def _of_history(self, history: History) -> None:
        """In one pass over the history: it may hold thousands of versions of the index."""
        index = self.memory.index_file.place.relative_to(os.path.realpath(self.memory.directory)).as_posix()
        takes: dict[str, Callable[[bytes], None]] = {}
        indexes = {index: self.file, **dict(_inner_indexes(self.file))}
        readers: dict[str, Callable[[bytes], None]] = {
            file: partial(self._of_other_index, name=name) for file, name in indexes.items()
        }
        for file, take in (*readers.items(), (self.file, self.versions.append)):
            for change in history.log(file=file):
                takes |= {blob: take for one in change.files if one.file == file for blob in _blobs(one)}
        for number, data in history.blobs() if takes else ():
            if number in takes:
                takes[number](data)

    def _of_other_index(self, data: bytes, name: str) -> None:
        """One of many versions, which are much the same: it is read where it says something new."""
        lines = LINE.findall(encoding.readable(data))
        numbers = [number for number, line in enumerate(lines) if self._is_ours(line, name)]
        said = tuple(line for number in numbers for line in _with_below(lines, number))
        if said not in self.said:
            self.said.add(said)
            self._of_index("".join(lines), name)

    def _is_ours(self, line: str, name: str) -> bool:
        if (line, name) not in self.seen:
            pointer = parsed(line)
            self.seen[line, name] = pointer is not None and same(pointer.file, name)
        return self.seen[line, name]

    def needles(self) -> Needles:
        """What to look for: what it says, and the names it had."""
        names = proof.titles(self.entries).union(
            *(proof.called(data, file=self.file) for data in self.versions)
        )
        return self._needles(self._says() | names)

    def lines(self, history: History) -> set[bytes]:
        """The lines that no earlier version of another file is to keep: those that hold something of it.

        What several others say now is common knowledge, and stays. So do lines that only use a name it had.
        """
        says = self._says()
        needles = self._needles({one for one in says if sum(one in text for text in self.others) < SHARED})
        lines = {line for data in self.versions for line in needles.lines_in(data)}
        if needles:
            for _, data in history.blobs():
                lines.update(needles.lines_in(data))
        return lines

    def _says(self) -> set[str]:
        """What tells it from others, but for its names."""
        common = set[str]().union(*map(proof.headings, self.others))
        return proof.hooks(self.entries).union(
            *(proof.telling(data, file=self.file, common=common) for data in self.versions)
        )

    def _needles(self, lines: set[str]) -> Needles:
        return Needles(lines, encodings={encoding.encoding(data) for data in self.versions})

    @cached_property
    def others(self) -> list[str]:
        """The texts of the other memories, as they are now."""
        texts = list[str]()
        for other in self.memory.list():
            with suppress(OSError, UnsafePath):
                if other.path != self.file and (found := plan.bytes_of(self.memory, other.path)):
                    texts.append(encoding.readable(found[0]))
        return texts


def _inner_indexes(file: str) -> Iterator[tuple[str, str]]:
    """The indexes of the folders on the way to a file, the team's for one, and what they call it."""
    names = file.split("/")
    for depth in range(1, len(names)):
        yield "/".join((*names[:depth], NAME)), "/".join(names[depth:])


def _bytes(memory: MemoryDir, file: str) -> bytes | None:
    """What a file holds; None where none is, or something else."""
    with suppress(UnsafePath):
        found = plan.bytes_of(memory, file)
        return None if found is None else found[0]
    return None


def _is_folder(place: Path) -> bool:
    """Whether a folder has that name by now: the memory that had it before can still be erased."""
    return place.is_dir() and not place.is_symlink()


def _with_below(lines: Sequence[str], number: int) -> Iterator[str]:
    """An entry, and what may belong to it."""
    yield lines[number]
    yield from takewhile(lambda line: line[:1].isspace(), lines[number + 1 :])


# -- what goes ----------------------------------------------------------------------------------------------


def _take_out(memory: MemoryDir, file: str) -> None:
    """The entry, then the file: the index never points at nothing by our doing."""
    root, place = Path(os.path.realpath(memory.directory)), plan.located(memory.directory, file)
    memory.index_file.change(partial(entrypoint.remove, file=file))
    for index, name in _inner_indexes(file):
        if (data := _bytes(memory, index)) and (left := without_pointer(data, name)) != data:
            fs.replace_if(root / index, left, expected=fs.digest(data), within=root)
    if not _is_folder(place):
        with suppress(FileNotFoundError, NotADirectoryError):
            fs.remove_durably(place, within=root)
    fs.sweep_temporaries(memory.directory, older_than=float("-inf"))


def _forget(memory: MemoryDir, file: str, needles: Needles, *, cache: Path, journals: Path) -> None:
    """The copies outside the directory."""
    for entry in memory.trash.entries():
        if entry.file == file:
            memory.trash.drop(entry)
    memory.trash.sweep()
    memory.inbox.forget(file)
    for path in journal_file.find(journals):
        with suppress(FileNotFoundError):
            if _is_about(path, file, needles):
                fs.remove_durably(path)
    try:
        shutil.rmtree(cache)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise MemdirError(
            f"the index of words can't be removed: {error.strerror}", hint=f"remove {cache}, and try again"
        ) from error


def _is_about(journal: Path, file: str, needles: Needles) -> bool:
    """Whether a run has changed the file, or the index while that said something of it."""
    contents = journal_file.read(journal)
    if contents is None:
        return False
    data = (one for step in contents.steps for one in _held(step) if one)
    return any(step.file == file for step in contents.steps) or any(map(needles.are_in, data))


def _held(step: Step) -> tuple[bytes | None, ...]:
    return (step.before, step.after) if isinstance(step, Wrote) else (step.data,)


# -- what is left -------------------------------------------------------------------------------------------


def _histories(
    memory: MemoryDir, now: datetime
) -> Iterator[tuple[Path, Mapping[str, Path | str], Iterable[tuple[str, bytes]]]]:
    """The objects of all histories, those of other projects too."""
    own = memory.history
    if own is None or own.off:
        return
    yield own.folder, _names(own), own.blobs()
    for folder in sorted(own.folder.parent.iterdir()):
        if folder != own.folder and folder.is_dir() and not folder.is_symlink():
            other = History(folder, directory=memory.directory, now=lambda: now)
            yield folder, {}, other.blobs()


def _names(history: History) -> dict[str, Path | str]:
    """What the versions in a history are called, by id: those that are on the disk now by their files."""
    root, names, seen = Path(os.path.realpath(history.directory)), dict[str, Path | str](), set[str]()
    for change in history.log():
        for file in change.files:
            if file.file not in seen and file.after:
                names[file.after] = root / file.file
            seen.add(file.file)
            for blob in _blobs(file):
                names.setdefault(blob, f"an earlier version of {leaks.called(file.file)}")
    return names


def _blobs(file: FileChange) -> Iterator[str]:
    """The versions that a change found and left."""
    runs: Iterable[FileChange | Run] = (file, *file.runs)
    return (blob for one in runs for blob in (one.before, one.after) if blob)
