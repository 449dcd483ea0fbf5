"""A value from settings or environment becomes a safe memory directory, or is refused with a reason (P5, P6).

What is refused, and why, is the same for every source that may name one; a project's own settings may not.
For Windows the check is pure text, and runs anywhere; for this system it also looks at the disk.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import NoReturn

from memdir.errors import UnsafePath
from memdir.fs import hidden_character
from memdir.paths.obeyed import is_obeyed, is_obeyed_in_home

TRUSTED = frozenset({"env", "managed", "policy", "cli", "user", "local", "default"})
"""The sources that may name a memory directory (S2); `local` only as limited by P6."""

_MAX_NAME = 255  # bytes
_MAX_PATH = 3840  # PATH_MAX is 4096: leave room for the files in it
_SHORTEST = 3
_OBEYED = "a folder whose files other programs obey"

_VARIABLE = re.compile(r"\$[A-Za-z_{(]|%[A-Za-z_][A-Za-z_0-9()]*%")
_WINDOWS_NAME = re.compile(
    r'.*[<>:"|?*].*|.*[. ]|(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\..*)?',
    re.IGNORECASE,
)

# ruff: noqa: S108 - these are refused, not used
# fmt: off
_THEMSELVES = (
    "/applications", "/cores", "/home", "/library", "/lost+found", "/media", "/mnt", "/network",
    "/nix", "/opt", "/opt/homebrew", "/private", "/root", "/snap", "/srv", "/tmp", "/usr",
    "/usr/local", "/usr/share", "/users", "/var", "/var/cache", "/var/lib", "/var/log", "/var/tmp",
    "/volumes",
)
_TREES = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/library/launchagents",
    "/library/launchdaemons", "/library/preferences", "/library/scripts", "/library/security",
    "/library/startupitems", "/opt/homebrew/bin", "/opt/homebrew/etc", "/opt/homebrew/lib",
    "/opt/homebrew/sbin", "/proc", "/run", "/sbin", "/sys", "/system", "/usr/bin", "/usr/include",
    "/usr/lib", "/usr/libexec", "/usr/local/bin", "/usr/local/etc", "/usr/local/include",
    "/usr/local/lib", "/usr/local/libexec", "/usr/local/sbin", "/usr/sbin", "/usr/share/applications",
    "/usr/share/dbus-1", "/usr/share/polkit-1", "/var/at", "/var/lib/dbus", "/var/lib/systemd",
    "/var/run", "/var/spool",
)
# fmt: on
_HOMES = ("/home", "/users")
_WINDOWS_TREES = ("windows", "program files", "program files (x86)", "programdata", "$recycle.bin")


def check_memory_directory(
    raw: object, *, source: str, home: Path | None = None, platform: str = sys.platform
) -> PurePath:
    """The directory that `raw` names, absolute, NFC, with links resolved; it need not exist yet (P5, P6).

    `source` is one of `TRUSTED`, or it is refused. `~/` is expanded to `home` (default: the person's own).
    `platform` as in `sys.platform`; for Windows the result is a `PureWindowsPath` and nothing is looked at.

    Raises:
        UnsafePath: names the value, its source and the reason.
    """
    return _checked(raw, source, home, platform, below=())


def check_base_directory(
    raw: object, *, source: str, home: Path | None = None, platform: str = sys.platform
) -> PurePath:
    """The same for a folder that memory directories are to be below (P1), as they are in `~/.claude`.

    Raises:
        UnsafePath: as for a memory directory.
    """
    return _checked(raw, source, home, platform, below=("projects", "any", "memory"))


def _checked(
    raw: object, source: str, home: Path | None, platform: str, *, below: tuple[str, ...]
) -> PurePath:
    """`below` are the names from this directory to where memory will be: those decide who obeys it."""
    try:
        if source not in TRUSTED:
            _refuse("only you, your administrator or the command line may move the memory directory")
        text = _text(raw)
        home = home or Path.home()
        return _windows(text, home, below) if platform.startswith("win") else _posix(text, home, below)
    except _Refused as refused:
        raise UnsafePath(raw, reason=str(refused), source=source) from refused.__cause__


class _Refused(Exception):
    pass


def _refuse(reason: str, *, cause: BaseException | None = None) -> NoReturn:
    raise _Refused(reason) from cause


def _text(raw: object) -> str:
    """What both systems ask of the text itself."""
    if not isinstance(raw, str):
        _refuse("a memory directory is a text")
    if not raw.strip():
        _refuse("it is empty")
    if "\0" in raw:
        _refuse("a NUL byte")
    if character := hidden_character(raw):
        _refuse(f"an invisible or control character, {character}")
    if raw.startswith("~") and raw[1:2] not in ("", "/", "\\"):
        _refuse("only ~/ is expanded; write the full path")
    if _VARIABLE.search(raw):
        _refuse("variables are not expanded; write the full path")
    return unicodedata.normalize("NFC", raw)


# -- this system ----------------------------------------------------------------------------------------


def _posix(text: str, home: Path, below: tuple[str, ...]) -> Path:
    if text.startswith("~"):
        text = f"{home.as_posix()}/{text[1:]}".replace("//", "/")
    if text.startswith("//"):
        _refuse("a network path")
    if not text.startswith("/"):
        _refuse("it must be a full path")
    if "\\" in text:
        _refuse("a backslash; write the path with /")
    last = text.rstrip("/").rpartition("/")[2]
    if last.endswith((" ", ".")) and last not in (".", ".."):
        _refuse("a blank or a dot at its end, which some systems drop")
    _check_length(text)
    spelled = PurePosixPath(os.path.normpath(text))
    homes = {unicodedata.normalize("NFC", str(h)) for h in (home, os.path.realpath(home))}
    _check_place(spelled, homes, below)
    real = _resolved(PurePosixPath(text))
    _check_place(real, homes, below)
    return Path(real)


def _check_length(text: str) -> None:
    if len(text.encode()) > _MAX_PATH:
        _refuse(f"longer than {_MAX_PATH} bytes")
    if any(len(name.encode()) > _MAX_NAME for name in text.split("/")):
        _refuse(f"a name longer than {_MAX_NAME} bytes")


def _check_place(path: PurePosixPath, homes: set[str], below: tuple[str, ...]) -> None:
    """Whether other things live there. Pure; case makes no difference, as on some disks it does not."""
    folded = str(path).casefold()
    if len(folded) < _SHORTEST:
        _refuse("the root of the disk, or too short")
    system = folded.removeprefix("/private")  # where macOS really has /etc, /tmp and /var
    if system in _THEMSELVES or folded in _THEMSELVES or any(_below(system, tree) for tree in _TREES):
        _refuse("a folder of the system")
    if str(path.parent).casefold() in _HOMES:
        _refuse("a home directory; name a folder in it")
    for home in (h.casefold() for h in homes):
        if _below(home, folded):
            _refuse("the home directory, or what holds it; name a folder in it")
        if _below(folded, home) and is_obeyed_in_home(PurePosixPath(folded).relative_to(home).parts):
            _refuse(_OBEYED)
    if is_obeyed((*PurePosixPath(folded).parts, *below)):
        _refuse(_OBEYED)


def _below(path: str, tree: str) -> bool:
    return path == tree or path.startswith(tree.rstrip("/") + "/")


def _resolved(path: PurePosixPath) -> PurePosixPath:
    """The real path, links followed; the part that does not exist yet is kept as it is."""
    there = Path(path)
    try:
        while not os.path.lexists(there):
            there = there.parent
        real = os.path.realpath(there, strict=True)
        mode = os.stat(real).st_mode  # noqa: PTH116 - a text path
    except OSError as error:
        _refuse("a link to nothing, a loop of links, or a place that can't be looked into", cause=error)
    if not stat.S_ISDIR(mode):
        _refuse("a file, or below a file")
    return PurePosixPath(os.path.normpath(os.path.join(real, path.relative_to(there))))  # noqa: PTH118


# -- Windows, as pure text ------------------------------------------------------------------------------


def _windows(text: str, home: Path, below: tuple[str, ...]) -> PureWindowsPath:
    text = text.replace("/", "\\")
    inside_home = text.startswith("~")
    if inside_home:
        text = str(PureWindowsPath(home)) + "\\" + text[1:].lstrip("\\")
    if text.startswith("\\\\"):
        _refuse("a network or device path")
    path = PureWindowsPath(text)
    if not (path.drive and path.root) and not (inside_home and path.root):
        _refuse("it must be a full path with a drive, such as D:\\memory")
    names = _collapsed(path.parts[1:])
    if not names:
        _refuse("a bare drive")
    _check_windows_names(names)
    result = PureWindowsPath(path.drive[:1].upper() + path.drive[1:] + path.root, *names)
    if PureWindowsPath(home).is_relative_to(result):
        _refuse("the home directory, or what holds it; name a folder in it")
    in_home = result.relative_to(home).parts if result.is_relative_to(home) else ()
    if is_obeyed((*_folded(result.parts), *below)) or is_obeyed_in_home(_folded(in_home)):
        _refuse(_OBEYED)
    return result


def _folded(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.casefold() for name in names)


def _collapsed(parts: tuple[str, ...]) -> list[str]:
    names: list[str] = []
    for part in parts:
        if part == "..":
            names = names[:-1]
        else:
            names.append(part)
    return names


def _check_windows_names(names: list[str]) -> None:
    for name in names:
        if _WINDOWS_NAME.fullmatch(name):
            _refuse(f"Windows can't keep a folder called {name!r}")
        if len(name.encode()) > _MAX_NAME:
            _refuse(f"a name longer than {_MAX_NAME} bytes")
    if len("\\".join(names).encode()) > _MAX_PATH:
        _refuse(f"longer than {_MAX_PATH} bytes")
    folded = [name.casefold() for name in names]
    if folded[0] in _WINDOWS_TREES or (folded[0] == "users" and len(folded) < _SHORTEST):
        _refuse("a folder of the system, or a home directory itself")
