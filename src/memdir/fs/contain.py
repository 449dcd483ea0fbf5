"""A file name becomes a real path inside a root, or is refused with a reason (A8)."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from memdir.errors import UnsafePath


def contain(root: Path, path: Path | str) -> Path:
    """The real path inside `root` that a file name stands for (A8), whether or not it exists yet.

    `path` is relative to `root`, with `/`, or absolute and below `root`. It means the same file on every
    system and disk: nothing encoded, invisible or look-alike, no `.` or `..`, no dot file. Links are
    followed where they stay inside. A new name must also be one that all systems can hold, and differ from
    those already there by more than case or Unicode form; a file that exists may have any harmless name.

    Raises:
        UnsafePath: with the reason.
    """
    if not isinstance(path, str | Path):
        raise UnsafePath(path, reason="not a text")
    given = path if isinstance(path, str) else path.as_posix()
    base = Path(os.path.realpath(root))
    here = base
    for name in _names_in(given, root, base):
        here = _step(base, here, name, given)
    if len(os.fsencode(here)) > _MAX_PATH:
        raise UnsafePath(given, reason="the whole path is too long")
    return here


def inside(root: Path, path: Path) -> bool:
    """Whether `path` is `root` or below it, after links, `..`, case and Unicode form are resolved (A8)."""
    try:
        base, real = Path(os.path.realpath(root)), Path(os.path.realpath(path))
    except ValueError:  # a NUL byte
        return False
    return any(place == base or _same(place, base) for place in (real, *real.parents))


def hidden_character(text: str) -> str | None:
    """The first character that can't be seen or turns the text around, as `U+XXXX`; None if all is plain."""
    for character in text:
        if unicodedata.category(character) in _HIDDEN_CATEGORIES or character in _HIDDEN:
            return f"U+{ord(character):04X}"
    return None


_MAX_KEY, _MAX_NAME, _MAX_PATH = 1024, 255, 4000
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_HIDDEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
_SLASHES = re.compile(r"[\\\u2044\u2215\u2216\u2571\u2572\u27cb\u27cd\u29f5\u29f8\u29f9]")
_ENCODED = re.compile(r"%(u[0-9a-f]{4}|[0-9a-f]{2})", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_SHORT_GIT = re.compile(r"git~\d+", re.IGNORECASE)
_RESERVED = re.compile(r"(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)\d)\s*(\..*)?", re.IGNORECASE)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')


def _names_in(given: str, root: Path, base: Path) -> Sequence[str]:
    """The names that lead from the root to the file, each of them harmless by itself."""
    key = _relative(given, root, base) if Path(given).is_absolute() else given
    if character := hidden_character(key):
        raise UnsafePath(given, reason=f"it holds an invisible or control character, {character}")
    if len(key.encode()) > _MAX_KEY:
        raise UnsafePath(given, reason=f"longer than {_MAX_KEY} bytes")
    if key.startswith("~"):
        raise UnsafePath(given, reason="a home folder; give a path below the memory directory")
    names = key.split("/")
    for name in names:
        if reason := _harm(name):
            raise UnsafePath(given, reason=reason)
    return names


def _relative(given: str, root: Path, base: Path) -> str:
    """An absolute path as one below the root, however its upper part is spelled."""
    for start in (root.as_posix(), base.as_posix()):
        if given.startswith(f"{start}/"):
            return given[len(start) + 1 :]
    for above in Path(given).parents:
        if ".." not in above.parts and _same(above, base):
            return Path(given).relative_to(above).as_posix()
    raise UnsafePath(given, reason=f"outside {root}")


def _harm(name: str) -> str | None:
    """Why this one name must never be followed, or None. Pure."""
    folded = unicodedata.normalize("NFKC", name)
    if not name:
        return "an empty name between slashes"
    if not folded.strip(". "):
        return "`.` and `..` are not followed; name the file itself"
    if name.startswith(".") or folded.startswith("."):
        return "a dot file, which memory never touches"
    if _SLASHES.search(name) or "/" in folded or "\\" in folded:
        return "a backslash, or a character that looks like a slash"
    if _ENCODED.search(folded):
        return "a percent-encoded character"
    if _DRIVE.match(folded):
        return "a Windows drive"
    if _SHORT_GIT.fullmatch(folded):
        return "a short name for repository metadata"
    if len(name.encode()) > _MAX_NAME:
        return f"a name longer than {_MAX_NAME} bytes"
    return None


def _unportable(name: str) -> str | None:
    """Why some systems could not hold a file of this name, or None. Pure."""
    if _RESERVED.fullmatch(unicodedata.normalize("NFKC", name)):
        return "a name that Windows keeps for a device"
    if _NOT_ON_WINDOWS.search(name):
        return 'one of < > : " | ? *, which Windows does not allow'
    if name != name.strip() or name.endswith("."):
        return "a blank at its start or end, or a dot at its end"
    return "a leading dash, which programs take for an option" if name.startswith("-") else None


def _step(base: Path, here: Path, name: str, given: str) -> Path:
    """One name further down: the real place of `name` in `here`."""
    place = here / name
    try:
        found = os.lstat(place)
    except FileNotFoundError:
        _check_new(here, name, given)
        return place
    except UnicodeEncodeError as error:
        raise UnsafePath(given, reason="this system's locale has no such letters") from error
    except OSError as error:
        raise UnsafePath(given, reason=f"{here} is not a folder that can be looked into") from error
    if stat.S_ISLNK(found.st_mode):
        return _followed(base, place, given)
    if _same(place, here / name.swapcase()) and name not in _listed(here):
        _check_new(here, name, given)  # a disk that takes no notice of case: this is a twin of another name
    return place


def _check_new(here: Path, name: str, given: str) -> None:
    if reason := _unportable(name):
        raise UnsafePath(given, reason=reason)
    for other in _listed(here):
        if _twin_key(other) == _twin_key(name):
            raise UnsafePath(
                given, reason=f"only case or Unicode form tell it from {other!r}, which is there"
            )


def _listed(folder: Path) -> list[str]:
    try:
        return [place.name for place in folder.iterdir()]
    except FileNotFoundError:
        return []


def _followed(base: Path, link: Path, given: str) -> Path:
    try:
        real = Path(os.path.realpath(link, strict=True))
    except OSError as error:
        raise UnsafePath(given, reason="a link to nothing, or to itself") from error
    if not real.is_relative_to(base):
        raise UnsafePath(given, reason=f"a link that leads out of {base}")
    for name in real.relative_to(base).parts:
        if reason := _harm(name):
            raise UnsafePath(given, reason=reason)
    return real


def _twin_key(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False
