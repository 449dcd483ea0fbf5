"""An undo dies before a call that changes something on the disk, at one after the other (F8).

The process ends there as if it were killed: nothing is tidied up. What the next look leaves has to be as
before the undo, or as after it. A process of its own, for it forks.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from memdir.memory import plan, revising
from tests.memory.test_revising import BODY, Desk, Tree

CALLS = ("replace", "link", "unlink", "utime")
USUAL = 30
"""So many calls an undo makes, about."""
DIED = 9


def die_at(number: int) -> None:
    """From now on, the call of that number does not come about, and neither does anything after it."""
    numbers = count(1)

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **named: Any) -> Any:
            if next(numbers) == number:
                os._exit(DIED)
            return call(*args, **named)

        return wrapped

    for name in CALLS:
        setattr(os, name, dying(getattr(os, name)))


def dies(folder: Path, number: int) -> bool:
    """Undo the latest change in a child that dies there. Whether it came so far."""
    child = os.fork()
    if child == 0:
        desk = Desk(folder)
        change = revising.latest(desk.history)
        die_at(number)
        desk.undo(change)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, DIED)
    return status == DIED


def prepared(folder: Path) -> Desk:
    """A run has made one memory, changed another and deleted a third."""
    desk = Desk(folder)
    desk.save("changed.md", BODY)
    desk.save("deleted.md", BODY)
    return desk


def visible(desk: Desk) -> Tree:
    """What is there but for half-written files, which `mend` sweeps away."""
    return {file: there for file, there in desk.tree().items() if not file.startswith(".memdir-")}


def points(most: int) -> Iterator[int]:
    """Which calls it is to die at: so many, evenly spread; all of them if that is enough."""
    yield from dict.fromkeys(1 + at * USUAL // most for at in range(most))
    if most >= USUAL:
        yield from count(USUAL + 1)


def run(*, deaths: int) -> tuple[int, int]:
    """Die at so many points, and look. How often it was as before then, and how often as after.

    Raises:
        AssertionError: it was something else.
    """
    with tempfile.TemporaryDirectory() as scratch:
        desk = prepared(Path(scratch, "first"))
        before = desk.tree()
        run = desk.by("extract")
        desk.save("changed.md", "otherwise\n", view=run)
        run.delete("deleted.md", now=desk.now)
        change = desk.save("sub/made.md", BODY, view=run)
        after = desk.tree()
        found = list[bool]()
        for number in points(deaths):
            folder = Path(scratch, str(number))
            shutil.copytree(desk.folder, folder)
            died = dies(folder, number)
            here = Desk(folder)
            assert visible(here) in (before, after), f"killed before call {number}"
            assert not (here.history.folder / plan.NAME).exists()
            assert here.memory.look() is None
            is_undone = visible(here) == before
            assert here.newest().undoes == (change.id if is_undone else None)
            here.memory.mend()
            assert here.tree() == (before if is_undone else after), f"mended after call {number}"
            assert len(here.memory.trashed()) == (0 if is_undone else 1)
            if not died:
                assert is_undone
                break
            found.append(is_undone)
    assert found == sorted(found)
    return found.count(False), found.count(True)
