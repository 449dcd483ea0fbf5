"""A person's environment -> the environment of a read-only command: what is on a list, and nothing else (A6).

A variable can make a harmless command run a program: a library to load, a file to start with, another pager.
So names are allowed one by one, their values by form, and what may start a program is fixed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

SYSTEM = ("/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin")
"""Where programs are looked for first. Whoever may write there needs no trick."""

_LOCALE = re.compile(r"[A-Za-z0-9_.@-]{1,60}\.utf-?8", re.IGNORECASE)
"""In another encoding a byte of a letter can be a backslash to one program and none to the next."""

_ZONE = re.compile(r"[A-Za-z<][A-Za-z0-9_+,/.:<>-]{0,63}")
_USER = re.compile(r"[\w.@\\+-]{1,64}")
_PLACE = re.compile(r"(?:/|[A-Za-z]:)[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,4095}")
_ALLOWED = {
    "HOME": _PLACE,
    "LANG": _LOCALE,
    "LOGNAME": _USER,
    "SYSTEMROOT": _PLACE,  # without these two, no program starts on Windows
    "USERPROFILE": _PLACE,
    "TZ": _ZONE,
    "USER": _USER,
}
_SHIMS = "shims"
"""A folder of stand-ins (asdf, mise, pyenv), which ask a file of the project what to run."""
_LOCALE_PART = re.compile(r"LC_[A-Z]{1,20}")

_FIXED = {
    "EDITOR": "false",
    "GIT_ALLOW_PROTOCOL": "",  # a list of none: every transport is refused, a local one too
    "GIT_ASKPASS": "false",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_EDITOR": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "LESSHISTFILE": "-",
    "LESSSECURE": "1",
    "MANPAGER": "cat",
    "PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
    "VISUAL": "false",
    "XDG_CONFIG_HOME": os.devnull,  # where git, and others, look for more settings
}


def scrubbed(environment: Mapping[str, str], *, avoid: Sequence[Path]) -> dict[str, str]:
    """The environment for a read-only command.

    HOME, names of the person, language and time zone pass if their values look like what they are; all that
    may start a program has a fixed value. PATH as of `programs`.
    """
    kept = {name: value for name, value in environment.items() if _passes(name, value)}
    if not any(name.startswith(("LANG", "LC_")) for name in kept):
        kept["LC_ALL"] = "C.UTF-8"
    path = os.pathsep.join(programs(environment.get("PATH", ""), avoid=avoid))
    return {**kept, **_FIXED, "PATH": path}


def programs(path: str, *, avoid: Sequence[Path]) -> list[str]:
    """The folders of a PATH in which a read-only command may find its programs, links resolved, no twins.

    Those of the system come first, so that a folder of the person's can add a program and replace none.
    Left out is what is relative, missing or writable for everybody, and what is one of the `avoid` folders
    or below one: a repository must not bring its own `ls`.
    """
    kept = dict.fromkeys(os.path.realpath(folder) for folder in SYSTEM if _is_safe(folder))
    unsafe = {identity for folder in avoid if (identity := _identity(folder))}
    for folder in path.split(os.pathsep):
        if not _PLACE.fullmatch(folder) or not _is_safe(folder):
            continue
        real = os.path.realpath(folder)
        if _SHIMS in Path(real).parts:
            continue
        if os.pathsep not in real and not any(_identity(one) in unsafe for one in _with_parents(Path(real))):
            kept.setdefault(real)
    return list(kept)


def _passes(name: str, value: str) -> bool:
    form = _ALLOWED.get(name) or (_LOCALE if _LOCALE_PART.fullmatch(name) else None)
    return form is not None and form.fullmatch(value) is not None and ".." not in value


def _is_safe(folder: str) -> bool:
    """Whether it is a folder, and nobody else can put a program into it or another folder into its place."""
    try:
        modes = [one.stat().st_mode for one in _with_parents(Path(os.path.realpath(folder)))]
    except OSError:
        return False
    if not stat.S_ISDIR(modes[0]):
        return False
    if os.name != "posix":
        return True
    replaceable = any(mode & stat.S_IWOTH and not mode & stat.S_ISVTX for mode in modes[1:])
    return not (modes[0] & stat.S_IWOTH or replaceable)


def _with_parents(path: Path) -> Iterator[Path]:
    yield path
    yield from path.parents


def _identity(folder: Path) -> tuple[int, int] | None:
    """What a folder is on the disk: the same for each spelling of its name that the disk takes."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
