"""A disk that fails at its n-th change: `os`, for the modules under test, with a fault in it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

_IN_FILES = {"open", "write", "fsync", "close", "fchmod", "fchown"}
_IN_FOLDERS = {"mkdir", "replace", "link", "unlink"}
CHANGES = _IN_FILES | _IN_FOLDERS


class Died(BaseException):
    """The process is gone: nothing it would still have done happens."""


class FailingDisk:
    """Stands in for `os`. Change number `fail_at` (from 1) fails: by an error, or by the process's `death`.

    A failing `write` has half written; a failing `close` has closed. After a death every change fails.
    """

    def __init__(self, fail_at: int, *, death: bool) -> None:
        self.count = 0
        self.fail_at = fail_at
        self.death = death

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._faulty(name, real) if name in CHANGES else real

    def _faulty(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def change(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            if name == "close":
                real(*args, **kwargs)  # the kernel closes it, whatever becomes of us
            if self.count < self.fail_at or (self.count > self.fail_at and not self.death):
                return None if name == "close" else real(*args, **kwargs)
            if name == "write" and self.count == self.fail_at:
                os.write(args[0], bytes(args[1])[: len(args[1]) // 2])
            if self.death:
                raise Died
            if name == "close":
                return None  # what an error in closing means was told by the fsync before
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        return change

    @property
    def ran_to_the_end(self) -> bool:
        return self.count < self.fail_at
