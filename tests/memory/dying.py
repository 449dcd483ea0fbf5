"""A process that dies at its n-th effect on the disk: nothing it would still have done happens."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

EFFECTS = ("fsync", "replace", "link", "unlink", "write", "utime", "mkdir", "rmdir")


class Died(BaseException):
    """The process is gone."""


class Life:
    """How many effects there were, and whether it ended too early."""

    def __init__(self) -> None:
        self.count = 0
        self.is_over = False


@contextmanager
def dying_at(number: int, *, half: bool = False) -> Iterator[Life]:
    """All effects from the `number`-th on, counted from 1, do not happen; the death ends here.

    `half`: a write that is the last one still puts half of its bytes on the disk.
    """
    life = Life()

    def mortal(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def effect(*args: Any, **named: Any) -> Any:
            life.count += 1
            if life.count < number:  # the disk itself is not what dies here, and it is slow
                return None if name == "fsync" else real(*args, **named)
            if half and name == "write" and not life.is_over:
                real(args[0], bytes(args[1])[: len(args[1]) // 2])
            life.is_over = True
            raise Died

        return effect

    with pytest.MonkeyPatch.context() as patches:
        for name in EFFECTS:
            patches.setattr(os, name, mortal(name, getattr(os, name)))
        try:
            yield life
        except Died:
            assert life.is_over
