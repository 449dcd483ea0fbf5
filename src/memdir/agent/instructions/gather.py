"""Everything that counts at the start of a conversation, in one list (I3)."""

from __future__ import annotations

import os
from pathlib import Path

from memdir.agent.instructions import room
from memdir.agent.instructions.consent import Consents
from memdir.agent.instructions.places import at_start, managed_files, working_tree
from memdir.agent.instructions.sources import Sources
from memdir.agent.instructions.walk import Ground, Walk, excluder
from memdir.paths import Places
from memdir.settings import Settings


def gather(
    places: Places,
    settings: Settings,
    *,
    consents: Consents | None = None,
    home: Path | None = None,
    managed: tuple[Path, ...] | None = None,
) -> Sources:
    """The instructions for a conversation that starts in `places.cwd`, read from the disk as it is now.

    Nothing with `features.instructions` off. `consents`: by default those in the state directory; `home`:
    what `~/` means; `managed`: the administrator's files, by default those of this system. Never raises for
    what is wrong with a file: that is among the problems.
    """
    if not settings.features.instructions:
        return Sources()
    said = consents or Consents(places.state / "consents.json")
    around = ground(places, settings, consents=said, home=home)
    walk = Walk(around)
    theirs = managed_files(places.layout) if managed is None else managed
    for place in at_start(places, settings.instructions.files, managed=theirs, home=around.home):
        walk.add(place)
    limit = settings.instructions.max_bytes
    files = room.fitted(walk.files, limit)
    problems = (*walk.problems, said.problem, room.told(files, limit))
    return Sources(
        files=files,
        problems=tuple(one for one in problems if one),
        waiting=walk.waiting,
        rules=tuple(walk.rules),
        max_bytes=limit,
    )


def ground(places: Places, settings: Settings, *, consents: Consents, home: Path | None) -> Ground:
    """What all looks at this project share."""
    home = Path(os.path.realpath(home or Path.home()))
    return Ground(
        tree=working_tree(places.cwd),
        home=home,
        consents=consents,
        excluded=excluder(settings.instructions.excludes, home),
    )
