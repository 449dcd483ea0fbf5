"""A file in a project becomes a reason to distrust it, or none: whether it came with a repository (P6).

Git is not asked: it obeys the configuration that it finds in a repository, down to the commands that it runs.
What it would say stands in its index, and that is read here, format 2 or 3:

    DIRC version count | entry … | extension … | checksum
    entry      62 bytes (74 with SHA-256), 2 more if extended, the name, NULs up to a multiple of 8
    extension  4 letters, size, content; a small first letter: not to be understood without it

An index of another kind (format 4, split, sparse), or one that is torn, speaks against the file.

This tells what a clone or a pull has brought. An archive with a `.git` folder in it can hold any index, and
nothing in it tells it from the person's own repository: so what a trusted file says is still checked.
"""

from __future__ import annotations

import hashlib
import os
import struct
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from memdir.errors import UnsafePath
from memdir.fs import read_file
from memdir.paths.git import canonical_root, is_repository, pointer

_MAX_INDEX = 256 * 1024 * 1024  # bytes; about two million files
_VERSIONS = (2, 3)
_HEADER = 12  # bytes
_STAT, _FLAGS = 40, 2  # bytes of an entry before and after its hash
_EXTENDED = 0x4000


def doubt(file: Path, *, root: Path) -> str | None:
    """Why `file`, in the project at `root`, may have come with a repository; None: no repository tracks it.

    Every repository around the file is asked. One of the person's own must be among them, since what lies
    outside all of them may come from anywhere; and no link or repository may stand between `root` and the
    file, since those would hide what is tracked.
    """
    if os.path.realpath(file) != str(file) or canonical_root(file.parent) != root:
        return "a link or another repository leads to it"
    ours = False
    for place in file.parents:
        try:
            if index := _index_of(place):
                if _tracks(index, file.relative_to(place).as_posix()):
                    return f"the repository {place} tracks it"
                ours = ours or _belong_to_us(place, place / ".git", index.parent)
        except _Unreadable as error:
            return f"the index of the repository {place} {error}"
        except (OSError, UnsafePath):
            return f"the repository {place} can't be read"
    if not (ours and _belong_to_us(file, file.parent)):
        return "it is in no repository of yours, or somebody else's file"
    return None


class _Unreadable(Exception):
    """The sentence about the index goes on with this."""


def _index_of(place: Path) -> Path | None:
    """Where the index of the checkout `place` is, whether or not it exists yet; None if it is no checkout."""
    dot_git = place / ".git"
    if not os.path.lexists(dot_git):
        return None
    if dot_git.is_dir():  # an empty one, say, is no repository for git either
        return dot_git / "index" if is_repository(dot_git) else None
    repository = pointer(dot_git, prefix="gitdir:")
    if repository is None or not (repository / "HEAD").is_file():
        raise UnsafePath(str(dot_git), reason="it leads to no repository")
    return repository / "index"


def _tracks(index: Path, wanted: str) -> bool:
    if not index.exists():  # nothing was ever added
        return False
    names = _names(read_file(index, limit=_MAX_INDEX + 1))
    return any(_key(name) == _key(wanted) for name in names)


def _belong_to_us(*places: Path) -> bool:
    """Whether they are the person's own, as far as this system knows owners."""
    return os.name == "nt" or all(place.stat().st_uid == os.geteuid() for place in places)


def _names(index: bytes) -> Iterator[str]:
    """The names of all tracked files."""
    hashed = _checked(index)
    signature, version, count = struct.unpack_from(">4sII", index)
    if signature != b"DIRC" or version not in _VERSIONS:
        raise _Unreadable(f"has a format that is not read here ({version}, not 2 or 3)")
    at, end = _HEADER, len(index) - hashed
    try:
        for _ in range(count):
            name = at + _STAT + hashed + _FLAGS
            if int.from_bytes(index[name - _FLAGS : name], "big") & _EXTENDED:
                name += 2
            stop = index.index(b"\0", name, end)
            yield os.fsdecode(index[name:stop])
            at += (stop - at + 8) // 8 * 8
        while at < end:
            kind, size = struct.unpack_from(">4sI", index, at)
            if not kind[:1].isupper():
                raise _Unreadable("is split, sparse or of another kind that is not read here")
            at += 8 + size
    except (ValueError, struct.error) as error:
        raise _Unreadable("is damaged") from error
    if at != end:
        raise _Unreadable("is damaged")


def _checked(index: bytes) -> int:
    """The bytes of a hash in this index, as its checksum shows: 20 for SHA-1, 32 for SHA-256."""
    if len(index) > _MAX_INDEX:
        raise _Unreadable("is too big")
    for kind in (hashlib.sha1, hashlib.sha256):
        hashed = kind(usedforsecurity=False)
        if index.endswith(kind(index[: -hashed.digest_size], usedforsecurity=False).digest()):
            return hashed.digest_size
    raise _Unreadable("is damaged, or has no checksum")


def _key(name: str) -> str:
    """One form for all names that some disk takes for the same: case, Unicode form, what can't be seen."""
    if name.isascii():
        return name.casefold()
    plain = unicodedata.normalize("NFKC", name)
    seen = "".join(each for each in plain if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", seen).casefold())
