"""A memory directory as it stands -> what a person should look at, and what to do about each (E10, A8, F6).

Memories are files, and people and programs write them past all that is checked before a write of ours. Here
everything is looked at anew. Reads only, follows no link, never waits; a secret's value goes nowhere.

`CHECKS` is the list of what is looked for; each check gives `Finding`s of its own.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from memdir import fs
from memdir.errors import MemdirError, UnsafePath, UsageError
from memdir.memory import encoding, entrypoint, frontmatter, leaks
from memdir.memory.frontmatter import LINE
from memdir.memory.index_lines import counting
from memdir.memory.manifest import visible
from memdir.memory.pointer import entry
from memdir.memory.store import MemoryDir
from memdir.names import INDEX, what_is
from memdir.secrets import ALLOWED, allowed_lines, scan

Kind = Literal["secret", "unreadable", "link", "name", "index", "marked"]
"""What is wrong; `marked` is a note: a secret on a line that somebody marked as harmless."""

MOST_BYTES = 10 * 1024 * 1024
"""A file that is larger is not looked through, and that is a finding."""

TEXT = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx", ".txt"})
"""Endings, in any case of letters, of what somebody may take for a memory."""

_NO_FOLDER = ".memdir-no-such-folder"
"""Where a name is judged as a new one, and beside no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to look at.

    `file` is relative to the memory directory, with `/`; where its name is the secret, words in its place.
    `line` counts from 1; None: the file as a whole. `rule` is what knew the secret; None for all else.
    `reason` and `cure` are sentences without an end; with `file`, they may hold any letter of a name.
    """

    file: str
    line: int | None = None
    kind: Kind
    rule: str | None = None
    reason: str
    cure: str


Check: TypeAlias = Callable[[MemoryDir], Iterable[Finding]]


def checkup(memory: MemoryDir) -> list[Finding]:
    """What needs a person, as `examine` finds it: all but the notes."""
    return [finding for finding in examine(memory) if finding.kind != "marked"]


def examine(memory: MemoryDir) -> list[Finding]:
    """All findings and notes, by file and line. A directory that is not there has none.

    Raises:
        OSError: the directory itself can't be looked into.
    """
    if not memory.directory.exists():
        return []
    found = {finding for check in CHECKS for finding in check(memory)}
    return sorted(found, key=lambda one: (one.file, one.line or 0, one.kind, one.reason))


# -- files -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Something in the directory.

    `reachable`: memory can follow the names of the folders above it. `suspect`: a name in its folder may be a
    secret.
    """

    root: Path
    path: str
    status: os.stat_result
    reachable: bool
    suspect: bool

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_hidden(self) -> bool:
        return self.name.startswith(".")

    @property
    def is_text(self) -> bool:
        """Whether somebody may take it for a memory."""
        return not self.is_hidden and os.path.splitext(self.name)[1].casefold() in TEXT  # noqa: PTH122


def files(memory: MemoryDir) -> Iterator[Finding]:
    """Secrets in files and in their names; files, folders, links and names that memory can't use.

    Hidden folders belong to other programs, and are passed by.
    """
    root = Path(os.path.realpath(memory.directory))
    waiting = [("", True)]
    while waiting:
        folder, reachable = waiting.pop()
        try:
            names = sorted(os.listdir(root / folder))  # noqa: PTH208 - names alone
        except OSError as error:
            if not folder:
                raise
            yield _unreadable(folder, error, "chmod u+rx")
            continue
        yield from _alike(folder, names)
        suspect = scan("\n".join(names)) != []
        for name in names:
            path = f"{folder}/{name}" if folder else name
            try:
                status = os.lstat(root / path)
            except OSError:  # gone meanwhile, or told above
                continue
            place = _Place(root=root, path=path, status=status, reachable=reachable, suspect=suspect)
            if stat.S_ISDIR(status.st_mode):
                if not place.is_hidden:
                    named = list(_name(place, memory))
                    yield from named
                    waiting.append((path, reachable and not named))
            elif stat.S_ISLNK(status.st_mode):
                yield from _link(place)
            else:
                yield from _name(place, memory)
                yield from _content(place)


def _link(place: _Place) -> Iterator[Finding]:
    cure = "remove the link; where a memory is meant, put the file itself there"
    try:
        real = Path(os.path.realpath(place.root / place.path, strict=True))
    except OSError:
        yield _finding(place.path, "link", "a link to nothing, or to itself", cure)
        return
    if not real.is_relative_to(place.root):
        reason = "a link that leads out of the memory directory; nothing behind it is read or written"
        yield _finding(place.path, "link", reason, cure)


def _name(place: _Place, memory: MemoryDir) -> Iterator[Finding]:
    """What is wrong with the name of a file or folder."""
    if found := scan(place.name) if place.suspect else []:
        yield Finding(
            file=leaks.MASKED,
            kind="secret",
            rule=found[0].rule,
            reason=f"a name that looks like a secret: {found[0].rule}, {found[0].preview}",
            cure="rename it, and change the secret where it is used, for it has been on the disk",
        )
        return
    is_folder = stat.S_ISDIR(place.status.st_mode)
    if not (is_folder or place.is_text):
        return
    reason = _no_name(place)
    if reason is None and not is_folder:
        reason = _not_read(place) or (memory.why_not(place.path) if place.reachable else None)
    if reason:
        yield _finding(place.path, "name", reason, "rename it")


def _no_name(place: _Place) -> str | None:
    """Why not all systems can hold a file of this name, or None."""
    try:
        fs.contain(place.root / _NO_FOLDER, place.name)
    except UnsafePath as error:
        return error.reason
    return None


def _not_read(place: _Place) -> str | None:
    """Why a text is neither a memory nor anything else that memory reads, or None."""
    names = tuple(place.path.split("/"))
    within = names[1:] if what_is(names) == "team" else names
    if what_is(within) != "other":
        return None
    if place.name.casefold() == INDEX.casefold():
        return (
            f"the index is {INDEX} in the memory directory itself; a file of that name elsewhere is not read"
        )
    return "memories end in .md, in small letters; this is not read as one"


def _alike(folder: str, names: Iterable[str]) -> Iterator[Finding]:
    """Names in one folder that are the same on a disk that takes no notice of case or Unicode form."""
    twins = defaultdict[str, list[str]](list)
    for name in names:
        folded = unicodedata.normalize("NFD", name).casefold()
        twins[unicodedata.normalize("NFC", folded)].append(name)
    for alike in twins.values():
        for name in alike[1:]:
            reason = f"only case or Unicode form tell it from {leaks.called(alike[0])}"
            yield _finding(f"{folder}/{name}" if folder else name, "name", reason, "rename one of them")


def _content(place: _Place) -> Iterator[Finding]:
    """Secrets in a file; or why it can't be looked through."""
    try:
        if stat.S_ISREG(place.status.st_mode) and place.status.st_size > MOST_BYTES:
            reason = f"too big to be looked through ({place.status.st_size:,} bytes)"
            yield _finding(place.path, "unreadable", reason, "split it, or move it elsewhere")
            return
        data = fs.read_file(place.root / place.path, within=place.root)
    except FileNotFoundError:  # gone meanwhile
        return
    except UnsafePath as error:
        yield _finding(place.path, "unreadable", error.reason, "remove it, or move it elsewhere")
        return
    except OSError as error:
        yield _unreadable(place.path, error, "chmod u+r")
        return
    if place.is_text:
        try:
            encoding.decode(data)
        except UsageError as error:
            reason = "it is in a broken encoding, so nothing of ours can change it"
            yield _finding(place.path, "unreadable", reason, error.hint or "save it as UTF-8")
    elif b"\0" in data[:8192]:
        return
    for line, rule, preview in _secrets(encoding.readable(data)):
        yield Finding(
            file=leaks.called(place.path),
            line=line,
            kind="secret",
            rule=rule,
            reason=f"it holds what looks like a secret: {rule}, {preview}",
            cure="take it out, and change it where it is used, for it has been on the disk; if it is none, "
            f"put <!-- {ALLOWED} --> at the end of the line",
        )
    text = encoding.readable(data)
    marked = allowed_lines(text)
    for line, rule in sorted({(one.line(text), one.rule) for one in scan(text)} if marked else ()):
        if line in marked:
            yield Finding(
                file=leaks.called(place.path),
                line=line,
                kind="marked",
                rule=rule,
                reason=f"marked as harmless: {rule}",
                cure="take the mark out if you did not put it there",
            )


def _secrets(text: str) -> list[tuple[int, str, str]]:
    """Line, rule and preview of each secret, in the text and in what readers see of it.

    A line that the person marked has none: who is no person can't write the mark (`leaks`).
    """
    found = dict[tuple[int, str], str]()
    for view in dict.fromkeys((text, visible(text))):
        starts = [line.start() for line in LINE.finditer(view)]
        for one in scan(view, honour_marker=True):
            found.setdefault((bisect_right(starts, one.start), one.rule), one.preview)
    told = {line for line, _ in found} | allowed_lines(text)
    for lines, value in _values(text):
        if told.isdisjoint(lines):
            found |= {(lines.start, one.rule): one.preview for one in scan(value)}
    return sorted((line, rule, preview) for (line, rule), preview in found.items())


def _values(text: str) -> Iterator[tuple[range, str]]:
    """Keys with their values, and the parts of index entries, which stand otherwise in the text, for the
    escapes in it; each with its lines.
    """
    header = frontmatter.read(text)
    waiting = list(header.entries) if header else []
    while waiting:
        one = waiting.pop()
        waiting += one.children
        if one.key not in text or (one.value or "") not in text:
            yield range(one.start + 2, one.stop + 2), f"{one.key}: {one.value or ''}"
    for line in counting(text):
        if line.plain and (pointer := entry(line.text)):
            parts = [part for part in (pointer.title, pointer.file, pointer.hook) if part not in line.text]
            if parts:
                yield range(line.number + 1, line.number + 2), "\n".join(parts)


def _unreadable(path: str, error: OSError, command: str) -> Finding:
    reason = f"it can't be read: {error.strerror or type(error).__name__}"
    return _finding(path, "unreadable", reason, f"let yourself read it ({command}), or remove it")


def _finding(file: str, kind: Kind, reason: str, cure: str, *, line: int | None = None) -> Finding:
    return Finding(file=leaks.called(file), line=line, kind=kind, reason=reason, cure=cure)


# -- the index -------------------------------------------------------------------------------------------


def index(memory: MemoryDir) -> Iterator[Finding]:
    """Entries of the index that lead to nothing, or that are beyond what a conversation is given of it."""
    try:
        text = memory.index()
    except (MemdirError, OSError):  # told among the files
        return
    for line in counting(text):
        pointer = entry(line.text) if line.plain else None
        if pointer and not _is_there(memory, pointer.file):
            reason = f"it points to {leaks.called(pointer.file)}, which is not there"
            cure = "take the line out, or bring the file back with `memdir restore`"
            yield _finding(INDEX, "index", reason, cure, line=line.number + 1)
    loaded = entrypoint.load(text)
    if loaded.truncated:
        reason = (
            f"it is at {entrypoint.excess(loaded)}, and what is beyond that is not loaded; "
            f"entries that nobody sees: {len(loaded.invisible)}"
        )
        yield _finding(INDEX, "index", reason, "keep each entry to one short line, and take stale ones out")


def _is_there(memory: MemoryDir, file: str) -> bool:
    return memory.why_not(file) is None and memory.path(file).is_file()


# -- the trash -------------------------------------------------------------------------------------------


def trash(memory: MemoryDir) -> Iterator[Finding]:
    """Secrets in forgotten memories, which are on the disk still."""
    for thrown in memory.trash.entries():
        try:
            data = memory.trash.data(thrown)
        except (MemdirError, OSError):
            continue
        for line, rule, preview in _secrets(encoding.readable(data)):
            yield Finding(
                file=leaks.called(thrown.file),
                line=line,
                kind="secret",
                rule=rule,
                reason=f"it is in the trash, and holds what looks like a secret: {rule}, {preview}",
                cure=f"remove {memory.trash.folder / thrown.id}.md and .json, and change the secret where it "
                "is used",
            )


CHECKS: tuple[Check, ...] = (files, index, trash)
"""What is looked for."""
