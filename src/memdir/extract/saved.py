"""What a run of the extraction changed, as the host and the person are told (E8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from memdir.errors import MemdirError
from memdir.memory import entrypoint
from memdir.memory.store import Written

LABEL = "extract"
"""The name of this work, in the origin of memories and in events."""

Action = Literal["created", "updated", "deleted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One topic file that is not as it was. `type` is None if it has none, or is gone."""

    file: str
    action: Action
    type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The outcome of a run: one change a topic file. `refused`: what one memory or another ran into, and
    why. `held`: the files of what was not written, and waits for the person (E11). `warning`: the index is
    over a limit now (F7).
    """

    changes: tuple[Change, ...] = ()
    refused: tuple[MemdirError, ...] = ()
    held: tuple[str, ...] = ()
    warning: str | None = None

    @classmethod
    def of(
        cls,
        written: Iterable[Written],
        deleted: Iterable[str] = (),
        refused: Iterable[MemdirError] = (),
        held: Iterable[str] = (),
    ) -> Saved:
        """Put together what was written and deleted; the index does not count."""
        changes: dict[str, Change] = {}
        warning: str | None = None
        for one in written:
            is_index = one.file == entrypoint.NAME
            warning = one.warning or (None if is_index else warning)
            if PurePosixPath(one.file).name == entrypoint.NAME or one.action == "unchanged":
                continue
            before = changes.get(one.file)
            changes[one.file] = Change(
                file=one.file, action=before.action if before else one.action, type=one.type
            )
        for file in deleted:
            before = changes.pop(file, None)
            if before is None or before.action != "created":  # made and taken back: as it was
                changes[file] = Change(file=file, action="deleted")
        return cls(changes=tuple(changes.values()), refused=tuple(refused), held=tuple(held), warning=warning)

    def __add__(self, other: Saved) -> Saved:
        return Saved(
            changes=self.changes + other.changes,
            refused=self.refused + other.refused,
            held=self.held + other.held,
            warning=other.warning or self.warning,
        )

    @property
    def notice(self) -> str | None:
        """`Memory updated: a.md, b.md`, and that the index is over a limit; None if nothing changed."""
        kept = [change.file for change in self.changes if change.action != "deleted"]
        gone = [change.file for change in self.changes if change.action == "deleted"]
        parts = [f"Memory updated: {', '.join(kept)}"] if kept else []
        parts += [f"Memory removed: {', '.join(gone)}"] if gone else []
        parts += [f"warning: {self.warning}"] if self.warning else []
        return "; ".join(parts) or None
