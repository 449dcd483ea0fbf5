"""A command -> the same command behind a wall of the system's, where it can read and not write (A6).

The text of a command is checked before it runs; this is for what the check may have missed. Bubblewrap shows
the command a disk of its own; Landlock takes rights from the process, and needs no program to be installed.
Which of them stands is found out by putting it up, once in a process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from memdir.agent.shell import landlock
from memdir.agent.shell.view import REPLACED, SCRATCH, View, view

Name = Literal["bubblewrap", "landlock", "none"]

SECONDS = 5.0
"""How long one attempt to put up a wall may take. It takes some milliseconds, more on a busy machine."""

_PLACES = ("/usr/bin", "/bin", "/usr/local/bin", "/run/wrappers/bin", "/run/current-system/sw/bin")
_OPTIONS = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/", "/")
_PROC = (("--proc", "/proc"), ("--tmpfs", "/proc", "--remount-ro", "/proc"))
"""In some containers no /proc can be mounted; an empty one will do."""

_RUNNABLE = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
)
_READABLE = """
alternatives debian_version group host.conf hosts inputrc ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload
locale.alias locale.conf localtime lsb-release machine-info magic mime.types nsswitch.conf os-release passwd
protocols redhat-release services shells terminfo timezone
"""
"""What programs look up in /etc. The rest of it is of no use for questions about a project."""

_TRY = ("/bin/sh", "-c", 'set -- /root/* /*; [ "$$" -lt 9 ] || [ "$*" = "/root/* /*" ] && echo stands')
"""Either this is one of the first processes there are, or the disk can't be looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """What stands between a background command and this machine.

    `says` is a line for a person: what it stops, or why there is none and what helps. `start` is how the
    command line behind it begins.
    """

    name: Name
    says: str
    start: tuple[str, ...] = ()


@cache
def standing() -> Wall:
    """The wall that stands here: bubblewrap, else Landlock, else none.

    Waits for real processes: some milliseconds, and at most `SECONDS` for each attempt.
    """
    first = bubblewrap()
    if first.name != "none":
        return first
    second = restricted()
    if second.name != "none":
        return second
    if sys.platform != "linux":
        return Wall(name="none", says="none on this system: the check of the text stands alone")
    return Wall(name="none", says=f"none, the check of the text stands alone: {first.says}; {second.says}")


def bubblewrap() -> Wall:
    """Bubblewrap, or a wall named none that says why not."""
    if sys.platform != "linux":
        return Wall(name="none", says="it is for Linux")
    program = next((found for place in _PLACES if os.access(found := f"{place}/bwrap", os.X_OK)), None)
    if program is None:
        return Wall(name="none", says="install bubblewrap")
    why: str | None = None
    for proc in _PROC:
        wall = Wall(
            name="bubblewrap",
            says="bubblewrap: no network, other homes hidden, the rest of the disk can be read",
            start=(program, *_OPTIONS, *proc, "--dev", "/dev"),
        )
        if (why := _why_not(wall)) is None:
            return wall
    return Wall(name="none", says=f"bubblewrap is there and can't start ({why}); allow it user namespaces")


def restricted() -> Wall:
    """Landlock, or a wall named none that says why not."""
    wall = Wall(
        name="landlock",
        says="Landlock: no network; programs, the project and its memory can be read, and nothing else",
        start=(sys.executable or "python3", "-I", "-S", "-B", landlock.__file__),
    )
    if sys.platform != "linux":
        return Wall(name="none", says="it is for Linux")
    why = _why_not(wall)
    return wall if why is None else Wall(name="none", says=f"Landlock can't be had ({why})")


def behind(
    wall: Wall,
    command: Sequence[str],
    *,
    folders: Sequence[Path],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    """The command line that runs `command` behind a wall; without one, the command as it is.

    `command` begins with a full path. It sees `folders` read-only; those that aren't there are left out.
    `cwd` must be in one of them, or in a part of the disk that is no home and no place of passing files.
    `environment` says where home and the programs are (default: this process's).
    """
    if wall.name == "none":
        return list(command)
    seen = view(folders, cwd=cwd, environment=os.environ if environment is None else environment)
    options = _mounts(seen) if wall.name == "bubblewrap" else _grants(seen)
    chdir = ("--chdir", os.path.realpath(cwd)) if wall.name == "bubblewrap" else ()
    return [*wall.start, *options, *chdir, "--", *command]


def _mounts(seen: View) -> Iterator[str]:
    """The view, put together from the top: each mount hides what was at its place before."""
    known: dict[Path, str] = {}
    emptied = []
    scratch = Path(os.path.realpath(SCRATCH))
    for path, sight in seen.sights:
        around = next((known[one] for one in path.parents if one in known), "shown")
        known[path] = sight
        if sight == around or path in REPLACED:
            continue
        if sight == "shown":
            yield from ("--ro-bind", str(path), str(path))
        elif path.is_dir():
            yield from ("--tmpfs", str(path))
            emptied.append(path)
        else:
            yield from ("--ro-bind", os.devnull, str(path))  # as a device behind such a mount: not readable
    for link, target in seen.links:
        yield from ("--symlink", str(target), str(link))
    for path in (*emptied, Path("/dev")):
        if path != scratch:  # `sort` has its passing files there
            yield from ("--remount-ro", str(path))


def _grants(seen: View) -> Iterator[str]:
    """The view, put together from nothing."""
    system = dict.fromkeys(os.path.realpath(folder) for folder in _RUNNABLE)
    for place in system:
        yield from ("--run", place)
    for program in seen.programs:
        if not any(program.is_relative_to(place) for place in system):
            yield from ("--run", str(program))
    for name in _READABLE.split():
        yield from ("--read", os.path.realpath(f"/etc/{name}"))
    for folder in seen.folders:
        for path in _without_hidden(folder, seen):
            yield from ("--read", str(path))


def _without_hidden(folder: Path, seen: View) -> Iterator[Path]:
    """The folder, or what is in it without what is hidden in it: a right counts for all that is below."""
    if not any(path.is_relative_to(folder) and sight == "hidden" for path, sight in seen.sights):
        yield folder
        return
    try:
        entries = list(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink() or seen.sight(entry) == "hidden":
            continue
        if os.path.isdir(entry):  # noqa: PTH112 - which says no where nobody may look
            yield from _without_hidden(entry, seen)
        else:
            yield entry


def _why_not(wall: Wall) -> str | None:
    """Put a wall up: None if it stands, else what the system says."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C"}
    command = behind(wall, _TRY, folders=(), cwd=Path("/"), environment=environment)
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            env=environment,
            timeout=SECONDS,
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS:g} seconds"
    except OSError as error:
        return error.strerror or type(error).__name__
    if ended.returncode == 0 and ended.stdout == b"stands\n":
        return None
    said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[-1].rpartition(": ")[2][:120] if said else f"exit code {ended.returncode}"
