"""A file -> its beginning and its status, from one opening (M2). Follows no link, never waits."""

from __future__ import annotations

import os
import stat

_READ = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)


def beginning(path: str, size: int) -> tuple[bytes, os.stat_result] | None:
    """At most `size` bytes; None if the file is gone, no regular one, or can't be read now."""
    try:
        fd = os.open(path, _READ)
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        return (os.read(fd, size), status) if stat.S_ISREG(status.st_mode) else None
    except OSError:
        return None
    finally:
        os.close(fd)
