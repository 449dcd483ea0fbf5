"""A dream is carried out by a process that dies before a call that changes something on the disk (D8, F8).

It ends there as if it were killed: nothing is tidied up. What the next look leaves has to be as before, or as
after. A process of its own, for it forks.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from memdir.dream.files import Snapshot
from memdir.dream.stage import snapshot
from memdir.memory import plan as redo
from tests.dream.desk import INDEX, Desk, topic
from tests.memory.killed_undo import DIED, die_at, points

FILES = {
    "a.md": topic("The build takes an hour.", "Ask Mira about it.", "The last line of it."),
    "c.md": topic("Invoices are sent on the first of the month.", "Reminders follow after ten days."),
    "dup.md": topic("Tests run on every push."),
    "named.md": topic("Ines keeps the keys of the office."),
    "old.md": topic("Deploys go to blue first.", "Roll back with the script."),
    "same.md": topic("Tests run on every push.", "Coverage is not measured."),
    "target.md": topic("Deploys are on Thursdays."),
    INDEX: b"# Memory\n\n- [a](a.md) \xe2\x80\x94 builds\n- [c](c.md)\n- [dup](dup.md)\n- [named](named.md)\n"
    b"- [old](old.md)\n- [same](same.md)\n- [target](target.md)\n",
}
"""One of each: a.md is rewritten, c.md split, dup.md merged into same.md, named.md renamed, old.md merged."""

AFTER = Snapshot(
    files={
        "a.md": topic(
            "The build takes five minutes since May.", "Ask Mira about it.", "The last line of it."
        ),
        "c_new.md": topic("Reminders follow after ten days.", "Invoices are sent on the first of the month."),
        "people/renamed.md": FILES["named.md"],
        "same.md": FILES["same.md"],
        "target.md": topic(
            "Deploys are on Thursdays.", "Deploys go to blue first.", "Roll back with the script."
        ),
        INDEX: b"# Memory\n\n- [a](a.md) \xe2\x80\x94 builds\n- [c](c_new.md)\n- [same](same.md)\n"
        b"- [target](target.md) \xe2\x80\x94 deploys\n- [people](people/renamed.md)\n",
    },
    mtimes={"people/renamed.md": 10**18 + 3, "target.md": 10**18 + 6, INDEX: 10**18 + 99},
)


def dies(folder: Path, number: int) -> bool:
    """Dream in a child that dies there. Whether it came so far."""
    child = os.fork()
    if child == 0:
        desk = Desk(folder)
        before = snapshot(desk.memory)
        die_at(number)
        desk.dream(before, AFTER)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, DIED)
    return status == DIED


def die_of(*, deaths: int) -> tuple[int, int]:
    """Die at so many points, and look. How often it was as before then, and how often as after.

    Raises:
        AssertionError: it was something else, or could not be undone.
    """
    with tempfile.TemporaryDirectory() as scratch:
        first = Desk(Path(scratch, "first"))
        first.begin(FILES)
        before = first.tree()
        found = list[bool]()
        for number in points(deaths):
            folder = Path(scratch, str(number))
            shutil.copytree(first.folder, folder)
            died = dies(folder, number)
            here = Desk(folder)
            here.memory.look()
            is_done = here.bytes() == AFTER.files
            assert is_done or here.tree() == before, f"killed before call {number}"
            assert not (here.history.folder / redo.NAME).exists()
            here.memory.mend()
            assert not list(here.memory.directory.rglob(".memdir-*"))
            if is_done:
                assert here.newest().worker == "dream"
                here.undo()
            assert here.tree() == before, f"undone after call {number}"
            if not died:
                assert is_done
                break
            found.append(is_done)
    return found.count(False), found.count(True)
