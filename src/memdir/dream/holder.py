"""Which process a dream's lock names, and whether it still is at work (D2-D4).

The lock says on its first line the PID, and below it what makes a PID mean something: when that process
started, and where. `end` closes the record, so that what an earlier, longer one left behind it counts for
nothing. A lock that nobody holds says only when the last consolidation was:

    4711                                        (an empty line)
    start 8675309                               last 01774872000123456000
    host box                                    end
    machine 5f0c...
    boot 73cd8860-...
    pidns pid:[4026531836]
    prior 1774785600123456789
    taken 86400000000000
    token 9c1f...
    end

`start` is in ticks since the boot, `taken` in nanoseconds since the boot, sleep included, `prior` in
nanoseconds since 1970 (`-`: there was no consolidation before). Where a system does not tell one of them (no
/proc: macOS, BSD), `-` stands for it: then a process is alive if its PID is in use, and its age goes by the
modification time. A record of a PID alone is another program's, of this machine.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

STALE_NS = 3600 * 10**9
"""A holder of this age, in nanoseconds, is taken over, alive or not (D3)."""

MOST_BYTES = 4096
"""As much of a lock is looked at."""

_LAST = re.compile(rb"\nlast (-|[-\d]\d{19})\nend\n")
_PID = re.compile(rb"\d{1,19}")
_WHOLE = re.compile(r"-?\d{1,20}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where PIDs mean what they mean here. None: this system does not tell."""

    host: str | None
    machine: str | None
    boot: str | None
    pidns: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process that took the lock. `place` is None for another program's record, a PID alone.

    `prior_ns`: the last consolidation before it; None: there was none. `tells_prior`: whether it says so.
    """

    pid: int
    start: int | None = None
    place: Place | None = None
    prior_ns: int | None = None
    tells_prior: bool = False
    taken: int | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Freed:
    """The record of a lock that nobody holds. `last_ns` is None: there was no consolidation yet."""

    last_ns: int | None


Fate = Literal["alive", "elsewhere", "gone", "stale"]
"""At work; perhaps at work where nobody can look; ended; there for an hour or more, at work or not."""


def this_process(*, prior_ns: int | None, taken: int | None) -> Holder:
    """The record of this process, with a token that no other has."""
    pid = os.getpid()
    found = _process(pid)
    return Holder(
        pid=pid,
        start=found[1] if found else None,
        place=here(),
        prior_ns=prior_ns,
        tells_prior=True,
        taken=taken,
        token=secrets.token_hex(16),
    )


def written(holder: Holder) -> bytes:
    """A holder as the lock's bytes; `parsed` reads them back. Pure."""
    place = holder.place or Place(host=None, machine=None, boot=None, pidns=None)
    values = {
        "start": holder.start,
        "host": place.host,
        "machine": place.machine,
        "boot": place.boot,
        "pidns": place.pidns,
        "prior": holder.prior_ns,
        "taken": holder.taken,
        "token": holder.token,
    }
    lines = [f"{key} {'-' if value is None else value}" for key, value in values.items()]
    return "\n".join([str(holder.pid), *lines, "end", ""]).encode()


def freed(last_ns: int | None) -> bytes:
    """What stands in a lock that nobody holds. Always of one length, if there was a consolidation. Pure."""
    return b"\nlast %b\nend\n" % (b"-" if last_ns is None else b"%020d" % last_ns)


FREED_SIZE = len(freed(0))


def parsed(data: bytes) -> Holder | Freed | None:
    """What the bytes of a lock say; None: nothing, or nothing that makes sense. Pure, never raises."""
    if found := _LAST.match(data):
        return Freed(None if found[1] == b"-" else int(found[1]))
    first, *rest = data[:MOST_BYTES].split(b"\n")
    if not _PID.fullmatch(first.strip()) or (pid := int(first)) == 0:
        return None
    if b"end" not in rest:
        return Holder(pid=pid)
    pairs = (line.decode(errors="replace").split(" ", 1) for line in rest[: rest.index(b"end")])
    values = {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
    prior = values.get("prior", "")
    return Holder(
        pid=pid,
        start=_number(values.get("start")),
        place=Place(**{key: _text(values.get(key)) for key in ("host", "machine", "boot", "pidns")}),
        prior_ns=_number(prior),
        tells_prior=prior == "-" or _number(prior) is not None,
        taken=_number(values.get("taken")),
        token=_text(values.get("token")),
    )


def fate(holder: Holder, *, here: Place, age_ns: int, lives: Callable[[int, int | None], bool]) -> Fate:
    """What has become of a holder (D3). Pure, but for what `lives` finds out of a PID and a start.

    An age of exactly an hour is stale. A process of another host or container, which can't be looked at,
    goes by its age alone; one of this machine, but of before its last start, has ended.
    """
    where = _where(holder.place, here)
    if where == "before" or (where == "here" and not lives(holder.pid, holder.start)):
        return "gone"
    if age_ns >= STALE_NS:
        return "stale"
    return "alive" if where == "here" else "elsewhere"


def age_ns(holder: Holder, *, here: Place, mtime_ns: int, now_ns: int, boottime: int | None) -> int:
    """How long it has held the lock. Pure.

    By a clock that nobody sets, as long as the machine has not been started anew; else by the modification
    time. That may lie in the future, on a disk of another host or after a clock was put back: it counts as
    far as it is away, so that no such lock stands for ever.
    """
    same_boot = holder.place is not None and here.boot is not None and holder.place.boot == here.boot
    if same_boot and holder.taken is not None and boottime is not None:
        return abs(boottime - holder.taken)
    return abs(now_ns - mtime_ns)


def here() -> Place:
    """Where this process is."""
    host = "".join(socket.gethostname().split())[:64]
    machine = _read("/etc/machine-id")
    try:
        pidns = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        pidns = None
    return Place(
        host=host or None,
        # Not to be told to others as it is (machine-id(5)).
        machine=hashlib.sha256(f"memdir {machine}".encode()).hexdigest()[:16] if machine else None,
        boot=_read("/proc/sys/kernel/random/boot_id"),
        pidns=pidns,
    )


def boottime() -> int | None:
    """Nanoseconds since the boot, time asleep included; None where there is no such clock."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return None if clock is None else time.clock_gettime_ns(clock)


def lives(pid: int, start: int | None) -> bool:
    """Whether this very process is there: not one that got its PID later, and not one that has ended and is
    only not cleared away yet. In doubt, it is.
    """
    if sys.platform == "win32":  # there, signal 0 is no question
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # somebody else's
    found = _process(pid)
    return found is None or (found[0] not in {"Z", "X"} and (start is None or found[1] == start))


def _where(place: Place | None, here: Place) -> Literal["here", "before", "elsewhere"]:
    if place is None:
        return "here"
    if (place.host, place.machine, place.pidns) != (here.host, here.machine, here.pidns):
        return "elsewhere"
    if place.boot == here.boot:
        return "here"
    return "before" if here.machine and place.boot and here.boot else "elsewhere"


def _process(pid: int) -> tuple[str, int] | None:
    """State and start of a process, as proc_pid_stat(5) has them; None: not to be told."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return fields[0].decode(), int(fields[19])
    except (OSError, ValueError, IndexError):
        return None


def _read(path: str) -> str | None:
    try:
        return "".join(Path(path).read_text("ascii").split()) or None
    except (OSError, ValueError):
        return None


def _number(value: str | None) -> int | None:
    return int(value) if value and _WHOLE.fullmatch(value) else None


def _text(value: str | None) -> str | None:
    return None if value is None or value == "-" else value
