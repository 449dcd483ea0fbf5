"""Folders -> what a command behind a wall may see of the disk, and what it may not (A6, A8).

Home folders, places of passing files and of credentials are hidden, the folders that the command is about are
shown, and where one is in the other the deeper one counts: a project in a home folder, a memory in a hidden
folder of a project. All paths here are real ones; links on the way to a folder are kept beside.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memdir.agent.shell.environment import programs

Sight = Literal["shown", "hidden"]

# ruff: noqa: S108 - these are hidden, not used
SCRATCH = Path("/tmp")
_OF_MANY = (Path("/home"), Path("/var/home"), Path("/Users"))
_PASSING = (SCRATCH, Path("/var/tmp"))
_ELSEWHERE = (Path("/run"), Path("/mnt"), Path("/media"))
"""Sockets and keys of running programs; disks of others, with their home folders."""
_OF_THE_KERNEL = {Path("/proc"), Path("/sys")}
REPLACED = (Path("/dev"), Path("/proc"))
"""A wall that can has its own."""
_SYSTEM = tuple(
    Path("/", name) for name in ("bin", "boot", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys", "usr")
)
_CREDENTIALS = """
/etc/NetworkManager/system-connections  /etc/cups  /etc/docker  /etc/gshadow*  /etc/ipsec.d
/etc/ipsec.secrets  /etc/krb5.keytab  /etc/kubernetes  /etc/letsencrypt  /etc/netplan  /etc/openvpn
/etc/pki/*/private  /etc/ppp  /etc/rancher  /etc/security/opasswd  /etc/shadow*  /etc/ssh/ssh_host_*_key
/etc/ssl/private  /etc/sudoers*  /etc/wireguard  /etc/wpa_supplicant
/var/lib/docker  /var/lib/kubelet  /var/lib/rancher  /var/lib/sss  /var/mail  /var/spool
"""
"""Places of a machine, as patterns; most of them are open to root alone, but root runs agents too."""

_LINKS = (Path("/run/current-system"),)
_PROGRAM_FOLDERS = frozenset({"bin", "sbin", "shims"})
_PREFIX = Path("/home/linuxbrew/.linuxbrew")
"""Programs for all, below the folder of the homes, with their libraries beside them."""

_VISIBLE_IN_HOME = frozenset({".git", ".gitignore", ".gitattributes", ".github"})


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is to be seen of a disk whose other parts are as they are.

    `sights`: from the shortest path to the longest; each says how all below it is, up to a longer one.
    `folders`: the shown ones that were asked for. `programs`: folders with programs, wherever they are.
    `links`: names that lead to shown folders, and where to.
    """

    sights: tuple[tuple[Path, Sight], ...]
    folders: tuple[Path, ...]
    programs: tuple[Path, ...]
    links: tuple[tuple[Path, Path], ...]

    def sight(self, path: Path) -> Sight:
        """How a real path is seen."""
        known = dict(self.sights)
        return next((known[one] for one in (path, *path.parents) if one in known), "shown")


def view(folders: Sequence[Path], *, cwd: Path, environment: Mapping[str, str]) -> View:
    """What a command about these folders may see.

    A folder that isn't there is left out; so are `/`, what holds the homes of many, and `/proc`, `/sys`,
    `/dev`, `/run` and such: they are seen as without asking, or not at all. Of a home folder that is asked
    for itself, what begins with a dot stays hidden.
    """
    homes = _homes(environment)
    hidden = _real((*homes, *_OF_MANY, *_PASSING, *_ELSEWHERE)) - _above_system()
    credentials = {path for pattern in _CREDENTIALS.split() for path in _real(_matches(pattern))}
    never = {*hidden, Path("/"), Path("/dev")}
    own = homes | _real(_PASSING)
    many = _real(_OF_MANY)

    def is_mixed(folder: Path) -> bool:
        """Whether it is a home, or of passing files: it may be a project beside all else that it is."""
        return folder in own or folder.parent in many

    asked = [
        real
        for real in _real_in_order(folders)
        if (real not in never or is_mixed(real)) and not _within(real, credentials | _OF_THE_KERNEL)
    ]
    paths = [Path(one) for one in programs(environment.get("PATH", ""), avoid=folders)]
    paths = list(dict.fromkeys(_PREFIX if one.is_relative_to(_PREFIX) else one for one in paths))
    extra = [one for one in paths if _is_program_folder(one, hidden)]

    sights: dict[Path, Sight] = dict.fromkeys((*REPLACED, *hidden, *credentials), "hidden")
    for folder in asked:
        if is_mixed(folder):
            sights |= dict.fromkeys(_private(folder), "hidden")
    sights |= dict.fromkeys((*extra, *asked), "shown")
    seen = View(
        sights=tuple(sorted(sights.items(), key=lambda one: len(one[0].parts))),
        folders=tuple(asked),
        programs=tuple(one for one in paths if one in extra or not _within(one, hidden)),
        links=(),
    )
    links = {
        link: target
        for path in (*folders, *_LINKS, cwd)
        for link, target in _links_on_the_way(path)
        if seen.sight(link) == "hidden" and seen.sight(target) == "shown"
    }
    return View(sights=seen.sights, folders=seen.folders, programs=seen.programs, links=tuple(links.items()))


def _homes(environment: Mapping[str, str]) -> set[Path]:
    """The home folders of this person, by the environment and by the system, and of root."""
    named = [Path("/root"), Path(environment.get("HOME") or "/root")]
    if os.name == "posix":
        import pwd

        with suppress(KeyError):  # a user without an entry, as in containers
            named.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return {home for home in _real(one for one in named if one.is_absolute()) if not _is_system(home)}


def _is_system(path: Path) -> bool:
    """Whether hiding it would hide the programs; users who are no persons have such homes."""
    return any(path.is_relative_to(one) or one.is_relative_to(path) for one in _SYSTEM)


def _above_system() -> set[Path]:
    return {one for system in _SYSTEM for one in (system, *system.parents)}


def _is_program_folder(folder: Path, hidden: Set[Path]) -> bool:
    """Whether to show it though it is in a hidden place: a home on the PATH by mistake stays hidden."""
    named = folder.name in _PROGRAM_FOLDERS or folder == _PREFIX
    return named and _within(folder.parent, hidden) and not any(one.is_relative_to(folder) for one in hidden)


def _private(folder: Path) -> list[Path]:
    """What stays hidden in a home folder, or a folder of passing files, that is shown."""
    try:
        with os.scandir(folder) as entries:
            return [
                Path(one.path)
                for one in entries
                if one.name.startswith(".") and one.name not in _VISIBLE_IN_HOME and not one.is_symlink()
            ]
    except OSError:
        return []


def _links_on_the_way(path: Path) -> list[tuple[Path, Path]]:
    """The links that a path goes through, each where it really is, and where each leads."""
    found, at = [], Path("/")
    for name in Path(os.path.abspath(path)).parts[1:]:  # noqa: PTH100 - `..` as text, links are the question
        at /= name
        if os.path.islink(at):  # noqa: PTH114 - which says no where nobody may look
            target = Path(os.path.realpath(at))
            found.append((at, target))
            at = target
    return found


def _within(path: Path, places: Set[Path]) -> bool:
    return path in places or any(parent in places for parent in path.parents)


def _matches(pattern: str) -> list[Path]:
    try:
        return list(Path("/").glob(pattern.lstrip("/")))
    except OSError:
        return []


def _real(paths: Iterable[Path]) -> set[Path]:
    return set(_real_in_order(paths))


def _real_in_order(paths: Iterable[Path]) -> list[Path]:
    """The real paths of those that are there."""
    return list(dict.fromkeys(real for path in paths if _exists(real := Path(os.path.realpath(path)))))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False  # in a folder that this person can't look into
