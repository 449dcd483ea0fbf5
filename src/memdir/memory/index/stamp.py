"""The state of a file that shows a change without reading it: one stat (M6)."""

from __future__ import annotations

import os

UNSETTLED = 0
"""The stamp of a file that has to be read again whatever its state: no state has it."""

_COARSE, _FINE = 2_100_000_000, 50_000_000
"""Nanoseconds that the clock of a file system may stand still: FAT keeps even seconds, Linux a tick of its
timer (10 ms at most)."""


def stamp_of(status: os.stat_result) -> int:
    """Modified, changed, size and inode in one number of 64 bits. Nobody can set `changed` back, as one can
    `modified`. Two states share a number once in 10^19; another Python may fold them otherwise, which costs
    one reading of the files.
    """
    return hash((status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)) or 1


def is_settled(status: os.stat_result, now_ns: int) -> bool:
    """Whether any later change is bound to give the file another stamp.

    It is not while the file system's clock may still show the moment of the last change: two changes within
    one tick look alike. Both times have to be past: where `changed` is the moment of creation (Windows), only
    `modified` moves. `now_ns`: a moment before the file was read, in nanoseconds since 1970.
    """
    return all(_is_past(moment, now_ns) for moment in (status.st_mtime_ns, status.st_ctime_ns))


def _is_past(moment: int, now_ns: int) -> bool:
    """Whether the file system's clock shows another time by now; a moment far ahead counts too."""
    return abs(now_ns - moment) >= (_FINE if moment % 1_000_000_000 else _COARSE)
